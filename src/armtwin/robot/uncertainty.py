"""How well a robot's parameters are known, in the order of its regressor."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from armtwin.files.covariance import Covariance
from armtwin.maths.batch import Flags, Floats, Names
from armtwin.robot.parameters import actions, parameter_table
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.groups import StandardDeviations

NOTHING = "the robot file gives no standard deviations of its parameters"


@dataclass(frozen=True, eq=False)
class Uncertainty:
    """How well the parameters of a robot are known.

    Attributes:
        names: Names of the parameters, (p,).
        values: Their values, (p,).
        deviations: Their standard deviations; 0 where none is known, (p,).
        covariance: Their covariance; diagonal where the file's covariance is not there, (p, p).
        known: Which have a standard deviation, (p,).
        correlated: Whether the covariance between them is known.
        remark: Why it does not, as a sentence; "" where it does.
    """

    names: Names
    values: Floats
    deviations: Floats
    covariance: Floats
    known: Flags
    correlated: bool
    remark: str


def uncertainty(description: Description) -> Uncertainty:
    """How well the parameters of a description are known."""
    table = parameter_table(description)
    names = tuple(parameter.name for parameter in table)
    given = description.standard_deviation
    own = {} if given is None else given.parameters
    deviations = np.array([own.get(name, 0.0) for name in names])
    spread = np.diag(deviations**2)
    together = None if given is None else given.covariance
    if together is not None:
        spread = _in_order(together, names, spread)
    return Uncertainty(
        names=names,
        values=np.array([parameter.value for parameter in table]),
        deviations=deviations,
        covariance=spread,
        known=np.array([name in own for name in names]),
        correlated=together is not None,
        remark=NOTHING if given is None else given.remark,
    )


def _in_order(found: Covariance, names: Names, alone: Floats) -> Floats:
    """A covariance in the order of other names; what it does not hold stays alone, (p, p)."""
    place = {name: k for k, name in enumerate(found.names)}
    here = [k for k, name in enumerate(names) if name in place]
    there = [place[names[k]] for k in here]
    spread = alone.copy()
    spread[np.ix_(here, here)] = found.values[np.ix_(there, there)]
    return spread


def carry_covariance(
    prior: Description, changed: Description, renewed: Collection[str] = ()
) -> Description:
    """The changed description with what is known of the parameters that did not change.

    A parameter whose value changed, or which acts otherwise, loses its row and column; the others
    keep theirs. Deviations of the changed description's own stand beside them, uncorrelated.

    Args:
        prior: The description before.
        changed: The description after; its standard deviations are the prior's, or its own.
        renewed: Names of parameters that were found anew, whether their value changed or not.
    """
    given = prior.standard_deviation
    own = changed.standard_deviation
    if own == given:
        own = None
    if given is None:
        return changed
    taken = {*renewed, *(() if own is None else own.parameters)}
    names = [name for name in given.parameters if name not in taken]
    if names:
        was, now = actions(prior), actions(changed)
        names = [name for name in names if was[name] == now.get(name)]
    kept = _select_deviations(given, names)
    if prior.gravity != changed.gravity:
        kept = replace(kept, gravity=None)
    if own is not None:
        kept = _side_by_side(own, kept)
    nothing = not kept.parameters and kept.gravity is None
    return replace(changed, standard_deviation=None if nothing else kept)


def _select_deviations(known: StandardDeviations, names: list[str]) -> StandardDeviations:
    """The deviations of chosen parameters, with their covariance."""
    together = known.covariance if names else None
    if together is not None:
        use = [together.names.index(name) for name in names if name in together.names]
        own = tuple(together.names[k] for k in use)
        together = Covariance(own, together.values[np.ix_(use, use)])
    parameters = {name: known.parameters[name] for name in names}
    return replace(known, parameters=parameters, covariance=together)


def _side_by_side(new: StandardDeviations, kept: StandardDeviations) -> StandardDeviations:
    """The deviations of two sets of parameters that err apart from each other."""
    if not kept.parameters:
        return new
    parameters = new.parameters | kept.parameters
    spread = np.diag([deviation**2 for deviation in parameters.values()])
    names = tuple(parameters)
    for some in (new, kept):
        if some.covariance is not None:
            spread = _in_order(some.covariance, names, spread)
    source = f"{new.source}; {len(kept.parameters)} parameters as before ({kept.source})"
    together = Covariance(names, spread)
    return replace(new, source=source, parameters=parameters, covariance=together)


def standard_deviations(
    names: Names, covariance: Floats, known: Flags, source: str
) -> StandardDeviations:
    """The standard deviations of a robot file, with their covariance.

    Args:
        names: Names of the parameters, (p,).
        covariance: Their covariance, (p, p).
        known: Which of them are known so, (p,).
        source: Where they come from.
    """
    use = np.flatnonzero(known)
    spread = covariance[np.ix_(use, use)]
    own = tuple(names[k] for k in use)
    deviations = np.sqrt(np.diag(spread)).tolist()
    parameters = dict(zip(own, deviations, strict=True))
    return StandardDeviations(source, parameters, covariance=Covariance(own, spread))

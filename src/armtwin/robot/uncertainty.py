"""How well a robot's parameters are known, in the order of its regressor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.files.covariance import Covariance
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.parameters import parameter_table
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
        correlated: Whether the covariance tells how they err together.
        remark: Why it does not, as a sentence; "" where it does.
    """

    names: tuple[str, ...]
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
        remark=_remark(given),
    )


def _remark(given: StandardDeviations | None) -> str:
    if given is None:
        return NOTHING
    return given.remark


def _in_order(found: Covariance, names: tuple[str, ...], alone: Floats) -> Floats:
    """A covariance in the order of other names; what it does not hold stays alone, (p, p)."""
    place = {name: k for k, name in enumerate(found.names)}
    here = [k for k, name in enumerate(names) if name in place]
    there = [place[names[k]] for k in here]
    spread = alone.copy()
    spread[np.ix_(here, here)] = found.values[np.ix_(there, there)]
    return spread


def known_deviations(
    names: tuple[str, ...], covariance: Floats, known: Flags, source: str
) -> StandardDeviations:
    """The standard deviations of a robot file, with how they err together.

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

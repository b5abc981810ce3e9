"""The regression of a robot's parameters on its logs: Y(q, v, a) φ = τ.

Both sides pass the same filter.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np

from armtwin.identification.fitting.decomposition import ColumnStructure, Group
from armtwin.identification.fitting.factors import RegressionRows
from armtwin.identification.rigid_body.data.clean_log import CleanLog, Integers, Motion
from armtwin.identification.rigid_body.data.reversals import (
    doubt_of_speed,
    doubtful_contacts,
    in_chunks,
)
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.identification.rigid_body.friction.presliding import (
    Bundle,
    bundles_of,
    deflect_bundles,
    find_settled,
)
from armtwin.identification.rigid_body.friction.terms import (
    Samples,
    Terms,
    elements_of,
    term_values,
    term_weights,
)
from armtwin.logs.cleaning import filter_values
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.compiled import compiled
from armtwin.robot.dynamics.friction_columns import SURE
from armtwin.robot.robot import Robot


@compiled
def pick(table: Floats, places: Integers, columns: Integers, out: Floats) -> None:
    """Fill some columns of out (m, ...) with those at some places of a table (m, ...)."""
    for k in range(len(table)):
        for c in range(len(places)):
            out[k, columns[c]] = table[k, places[c]]


@compiled
def pick_weighted(
    table: Floats, places: Integers, weights: Floats, columns: Integers, out: Floats
) -> None:
    """The same, each column times its weight."""
    for k in range(len(table)):
        for c in range(len(places)):
            out[k, columns[c]] = weights[c] * table[k, places[c]]


# periods of the cut-off within which the filter's response decays to exp(-π REACH)
REACH = 6.0


class Deflections(NamedTuple):
    """Relative deflections of the contacts along a motion: shares of their dry friction.

    They are None where no contact has pre-sliding hysteresis.

    Attributes:
        own: Those of the robot's friction elements, (m, elements).
        added: Those of the terms, (m, terms).
        settled: Whether the contacts on each joint are independent of their initial deflection,
            which a log does not show, (m, n).
    """

    own: Floats | None
    added: Floats | None
    settled: Flags


class _Places(NamedTuple):
    """Where the columns of the joints come from.

    Attributes:
        own: Columns of the robot's own parameters.
        of_own: Their places in its regressor, joint after joint.
        added: Columns of the terms.
        of_added: The number of the term of each.
        weights: Torque of its joint per torque on the row of the term.
    """

    own: Integers
    of_own: Integers
    added: Integers
    of_added: Integers
    weights: Floats


@dataclass(frozen=True, eq=False)
class RegressionModel:
    """Contribution of each parameter to the torque: of a robot, then of added terms.

    Attributes:
        robot: The robot.
        width: Speeds about a reversal within which the sign of friction is uncertain, (n,) [rad/s].
        terms: Friction terms beside the robot's own.
        carried: Parameters of what lies beyond the gears, for the loads that terms follow, (p,);
            None where none does.
    """

    robot: Robot
    width: Floats
    terms: Terms = ()
    carried: Floats | None = None

    @property
    def structure(self) -> ColumnStructure:
        """What is identifiable; each term is so alone, as its contact deflects on its own."""
        base = self._base
        names = tuple(term.name for term in self.terms)
        alone: list[Group] = ["alone"] * len(names)
        p = len(self.robot.parameters)
        return ColumnStructure(
            rank=base.rank + len(names),
            groups=(*base.groups, *alone),
            base=base.base + names,
            kept=base.kept + tuple(range(p, p + len(names))),
            busy=self.busy,
            combination=self.combination,
        )

    @property
    def _base(self) -> ColumnStructure:
        """What is identifiable of the robot's own parameters."""
        return analyse_identifiability(self.robot, bent=True)

    @cached_property
    def busy(self) -> Flags:
        """Which base parameters and terms each joint has, (n, r + terms)."""
        return np.hstack([self._base.busy, self._weights != 0])

    @cached_property
    def _weights(self) -> Floats:
        """Torque of each joint per torque on the row of a term, (n, terms)."""
        return term_weights(self.robot, self.terms)

    @cached_property
    def combination(self) -> Floats:
        """Base parameters and terms from all parameters, (r + terms, p + terms)."""
        C = self._base.combination
        r, p = C.shape
        more = len(self.terms)
        wide = np.zeros((r + more, p + more))
        wide[:r, :p] = C
        wide[r:, p:] = np.eye(more)
        return wide

    def fewer(self, samples: int) -> int:
        """Number of samples, fewer by as much as added terms make them wider."""
        own = len(self.robot.parameters)
        return samples * own // (own + len(self.terms))

    def bends(self, motion: Motion) -> Deflections:
        """Deflections of all contacts along a motion."""
        robot, (own, added) = self.robot, self._bundles
        elements = len(robot.assembly.friction)
        return Deflections(
            own=deflect_bundles(robot, own, elements, motion.q, motion.v),
            added=deflect_bundles(robot, added, len(self.terms), motion.q, motion.v),
            settled=find_settled(robot, own + added, motion.q),
        )

    @cached_property
    def _bundles(self) -> tuple[list[Bundle], list[Bundle]]:
        """Contacts with pre-sliding hysteresis: those of the robot, and those of the terms."""
        return bundles_of(self.robot.assembly.friction), bundles_of(elements_of(self.terms))

    def columns(
        self,
        motion: Motion,
        deflections: Deflections,
        which: slice = slice(None),
        averaged: int = 1,
    ) -> Floats:
        """Columns that each joint has, joint after joint, at some samples of a motion, (m, c).

        Each sample is the mean of `averaged` samples of a log.
        """
        doubt = doubt_of_speed(motion.v, self.width, averaged)[which]
        some = motion.at(which)
        own, added = deflections.own, deflections.added
        places = self._places
        columns = np.empty((len(some.q), len(places.own) + len(places.added)))
        on_links = np.empty_like(some.q) if self._loaded else None
        of_elements = None if own is None else own[which]
        for here, Y in self._regressors(some, doubt, of_elements):
            pick(Y.reshape(len(Y), -1), places.of_own, places.own, columns[here])
            if on_links is not None:
                on_links[here] = self._beyond_gears(Y)
        if self.terms:
            samples = Samples(some, doubt, None if added is None else added[which], on_links)
            values = term_values(self.robot, self.terms, samples)
            pick_weighted(values, places.of_added, places.weights, places.added, columns)
        return columns

    @cached_property
    def _places(self) -> _Places:
        """Where the columns of the joints come from."""
        kept = np.array(self._base.kept)
        joint, column = np.nonzero(self.busy)
        own = np.flatnonzero(column < len(kept))
        added = np.flatnonzero(column >= len(kept))
        number = column[added] - len(kept)
        return _Places(
            own=own,
            of_own=joint[own] * len(self.robot.parameters) + kept[column[own]],
            added=added,
            of_added=number,
            weights=self._weights[joint[added], number],
        )

    @property
    def _loaded(self) -> bool:
        """Whether a term follows a load."""
        return any(term.element.follows_load for term in self.terms)

    def _regressors(
        self, motion: Motion, doubt: Floats | None = None, deflections: Floats | None = None
    ) -> Iterator[tuple[slice, Floats]]:
        """The robot's regressor (k, n, p), a few samples at a time, and which samples these are.

        One array is filled again and again. Without a doubt contacts slide with their joints.
        """
        Y = None
        for here in in_chunks(len(motion.q)):
            some = motion.at(here)
            own = None if deflections is None else deflections[here]
            contacts = SURE if doubt is None else doubtful_contacts(some, doubt[here], own)
            out = None if Y is None else Y[: len(some.q)]
            Y = self.robot.regressor(*some, contacts=contacts, out=out)
            yield here, Y

    def regressors(self, motion: Motion) -> Iterator[Floats]:
        """The regressor (k, n, p + terms) of a motion, a few samples at a time."""
        deflections = self.bends(motion)
        doubt = doubt_of_speed(motion.v, self.width, averaged=1)
        weights = self._weights
        for here, Y in self._regressors(motion, doubt, deflections.own):
            on_links = self._beyond_gears(Y) if self._loaded else None
            added = None if deflections.added is None else deflections.added[here]
            some = Samples(motion.at(here), doubt[here], added, on_links)
            values = term_values(self.robot, self.terms, some)
            if self.terms:
                yield np.concatenate([Y, values[:, None, :] * weights], axis=2)
            else:
                yield Y

    def on_links(self, motion: Motion) -> Floats:
        """Joint torques beyond the gears along a motion, (m, n) [N m]."""
        parts = self._regressors(motion)
        return np.concatenate([self._beyond_gears(Y) for _, Y in parts])

    def _beyond_gears(self, Y: Floats) -> Floats:
        """Joint torques beyond the gears, (k, n), from the robot's regressor, (k, n, p)."""
        assert self.carried is not None  # where a term follows a load
        return Y @ self.carried

    def torque(self, motion: Motion, phi: Floats) -> Floats:
        """Torque (m, n) of any parameters (p + terms,), physically consistent or not."""
        return np.concatenate([Y @ phi for Y in self.regressors(motion)])


def select_rows(log: CleanLog) -> range:
    """Samples of a clean log that become rows: without its ends, thinned as its filter allows."""
    how = log.how
    return range(how.margin, len(log.clean.time) - how.margin, how.step)


def rows(
    model: RegressionModel, log: CleanLog, deflections: Deflections, rest: Floats, kept: range
) -> RegressionRows:
    """Rows of a clean log, one channel for each joint.

    Args:
        model: The columns.
        log: The clean log.
        deflections: Deflections of the contacts along its motion.
        rest: Speeds below which a joint is at rest and its rows do not count, (n,) [rad/s].
        kept: Consecutive samples of those that become rows.
    """
    how, clean = log.how, log.clean
    around = _around(log, kept)
    columns = model.columns(log.motion, deflections, around, how.averaged)
    Y = filter_values(columns, how, overwrite=True)
    inside = slice(kept.start - around.start, kept.stop - around.start, kept.step)
    used = (np.abs(clean.v[kept]) >= rest) & find_settled_rows(log, deflections, kept)
    return RegressionRows(Y[inside], model.busy, clean.tau[kept], used)


def find_settled_rows(log: CleanLog, deflections: Deflections, kept: range) -> Flags:
    """Whether the contacts on each joint are independent of the start of a log, (k, n).

    A filter mixes what it had before a margin.
    """
    margin = log.how.margin
    return deflections.settled[kept.start - margin : kept.stop - margin : kept.step]


def _around(log: CleanLog, kept: range) -> slice:
    """Samples that the filter needs for these rows; all where it takes whole periods."""
    how, samples = log.how, len(log.clean.time)
    if how.differentiation == "fourier":
        return slice(0, samples)
    reach = int(np.ceil(REACH * how.rate / how.cutoff))
    return slice(max(0, kept.start - reach), min(samples, kept.stop + reach))


def raw_rows(model: RegressionModel, motion: Motion, torque: Floats, step: int) -> RegressionRows:
    """Rows of a log with its torque as measured, thinned by a step.

    Args:
        model: The columns.
        motion: Its motion.
        torque: Torque or current of the log, (m, n).
        step: Number of samples from one row to the next.
    """
    some = slice(step // 2, None, step)
    deflections = model.bends(motion)
    columns = model.columns(motion, deflections, some)
    return RegressionRows(columns, model.busy, torque[some], deflections.settled[some])

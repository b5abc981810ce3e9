"""The regression of a robot's parameters on its logs: Y(q, v, a) φ = τ.

Both sides pass the same filter.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.rows import Rows
from armtwin.identification.fitting.structure import Group, Structure
from armtwin.identification.rigid_body.clean_log import CleanLog, Integers, Motion
from armtwin.identification.rigid_body.identifiable import identifiable
from armtwin.identification.rigid_body.memory import bends
from armtwin.identification.rigid_body.reversals import (
    CHUNK,
    doubt_of_speed,
    doubtful_regressor,
)
from armtwin.identification.rigid_body.terms import (
    Terms,
    busy_joints,
    term_bends,
    term_columns,
)
from armtwin.logs.cleaning import filtered
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.robot import Robot

# periods of the cut-off within which the filter forgets all but exp(-π REACH) of a sample
REACH = 6.0


@dataclass(frozen=True, eq=False)
class Model:
    """What each parameter adds to the torque: those of a robot, then those of added terms.

    Attributes:
        robot: The robot.
        width: Speeds about a reversal within which the sign of friction is in doubt, (n,) [rad/s].
        terms: Friction terms beside the robot's own.
    """

    robot: Robot
    width: Floats
    terms: Terms = ()

    @property
    def structure(self) -> Structure:
        """What any motion can tell; each term is told alone, as its contact bends on its own."""
        base = identifiable(self.robot)
        names = tuple(term.name for term in self.terms)
        alone: list[Group] = ["alone"] * len(names)
        p = len(self.robot.parameters)
        return Structure(
            rank=base.rank + len(names),
            groups=(*base.groups, *alone),
            base=base.base + names,
            kept=base.kept + tuple(range(p, p + len(names))),
            busy=self.busy,
            combination=self.combination,
        )

    @property
    def busy(self) -> Flags:
        """Which base parameters and terms each joint has, (n, r + terms)."""
        base = identifiable(self.robot)
        return np.hstack([base.busy, busy_joints(self.robot, self.terms)])

    @property
    def combination(self) -> Floats:
        """Base parameters and terms from all parameters, (r + terms, p + terms)."""
        C = identifiable(self.robot).combination
        r, p = C.shape
        more = len(self.terms)
        wide = np.zeros((r + more, p + more))
        wide[:r, :p] = C
        wide[r:, p:] = np.eye(more)
        return wide

    def fewer(self, samples: int) -> int:
        """So many samples, fewer by as much as added terms make them wider."""
        own = len(self.robot.parameters)
        return samples * own // (own + len(self.terms))

    def columns(self, motion: Motion, which: slice = slice(None), averaged: int = 1) -> Floats:
        """Columns that each joint has, joint after joint, at some samples of a motion, (m, c).

        Each sample is the mean of so many of a log.
        """
        places = self._places()
        samples = len(np.arange(len(motion.q))[which])
        columns = np.empty((samples, len(places)))
        first = 0
        for Y in self.regressors(motion, which, averaged):
            last = first + len(Y)
            np.take(Y.reshape(len(Y), -1), places, axis=1, out=columns[first:last])
            first = last
        return columns

    def _places(self) -> Integers:
        """Where the columns that each joint has lie in a row of the whole regressor."""
        p = len(self.robot.parameters)
        kept = np.array([*identifiable(self.robot).kept, *range(p, p + len(self.terms))])
        joint, column = np.nonzero(self.busy)
        return np.asarray(joint * (p + len(self.terms)) + kept[column])

    def regressors(
        self, motion: Motion, which: slice = slice(None), averaged: int = 1
    ) -> Iterator[Floats]:
        """The regressor (k, n, p + terms) of some samples of a motion, a few at a time.

        Each sample is the mean of so many of a log. One array is filled again and again where no
        terms were added.
        """
        robot, terms = self.robot, self.terms
        own = bends(robot, robot.assembly.friction, motion.q, motion.v)
        added = term_bends(robot, terms, motion)
        doubt = doubt_of_speed(motion.v, self.width, averaged)
        samples = np.arange(len(motion.q))[which]
        Y = None
        chunk = self.fewer(CHUNK)
        for k in range(0, len(samples), chunk):
            here = samples[k : k + chunk]
            some = motion.at(here)
            bent = None if own is None else own[here]
            Y = doubtful_regressor(robot, some, doubt[here], bent, Y)
            if not terms:
                yield Y
                continue
            bent = None if added is None else added[here]
            yield np.concatenate([Y, term_columns(robot, terms, some, bent)], axis=2)

    def torque(self, motion: Motion, phi: Floats) -> Floats:
        """Torque (m, n) of any parameters (p + terms,), also of those that no robot has."""
        return np.concatenate([Y @ phi for Y in self.regressors(motion)])


def kept_rows(log: CleanLog) -> range:
    """Samples of a clean log that become rows: not those at its ends, every so many of a filter."""
    how = log.how
    return range(how.margin, len(log.clean.time) - how.margin, how.step)


def rows(model: Model, log: CleanLog, rest: Floats, kept: range) -> Rows:
    """Some rows of a clean log, one channel for each joint.

    Args:
        model: The columns.
        log: The clean log.
        rest: Speeds below which a joint counts as standing and its rows do not, (n,) [rad/s].
        kept: The samples that become rows, some of `kept_rows` one after the other.
    """
    how, clean = log.how, log.clean
    around = _around(log, kept)
    Y = filtered(model.columns(log.motion, around, how.averaged), how)
    inside = slice(kept.start - around.start, kept.stop - around.start, kept.step)
    here = slice(kept.start, kept.stop, kept.step)
    moving = np.abs(clean.v[here]) >= rest
    return Rows(Y[inside], model.busy, clean.tau[here], moving)


def _around(log: CleanLog, kept: range) -> slice:
    """Samples that the filter needs for some rows; all where it takes whole periods."""
    how, samples = log.how, len(log.clean.time)
    if how.differentiation == "fourier":
        return slice(0, samples)
    reach = int(np.ceil(REACH * how.rate / how.cutoff))
    return slice(max(0, kept.start - reach), min(samples, kept.stop + reach))


def raw_rows(model: Model, cleaned: CleanLog, log: Log, torque: Floats, step: int) -> Rows:
    """Rows of a log as its torque was measured, every so many samples of it.

    Args:
        model: The columns.
        cleaned: The clean log, for its motion.
        log: The log.
        torque: Torque or current of the log, (m, n).
        step: Every how many samples one is taken.
    """
    some = slice(step // 2, None, step)
    motion = cleaned.motion_at(log.time)
    target = torque[some]
    return Rows(model.columns(motion, some), model.busy, target, np.ones(target.shape, dtype=bool))

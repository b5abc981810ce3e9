"""Which single mistake would make logged torques fit the robot file, and how much better.

Logs that no reading of the columns makes possible: constant torques, motions beyond limits.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import combinations
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.hypothesis import Hypothesis, refuse_by
from armtwin.identification.completion.sizes import reach
from armtwin.identification.plausibility import readings, single_joints
from armtwin.identification.plausibility.evidence import TorqueExplanation, TorqueModel
from armtwin.identification.plausibility.samples import TorqueSamples, sample_torques
from armtwin.identification.rigid_body.data.log_checks import names_of_joints, slides
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.joints import has_joint_torque, in_order_of, torque_channel
from armtwin.logs.log import Log, as_logs
from armtwin.logs.plausibility import OFTEN
from armtwin.maths.batch import Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.maths.narrow import largest, ranges
from armtwin.robot.defaults.assumed_drives import lacks_drives, with_assumed_drives
from armtwin.robot.files import list_shipped
from armtwin.robot.robot import Robot

MOVES = 1e-3  # range from which on a joint must show a torque [rad, m]
RINGING = 0.02  # of the largest torque, by which a filter may take another below zero
SOME_SPEED = 0.01  # at which a joint moves [rad/s, m/s]
LEAST_REVERSING = 3  # joints of which no friction is negative by chance
VIOLENT = 3.0  # times a limit of acceleration or torque beyond which time is compressed


class _Needed(NamedTuple):
    """What a motion needs, (m, n), its limit (n,), the verb for it and its units."""

    values: Floats
    limit: Floats
    verb: str
    units: tuple[str, str]


def refuse_impossible(samples: TorqueSamples) -> None:
    """Refuse logs that are impossible with any reading of the columns and any mounting."""
    robot, motion = samples.robot, samples.motion
    _refuse_flat(samples)
    refuse_by(_suspect_copies(samples))
    refuse_by(_suspect_lost_signs(samples))
    limits = robot.limits
    rigid = robot.inverse_dynamics(*motion)
    for needed in (
        _Needed(motion.a, limits.acceleration, "accelerate by", ("rad/s²", "m/s²")),
        _Needed(rigid, limits.torque, "need", ("N m", "N")),
    ):
        _refuse_violent(robot, needed)


def _refuse_flat(samples: TorqueSamples) -> None:
    """Refuse a torque that never changes while its joint moves."""
    flat = np.zeros(samples.robot.n, dtype=bool)
    for log in samples.logs:
        flat |= (ranges(log.tau) == 0) & (ranges(log.motion.q) > MOVES)
    if flat.any():
        which = names_of_joints(samples.robot, flat)
        raise ArmtwinError(
            f"the torque of {which} never changes while the joint moves; was it logged at all?"
        )


def _suspect_copies(samples: TorqueSamples) -> Iterator[Hypothesis]:
    """Columns of two joints that are one."""
    names = samples.robot.joint_names
    for what, values in (("positions", samples.motion.q), ("torques", samples.torque())):
        moving = np.flatnonzero(ranges(values) > MOVES)
        for i, k in combinations(moving, 2):
            if np.array_equal(values[:, i], values[:, k]):
                evidence = f"the {what} of {names[i]} and {names[k]} are the same"
                mistake = f"Is a column of {what} copied"
                yield Hypothesis(evidence, mistake, "give each joint its own column")


def _suspect_lost_signs(samples: TorqueSamples) -> Iterator[Hypothesis]:
    """Torques that are never negative, though joints move either way."""
    v, tau = samples.motion.v, samples.torque()
    reverses = (v.min(axis=0) < -SOME_SPEED) & (v.max(axis=0) > SOME_SPEED)
    if reverses.sum() >= LEAST_REVERSING and (tau >= -RINGING * largest(tau))[:, reverses].all():
        evidence = f"no torque is ever negative, though {reverses.sum()} joints move either way"
        yield Hypothesis(evidence, "Did the torques lose their sign", "log them with it")


def _refuse_violent(robot: Robot, needed: _Needed) -> None:
    """Refuse accelerations far beyond the limits, or that take torques far beyond them."""
    usual = np.quantile(np.abs(needed.values), OFTEN, axis=0)
    beyond = usual > VIOLENT * needed.limit
    if not beyond.any():
        return
    j = int(beyond.argmax())
    unit = needed.units[int(slides(robot)[j])]
    raise ArmtwinError(
        f"{robot.joint_names[j]} would {needed.verb} {usual[j]:.4g} {unit} where its limit is "
        f"{needed.limit[j]:.4g} {unit}. Does time run too fast, or are positions in another unit? "
        "Say unit.time or unit.q in a columns file, or correct the limits of the robot file"
    )


# by which the evidence of another reading must be larger: odds of 160 000 to 1, as a hundred are
# tried and what a model leaves out is no noise
CLEAR = 12.0
# factor of all torques below which the masses of the file are the likelier mistake, and from which
# on the robot is another one
LEAST_FACTOR = 6.0
# the same of another robot, whose masses are as little known, and of a reading that does not make
# sense of all joints
VERY_CLEAR = 30.0
# scales of masses that are the file's, and that hardly are: of another robot with the one, where
# its own file shows the other, less is asked
SAME_MASSES, OTHER_MASSES = 1.3, 2.5
LEAST_JOINTS = 3  # that must move to show more than a scale
SAME_PLACE = 0.05  # of the reach, by which the wrist of the same arm may be elsewhere in its file
# mass of an arm over the square of its reach: desktop arms have 10, the heaviest 800 [kg/m²]
LIGHTEST, HEAVIEST = 5.0, 1000.0
MAKES_SENSE = 0.6  # share of the torques that must be explained once a mistake is undone
UNEXPLAINED = 0.6  # residual over torque of a joint that a log of the robot seldom leaves
WORSE = 0.05  # share of the torques by which a reading may explain less for being plainer
NEARLY_AS_LIKELY = 5.0  # difference of strengths within which a second hypothesis is named, too


@dataclass(frozen=True, eq=False)
class TorqueEvidence:
    """Logged torques beside what a robot file makes of their motion.

    Attributes:
        robot: The robot, with drives.
        logs: Its logs.
        source: Channel of the torque.
        recipe: Where the motion comes from.
    """

    robot: Robot
    logs: tuple[Log, ...]
    source: str
    recipe: Recipe

    @cached_property
    def samples(self) -> TorqueSamples:
        """Samples of the logs."""
        return sample_torques(self.robot, self.logs, self.source, self.recipe)

    @cached_property
    def model(self) -> TorqueModel:
        """The torques by the robot file."""
        return TorqueModel(self.robot, self.samples.motion)

    @cached_property
    def here(self) -> TorqueExplanation:
        """What the columns come to as they are."""
        return self.model.explain(self.samples.torque())

    @one_blas_thread()
    def gain_of(self, robot: Robot) -> float:
        """By how much the evidence is larger that the logs are of another robot."""
        return self._explain_by(robot).evidence - self._explained_by_own.evidence

    @cached_property
    def _explained_by_own(self) -> TorqueExplanation:
        return self._explain_by(self.robot)

    def _explain_by(self, robot: Robot) -> TorqueExplanation:
        """What the torques are by a robot whose file claims nothing of how well it is known."""
        model = TorqueModel(robot, self.samples.motion, as_known=False)
        return model.explain(self.samples.torque())

    @cached_property
    @one_blas_thread()
    def hypotheses(self) -> list[Hypothesis]:
        """Mistakes that would make the logs fit clearly better, the likeliest first."""
        given = self.robot, self.logs, self.source, self.recipe
        found = [
            *single_joints.suspect_clipping(*given),
            *self._suspect_columns(),
            *self._suspect_angles(),
            *self._suspect_time(),
            *self._suspect_scale(),
            *self._suspect_whole_scale(),
            *self._suspect_robots(),
        ]
        # some mistakes come to the same motion: the first of the list is the commoner one
        return sorted(found, key=lambda one: -round(one.strength, 3))

    def _suspect_columns(self) -> Iterator[Hypothesis]:
        """By the readings of the columns other than as they are."""
        if self.model.moves.sum() < LEAST_JOINTS:
            return
        motion, model = self.samples.motion, self.model
        for reading in readings.list_readings(self.samples, self.model.shows):
            if reading.motion is not motion:  # readings of one motion follow each other
                own = reading.motion is self.samples.motion
                model = self.model if own else TorqueModel(self.robot, reading.motion)
                motion = reading.motion
            yield from self._compare(reading, model.explain_near(reading.tau, self.here))

    def _suspect_angles(self) -> Iterator[Hypothesis]:
        """By readings with angles in other units; a longer travel is no evidence by itself."""
        motion, tau = self.samples.motion, self.samples.torque()
        for reading in readings.read_other_angles(motion, tau, self.robot):
            read, own = (TorqueModel(self.robot, one) for one in (reading.motion, motion))
            if read.moves.sum() >= LEAST_JOINTS:
                read.counts = own.counts = np.maximum(read.counts, own.counts)
                weighed = replace(self)
                weighed.__dict__["here"] = own.explain(tau)
                yield from weighed._compare(reading, read.explain(tau))

    def _suspect_time(self) -> Iterator[Hypothesis]:
        """By readings at another time, or with the torque in time, where joints agree on it."""
        enough = self.model.moves.sum() >= LEAST_JOINTS
        factor = single_joints.estimate_time_factor(self.samples) if enough else None
        if factor is not None:
            yield from self._suspect_factor(factor)
        late = single_joints.estimate_lateness(self.robot, self.logs, self.source, self.recipe)
        if late is not None and late.is_clear:
            reading = readings.read_in_time(self.samples, late.seconds)
            yield from self._compare(reading, self.model.explain(reading.tau))

    def _suspect_factor(self, factor: float) -> Iterator[Hypothesis]:
        """By the reading at another time; drive gains would hide it, where they are guessed.

        Rotors that the file gives too small hide more inertia than it has, nothing hides less.
        """
        motion, tau = self.samples.motion, self.samples.torque()
        reading = readings.read_at_other_time(motion, tau, factor, CLEAR)
        gain = CLEAR
        if not self.samples.has_gains:
            there = TorqueModel(self.robot, reading.motion).explain(reading.tau)
            gain = there.evidence - self.here.evidence + (CLEAR if factor > 1 else 0.0)
        if gain >= CLEAR:
            evidence = (
                f"beside their weight the joints show {factor**2:.3g} times the inertia that the "
                "robot file gives them"
            )
            mistake, remedy = reading.words.split("|")
            yield Hypothesis(evidence, mistake, remedy, gain)

    def _compare(self, reading: readings.Reading, there: TorqueExplanation) -> Iterator[Hypothesis]:
        """A hypothesis where a reading has clearly more evidence and explains no less."""
        gain = there.evidence + reading.odds - self.here.evidence
        hardly = there.errors.max() > UNEXPLAINED
        if hardly and self.samples.has_gains:
            return  # gains that were guessed joint by joint leave as much
        least = max(MAKES_SENSE, self.here.explained - WORSE)
        if gain < (VERY_CLEAR if hardly else CLEAR) or there.explained < least:
            return
        before, after = 100 * self.here.explained, 100 * there.explained
        digits = int(round(before) == round(after))
        evidence = (
            f"the robot file explains {before:.{digits}f} % of the torques as they are, "
            f"{after:.{digits}f} % if this is undone"
        )
        mistake, remedy = reading.words.split("|")
        if hardly:
            remedy += ", or take the log of this robot: even so it hardly explains all joints"
        yield Hypothesis(evidence, mistake, remedy, gain)

    def _suspect_scale(self) -> Iterator[Hypothesis]:
        """Torques that are all of another size than the file's."""
        if self.samples.has_gains or not self._has_plausible_mass():
            return
        free = self.model.explain_at_any_scale(self.samples.torque())
        for reading in readings.read_by_drives(self.samples):
            yield from self._compare(reading, self.model.explain(reading.tau))
        if max(free.scale, 1 / free.scale) < LEAST_FACTOR:
            return
        reading = readings.read_other_scale(self.samples, free.scale, self._whole_scale)
        for found in self._compare(reading, self.model.explain(reading.tau)):
            times = f"weight and inertia in the log are {free.scale:.3g} times the robot file's"
            yield replace(found, evidence=times)

    @cached_property
    def _whole_scale(self) -> float | None:
        return single_joints.estimate_whole_scale(self.samples)

    def _suspect_whole_scale(self) -> Iterator[Hypothesis]:
        """Torques that are all a factor off the file's whole torque, friction included."""
        scale = self._whole_scale
        words = "" if scale is None else readings.name_exact_factor(1 / scale)
        if not words:
            return
        mistake, remedy = words.split("|")
        evidence = (
            f"at every joint weight, inertia and friction together are {scale:.3g} times the robot "
            "file's"
        )
        yield Hypothesis(evidence, mistake, remedy, CLEAR)

    def _has_plausible_mass(self) -> bool:
        """Whether the file's masses can be those of an arm of its size; invented ones may not."""
        masses = self.robot.parameters[: self.robot.layout.all_links.stop : 10]
        return LIGHTEST < masses.sum() / reach(self.robot) ** 2 < HEAVIEST

    def _suspect_robots(self) -> Iterator[Hypothesis]:
        """Other shipped robots that explain the logs better."""
        own = self.robot
        if self.samples.has_gains or self.model.moves.sum() < LEAST_JOINTS:
            return
        for name in list_shipped():
            other = Robot.load(name)
            if other.n != own.n or _same_geometry(own, other):
                continue
            there, here = self._explain_by(other), self._explained_by_own
            gain = there.evidence - here.evidence + readings.SELDOM
            # masses of a shipped robot are known: at another scale the torques are not of it
            fits = max(there.scale, 1 / there.scale)
            own_fits = max(here.scale, 1 / here.scale)
            least = CLEAR if fits < SAME_MASSES and own_fits > OTHER_MASSES else VERY_CLEAR
            if gain > least and fits < LEAST_FACTOR:
                evidence = f"robot '{name}' explains the torques better than '{own.name}' does"
                yield Hypothesis(evidence, f"Is the log of '{name}'", f"name robot {name}", gain)


def _same_geometry(one: Robot, other: Robot) -> bool:
    """Whether the wrists of two robots move to the same places in a few postures."""
    postures = np.random.default_rng(1).uniform(-1, 1, (8, one.n))
    places = []
    for robot in (one, other):
        last = robot.assembly.tree.joints[-1].child
        places.append(robot.forward_kinematics(postures, last)[:, :3, 3])
    return bool(np.ptp(places[0] - places[1], axis=0).max() < SAME_PLACE * reach(one))


def weigh_torques(robot: Robot, logs: Sequence[Log], source: str, recipe: Recipe) -> TorqueEvidence:
    """The evidence that logs are of a robot as they are.

    Args:
        robot: The robot, with drives.
        logs: Its logs, in the order of its joints.
        source: Channel of the torque.
        recipe: Where the motion comes from.
    """
    return TorqueEvidence(robot, tuple(logs), source, replace(recipe.for_prediction(), period=None))


def refuse_mistakes(weighed: TorqueEvidence) -> None:
    """Refuse logs that cannot be of the robot, or that one mistake explains clearly better."""
    refuse_impossible(weighed.samples)
    refuse_hypotheses(weighed)


def refuse_hypotheses(weighed: TorqueEvidence) -> None:
    """Refuse logs that one mistake explains clearly better, by the likeliest."""
    found = weighed.hypotheses
    if not found:
        return
    first, *others = found
    near = [one.mistake for one in others if one.strength > first.strength - NEARLY_AS_LIKELY]
    also = f". Nearly as likely: {near[0]}?" if near else ""
    raise ArmtwinError(first.sentence + also)


def refuse_joint_torque_mistakes(robot: Robot, log: Log) -> None:
    """As `refuse_torque_mistakes`, of a log that may have no joint torques."""
    if has_joint_torque(robot, log):
        refuse_torque_mistakes(robot, log)


def refuse_torque_mistakes(
    robot: Robot, logs: Log | Sequence[Log], torque: str | None = None
) -> None:
    """Refuse logs whose torques one mistake explains clearly better than the robot as it is.

    Args:
        robot: The robot as it was when logged.
        logs: Its logs.
        torque: Channel of the torque; by default tau, else tau_m, else current.
    """
    prior = with_assumed_drives(robot) if lacks_drives(robot) else robot
    ordered = [in_order_of(log, prior.joint_names) for log in as_logs(logs, "plausibility")]
    source = torque_channel(ordered[0], torque)
    refuse_hypotheses(weigh_torques(prior, ordered, source, Recipe()))

"""A log beside the robot that it is said to be of: units, zeros and signs that would fit."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import product

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.plausibility.suspect import refuse_joint_torque_mistakes
from armtwin.logs.joints import has_joint_torque, in_order_of
from armtwin.logs.log import Log
from armtwin.logs.plausibility import DEGREES, Pace, check_motion
from armtwin.maths.batch import Flags, Floats, Names, Record
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text, list_columns
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

BESIDE = np.radians(
    5.0
)  # by which a joint may be beyond its limits: they are often those of a cell
ZEROS = np.radians([90.0, -90.0, 180.0, -180.0])
TURNED = ((1, 0.0), (-1, 0.0), *product((1, -1), ZEROS))  # signs and zeros, the likelier first
UNIT = 'unit.q = "deg"'
NAMED = 2  # proposals of a joint


@dataclass(frozen=True, eq=False, repr=False)
class LogCheck(Result):
    """What a log holds, and how that fits a robot.

    Attributes:
        log: The log.
        robot: The robot.
    """

    log: Log
    robot: Robot

    def sections(self) -> Report:
        """The log's own sections, and its ranges beside the robot's limits."""
        report = self.log.sections()
        beside = Section(f"Beside {self.robot.name}", _blocks(self))
        cautions = tuple(Text(caution, "bad") for caution in self.cautions)
        return replace(report, sections=(*report.sections, beside), verdict=cautions)

    @cached_property
    def cautions(self) -> Names:
        """What of the log cannot be of the robot as it is, as sentences."""
        return tuple(f"{found[0].upper()}{found[1:]}." for found in self._problems())

    def _problems(self) -> Iterator[str]:
        try:
            log = in_order_of(self.log, self.robot.joint_names)
        except ArmtwinError as error:
            yield str(error)
            return
        if "q" not in log:
            return
        count = log.q.shape[1]
        if count != self.robot.n:
            yield (
                f"the log has {count} joints, '{self.robot.name}' has {self.robot.n}: another "
                "robot, or an arm on a carrier (armtwin import URDF --tip LINK chooses a chain)"
            )
            return
        motion = partial(check_motion, log, "q", Pace.of_robot(self.robot))
        for check in (motion, partial(refuse_joint_torque_mistakes, self.robot, log)):
            try:
                check()
            except ArmtwinError as error:
                yield str(error)


def _blocks(check: LogCheck) -> Blocks:
    robot, log = check.robot, check.log
    if "q" not in log or log.q.shape[1] != robot.n:
        yield Text("No joint positions to compare with its limits.")
        return
    columns = list_columns(
        joint="joint", logged="logged range", limits="position limits", proposal="proposal"
    )
    ordered = (
        log
        if set(log.joint_names) != set(robot.joint_names)
        else in_order_of(log, robot.joint_names)
    )
    yield Table(columns, list(_ranges(robot, ordered.q)), "limits")
    if not has_joint_torque(robot, log):
        yield Text(
            "No torque: signs of torques cannot be compared with the robot's weight.", "soft"
        )


def _ranges(robot: Robot, q: Floats) -> Iterator[Record]:
    """For each joint its range, its limits and what would put it within them."""
    in_degrees = _is_in_degrees(robot, q)
    limits = robot.position_limits.T
    for j, (name, bounds) in enumerate(zip(robot.joint_names, limits, strict=True)):
        ends = np.array([q[:, j].min(), q[:, j].max()])
        turns = robot.assembly.free_joints[j].type == "revolute"
        yield {
            "joint": name,
            "logged": _span(ends, turns),
            "limits": _span(bounds, turns) if np.isfinite(bounds).all() else "none",
            "proposal": _propose(ends, bounds, turns and in_degrees, turns),
        }


def _span(ends: Floats, turns: bool) -> str:
    low, high = np.degrees(ends) if turns else 1e3 * ends
    return f"{low:.4g} to {high:.4g} {'°' if turns else 'mm'}"


def _is_in_degrees(robot: Robot, q: Floats) -> bool:
    """Whether angles are beyond any arm, or most limits, and within the limits as degrees."""
    turns = np.array([joint.type == "revolute" for joint in robot.assembly.free_joints])
    low, high = robot.position_limits
    beyond = turns & ~_fit(q.min(axis=0), q.max(axis=0), low, high)
    scaled = np.radians([q.min(axis=0), q.max(axis=0)])
    explained = beyond & _fit(scaled[0], scaled[1], low, high)
    is_odd = np.abs(q[:, turns]).max(initial=0.0) > DEGREES or 2 * beyond.sum() > turns.sum()
    return bool(is_odd and 2 * explained.sum() > beyond.sum())


def _fit(least: Floats, most: Floats, low: Floats, high: Floats) -> Flags:
    return (least >= low - BESIDE) & (most <= high + BESIDE)


def _propose(ends: Floats, bounds: Floats, in_degrees: bool, turns: bool) -> str:
    """The units, signs and zeros that put a range within limits, in words of the columns file."""
    scaled = np.radians(ends) if in_degrees else ends
    found = []
    for sign, zero in TURNED if turns else TURNED[:2]:
        low, high = np.sort(sign * scaled) + zero
        if not _fit(low, high, *bounds):
            continue
        words = [UNIT] if in_degrees else []
        if sign < 0:
            words.append("sign -1")
        if zero:
            words.append(f'offset "{np.degrees(zero):g} deg"')
        found.append(", ".join(words) or "as it is")
        if (sign, zero) == TURNED[0]:
            break
    return " or ".join(found[:NAMED]) or "none fits"

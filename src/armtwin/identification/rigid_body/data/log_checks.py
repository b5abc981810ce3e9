"""Logs that cannot be of this robot, by their positions and times."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.hypothesis import Hypothesis, refuse_by
from armtwin.logs.log import Log
from armtwin.logs.plausibility import Pace, check_motion
from armtwin.logs.reference_plausibility import ANGLE_UNITS
from armtwin.logs.rest import STILL_RANGE
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.narrow import largest, ranges
from armtwin.robot.robot import Robot

QUARTERS = (90, -90, 180, -180)  # turns by which zeros are mistaken [deg]
FAR = 1.5  # times its limit beyond which a position is not believed
TURN = 2 * np.pi  # up to which angles are no degrees: an arm that moves by 6° has no limit there
TURNS = 8 * np.pi  # beyond which the position of a joint without limits is not believed [rad]


def check_logs(robot: Robot, logs: Sequence[Log], channel: str) -> None:
    """Refuse logs that do not fit the robot, with the log and the likely cause.

    Args:
        robot: The robot.
        logs: The logs.
        channel: Channel of the positions.
    """
    names = [log.origin or f"log {k}" for k, log in enumerate(logs, 1)]
    for log, name in zip(logs, names, strict=True):
        check_positions(robot, log, channel, name)
    refuse_duplicates(logs, names)
    _refuse_unmoving(robot, logs, channel)
    torques = robot.n * sum(len(log.time) for log in logs)
    unknown = len(robot.parameters)
    if torques < unknown:
        raise ArmtwinError(
            f"the logs have {torques} torques for {unknown} parameters of '{robot.name}'; "
            "log longer"
        )


def refuse_duplicates(logs: Sequence[Log], names: Sequence[str]) -> None:
    """Refuse a log that is given twice."""
    for (one, twin), (log, name) in combinations(zip(logs, names, strict=True), 2):
        if same_log(one, log):
            raise ArmtwinError(f"{name} is the same log as {twin}; give each once")


def _refuse_unmoving(robot: Robot, logs: Sequence[Log], channel: str) -> None:
    """Refuse logs in which a joint never moves."""
    still = np.ones(robot.n, dtype=bool)
    for log in logs:
        still &= ranges(getattr(log, channel)) < STILL_RANGE
    if not still.any():
        return
    which = names_of_joints(robot, still)
    where = "any of the logs"
    if len(logs) == 1:
        where = logs[0].origin or "the log"
    raise ArmtwinError(
        f"{which} does not move in {where}, so its parameters are not identifiable; "
        "log a motion of it"
    )


def check_positions(robot: Robot, log: Log, channel: str, name: str) -> None:
    """Refuse a log whose positions are not those of the robot."""
    got = getattr(log, channel).shape[1] if channel in log else 0
    if got != robot.n:
        raise ArmtwinError(
            f"{name}: must have {robot.n} columns of {channel} for robot '{robot.name}', got {got}"
        )
    _refuse_out_of_reach(robot, getattr(log, channel), name)
    try:
        check_motion(log, channel, Pace.of_robot(robot))
    except ArmtwinError as error:
        raise ArmtwinError(f"{name}: {error}") from None


def same_log(a: Log, b: Log) -> bool:
    """Whether two logs hold the same numbers at the same times."""
    if not np.array_equal(a.time, b.time):
        return False
    common = a.channels.keys() & b.channels.keys()
    return all(np.array_equal(a.channels[name], b.channels[name]) for name in common)


def _refuse_out_of_reach(robot: Robot, q: Floats, name: str) -> None:
    """Refuse positions far beyond the joint limits."""
    low, high = robot.position_limits
    limit = np.maximum(np.abs(low), np.abs(high))
    unlimited = np.where(slides(robot), np.inf, TURNS)
    reach = np.where(np.isfinite(high - low), FAR * limit, unlimited)
    most = largest(q)
    beyond = most > reach
    if not beyond.any():
        return
    j = beyond.argmax()
    unit = "m" if slides(robot)[j] else "rad"
    allowed = f"{limit[j]:.4g} {unit}" if np.isfinite(high[j]) else "a few turns"
    fact = (
        f"{name}: {robot.joint_names[j]} reaches {most[j]:.4g} {unit} where its limit is {allowed}"
    )
    turns = [] if unit == "m" else _turns_into_limits(q[:, j], low[j], high[j])
    if beyond.sum() == 1 and turns:
        mistaken = " or ".join(f"off by {abs(turn)}°" for turn in turns)
        if ((low < q[:, j].min()) & (q[:, j].max() < high)).any():
            mistaken += ", or the column that of another joint"
        where = f"say offset in a columns file, {turns[0]} deg for this joint"
        refuse_by([Hypothesis(fact, f"Is its zero {mistaken}", where)])
    if most.max() <= TURN:
        where = "name the robot that it is of, or give sign, offset and order in a columns file"
        mistake = "Is it the log of another robot, or are zeros or columns of its joints others"
        refuse_by([Hypothesis(fact, mistake, where)])
    for unit, (words, factor) in ANGLE_UNITS.items():
        if (most / factor <= reach).all():
            where = f'say unit.q = "{unit}" in a columns file'
            refuse_by([Hypothesis(fact, f"Is it in {words}", where)])
    raise ArmtwinError(fact)


def _turns_into_limits(q: Floats, low: float, high: float) -> list[int]:
    """Turns [deg] that take the positions of a joint into its limits."""
    found = []
    for turn in QUARTERS:
        moved = q + np.radians(turn)
        if low <= moved.min() and moved.max() <= high:
            found.append(turn)
    return found


def names_of_joints(robot: Robot, which: Flags) -> str:
    """Names of the flagged joints (n,) with commas between."""
    return ", ".join(np.array(robot.joint_names)[which])


def slides(robot: Robot) -> Flags:
    """Which coordinates are those of sliding joints, (n,)."""
    joints = robot.assembly.tree.joints
    return np.array([joints[k].type == "prismatic" for k in robot.assembly.free])

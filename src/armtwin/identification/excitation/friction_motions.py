"""Motions for friction curves: constant speeds back and forth, one direction of the joints each.

    0 -> v_1 -> 0 -> -v_1 -> 0 -> v_2 -> ...        speeds of a geometric series, smooth ramps

Directions are the joints one by one and, where the gear matrix couples joints as in a wrist, the
motions in which one motor turns alone: contacts of several joints are then loaded in other sums.

Ref: [Waiboer 2007, sections 3.5 and 3.6]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.excitation.bounds import Bounds, ExcitationPlan, Use
from armtwin.identification.excitation.design import DENSER, USUAL_RATE, RunTwin
from armtwin.identification.excitation.result import Twin
from armtwin.identification.rigid_body.data.clean_log import whole_torque
from armtwin.maths.batch import Floats, NamedArrays
from armtwin.motion.cell import Cell
from armtwin.motion.fourier import Shapes
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import PERCENT, PLAIN
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

SPEEDS = 12  # of each direction
SLOWEST = 0.02  # of the highest speed
HOLD, RAMP = 1.0, 0.5  # duration of a plateau at least, and of a ramp [s]
SLOW_TRAVEL = 0.02  # of a plateau, so that slow contacts slide too [rad or m]
MARGIN = 0.9  # of the range of positions that is used
POSTURES = 24  # centres that are tried
SHARES = (1.0, 0.8, 0.6, 0.4, 0.25, 0.15, 0.08)  # of the range of a direction


@dataclass(frozen=True, eq=False)
class FrictionMotion:
    """A motion back and forth.

    Attributes:
        direction: Direction of the joints, largest component 1, (n,).
        speeds: Speeds along it, (k,) [rad/s or m/s].
        trajectory: The motion.
        use: How much of each limit it uses, checked ten times denser than its set-points.
        twin: Result of the robot's simulated loop, None where it was not simulated.
    """

    direction: Floats
    speeds: Floats
    trajectory: Trajectory
    use: Use
    twin: Twin | None


@dataclass(frozen=True, eq=False, repr=False)
class FrictionMotions(Result):
    """Motions for the friction curves of a robot.

    Attributes:
        robot: The robot.
        motions: The motions by name, of a joint or of a motor that turns alone.
    """

    robot: Robot
    motions: dict[str, FrictionMotion]

    def sections(self) -> show.Report:
        """The motions with their speeds and the limits that they use."""
        seconds = sum(motion.trajectory.duration for motion in self.motions.values())
        stopped = [x.twin.sentence for x in self.motions.values() if x.twin and not x.twin.runs]
        return show.Report(
            title=f"Motions for the friction curves of {self.robot.name}",
            subtitle="log each of them, then: armtwin friction curves ROBOT LOG...",
            sections=(show.Section("", _table(self)),),
            verdict=(
                show.Text(f"{len(self.motions)} motions of {seconds:.0f} s in all."),
                *(show.Text(sentence) for sentence in stopped),
            ),
        )


def _table(result: FrictionMotions) -> show.Blocks:
    motions = result.motions.values()
    yield show.Table.of(
        "motions",
        name=(result.motions, "motion"),
        direction=([motion.direction for motion in motions],),
        slowest=([motion.speeds[0] for motion in motions], "slowest rad/s", PLAIN),
        fastest=([motion.speeds[-1] for motion in motions], "fastest rad/s", PLAIN),
        duration=([motion.trajectory.duration for motion in motions], "duration s", PLAIN),
        use=([motion.use.largest for motion in motions], "of limits", PERCENT),
        runs=([motion.twin and motion.twin.runs for motion in motions],),
    )


def list_directions(robot: Robot) -> NamedArrays:
    """Directions of the joints by name: joints alone, and coupled motors alone."""
    found = dict(zip(robot.joint_names, np.eye(robot.n), strict=True))
    gear = robot.assembly.gear[:, robot.assembly.free]
    if gear.shape != (robot.n, robot.n) or np.linalg.matrix_rank(gear) != robot.n:
        return found
    for k, alone in enumerate(np.linalg.inv(gear).T):
        direction = alone / alone[np.argmax(np.abs(alone))]
        if np.count_nonzero(np.abs(direction) > 1e-9) > 1:
            found[f"{robot.description.motor[k].name}_alone"] = direction
    return found


def excite_friction(
    robot: Robot,
    plan: ExcitationPlan | None = None,
    cell: Cell | None = None,
    *,
    run_twin: RunTwin | None = None,
) -> FrictionMotions:
    """Design motions for the friction curves of a robot, within its limits and its cell.

    Args:
        robot: The robot as it will be logged.
        plan: Its rate, shares of the limits, clearance and seed count.
        cell: Obstacles around it; by default the plane of its base alone.
        run_twin: Simulates a trajectory in the robot's closed loop, None where it cannot.
    """
    chosen = plan or ExcitationPlan(speed=0.9, torque=0.9)
    bounds = Bounds.of(robot, chosen, cell or Cell())
    rate = chosen.rate or USUAL_RATE
    motions = {}
    for name, direction in list_directions(robot).items():
        motions[name] = _design(bounds, name, direction, rate, chosen.seed, run_twin)
    return FrictionMotions(robot, motions)


def _design(
    bounds: Bounds, name: str, direction: Floats, rate: float, seed: int, run_twin: RunTwin | None
) -> FrictionMotion:
    """The largest motion along a direction that keeps the limits and that the twin runs."""
    moving = np.flatnonzero(direction)
    size = np.abs(direction[moving])
    room = MARGIN * float((2 * bounds.half[moving] / size).min())
    fastest = float((bounds.speed[moving] / size).min())
    centres = [bounds.robot.home, bounds.middle]
    spread = np.random.default_rng(seed).uniform(-MARGIN, MARGIN, (POSTURES, bounds.robot.n))
    centres += list(bounds.middle + spread * bounds.half)
    twin = None
    for share in SHARES:
        highest = min(fastest, share * room / (HOLD + RAMP))
        speeds = np.geomspace(SLOWEST, 1.0, SPEEDS) * highest
        for centre in centres:
            travel = 0.5 * share * room * direction
            left = np.maximum(MARGIN * bounds.half - np.abs(travel), 0.0)
            start = bounds.middle + np.clip(centre - bounds.middle, -left, left) - travel
            # the fastest plateaus alone first: the others use less
            if not bounds.kept(_use(bounds, _shapes(start, direction, speeds[-1:], rate, 1))):
                continue
            use = _use(bounds, _shapes(start, direction, speeds, rate, DENSER))
            if not bounds.kept(use):
                continue
            trajectory = Trajectory.sampled(rate, *_shapes(start, direction, speeds, rate, 1))
            twin = None if run_twin is None else run_twin(trajectory)
            if twin is None or twin.runs:
                return FrictionMotion(direction, speeds, trajectory, use, twin)
            break  # what the servo does not follow here it follows nowhere
    why = "" if twin is None else f" {twin.sentence}"
    raise ArmtwinError(
        f"robot '{bounds.robot.name}': no motion of {name} for friction curves is within its "
        f"limits and its cell.{why}"
    )


def _use(bounds: Bounds, motion: Shapes) -> Use:
    """How much of every limit a motion uses."""
    return bounds.use(motion, whole_torque(bounds.robot, *motion))


def _shapes(start: Floats, direction: Floats, speeds: Floats, rate: float, denser: int) -> Shapes:
    """Positions, speeds and accelerations of the joints, (m, n) each."""
    parts: list[tuple[float, float, int]] = []  # speed at both ends, set-points
    ramp = round(RAMP * rate)
    for speed in speeds.tolist():
        hold = round(max(HOLD, SLOW_TRAVEL / speed) * rate)
        for v in (speed, -speed):
            parts += [(0.0, v, ramp), (v, v, hold), (v, 0.0, ramp)]
    x = 0.0
    columns = []
    for first, last, count in parts:
        u = np.arange(count * denser) / (count * denser)
        T, rise = count / rate, last - first
        v = first + rise * (3 * u**2 - 2 * u**3)
        a = rise / T * 6 * u * (1 - u)
        columns.append((x + T * (first * u + rise * (u**3 - u**4 / 2)), v, a))
        x += T * (first + last) / 2
    along = [np.concatenate(column)[:, None] for column in zip(*columns, strict=True)]
    return Shapes(start + along[0] * direction, along[1] * direction, along[2] * direction)

"""One transmission on a bench: torque of the motor in, angles of motor and joint out.

    J_m N² a_d + c_g w_d + F_m + T(x) = N tau,    J a_l + F_l - T(x) = load      x = q_d - q_l

Motor, gear, spring with gap, dampers, friction on either side, and a joint that is free, loaded or
clamped, rigidly or by a finite stiffness: the one-dimensional model of document 001. It is the
plant of rows with a constant mass matrix, driven by torques at given times, even or uneven.

Ref: [Soder-Hoorn 2015, fig. 3.1-3.2]
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from armtwin.drives.friction.curves import INTERVALS, split
from armtwin.drives.friction.laws import Law
from armtwin.drives.rows import Spring, Springs, damper, pack_rows, pack_springs
from armtwin.errors import ArmtwinError
from armtwin.files.fields import OneOf
from armtwin.files.shape import FLAT
from armtwin.logs.log import Log
from armtwin.maths import quantities as si
from armtwin.maths.batch import Floats, NamedArrays, Sentences, check_array
from armtwin.notebook import cards
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Report, Section, Text
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Backlash, FrictionElement, Presliding, spring_problem
from armtwin.simulation.bench_loop import bench_loop, bench_plant, play_bench
from armtwin.simulation.energy import Energy, bristle_energy, spring_energy, sum_energy
from armtwin.simulation.loop import ClosedLoop, Record, make_clock
from armtwin.simulation.model import FRICTION_KINDS, FrictionModel, Model
from armtwin.simulation.options import Partner
from armtwin.simulation.packing import friction_tables
from armtwin.simulation.plant import BRISTLES, C0, Friction as FrictionParts, Plant

MOTOR = 0  # number of the motor's row
FASTEST = 2000.0  # speed [rad/s] up to which friction is tabulated
PHASE_STEP = 0.1  # phase angle [rad] of the fastest vibration in one step
SLOWING = 1.0  # times the fastest time in which drag stops a speed that one step may take
SLOWEST_DRAG = 1e-2  # speed [rad/s] from which the rise of friction counts as drag
MOST_DRAG = 50.0  # by which drag may make a step shorter
SERVO = 10.0  # stiffness of a servo over that of the gear
LEAST_SERVO = 50.0  # natural frequency of a servo on the motor's own inertia, at least [rad/s]
LONGEST_STEP = 2e-3  # [s], where nothing vibrates
MOST_STEPS = 500_000_000
Side = Literal["motor", "drive", "joint"]


@dataclass(frozen=True)
class BenchFriction:
    """Friction on the bench; the law's keys are in its own table.

    Attributes:
        on: Whose speed it sees and on which it acts: "motor", "drive" (the motor's side of the
            spring in units of the joint) or "joint".
        law: Friction at steady sliding.
        presliding: Pre-sliding stiffness or distance, for "lugre".
        offset: Constant torque added to the friction [N m].
    """

    on: Side
    law: Annotated[Law, OneOf("law")] = field(metadata=FLAT)
    presliding: Presliding | None = None
    offset: si.Torque | None = None


@dataclass(frozen=True)
class Bench:
    """A transmission on a bench; rotor and friction of the motor on its side, the rest on the
    joint's.

    Attributes:
        rotor_inertia: Inertia of the motor [kg m²].
        stiffness: Torsion stiffness of the gear [N m/rad]; none for a rigid gear.
        gear_ratio: Motor angle per joint angle; 1 for numbers that are all on one side.
        damping: Damping in series with the gap [N m s/rad].
        backlash: Backlash from flank to flank [rad].
        low_stiffness: Stiffness at low torque, where the gear stiffens [N m/rad].
        low_torque: Torque up to which it is so [N m].
        ground_damping: Damping of the gear's motor side against the ground [N m s/rad].
        friction: Friction elements.
        friction_model: "switching", "lugre" (needs presliding), "arctan" or "off".
        joint: "free", "loaded" (by inertia and load) or "clamped".
        inertia: Inertia behind the joint, where it is not clamped rigidly [kg m²].
        load: Torque on the joint from outside [N m].
        clamp_stiffness: Stiffness of the clamp; none for a rigid one [N m/rad].
        clamp_damping: Damping of the clamp [N m s/rad].
    """

    rotor_inertia: si.RotorInertia
    stiffness: si.TorsionStiffness | None = None
    gear_ratio: si.Number = 1.0
    damping: si.Viscous = 0.0
    backlash: Backlash = 0.0
    low_stiffness: si.TorsionStiffness | None = None
    low_torque: si.Friction | None = None
    ground_damping: si.Viscous = 0.0
    friction: tuple[BenchFriction, ...] = ()
    friction_model: FrictionModel = "switching"
    joint: Literal["free", "loaded", "clamped"] = "clamped"
    inertia: si.RotorInertia = 0.0
    load: si.Torque = 0.0
    clamp_stiffness: si.TorsionStiffness | None = None
    clamp_damping: si.Viscous = 0.0

    @property
    def spring(self) -> Spring | None:
        """The gear's spring, None where it is rigid."""
        if self.stiffness is None:
            return None
        low_torque = 0.0 if self.low_torque is None else self.low_torque
        return Spring(self.stiffness, self.damping, self.backlash, self.low_stiffness, low_torque)

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        for problem in self._problems():
            if problem:
                return problem
        return ""

    def _problems(self) -> Sentences:
        if self.gear_ratio == 0:
            yield "gear_ratio must not be 0"
        if self.rotor_inertia == 0:
            yield "rotor_inertia must be greater than 0"
        if self.stiffness is None and (self.damping or self.backlash):
            yield "damping and backlash need a stiffness"
        if self.stiffness is None and self.joint == "clamped" and self.clamp_stiffness is None:
            yield "a rigid gear with a rigid clamp cannot move: give stiffness or clamp_stiffness"
        yield spring_problem(self.stiffness, self.low_stiffness, self.low_torque)
        yield from self._joint_problems()

    def _joint_problems(self) -> Sentences:
        held = self.joint == "clamped"
        if self.clamp_stiffness is not None and not held:
            yield f'clamp_stiffness needs joint = "clamped", got "{self.joint}"'
        if self.has_joint and self.stiffness is not None and self.inertia == 0:
            yield f'inertia must be greater than 0 for joint = "{self.joint}"'
        if self.joint == "free" and self.load:
            yield 'load needs joint = "loaded", got "free"'
        if self.friction_model == "lugre":
            for k, element in enumerate(self.friction, 1):
                if element.presliding is None:
                    yield f'friction.{k}.presliding is missing for friction_model = "lugre"'

    @property
    def has_joint(self) -> bool:
        """Whether the joint moves."""
        return self.joint != "clamped" or self.clamp_stiffness is not None


def bench_of(robot: Robot, joint: str, **changes: Any) -> Bench:
    """The transmission of one joint of a robot on a bench, clamped.

    Args:
        robot: A robot with motors.
        joint: Name of the joint; a motor of its own must drive it.
        changes: Other values of the bench.
    """
    place = robot.assembly.tree.joint(joint)
    gear = robot.assembly.gear
    driving = np.flatnonzero(gear[:, place])
    if len(driving) != 1 or np.count_nonzero(gear[driving[0]]) != 1:
        raise ArmtwinError(
            f"robot '{robot.name}': {joint} must have a motor of its own for a bench, got "
            f"{len(driving)} that turn it and others"
        )
    which = int(driving[0])
    motor = robot.description.motor[which]
    ratio = float(gear[which, place])
    found = [t for t in robot.description.transmission if t.joint == joint]
    spring = found[0].spring if found and found[0].stiffness is not None else None
    given: dict[str, Any] = {"rotor_inertia": motor.rotor_inertia, "gear_ratio": ratio}
    if spring is not None:
        given |= {
            "stiffness": spring.stiffness,
            "damping": spring.damping,
            "backlash": spring.backlash,
            "low_stiffness": spring.low_stiffness,
            "low_torque": found[0].low_torque,
            "ground_damping": found[0].ground_damping or 0.0,
        }
    given["friction"] = tuple(_friction_of(robot, joint, motor.name))
    return check_bench(Bench(**(given | changes)))


def _friction_of(robot: Robot, joint: str, motor: str) -> Iterator[BenchFriction]:
    """Friction of a joint alone: on its motor, or on its own row."""
    for element in robot.description.active_friction():
        if element.on == motor:
            yield BenchFriction("motor", element.law, element.presliding, element.offset)
        elif element.on == joint:
            side: Side = "drive" if element.side == "motor" else "joint"
            yield BenchFriction(side, element.law, element.presliding, element.offset)


def check_bench(bench: Bench) -> Bench:
    """The bench, if it can be."""
    problem = bench.problem()
    if problem:
        raise ArmtwinError(f"bench: {problem}")
    return bench


@dataclass(frozen=True, eq=False, repr=False)
class BenchRun(Result):
    """A run of a bench.

    Attributes:
        bench: The bench.
        log: Motor angle q_m and torque tau_m on the motor side, q (motor angle over the gear ratio)
            and q_link (the joint) on the joint side, with their speeds.
        energy: Where the energy went.
    """

    bench: Bench
    log: Log
    energy: Energy

    def sections(self) -> Report:
        """Where the energy went, and angle and torque of the motor over time."""
        samples = cards.format_count(len(self.log.time), "sample")
        seconds = f"{np.ptp(self.log.time):.4g} s"
        verdict = Text(f"Simulated {seconds} with the joint {self.bench.joint}, {samples}.")
        motor = Section("Motor", (_motor_charts(self.log),))
        sections = (Section("Energy", self.energy.blocks()), motor)
        return Report("A run of a bench", "", sections, (verdict,))


def _motor_charts(log: Log) -> Multiples:
    """Angle and torque of the motor."""
    charts = []
    for y, values in ((Axis("angle", "rad"), log.q_m), (Axis("torque", "N m"), log.tau_m)):
        charts.append(Chart("", Axis("time", "s"), y, (Curve("", log.time, values[:, 0]),)))
    return Multiples(tuple(charts), columns=1)


def simulate_bench(
    bench: Bench,
    time: ArrayLike,
    torque: ArrayLike | None = None,
    *,
    position: ArrayLike | None = None,
    step: float | None = None,
    partner: Partner | None = None,
) -> BenchRun:
    """Run a bench from rest under motor torques, or with its motor held on angles by a servo.

    Torques and angles are linear between the given times. The servo is a stiff one,
    tau = k_p (q_ref - q_m) - k_d v_m, critically damped, ten times as stiff as the gear is.

    Args:
        bench: The bench.
        time: Times, rising, even or not, (m,) [s].
        torque: Motor torque at these times, (m,) [N m]; or
        position: Motor angle at these times, (m,) [rad].
        step: Longest step of the integration [s]; by default a share of the fastest
            vibration's period.
        partner: Asked at each of the times for the torque on the joint until the next one, beside
            the bench's own load; the joint must be able to move.
    """
    check_bench(bench)
    times, tau, angles = _check_input(time, torque, position)
    is_held = len(angles) > 0
    loop, steps = _prepare_bench(bench, times, is_held=is_held, step=step)
    before = _compute_energy(loop)
    given = angles if is_held else tau
    if partner is None:
        lost = play_bench(loop, times, given, steps)
    else:
        lost = _run_coupled(bench, loop, times, given, steps, partner)
    if lost >= 0:
        raise ArmtwinError(
            f"bench: the motion runs away at {times[lost]:.4g} s; torques up to "
            f"{np.abs(tau).max():.3g} N m move an inertia of {bench.rotor_inertia:.3g} kg m²"
        )
    if is_held:
        tau = _servo_torque(loop, angles)
    stored = _compute_energy(loop) - before
    energy = sum_energy(loop.plant, loop.state, stored)
    assert loop.record is not None
    return BenchRun(bench, _build_log(bench, times, tau, loop.record), energy)


def _servo_torque(loop: ClosedLoop, angles: Floats) -> Floats:
    """Torque of the servo that holds the motor, at the times; none at the first one."""
    assert loop.record is not None
    motor, holds = loop.plant.rows.weights[MOTOR], loop.plant.holds
    off = loop.record.u @ motor - angles
    torque = -holds.stiffness[0] * off - holds.damping[0] * (loop.record.v @ motor)
    torque[0] = 0.0
    return torque


def _run_coupled(
    bench: Bench, loop: ClosedLoop, times: Floats, drive: Floats, steps: Any, partner: Partner
) -> int:
    """Run a bench interval by interval with a partner; the time at which it ran away, or -1."""
    if not bench.has_joint:
        raise ArmtwinError("bench: a joint that is clamped rigidly cannot be pushed by a partner")
    joint = rows_of(bench)["joint"]
    assert loop.record is not None
    state, own = loop.state, loop.inputs.load
    for k in range(len(steps)):
        q, v = joint @ state.u, joint @ state.v
        torque = partner(float(times[k]), np.array([q]), np.array([v]))[0]
        record = Record(*(x[k : k + 2] for x in loop.record))
        pushed = loop.inputs._replace(load=own + torque * joint)
        interval = loop._replace(inputs=pushed, record=record, clock=make_clock())
        if play_bench(interval, times[k : k + 2], drive[k : k + 2], steps[k : k + 1]) >= 0:
            return k
    return -1


def _check_input(
    time: ArrayLike, torque: ArrayLike | None, position: ArrayLike | None
) -> tuple[Floats, Floats, Floats]:
    """Times, torques and angles; there are no angles where torques are given."""
    times = np.asarray(time, dtype=np.float64)
    if times.ndim != 1 or len(times) < 2 or not np.all(np.diff(times) > 0):
        raise ArmtwinError("bench: time must be two or more numbers that rise")
    if torque is not None and position is None:
        tau = check_array("bench torque", torque, times.shape, "one for each time")
        return times, tau.copy(), np.zeros(0)
    if position is not None and torque is None:
        angles = check_array("bench position", position, times.shape, "one for each time")
        return times, np.zeros_like(times), angles.copy()
    got = "none" if torque is None else "both"
    raise ArmtwinError(f"bench: must be driven by either torque or position, got {got}")


def rows_of(bench: Bench) -> NamedArrays:
    """Rows of the coordinates: the joint, where it moves, then the drive side."""
    rigid, moving = bench.stiffness is None, bench.has_joint
    count = 1 if rigid or not moving else 2
    drive = np.zeros(count)
    drive[-1] = 1.0
    joint = np.zeros(count)
    if moving:
        joint[0] = 1.0
    return {
        "motor": bench.gear_ratio * drive,
        "drive": drive,
        "joint": joint,
        "twist": drive - joint,
    }


def mass_of(bench: Bench, count: int) -> Floats:
    """Mass matrix of the coordinates, (count, count)."""
    rotor = bench.rotor_inertia * bench.gear_ratio**2
    link = bench.inertia if bench.has_joint else 0.0
    if count == 1:
        return np.array([[rotor + link]])
    return np.array([[link, 0.0], [0.0, rotor]])


def servo_of(bench: Bench) -> Floats:
    """Gains of the servo that holds a motor on angles: per angle and per speed, (2,)."""
    spring = bench.stiffness or bench.clamp_stiffness or 0.0
    own = bench.rotor_inertia * LEAST_SERVO**2
    kp = max(SERVO * spring / bench.gear_ratio**2, own)
    return np.array([kp, 2 * np.sqrt(kp * bench.rotor_inertia)])


def _prepare_bench(
    bench: Bench, times: Floats, *, is_held: bool, step: float | None
) -> tuple[ClosedLoop, Any]:
    """The loop of a bench, and the steps from each time to the next, (m - 1,)."""
    rows = rows_of(bench)
    grounded = bench.ground_damping != 0
    M, plant = mass_of(bench, len(rows["drive"])), plant_of(bench, grounded=grounded, held=is_held)
    h = longest_step(bench, M, plant) if step is None else step
    steps = np.maximum(np.ceil(np.diff(times) / h - 1e-9), 1).astype(np.int64)
    if steps.sum() > MOST_STEPS:
        raise ArmtwinError(
            f"bench: must take at most {MOST_STEPS:,} steps, got {steps.sum():,} of {h:.3g} s for "
            f"{times[-1] - times[0]:.4g} s; its highest natural frequency decides the step"
        )
    return bench_loop(plant, M, bench.load * rows["joint"], MOTOR, len(times)), steps


def plant_of(bench: Bench, *, grounded: bool, held: bool) -> Plant:
    """Rows and parts of a bench.

    Args:
        bench: The bench.
        grounded: Whether it has a damper to ground.
        held: Whether a servo holds its motor on angles.
    """
    rows = rows_of(bench)
    names = list(rows)
    holds = pack_springs((), ())
    if held:
        kp, kd = servo_of(bench)
        holds = pack_springs([MOTOR], [Spring(kp, kd)])
    springs = springs_of(bench, names, grounded=grounded)
    packed = pack_rows(np.array([rows[name] for name in names]))
    return bench_plant(packed, springs, holds, friction_of(bench, names))


def springs_of(bench: Bench, names: list[str], *, grounded: bool) -> Springs:
    """Spring of the gear, of the clamp, and a damper to ground where it is grounded."""
    rows, parts = [], []
    if bench.spring is not None:
        rows.append(names.index("twist"))
        parts.append(bench.spring)
    if bench.clamp_stiffness is not None:
        rows.append(names.index("joint"))
        parts.append(Spring(bench.clamp_stiffness, bench.clamp_damping))
    if grounded:
        rows.append(names.index("drive"))
        parts.append(damper(bench.ground_damping))
    return pack_springs(rows, parts)


def friction_of(bench: Bench, names: list[str]) -> FrictionParts:
    """Friction elements as tables."""
    kind = FRICTION_KINDS[bench.friction_model]
    elements = bench.friction if bench.friction_model != "off" else ()
    curves = np.empty((len(elements), 2, INTERVALS, 8))
    numbers = np.empty((len(elements), 6))
    model = Model(friction=bench.friction_model)
    for e, given in enumerate(elements):
        element = FrictionElement(
            name=f"friction {e + 1}",
            on=given.on,
            source="assumed: bench",
            law=given.law,
            offset=given.offset,
            presliding=given.presliding,
        )
        curves[e], numbers[e] = friction_tables(element, FASTEST, model)
    rows = np.array([names.index(given.on) for given in elements], dtype=np.int64)
    return FrictionParts(rows, curves, numbers, kind)


def longest_step(bench: Bench, M: Floats, plant: Plant) -> float:
    """The longest step of a bench by its highest natural frequency and its drag [s]."""
    drag = [_steepest(given.law) for given in bench.friction]
    vibration = _limit_by_vibration(M, plant)
    return max(_limit_by_drag(M, plant, drag, vibration), vibration / MOST_DRAG)


def _sum_along(plant: Plant, *parts: tuple[Any, Any]) -> Floats:
    """Σ k s sᵀ of numbers k of parts along their rows, (N, N); numbers may be fewer than rows."""
    weights = plant.rows.weights
    total = np.zeros((weights.shape[1],) * 2)
    for rows, numbers in parts:
        for row, number in zip(rows, numbers, strict=False):
            total += number * np.outer(weights[row], weights[row])
    return total


def _limit_by_vibration(M: Floats, plant: Plant) -> float:
    """A share of the shortest period of springs, bristles and servo [s]."""
    springs, holds, friction = plant.springs, plant.holds, plant.friction
    bristles = friction.numbers[:, C0] if friction.kind == BRISTLES else ()
    stiff = _sum_along(
        plant,
        (holds.row, holds.stiffness),
        (springs.row, springs.stiffness),
        (friction.row, bristles),
    )
    fastest = float(np.sqrt(np.abs(np.linalg.eigvals(np.linalg.solve(M, stiff))).max()))
    return min(PHASE_STEP / fastest, LONGEST_STEP) if fastest > 0 else LONGEST_STEP


def _steepest(law: Law) -> float:
    """Largest rise of friction with the speed while it slides [N m s/rad]."""
    speeds = np.geomspace(SLOWEST_DRAG, FASTEST, 200)
    dry, wet = split(law, speeds)
    return max(float((np.diff(dry + wet) / np.diff(speeds)).max()), 0.0)


def _limit_by_drag(M: Floats, plant: Plant, drag: Sequence[float], longest: float) -> float:
    """The longest step, or less where dampers and friction stop a speed within it [s].

    Over a step the mean of the speed at its ends is right. Where drag takes the speed from one end
    to the other, the ends alternate about that mean from step to step.
    """
    springs = plant.springs
    damped = _sum_along(plant, (springs.row, springs.damping), (plant.friction.row, drag))
    rate = float(np.abs(np.linalg.eigvals(np.linalg.solve(M, damped))).max())
    return min(longest, SLOWING / rate) if rate > 0 else longest


def _compute_energy(loop: ClosedLoop) -> float:
    """Energy of motion, springs and bristles [J]."""
    v = loop.state.v
    moving = 0.5 * float(v @ loop.work.M @ v)
    return moving + spring_energy(loop.plant, loop.state) + bristle_energy(loop.plant, loop.state)


def _build_log(bench: Bench, times: Floats, tau: Floats, record: Record) -> Log:
    q, v = record.u, record.v
    drive, drive_speed = q[:, -1:], v[:, -1:]
    joint = q[:, :1] if bench.has_joint else np.zeros_like(drive)
    return Log.of(
        times,
        q=drive,
        v=drive_speed,
        tau_m=tau[:, None],
        q_m=bench.gear_ratio * drive,
        q_link=joint,
    )

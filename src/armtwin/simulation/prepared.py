"""A prepared run: plant, controller, inputs, and equilibrium on the first set-point."""

from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armtwin.control import controller as control
from armtwin.drives.rows import numerical_damping
from armtwin.errors import ArmtwinError, FileError
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiles
from armtwin.maths.interpolation import interpolate_columns
from armtwin.maths.traced_fields import TracedFields
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.dynamics import equations as dynamics
from armtwin.robot.dynamics.feedforward import feedforward_torque
from armtwin.robot.dynamics.sag import Outside, holding_torques, solve_sag
from armtwin.robot.kinematics.strokes import check_drives, drive_forces, strokes
from armtwin.robot.robot import Robot
from armtwin.robot.schema.provenance import missing
from armtwin.robot.schema.servo import Servo
from armtwin.simulation import loop as loops
from armtwin.simulation.coordinates import Coordinates, coordinates
from armtwin.simulation.energy import bristle_energy, spring_energy
from armtwin.simulation.equations import LinearArm
from armtwin.simulation.kernels import kernel_of, run_in_python
from armtwin.simulation.lanes import Ended, run_lanes
from armtwin.simulation.model import Model
from armtwin.simulation.options import PLAIN_RUN, RunOptions
from armtwin.simulation.packing import plant
from armtwin.simulation.perturbation import LinearModel, linear_model, pack_linear_model
from armtwin.simulation.plant import BRISTLES, C0, Plant
from armtwin.simulation.start import Start, find_equilibrium
from armtwin.simulation.temperature import logged_temperatures

PHASE_STEP = 0.4  # phase angle [rad] of a bristle's oscillation in one step
MOST_SUBSTEPS = 64
RECENT_PLANTS = 4  # that are cached: causes run one plant dozens of times


@dataclass(frozen=True, eq=False)
class PreparedRun:
    """Everything the loop needs; it can be run once, for its state and record are written.

    Attributes:
        robot: The robot.
        motion: Set-points of the joints.
        coordinates: What the coordinates mean.
        plant: Rows and parts.
        controller: The servo.
        inputs: Set-points of the drives, outside torques, counts.
        state: Present state of the run.
        record: What it logs.
        linear: The linear model along the motion, in place of the bodies.
        temperature: Temperatures of the first joints that are logged, where some are, (k,) [K].
    """

    robot: Robot
    motion: Trajectory
    coordinates: Coordinates
    plant: Plant
    controller: control.Controller
    inputs: loops.Inputs
    state: loops.State
    record: loops.Record
    linear: LinearModel | None
    temperature: Floats | None = None

    @property
    def path(self) -> LinearArm | None:
        """The linear model, as the loop takes it."""
        return pack_linear_model(self.linear) if self.linear else None

    @cached_property
    def loop(self) -> loops.ClosedLoop:
        """All that its ticks work on."""
        return loops.ClosedLoop(
            size=(0,) * self.coordinates.bodies,
            arm=self.coordinates.built.assembly.arm,
            path=self.path,
            plant=self.plant,
            controller=self.controller,
            inputs=self.inputs,
            state=self.state,
            work=loops.make_work(self.plant, self.state),
            clock=loops.make_clock(),
            record=self.record,
        )

    @cached_property
    def fields(self) -> TracedFields:
        """The same as a tape sees it."""
        return loops.trace_fields(self.loop)

    def inputs_of(self, motion: Trajectory, options: RunOptions) -> loops.Inputs:
        """What drives it along another piece of its motion; options as of `prepare`."""
        ref = _references(self.robot, motion, self.controller, _floats(options.feedforward))
        outside = Outside(_floats(options.torque), _floats(options.wrench))
        external, wrench = _acting(self.coordinates, outside)
        return self.inputs._replace(ref=ref, external=external, wrench=wrench)

    def run(self) -> Ended:
        """Run it: how, when (in ticks) and where (drive or coordinate) it ended."""
        if not compiles():
            return self.run_in_python()
        return run_lanes(kernel_of(self.fields), [self])[0]

    def run_in_python(self) -> Ended:
        """Run it without a kernel."""
        c, ended = self.controller, np.array([[loops.FINISHED, -1]])
        counts = (self.inputs.log_ticks, c.position_ticks, c.setpoint_ticks)
        tick = run_in_python(self.loop, (0, self.inputs.ticks, 0, *counts), ended)
        return int(ended[0, 0]), tick, int(ended[0, 1])

    def compute_stored_energy(self) -> float:
        """Kinetic energy, and potential energy of bodies, balancers, springs and bristles [J]."""
        u, v = self.state.u, self.state.v
        built = self.coordinates.built
        M = mass_matrix(built, self.plant, u)
        q = u[: self.coordinates.bodies]
        _, potential = built.energy(q, np.zeros_like(q))
        stored = float(0.5 * v @ M @ v + potential) + spring_energy(self.plant, self.state)
        return stored + bristle_energy(self.plant, self.state)


def mass_matrix(robot: Robot, plant: Plant, u: Floats) -> Floats:
    """Mass matrix of all coordinates at one place, (N, N)."""
    return dynamics.mass_matrix(robot.assembly, np.ascontiguousarray(u)[None], plant.rotors)[0]


def servo_of(robot: Robot, model: Model) -> Servo:
    """The servo of the robot file that a model names; a robot that lacks anything is refused."""
    wants = model.wants
    if not robot.description.active_friction():
        wants = replace(wants, friction="off")
    lacking = missing(robot.description, wants)
    if lacking:
        origin = robot.origin or f"robot '{robot.name}'"
        raise FileError(origin, [f"cannot be simulated: {x}" for x in lacking])
    return robot.description.servo[model.servo]


@lru_cache(RECENT_PLANTS)
def controller_of(robot: Robot, model: Model) -> control.Controller:
    """The servo of a model, packed for the robot's drives; no run writes into it."""
    return control.controller(servo_of(robot, model), len(robot.assembly.drives))


def prepare(
    robot: Robot, motion: Trajectory, model: Model, options: RunOptions = PLAIN_RUN
) -> PreparedRun:
    """Prepare a run that starts on the first set-point, in equilibrium.

    Args:
        robot: The robot, tool mounted.
        motion: Joint motion at the set-point rate.
        model: What is simulated.
        options: What the run is given; torques and wrenches at the set-points.
    """
    c = controller_of(robot, model) if options.servo is None else options.servo
    places = coordinates(robot, model)
    parts = _plant(robot, model, c.tick)
    if options.change is not None:
        parts = options.change(parts)
    q = motion.q[0]
    acting = Outside(_floats(options.torque), _floats(options.wrench))
    check_drives(robot)
    u = solve_sag(places, q, acting, parts.springs)
    static = holding_torques(places, u, acting)[places.own]
    force = drive_forces(robot, q[None], static[None])[0]
    M = mass_matrix(places.built, parts, u)
    _check_mass(robot, M)
    parts = _with_numerical_damping(parts, M, c.tick)
    ref = _references(robot, motion, c, _floats(options.feedforward))
    log_ticks = c.setpoint_ticks
    if options.log_rate is not None:
        log_ticks = _log_ticks(options.log_rate, c.tick)
    counts = Counts(
        (len(ref) - 1) * c.setpoint_ticks + 1, log_ticks, *_presliding(parts, M, c.tick)
    )
    inputs = _inputs(ref, places, acting, counts)
    state = find_equilibrium(
        robot, Start(places.both_sides(motion.v[0]), u, force), c, parts, ref[0]
    )
    record = _record(inputs, c, places.count, len(parts.sensors.row))
    linear = None
    if options.method == "perturbation":
        linear = linear_model(robot, motion, options.points, places)
    warm = logged_temperatures(robot, model)
    return PreparedRun(robot, motion, places, parts, c, inputs, state, record, linear, warm)


def _floats(values: ArrayLike | None) -> Floats | None:
    return None if values is None else np.asarray(values, dtype=np.float64)


@lru_cache(RECENT_PLANTS)
def _plant(robot: Robot, model: Model, tick: float) -> Plant:
    """The plant of a robot; no run writes into it."""
    places = coordinates(robot, model)
    return plant(places.built, model, places, servo_of(robot, model), tick)


def _check_mass(robot: Robot, M: Floats) -> None:
    least = float(np.linalg.eigvalsh(M)[0])
    if not least > 0:
        idle = int(np.argmin(np.diag(M)))
        name = robot.joint_names[idle] if idle < robot.n else "a drive side"
        raise ArmtwinError(
            f"robot '{robot.name}': its mass matrix must be positive definite to be simulated, got "
            f"a smallest eigenvalue of {least:.3g} at the start; {name} moves "
            f"{M[idle, idle]:.3g} kg m²"
        )


def _with_numerical_damping(parts: Plant, M: Floats, tick: float) -> Plant:
    rows = parts.rows.weights[parts.springs.row]
    mobility = np.einsum("ei,ie->e", rows, np.linalg.solve(M, rows.T))
    numerical = numerical_damping(parts.springs.stiffness, mobility, tick)
    return parts._replace(springs=parts.springs._replace(numerical=numerical))


class Counts(NamedTuple):
    """Ticks of a run, ticks between samples of its log, and how bristles are stepped."""

    ticks: int
    log_ticks: int
    slow: Floats
    substeps: int


def _inputs(ref: Floats, places: Coordinates, outside: Outside, counts: Counts) -> loops.Inputs:
    tool, X_BT = places.built.assembly.frame("tool")
    external, wrench = _acting(places, outside)
    return loops.Inputs(
        ref=ref,
        external=external,
        wrench=wrench,
        tool=tool,
        point=np.ascontiguousarray(X_BT[:3, 3]),
        is_pushed=outside.torque is not None or outside.wrench is not None,
        **counts._asdict(),
    )


def _acting(places: Coordinates, outside: Outside) -> tuple[Floats, Floats | None]:
    """Torques and wrenches from outside as the loop takes them."""
    pushed = np.zeros((1, places.count))
    if outside.torque is not None:
        pushed = places.on_links(outside.torque)
    wrench = None if outside.wrench is None else np.ascontiguousarray(outside.wrench)
    return np.ascontiguousarray(pushed), wrench


def _references(
    robot: Robot, motion: Trajectory, c: control.Controller, feedforward: Floats | None
) -> Floats:
    """Set-points of the drives as they get them, (k, REFERENCES, m); some may get them late."""
    ref = _on_time(robot, motion, c, feedforward)
    for late in np.unique(c.setpoint_delay[c.setpoint_delay > 0]):
        delayed = Trajectory(motion.rate, *motion.at(motion.time - late))
        torque = _before(feedforward, motion.rate * late)
        which = c.setpoint_delay == late
        ref[:, :, which] = _on_time(robot, delayed, c, torque)[:, :, which]
    return ref


def _before(values: Floats | None, samples: float) -> Floats | None:
    """Columns of values late by a number of samples, linear between them."""
    if values is None:
        return None
    now = np.arange(len(values), dtype=np.float64)
    return interpolate_columns(now - samples, now, values)


def _on_time(
    robot: Robot, motion: Trajectory, c: control.Controller, feedforward: Floats | None
) -> Floats:
    """Position, speed, acceleration, torque fed forward, speed of the shift, (k, 5, m)."""
    moved = strokes(robot, motion.q, motion.v, motion.a)
    ref = np.zeros((len(motion.q), control.REFERENCES, len(robot.assembly.drives)))
    ref[:, control.POSITION] = moved.position
    ref[:, control.SPEED] = moved.speed
    ref[:, control.ACCELERATION] = moved.acceleration
    if feedforward is not None:
        ref[:, control.TORQUE] = feedforward
    elif control.uses_torque(c):
        ref[:, control.TORQUE] = feedforward_torque(robot, c.model, motion.q, motion.v, motion.a)
    if not control.shifts_reference(c):
        return ref
    shifted = control.shift(
        c, ref[:, control.SPEED], ref[:, control.ACCELERATION], ref[:, control.TORQUE]
    )
    followed = c.shaping[:, control.OF_POSITION]  # this share's speed is that of the positions
    ref[:, control.SHIFT] = (1 - followed) * np.gradient(shifted, 1 / motion.rate, axis=0)
    ref[:, control.POSITION] += followed * shifted
    return ref


def compute_feedforward(robot: Robot, motion: Trajectory, model: Model) -> Floats | None:
    """Motor torques that a servo feeds forward, (k, motors) [N m]; None where it feeds none."""
    c = controller_of(robot, model)
    if not control.uses_torque(c):
        return None
    return feedforward_torque(robot, c.model, motion.q, motion.v, motion.a)


def _record(inputs: loops.Inputs, c: control.Controller, N: int, drives: int) -> loops.Record:
    samples = (inputs.ticks - 1) // inputs.log_ticks + 1
    traced = (inputs.ticks - 1) // c.position_ticks + 1
    return loops.Record(
        u=np.zeros((samples, N)),
        v=np.zeros((samples, N)),
        a=np.zeros((samples, N)),
        current=np.zeros((samples, drives)),
        friction=np.zeros((samples, N)),
        trace=np.zeros((traced, N)),
    )


def _log_ticks(rate: float, tick: float) -> int:
    """Ticks between samples of a log; the rate must divide the velocity loop's."""
    ticks = 1 / (rate * tick) if rate > 0 else 0.0
    if not np.isfinite(ticks) or ticks < 1 - 1e-9 or abs(ticks - round(ticks)) > 1e-6:
        raise ArmtwinError(
            f"log_rate must divide the velocity loop's rate of {1 / tick:g} Hz, got {rate:g}"
        )
    return round(ticks)


def _presliding(parts: Plant, M: Floats, h: float) -> tuple[Floats, int]:
    """Speeds below which bristles deflect more than they slide, and steps in a tick for that.

    A bristle slides when it relaxes within half a tick, c0 |w| h > 2 g; before, it
    oscillates at √(c0 / J).
    """
    c0 = parts.friction.numbers[:, C0]
    if parts.friction.kind != BRISTLES or not len(c0):
        return np.zeros(len(c0)), 1
    rows = parts.rows.weights[parts.friction.row]
    mobility = np.einsum("ei,ie->e", rows, np.linalg.solve(M, rows.T))
    omega = np.sqrt(c0 * mobility)
    substeps = int(np.clip(np.ceil(h * omega.max() / PHASE_STEP), 1, MOST_SUBSTEPS))
    # dry friction at the nodes; it may vanish at rest
    largest = parts.friction.curves[..., 0].max(axis=(1, 2))
    return 2 * largest / (c0 * h), substeps

"""The check that an export carries: what it does beside the twin on a stated motion.

Torques and closed loop are those of the engine where it is installed. Else the twin is run with the
same reductions; so is it with each of them alone, which says what each costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from importlib import metadata
from importlib.util import find_spec
from typing import NamedTuple

import numpy as np

from armtwin.control.controller import OUT, Controller, equation
from armtwin.exchange import fmu_run, mujoco_run
from armtwin.exchange.mjcf import Mjcf, to_mjcf
from armtwin.exchange.reductions import FrictionForm, reduce_friction, reduce_struts, strut_torque
from armtwin.maths.batch import Floats, Names
from armtwin.maths.interpolation import interpolate_columns
from armtwin.motion.trajectory import Trajectory
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import MICROMETRES, Number
from armtwin.robot.dynamics.sag import Outside
from armtwin.robot.kinematics.limits import highest_speeds
from armtwin.robot.robot import Robot
from armtwin.simulation.closed_loop import prepare_run, simulate
from armtwin.simulation.model import Model
from armtwin.simulation.options import RunOptions
from armtwin.simulation.outcome import Run
from armtwin.simulation.plant import Plant
from armtwin.simulation.prepared import PreparedRun, controller_of, servo_of

Torque = Callable[[Floats, Floats, Floats], Floats]

POSTURES = 300  # at which torques are compared
ACCELERATION = 5.0  # of the postures over the range [rad/s² or m/s²]
WIDE, SECONDS = 0.1, 2.0  # of the motion where none is given: a turn [rad], there and back
RATE = 250.0  # of its set-points [Hz]
AT_MOST = 0.3  # of the highest speeds that it has
NEARLY = 1e-9  # how far a filter that passes everything is from doing so: its kernel stays
LEAST_TORQUE = 1e-9  # of the largest torque [N m], for joints that bear nothing
ESTIMATED = "estimated, not run"
MOST_SECONDS = 30.0  # of a motion whose torques are logged at every tick
AT_REST = 20  # postures at which a unit is at rest
UNIT_LOST = ("torques from outside change at set-points only",)
OF_LARGEST = Number(100.0, "%", digits=2)


@dataclass(frozen=True, eq=False)
class CheckMotion:
    """The motion that an export is checked on.

    Attributes:
        title: What it is, in words.
        setpoints: Set-points of the joints.
        model: What is simulated.
        outside: What acts on it from outside.
        deviation: From times, (k,), and poses of the tool, (k, 4, 4), how far it is beside its
            path, (k, d) [m]; zero where it does not count.
    """

    title: str
    setpoints: Trajectory
    model: Model
    outside: Outside
    deviation: Callable[[Floats, Floats], Floats]


def usual_motion(robot: Robot, model: Model) -> CheckMotion:
    """All joints there and back once, slowly; what counts is how far the tool is from its path."""
    room = robot.position_limits[1] - robot.home
    turn = np.minimum(np.minimum(WIDE, room), AT_MOST * highest_speeds(robot.assembly))
    phase = np.pi * np.arange(round(2 * SECONDS * RATE) + 1)[:, None] / (SECONDS * RATE)
    per = np.pi / SECONDS
    q = robot.home + turn * (1 - np.cos(phase)) / 2
    v, a = turn * per * np.sin(phase) / 2, turn * per**2 * np.cos(phase) / 2
    motion = Trajectory.sampled(RATE, q, v, a)
    places = robot.forward_kinematics(motion.q)[:, :3, 3]

    def beside(time: Floats, poses: Floats) -> Floats:
        wanted = interpolate_columns(time, motion.time, places)
        way = interpolate_columns(time, motion.time, np.gradient(places, axis=0))
        way /= np.maximum(np.linalg.norm(way, axis=1), 1e-12)[:, None]
        error = poses[:, :3, 3] - wanted
        return np.asarray(error - np.sum(error * way, axis=1)[:, None] * way)

    degrees = 180 / np.pi * turn.max()
    title = f"all joints there and back by up to {degrees:.3g}° in {2 * SECONDS:g} s"
    return CheckMotion(title, motion, model, Outside(), beside)


class Beside(NamedTuple):
    """A closed loop beside that of the twin: who ran it, largest deviations, differences [m]."""

    of: str
    peak_m: float
    rms_m: float
    largest_m: float


class TorqueError(NamedTuple):
    """Largest error of a joint's torque along the motion and over its range, over the largest."""

    joint: str
    along: float
    range: float


@dataclass(frozen=True, eq=False)
class Check:
    """What an export does beside the twin.

    Attributes:
        motion: The motion, in words.
        how: The engine and its version, or "estimated, not run".
        torques: Torques of the joints.
        loops: Closed loops; that of the twin first, that of the export second.
        costs: What each reduction alone costs, the twin's own estimate.
        lost: What did not map, in phrases.
        ended: Where a closed loop of the engine ran away, in sentences.
    """

    motion: str
    how: str
    torques: tuple[TorqueError, ...]
    loops: tuple[Beside, ...] = ()
    costs: tuple[Beside, ...] = ()
    lost: Names = ()
    ended: Names = ()

    @property
    def sentence(self) -> str:
        """What it comes to."""
        along, over = (max(getattr(t, key) for t in self.torques) for key in ("along", "range"))
        words = f"Torques err by at most {100 * along:.2g} % of the largest along the motion, "
        words += f"{100 * over:.2g} % over the range ({self.how})."
        if not self.loops:
            return words
        twin, export = self.loops[:2]
        loop = (
            f"Closed loop on {self.motion}: {1e6 * export.peak_m:.4g} µm beside the twin's "
            f"{1e6 * twin.peak_m:.4g} µm, difference {1e6 * export.rms_m:.2g} µm rms."
        )
        return " ".join((words, loop, *self.ended))

    def sections(self) -> Iterator[show.Section]:
        """Torques, closed loop, what each reduction costs, what did not map."""
        heads = show.list_columns(
            joint="joint",
            along=("along the motion", OF_LARGEST),
            range=("over the range", OF_LARGEST),
        )
        records = [torque._asdict() for torque in self.torques]
        title = f"Torques: error over the largest ({self.how})"
        yield show.Section(title, (show.Table(heads, records, "check.torques"),))
        for title, key, loops in (
            (f"Closed loop: {self.motion}", "check.closed_loop", self.loops),
            ("What each reduction costs, by the twin", "check.costs", self.costs),
        ):
            if loops:
                table = show.Table(LOOP_HEADS, [loop._asdict() for loop in loops], key)
                yield show.Section(title, (table,))
        facts = show.Facts(tuple((str(k), phrase) for k, phrase in enumerate(self.lost, 1)))
        data = show.Data(
            {"check.lost": list(self.lost), "check.how": self.how, "check.ended": list(self.ended)}
        )
        yield show.Section("What did not map", (facts, data))


FINE_MICROMETRES = Number(1e6, "µm", digits=2)
LOOP_HEADS = show.list_columns(
    of="of",
    peak_m=("largest beside its path", MICROMETRES),
    rms_m=("difference to the twin, rms", FINE_MICROMETRES),
    largest_m=("largest", FINE_MICROMETRES),
)


def compare_torques(
    robot: Robot, motion: Trajectory, torque: Torque, wanted: Torque
) -> tuple[TorqueError, ...]:
    """Torques of an export beside those that are wanted, along a motion and over the range."""
    some = slice(None, None, max(1, len(motion.q) // POSTURES))
    random = np.random.default_rng(0)
    shape = POSTURES, robot.n
    range_ = np.clip(robot.position_limits, -np.pi, np.pi)
    speed = highest_speeds(robot.assembly)
    cases = (
        (motion.q[some], motion.v[some], motion.a[some]),
        (
            random.uniform(range_[0], range_[1], shape),
            random.uniform(-speed, speed, shape),
            random.uniform(-ACCELERATION, ACCELERATION, shape),
        ),
    )
    errors = [_relative_errors(torque(*state), wanted(*state)) for state in cases]
    return _name_errors(robot, errors)


def _relative_errors(found: Floats, wanted: Floats) -> Floats:
    """Largest error of each joint's torque over the largest torque."""
    largest = np.abs(wanted).max(axis=0)
    largest = np.maximum(largest, LEAST_TORQUE * largest.max())
    return np.asarray(np.abs(found - wanted).max(axis=0) / largest)


def _name_errors(robot: Robot, errors: Sequence[Floats]) -> tuple[TorqueError, ...]:
    """Errors along the motion and over the range by joint."""
    columns = zip(robot.joint_names, *np.array(errors).tolist(), strict=True)
    return tuple(TorqueError(*column) for column in columns)


class TwinRun(NamedTuple):
    """The twin on the motion of a check: its run, how far it is beside its path at each time."""

    prepared: PreparedRun
    options: RunOptions
    run: Run
    deviation: Floats

    @property
    def loop(self) -> Beside:
        """Its closed loop beside itself."""
        return Beside("the twin", _peak(self.deviation), 0.0, 0.0)


def _run_twin(robot: Robot, motion: CheckMotion) -> TwinRun:
    outside = motion.outside
    options = RunOptions(torque=outside.torque, wrench=outside.wrench)
    prepared = prepare_run(robot, motion.setpoints, motion.model, options=options)
    run = simulate(robot, motion.setpoints, motion.model, options=options)
    return TwinRun(prepared, options, run, _deviation(motion, run))


def check_fmu(robot: Robot, motion: CheckMotion, unit: bytes, has_binary: bool) -> Check:
    """A unit of a robot beside the twin: in fmpy where it is installed and a binary is there."""
    twin = _run_twin(robot, motion)
    prepared, model = twin.prepared, motion.model
    loads = fmu_run.joint_loads(prepared, motion.outside)
    lost, costs = [*UNIT_LOST], []
    if motion.outside.wrench is not None:
        lost.append("forces on the tool: they act as torques on the joints of the set-points")
        held = simulate(robot, prepared.motion, model, options=RunOptions(torque=loads))
        cost = _compare(lost[-1], twin, held.trace_time, _deviation(motion, held))
        costs.append(cost)
    if find_spec(fmu_run.ENGINE) is None or not has_binary:
        same = costs[0] if costs else twin.loop
        torques = compare_torques(
            robot, motion.setpoints, robot.inverse_dynamics, robot.inverse_dynamics
        )
        loops = twin.loop, same._replace(of=ESTIMATED)
        return Check(motion.title, ESTIMATED, torques, loops, lost=tuple(lost))
    random = np.random.default_rng(0)
    range_ = np.clip(robot.position_limits, -np.pi, np.pi)
    with fmu_run.unpacked(unit) as folder:
        ran = fmu_run.closed_loop(folder, prepared, loads)
        rest = fmu_run.at_rest(folder, random.uniform(range_[0], range_[1], (AT_REST, robot.n)))
    how = f"fmpy {metadata.version(fmu_run.ENGINE)}"
    still = np.zeros_like(rest.q)
    held_by = robot.inverse_dynamics(rest.q, still, still)
    torque = _torques_of_ticks(robot, motion, prepared)
    both = min(len(ran.tau) - 1, len(torque))
    along = _relative_errors(ran.tau[1 : both + 1], torque[:both])
    errors = along, _relative_errors(rest.tau, held_by)
    time = prepared.motion.time[: len(ran.q)]
    loop = _compare(how, twin, time, motion.deviation(time, ran.poses))
    ended = _end(f"{how}, stops", time, prepared)
    torques = _name_errors(robot, errors)
    return Check(motion.title, how, torques, (twin.loop, loop), tuple(costs), tuple(lost), ended)


def _end(what: str, time: Floats, prepared: PreparedRun) -> Names:
    """Where a closed loop ended before its motion, as a sentence."""
    last, whole = float(time[-1]), prepared.motion.duration
    early = last < whole - 1 / prepared.motion.rate
    return (f"{what} at {last:.2f} s of {whole:.2f} s.",) if early else ()


def _torques_of_ticks(robot: Robot, motion: CheckMotion, prepared: PreparedRun) -> Floats:
    """Torques of the twin on its joints in ticks that end at set-points, (k, n); none at the first.

    A log has the mean of all ticks between them, a unit what it has at the end of a step.
    """
    given, outside = motion.setpoints, motion.outside
    some = slice(0, int(MOST_SECONDS * given.rate) + 1)
    torque, wrench = (None if x is None else x[some] for x in (outside.torque, outside.wrench))
    options = RunOptions(log_rate=1 / prepared.controller.tick, torque=torque, wrench=wrench)
    tau = simulate(robot, given.rows(some), motion.model, options=options).log.tau
    every = int(prepared.controller.setpoint_ticks)
    return np.asarray(tau[every - 1 :: every])


def check_mjcf(robot: Robot, motion: CheckMotion, form: FrictionForm) -> Check:
    """An MJCF file beside the twin: in MuJoCo where it is installed."""
    twin = _run_twin(robot, motion)
    run, model, outside = twin.prepared, motion.model, motion.outside
    exported = to_mjcf(run, model, form)
    loops = [twin.loop]
    costs = tuple(_costs(robot, motion, exported, twin))
    if find_spec(mujoco_run.ENGINE) is None:
        loops.append(costs[-1]._replace(of=ESTIMATED))
        torques = compare_torques(
            robot, motion.setpoints, _reduced_torque(robot, exported), robot.inverse_dynamics
        )
        return Check(motion.title, ESTIMATED, torques, tuple(loops), costs[:-1], exported.lost)
    how = f"MuJoCo {mujoco_run.version()}"
    simpler: FrictionForm = "frictionloss"
    files = {how: exported}
    if form != simpler and exported.friction:
        files[f"{how}, friction as frictionloss"] = to_mjcf(run, model, simpler)
    ended: list[str] = []
    for name, file in files.items():
        engine = mujoco_run.closed_loop(file, run, outside)
        poses = twin.run.built.forward_kinematics(run.coordinates.of_bodies(engine.u))
        deviation = motion.deviation(engine.time, poses)
        loops.append(_compare(name, twin, engine.time, deviation))
        ended += _end(f"{name}, runs away", engine.time, run)
    places = run.coordinates

    def torque(*state: Floats) -> Floats:
        both = (places.both_sides(x) for x in state)
        return places.joint_torques(mujoco_run.inverse_dynamics(exported, run, *both))

    torques = compare_torques(robot, motion.setpoints, torque, robot.inverse_dynamics)
    return Check(motion.title, how, torques, tuple(loops), costs, exported.lost, tuple(ended))


def _reduced_torque(robot: Robot, exported: Mjcf) -> Torque:
    def torque(q: Floats, v: Floats, a: Floats) -> Floats:
        found = robot.inverse_dynamics(q, v, a)
        for strut, spring in zip(robot.assembly.struts, exported.struts, strict=True):
            change = strut_torque(strut, spring, q[:, strut.joint]) - strut.torque(q)
            found[:, strut.joint] += change
        return found

    return torque


def _costs(robot: Robot, motion: CheckMotion, exported: Mjcf, twin: TwinRun) -> Iterator[Beside]:
    """The twin with each reduction of a file alone, then with all of them."""
    options = twin.options
    exact = replace(motion.model, quantise=False)
    servo = _without_filters(controller_of(robot, motion.model), robot, motion.model)

    def friction(parts: Plant) -> Plant:
        return reduce_friction(parts, exported.friction)

    def struts(parts: Plant) -> Plant:
        return reduce_struts(parts, twin.run.built, exported.struts)

    alone = {}
    if exported.friction:
        alone["friction as it is fitted"] = motion.model, replace(options, change=friction)
    if exported.struts:
        alone["struts as they are fitted"] = motion.model, replace(options, change=struts)
    alone["no steps of currents and encoders"] = exact, options
    alone["no filters in the servo"] = motion.model, replace(options, servo=servo)

    def all_of_them(parts: Plant) -> Plant:
        return struts(friction(parts)) if exported.struts else friction(parts)

    alone["all of these"] = exact, replace(options, change=all_of_them, servo=servo)
    for name, (model, changed) in alone.items():
        run = simulate(robot, motion.setpoints, model, options=changed)
        yield _compare(name, twin, run.trace_time, _deviation(motion, run))


def _without_filters(c: Controller, robot: Robot, model: Model) -> Controller:
    """A servo whose filters pass everything; what integrates stays."""
    passing = np.zeros(c.filters.shape)
    passing[..., 0] = 1.0
    structural = np.isin(c.filters, (-1.0, 0.0, 1.0))
    found = np.where(structural, c.filters, passing + NEARLY)
    if equation(servo_of(robot, model), len(c.gains)).reset is not None:
        found[:, OUT] = c.filters[:, OUT]
    return c._replace(filters=found)


def _deviation(motion: CheckMotion, run: Run) -> Floats:
    return motion.deviation(run.trace_time, run.tool_poses())


def _peak(deviation: Floats) -> float:
    return float(np.linalg.norm(deviation, axis=1).max(initial=0.0))


def _compare(name: str, twin: TwinRun, time: Floats, deviation: Floats) -> Beside:
    """A closed loop beside the twin's own deviation."""
    own, stamps = twin.deviation, twin.run.trace_time
    if len(time) < len(stamps):
        own, stamps = interpolate_columns(time, stamps, own), time
    there = interpolate_columns(stamps, time, deviation)
    ran = stamps <= time[-1]
    apart = np.linalg.norm(there - own, axis=1) * ran
    counts = own.any(axis=1) & ran
    rms = float(np.sqrt(np.mean(apart[counts] ** 2))) if counts.any() else 0.0
    return Beside(name, _peak(deviation), rms, float(apart.max(initial=0.0)))

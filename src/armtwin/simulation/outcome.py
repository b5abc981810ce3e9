"""What comes out of a simulated run: a machine's log, its events, where the energy went."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from armtwin.control.controller import ERROR_LIMIT
from armtwin.logs.channels import CHANNELS
from armtwin.logs.log import Log
from armtwin.logs.recording import Event
from armtwin.maths.batch import Floats
from armtwin.notebook import cards, sections as show
from armtwin.notebook.dataframes import number_columns
from armtwin.report.result import Result
from armtwin.robot.kinematics.coordinates import Coordinates
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Motor
from armtwin.simulation.energy import Energy, sum_energy
from armtwin.simulation.lanes import Ended
from armtwin.simulation.loop import FINISHED, FOLLOWING_ERROR, UNSTABLE
from armtwin.simulation.perturbation import LinearModel
from armtwin.simulation.prepared import PreparedRun

LONG_AT_LIMIT = 0.2  # seconds at the current limit that are worth an event


@dataclass(frozen=True, eq=False, repr=False)
class Run(Result):
    """A simulated run.

    Attributes:
        log: What a machine would have logged.
        energy: Where the energy went.
        linear: The linear time-varying model, where the perturbation method was used.
        friction_state: Bristle deflections at the end, (e,) [rad].
        link_side: Joint positions of the links at the rate of the position loop, (k, n): finer
            than the log.
        motor_side: Joint positions as the motors have them; the same where gears are rigid.
        trace_rate: Rate of both [Hz].
        built: The arm as it is built.
        bodies: Joint positions of the built arm, flexures and uneven gears included, (k, joints).
    """

    log: Log
    energy: Energy
    linear: LinearModel | None
    friction_state: Floats
    link_side: Floats
    motor_side: Floats
    trace_rate: float
    built: Robot
    bodies: Floats

    def sections(self) -> show.Report:
        """What happened, where the energy went, and how far each joint is from its reference."""
        log = self.log
        samples = cards.format_count(len(log.time), "sample")
        events = cards.format_count(len(log.events), "event")
        words = f"Simulated {np.ptp(log.time):.4g} s in {samples}, {events}."
        verdict = show.Text(words, "bad" if log.events else "")
        sections = (
            show.Section("Events", [show.Text(event.text, "bad") for event in log.events]),
            show.Section("Energy", self.energy.blocks()),
            show.Section("Errors", _errors(log)),
        )
        return show.Report("A simulated run", "", sections, (verdict,))

    def tool_poses(self) -> Floats:
        """Where the tool was at the times of both sides, base frame, (k, 4, 4)."""
        return self.built.forward_kinematics(self.bodies)

    @property
    def trace_time(self) -> Floats:
        """Times of both sides, (k,) [s]."""
        return np.arange(len(self.link_side)) / self.trace_rate


def _errors(log: Log) -> show.Blocks:
    """How far each joint is from its reference."""
    layers = []
    for name, values in number_columns("joint ", log.q - log.q_ref).items():
        layers.append(show.Curve(name, log.time, values))
    yield show.Chart("", show.Axis("time", "s"), show.Axis("q - q_ref", "rad or m"), tuple(layers))


def outcome(prepared: PreparedRun, ended: Ended, stored: float) -> Run:
    """What a run that has ended gives.

    Args:
        prepared: The run.
        ended: How, when and where it ended.
        stored: Change of the stored energy [J].
    """
    c, state, places = prepared.controller, prepared.state, prepared.coordinates
    trace = prepared.record.trace
    traced = len(trace) if ended[0] == FINISHED else ended[1] // c.position_ticks + 1
    u = trace[:traced]
    bodies = places.of_bodies(u)
    link = bodies[:, places.own] if places.bodies > len(places.own) else bodies
    motor = link if _one_side(places) else places.motor_side(u)
    energy = sum_energy(prepared.plant, state, stored)
    rate = 1 / (c.tick * c.position_ticks)
    happened = tuple(sorted(events(prepared, ended, link, rate), key=lambda event: event.time))
    log = build_log(prepared, happened, ended)
    return Run(log, energy, prepared.linear, state.z, link, motor, rate, places.built, bodies)


def _one_side(places: Coordinates) -> bool:
    """Whether motors and links of all joints are at the same place."""
    return places.count == places.bodies and not places.rippling


def events(prepared: PreparedRun, ended: Ended, link: Floats, rate: float) -> Iterator[Event]:
    """What happened: stays at a current limit, joints beyond position limits, an early end."""
    yield from _at_current_limits(prepared)
    yield from _beyond_limits(prepared, link, rate)
    yield from early_end(prepared, ended)


def _at_current_limits(prepared: PreparedRun) -> Iterator[Event]:
    """Long stays of drives at their current limits."""
    drives = prepared.robot.assembly.drives
    for k, (drive, _) in enumerate(drives):
        stay, since = prepared.state.saturated[k]
        if stay >= LONG_AT_LIMIT:
            limit = prepared.plant.outputs.limit[k]
            most = drive.current_limit if isinstance(drive, Motor) else limit
            text = f"{drive.name} stays at its current limit of {most:g} A for {stay:.3f} s."
            yield Event(float(since), "current_limit", drive.name, text)


def early_end(prepared: PreparedRun, ended: Ended) -> Iterator[Event]:
    """Why a run ended before its motion did."""
    how, tick, which = ended
    c, state = prepared.controller, prepared.state
    time = tick * c.tick
    if how == FOLLOWING_ERROR:
        name = prepared.robot.assembly.drives[which][0].name
        limit = float(c.gains[which, ERROR_LIMIT])
        angle = f"{limit:.4g} rad ({np.degrees(limit):.3g}°)"
        text = f"{name} is more than {angle} behind; the robot stops."
        yield Event(time, "following_error", name, text)
    if how == UNSTABLE and which >= prepared.coordinates.count:
        text = (
            "The equations of motion could not be solved: the step is too long for friction this "
            "steep."
        )
        yield Event(time, "unstable", "", text)
    elif how == UNSTABLE:
        name = _coordinate_name(prepared, which)
        motion = f"{state.u[which]:.4g} rad and {state.v[which]:.4g} rad/s"
        yield Event(time, "unstable", name, f"{name} runs away at {motion}: the loop is unstable.")


def _coordinate_name(prepared: PreparedRun, which: int) -> str:
    """Joint, motor or flexure of a coordinate, of either side."""
    places = prepared.coordinates
    if which < places.bodies:
        return places.built.joint_names[which]
    moving = [x.name for x in places.elastic if x.driving[which] != 0]
    return moving[0]


def _beyond_limits(prepared: PreparedRun, link: Floats, rate: float) -> Iterator[Event]:
    """For each joint the first time at which it is beyond its position limits."""
    robot = prepared.robot
    lows, highs = robot.position_limits
    for j, name in enumerate(robot.joint_names):
        q, low, high = link[:, j], lows[j], highs[j]
        outside = np.flatnonzero((q < low) | (q > high))
        if not len(outside):
            continue
        first = int(outside[0])
        broken = low if q[first] < low else high
        farthest = float(np.maximum(low - q[outside], q[outside] - high).max())
        turns = robot.assembly.tree.joints[robot.assembly.free[j]].type == "revolute"
        scale, unit = (180 / np.pi, "°") if turns else (1e3, " mm")
        limit = f"{scale * broken:.4g}{unit}"
        excess = f"{scale * farthest:.3g}{unit}"
        text = f"{name} passes its position limit of {limit}, at most by {excess}."
        yield Event(first / rate, "position_limit", name, text)


def build_log(prepared: PreparedRun, events: tuple[Event, ...], ended: Ended) -> Log:
    """The samples of a run as a log."""
    robot, record, places = prepared.robot, prepared.record, prepared.coordinates
    log_ticks, tick = prepared.inputs.log_ticks, prepared.controller.tick
    samples = len(record.u) if ended[0] == FINISHED else ended[1] // log_ticks + 1
    time = np.arange(samples) * log_ticks * tick
    wanted = prepared.motion
    if log_ticks != prepared.controller.setpoint_ticks:
        wanted = wanted.at_rate(1 / (log_ticks * tick))
    u = record.u[:samples]
    current = record.current[:samples]
    channels = {
        "q": places.motor_side(u),
        "v": places.motor_side(record.v[:samples]),
        "a": places.motor_side(record.a[:samples]),
        "current": current,
        "q_ref": wanted.q[:samples],
        "v_ref": wanted.v[:samples],
        "a_ref": wanted.a[:samples],
        "tau_friction": places.joint_torques(record.friction[:samples]),
    }
    if robot.description.motor and not robot.description.hydraulic:
        tau_m = current * prepared.plant.outputs.torque
        channels["tau_m"] = tau_m
        channels["tau"] = tau_m @ robot.assembly.gear
        channels["q_m"] = channels["q"] @ robot.assembly.gear.T
    if not _one_side(places):
        channels["q_link"] = places.of_bodies(u)[:, places.own]
    if prepared.temperature is not None:
        channels["temperature"] = np.tile(prepared.temperature, (samples, 1))
    ordered = {name: channels[name] for name in CHANNELS if name in channels}
    return Log.of(time, events, **ordered)

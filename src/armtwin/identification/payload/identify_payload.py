"""Identify what a robot carries, or its drives by what it carries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.payload.difference import (
    LoadRows,
    by_difference,
    with_arm_held,
)
from armtwin.identification.payload.drive_gain import DriveGain, drive_gain
from armtwin.identification.payload.load_fit import LoadFit, fitted
from armtwin.identification.payload.one_motion import OneMotion, one_motion
from armtwin.identification.payload.prior_road import PriorRoad, by_prior
from armtwin.identification.rigid_body.log_checks import check_logs
from armtwin.logs.channels import channel_kind
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.torque import logged_torque, needs_gains, torque_channel
from armtwin.maths.batch import Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.mechanics.inertia import pseudo_inertia, why_unphysical
from armtwin.notebook import cards
from armtwin.report.figures import Panel, draw_panels
from armtwin.robot.bodies import body_from
from armtwin.robot.groups import Payload
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Method = Literal["difference", "held"]
NAME = "identified"  # of the payload in the robot file
LEAST_MOMENT = 1e-6  # eigenvalue of the pseudo-inertia that a real body has at least
ROWS = (
    ("mass", "kg"),
    ("centre x", "m"),
    ("centre y", "m"),
    ("centre z", "m"),
    ("inertia xx", "kg m²"),
    ("inertia yy", "kg m²"),
    ("inertia zz", "kg m²"),
    ("inertia xy", "kg m²"),
    ("inertia xz", "kg m²"),
    ("inertia yz", "kg m²"),
)


@dataclass(frozen=True)
class LoadRow:
    """A number of the payload: its centre in the flange's frame, inertia about the centre.

    Attributes:
        name: What it is.
        unit: Its unit.
        value: Its value.
        std: Its standard deviation.
        low: Lower end of the 95 % interval.
        high: Upper end.
    """

    name: str
    unit: str
    value: float
    std: float
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class PayloadIdentification:
    """What a robot carries.

    Attributes:
        prior: The robot without it.
        method: "difference" of two runs, or the arm "held" as in its file.
        torque_source: Channel of the torque.
        rows: The rows that were fitted.
        fit: The ten parameters in the flange's frame.
        gain: Torque constants, where the mass was given.
        runs: Both runs on one clock, None with the arm held.
        road: The mass by a truncated fit, where a prior was given.
    """

    prior: Robot
    method: Method
    torque_source: str
    rows: LoadRows
    fit: LoadFit
    gain: DriveGain | None
    runs: OneMotion | None
    road: PriorRoad | None

    @cached_property
    def table(self) -> tuple[LoadRow, ...]:
        """Mass, centre and inertia with deviations and intervals."""
        value, std, wide = self.fit.seen()
        found = []
        for k, (name, unit) in enumerate(ROWS):
            x, s, w = float(value[k]), float(std[k]), float(wide[k])
            found.append(LoadRow(name, unit, x, s, x - w, x + w))
        return tuple(found)

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.fit.mass

    @property
    def refused(self) -> str:
        """Why no payload is told, as a sentence; empty if one is."""
        row = self.table[0]
        if self.gain is not None or row.low > 0:
            return ""
        return (
            f"The torque from {self.torque_source} shows no payload: its mass comes out as "
            f"{row.value:.3g} kg, with 95 % between {row.low:.3g} and {row.high:.3g} kg. A channel "
            "that a controller computes from its own model knows nothing of what it carries; take "
            "a measured one."
        )

    @property
    def impossible(self) -> str:
        """Why no real body has these numbers, as a phrase; empty if one has."""
        return why_unphysical(self.fit.parameters)

    @cached_property
    def robot(self) -> Robot:
        """The robot with the payload on it, or with the torque constants it told.

        The payload is the nearest body that can exist.
        """
        if self.gain is not None:
            return _with_constants(self.prior, self.gain)
        if self.refused:
            return self.prior
        count = len(self.rows.target)
        source = (
            f"identified: {self.method}, {count} rows of torque from {self.torque_source}, "
            f"cut-off {self.rows.cutoff:.4g} Hz"
        )
        body = body_from(nearest_body(self.fit.parameters))
        payloads = {**self.prior.description.payload, NAME: Payload(source=source, body=body)}
        description = replace(self.prior.description, payload=payloads)
        return self.prior.with_description(description).with_payload(NAME)

    def __repr__(self) -> str:
        row = self.table[0]
        words = [f"{row.value:.4g} ± {row.high - row.value:.2g} kg", f"by {self.method}"]
        if self.gain is not None:
            constants = ", ".join(f"{k:.3g}" for k in self.gain.constants)
            words = [f"{self.gain.known:g} kg known", f"torque constants {constants} N m/A"]
        return cards.line("PayloadIdentification", self.prior.name, *words)

    def _repr_html_(self) -> str:
        rows = []
        for row in self.table:
            interval = f"{row.low:.4g} to {row.high:.4g}"
            rows.append((row.name, f"{row.value:.4g} {row.unit}", f"{row.std:.2g}", interval))
        return cards.table(repr(self), rows, ("", "value", "deviation", "95 %"))

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw what the payload adds to the torque of each joint, measured and explained.

        Args:
            axes: One for each joint; new ones where none are given.
        """
        explained = self.rows.Y @ self.fit.parameters
        measured = self.rows.target - self.rows.arm
        panels = []
        for j, name in enumerate(self.prior.joint_names):
            lines = {"measured": measured[:, j], "explained": explained[:, j]}
            panels.append(Panel(f"{name} [N m]", lines))
        return draw_panels(np.arange(len(measured)), "row", panels, axes)


@one_blas_thread()
def identify_payload(
    robot: Robot,
    without: Log | None,
    with_it: Log,
    *,
    method: Method = "difference",
    known: float | None = None,
    expected: Robot | None = None,
    torque: str | None = None,
    cutoff: float | None = None,
) -> PayloadIdentification:
    """Identify the ten parameters of a payload, or torque constants by its known mass.

    Args:
        robot: The robot without the payload, as in the first run.
        without: A log of a motion without the payload; None with the arm held.
        with_it: A log of the same motion with it.
        method: "difference" of the two runs, without any prior; or "held", the arm as in the robot
            file, from the run with the payload alone.
        known: Mass of the payload; the torque constants of the motors are then found from currents
            [kg].
        expected: The robot with the payload as it is believed to be, for comparison with a fit that
            starts from there.
        torque: Channel of the torque, as for `identify`.
        cutoff: Cut-off frequency; by default from the spectrum of the speeds [Hz].
    """
    _check_choices(robot, method, known, without)
    logs = [with_it] if without is None else [without, with_it]
    for log in logs:
        if not isinstance(log, Log):
            raise ArmtwinError(f"identify_payload needs logs, got a {type(log).__name__}")
    ordered = [in_order_of(log, robot.joint_names) for log in logs]
    check_logs(robot, tuple(ordered), "q")
    source = torque_channel(ordered[-1], torque)
    if known is not None:
        return _gains(robot, ordered, source, known, cutoff)
    if needs_gains(robot, source):
        raise ArmtwinError(
            f"robot '{robot.name}': channel '{source}' holds currents, and the file has no "
            'torque constants; give the payload\'s mass (known, --known "5 kg") to find these, or '
            "a robot file that has them"
        )
    torques = [logged_torque(robot, log, torque_channel(log, source)) for log in ordered]
    runs = None
    if method == "held":
        rows = with_arm_held(robot, ordered[-1], torques[-1], cutoff)
    else:
        runs = one_motion(ordered[0], ordered[1], (torques[0], torques[1]))
        rows = by_difference(robot, runs, cutoff)
    road = None
    if expected is not None:
        road = by_prior(robot, expected, ordered[-1], torque, rows.cutoff)
    return PayloadIdentification(robot, method, source, rows, fitted(rows), None, runs, road)


def _check_choices(robot: Robot, method: str, known: float | None, without: Log | None) -> None:
    """Refuse choices that contradict each other."""
    if not isinstance(robot, Robot):
        kind = type(robot).__name__
        raise ArmtwinError(
            f"identify_payload needs a robot, got a {kind}; load it by at.Robot.load"
        )
    if method not in ("difference", "held"):
        raise ArmtwinError(f"method must be one of difference, held, got '{method}'")
    if without is None and method == "difference":
        raise ArmtwinError(
            "a difference needs a log without the payload; give it, or hold the arm as its file "
            'has it (method "held", --held)'
        )
    if known is None:
        return
    if not 0 < known < np.inf:
        raise ArmtwinError(f"known must be the payload's mass above 0 kg, got {known!r}")
    if method == "held":
        raise ArmtwinError("torque constants come from the difference of two runs, not held ones")


def _gains(
    robot: Robot, logs: Sequence[Log], source: str, known: float, cutoff: float | None
) -> PayloadIdentification:
    """Torque constants from the difference of currents."""
    if channel_kind(source) != "current":
        raise ArmtwinError(
            f"torque constants are found from currents, and '{source}' is a torque; choose the "
            'current by torque="current" (--torque current)'
        )
    at_motors = motors_of(robot)
    currents = []
    for log in logs:
        values = log.channels[torque_channel(log, source)]
        if values.shape[1] != at_motors.shape[1]:
            raise ArmtwinError(
                f"channel '{source}' must have {at_motors.shape[1]} columns, one for each motor, "
                f"got {values.shape[1]}"
            )
        currents.append(values)
    runs = one_motion(logs[0], logs[1], (currents[0], currents[1]))
    rows = by_difference(robot, runs, cutoff)
    gain = drive_gain(rows, at_motors, known)
    return PayloadIdentification(robot, "difference", source, rows, gain.load, gain, runs, None)


def motors_of(robot: Robot) -> Floats:
    """From joint torques to motor torques, (n, motors); to themselves where no motors are known."""
    motors, n = robot.assembly.motor_rows.shape
    if motors == 0:
        return np.eye(robot.n)
    if motors != n:
        raise ArmtwinError(
            f"robot '{robot.name}': torque constants need as many motors as joints, got {motors} "
            f"motors and {n} joints"
        )
    return np.asarray(robot.assembly.motor_inverse)


def _with_constants(robot: Robot, gain: DriveGain) -> Robot:
    """The robot with the torque constants that were told; the others stay."""
    source = f"identified: by a payload of {gain.known:g} kg"
    motors = []
    found = zip(gain.constants, gain.told, strict=True)
    for motor, (constant, is_told) in zip(robot.description.motor, found, strict=False):
        if not is_told:
            motors.append(motor)
            continue
        had = motor.source if isinstance(motor.source, dict) else {"rotor_inertia": motor.source}
        sources = {**had, "torque_constant": source}
        motors.append(replace(motor, torque_constant=float(constant), source=sources))
    return robot.with_description(replace(robot.description, motor=tuple(motors)))


def nearest_body(ten: Floats) -> Floats:
    """Ten parameters of the nearest body that can exist, (10,).

    The pseudo-inertia without its negative eigenvalues.
    """
    if not why_unphysical(ten) and ten[0] > 0:
        return ten
    values, vectors = np.linalg.eigh(pseudo_inertia(ten))
    P = (vectors * np.maximum(values, LEAST_MOMENT)) @ vectors.T
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    diagonal = trace - np.diag(P)[:3]
    return np.array([P[3, 3], *P[:3, 3], *diagonal, -P[0, 1], -P[0, 2], -P[1, 2]])

"""Identify a robot from its logs: one good default, and everything it rests on in the result."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.consistency import nearest, violations
from armtwin.identification.estimators import best_weight, deviations, fit, prepared, sizes_of
from armtwin.identification.identifiable import Group, Identifiable, identifiable
from armtwin.identification.regression import block, motion
from armtwin.logs.cleaning import Cleaning, low_pass
from armtwin.logs.log import Log
from armtwin.logs.torque import joint_torque
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot


@dataclass(frozen=True)
class Row:
    """One identified parameter.

    Attributes:
        name: Its name.
        unit: Its SI unit.
        prior: Value of the robot file.
        value: Identified value.
        std: Standard deviation of the value.
        group: "alone", "combined" or "none": whether a motion can tell it.
    """

    name: str
    unit: str
    prior: float
    value: float
    std: float
    group: Group


@dataclass(frozen=True, eq=False)
class Validation:
    """Predicted against measured torque of a log.

    Attributes:
        nrmse: 100 ‖τ - τ̂‖ / ‖τ‖ of each joint, (n,) [%].
        rmse: Root mean square of τ - τ̂, (n,) [N m].
        max: Largest |τ - τ̂|, (n,) [N m].
        tau: Measured torque, (m, n) [N m].
        tau_hat: Predicted torque, (m, n) [N m].
    """

    nrmse: Floats
    rmse: Floats
    max: Floats
    tau: Floats
    tau_hat: Floats


@dataclass(frozen=True, eq=False)
class Estimate:
    """An identified robot.

    Attributes:
        robot: The robot with its identified parameters, physically consistent.
        prior: The robot it started from.
        table: Every parameter with prior, value, standard deviation and group.
        torque_source: Channel that the torque came from.
        weight: Weight of the prior that was chosen.
        left_out: Error of what was left out, for each weight that was tried.
        sigma: Residual of each joint in the fit, (n,) [N m].
        cleaning: How each log was cleaned.
        plain: What a fit without the physical contracts would have broken, as phrases.
    """

    robot: Robot
    prior: Robot
    table: tuple[Row, ...]
    torque_source: str
    weight: float
    left_out: dict[float, float]
    sigma: Floats
    cleaning: tuple[Cleaning, ...]
    plain: tuple[str, ...]

    @cached_property
    def structure(self) -> Identifiable:
        """What any motion could tell."""
        return identifiable(self.prior)

    @property
    def base(self) -> tuple[str, ...]:
        """The base parameters as readable combinations."""
        return self.structure.base

    def validate(self, log: Log, cutoff: float | None = None) -> Validation:
        """Torque of a log as the identified robot predicts it; with a cut-off both sides are filtered [Hz]."""
        return validate(self.robot, log, self.cleaning[0].cutoff, self.torque_source, cutoff)


def validate(robot: Robot, log: Log, smooth: float, channel: str | None, cutoff: float | None = None) -> Validation:
    """Measured and predicted torque of a log; motion filtered at `smooth`, torque raw without a cut-off [Hz]."""
    torque, _ = joint_torque(robot, log, channel)
    q, v, a = motion(robot, log, smooth)
    predicted = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
    if cutoff is not None:
        rate = 1 / float(np.median(np.diff(log.time)))
        torque, predicted = (low_pass(x, rate, cutoff) for x in (torque, predicted))
    gap = torque - predicted
    size = np.linalg.norm(torque, axis=0)
    nrmse = 100 * np.linalg.norm(gap, axis=0) / np.where(size > 0, size, np.inf)
    return Validation(nrmse, np.sqrt((gap**2).mean(axis=0)), np.abs(gap).max(axis=0), torque, predicted)


def identify(robot: Robot, logs: Sequence[Log], *, torque: str | None = None, cutoff: float | None = None) -> Estimate:
    """Identify the dynamic parameters of a robot from logs.

    The estimate is drawn to the robot file by the weight that predicts best what was left out, and is physically
    consistent: every link a body that can exist, rotor inertias and friction at least zero.

    Args:
        robot: The robot as it was when logged, payload mounted.
        logs: One or more logs.
        torque: Channel of the torque: "tau", "tau_m" or "current"; by default the first of these that is there.
        cutoff: Cut-off frequency of the filter; by default from the spectrum of each log [Hz].
    """
    if not logs:
        raise ArmtwinError("identify needs at least one log")
    if any(not isinstance(log, Log) for log in logs):
        raise ArmtwinError("identify needs a list of logs")
    blocks = [block(robot, log, cutoff, torque) for log in logs]
    prior, sizes = robot.parameters, sizes_of(robot.parameters)
    parts = prepared(blocks, prior)
    weight, left_out = best_weight(parts)
    found = fit(parts, weight)
    phi = prior + sizes * found.x
    broken = violations(robot, phi)
    if broken:
        phi = prior + sizes * nearest(robot, found.R, found.d, sizes)
    structure = identifiable(robot)
    std = deviations(found, sizes)
    rows = tuple(
        Row(p.name, p.unit, p.value, float(value), float(s), group)
        for p, value, s, group in zip(robot.parameter_table, phi, std, structure.groups, strict=True)
    )
    source = f"identified: {len(logs)} logs, torque from {blocks[0].source}, {blocks[0].how.cutoff:.4g} Hz"
    identified = robot.with_parameters(phi, source)
    cleaning = tuple(b.how for b in blocks)
    return Estimate(identified, robot, rows, blocks[0].source, weight, left_out, found.sigma, cleaning, tuple(broken))

"""The result of an identification, and how well it predicts logs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from armtwin.identification.estimators import Draw
from armtwin.identification.identifiable import Group, Identifiable, identifiable
from armtwin.identification.recipe import Recipe
from armtwin.identification.regression import friction, motion, plain_torque
from armtwin.logs.channels import channel_kind
from armtwin.logs.cleaning import Cleaning
from armtwin.logs.joint_order import in_order_of
from armtwin.logs.log import Log
from armtwin.logs.torque import joint_torque
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.smoothing import low_pass
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from armtwin.identification.decomposition import Decomposition

SIDES = {"tau": "torque at the joint", "tau_m": "torque at the motor", "current": "current"}


@dataclass(frozen=True)
class Row:
    """One identified parameter.

    Attributes:
        name: Its name.
        unit: Its SI unit.
        prior: Value of the robot file.
        value: Identified value.
        std: Standard deviation of the value.
        group: "alone", "combined" or "none": whether any motion can tell it.
        from_logs: Share of the value that the logs tell, 0 to 1; the rest is drawn to the prior.
        told: Share of the parameter in the directions that the logs tell to 10 % of the prior's size, 0 to 1.
    """

    name: str
    unit: str
    prior: float
    value: float
    std: float
    group: Group
    from_logs: float
    told: float


@dataclass(frozen=True, eq=False)
class Validation:
    """Predicted against measured torque.

    Attributes:
        nrmse: 100 ‖τ - τ̂‖ / ‖τ‖ of each joint, nan where there is no torque, (n,) [%].
        rmse: Root mean square of τ - τ̂, (n,) [N m].
        max: Largest |τ - τ̂|, (n,) [N m].
        time: Times of the samples, (m,) [s].
        tau: Measured torque, (m, n) [N m].
        tau_hat: Predicted torque, (m, n) [N m].
    """

    nrmse: Floats
    rmse: Floats
    max: Floats
    time: Floats
    tau: Floats
    tau_hat: Floats

    @staticmethod
    def of(time: Floats, tau: Floats, tau_hat: Floats) -> Validation:
        """The comparison of two torques."""
        gap, size = tau - tau_hat, np.linalg.norm(tau, axis=0)
        nrmse = 100 * np.linalg.norm(gap, axis=0) / np.where(size > 0, size, np.nan)
        return Validation(
            nrmse, np.sqrt((gap**2).mean(axis=0)), np.abs(gap).max(axis=0), time, tau, tau_hat
        )


def _compared(log: Log, measured: Floats, told: Floats, cutoff: float | None) -> Validation:
    """The comparison of two torques of a log, both filtered where a cut-off is given."""
    if cutoff is not None:
        rate = 1 / float(np.median(np.diff(log.time)))
        measured, told = (low_pass(x, rate, cutoff) for x in (measured, told))
    return Validation.of(log.time, measured, told)


@dataclass(frozen=True, eq=False)
class Estimate:
    """An identified robot, and what it rests on.

    Attributes:
        robot: The robot with its identified parameters.
        prior: The robot it started from, with assumed drives where its file had none.
        table: Every parameter with prior, value, standard deviation and group.
        covariance: Covariance of the parameters, (p, p).
        torque_source: Channel that the torque came from.
        gains: Drive gains estimated with the parameters, None where none had to be, (n,) [N m/A].
        draw: How strongly the parameters were drawn to the prior, and what was tried.
        sigma: Residual of each joint in the fit, (n,) [N m].
        fastest: Highest speed of each joint in the logs, (n,) [rad/s].
        reversal: Speeds of the joints within which the sign of friction is in doubt, (n,) [rad/s].
        cleaning: How each log was cleaned.
        plain: Parameters of plain weighted least squares, without prior and contracts, (p,).
        broken: What the plain fit breaks, as phrases: links that are no real body, negative inertia and friction.
        decomposition: Singular values of the regression.
        cutoff: Cut-off, as asked for or common to all logs [Hz].
        recipe: The choices.
        logs: The logs it was fitted to.
    """

    robot: Robot
    prior: Robot
    table: tuple[Row, ...]
    covariance: Floats
    torque_source: str
    gains: Floats | None
    draw: Draw
    sigma: Floats
    fastest: Floats
    reversal: Floats
    cleaning: tuple[Cleaning, ...]
    plain: Floats
    broken: tuple[str, ...]
    decomposition: Decomposition
    cutoff: float
    recipe: Recipe
    logs: tuple[Log, ...]

    @cached_property
    def structure(self) -> Identifiable:
        """What any motion could tell."""
        return identifiable(self.prior)

    @property
    def base(self) -> tuple[str, ...]:
        """The base parameters as readable combinations."""
        return self.structure.base

    @property
    def free(self) -> Flags:
        """Which parameters were free to change, (p,)."""
        return np.asarray(self.decomposition.free.basis.any(axis=1))

    @property
    def torque_side(self) -> str:
        """Where the torque was measured, in words."""
        return SIDES[channel_kind(self.torque_source) or "tau"]

    def validate(
        self, log: Log, cutoff: float | None = None, robot: Robot | None = None
    ) -> Validation:
        """Torque of a log as the identified robot predicts it.

        Args:
            log: The log.
            cutoff: Filters both sides [Hz]; without it the torque is as measured.
            robot: Another robot to be judged in the same way, for instance the prior.
        """
        judged = self.robot if robot is None else robot
        log = in_order_of(log, self.robot.joint_names)
        measured, _ = joint_torque(self.robot, log, self.torque_source)
        q, v, a = motion(log, self.cutoff, self.recipe)
        told = judged.inverse_dynamics(q, v, a) + friction(judged, (q, v, a), self.reversal)
        return _compared(log, measured, told, cutoff)

    def validate_plain(self, log: Log, cutoff: float | None = None) -> Validation:
        """The same with the parameters of plain least squares, which may be those of no robot."""
        log = in_order_of(log, self.robot.joint_names)
        measured, _ = joint_torque(self.robot, log, self.torque_source)
        q, v, a = motion(log, self.cutoff, self.recipe)
        told = plain_torque(self.prior, (q, v, a), self.reversal, self.plain)
        return _compared(log, measured, told, cutoff)

    def torque_deviation(self, log: Log) -> Floats:
        """Standard deviation of the predicted torque of a log that the parameters' leaves, (m, n) [N m]."""
        log = in_order_of(log, self.robot.joint_names)
        q, v, a = motion(log, self.cutoff, self.recipe)
        size, direction = np.linalg.eigh(self.covariance)
        root = direction * np.sqrt(size.clip(0))
        deviation = np.empty_like(q)
        for k in range(0, len(q), 2000):
            some = slice(k, k + 2000)
            deviation[some] = np.linalg.norm(
                self.prior.regressor(q[some], v[some], a[some]) @ root, axis=-1
            )
        return deviation

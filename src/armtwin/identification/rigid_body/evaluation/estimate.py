"""The identified robot: its parameters, how they were found, and the torque that it predicts.

Predicted against measured torque.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting import decomposition as decomposing
from armtwin.identification.fitting.regularisation import Regularisation
from armtwin.identification.rigid_body.data.clean_log import Motion, filter_motion
from armtwin.identification.rigid_body.data.preparation import Cutoff, TorqueDoubt
from armtwin.identification.rigid_body.data.reversals import mean_friction
from armtwin.identification.rigid_body.fit.consistency import ConsistencyCost
from armtwin.identification.rigid_body.fit.regression import RegressionModel
from armtwin.identification.rigid_body.friction.presliding import estimate_undetermined_friction
from armtwin.identification.rigid_body.friction.selection import FrictionSelection, is_command
from armtwin.identification.rigid_body.gravity.gravity_direction import GravityDirection
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.channels import channel_kind
from armtwin.logs.cleaning import Cleaning
from armtwin.logs.joints import in_order_of, joint_torque
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, Names, TwoArrays
from armtwin.maths.smoothing import low_pass
from armtwin.notebook.cards import format_count
from armtwin.notebook.numbers import NEWTON_METRES, PER_HUNDRED
from armtwin.notebook.over_time import MeasuredOverTime
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.robot import Robot


@dataclass(frozen=True, eq=False, repr=False)
class Validation(Result):
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

    def sections(self) -> Report:
        """Errors of each joint, and the torques over time."""
        torques = self.over_time
        errors = " ".join(f"{share:.1f}" for share in self.nrmse)
        samples = format_count(len(self.time), "sample")
        plots = [torques.plot(j, f"joint {j + 1} torque") for j in range(len(self.nrmse))]
        return Report(
            title="Torque, predicted against measured",
            subtitle=samples,
            sections=(
                Section("", _errors(self)),
                Section("Torque over time", plots, page_only=True),
            ),
            verdict=(Text(f"NRMSE of the joints {errors} %, {samples}."),),
            series=torques.series,
        )

    @cached_property
    def over_time(self) -> MeasuredOverTime:
        """Both torques over time."""
        return MeasuredOverTime(self.time, self.tau, self.tau_hat, "N m")

    @staticmethod
    def of(time: Floats, tau: Floats, tau_hat: Floats) -> Validation:
        """The comparison of two torques, (m, n) each, at times (m,)."""
        if tau.ndim != 2 or tau.shape != tau_hat.shape or time.shape != tau.shape[:1]:
            shapes = f"{time.shape}, {tau.shape} and {tau_hat.shape}"
            raise ArmtwinError(f"times and two torques must be of as many samples, got {shapes}")
        gap = tau - tau_hat
        return Validation(
            nrmse=_nrmse((gap**2).sum(axis=0), (tau**2).sum(axis=0)),
            rmse=np.sqrt((gap**2).mean(axis=0)),
            max=np.abs(gap).max(axis=0),
            time=time,
            tau=tau,
            tau_hat=tau_hat,
        )

    @property
    def squares(self) -> Floats:
        """Squares of the error, (m, n) [N² m²]."""
        return (self.tau - self.tau_hat) ** 2

    @property
    def power(self) -> Floats:
        """Sum of the squares of the measured torque, (n,) [N² m²]."""
        return (self.tau**2).sum(axis=0)

    @staticmethod
    def compare_filtered(
        time: Floats, tau: Floats, tau_hat: Floats, cutoff: float | None
    ) -> Validation:
        """The comparison of two torques, both through a filter where a cut-off is given [Hz]."""
        if cutoff is None:
            return Validation.of(time, tau, tau_hat)
        rate = 1 / float(np.median(np.diff(time)))
        slow, slow_hat = low_pass(tau, rate, cutoff), low_pass(tau_hat, rate, cutoff)
        return Validation.of(time, slow, slow_hat)


def _errors(validation: Validation) -> Blocks:
    yield Table.of(
        name=([f"joint {j + 1}" for j in range(len(validation.nrmse))], "joint"),
        nrmse_percent=(validation.nrmse, "NRMSE", PER_HUNDRED),
        rmse_n_m=(validation.rmse, "rms", NEWTON_METRES),
        max_n_m=(validation.max, "largest", NEWTON_METRES),
    )


def split_by_rest(validation: Validation, at_rest: Flags) -> TwoArrays:
    """NRMSE of each joint at rest and in motion, both over all torque, (n,) [%].

    Their squares add up to that of all samples.

    Args:
        validation: The comparison.
        at_rest: Which samples of each joint are at rest, (m, n).
    """
    squares, power = validation.squares, validation.power
    still = _nrmse((squares * at_rest).sum(axis=0), power)
    return still, _nrmse((squares * ~at_rest).sum(axis=0), power)


def pool_nrmse(parts: Sequence[Validation]) -> Floats:
    """NRMSE of each joint over several comparisons as one, (n,) [%]."""
    squares = sum(part.squares.sum(axis=0) for part in parts)
    return _nrmse(np.asarray(squares), np.asarray(sum(part.power for part in parts)))


def _nrmse(squares: Floats, power: Floats) -> Floats:
    """100 √(Σ (τ - τ̂)² / Σ τ²) of each joint, nan where there is no torque, (n,) [%]."""
    return 100 * np.sqrt(squares / np.where(power > 0, power, np.nan))


SIDES = {"tau": "torque at the joint", "tau_m": "torque at the motor", "current": "current"}


@dataclass(frozen=True, eq=False, repr=False)
class Estimate(Result):
    """An identified robot, and how it was identified.

    Attributes:
        robot: The robot with its identified parameters.
        prior: The robot it started from, with assumed drives where its file had none.
        table: Every parameter with prior, value, standard deviation and group.
        covariance: Covariance of the parameters, (p, p).
        covariance_at_gains: The same where the drive gains are as estimated, (p, p): that of the
            torque that a current of these gains is predicted to be.
        torque_source: Channel that the torque came from.
        gains: Drive gains [N m/A] of currents, or gear ratios of motor torques, that were estimated
            with the parameters, None where none had to be, (n,).
        draw: Regularisation of the parameters towards the prior, and what was tried.
        sigma: Residual of each joint in the fit, (n,) [N m].
        fastest: Highest speed of each joint in the logs, (n,) [rad/s].
        reversal: Speeds of the joints within which the sign of friction is uncertain, (n,) [rad/s].
        cleaning: How each log was cleaned.
        plain: Parameters of plain weighted least squares, without prior and constraints, (p,).
        broken: Physical-consistency constraints that the plain fit violates, as phrases: inertias
            of links, negative rotor inertia and friction.
        decomposition: Singular values of the regression.
        cutoff: Cut-off, as given or common to all logs [Hz].
        recipe: The choices.
        logs: The logs it was fitted to.
        model: Contribution of each parameter to the torque.
        tried: The cut-offs that were tried.
        friction: The friction terms that were added, and what was tried.
        consistency_cost: Cost of the physical-consistency constraints on left-out parts; None where
            they hold without.
        inflation: How many times larger deviations are than if rows were independent, by the
            scatter of estimates with parts left out.
        missed: Root mean square residual of the torque of left-out parts as measured, of joints in
            motion and at rest, (n,) each [N m].
        doubt: What the plausibility check of the torque says.
        fall: The direction of gravity by the logs, None where it was not estimated.
        left_open: Columns of the deviations of the parameters by what the logs leave to the robot
            file, (p, f).
    """

    robot: Robot
    prior: Robot
    table: tuple[decomposing.FittedParameter, ...]
    covariance: Floats
    covariance_at_gains: Floats
    torque_source: str
    gains: Floats | None
    draw: Regularisation
    sigma: Floats
    fastest: Floats
    reversal: Floats
    cleaning: tuple[Cleaning, ...]
    plain: Floats
    broken: Names
    decomposition: decomposing.Decomposition
    cutoff: float
    recipe: Recipe
    logs: tuple[Log, ...]
    model: RegressionModel
    tried: Cutoff
    friction: FrictionSelection
    consistency_cost: ConsistencyCost | None
    inflation: float
    missed: TwoArrays
    doubt: TorqueDoubt
    fall: GravityDirection | None
    left_open: Floats

    described_by = "armtwin.identification.rigid_body.evaluation.result:describe_estimate"

    @cached_property
    def structure(self) -> decomposing.ColumnStructure:
        """What is identifiable by any motion."""
        return self.model.structure

    @property
    def distrusted(self) -> str:
        """The failed plausibility check that was overridden, "" where none failed."""
        return self.doubt.sentence if self.recipe.trust else ""

    @property
    def base(self) -> Names:
        """The base parameters as readable combinations."""
        return self.structure.base

    @property
    def free(self) -> Flags:
        """Which parameters were free to change, (p,)."""
        return self.decomposition.free.is_free

    @property
    def torque_side(self) -> str:
        """Where the torque was measured, in words."""
        return SIDES[channel_kind(self.torque_source) or "tau"]

    @cached_property
    def _latest(self) -> list[tuple[Log, Motion]]:
        return []

    def _motion(self, log: Log) -> Motion:
        """Motion at every sample of a log; that of the latest log is kept."""
        for known, motion in self._latest:
            if known is log:
                return motion
        ordered = in_order_of(log, self.robot.joint_names)
        motion = filter_motion(ordered, self.cutoff, self.recipe)
        self._latest[:] = [(log, motion)]
        return motion

    def _measured(self, log: Log) -> Floats:
        """Joint torque of a log, (m, n) [N m]."""
        ordered = in_order_of(log, self.robot.joint_names)
        return joint_torque(self.robot, ordered, self.torque_source)[0]

    def validate(
        self, log: Log, cutoff: float | None = None, robot: Robot | None = None
    ) -> Validation:
        """Torque of a log as the identified robot predicts it.

        Args:
            log: The log.
            cutoff: Filters both sides [Hz]; without it the torque is as measured.
            robot: Another robot to be compared in the same way, for instance the prior.
        """
        model = self.robot if robot is None else robot
        motion = self._motion(log)
        rigid = model.inverse_dynamics(*motion)
        predicted = rigid + mean_friction(model, motion, self.reversal)
        return Validation.compare_filtered(log.time, self._measured(log), predicted, cutoff)

    def validate_plain(self, log: Log, cutoff: float | None = None) -> Validation:
        """As `validate` with the parameters of plain least squares, consistent or not."""
        predicted = self.model.torque(self._motion(log), self.plain)
        return Validation.compare_filtered(log.time, self._measured(log), predicted, cutoff)

    def standing(self, log: Log) -> Flags:
        """Which samples of a log have a joint at rest, slower than the fit uses, (m, n)."""
        return np.abs(self._motion(log).v) < self.recipe.rest * self.fastest

    def friction_in(self, log: Log) -> TwoArrays:
        """Speeds of a log, and its torque less that of the identified rigid body, (m, n) each."""
        motion = self._motion(log)
        return motion.v, self._measured(log) - self.robot.inverse_dynamics(*motion)

    def torque_deviation(self, log: Log) -> Floats:
        """Standard deviation of the predicted torque, (m, n) [N m].

        It combines that of the parameters, by noise and by the robot file, the residual of left-out
        parts, and friction of contacts still deflected from before the log. At rest a contact may
        bear anything up to break-away: the residual is at least that.
        """
        motion, at_rest = self._motion(log), self.standing(log)
        size, direction = np.linalg.eigh(self.covariance_at_gains)
        root = np.hstack([direction * np.sqrt(size.clip(0)), self.left_open])
        of_parameters = []
        for Y in self.model.regressors(motion):
            of_parameters.append(np.linalg.norm(Y @ root, axis=-1))
        moving, resting = self.missed
        residual = np.where(at_rest, resting, moving)
        unsettled, borne = estimate_undetermined_friction(self.robot, motion.q)
        if not is_command(self.torque_source):  # of a controller, which no contact holds back
            residual = np.where(at_rest, np.maximum(residual, borne), residual)
        return np.hypot(np.hypot(np.concatenate(of_parameters), residual), unsettled)

"""The identified robot: its parameters, how they were found, and the torque that it predicts."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.identification.fitting.decomposition import Decomposition
from armtwin.identification.fitting.regularisation import Regularisation
from armtwin.identification.fitting.structure import ColumnStructure
from armtwin.identification.fitting.table import FittedParameter
from armtwin.identification.rigid_body.data.clean_log import Motion, filter_motion
from armtwin.identification.rigid_body.data.cutoff import Cutoff
from armtwin.identification.rigid_body.data.preparation import TorqueDoubt
from armtwin.identification.rigid_body.data.reversals import mean_friction
from armtwin.identification.rigid_body.evaluation.validation import Validation
from armtwin.identification.rigid_body.fit.consistency_cost import ConsistencyCost
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
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

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
        missed: Root mean square residual of the torque of left-out parts, with what the filter
            takes away, (n,) [N m].
        doubt: What the plausibility check of the torque says.
        fall: The direction of gravity by the logs, None where it was not estimated.
    """

    robot: Robot
    prior: Robot
    table: tuple[FittedParameter, ...]
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
    decomposition: Decomposition
    cutoff: float
    recipe: Recipe
    logs: tuple[Log, ...]
    model: RegressionModel
    tried: Cutoff
    friction: FrictionSelection
    consistency_cost: ConsistencyCost | None
    inflation: float
    missed: Floats
    doubt: TorqueDoubt
    fall: GravityDirection | None

    described_by = "armtwin.identification.rigid_body.evaluation.result:describe_estimate"

    @cached_property
    def structure(self) -> ColumnStructure:
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

        It combines that of the parameters, the residual of left-out parts, and friction of contacts
        at rest, or still deflected from before the log.
        """
        motion = self._motion(log)
        size, direction = np.linalg.eigh(self.covariance_at_gains)
        root = direction * np.sqrt(size.clip(0))
        deviation = []
        for Y in self.model.regressors(motion):
            own = np.linalg.norm(Y @ root, axis=-1)
            deviation.append(np.hypot(own, self.missed))
        at_rest = self.standing(log)
        if is_command(self.torque_source):  # of a controller, which no contact holds back
            at_rest = np.zeros_like(at_rest)
        undetermined = estimate_undetermined_friction(self.robot, motion.q, at_rest)
        return np.hypot(np.concatenate(deviation), undetermined)

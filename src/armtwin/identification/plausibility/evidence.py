"""How well a robot file explains torques as they are read, its own uncertainty counted in.

    τ = Y(q, v, a) φ        φ = c (φ₀ + s z)        S_j = ‖rigid torque as fitted‖ / ‖of the file‖

    evidence = -N/2 Σ_j log ρ_j - |z|²/2 - (log S / σ)²/2 - Σ_j w_j (log S_j - log S)²/(2 σ_j²)

φ₀ are the parameters of the file, s how far they may be off, c a scale, ρ_j the residual power of
joint j over its torque's. S is the overall scale of weight and inertia that the log shows, S_j that
of joint j and w_j the share of its torque that they are. A reading of the columns that needs
parameters far from the file's, another scale, or leaves a residual, has little evidence. A weak
file (CAD, invented masses) says less about every reading alike.
"""

from typing import NamedTuple

import numpy as np

from armtwin.identification.completion.sizes import reach
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Floats, TwoArrays
from armtwin.maths.median import weighted_median
from armtwin.robot.robot import Robot

# samples of a joint that count as independent: what a model leaves is no noise, and few reversals
# and postures decide
INDEPENDENT = 20.0
FLOOR = 0.07  # relative residual that any friction law leaves; a better fit says no more
ITERATIONS = 4  # of the weights by the residuals
FEW_ITERATIONS = 2  # of readings that are mostly far from any explanation
FIRST_RESIDUAL = 0.2  # ρ before the first
BOUND_ROUNDS = 4  # in which parameters are held at zero, and let go
ROUNDING = 1e-13  # of the largest square, less than which a sum loses
NO_TORQUE = 1e-12  # per unit of a parameter that never acts [N m]
ALL_POSTURES = 0.5  # range from which on more of it shows no more [rad, m]
TRAVEL = 0.05  # range of a joint below which its torque is that of a contact at rest [rad, m]

BODY = 0.3  # relative deviation of masses and moments whose file gives none
OFF_CENTRE = 0.06  # first moments besides, over mass times the length of a link
PAYLOAD = 0.2  # mass that a file may lack at the flange, over that of the arm
LINK_LENGTH = 0.3  # of the reach, for what is not on the line of a link
# relative deviations of drives; torque sensors see neither rotors nor friction
ROTOR, FRICTION, BALANCER = 1.0, 1.0, 0.3
COMMON = 0.45  # deviation of the logarithm of one scale of all masses
APART = 0.7  # the same of one joint against the others
KNOWN = 0.3  # both, where the file gives deviations of its parameters
MODEL_ERROR = 0.05  # relative, beside deviations that a file gives
VISIBLE = 0.03  # rigid torque over the largest, from which on a joint shows a scale
SHOWN_TORQUE = 2e-3  # of the largest joint's, below which a torque is the sensor's own error
NOTHING = 1e-9  # of the largest power of a torque, below which it is none
LEAST_POWER = 1e-100  # whose inverse is a number [N² m²]
NEGATIVE = 1e-4  # scale that is taken where the fitted torque opposes the file's
SCALES = np.geomspace(1e-5, 1e5, 21)  # tried at first
NEAR_SCALES = np.array([1 / 3, 1.0, 3.0])  # tried about 1, and about one that was found
PROMISING = 20.0  # by which the evidence may be less at first for more scales to be tried


class TorqueExplanation(NamedTuple):
    """What a reading of torques comes to.

    Attributes:
        evidence: Its evidence, a logarithm.
        scale: S, the overall scale of weight and inertia over the file's.
        scales: S_j, (n,).
        shares: w_j, share of each torque that weight and inertia are, (n,).
        errors: √ρ_j, residual over torque of each joint, (n,).
        centre: c, about which the parameters were regularised.
        penalty: What the scales cost of the evidence.
    """

    evidence: float
    scale: float
    scales: Floats
    shares: Floats
    errors: Floats
    centre: float
    penalty: float

    @property
    def explained(self) -> float:
        """Share of the torques' power that is explained, mean of the joints."""
        return float(1 - (self.errors.clip(0, 1) ** 2).mean())


class TorqueModel:
    """Torques of a motion by a robot file and its uncertainty.

    Args:
        robot: The robot.
        motion: The motion.
        as_known: Whether deviations that the file gives count. Robots are compared without them: a
            file that claims to be known well is not the less likely one for it.
    """

    def __init__(self, robot: Robot, motion: Motion, as_known: bool = True) -> None:
        # at rest a contact bears anything up to its friction: such samples show nothing of a joint
        slow = SLOW_SHARE * np.abs(motion.v).max(axis=0)
        self.slides = np.ascontiguousarray((np.abs(motion.v) > slow).T)
        columns = np.moveaxis(robot.regressor(*motion), 1, 0) * self.slides[:, :, None]
        acts = np.abs(columns).max(axis=(0, 1)) > NO_TORQUE
        columns = columns[:, :, acts]
        self.start = robot.parameters[acts]
        self.spread = parameter_deviations(robot, as_known)[acts]
        self.columns = np.ascontiguousarray(columns * self.spread)
        self.torque = columns @ self.start
        self.squares = self.columns.transpose(0, 2, 1) @ self.columns
        links = slice(0, int(acts[robot.layout.all_links].sum()))
        self.links = links
        self.of_links = np.ascontiguousarray(columns[:, :, links])
        self.rigid = self.of_links @ self.start[links]
        self.power = (self.rigid**2).sum(axis=1)
        self.shows = self.power > VISIBLE**2 * self.power.max()
        table = robot.parameter_table
        self.positive = np.array([p.resists or p.unit == "kg" for p in table])[acts]
        self.moves = np.ptp(motion.q, axis=0) > TRAVEL
        travelled = np.ptp(motion.q, axis=0) / ALL_POSTURES
        self.counts = INDEPENDENT * np.where(self.moves, travelled.clip(0, 1), 0.0)
        is_known = as_known and robot.uncertainty.known[robot.layout.all_links].any()
        self.common, self.apart = (KNOWN, KNOWN) if is_known else (COMMON, APART)

    def explain(
        self, tau: Floats, scales: Floats = SCALES, rounds: int = ITERATIONS
    ) -> TorqueExplanation:
        """The best explanation of torques (m, n) by parameters of any of these scales.

        Args:
            tau: The torques.
            scales: The scales.
            rounds: Iterations of the weights by the residuals.
        """
        found = [self._explain_at(tau.T, float(scale), rounds) for scale in scales]
        return max(found, key=lambda one: one.evidence)

    def explain_near(self, tau: Floats, known: TorqueExplanation) -> TorqueExplanation:
        """As `explain`, of torques whose evidence is compared with a known one of others.

        Most are far from it, at two scales already.
        """
        first = self.explain(tau, np.unique([1.0, known.centre]), FEW_ITERATIONS)
        if first.evidence < known.evidence - PROMISING:
            return first
        return self.explain(tau, np.unique([NEAR_SCALES, known.centre * NEAR_SCALES]))

    def explain_at_any_scale(self, tau: Floats) -> TorqueExplanation:
        """The best explanation of torques (m, n) where a scale of all costs nothing."""
        found = [self._explain_at(tau.T, float(scale), ITERATIONS) for scale in SCALES]
        return max(found, key=lambda one: one.evidence + one.penalty)

    def _explain_at(self, tau: Floats, centre: float, rounds: int) -> TorqueExplanation:
        scaled = self.slides * tau / centre
        power = (scaled**2).sum(axis=1)
        power = np.maximum(power, max(NOTHING * power.max(), LEAST_POWER))
        z, residual = self._fit(scaled, power, rounds)
        phi = (self.start + self.spread * z)[self.links]
        fitted = self.of_links @ phi
        scales = centre * (fitted * self.rigid).sum(axis=1) / np.maximum(self.power, 1e-300)
        shares = ((fitted**2).sum(axis=1) / power).clip(0, 1) * self.shows
        scale, penalty = self._judge_scales(scales, shares)
        evidence = -0.5 * self._counts(power) @ np.log(residual) - 0.5 * z @ z - penalty
        errors = np.sqrt(residual)
        return TorqueExplanation(float(evidence), scale, scales, shares, errors, centre, penalty)

    def _fit(self, tau: Floats, power: Floats, rounds: int) -> TwoArrays:
        """z of least squares with weights by the residuals, and ρ, (n,)."""
        gap = tau - self.torque
        slopes = (self.columns.transpose(0, 2, 1) @ gap[:, :, None])[:, :, 0]
        squared = (gap**2).sum(axis=1)
        counts = self._counts(power)
        residual = np.full(len(tau), FIRST_RESIDUAL)
        z = np.zeros(len(self.start))
        for _ in range(rounds):
            weight = counts / (residual * power)
            squares = np.tensordot(weight, self.squares, axes=1)
            ridge = max(1.0, ROUNDING * squares.diagonal().max())
            squares[np.diag_indices_from(squares)] += ridge
            z = self._solve_bounded(squares, weight @ slopes)
            left = squared - 2 * slopes @ z + (self.squares @ z) @ z
            residual = np.maximum(left / power, FLOOR**2)
        return z, residual

    def _counts(self, power: Floats) -> Floats:
        """Samples that count of each joint, (n,): of those that move and show a torque."""
        return np.where(power > SHOWN_TORQUE**2 * power.max(), self.counts, 0.0)

    def _solve_bounded(self, squares: Floats, slopes: Floats) -> Floats:
        """z of normal equations; what cannot be negative is at least zero."""
        zero = -self.start / self.spread
        held = np.zeros(len(zero), dtype=bool)
        z = np.linalg.solve(squares, slopes)
        for _ in range(BOUND_ROUNDS):
            wanted = held & (squares @ z > slopes) | self.positive & (z < zero)
            if (wanted == held).all():
                break
            held = wanted
            free = ~held
            z = np.where(held, zero, 0.0)
            right = slopes[free] - squares[np.ix_(free, held)] @ zero[held]
            z[free] = np.linalg.solve(squares[np.ix_(free, free)], right)
        return np.maximum(z, np.where(self.positive, zero, -np.inf))

    def _judge_scales(self, scales: Floats, shares: Floats) -> tuple[float, float]:
        """The overall scale, the weighted median of the joints', and what it costs."""
        logs = np.log(np.where(scales > NEGATIVE, scales, NEGATIVE))
        total = shares.sum()
        if not total > 0:
            return 1.0, 0.0
        common = weighted_median(logs, shares)
        penalty = 0.5 * min(total, 1.0) * (common / self.common) ** 2
        penalty += 0.5 * (shares * ((logs - common) / self.apart) ** 2).sum()
        return float(np.exp(common)), float(penalty)


def parameter_deviations(robot: Robot, as_known: bool = True) -> Floats:
    """How far each parameter of a robot file may be off, (p,).

    By the deviations that the file gives, else by what CAD files and data sheets are off by.

    Args:
        robot: The robot.
        as_known: Whether deviations that the file gives count.
    """
    phi, layout = robot.parameters, robot.layout
    deviations = np.zeros(len(phi))
    masses = phi[: layout.all_links.stop : 10].clip(0)
    length = LINK_LENGTH * reach(robot)
    for k, mass in enumerate(masses):
        own = max(mass, 1e-3 * masses.sum())
        deviations[layout.link(k)] = _body_deviations(phi[layout.link(k)], own, length)
    relative = {"rotor": ROTOR, "friction": FRICTION, "balancer": BALANCER}
    for k, parameter in enumerate(robot.parameter_table):
        if parameter.group in relative:
            deviations[k] = relative[parameter.group] * abs(parameter.value)
    known = robot.uncertainty
    given = np.hypot(known.deviations, MODEL_ERROR * np.abs(phi))
    # friction follows temperature and wear, whatever one log said of it
    narrow = as_known & known.known & (np.arange(len(phi)) < layout.friction.start)
    chosen = np.where(narrow, np.minimum(given, deviations), deviations)
    # whoever identified the arm, a log may have a load that its file lacks
    last = layout.link(layout.links - 1)
    load = _body_deviations(np.zeros(10), PAYLOAD * masses.sum(), length)
    chosen[last] += load
    return np.maximum(chosen, 1e-12)


def _body_deviations(ten: Floats, mass: float, length: float) -> Floats:
    """How far the ten parameters of a body of a mass may be off, (10,)."""
    besides = OFF_CENTRE * mass * np.array([0.0] + 3 * [length] + 6 * [length**2])
    deviations = BODY * np.abs(ten) + besides
    deviations[0] = BODY * mass
    return deviations

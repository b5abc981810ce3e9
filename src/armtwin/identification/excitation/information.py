"""Information of a motion on the parameters: singular values of the scaled regressor, criteria.

    N = Σ_j Y_jᵀ Y_j / (T_j² m)        rows over their joint's largest torque T_j, m samples
    A = Y C H:  σ(A)² = eig(Sᵀ N S)    H = diag(prior values), C H = Sᵀ Qᵀ        ("parameters")
    A = Y D:    σ(A)² = eig(D N D)     D = diag(N)^-½                              ("columns")

Y holds the r independent columns; those of all p parameters are Y C. The nonzero singular values of
the p scaled columns are then those of the r columns Y S. Criteria are logarithms, so that 0.1 is
10 %; σ_min is taken as a norm of 1/σ, which has a slope also where singular values meet.

Ref: [Waiboer 2007, eq. 4.62-4.64, 4.68, 4.72-4.74], [Memar-Esfahani 2015, eq. 17]

Objective of the search: a criterion and penalties of the limits, with its gradient.

    F = criterion(N) + μ mean(over²)

The torque is linear in the same columns as the criterion, so that both go back through the
regressor at once.

The regressor along a motion, and the slope of anything computed from it by the motion.

    dF/dq = Σ_jp F_jp dY_jp/dq        F_jp = dF/dY_jp, and alike by v and a

All slopes of a sample come from one pass backwards through the traced regressor, in less time than
the regressor itself. The sign of friction is smoothed over 1 % of the highest speed there, as a sum
over samples would otherwise step whenever a sample changes sign. Where a regressor cannot be
traced, as with a friction law that is a table, slopes are differences.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.identification.excitation.bounds import Bounds, ExcitationPlan, Scaling
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability, sizes_of
from armtwin.identification.rigid_body.friction import presliding
from armtwin.maths.adjoint import pull_back
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.compiled import compiles
from armtwin.maths.traced_rows import Formula, compute
from armtwin.motion.cell import nearness
from armtwin.motion.fourier import Shapes
from armtwin.robot.dynamics.traced import whole_regressor
from armtwin.robot.robot import Robot

SOFT = 0.01  # of its highest speed over which the sign of friction is smoothed


@dataclass(frozen=True, eq=False)
class TracedColumns:
    """Columns by the traced regressor.

    Attributes:
        robot: The robot.
        regressor: Formula of all its columns.
        backwards: Formula of their weighted sum's slopes.
    """

    robot: Robot
    regressor: Formula
    backwards: Formula

    def values(self, motion: Shapes) -> Floats:
        """Columns Y, (m, n, r)."""
        m = len(motion.q)
        p = len(self.robot.parameters)
        Y = np.zeros((m, self._joints, p))
        compute(self.regressor, self._of_joints(motion), (Y,))
        kept = Y[:, :, list(analyse_identifiability(self.robot).kept)]
        coupling = self.robot.assembly.coupling
        return kept if coupling is None else coupling.G.T @ kept

    def slopes(self, motion: Shapes, by_columns: Floats) -> Shapes:
        """dF/dq, dF/dv, dF/da, (m, n) each, of an F with dF/dY = by_columns, (m, n, r)."""
        m = len(motion.q)
        weights = np.zeros((m, self._joints, len(self.robot.parameters)))
        coupling = self.robot.assembly.coupling
        spread = by_columns if coupling is None else coupling.G @ by_columns
        weights[:, :, list(analyse_identifiability(self.robot).kept)] = spread
        dq, dv, da = np.zeros((3, m, self._joints))
        compute(self.backwards, (*self._of_joints(motion), weights), (dq, dv, da))
        return Shapes(*(presliding.of_coordinates(self.robot, slope) for slope in (dq, dv, da)))

    @property
    def _joints(self) -> int:
        return len(self.robot.assembly.arm.parent)

    def _of_joints(self, motion: Shapes) -> Shapes:
        """The motion of all joints, those that follow others included."""
        speeds = (presliding.of_all_joints(self.robot, values) for values in (motion.v, motion.a))
        return Shapes(presliding.joint_positions(self.robot, motion.q), *speeds)


@dataclass(frozen=True, eq=False)
class DifferencedColumns:
    """Columns by the robot's own regressor, slopes by central differences."""

    robot: Robot

    def values(self, motion: Shapes) -> Floats:
        """Columns Y, (m, n, r)."""
        Y = self.robot.regressor(*motion)
        return Y[:, :, list(analyse_identifiability(self.robot).kept)]

    def slopes(self, motion: Shapes, by_columns: Floats) -> Shapes:
        """dF/dq, dF/dv, dF/da, (m, n) each, of an F with dF/dY = by_columns, (m, n, r)."""
        found = []
        for kind, values in enumerate(motion):
            slope = np.empty_like(values)
            for j in range(values.shape[1]):
                ahead = self._moved(motion, kind, j, STEP)
                behind = self._moved(motion, kind, j, -STEP)
                change = self.values(ahead) - self.values(behind)
                slope[:, j] = np.einsum("mnr,mnr->m", change, by_columns) / (2 * STEP)
            found.append(slope)
        return Shapes(*found)

    def _moved(self, motion: Shapes, kind: int, j: int, step: float) -> Shapes:
        parts = [values.copy() for values in motion]
        parts[kind][:, j] += step
        return Shapes(*parts)


RegressorColumns = TracedColumns | DifferencedColumns


def columns_of(robot: Robot, fastest: Floats) -> RegressorColumns:
    """The columns of a robot, traced where possible, the sign of friction smoothed.

    Args:
        robot: The robot.
        fastest: Highest speeds of the joints, (n,).
    """
    top = presliding.of_all_joints(robot, fastest)
    rows = [top @ np.abs(row.weights) for _, row in robot.assembly.friction]
    regressor = whole_regressor(robot.assembly, SOFT * np.array(rows))
    if regressor is None or not compiles():
        return DifferencedColumns(robot)
    return TracedColumns(robot, regressor, pull_back(regressor, "Y"))


NORM = 4.0  # of 1/λ that is used as the largest while searching


class Value(NamedTuple):
    """A criterion, the less the better, and its slope by N, (r, r)."""

    value: float
    slope: Floats


@dataclass(frozen=True, eq=False)
class Scales:
    """Scales of rows and columns.

    Attributes:
        torque: Largest torques T of the joints, (n,).
        root: S, (r, r).
        sizes: Size of each independent combination of parameters, (r,).
        base: Values of the combinations, C φ, (r,).
    """

    torque: Floats
    root: Floats
    sizes: Floats
    base: Floats

    @staticmethod
    def of(robot: Robot, torque: Floats) -> Scales:
        """The scales of a robot with largest joint torques (n,)."""
        C = analyse_identifiability(robot).combination
        scaled = C * sizes_of(robot.parameter_table)
        R = np.asarray(np.linalg.qr(scaled.T, mode="r"))
        sizes = np.linalg.norm(scaled, axis=1)
        return Scales(torque, R.T.copy(), sizes, C @ robot.parameters)

    def normal(self, Y: Floats) -> Floats:
        """N of columns (m, n, r)."""
        rows = (Y / self.torque[:, None]).reshape(-1, Y.shape[2])
        return rows.T @ rows / len(Y)

    def by_columns(self, Y: Floats, slope: Floats) -> Floats:
        """dF/dY, (m, n, r), from dF/dN."""
        weight = (2 / len(Y)) / self.torque[:, None] ** 2
        return (Y * weight) @ slope


def singular_values(N: Floats, scales: Scales, scaling: Scaling) -> Floats:
    """Singular values of the scaled columns over √m, falling, (r,)."""
    B = _transform(N, scales, scaling)
    found = np.linalg.eigvalsh(B.T @ N @ B)
    return np.sqrt(np.maximum(found, 0.0))[::-1]


def deviations(N: Floats, scales: Scales) -> Floats:
    """Standard deviations of the independent combinations over their sizes, (r,).

    For torques whose deviation is that of their scale, from one sample.
    """
    norms = np.sqrt(np.diag(N))
    inverse = np.linalg.inv(N / np.outer(norms, norms))
    return np.sqrt(np.diag(inverse)) / norms / scales.sizes


def criterion_of(N: Floats, scales: Scales, plan: ExcitationPlan, norm: float = NORM) -> Value:
    """A plan's criterion and its slope."""
    if plan.criterion == "log_det":
        return log_det_of(N)
    B = _transform(N, scales, plan.scaling)
    values, vectors = np.linalg.eigh(B.T @ N @ B)
    values = np.maximum(values, 1e-18 * values[-1])
    low = _norm(1 / values, norm)
    high = _norm(values, norm)
    # log 1/σ_min and log σ_max, with slopes by the eigenvalues
    least, most = 0.5 * np.log(low.value), 0.5 * np.log(high.value)
    by_least = -0.5 * low.slope / low.value / values**2
    by_most = 0.5 * high.slope / high.value
    if plan.criterion == "sigma_min":
        value, by_values = least, by_least
    elif plan.criterion == "condition":
        value, by_values = least + most, by_least + by_most
    else:
        value, by_values = _weigh(least, most, by_least, by_most, plan.weights)
    by_scaled = (vectors * by_values) @ vectors.T
    slope = B @ by_scaled @ B.T
    if plan.scaling == "columns":
        slope = slope - np.diag(np.einsum("ij,ij->i", slope, N) / np.diag(N))
    return Value(float(value), slope)


def log_det_of(N: Floats) -> Value:
    """-log det(N) / (2 r), the mean of log 1/σ; scales only shift it."""
    r = len(N)
    norms = np.sqrt(np.diag(N))
    scaled = N / np.outer(norms, norms)
    try:
        factor = np.linalg.cholesky(scaled)
    except np.linalg.LinAlgError:
        return Value(np.inf, np.zeros_like(N))
    value = -(np.log(np.diag(factor)).sum() + np.log(norms).sum()) / r
    half = np.linalg.inv(factor)
    inverse = half.T @ half
    return Value(float(value), -inverse / np.outer(norms, norms) / (2 * r))


def _norm(x: Floats, k: float) -> Value:
    """(Σ x^k)^(1/k) and its slope by x."""
    top = float(x.max())
    share = (x / top) ** k
    total = float(share.sum())
    value = top * total ** (1 / k)
    return Value(value, (x / value) ** (k - 1))


def _weigh(
    least: float, most: float, by_least: Floats, by_most: Floats, weights: Pair
) -> tuple[float, Floats]:
    """log(λ₁ cond + λ₂ / σ_min) and its slope by the eigenvalues."""
    cond = weights[0] * np.exp(least + most)
    inverse = weights[1] * np.exp(least)
    total = cond + inverse
    slope = (cond * (by_least + by_most) + inverse * by_least) / total
    return float(np.log(total)), slope


def _transform(N: Floats, scales: Scales, scaling: Scaling) -> Floats:
    """B with σ(A)² = eig(Bᵀ N B)."""
    if scaling == "parameters":
        return scales.root
    return np.diag(1 / np.sqrt(np.diag(N)))


MARGIN = 0.015  # of each limit reserved for the motion between samples
NEAR = 0.1  # distance [m] that counts as much as a limit exceeded by all of it
EVERY = 2  # samples of which one is checked against the cell
STEP = 1e-6  # of positions for the slopes of distances [rad]

Criterion = Callable[[Floats], Value]


@dataclass(frozen=True, eq=False)
class Objective:
    """A criterion within limits, of the coefficients of a motion.

    Attributes:
        columns: Columns along a motion.
        scales: Their scales.
        bounds: The limits.
        shapes: Motion per coefficient at the samples.
        units: Units of the coefficients of each joint in the search, (k, n).
    """

    columns: RegressorColumns
    scales: Scales
    bounds: Bounds
    shapes: Shapes
    units: Floats

    def motion(self, x: Floats) -> Shapes:
        """The motion of coefficients over their units, (k n,)."""
        free = x.reshape(self.units.shape) * self.units
        return Shapes(*(shape @ free for shape in self.shapes))

    def evaluate(self, x: Floats, criterion: Criterion, stiffness: float) -> tuple[float, Floats]:
        """F and its slope by the coefficients over their units, (k n,).

        Args:
            x: The coefficients over their units, (k n,).
            criterion: From N to a value with its slope.
            stiffness: μ.
        """
        motion = self.motion(x)
        Y = self.columns.values(motion)
        found = criterion(self.scales.normal(Y))
        if not np.isfinite(found.value):
            return 1e3, np.zeros_like(x)
        exceeded, by_torque = self._torque_penalty(Y)
        by_columns = self.scales.by_columns(Y, found.slope)
        by_columns += stiffness * by_torque[:, :, None] * self.scales.base
        by_q, by_v, by_a = self.columns.slopes(motion, by_columns)
        total = exceeded
        limits = self.bounds
        for kind, over in (
            (by_q, _excess(motion.q - limits.middle, limits.half)),
            (by_v, _excess(motion.v, limits.speed)),
            (by_a, _excess(motion.a, limits.acceleration)),
            (by_q, self._cell_penalty(motion.q)),
        ):
            value, slope = over
            total += value
            kind += stiffness * slope
        slope = self.shapes.q.T @ by_q + self.shapes.v.T @ by_v + self.shapes.a.T @ by_a
        return found.value + stiffness * total, (slope * self.units).ravel()

    def _torque_penalty(self, Y: Floats) -> tuple[float, Floats]:
        """How far torques exceed their limits, and the slope by the joint torques, (m, n)."""
        torque = Y @ self.scales.base
        value, slope = _excess(torque, self.bounds.torque)
        if self.bounds.drives_all:
            inverse = self.bounds.robot.assembly.motor_inverse
            more, by_motor = _excess(torque @ inverse, self.bounds.drive)
            value += more
            slope = slope + by_motor @ inverse.T
        return value, slope

    def _cell_penalty(self, q: Floats) -> tuple[float, Floats]:
        """How far positions come too near to the cell, and the slope by them, (m, n)."""
        slope = np.zeros_like(q)
        q = q[::EVERY]
        here = self._distances(q)
        over = np.maximum(self.bounds.clearance + MARGIN * NEAR - here, 0.0) / NEAR
        some = np.flatnonzero(over.any(axis=1))
        if not len(some):
            return 0.0, slope
        n = q.shape[1]
        moved = np.repeat(q[some], n, axis=0)
        moved[np.arange(len(moved)), np.tile(np.arange(n), len(some))] += STEP
        ahead = self._distances(moved).reshape(len(some), n, -1)
        rise = (ahead - here[some, None, :]) / STEP
        slope[::EVERY][some] = np.einsum("mo,mno->mn", over[some], rise) * (-2 / NEAR / len(q))
        return float((over**2).sum() / len(q)), slope

    def _distances(self, q: Floats) -> Floats:
        """How near positions (m, n) come to each thing of the cell, (m, things) [m]."""
        found = nearness(self.bounds.robot, self.bounds.cell, q)
        return np.stack([near.distance for near in found], axis=1)


def _excess(values: Floats, limit: Floats) -> tuple[float, Floats]:
    """Mean square by which |values| (m, k) exceed a limit less its margin, and its slope."""
    use = values / limit
    over = np.maximum(np.abs(use) - (1 - MARGIN), 0.0)
    slope = 2 * over * np.sign(use) / limit / len(values)
    return float((over**2).sum() / len(values)), slope

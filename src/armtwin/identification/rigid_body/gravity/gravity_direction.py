"""Gravity direction in the base frame by the logs: a wrong mounting, a tilted base.

    min ‖τ - Y(g) φ‖² / (σ² rows) + λ ‖z‖² + λ |ĝ - ĝ₀|²        over φ = φ₀ + s B z and ĝ, |g| known

ĝ₀ is the robot file's direction; the search starts at it and at the six axes of the base. The
file's masses determine the signs of weights, as a mass on the other side of a joint has the same
torque under reversed gravity; so the regularisation λ towards them takes part. The angles'
deviations come from the scatter with parts left out, as does whether they are used.

Ref: [Efron 1982]

Squares of the parts of logs as a function of gravity: the regressor is linear in it.

    Y(g) = Y(g₀) + Σ_k (g - g₀)_k W_k        W_k = Y of weight alone, gravity 1 along axis k

Only masses and first moments have a weight. With Z = [Y(g₀) | W_x | W_y | W_z | τ] the squares Zᵀ Z
of each part and joint give every fit for every gravity; the rows are read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.estimate import jackknife, student
from armtwin.identification.fitting.factors import Factors, FreeDirections
from armtwin.identification.rigid_body.data.clean_log import CleanLog, Integers
from armtwin.identification.rigid_body.data.experiment import GAIN_WEIGHT, IdentificationData
from armtwin.identification.rigid_body.fit.drive_gains import (
    estimate_drive_gains,
    estimate_first_gains,
)
from armtwin.identification.rigid_body.fit.regression import RegressionModel, select_rows
from armtwin.logs.cleaning import filter_values
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.blas import one_blas_thread
from armtwin.mechanics.regressor import HEAVY, OF_A_BODY
from armtwin.robot.schema.mounting import Vector, angle_between, in_words, option_for, vector

PARTS = 6  # into which the logs are cut at least, to be left out in turn
SAMPLES = 3000  # of all logs
LEAST_SAMPLES = 200  # of one part at least


@dataclass(frozen=True, eq=False)
class GravitySquares:
    """Squares of parts of logs with gravity free.

    Attributes:
        gravity: g₀ [m/s²], (3,).
        heavy: Which parameters have a weight, (h,).
        squares: Zᵀ Z of each part and joint, (parts, n, p + 3 h + 1, p + 3 h + 1).
        count: Rows of each part and joint, (parts, n).
    """

    gravity: Floats
    heavy: Integers
    squares: Floats
    count: Floats

    @cached_property
    def whole(self) -> Floats:
        """Squares of all parts, (n, c, c)."""
        return self.squares.sum(axis=0)

    @property
    def rows(self) -> float:
        """Number of all rows."""
        return float(self.count.sum())

    def scaled(self, gains: Floats) -> GravitySquares:
        """These squares with each joint's target times its gain (n,)."""
        if (gains == 1).all():
            return self
        squares = self.squares.copy()
        squares[:, :, -1, :] *= gains[:, None]
        squares[:, :, :, -1] *= gains[:, None]
        return replace(self, squares=squares)

    def map_columns(self, A: Floats, g: Floats) -> Floats:
        """T A with Z T = [Y(g) | τ], (c, ...), for coordinates of these columns A (p + 1, ...)."""
        p, h = len(A) - 1, len(self.heavy)
        found = np.empty((self.squares.shape[-1], *A.shape[1:]))
        found[:p] = A[:-1]
        found[-1] = A[-1]
        for k, more in enumerate(g - self.gravity):
            found[p + k * h : p + (k + 1) * h] = more * A[self.heavy]
        return found

    def by_gravity(self, phi: Floats) -> Floats:
        """∂(Z T [φ, 0])/∂g in the columns of Z, (c, 3)."""
        p, h = len(phi), len(self.heavy)
        D = np.zeros((self.squares.shape[-1], 3))
        for k in range(3):
            D[p + k * h + np.arange(h), k] = phi[self.heavy]
        return D

    def factors(self, g: Floats) -> Factors:
        """Factors of all parts for a gravity, in all parameters."""
        p = self.squares.shape[-1] - 1 - 3 * len(self.heavy)
        T = self.map_columns(np.eye(p + 1), g)
        roots = []
        for square in T.T @ self.whole @ T:
            size, direction = np.linalg.eigh(square)
            roots.append(np.sqrt(size.clip(0))[:, None] * direction.T)
        return Factors(np.array(roots), self.count.sum(axis=0), np.eye(T.shape[1] - 1))


def compute_gravity_squares(experiment: IdentificationData) -> GravitySquares:
    """Squares of stretches of all logs, spread over them."""
    of_each_log = -(-PARTS // len(experiment.clean))
    samples = max(LEAST_SAMPLES, SAMPLES // (of_each_log * len(experiment.clean)))
    links = experiment.prior.layout.links
    heavy = np.concatenate([OF_A_BODY * k + np.arange(HEAVY) for k in range(links)])
    squares, count = [], []
    for log in experiment.clean:
        stretches = log.stretches(of_each_log, samples)
        for stretch in stretches:
            Z = _columns(experiment.model, stretch)
            used = np.abs(stretch.clean.v[select_rows(stretch)]) >= experiment.rest
            for rows in np.array_split(np.arange(len(Z)), of_each_log // len(stretches)):
                squares.append(_squares(Z[rows], used[rows]))
                count.append(used[rows].sum(axis=0))
    gravity = np.array(experiment.prior.description.gravity)
    return GravitySquares(gravity, heavy, np.array(squares), np.array(count))


def _columns(model: RegressionModel, log: CleanLog) -> Floats:
    """Z of a log through its filter, (k, n, c), of columns with the file's gravity."""
    how, motion = log.how, log.motion
    m, n = motion.q.shape
    by_weight = model.robot.weight_regressor(motion.q).reshape(m, n, -1)
    p = len(model.robot.parameters)
    c = p + by_weight.shape[2]
    columns = np.empty((m, n, c))
    columns[:, :, p:] = by_weight
    first = 0
    for Y in model.regressors(motion):
        columns[first : first + len(Y), :, :p] = Y
        first += len(Y)
    flat = columns.reshape(m, n * c)
    busy = flat.any(axis=0)
    kept = select_rows(log)
    small = np.zeros((len(kept), n * c))
    small[:, busy] = filter_values(flat[:, busy], how, overwrite=True)[kept]
    tau = log.clean.tau[kept]
    return np.concatenate([small.reshape(-1, n, c), tau[:, :, None]], axis=2)


def _squares(Z: Floats, used: Flags) -> Floats:
    """Zᵀ Z of each joint's rows that count, (n, c, c)."""
    _, n, c = Z.shape
    found = np.zeros((n, c, c))
    for j in range(n):
        rows = Z[used[:, j], j]
        busy = np.flatnonzero(rows.any(axis=0))
        some = rows[:, busy]
        found[j][np.ix_(busy, busy)] = some.T @ some
    return found


WEIGHT = 1e-3  # λ
HARDLY = 1e-6  # λ of fits whose residual is taken as the noise
LEAST_NOISE = 1e-3  # of a joint's torque that its residual is taken to have at least
STEPS = 20  # of the search
STEPS_AGAIN = 4  # of the search with a part left out
LARGEST_STEP = 0.3  # of an angle [rad]
SAME = 1e-5  # step below which the search ends [rad]
SHARE = 0.9  # of an angle that the logs must determine, the rest being the regularisation's
SIGNIFICANT = 3.0  # deviations by which an angle must differ from zero to be used
SIGNIFICANT_GAIN = 2.0  # deviations by which left-out parts must be predicted better
# least decrease of ln of the squares: errors that all parts share show in none left out
LEAST_GAIN = 0.01
CLEAR_GAIN = 0.3  # that decrease for another mounting: an error smaller by a seventh
CLEAR_STRAIN = 4.0  # times the squares of the parameters' changes, each twice as large
LARGEST_DEVIATION = np.radians(1.0)  # largest standard deviation of a base tilt that is used
LARGEST_TILT = np.radians(10.0)  # largest base tilt; beyond it the base is mounted otherwise
REPORTABLE_ANGLE = np.radians(0.05)  # least base tilt that is reported


@dataclass(frozen=True, eq=False)
class GravityDirection:
    """Gravity in the base frame, by the robot file and by the logs.

    Attributes:
        file: The robot file's [m/s²].
        logs: That with which the logs are explained best [m/s²].
        deviation: Standard deviations of its components, (3,) [m/s²].
        angle: Angle between both [rad].
        angle_deviation: Its standard deviation [rad].
        share: Share of the direction that the logs determine, 0 to 1.
        gain: Decrease of ln of the residual squares of left-out parts with it, mean of the parts.
        gain_deviation: Standard deviation of that mean.
        strain: How many times larger the squares are by which parameters must move from the robot
            file's to explain the logs with its direction.
    """

    file: Vector
    logs: Vector
    deviation: Vector
    angle: float
    angle_deviation: float
    share: float
    gain: float
    gain_deviation: float
    strain: float

    @property
    def angle_half_width(self) -> float:
        """Half width of the 95 % interval of the angle [rad]."""
        return float(student(np.inf)) * self.angle_deviation

    @property
    def told(self) -> bool:
        """Whether the direction is identified."""
        return self.share > SHARE and self.angle_deviation < LARGEST_TILT

    @property
    def differs_from_file(self) -> bool:
        """Whether the logs give another direction than the file, and it predicts better."""
        significant = self.told and self.angle > max(
            REPORTABLE_ANGLE, SIGNIFICANT * self.angle_deviation
        )
        return significant and self.gain > max(LEAST_GAIN, SIGNIFICANT_GAIN * self.gain_deviation)

    @property
    def base_is_tilted(self) -> bool:
        """Whether the base is tilted a little from the file's direction, by a known angle."""
        return (
            self.differs_from_file
            and self.angle <= LARGEST_TILT
            and self.angle_deviation < LARGEST_DEVIATION
        )

    @property
    def tilt_phrase(self) -> str:
        """The base tilt by the logs, as a phrase."""
        return (
            f"the base is tilted by {np.degrees(self.angle):.3g} ± "
            f"{np.degrees(self.angle_half_width):.2g} deg from the file's direction"
        )

    @property
    def wrong_mounting(self) -> str:
        """Message on a file whose base is mounted otherwise, "" where it is not.

        Errors of the friction model may look like a turned gravity while joints hardly move; so
        the file's direction must be clearly worse.
        """
        clear = self.gain > CLEAR_GAIN or self.strain > CLEAR_STRAIN
        if not self.differs_from_file or not clear or self.angle <= LARGEST_TILT:
            return ""
        return (
            f"the torque is that of a base {in_words(self.logs)}, where the robot file has it "
            f"{in_words(self.file)}: gravity is {np.degrees(self.angle):.3g} ± "
            f"{np.degrees(self.angle_half_width):.2g} deg from there; say {option_for(self.logs)}"
        )


@dataclass(frozen=True, eq=False)
class _Search:
    """Data of the search.

    Attributes:
        of: Squares with gravity free.
        free: The free directions of the parameters.
        weights: What each joint's squares count, (n,).
    """

    of: GravitySquares
    free: FreeDirections
    weights: Floats

    @cached_property
    def parts(self) -> Floats:
        """Weighted squares of each part over all rows, (parts, c, c)."""
        return np.tensordot(self.weights, self.of.squares, axes=(0, 1))

    @cached_property
    def whole(self) -> Floats:
        """Weighted squares of all parts, (c, c)."""
        return np.tensordot(self.weights, self.of.whole, axes=(0, 0))

    @cached_property
    def _columns(self) -> Floats:
        """Columns of z, and τ - Y φ₀ that they explain, in those of [Y | τ], (p + 1, f + 1)."""
        both = np.column_stack([self.free.map, -self.free.start])
        target = np.append(np.zeros(self.free.count), 1.0)
        return np.vstack([both, target])

    def fit(self, S: Floats, g: Floats, weight: float = WEIGHT) -> tuple[Floats, float]:
        """Coordinates z of a fit to squares (c, c) for one gravity, and its cost."""
        f = self.free.count
        D = self._map(g)
        square = D.T @ S @ D
        A, b = square[:f, :f], square[:f, -1]
        z = np.asarray(np.linalg.solve(A + weight * np.eye(f), b), dtype=np.float64)
        return z, float(square[-1, -1] - b @ z)

    def _map(self, g: Floats) -> Floats:
        """Columns of z and of τ - Y φ₀ in those of Z, (c, f + 1)."""
        return self.of.map_columns(self._columns, g)

    def left(self, z: Floats, g: Floats) -> Floats:
        """τ - Y(g) φ in the columns of Z, (c,)."""
        return self._map(g) @ np.append(-z, 1.0)

    def descend(self, S: Floats, z: Floats, g: Floats, steps: int) -> TwoArrays:
        """z and gravity after steps of Gauss and Newton on both."""
        for _ in range(steps):
            H, slope, across = self._normal(S, z, g)
            step = np.linalg.solve(H, -slope)
            turn = np.clip(step[-2:], -LARGEST_STEP, LARGEST_STEP)
            z = z + step[:-2]
            g = _turn(g, across @ turn)
            if np.abs(turn).max() < SAME:
                break
        z, _ = self.fit(S, g)
        return z, g

    def _normal(self, S: Floats, z: Floats, g: Floats) -> tuple[Floats, Floats, Floats]:
        """Normal matrix and slope for z and two angles, and the directions (3, 2) of these."""
        size = float(np.linalg.norm(g))
        across = np.linalg.svd(g[None, :])[2][1:].T  # two unit vectors across g, (3, 2)
        phi = self.free.parameters(z)
        by_angle = self.of.by_gravity(phi) @ (size * across)
        D = np.column_stack([-self._map(g)[:, :-1], -by_angle])
        off = across.T @ (g - self.of.gravity) / size
        from_prior = np.append(z, off)
        DS = D.T @ S
        H = DS @ D + WEIGHT * np.eye(len(from_prior))
        return H, DS @ self.left(z, g) + WEIGHT * from_prior, across

    def share(self, S: Floats, z: Floats, g: Floats) -> float:
        """Least share of the two angles that squares determine."""
        H, _, _ = self._normal(S, z, g)
        of_prior = WEIGHT * np.linalg.inv(H)[-2:, -2:]
        return float(1 - np.linalg.eigvalsh(of_prior)[-1])


def _turn(g: Floats, turn: Floats) -> Floats:
    """A direction moved across itself, its size kept."""
    size = np.linalg.norm(g)
    moved = g / size + turn
    return size * moved / np.linalg.norm(moved)


@one_blas_thread()
def estimate_gravity_direction(experiment: IdentificationData) -> GravityDirection | None:
    """The direction of gravity by the logs; None without gravity, or where no log shows it."""
    g = np.array(experiment.prior.description.gravity)
    if not g.any():
        return None
    found = compute_gravity_squares(experiment)
    if not found.count.sum(axis=0).all() or not found.whole[:, -1, -1].all():
        return None
    try:
        search, start = _begin_search(experiment, found)
    except (ArmtwinError, np.linalg.LinAlgError):  # no direction explains currents
        return None
    whole = search.whole
    z, _ = search.fit(whole, start)
    z, logs = search.descend(whole, z, start, STEPS)
    return _evaluate_direction(search, z, logs)


def _begin_search(experiment: IdentificationData, found: GravitySquares) -> tuple[_Search, Floats]:
    """The weighted data of the search, and the likely direction to start from."""
    free = experiment.free
    tried: list[TwoArrays] = []
    for g in _likely(found.gravity):
        gains = _first_gains(experiment, found, g)
        if gains is not None:
            tried.append((g, gains))
    if not tried:
        raise ArmtwinError("no direction of gravity explains the logged torque")
    noise = _noise(found, free, tried)
    costs = []
    for g, gains in tried:
        search = _weight_search(found, free, gains, noise)
        costs.append(search.fit(search.whole, g)[1])
    best, gains = tried[np.argmin(costs)]
    if experiment.needs_gains:
        own = np.ones(len(gains), dtype=bool)
        gains = estimate_drive_gains(found.factors(best), free, GAIN_WEIGHT, gains, own)
    return _weight_search(found, free, gains, noise), best


def _likely(g: Floats) -> Iterator[Floats]:
    """The file's gravity, and the same along each other axis of the base."""
    yield g
    size = np.linalg.norm(g)
    for axis in np.vstack([np.eye(3), -np.eye(3)]):
        along = size * axis
        if not np.allclose(along, g):
            yield along


def _first_gains(experiment: IdentificationData, found: GravitySquares, g: Floats) -> Floats | None:
    """Factors of the logged torque for a gravity, 1 where it is known; None where none fits."""
    if not experiment.needs_gains:
        return np.ones(experiment.prior.n)
    try:
        return estimate_first_gains(found.factors(g), experiment.free.start, experiment.friction)[0]
    except ArmtwinError:
        return None


def _noise(found: GravitySquares, free: FreeDirections, tried: list[TwoArrays]) -> Floats:
    """Residual of each joint as logged in the best of hardly regularised fits, (n,)."""
    power = found.whole[:, -1, -1]
    count = found.count.sum(axis=0)
    least = np.full(len(power), np.inf)
    for g, gains in tried:
        search = _weight_search(found, free, gains, np.sqrt(power / count))
        z, _ = search.fit(search.whole, g, HARDLY)
        residual = search.left(z, g)
        squares = search.of.whole @ residual @ residual / gains**2
        least = np.minimum(least, squares)
    return np.sqrt(np.maximum(least, LEAST_NOISE**2 * power) / count)


def _weight_search(
    found: GravitySquares, free: FreeDirections, gains: Floats, noise: Floats
) -> _Search:
    """The search with each joint's logged torque times its gain, and over its residual."""
    scaled = found.scaled(gains)
    weights = 1 / ((gains * noise) ** 2 * found.rows)
    return _Search(scaled, free, weights)


def _evaluate_direction(search: _Search, z: Floats, logs: Floats) -> GravityDirection:
    """Deviations and gain of a direction, by leaving out each part in turn."""
    file = search.of.gravity
    whole = search.whole
    size = float(np.linalg.norm(file))
    turns, gains = [], []
    for part, own in zip(search.parts, search.of.squares, strict=True):
        rest = whole - part
        z_k, g_k = search.descend(rest, z, logs, STEPS_AGAIN)
        turns.append((g_k - logs) / size)
        with_it = _sum_residual_squares(search.left(z_k, g_k), own)
        z_file, _ = search.fit(rest, file)
        without = _sum_residual_squares(search.left(z_file, file), own)
        gains.append(np.log(without / with_it).mean())
    count = len(gains)
    spread = jackknife(np.array(turns))
    return GravityDirection(
        file=vector(file),
        logs=vector(logs),
        deviation=vector(size * np.sqrt(np.diag(spread))),
        angle=angle_between(file, logs),
        angle_deviation=_along(spread, file, logs),
        share=search.share(whole, z, logs),
        gain=float(np.mean(gains)),
        gain_deviation=float(np.std(gains, ddof=1) / np.sqrt(count)),
        strain=_strain(search, whole, logs),
    )


def _strain(search: _Search, whole: Floats, logs: Floats) -> float:
    """Squares of the parameters' changes with the file's gravity over those with another."""
    z_file, _ = search.fit(whole, search.of.gravity)
    z_logs, _ = search.fit(whole, logs)
    before, after = float(z_file @ z_file), float(z_logs @ z_logs)
    return before / max(after, 1e-300)


def _along(spread: Floats, file: Floats, logs: Floats) -> float:
    """Standard deviation of the angle between two directions, by the spread (3, 3) of one [rad]."""
    normal = np.cross(file, logs)
    size = float(np.linalg.norm(normal))
    if size < 1e-6 * (file @ file):  # any direction leads away
        return float(np.sqrt(np.linalg.eigvalsh(spread)[-1]))
    towards = np.cross(normal / size, logs / np.linalg.norm(logs))
    return float(np.sqrt(towards @ spread @ towards))


def _sum_residual_squares(residual: Floats, squares: Floats) -> Floats:
    """Residual squares of each joint, (n,)."""
    found = squares @ residual @ residual
    return np.maximum(found, 1e-12 * squares[:, -1, -1] + 1e-300)

"""Covariance and 95 % intervals of the parameters of a least-squares fit, for every experiment.

    white:    σ² H⁻¹ / independent        H = JᵀJ + prior,   σ² = Σ e² / (rows - parameters)
    blocks:   Σ_k d_k d_kᵀ                d_k = H^(-1/2) (1 - M_k)^(-1/2) H^(-1/2) J_kᵀ e_k

J holds the slopes of the rows with the parameters, e the residual. A filter and an imperfect model
correlate neighbouring rows; blocks of rows are taken as independent. d_k is the jackknife's change
of the estimate without block k, M_k = H^(-1/2) J_kᵀ J_k H^(-1/2) its leverage: with the root of
1 - M_k the sum is right where rows are independent, however much a block alone determines.

A deviation is the larger of both, an interval the wider of both: Student's t with the rows' degrees
of freedom, or with those of the blocks that act on the parameter (Satterthwaite).

Ref: [Bell-McCaffrey 2002], [Efron 1982]

Least squares for every experiment: linear, separable, or of any residual.

    min over c, x  Σ_j ‖y_j(x) - A_j(x) c‖² / σ_j² + ‖(x - x₀) / s‖²

Coefficients c follow from the shape parameters x by linear least squares, so that x alone is
searched (variable projection, Kaufman's slopes). A channel counts by its own residual σ_j, iterated
until it settles. Without shapes it is a linear fit.

Ref: [Golub-Pereyra 2003], [Kaufman 1975]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armtwin.identification.fitting.factors import triangle
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.blas import one_blas_thread

BlockNumbers = NDArray[np.integer]
Choice = slice | Flags | NDArray[np.integer] | list[int]

CONFIDENCE = 0.95  # probability with which the interval of an estimated number covers it
SINGULAR = 1e-12  # of the largest singular value below which a direction is not identifiable
NOTHING = 1e-150  # singular value of slopes that are all zero, whose square is a number
ALONE = 1e-6  # share of a direction that the other blocks must determine
STEP = 1e-6  # relative, of the derivatives of a transformation


def student(freedom: ArrayLike, confidence: float = CONFIDENCE) -> Floats:
    """Half width of an interval in standard deviations, by Student's t."""
    from scipy.special import stdtrit

    return stdtrit(np.maximum(freedom, 1.0), 0.5 + 0.5 * confidence)


def independent_share(residual: Floats) -> float:
    """Share of independent rows among correlated ones (m,) or (m, n), mean of the channels.

    1 / (1 + 2 Σ ρ_k)        up to the first ρ_k below zero
    """
    channels = residual.reshape(len(residual), -1)
    m = len(channels)
    power = np.abs(np.fft.rfft(channels, 2 * m, axis=0)) ** 2
    correlation = np.fft.irfft(power, axis=0)[:m].T
    shares = []
    for rho in correlation:
        if not rho[0] > 0:
            shares.append(1.0)
            continue
        below = np.flatnonzero(rho < 0)
        end = int(below[0]) if len(below) else m
        shares.append(rho[0] / (rho[0] + 2 * rho[1:end].sum()))
    return float(np.mean(shares))


def even_blocks(lengths: Sequence[int], count: int) -> BlockNumbers:
    """Number of the block of each row, (m,); stretches of rows are cut into equal blocks."""
    numbers = []
    for k, length in enumerate(lengths):
        numbers.append(k * count + np.arange(length) * count // max(length, 1))
    return np.concatenate(numbers)


def jackknife(values: Floats) -> Floats:
    """Covariance (k, k) from the estimates with each part left out, (parts, k)."""
    count = len(values)
    if count < 2:
        return np.zeros((values.shape[1], values.shape[1]))
    apart = values - values.mean(axis=0)
    return (count - 1) / count * apart.T @ apart


@dataclass(frozen=True, eq=False)
class RowNoise:
    """How the rows of a fit err.

    Attributes:
        blocks: Number of the block of each row, (m,); None where rows err independently.
        independent: Share of the rows that are independent of each other; None estimates it from
            the autocorrelation of the residual.
        known: Degrees of freedom of the standard deviation that rows are over, where a smaller
            residual is chance; 0 where the residual itself gives the deviation.
    """

    blocks: BlockNumbers | None = None
    independent: float | None = 1.0
    known: float = 0.0


@dataclass(frozen=True, eq=False)
class ParameterEstimate:
    """Estimated parameters.

    Attributes:
        values: The parameters, (p,).
        covariance: Theirs, (p, p).
        reach: Covariance with half widths of 95 % intervals in place of deviations, (p, p).
        freedom: Degrees of freedom of the intervals, (p,).
        residual: Residual of the rows, zero where a row does not count, (m, n).
        sigma: Root mean square residual of each channel, (n,).
        condition: Condition number of the slopes, each scaled to one.
    """

    values: Floats
    covariance: Floats
    reach: Floats
    freedom: Floats
    residual: Floats
    sigma: Floats
    condition: float

    @property
    def std(self) -> Floats:
        """Standard deviations, (p,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def half_width(self) -> Floats:
        """Half widths of 95 % intervals, (p,)."""
        return np.sqrt(np.diag(self.reach))

    @property
    def low(self) -> Floats:
        """Lower ends of 95 % intervals, (p,)."""
        return self.values - self.half_width

    @property
    def high(self) -> Floats:
        """Upper ends of 95 % intervals, (p,)."""
        return self.values + self.half_width

    @property
    def least(self) -> Floats:
        """Values that the parameters exceed with 95 % confidence, (p,); one-sided."""
        return self.values - self.half_width_at(2 * CONFIDENCE - 1)

    def half_width_at(self, confidence: float) -> Floats:
        """Half widths of intervals of another confidence level, (p,)."""
        ratio = student(self.freedom, confidence) / student(self.freedom)
        return ratio * self.half_width

    def only(self, which: Choice) -> ParameterEstimate:
        """Some of the parameters, by their numbers, flags or a slice."""
        chosen = np.arange(len(self.values))[which]
        square = np.ix_(chosen, chosen)
        return replace(
            self,
            values=self.values[chosen],
            covariance=self.covariance[square],
            reach=self.reach[square],
            freedom=self.freedom[chosen],
        )

    def transform(
        self, function: Callable[[Floats], Floats], sizes: ArrayLike | None = None
    ) -> ParameterEstimate:
        """Functions of the parameters, with covariances to first order.

        Args:
            function: From the parameters (p,) to others (k,).
            sizes: Sizes of the parameters, of which steps are taken, (p,); by default their values.
        """
        values = function(self.values)
        steps = STEP * np.abs(np.asarray(self.values if sizes is None else sizes, dtype=float))
        slope = np.empty((len(values), len(steps)))
        for k, step in enumerate(np.where(steps > 0, steps, STEP).tolist()):
            moved = self.values.copy()
            moved[k] += step
            slope[:, k] = (function(moved) - values) / step
        share = slope**2 * np.diag(self.reach)
        freedom = share.sum(axis=1) / np.maximum((share / self.freedom).sum(axis=1), 1e-300)
        return replace(
            self,
            values=values,
            covariance=slope @ self.covariance @ slope.T,
            reach=slope @ self.reach @ slope.T,
            freedom=freedom,
        )

    def exponential(self) -> ParameterEstimate:
        """The numbers whose logarithms these are."""
        return self.transform(np.exp, 1.0 + 0 * self.values)


def assess(
    values: Floats, slopes: Floats, residual: Floats, noise: RowNoise, prior: ArrayLike = 0.0
) -> ParameterEstimate:
    """The estimate of parameters that least squares found.

    Args:
        values: The parameters, (p,).
        slopes: J over the deviation of each channel, (m, n, p); zero where a row does not count.
        residual: e likewise, (m, n).
        noise: How the rows err.
        prior: One over the square of the prior's standard deviation, (p,); 0 for none.
    """
    m, n, p = slopes.shape
    J, e = slopes.reshape(m * n, p), residual.ravel()
    size = np.sqrt((J**2).sum(axis=0) + prior)
    size = np.where(size > 0, size, 1.0)
    known = np.diag(np.broadcast_to(np.sqrt(prior), (p,)) / size)
    _, singular, Vt = np.linalg.svd(np.linalg.qr(np.vstack([J / size, known]))[1])
    least = max(SINGULAR * float(singular.max(initial=0.0)), NOTHING)
    root = (Vt / np.maximum(singular, least)[:, None]).T / size[:, None]
    count = int((J != 0).any(axis=1).sum()) if p else m * n
    share = independent_share(residual) if noise.independent is None else noise.independent
    variance = float(e @ e) / max(count - p, 1)
    if noise.known:
        variance = max(variance, 1.0)
    white = variance / share * (root @ root.T)
    rows_free = np.full(p, max(noise.known or share * count - p, 1.0))
    clustered, freedom = white, rows_free
    if noise.blocks is not None:
        clustered, freedom = _cluster(J @ root, e, np.repeat(noise.blocks, n), root)
    deviations = np.sqrt(np.maximum(np.diag(white), 1e-300)), np.sqrt(np.diag(clustered))
    widths = student(rows_free) * deviations[0], student(freedom) * deviations[1]
    return ParameterEstimate(
        values=values,
        covariance=_scaled(white, np.maximum(*deviations) / deviations[0]),
        reach=_scaled(white, np.maximum(*widths) / deviations[0]),
        freedom=np.where(widths[1] > widths[0], freedom, rows_free),
        residual=residual,
        sigma=np.sqrt((residual**2).sum(axis=0) / np.maximum((residual != 0).sum(axis=0), 1)),
        condition=float(singular[0] / max(singular[-1], NOTHING)) if p else 1.0,
    )


def _scaled(covariance: Floats, factor: Floats) -> Floats:
    return covariance * np.outer(factor, factor)


def _cluster(W: Floats, e: Floats, blocks: BlockNumbers, root: Floats) -> TwoArrays:
    """Covariance by blocks, (p, p), and the degrees of freedom of each parameter, (p,).

    Args:
        W: J H^(-1/2), (rows, p).
        e: Residual, (rows,).
        blocks: Number of the block of each row, (rows,).
        root: H^(-1/2), (p, p).
    """
    p = W.shape[1]
    covariance, own, pulls = np.zeros((p, p)), [], []
    for number in np.unique(blocks):
        here = blocks == number
        part = W[here]
        leverage, V = np.linalg.eigh(part.T @ part)
        others = 1 - leverage
        correction = np.where(others > ALONE, 1 / np.sqrt(np.maximum(others, ALONE)), 0.0)
        d = root @ (V @ (correction * (V.T @ (part.T @ e[here]))))
        covariance += np.outer(d, d)
        B = (correction[:, None] * V.T) @ root.T
        pull = leverage[:, None] * B
        own.append((B * pull).sum(axis=0))
        pulls.append(V @ pull)
    C = np.array(pulls)  # (blocks, p, parameters)
    gram = -np.einsum("kia,lia->akl", C, C)
    number = np.arange(len(C))
    gram[:, number, number] += np.array(own).T
    trace = np.einsum("akk->a", gram)
    squares = np.maximum((gram**2).sum(axis=(1, 2)), 1e-300)
    return covariance, np.clip(trace**2 / squares, 1.0, max(len(C) - 1, 1))


ROUNDS = 8  # of the deviations of the channels
SETTLED = 1e-6  # relative change of these that ends the rounds
CLOSE = 1e-8  # relative change at which a search ends
RANK = 1e-10  # of the largest singular value below which a column adds nothing
NONE = 1e-150  # residual of a channel without rows, whose square is a number
LEAST = 1e-9  # of the target that a residual is taken to have at least

Model = Callable[[Floats], TwoArrays]


class LinearSolution(NamedTuple):
    """Coefficients at given shapes.

    Attributes:
        values: The coefficients, (p,).
        residual: Residual of the rows, (m,).
        A: Their columns, (m, p).
        free: LinearSolution that are not at their bound, (p,).
    """

    values: Floats
    residual: Floats
    A: Floats
    free: Flags


def solve(A: Floats, y: Floats, positive: bool = False) -> LinearSolution:
    """Coefficients of columns (m, p) that explain a target (m,), none below zero if positive."""
    p = A.shape[1]
    if not p:
        return LinearSolution(np.zeros(0), y, A, np.zeros(0, dtype=bool))
    size = _sizes(A)
    if positive:
        from scipy.optimize import nnls

        values = nnls(A / size, y)[0] / size
        return LinearSolution(values, y - A @ values, A, values > 0)
    small = triangle(np.column_stack([A / size, y]))
    values = np.linalg.lstsq(small[:, :p], small[:, p], rcond=RANK)[0] / size
    return LinearSolution(values, y - A @ values, A, np.ones(p, dtype=bool))


def solve_normal(A: Floats, y: Floats) -> Floats:
    """Coefficients (p, k) of columns (m, p) by their normal equations: half of the digits."""
    size = _sizes(A)
    unit = A / size
    inverse = np.linalg.pinv(unit.T @ unit, rcond=RANK, hermitian=True)
    return inverse @ (unit.T @ y) / size[:, None]


def _sizes(A: Floats) -> Floats:
    """Norms of columns (m, p), 1 of one that is zero throughout, (p,)."""
    size = np.linalg.norm(A, axis=0)
    return np.where(size > 0, size, 1.0)


@dataclass(frozen=True, eq=False)
class ShapeParameters:
    """The shape parameters of a separable fit.

    Attributes:
        start: Where the search begins, (s,).
        low: Lower bounds, (s,).
        high: Upper bounds, (s,).
        prior: One over the square of the standard deviation of a prior at the start, (s,).
        close: Relative change at which the search ends.
        step: Of a shape, for slopes by differences.
        outlying: Residual beyond which a row counts less (soft L1 loss); None for squares.
        slopes: Slopes of A c - y with the shapes, (m, s) or (m, n, s), at shapes and coefficients;
            by default by differences.
    """

    start: Floats
    low: ArrayLike = -np.inf
    high: ArrayLike = np.inf
    prior: ArrayLike = 0.0
    close: float = CLOSE
    step: float = STEP
    outlying: float | None = None
    slopes: Callable[[Floats, Floats], Floats] | None = None


def search(
    model: Model, shapes: ShapeParameters, begin: Floats | None = None, *, positive: bool = False
) -> tuple[Floats, LinearSolution]:
    """Shapes of the least residual nearby, and the coefficients there.

    Args:
        model: Columns (m, p) and target (m,) at given shapes.
        shapes: The shapes.
        begin: Where the search begins; by default at their start, (s,).
        positive: Whether no coefficient may be below zero.
    """
    from scipy.optimize import least_squares

    start = shapes.start
    if not len(start):
        return start, solve(*model(start), positive)
    weight = np.sqrt(np.broadcast_to(shapes.prior, start.shape))
    prior = np.diag(weight)[weight > 0]
    last: dict[bytes, LinearSolution] = {}  # slopes are asked for where the residual was

    def at(x: Floats) -> LinearSolution:
        key = x.tobytes()
        if key not in last:
            last.clear()
            last[key] = solve(*model(x), positive)
        return last[key]

    def residual(x: Floats) -> Floats:
        return np.concatenate([at(x).residual, prior @ (x - start)])

    def slopes(x: Floats) -> Floats:
        here = at(x)
        bends = bend(model, shapes, x, here)
        followed = here.A[:, here.free] @ solve_normal(here.A[:, here.free], bends)
        return np.vstack([followed - bends, prior])

    found = least_squares(
        residual,
        start if begin is None else begin,
        jac=slopes,
        bounds=(shapes.low, shapes.high),
        loss="linear" if shapes.outlying is None else "soft_l1",
        f_scale=shapes.outlying or 1.0,
        xtol=shapes.close,
        ftol=shapes.close,
        gtol=1e-14,
    )
    return found.x, at(found.x)


def bend(model: Model, shapes: ShapeParameters, x: Floats, here: LinearSolution) -> Floats:
    """Slopes of A c - y with the shapes, (m, s)."""
    if shapes.slopes is not None:
        return shapes.slopes(x, here.values)
    columns = []
    for k in range(len(x)):
        moved = x.copy()
        moved[k] += shapes.step
        A, y = model(moved)
        columns.append((here.residual - (y - A @ here.values)) / shapes.step)
    return np.stack(columns, axis=1)


def fit(
    columns: Floats, target: Floats, noise: RowNoise | None = None, used: Flags | None = None
) -> ParameterEstimate:
    """Fit coefficients to rows of one or several channels.

    Args:
        columns: Contribution of each coefficient, (m, n, p), or (m, p) of one channel.
        target: What they explain, (m, n) or (m,).
        noise: How the rows err.
        used: Rows that count, (m, n).
    """
    return fit_separable(lambda _: (columns, target), ShapeParameters(np.zeros(0)), noise, used)


def mean_of(values: Floats, independent: float | None = 1.0) -> ParameterEstimate:
    """Mean of values (m,), of which a share is independent."""
    return fit(np.ones((len(values), 1)), values, RowNoise(independent=independent))


@one_blas_thread()
def fit_separable(
    model: Model,
    shapes: ShapeParameters,
    noise: RowNoise | None = None,
    used: Flags | None = None,
) -> ParameterEstimate:
    """Fit coefficients and shapes, in this order, to rows of one or several channels.

    Args:
        model: Columns (m, n, p) and target (m, n), or (m, p) and (m,), at given shapes.
        shapes: The shapes.
        noise: How the rows err.
        used: Rows that count, (m, n).
    """
    noise = RowNoise() if noise is None else noise
    first = model(shapes.start)[1]
    m, n = first.shape if first.ndim == 2 else (len(first), 1)
    counts = np.ones((m, n), dtype=bool) if used is None else used
    rows = np.maximum(counts.sum(axis=0), 1)
    least = LEAST * np.sqrt((np.where(counts, first.reshape(m, n), 0.0) ** 2).sum(axis=0) / rows)
    weight = counts.astype(np.float64)

    def weighted(shape: Floats) -> TwoArrays:
        A, y = model(shape)
        flat = A.reshape(m * n, -1) * weight.reshape(-1, 1)
        return flat, y.ravel() * weight.ravel()

    if shapes.slopes is not None:
        unweighted = shapes.slopes

        def slopes(shape: Floats, coefficients: Floats) -> Floats:
            return unweighted(shape, coefficients).reshape(m * n, -1) * weight.reshape(-1, 1)

        shapes = replace(shapes, slopes=slopes)
    x, found = search(weighted, shapes)
    sigma = np.ones(n)
    for _ in range(0 if n == 1 or noise.known else ROUNDS):
        former, sigma = sigma, _deviations(found.residual, weight, rows, least)
        if (np.abs(sigma - former) <= SETTLED * sigma).all():
            break
        weight = counts / sigma
        x, found = search(weighted, shapes, x)
    J = found.A
    if len(x):
        J = np.column_stack([J, bend(weighted, shapes, x, found)])
    prior = np.concatenate([0 * found.values, np.broadcast_to(shapes.prior, x.shape)])
    scale = np.where(counts, 1 / np.maximum(weight, NONE), 0.0)
    estimate = assess(
        np.concatenate([found.values, x]),
        J.reshape(m, n, -1),
        found.residual.reshape(m, n),
        noise,
        prior,
    )
    residual = estimate.residual * scale
    return replace(estimate, residual=residual, sigma=np.sqrt((residual**2).sum(axis=0) / rows))


def _deviations(residual: Floats, weight: Floats, rows: Floats, least: Floats) -> Floats:
    """Root mean square residual of each channel from weighted rows, (n,)."""
    own = residual.reshape(weight.shape) / np.where(weight > 0, weight, 1.0)
    return np.sqrt((own**2).sum(axis=0) / rows) + least + NONE


def block_diagonal(blocks: Sequence[Floats]) -> Floats:
    """Columns of parts of the rows, (m_k, p_k) each, that no other part has."""
    from scipy.linalg import block_diag

    return block_diag(*blocks)

"""Least squares for every experiment: linear, separable, or of any residual.

    min over c, x  Σ_j ‖y_j(x) - A_j(x) c‖² / σ_j² + ‖(x - x₀) / s‖²

Coefficients c follow from the shape parameters x by linear least squares, so that x alone is
searched (variable projection, Kaufman's slopes). A channel counts by its own residual σ_j, iterated
until it settles. Without shapes it is a linear fit.

Ref: [Golub-Pereyra 2003], [Kaufman 1975]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armtwin.identification.fitting.estimate import ParameterEstimate, RowNoise, assess
from armtwin.identification.fitting.factors import triangle
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.maths.blas import one_blas_thread

ROUNDS = 8  # of the deviations of the channels
SETTLED = 1e-6  # relative change of these that ends the rounds
CLOSE = 1e-8  # relative change at which a search ends
STEP = 1e-6  # of a shape parameter, for slopes
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

"""Ten parameters of a load from its rows, with deviations for correlated residuals.

Weighted least squares without a prior; the deviations are jackknife deviations over parts of the
run, and at least those of white residuals. An interval is the wider of both, each by its own number
of degrees of freedom: ten parts, or all rows. Where residuals are white both estimate one
deviation, and the wider interval has a coverage of 97 %.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.factors import merge_factors
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.fitting.least_squares import covariance, estimate_scales, fit
from armtwin.identification.fitting.regularisation import merge_others
from armtwin.identification.fitting.scatter import jackknife
from armtwin.identification.payload.difference import PARTS, SIZES, LoadRows
from armtwin.maths.batch import Floats
from armtwin.mechanics.inertia import about_centre, inertia_matrix, pseudo_inertia, why_unphysical

STEP = 1e-6  # relative, of the derivatives of centre and inertia
LEAST_MASS = 1e-3  # [kg]
LEAST_MOMENT = 1e-6  # eigenvalue of the pseudo-inertia that a real body has at least
BLIND = 1e-6  # of the largest singular value below which a direction is not identifiable


@dataclass(frozen=True, eq=False)
class LoadFit:
    """Ten parameters of a load.

    Attributes:
        parameters: m, mx, my, mz, Jxx, Jyy, Jzz, Jxy, Jxz, Jyz in the flange's frame, (10,).
        covariance: Theirs, (10, 10).
        reach: Covariance with half widths of intervals in place of deviations, (10, 10).
        sigma: Residual of each joint, (n,).
        explained: Share of the target's power that they explain, (n,).
    """

    parameters: Floats
    covariance: Floats
    reach: Floats
    sigma: Floats
    explained: Floats

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.parameters[0])

    def seen(self) -> tuple[Floats, Floats, Floats]:
        """Mass, centre (3) and inertia about the centre (6), (10,).

        With their deviations and half the widths of their intervals, (10,) each.
        """
        value = _centre_and_inertia(self.parameters)
        slope = np.empty((10, 10))
        for k, size in enumerate(STEP * SIZES):
            moved = self.parameters.copy()
            moved[k] += size
            slope[:, k] = (_centre_and_inertia(moved) - value) / size
        std = np.sqrt(np.diag(slope @ self.covariance @ slope.T))
        return value, std, np.sqrt(np.diag(slope @ self.reach @ slope.T))


def _centre_and_inertia(ten: Floats) -> Floats:
    J = about_centre(ten) if ten[0] > LEAST_MASS else inertia_matrix(ten)
    mass = max(ten[0], LEAST_MASS)
    six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return np.array([ten[0], *(ten[1:4] / mass), *six])


def load_free() -> FreeDirections:
    """The ten parameters from zero, without regularisation."""
    return FreeDirections(np.zeros(10), SIZES, np.eye(10))


def fit_load(rows: LoadRows) -> LoadFit:
    """Fit a load to rows by least squares."""
    target = rows.target - rows.arm
    parts = rows.parts(rows.Y, target)
    whole = merge_factors(parts)
    free = load_free()
    if not whole.count.any():
        raise ArmtwinError("no row of the runs can be used; let the joints move faster")
    sigma = estimate_scales(whole, free)
    found = fit(whole, free, 0.0, sigma)
    singular = np.linalg.svd(found.R, compute_uv=False)
    if singular[-1] < BLIND * singular[0]:
        raise ArmtwinError(
            "not all ten parameters of a payload are identifiable from this motion: let the wrist "
            "turn about several axes, fast enough for inertias to show"
        )
    phi = free.parameters(found.z)
    white = covariance(found, free, rows.independent)
    left_out = []
    for rest in merge_others(parts):
        left_out.append(free.parameters(fit(rest, free, 0.0, sigma).z))
    jack = jackknife(np.array(left_out))
    rows_free = rows.independent * float(whole.count.sum()) - len(SIZES)
    power = whole.target_squares()
    return LoadFit(
        parameters=phi,
        covariance=wider(jack, white),
        reach=wider(quantile(PARTS - 1) ** 2 * jack, quantile(rows_free) ** 2 * white),
        sigma=found.sigma,
        explained=1 - whole.squares(phi) / np.maximum(power, 1e-300),
    )


def wider(jack: Floats, white: Floats) -> Floats:
    """White covariance with the deviations of another one where these are larger."""
    larger = np.maximum(np.diag(jack), np.diag(white)) / np.diag(white)
    factor = np.sqrt(larger)
    return np.asarray(white * np.outer(factor, factor))


def quantile(freedom: float, share: float = 0.95) -> float:
    """Half width of an interval in standard deviations, by Student's t."""
    from scipy.stats import t

    return float(t.ppf(0.5 + share / 2, max(freedom, 1.0)))


def nearest_body(ten: Floats) -> Floats:
    """Ten parameters of the nearest physically consistent body, (10,).

    The pseudo-inertia without its negative eigenvalues.
    """
    if not why_unphysical(ten) and ten[0] > 0:
        return ten
    values, vectors = np.linalg.eigh(pseudo_inertia(ten))
    P = (vectors * np.maximum(values, LEAST_MOMENT)) @ vectors.T
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    diagonal = trace - np.diag(P)[:3]
    return np.array([P[3, 3], *P[:3, 3], *diagonal, -P[0, 1], -P[0, 2], -P[1, 2]])

"""Ten parameters of a load from its rows: least squares without a prior."""

from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.estimate import ParameterEstimate
from armtwin.identification.fitting.separable import fit
from armtwin.identification.payload.difference import SIZES, LoadRows
from armtwin.maths.batch import Flags, Floats
from armtwin.mechanics.inertia import about_centre, inertia_matrix, pseudo_inertia, why_unphysical

LEAST_MASS = 1e-3  # [kg]
LEAST_MOMENT = 1e-6  # eigenvalue of the pseudo-inertia that a real body has at least
BLIND = 1e6  # condition number from which a direction is not identifiable


@dataclass(frozen=True, eq=False)
class LoadFit:
    """Ten parameters of a load.

    Attributes:
        ten: m, mx, my, mz, Jxx, Jyy, Jzz, Jxy, Jxz, Jyz in the flange's frame.
        explained: Share of the target's power that they explain, (n,).
    """

    ten: ParameterEstimate
    explained: Floats

    @property
    def parameters(self) -> Floats:
        """The ten parameters, (10,)."""
        return self.ten.values

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.parameters[0])

    def seen(self) -> ParameterEstimate:
        """Mass, centre (3) and inertia about the centre (6)."""
        return self.ten.transform(_centre_and_inertia, SIZES)


def _centre_and_inertia(ten: Floats) -> Floats:
    J = about_centre(ten) if ten[0] > LEAST_MASS else inertia_matrix(ten)
    mass = max(ten[0], LEAST_MASS)
    six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return np.array([ten[0], *(ten[1:4] / mass), *six])


def fit_load(rows: LoadRows, mass: float | None = None) -> LoadFit:
    """Fit a load to rows by least squares, with its mass where that is known [kg]."""
    target = rows.target - rows.arm
    if not rows.used.any():
        raise ArmtwinError("no row of the runs can be used; let the joints move faster")
    if mass is None:
        ten = fit(rows.Y, target, rows.noise, rows.used)
    else:
        others = target - mass * rows.Y[:, :, 0]
        ten = put_mass_first(fit(rows.Y[:, :, 1:], others, rows.noise, rows.used), mass)
    if ten.condition > BLIND:
        raise ArmtwinError(
            "not all ten parameters of a payload are identifiable from this motion: let the wrist "
            "turn about several axes, fast enough for inertias to show"
        )
    return LoadFit(ten, share_explained(ten.residual, target, rows.used))


def check_mass(mass: float) -> None:
    """Refuse a payload's mass that is none [kg]."""
    if not 0 < mass < np.inf:
        raise ArmtwinError(f"mass must be the payload's mass above 0 kg, got {mass!r}")


def put_mass_first(nine: ParameterEstimate, mass: float) -> ParameterEstimate:
    """Ten parameters of a load whose mass is known [kg], from the estimate of the other nine."""
    return replace(
        nine,
        values=np.concatenate([[mass], nine.values]),
        covariance=np.pad(nine.covariance, (1, 0)),
        reach=np.pad(nine.reach, (1, 0)),
        freedom=np.pad(nine.freedom, (1, 0), constant_values=1.0),
    )


def share_explained(residual: Floats, target: Floats, used: Flags) -> Floats:
    """Share of the power of a target (m, n) that a residual does not hold, (n,)."""
    power = (used * target**2).sum(axis=0)
    return 1 - (residual**2).sum(axis=0) / np.maximum(power, 1e-300)


def nearest_body(ten: Floats) -> Floats:
    """Ten parameters of a near physically consistent body of the same mass, (10,).

    The pseudo-inertia without its negative eigenvalues.
    """
    if not why_unphysical(ten) and ten[0] > 0:
        return ten
    values, vectors = np.linalg.eigh(pseudo_inertia(ten))
    P = (vectors * np.maximum(values, LEAST_MOMENT)) @ vectors.T
    P *= max(ten[0], LEAST_MASS) / P[3, 3]
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    diagonal = trace - np.diag(P)[:3]
    return np.array([P[3, 3], *P[:3, 3], *diagonal, -P[0, 1], -P[0, 2], -P[1, 2]])

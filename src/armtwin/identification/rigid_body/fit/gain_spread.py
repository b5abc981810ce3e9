"""Covariance that drive gains identified with the parameters add to these.

    Cov = Cov at known gains + D Σ Dᵀ        D = ∂φ/∂k, Σ the jackknife covariance of the gains

A torque is its current times a gain, and a regularised fit is linear in its torque: D_j is the
change of the parameters when the gain of joint j is doubled, over that gain. Joints share bodies,
so that the errors of gains are correlated with those of the masses identified with them.
"""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.least_squares import fit
from armtwin.identification.fitting.regularisation import RegularisedFit
from armtwin.identification.fitting.scatter import jackknife
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.maths.batch import Floats


def gain_spread(
    experiment: IdentificationData, regularised: RegularisedFit, gains: Floats
) -> Floats:
    """Covariance of the parameters by that of their gains, (p, p)."""
    apart = _gains_of_others(experiment, regularised, gains)
    slope = _slopes(regularised, len(gains)) / gains
    return np.asarray(slope @ jackknife(apart) @ slope.T)


def _gains_of_others(
    experiment: IdentificationData, regularised: RegularisedFit, gains: Floats
) -> Floats:
    """Gains with each part left out, (parts, n) [N m/A], where they are identifiable."""
    found = []
    for rest in regularised.others:
        try:
            own = experiment.gains(rest.scaled(1 / gains))
        except ArmtwinError:
            continue
        assert own is not None
        found.append(own)
    return np.array(found).reshape(-1, len(gains))


def _slopes(regularised: RegularisedFit, joints: int) -> Floats:
    """Change of the parameters when each joint's gain is doubled, (p, n)."""
    start = regularised.parameters
    columns = []
    for j in range(joints):
        doubled = regularised.whole.scaled(1.0 + np.eye(joints)[j])
        there = fit(doubled, regularised.free, regularised.draw.weight, regularised.sigma)
        columns.append(regularised.free.parameters(there.z) - start)
    return np.stack(columns, axis=1)

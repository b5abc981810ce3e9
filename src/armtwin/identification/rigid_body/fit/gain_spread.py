"""What drive gains that were told with the parameters add to the covariance of these.

    Cov = Cov at known gains + D Σ Dᵀ        D = ∂φ/∂k, Σ the jackknife covariance of the gains

A torque is its current times a gain, and a drawn fit is linear in its torque: D_j is how far the
parameters go when the gain of joint j is doubled, over that gain. Joints share bodies, so that the
gains of parts of a log err together with the masses that they are told with.
"""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.draw import DrawnFit
from armtwin.identification.fitting.least_squares import fit
from armtwin.identification.fitting.scatter import jackknife
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.maths.batch import Floats


def gain_spread(experiment: IdentificationData, drawn: DrawnFit, gains: Floats) -> Floats:
    """Covariance of the parameters by that of their gains, (p, p)."""
    apart = _gains_of_others(experiment, drawn, gains)
    slope = _slopes(drawn, len(gains)) / gains
    return np.asarray(slope @ jackknife(apart) @ slope.T)


def _gains_of_others(experiment: IdentificationData, drawn: DrawnFit, gains: Floats) -> Floats:
    """Gains with each part left out, (parts, n) [N m/A]; parts without which none are told miss."""
    found = []
    for rest in drawn.others:
        try:
            own = experiment.gains(rest.scaled(1 / gains))
        except ArmtwinError:
            continue
        assert own is not None
        found.append(own)
    return np.array(found).reshape(-1, len(gains))


def _slopes(drawn: DrawnFit, joints: int) -> Floats:
    """How far the parameters go when each joint's gain is doubled, (p, n)."""
    start = drawn.parameters
    columns = []
    for j in range(joints):
        doubled = drawn.whole.scaled(1.0 + np.eye(joints)[j])
        there = fit(doubled, drawn.free, drawn.draw.weight, drawn.sigma)
        columns.append(drawn.free.parameters(there.z) - start)
    return np.stack(columns, axis=1)

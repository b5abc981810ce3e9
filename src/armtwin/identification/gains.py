"""Drive gains: newton metres per ampere at the joint, where only currents were logged and no file knows them.

    min Σ_j ‖i_j - Y_j φ / k_j‖² / (σ_j² rows) + λ ‖z‖² + μ Σ_j (ln k_j - ln k₀_j)² / spread²    over φ and k

k₀ is the gain with which the prior's rigid torque explains a joint's current, where it can; so the scale of all gains
is that of the prior's masses. Joints share the bodies behind them, which ties the gains of joints that carry little to
those of the others; the rest is drawn to k₀.
"""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.factors import Factors
from armtwin.identification.freedom import Freedom
from armtwin.maths.batch import Flags, Floats

STEPS = 50
SAME = 1e-8
HOLD = 1e-3  # weight of the first gains
MEAN = 1e3  # how much stiffer the mean of those that joints tell themselves is held
SPREAD = 0.3  # of the logarithm of gains within one robot
TRUSTED = (
    0.3  # share of a current's power that the prior's rigid torque must explain to tell the gain
)


def first_gains(found: Factors, prior: Floats, loose: Flags) -> tuple[Floats, Flags]:
    """Gains (n,) [N m/A] with which the prior's rigid torque explains the currents, and whether it is a joint's own.

    A joint whose current shows little of the rigid torque takes the median of the others.

    Args:
        found: Factors with currents in place of torques.
        prior: φ₀, (p,).
        loose: Which parameters belong to friction, (p,).
    """
    rigid = found.told(np.where(loose, 0.0, prior))
    rubbing = found.told(np.eye(len(prior))[:, loose])
    slopes, shares = [], []
    for j, R in enumerate(found.R):
        columns = np.column_stack([rigid[j], rubbing[j]])
        size = np.linalg.norm(columns, axis=0)
        size[size == 0] = 1.0
        part = float(np.linalg.lstsq(columns / size, R[:, -1], rcond=1e-9)[0][0])
        slopes.append(part / size[0])
        shares.append(part**2 / max(float((R[:, -1] ** 2).sum()), 1e-300))
    slope, share = np.array(slopes), np.array(shares)
    if (np.sign(slope) * (share > TRUSTED)).sum() < 0:
        raise ArmtwinError(
            "the currents fall where the robot's torque rises; is the sign reversed? Say torque_sign in a columns file"
        )
    own = (slope > 0) & (share > TRUSTED)
    if not own.any():
        raise ArmtwinError(
            "the currents show too little of the robot file's weight and inertia to tell drive gains; give "
            "motor.torque_constant of every motor"
        )
    gains = 1 / np.where(own, slope, 1.0)
    return np.where(own, gains, np.median(gains[own])), own


def drive_gains(found: Factors, free: Freedom, weight: float, first: Floats, own: Flags) -> Floats:
    """Gains (n,) [N m/A] of the joints, told together with the parameters from factors with currents."""
    n, f = len(found.R), free.basis.shape[1]
    z, turn = np.zeros(f), np.zeros(n)  # turn = ln k - ln k₀, mean of `own` held
    draw, hold = np.sqrt(weight * found.count.sum()), np.sqrt(HOLD * found.count.sum())
    slopes = found.told(free.map)
    for _ in range(STEPS):
        k = first * np.exp(turn)
        told = found.told(free.parameters(z))  # of each joint, (n, r + 1)
        gap = found.R[:, :, -1] - told / k[:, None]
        sigma = np.sqrt((gap**2).sum(axis=1) / np.maximum(found.count, 1)) + 1e-300
        blocks, right = [], []
        for j in range(n):
            by_gain = np.zeros((len(told[j]), n))
            by_gain[:, j] = -told[j] / k[j]
            blocks.append(np.column_stack([slopes[j] / k[j], by_gain]) / sigma[j])
            right.append(gap[j] / sigma[j])
        blocks.append(np.diag(np.concatenate([np.full(f, draw), np.full(n, hold / SPREAD)])))
        right.append(-np.concatenate([draw * z, hold * turn / SPREAD]))
        blocks.append(np.append(np.zeros(f), MEAN * hold * own)[None])
        right.append(np.array([-MEAN * hold * turn[own].sum()]))
        step = np.linalg.lstsq(np.vstack(blocks), np.concatenate(right), rcond=None)[0]
        change = np.clip(step[f:], -0.5, 0.5)
        z, turn = z + step[:f], turn + change
        if np.abs(change).max() < SAME:
            break
    return np.asarray(first * np.exp(turn))

"""Drive gains: newton metres per ampere at the joint, where only currents were logged and no file knows them.

    min Σ_j ‖i_j - Y_j φ / k_j‖² / (σ_j² rows) + λ ‖z‖² + μ Σ_j (ln k_j - ln k₀)² / spread²    over φ and k

k₀ is the gain with which the prior's rigid torque explains the currents, where it can; so the scale of all gains is
that of the prior's masses. Joints share the bodies behind them, which ties the gains of joints that carry little to
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
HOLD = 1e-3  # weight of the common gain
MEAN = 1e3  # how much stiffer the mean of all gains is held
SPREAD = 0.3  # of the logarithm of gains within one robot
TRUSTED = 0.3  # share of a current's power that the prior's rigid torque must explain to tell the gain


def common_gain(found: Factors, prior: Floats, loose: Flags) -> float:
    """The gain [N m/A] with which the prior's rigid torque explains the currents, friction free.

    Args:
        found: Factors with currents in place of torques.
        prior: φ₀, (p,).
        loose: Which parameters belong to friction, (p,).
    """
    gains = []
    rigid = found.told(np.where(loose, 0.0, prior))
    rubbing = found.told(np.eye(len(prior))[:, loose])
    for j, R in enumerate(found.R):
        columns = np.column_stack([rigid[j], rubbing[j]])
        size = np.linalg.norm(columns, axis=0)
        size[size == 0] = 1.0
        slope = float(np.linalg.lstsq(columns / size, R[:, -1], rcond=1e-9)[0][0] / size[0])
        share = (slope * size[0]) ** 2 / max(float((R[:, -1] ** 2).sum()), 1e-300)
        if slope > 0 or share > TRUSTED:
            gains.append((1 / slope, share))
    if not gains:
        raise ArmtwinError(
            "the currents show nothing of the robot file's weight and inertia, so no drive gain can be told from "
            "them; give motor.torque_constant of every motor"
        )
    if sum(1 if gain > 0 else -1 for gain, share in gains if share > TRUSTED) < 0:
        raise ArmtwinError(
            "the currents fall where the robot's torque rises; is their sign reversed? Give it in a columns file"
        )
    kept = sorted((gain, share) for gain, share in gains if gain > 0)
    weight = np.cumsum([share for _, share in kept])
    return float(kept[int(np.searchsorted(weight, weight[-1] / 2))][0])  # the weighted median


def drive_gains(found: Factors, free: Freedom, weight: float, common: float) -> Floats:
    """Gains (n,) [N m/A] of the joints, told together with the parameters from factors with currents."""
    n, f = len(found.R), free.basis.shape[1]
    z, turn = np.zeros(f), np.zeros(n)  # turn = ln k - ln k₀
    draw, hold = np.sqrt(weight * found.count.sum()), np.sqrt(HOLD * found.count.sum())
    slopes = found.told(free.map)
    for _ in range(STEPS):
        k = common * np.exp(turn)
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
        blocks.append(np.append(np.zeros(f), np.full(n, MEAN * hold))[None])
        right.append(np.array([-MEAN * hold * turn.sum()]))
        step = np.linalg.lstsq(np.vstack(blocks), np.concatenate(right), rcond=None)[0]
        change = np.clip(step[f:], -0.5, 0.5)
        z, turn = z + step[:f], turn + change
        if np.abs(change).max() < SAME:
            break
    return np.asarray(common * np.exp(turn))

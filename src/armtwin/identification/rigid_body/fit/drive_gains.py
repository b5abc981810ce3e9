"""Drive gains: newton metres per ampere at the joint, where only currents were logged.

    min Σ_j ‖i_j - Y_j φ / k_j‖² / (σ_j² rows) + λ ‖z‖² + μ Σ_j (ln k_j - ln k₀_j)² / spread²
    over φ and k

k₀ is the gain with which the prior's rigid torque explains a joint's current, where it can; so the
scale of all gains is that of the prior's masses. Joints share the bodies behind them, which ties
the gains of joints that carry little to those of the others; the rest is regularised towards k₀.
"""

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.factors import Factors, FreeDirections
from armtwin.maths.batch import Flags, Floats, TwoArrays

STEPS = 50
SAME = 1e-8
LARGEST_STEP = 0.5  # of the logarithm of a gain
HOLD = 1e-3  # weight of the first gains
MEAN = 1e3  # how much stiffer the mean of the gains that joints identify themselves is held
SPREAD = 0.3  # of the logarithm of gains within one robot
# share of a current's power that the prior's rigid torque must explain to identify the gain
TRUSTED = 0.3


def estimate_first_gains(found: Factors, prior: Floats, loose: Flags) -> tuple[Floats, Flags]:
    """Gains (n,) [N m/A] by the prior's rigid torque, and whether each is the joint's own.

    A joint whose current shows little of the rigid torque takes the median of the others.

    Args:
        found: Factors with currents in place of torques.
        prior: φ₀, (p,).
        loose: Which parameters belong to friction, (p,).
    """
    slope, share = _explain_currents(found, prior, loose)
    trusted = share > TRUSTED
    if (np.sign(slope) * trusted).sum() < 0:
        raise ArmtwinError(
            "the currents decrease where the robot's torque increases; is the sign reversed? Say "
            "torque_sign in a columns file"
        )
    own = (slope > 0) & trusted
    if not own.any():
        raise ArmtwinError(
            "the currents show too little of the robot file's weight and inertia to "
            "identify drive gains; give motor.torque_constant of every motor"
        )
    gains = 1 / np.where(own, slope, 1.0)
    return np.where(own, gains, np.median(gains[own])), own


def _explain_currents(found: Factors, prior: Floats, loose: Flags) -> TwoArrays:
    """Current over rigid torque (n,) [A/(N m)], and the share of the current's power in it."""
    rigid = found.predicted(np.where(loose, 0.0, prior))
    rubbing = found.predicted(np.eye(len(prior))[:, loose])
    slope, share = np.empty(len(rigid)), np.empty(len(rigid))
    for j, current in enumerate(found.target):
        columns = np.column_stack([rigid[j], rubbing[j]])
        size = np.linalg.norm(columns, axis=0)
        size[size == 0] = 1.0
        part = float(np.linalg.lstsq(columns / size, current, rcond=1e-9)[0][0])
        power = max(float((current**2).sum()), 1e-300)
        slope[j] = part / size[0]
        share[j] = part**2 / power
    return slope, share


def estimate_drive_gains(
    found: Factors, free: FreeDirections, weight: float, first: Floats, own: Flags
) -> Floats:
    """Gains (n,) [N m/A] of the joints, identified from currents together with the parameters.

    Args:
        found: Factors with currents in place of torques.
        free: The free directions of the parameters.
        weight: λ of the prior.
        first: k₀, (n,) [N m/A].
        own: Which of these the joints identify themselves, (n,); their mean is held.
    """
    f = free.count
    rows = found.count.sum()
    pull = np.sqrt(weight * rows)
    hold = np.sqrt(HOLD * rows)
    below = _prior_equations(f, pull, hold, own)
    slopes = found.predicted(free.map)
    z = np.zeros(f)
    turn = np.zeros(len(first))  # ln k - ln k₀
    for _ in range(STEPS):
        k = first * np.exp(turn)
        columns, gap = _linearise(found, slopes, free.parameters(z), k)
        towards_prior = -pull * z
        held = -hold * turn / SPREAD
        mean = -MEAN * hold * turn[own].sum()
        right = np.concatenate([gap, towards_prior, held, [mean]])
        step = np.linalg.lstsq(np.vstack([columns, below]), right, rcond=None)[0]
        change = np.clip(step[f:], -LARGEST_STEP, LARGEST_STEP)
        z = z + step[:f]
        turn = turn + change
        if np.abs(change).max() < SAME:
            break
    return first * np.exp(turn)


def _prior_equations(f: int, pull: float, hold: float, own: Flags) -> Floats:
    """Equations that regularise z and ln k, and hold a mean of ln k, (f + n + 1, f + n)."""
    towards_prior = np.full(f, pull)
    held = np.full(len(own), hold / SPREAD)
    mean = np.append(np.zeros(f), MEAN * hold * own)
    return np.vstack([np.diag(np.concatenate([towards_prior, held])), mean])


def _linearise(found: Factors, slopes: Floats, phi: Floats, k: Floats) -> TwoArrays:
    """Equations for changes of z and ln k about present values: columns and residuals.

    i - Y φ / k = (Y ∂φ/∂z / k) Δz - (Y φ / k) Δln k, each joint over its residual
    """
    n = len(k)
    current = found.predicted(phi) / k[:, None]  # of each joint, (n, r + 1)
    gap = found.target - current
    power = (gap**2).sum(axis=1)
    sigma = np.sqrt(power / np.maximum(found.count, 1)) + 1e-300
    columns = []
    for j in range(n):
        by_gain = np.zeros((len(current[j]), n))
        by_gain[:, j] = -current[j]
        every = np.column_stack([slopes[j] / k[j], by_gain])
        columns.append(every / sigma[j])
    return np.vstack(columns), (gap / sigma[:, None]).ravel()

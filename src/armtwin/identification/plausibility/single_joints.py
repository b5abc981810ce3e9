"""Hypotheses that single joints show by themselves: torque logged late or cut off, time stretched.

A joint's torque is explained by the rigid torque of the robot file and friction of any size.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from armtwin.files.hypothesis import Hypothesis
from armtwin.identification.fitting.estimate import solve
from armtwin.identification.plausibility.samples import TorqueSamples, friction_columns
from armtwin.identification.resampling import runs_of
from armtwin.identification.rigid_body.data.clean_log import clean_log, filter_motion
from armtwin.identification.rigid_body.friction.presliding import stop_operators
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.joints import torque_or_current
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, Pair
from armtwin.maths.median import weighted_median
from armtwin.maths.narrow import ranges
from armtwin.robot.robot import Robot

# cut-off for reversals of friction, which show a lateness best [Hz], and the log's rate over it
FAST = 25.0
LEAST_RATE = 5.0
LATEST = 0.25  # lateness that is looked for [s]
LATEST_SHARE = 0.15  # of a log, at most
SHIFTS = 41  # tried
STRETCHES = 4  # of a log that are judged apart
LEAST_FOUND = 8  # joints and stretches that must show a lateness
LEAST_SHARP = 4.0  # of these that must show it as sharply as the sharpest
MOVES = 0.02  # travel that shows a lateness, or that a torque is cut off [rad, m]
EXPLAINED = 0.3  # share of a torque's power that may be left
SLOW = 0.02  # of the highest speed, within which the sign of friction is uncertain
LEAST = 0.012  # lateness below which it is that of filters and buses, and no mistake [s]
LEAST_LEAD = (
    0.03  # the same of a torque before its motion: a commanded one leads by the drive's loop
)
SURE = 6.0  # times its deviation that a lateness must have
AGREE = 0.4  # spread of the lateness over it, up to which joints and stretches agree
# pre-sliding distances whose friction is tried beside that of a sign: it lags too, but in travel
PRESLIDING = np.array([3e-4, 1e-3])  # [rad, m]
MAD = 1.4826  # standard deviation over the median of absolute deviations

# times the residual power that must remain without a joint's weight, or inertia, to show it
SHOWN = 1.5
AGREED_RATIO = 2.0  # factor within which joints agree on one stretch of time
STRETCHED = 2.5  # inertia over weight that is no longer a mistake of the robot file
ASSUMED = 4.0  # this ratio where rotor inertias are assumed
ALONE = 30.0  # this ratio where one joint alone shows it, as with a payload missing in the file

RUBS = 0.1  # share of a torque's power that friction must be to show a scale of its own
LEAST_RUBBING = 3  # joints of which it is
WELL_EXPLAINED = 0.2  # share of each torque's power that may be left
SAME_FACTOR = 1.2  # within which factors of rigid torque and of friction are one
SAME_SCALE = 0.15  # deviation of the logarithms of joints' scales that agree

PLATEAU = 5  # samples of one value in a row that are no chance
LARGE = 0.5  # of the largest torque that a plateau must have
SLOW_SHARE = 0.1  # of the highest speed that a joint must have on one
CRUISE_SHARE = 0.02  # of the highest acceleration, below which the speed is constant
CUT_SHARE = 0.005  # of all samples that must lie on plateaus
STEADY = 0.03  # relative spread of the torque that a motion of one speed needs
AT_LIMIT = 0.03  # relative difference of a plateau from the torque limit of its joint
BEYOND = 0.1  # by which the model must exceed a plateau, over its level


class Lateness(NamedTuple):
    """How much later than the motion a torque was logged.

    Attributes:
        seconds: The lateness [s].
        deviation: Its standard deviation, by stretches and joints [s].
    """

    seconds: float
    deviation: float

    @property
    def is_clear(self) -> bool:
        """Whether it is too large for filters, and for chance."""
        least = LEAST if self.seconds > 0 else LEAST_LEAD
        return abs(self.seconds) > max(least, SURE * self.deviation)


def estimate_lateness(
    robot: Robot, logs: Sequence[Log], source: str, recipe: Recipe
) -> Lateness | None:
    """Median over joints and stretches of the shift that explains their torque best.

    Each counts by how sharply its torque shows the shift: the curvature of log ρ over it, ρ the
    share of the torque's power that is left. None where too few show one, or they do not agree.
    """
    found: list[Pair] = []
    for log in logs:
        found += _shifts_of(robot, log, source, recipe)
    if len(found) < LEAST_FOUND:
        return None
    shifts, sharpness = np.array(found).T
    count = sharpness.sum() ** 2 / (sharpness**2).sum()
    middle = weighted_median(shifts, sharpness)
    spread = MAD * weighted_median(np.abs(shifts - middle), sharpness)
    if count < LEAST_SHARP or spread > AGREE * abs(middle):
        return None
    return Lateness(middle, spread / np.sqrt(count))


def _shifts_of(robot: Robot, log: Log, source: str, recipe: Recipe) -> Iterator[Pair]:
    """The best shift of each joint in each stretch of a log [s], and how sharp it is [1/s²]."""
    duration = float(np.ptp(log.time))
    cutoff = min(FAST, (len(log.time) - 1) / duration / LEAST_RATE)
    clean = clean_log(log, cutoff, recipe, torque_or_current(robot, log, source)).clean
    rate = (len(clean.time) - 1) / float(np.ptp(clean.time))
    rigid = robot.inverse_dynamics(clean.q, clean.v, clean.a)
    signs = [_dry_friction(q, v) for q, v in zip(clean.q.T, clean.v.T, strict=True)]
    most = int(rate * min(LATEST, LATEST_SHARE * duration))
    shifts = np.unique(np.linspace(-most, most, SHIFTS).round().astype(int))
    for stretch in np.array_split(np.arange(most, len(clean.time) - most), STRETCHES):
        for j in range(robot.n):
            if len(stretch) < SHIFTS or np.ptp(clean.q[stretch, j]) < MOVES:
                continue
            smooth = rigid[stretch, j], clean.v[stretch, j]
            laws = [_columns(*smooth, sign) for sign in signs[j][:, stretch]]
            moved = clean.tau[:, j][stretch[:, None] + shifts]
            yield from _best_shift(laws, moved, shifts / rate)


def _dry_friction(q: Floats, v: Floats) -> Floats:
    """Dry friction along a motion of a joint, of level 1, for each pre-sliding distance, (k, m)."""
    found = np.empty((1 + len(PRESLIDING), len(q)))
    found[0] = _smooth_sign(v)
    stop_operators(np.ascontiguousarray(q), PRESLIDING, np.arange(len(PRESLIDING)), found[1:])
    return found


def _smooth_sign(v: Floats) -> Floats:
    return np.asarray(np.tanh(v / (SLOW * np.abs(v).max() + 1e-12)))


def _columns(rigid: Floats, v: Floats, sign: Floats) -> Floats:
    """Rigid torque, dry and viscous friction and an offset, (m, 4)."""
    return np.column_stack([rigid, sign, v, np.ones(len(v))])


def _best_shift(laws: Sequence[Floats], torques: Floats, shifts: Floats) -> Iterator[Pair]:
    """The shift [s] whose torque is explained best, between two by a parabola, and how sharply.

    None where none is explained well, or the best is the first or last.

    Args:
        laws: Columns with each law of dry friction, (m, 4).
        torques: The shifted torques, (m, k).
        shifts: Their shifts, (k,) [s].
    """
    power = ((torques - torques.mean(axis=0)) ** 2).sum(axis=0).clip(1e-300)
    tried = [_unexplained(columns, torques) / power for columns in laws]
    shares = min(tried, key=lambda of_law: float(of_law.min()))
    k = int(shares.argmin())
    if not 0 < k < len(shares) - 1 or shares[k] > EXPLAINED:
        return
    before, here, after = np.log(shares[k - 1 : k + 2].clip(1e-300))
    step = 0.5 * (shifts[k + 1] - shifts[k - 1])
    bend = max(before - 2 * here + after, 1e-300)
    yield shifts[k] + 0.5 * step * (before - after) / bend, bend / step**2


def _unexplained(columns: Floats, torques: Floats) -> Floats:
    """Power of torques (m, k) that columns (m, p) leave, (k,)."""
    basis = np.linalg.qr(columns)[0]
    left = torques - basis @ (basis.T @ torques)
    return np.asarray((left**2).sum(axis=0))


def estimate_whole_scale(samples: TorqueSamples) -> float | None:
    """Size of all torques over the robot file's whole torque, where all joints agree on it.

    Masses of a file may be off alike, or its friction, but not both by as much: a factor of weight,
    inertia and friction at once, at every joint, is one of the log. None where joints do not agree,
    where rigid torque and friction show factors of their own, or the file has no friction.
    """
    robot, motion, tau = samples.robot, samples.motion, samples.torque()
    friction = robot.friction_torque(motion.v, motion.q, motion.a)
    rigid = robot.inverse_dynamics(*motion)
    whole = rigid + friction
    power = (whole**2).sum(axis=0)
    rubs = (friction**2).sum(axis=0) > RUBS * power
    if samples.has_gains or rubs.sum() < LEAST_RUBBING or not power.all():
        return None
    scales = (tau * whole).sum(axis=0) / power
    left = ((tau - scales * whole) ** 2).sum(axis=0) / np.maximum((tau**2).sum(axis=0), 1e-300)
    if (scales <= 0).any() or left.max() > WELL_EXPLAINED:
        return None
    per_joint = np.sqrt(power)
    parts = np.column_stack([(part / per_joint).ravel() for part in (rigid, friction)])
    factors = np.linalg.lstsq(parts, (tau / per_joint).ravel(), rcond=None)[0]
    if factors.min() * SAME_FACTOR < factors.max():
        return None
    logs = np.log(scales)
    return float(np.exp(logs.mean())) if logs.std() < SAME_SCALE else None


def estimate_weight(samples: TorqueSamples) -> float:
    """Weight in the torque of the joint that it varies most for, over that of the robot file.

    1 where inertia is as much less, as beside a file that is too heavy, or where that torque is not
    explained by weight, inertia and friction.
    """
    motion = samples.motion
    weight = samples.robot.gravity(motion.q)
    j = int(ranges(weight).argmax())
    inertia = samples.robot.inverse_dynamics(*motion)[:, j] - weight[:, j]
    columns = np.column_stack([weight[:, j], inertia, friction_columns(motion.v[:, j])])
    tau = samples.torque()[:, j]
    found = solve(columns, tau, positive=True)
    is_explained = found.residual.var() < WELL_EXPLAINED * tau.var()
    of_weight, of_inertia = found.values[:2]
    return float(of_weight) if is_explained and of_weight < of_inertia else 1.0


def estimate_time_factor(samples: TorqueSamples) -> float | None:
    """By how much the time of logs is stretched, where joints agree on it; else None.

        torque = α weight + β inertia + friction        β / α = f²

    Time stretched by f divides accelerations by f², but no weight, whatever the scale of masses or
    of a current. All joints that show both must agree on one factor; one joint alone must show a
    larger one, as a payload that the file lacks does.
    """
    robot, motion, tau = samples.robot, samples.motion, samples.torque()
    weight = robot.gravity(motion.q)
    inertia = robot.inverse_dynamics(*motion) - weight
    rotors = robot.regressor(*motion)[:, :, robot.layout.rotors]
    of_links = inertia - rotors @ robot.parameters[robot.layout.rotors]
    slow = _agreed_ratio(robot, motion.v, tau, weight, inertia)
    if slow is not None and slow > 1:
        return float(np.sqrt(slow))
    # less inertia than the links alone have; torque sensors see no rotors
    fast = _agreed_ratio(robot, motion.v, tau, weight, of_links)
    return float(np.sqrt(fast)) if fast is not None and fast < 1 else None


def _agreed_ratio(
    robot: Robot, v: Floats, tau: Floats, weight: Floats, inertia: Floats
) -> float | None:
    """Inertia over weight on which joints agree, where it is far from 1; else None."""
    ratios = []
    for of_joint in zip(tau.T, weight.T, inertia.T, v.T, strict=True):
        ratio = _inertia_over_weight(*of_joint)
        if ratio is not None:
            ratios.append(ratio)
    if not ratios or max(ratios) > AGREED_RATIO * min(ratios):
        return None
    ratio = float(np.exp(np.mean(np.log(ratios))))
    least = _least_ratio(robot, len(ratios))
    return None if 1 / least < ratio < least else ratio


def _least_ratio(robot: Robot, joints: int) -> float:
    """Inertia over weight from which on joints that agree show a stretched time."""
    if joints == 1:
        return ALONE
    for origin in robot.provenance.of_kind("assumed"):
        group, *place = origin.path.split(".")
        if group == "motor" and place[1:] in ([], ["rotor_inertia"]):
            return ASSUMED
    return STRETCHED


def _inertia_over_weight(tau: Floats, weight: Floats, inertia: Floats, v: Floats) -> float | None:
    """Factor of a joint's inertia over that of its weight; None where a log does not show both."""
    rubbing = friction_columns(v)
    whole = solve(np.column_stack([weight, inertia, rubbing]), tau, positive=True)
    left = whole.residual @ whole.residual
    for other in (weight, inertia):
        without = solve(np.column_stack([other, rubbing]), tau, positive=True).residual
        if without @ without < SHOWN * left:
            return None
    if not (whole.values[:2] > 0).all():
        return None
    return float(whole.values[1] / whole.values[0])


def suspect_clipping(
    robot: Robot, logs: Sequence[Log], source: str, recipe: Recipe
) -> Iterator[Hypothesis]:
    """Torques that stay at one value of theirs while joints move, and need more.

    Where several joints do, no model is needed to see it.
    """
    cut: dict[str, float] = {}
    needs_more = False
    for log in logs:
        torque = torque_or_current(robot, log, source)
        flat = np.stack([_find_plateaus(column) for column in torque.T], axis=1)
        if not flat.any():
            continue
        motion = filter_motion(log, FAST, recipe)
        flat &= np.abs(motion.v) > SLOW_SHARE * np.abs(motion.v).max(axis=0)
        # at a constant speed a torque may well be constant
        flat &= np.abs(motion.a) > CRUISE_SHARE * np.abs(motion.a).max(axis=0)
        flat &= np.ptp(motion.q, axis=0) > MOVES  # one that holds gives a few quanta
        for j in np.flatnonzero(flat.mean(axis=0) > CUT_SHARE):
            level = float(np.abs(torque[flat[:, j], j]).max())
            if abs(level / robot.limits.torque[j] - 1) < AT_LIMIT:
                continue  # the drive itself gives no more
            rigid = robot.inverse_dynamics(*motion)[:, j]
            v = motion.v[:, j]
            columns = _columns(rigid, v, _smooth_sign(v))
            needed = _needed(columns, torque[:, j], flat[:, j])
            if needed.std() > STEADY * np.abs(needed).mean():
                cut[robot.joint_names[j]] = level
                needs_more |= float(np.median(needed)) > 1 + BEYOND
    if needs_more or len(cut) >= max(2, robot.n // 2):
        where = ", ".join(f"{name} at {level:.4g}" for name, level in cut.items())
        evidence = f"torques stay at one value while their joints move: {where}"
        yield Hypothesis(evidence, "Was the torque cut off", "log it with a larger range", np.inf)


def _find_plateaus(tau: Floats) -> Flags:
    """Which samples (m,) lie at the largest or smallest value, several in a row."""
    flat = np.zeros(len(tau), dtype=bool)
    large = LARGE * np.abs(tau).max()
    for level in (tau.max(), tau.min()):
        for first, last in runs_of(tau == level):
            if last - first >= PLATEAU and abs(level) > large:
                flat[first:last] = True
    return flat


def _needed(columns: Floats, tau: Floats, flat: Flags) -> Floats:
    """Torque that a fit to the other samples gives on plateaus, over theirs."""
    factors = np.linalg.lstsq(columns[~flat], tau[~flat], rcond=None)[0]
    return columns[flat] @ factors / tau[flat]

"""Whether q_ref of a log can be the reference of its q, and which mistake explains it if not.

A servo follows: its error is small beside the motion, on every joint. Where it is not, another
unit, order, sign, zero or clock of q_ref may make it so. Where it is, three more things are known:
a copy of the measurement is no reference, no servo acts before its command, and of two channels
that move alike the measured one is the rougher: a reference is computed, an encoder has noise.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from math import comb

import numpy as np

from armtwin.files.hypothesis import Hypothesis
from armtwin.logs.rest import STILL_RANGE
from armtwin.maths.batch import Flags, Floats, TwoArrays

NEAR = 0.02  # rms error that a servo may have whatever the motion is, about a degree [rad, m]
SHARE = 0.5  # of a joint's standard deviation that its rms error may be; soft wrists have 0.3
SHORTEST = 30  # samples below which nothing is concluded
MOVING = 1e-3  # range from which on noise of a joint is compared [rad, m]
ANGLE_UNITS = {"deg": ("degrees", 180 / np.pi), "mrad": ("milliradians", 1e3)}
SAME = 1e-9  # error over motion below which reference and measurement are one
DECIMALS = range(2, 10)  # that a channel may have been rounded to
ROUNDING = 1e-4  # of a last decimal, that numbers in files may be off by
SHIFTS = 50  # samples by which a copy may be late or early
# Samples between the points of a difference, and its orders: the least of all is that of a held
# reference, whose period is one of them, and of a fast motion, which high orders remove.
STRIDES = (1, 2, 3, 4, 5, 6, 8, 10, 12)
ORDERS = (3, 6)
CLIPPED = 4.0  # times the median, beyond which a difference is none of noise
ROUGHER = 5.0  # factor from which on a channel is the rougher; good logs have 12 and more
ROUNDED = 0.5  # of a last decimal; rounding has a noise of 0.29
LEAST_NOISE = 1e-10  # about the rounding of numbers in files [rad, m]
HELD = 0.1  # share of fast samples without a step from which on a channel is held, not noisy
LATE = 0.02  # the same where they differ: feed-forward never makes all joints lead by more [s]
LEADS = 2.0  # samples by which all joints must lead for the reference to be called late
ALIKE = 2.0  # factor between their leads
EXPLAINS = 0.5  # share of the error that the lead alone explains
LONGEST_LAG = 0.25  # behind a reference, alike on all joints, that a servo may have [s]
LONGEST_SHIFT = 0.25  # of a log by which a clock may differ
TRIED_SHIFTS = 200  # of a clock, either way
JUMPS = 0.05  # share of the samples of a log about which a reference may jump
DERIVED = 0.05  # relative difference of a logged derivative from that of the samples


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Times (m,), measurement and reference (m, n) of a log, and the names of its joints."""

    time: Floats
    q: Floats
    q_ref: Floats
    names: Sequence[str]

    @property
    def step(self) -> float:
        """Time between samples [s]."""
        return float(np.median(np.diff(self.time)))

    def shifted(self, k: int) -> TwoArrays:
        """The measurement beside the reference of k samples later, where both are."""
        m = len(self.time)
        return self.q[max(-k, 0) : m - max(k, 0)], self.q_ref[max(k, 0) : m + min(k, 0)]

    def named(self, flags: Flags) -> str:
        """The flagged joints."""
        return ", ".join(np.array(self.names)[flags])


@dataclass(frozen=True, eq=False)
class _Change:
    """A log without one mistake: its measurement and reference, and what to say of it."""

    q: Floats
    q_ref: Floats
    clause: str
    mistake: str
    remedy: str


def reference_hypotheses(
    time: Floats, q: Floats, q_ref: Floats, names: Sequence[str]
) -> tuple[Hypothesis, ...]:
    """Mistakes that explain a reference which is none; empty for one that may be right.

    Args:
        time: Times of the samples, (m,) [s].
        q: Measured positions, (m, n).
        q_ref: Their reference as logged, (m, n).
        names: Names of the joints, (n,).
    """
    if len(time) < SHORTEST:
        return ()
    log = _Pairs(time, q, q_ref, names)
    follows = bool((_distance(q, q_ref) <= 1).all())
    shift = 0 if follows else _nearest_shift(log)
    lags = -LONGEST_LAG <= shift * log.step < 0 and (_distance(*log.shifted(shift)) <= 1).all()
    if follows or lags:
        return tuple(_of_a_followed_reference(log))
    # a fitted number explains more than a mistake that has none: it is asked last
    for changes in (_fixed_changes(log), _shifts(log, shift), _scales(log)):
        found = tuple(_explaining(log, changes))
        if found:
            return found
    return (_of_another_run(log),)


def choose_derivative(logged: Floats, derived: Floats, jumps: float = 0.0) -> Floats:
    """A logged derivative of a reference where it is one, else the derived one, (m, n) each.

    Where a reference jumps, as behind a limit or a singularity, no derivative of its samples is
    what the servo was given: of a speed the share `jumps` of samples that differ most does not
    count.
    """
    if logged.shape != derived.shape:
        return derived
    apart = np.linalg.norm(logged - derived, axis=1)
    counted = apart <= np.quantile(apart, 1 - jumps)
    same = np.linalg.norm(apart[counted]) < DERIVED * np.linalg.norm(derived[counted])
    return logged if same else derived


def encoder_hypotheses(
    time: Floats, q: Floats, q_link: Floats, names: Sequence[str]
) -> tuple[Hypothesis, ...]:
    """Mistakes that explain a link encoder which is not near the motor's; empty where it is.

    Args:
        time: Times of the samples, (m,) [s].
        q: Positions by the motors' encoders, (m, n).
        q_link: Positions by the links' encoders, (m, n).
        names: Names of the joints, (n,).
    """
    if (_distance(q, q_link) <= 1).all():
        return ()
    found = []
    for one in reference_hypotheses(time, q, q_link, names):
        texts = (one.evidence, one.mistake, one.remedy)
        evidence, mistake, remedy = (text.replace("q_ref", "q_link") for text in texts)
        found.append(Hypothesis(evidence, mistake, remedy, one.strength))
    return tuple(found)


def _rms(values: Floats) -> Floats:
    """Root mean square of each column, (n,)."""
    return np.sqrt((values**2).mean(axis=0))


def _distance(q: Floats, q_ref: Floats) -> Floats:
    """Rms error of each joint over what it may be; at most 1 where it follows, (n,)."""
    return _rms(q_ref - q) / np.maximum(NEAR, SHARE * q.std(axis=0))


def _explaining(log: _Pairs, changes: Iterable[_Change]) -> Iterator[Hypothesis]:
    """The changes that make all joints follow."""
    distance = _distance(log.q, log.q_ref)
    worst = int(distance.argmax())
    off = float(_rms(log.q_ref - log.q)[worst])
    fact = f"q of {log.names[worst]} is {off:.3g} rad (rms) from q_ref"
    for change in changes:
        left = float(_distance(change.q, change.q_ref).max())
        if left <= 1:
            strength = float(distance[worst]) / max(left, 1e-12)
            evidence = f"{fact}, {change.clause}"
            yield Hypothesis(evidence, change.mistake, change.remedy, strength)


def _fixed_changes(log: _Pairs) -> Iterator[_Change]:
    """Another unit, order or sign."""
    for unit, (words, factor) in ANGLE_UNITS.items():
        for channel in ("q_ref", "q"):
            q = log.q / factor if channel == "q" else log.q
            q_ref = log.q_ref / factor if channel == "q_ref" else log.q_ref
            clause = f"but near it with {channel} divided by {factor:.4g}"
            remedy = f'say unit.{channel} = "{unit}" in a columns file'
            yield _Change(q, q_ref, clause, f"Is {channel} in {words}", remedy)
    yield from _other_order(log)
    away = _distance(log.q, log.q_ref) > 1
    turned = away & (_distance(log.q, -log.q_ref) <= 1)
    if turned.any():
        q_ref = np.where(turned, -log.q_ref, log.q_ref)
        clause = f"but near it with the other sign of {log.named(turned)}"
        mistake = f"Does q_ref count {log.named(turned)} the other way"
        yield _Change(log.q, q_ref, clause, mistake, "give q_ref the signs of q")


def _other_order(log: _Pairs) -> Iterator[_Change]:
    from scipy.optimize import linear_sum_assignment

    cost = np.stack([_rms(column[:, None] - log.q_ref) for column in log.q.T])
    joints, order = linear_sum_assignment(cost)
    moved = order != joints
    if moved.any():
        names = np.array(log.names)
        swaps = zip(names[order[moved]], names[moved], strict=True)
        pairs = [f"the column of {given} for {own}" for given, own in swaps]
        clause = f"but near it with {', '.join(pairs)}"
        mistake = "Is q_ref in another order of the joints than q"
        remedy = "give the order of its columns as columns.q_ref of a columns file"
        yield _Change(log.q, log.q_ref[:, order], clause, mistake, remedy)


def _shifts(log: _Pairs, shift: int) -> Iterator[_Change]:
    """Another clock, by samples, or another zero, each by what fits best."""
    late = shift * log.step
    when = "late" if late > 0 else "early"
    clause = f"but near it {abs(late):.3g} s {'later' if late > 0 else 'earlier'}"
    mistake, remedy = f"Is the clock of q_ref {when}", f"shift q_ref by {-late:.3g} s"
    yield _Change(*log.shifted(shift), clause, mistake, remedy)
    away = _distance(log.q, log.q_ref) > 1
    offset = np.where(away, (log.q_ref - log.q).mean(axis=0), 0.0)
    sizes = ", ".join(f"{np.degrees(x):.4g}°" for x in offset[away])
    mistake = f"Has q_ref another zero of {log.named(away)} than q"
    clause = f"which lies {sizes} beside it"
    yield _Change(log.q, log.q_ref - offset, clause, mistake, "give q_ref the zero of q")


def _scales(log: _Pairs) -> Iterator[_Change]:
    """Another scale of each joint that does not follow, about its mean."""
    away = _distance(log.q, log.q_ref) > 1
    x, y = log.q_ref - log.q_ref.mean(axis=0), log.q - log.q.mean(axis=0)
    gain = (x * y).sum(axis=0) / np.maximum((x * x).sum(axis=0), 1e-300)
    scaled = np.where(away, log.q.mean(axis=0) + np.maximum(gain, 0.0) * x, log.q_ref)
    factors = ", ".join(f"{1 / max(float(k), 1e-12):.3g}" for k in gain[away])
    clause = f"which moves {factors} times as far on {log.named(away)}"
    mistake = "Is q_ref in another unit, or the motor's angle"
    remedy = "give q_ref at the joints, in rad, by a columns file"
    yield _Change(log.q, scaled, clause, mistake, remedy)


def _nearest_shift(log: _Pairs) -> int:
    """Samples by which the reference is late, by what is nearest to the measurement."""
    most = int(LONGEST_SHIFT * len(log.time))
    travel = np.ptp(log.q, axis=0)
    mover = int(travel.argmax())
    best, least = 0, np.inf
    for k in sorted({0, *range(-most, most + 1, max(1, most // TRIED_SHIFTS))}):
        q, q_ref = log.shifted(k)
        if k and 2 * np.ptp(q[:, mover]) <= travel[mover]:
            continue  # what is at rest fits any shift
        distance = float(_distance(q, q_ref).max())
        if distance < least:
            best, least = k, distance
    return best


def _of_another_run(log: _Pairs) -> Hypothesis:
    apart = _rms(log.q_ref - log.q)
    j = int(_distance(log.q, log.q_ref).argmax())
    travel = float(np.ptp(log.q[:, j]))
    return Hypothesis(
        f"q of {log.names[j]} is {apart[j]:.3g} rad (rms) from q_ref in a motion over "
        f"{travel:.3g} rad: it does not follow q_ref",
        "Is q_ref of another run or of other joints",
        "give the q_ref of this run, joint by joint",
    )


def _of_a_followed_reference(log: _Pairs) -> Iterator[Hypothesis]:
    """Mistakes in a reference that the joints are near to."""
    copied = _copied(log)
    if copied.any():
        yield Hypothesis(
            f"q_ref of {log.named(copied)} equals q",
            "Is the measurement in the columns of q_ref",
            "log what the servo was given as q_ref",
            np.inf,
        )
        return
    ratio = _roughness_of_reference(log)
    if ratio >= ROUGHER:
        yield Hypothesis(
            f"q_ref has {ratio:.3g} times the noise of q, and a reference has none",
            "Are q and q_ref exchanged",
            "exchange their columns, by columns.q and columns.q_ref of a columns file",
            ratio,
        )
    yield from _of_the_lag(log)


def _of_the_lag(log: _Pairs) -> Iterator[Hypothesis]:
    """Mistakes that make all joints lead, or lag by more than a servo does."""
    lag = _common_lag(log)
    if lag < -LEADS * log.step:
        yield Hypothesis(
            f"every joint leads its reference, by {-1e3 * lag:.3g} ms or more, and no servo "
            "acts before its command",
            "Is q_ref late, or exchanged with q",
            f"shift q_ref by {1e3 * lag:.3g} ms, or exchange the columns",
            -lag / (LEADS * log.step),
        )
    if lag > LONGEST_LAG:
        yield Hypothesis(
            f"every joint lags its reference, by {lag:.3g} s where a servo lags by less than "
            f"{LONGEST_LAG:g} s",
            "Is the clock of q_ref early, or the unit of time another",
            f"shift q_ref by {lag:.3g} s, or say unit.time in a columns file",
            lag / LONGEST_LAG,
        )


def _copied(log: _Pairs) -> Flags:
    """Which moving joints have their measurement as reference: as it is, rounded, or shifted."""
    moved = np.ptp(log.q_ref, axis=0)
    moving = moved > STILL_RANGE
    same = np.ptp(log.q_ref - log.q, axis=0) <= SAME * moved
    for decimals in DECIMALS:
        size = 10.0**-decimals
        for fine, coarse in ((log.q, log.q_ref), (log.q_ref, log.q)):
            rounded = np.abs(np.round(fine, decimals) - coarse).max(axis=0) < SAME * size
            same |= rounded & (moved > 10 * size)
    for k in range(1, min(SHIFTS, len(log.time) // 2)):
        for a, b in ((log.q_ref[k:], log.q[:-k]), (log.q_ref[:-k], log.q[k:])):
            same |= (a == b).all(axis=0)
    return same & moving


def _roughness_of_reference(log: _Pairs) -> float:
    """Noise of the reference over that of the measurement, median; 0 where a joint says otherwise.

    A reference that is held between the steps of a slower clock, or rounded to few decimals, is
    rough too, but it has no noise.
    """
    moving = np.ptp(log.q, axis=0) > MOVING
    if not moving.any():
        return 0.0
    q, q_ref = log.q[:, moving], log.q_ref[:, moving]
    noise = _noise(q_ref)
    ratios = noise / np.maximum(_noise(q), LEAST_NOISE)
    steps, moves = np.diff(q_ref, axis=0), np.abs(np.diff(q, axis=0))
    fast = moves > np.median(moves, axis=0)
    noisy = (fast & (steps == 0)).sum(axis=0) <= HELD * fast.sum(axis=0)
    noisy &= noise > ROUNDED * _last_decimal(q_ref)
    if 2 * noisy.sum() < len(noisy) or (ratios[noisy] < 1).any():
        return 0.0
    return float(np.median(ratios[noisy]))


def _last_decimal(values: Floats) -> float:
    """Size of the last decimal that values (m, n) were rounded to, in rad or in degrees; else 0."""
    for decimals in DECIMALS:
        for unit in (1.0, 180 / np.pi):
            counts = 10.0**decimals * unit * values
            if np.abs(counts - np.round(counts)).max() < ROUNDING:
                return 10.0**-decimals / unit
    return 0.0


def _noise(values: Floats) -> Floats:
    """Standard deviation of what changes from sample to sample without a trend, (n,).

    Differences of order k of white noise have (2 k)! / k!² times its variance; few large ones, of
    jerks and outliers, are clipped.
    """
    least = np.full(values.shape[1], np.inf)
    for stride in STRIDES:
        rest = values
        for order in range(1, ORDERS[-1] + 1):
            rest = rest[stride:] - rest[:-stride]
            if len(rest) < SHORTEST:
                break
            if order in ORDERS:
                size = np.abs(rest)
                clipped = np.minimum(size, CLIPPED * np.median(size, axis=0))
                least = np.minimum(least, _rms(clipped) / np.sqrt(comb(2 * order, order)))
    return least


def _common_lag(log: _Pairs) -> float:
    """Time by which all moving joints lag their reference alike, or lead at least [s]; else 0."""
    moving = np.ptp(log.q_ref, axis=0) > STILL_RANGE
    if not moving.any():
        return 0.0
    lags, explained = _lags(log.time, log.q[:, moving], log.q_ref[:, moving])
    if (lags * lags[0] <= 0).any() or (explained <= EXPLAINS).any():
        return 0.0
    if np.ptp(np.log(np.abs(lags))) < np.log(ALIKE):
        return float(np.median(lags))
    return float(lags.max()) if lags.max() < -LATE else 0.0


def _lags(time: Floats, q: Floats, q_ref: Floats) -> TwoArrays:
    """Times by which joints lag their reference [s], and how much of the error that explains."""
    v = np.gradient(q_ref, time, axis=0)
    v = v - v.mean(axis=0)
    error = q_ref - q
    error = error - error.mean(axis=0)
    lag = (v * error).sum(axis=0) / (v * v).sum(axis=0)
    squares = ((error - lag * v) ** 2).sum(axis=0)
    return lag, 1 - squares / (error**2).sum(axis=0)

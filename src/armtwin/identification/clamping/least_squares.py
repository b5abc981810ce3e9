"""Robust least squares: the hysteretic transmission fitted to all samples, with uncertainties.

Distances of the samples from the curve (`hysteresis`) are minimised by robust least squares (soft
L1 loss), with friction that follows the angle and with friction that follows the torque; the one
that explains more is taken. Half-cycles far from the rest, as those of a start transient, are left
out and the fit is repeated. Half-cycles are the blocks of its deviations.
"""

from dataclasses import dataclass, replace
from operator import itemgetter

import numpy as np

from armtwin.identification.clamping.algorithm_one import NOT_CENTRED
from armtwin.identification.clamping.curves import line, moving_average, passes_zero
from armtwin.identification.clamping.half_cycles import RESTS, HalfCycle
from armtwin.identification.clamping.hysteresis import (
    BACKLASH,
    BENDING,
    CENTRE,
    FRICTION,
    OFFSET,
    SETTLED,
    SETTLING,
    STIFFNESS,
    Turns,
    beyond_gap,
    distances,
    friction_of,
    torque_errors,
    turns_of,
)
from armtwin.identification.clamping.record import TransmissionEstimate, named
from armtwin.identification.fitting import estimate as fits
from armtwin.maths.batch import Flags, Floats, Indices, TwoArrays
from armtwin.maths.blas import one_blas_thread

NAME = "least squares"
LEAST_TURNS = 2  # half-cycles that follow a turn
TUKEY = 2.0  # standard deviations beyond which a distance is down-weighted
FAR = 3.0  # times the usual distance at which a half-cycle is left out
SHORTEST_BENDING, LONGEST_BENDING = 2e-3, 0.2  # of the whole turn: pre-sliding distance r
ZERO_TORQUE = 0.2  # of the friction: what forward and backward friction differ by, about
STARTS = (0.0, 0.03, 0.12)  # of the whole turn: backlashes from which the search starts
ROUNDS = 3  # of the search, each with the noise of the one before
FREE = [STIFFNESS, BACKLASH, FRICTION, CENTRE, OFFSET, BENDING, SETTLED, SETTLING]
FREE_WITHOUT_GAP = [STIFFNESS, FRICTION, CENTRE, BENDING, SETTLED, SETTLING]
MOST_SETTLED = 0.3  # of the whole turn: what a clamp settles by
SHORTEST_SETTLING, LONGEST_SETTLING = 0.1, 1.5  # half-cycles: time constant T of the clamp
WAVE = 0.3  # share of the residual that a wave explains: more than noise does
WAVE_ROUNDS = 3  # of wave and curve, each with the other of the round before
SAMPLES = 5000  # of a curve that is searched: neighbouring ones are averaged to this number
STUCK, MOVING = 0.2, 0.8  # of its usual speed: a motor sticks, or moves, while its torque swings
UNKNOWN = 0.03  # of the friction: torque errors that matter where it is not seen which of both
SELDOM = 0.02  # share of the samples in which a motor that sticks changes nothing
SHARE = 20  # of a half-cycle that is averaged at most: one of so many parts
RISE = 3.0  # deviations of its noise by which the torque rises in a moving average
UNRESOLVED = (
    "the torque swings faster than the samples show: whether the motor sticks meanwhile is not "
    "visible, and friction not identifiable. Log more samples in a second."
)
HIDDEN_GAP = 1.5  # times the half width of a stiffness that a gap at its bound may soften
FINEST = 1e-4  # of the whole turn and torque: noise that an angle and a torque have at least


@dataclass(frozen=True, eq=False)
class LeastSquares:
    """Result of least squares.

    Attributes:
        found: The transmission.
        theta: The parameters of `hysteresis`, (8,); None where it was refused before.
        turns: Samples that were used; None likewise.
        left: Distances of the fit, (m,) [N m].
        left_out: Numbers of half-cycles, from the first turn on, that were left out.
        doubt: Why it is not to be believed, a sentence; "" where it is.
        waves: Torque by which waves change the mean distance of the curves at most [N m].
    """

    found: TransmissionEstimate
    theta: Floats | None = None
    turns: Turns | None = None
    left: Floats | None = None
    left_out: Indices = ()
    doubt: str = ""
    waves: float = 0.0


@one_blas_thread()
def least_squares(
    time: Floats, q: Floats, tau: Floats, half_cycles: list[HalfCycle]
) -> LeastSquares:
    """Least squares on times [s], motor angles [rad] and torques [N m], (m,), with half-cycles."""
    turns = _average_samples(time, q, tau, half_cycles)
    if turns.count < LEAST_TURNS:
        sentence = (
            f"the torque turns {turns.count} times; it must turn at least {LEAST_TURNS} times, as "
            "friction is the distance of a rising and a decreasing half-cycle."
        )
        return LeastSquares(TransmissionEstimate(NAME, refused=sentence))
    turn, torque = float(np.ptp(q)), float(np.ptp(tau))
    half_cycle = float(np.ptp(turns.time)) / turns.count
    scaled = replace(
        turns,
        q=turns.q / turn,
        tau=turns.tau / torque,
        since=turns.since / turn,
        time=(turns.time - turns.time[0]) / half_cycle,
        angle_noise=max(turns.angle_noise / turn, FINEST),
    )
    size = np.array([torque / turn, turn, torque, turn, torque, turn, turn, half_cycle])
    by_torque = _fit_without_outliers(replace(scaled, by_torque=True))
    by_angle = _fit_without_outliers(scaled.only(_slides(scaled)), by_torque.theta)
    best = _choose(by_angle, by_torque)
    if not best.turns.by_torque:
        best = _fit_without_wave(best)
    return _build_result(best, turns.count, size)


def _average_samples(time: Floats, q: Floats, tau: Floats, half_cycles: list[HalfCycle]) -> Turns:
    """The samples by their turns, neighbours averaged; the angle's noise after that."""
    together = -(-len(q) // SAMPLES)
    whole = len(q) // together * together
    averaged = np.stack([time, q, tau])[:, :whole].reshape(3, -1, together).mean(axis=2)
    times, angles, torques = averaged
    parts = []
    for part in half_cycles:
        parts.append(HalfCycle(part.start // together, part.stop // together, part.direction))
    ramp = float(np.ptp(torques)) * max(len(parts), 1) / len(torques)  # in a sample
    window = int(np.ceil((RISE * _roughness(torques) / ramp) ** (2 / 3)))
    window = min(window, len(torques) // (SHARE * max(len(parts), 1)))
    window += 1 - window % 2
    step = float(np.diff(np.unique(q)).min())
    noise = np.hypot(_roughness(angles) / np.sqrt(window), step / 12**0.5)
    smooth = moving_average(angles, window), moving_average(torques, window)
    turns = turns_of(times, *smooth, parts)
    return replace(turns, angle_noise=float(noise))


def _roughness(x: Floats) -> float:
    """Standard deviation of the noise of a slow signal (m,), from its second differences."""
    return 1.4826 * float(np.median(np.abs(np.diff(x, 2)))) / 6**0.5


def _slides(turns: Turns) -> Flags:
    """Samples that have left their turn, where dry friction may have any value, (m,)."""
    away = turns.direction * (turns.q - turns.since)
    return np.asarray(away > min(max(RESTS, 3 * turns.angle_noise), 0.5 * away.max()))


@dataclass(frozen=True, eq=False)
class _Fit:
    """A fit of scaled samples.

    Attributes:
        theta: The parameters, (8,).
        ratio: λ of its distances.
        gap: Whether the curve passes the gap at all.
        turns: Samples that were used.
        outliers: Numbers of half-cycles that were left out.
        cost: Mean soft distance of the samples.
        bias: Half widths of what noise that averages out does not show, (8,).
        doubt: Why the fit is not to be believed, a sentence; "" where it is.
        waves: Torque by which waves change the mean distance of the curves at most.
    """

    theta: Floats
    ratio: float
    gap: bool
    turns: Turns
    outliers: list[int]
    cost: float
    bias: Floats
    doubt: str = ""
    waves: float = 0.0


def _choose(by_angle: _Fit, by_torque: _Fit) -> _Fit:
    """The fit by what drives the motor.

    A torque that swings back stops a motor that it drives, and does not stop one whose angle is
    driven: the motor's speed while its torque says that it sticks decides, between the turning
    regions and after friction has changed sides. Where the motor hardly ever sticks both fits
    should say the same; the nearer one is taken, and half of what they differ by is its bias. A
    motor that sticks slides at the crests of its torque alone: their noise, and what few samples
    miss of them, a part of what the fits differ by, is taken for friction. Few samples of a wave
    leave open which of both it is.
    """
    turns, theta = by_torque.turns, by_torque.theta
    s, number = turns.direction, turns.number
    slides = s * friction_of(theta, turns).torque >= (1 - 1e-9) * theta[FRICTION]
    last_slide = np.maximum.accumulate(np.where(slides, np.arange(len(s)), 0))
    begun = number[last_slide] == number
    middle = 0.5 * (turns.q.min() + turns.q.max())
    inside = begun & (np.abs(turns.q - middle) < 0.4 * np.ptp(turns.q))
    stuck = inside & ~slides
    if stuck.sum() <= SELDOM * inside.sum():
        nearer = min(by_angle, by_torque, key=lambda fit: fit.cost)
        return replace(nearer, bias=0.5 * np.abs(by_angle.theta - by_torque.theta))
    steps = s * np.gradient(turns.q)
    speed = float(steps[stuck].mean() / steps[inside].mean())
    if speed > 0.5 * (STUCK + MOVING):
        chosen = by_angle
    else:
        bias = np.zeros(len(theta))
        apart = by_angle.theta[FRICTION] - theta[FRICTION]
        bias[FRICTION] = np.hypot(_spread(torque_errors(theta, turns)), apart / 3)
        short = theta[FRICTION] - s * friction_of(theta, turns).torque
        chosen = replace(by_torque, bias=bias, waves=float(short[inside].mean()))
    errors = _spread(torque_errors(chosen.theta, chosen.turns)[_slides(chosen.turns)])
    is_open = STUCK < speed < MOVING and errors > UNKNOWN * chosen.theta[FRICTION]
    return replace(chosen, doubt=UNRESOLVED if is_open else "")


def _fit_without_wave(fit: _Fit) -> _Fit:
    """The fit without the wave that other joints leave in the torque, where there is one.

    A wave of one frequency does not average out within a half-cycle, but is told from the curve by
    its time: wave and curve are fitted in turn.
    """
    turns, wave = fit.turns, np.zeros(len(fit.turns.q))
    for _ in range(WAVE_ROUNDS):
        left = torque_errors(fit.theta, replace(turns, tau=turns.tau - wave)) + wave
        wave = _find_wave(turns.time, left)
        if np.var(left - wave) > (1 - WAVE) * np.var(left):
            return fit
        calm = replace(turns, tau=turns.tau - wave)
        theta, _ = _fit(calm, fit.theta)
        amplitude = 2**0.5 * float(np.std(wave))
        ratio = _noise_ratio(theta, calm)
        fit = replace(fit, theta=theta, ratio=ratio, turns=calm, waves=amplitude)
    return fit


def _find_wave(time: Floats, x: Floats) -> Floats:
    """The wave of one frequency that explains most of a signal (m,) at times (m,) in half-cycles.

    Its frequency is that of the highest line of the spectrum, then refined by Gauss-Newton steps.
    """
    even = np.linspace(time[0], time[-1], 2 * len(time))
    spectrum = np.abs(np.fft.rfft(np.interp(even, time, x), 8 * len(even)))
    omega = 2 * np.pi * np.fft.rfftfreq(8 * len(even), even[1] - even[0])
    slow = omega < 2 * np.pi  # shorter than a half-cycle, else it is a part of the curve
    spectrum[slow] = 0.0
    at = float(omega[int(np.argmax(spectrum))])
    for _ in range(WAVE_ROUNDS):
        c, s = np.cos(at * time), np.sin(at * time)
        (a, b), *_ = np.linalg.lstsq(np.column_stack([c, s]), x, rcond=None)
        columns = np.column_stack([c, s, time * (b * c - a * s)])
        at += float(np.linalg.lstsq(columns, x - a * c - b * s, rcond=None)[0][2])
    return a * np.cos(at * time) + b * np.sin(at * time)


def _fit_without_outliers(turns: Turns, start: Floats | None = None) -> _Fit:
    theta, gap = _fit(turns, start)
    outliers = _far_half_cycles(theta, turns)
    used = turns.only(~np.isin(turns.number, outliers))
    if outliers:
        theta, gap = _fit(used, theta)
    return _Fit(
        theta, _noise_ratio(theta, used), gap, used, outliers, _cost(theta, used), 0 * theta
    )


def _build_result(fit: _Fit, count: int, size: Floats) -> LeastSquares:
    """The result of a fit of scaled samples, `count` half-cycles in all."""
    residual = distances(fit.theta, fit.turns, fit.ratio)[0] * size[FRICTION]
    free = FREE if fit.gap else FREE_WITHOUT_GAP
    fitted = _assess(fit, free).transform(lambda values: values * size[free], 1 / size[free])
    found = _build_estimate(fitted, residual, fit, count)
    turns = replace(
        fit.turns,
        q=fit.turns.q * size[CENTRE],
        tau=fit.turns.tau * size[FRICTION],
        since=fit.turns.since * size[CENTRE],
        time=fit.turns.time * size[SETTLING],
    )
    return LeastSquares(
        found=found,
        theta=fit.theta * size,
        turns=turns,
        left=residual,
        left_out=tuple(fit.outliers),
        doubt=fit.doubt,
        waves=fit.waves * float(size[FRICTION]),
    )


def _fit(turns: Turns, start: Floats | None = None) -> tuple[Floats, bool]:
    """The best parameters, and whether the curve passes the gap at all.

    Without a start from several gaps, of a clamp that is settled.
    """
    first = _first_guess(turns) if start is None else start
    gap = passes_zero(first[STIFFNESS] * (turns.q - first[CENTRE]))
    free = FREE if gap else FREE_WITHOUT_GAP
    if turns.by_torque:
        free = [place for place in free if place != BENDING]
    if start is not None:
        return _search(start, free, turns)[0], gap
    settled = [place for place in free if place not in (SETTLED, SETTLING)]
    tried = []
    for backlash in STARTS if gap else (0.0,):
        begin = first.copy()
        begin[BACKLASH] = backlash
        tried.append(_search(begin, settled, turns))
    return _search(min(tried, key=itemgetter(1))[0], free, turns)[0], gap


def _first_guess(turns: Turns) -> Floats:
    """Parameters of straight lines through rising and decreasing samples, small gap."""
    rising = turns.direction > 0
    middle = float(turns.q.mean())
    lines = [line(turns.q[flags], turns.tau[flags]) for flags in (rising, ~rising)]
    K = max(float(np.mean([slope for slope, _ in lines])), 1e-3)
    up, down = (start + slope * middle for slope, start in lines)
    F = max(0.5 * (up - down), 1e-3)
    centre = middle - 0.5 * (up + down) / K
    return np.array([K, 0.0, F, centre, 0.0, 5 * SHORTEST_BENDING, 0.0, 0.5])


def _search(start: Floats, free: list[int], turns: Turns) -> tuple[Floats, float]:
    """Parameters of minimal distances, those beyond two deviations down-weighted."""
    lowest = np.full(len(start), -np.inf)
    lowest[[STIFFNESS, BACKLASH, FRICTION]] = 1e-6, 0.0, 1e-9
    lowest[[BENDING, SETTLED, SETTLING]] = SHORTEST_BENDING, -MOST_SETTLED, SHORTEST_SETTLING
    highest = np.full(len(start), np.inf)
    highest[[BACKLASH, BENDING]] = 0.9, LONGEST_BENDING
    highest[[SETTLED, SETTLING]] = MOST_SETTLED, LONGEST_SETTLING
    theta = np.clip(start, lowest, highest)
    empty = np.zeros((len(turns.q) + 1, 0))
    for _ in range(ROUNDS):
        ratio = _noise_ratio(theta, turns)
        scale = _spread(distances(theta, turns, ratio)[0])

        def whole(x: Floats, former: Floats = theta) -> Floats:
            changed = former.copy()
            changed[free] = x
            return changed

        def model(x: Floats, ratio: float = ratio, scale: float = scale) -> TwoArrays:
            now = whole(x)
            prior = np.sqrt(_prior_of_offset(now, turns, scale)) * now[OFFSET]
            return empty, np.append(distances(now, turns, ratio)[0], prior)

        def slopes(x: Floats, _: Floats, ratio: float = ratio, scale: float = scale) -> Floats:
            now = whole(x)
            row = np.zeros(len(now))
            row[OFFSET] = np.sqrt(_prior_of_offset(now, turns, scale))
            row[FRICTION] = -row[OFFSET] * now[OFFSET] / now[FRICTION]
            return -np.vstack([distances(now, turns, ratio)[1], row])[:, free]

        inside = np.clip(theta[free], lowest[free], highest[free])
        limits = lowest[free], highest[free]
        shapes = fits.ShapeParameters(
            inside, *limits, close=1e-6, outlying=TUKEY * scale, slopes=slopes
        )
        theta = whole(fits.search(model, shapes)[0])
    return theta, _cost(theta, turns)


def _cost(theta: Floats, turns: Turns) -> float:
    """Mean soft distance of sliding samples, whole turn and whole torque counting alike."""
    alike = distances(theta, turns, 1.0)[0][_slides(turns)]
    return float(np.mean(_soft(alike, TUKEY * _spread(alike))))


def _noise_ratio(theta: Floats, turns: Turns) -> float:
    """λ: noise of the torque, what the angle's leaves of the torque errors, over the angle's."""
    whole = _spread(torque_errors(theta, turns)[_slides(turns)])
    from_angle = theta[STIFFNESS] * turns.angle_noise
    return np.sqrt(max(whole**2 - from_angle**2, 0.01 * whole**2)) / turns.angle_noise


def _prior_of_offset(theta: Floats, turns: Turns, scale: float) -> float:
    """One over the square of the prior's deviation of the offset, weak beside the samples."""
    return len(turns.q) * (1e-3 * scale / (ZERO_TORQUE * theta[FRICTION])) ** 2


def _spread(x: Floats) -> float:
    """Standard deviation of most of the distances, from their median."""
    return max(1.4826 * float(np.median(np.abs(x))), 1e-6)


def _soft(x: Floats, scale: float) -> Floats:
    """Squares up to the scale, straight beyond."""
    return 2 * scale**2 * (np.sqrt(1 + (x / scale) ** 2) - 1)


def _far_half_cycles(theta: Floats, turns: Turns) -> list[int]:
    """Half-cycles whose rms distance is far above the usual one; at most half of them."""
    away = distances(theta, turns, 1.0)[0]
    sizes = np.empty(turns.count)
    for k in range(turns.count):
        sizes[k] = np.sqrt(np.mean(away[turns.number == k] ** 2))
    usual = np.median(sizes)
    far = np.flatnonzero(sizes > FAR * usual)
    if turns.count - len(far) < max(LEAST_TURNS, turns.count / 2):
        return []
    return far.tolist()


def _assess(fit: _Fit, free: list[int]) -> fits.ParameterEstimate:
    """The parameters that were free, half-cycles being independent of each other."""
    e, J = distances(fit.theta, fit.turns, fit.ratio)
    scale = _spread(e)
    root = (1 + (e / (TUKEY * scale)) ** 2) ** -0.25
    prior = np.zeros(len(fit.theta))
    prior[OFFSET] = _prior_of_offset(fit.theta, fit.turns, scale)
    noise = fits.RowNoise(fit.turns.number, independent=None)
    rows = (J[:, free] * root[:, None])[:, None], (e * root)[:, None]
    fitted = fits.assess(fit.theta[free], *rows, noise, prior[free])
    # encoder steps, averages and waves err alike in every half-cycle, as a torque at one end would;
    # a gap lies between both ends
    alike = np.zeros(len(fit.theta))
    alike[STIFFNESS] = _spread(torque_errors(fit.theta, fit.turns)[_slides(fit.turns)])
    alike[BACKLASH] = 0.5 * alike[STIFFNESS] / fit.theta[STIFFNESS]
    bias = np.diag(fit.bias[free] ** 2 + alike[free] ** 2)
    widened = fitted.covariance + bias / float(fits.student(np.inf)) ** 2
    return replace(fitted, covariance=widened, reach=fitted.reach + bias)


def _build_estimate(
    fitted: fits.ParameterEstimate, residual: Floats, fit: _Fit, count: int
) -> TransmissionEstimate:
    rms = float(np.sqrt(np.mean(residual**2)))
    driver = "torque" if fit.turns.by_torque else "angle"
    used = count - len(fit.outliers)
    notes = [
        f"{used} half-cycles after a turn used, rms distance {rms:.3g} N m",
        f"friction follows the motor's {driver}",
    ]
    if fit.outliers:
        numbers = ", ".join(str(k + 1) for k in fit.outliers)
        notes.append(f"left out as far from the others: half-cycle {numbers} after the first turn")
    free = FREE if fit.gap else FREE_WITHOUT_GAP
    numbered = {"stiffness": STIFFNESS, "friction": FRICTION}
    shows_gap = fit.gap and _shows_gap(fit, fitted.only([free.index(BACKLASH)]).low[0])
    if shows_gap:
        numbered["backlash"] = BACKLASH
    found = TransmissionEstimate(NAME, refused="" if shows_gap else NOT_CENTRED, notes=tuple(notes))
    for name, place in numbered.items():
        found = replace(found, **named(name, fitted.only([free.index(place)])))
    if fit.gap and not shows_gap and found.stiffness_half is not None:
        found = replace(found, stiffness_half=HIDDEN_GAP * found.stiffness_half)
    return found


def _shows_gap(fit: _Fit, least: float) -> bool:
    """Whether a gap that is there would be seen.

    A gap that is found has a flank on either side. Where none is found the spring's torque must
    pass zero by more than forward and backward friction may differ.
    """
    theta = fit.theta
    spring = theta[STIFFNESS] * beyond_gap(theta, fit.turns)
    if least > 0:
        return passes_zero(spring)
    away = ZERO_TORQUE * theta[FRICTION]
    whole = theta[OFFSET] + spring
    return passes_zero(whole - away) and passes_zero(whole + away)

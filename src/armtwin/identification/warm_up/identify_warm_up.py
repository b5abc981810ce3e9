"""Warm-up of joints from a log of one motion repeated: is the robot warm, and how fast it warms.

    m(t) = m_∞ + x(t),   x' = -x/T (1 + k x/x_0),   x = x_0 e / (1 + k (1 - e)),   e = exp(-t/T)

m is the friction of a cycle, the work of the torque over the travel: weight and inertia do no work
in a closed cycle, so that joints that carry weight are identifiable too. Where positions are not
closed, it is the mean absolute torque of document 004. A joint is warm, as there, when the relative
change from cycle to cycle is below a limit: of the fitted curve, which averages the noise of single
cycles, or of the mean torques where there is none.

Why not an exponential: the temperature obeys C T' = P(T) - L (T - T_ambient), and the viscous part
of the friction decays as exp(β/T), steepest while the oil is cold. Friction then decays faster at
first than in the end, and an exponential through all of it has a time constant 10 to 15 % short of
that of the end, 1/T = (L - dP/dT) / C. Any such balance is x' = F(x) with F(0) = 0; its first two
terms are those above, and the second follows from the balance:

    k = r (m_0 - m_∞) / m_∞,   r = (1 + h) (1 + 2 T/β) / (2 s)

with s the viscous share of the final friction and h the share of L - dP/dT that is -dP/dT. Neither
is known; r has a prior at its usual size, which matters where the cycles do not identify it.

Ref: [Memar-Esfahani 2015, section II, fig. 3], [Waiboer 2007, eq. 3.67]

Warm-up of the joints of a log, and its report.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.identification.fitting import estimate as fits
from armtwin.identification.fitting.comparison import shift_to_vertex
from armtwin.logs.joints import torque_channel
from armtwin.logs.log import Log
from armtwin.logs.rest import STILL_SHARE
from armtwin.logs.warm_up import WarmUpState, warm_up_state
from armtwin.maths.batch import Floats, Record, TwoArrays
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.report.result import Result

SECONDS = Number(1.0, "s", digits=4)
CHART_CYCLES = 60  # cycles in a chart


@dataclass(frozen=True)
class JointWarmUp:
    """How a joint warms.

    Attributes:
        joint: Its number, from 1.
        first: Friction of the first cycle.
        last: Friction of the last cycle.
        decay: Relative decay from the first to the final friction, else to the last.
        warm_at: Time from which on the joint is warm [s]; nan where it never is.
        by: What the friction is, "work" or "mean torque".
        final: Friction at the end of the warm-up; nan where it is not identifiable.
        time_constant: Of the end of the decay, when the friction is near its final one [s]; nan
            where it is not identifiable.
        time_constant_std: Its standard deviation [s].
        time_constant_low: Lower end of its 95 % interval [s].
        time_constant_high: Upper end [s].
        refused: Why there is no time constant, "" where there is one.
    """

    joint: int
    first: float
    last: float
    decay: float
    warm_at: float
    by: str
    final: float = np.nan
    time_constant: float = np.nan
    time_constant_std: float = np.nan
    time_constant_low: float = np.nan
    time_constant_high: float = np.nan
    refused: str = ""

    @property
    def warm(self) -> bool:
        """Whether it is warm at the end of the log."""
        return bool(np.isfinite(self.warm_at))


@dataclass(frozen=True, eq=False, repr=False)
class WarmUpIdentification(Result):
    """Warm-up of the joints of a log.

    Attributes:
        table: The joints that move.
        state: Mean absolute torques of the cycles, and when they settled.
        friction: Friction of each cycle and joint of the table, (cycles, joints).
        fitted: The fitted decay; nan where it is not identifiable, (cycles, joints).
        period: Duration of a cycle [s].
        limit: Relative change of the mean torque from cycle to cycle of a joint that is warm.
        unit: Unit of the torques.
        origin: The log.
    """

    table: tuple[JointWarmUp, ...]
    state: WarmUpState
    friction: Floats
    fitted: Floats
    period: float
    limit: float
    unit: str
    origin: str

    @property
    def warm(self) -> bool:
        """Whether all joints that move are warm at the end."""
        return all(joint.warm for joint in self.table)

    def sections(self) -> show.Report:
        """Whether the robot is warm, and the decay of its friction."""
        return show.Report(
            title=f"{file_name(self.origin, 'log')}: warm-up",
            subtitle=f"{len(self.friction)} cycles of {self.period:.4g} s",
            sections=(
                show.Section("", _joints(self)),
                show.Section("Friction of the cycles", _charts(self), page_only=True),
            ),
            verdict=(_verdict(self),),
        )


def _verdict(result: WarmUpIdentification) -> show.Text:
    cold = [str(row.joint) for row in result.table if not row.warm]
    if not cold:
        last = max(row.warm_at for row in result.table)
        return show.Text(f"The robot is warm from {last:.4g} s on.", "good")
    changing = f"joint {cold[0]} still changes"
    if len(cold) > 1:
        changing = f"joints {', '.join(cold)} still change"
    return show.Text(f"The robot is not warm: {changing}.", "bad")


def _joints(result: WarmUpIdentification) -> show.Blocks:
    columns = show.list_columns(
        joint=("joint", Number()),
        first=(f"first {result.unit}", PLAIN),
        last=(f"last {result.unit}", PLAIN),
        decay=("decay", Number(100.0, "%")),
        time_constant=("time constant", SECONDS),
        time_constant_low=("95 % from", SECONDS),
        time_constant_high=("to", SECONDS),
        warm_at=("warm at", SECONDS),
    )
    records: list[Record] = [{**asdict(row), "warm": row.warm} for row in result.table]
    yield show.Table(columns, records, "joints")
    for row in result.table:
        if row.refused:
            yield show.Text(f"joint {row.joint}: no time constant, as {row.refused}.")
    yield show.Text(
        f"Warm: friction changes by less than {100 * result.limit:g} % from cycle to cycle, "
        "by the fitted decay, or by the mean absolute torque where there is none. Friction is the "
        "work of a cycle over its travel, where the cycle closes. The time constant is that of the "
        "end; with cold oil friction decays faster at first.",
        "soft",
    )
    numbers = {"period_s": result.period, "limit": result.limit}
    yield show.Data({**numbers, "warm": result.warm, "unit": result.unit})


def _charts(result: WarmUpIdentification) -> show.Blocks:
    step = max(1, len(result.state.time) // CHART_CYCLES)
    time = result.state.time[::step]
    axes, charts = (show.Axis("time", "s"), show.Axis("friction", result.unit)), []
    for k, row in enumerate(result.table):
        layers: list[show.Layer] = [show.Points("cycle", time, result.friction[::step, k])]
        if np.isfinite(row.time_constant):
            layers.append(show.Curve("fitted decay", time, result.fitted[::step, k]))
        charts.append(show.Chart(f"joint {row.joint}", *axes, tuple(layers)))
    yield show.Multiples(tuple(charts))


LIMIT = 1e-4  # relative change of the mean torque from cycle to cycle of a joint that is warm
CLOSED = 0.02  # of the travel of a cycle by which its ends may differ
FEWEST = 6  # cycles that identify an exponential
IDENTIFIED = 0.3  # relative standard deviation up to which a time constant is identified
USUAL = 1.2  # r of half of the final friction viscous and a fifth of the cooling by thinner oil
THIRD = 0.005  # of the time constant: effect of the balance's third term
WIDEST = 4.0  # logarithm by which a parameter may differ from its start
FACTOR = 2.0  # standard deviation of r as a factor: viscous shares of 0.25 to 1
LEAST_CORRELATION = 0.9  # correlation of the motion with itself one cycle later


def identify_warm_up(
    log: Log, *, period: float | None = None, limit: float = LIMIT, torque: str | None = None
) -> WarmUpIdentification:
    """Whether the joints of a log are warm, and the time constants with which they warm.

    Args:
        log: A log of a motion that is repeated, with q and a torque or a current.
        period: Duration of a cycle [s]; by default the one with which the positions repeat.
        limit: Relative change of the mean torque from cycle to cycle of a joint that is warm.
        torque: Channel of the torque; by default tau, else tau_m, else current.
    """
    name = log.origin or "the log"
    source = torque_channel(log, torque)
    if "q" not in log:
        raise ArmtwinError(f"{name}: a warm-up needs joint positions q")
    travel = np.abs(np.diff(log.q, axis=0)).sum(axis=0)
    if not travel.any():
        raise ArmtwinError(f"{name}: no joint moves, so no joint warms")
    if not 0 < limit < 1:
        raise ArmtwinError(f"limit must be a share between 0 and 1, got {limit:g}")
    duration = find_period(log) if period is None else period
    shortest = float(np.diff(log.time).min(initial=np.inf))
    if not duration >= shortest:
        raise ArmtwinError(f"period must be above 0 s, a step of {shortest:g}, got {duration:g}")
    tau = log.channels[source]
    state = warm_up_state(Log(log.time, {"tau": tau}), duration, limit)
    moving = np.flatnonzero(travel > STILL_SHARE * travel.max())
    moving = moving[moving < tau.shape[1]]
    rows, friction, fitted = [], [], []
    since = state.time - 0.5 * duration - log.time[0]  # friction of a cycle is that of its middle
    for j in moving.tolist():
        values, by = _friction(log.time, log.q[:, j], tau[:, j], state, j, duration)
        row, curve = _joint(j, since, values, state, limit, by)
        rows.append(row)
        friction.append(values)
        fitted.append(curve)
    unit = "A" if source.startswith("current") else "N m"
    columns = np.array(friction).T, np.array(fitted).T
    return WarmUpIdentification(tuple(rows), state, *columns, duration, limit, unit, log.origin)


def find_period(log: Log) -> float:
    """Time after which the positions repeat, by their correlation with themselves [s]."""
    m = len(log.time)
    step = float(np.ptp(log.time)) / max(m - 1, 1)
    even = np.arange(m) * step + log.time[0]
    size = 2 ** int(np.ceil(np.log2(2 * m)))
    power = np.zeros(size // 2 + 1)
    for q in log.q.T:
        x = np.interp(even, log.time, q)
        power += np.abs(np.fft.rfft(x - x.mean(), size)) ** 2
    correlation = np.fft.irfft(power)[: m // 2]
    overlap = m / (m - np.arange(len(correlation)))  # later shifts leave fewer samples
    correlation = correlation / correlation[0] * overlap
    below = np.flatnonzero(correlation < 0)
    if not len(below):
        raise _not_repeated(log)
    later = below[0] + int(np.argmax(correlation[below[0] :]))
    # the first shift that is as good as the best: the others are whole numbers of it
    best = correlation[later]
    good = np.flatnonzero(correlation > max(LEAST_CORRELATION, best - 0.02))
    good = good[good > below[0]]
    if not len(good):
        raise _not_repeated(log)
    first = int(good[0])
    end = first
    while end + 1 < len(correlation) and correlation[end + 1] > correlation[end]:
        end += 1
    return (end + shift_to_vertex(-correlation, end)) * step


def _not_repeated(log: Log) -> ArmtwinError:
    return ArmtwinError(
        f"{log.origin or 'the log'}: its motion does not repeat; a warm-up needs one motion over "
        "and over, or the period of its cycles"
    )


def _friction(
    time: Floats, q: Floats, tau: Floats, state: WarmUpState, j: int, period: float
) -> tuple[Floats, str]:
    """Friction of each cycle, (cycles,), and its kind."""
    cycles = len(state.time)
    ends = time[0] + period * np.arange(cycles + 1)
    middle = 0.5 * (tau[1:] + tau[:-1])
    work = np.concatenate([[0.0], np.cumsum(middle * np.diff(q))])
    travel = np.concatenate([[0.0], np.cumsum(np.abs(np.diff(q)))])
    position = np.interp(ends, time, q)
    done, gone = np.diff(np.interp(ends, time, work)), np.diff(np.interp(ends, time, travel))
    closed = np.abs(np.diff(position)) < CLOSED * np.maximum(gone, 1e-300)
    found = done / np.maximum(gone, 1e-300)
    if closed.all() and (found > 0).all():
        return found, "work"
    return state.mean_torque[:, j], "mean torque"


@dataclass(frozen=True)
class _Decay:
    """A decay of friction.

    Attributes:
        final: Friction at the end.
        fall: Friction at time 0 above it.
        constant: Time constant of the end [s].
        bend: k, by how much the decay is faster at time 0.
        std: Standard deviation of the logarithm of the time constant.
        half_width: Half width of its 95 % interval.
    """

    final: float
    fall: float
    constant: float
    bend: float
    std: float
    half_width: float

    def at(self, time: Floats) -> Floats:
        """Friction at times."""
        return self.final + self.fall * _fade(time, self.constant, self.bend)


def _fade(time: Floats, constant: float, bend: float) -> Floats:
    """Share of the decay that is left at times."""
    fade = np.exp(-time / constant)
    return fade / (1 + bend * (1 - fade))


def _joint(
    j: int, time: Floats, friction: Floats, state: WarmUpState, limit: float, by: str
) -> tuple[JointWarmUp, Floats]:
    """A joint's row and the fitted decay of the friction of its cycles."""
    ends = state.time
    first, last = float(friction[0]), float(friction[-1])
    warm_at = float(state.warm_at[j])
    unidentified = JointWarmUp(j + 1, first, last, 1 - last / first, warm_at, by)
    found = _fit_decay(time, friction)
    if isinstance(found, str):
        return replace(unidentified, refused=found), np.full(len(friction), np.nan)
    curve = found.at(time)
    change = -np.diff(curve) / curve[:-1]
    calm = np.flatnonzero(change < limit)
    width = float(np.exp(found.half_width))
    identified = replace(
        unidentified,
        final=found.final,
        decay=1 - found.final / first,
        time_constant=found.constant,
        time_constant_std=found.std * found.constant,
        time_constant_low=found.constant / width,
        time_constant_high=found.constant * width,
        warm_at=float(ends[calm[0] + 1]) if len(calm) else np.nan,
    )
    return identified, curve


def _fit_decay(time: Floats, friction: Floats) -> _Decay | str:
    """The decay of the friction of cycles; or why it is not identifiable."""
    if len(friction) < FEWEST:
        return f"{len(friction)} cycles do not identify an exponential, {FEWEST} are needed"
    plain = _fit_exponential(time, friction)
    if not plain.std < IDENTIFIED or plain.constant > 10 * np.ptp(time):
        return "the friction does not decay exponentially"
    if not plain.fall > 0:
        return "the friction does not decay"
    found = _fit_faster_decay(time, friction, plain)
    if not found.std < IDENTIFIED or not min(found.final, found.fall) > 0:
        return "the log is too short to identify the final friction"
    return found


def _fit_exponential(time: Floats, y: Floats) -> _Decay:
    """Fit an exponential to points."""
    span = np.ptp(time)

    def model(x: Floats) -> TwoArrays:
        return np.column_stack([np.ones(len(time)), np.exp(-time / np.exp(x[0]))]), y

    tried = np.log(np.geomspace(0.02 * span, 20 * span, 40))[:, None]
    squares = [float((fits.solve(*model(x)).residual ** 2).sum()) for x in tried]
    found = fits.fit_separable(model, fits.ShapeParameters(tried[np.argmin(squares)]))
    final, fall, log = found.values.tolist()
    widths = float(found.std[2]), float(found.half_width[2])
    return _Decay(final, fall, float(np.exp(log)), 0.0, *widths)


def _fit_faster_decay(time: Floats, y: Floats, plain: _Decay) -> _Decay:
    """Fit a decay that is faster at first, started from an exponential.

    Shapes are logarithms of the time constant over the exponential's and of r over its usual size;
    the latter has a prior at 0.
    """
    noise, usual = _scatter(y), USUAL * plain.fall / abs(plain.final)

    def model(x: Floats) -> TwoArrays:
        fade = _fade(time, plain.constant * np.exp(x[0]), usual * np.exp(x[1]))
        return np.column_stack([np.ones(len(time)), fade]) / noise, y / noise

    prior = np.array([0.0, 1 / np.log(FACTOR) ** 2])
    shapes = fits.ShapeParameters(np.zeros(2), low=-WIDEST, high=WIDEST, prior=prior)
    found = fits.fit_separable(model, shapes, fits.RowNoise(known=max(len(y) - 4, 1)))
    final, fall, longer, stronger = found.values.tolist()
    reach = float(fits.student(found.freedom[2]))
    return _Decay(
        final=final,
        fall=fall,
        constant=plain.constant * float(np.exp(longer)),
        bend=usual * float(np.exp(stronger)),
        std=float(np.hypot(found.std[2], THIRD)),
        half_width=float(np.hypot(found.half_width[2], reach * THIRD)),
    )


def _scatter(y: Floats) -> float:
    """Noise of points about a smooth curve, by their second differences."""
    bend = np.diff(y, 2)
    return max(float(np.sqrt((bend**2).mean() / 6)), 1e-9 * float(np.abs(y).max()))

"""The 90 % interval of a twin's run on a logged reference, and how much of the log it holds.

A fitted servo is varied by the error that it leaves in other runs, one that is assumed by the
widths of its numbers and of the friction. Each variant gets the offsets that the user asked for.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.uncertainty import Uncertainty
from armtwin.maths.batch import Floats, NamedArrays, Pair
from armtwin.maths.interpolation import interpolate_columns
from armtwin.motion.trajectory import Trajectory
from armtwin.prediction.agreement import Series
from armtwin.prediction.band.distribution import HIGH, LOW
from armtwin.prediction.band.draws import normal_draws
from armtwin.prediction.band.of_drives import friction_quantities
from armtwin.prediction.band.of_servo import servo_quantities
from armtwin.prediction.band.quantity import Variant, sample_variant
from armtwin.prediction.band.residual import (
    APART,
    at_times,
    decay_rates,
    find_drifting,
    sample_knots,
)
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import ErrorSize
from armtwin.simulation.closed_loop import simulate
from armtwin.simulation.model import Model

Offsets = Literal["mean", "start", "logged"]
OFFSETS = ("mean", "start", "logged")
START = 0.05  # of a log whose mean is taken for its start [s]
SAMPLES = 64  # of the error that a fitted servo leaves
RUNS = 16  # of variants of an assumed servo
Z_90 = 1.645  # half width of a 90 % interval in standard deviations


@dataclass(frozen=True)
class IntervalRow:
    """The 90 % interval of one quantity.

    Attributes:
        name: Name of the quantity.
        unit: Its SI unit.
        covered: Share of the logged samples within the interval at their time.
        rms: Interval of the root mean square.
        peak: Interval of the largest magnitude.
        holds_peak: Whether the largest logged magnitude is within its interval.
    """

    name: str
    unit: str
    covered: float
    rms: Pair
    peak: Pair
    holds_peak: bool


def take_offset(gap: Floats, time: Floats, asked: Offsets) -> Floats:
    """What is taken off measured positions that differ from predicted ones by (m, n), (n,)."""
    if asked == "logged":
        return np.zeros(gap.shape[1])
    rows = time <= time[0] + START if asked == "start" else slice(None)
    return np.asarray(gap[rows].mean(axis=0))


@dataclass(frozen=True, eq=False)
class NominalRun:
    """The twin's run on a logged reference.

    Attributes:
        robot: The robot.
        model: What is simulated.
        motion: The reference.
        time: Times of the compared samples, (m,) [s].
        predicted: Positions of the joints there, (m, n) [rad].
        start: Measured minus predicted positions at the start, 0 where nothing is taken off, (n,).
    """

    robot: Robot
    model: Model
    motion: Trajectory
    time: Floats
    predicted: Floats
    start: Floats


def sample_positions(run: NominalRun) -> Iterator[Floats]:
    """Positions of the joints in variants of a run, (m, n) each.

    What the machine had at the start may be an encoder's zero, which stays, or its loop was on its
    way from or to an error: which share of it is not known.
    """
    motion = run.motion
    fit = getattr(run.robot.description.servo[run.model.servo], "fit", None)
    left = None if fit is None else fit.left(motion.v, motion.a)
    decayed = _decay(run)
    if left is None:
        others = _simulate_variants(run)
    else:
        others = _sample_residuals(run, left, None if fit is None else fit.size)
    for number, other in enumerate(others):
        share = np.random.default_rng((1, number)).uniform(-1, 1, run.predicted.shape[1])
        yield other + share * decayed


def _decay(run: NominalRun) -> Floats:
    """How the positions change where all of the start's error decays with the loop, (m, n)."""
    assembly = run.robot.assembly
    if run.robot.n != len(assembly.motor_rows):
        return np.zeros_like(run.predicted)
    drives = run.start @ assembly.motor_rows.T
    decayed = drives * np.expm1(-decay_rates(run.robot, run.model.servo) * run.time[:, None])
    return np.asarray(decayed @ assembly.motor_inverse.T)


def _sample_residuals(run: NominalRun, left: Floats, size: ErrorSize | None) -> Iterator[Floats]:
    """Positions with the error that a fitted servo leaves, rms (n,), as a smooth motion.

    The whole error may be larger or smaller by the width of its size.
    """
    width = 0.0 if size is None else size.width / Z_90
    apart = APART if size is None else max(size.time, APART)
    factors = np.exp(width * normal_draws(SAMPLES, 1, seed=0)[:, 0])
    duration = float(run.time[-1])
    adds_up = find_drifting(run.robot, run.model.servo, duration)
    every = sample_knots(left, duration / apart, SAMPLES, 0, adds_up)
    reference = run.motion.at(run.time)[0]
    for factor, knots in zip(factors, every, strict=True):
        error = run.predicted - reference + at_times(knots, run.time, apart)
        yield reference + factor * error


def _simulate_variants(nominal: NominalRun) -> Iterator[Floats]:
    """Positions in runs of robots whose servo and friction are others, as far as they may be."""
    robot, model, time = nominal.robot, nominal.model, nominal.time
    asked = WidthSettings(Uncertainty())
    quantities = [
        *servo_quantities(robot, model.servo, asked),
        *friction_quantities(robot, model, asked),
    ]
    for z in normal_draws(RUNS, len(quantities), seed=0):
        variant = sample_variant(Variant(robot.description), quantities, z)
        try:
            run = simulate(robot.with_numbers(variant.description), nominal.motion, model)
        except ArmtwinError:
            continue
        if run.trace_time[-1] >= time[-1] - 1e-9:
            yield interpolate_columns(time, run.trace_time, run.motor_side)


def find_interval(
    series: Sequence[Series], variants: Sequence[Callable[[], Iterable[Series]]]
) -> tuple[NamedArrays, tuple[IntervalRow, ...]]:
    """Bounds of 90 % of variants over time, (2, m) by name, and what they hold of a log.

    Args:
        series: Measured and predicted quantities.
        variants: What gives the same quantities of each variant.
    """
    values: dict[str, list[Floats]] = {}
    for variant in variants:
        for one in variant():
            values.setdefault(one.name, []).append(one.pair[1])
    bounds, rows = {}, []
    for one in series:
        if one.name not in values:
            continue
        sampled = np.array(values[one.name])
        low, high = np.percentile(sampled, (LOW, HIGH), axis=0)
        measured = one.pair[0]
        bounds[one.name] = np.stack([low, high])
        peak = _bounds(np.abs(sampled).max(axis=1))
        largest = float(np.abs(measured).max())
        rows.append(
            IntervalRow(
                name=one.name,
                unit=one.unit,
                covered=float(((measured >= low) & (measured <= high)).mean()),
                rms=_bounds(np.sqrt((sampled**2).mean(axis=1))),
                peak=peak,
                holds_peak=bool(peak[0] <= largest <= peak[1]),
            )
        )
    return bounds, tuple(rows)


def _bounds(values: Floats) -> Pair:
    low, high = np.percentile(values, (LOW, HIGH))
    return float(low), float(high)

"""A servovalve from its resonance peak, or from its whole response; delays from phases.

    |H|max = 1 / (2 β √(1 - β²)),   f_max = f_0 √(1 - 2 β²),   delay = -phase / (2π f)
    H(s) = k e^(-s t) / (s²/ω² + 2 β s/ω + 1)

Ref: [Machielsen 1983, sections 6.1.2 and 6.1.3]; it takes f_0 = f_max / (1 - 2 β²), 240 Hz, where
the square root gives 201 Hz, and simulates 1443 rad/s, 230 Hz.

No-load flow of a valve from slow, triangular set-points: each ramp is one point of it.

    Q(i) = v + leakage F     at the mean current, speed and force of a steady ramp

Ref: [Machielsen 1983, section 6.1.4.1]
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.actuator.response_fit import fit_responses, select_coherent
from armtwin.identification.fitting.estimate import ParameterEstimate, ShapeParameters, mean_of
from armtwin.identification.resampling import step_of
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.frequency_response import FrequencyResponse, of_neighbours

LEAST_FREQUENCIES = 8  # of sufficient coherence
LEVEL = 0.2  # frequencies below this share of the peak's show the gain at rest


def valve_from_peak(frequency: float, decibels: float) -> Pair:
    """Natural frequency [Hz] and relative damping of a valve whose gain peaks.

    Args:
        frequency: Frequency of the peak [Hz].
        decibels: Height of the peak above the gain at low frequencies [dB].
    """
    if not frequency > 0 or not decibels > 0:
        raise ArmtwinError(
            f"a resonance peak must be above 0 Hz and 0 dB, got {frequency:g} Hz, {decibels:g} dB"
        )
    height = 10 ** (decibels / 20)
    damping = float(np.sqrt(0.5 * (1 - np.sqrt(1 - 1 / height**2))))
    return frequency / float(np.sqrt(1 - 2 * damping**2)), damping


def delay_from_phase(frequency: float, degrees: float, *others: float) -> float:
    """Delay of one part of a chain from the phase of the chain [s].

    Args:
        frequency: Where the phases are read [Hz].
        degrees: Phase of the whole chain [deg], less than 0.
        others: Phases of its other parts [deg].
    """
    if not frequency > 0:
        raise ArmtwinError(f"frequency must be greater than 0 Hz, got {frequency:g}")
    delay = -(degrees - sum(others)) / (360 * frequency)
    if delay < 0:
        raise ArmtwinError(
            f"the phase of the parts, {sum(others):g} deg, must not lag more than that of the "
            f"whole, {degrees:g} deg"
        )
    return delay


@dataclass(frozen=True, eq=False)
class ValveFit:
    """A valve from its frequency response: by its peak, and by least squares.

    Attributes:
        peak_hz: Frequency of the peak [Hz].
        peak_db: Its height above the gain at low frequencies [dB].
        by_peak: Natural frequency [Hz], relative damping, and delay [s] by the phase there, (3,).
        estimate: The same by least squares of the whole response.
        gain: Gain at low frequencies.
        misfit: Root mean square of the residuals over their expected deviation.
    """

    peak_hz: float
    peak_db: float
    by_peak: Floats
    estimate: ParameterEstimate
    gain: float
    misfit: float

    @property
    def values(self) -> Floats:
        """Natural frequency [Hz], relative damping, and delay [s], (3,)."""
        return self.estimate.values

    @property
    def without_root(self) -> float:
        """Natural frequency by the peak where the square root is forgotten, as in print [Hz]."""
        return float(self.peak_hz / (1 - 2 * self.by_peak[1] ** 2))


def spool_gain(values: Floats, frequency: Floats) -> np.ndarray:
    """Response of a valve of natural frequency [Hz], damping, delay [s] at frequencies, (f,)."""
    natural, damping, delay = values
    share = 1j * frequency / natural
    late = np.exp(-2j * np.pi * frequency * delay)
    return late / (share**2 + 2 * damping * share + 1)


def fit_valve(response: FrequencyResponse) -> ValveFit:
    """A valve from the response of a bare piston's speed to its current.

    Args:
        response: The response up to beyond the peak.
    """
    steady = response.with_smooth_deviations()
    known = steady.where(select_coherent(steady, LEAST_FREQUENCIES))
    size = of_neighbours(known.magnitude)  # the largest of many would be one that errs upwards
    top = np.argmax(size)
    peak = float(known.frequency[top])
    low = known.frequency <= LEVEL * peak
    level = float(np.median(size[low] if low.any() else size[:1]))
    height = 20 * np.log10(size[top] / level)
    if not height > 0:
        raise ArmtwinError(
            "a valve needs a resonance peak; this response decreases from the lowest frequency on"
        )
    natural, damping = valve_from_peak(peak, float(height))
    phase = np.degrees(np.interp(natural, known.frequency, known.phase))
    if phase > -90.0:
        raise ArmtwinError(
            f"the response peaks at {peak:.4g} Hz and lags by {-phase:.0f} deg there, a valve by "
            "more than 90: weight and oil of the robot must be those of the log"
        )
    by_peak = np.array([natural, damping, delay_from_phase(natural, float(phase), -90.0)])

    def answers(logs: Floats) -> list[np.ndarray]:
        return [spool_gain(np.exp(logs), known.frequency)]

    found = fit_responses([known], answers, ShapeParameters(np.log(np.maximum(by_peak, 1e-6))))
    values, gain = found.only(slice(1, 4)).exponential(), float(found.values[0])
    return ValveFit(peak, float(height), by_peak, values, gain, float(found.sigma[0]))


SAME_SLOPE = 1e-3  # relative change of a ramp's slope that begins another
LEAST_IN_RAMP = 20  # samples of a ramp after it has settled


@dataclass(frozen=True, eq=False)
class RampTest:
    """A record of an actuator on triangular set-points.

    Attributes:
        time: Even times, (m,) [s].
        setpoint: Set-point, in any unit, (m,).
        current: Current of the valve, (m,) [A].
        speed: Speed of the piston, (m,) [m/s or rad/s].
        force: Force of the piston, weight and friction, (m,) [N or N m].
    """

    time: Floats
    setpoint: Floats
    current: Floats
    speed: Floats
    force: Floats


@dataclass(frozen=True, eq=False)
class FlowEstimate:
    """No-load flow of a valve.

    Attributes:
        current: Mean current of each ramp, rising, (k,) [A].
        speed: Speed of the unloaded piston at them, (k,) [m/s or rad/s].
        std: Standard deviation of the speeds, counted with the record's correlation, (k,).
        half_width: Half widths of their 95 % intervals, (k,).
    """

    current: Floats
    speed: Floats
    std: Floats
    half_width: Floats

    @property
    def points(self) -> tuple[Pair, ...]:
        """The table of a robot file."""
        pairs = zip(self.current.tolist(), self.speed.tolist(), strict=True)
        return tuple((i, v) for i, v in pairs)


def no_load_flow(test: RampTest, leakage: float, settling: float = 0.1) -> FlowEstimate:
    """Points of the flow from the ramps of a test.

    Args:
        test: The test.
        leakage: Speed lost per force.
        settling: Time after which a ramp is steady [s].
    """
    skipped = round(settling / step_of(test.time))
    wanted = test.speed + leakage * test.force
    points = []
    for start, stop in ramps(test.setpoint):
        steady = slice(start + skipped, stop)
        seen = wanted[steady]
        if len(seen) < LEAST_IN_RAMP:
            continue
        mean = mean_of(seen, None)
        numbers = (mean.values[0], mean.std[0], mean.half_width[0])
        points.append((test.current[steady].mean(), *numbers))
    if len(points) < 2:
        raise ArmtwinError(
            f"a flow needs at least 2 ramps of {LEAST_IN_RAMP} samples after {settling:g} s, got "
            f"{len(points)}"
        )
    return FlowEstimate(*np.array(sorted(points)).T)


def ramps(setpoint: Floats) -> list[tuple[int, int]]:
    """First and last sample of each stretch of a steady slope that is not level."""
    slope = np.diff(setpoint)
    largest = np.abs(slope).max(initial=0.0)
    bends = np.flatnonzero(np.abs(np.diff(slope)) > SAME_SLOPE * largest) + 1
    edges = [0, *bends.tolist(), len(slope)]
    found = []
    for start, stop in pairwise(edges):
        if stop > start and abs(slope[start]) > SAME_SLOPE * largest:
            found.append((start, stop))
    return found

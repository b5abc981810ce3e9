"""Oil, valve and delay of an actuator from frequency responses with several weights.

From the commanded current to the speed of the piston, with small signals:

    H(s) = k e^(-s t_e) V(s) / (1 + (c_o s + c_h) (M s + B))
    V(s) = 1 / (s²/ω_v² + 2 β_v s/ω_v + 1)

All responses share valve, delay and oil; each has its own weight M and its own gain k, for it may
lie on another stretch of the flow.

Ref: [Machielsen 1983, section 6.1]
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting import estimate as fits
from armtwin.maths import frequency_response as spectra
from armtwin.maths.batch import Flags, Floats, TwoArrays

NAMES = ("compliance", "leakage", "viscous", "valve_frequency", "valve_damping", "delay")
UNIDENTIFIABLE_CONDITION = 1e6  # condition number from which not all parameters are identifiable
BANDS = 8  # of a response whose errors count as independent of each other
CLOSE = 1e-6  # of logarithms of parameters that are identified to 0.1 % at best
# where the search begins; the compliance follows from the peaks
VISCOUS, VALVE_FREQUENCY, VALVE_DAMPING, DELAY, DAMPING = 300.0, 1200.0, 0.5, 1e-3, 0.2


@dataclass(frozen=True, eq=False)
class NoiseTest:
    """A record of an actuator that follows noise with a weight on it.

    Attributes:
        mass: The weight [kg].
        time: Even times, (m,) [s].
        current: Commanded current, (m,) [A].
        speed: Speed of the piston, (m,) [m/s].
    """

    mass: float
    time: Floats
    current: Floats
    speed: Floats


@dataclass(frozen=True)
class FrequencyBand:
    """Frequencies that are fitted [Hz], and the length of a window [s]."""

    low: float = 8.0
    high: float = 350.0
    window: float = 0.5

    def response(self, test: NoiseTest, speed: Floats) -> spectra.FrequencyResponse:
        """Response of a speed to the current of a test."""
        whole = spectra.frequency_response(test.time, test.current, speed, self.window)
        return whole.between(self.low, self.high)


@dataclass(frozen=True, eq=False)
class ActuatorFit:
    """Parameters of an actuator from its frequency responses.

    Attributes:
        estimate: Compliance [m/N], leakage [m/(N s)], viscous friction [N s/m], frequency [rad/s]
            and damping of the valve, delay [s].
        gains: Speed per current of each test, (k,) [m/(A s)].
        misfit: Root mean square of the residuals over their expected deviation.
        responses: The measured response of each test.
    """

    estimate: fits.ParameterEstimate
    gains: Floats
    misfit: float
    responses: tuple[spectra.FrequencyResponse, ...]

    @property
    def values(self) -> Floats:
        """The parameters, (6,)."""
        return self.estimate.values


def small_signal(values: Floats, mass: float, frequency: Floats) -> np.ndarray:
    """H at frequencies [Hz] for a gain of 1, complex, (f,)."""
    valve, valve_damping, delay = values[3:]
    s = 2j * np.pi * frequency
    spool = s / valve
    oil = oil_response(values[:3], mass, frequency)
    return oil * np.exp(-s * delay) / (spool**2 + 2 * valve_damping * spool + 1)


def oil_response(values: Floats, mass: float, frequency: Floats) -> np.ndarray:
    """Speed of the piston per flow of its valve at frequencies [Hz], complex, (f,).

        1 / (1 + (c_o s + c_h) (M s + B))

    Args:
        values: Compliance [m/N], leakage [m/(N s)], viscous friction [N s/m].
        mass: What the piston moves [kg]; 0 where that is nothing.
        frequency: The frequencies [Hz].
    """
    compliance, leakage, viscous = values
    s = 2j * np.pi * frequency
    return 1 / (1 + (compliance * s + leakage) * (mass * s + viscous))


class SmallSignalModel:
    """The answer of the small-signal model to the current of a test, through the test's windows."""

    def __init__(self, test: NoiseTest, band: FrequencyBand) -> None:
        from scipy.fft import next_fast_len

        self.mass, self.count = test.mass, len(test.time)
        self.cut = spectra.cut_into_windows(test.time, band.window)
        self.size = next_fast_len(2 * self.count)  # zeros after the record: nothing wraps
        self.spectrum = np.fft.rfft(test.current - test.current[0], self.size)
        hertz = np.fft.rfftfreq(self.size, self.cut.step)
        self.frequency: Floats = np.asarray(hertz, dtype=np.float64)
        self.given = self.cut.spectra(test.current)
        self.power = (np.abs(self.given) ** 2).sum(axis=0)
        windowed = self.cut.frequency
        self.inside = (windowed >= band.low) & (windowed <= band.high)

    def response(self, values: Floats) -> np.ndarray:
        """Response in the band for a gain of 1, complex, (f,)."""
        through = self.spectrum * small_signal(values, self.mass, self.frequency)
        speed = np.fft.irfft(through, self.size)[: self.count]
        crossed = (np.conj(self.given) * self.cut.spectra(speed)).sum(axis=0)
        return (crossed / self.power)[self.inside]


def fit_actuator(tests: Sequence[NoiseTest], band: FrequencyBand | None = None) -> ActuatorFit:
    """Fit an actuator to noise tests with several weights.

    The model's answer to each test's own current goes through the same windows as the measured
    one, so that their leakage does not bias the numbers.

    Args:
        tests: Tests with at least two weights.
        band: Frequencies that are fitted, and the length of a window.
    """
    band = FrequencyBand() if band is None else band
    if len({test.mass for test in tests}) < 2:
        raise ArmtwinError(f"an actuator needs tests with at least 2 weights, got {len(tests)}")
    measured = tuple(band.response(test, test.speed).with_smooth_deviations() for test in tests)
    used = [select_coherent(response, len(NAMES)) for response in measured]
    known = [response.where(kept) for response, kept in zip(measured, used, strict=True)]
    models = [SmallSignalModel(test, band) for test in tests]

    def answers(logs: Floats) -> list[np.ndarray]:
        values = np.exp(logs)
        return [model.response(values)[kept] for model, kept in zip(models, used, strict=True)]

    start = np.log(_guess_start(tests, known))
    found = fit_responses(known, answers, fits.ShapeParameters(start, close=CLOSE))
    gains, logs = np.arange(len(tests)), slice(len(tests), None)
    misfit = float(found.sigma[0])
    return ActuatorFit(found.only(logs).exponential(), found.values[gains], misfit, measured)


def fit_responses(
    known: Sequence[spectra.FrequencyResponse],
    answers: Callable[[Floats], list[np.ndarray]],
    shapes: fits.ShapeParameters,
) -> fits.ParameterEstimate:
    """Gain of each response, and the shapes of a model of them all.

    Where a parameter is not identifiable, the log is not of the set-up that is fitted.

    Args:
        known: The responses.
        answers: The model of each for a gain of 1, complex, at given shapes.
        shapes: The shapes.
    """
    widths = [np.maximum(one.std, spectra.LEAST_STD * one.magnitude) for one in known]
    sizes = [len(width) for width in widths]
    target = np.concatenate(
        [one.response / width for one, width in zip(known, widths, strict=True)]
    )
    column = np.repeat(np.arange(len(known)), sizes)

    def model(x: Floats) -> TwoArrays:
        parts = [part / width for part, width in zip(answers(x), widths, strict=True)]
        A = np.zeros((len(target), len(known)), dtype=complex)
        A[np.arange(len(target)), column] = np.concatenate(parts)
        return np.vstack([A.real, A.imag]), np.concatenate([target.real, target.imag])

    noise = fits.RowNoise(
        np.tile(fits.even_blocks(sizes, BANDS), 2), 1 / spectra.ALIKE, known=np.inf
    )
    found = fits.fit_separable(model, shapes, noise)
    if found.condition > UNIDENTIFIABLE_CONDITION:
        raise ArmtwinError(
            "not all parameters are identifiable from the response: weight, oil and gains of the "
            "robot must be those of the log"
        )
    return found


def select_coherent(response: spectra.FrequencyResponse, least: int) -> Flags:
    """Frequencies at which a response is known; at least some must be."""
    kept = response.coherence >= spectra.LEAST_COHERENCE
    if kept.sum() < least:
        raise ArmtwinError(
            f"a response must have a coherence of {spectra.LEAST_COHERENCE:g} at {least} or more "
            f"frequencies, got {int(kept.sum())}"
        )
    return kept


def _guess_start(tests: Sequence[NoiseTest], known: Sequence[spectra.FrequencyResponse]) -> Floats:
    """Where the search begins: the peak of each response gives a compliance."""
    compliance = []
    for test, response in zip(tests, known, strict=True):
        peak = response.frequency[np.argmax(response.magnitude)]
        compliance.append(1 / (test.mass * (2 * np.pi * peak) ** 2))
    middle = float(np.median(compliance))
    mass = np.median([test.mass for test in tests])
    leakage = DAMPING * np.sqrt(middle / mass)
    return np.array([middle, leakage, VISCOUS, VALVE_FREQUENCY, VALVE_DAMPING, DELAY])

"""Frequency response from records of an input and an output, with coherence and its error.

    H = S_uy / S_uu,   γ² = |S_uy|² / (S_uu S_yy),   std of Re and Im  |H| √((1 - γ²) / (2 γ² k))

Spectra are means over Hann windows that overlap by half; neighbours share a sixth of their noise,
so that K windows count as k = K / (1 + 2/36 (K - 1)/K).

Ref: [Bendat-Piersol 2010], [Welch 1967]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Flags, Floats

SHARED = 2 / 36
LEAST_WINDOWS = 4  # of which a coherence says anything
UNEVEN = 1e-3  # of the step of time that a record may be uneven by
LEAST_COHERENCE = 0.5  # from which a frequency is fitted
ALIKE = 1.5  # neighbouring frequencies of a Hann window that count as one in a fit
LEAST_STD = 1e-3  # relative; below it a linear model errs, not the record
NEIGHBOURS = 9  # frequencies over which noise is taken to be alike
WINDOWS = 16  # that a record is cut into where no length is given


@dataclass(frozen=True, eq=False)
class FrequencyResponse:
    """Response at each frequency of a window.

    Attributes:
        frequency: Frequencies above 0, (f,) [Hz].
        response: H, complex, (f,).
        coherence: γ², (f,).
        std: Standard deviation of the real and of the imaginary part of H, (f,).
        windows: How many independent windows it is a mean of.
    """

    frequency: Floats
    response: np.ndarray
    coherence: Floats
    std: Floats
    windows: float

    @property
    def magnitude(self) -> Floats:
        """|H|, (f,)."""
        return np.abs(self.response)

    @property
    def phase(self) -> Floats:
        """Phase of H, unwrapped, (f,) [rad]."""
        return np.unwrap(np.angle(self.response))

    def between(self, low: float, high: float) -> FrequencyResponse:
        """The part between two frequencies [Hz]."""
        return self.where((self.frequency >= low) & (self.frequency <= high))

    def where(self, kept: Flags) -> FrequencyResponse:
        """The part at frequencies that are marked, (f,)."""
        return FrequencyResponse(
            self.frequency[kept],
            self.response[kept],
            self.coherence[kept],
            self.std[kept],
            self.windows,
        )

    def without(self, part: np.ndarray) -> FrequencyResponse:
        """The response of the rest of a chain, of which a part is known, complex, (f,)."""
        size = np.abs(part)
        rest = self.response / part
        return replace(self, response=rest, std=self.std / size)

    def with_smooth_deviations(self) -> FrequencyResponse:
        """The response with deviations and coherence that are means over neighbouring frequencies.

        Those of one frequency have few windows and correlate with its error: weights made of them
        prefer errors of one sign.
        """
        variance = of_neighbours(self.std**2)
        return replace(self, std=np.sqrt(variance), coherence=of_neighbours(self.coherence))


def of_neighbours(values: Floats) -> Floats:
    """Means over NEIGHBOURS values around each, fewer at the ends, (f,)."""
    kernel = np.ones(min(NEIGHBOURS, len(values)))
    count = np.convolve(np.ones(len(values)), kernel, mode="same")
    return np.convolve(values, kernel, mode="same") / count


def frequency_response(
    time: Floats, given: Floats, answer: Floats, window: float | None = None
) -> FrequencyResponse:
    """Response of one record to another.

    Args:
        time: Even times, (m,) [s].
        given: The input, (m,).
        answer: The output, (m,).
        window: Length of a window [s]; by default so that the record has WINDOWS of them.
    """
    cut = cut_into_windows(time, window)
    if not np.ptp(given) > 0:
        raise ArmtwinError("a frequency response needs an input that changes")
    u, y = cut.spectra(given), cut.spectra(answer)
    uu, yy = (np.abs(u) ** 2).sum(axis=0), (np.abs(y) ** 2).sum(axis=0)
    uy = (np.conj(u) * y).sum(axis=0)
    moved = (uu > 0) & (yy > 0)
    moved[0] = False
    response = uy[moved] / uu[moved]
    coherence = np.minimum(np.abs(uy[moved]) ** 2 / (uu[moved] * yy[moved]), 1.0)
    windows = cut.count / (1 + SHARED * (cut.count - 1) / cut.count)
    unexplained = (1 - coherence) / (2 * np.maximum(coherence, 1e-12) * windows)
    std = np.abs(response) * np.sqrt(unexplained)
    return FrequencyResponse(cut.frequency[moved], response, coherence, std, windows)


@dataclass(frozen=True)
class Windows:
    """Hann windows of a record that overlap by half.

    Attributes:
        length: Samples of a window.
        count: How many there are.
        step: Time between samples [s].
    """

    length: int
    count: int
    step: float

    @property
    def frequency(self) -> Floats:
        """Frequencies of the spectra, from 0, (f,) [Hz]."""
        return np.asarray(np.fft.rfftfreq(self.length, self.step), dtype=np.float64)

    def spectra(self, values: Floats) -> np.ndarray:
        """Spectra of the windows of a record less their means, complex, (count, f)."""
        hop = self.length // 2
        places = hop * np.arange(self.count)[:, None] + np.arange(self.length)
        parts = values[places]
        shape = np.hanning(self.length + 1)[:-1]
        return np.fft.rfft(shape * (parts - parts.mean(axis=1, keepdims=True)))


def cut_into_windows(time: Floats, window: float | None = None) -> Windows:
    """Windows of a record at even times.

    Args:
        time: The times, (m,) [s].
        window: Length of a window [s]; by default so that the record has WINDOWS of them.
    """
    steps = np.diff(time)
    step = float(np.median(steps)) if len(steps) else 0.0
    if not len(steps) or np.abs(steps - step).max() > UNEVEN * step:
        raise ArmtwinError("a frequency response needs a record at even times; resample it first")
    length = 2 * len(time) // (WINDOWS + 1) if window is None else round(window / step)
    count = (2 * len(time)) // max(length, 1) - 1
    if length < 8 or count < LEAST_WINDOWS:
        raise ArmtwinError(
            f"a frequency response needs at least {LEAST_WINDOWS} windows of 8 samples that "
            f"overlap by half, got {len(time)} samples and windows of {length}"
        )
    return Windows(length, count, step)

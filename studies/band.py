"""How far the band of a verdict can be trusted: `python studies/band.py [accuracy|coverage] ...`.

`accuracy`: 64 draws of five seeds against 1024, on five jobs: ends of the band, probability, what
is reported to decide it, shares.

`coverage [COUNT]`: virtual robots. Each has a file of its own, sampled about the library's, and is
itself sampled about that file; how many lie within the band that the file alone gives, and how many
of those with a probability near one half hold.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import armtwin as at
from armtwin.maths.batch import Flags, Floats
from armtwin.prediction.band.ensemble import run_variants
from armtwin.prediction.band.quantities import quantities_of
from armtwin.prediction.band.quantity import Variant, sample_variant

CASES = (
    ("rx90b_line", None),
    ("rx90b_line", "300 mm/s"),
    ("rx90b_corner_follow", None),
    ("kr300_frame", None),
    ("lwa4p_bead", None),
)
SEEDS = range(10)  # that are compared in what decides; errors are evaluated over the first five
FIVE = 5
MANY, DRAWS, REFERENCE = 1024, 64, 99


def job_of(name: str, speed: str | None) -> at.Job:
    """A shipped job, at another speed where one is given."""
    job = at.Job.load(name)
    return job if speed is None else job.with_speed(speed)


def accuracy() -> Iterator[str]:
    """64 draws against 1024."""
    yield (
        "job | band of 1024 | P | ends off, rms (worst) of five | P off, rms of five (worst of "
        "ten) | first cause | then | shares off | draws that stop"
    )
    for name, speed in CASES:
        yield " | ".join(accuracy_of(job_of(name, speed)))


def accuracy_of(job: at.Job) -> Iterator[str]:
    """One row of the table: ends of the band in per cent of the reference's."""
    p = at.predict(job)
    whole = at.assess(p, draws=MANY, seed=REFERENCE)
    bands = [at.assess(p, draws=DRAWS, seed=seed) for seed in SEEDS]
    low, _, high = whole.ratio
    ends, odds, shares = [], [], []
    for band in bands:
        ends.append((band.ratio[0] / low - 1, band.ratio[2] / high - 1))
        odds.append(band.probability - whole.probability)
        shares.append(np.abs(band.regression.shares - whole.regression.shares).max())
    off, wrong = 100 * np.array(ends[:FIVE]), np.array(odds)
    yield f"{job.name} {1e3 * job.description.speed:g} mm/s"
    yield f"{100 * low:.0f} to {100 * high:.0f} % of tolerance"
    yield f"{whole.probability:.2f}"
    yield f"{np.sqrt((off**2).mean()):.1f} ({np.abs(off).max():.1f}) %"
    yield f"{np.sqrt((wrong[:FIVE] ** 2).mean()):.3f} ({np.abs(wrong).max():.3f})"
    yield _told(whole, bands, 0)
    yield _told(whole, bands, 1)
    yield f"{100 * max(shares):.0f} points"
    yield f"{whole.failures} of {MANY}"


def _told(whole: at.Band, bands: list[at.Band], place: int) -> str:
    """The first or second cause of the spread, and how many seeds agree."""
    name = whole.shares[place].quantity.name
    same = 0
    for band in bands:
        same += len(band.shares) > place and band.shares[place].quantity.name == name
    share = 100 * whole.shares[place].share
    return f"{name} {share:.0f} %, {same} of {len(bands)}"


@dataclass(frozen=True)
class Covered:
    """What became of virtual robots beside the bands of their files.

    Attributes:
        bands: The band of each file.
        ratio: Largest error over tolerance of each robot itself; infinite of one that stops.
    """

    bands: list[at.Band]
    ratio: Floats

    @property
    def within(self) -> Flags:
        """Which robots lie within the 90 % interval."""
        ends = np.array([(band.ratio[0], band.ratio[2]) for band in self.bands])
        return (self.ratio >= ends[:, 0]) & (self.ratio <= ends[:, 1])

    @property
    def odds(self) -> Floats:
        """The probability predicted for each."""
        return np.array([band.probability for band in self.bands])

    @property
    def deviations(self) -> Floats:
        """How far each that was run is from the middle of its band, in standard deviations."""
        middle = np.array([band.ratio[1] for band in self.bands])
        spread = np.array([band.spread for band in self.bands])
        run = np.isfinite(self.ratio)
        return np.log(self.ratio[run] / middle[run]) / spread[run]


def covered(count: int, draws: int = DRAWS) -> Covered:
    """Virtual robots and the bands of their own files; a file that stops itself has none."""
    truths, bands = [], []
    for seed in range(count):
        band, truth = virtual_robot(seed, draws)
        if band is not None:
            bands.append(band)
            truths.append(truth)
    return Covered(bands, np.array(truths))


def coverage(count: int) -> Iterator[str]:
    """Virtual robots within the band of their own file."""
    found = covered(count)
    odds, holds = found.odds, found.ratio <= 1
    run = np.isfinite(found.ratio)
    yield f"{len(found.bands)} of {count} files have a band, {(~run).sum()} of these robots stop"
    yield (
        f"within the 90 % interval: {100 * found.within[run].mean():.0f} % of those that do "
        f"not stop, {100 * found.within.mean():.0f} % of all"
    )
    for low, high in ((0.0, 0.3), (0.3, 0.7), (0.7, 1.01)):
        some = (odds >= low) & (odds < high)
        yield f"P {low:g} to {min(high, 1):g}: {some.sum()}, of which {holds[some].sum()} hold"
    rms = np.sqrt((found.deviations**2).mean())
    yield f"deviations from the middle of the band: rms {rms:.2f} of its own"


def virtual_robot(seed: int, draws: int) -> tuple[at.Band | None, float]:
    """The band of a robot's file, and the largest error over tolerance of the robot itself."""
    random = np.random.default_rng(seed)
    library = at.predict(job_of("rx90b_line", "300 mm/s"))
    file = _drawn(library, random)
    job = library.job
    predicted = at.predict(replace_tool(job), at.Robot(file.description))
    if predicted.verdict.stopped is not None:
        return None, np.nan
    band = at.assess(predicted, draws=draws, seed=seed)
    truth = run_variants(predicted, [_drawn(predicted, random)])
    peaks: Floats = truth.peaks[0] / band.tolerances
    return band, np.inf if np.isnan(peaks).any() else float(peaks.max())


def replace_tool(job: at.Job) -> at.Job:
    """A job that takes a robot as it is: its tool is mounted, its overrides are in it."""
    return at.Job(replace(job.description, override={}), job.origin)


def _drawn(p: at.Prediction, random: np.random.Generator) -> Variant:
    quantities = quantities_of(p)
    return sample_variant(
        Variant(p.robot.description), quantities, random.standard_normal(len(quantities))
    )


if __name__ == "__main__":
    what = sys.argv[1] if len(sys.argv) > 1 else "accuracy"
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 100
    for line in coverage(count) if what == "coverage" else accuracy():
        print(line, flush=True)

"""The interval along the seam and its colours: they say what the verdict says."""

from dataclasses import replace

import numpy as np
import pytest
from studies.pictures import read_pictures, widen

import armtwin as at
from armtwin.maths.lanes import LANES
from armtwin.prediction.band import ensemble
from armtwin.prediction.band.along import EVEN, along_seam
from armtwin.prediction.band.distribution import Distribution, log_normal_bounds
from armtwin.prediction.band.ensemble import Ensemble, run_variants
from armtwin.prediction.band.quantity import Variant
from armtwin.simulation.closed_loop import run_in_pieces
from tests.jobs.examples import JOB

TOLERANCES = np.array([1e-4, 1e-4])
LENGTH = 1.0


def bumps(random, centres, height=1.2e-4, count=64):
    """Variants with a bump 4 mm wide each, 20 mm about one of some centres, log-normal in height.

    The vertical error is a tenth of that everywhere.
    """
    place = np.linspace(0, LENGTH, 1001)
    at_m = random.choice(centres, count) + 0.02 * random.uniform(-1, 1, count)
    heights = height * np.exp(0.3 * random.standard_normal(count))
    lateral = heights[:, None] * np.exp(-0.5 * ((place - at_m[:, None]) / 0.004) ** 2) + 1e-6
    errors = np.stack([lateral, 0.1 * lateral], axis=1)
    return Ensemble(
        ("lateral", "vertical"),
        errors.max(axis=2),
        ("",) * count,
        np.full((count, 2), np.nan),
        place,
        errors,
    )


def judge(variants, tolerances=TOLERANCES):
    """Bounds and probability of a whole seam, and what is shown along it."""
    peaks = variants.peaks[variants.finished]
    kept = (Distribution(peaks).ratios(tolerances) <= 1).mean()
    probability = float(kept * (~variants.failed).mean())
    bounds = log_normal_bounds(peaks)
    return bounds, probability, along_seam(variants, tolerances, bounds, probability)


def test_a_reversal_that_moves_along_the_seam_is_shown_as_large_as_it_is(rng):
    """Place by place the median stays far below that of the peaks; within the window it does not.

    The bumps lie in ±20 mm: a window from the middle that reaches them all is not wider than that.
    """
    variants = bumps(rng, [0.4])
    bounds, _, along = judge(variants)
    pointwise = np.median(variants.errors[:, 0], axis=0).max()
    assert pointwise < 0.6 * bounds[0, 1]
    assert along.bounds[0, 1].max() == pytest.approx(bounds[0, 1], rel=0.1)
    assert along.bounds[0, 2].max() == pytest.approx(bounds[0, 2], rel=0.05)
    assert 0.005 < along.half_width < 0.025
    elsewhere = np.abs(along.place - 0.4) > 0.08
    assert along.bounds[0, 2, elsewhere].max() < 0.1 * bounds[0, 2]


@pytest.mark.parametrize("height", [4e-5, 8e-5, 1.02e-4, 1.2e-4, 3e-4])
@pytest.mark.parametrize("centres", [[0.4], [0.2, 0.7]], ids=["one place", "two places"])
def test_the_worst_place_has_the_colour_of_the_verdict(rng, centres, height):
    """Also just beyond even odds, and where variants peak at places far apart."""
    _, probability, along = judge(bumps(rng, centres, height))
    worst = along.probability.min()
    assert worst >= probability
    assert (worst < EVEN) == (probability < EVEN)
    assert (worst >= 0.95) == (probability >= 0.95)


def test_variants_that_stop_count_from_there_on(rng):
    """Six of ten stop at 700 mm: what lies before holds, what follows is red."""
    variants = bumps(rng, [0.4], height=1e-5, count=20)
    stopped = np.arange(20) < 12
    found = replace(
        variants,
        peaks=np.where(stopped[:, None], np.nan, variants.peaks),
        reasons=tuple("it stops" if x else "" for x in stopped),
        failed_on=np.where(stopped[:, None], [0.7, LENGTH], np.nan),
    )
    _, probability, along = judge(found)
    assert probability == pytest.approx(0.4)
    before = along.place < 0.7 - along.half_width - 1e-9
    assert (along.probability[before] >= 0.95).all()
    assert along.probability[~before] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("name", "speed"), [("rx90b_line", 0.1), ("rx90b_corner_fixed", 0.3), ("lwa4p_bead", 0.06)]
)
def test_pictures_of_shipped_jobs_agree_with_their_verdicts(name, speed):
    """Colours and curves as the report has them; studies/pictures.py has all jobs and speeds."""
    band = at.assess(at.predict(at.Job.load(name).with_speed(speed)), draws=32)
    for factor in (1.0, 1.7, 8.0):
        shown = read_pictures(widen(band, factor))
        assert (shown.red > 0) == (shown.probability < 0.5)
        assert (shown.green == 1) == (shown.probability >= 0.95)
        assert shown.ends == pytest.approx((1.0, 1.0), abs=0.05)
        assert shown.worst == pytest.approx(1.0, abs=0.15)


def test_no_more_variants_than_lanes_are_in_memory_on_a_thread(tmp_path, monkeypatch):
    """Of each only its errors at a fixed number of places are kept."""
    (tmp_path / "job.toml").write_text(JOB, encoding="utf-8")
    p = at.predict(at.Job.load(tmp_path / "job.toml"))
    together = []

    def count(runs, piece, **options):
        together.append(len(runs))
        return run_in_pieces(runs, piece, **options)

    monkeypatch.setattr(ensemble, "run_in_pieces", count)
    found = run_variants(p, 10 * [Variant(p.robot.description)])
    assert sum(together) == 10
    assert max(together) <= LANES
    assert found.errors.shape == (10, 2, len(found.place))
    assert 300 < len(found.place) < 2 * ensemble.SAMPLES
    assert (found.errors.max(axis=2) == found.peaks).all()

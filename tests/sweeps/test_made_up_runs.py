"""How a sweep is run, with made-up runs: order, resumption, errors, estimates, parcels."""

import time
from dataclasses import replace
from pathlib import Path
from threading import Lock

import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.files.versions import stamped_version, stamped_versions
from armtwin.sweeps import work
from armtwin.sweeps.bases import parcel_of, unpack
from armtwin.sweeps.estimate import estimate
from armtwin.sweeps.rows import FAILED, ResultRow
from armtwin.sweeps.table import open_table
from tests.sweeps.examples import short_job

SPEEDS = [100 + k for k in range(40)]


def over(speeds=SPEEDS, **options):
    return at.Sweep.over(short_job(), {"speed": [f"{x} mm/s" for x in speeds]}, **options)


@pytest.fixture
def ended(monkeypatch):
    """Speeds [mm/s] of runs in the order in which they end; odd ones take longer."""
    speeds, lock = [], Lock()

    def run(parcel, job, cost):
        speed = round(1e3 * job.description.speed)
        time.sleep(0.004 * (speed % 2))
        with lock:
            speeds.append(speed)
        if speed == 117:
            raise ZeroDivisionError("made up")
        numbers = [speed / 3 + k for k in range(5)]
        return ResultRow("holds", speed / 200, *numbers, duration_s=speed / 7, cpu_s=0.05)

    monkeypatch.setattr(work, "_predict_row", run)
    return speeds


def test_rows_do_not_depend_on_the_order_in_which_runs_end(ended):
    alone = at.sweep(over(), threads=1)
    assert ended == SPEEDS
    ended.clear()
    together = at.sweep(over(), threads=4)
    assert ended != SPEEDS
    assert [row.ratio for row in together.rows] == [row.ratio for row in alone.rows]


def test_one_unexpected_error_is_a_row_and_ends_no_other_run(ended):
    outcomes = [row.outcome for row in at.sweep(over()).rows]
    assert [k for k, outcome in enumerate(outcomes) if outcome == FAILED] == [17]
    assert outcomes.count("holds") == 39


def test_a_sweep_that_is_stopped_goes_on_with_exactly_what_is_missing(tmp_path, ended):
    def stop(now):
        if now.done >= 10:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        at.sweep(over(), tmp_path / "runs.sqlite", threads=1, progress=stop)
    ended.clear()
    again = at.sweep(over(), tmp_path / "runs.sqlite", threads=1)
    assert 10 <= again.course.known < 40
    assert ended == SPEEDS[again.course.known :]


@pytest.mark.parametrize("place", [{"workers": 0}, {"threads": 1025}, {"cluster": "local:x"}])
def test_a_place_where_nothing_can_be_run_is_refused_before_a_file_is_made(tmp_path, place):
    if "cluster" in place:
        pytest.importorskip("distributed")
    with pytest.raises(ArmtwinError, match="from 1 to 1024, got"):
        at.sweep(over(), tmp_path / "runs.sqlite", **place)
    assert not list(tmp_path.iterdir())


def test_an_estimate_counts_what_is_known_and_foresees_what_rows_add_to_the_file(tmp_path, ended):
    """Within 20 %, as pages of a tree whose keys are random are not equally full."""
    file = tmp_path / "runs.sqlite"
    many = over([100 + k / 100 for k in range(400)])
    with open_table(file, many.name, stamped_versions()):
        pass
    empty = file.stat().st_size
    at.sweep(many, file)
    whole = estimate(many, file)
    assert (whole.known, whole.seconds) == (400, 0.0)
    assert whole.bytes == pytest.approx(file.stat().st_size - empty, rel=0.2)


def test_an_error_names_the_job_and_no_temporary_folder():
    base = replace(over([100]).bases[0], files={"points_1.csv": b"x,y,z\n"})
    here = unpack(parcel_of([base], False, "nonlinear", stamped_version()))
    place = Path(here.jobs[0].origin)
    assert (place.parent / "points_1.csv").read_bytes() == b"x,y,z\n"
    error = ArmtwinError(f"{place}: points of {place.parent / 'points_1.csv'} are too few")
    assert here.told(error) == "job 'short': points of points_1.csv are too few"
    here.folder.cleanup()

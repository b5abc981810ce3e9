"""Sweeps run everywhere with the same bits, and go on after whatever ended them."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.sweeps.running import LOOKED_AT
from tests.sweeps.examples import PLACES, places, short_job, without_cost

CHILD = """
if __name__ == "__main__":
    import armtwin as at
    from tests.sweeps.examples import places
    print("computed", at.sweep(places(), {file!r}, **{options!r}).course.computed)
"""


@pytest.fixture(scope="module")
def serial():
    return at.sweep(at.Sweep.over(short_job(), PLACES), threads=1)


@pytest.fixture(scope="module")
def three_hundred(tmp_path_factory):
    """300 runs with what was seen on the way: runs, memory [MB], size of the file."""
    file = tmp_path_factory.mktemp("whole") / "results.sqlite"
    seen = []

    def watch(now):
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        seen.append((now.done, pages * 4096 / 1e6, file.stat().st_size))

    return at.sweep(places(), file, progress=watch), seen


def test_threads_and_processes_give_the_bits_of_one_thread(serial):
    for options in ({"threads": 2}, {"workers": 2}):
        found = at.sweep(serial.sweep, **options)
        assert without_cost(found.rows) == without_cost(serial.rows)


def test_a_cluster_gives_the_bits_of_one_thread(serial):
    """Also where its only worker is killed on the way: dask starts another, and the jobs are sent
    again."""
    distributed = pytest.importorskip("distributed")
    killed = []

    def kill_once(now):
        if not killed:
            killed.extend(distributed.default_client().run(os.getpid).values())
            os.kill(killed[0], signal.SIGKILL)

    found = at.sweep(serial.sweep, cluster="local:1", progress=kill_once)
    assert killed
    assert without_cost(found.rows) == without_cost(serial.rows)


def test_each_run_is_what_predict_gives_alone(serial):
    for number in serial.best(2):
        alone = at.predict(serial.job(number)).verdict
        assert serial.rows[number].ratio == alone.worst_ratio
        assert serial.rows[number].lateral_m == alone.segments[0].lateral_peak_m


def test_a_run_that_cannot_be_run_is_a_row_with_its_sentence(serial):
    refused = [row for row in serial.rows if row.outcome == "cannot be run"]
    assert len(refused) == 2  # 900 mm away, at both speeds
    assert all("out of reach" in row.sentence or "reached" in row.sentence for row in refused)


def test_a_finished_run_is_never_computed_again_and_a_larger_sweep_goes_on(tmp_path, serial):
    file = tmp_path / "results.sqlite"
    at.sweep(serial.sweep, file)
    again = at.sweep(serial.sweep, file)
    assert (again.course.computed, again.course.known) == (0, 6)
    assert without_cost(again.rows) == without_cost(serial.rows)
    larger = {**PLACES, "workpiece.position.2": ["0 mm", "10 mm"]}
    more = at.sweep(at.Sweep.over(short_job(), larger), file)
    assert (more.course.computed, more.course.known) == (6, 6)


def test_the_same_run_asked_for_twice_is_computed_once():
    speeds = ["0.15 m/s", "150 mm/s"]
    found = at.sweep(at.Sweep.over(short_job(), {"speed": [0.15, 0.15]}))
    assert found.course.computed == 1
    assert len(found.rows) == len(speeds)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_sweep_that_is_killed_goes_on_to_the_same_table(tmp_path, three_hundred):
    """SIGKILL while rows are written: what was committed stays, and nothing of it is computed
    again."""
    whole, _ = three_hundred
    file = tmp_path / "results.sqlite"
    script = tmp_path / "child.py"
    script.write_text(CHILD.format(file=str(file), options={"threads": 2}))
    root = str(Path(__file__).parents[2])
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", "")])}
    child = subprocess.Popen([sys.executable, str(script)], env=env, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 120
    while time.monotonic() < end and (not file.exists() or file.stat().st_size < 30_000):
        time.sleep(0.02)
    os.kill(child.pid, signal.SIGKILL)
    child.wait()
    found = at.sweep(places(), file)
    assert 0 < found.course.known < 300
    assert found.course.computed == 300 - found.course.known
    assert without_cost(found.rows) == without_cost(whole.rows)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_a_killed_worker_is_replaced(serial):
    """Its runs are given out again; the table is the same."""
    from armtwin.files.versions import stamped_version
    from armtwin.maths.runner import as_done
    from armtwin.sweeps.bases import parcel_of
    from armtwin.sweeps.executors import on_processes
    from armtwin.sweeps.work import run_some

    asked = serial.sweep
    parcel = parcel_of(asked.bases, False, "nonlinear", stamped_version())
    found, killed = {}, []
    with on_processes(parcel, 1) as place:
        for done in as_done(run_some, iter([[run] for run in asked.runs()]), place):
            for piece, rows in done:
                found[piece[0].number] = rows[0]
            if 2 <= len(found) < 5 and not killed:
                killed.append(len(found))
                os.kill(next(iter(place.pool._processes)), signal.SIGKILL)
    assert killed
    rows = [found[number] for number in sorted(found)]
    assert without_cost(rows) == without_cost(serial.rows)


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_three_hundred_runs_need_no_more_memory_than_a_hundred(three_hundred):
    """Memory within 5 %; the file grows by about the same for each run."""
    _, seen = three_hundred
    after = {done: (memory, size) for done, memory, size in seen}
    first = min(done for done in after if done >= 100)
    last = max(after)
    assert last == 300 < LOOKED_AT
    assert after[last][0] < 1.05 * after[first][0]
    runs, sizes = np.array([(done, size) for done, (_, size) in sorted(after.items())]).T
    later = runs >= 100
    fit = np.polyval(np.polyfit(runs[later], sizes[later], 1), runs[later])
    assert np.abs(sizes[later] / fit - 1).max() < 0.15  # pages of 4 kB in a file of 100 kB


def test_a_band_gives_its_probability():
    d = short_job().description
    job = at.Job(replace(d, uncertainty=replace(d.uncertainty, draws=8)))
    found = at.sweep(at.Sweep.over(job, {"speed": ["0.2 m/s"]}, band=True))
    band = at.assess(at.predict(job))
    assert found.rows[0].probability == band.probability
    assert found.rows[0].outcome == band.outcome
    assert found.measure == "probability"


def test_only_one_place_is_taken():
    with pytest.raises(ArmtwinError, match="give one of them"):
        at.sweep(at.Sweep.over(short_job(), {}), workers=2, cluster="local:1")


def test_the_table_goes_to_csv_parquet_and_pandas(tmp_path, serial):
    serial.write_csv(tmp_path / "a.csv")
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert lines[0].startswith("run,job,robot,workpiece.position.1,speed,outcome,ratio")
    assert len(lines) == 7
    parquet = pytest.importorskip("pyarrow.parquet")
    serial.write_parquet(tmp_path / "a.parquet")
    read = parquet.read_table(tmp_path / "a.parquet").to_pylist()
    assert read == [{**record, "run": k} for k, record in enumerate(serial.table, 1)]
    assert serial.to_dataframe()["ratio"].iloc[0] == serial.rows[0].ratio

"""armtwin sweep: what it writes, how it goes on, what it refuses."""

import contextlib
import json
import re
import sqlite3

import pytest

import armtwin as at
from tests.app.test_job_commands import call, tree
from tests.sweeps.examples import short_job

SWEEP = """\
format = 1
jobs = ["short.toml"]

[[axis]]
key = "workpiece.position.1"
label = "x"
span = ["400 mm", "900 mm"]
count = 3

[[axis]]
key = "workpiece.position.2"
label = "y"
values = ["0 mm", "20 mm"]

[[axis]]
key = "speed"
values = ["150 mm/s", "200 mm/s"]
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    place = tmp_path_factory.mktemp("sweep")
    short_job().save(place / "short.toml")
    (place / "places.toml").write_text(SWEEP)
    return place


@pytest.fixture(scope="module")
def done(folder):
    return call(folder, "sweep", "places.toml", "--csv")


def test_a_sweep_writes_its_table_report_and_result(folder, done):
    assert done.code == 0
    assert re.match(r"\d+ of 12 runs hold nominally; best is run \d+", done.out)
    assert max(len(line) for line in done.out.splitlines()) <= 80
    out = folder / "armtwin_out" / "places_swept"
    assert tree(out) == ["report.html", "result.json", "results.csv", "results.sqlite"]
    result = json.loads((out / "result.json").read_text())
    assert result["runs"] == 12
    assert result["held"] == (out / "results.csv").read_text().count(",holds,")
    assert "results.sqlite" not in result["files"]  # it is never replaced


def test_the_page_has_a_map_a_limit_small_maps_and_tiles(folder, done):
    page = (folder / "armtwin_out" / "places_swept" / "report.html").read_text()
    assert "Largest error, % of tolerance" in page
    assert "Highest speed that holds, mm/s" in page
    assert page.count("cell ") > 4 * 6  # best, limit and a map for each speed, 6 cells each
    assert "All axes at once" in page
    assert '"map":{"points":' in page


def test_run_again_it_computes_nothing_and_links_the_report_of_a_run(folder, done):
    result = json.loads((folder / "armtwin_out/places_swept/result.json").read_text())
    best = result["best"][0]
    again = call(folder, "sweep", "places.toml", "--csv", "--report", best["run"])
    assert again.code == 0
    assert re.search("computed now +none", again.out)
    out = folder / "armtwin_out" / "places_swept"
    single = json.loads((out / f"run_{best['run']}" / "result.json").read_text())
    assert single["verdict"]["within"]
    assert f'href="run_{best["run"]}/report.html"' in (out / "report.html").read_text()
    job = at.Job.load(out / f"run_{best['run']}" / "job.toml")
    assert at.predict(job).verdict.worst_ratio == best["ratio"]


def test_a_dry_run_says_what_it_would_take_and_leaves_nothing(folder, tmp_path):
    done = call(folder, "sweep", "places.toml", "--dry-run", "--out", tmp_path / "new")
    assert done.code == 0
    assert "12 runs would take about" in done.out
    assert re.search(r"size +about [\d.]+ kB, \d+ bytes a run", done.out)
    assert not (tmp_path / "new").exists()


def test_check_says_what_is_in_a_sweep_and_runs_nothing(folder, monkeypatch):
    monkeypatch.setattr("armtwin.prediction.predict.simulate", None)
    done = call(folder, "check", "places.toml")
    assert done.code == 0
    assert re.search(r"x +workpiece.position.1: 400 mm to 900 mm", done.out)
    assert re.search("runs +12, nominal", done.out)


def test_a_table_of_another_sweep_is_refused_and_stays(folder, done, tmp_path):
    out = folder / "armtwin_out" / "places_swept"
    (folder / "others.toml").write_text(SWEEP)
    refused = call(folder, "sweep", "others.toml", "--out", out, "--force")
    assert refused.code == 2
    assert "holds the results of another sweep, 'places', not of 'others'" in refused.err
    with contextlib.closing(sqlite3.connect(out / "results.sqlite")) as connection:
        assert connection.execute("SELECT count(*) FROM run").fetchone() == (12,)


def test_the_folder_of_a_killed_sweep_is_taken_by_the_next(folder, tmp_path, monkeypatch):
    """The folder is marked as ours before anything is run."""
    out = tmp_path / "out"

    def killed(*args, **options):
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr(at, "sweep", killed)
        stopped = call(folder, "sweep", "places.toml", "--out", out)
    assert stopped.code == 130
    assert call(folder, "sweep", "places.toml", "--out", out).code == 0


REFUSED = {
    "two places": (["--workers", "2", "--cluster", "local:2"], "give one of them"),
    "no workers": (["--workers", "0"], "workers must be from 1 to 1024, got 0"),
    "no workers to time": (
        ["--workers", "0", "--dry-run"],
        "workers must be from 1 to 1024, got 0",
    ),
    "an unknown run": (["--report", "13"], "--report must be a run from 1 to 12, got 13"),
    "a wrong local cluster": (["--cluster", "local:x"], "local:N needs N from 1 to 1024"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_done_is_refused_by_one_sentence(folder, tmp_path, what):
    words, sentence = REFUSED[what]
    refused = call(folder, "sweep", "places.toml", "--out", tmp_path / "out", *words)
    assert refused.code == 2
    assert sentence in refused.err
    assert not refused.out
    assert not (tmp_path / "out").exists()


def test_what_is_missing_names_its_extra(folder, tmp_path, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "pyarrow", None)
    monkeypatch.setitem(sys.modules, "distributed", None)
    parquet = call(folder, "sweep", "places.toml", "--out", tmp_path / "a", "--parquet")
    assert parquet.code == 2
    assert "pip install armtwin[parquet]" in parquet.err
    cluster = call(folder, "sweep", "places.toml", "--out", tmp_path / "a", "--cluster", "local:1")
    assert cluster.code == 2
    assert "pip install armtwin[cluster]" in cluster.err
    assert not (tmp_path / "a").exists()

"""Several runs side by side: one table, one report, one result, and an exit code for all."""

import json
import re

import pytest

import armtwin as at
from armtwin.app.job_commands import parse_speeds
from armtwin.errors import ArmtwinError
from tests.app.test_job_commands import call, save, tree
from tests.jobs.examples import JOB, changed

never_run = pytest.fixture(
    lambda monkeypatch: monkeypatch.setattr("armtwin.prediction.predict.simulate", None)
)


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """A folder in which a job was run at three speeds: one holds, one does not, one cannot be."""
    folder = save(tmp_path_factory.mktemp("swept"))
    return folder, call(folder, "predict", "job.toml", "--speed", "0.1,0.4,4 m/s", "--nominal")


def test_speeds_stand_in_one_table(swept):
    _, done = swept
    assert done.code == 1
    assert done.out.startswith("1 of 3 runs hold.")
    outcomes = re.findall(r"^job +rx90b +(\d+) +(\w+ \w+ ?\w+)", done.out, re.MULTILINE)
    assert outcomes == [
        ("100", "holds nominally"),
        ("400", "does not hold"),
        ("4000", "cannot be run"),
    ]
    assert max(len(line) for line in done.out.splitlines() if "wrote" not in line) <= 80


def test_the_result_holds_each_run_as_if_it_were_alone(swept):
    folder, _ = swept
    place = folder / "armtwin_out" / "job_100_400_4000mm_s_side_by_side"
    assert tree(place) == ["report.html", "result.json"]
    runs = json.loads((place / "result.json").read_text(encoding="utf-8"))["runs"]
    assert [run["summary"]["speed_m_s"] for run in runs] == [0.1, 0.4, 4.0]
    alone = at.predict(at.Job.load(folder / "job.toml").with_speed(0.4))
    peaks = [(x.lateral_peak_m, x.vertical_peak_m) for x in alone.verdict.segments]
    told = [(x["lateral_peak_m"], x["vertical_peak_m"]) for x in runs[1]["segments"]]
    assert told == peaks
    assert runs[1]["summary"]["nominal"] == max(peaks[0])
    assert "speeding up and slowing down at 4000 mm/s needs" in runs[2]["refusal"]
    assert "segments" not in runs[2]


def test_the_report_draws_the_curves_over_each_other(swept):
    folder, _ = swept
    place = folder / "armtwin_out" / "job_100_400_4000mm_s_side_by_side"
    page = (place / "report.html").read_text(encoding="utf-8")
    for label in ("100 mm/s", "400 mm/s"):
        assert page.count(f"</svg>{label}") == 1  # one key for both directions


def test_several_jobs_with_bands_hold_only_if_all_do(tmp_path):
    """With a tolerance of 1 mm the seam holds with 95 % confidence, and nominally."""
    few = "\n[uncertainty]\ndraws = 8\n"
    sure = JOB.replace('"0.1 mm"', '"1 mm"')
    (tmp_path / "sure.toml").write_text(sure + few, encoding="utf-8")
    save(tmp_path, JOB + few)
    both = call(tmp_path, "predict", "sure.toml", "job.toml", "--json")
    summaries = [run["summary"] for run in json.loads(both.out)["runs"]]
    assert [x["outcome"] for x in summaries] == ["holds", "may hold"]
    assert summaries[0]["probability"] >= 0.95 > summaries[1]["probability"]
    assert summaries[0]["low"] < summaries[0]["nominal"] < summaries[0]["high"]
    assert both.code == 1
    alone = call(tmp_path, "predict", "sure.toml", "--speed", "100, 50 mm/s")
    assert alone.code == 0, alone.out


def test_robots_stand_side_by_side(never_run, tmp_path):
    """Each of them is asked for, and one that is not known is refused."""
    done = call(save(tmp_path), "predict", "job.toml", "--robot", "rx90b,rx91b")
    assert done.code == 2
    assert "robot 'rx91b' is neither shipped" in done.err
    assert tree(tmp_path) == ["job.toml"]


@pytest.mark.parametrize(
    ("text", "speeds"),
    [
        ("100,200,300 mm/s", ["100 mm/s", "200 mm/s", "300 mm/s"]),
        ("0.1, 0.2", ["0.1", "0.2"]),
        ("100, 5 cm/s, 0.2 m/s", ["100 cm/s", "5 cm/s", "0.2 m/s"]),
        ("100, 200 mm/s", ["100 mm/s", "200 mm/s"]),
        ("100,200 mm/s", ["100 mm/s", "200 mm/s"]),
        ("100 mm/s", ["100 mm/s"]),
    ],
)
def test_a_speed_without_a_unit_has_that_of_the_next(text, speeds):
    assert parse_speeds(text) == speeds


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["--speed", "100,,200 mm/s"], "--speed must name one, or several separated by commas"),
        (["--speed", "1,5 mm/s"], "For two speeds write '1, 5 mm/s'"),
        (["--speed", "1,25 m/s"], "For two speeds write '1, 25 m/s'"),
        (["--speed", "12,5 mm/s"], "For two speeds write '12, 5 mm/s'"),
        (["--speed", "100, -200 mm/s"], "--speed must be greater than 0 m/s, got -200 mm/s"),
        (["--speed", "100, 200 mm"], "--speed must be in m/s or a unit of that kind"),
        (["--speed", "100, 200 mm/s", "--advise"], "--advise is for one run, got 2 side by side"),
    ],
)
def test_runs_that_cannot_stand_side_by_side_are_refused(never_run, tmp_path, words, sentence):
    done = call(save(tmp_path), "predict", "job.toml", *words)
    assert done.code == 2
    assert sentence in done.err
    assert tree(tmp_path) == ["job.toml"]


def test_where_no_run_is_possible_the_first_refusal_is_told(tmp_path):
    far = changed('position = ["450 mm"', 'position = ["4500 mm"')
    done = call(save(tmp_path, far), "predict", "job.toml", "--speed", "100, 200 mm/s")
    assert done.code == 2
    assert "job.toml" in done.err
    assert tree(tmp_path) == ["job.toml"]


def test_too_many_runs_are_no_picture(tmp_path):
    job = at.Job.load(save(tmp_path) / "job.toml")
    with pytest.raises(ArmtwinError, match="from 1 to 64 runs can be compared, got 65"):
        at.side_by_side([job] * 65)


def test_a_page_is_written_of_runs_from_python(tmp_path):
    job = at.Job.load(save(tmp_path) / "job.toml")
    runs = at.side_by_side([job, job.with_speed(0.2)], nominal=True)
    assert repr(runs) == "SideBySide(1 of 2 runs hold.)"
    assert runs.sections().verdict[0].text == "1 of 2 runs hold."

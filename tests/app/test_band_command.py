"""predict with its band: first lines, exit codes, result.json and report."""

import json

import pytest

from tests.app.test_job_commands import call, save
from tests.jobs.examples import JOB, changed

FEW = "\n[uncertainty]\ndraws = 16\n"


@pytest.fixture(scope="module")
def predicted(tmp_path_factory):
    """A short seam whose tolerance some robots keep and some do not."""
    folder = tmp_path_factory.mktemp("band")
    done = call(save(folder, JOB + FEW), "predict", "job.toml", band=True)
    result = json.loads((folder / "armtwin_out" / "job" / "result.json").read_text())
    return folder, done, result


def test_the_first_lines_say_how_sure_it_is_what_decides_and_what_would_settle_it(predicted):
    _, done, _ = predicted
    words = " ".join(done.out.split())
    assert words.startswith("MAY HOLD, ")
    assert "in 10. job, 100 mm/s:" in words
    assert "such robots:" in words
    assert "It depends on the servo's bandwidth (assumed 12 to 16 Hz, to 30 %)" in words
    assert "Log one run with q_ref (armtwin servo): the band shrinks to about" in words


def test_only_a_seam_that_surely_holds_is_exit_0(predicted, tmp_path):
    assert predicted[1].code == 1
    wide = changed('lateral = "0.1 mm"', 'lateral = "2 mm"')
    wide = changed('vertical = "0.1 mm"', 'vertical = "2 mm"', wide)
    done = call(save(tmp_path, wide + FEW), "predict", "job.toml", band=True)
    assert done.out.startswith("HOLDS, more than 9 in 10.")
    assert done.code == 0


def test_result_json_holds_the_band_and_what_it_was_drawn_with(predicted):
    band = predicted[2]["band"]
    assert band["outcome"] == "may hold"
    assert 0.05 < band["probability"] < 0.95
    assert band["ratio"]["p5"] < band["ratio"]["p50"] < band["ratio"]["p95"]
    assert (band["draws"], band["seed"]) == (16, 0)
    assert sum(share["share"] for share in band["shares"]) <= 1
    place, out = band["along"]["s_m"], band["along"]["out"]
    assert len(place) == len(out)
    assert max(out) > 0


def test_the_report_shows_the_band(predicted):
    page = (predicted[0] / "armtwin_out" / "job" / "report.html").read_text(encoding="utf-8")
    for words in ("How sure this is", "Nine of ten robots", "What measuring would buy"):
        assert words in page


def test_nominal_is_the_single_run(predicted, tmp_path):
    done = call(save(tmp_path, JOB + FEW), "predict", "job.toml", "--nominal", band=True)
    assert "the seam holds with" in done.out
    result = json.loads((tmp_path / "armtwin_out" / "job" / "result.json").read_text())
    assert "band" not in result

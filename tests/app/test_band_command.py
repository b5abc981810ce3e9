"""predict with its band: first lines, exit codes, result.json and report."""

import json
import math
import re
from pathlib import Path

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
    headline = r"(PROBABLY IN|UNDECIDED|PROBABLY OUT OF)[A-Z ]* \(about \d0 % likely to hold\)\. "
    assert re.match(headline + r"\d+ µm \w+ at \d+ mm, 100 µm allowed; 90 % interval \d+ to", words)
    assert " % of this uncertainty is the servo bandwidth, assumed 12 to 16 Hz ±30 %" in words
    way = "Record one run with commanded positions and fit the servo (`armtwin servo`)"
    assert f"{way}: the interval narrows to about" in words


def test_only_a_seam_that_surely_holds_is_exit_0(predicted, tmp_path):
    assert predicted[1].code == 1
    wide = changed('lateral = "0.1 mm"', 'lateral = "2 mm"')
    wide = changed('vertical = "0.1 mm"', 'vertical = "2 mm"', wide)
    done = call(save(tmp_path, wide + FEW), "predict", "job.toml", band=True)
    assert done.out.startswith("IN TOLERANCE (at least 95 % likely to hold).")
    assert done.code == 0


def test_a_capped_verdict_is_exit_1_and_says_what_caps_it(tmp_path):
    wide = changed('lateral = "0.1 mm"', 'lateral = "2 mm"')
    wide = changed('vertical = "0.1 mm"', 'vertical = "2 mm"', wide)
    text = wide + '\n[model]\nfriction = "off"\n' + FEW
    done = call(save(tmp_path, text), "predict", "job.toml", band=True)
    words = " ".join(done.out.split())
    capped = "(at least 95 % likely to hold, capped by friction that is off)."
    assert words.startswith(f"PROBABLY IN TOLERANCE {capped}")
    assert done.code == 1
    result = json.loads((tmp_path / "armtwin_out" / "job" / "result.json").read_text())
    assert result["verdict"]["capped_by"] == "friction that is off"
    assert result["verdict"]["outcome"] == "may hold"


def test_result_json_holds_the_band_and_what_it_was_drawn_with(predicted):
    result = predicted[2]
    assert result["format"] == 2
    verdict, band = result["verdict"], result["band"]
    assert verdict["outcome"] == "may hold"
    assert verdict["capped_by"] is None
    assert 0.05 < verdict["probability"] < 0.95
    for direction in ("lateral", "vertical"):
        low, middle, high = verdict["band_m"][direction]
        assert low < middle < high
        assert low < verdict["nominal_m"][direction] < high
    assert band["ratio"]["p5"] < band["ratio"]["p50"] < band["ratio"]["p95"]
    assert (band["draws"], result["provenance"]["seed"]) == (16, 0)
    place, out = band["along"]["s_m"], band["along"]["out"]
    assert len(place) == len(out) == len(band["along"]["lateral_m"][2])
    assert max(out) == pytest.approx(1 - verdict["probability"], abs=0.1)
    for direction in ("lateral", "vertical"):
        shown = max(band["along"][f"{direction}_m"][2])
        assert shown == pytest.approx(verdict["band_m"][direction][2], rel=0.15)
    assert 0 < band["along"]["window_m"] < 0.2


def test_result_json_names_all_that_was_drawn_as_a_job_would(predicted):
    drawn = {row["name"]: row for row in predicted[2]["uncertainty"]}
    assert {"servo.bandwidth", "friction.joint_2", "links.mass", "placement.x"} <= set(drawn)
    assert drawn["servo.bandwidth"]["width"] == 0.3
    assert drawn["servo.bandwidth"]["source"] == "assumed"
    assert drawn["servo.bandwidth"]["elasticity"] < 0
    assert (drawn["placement.x"]["width"], drawn["placement.x"]["unit"]) == (0.01, "m")
    told = [row["share"] for row in drawn.values() if row["share"] is not None]
    assert min(told) >= 0.03
    assert sum(told) <= 1


def test_every_key_of_the_result_is_explained(predicted):
    text = (Path(__file__).parents[2] / "docs" / "result.md").read_text(encoding="utf-8")
    result = predicted[2]
    missing = [key for key in result if f"`{key}`" not in text]
    for part in (result["verdict"], result["band"], result["uncertainty"][0]):
        missing += [key for key in part if f"`{key}`" not in text]
    for part in (result["band"]["along"], result["band"]["measuring"][0]):
        missing += [key for key in part if f"`{key}`" not in text]
    assert missing == []


def test_a_width_of_a_job_is_used_by_the_name_that_the_report_prints(tmp_path):
    sure = '"servo.bandwidth" = "1 %"\n"friction.joint_2" = "2 %"\nplacement = "1 mm"\n'
    call(save(tmp_path, JOB + FEW + sure), "predict", "job.toml", band=True)
    result = json.loads((tmp_path / "armtwin_out" / "job" / "result.json").read_text())
    widths = {row["name"]: row["width"] for row in result["uncertainty"]}
    assert widths["servo.bandwidth"] == 0.01
    assert (widths["friction.joint_2"], widths["friction.joint_1"]) == (0.02, 0.3)
    assert widths["placement.z"] == 0.001
    assert widths["placement.yaw"] == pytest.approx(math.radians(0.1))


def test_a_width_for_what_the_robot_does_not_have_is_refused(tmp_path):
    absent = '"friction.joint_9" = "10 %"\n'
    done = call(save(tmp_path, JOB + FEW + absent), "predict", "job.toml", band=True)
    assert done.code == 2
    assert "uncertainty 'friction.joint_9' is no quantity that is varied here" in done.err
    checked = call(tmp_path, "check", "job.toml")
    assert (checked.code, checked.err) == (2, done.err)
    assert not (tmp_path / "armtwin_out").exists()


def test_the_report_shows_the_band(predicted):
    page = (predicted[0] / "armtwin_out" / "job" / "report.html").read_text(encoding="utf-8")
    for words in ("Uncertainty", "90 % interval", "What measuring would gain"):
        assert words in page


def test_nominal_is_the_single_run(predicted, tmp_path):
    done = call(save(tmp_path, JOB + FEW), "predict", "job.toml", "--nominal", band=True)
    assert done.out.startswith("WITHIN TOLERANCE (nominal run, no interval). ")
    result = json.loads((tmp_path / "armtwin_out" / "job" / "result.json").read_text())
    assert "band" not in result
    assert result["uncertainty"] == []
    assert result["verdict"]["outcome"] is None
    assert result["verdict"]["within"] is True
    assert result["provenance"]["seed"] is None

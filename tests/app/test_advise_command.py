"""predict --advise: the advised job lies beside the report, in the units of the job."""

import json
import shutil
import tomllib
from pathlib import Path

import pytest

import armtwin as at
from tests.app.test_job_commands import call, save, tree
from tests.jobs.examples import JOB

PROGRAMS = Path(__file__).parents[2] / "docs" / "programs"
ASKED = '\n[advice]\nshare = "90 %"\noptions = ["slower stretch"]\n'


def test_the_advised_job_lies_beside_the_report_and_keeps_what_was_asked(tmp_path):
    """The seam uses 93 % of its tolerance and is to use 90: it is slow only where it uses more."""
    done = call(save(tmp_path, JOB + ASKED), "predict", "job.toml", "--advise", "--nominal")
    folder = tmp_path / "armtwin_out" / "job"
    assert "wrote armtwin_out/job/advised.toml" in done.out
    best = json.loads((folder / "result.json").read_text(encoding="utf-8"))["advice"]["best"]
    advised = at.predict(at.Job.load(folder / "advised.toml"))
    assert 0.8 < advised.verdict.worst_ratio <= 0.9
    assert abs(advised.verdict.worst_ratio - best["ratio"]) < 1e-6
    segments = tomllib.loads((folder / "advised.toml").read_text(encoding="utf-8"))["segment"]
    slow = [segment for segment in segments if "speed" in segment]
    assert slow
    for segment in slow:
        assert segment["speed"].endswith(" mm/s")
        assert segment["name"] in " ".join(done.out.split())


def test_a_job_that_needs_no_change_gets_no_advised_job(tmp_path):
    done = call(save(tmp_path), "predict", "job.toml", "--advise", "--nominal")
    assert done.code == 0
    assert "Nothing needs to change: the seam holds as it is" in " ".join(done.out.split())
    assert "advised.toml" not in tree(tmp_path / "armtwin_out" / "job")


@pytest.mark.parametrize("ending", ["src", "nc"])
def test_an_advised_speed_is_written_into_the_program_and_that_is_what_is_reported(
    ending, tmp_path
):
    """The file read again and predicted has the errors that the report says."""
    for name in (f"two_seams.{ending}", "two_seams.dat", "frames.toml"):
        shutil.copy(PROGRAMS / name, tmp_path / name)
    words = ["--robot", "rx90b", "--tool", "laser_head", "--frames", "frames.toml"]
    tolerance = "0.604 mm" if ending == "nc" else "0.324 mm"
    words += ["--tolerance", tolerance, "--nominal"]
    done = call(tmp_path, "predict", f"two_seams.{ending}", "--advise", *words, "--out", "out")
    assert f"two_seams_advised.{ending}" in done.out
    for written in (tmp_path / "out").glob("two_seams_advised.*"):
        shutil.copy(written, tmp_path)
    again = call(tmp_path, "predict", f"two_seams_advised.{ending}", *words, "--out", "again")
    assert again.code == 0
    results = []
    for folder in ("out", "again"):
        results.append(json.loads((tmp_path / folder / "result.json").read_text()))
    before, after = results
    best = before["advice"]["best"]
    lateral = after["verdict"]["nominal_m"]["lateral"]
    tolerance = after["verdict"]["tolerance_m"]["lateral"]
    assert lateral / tolerance == pytest.approx(best["ratio"], rel=1e-4)
    old = (tmp_path / f"two_seams.{ending}").read_text().splitlines()
    new = (tmp_path / f"two_seams_advised.{ending}").read_text().splitlines()
    changed = [x for x in old if x not in new]
    assert len(changed) + len(new) - len(old) == 2 * (1 + (ending == "src"))  # two moves
    rest = iter(new)
    assert all(line in rest for line in old if line in new)  # in their order

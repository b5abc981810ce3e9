"""predict --advise: the advised job lies beside the report, in the units of the job."""

import json
import tomllib

import armtwin as at
from tests.app.test_job_commands import call, save, tree
from tests.jobs.examples import JOB

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

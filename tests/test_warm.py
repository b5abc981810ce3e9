"""A warm process compiles nothing, and takes in no more than it uses."""

import json
import subprocess
import sys

import pytest

LISTEN = """
import sys
from numba.core import event

class Compiled(event.Listener):
    names = []
    def on_start(self, found): self.names.append(str(found.data["dispatcher"]))
    def on_end(self, found): pass

event.register("numba:compile", Compiled())
import armtwin as at
job = at.Job.load("rx90b_line")
folder = sys.argv[1]
"""
COMMANDS = {
    "predict": "at.predict(job).log.write(folder + '/log.csv')",
    "predict with overrides": """
from dataclasses import replace
values = {"friction.5.viscous": 0.5, "link.3.body.mass": "12 kg"}
at.predict(at.Job(replace(job.description, override=values)))
""",
    "assess": "at.assess(at.predict(job), draws=32)",
    "explain": "at.explain(at.predict(job))",
    "advise": "at.advise(at.predict(job.with_speed('400 mm/s')), budget=3)",
    "a job with a force": """
at.explain(at.predict(at.Job.load("kr300_frame").with_speed("200 mm/s")))
""",
    "identify": """
import numpy as np
robot = at.Robot.load("rx90b")
t = np.arange(0, 8, 0.01)[:, None]
w = 2 * np.pi * np.array([0.31, 0.37, 0.43, 0.53, 0.61, 0.71])
q, v, a = 0.3 * np.sin(w * t), 0.3 * w * np.cos(w * t), -0.3 * w * w * np.sin(w * t)
tau = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v)
at.identify(robot, [at.Log.of(t[:, 0], q=q, tau=tau)], cutoff=10.0)
""",
    "compare": "at.compare(job, at.predict(job).log)",
    "check": """
sys.argv = ["armtwin", "check", "rx90b_line"]
from armtwin.app.commands import app
app(standalone_mode=False)
""",
}


def run(folder, *scripts):
    """The last line that a fresh process prints."""
    script = "\n".join([LISTEN, *scripts, "import json; print(json.dumps(Compiled.names))"])
    done = subprocess.run(
        [sys.executable, "-c", script, str(folder)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def compiled_by_each(folder):
    """What each command compiles, one after another in a fresh process.

    They share no more than what one of them has compiled or found on the disk.
    """
    parts = ["told = {}"]
    for name, script in COMMANDS.items():
        parts += [script, f"told[{name!r}], Compiled.names = Compiled.names, []"]
    return run(folder, *parts, "Compiled.names = told")


@pytest.fixture(scope="module")
def warm(tmp_path_factory):
    """A cache with all kernels that the commands need."""
    compiled_by_each(tmp_path_factory.mktemp("cold"))


def test_a_warm_process_compiles_nothing(warm, tmp_path):
    assert compiled_by_each(tmp_path) == {name: [] for name in COMMANDS}


USED = """
sys.argv = ["armtwin", "predict", "rx90b_line", "--nominal", "--out", folder + "/result"]
from armtwin.app.commands import app
try:
    app(standalone_mode=False)
except SystemExit:
    pass
Compiled.names = sorted(sys.modules)
"""


def test_a_warm_prediction_takes_in_no_room_and_no_library_that_it_does_not_use(warm, tmp_path):
    """numba's imports for compiling are half a second; those of scipy's linalg are most of it."""
    used = set(run(tmp_path, USED))
    idle = ("scipy.linalg", "scipy.interpolate", "numba.np.linalg", "numba.np.arraymath")
    idle += ("numba.np.arrayobj", "numba.cpython.unicode", "jinja2", "matplotlib", "pandas")
    idle += ("armtwin.prediction.advice", "armtwin.prediction.compare", "armtwin.identification")
    idle += (
        "armtwin.robot.showing.overview",
        "armtwin.identification.rigid_body.evaluation.result",
    )
    assert not used & set(idle)


def test_a_warm_prediction_in_python_takes_in_no_command_line(warm, tmp_path):
    """typer brings pydantic's front end with it, a twentieth of the command."""
    script = """
prediction = at.predict(job)
at.write_report(at.Answer(prediction, at.explain(prediction)), folder + "/report.html")
Compiled.names = sorted(sys.modules)
"""
    used = set(run(tmp_path, script))
    assert not used & {"pydantic", "typer", "rich", "jinja2", "numba.np.arrayobj", "armtwin.app"}


def test_what_a_command_took_in_is_not_searched_for_waste():
    """Neither while it runs nor when it ends: that would be a fifth of a short command."""
    script = """
import gc, sys
from armtwin.__main__ import start
sys.argv = ["armtwin", "jobs", "nothing"]
try:
    start()
except SystemExit:
    print(gc.isenabled(), gc.get_freeze_count() > 50_000, len(gc.get_objects()) < 1000)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "True True True"


@pytest.mark.parametrize("word", ["--version", "--help"])
def test_help_and_version_load_neither_kernels_nor_commands(word):
    script = f"""
import sys
from armtwin.__main__ import start
sys.argv = ["armtwin", "{word}"]
try:
    start()
except SystemExit:
    print({{"numba", "numpy", "rich", "armtwin.app.job_commands"}} & set(sys.modules))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines()[-1] == "set()"

"""A made-up experiment: one folder, one line of registration, and it is shown everywhere."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import armtwin

LINE = "    from armtwin.identification.pendulum.result import PendulumFit as PendulumFit\n"
RESULT = '''"""Length of a pendulum from its periods, T = 2 pi sqrt(l / g)."""

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Points, Rule
from armtwin.notebook.numbers import Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Column, Report, Section, Table, Text
from armtwin.report.result import Result

GRAVITY = 9.81


@dataclass(frozen=True, eq=False, repr=False)
class PendulumFit(Result):
    """The length of a pendulum."""

    periods: Floats

    @property
    def length(self) -> float:
        """Length [m]."""
        return float(GRAVITY * np.mean(self.periods / (2 * np.pi)) ** 2)

    def sections(self) -> Report:
        """Length, and the periods that it follows from."""
        verdict = Text(f"Length {Number(1e3, 'mm').with_unit(self.length)}.", "good")
        return Report("Pendulum", "", (Section("Periods", _show(self)),), (verdict,))


def _show(fit):
    columns = Column("swing", "swing"), Column("period_s", "period", Number(1.0, "s", digits=4))
    records = [{"swing": k + 1, "period_s": float(T)} for k, T in enumerate(fit.periods)]
    yield Table(columns, records, "periods")
    swings = np.arange(1.0, len(fit.periods) + 1)
    layers = Points("measured", swings, fit.periods), Rule(float(np.mean(fit.periods)), "mean")
    yield Chart("Period", Axis("swing"), Axis("period", "s"), layers)
'''
SCRIPT = """
import json, sys
import matplotlib
matplotlib.use("Agg")
import numpy as np
from rich.console import Console
import armtwin as at
from armtwin.report.result_file import to_result
from armtwin.report.terminal import to_terminal

fit = at.PendulumFit(np.array([2.0, 2.01, 1.99]))
console = Console(width=60)
with console.capture() as capture:
    console.print(to_terminal(fit.sections()))
fit.report(sys.argv[1])
axes = fit.plot()
shown = {
    "dir": "PendulumFit" in dir(at),
    "repr": repr(fit),
    "card": fit._repr_html_(),
    "terminal": capture.get(),
    "json": to_result(fit.sections())["periods"],
    "plot": [axes[0].get_ylabel(), axes[0].get_lines()[0].get_ydata().tolist()],
    "frame": fit.to_dataframe()["period_s"].tolist(),
    "loaded": [name for name in sys.modules if name.startswith("armtwin.identification.")],
}
print(json.dumps(shown))
"""


@pytest.fixture(scope="module")
def shown(tmp_path_factory):
    """What the package shows of the experiment, with the folder and the line added."""
    folder = tmp_path_factory.mktemp("package")
    package = folder / "armtwin"
    shutil.copytree(Path(armtwin.__file__).parent, package)
    experiment = package / "identification" / "pendulum"
    experiment.mkdir()
    (experiment / "__init__.py").write_text('"""Pendulums."""\n')
    (experiment / "result.py").write_text(RESULT)
    top = package / "__init__.py"
    text = top.read_text()
    top.write_text(text.replace("if TYPE_CHECKING:\n", f"if TYPE_CHECKING:\n{LINE}", 1))
    page = folder / "report.html"
    command = [sys.executable, "-c", SCRIPT, str(page)]
    done = subprocess.run(
        command, cwd=folder, capture_output=True, text=True, env={"PYTHONPATH": str(folder)}
    )
    assert done.returncode == 0, done.stderr
    return {**json.loads(done.stdout), "page": page.read_text()}


def test_it_is_a_public_name(shown):
    assert shown["dir"]


def test_line_card_terminal_and_page_show_its_verdict_and_table(shown):
    assert shown["repr"] == "PendulumFit(Length 994 mm.)"
    for place in ("card", "terminal", "page"):
        assert "Length 994 mm." in shown[place]
        assert "2.01" in shown[place]


def test_its_numbers_are_in_json_frame_and_plot(shown):
    periods = [2.0, 2.01, 1.99]
    assert [record["period_s"] for record in shown["json"]] == periods
    assert shown["frame"] == periods
    assert shown["plot"] == ["period [s]", periods]


def test_showing_it_loads_no_other_experiment(shown):
    other = [name for name in shown["loaded"] if "pendulum" not in name]
    assert not other

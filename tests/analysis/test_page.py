"""The page of the hydraulic robot: its code runs, and its numbers are those of today."""

import re
from pathlib import Path

import pytest

import armtwin as at

PAGE = (Path(__file__).parents[2] / "docs" / "epaas.md").read_text(encoding="utf-8")


def test_the_code_of_the_page_runs_on_the_five_axes_and_on_one_cylinder():
    (code,) = re.findall(r"```python\n(.*?)```", PAGE, re.DOTALL)
    names = {}
    exec(code, names)
    assert (names["robot"].n, names["bench"].n) == (5, 1)


def test_the_pages_step_response_of_the_fourth_cylinder_is_todays():
    (line,) = re.findall(r"^\| L4 \| -0\.22 \|.*$", PAGE, re.MULTILINE)
    printed = [float(x) for x in line.split("|")[4].split("/")]
    found = at.step_response(at.Robot.load("epaas"), {"L4": -0.22}).features("L4")
    today = [1e3 * found.first_peak, 1e3 * found.period, 100 * found.overshoot]
    assert today == pytest.approx(printed, abs=0.06)

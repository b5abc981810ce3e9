"""A made-up result gives its sections in one function; terminal, page and result.json follow."""

import json
from dataclasses import asdict, dataclass

import pytest
from rich.console import Console

import armtwin as at
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Column, Data, Report, Section, Table, Text
from armtwin.report.page import to_html
from armtwin.report.result import Result
from armtwin.report.result_file import to_result
from armtwin.report.terminal import to_terminal


@dataclass(frozen=True)
class Stiffness:
    """Stiffness of one gear [N m/rad]."""

    joint: str
    stiffness_n_m_rad: float


@dataclass(frozen=True, eq=False, repr=False)
class Clamping(Result):
    """A result of an experiment that there is not."""

    gears: tuple[Stiffness, ...]
    backlash: float

    def sections(self) -> Report:
        """Stiffness of the gears."""
        columns = (
            Column("joint", "joint"),
            Column("stiffness_n_m_rad", "stiffness", Number(1e-3, "kN m/rad")),
        )
        table = Table(columns, [asdict(gear) for gear in self.gears], "gears.stiffness")
        section = Section("Gears", (table, Data({"gears.backlash_rad": self.backlash})))
        verdict = Text("The softest gear is that of joint_2.", "good")
        return Report("Clamped joints", "two joints", (section,), (verdict,))


@pytest.fixture
def report():
    gears = (Stiffness("joint_1", 25_700.0), Stiffness("joint_2", 9_130.0))
    return Clamping(gears, float("nan")).sections()


def test_the_terminal_shows_it(report):
    console = Console(width=60, highlight=False)
    with console.capture() as capture:
        console.print(to_terminal(report))
    lines = [line.split() for line in capture.get().splitlines() if line.strip()]
    assert lines[0][:3] == ["The", "softest", "gear"]
    assert ["joint_1", "25.7"] in lines
    assert ["joint", "stiffness", "kN", "m/rad"] in lines


def test_the_page_shows_it(report, tmp_path):
    page = to_html(report)
    assert ">Gears</" in page
    assert ">9.13</td>" in page
    assert "The softest gear" in page
    at.write_report(Clamping((Stiffness("joint_1", 1.0),), 0.1), tmp_path / "r.html")
    assert (tmp_path / "r.html").exists()


def test_the_result_file_holds_it_in_si(report):
    result = json.loads(json.dumps(to_result(report), allow_nan=False))
    assert result["gears"]["stiffness"] == [
        {"joint": "joint_1", "stiffness_n_m_rad": 25700.0},
        {"joint": "joint_2", "stiffness_n_m_rad": 9130.0},
    ]
    assert result["gears"]["backlash_rad"] is None
    assert result["format"] == 2


def test_two_blocks_with_one_key_are_refused():
    section = Section("", (Data({"a": 1}), Data({"a": 2})))
    with pytest.raises(KeyError, match="two blocks of a report give 'a'"):
        to_result(Report("t", "", (section,)))

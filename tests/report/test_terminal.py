"""The terminal: the verdict first, no digit lost in a narrow window, readable in the C locale."""

import io
import re
from dataclasses import replace

import numpy as np
import pytest
from rich.console import Console

import armtwin as at
from armtwin.app.streams import in_ascii
from armtwin.errors import printable
from armtwin.notebook.numbers import MICROMETRES, Number
from armtwin.notebook.sections import Column, Facts, Report, Section, Table, Text
from armtwin.report.terminal import to_screen, to_terminal


def printed(report, width, spelled=printable):
    console = Console(width=width, highlight=False, force_terminal=False)
    with console.capture() as capture:
        console.print(to_terminal(report, spelled))
    return capture.get()


@pytest.fixture(scope="module")
def report():
    """A seam that holds: the frame of the KR300, slowly, with rigid gears and a wide tolerance."""
    job = at.Job.load("kr300_frame").with_speed(0.05)
    stiff = replace(job.description.model, joints="rigid")
    wide = replace(job.description.tolerance, lateral=1e-3, vertical=1e-3)
    described = replace(job.description, model=stiff, tolerance=wide)
    p = at.predict(at.Job(described, job.origin))
    return at.Answer(p, at.explain(p)).sections()


def test_the_first_line_is_the_verdict_with_its_servo_and_its_margin(report):
    first, second, *_ = printed(report, 80).splitlines()
    words = f"{first.strip()} {second.strip()}"
    headline = r"WITHIN TOLERANCE \(nominal run, no interval\)\. "
    peak = r"\d+ µm \w+ at \d+ mm, 1000 µm allowed, \d+ % to spare; "
    assert re.match(headline + peak + "assumed servo, structure not known", words)


def test_where_and_why_stand_before_the_tables(report):
    titles = [line.strip() for line in printed(report, 80).splitlines()]
    order = [titles.index(name) for name in ("Where and why", "Segments", "Joints", "Feasibility")]
    assert order == sorted(order)


@pytest.mark.parametrize("width", [80, 60, 40, 25])
def test_no_width_drops_a_digit(report, width):
    """Every number of every table that a terminal shows stands there whole."""
    text = printed(report, width)
    assert max(len(line.rstrip()) for line in text.splitlines()) <= width
    words = set(re.split(r"[\s:;,()]+", text))
    for section in report.sections:
        for block in section.blocks:
            if isinstance(block, Table) and not block.folded:
                for column in block.columns:
                    if column.number is not None and not column.page_only:
                        assert {column.cell(record) for record in block.records} <= words


def test_a_wide_table_has_a_row_for_each_record_and_a_narrow_one_a_card():
    columns = (Column("name", "joint"), Column("x", "error", MICROMETRES))
    columns += (Column("y", "travel", MICROMETRES),)
    records = [{"name": "joint_1", "x": 1e-6, "y": 2.0}, {"name": "joint_2", "x": np.nan, "y": 3.0}]
    table = Table(columns, records)
    wide = printed(Report("t", "", (Section("", (table,)),)), 40)
    assert re.search(r"joint_1 +1 +2000000\n", wide)
    assert re.search(r"joint_2 +- +3000000\n", wide)
    narrow = printed(Report("t", "", (Section("", (table,)),)), 20)
    card = "joint_1\n  error µm: 1\n  travel µm: 2000000\njoint_2\n  error µm: -\n"
    assert card in re.sub(r" +\n", "\n", narrow)


@pytest.mark.parametrize("width", [70, 80, 120, 300])
def test_no_width_cuts_a_word_of_a_table_of_long_texts(width):
    """A list of long names beside a sentence: both are broken between words, none is lost."""
    names = ", ".join(f"motor.motor_shoulder_lift_joint.torque_constant_{k}" for k in range(9))
    source = "1 log with 3691 samples, torque from current, cut-off 10 Hz, consistent; as before"
    columns = (Column("group", "group"), Column("source", "source"))
    table = Table(columns, [{"group": names, "source": source}, {"group": "a", "source": "b"}])
    lines = printed(Report("t", "", (Section("", (table,)),)), width).splitlines()
    assert max(len(line) for line in lines) <= width
    assert set(f"{names} {source}".split()) <= set(" ".join(lines).split())


def test_explanations_and_folded_tables_are_for_the_page():
    folded = Table((Column("x", "x", Number()),), [{"x": 4711.0}], folded="All")
    text = printed(Report("t", "", (Section("a", (Text("long story", "soft"), folded)),)), 80)
    assert "long story" not in text
    assert "4711" not in text


def test_rows_beyond_the_most_are_counted():
    table = Table((Column("x", "x", Number()),), [{"x": i} for i in range(9)], "many", most=4)
    assert "and 5 more in result.json" in printed(Report("t", "", (Section("", (table,)),)), 80)


def test_control_characters_of_a_file_do_not_reach_the_terminal():
    text = printed(Report("\x1b[31mred", "", (Section("", (Facts((("a", "\x07b"),)),)),)), 80)
    assert "\x1b" not in text
    assert "\x07" not in text


@pytest.mark.parametrize(
    ("letter", "plain"), [("µ", "u"), ("°", " deg"), ("±", "+-"), ("²", "^2"), ("ä", "a")]
)
def test_letters_that_a_terminal_lacks_have_others(letter, plain):
    assert in_ascii(letter) == plain


@pytest.mark.parametrize("width", [80, 40])
def test_other_letters_are_chosen_before_the_lines_are_broken(report, width):
    """A letter that becomes two does not push a line over the edge of the window."""

    def ascii_only(text):
        return "".join(x if x.isascii() else in_ascii(x) for x in text)

    text = printed(report, width, ascii_only)
    words = text.replace("─", "-")
    assert words.isascii()
    assert max(len(line.rstrip()) for line in words.splitlines()) <= width


def test_a_screen_shows_what_fits_of_a_section_and_counts_the_rest():
    """A text that leads to a table comes with it or not at all."""
    columns = (Column("name", "name"),)
    small = Table(columns, [{"name": f"short {k}"} for k in range(3)])
    large = Table(columns, [{"name": f"long {k}"} for k in range(40)])
    blocks = (small, Text("The many:"), large, Text("Last."))
    shown = Report("title", "", (Section("", blocks),), verdict=(Text("It holds.", "good"),))
    console = Console(width=80, file=io.StringIO())
    console.print(to_screen(shown))
    text = console.file.getvalue()
    assert "short 2" in text
    assert "Last." in text
    assert "The many:" not in text
    assert "long 0" not in text
    assert "--full shows: 1 more to note" in text

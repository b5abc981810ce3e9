"""Nouns in one line and as a table: short, true, and harmless whatever a file holds."""

from dataclasses import replace
from html.parser import HTMLParser

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.files import list_shipped
from armtwin.notebook import cards

MARKUP = '<script>alert(1)</script> & "quoted"'
HOSTILE = f"{MARKUP} \x1b[31m \u202e"


class Tags(HTMLParser):
    """The tags and the text of a piece of HTML."""

    def __init__(self, html):
        super().__init__()
        self.names, self.text = set(), ""
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.names.add(tag)

    def handle_data(self, data):
        self.text += data


def nouns(fast_run, comparison, identification):
    answer = at.Answer(fast_run, comparison=comparison)
    fit = identification.fit
    found = [fast_run, fast_run.run, fast_run.verdict, fast_run.path_error, fast_run.job]
    found += [fast_run.log, fast_run.motion.trajectory, comparison, answer]
    return [*found, identification, identification.estimate, fit]


def test_every_noun_says_what_it_is_in_one_short_line(robots, fast_run, comparison, identification):
    shown = [*robots.values(), *(at.Job.load(name) for name in list_shipped())]
    for noun in [*shown, *nouns(fast_run, comparison, identification)]:
        line = repr(noun)
        assert line.startswith(f"{type(noun).__name__}(")
        assert line.endswith(")")
        assert len(line) < 100
        assert "\n" not in line


def test_the_lines_of_the_documentation(robots, fast_run):
    assert repr(robots["rx90b"]) == "Robot('rx90b', 6 joints, 82 parameters)"
    log = at.Log.of(np.arange(3001) / 250, q=np.zeros((3001, 6)), tau=np.zeros((3001, 6)))
    assert repr(log) == "Log(3001 samples, 12 s, q tau)"
    assert repr(fast_run).startswith("Prediction(EXCEEDS TOLERANCE (nominal run, no interval). ")


def test_a_long_or_hostile_name_neither_lengthens_nor_breaks_the_line(robots):
    long = replace(robots["rx90b"].description, name="x" * 500)
    assert len(repr(at.Robot(long))) < 100
    assert "\x1b" not in cards.line("Robot", HOSTILE)
    assert "\u202e" not in cards.line("Robot", HOSTILE)


def test_hostile_texts_are_shown_in_tables_and_never_obeyed(robots):
    robot = at.Robot(replace(robots["rx90b"].description, title=MARKUP))
    job = at.Job(replace(at.Job.load("rx90b_line").description, title=MARKUP))
    log = replace(at.Log.of([0.0, 1.0], q=[[0.0], [1.0]]), origin="<script>\x1b[31m \u202e.csv")
    for noun, word in ((robot, "</script>"), (job, "</script>"), (log, "<script>")):
        tags = Tags(noun._repr_html_())
        assert tags.names <= {"p", "b", "table", "caption", "tr", "th", "td"}
        assert word in tags.text
        assert not {"\x1b", "\u202e"} & set(tags.text)


def test_tables_hold_the_numbers_that_matter(fast_run, comparison, identification):
    peak = max(segment.lateral_peak_m for segment in fast_run.verdict.segments)
    html = fast_run._repr_html_()
    assert f"{1e6 * peak:.0f} µm, ±20 µm allowed" in html
    assert f"{1e3 * fast_run.verdict.out_of_tolerance_m:.1f} mm of the seam" in html
    for row in comparison.rows:
        assert row.name in comparison._repr_html_()
    for share in identification.fit.nrmse:
        assert f">{share:.1f}<" in identification._repr_html_()
    assert f"{fast_run.run.energy.friction:.4g} J" in fast_run.run._repr_html_()
    assert f">{identification.estimate.sigma[0]:.3g}<" in identification.estimate._repr_html_()


def test_a_line_and_a_card_seek_no_causes(fast_run, comparison, monkeypatch):
    """A run is explained by many more: what a cell shows of it must not wait for them."""

    def refuse(*args):
        raise AssertionError("causes are for the report")

    monkeypatch.setattr("armtwin.prediction.sections.overview.explain", refuse)
    for noun in (fast_run, comparison):
        assert repr(noun)
        assert noun._repr_html_()
        noun.plot()


def test_a_log_without_samples_is_shown_too():
    log = at.Log.of([], q=np.empty((0, 6)))
    assert repr(log) == "Log(0 samples, 0 s, q)"
    assert "joint position [rad]" in log._repr_html_()


@pytest.mark.parametrize(("count", "text"), [(0, "0 logs"), (1, "1 log"), (2, "2 logs")])
def test_one_is_singular(count, text):
    assert cards.format_count(count, "log") == text

"""Speeds written into programs: numbers alone, and nothing else changes."""

import re

import pytest

from armtwin.programs.table import read_program
from armtwin.programs.writing import replace_speeds
from tests.programs.corpus import DIALECTS, draw_targets

CASES = [(name, style) for name in DIALECTS for style in range(4)]


@pytest.mark.parametrize(("name", "style"), CASES)
def test_slower_moves_change_their_speeds_and_nothing_else(name, style, tmp_path):
    """One move at 70 % of its speed: poses, zones and the speeds of all others stay."""
    written = DIALECTS[name](style, draw_targets(5))
    path = tmp_path / f"seam{written.ending}"
    path.write_bytes(written.text.encode())
    if written.data:
        (tmp_path / "seam.dat").write_text(written.data)
    found = read_program(path)
    steps = [x for stretch in found.stretches for x in stretch]
    led = [x for x in steps if x.kind in ("LIN", "CIRC") and x.speed]
    chosen = led[len(led) // 2]
    place = chosen.statement.start
    text = replace_speeds(found, {place: 0.7 * chosen.speed})
    again = [x for y in read_program(path, text=text).stretches for x in y]
    for old, new in zip(steps, again, strict=True):
        factor = 0.7 if old.statement.start == place else 1.0
        assert new.speed == (None if old.speed is None else pytest.approx(factor * old.speed))
        assert (new.spot.X == old.spot.X).all() if old.spot.X is not None else new.spot.X is None
        if name != "ls":  # CNT is the distance in which a stop begins, which the speed decides
            assert new.zone == old.zone
    lines, others = found.text.splitlines(), text.splitlines()
    differing = [x for x in lines if x not in others]
    assert len(differing) <= 1
    for line in differing:  # a number is put in, in the place of a number or of a speed's name
        words = set(re.findall("[A-Za-z]{2,}", re.sub(r"R\[[^\]]*\]", "", line)))
        assert any(len(words - set(re.findall("[A-Za-z]{2,}", x))) <= 1 for x in others)


@pytest.mark.parametrize("name", DIALECTS)
def test_speeds_that_stay_are_not_written(name, tmp_path):
    written = DIALECTS[name](0, draw_targets(5))
    path = tmp_path / f"seam{written.ending}"
    path.write_bytes(written.text.encode())
    found = read_program(path)
    assert replace_speeds(found, {}) == found.text

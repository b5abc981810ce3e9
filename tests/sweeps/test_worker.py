"""Workers begin with little, leave nothing behind, and end together."""

import subprocess
import sys
from dataclasses import replace
from itertools import count

import pytest

import armtwin as at
from armtwin.robot.files import list_shipped
from armtwin.sweeps.rows import ResultRow
from armtwin.sweeps.running import SHARES, _Pieces
from tests.sweeps.examples import short_job, without_cost


def test_a_worker_takes_in_nothing_before_it_begins():
    """What it then takes in is not searched for waste, which would be a tenth of its start."""
    script = "import armtwin.sweeps.worker, sys; print('numpy' in sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == "False"


@pytest.mark.skipif(sys.platform == "win32", reason="places temporary files by TMPDIR")
def test_files_that_workers_unpacked_are_gone_when_they_are(tmp_path, monkeypatch):
    robot, temporary = tmp_path / "own.toml", tmp_path / "temporary"
    robot.write_bytes(list_shipped()["rx90b"].read_bytes())
    temporary.mkdir()
    monkeypatch.setenv("TMPDIR", str(temporary))
    job = at.Job(replace(short_job().description, robot="own.toml"), str(tmp_path / "job.toml"))
    asked = at.Sweep.over(job, {"speed": ["140 mm/s", "150 mm/s"]})
    seen = []
    found = at.sweep(asked, workers=1, progress=lambda now: seen.extend(temporary.iterdir()))
    assert seen
    assert not list(temporary.iterdir())
    assert without_cost(found.rows) == without_cost(at.sweep(asked, threads=1).rows)


class Runs:
    """Numbers in place of runs."""

    def __init__(self, total):
        self.numbers, self.total, self.given = count(), total, 0

    @property
    def left(self):
        return self.total - self.given

    def __iter__(self):
        return self

    def __next__(self):
        if not self.left:
            raise StopIteration
        self.given += 1
        return next(self.numbers)


class Place:
    width, task_s, least_s = 3, 0.4, 0.0


@pytest.mark.parametrize("total", [1, 10, 1000])
def test_the_last_pieces_are_single_runs_and_none_is_more_than_a_share(total):
    """So that the last worker ends one run after the first that found nothing to do."""
    pieces = _Pieces(Runs(total), Place())
    pieces.learn([ResultRow("holds", cpu_s=0.02)])
    found, left = [], total
    for piece in pieces:
        assert len(piece) <= max(1, left // (SHARES * Place.width))
        assert len(piece) <= 20
        left -= len(piece)
        found.append(piece)
    assert [number for piece in found for number in piece] == list(range(total))
    assert all(len(piece) == 1 for piece in found[-SHARES * Place.width :])


def test_no_piece_but_the_last_is_shorter_than_a_scheduler_can_bear():
    place = Place()
    place.least_s = 0.1
    pieces = _Pieces(Runs(1003), place)
    pieces.learn([ResultRow("holds", cpu_s=0.02)])
    sizes = [len(piece) for piece in pieces]
    assert sum(sizes) == 1003
    assert min(sizes[:-1]) == 5  # of 0.02 s each

"""The table of results: one file, ours while we write, refused where it is not of this sweep."""

import os
import sqlite3
from pathlib import Path

import pytest

from armtwin.errors import ArmtwinError
from armtwin.sweeps.rows import ResultRow
from armtwin.sweeps.table import open_table

VERSIONS = {"armtwin": "0.1.0", "numpy": "2"}
RECORD = (b"k" * 16, "job", "robot", {"speed": 0.1}, ResultRow("holds", ratio=0.5))


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "results.sqlite"
    with open_table(path, "mine", VERSIONS) as table:
        table.put([RECORD])
    return path


def test_rows_are_read_as_they_were_written(file):
    with open_table(file, "mine", VERSIONS) as table:
        assert table.rows([RECORD[0], b"x" * 16]) == {RECORD[0]: RECORD[-1]}
        assert table.known([RECORD[0], b"x" * 16]) == {RECORD[0]}


def test_another_sweep_is_refused(file):
    with pytest.raises(ArmtwinError, match="holds the results of another sweep, 'mine'"):
        open_table(file, "yours", VERSIONS).__enter__()


def test_a_damaged_table_is_let_go_when_it_was_refused(file):
    """A whole one in its place is not taken for one that another process writes.

    The damage is in a name of the table's text, which SQLite quotes and which is then no UTF-8.
    """
    whole = file.read_bytes()
    file.write_bytes(whole.replace(b"CREATE TABLE run", b"CREATE T\x86BLE run"))
    with pytest.raises(ArmtwinError, match="is no table of results") as refused:
        open_table(file, "mine", VERSIONS).__enter__()
    file.write_bytes(whole)
    with open_table(file, "mine", VERSIONS) as table:
        assert table.count() == 1
    del refused  # what it holds would be let go with it


def test_another_version_is_refused(file):
    with pytest.raises(ArmtwinError, match=r"written by armtwin 0\.1\.0, this is 0\.2\.0"):
        open_table(file, "mine", {**VERSIONS, "armtwin": "0.2.0"}).__enter__()


def test_another_format_is_refused(file):
    with sqlite3.connect(file) as connection:
        connection.execute("UPDATE about SET value = '99' WHERE name = 'format'")
    connection.close()
    with pytest.raises(ArmtwinError, match="written by format 99, this is 1"):
        open_table(file, "mine", VERSIONS).__enter__()


def test_a_file_of_something_else_is_refused_and_stays(tmp_path):
    path = tmp_path / "results.sqlite"
    path.write_text("notes of mine\n" * 100)
    with pytest.raises(ArmtwinError, match="is no table of results"):
        open_table(path, "mine", VERSIONS).__enter__()
    assert path.read_text().startswith("notes of mine")


def test_a_table_that_is_being_written_is_refused(file, monkeypatch):
    monkeypatch.setattr("armtwin.sweeps.table.BUSY", 0.05)
    with (
        open_table(file, "mine", VERSIONS),
        pytest.raises(ArmtwinError, match="another sweep is writing there"),
    ):
        open_table(file, "mine", VERSIONS).__enter__()


def test_versions_are_kept_with_the_rows(file):
    with open_table(file, "mine", {**VERSIONS, "numpy": "3"}) as table:
        table.put([(b"l" * 16, *RECORD[1:])])
    with sqlite3.connect(file) as connection:
        asked = "SELECT versions FROM run JOIN made_by ON made_by.number = made_by"
        found = [text for (text,) in connection.execute(asked)]
    connection.close()
    assert sorted(found) == [
        '{"armtwin": "0.1.0", "numpy": "2"}',
        '{"armtwin": "0.1.0", "numpy": "3"}',
    ]


def change(file, *statements):
    connection = sqlite3.connect(file)
    for statement in statements:
        connection.execute(statement)
    connection.commit()
    connection.close()


@pytest.mark.parametrize(
    ("change_of", "sentence"),
    [
        ("UPDATE run SET ratio = 'half'", "column ratio must hold a finite number, got 'half'"),
        ("UPDATE run SET lag_m = x'00ff'", "column lag_m must hold a finite number, got b'"),
        ("UPDATE run SET lag_m = 9e999", "column lag_m must hold a finite number, got inf"),
        ("UPDATE run SET cpu_s = 'long'", "column cpu_s must hold a finite number, got 'long'"),
        ("UPDATE run SET sentence = x'00'", "column sentence must hold a text, got b'"),
        ("UPDATE run SET outcome = 'perhaps'", "outcome must be one of holds, may hold,"),
        (
            "UPDATE run SET sentence = CAST(x'ff80' AS TEXT)",
            "cannot be read .Could not decode to UTF-8",
        ),
        ("ALTER TABLE run DROP COLUMN ratio", "cannot be read .no such column: ratio"),
    ],
)
def test_a_table_that_another_hand_has_changed_is_refused_by_a_sentence(file, change_of, sentence):
    change(file, change_of)
    with (
        open_table(file, "mine", VERSIONS) as table,
        pytest.raises(ArmtwinError, match=sentence) as refusal,
    ):
        table.rows([RECORD[0]])
    assert str(refusal.value).startswith(str(file))
    assert "Delete it to run the sweep again" in str(refusal.value)


def test_a_view_in_place_of_the_runs_is_not_asked(file):
    """It could be a query without end."""
    endless = "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x FROM n) SELECT x AS key FROM n"
    change(file, "DROP TABLE run", f"CREATE VIEW run AS {endless}")
    with pytest.raises(ArmtwinError, match="is no table of a sweep's results"):
        open_table(file, "mine", VERSIONS).__enter__()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
@pytest.mark.parametrize("ending", ["", "-journal", "-wal"])
def test_a_pipe_as_a_table_or_beside_it_is_refused_and_not_waited_for(file, ending):
    place = Path(f"{file}{ending}")
    place.unlink(missing_ok=True)
    os.mkfifo(place)
    with pytest.raises(ArmtwinError, match="must be a plain file, but is a pipe"):
        open_table(file, "mine", VERSIONS).__enter__()


def test_numbers_of_more_rows_than_one_query_takes_keep_all_their_bits(tmp_path):
    rows = {k.to_bytes(16): ResultRow("holds", k / 3, None, 1e-300 * k) for k in range(1201)}
    with open_table(tmp_path / "many.sqlite", "mine", VERSIONS) as table:
        table.put([(key, "job", "robot", {}, row) for key, row in rows.items()])
    with open_table(tmp_path / "many.sqlite", "mine", VERSIONS, read_only=True) as table:
        assert table.rows(list(rows)) == rows


def test_rows_are_written_all_or_none(file):
    with open_table(file, "mine", VERSIONS) as table:
        with pytest.raises(ArmtwinError, match="cannot be written"):
            table.put([(b"l" * 16, *RECORD[1:]), (b"m" * 16, *RECORD[1:-1], ResultRow(None))])
        assert table.count() == 1


def test_reading_a_table_that_is_not_there_is_refused_and_makes_none(tmp_path):
    with pytest.raises(ArmtwinError, match="cannot be opened"):
        open_table(tmp_path / "none.sqlite", "mine", VERSIONS, read_only=True).__enter__()
    assert not list(tmp_path.iterdir())

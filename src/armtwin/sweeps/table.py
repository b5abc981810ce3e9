"""The table of results: one SQLite file, a row for each run, known by the content of its inputs.

One process writes it and holds it. Every piece of work that is done is committed at once, so that
a sweep that is killed has lost no more than what was running.
"""

import json
import math
import sqlite3
import time
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from armtwin.errors import ArmtwinError
from armtwin.files.opening import RESULT_TABLE, check_database
from armtwin.maths.batch import NamedTexts, Record
from armtwin.sweeps.rows import COLUMNS, COST, OUTCOMES, ResultRow

FORMAT = 1  # of the SQLite file
MEMORY = ":memory:"
ASKED = 500  # keys in one query
# what sqlite3 raises of a damaged file; its messages quote names in it, which may be no UTF-8
DAMAGE = (sqlite3.Error, UnicodeError, OverflowError)
BUSY = 2.0  # time [s] to wait for a process that only reads
WORDS = ("outcome", "sentence")  # columns that hold texts
ANOTHER = "Delete it to run the sweep again, or choose another folder with --out"
_TYPES = {"outcome": "TEXT NOT NULL", "sentence": "TEXT NOT NULL", "cpu_s": "REAL NOT NULL"}
_OWN = ", ".join(f"{name} {_TYPES.get(name, 'REAL')}" for name in COLUMNS)
_SCHEMA = f"""
CREATE TABLE about (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE made_by (number INTEGER PRIMARY KEY, versions TEXT NOT NULL UNIQUE);
CREATE TABLE run (
    key BLOB PRIMARY KEY, job TEXT NOT NULL, robot TEXT NOT NULL, inputs TEXT NOT NULL,
    {_OWN}, made_by INTEGER NOT NULL REFERENCES made_by
) WITHOUT ROWID;
"""
_PLACES = ", ".join("?" * (5 + len(COLUMNS)))


class ResultTable:
    """The table of a sweep's results.

    Attributes:
        path: The file, or ":memory:".
        versions: What the rows that are written now are made by, as JSON.
    """

    def __init__(self, path: str, connection: sqlite3.Connection, versions: str) -> None:
        self.path = path
        self._connection = connection
        self._made_by: int | None = None
        self.versions = versions

    def known(self, keys: Sequence[bytes]) -> set[bytes]:
        """Which of the runs are there."""
        return {key for (key,) in self._select("key", keys)}

    def rows(self, keys: Sequence[bytes]) -> dict[bytes, ResultRow]:
        """The rows of the runs that are there."""
        found: dict[bytes, ResultRow] = {}
        for key, *values in self._select(", ".join(("key", *COLUMNS)), keys):
            self._check_row(values)
            found[key] = ResultRow(*values)
        return found

    def _check_row(self, values: Sequence[object]) -> None:
        """Refuse what no run has written: SQLite puts anything into any column."""
        for name, value in zip(COLUMNS, values, strict=True):
            if name in WORDS:
                contract, holds = "a text", isinstance(value, str)
            elif value is None:
                contract, holds = "a number", name != COST
            else:
                is_number = isinstance(value, int | float) and math.isfinite(value)
                contract, holds = "a finite number", is_number
            if not holds:
                problem = f"column {name} must hold {contract}, got {value!r:.60}"
                raise ArmtwinError(f"{self.path}: {problem}. {ANOTHER}")
        if values[COLUMNS.index("outcome")] not in OUTCOMES:
            got = f"outcome must be one of {', '.join(OUTCOMES)}, got {values[0]!r:.60}"
            raise ArmtwinError(f"{self.path}: {got}. {ANOTHER}")

    def _select(self, columns: str, keys: Sequence[bytes]) -> Iterator[tuple[Any, ...]]:
        """Columns of the runs that are there."""
        for first in range(0, len(keys), ASKED):
            some = keys[first : first + ASKED]
            places = ", ".join("?" * len(some))
            question = f"SELECT {columns} FROM run WHERE key IN ({places})"
            with self._told("read"):
                found = self._connection.execute(question, some).fetchall()
            yield from found

    def put(self, records: Collection[tuple[bytes, str, str, Record, ResultRow]]) -> None:
        """Write rows, all or none: key, job, robot, inputs in SI, and what became of it."""
        lines = []
        for key, job, robot, inputs, row in records:
            text = json.dumps(inputs, ensure_ascii=False)
            values = [getattr(row, name) for name in COLUMNS]
            lines.append((key, job, robot, text, *values))
        with self._told("written"), self._connection:
            lines = [(*line, self._maker()) for line in lines]
            self._connection.executemany(f"INSERT OR REPLACE INTO run VALUES ({_PLACES})", lines)

    def _maker(self) -> int:
        """The number of the versions that rows are made by now."""
        if self._made_by is None:
            own = (self.versions,)
            self._connection.execute("INSERT OR IGNORE INTO made_by (versions) VALUES (?)", own)
            asked = "SELECT number FROM made_by WHERE versions = ?"
            (self._made_by,) = self._connection.execute(asked, own).fetchone()
        return self._made_by

    def count(self) -> int:
        """How many rows there are, also those of other inputs."""
        with self._told("read"):
            (found,) = self._connection.execute("SELECT count(*) FROM run").fetchone()
        return int(found)

    @contextmanager
    def _told(self, what: str) -> Iterator[None]:
        try:
            yield
        except DAMAGE as error:
            problem = f"cannot be {what} ({error!s:.200})"
            raise ArmtwinError(f"{self.path}: {problem}. {ANOTHER}") from None

    def close(self) -> None:
        """Release the file."""
        self._connection.close()


@contextmanager
def open_table(
    path: Path | None, name: str, versions: NamedTexts, *, read_only: bool = False
) -> Iterator[ResultTable]:
    """The table of a sweep, made where it is not there; it is held until it is closed.

    Args:
        path: The file; None for a table in memory.
        name: Name of the sweep; a file of another one is refused.
        versions: Versions of the packages that make the rows; a file that another version of
            armtwin made is refused.
        read_only: Whether nothing is written, and the file must be there.
    """
    place = MEMORY if path is None else str(path)
    connection = _connect(path, read_only)
    try:
        _check_tables(connection, place, name, versions["armtwin"], read_only)
        text = json.dumps(versions, sort_keys=True)
        yield ResultTable(place, connection, text)
    finally:
        connection.close()


def _connect(path: Path | None, read_only: bool) -> sqlite3.Connection:
    if path is not None:
        check_database(path, RESULT_TABLE)
    try:
        if path is None:
            return sqlite3.connect(MEMORY, check_same_thread=False)
        if read_only:
            address = f"{path.absolute().as_uri()}?mode=ro"
            return sqlite3.connect(address, timeout=BUSY, uri=True)
        connection = sqlite3.connect(path, timeout=BUSY, check_same_thread=False)
        try:
            # the file is ours until it is closed; a commit outlives the process, whatever ends it
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = DELETE")
            connection.execute("PRAGMA synchronous = NORMAL")
        except DAMAGE:
            connection.close()
            raise
        return connection
    except DAMAGE as error:
        raise _make_refusal(str(path), error) from None


def _make_refusal(path: str, error: Exception) -> ArmtwinError:
    if "locked" in str(error):
        return ArmtwinError(f"{path}: another sweep is writing there; wait until it is done")
    if any(word in str(error) for word in ("not a database", "malformed", "codec")):
        return ArmtwinError(f"{path}: is no table of results ({error}); choose another place")
    return ArmtwinError(f"{path}: cannot be opened ({error})")


def _check_tables(
    connection: sqlite3.Connection, path: str, name: str, version: str, read_only: bool
) -> None:
    """Make the tables, or refuse a file that is not of this sweep and version."""
    begun = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    about = {"format": str(FORMAT), "armtwin": version, "sweep": name, "begun": begun}
    try:
        with connection:
            tables = _list_tables(connection)
            if not tables and not read_only:
                connection.execute("BEGIN EXCLUSIVE")
                make_tables(connection)
                connection.executemany("INSERT INTO about VALUES (?, ?)", about.items())
                return
            if not {"about", "run"} <= tables:
                raise ArmtwinError(f"{path}: is no table of a sweep's results; choose another file")
            found = dict(connection.execute("SELECT name, value FROM about"))
            if not read_only:  # takes the lock now, not at the first row
                connection.execute("UPDATE about SET value = value WHERE name = 'format'")
    except DAMAGE as error:
        with suppress(sqlite3.Error):
            connection.close()
        raise _make_refusal(path, error) from None
    _refuse_other(path, found, about)


def _list_tables(connection: sqlite3.Connection) -> set[str]:
    """Names of the tables; none of a file with anything else, as a view may be without end."""
    found = connection.execute("SELECT type, name, sql FROM sqlite_master").fetchall()
    for kind, _, sql in found:
        if kind not in ("table", "index") or "virtual" in str(sql).lower():
            return {"another"}
    return {name for kind, name, _ in found if kind == "table"}


def make_tables(connection: sqlite3.Connection) -> None:
    """Make the tables of an empty file."""
    for line in _SCHEMA.split(";"):
        connection.execute(line)


def _refuse_other(path: str, found: NamedTexts, own: NamedTexts) -> None:
    for key, what in (("format", "format"), ("armtwin", "armtwin")):
        if found.get(key) != own[key]:
            raise ArmtwinError(
                f"{path}: was written by {what} {found.get(key)}, this is {own[key]}; results of "
                "different versions are not mixed: choose another folder with --out"
            )
    if found.get("sweep") != own["sweep"]:
        raise ArmtwinError(
            f"{path}: holds the results of another sweep, '{found.get('sweep')}', not of "
            f"'{own['sweep']}'; choose another folder with --out"
        )

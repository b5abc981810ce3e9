"""What a file or name is, checked before it is read as something else: a robot, a job, a log ..."""

from importlib import resources
from pathlib import Path
from typing import Any, Literal

from armtwin.errors import FileError

Kind = Literal["robot", "job", "experiment", "sweep", "log", "columns file", "registration file"]
SUFFIXES: dict[str, Kind] = {
    ".urdf": "robot",
    ".xacro": "robot",
    ".csv": "log",
    ".gz": "log",
    ".npz": "log",
    ".bag": "log",
    ".mcap": "log",
    ".db3": "log",
}
# keys that only one kind of file has
KEYS: dict[Kind, frozenset[str]] = {
    "robot": frozenset(
        {"joint", "link", "denavit_hartenberg", "motor", "gear", "mounted", "friction_set"}
    ),
    "job": frozenset({"segment", "speed", "tolerance", "workpiece", "time_law"}),
    "experiment": frozenset({"setup", "setpoint", "features", "duration"}),
    "sweep": frozenset({"axis", "jobs", "robots", "design"}),
    "columns file": frozenset({"columns", "unit", "delimiter", "decimal"}),
    "registration file": frozenset({"point", "clock"}),
}
WANTED: dict[Kind, str] = {
    "robot": "a robot (.toml, .urdf, or a shipped one)",
    "job": "a job (.toml, or a shipped one)",
    "experiment": "an experiment (.toml, or a shipped one)",
    "sweep": "a sweep (.toml)",
    "log": "a log (.csv, .csv.gz, .npz, a bag, or as docs/log_file.md lists)",
    "columns file": "a columns file (.toml)",
    "registration file": "a registration file (.toml)",
}


def check_tables(tables: dict[str, Any], wanted: Kind, origin: str) -> None:
    """Refuse the tables of a file that is clearly of another kind, in one sentence."""
    if KEYS[wanted] & set(tables):
        return
    other = next((kind for kind, keys in KEYS.items() if keys & set(tables)), None)
    if other is not None:
        raise _refusal(origin, other, wanted)


def check_name(name_or_path: str | Path, wanted: Kind) -> None:
    """Refuse a name or path that is clearly of another kind, in one sentence."""
    path = Path(name_or_path)
    if path.suffix == ".toml" and wanted == "log":
        sentence = f"is no log, but a robot, job or columns file; wanted is {WANTED['log']}"
        raise FileError(path, sentence)
    other = SUFFIXES.get(path.suffix) or _kind_of_shipped(str(name_or_path))
    if other is not None and other != wanted:
        raise _refusal(str(name_or_path), other, wanted)


def _refusal(origin: str, other: Kind, wanted: Kind) -> FileError:
    article = "an" if other == "experiment" else "a"
    return FileError(origin, f"is {article} {other}, where {WANTED[wanted]} is wanted")


def _kind_of_shipped(name: str) -> Kind | None:
    """The kind of a name that comes with the package, None where there is none such."""
    package = Path(str(resources.files("armtwin")))
    shelves: dict[str, Kind] = {
        "robot/library": "robot",
        "jobs/library": "job",
        "jobs/experiments": "experiment",
    }
    for shelf, kind in shelves.items():
        known = {path.stem for path in (package / shelf).glob("*.toml")}
        if name in known:
            return kind
    return None

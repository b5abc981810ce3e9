"""Loading and saving: shipped robots by name, TOML and URDF by path."""

from __future__ import annotations

import os
import tempfile
from importlib import resources
from pathlib import Path

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.robot.description import Description
from armtwin.robot.kinds import check_name, check_tables
from armtwin.robot.reading import describe, read_toml
from armtwin.robot.writing import to_tables, to_toml


def shipped() -> dict[str, Path]:
    """Names and files of the robots that come with the package."""
    folder = Path(str(resources.files("armtwin.robot") / "library"))
    return {path.stem: path for path in sorted(folder.glob("*.toml"))}


def load(name_or_path: str | Path, allow_unphysical: bool = False) -> tuple[Description, str]:
    """Description of a shipped robot or of a file, and where it came from."""
    path, known = Path(name_or_path), shipped()
    if str(name_or_path) in known:
        path = known[str(name_or_path)]
    else:
        check_name(name_or_path, "robot")
    if path.suffix not in {".toml", ".urdf", ".xacro", ".xml"}:
        hint = did_you_mean(str(name_or_path), known)
        raise ArmtwinError(f"robot '{name_or_path}' is neither shipped nor a .toml or .urdf file. {hint}")
    if path.suffix == ".toml":
        tables = read_toml(path)
        check_tables(tables, "robot", str(path))
        return describe(tables, str(path)), str(path)
    from armtwin.robot.urdf_reading import read_urdf

    return read_urdf(path, allow_unphysical), str(path)


def write_atomically(path: Path, text: str) -> None:
    """Write a whole file or nothing: into a neighbour first, then moved into place."""
    try:
        handle, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    except OSError as error:
        raise ArmtwinError(f"{path}: cannot be written ({error.strerror})") from None
    try:
        text.encode("utf-8")
        with os.fdopen(handle, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)
        os.chmod(name, 0o644)
        os.replace(name, path)
    except (OSError, UnicodeError) as error:
        raise ArmtwinError(f"{path}: cannot be written ({getattr(error, 'strerror', None) or error})") from None
    finally:
        Path(name).unlink(missing_ok=True)


def save(description: Description, path: Path) -> None:
    """Write a robot file."""
    write_atomically(path, to_toml(to_tables(description)))


def save_urdf(description: Description, path: Path) -> None:
    """Write a URDF file."""
    from armtwin.robot.urdf_writing import to_urdf

    write_atomically(path, to_urdf(description))

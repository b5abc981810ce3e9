"""A recipe as a file, so that an identification can be repeated: keys as in `Recipe`, in SI units.

torque and cutoff, which are arguments of `identify`, may stand beside them.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from armtwin.errors import FileError, did_you_mean
from armtwin.files.reading import read_tables
from armtwin.files.writing import to_toml
from armtwin.identification.rigid_body.recipe import Recipe

NUMBERS = ("period", "rate", "rest", "weight", "cutoff")
WHOLE = ("kept",)
FLAGS = ("average", "robust", "trust")
WORDS = ("estimator", "motion", "only", "friction", "torque")
LISTED = {
    "zero": "a list of parameters",
    "fixed": "a list of parameters",
    "periods": "two whole numbers",
    "equal": "a list of pairs of parameters",
}


@dataclass(frozen=True)
class Written:
    """What a recipe file says.

    Attributes:
        recipe: The recipe.
        torque: Channel of the torque, None where the file does not say.
        cutoff: Cut-off frequency, None where the file does not say [Hz].
    """

    recipe: Recipe
    torque: str | None = None
    cutoff: float | None = None


def read_recipe(path: Path) -> Written:
    """A recipe from a TOML file; what is not there is as by default."""
    tables = read_tables(path)
    known = [*(f.name for f in fields(Recipe)), "torque", "cutoff"]
    problems = []
    values: dict[str, Any] = {}
    for key, value in tables.items():
        if key not in known:
            problems.append(f"{key} is not known. {did_you_mean(key, known)}")
            continue
        read, contract = _read(key, value)
        if contract:
            problems.append(f"{key} must be {contract}, got {value!r:.60}")
        values[key] = read
    if problems:
        raise FileError(str(path), problems)
    torque, cutoff = values.pop("torque", None), values.pop("cutoff", None)
    return Written(Recipe(**values), torque, cutoff)


def _read(key: str, value: Any) -> tuple[Any, str]:
    """The value of a key, and the contract that it breaks, "" where it breaks none."""
    if key in FLAGS:
        return value, "" if isinstance(value, bool) else "true or false"
    if key in WORDS:
        return value, "" if isinstance(value, str) else "a word"
    if key in NUMBERS:
        return _number(value), "" if _number(value) is not None else "a number in SI units"
    if key in WHOLE:
        return value, "" if _is_whole(value) else "a whole number"
    return _read_list(key, value)


def _read_list(key: str, value: Any) -> tuple[Any, str]:
    """The value of a key that holds names, pairs or bounds."""
    if key == "mass":
        return _read_bounds(value)
    if not isinstance(value, list):
        return value, LISTED[key]
    if key == "equal":
        right = all(isinstance(pair, list) for pair in value)
        return tuple(map(tuple, value)) if right else value, "" if right else LISTED[key]
    if key == "periods":
        right = len(value) == 2 and all(map(_is_whole, value))
    else:
        right = all(isinstance(name, str) for name in value)
    return tuple(value), "" if right else LISTED[key]


def _read_bounds(value: Any) -> tuple[Any, str]:
    """Lower and upper bounds by the names of links."""
    if not isinstance(value, dict) or not all(map(_is_pair, value.values())):
        return value, "lower and upper bounds in kg by the names of links"
    return {link: tuple(map(float, bounds)) for link, bounds in value.items()}, ""


def _number(value: Any) -> float | None:
    right = isinstance(value, int | float) and not isinstance(value, bool)
    return float(value) if right else None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and None not in map(_number, value)


def recipe_text(written: Written) -> str:
    """The text of a recipe file from which `read_recipe` makes the same."""
    tables: dict[str, Any] = {}
    usual = Recipe()
    if written.torque is not None:
        tables["torque"] = written.torque
    if written.cutoff is not None:
        tables["cutoff"] = written.cutoff
    for f in fields(Recipe):
        value = getattr(written.recipe, f.name)
        if value != getattr(usual, f.name):
            tables[f.name] = _plain(value)
    return to_toml(tables)


def _plain(value: Any) -> Any:
    """A value with lists in place of tuples."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value

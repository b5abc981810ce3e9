"""A recipe as a file, so that an identification can be repeated: keys as in `Recipe`.

Other arguments of `identify` may be given there too: torque and cutoff, and of the robot as it was
when logged tool, payload and gravity. A number is SI, a text may carry a unit.
"""

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.reading import check_format, read_tables
from armtwin.files.writing import to_toml
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.maths.batch import Record, Values
from armtwin.maths.units import Unit

FORMAT = 1
NUMBERS = {
    "period": Unit("s"),
    "rate": Unit("Hz"),
    "rest": Unit("1"),
    "weight": Unit("1"),
    "cutoff": Unit("Hz", above=0),
}
MASS = Unit("kg")
ACCELERATION = Unit("m/s^2")
BESIDE = ("torque", "cutoff", "tool", "payload", "gravity")
WHOLE = ("kept",)
FLAGS = ("average", "robust", "trust")
WORDS = ("torque", "tool", "payload")
KINDS = get_type_hints(Recipe)
CHOICES = {key: get_args(kind) for key, kind in KINDS.items() if get_origin(kind) is Literal}
LISTED = {
    "zero": "a list of parameters",
    "fixed": "a list of parameters",
    "periods": "two whole numbers",
    "equal": "a list of pairs of parameters",
    "gravity": "three numbers in m/s²",
}


@dataclass(frozen=True)
class RecipeFile:
    """Contents of a recipe file.

    Attributes:
        recipe: The recipe.
        torque: Channel of the torque, None where the file does not say.
        cutoff: Cut-off frequency, None where the file does not say [Hz].
        tool: Tool that the robot carried, None as in its file.
        payload: Payload that it carried, None as in its file.
        gravity: Gravity in its base's frame, None as in its file [m/s²].
    """

    recipe: Recipe
    torque: str | None = None
    cutoff: float | None = None
    tool: str | None = None
    payload: str | None = None
    gravity: tuple[float, float, float] | None = None


def read_recipe(path: Path) -> RecipeFile:
    """A recipe from a TOML file; what is not there is as by default."""
    tables = check_format(read_tables(path), str(path), FORMAT)
    known = [*(f.name for f in fields(Recipe)), *BESIDE]
    problems = []
    values: Record = {}
    for key, value in tables.items():
        if key not in known:
            problems.append(f"{key} is not known. {did_you_mean(key, known)}")
            continue
        try:
            values[key] = _read(key, value)
        except ArmtwinError as error:
            problems.append(f"{key} {error}")
    if problems:
        raise FileError(str(path), problems)
    beside = {key: values.pop(key) for key in BESIDE if key in values}
    return RecipeFile(Recipe(**values), **beside)


def _read(key: str, value: object) -> Any:
    """The value of a key; an error names the contract that it violates."""
    if key in NUMBERS:
        return NUMBERS[key].read(value)
    if key in FLAGS:
        return _check_value(value, isinstance(value, bool), "true or false")
    if key in WORDS:
        return _check_value(value, isinstance(value, str), "a word")
    if key in CHOICES:
        return _check_value(value, value in CHOICES[key], f"one of {', '.join(CHOICES[key])}")
    if key in WHOLE:
        return _check_value(value, _is_whole(value), "a whole number")
    if key == "mass":
        return _read_bounds(value)
    return _read_list(key, value)


def _check_value(value: object, is_right: bool, contract: str) -> Any:
    """The value, if it is right."""
    if not is_right:
        raise ArmtwinError(f"must be {contract}, got {value!r:.60}")
    return value


def _read_list(key: str, value: object) -> Any:
    """The value of a key that holds names, pairs or numbers."""
    contract = LISTED[key]
    parts = _check_value(value, isinstance(value, list), contract)
    if key == "gravity":
        _check_value(value, len(parts) == 3, contract)
        return tuple(ACCELERATION.read(part) for part in parts)
    if key == "equal":
        _check_value(value, all(map(_is_pair_of_names, parts)), contract)
        return tuple(map(tuple, parts))
    if key == "periods":
        right = len(parts) == 2 and all(map(_is_whole, parts))
    else:
        right = all(isinstance(name, str) for name in parts)
    return tuple(_check_value(value, right, contract))


def _read_bounds(value: object) -> dict[str, Values]:
    """Lower and upper bounds by the names of links."""
    contract = "lower and upper bounds in kg by the names of links"
    bounds = {}
    for link, pair in _check_value(value, isinstance(value, dict), contract).items():
        _check_value(value, isinstance(pair, list) and len(pair) == 2, contract)
        bounds[link] = tuple(MASS.read(mass) for mass in pair)
    return bounds


def _is_whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _is_pair_of_names(value: object) -> bool:
    if not isinstance(value, list) or len(value) != 2:
        return False
    return all(isinstance(name, str) for name in value)


def recipe_text(written: RecipeFile) -> str:
    """The text of a recipe file from which `read_recipe` makes the same."""
    tables: Record = {"format": FORMAT}
    usual = Recipe()
    for key in BESIDE:
        value = getattr(written, key)
        if value is not None:
            tables[key] = _plain(value)
    for f in fields(Recipe):
        value = getattr(written.recipe, f.name)
        if value != getattr(usual, f.name):
            tables[f.name] = _plain(value)
    return to_toml(tables)


def _plain(value: object) -> Any:
    """A value with lists in place of tuples."""
    if isinstance(value, tuple | list):
        return [_plain(part) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part) for key, part in value.items()}
    return value

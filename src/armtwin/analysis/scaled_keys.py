"""Numbers of a robot file made larger or smaller, by key path.

A path names one number, a list, or a group, whose numbers then move together; a star matches
every item of a list or group ("hydraulic.*.compliance"). Poses, axes and words are left alone.
"""

from collections.abc import Iterator
from typing import Any

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.shape import Tables, items_of, name_of
from armtwin.maths.batch import Record

GEOMETRY = ("origin", "tcp", "axis", "orientation", "position", "com", "about")
WORDS = ("source", "on", "kind", "law")
LEFT_ALONE = {*GEOMETRY, *WORDS}
EVERY = "*"


def scale_numbers(tables: Tables, path: str, factor: float) -> Record:
    """Key paths and new values of all numbers that a path names."""
    found: Record = {}
    for place, value in _resolve(tables, path.split("."), ""):
        found |= dict(_numbers(value, place, factor))
    return found


def scale_together(tables: Tables, key: str, factor: float) -> Record:
    """Key paths and new values of all numbers that a key names, paths joined by "+" together."""
    values: Record = {}
    for part in key.split("+"):
        path = part.strip()
        check_path(tables, path)
        values |= scale_numbers(tables, path, factor)
    return values


def find_differences(old: Any, new: Any, prefix: str = "") -> Record:
    """Key paths and new values of all that differs between the tables of two files."""
    found: Record = {}
    if isinstance(new, dict) and isinstance(old, dict):
        for key, value in new.items():
            found |= find_differences(old.get(key), value, f"{prefix}.{key}".lstrip("."))
    elif _is_list_of_tables(new) and isinstance(old, list) and len(old) == len(new):
        for name, before, after in zip(_names(old), old, new, strict=True):
            found |= find_differences(before, after, f"{prefix}.{name}")
    elif old != new:
        found[prefix] = new
    return found


def _is_list_of_tables(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and isinstance(value[0], dict)


def check_path(tables: Tables, path: str) -> None:
    """Refuse a path that names no number, or only zeros, which no relative change moves."""
    here: list[Any] = [tables]
    words = path.split(".")
    for k, word in enumerate(words):
        below = [value for group in here for _, value in _resolve(group, [word], "")]
        if not below:
            known = dict.fromkeys(name for group in here for name in _names(group))
            hint = did_you_mean(word, [name for name in known if name not in LEFT_ALONE])
            raise ArmtwinError(f"key '{'.'.join(words[: k + 1])}' is not known. {hint}")
        here = below
    doubled = scale_numbers(tables, path, 2.0)
    if not doubled:
        raise ArmtwinError(f"key '{path}' names no number that can be changed")
    if doubled == scale_numbers(tables, path, 1.0):
        raise ArmtwinError(f"key '{path}' is 0, which a relative change does not move")


def _resolve(here: Any, words: list[str], prefix: str) -> Iterator[tuple[str, Any]]:
    """Everything that the words of a path lead to, with its full path."""
    if not words:
        yield prefix.lstrip("."), here
        return
    word, *rest = words
    if word == EVERY:
        items = here.keys() if isinstance(here, dict) else _names(here)
        for name in list(items):
            yield from _resolve(here, [name, *rest], prefix)
        return
    step = _step(here, word)
    if step is not None:
        value, name = step
        yield from _resolve(value, rest, f"{prefix}.{name}")


def _step(here: Any, word: str) -> tuple[Any, str] | None:
    """What a word leads to, and its path: an item by name, a key, a key one group below."""
    if isinstance(here, list):
        names = _names(here)
        return (here[names.index(word)], word) if word in names else None
    if not isinstance(here, dict):
        return None
    if word in here:
        return here[word], word
    for outer, group in here.items():
        if isinstance(group, dict) and word in group:
            return group[word], f"{outer}.{word}"
    return None


def _names(here: Any) -> list[str]:
    """Keys of a table, or names of the items of a list, else their numbers from 1."""
    if isinstance(here, dict):
        return list(here)
    return [name_of(item) or number for number, item in items_of(here)]


def _numbers(value: Any, path: str, factor: float) -> Iterator[tuple[str, Any]]:
    """All numbers of a value, scaled, with their paths."""
    if path.rpartition(".")[2] in LEFT_ALONE or isinstance(value, bool | str):
        return
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{path}.{key}", factor)
    elif isinstance(value, int | float):
        yield path, factor * value
    elif _is_list_of_numbers(value):
        yield path, [factor * x for x in value]


def _is_list_of_numbers(value: Any) -> bool:
    if not isinstance(value, list) or not value:
        return False
    return all(isinstance(x, int | float) for x in value)

"""Values of a file replaced by key path, as friction.5.level or friction.wrist.level."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.files.shape import Step, Tables, keys_at, name_of
from armtwin.maths.units import whole_number


def with_values(
    tables: Tables, values: Mapping[str, Any], kind: object, source: str, origin: str
) -> Tables:
    """The tables with other values at key paths; lists count from 1 or go by name.

    Args:
        tables: Tables of a file without its format number.
        values: New values by key path.
        kind: Dataclass that the file is read into; it knows the keys that the file leaves out.
        source: What the source of a replaced value says.
        origin: Where the new values come from.
    """
    changed = deepcopy(tables)
    problems = []
    for path, value in values.items():
        *way, last = path.split(".")
        try:
            steps = _steps(changed, way)
            _replace(changed, steps, last, value, kind)
        except ArmtwinError as error:
            problems.append(f"override '{path}': {error}")
        else:
            _mark(changed, steps, path.split("."), source)
    if problems:
        raise FileError(origin, problems)
    return changed


def _steps(tables: Tables, words: Sequence[str]) -> list[Step]:
    """The steps that the words of a path name."""
    here: Any = tables
    steps: list[Step] = []
    for i, word in enumerate(words, 1):
        step = _step(here, word)
        if step is None:
            hint = did_you_mean(word, _names(here))
            raise ArmtwinError(f"there is no '{'.'.join(words[:i])}'. {hint}")
        steps.append(step)
        here = here[step]
    return steps


def _step(here: object, word: str) -> Step | None:
    """The key, or the place in a list, that a word means; None if there is none such."""
    if isinstance(here, dict):
        return word if word in here else None
    if not isinstance(here, list):
        return None
    number = whole_number(word)
    if number is not None and 1 <= number <= len(here):
        return number - 1
    names = _names(here)
    return names.index(word) if word and word in names else None


def _names(here: object) -> list[str]:
    """Keys of a table, or names of the items of a list, empty for those without one."""
    if isinstance(here, dict):
        return list(here)
    return [name_of(item) for item in here] if isinstance(here, list) else []


def _replace(tables: Tables, steps: list[Step], last: str, value: object, kind: object) -> None:
    """Set the value that a word means in the table or list at the end of the steps."""
    here = _way(tables, steps)[-1]
    if isinstance(here, list):
        place = (whole_number(last) or 0) - 1
        if not 0 <= place < len(here) or isinstance(here[place], dict):
            raise ArmtwinError(f"must name one number, 1 to {len(here)}")
        here[place] = value
        return
    if not isinstance(here, dict):
        raise ArmtwinError(f"must name one key of a group, but goes on after {here!r:.60}")
    is_group = isinstance(here.get(last), dict)
    if is_group or last == "source":
        group = [*steps, last] if is_group else steps
        known = [key for key in keys_at(kind, tables, group) if key != "source"]
        raise ArmtwinError(f"must name one key of a group. {did_you_mean('', known)}")
    here[last] = value


def _way(tables: Tables, steps: Sequence[Step]) -> list[Any]:
    """All tables and lists along the steps, the outermost first."""
    way: list[Any] = [tables]
    for step in steps:
        way.append(way[-1][step])
    return way


def _mark(tables: Tables, steps: Sequence[Step], words: Sequence[str], text: str) -> None:
    """Say in the source of the innermost group that has one which of its keys was replaced."""
    groups = [
        table for table in _way(tables, steps) if isinstance(table, dict) and "source" in table
    ]
    if not groups:
        return
    group = groups[-1]
    keys = set(group)
    for item in group.values():
        if isinstance(item, dict):
            keys.update(item)
    source = group["source"]
    if isinstance(source, str):
        source = {key: source for key in group if key not in ("name", "source")}
    key = next(word for word in reversed(words) if word in keys)
    group["source"] = {**source, key: text}

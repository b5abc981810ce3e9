"""From the tables of a file to frozen dataclasses, with one sentence for every error.

A key path such as friction.5.level counts from 1 and may use a name in place of a number.
"""

from __future__ import annotations

from dataclasses import dataclass, is_dataclass
from typing import Any

from armtwin.errors import MOST_PROBLEMS, FileError, did_you_mean
from armtwin.files.nesting import nested
from armtwin.files.shape import Step, Tables, item_type, keys_at, types_of

# What pydantic calls a key that is not there, one that is none, a value that is no table.
MISSING = ("missing", "missing_argument")
UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")
NO_TABLE = ("dataclass_type", "dict_type", "model_attributes_type")
OWN_SENTENCE = ("quantity", "sentence")  # of a field that is read by a function of ours


@dataclass(frozen=True)
class Schema:
    """A dataclass that a file is read into.

    Attributes:
        kind: The dataclass; the keys of the file are its fields.
        what: What such a file is called.
    """

    kind: Any
    what: str

    def read(self, tables: Tables, origin: str) -> Any:
        """The dataclass of the tables of a file; its errors go by the keys that the file has."""
        from pydantic_core import ValidationError

        from armtwin.files.validator import validator

        try:
            return validator(self.kind).validate_python(nested(tables, self.kind))
        except ValidationError as error:
            shown = error.errors(include_url=False)[:MOST_PROBLEMS]
            problems = dict.fromkeys(_sentence(item, tables, self) for item in shown)
            raise FileError(origin, problems, more=error.error_count() - len(shown)) from None


@dataclass(frozen=True)
class _Place:
    """Where an error is in the file.

    Attributes:
        steps: The way to the table or list that holds the last key.
        table: That table or list.
        key: The last key of the path, as the file would have it.
        name: Name of the group that the table is, if it has one.
    """

    steps: tuple[Step, ...]
    table: Any
    key: str
    name: str

    @property
    def group(self) -> str:
        """Key path of the table that holds the key."""
        return ".".join(_word(step) for step in self.steps)

    @property
    def path(self) -> str:
        """Key path, as friction.5.level."""
        return f"{self.group}.{self.key}".lstrip(".")

    @property
    def is_in_file(self) -> bool:
        """Whether the file has the last key; a flat field is known to its dataclass only."""
        return isinstance(self.table, list) or self.key in self.table

    def __str__(self) -> str:
        return f"{self.path} ('{self.name}')" if self.name else self.path


def _word(step: Step) -> str:
    return str(step + 1) if isinstance(step, int) else step


def _place(loc: tuple[Step, ...], tables: Tables) -> _Place:
    """Place of an error as the file has it: what only the dataclasses know is left out."""
    here: Any = tables
    steps = []
    for step in loc[:-1]:
        if _leads_on(here, step):
            here = here[step]
            steps.append(step)
    last = loc[-1]
    key = _word(last) if isinstance(here, list) else str(last)
    named = isinstance(here, dict) and here is not tables and here.get("name") is not None
    return _Place(tuple(steps), here, key, str(here["name"]) if named else "")


def _leads_on(here: Any, step: Step) -> bool:
    """Whether a step leads to a table, a list or an item of a list."""
    if isinstance(here, dict):
        return isinstance(here.get(step), dict | list)
    return isinstance(here, list) and isinstance(step, int) and step < len(here)


def _sentence(error: Any, tables: Tables, schema: Schema) -> str:
    """One sentence for one error of pydantic."""
    place = _place(error["loc"], tables)
    kind, given, message = error["type"], error["input"], error["msg"]
    if kind in MISSING:
        return f"{place} is missing"
    if kind in UNKNOWN:
        known = keys_at(schema.kind, tables, place.steps)
        return f"{place} is not a key of a {schema.what}. {did_you_mean(place.key, known)}"
    if kind in OWN_SENTENCE:
        where = place if place.is_in_file else place.group
        return f"{where} {message}"
    if kind == "union_tag_not_found":
        return _no_kind(error, place)
    if kind == "union_tag_invalid":
        return _unknown_kind(error, place)
    if kind == "tuple_type":
        wanted = "a list"
        if not place.steps and _holds_groups(schema.kind, place.key):
            wanted = f"a list of tables, [[{place.key}]]"
        return f"{place} must be {wanted}, got {given!r:.60}"
    if kind in NO_TABLE:
        return f"{place} must be a table, got {given!r:.60}"
    return f"{place}: {message[0].lower()}{message[1:]}, got {given!r:.80}"


def _of_several_kinds(place: _Place, key: str) -> str:
    """Key path of the table that should tell its kind by a key; a flat group's is around it."""
    if isinstance(place.table, list):
        return place.path
    own = place.key != key and isinstance(place.table.get(place.key), dict)
    return place.path if own else place.group


def _no_kind(error: Any, place: _Place) -> str:
    key = error["ctx"]["discriminator"].strip("'")
    group = _of_several_kinds(place, key)
    return f"{group}: key '{key}' is missing, which says what kind it is"


def _unknown_kind(error: Any, place: _Place) -> str:
    context = error["ctx"]
    kind = context["tag"]
    key = context["discriminator"].strip("'")
    group = _of_several_kinds(place, key)
    known = [word.strip("' ") for word in context["expected_tags"].split(",")]
    return f"{group}.{key}: '{kind}' is not known. {did_you_mean(kind, known)}"


def _holds_groups(kind: Any, key: str) -> bool:
    """Whether a key of a file is a list of groups."""
    return is_dataclass(item_type(types_of(kind).get(key), tuple))

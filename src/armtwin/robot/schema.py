"""From the tables of a file to frozen dataclasses, with one sentence for every error.

A key path such as friction.5.level counts from 1 and may use a name in place of a number.
"""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import Any, get_args, get_type_hints

from armtwin.errors import MOST_PROBLEMS, FileError, did_you_mean

Tables = dict[str, Any]


@dataclass(frozen=True)
class Schema:
    """A dataclass that a file is read into.

    Attributes:
        kind: The dataclass; the keys of the file are its fields.
        what: What such a file is called.
    """

    kind: Any
    what: str

    def read(self, values: Tables, tables: Tables, origin: str) -> Any:
        """The dataclass of values; errors are told in terms of the tables as the file has them."""
        from pydantic import ValidationError

        try:
            return _validator(self.kind).validate_python(values)
        except ValidationError as error:
            shown = error.errors(include_url=False)[:MOST_PROBLEMS]
            problems = dict.fromkeys(_sentence(item, tables, self) for item in shown)
            raise FileError(origin, problems, more=error.error_count() - len(shown)) from None


@cache
def _validator(kind: Any) -> Any:
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


def _place(loc: tuple[Any, ...], tables: Tables) -> tuple[str, Any]:
    """Key path of an error as the file has it, and the table it is in."""
    here: Any = tables
    words: list[str] = []
    for step in loc[:-1]:
        if isinstance(here, dict) and isinstance(here.get(step), dict | list):
            here = here[step]
            words.append(str(step))
        elif isinstance(here, list) and isinstance(step, int) and step < len(here):
            here = here[step]
            words.append(str(step + 1))
    last = loc[-1]
    inside = isinstance(here, list) and isinstance(last, int)
    words.append(str(last + 1) if inside else str(last))
    return ".".join(words), here


def _sentence(error: Any, tables: Tables, schema: Schema) -> str:
    """One sentence for one error of pydantic."""
    path, table = _place(error["loc"], tables)
    parent = ".".join(path.split(".")[:-1])
    named = table.get("name") if isinstance(table, dict) and table is not tables else None
    if named is not None:
        path += f" ('{named}')"
    kind, given = error["type"], error["input"]
    if kind in {"missing", "missing_argument"}:
        return f"{path} is missing"
    if kind in {"unexpected_keyword_argument", "extra_forbidden"}:
        hint = did_you_mean(str(error["loc"][-1]), _known(schema.kind, error["loc"]))
        return f"{path} is not a key of a {schema.what}. {hint}"
    if kind == "union_tag_not_found":
        return (
            f"{parent}: key {error['ctx']['discriminator']} is missing, which says what kind it is"
        )
    if kind == "union_tag_invalid":
        context = error["ctx"]
        key = context["discriminator"].strip("'")
        place = f"{parent}.{key}" if isinstance(table, dict) and key in table else f"{path}.{key}"
        tags = [tag.strip("' ") for tag in context["expected_tags"].split(",")]
        return f"{place}: '{context['tag']}' is not known. {did_you_mean(context['tag'], tags)}"
    if kind in {"quantity", "sentence"}:
        return f"{path} {error['msg']}"
    if kind == "tuple_type":
        wanted = f"a list of tables, [[{path}]]" if _holds_tables(schema.kind, path) else "a list"
        return f"{path} must be {wanted}, got {given!r:.60}"
    if kind in {"dataclass_type", "dict_type"}:
        return f"{path} must be a table, got {given!r:.60}"
    return f"{path}: {error['msg'][0].lower()}{error['msg'][1:]}, got {given!r:.80}"


def _holds_tables(kind: Any, key: str) -> bool:
    """Whether a top key of a file is a list of groups."""
    return any(is_dataclass(item) for item in get_args(get_type_hints(kind).get(key)))


def _known(kind: Any, loc: tuple[Any, ...]) -> list[str]:
    """Keys that the group at a place may have."""
    group: Any = kind
    for step in loc[:-1]:
        group = _step_into(group, step)
    group = next((c for c in (group, *get_args(group)) if is_dataclass(c)), group)
    known = [f.name for f in fields(group)] if is_dataclass(group) else []
    for f in fields(group) if is_dataclass(group) else ():
        if f.metadata.get("flat"):
            known.remove(f.name)
    return known


def _step_into(group: Any, step: Any) -> Any:
    """Type behind one step of a place: a field, an item of a tuple or dict, a kind of a union."""
    if is_dataclass(group) and isinstance(step, str):
        return get_type_hints(group).get(step)
    choices = [
        c for c in get_args(group) if c is not type(None) and c is not Ellipsis and c is not str
    ]
    for choice in choices:
        if step in (getattr(choice, "law", None), getattr(choice, "kind", None)):
            return choice
    inner = choices[0] if choices else None
    if isinstance(step, int) or (inner is not None and not is_dataclass(inner)):
        return inner if isinstance(step, int) or not get_args(inner) else _step_into(inner, step)
    return _step_into(inner, step) if inner is not None else None

"""From the tables of a file to frozen dataclasses, with one sentence for every error.

A key path such as friction.5.level counts from 1 and may use a name in place of a number.
"""

from collections.abc import Callable
from dataclasses import MISSING, Field, dataclass, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic_core import CoreSchema, ErrorDetails, SchemaValidator, core_schema

from armtwin.errors import MOST_PROBLEMS, FileError, did_you_mean
from armtwin.files import shape
from armtwin.maths.units import annotations_of

PLAIN: dict[Any, Callable[[], CoreSchema]] = {
    Any: core_schema.any_schema,
    bool: core_schema.bool_schema,
    float: core_schema.float_schema,
    int: core_schema.int_schema,
    str: core_schema.str_schema,
}
NO_OTHER_KEYS = core_schema.CoreConfig(extra_fields_behavior="forbid")


@cache
def validator(kind: object) -> SchemaValidator:
    """Reads tables into a dataclass."""
    return SchemaValidator(schema_of(kind))


@cache
def schema_of(kind: object) -> CoreSchema:
    """Schema of a type for pydantic's core; an annotation with a `schema` gives its own."""
    of = get_args(kind)
    origin = get_origin(kind)
    if origin is Annotated:
        return of[1].schema(of[0], schema_of)
    if origin in (Union, UnionType):
        return _one_of(of)
    if origin is Literal:
        return core_schema.literal_schema(list(of))
    if origin is dict:
        return core_schema.dict_schema(schema_of(of[0]), schema_of(of[1]))
    if origin is tuple:
        items = [schema_of(item) for item in of if item is not ...]
        return core_schema.tuple_schema(items, variadic_item_index=0 if of[-1] is ... else None)
    if is_dataclass(kind):
        return _group(kind)
    return PLAIN[kind]()


def _one_of(kinds: tuple[Any, ...]) -> CoreSchema:
    some: list[Any] = [schema_of(kind) for kind in kinds if kind is not NoneType]
    schema: CoreSchema = some[0] if len(some) == 1 else core_schema.union_schema(some)
    return core_schema.nullable_schema(schema) if NoneType in kinds else schema


def _group(kind: Any) -> CoreSchema:
    types = annotations_of(kind)
    keys = []
    for f in fields(kind):
        schema = _with_default(schema_of(types[f.name]), f)
        keys.append(core_schema.dataclass_field(f.name, schema))
    arguments = core_schema.dataclass_args_schema(kind.__name__, keys)
    return core_schema.dataclass_schema(
        kind,
        arguments,
        [f.name for f in fields(kind)],
        post_init=hasattr(kind, "__post_init__"),
        config=NO_OTHER_KEYS,
    )


def _with_default(schema: CoreSchema, f: Field[Any]) -> CoreSchema:
    if f.default is not MISSING:
        return core_schema.with_default_schema(schema, default=f.default)
    if f.default_factory is not MISSING:
        return core_schema.with_default_schema(schema, default_factory=f.default_factory)
    return schema


def nest_groups(value: object, kind: object) -> Any:
    """A value of a file of a type, with every group below it in a table of its own."""
    if isinstance(value, list):
        item = shape.item_type(kind, tuple)
        return [nest_groups(entry, item) for entry in value]
    if not isinstance(value, dict):
        return value
    group = shape.group_of(kind, value)
    if group is not None:
        return _nest_group(value, group)
    item = shape.item_type(kind, dict)
    return {key: nest_groups(entry, item) for key, entry in value.items()}


def _nest_group(table: shape.Tables, group: type) -> shape.Tables:
    result = dict(table)
    for f in fields(group):
        if f.metadata.get("flat"):
            _move_flat_keys(result, group, f.name)
    for f in fields(group):
        if "differing_from" in f.metadata:
            _complete(result, f)
        if "kind_from" in f.metadata:
            _put_kind(result, group, f)
        if f.name in result:
            result[f.name] = nest_groups(result[f.name], shape.types_of(group)[f.name])
    return result


def _move_flat_keys(table: shape.Tables, group: type, name: str) -> None:
    """Move the keys that are not the group's own into the table of its flat field."""
    own = {f.name for f in fields(group)} - {name}
    inner = {}
    for key in list(table):
        if key not in own:
            inner[key] = table.pop(key)
    table[name] = inner


def _complete(table: shape.Tables, f: Field[Any]) -> None:
    """Give a table of what differs from another field of the same kind the keys of that one."""
    differing = table.get(f.name)
    other = table.get(f.metadata["differing_from"])
    if not isinstance(differing, dict) or not isinstance(other, dict):
        return
    for key in shape.KIND_KEYS:
        if key in differing and differing[key] != other.get(key):
            return
    table[f.name] = {**other, **differing}


def _put_kind(table: shape.Tables, group: object, f: Field[Any]) -> None:
    """Write into the table of a field of several kinds which one it is, as a key beside it says."""
    value = table.get(f.name)
    if not isinstance(value, dict):
        return
    key = f.metadata["kind_from"]
    kind = table.get(key, getattr(group, key))
    known = [
        getattr(choice, "kind", None) for choice in shape.choices(shape.types_of(group)[f.name])
    ]
    if kind in known:
        table[f.name] = {**value, "kind": kind}
    else:
        del table[f.name]  # the key beside it is refused already


# What pydantic calls a key that is not there, one that is none, a value that is no table.
ABSENT = ("missing", "missing_argument")
UNKNOWN = ("unexpected_keyword_argument", "extra_forbidden")
NO_TABLE = ("dataclass_type", "dict_type", "model_attributes_type")
OWN_SENTENCE = "sentence"  # of a field that is read by a function of ours


@dataclass(frozen=True)
class Schema:
    """A dataclass that a file is read into.

    Attributes:
        kind: The dataclass; the keys of the file are its fields.
        what: What such a file is called.
    """

    kind: Any
    what: str

    def read(self, tables: shape.Tables, origin: str) -> Any:
        """The dataclass of the tables of a file; its errors go by the keys that the file has."""
        from pydantic_core import ValidationError

        try:
            return validator(self.kind).validate_python(nest_groups(tables, self.kind))
        except ValidationError as error:
            shown = error.errors(include_url=False)[:MOST_PROBLEMS]
            problems = dict.fromkeys(_sentence(item, tables, self) for item in shown)
            raise FileError(origin, problems, more=error.error_count() - len(shown)) from None


@dataclass(frozen=True)
class _Place:
    """Where an error is in the file.

    Attributes:
        steps: The keys to the table or list that holds the last key.
        table: That table or list.
        key: The last key of the path, as the file would have it.
        name: Name of the group that the table is, if it has one.
    """

    steps: tuple[shape.Step, ...]
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


def _word(step: shape.Step) -> str:
    return str(step + 1) if isinstance(step, int) else step


def _place(loc: tuple[shape.Step, ...], tables: shape.Tables) -> _Place:
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


def _leads_on(here: object, step: shape.Step) -> bool:
    """Whether a step leads to a table, a list or an item of a list."""
    if isinstance(here, dict):
        return isinstance(here.get(step), dict | list)
    return isinstance(here, list) and isinstance(step, int) and step < len(here)


def _sentence(error: ErrorDetails, tables: shape.Tables, schema: Schema) -> str:
    """One sentence for one error of pydantic."""
    place = _place(error["loc"], tables)
    kind, given, message = error["type"], error["input"], error["msg"]
    if kind in ABSENT:
        return f"{place} is missing"
    if kind in UNKNOWN:
        known = shape.keys_at(schema.kind, tables, place.steps)
        return f"{place} is not a key of a {schema.what}. {did_you_mean(place.key, known)}"
    if kind == OWN_SENTENCE:
        where = place if place.is_in_file else place.group
        return f"{where} {message}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        return _kind_problem(error, place)
    if kind == "tuple_type":
        wanted = "a list"
        item = shape.item_type(shape.types_of(schema.kind).get(place.key), tuple)
        if not place.steps and is_dataclass(item):
            wanted = f"a list of tables, [[{place.key}]]"
        return f"{place} must be {wanted}, got {given!r:.60}"
    if kind in NO_TABLE:
        return f"{place} must be a table, got {given!r:.60}"
    return f"{place}: {message[0].lower()}{message[1:]}, got {given!r:.80}"


def _of_several_kinds(place: _Place, key: str) -> str:
    """Key path of the table that should have its kind as a key; a flat group's is around it."""
    if isinstance(place.table, list):
        return place.path
    own = place.key != key and isinstance(place.table.get(place.key), dict)
    return place.path if own else place.group


def _kind_problem(error: ErrorDetails, place: _Place) -> str:
    """A kind that is missing, or none of the known ones."""
    context = error["ctx"]
    key = context["discriminator"].strip("'")
    group = _of_several_kinds(place, key)
    if "tag" not in context:
        return f"{group}: key '{key}' is missing, which says what kind it is"
    kind = context["tag"]
    known = [word.strip("' ") for word in context["expected_tags"].split(",")]
    return f"{group}.{key}: '{kind}' is not known. {did_you_mean(kind, known)}"

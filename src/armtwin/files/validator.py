"""The validator of a dataclass, made of its annotations.

Only pydantic's core is used: its front end would take longer to import and to read our dataclasses
than the core takes to validate every file of a command.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import MISSING, Field, fields, is_dataclass
from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

from pydantic_core import CoreSchema, SchemaValidator, core_schema

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
def validator(kind: Any) -> SchemaValidator:
    """Reads tables into a dataclass."""
    return SchemaValidator(schema_of(kind))


@cache
def schema_of(kind: Any) -> CoreSchema:
    """What pydantic's core is told of a type; an annotation with a `schema` tells it itself."""
    of = get_args(kind)
    origin = get_origin(kind)
    if origin is Annotated:
        own: CoreSchema = of[1].schema(of[0], schema_of)
        return own
    if origin in (Union, UnionType):
        return _one_of(of)
    if origin is Literal:
        return core_schema.literal_schema(list(of))
    if origin is dict:
        return core_schema.dict_schema(schema_of(of[0]), schema_of(of[1]))
    if origin is tuple:
        return _tuple(of)
    if is_dataclass(kind):
        return _group(kind)
    return PLAIN[kind]()


def _one_of(kinds: tuple[Any, ...]) -> CoreSchema:
    some: list[Any] = [schema_of(kind) for kind in kinds if kind is not NoneType]
    schema: CoreSchema = some[0] if len(some) == 1 else core_schema.union_schema(some)
    return core_schema.nullable_schema(schema) if NoneType in kinds else schema


def _tuple(kinds: tuple[Any, ...]) -> CoreSchema:
    if kinds[-1] is ...:
        return core_schema.tuple_schema([schema_of(kinds[0])], variadic_item_index=0)
    return core_schema.tuple_schema([schema_of(kind) for kind in kinds])


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

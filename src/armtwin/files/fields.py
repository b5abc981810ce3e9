"""Fields of a file that are more than a number: sources, flags, one of several kinds."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, fields, is_dataclass
from functools import cache
from typing import TYPE_CHECKING, Annotated, Any, get_args

from armtwin.errors import ArmtwinError, did_you_mean, unprintable
from armtwin.files.shape import NAME_KEYS, Group
from armtwin.maths.batch import NamedNumbers, NamedTexts, Names, Sentences
from armtwin.maths.units import Unit, schema_of_reader

if TYPE_CHECKING:
    from pydantic_core import CoreSchema

SOURCE_KINDS = {
    "measured": "measured on the robot",
    "identified": "fitted to logs of the robot",
    "document": "printed in a source document",
    "public": "published by others",
    "derived": "computed from other numbers",
    "assumed": "an engineering assumption",
}

PROSE_KEYS = ("title", "note", "source")  # texts that may be long
PROSE = {"prose": True}  # metadata of another field whose text may be long
WIDEST = 9.0  # a factor of ten to either side
LONGEST_NAME, LONGEST_PROSE = 1000, 50_000  # characters


@dataclass(frozen=True)
class Read:
    """A field read by a function that raises an ArmtwinError with the contract."""

    read: Callable[[Any], Any]

    def schema(self, kind: object, schema_of: object) -> CoreSchema:
        """Tell pydantic's core to use the function."""
        return schema_of_reader(self.read)


@dataclass(frozen=True)
class OneOf:
    """A field that holds one of several dataclasses, each with its own literal as one key."""

    key: str

    def schema(self, kind: object, schema_of: Callable[[Any], CoreSchema]) -> CoreSchema:
        """Tell pydantic's core to choose the dataclass by the key."""
        from pydantic_core import core_schema

        members = {getattr(choice, self.key): schema_of(choice) for choice in get_args(kind)}
        return core_schema.tagged_union_schema(members, discriminator=self.key)


@dataclass(frozen=True)
class NameOr:
    """A field that holds one of a set of names, or what its type says.

    Attributes:
        names: The names.
        otherwise: What else it may be, in words.
    """

    names: Names
    otherwise: str

    def schema(self, kind: object, schema_of: Callable[[Any], CoreSchema]) -> CoreSchema:
        """Tell pydantic's core to take a text for a name, and all else as the type says."""
        from pydantic_core import PydanticCustomError, core_schema

        (other,) = [choice for choice in get_args(kind) if choice is not str]

        def read(value: object, read_other: Callable[[Any], Any]) -> Any:
            if not isinstance(value, str):
                return read_other(value)
            if value in self.names:
                return value
            known = ", ".join(f"'{name}'" for name in self.names)
            sentence = f"must be {self.otherwise} or one of {known}, got '{value:.60}'"
            raise PydanticCustomError("sentence", "{sentence}", {"sentence": sentence})

        return core_schema.no_info_wrap_validator_function(read, schema_of(other))


def _text(value: object) -> str:
    if not isinstance(value, str) or value.partition(":")[0] not in SOURCE_KINDS:
        kinds = ", ".join(SOURCE_KINDS)
        contract = f"must be a text that starts with one of {kinds} and a colon"
        raise ArmtwinError(f"{contract}, got {value!r:.60}")
    return value


def _source(value: object) -> str | NamedTexts:
    if isinstance(value, dict):
        return {str(key): _text(text) for key, text in value.items()}
    return _text(value)


def _in_no_file(value: object) -> Any:
    raise ArmtwinError("is written by armtwin beside the file and must not be in it")


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise ArmtwinError(f"must be true or false, got {value!r:.60}")
    return value


def read_width(value: object) -> float:
    """How far a number may be off, as a share of it."""
    try:
        width = Unit("1").read(value)
    except ArmtwinError:
        raise ArmtwinError(f"must be a share such as '10 %', got {value!r:.60}") from None
    if not 0 <= width <= WIDEST:
        raise ArmtwinError(f"must be from 0 to {100 * WIDEST:g} %, got {100 * width:.4g} %")
    return width


def _uncertainty(value: object) -> float | NamedNumbers:
    if isinstance(value, dict):
        return {str(key): read_width(width) for key, width in value.items()}
    return read_width(value)


Width = Annotated[float, Read(read_width)]
Uncertainty = Annotated[float | dict[str, float], Read(_uncertainty)]
SourceText = Annotated[str, Read(_text)]
Source = Annotated[str | dict[str, str], Read(_source)]
Beside = Annotated[Any, Read(_in_no_file)]  # held with a group, kept in another file
Flag = Annotated[bool, Read(_flag)]


def unknown_widths(uncertainty: float | NamedNumbers | None, keys: Names) -> str:
    """What is wrong with widths by key, as a phrase; empty if nothing is."""
    if not isinstance(uncertainty, dict):
        return ""
    for key in uncertainty:
        if key not in keys:
            hint = did_you_mean(key, keys)
            return f"uncertainty has no key '{key}' there. {hint}"
    return ""


@cache
def field_names(kind: type) -> Names:
    """Names of the fields of a description."""
    return tuple(f.name for f in fields(kind))


def groups_of(value: object, by_name: bool, path: str = "") -> Iterator[tuple[str, Any]]:
    """Every group below a description with its path, as friction.5 or by name friction.wrist."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from groups_of(item, by_name, f"{path}.{key}")
    elif isinstance(value, tuple):
        for i, item in enumerate(value, 1):
            word = _name(item, i) if by_name else i
            yield from groups_of(item, by_name, f"{path}.{word}")
    elif is_dataclass(value):
        yield path.lstrip("."), value
        for name in field_names(type(value)):  # type: ignore[arg-type]
            held = getattr(value, name)
            if name != "source" and not isinstance(held, float | str | None):
                yield from groups_of(held, by_name, f"{path}.{name}")


def _name(item: object, otherwise: int) -> Any:
    """What an item of a list goes by."""
    for key in NAME_KEYS:
        if hasattr(item, key):
            return getattr(item, key)
    return otherwise


def own_problems(description: object) -> Sentences:
    """What the groups of a description find wrong with themselves, and bad texts, by key path."""
    for path, group in groups_of(description, by_name=False):
        own = group.problem() if hasattr(group, "problem") else ""
        for problem in (own, bad_texts(group)):
            if problem:
                yield f"{path} {problem}".strip()


def ask_for_one(ways: Iterable[str], given: Sequence[str]) -> str:
    """What is wrong where not exactly one of several keys is given, as a phrase."""
    got = " and ".join(given) or "none"
    return f"must have exactly one of {', '.join(ways)}, got {got}"


def bad_texts(group: Group) -> str:
    """What is wrong with the texts of a group, as a phrase; empty if nothing is."""
    for f in fields(group):
        held = getattr(group, f.name)
        if not isinstance(held, str | tuple | dict):
            continue
        may_be_long = f.name in PROSE_KEYS or f.metadata.get("prose")
        most = LONGEST_PROSE if may_be_long else LONGEST_NAME
        for text in _texts(held):
            if len(text) > most:
                return f"{f.name} must have at most {most} characters, got {len(text)}"
            if not text.isprintable() and any(unprintable(c) for c in text if c not in "\n\t"):
                return f"{f.name} must not hold control characters, got {text!r:.60}"
    return ""


def _texts(value: object) -> list[str]:
    """The texts of a field: itself, those of a list, keys and texts of a table."""
    if isinstance(value, dict):
        entries = [*value.keys(), *value.values()]
    elif isinstance(value, tuple):
        entries = list(value)
    else:
        entries = [value]
    return [text for text in entries if isinstance(text, str)]

"""Numbers that rules gave to a robot file, each with its rule in the source of its group."""

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any, TypeVar

from armtwin.maths.batch import Sentences

G = TypeVar("G", bound=Any)
DIGITS = 6  # of a number that a rule gives


@dataclass(frozen=True)
class AssumedNumber:
    """A number that a rule gave.

    Attributes:
        key: Key path in the robot file, by name.
        value: The number, SI.
        unit: Its unit.
        rule: The rule in words.
        instead: What would replace it by a measured number.
    """

    key: str
    value: float
    unit: str
    rule: str
    instead: str

    @property
    def kind(self) -> str:
        """Key path without the name of the motor, friction element or servo."""
        group, _, rest = self.key.partition(".")
        return f"{group}.{rest.partition('.')[2]}"


def round_for_file(value: float) -> float:
    """A number as files give it."""
    return float(f"{value:.{DIGITS}g}")


def with_assumed(group: G, rule: str, **changes: Any) -> G:
    """The group with numbers that a rule gave; its other numbers keep where they came from."""
    source = group.source
    if isinstance(source, str):
        source = dict.fromkeys(_keys_with_source(group), source)
    assumed = dict.fromkeys(changes, f"assumed: {rule}")
    return replace(group, source={**source, **assumed}, **changes)


def _keys_with_source(group: Any) -> Sentences:
    """Keys of a group that hold numbers."""
    for f in fields(group):
        value = getattr(group, f.name)
        if f.metadata.get("flat"):
            yield from _keys_with_source(value)
        elif isinstance(value, float | int | tuple) or (is_dataclass(value) and f.name != "source"):
            yield f.name

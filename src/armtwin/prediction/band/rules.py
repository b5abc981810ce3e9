"""Quantities of a kind, one for each rule or document that gave numbers of it."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from armtwin.jobs.uncertainty import Kind
from armtwin.prediction.band.quantity import Measurement, Quantity, Variant, source_kind
from armtwin.prediction.band.width_settings import WidthSettings

Change = Callable[[tuple[str, ...], Variant, float], Variant]


@dataclass(frozen=True)
class Rules:
    """A kind of quantity whose numbers err together where one rule or document gave them.

    Attributes:
        kind: Its kind.
        words: What it is.
        key: Key of the numbers in the robot file.
        change: Moves the numbers of the named groups by a factor.
        measured_by: What would measure them.
        name: Its name; by default its kind.
    """

    kind: Kind
    words: str
    key: str
    change: Change
    measured_by: Measurement
    name: str = ""

    def quantities(self, groups: Mapping[str, Any], asked: WidthSettings) -> Iterator[Quantity]:
        """A quantity for each rule, of the groups by name that it gave; the widest width counts."""
        rules: dict[Any, list[str]] = {}
        for name, group in groups.items():
            source = group.source
            if isinstance(source, dict):
                source = source.get(self.key) or tuple(sorted(source.values()))
            rules.setdefault(source, []).append(name)
        base = self.name or self.kind
        own = base.partition(".")[2]
        for names in rules.values():
            called, words = base, self.words
            if len(rules) > 1:
                called = f"{base}.{'-'.join(dict.fromkeys((names[0], names[-1])))}"
                words = f"{words} of {', '.join(names)}"
            source = source_kind(groups[names[0]], self.key)
            widths = [asked.width(self.kind, called, source, groups[x], key=own) for x in names]
            change = partial(self.change, tuple(names))
            yield Quantity(
                name=called,
                words=words,
                kind=self.kind,
                basis=source,
                width=max(widths),
                change=change,
                measured_by=self.measured_by,
                of=tuple(names),
            )

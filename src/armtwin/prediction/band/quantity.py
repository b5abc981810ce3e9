"""A quantity that is not known exactly, and robots and jobs that differ in it."""

import math
from collections.abc import Callable, Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, TypeVar

from armtwin.files.fields import SOURCE_KINDS
from armtwin.files.shape import WithFields
from armtwin.jobs.uncertainty import NAMES, Kind
from armtwin.maths.batch import Floats, NamedTexts, Names, Record
from armtwin.prediction.band.widths import MEASURED, WIDTHS, Z_90, in_words, spread_of
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.drive_groups import FrictionElement, Motor, Transmission
from armtwin.robot.schema.groups import Link

KNOWN = ("measured", "identified")  # sources of what was measured on the robot itself
G = TypeVar("G", bound=WithFields)
Measurement = str  # a measurement: a key of `measuring.WAYS`


@dataclass(frozen=True)
class Placement:
    """How far a workpiece is from where the job has it: a shift [m] and a turn about z [rad]."""

    x: float = 0.0
    y: float = 0.0
    z: float = 0.0
    yaw: float = 0.0


@dataclass(frozen=True)
class Variant:
    """A sampled robot and placement.

    Attributes:
        description: The robot.
        placement: Where the workpiece is.
        residual: Knots of a motion of the joints that a fitted servo did not explain, (knots, n)
            [rad]; None for none.
        error: Errors of identified parameters, (p,); None for none.
    """

    description: Description
    placement: Placement = Placement()
    residual: Floats | None = field(default=None, compare=False)
    error: Floats | None = field(default=None, compare=False)


@dataclass(frozen=True)
class Quantity:
    """A number, or several that belong together, that is not known exactly.

    Attributes:
        name: Its name in jobs and results, as "servo.bandwidth".
        words: What it is, as "the servo bandwidth".
        kind: The name of all of its kind, as "friction.level" of one element's.
        basis: Where it comes from, with its value, as "assumed 12 Hz".
        width: Half width of its 90 % interval: a share of it, or in its unit where it may be zero.
        change: Moves it: a variant and a factor, or how far.
        measured_by: What would measure it; "" for nothing we know.
        unit: "1" where a factor moves it, else "m" or "rad".
        of: Parts whose numbers it moves, where the robot has others of the kind; () for all.
        then: Its width once it is measured; by default that of its kind.
    """

    name: str
    words: str
    kind: Kind | Literal["placement"]
    basis: str
    width: float
    change: Callable[[Variant, float], Variant]
    measured_by: Measurement = ""
    unit: Literal["1", "m", "rad"] = "1"
    of: Names = ()
    then: float | None = None

    @property
    def source(self) -> str:
        """Kind of its source, as "assumed"."""
        return self.basis.partition(" ")[0]

    @property
    def names(self) -> Names:
        """Its names, the most specific first: its own, of its kind, of its group."""
        return names_of(self.name, self.kind)

    @property
    def is_measured(self) -> bool:
        """Whether it was measured on the robot itself."""
        return self.source in KNOWN

    @property
    def is_ratio(self) -> bool:
        """Whether a factor moves it."""
        return self.unit == "1"

    @property
    def spread(self) -> float:
        """Standard deviation of its logarithm, or of itself where it may be zero."""
        return spread_of(self.width) if self.is_ratio else self.width / Z_90

    @property
    def width_in_words(self) -> str:
        """How far it may be off, as "to 30 %"."""
        return in_words(self.width, self.unit)

    @property
    def spread_if_measured(self) -> float:
        """What the spread would be once it is measured; its own where it was."""
        if self.is_measured:
            return self.spread
        if self.unit in MEASURED:
            return min(self.spread, MEASURED[self.unit])
        width = WIDTHS[self.kind][0] if self.then is None else self.then
        return min(self.spread, spread_of(width))

    def moved(self, variant: Variant, deviations: float) -> Variant:
        """A variant with the quantity moved by n standard deviations."""
        by = self.spread * deviations
        if by == 0:
            return variant
        return self.change(variant, math.exp(by) if self.is_ratio else by)


def names_of(name: str, kind: str) -> Names:
    """Names by which a job may say a width, the most specific first."""
    parts = name.split(".")
    wider = [".".join(parts[:k]) for k in range(len(parts) - 1, 0, -1)]
    known = [part for part in wider if part in NAMES]
    return tuple(dict.fromkeys((name, *known, kind)))


def sample_variant(nominal: Variant, quantities: Sequence[Quantity], deviations: Floats) -> Variant:
    """A variant with each quantity moved by its number of standard deviations."""
    found = nominal
    for quantity, z in zip(quantities, deviations, strict=True):
        found = quantity.moved(found, float(z))
    return found


class Sourced(Protocol):
    """A group of a robot file."""

    @property
    def source(self) -> str | NamedTexts:
        """Where its numbers are from: of all, or by key."""


def source_kind(group: Sourced, key: str = "") -> str:
    """Kind of the source of a group's key: that of the key, or of the whole group.

    Of several texts of which none is the key's, the least trusted counts.
    """
    source = group.source
    if isinstance(source, str):
        return source.partition(":")[0]
    if key in source:
        return str(source[key].partition(":")[0])
    return least_trusted(text.partition(":")[0] for text in source.values())


def least_trusted(kinds: Iterable[str]) -> str:
    """The least trusted of kinds of sources."""
    return max(kinds, key=list(SOURCE_KINDS).index, default="assumed")


def with_values(group: G, **values: Any) -> G:
    """A group with other values under some keys: those of a file check nothing when made.

    Samples make 15 000 of them; `dataclasses.replace` takes six times as long.
    """
    found = object.__new__(type(group))
    vars(found).update(vars(group), **values)
    return found


def change_robot(variant: Variant, **keys: Any) -> Variant:
    """A variant with other groups of the robot."""
    return with_values(variant, description=with_values(variant.description, **keys))


def scale_groups(
    key: str,
    scale: Callable[[Any, float], Any],
    names: Container[str] | None,
    variant: Variant,
    factor: float,
) -> Variant:
    """A variant with groups of a list of the robot scaled: those of some names, or all."""
    found = []
    for group in getattr(variant.description, key):
        chosen = names is None or name_of(group) in names
        found.append(scale(group, factor) if chosen else group)
    return change_robot(variant, **{key: tuple(found)})


def name_of(group: FrictionElement | Link | Motor | Transmission) -> str:
    """Name of a group; a gear has that of its joint or motor."""
    return group.joint or group.motor if isinstance(group, Transmission) else group.name


def scale_keys(group: G, factor: float, *keys: str) -> G:
    """A group with the numbers under some keys scaled, as far as it has them."""
    changes: Record = {}
    for key in keys:
        value = getattr(group, key, None)
        if isinstance(value, tuple):
            changes[key] = tuple(factor * x for x in value)
        elif value is not None:
            changes[key] = factor * value
    return with_values(group, **changes)

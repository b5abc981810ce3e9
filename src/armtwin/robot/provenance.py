"""Where the numbers of a robot file come from: what is measured, public, assumed, missing."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from armtwin.robot.description import Description
from armtwin.robot.fields import SOURCE_KINDS, groups_of


@dataclass(frozen=True)
class Origin:
    """Source of a group of numbers, or of one key of it.

    Attributes:
        path: Key path in the robot file, with the group's name.
        kind: One of `fields.SOURCE_KINDS`.
        text: The source in words.
    """

    path: str
    kind: str
    text: str


@dataclass(frozen=True)
class Provenance:
    """All sources of a robot file, and what a prediction would still need.

    Attributes:
        origins: One for each group or key with a source.
        missing: What the file lacks, as phrases.
    """

    origins: tuple[Origin, ...]
    missing: tuple[str, ...]

    def counts(self) -> dict[str, int]:
        """Number of sources of each kind, in the order of trust."""
        found = Counter(origin.kind for origin in self.origins)
        return {kind: found[kind] for kind in SOURCE_KINDS if found[kind]}

    def of_kind(self, kind: str) -> tuple[Origin, ...]:
        """The sources of one kind."""
        return tuple(origin for origin in self.origins if origin.kind == kind)


def provenance(description: Description) -> Provenance:
    """Sources of all groups in the order of the file, and what is missing."""
    return Provenance(tuple(_origins(description)), tuple(_missing(description)))


def _origins(description: Description) -> Iterator[Origin]:
    for path, group in groups_of(description, by_name=True):
        source = getattr(group, "source", None)
        texts = source if isinstance(source, dict) else {"": source} if source else {}
        for key, text in texts.items():
            kind, _, words = text.partition(":")
            yield Origin(f"{path}.{key}".strip("."), kind, words.strip())


def _missing(description: Description) -> Iterator[str]:
    """What a closed-loop prediction needs and the file does not have."""
    for key, what in (
        ("flange", "a flange to mount tools on"),
        ("tool", "a tool"),
        ("friction", "joint friction"),
        ("servo", "a servo controller"),
    ):
        if not getattr(description, key) and not (key in ("friction", "servo") and description.hydraulic):
            yield f"{key}: {what}"
    if not description.hydraulic:
        if not description.motor:
            yield "motor: motors with rotor inertia, torque constant and current limit"
        for key in ("torque_constant", "current_limit", "current_quantum", "encoder_counts"):
            without = [m.name for m in description.motor if getattr(m, key) is None]
            if without:
                yield f"motor.{key}: {'all motors' if len(without) == len(description.motor) else ', '.join(without)}"
    for key in ("lower", "upper", "velocity", "torque"):
        without = [j.name for j in description.joint if j.limits is None or getattr(j.limits, key) is None]
        if without:
            yield f"joint.limits.{key}: {_which(without, len(description.joint))}"


def _which(names: list[str], total: int) -> str:
    return "all joints" if len(names) == total else ", ".join(names)

"""What to change in robot files of older formats, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from armtwin.files.shape import Tables

# Keys of a hydraulic drive of format 1, and the groups that have them now.
FROM_HYDRAULIC = {
    ("viscous", "coulomb"): "a [[friction]] on it, law = 'coulomb_viscous', as viscous and level",
    ("gain", "sensor_gain", "sensor_delay", "zero"): (
        "a [servo.NAME] of kind 'proportional', as gain, sensor_gain, delay.sensor and sensor_zero"
    ),
}


def changes_since_format_1(tables: Tables) -> Iterator[str]:
    """What to change in a robot file of format 1, as sentences that start with the key."""
    for i, transmission in enumerate(_groups(tables, "transmission"), 1):
        if "kind" in transmission:
            yield f"transmission.{i}.kind: take it out; a model says whether joints are elastic"
    yield from _sides_to_add(tables)
    for i, cylinder in enumerate(_groups(tables, "hydraulic"), 1):
        for keys, where in FROM_HYDRAULIC.items():
            present = [key for key in keys if key in cylinder]
            if present:
                yield f"hydraulic.{i}: move {', '.join(present)} to {where}"
    yield from _single_dampings(tables)


def _sides_to_add(tables: Tables) -> Iterator[str]:
    """Friction across a transmission that does not say its side."""
    between = [transmission.get("joint") for transmission in _groups(tables, "transmission")]
    for i, element in enumerate(_groups(tables, "friction"), 1):
        on = element.get("on")
        joints = list(on) if isinstance(on, dict) else [on]
        crosses = any(joint in between for joint in joints)
        if crosses and "side" not in element:
            yield f"friction.{i}.side: add it, 'motor' or 'link' of the transmission"


def _single_dampings(tables: Tables) -> Iterator[str]:
    """Filters whose damping is one number, where a list is wanted."""
    for name, servo in _tables_in(tables.get("servo")).items():
        for key, group in _tables_in(servo).items():
            damping = group.get("damping")
            if isinstance(damping, float | int):
                yield f"servo.{name}.{key}.damping: write it as a list, [{damping}]"


def _tables_in(value: Any) -> dict[str, Tables]:
    """The tables of a table by key, as far as it holds any."""
    if not isinstance(value, dict):
        return {}
    return {key: item for key, item in value.items() if isinstance(item, dict)}


def _groups(tables: Tables, key: str) -> list[Tables]:
    """The tables of a list of groups, as far as they are any."""
    items = tables.get(key)
    if not isinstance(items, list):
        return []
    return [item for item in items if isinstance(item, dict)]

"""What to change in robot files of older formats, key by key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Tables = dict[str, Any]

# Keys of a hydraulic drive of format 1, and the groups that have them now.
FROM_HYDRAULIC = {
    ("viscous", "coulomb"): "a [[friction]] on it, law = 'coulomb_viscous', as viscous and level",
    ("gain", "sensor_gain", "sensor_delay", "zero"): (
        "a [servo.NAME] of kind 'proportional', as gain, sensor_gain, delay.sensor and sensor_zero"
    ),
}


def changes_since_format_1(tables: Tables) -> Iterator[str]:
    """What to change in a robot file of format 1, as sentences that start with the key."""
    transmissions = _groups(tables, "transmission")
    for i, item in enumerate(transmissions, 1):
        if "kind" in item:
            yield f"transmission.{i}.kind: take it out; a model says whether joints are elastic"
    between = [item.get("joint") for item in transmissions]
    for i, item in enumerate(_groups(tables, "friction"), 1):
        on = item.get("on")
        joints = list(on) if isinstance(on, dict) else [on]
        if "side" not in item and any(joint in between for joint in joints):
            yield f"friction.{i}.side: add it, 'motor' or 'link' of the transmission"
    for i, item in enumerate(_groups(tables, "hydraulic"), 1):
        for keys, where in FROM_HYDRAULIC.items():
            present = [key for key in keys if key in item]
            if present:
                yield f"hydraulic.{i}: move {', '.join(present)} to {where}"
    yield from _single_dampings(tables)


def _single_dampings(tables: Tables) -> Iterator[str]:
    """Filters whose damping is one number, where a list is wanted."""
    servos = tables.get("servo")
    for name, servo in servos.items() if isinstance(servos, dict) else ():
        for key, value in servo.items() if isinstance(servo, dict) else ():
            damping = value.get("damping") if isinstance(value, dict) else None
            if isinstance(damping, float | int):
                yield f"servo.{name}.{key}.damping: write it as a list, [{damping}]"


def _groups(tables: Tables, key: str) -> list[Tables]:
    """The tables of a list of groups, as far as they are any."""
    items = tables.get(key)
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []

"""From the tables of a robot file to a Description, with every error of the file at once."""

from armtwin.errors import FileError
from armtwin.files.reading import check_format
from armtwin.files.schema import Schema
from armtwin.files.shape import Tables
from armtwin.maths.batch import Sentences
from armtwin.robot.formats import denavit_hartenberg
from armtwin.robot.schema.description import FORMAT, Description

# Keys of a hydraulic drive of format 1, and the groups that have them now.
FROM_HYDRAULIC = {
    ("viscous", "coulomb"): "a [[friction]] on it, law = 'coulomb_viscous', as viscous and level",
    ("gain", "sensor_gain", "sensor_delay", "zero"): (
        "a [servo.NAME] of kind 'proportional', as gain, sensor_gain, delay.sensor and sensor_zero"
    ),
}


def changes_since_format_1(tables: Tables) -> Sentences:
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


def _sides_to_add(tables: Tables) -> Sentences:
    """Friction across a transmission that does not say its side."""
    between = [transmission.get("joint") for transmission in _groups(tables, "transmission")]
    for i, element in enumerate(_groups(tables, "friction"), 1):
        on = element.get("on")
        joints = list(on) if isinstance(on, dict) else [on]
        crosses = any(joint in between for joint in joints)
        if crosses and "side" not in element:
            yield f"friction.{i}.side: add it, 'motor' or 'link' of the transmission"


def _single_dampings(tables: Tables) -> Sentences:
    """Filters whose damping is one number, where a list is wanted."""
    for name, servo in _tables_in(tables.get("servo")).items():
        for key, group in _tables_in(servo).items():
            damping = group.get("damping")
            if isinstance(damping, float | int):
                yield f"servo.{name}.{key}.damping: write it as a list, [{damping}]"


def _tables_in(value: object) -> dict[str, Tables]:
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


MOST_GROUPS = 300  # of one kind in a robot file
SCHEMA = Schema(Description, "robot file")


def read_robot(tables: Tables, origin: str) -> Description:
    """Description of a robot file; an older format is refused with the keys to change."""
    if tables.get("format") == 1:
        old = f"format 1 is older than this armtwin reads ({FORMAT})"
        todo = f"write format = {FORMAT} on its first line"
        raise FileError(origin, [f"{old}; {todo}", *changes_since_format_1(tables)])
    return describe(check_format(tables, origin, FORMAT), origin)


def describe(tables: Tables, origin: str) -> Description:
    """Description of the tables of a robot file; a FileError lists all problems of form."""
    if denavit_hartenberg.KEY in tables:
        return of_table(tables, denavit_hartenberg.table_of(tables, origin), origin)
    return _read(tables, origin)


def of_table(tables: Tables, table: denavit_hartenberg.DhTable, origin: str) -> Description:
    """Description of a robot file whose joints are rows of a Denavit-Hartenberg table."""
    description = _read(denavit_hartenberg.expand_rows(tables, table), origin)
    return denavit_hartenberg.place_joints(description, table)


def _read(tables: Tables, origin: str) -> Description:
    for key, groups in tables.items():
        if isinstance(groups, list) and len(groups) > MOST_GROUPS:
            contract = f"{key} must have at most {MOST_GROUPS} entries"
            raise FileError(origin, f"{contract}, got {len(groups)}")
    description: Description = SCHEMA.read(tables, origin)
    return description

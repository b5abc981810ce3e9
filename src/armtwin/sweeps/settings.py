"""A value of an axis applied to a job: which of its numbers become what.

Only what changes is kept, by its place in the job's description, so that values of several axes
join in any order, a run is identified by its content, and a worker is sent little.
"""

from collections.abc import Mapping
from dataclasses import is_dataclass, replace
from typing import Any

from armtwin.analysis.scaled_keys import EVERY, scale_together
from armtwin.errors import ArmtwinError
from armtwin.files.fields import field_names
from armtwin.files.overrides import with_values
from armtwin.files.reading import check_format
from armtwin.files.shape import Tables
from armtwin.files.writing import group_table, to_tables
from armtwin.jobs.description import JobDescription
from armtwin.jobs.files import SCHEMA
from armtwin.jobs.job import Job
from armtwin.maths.rotations import to_rpy
from armtwin.prediction.band.quantities import quantities_for
from armtwin.prediction.sensitivity import scale_in_job
from armtwin.robot.schema.groups import Orientation
from armtwin.robot.schema.overrides import apply_overrides
from armtwin.sweeps.axes import SweepAxis

Place = tuple[str | int, ...]
Changes = dict[Place, Any]
OF_ROBOT = "robot."  # before a key path of the robot file
YAW = "workpiece.yaw"


def setting(job: Job, axis: SweepAxis, value: float | str) -> Changes:
    """What a value of an axis changes of a job, by place in its description."""
    try:
        _refuse_files(axis.key)
        if axis.key == "speed" and not axis.relative:
            changed = job.with_speed(axis.written(value)).description
        elif axis.key == YAW:
            changed = _turn_workpiece(job, axis, value)
        elif axis.key.startswith(OF_ROBOT) or _is_quantity(job, axis):
            return _of_robot(job, axis, value)
        else:
            changed = _of_job(job, axis, value)
        Job(changed, job.origin)  # refuses what cannot be
    except ArmtwinError as error:
        sentence = str(error).replace(f"{job.where}: ", "")
        raise ArmtwinError(f"axis '{axis.key}', {axis.words(value)}: {sentence}") from None
    return differences(job.description, changed)


def _refuse_files(key: str) -> None:
    """Refuse keys that name files: what lies in them is part of what a run is known by."""
    if key == "robot":
        raise ArmtwinError("robots are named by `robots` of the sweep, not by an axis")
    if key.rpartition(".")[2] in ("points", "file"):
        raise ArmtwinError("files are no values of an axis; make a job for each, and name the jobs")


def _is_quantity(job: Job, axis: SweepAxis) -> bool:
    """Whether an axis is an uncertain quantity, which moves all that belongs to it."""
    if not axis.relative:
        return False
    return any(axis.key in quantity.names for quantity in quantities_for(job.robot(), job))


def _turn_workpiece(job: Job, axis: SweepAxis, value: float | str) -> JobDescription:
    """The job with its workpiece turned about the vertical through its origin."""
    place = job.description.workpiece
    roll, pitch, _ = to_rpy(place.orientation.rotation())
    yaw = axis.si(value)
    if not isinstance(yaw, float) or axis.relative:
        raise ArmtwinError("must be an angle, as '10 deg'")
    turned = Orientation(rpy=(round(float(roll), 13), round(float(pitch), 13), yaw))
    return replace(job.description, workpiece=replace(place, orientation=turned))


def _of_job(job: Job, axis: SweepAxis, value: float | str) -> JobDescription:
    """The job's description with a value at the key paths that an axis names."""
    origin = "sweep"
    tables = check_format(to_tables(job.description), origin, JobDescription.format_number)
    values = _values_by_path(tables, axis, value)
    for path in values:
        _open(tables, job.description, path.split("."))
    changed = with_values(tables, values, JobDescription, "", origin)
    return SCHEMA.read(changed, origin)


def _values_by_path(tables: Tables, axis: SweepAxis, value: float | str) -> Mapping[str, Any]:
    """New values by key path: those of a star or a sum move together."""
    if axis.relative:
        return scale_together(tables, axis.key, _factor(value))
    if EVERY in axis.key or "+" in axis.key:
        same = scale_together(tables, axis.key, 1.0)
        return {path: axis.written(value) for path in same}
    return {axis.key: axis.written(value)}


def _factor(value: float | str) -> float:
    """The value of a relative axis."""
    if not isinstance(value, float):
        raise ArmtwinError("a relative axis must have numbers, the factors")
    return value


def _open(tables: Tables, description: object, words: list[str]) -> None:
    """Write out the groups and lists along a path that a file leaves at their defaults."""
    here: Any = tables
    for word in words[:-1]:
        if not isinstance(here, dict):
            return
        default = getattr(description, word, None)
        if word not in here and is_dataclass(default):
            here[word] = group_table(default)
        elif word not in here and isinstance(default, tuple):
            here[word] = list(default)
        here, description = here.get(word), default


def _of_robot(job: Job, axis: SweepAxis, value: float | str) -> Changes:
    """The overrides of the job that set a number of its robot."""
    key = axis.key.removeprefix(OF_ROBOT)
    robot = job.robot()
    if axis.relative:
        values: Mapping[str, Any] = scale_in_job(job)(key, _factor(value))
    else:
        values = _values_by_path(to_tables(robot.description), replace(axis, key=key), value)
    apply_overrides(robot.description, values, "robot file")  # refuses what the file cannot hold
    return {("override", path): new for path, new in values.items()}


def differences(old: object, new: object, place: Place = ()) -> Changes:
    """Where two descriptions differ, and what the second has there."""
    if type(old) is type(new):
        if is_dataclass(old):
            found: Changes = {}
            for name in field_names(type(old)):  # type: ignore[arg-type]
                found |= differences(getattr(old, name), getattr(new, name), (*place, name))
            return found
        if isinstance(old, tuple) and isinstance(new, tuple) and len(old) == len(new):
            found = {}
            for k, (before, after) in enumerate(zip(old, new, strict=True)):
                found |= differences(before, after, (*place, k))
            return found
    same = type(old) is type(new) and old == new
    return {} if same else {place: new}


def change_job(job: Job, changes: Changes) -> Job:
    """A job with what a run changes."""
    description = job.description
    for place, value in changes.items():
        description = _put(description, place, value)
    return Job(description, job.origin)


def _put(group: Any, place: Place, value: object) -> Any:
    """A group of a description with another value at a place."""
    if not place:
        return value
    step, *rest = place
    if isinstance(group, tuple):
        assert isinstance(step, int)
        return (*group[:step], _put(group[step], tuple(rest), value), *group[step + 1 :])
    if isinstance(group, dict):
        return {**group, str(step): value}
    assert isinstance(step, str)
    return replace(group, **{step: _put(getattr(group, step), tuple(rest), value)})


def overlap(first: Changes, second: Changes) -> bool:
    """Whether two axes change the same number."""
    for one in first:
        for other in second:
            short = min(len(one), len(other))
            if one[:short] == other[:short]:
                return True
    return False


def content(description: JobDescription) -> str:
    """All that a job says that its runs depend on; its robot is known by what its file holds."""
    return repr(replace(description, name="", title="", robot=""))

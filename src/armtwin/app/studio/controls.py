"""What the page lets one change of a job: each control sets a key path, as an axis of a sweep."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import cast, get_args

import numpy as np

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.jobs.job import Job
from armtwin.maths.batch import Names, Record
from armtwin.maths.rotations import to_rpy
from armtwin.maths.units import parse_quantity
from armtwin.prediction.band.quantities import quantities_for
from armtwin.robot.robot import Robot
from armtwin.robot.schema.provenance import missing
from armtwin.simulation.model import FrictionModel, JointModel
from armtwin.simulation.options import METHODS, Method
from armtwin.sweeps.axes import SweepAxis
from armtwin.sweeps.settings import YAW, Changes, change_job, setting

METHOD = "method"  # of the simulation, which is no key of a job
AROUND = 200.0  # how far a slider moves the workpiece to each side [mm]
TURN = 45.0  # and turns it [deg]
MOST_KNOWN = 1000  # values of controls that are kept
MOST_KNOWN = 1000  # values of controls that are kept
COLD, WARM, REFERENCE = 0.0, 60.0, 20.0  # temperatures of a slider, and where it stands first [°C]
Value = float | str | bool


@dataclass(frozen=True)
class Control:
    """A slider, a choice or a switch of the page.

    Attributes:
        key: Key path of the job that it sets.
        label: What it is called.
        group: Title that it stands under.
        value: What the job has, in the unit.
        unit: Unit of a number; "%" of what the job has where it moves several numbers together.
        low: Left end of its slider.
        high: Right end of its slider.
        step: Step of its slider.
        choices: What a choice offers.
    """

    key: str
    label: str
    group: str
    value: Value
    unit: str = ""
    low: float = 0.0
    high: float = 0.0
    step: float = 0.0
    choices: Names = ()

    @property
    def is_relative(self) -> bool:
        """Whether it gives a share of what the job has."""
        return self.unit == "%"

    def change(self, job: Job, value: object) -> Changes:
        """What a value of the page changes of a job."""
        read = self.read(value)
        if self.is_relative and isinstance(read, float):
            read /= 100
        unit = "" if self.is_relative else self.unit
        axis = SweepAxis(self.key, self.label, unit, (), self.is_relative)
        return setting(job, axis, read)

    def read(self, value: object) -> float | str:
        """A value of the kind that it has."""
        if isinstance(self.value, bool):
            if isinstance(value, bool):
                return value  # a switch is written as it is
        elif isinstance(self.value, str):
            if value in self.choices:
                return str(value)
        elif isinstance(value, int | float) and not isinstance(value, bool) and np.isfinite(value):
            return float(value)
        kind = "on or off" if isinstance(self.value, bool) else "a number"
        wanted = " or ".join(f"'{x}'" for x in self.choices) or kind
        raise ArmtwinError(f"{self.label} must be {wanted}, got {value!r:.60}")


class Settings:
    """The controls of a job, and the job as they set it.

    Attributes:
        job: The job as it was opened.
        controls: Its controls by key.
    """

    def __init__(self, job: Job) -> None:
        self.job = job
        self.controls = {control.key: control for control in list_controls(job)}
        self._known: dict[str, Changes] = {}  # what was set before: few controls move at a time

    def apply(self, values: Mapping[str, object]) -> Job:
        """The job with values of the page: choices first, on which shares may depend."""
        choices: Record = {}
        numbers: Record = {}
        for key, value in values.items():
            if key not in self.controls:
                hint = did_you_mean(key, list(self.controls))
                raise ArmtwinError(f"{self.job.where}: has no control '{key}'. {hint}")
            kind = choices if isinstance(value, str | bool) else numbers
            kind[key] = value
        chosen = self._set(self.job, choices, "")
        return self._set(chosen, numbers, repr(choices))

    def read_method(self, value: object) -> Method:
        """The method of the simulation, as the page has it or by default."""
        own = self.controls[METHOD]
        return cast(Method, own.read(own.value if value is None else value))

    def _set(self, job: Job, values: Record, after: str) -> Job:
        """A job with values that do not depend on each other."""
        changes: Changes = {}
        for key, value in values.items():
            place = f"{after} {key} {value!r}"
            if place not in self._known:
                if len(self._known) >= MOST_KNOWN:
                    self._known.clear()
                self._known[place] = self.controls[key].change(job, value)
            changes |= self._known[place]
        return change_job(job, changes) if changes else job


def list_controls(job: Job) -> Iterator[Control]:
    """The controls that a job and its robot have a use for."""
    d = job.description
    robot = job.robot()
    if not d.reference:
        speed = 1e3 * d.speed
        yield _slider("speed", "speed", "Motion", speed, "mm/s", 0.1 * speed, 3 * speed)
        yield from _zones(job)
        yield from _placement(job)
    for direction in ("lateral", "vertical"):
        allowed = 1e3 * getattr(d.tolerance, direction)
        key, label = f"tolerance.{direction}", f"{direction} tolerance"
        yield _slider(key, label, "Tolerance", allowed, "mm", 0.1 * allowed, 5 * allowed)
    yield from _carried(job)
    yield from _drives(job, robot)
    yield from _model(job, robot)
    yield Control(METHOD, "method", "Model", METHODS[0], choices=METHODS)


def _slider(key: str, label: str, group: str, value: float, unit: str, *ends: float) -> Control:
    """A slider between two ends, in about two hundred steps of a round size."""
    low, high = ends
    rough = (high - low) / 200
    power = 10.0 ** np.floor(np.log10(rough))
    step = float(power * min((1, 2, 5, 10), key=lambda k: abs(k * power - rough)))
    low, high = (float(round(round(end / step) * step, 9)) for end in ends)
    return Control(key, label, group, round(value, 9), unit, max(low, step), high, step)


def _zones(job: Job) -> Iterator[Control]:
    """Corners: radii, or zones of a program, all by one factor."""
    for key, label in (("blend", "radius of corners"), ("zone", "zones")):
        if any(getattr(segment, key) for segment in job.description.segment):
            yield _share(f"segment.*.{key}", label, "Motion", 25.0, 250.0)


def _share(key: str, label: str, group: str, low: float, high: float) -> Control:
    return Control(key, label, group, 100.0, "%", low, high, 1.0)


def _placement(job: Job) -> Iterator[Control]:
    """Where the workpiece is, and how it is turned about the vertical."""
    place = job.description.workpiece
    for number, (axis, value) in enumerate(zip("xyz", place.position, strict=True), 1):
        here = round(1e3 * value, 6)
        ends = (here - AROUND, here + AROUND, 1.0)
        yield Control(f"workpiece.position.{number}", axis, "Workpiece", here, "mm", *ends)
    yaw = round(float(np.degrees(to_rpy(place.orientation.rotation())[2])), 6) + 0.0  # no -0
    yield Control(YAW, "yaw", "Workpiece", yaw, "deg", yaw - TURN, yaw + TURN, 0.5)


def _carried(job: Job) -> Iterator[Control]:
    """Tool and payload, where the robot's file has some to choose from."""
    known = job.bare_robot().description
    for key, names in (("tool", known.tool), ("payload", known.payload)):
        own = getattr(job.description, key)
        choices = tuple(dict.fromkeys((own, *names) if key == "tool" else ("", *names)))
        if len(choices) > 1:
            yield Control(key, key, "Robot", own, choices=choices)


def _drives(job: Job, robot: Robot) -> Iterator[Control]:
    """Servo, friction and temperature of the drives."""
    model = job.description.model
    servos = tuple(robot.description.servo)
    if len(servos) > 1:
        yield Control("model.servo", "servo", "Robot", model.servo, choices=servos)
    known = {name for quantity in quantities_for(robot, job) for name in quantity.names}
    if "servo.bandwidth" in known:
        yield _share("servo.bandwidth", "servo bandwidth", "Robot", 40.0, 250.0)
    if "friction.level" in known:
        yield _share("friction.level", "friction level", "Robot", 10.0, 300.0)
    if _is_possible(job, robot, temperature=300.0):
        given = np.atleast_1d(REFERENCE if model.temperature is None else model.temperature)
        zero = 0.0 if model.temperature is None else parse_quantity("0 degC", "K")
        warm = round(float(given[0]) - zero, 6)
        yield Control("model.temperature", "temperature", "Robot", warm, "degC", COLD, WARM, 1.0)


def _is_possible(job: Job, robot: Robot, **keys: object) -> bool:
    """Whether the robot's file has what another model wants."""
    other = replace(job.description.model, **keys)  # type: ignore[arg-type]
    return not missing(robot.description, other.wants, seam=True)


def _model(job: Job, robot: Robot) -> Iterator[Control]:
    """What is simulated, as far as the robot's file allows."""
    model = job.description.model
    kinds: Record = {"friction": FrictionModel, "joints": JointModel, "links": JointModel}
    for key, kind in kinds.items():
        possible = [x for x in get_args(kind) if _is_possible(job, robot, **{key: x})]
        if len(possible) > 1:
            own = getattr(model, key)
            yield Control(f"model.{key}", key, "Model", own, choices=tuple(possible))
    flags = {"quantise": "steps of encoders", "deviations": "deviations", "ripple": "ripple"}
    for key, label in flags.items():
        own = getattr(model, key)
        if _is_possible(job, robot, **{key: not own}):
            yield Control(f"model.{key}", label, "Model", own)

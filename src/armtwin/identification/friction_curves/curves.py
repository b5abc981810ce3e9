"""The dataclass FrictionCurves: torques at constant speeds, from a table or from logs.

A table has a row for each stretch of constant speed and each joint that was measured in it:

    joint,v,tau[,std,temperature,v1,v2,...]

`joint` is a joint's name or number, `v` its speed, `tau` its mean torque. Where other joints moved
with it, as those of a coupled wrist must, v1, v2, ... are the speeds of all joints; an empty one
is 0. Rows of the same speeds are series, one after the other.

Friction without gravity: by the pose, by the robot's file, or by both directions.

directions   (τ(v) - τ(-v)) / 2: what does not change sign with the speed drops out
file         τ less the gravity torque of the robot file at the logged positions
pose         τ as it is: the axis was parallel to gravity, by its pose or the base's mounting
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from armtwin.errors import ArmtwinError, FileError, blame, did_you_mean
from armtwin.files.comma_table import Row, comma_table, read_quantity, read_rows
from armtwin.files.opening import FRICTION_CURVES, read_text
from armtwin.maths.batch import Flags, Floats, Names, Record, Values, check_array
from armtwin.maths.units import Unit, whole_number

KEYS = ("joint", "v", "tau", "std", "temperature")
COLUMNS = ("joint", "speeds", "torque", "std", "temperature", "weight", "plateau")
SPEED, TORQUE = Unit("rad/s", plausible=100, hint="deg/s"), Unit("N m")
SPREAD, KELVIN = Unit("N m", above=0), Unit("K", above=0)
COLDEST, HOTTEST = 200.0, 500.0  # oil of a drive [K]; others are degrees Celsius, or a slip


@dataclass(frozen=True, eq=False)
class FrictionCurves:
    """Mean torques at constant speeds.

    Attributes:
        joint: Number of the joint whose torque a row is, from 0, (k,).
        speeds: Speeds of all joints, (k, n) [rad/s].
        torque: Mean torque, (k,) [N m].
        std: Its standard deviation, (k,) [N m]; nan where it is not known.
        temperature: Temperature of the joint, (k,) [K]; nan where it is not known.
        weight: Gravity torque in these rows by the robot file, (k,) [N m]; nan where the
            positions are not known.
        plateau: Number of the stretch of constant speed, (k,); its joints were measured together.
        joint_names: Names of the joints, (n,).
        unit: "N m", or "A" where only currents are known.
        origin: Where they come from.
        bare: Whether the torques are friction alone, gravity and inertia already removed.
    """

    joint: NDArray[np.int64]
    speeds: Floats
    torque: Floats
    std: Floats
    temperature: Floats
    weight: Floats
    plateau: NDArray[np.int64]
    joint_names: Names
    unit: str = "N m"
    origin: str = ""
    bare: bool = False

    @property
    def speed(self) -> Floats:
        """Speed of the row's own joint, (k,) [rad/s]."""
        return self.speeds[np.arange(len(self.joint)), self.joint]

    def rows(self, chosen: Flags | NDArray[np.intp]) -> FrictionCurves:
        """The chosen rows."""
        columns: Record = {name: getattr(self, name)[chosen] for name in COLUMNS}
        return replace(self, **columns)

    def join(self, *others: FrictionCurves) -> FrictionCurves:
        """These and other curves as one, plateaus numbered on."""
        every, shifted, start = (self, *others), [], 0
        for part in every:
            shifted.append(part.plateau + start)
            start += int(part.plateau.max(initial=-1)) + 1
        columns: Record = {}
        for name in COLUMNS:
            columns[name] = np.concatenate([getattr(part, name) for part in every])
        columns["plateau"] = np.concatenate(shifted)
        origins = ", ".join(part.origin for part in every if part.origin)
        return replace(self, **columns, origin=origins)

    @staticmethod
    def of(
        joint_names: Sequence[str],
        joint: Sequence[int],
        speeds: ArrayLike,
        torque: ArrayLike,
        *,
        std: ArrayLike | None = None,
        temperature: ArrayLike | None = None,
    ) -> FrictionCurves:
        """Curves from arrays; rows of the same speeds that repeat are series.

        Args:
            joint_names: Names of all joints, (n,).
            joint: Number of each row's joint, from 0, (k,).
            speeds: Speeds of all joints, (k, n), or of the row's joint alone, (k,) [rad/s].
            torque: Mean torques, (k,) [N m].
            std: Their standard deviations, (k,) [N m].
            temperature: Temperatures, (k,) [K].
        """
        own, k, n = np.asarray(joint, dtype=np.int64), len(joint), len(joint_names)
        if own.ndim != 1 or not ((own >= 0) & (own < n)).all():
            raise ArmtwinError(f"joint must be numbers of joints from 0 to {n - 1}, got {joint}")
        row = (k,) if np.ndim(speeds) == 1 else (k, n)
        moving = check_array("speeds", speeds, row, "a row for each torque", single=True)
        if not moving.any():
            raise ArmtwinError("friction curves need joints that move; every speed is 0")
        if moving.ndim == 1:
            alone = np.zeros((k, n))
            alone[np.arange(k), own] = moving
            moving = alone
        unknown = np.full(k, np.nan)
        spread = unknown if std is None else np.asarray(std, dtype=np.float64)
        warm = unknown if temperature is None else np.asarray(temperature, dtype=np.float64)
        if spread.shape != (k,) or warm.shape != (k,):
            raise ArmtwinError(f"std and temperature must have shape ({k},), one for each torque")
        refuse_degrees(warm)
        return FrictionCurves(
            joint=own,
            speeds=moving,
            torque=check_array("torque", torque, (k,), "one for each joint", single=True),
            std=spread,
            temperature=warm,
            weight=unknown,
            plateau=plateaus_of(own, moving),
            joint_names=tuple(joint_names),
        )

    @staticmethod
    def read(path: str | Path, joint_names: Sequence[str]) -> FrictionCurves:
        """Curves from a table (.csv).

        Args:
            path: The file.
            joint_names: Names of the robot's joints.
        """
        origin = str(path)
        text = read_text(Path(path), FRICTION_CURVES)
        table = comma_table(text, "a row for each speed", origin)
        _check_keys(text.splitlines()[0], joint_names, origin)
        rows = read_rows(table, partial(_row, joint_names=joint_names), origin)
        joint, speeds, numbers = (list(column) for column in zip(*rows, strict=True))
        torque, std, temperature = np.array(numbers).T
        with blame(origin):
            found = FrictionCurves.of(
                joint_names, joint, np.array(speeds), torque, std=std, temperature=temperature
            )
        return replace(found, origin=origin)


def _check_keys(header: str, joint_names: Sequence[str], origin: str) -> None:
    known = [*KEYS, *(f"v{j}" for j in range(1, len(joint_names) + 1))]
    given = [word.strip() for word in header.split(",")]
    problems = []
    for key in given:
        if key not in known:
            problems.append(f"column '{key}' is not known. {did_you_mean(key, known)}")
    missing = [key for key in ("joint", "v", "tau") if key not in given]
    if missing:
        problems.append(f"column '{missing[0]}' is missing; a table has joint, v and tau")
    if problems:
        raise FileError(origin, problems)


def _row(record: Row, joint_names: Sequence[str]) -> tuple[int, Floats, list[float]]:
    """Joint, speeds of all joints, and torque, std and temperature of a line."""
    for key in ("joint", "v", "tau"):
        if key not in record:
            raise ArmtwinError(f"{key} must not be empty")
    joint = _joint(record["joint"], joint_names)
    keys = [f"v{j}" for j in range(1, len(joint_names) + 1)]
    speeds = np.array([_quantity(record, key, SPEED, 0.0) for key in keys])
    own = _quantity(record, "v", SPEED)
    if f"v{joint + 1}" in record and speeds[joint] != own:
        got = f"{own:g} and {speeds[joint]:g}"
        raise ArmtwinError(f"v and v{joint + 1} must be the same speed, got {got}")
    speeds[joint] = own
    units = {"tau": TORQUE, "std": SPREAD, "temperature": KELVIN}
    return joint, speeds, [_quantity(record, key, unit) for key, unit in units.items()]


def _quantity(record: Row, key: str, unit: Unit, absent: float = np.nan) -> float:
    return read_quantity(record, key, unit) if key in record else absent


def _joint(value: float | str, names: Sequence[str]) -> int:
    """Number of a joint from its name or its number from 1."""
    if isinstance(value, str) and value in names:
        return names.index(value)
    word = f"{value:g}" if isinstance(value, float) else value
    number = whole_number(word)
    if number is None or not 1 <= number <= len(names):
        hint = did_you_mean(word, names)
        raise ArmtwinError(f"joint '{word}' is not one of the robot's {len(names)}. {hint}")
    return number - 1


def refuse_degrees(temperature: Floats) -> None:
    """Refuse temperatures that no oil has in kelvin."""
    known = temperature[np.isfinite(temperature)]
    wrong = known[(known < COLDEST) | (known > HOTTEST)]
    if len(wrong):
        first = float(wrong[0])
        raise ArmtwinError(
            f"temperature must be in kelvin, {COLDEST:g} to {HOTTEST:g}, got {first:g}; did you "
            f'mean "{first:g} degC", which is {first + 273.15:g} K?'
        )


def plateaus_of(joint: NDArray[np.int64], speeds: Floats) -> NDArray[np.int64]:
    """Number of the plateau of each row, (k,): rows of one speed and series belong together.

    The first row of each joint at a speed belongs to the first series, the second to the next.
    """
    numbers: dict[tuple[Values, int], int] = {}
    seen: dict[tuple[int, Values], int] = {}
    found = np.empty(len(joint), dtype=np.int64)
    for row, (j, speed) in enumerate(zip(joint.tolist(), speeds.tolist(), strict=True)):
        key = tuple(speed)
        series = seen.get((j, key), 0)
        seen[j, key] = series + 1
        found[row] = numbers.setdefault((key, series), len(numbers))
    return found


Gravity = Literal["directions", "file", "pose"]
SAME_TEMPERATURE = 2.0  # difference of the temperatures of such halves [K]
SAME_SPEED = 0.03  # relative difference of the speeds of two directions that are halves of a pair


def without_gravity(curves: FrictionCurves, how: Gravity) -> FrictionCurves:
    """The curves with friction alone in their torques, and the gravity torque removed."""
    if how not in get_args(Gravity):
        known = get_args(Gravity)
        raise ArmtwinError(f"gravity by '{how}' is not known. {did_you_mean(how, known)}")
    if curves.bare:
        return curves
    if how == "pose":
        return replace(curves, weight=np.zeros(len(curves.torque)))
    if how == "file":
        if np.isnan(curves.weight).any():
            raise ArmtwinError(
                "gravity by the file needs positions, which a table does not have; use a log, or "
                "gravity by directions or by the pose"
            )
        return replace(curves, torque=curves.torque - curves.weight)
    return _half_differences(curves)


def _half_differences(curves: FrictionCurves) -> FrictionCurves:
    """Rows of both directions, each less the mean of the pair that it belongs to."""
    _refuse_one_direction(curves)
    partner = _partners(curves)
    paired = partner >= 0
    if not paired.any():
        raise ArmtwinError(
            "gravity by directions needs each speed in both directions, within "
            f"{100 * SAME_SPEED:g} %; no speed has its opposite"
        )
    other = curves.torque[partner]
    weight = np.where(paired, 0.5 * (curves.torque + other), np.nan)
    # a pair is one measurement: its forward half is used for both
    kept = paired & _is_forward(curves)
    std = curves.std.copy()
    std[paired] = 0.5 * np.hypot(curves.std[paired], curves.std[partner[paired]])
    whole = replace(curves, torque=curves.torque - weight, weight=weight, std=std)
    return whole.rows(kept)


def _refuse_one_direction(curves: FrictionCurves) -> None:
    for j in np.unique(curves.joint):
        speed = curves.speed[curves.joint == j]
        if (speed > 0).any() and (speed < 0).any():
            continue
        only = "forward" if (speed > 0).any() else "backward"
        raise ArmtwinError(
            f"{curves.joint_names[j]}: its torques are of one direction only, {only}: friction and "
            "gravity are identifiable only in combination; measure both directions, or state that "
            "the axis was parallel to gravity (gravity by the pose)"
        )


def _partners(curves: FrictionCurves) -> NDArray[np.int64]:
    """For each row the one of the same joint, series and opposite speeds, or -1, (k,)."""
    found = np.full(len(curves.joint), -1)
    free = ~_is_forward(curves)
    for row in np.flatnonzero(_is_forward(curves)).tolist():
        warmer = np.abs(curves.temperature - curves.temperature[row]) > SAME_TEMPERATURE
        others = np.flatnonzero(free & (curves.joint == curves.joint[row]) & ~warmer)
        if not len(others):
            continue
        # the nearest: runs of a wrist may differ by a creep of one joint alone
        apart = np.abs(curves.speeds[others] + curves.speeds[row]).max(axis=1)
        nearest = np.argmin(apart)
        if apart[nearest] <= SAME_SPEED * np.abs(curves.speeds[row]).max():
            other = int(others[nearest])
            free[other] = False
            found[row], found[other] = other, row
    return found


def _is_forward(curves: FrictionCurves) -> Flags:
    """Whether the first joint that moves turns forward, (k,): the same for a whole plateau."""
    first = np.argmax(curves.speeds != 0, axis=1)
    return curves.speeds[np.arange(len(first)), first] > 0

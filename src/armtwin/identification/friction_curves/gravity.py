"""Friction without gravity: by the pose, by the robot's file, or by both directions.

directions   (τ(v) - τ(-v)) / 2: what does not change sign with the speed drops out
file         τ less the gravity torque of the robot file at the logged positions
pose         τ as it is: the axis was parallel to gravity, by its pose or the base's mounting
"""

from dataclasses import replace
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.maths.batch import Flags

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

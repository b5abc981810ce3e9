"""Gear ratios: torque at the joint over that at the motor, where a robot file has no gears.

A rotor of inertia J on a joint is one of J / N² on a motor that turns N times as fast. Nothing else
changes, so that all factors of rows serve as they are, with other base parameters,

    C φ = C D⁻¹ (D φ)        D = 1 / N² for rotors, 1 for all others
"""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.identification.fitting.factors import Factors
from armtwin.identification.fitting.free_directions import FreeDirections
from armtwin.identification.rigid_body.data.preparation import Preparation
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot


def put_on_gears(
    ready: Preparation, parts: Sequence[Factors], ratios: Floats
) -> tuple[Preparation, list[Factors]]:
    """Data and factors of a robot that has motors on its joints as those of one with gears.

    Args:
        ready: The data.
        parts: Factors of their parts.
        ratios: Gear ratios, (n,).
    """
    experiment = ready.experiment
    D = np.ones(len(experiment.free.start))
    D[experiment.prior.layout.rotors] = ratios**-2.0
    free = experiment.free
    geared = replace(
        experiment,
        prior=_with_ratios(experiment.prior, ratios),
        free=FreeDirections(D * free.start, D * free.sizes, free.basis),
    )
    data = replace(ready, given=_with_ratios(ready.given, ratios), experiment=geared)
    return data, [replace(part, C=part.C / D) for part in parts]


def _with_ratios(robot: Robot, ratios: Floats) -> Robot:
    """The robot with gears of these ratios (n,), the inertia of its rotors on its joints kept."""
    description = robot.description
    assert description.gear is not None  # motors on the joints
    N = np.array(description.gear.matrix) * ratios[:, None]
    motors = []
    for motor, ratio in zip(description.motor, ratios.tolist(), strict=True):
        motors.append(replace(motor, rotor_inertia=motor.rotor_inertia / ratio**2))
    gear = replace(description.gear, matrix=tuple(map(tuple, N.tolist())))
    return robot.with_description(replace(description, motor=tuple(motors), gear=gear))

"""Which of a robot's parameters any motion could tell."""

from __future__ import annotations

from functools import lru_cache

import numpy as np

from armtwin.identification.fitting.structure import Structure, structure_of
from armtwin.robot.robot import Robot

STATES = 200


@lru_cache(maxsize=8)
def identifiable(robot: Robot) -> Structure:
    """What any motion could tell of a robot's parameters, from its regressor at random states."""
    chance = np.random.default_rng(20070901)
    low, high = robot.position_limits
    low = np.where(np.isfinite(low), low, -np.pi)
    high = np.where(np.isfinite(high), high, np.pi)
    q = chance.uniform(low, high, size=(STATES, robot.n))
    v, a = chance.normal(scale=2.0, size=(2, STATES, robot.n))
    return structure_of(robot.regressor(q, v, a), robot.parameter_names)

"""Which of a robot's parameters are identifiable by any motion."""

from functools import lru_cache

import numpy as np

from armtwin.identification.fitting.structure import ColumnStructure, analyse_structure
from armtwin.identification.rigid_body.friction.presliding import has_presliding
from armtwin.robot.dynamics.friction_columns import SURE, ContactStates
from armtwin.robot.robot import Robot

STATES = 200


@lru_cache(maxsize=8)
def analyse_identifiability(robot: Robot, *, bent: bool = False) -> ColumnStructure:
    """Which parameters of a robot are identifiable, from its regressor at random states.

    Args:
        robot: The robot.
        bent: Whether contacts with hysteresis deflect independently, or slide with their joints.
    """
    states = SURE
    if bent:
        states = _sample_deflections(robot)
        if states is SURE:
            return analyse_identifiability(robot)
    chance = np.random.default_rng(20070901)
    low, high = robot.position_limits
    low = np.where(np.isfinite(low), low, -np.pi)
    high = np.where(np.isfinite(high), high, np.pi)
    q = chance.uniform(low, high, size=(STATES, robot.n))
    v, a = chance.normal(scale=2.0, size=(2, STATES, robot.n))
    columns = robot.regressor(q, v, a, contacts=states)
    return analyse_structure(columns, robot.parameter_names)


def _sample_deflections(robot: Robot) -> ContactStates:
    """Deflections of all contacts with pre-sliding hysteresis; `SURE` where there are none."""
    elements = robot.assembly.friction
    own = [e for e, (element, _) in enumerate(elements) if has_presliding(element)]
    if not own:
        return SURE
    deflections = np.full((STATES, len(elements)), np.nan)
    deflections[:, own] = np.random.default_rng(1992).uniform(-1, 1, size=(STATES, len(own)))
    return ContactStates(deflections)

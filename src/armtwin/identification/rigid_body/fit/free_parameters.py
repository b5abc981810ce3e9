"""Which parameters of a robot a recipe leaves free, and by how much each is likely to change.

Which of a robot's parameters are identifiable by any motion.
"""

from functools import lru_cache

import numpy as np

from armtwin.drives.friction.terms import Loaded
from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.decomposition import ColumnStructure, analyse_structure
from armtwin.identification.fitting.factors import FreeDirections, free_directions
from armtwin.identification.rigid_body.friction.presliding import has_presliding
from armtwin.identification.rigid_body.friction.terms import Terms
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.friction_columns import SURE, ContactStates
from armtwin.robot.parameters import Parameter
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


EASE = 100.0  # times its size that an added term may have as likely as others once theirs
ZERO_PRIOR = 1e-3  # size of a parameter whose prior is zero
ROUNDING = 1e-12  # below which a prior is zero but for rounding, as of a turned inertia


def free_parameters(robot: Robot, recipe: Recipe) -> FreeDirections:
    """The free directions that a recipe leaves a robot."""
    names = robot.parameter_names
    table = robot.parameter_table
    held = recipe.held(table)
    for element, _ in robot.assembly.friction:
        if isinstance(element.law, Loaded):  # its share is taken as known, with loads by the bodies
            held.add(f"{element.name}.share")
    if len(held) == len(names):
        raise ArmtwinError("recipe: every parameter is held, so nothing remains to identify")
    place = {name: k for k, name in enumerate(names)}
    start = robot.parameters.copy()
    for name in recipe.zero:
        start[place[name]] = 0.0
    equal = [(place[a], place[b]) for a, b in recipe.equal]
    return free_directions(start, sizes_of(table), {place[name] for name in held}, equal)


def sizes_of(table: tuple[Parameter, ...]) -> Floats:
    """Sizes by which the columns are scaled: the prior's values, (p,).

    An offset without one has its friction's size.
    """
    sizes = np.array([abs(parameter.value) for parameter in table])
    for k, parameter in enumerate(table):
        element, _, key = parameter.name.rpartition(".")
        if sizes[k] <= ROUNDING and key == "offset":
            sizes[k] = _largest_friction(table, element)
    return np.where(sizes > ROUNDING, sizes, ZERO_PRIOR)


def _largest_friction(table: tuple[Parameter, ...], element: str) -> float:
    """Largest torque among the parameters of a friction element [N m]."""
    own = [p for p in table if p.name.startswith(f"{element}.") and p.unit == "N m"]
    return max((abs(parameter.value) for parameter in own), default=0.0)


def term_directions(robot: Robot, free: FreeDirections, terms: Terms) -> FreeDirections:
    """The free directions with those of added terms, hardly regularised.

    A term takes the place of its host's parameter in part: the file gives their sum, not the split.
    """
    if not terms:
        return free
    names = robot.parameter_names
    elements = [element for element, _ in robot.assembly.friction]
    sizes, tied = [], []
    for term in terms:
        largest = _largest_friction(robot.parameter_table, elements[term.host].name)
        law = term.element.law
        per_torque = law.usual if isinstance(law, Loaded) else 1.0
        sizes.append((largest or ZERO_PRIOR) / per_torque)
        tied.append(None if term.tied is None else names.index(term.tied))
    return free.with_more(np.array(sizes), tied, EASE)

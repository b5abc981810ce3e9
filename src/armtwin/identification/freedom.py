"""Which parameters may change, and by how much it is likely: φ = φ₀ + s B z.

φ₀ is the prior, s the size of each parameter, and a column of B a parameter, or several that are equal by symmetry.
Parameters that are zero, fixed or held have no column.

Ref: [Waiboer 2007, section 4.3.4], [Memar-Esfahani 2015, eq. 12]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.recipe import Recipe
from armtwin.maths.batch import Flags, Floats
from armtwin.robot.parameters import Parameter
from armtwin.robot.robot import Robot

ZERO_PRIOR = 1e-3  # size of a parameter whose prior is zero


@dataclass(frozen=True, eq=False)
class Freedom:
    """The free directions of the parameters.

    Attributes:
        start: φ₀, (p,).
        sizes: s, (p,).
        basis: B, (p, f).
    """

    start: Floats
    sizes: Floats
    basis: Floats

    @property
    def map(self) -> Floats:
        """∂φ/∂z, (p, f)."""
        return self.sizes[:, None] * self.basis

    def scaled(self, which: Flags, factor: float) -> Freedom:
        """The same directions, some parameters' sizes times a factor."""
        return replace(self, sizes=self.sizes * np.where(which, factor, 1.0))

    def parameters(self, z: Floats) -> Floats:
        """φ of free coordinates z."""
        return self.start + self.map @ z


def sizes_of(table: tuple[Parameter, ...]) -> Floats:
    """Sizes by which the columns are scaled: the prior's values; an offset without one has its friction's size."""
    sizes = np.array([abs(p.value) for p in table])
    for k, parameter in enumerate(table):
        element, _, key = parameter.name.rpartition(".")
        if sizes[k] == 0 and key == "offset":
            sizes[k] = max(
                (
                    abs(p.value)
                    for p in table
                    if p.name.startswith(f"{element}.") and p.unit == "N m"
                ),
                default=0,
            )
    return np.where(sizes > 0, sizes, ZERO_PRIOR)


def freedom(robot: Robot, recipe: Recipe) -> Freedom:
    """The free directions that a recipe leaves a robot."""
    table = robot.parameter_table
    start, sizes = robot.parameters.copy(), sizes_of(table)
    names = list(robot.parameter_names)
    held = {names.index(name) for name in (*recipe.zero, *recipe.fixed)}
    if recipe.only == "friction":
        held |= {k for k, p in enumerate(table) if p.group != "friction"}
    start[[names.index(name) for name in recipe.zero]] = 0.0
    together = {k: {k} for k in range(len(names))}
    for pair in recipe.equal:
        a, b = (names.index(name) for name in pair)
        members = together[a] | together[b]
        together |= dict.fromkeys(members, members)
    columns = []
    for equal in {min(x): sorted(x) for x in together.values()}.values():
        if equal[0] in held:
            continue
        if len(equal) > 1:
            start[equal], sizes[equal] = start[equal].mean(), sizes[equal].max()
        columns.append(equal)
    if not columns:
        raise ArmtwinError("recipe: every parameter is held, so nothing is left to identify")
    basis = np.zeros((len(names), len(columns)))
    for k, equal in enumerate(columns):
        basis[equal, k] = 1.0
    return Freedom(start, sizes, basis)

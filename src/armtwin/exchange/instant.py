"""What units add to the fields of a loop: levels of friction, and the equations at an instant.

In model exchange a host integrates the plant between the ticks of its controller,

    M(u) a = τ - h(u, v) - Σ F s,    F of springs, friction and cylinders along their rows s

with the torques F of a step of no length; the speed of a bristle is the slope of its deflection
with the length of a step.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from typing import Any, NamedTuple

import numpy as np

from armtwin.drives.friction.load import compute_loads
from armtwin.drives.friction.presliding import advance_bristle
from armtwin.drives.ripple import apply_ripple
from armtwin.drives.rows import along
from armtwin.exchange.unit import Place, Variable
from armtwin.maths.batch import Floats
from armtwin.maths.dual import Dual, slope_of
from armtwin.maths.machine_code import Stages
from armtwin.maths.stretches import Memory, Part, stretches
from armtwin.maths.tape import TapeTable
from armtwin.maths.traced_fields import TracedFields
from armtwin.simulation.kernels import BEFORE, BEFORE_STEPS, trace_part, trace_stages
from armtwin.simulation.loop import ClosedLoop, State, trace_fields
from armtwin.simulation.plant import BRISTLES, C0, HELD, HELD_BACK, SCALE, SWITCHING
from armtwin.simulation.solve import solve
from armtwin.simulation.step import StepEquations, begin_step, press_friction, press_springs, resist
from armtwin.simulation.tick import NamedStages, Stage

LEAST_LEVEL = 1e-9  # of friction
UNREAD = {"state.energy", "state.saturated", "state.since"}  # no unit accounts for energy


class Slopes(NamedTuple):
    """Derivatives of the states, in the shapes of these."""

    u: Floats
    v: Floats
    z: Floats
    oil: Floats
    valves: Floats


def make_slopes(state: State) -> Slopes:
    """Room for the derivatives of a state."""
    return Slopes(*(np.zeros_like(getattr(state, name)) for name in Slopes._fields))


class Levelled:
    """Friction tables of which each element's torques are multiplied by its level.

    A level of zero leaves a trace of friction: bristles must relax at any speed.
    """

    def __init__(self, table: TapeTable, level: Floats) -> None:
        self.table = table
        self.level = [table.tape.do("larger", x, LEAST_LEVEL) for x in level]

    def __getitem__(self, place: tuple[Any, ...]) -> Any:
        return self.level[place[0]] * self.table[place]


class UnitFields(TracedFields):
    """Fields of a loop whose friction has levels, `inputs.level`, and which keeps no accounts."""

    @staticmethod
    def of(loop: ClosedLoop) -> UnitFields:
        """The fields of a loop."""
        fields = trace_fields(loop)
        return UnitFields(loop, fields.constant, fields.dense)

    def symbols(self, part: Part) -> Any:
        """The loop of symbols, its friction at its levels."""
        x = super().symbols(part)
        level, friction = x.inputs.level, x.plant.friction
        numbers = friction.numbers.copy()
        for column in (HELD, HELD_BACK):
            numbers[:, column] = level * numbers[:, column]
        friction = friction._replace(numbers=numbers, curves=Levelled(friction.curves, level))
        inputs = x.inputs
        if "slow" in inputs._fields:  # the speed from which bristles slide
            inputs = inputs._replace(slow=level * inputs.slow)
        return x._replace(inputs=inputs, plant=x.plant._replace(friction=friction))

    def put_changes(self, part: Part, before: Any, after: Any, path: str = "") -> None:
        """Write what differs and is read."""
        super().put_changes(part, before, after, path)
        part.outputs = [x for x in part.outputs if x[0][0] not in UNREAD]


def trace_unit(
    fields: UnitFields,
    of_tick: NamedStages,
    of_step: NamedStages,
    apart: Iterable[Stage],
    wanted: Collection[str] = (),
) -> tuple[Stages, Memory]:
    """The stages of a unit that do something, and where their arrays lie.

    Args:
        fields: The loop.
        of_tick: Stages of a tick beside those of a step.
        of_step: Stages of a step.
        apart: Stages that are done now and then: nothing of them is computed before.
        wanted: Values of a tick that they read.
    """
    traced, memory = trace_stages(fields, of_tick, of_step, wanted=wanted)
    found = {BEFORE: traced.pop(BEFORE), BEFORE_STEPS: traced.pop(BEFORE_STEPS)}
    for name, (stretch,) in traced.items():
        if stretch.outputs:
            found[name] = [stretch]
    for stage in apart:
        name = stage.__name__
        found[name] = stretches(trace_part(fields, stage), f"kept by {name}")
    return found, memory


def has_equations(loop: ClosedLoop) -> bool:
    """Whether its friction is described by differential equations: one that switches is not."""
    return bool(loop.plant.friction.kind != SWITCHING)


def differentiate(x: ClosedLoop) -> None:
    """Slopes of coordinates, speeds and bristles under the mass and the force of `work`."""
    plant, state, work, slopes = x.plant, x.state, x.work, x.inputs.slopes
    u, v, friction = state.u, state.v, plant.friction
    system = begin_step(work.M, work.force, 1.0)
    unused = begin_step(work.M, work.force, 0.0)
    rows, slack = x.rows, plant.springs.rest
    if len(plant.ripples.spring):
        weights, slack = apply_ripple(plant.ripples, plant.springs, rows, u)
        rows = rows._replace(weights=weights)
    _resist_springs(plant.springs, slack, rows, (u, v), unused, system)
    _resist_springs(plant.holds, plant.holds.rest, x.rows, (u, v), unused, system)
    for c, r in enumerate(plant.cylinders.row):
        resist(x.rows, r, -state.oil[c], 0.0, system)
    contacts = press_friction(friction, work.level, x.rows, v, state.z, unused)
    for r, F in zip(friction.row, contacts.torque, strict=True):
        resist(x.rows, r, F, 0.0, system)
    solve(x.size, plant.ties, system.A, system.b)
    slopes.u[:] = v
    slopes.v[:] = system.b
    if friction.kind == BRISTLES:
        for k in range(len(friction.row)):
            scale, c0 = friction.numbers[k, SCALE], friction.numbers[k, C0]
            level, w, z = work.level[k], contacts.speed[k], state.z[k]
            moment: Any = Dual(0.0, 1.0)
            bent = advance_bristle(friction.curves, k, scale, level, c0, w, z, moment)
            slopes.z[k] = slope_of(bent)
    if len(plant.loads.element):
        change = np.array([along(x.rows, r, system.b) for r in friction.row], dtype=object)
        torque = plant.outputs.torque * work.current
        work.loads[:] = compute_loads(plant.loads, torque, 1.0, contacts.torque, change)


def _resist_springs(
    springs: Any, slack: Any, rows: Any, motion: tuple[Any, Any], still: Any, system: StepEquations
) -> None:
    """Put the torques of springs as they are now into the equations."""
    torques, _ = press_springs(springs, slack, rows, *motion, still)
    for r, F in zip(springs.row, torques, strict=True):
        resist(rows, r, F, 0.0, system)


def find_flanks(x: ClosedLoop, springs: Iterable[int]) -> list[Any]:
    """What changes its sign where gears with backlash, by their springs, bear on a flank."""
    rest, gap, found = x.plant.springs.rest, x.plant.springs.gap, []
    for e in springs:
        twist = along(x.rows, x.plant.springs.row[e], x.state.u) - rest[e]
        found += [twist - gap[e], twist + gap[e]]
    return found


def state_variables(
    name: str,
    place: Place,
    unit: str,
    words: str,
    nominal: float,
    start: float | None = None,
) -> Iterator[Variable]:
    """A continuous state and its derivative as variables of a unit."""
    (field, where), slope = place, f"der({name})"
    rate = f"{unit}^2" if unit.endswith("/s") else f"{unit}/s"
    yield Variable(
        name, "local", (f"state.{field}", where), unit, f"State: {words}", start,
        slope=slope, nominal=nominal,
    )  # fmt: skip
    words = f"Derivative of {name}"
    yield Variable(slope, "local", (f"inputs.slopes.{field}", where), rate, words)

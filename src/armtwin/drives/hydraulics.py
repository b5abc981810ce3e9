"""A hydraulic drive: servovalve, oil, piston or vane.

    x_v'' = ω² (i(t - delay) - x_v) - 2 damping ω x_v',   compliance F' = Q(x_v) - x' - leakage F

x is the stroke of a cylinder [m] or the angle of a vane motor [rad], F its force [N] or
torque [N m]. Friction of the piston and its controller are groups of their own.

Over a step the valve answers exactly to the current of its middle; oil and arm are solved together,
with the force and the speed half way:

    F_mid = F + h/2 (Q - w_mid - leakage F) / soft,   soft = compliance + h/2 leakage

Ref: [Machielsen 1983, chapter 5], signs and repaired numbers in docs/references.md
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np

from armtwin.drives.hydraulic_design import Design
from armtwin.files.fields import OneOf
from armtwin.maths.batch import Floats, Pair
from armtwin.maths.choice import both, choose
from armtwin.maths.compiled import inlined
from armtwin.maths.quantities import Current, Number, Positive, Share, Time
from armtwin.maths.traced_fields import Index
from armtwin.maths.tracing import python_of
from armtwin.maths.units import Unit
from armtwin.maths.vectors import dot

ValveRate = Annotated[float, Unit("rad/s", above=0)]
# Position and speed of a spool that follows its current at once, per position, speed and current.
AT_ONCE = np.array([[0.0, 0.0, 1.0], [0.0, 0.0, 0.0]])


@dataclass(frozen=True)
class Valve:
    """Servovalve: second-order spool with delay, and its measured flow.

    Attributes:
        frequency: Natural frequency ω of the spool [rad/s].
        damping: Relative damping of the spool.
        delay: Delay of the electronics [s].
        current_limit: Largest current [A].
        flow: Points of spool position [A] and speed of the unloaded piston [m/s or rad/s],
            increasing; () where it follows from the circuit's design.
    """

    frequency: ValveRate
    damping: Share
    delay: Time
    current_limit: Current
    flow: tuple[tuple[Number, Number], ...] = ()

    def problem(self) -> str:
        """What is wrong with the flow table, as a phrase; empty if nothing is."""
        currents = [point[0] for point in self.flow]
        if not currents:
            return ""
        if len(currents) < 2 or any(b <= a for a, b in pairwise(currents)):
            return (
                f"flow must have at least two points of increasing current, got currents {currents}"
            )
        speeds = [point[1] for point in self.flow]
        if any(b < a for a, b in pairwise(speeds)):
            return f"flow must not decrease with the current, got speeds {speeds}"
        return ""


@dataclass(frozen=True)
class Circuit:
    """Valve and oil; lengths and forces for a cylinder, angles and torques for a vane motor.

    Attributes:
        valve: The servovalve.
        compliance: Stroke per force of the oil [m/N or rad/(N m)].
        leakage: Speed lost per force [m/(N s) or rad/(N m s)].
        design: Physical data from which flow, compliance and leakage follow where they are not
            given.
    """

    valve: Valve
    compliance: Positive | None = None
    leakage: Share | None = None
    design: Annotated[Design, OneOf("kind")] | None = None

    def problem(self) -> str:
        """What is lacking, as a phrase; empty if nothing is."""
        if self.design is not None:
            return ""
        given = {
            "valve.flow": bool(self.valve.flow),
            "compliance": self.compliance is not None,
            "leakage": self.leakage is not None,
        }
        lacking = [key for key, known in given.items() if not known]
        if lacking:
            return f"must have {', '.join(lacking)}, or a design from which they follow"
        return ""

    @cached_property
    def oil(self) -> Oil:
        """Flow, compliance and leakage: those given, else those of the design."""
        flow, compliance, leakage = self.valve.flow, self.compliance, self.leakage
        if self.design is not None:
            flow = flow or self.design.flow(self.valve.current_limit)
            compliance = self.design.compliance if compliance is None else compliance
            leakage = self.design.leakage if leakage is None else leakage
        assert compliance is not None  # checked with the file
        assert leakage is not None
        return Oil(np.array(flow), compliance, leakage)


class Oil(NamedTuple):
    """What the oil of a circuit does.

    Attributes:
        flow: Points of spool position and speed of the unloaded piston, (points, 2).
        compliance: Stroke per force.
        leakage: Speed lost per force.
    """

    flow: Floats
    compliance: float
    leakage: float

    def opening(self, force: Any) -> Any:
        """Spool position [A] that holds a force at rest; the middle where many do."""
        look_up = python_of(no_load_speed)
        positions = self.flow[None, :, ::-1]  # over the speed
        speed = self.leakage * force
        one_edge = look_up(positions, 0, speed)
        other_edge = look_up(positions[:, ::-1] * (-1.0, 1.0), 0, -speed)
        return 0.5 * (one_edge + other_edge)


class Cylinders(NamedTuple):
    """Circuits of all cylinders and vane motors, packed.

    Attributes:
        row: Row of the stroke, (c,).
        drive: Number of the output that opens the valve, (c,).
        compliance: (c,).
        leakage: (c,).
        flow: Points of spool position and piston speed, the last one repeated, (c, points, 2).
        spool: Spool position and speed after half a tick, per position, speed and current,
            (c, 2, 3).
    """

    row: Index
    drive: Index
    compliance: Floats
    leakage: Floats
    flow: Floats
    spool: Floats


def pack_circuits(
    circuits: Sequence[Circuit],
    rows: Sequence[int],
    drives: Sequence[int],
    tick: float,
    *,
    spools: bool = True,
) -> Cylinders:
    """Pack circuits for a simulation with steps of a tick [s].

    Args:
        circuits: The circuits.
        rows: Row of each.
        drives: Number of the output that opens each valve.
        tick: Length of a tick [s].
        spools: Whether spools are dynamic; else they are where their current is, which then comes
            later by `spool_delay`.
    """
    c = len(circuits)
    points = max((len(x.oil.flow) for x in circuits), default=2)
    compliance, leakage = np.zeros(c), np.zeros(c)
    flow = np.zeros((c, points, 2))
    spool = np.zeros((c, 2, 3))
    for k, circuit in enumerate(circuits):
        oil = circuit.oil
        flow[k] = oil.flow[-1]
        flow[k, : len(oil.flow)] = oil.flow
        spool[k] = spool_response(circuit.valve, tick / 2) if spools else AT_ONCE
        compliance[k] = oil.compliance
        leakage[k] = oil.leakage
    return Cylinders(
        row=np.array(rows, dtype=np.int64),
        drive=np.array(drives, dtype=np.int64),
        compliance=compliance,
        leakage=leakage,
        flow=flow,
        spool=spool,
    )


def spool_delay(valve: Valve) -> float:
    """Delay equivalent to a spool at low frequencies, 2 damping / ω [s]."""
    return 2 * valve.damping / valve.frequency


def spool_response(valve: Valve, time: float) -> Floats:
    """Position and speed of a spool after a time of steady current, (2, 3).

    The columns are per position, speed and current at its beginning.
    """
    from scipy.linalg import expm

    w = valve.frequency
    rates = np.array(
        [
            [0.0, 1.0, 0.0],
            [-w * w, -2 * valve.damping * w, w * w],
            [0.0, 0.0, 0.0],
        ]
    )
    return np.asarray(expm(rates * time)[:2], dtype=np.float64)


def move_spools(cylinders: Cylinders, current: Floats, valves: Floats, Q: Floats) -> None:
    """Move the spools over a tick; writes their flow Q, (c,), in its middle.

    valves, (c, 2), are the positions and speeds of the spools.
    """
    for c in range(len(cylinders.drive)):
        i = current[cylinders.drive[c]]
        move_half_a_tick(cylinders.spool, c, valves, i)
        Q[c] = no_load_speed(cylinders.flow, c, valves[c, 0])
        move_half_a_tick(cylinders.spool, c, valves, i)


def move_half_a_tick(spool: Floats, c: int, valves: Floats, i: float) -> None:
    """Position and speed of the spool of cylinder c after half a tick of current i."""
    before = (valves[c, 0], valves[c, 1], i)
    for k in range(2):
        row = (spool[c, k, 0], spool[c, k, 1], spool[c, k, 2])
        valves[c, k] = dot(row, before)


@inlined
def no_load_speed(flow: Floats, c: int, x: float) -> float:
    """Speed of the unloaded piston of cylinder c at spool position x.

    Linear between the points of the flow, constant outside them.
    """
    last = flow.shape[1] - 1
    speed = choose(x < flow[c, 0, 0], flow[c, 0, 1], flow[c, last, 1])
    for k in range(last):
        low, high = flow[c, k, 0], flow[c, k + 1, 0]
        slow, fast = flow[c, k, 1], flow[c, k + 1, 1]
        width = choose(high > low, high - low, 1.0)  # the last point may be repeated
        here = both(low <= x, x < high)
        speed = choose(here, slow + (fast - slow) * (x - low) / width, speed)
    return speed


@inlined
def cylinder(compliance: float, leakage: float, F: float, Q: float, w: float, h: float) -> Pair:
    """Torque the cylinder takes over a step h at speed w, below 0 where it pushes; its slope."""
    soft = compliance + 0.5 * h * leakage
    half_way = F + 0.5 * h * (Q - w - leakage * F) / soft
    return -half_way, 0.5 * h / soft


@inlined
def advance_force(
    compliance: float, leakage: float, F: float, Q: float, w: float, h: float
) -> float:
    """Force of the cylinder after a step h with the speed w half way."""
    soft = compliance + 0.5 * h * leakage
    return F + h * (Q - w - leakage * F) / soft

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
from itertools import pairwise
from typing import Annotated, Any, NamedTuple

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.quantities import Current, Number, Positive, Share, Time
from armtwin.maths.units import Unit
from armtwin.maths.vectors import dot

ValveRate = Annotated[float, Unit("rad/s", above=0)]


@dataclass(frozen=True)
class Valve:
    """Servovalve: second-order spool with delay, and its measured flow.

    Attributes:
        frequency: Natural frequency ω of the spool [rad/s].
        damping: Relative damping of the spool.
        delay: Delay of the electronics [s].
        current_limit: Largest current [A].
        flow: Points of spool position [A] and speed of the unloaded piston [m/s or rad/s],
            increasing.
    """

    frequency: ValveRate
    damping: Share
    delay: Time
    current_limit: Current
    flow: tuple[tuple[Number, Number], ...]

    def problem(self) -> str:
        """What is wrong with the flow table, as a phrase; empty if nothing is."""
        currents = [point[0] for point in self.flow]
        if len(currents) < 2 or any(b <= a for a, b in pairwise(currents)):
            return (
                f"flow must have at least two points of increasing current, got currents {currents}"
            )
        speeds = [point[1] for point in self.flow]
        if any(b < a for a, b in pairwise(speeds)):
            return f"flow must not fall with the current, got speeds {speeds}"
        return ""

    def opening(self, speed: float) -> float:
        """Spool position [A] that gives the unloaded piston a speed; the middle where many do."""
        currents, speeds = np.array(self.flow).T
        one_edge = np.interp(speed, speeds, currents)
        other_edge = np.interp(-speed, -speeds[::-1], currents[::-1])
        return float(0.5 * (one_edge + other_edge))


@dataclass(frozen=True)
class Circuit:
    """Valve and oil; lengths and forces for a cylinder, angles and torques for a vane motor.

    Attributes:
        valve: The servovalve.
        compliance: Stroke per force of the oil [m/N or rad/(N m)].
        leakage: Speed lost per force [m/(N s) or rad/(N m s)].
    """

    valve: Valve
    compliance: Positive
    leakage: Share


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

    row: Any
    drive: Any
    compliance: Any
    leakage: Any
    flow: Any
    spool: Any


def packed(
    circuits: Sequence[Circuit], rows: Sequence[int], drives: Sequence[int], tick: float
) -> Cylinders:
    """Pack circuits for a simulation with steps of a tick [s]."""
    c = len(circuits)
    points = max((len(x.valve.flow) for x in circuits), default=2)
    compliance, leakage = np.zeros(c), np.zeros(c)
    flow = np.zeros((c, points, 2))
    spool = np.zeros((c, 2, 3))
    for k, circuit in enumerate(circuits):
        table = np.array(circuit.valve.flow)
        flow[k] = table[-1]
        flow[k, : len(table)] = table
        spool[k] = spool_response(circuit.valve, tick / 2)
        compliance[k] = circuit.compliance
        leakage[k] = circuit.leakage
    return Cylinders(
        row=np.array(rows, dtype=np.int64),
        drive=np.array(drives, dtype=np.int64),
        compliance=compliance,
        leakage=leakage,
        flow=flow,
        spool=spool,
    )


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


@compiled
def move_spools(drive: Any, flow: Any, spool: Any, current: Any, valves: Any, Q: Any) -> None:
    """Move the spools over a tick; writes their flow Q, (c,), in its middle.

    valves, (c, 2), are the positions and speeds of the spools.
    """
    for c in range(drive.shape[0]):
        i = current[drive[c]]
        move_half_a_tick(spool, c, valves, i)
        Q[c] = no_load_speed(flow, c, valves[c, 0])
        move_half_a_tick(spool, c, valves, i)


@inlined
def move_half_a_tick(spool: Any, c: int, valves: Any, i: float) -> None:
    """Position and speed of the spool of cylinder c after half a tick of current i."""
    before = (valves[c, 0], valves[c, 1], i)
    for k in range(2):
        row = (spool[c, k, 0], spool[c, k, 1], spool[c, k, 2])
        valves[c, k] = dot(row, before)


@inlined
def no_load_speed(flow: Any, c: int, x: float) -> float:
    """Speed of the unloaded piston of cylinder c at spool position x.

    Linear between the points of the flow, constant outside them.
    """
    last = flow.shape[1] - 1
    speed = flow[c, 0, 1] if x < flow[c, 0, 0] else flow[c, last, 1]
    for k in range(last):
        low, high = flow[c, k, 0], flow[c, k + 1, 0]
        slow, fast = flow[c, k, 1], flow[c, k + 1, 1]
        if low <= x < high:
            speed = slow + (fast - slow) * (x - low) / (high - low)
    return speed


@inlined
def cylinder(
    compliance: float, leakage: float, F: float, Q: float, w: float, h: float
) -> tuple[float, float]:
    """Torque the cylinder takes over a step h at speed w, below 0 where it pushes; its slope."""
    soft = compliance + 0.5 * h * leakage
    half_way = F + 0.5 * h * (Q - w - leakage * F) / soft
    return -half_way, 0.5 * h / soft


@inlined
def pressed(compliance: float, leakage: float, F: float, Q: float, w: float, h: float) -> float:
    """Force of the cylinder after a step h with the speed w half way."""
    soft = compliance + 0.5 * h * leakage
    return F + h * (Q - w - leakage * F) / soft

"""A hydraulic drive: servovalve, oil, piston or vane.

    x_v'' = ω² (i(t - delay) - x_v) - 2 damping ω x_v',   compliance F' = Q(x_v) - x' - leakage F

x is the stroke of a cylinder [m] or the angle of a vane motor [rad], F its force [N] or torque [N m].
Friction of the piston and its controller are groups of their own.

Over a step the valve answers exactly to the current of its middle; oil and arm are solved together, with
the force and the speed half way:

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

ValveRate = Annotated[float, Unit("rad/s", above=0)]


@dataclass(frozen=True)
class Valve:
    """Servovalve: second-order spool with delay, and its measured flow.

    Attributes:
        frequency: Natural frequency ω of the spool [rad/s].
        damping: Relative damping of the spool.
        delay: Delay of the electronics [s].
        current_limit: Largest current [A].
        flow: Points of spool position [A] and speed of the unloaded piston [m/s or rad/s], increasing.
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
        """Spool position [A] that lets a flow for this piston speed pass; the middle where many do."""
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
        spool: Spool position and speed after half a tick, per position, speed and current, (c, 2, 3).
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
    flow = np.zeros((c, points, 2))
    for k, circuit in enumerate(circuits):
        table = np.array(circuit.valve.flow)
        flow[k] = table[-1]
        flow[k, : len(table)] = table
    return Cylinders(
        row=np.array(rows, dtype=np.int64),
        drive=np.array(drives, dtype=np.int64),
        compliance=np.array([x.compliance for x in circuits], dtype=np.float64),
        leakage=np.array([x.leakage for x in circuits], dtype=np.float64),
        flow=flow,
        spool=np.array([spool_response(x.valve, tick / 2) for x in circuits]).reshape(c, 2, 3),
    )


def spool_response(valve: Valve, time: float) -> Floats:
    """Position and speed of a spool after a time of a steady current, (2, 3): per position, speed, current."""
    from scipy.linalg import expm

    w = valve.frequency
    rates = np.array([[0.0, 1.0, 0.0], [-w * w, -2 * valve.damping * w, w * w], [0.0, 0.0, 0.0]])
    return np.asarray(expm(rates * time)[:2], dtype=np.float64)


@compiled
def move_spools(drive: Any, flow: Any, spool: Any, current: Any, valves: Any, Q: Any) -> None:
    """Move the spools over a tick; writes their flow in its middle. valves, (c, 2), are their positions and speeds."""
    for c in range(drive.shape[0]):
        i = current[drive[c]]
        for half in range(2):
            x, v = valves[c, 0], valves[c, 1]
            valves[c, 0] = spool[c, 0, 0] * x + spool[c, 0, 1] * v + spool[c, 0, 2] * i
            valves[c, 1] = spool[c, 1, 0] * x + spool[c, 1, 1] * v + spool[c, 1, 2] * i
            if half == 0:
                Q[c] = no_load_speed(flow, c, valves[c, 0])


@inlined
def no_load_speed(flow: Any, c: int, x: float) -> float:
    """Speed of the unloaded piston of cylinder c at spool position x: linear between the points, held outside."""
    last = flow.shape[1] - 1
    speed = flow[c, 0, 1] if x < flow[c, 0, 0] else flow[c, last, 1]
    for k in range(last):
        low, high = flow[c, k, 0], flow[c, k + 1, 0]
        if low <= x < high:
            speed = flow[c, k, 1] + (flow[c, k + 1, 1] - flow[c, k, 1]) * (x - low) / (high - low)
    return speed


@inlined
def cylinder(
    compliance: float, leakage: float, F: float, Q: float, w: float, h: float
) -> tuple[float, float]:
    """Torque that the cylinder takes (less than 0 where it pushes) over a step h at speed w, and its slope."""
    soft = compliance + 0.5 * h * leakage
    return -(F + 0.5 * h * (Q - w - leakage * F) / soft), 0.5 * h / soft


@inlined
def pressed(compliance: float, leakage: float, F: float, Q: float, w: float, h: float) -> float:
    """Force of the cylinder after a step h with the speed w half way."""
    soft = compliance + 0.5 * h * leakage
    return F + h * (Q - w - leakage * F) / soft

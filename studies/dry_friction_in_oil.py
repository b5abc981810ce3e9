"""Dry friction of a piston put into the linear model of its drive, by two methods.

Folded into the flow: a piston that moves has lost `leakage level` of its unloaded speed,

    Q'(x_v) = sign(Q) max(|Q(x_v)| - leakage level, 0)

exact at low frequencies, where speed and flow have the same sign. As a describing function: of a
sinusoidal speed of amplitude v̂ the first harmonic of dry friction is that of a viscous one,

    B_d = 4 level / (π v̂)

Ref: [Machielsen 1983, appendix C], [Merritt 1967]
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np

from armtwin.drives.hydraulics import Circuit
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Pair


def with_folded_friction(circuit: Circuit, level: float) -> Circuit:
    """The circuit with the dry friction of its piston in its flow table.

    Args:
        circuit: The circuit.
        level: Dry friction of the piston [N or N m].
    """
    oil = circuit.oil
    lost = oil.leakage * level
    points = [tuple(point) for point in oil.flow.tolist()]
    edges: list[Pair] = []
    for (x0, s0), (x1, s1) in pairwise(points):
        edges.append((x0, s0))
        for speed in (-lost, lost):
            if s0 < speed < s1:
                edges.append((x0 + (x1 - x0) * (speed - s0) / (s1 - s0), speed))
    edges.append(points[-1])
    flow = []
    for x, speed in edges:
        flow.append((float(x), float(np.sign(speed) * max(abs(speed) - lost, 0.0))))
    return replace(circuit, valve=replace(circuit.valve, flow=tuple(flow)))


def describing_viscous(level: float, amplitude: float) -> float:
    """Viscous friction with the first harmonic of a dry one at a sinusoidal speed [N s/m].

    Args:
        level: Dry friction [N or N m].
        amplitude: Amplitude of the speed [m/s or rad/s].
    """
    if not amplitude > 0:
        raise ArmtwinError(f"amplitude must be a speed greater than 0, got {amplitude}")
    return 4 * level / (np.pi * amplitude)

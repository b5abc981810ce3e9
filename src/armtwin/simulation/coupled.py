"""A run that is coupled to a partner outside, set-point by set-point.

At each set-point the partner is told time, positions and speeds of the links, and gives torques on
the joints, which act until the next one.
"""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.simulation.lanes import Lanes
from armtwin.simulation.loop import FINISHED
from armtwin.simulation.partner import Partner
from armtwin.simulation.prepared import Ended, PreparedRun
from armtwin.simulation.traced_loop import driven, kernel_of


def run_coupled(run: PreparedRun, partner: Partner, first: Floats) -> Ended:
    """Run it with a partner: how, when and where it ended.

    Args:
        run: A run made ready with outside torques for every set-point.
        partner: From time [s], positions and speeds of the links, (n,) each, to torques on the
            joints, (n,) [N m].
        first: What the partner gave for the first set-point.
    """
    kernel = kernel_of(run.structure)
    if kernel is None:
        raise ArmtwinError(
            f"robot '{run.robot.name}': cannot be coupled to a partner; hydraulic drives, levers, "
            "gyroscopic rotors and switching friction run without one"
        )
    lanes = Lanes(kernel.memory, [run], 1)
    c, link = run.controller, run.coordinates.link
    period = c.tick * c.setpoint_ticks
    u, v = lanes.view("u")[0], lanes.view("v")[0]
    torque, tick = first, 0
    for k in range(len(run.inputs.ref)):
        if k > 0:
            torque = partner(k * period, u[link].copy(), v[link].copy())
        acting = run.coordinates.on_links(np.asarray(torque, dtype=np.float64))
        run.inputs.external[k : k + 2] = acting  # until the next set-point, where it is set again
        last = min((k + 1) * c.setpoint_ticks, run.inputs.ticks)
        tick = driven(kernel, lanes, k * c.setpoint_ticks, last)
        if lanes.ended[0, 0] != FINISHED:
            break
    how, where = lanes.ended[0]
    lanes.finish(0)
    return int(how), tick, int(where)

"""How identifications show themselves in Python and notebooks: torques, and parameters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from armtwin.identification.fitting.table import FittedParameter
from armtwin.maths.batch import Floats
from armtwin.report.figures import BLUE, RED, Panel, chosen_axes, draw_panels, legend, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PARAMETER_WIDTH = 0.18  # room of a parameter's name [inch]
LEAST_WIDTH = 6.0  # of a figure [inch]


def draw_torques(
    time: Floats,
    measured: Floats,
    predicted: Floats,
    joints: Sequence[str],
    axes: Axes | Sequence[Axes] | None = None,
) -> list[Axes]:
    """Draw measured and predicted torque of each joint, and what is between them.

    Args:
        time: Times of the samples, (m,) [s].
        measured: Measured torque, (m, n) [N m].
        predicted: Predicted torque, (m, n) [N m].
        joints: Names of the joints, (n,).
        axes: One for each joint; new ones where none are given.
    """
    panels = []
    for j, name in enumerate(joints):
        tau, tau_hat = measured[:, j], predicted[:, j]
        lines = {"measured": tau, "predicted": tau_hat, "residual": tau - tau_hat}
        panels.append(Panel(f"{name} [N m]", lines))
    return draw_panels(time, "time [s]", panels, axes)


def draw_parameters(
    parameters: Sequence[FittedParameter], sizes: Floats, axes: Axes | None = None
) -> Axes:
    """Draw prior and identified values with their standard deviations, over the prior's sizes.

    Args:
        parameters: The parameters.
        sizes: How large each of them is about, (p,), in its own unit.
        axes: One; a new one where none is given.
    """
    (axis,) = chosen_axes(axes, 1, max(LEAST_WIDTH, PARAMETER_WIDTH * len(parameters)))
    places = np.arange(len(parameters))
    prior = np.array([x.prior for x in parameters]) / sizes
    value = np.array([x.value for x in parameters]) / sizes
    deviation = np.array([x.std for x in parameters]) / sizes
    axis.plot(places, prior, color=RED, marker="o", fillstyle="none", linestyle="", label="prior")
    axis.errorbar(
        places, value, deviation, color=BLUE, marker=".", linestyle="", label="identified ± std"
    )
    axis.set_xticks(places, [plain(x.name) for x in parameters], rotation=90, fontsize="small")
    axis.set_ylabel("value / size of the prior [-]")
    axis.grid(alpha=0.3)
    legend(axis)
    return axis

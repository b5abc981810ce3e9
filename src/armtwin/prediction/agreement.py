"""How well a measured and a predicted quantity agree.

share explained    = 1 - ‖measured - predicted‖ / ‖measured‖
variance explained = 1 - var(measured - predicted) / var(measured)
"""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import NamedTuple

import numpy as np

from armtwin.logs.joints import has_joint_torque, joint_torque
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, Names
from armtwin.maths.interpolation import interpolate_columns
from armtwin.notebook.numbers import MICROMETRES, MILLIDEGREES, NEWTON_METRES, PERCENT, Number
from armtwin.notebook.sections import Column, Table
from armtwin.robot.robot import Robot

NUMBERS = {
    "rad": MILLIDEGREES,
    "m": Number(MICROMETRES.scale, MICROMETRES.unit),
    "N m": NEWTON_METRES,
}


class Series(NamedTuple):
    """A quantity by name with its unit, measured and predicted, (2, m)."""

    name: str
    unit: str
    pair: Floats


def pair_joints(
    names: Names, what: str, unit: str, measured: Floats, predicted: Floats
) -> Iterator[Series]:
    """A quantity of each joint, from its columns of two tables (m, n)."""
    for name, *pair in zip(names, measured.T, predicted.T, strict=True):
        yield Series(f"{name} {what}", unit, np.stack(pair))


def pair_torques(
    robot: Robot, log: Log, rows: Flags, simulated: Log, time: Floats
) -> tuple[list[Series], str]:
    """Torques of the joints in rows of a log, and simulated ones at times (m,); their channel.

    Nothing and "" of a log without torques.
    """
    if not has_joint_torque(robot, log):
        return [], ""
    torque, source = joint_torque(robot, log)
    predicted = interpolate_columns(time, simulated.time, simulated.tau)
    pairs = pair_joints(robot.joint_names, "torque", "N m", torque[rows], predicted)
    return [*pairs], source


@dataclass(frozen=True)
class Agreement:
    """One quantity, measured and predicted.

    Attributes:
        name: "joint_1 error", "lateral", "joint_1 torque", ...
        unit: Its SI unit.
        rms_measured: Root mean square of the measured values.
        peak_measured: Largest measured magnitude.
        rms_predicted: Root mean square of the predicted values.
        peak_predicted: Largest predicted magnitude.
        rms_difference: Root mean square of measured minus predicted.
        share_explained: 1 - ‖measured - predicted‖ / ‖measured‖; negative where the prediction is
            worse than none.
        variance_explained: 1 - var(measured - predicted) / var(measured); a constant counts for
            nothing.
    """

    name: str
    unit: str
    rms_measured: float
    peak_measured: float
    rms_predicted: float
    peak_predicted: float
    rms_difference: float
    share_explained: float
    variance_explained: float


def agreement(series: Series) -> Agreement:
    """How well a quantity agrees."""
    measured, predicted = series.pair
    size = _rms(measured)
    gap = _rms(measured - predicted)
    spread = float(np.var(measured))
    left = float(np.var(measured - predicted))
    return Agreement(
        name=series.name,
        unit=series.unit,
        rms_measured=size,
        peak_measured=float(np.abs(measured).max()),
        rms_predicted=_rms(predicted),
        peak_predicted=float(np.abs(predicted).max()),
        rms_difference=gap,
        share_explained=1 - gap / size if size > 0 else float("nan"),
        variance_explained=1 - left / spread if spread > 0 else float("nan"),
    )


def _rms(values: Floats) -> float:
    return float(np.sqrt(np.mean(values**2)))


def agreement_table(rows: Sequence[Agreement], predicted: str, explained: str) -> Table:
    """How well quantities agree, a row for each.

    Args:
        rows: The quantities.
        predicted: What predicted numbers are called in the heads of columns.
        explained: Which share is shown, "share_explained" or "variance_explained".
    """
    columns = (
        Column("name", "", words=lambda x: f"{x['name']} [{NUMBERS[x['unit']].unit}]"),
        _number("rms_measured", "rms log"),
        _number("rms_predicted", f"rms {predicted}"),
        _number("peak_measured", "peak log"),
        _number("peak_predicted", f"peak {predicted}"),
        _number("rms_difference", "rms diff."),
        Column(explained, "explained", PERCENT),
    )
    return Table(columns, [asdict(row) for row in rows], "comparison.rows")


def _number(key: str, head: str) -> Column:
    """A column whose numbers are written in the unit of their record."""
    return Column(key, head, Number(), words=lambda x: NUMBERS[x["unit"]].text(x[key]))

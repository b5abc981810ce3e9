"""Least squares of the twist: one time offset for all joints, a compliance for each elastic one.

Joints count by their residual, and have a constant in each log.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from armtwin.identification.fitting.estimate import RowNoise, fit
from armtwin.identification.transmission.twist_rows import TwistRows
from armtwin.maths.batch import Floats, TwoArrays


class Coefficient(NamedTuple):
    """A coefficient of each joint, (k,), 0 where it has none.

    Attributes:
        value: The coefficients.
        std: Their standard deviations.
        half: Half widths of their 95 % intervals.
        least: What they exceed with 95 % confidence.
    """

    value: Floats
    std: Floats
    half: Floats
    least: Floats


@dataclass(frozen=True, eq=False)
class TwistFit:
    """Time offset, compliances and gaps.

    Attributes:
        offset: Time by which the link encoders are late, d [s].
        offset_std: Its standard deviation [s].
        offset_half: Half width of its 95 % interval [s].
        compliance: 1 / K of each joint [rad/(N m)].
        gap: Half of the lost motion of each joint [rad].
        extra: Coefficients of further columns.
    """

    offset: float
    offset_std: float
    offset_half: float
    compliance: Coefficient
    gap: Coefficient
    extra: Coefficient

    def left(self, rows: TwistRows) -> Floats:
        """Twist that is not explained, each log's constant removed, (m, k) [rad]."""
        spring = self.compliance.value * rows.load + self.gap.value * rows.side
        residual = rows.twist - self.offset * rows.late - spring
        for number in np.unique(rows.log):
            here = rows.log == number
            residual[here] -= residual[here].mean(axis=0)
        return residual


def fit_twist(
    rows: TwistRows,
    elastic: Sequence[int],
    loose: Sequence[int] = (),
    extra: Sequence[tuple[int, Floats]] = (),
) -> TwistFit:
    """Fit the twist.

    Args:
        rows: The samples.
        elastic: Joints that have a compliance.
        loose: Joints that have lost motion.
        extra: Further columns: the joint and what its twist may be proportional to, (m,).
    """
    found = fit(*_system(rows, elastic, loose, extra), noise=RowNoise(rows.block), used=rows.moving)
    table = np.array([found.values, found.std, found.half_width, found.least])
    springs, gaps = 1 + len(elastic), 1 + len(elastic) + len(loose)
    return TwistFit(
        offset=float(table[0, 0]),
        offset_std=float(table[1, 0]),
        offset_half=float(table[2, 0]),
        compliance=_of_joints(rows, elastic, table[:, 1:springs]),
        gap=_of_joints(rows, loose, table[:, springs:gaps]),
        extra=Coefficient(*table[:, gaps:]),
    )


def _of_joints(rows: TwistRows, joints: Sequence[int], table: Floats) -> Coefficient:
    """Coefficients (4, ...) of chosen joints among all."""
    every = np.zeros((4, rows.joints))
    every[:, list(joints)] = table
    return Coefficient(*every)


def _system(
    rows: TwistRows,
    elastic: Sequence[int],
    loose: Sequence[int],
    extra: Sequence[tuple[int, Floats]],
) -> TwoArrays:
    """Columns (m, k, p) and twist (m, k), the means of each log's moving samples removed."""
    columns = [(j, rows.load[:, j]) for j in elastic]
    columns += [(j, rows.side[:, j]) for j in loose]
    columns += extra
    X = np.zeros((*rows.twist.shape, 1 + len(columns)))
    X[:, :, 0] = rows.late
    for place, (j, column) in enumerate(columns, 1):
        X[:, j, place] = column
    y = rows.twist.copy()
    for j in range(rows.joints):
        for number in np.unique(rows.log):
            here = rows.moving[:, j] & (rows.log == number)
            X[here, j] -= X[here, j].mean(axis=0)
            y[here, j] -= y[here, j].mean()
    return X, y

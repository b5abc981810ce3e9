"""Steady friction of all elements as columns: torque per coefficient, along each element's row."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.maths.batch import Floats
from armtwin.robot.drive_groups import FrictionElement
from armtwin.robot.rows import Row

Elements = Iterable[tuple[FrictionElement, Row]]


class Columns(NamedTuple):
    """What one friction element adds to the regressor.

    Attributes:
        row: Row along which it acts, (m or 1, n).
        columns: Torque per coefficient, (m, k).
        values: The coefficients, (k,).
    """

    row: Floats
    columns: Floats
    values: Floats


def friction_columns(friction: Elements, v: Floats, q: Floats | None) -> Iterator[Columns]:
    """Columns of all friction elements in the parameters' order."""
    for element, row in friction:
        acting = np.multiply.outer(row.lever(q), row.weights)
        w = (v * acting).sum(axis=-1)
        columns = [element.law.columns(w)]
        values = list(coefficients(element.law).values())
        if element.negative is not None:
            columns = [
                columns[0] * (w > 0)[:, None],
                element.negative.columns(w) * (w < 0)[:, None],
            ]
            values += coefficients(element.negative).values()
        if element.offset is not None:
            columns.append(np.ones((len(w), 1)))
            values.append(element.offset)
        yield Columns(np.atleast_2d(acting), np.concatenate(columns, axis=1), np.array(values))

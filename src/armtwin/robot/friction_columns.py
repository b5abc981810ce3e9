"""Friction of all elements as columns: torque per coefficient, along each element's row.

Steady sliding; with the bend of an element's contact, -1 to 1, its dry friction is that share of
what it is while sliding.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.laws import Law
from armtwin.maths.batch import Floats
from armtwin.robot.drive_groups import FrictionElement
from armtwin.robot.rows import Row

SLOWEST = 1e-12  # speed at which a contact at rest is taken to start [rad/s]

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


def friction_columns(
    friction: Elements, v: Floats, q: Floats | None, bends: Floats | None = None
) -> Iterator[Columns]:
    """Columns of all friction elements in the parameters' order.

    Args:
        friction: The elements and their rows.
        v: Joint speeds, (m, n).
        q: Joint positions (m, n), where a linkage needs them.
        bends: Share of its dry friction that each element bears, -1 to 1, nan for those that bear
            all of it in the direction of their speed, (m, elements).
    """
    for e, (element, row) in enumerate(friction):
        lever = row.lever(q)
        acting = np.multiply.outer(lever, row.weights)
        w = lever * (v @ row.weights)
        columns = [element.law.columns(w)]
        if bends is not None and not np.isnan(bends[0, e]):
            columns = [bent_columns(element.law, w, bends[:, e])]
        values = list(coefficients(element.law).values())
        if element.negative is not None:  # a law of two sides has no memory
            columns = [
                columns[0] * (w > 0)[:, None],
                element.negative.columns(w) * (w < 0)[:, None],
            ]
            values += coefficients(element.negative).values()
        if element.offset is not None:
            columns.append(np.ones((len(w), 1)))
            values.append(element.offset)
        yield Columns(np.atleast_2d(acting), np.concatenate(columns, axis=1), np.array(values))


def bent_columns(law: Law, w: Floats, bend: Floats) -> Floats:
    """Columns (m, k) of a law at speeds w (m,), its dry ones times a bend (m,) of either sign."""
    columns = np.asarray(law.columns(w), dtype=np.float64)
    ahead = law.columns(np.maximum(np.abs(w), SLOWEST))
    for k, (name, _) in enumerate(law.coefficients):
        if name in law.dry:
            columns[:, k] = bend * ahead[:, k]
    return columns

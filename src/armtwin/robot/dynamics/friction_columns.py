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
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.schema.drive_groups import FrictionElement

POINTS = 8  # speeds over which columns are averaged near a reversal
_SPREAD = (np.arange(POINTS) + 0.5) / POINTS * 2 - 1
SLOWEST = 1e-12  # speed at which a contact at rest is taken to start [rad/s]

Elements = Iterable[tuple[FrictionElement, Row]]


class FrictionColumns(NamedTuple):
    """What one friction element adds to the regressor.

    Attributes:
        row: Row along which it acts, (m or 1, n).
        columns: Torque per coefficient, (m, k).
        element: The element.
    """

    row: Floats
    columns: Floats
    element: FrictionElement

    @property
    def values(self) -> Floats:
        """The coefficients, (k,)."""
        values = list(coefficients(self.element.law).values())
        if self.element.negative is not None:
            values += coefficients(self.element.negative).values()
        if self.element.offset is not None:
            values.append(self.element.offset)
        return np.array(values)


class ContactStates(NamedTuple):
    """What is known of contacts beside the speeds of the joints.

    Attributes:
        bends: Share of its dry friction that each element bears, -1 to 1, nan for those that bear
            all of it in the direction of their speed, (m, elements); None where all do.
        doubt: What a joint's speed may have been more, or less, in that direction, (m, n) [rad/s].
            Near a reversal columns are the mean over these speeds. None where speeds are exact.
    """

    bends: Floats | None = None
    doubt: Floats | None = None


SURE = ContactStates()


def friction_columns(
    friction: Elements, v: Floats, q: Floats | None, contacts: ContactStates = SURE
) -> Iterator[FrictionColumns]:
    """Columns of all friction elements in the parameters' order.

    Args:
        friction: The elements and their rows.
        v: Joint speeds, (m, n).
        q: Joint positions (m, n), where a linkage needs them.
        contacts: What is known of the contacts.
    """
    bends, doubt = contacts
    for e, (element, row) in enumerate(friction):
        lever = row.lever(q)
        acting = np.multiply.outer(lever, row.weights)
        w = lever * (v @ row.weights)
        bend = None
        if bends is not None and not np.isnan(bends[0, e]):
            bend = bends[:, e]
        columns = _element_columns(element, w, bend)
        if doubt is not None:
            size = np.abs(lever) * (np.abs(doubt) @ np.abs(row.weights))
            near = np.flatnonzero(np.abs(w) < 2 * size)
            shift = np.asarray(lever * (doubt @ row.weights))
            here = None if bend is None else bend[near]
            columns[near] = _mean_columns(element, w[near], shift[near], here)
        yield FrictionColumns(np.atleast_2d(acting), columns, element)


def friction_over_motion(
    friction: Elements, v: Floats, q: Floats | None, contacts: ContactStates = SURE
) -> Floats:
    """Friction torque of elements on the joints along a motion, (m, n); arguments as above."""
    tau = np.zeros_like(v)
    for found in friction_columns(friction, v, q, contacts):
        tau += (found.columns @ found.values)[:, None] * found.row
    return tau


def _element_columns(element: FrictionElement, w: Floats, bend: Floats | None) -> Floats:
    """Columns (m, k) of an element at speeds w (m,), with its deflection (m,) before sliding."""
    if bend is None:
        columns = [element.law.columns(w)]
    else:
        columns = [presliding_columns(element.law, w, bend)]
    if element.negative is not None:  # a law of two sides has no memory
        columns = [columns[0] * (w > 0)[:, None], element.negative.columns(w) * (w < 0)[:, None]]
    if element.offset is not None:
        columns.append(np.ones((len(w), 1)))
    return columns[0] if len(columns) == 1 else np.concatenate(columns, axis=1)


def _mean_columns(
    element: FrictionElement, w: Floats, shift: Floats, bend: Floats | None
) -> Floats:
    """Columns (m, k) of an element, their mean over speeds within w ± shift, (m,) each."""
    speeds = w + _SPREAD[:, None] * shift
    repeated = None if bend is None else np.tile(bend, POINTS)
    every = _element_columns(element, speeds.reshape(-1), repeated)
    return every.reshape(POINTS, len(w), every.shape[1]).mean(axis=0)


def presliding_columns(law: Law, w: Floats, bend: Floats) -> Floats:
    """Columns (m, k) of a law at speeds w (m,), its dry ones times a signed deflection (m,)."""
    columns = np.asarray(law.columns(w), dtype=np.float64)
    ahead = sliding_columns(law, w)
    for k, (name, _) in enumerate(law.coefficients):
        if name in law.dry:
            columns[:, k] = bend * ahead[:, k]
    return columns


def sliding_columns(law: Law, w: Floats) -> Floats:
    """Columns (m, k) of a law that slides ahead at the size of speeds w (m,), however slowly."""
    return np.asarray(law.columns(np.maximum(np.abs(w), SLOWEST)), dtype=np.float64)

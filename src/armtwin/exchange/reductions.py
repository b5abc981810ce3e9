"""Friction and struts of the twin as MuJoCo has them, fitted, with what the fit leaves.

A LuGre element of MuJoCo has the dry friction g(w) = F_c + (F_s - F_c) exp(-(w / v_s)²). Several of
them on one row add up to any smooth curve: with Stribeck speeds v_s on a grid their levels are
linear and at least 0, and so is the damping d₁ |w| + d₂ w² + d₃ |w|³.

Ref: [Waiboer 2007, eq. 3.69-3.72]
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.polynomial import Polynomial

from armtwin.drives.balancers import SpringForce, Strut
from armtwin.drives.friction.curves import read_table, tabulate_parts
from armtwin.drives.linkage import turn_table
from armtwin.maths.batch import Floats, Numbers, TwoArrays, Values
from armtwin.robot.robot import Robot
from armtwin.simulation.plant import C0, C1, HELD, HELD_BACK, OFFSET, SCALE, Friction, Plant

FrictionForm = Literal["lugre", "frictionloss", "off"]

DECADES = 6  # of speed below the fastest that the fit covers
A_DECADE = 40  # speeds in each
SPEEDS_A_DECADE = 2  # Stribeck speeds in each
LEAST_SHARE = 1e-6  # of the largest torque from which an element counts
STIFF = 1e3  # of the bristles in place of friction without pre-sliding
STRUT_ANGLES = 400  # at which the springs of a strut are fitted
ROUNDING = 1e-9  # imaginary part of a real root
LEAST_WEIGHT = 1e-3  # of the largest torque below which the fit is absolute


class Bristle(NamedTuple):
    """A LuGre element as MuJoCo has it: stiffness, damping, both levels and the Stribeck speed."""

    stiffness: float
    damping: float
    coulomb: float
    static: float
    speed: float


@dataclass(frozen=True, eq=False)
class RowFriction:
    """Friction along a row of the coordinates as MuJoCo has it.

    Attributes:
        row: Number of the row.
        bristles: LuGre elements that act side by side.
        loss: Dry friction without pre-sliding [N m or N].
        damping: Torque per speed, its square and its cube, (3,).
        offset: Torque that does not depend on speed [N m or N].
    """

    row: int
    bristles: tuple[Bristle, ...]
    loss: float
    damping: Floats
    offset: float

    def split(self, w: Floats, least: float = 0.0) -> TwoArrays:
        """Dry and viscous part at speeds w >= 0, the dry one at least a share of its largest."""
        dry = np.full(np.shape(w), self.loss)
        for b in self.bristles:
            dry += b.coulomb + (b.static - b.coulomb) * np.exp(-((w / b.speed) ** 2))
        floor = least * sum((max(b.coulomb, b.static) for b in self.bristles), self.loss)
        wet = np.stack([w, w**2, w**3], axis=-1) @ self.damping
        return np.maximum(dry, floor), np.asarray(wet)


def fit_friction(friction: Friction, form: FrictionForm) -> tuple[RowFriction, ...]:
    """Friction elements of a plant in a form of MuJoCo, both directions as their mean."""
    if form == "off" or not friction.kind:
        return ()
    fitted = []
    for row, curves, numbers in zip(*friction[:3], strict=True):
        fastest = 1 / numbers[SCALE]
        w = fastest * np.geomspace(10.0**-DECADES, 1.0, DECADES * A_DECADE)
        dry, wet = np.mean([read_table(side, numbers[SCALE], w) for side in curves], axis=0)
        bristles: tuple[Bristle, ...] = ()
        level = 0.0
        if form == "lugre" and numbers[C0] > 0:
            bristles, damping = _fit_bristles(w, dry + wet, numbers[[C0, C1]])
        else:
            level, *powers = _fit(np.ones((len(w), 1)), w, dry + wet, np.sqrt(w)).tolist()
            damping = np.array(powers)
        fitted.append(RowFriction(int(row), bristles, level, damping, float(numbers[OFFSET])))
    return tuple(fitted)


def _least(torque: Floats) -> Floats:
    """Torques, none of them smaller than a share of the largest."""
    return np.maximum(torque, LEAST_WEIGHT * torque.max())


def _fit(columns: Floats, w: Floats, torque: Floats, weight: Floats | float = 1.0) -> Floats:
    """Coefficients >= 0 of columns and of the three powers of speed, relative least squares."""
    from scipy.optimize import nnls

    scale = (weight / _least(torque))[:, None]
    powers = np.stack([w, w**2, w**3], axis=1)
    found, _ = nnls(np.hstack([columns, powers]) * scale, torque * scale[:, 0], maxiter=10_000)
    return np.asarray(found)


def _fit_bristles(
    w: Floats, torque: Floats, stiffness_and_damping: Floats
) -> tuple[tuple[Bristle, ...], Floats]:
    """LuGre elements of a steady curve; each has the share of the stiffness it has of g."""
    speeds = w[-1] * np.geomspace(10.0**-DECADES, 1.0, DECADES * SPEEDS_A_DECADE + 1)
    fall = np.exp(-((w[:, None] / speeds) ** 2))
    found = _fit(np.hstack([fall, 1 - fall]), w, torque)
    k = len(speeds)
    static, coulomb = found[:k], found[k : 2 * k]
    used = static + coulomb > LEAST_SHARE * torque.max()
    dry = fall[:, used] * static[used] + (1 - fall[:, used]) * coulomb[used]
    share = np.mean(dry / dry.sum(axis=1)[:, None], axis=0)
    least = LEAST_SHARE * torque.max()
    bristles = []
    levels = zip(coulomb[used], static[used], speeds[used], share, strict=True)
    for level, start, speed, part in levels:
        c0, c1 = part * stiffness_and_damping
        numbers = (c0, c1, max(level, least), max(start, least), speed)
        bristles.append(Bristle(*map(float, numbers)))
    return tuple(bristles), found[2 * k :]


class StrutSpring(NamedTuple):
    """A strut as a spring between two pins and one about the joint, which share its torque.

        tension = a y + b y² + c y³ of y = L - free,   torque = the same of q - turn

    Attributes:
        free: Length at which the first is slack [m].
        stiffness: Its a, b, c.
        turn: Angle at which the second is slack [rad].
        turning: Its a, b, c; zeros where the first is exact.
        error: Largest error of the torque over the range of the joint [N m].
        largest: Largest torque of the strut there [N m].
    """

    free: float
    stiffness: Values
    turn: float
    turning: Values
    error: float
    largest: float


NO_TURNING = (0.0, 0.0, 0.0)


def fit_strut(strut: Strut, limits: Floats) -> StrutSpring | None:
    """The springs of a strut over a range of its joint, (2,) [rad].

    None where none fits that is slack at a length.
    """
    x = np.linspace(float(limits[0]), float(limits[1]), STRUT_ANGLES)
    torque, lever, length = strut.torque_at(x), strut.linkage.rate(x), strut.linkage.length(x)
    largest = float(np.abs(torque).max())
    if isinstance(strut.force, SpringForce):
        free = strut.force.length - strut.force.preload / strut.force.stiffness
        stiffness = strut.force.stiffness, 0.0, 0.0
        straight = StrutSpring(free, stiffness, 0.0, NO_TURNING, 0.0, largest)
        return straight if free >= 0 else None
    pull, turn = _share(length), _share(x)
    powers = np.arange(4)
    stretches = lever[:, None] * pull(length)[:, None] ** powers
    turns = turn(x)[:, None] ** powers
    found = np.linalg.lstsq(np.hstack([stretches, turns]), torque)[0]
    stretched = _from_its_root(Polynomial(found[:4])(pull), float(length.mean()), 0.0)
    twisted = _from_its_root(Polynomial(found[4:])(turn), float(x.mean()), -np.inf)
    if stretched is None or twisted is None:
        return None
    spring = StrutSpring(*stretched, *twisted, 0.0, largest)
    error = float(np.abs(strut_torque(strut, spring, x) - torque).max())
    return spring._replace(error=error)


def _share(values: Floats) -> Polynomial:
    """What turns values into shares of their range, -1 to 1."""
    middle, half = float(np.mean(values)), float(np.ptp(values)) / 2
    return Polynomial([-middle / half, 1 / half])


def _from_its_root(cubic: Polynomial, middle: float, least: float) -> tuple[float, Values] | None:
    """The root of a cubic nearest to a place, and its coefficients from there on."""
    roots = []
    for root in cubic.roots().astype(complex).tolist():
        if abs(root.imag) < ROUNDING and root.real >= least:
            roots.append(root.real)
    if not roots:
        return None
    nearest = min(roots, key=lambda one: abs(one - middle))
    a, b, c = cubic(Polynomial([nearest, 1.0])).coef[1:4].tolist()
    return nearest, (a, b, c)


def reduce_friction(parts: Plant, fitted: Sequence[RowFriction]) -> Plant:
    """The plant of the twin with friction as it is fitted."""
    numbers, curves = parts.friction.numbers.copy(), parts.friction.curves.copy()
    for k, element in enumerate(fitted):
        scale = float(numbers[k, SCALE])
        split = partial(element.split, least=LEAST_SHARE)
        curves[k] = tabulate_parts(split, scale)
        if not element.bristles:
            numbers[k, [C0, C1]] *= STIFF
        numbers[k, [HELD, HELD_BACK]] = split(np.zeros(1))[0]
    return parts._replace(friction=parts.friction._replace(numbers=numbers, curves=curves))


def reduce_struts(parts: Plant, robot: Robot, fitted: Sequence[StrutSpring | None]) -> Plant:
    """The plant of the twin with struts as they are fitted."""
    tables = []
    for strut, spring in zip(robot.assembly.struts, fitted, strict=True):
        tables.append(turn_table(partial(strut_torque, strut, spring)))
    table = np.array(tables).reshape(parts.balancers.table.shape)
    return parts._replace(balancers=parts.balancers._replace(table=table))


def strut_torque(strut: Strut, spring: StrutSpring | None, x: Numbers) -> Any:
    """Torque of a strut as it is fitted, at angles of its joint; none where it is left out."""
    if spring is None:
        return 0 * x
    tension = _cubic(spring.stiffness, strut.linkage.length(x) - spring.free)
    return strut.linkage.rate(x) * tension + _cubic(spring.turning, x - spring.turn)


def _cubic(coefficients: Values, x: Numbers) -> Any:
    a, b, c = coefficients
    return a * x + b * x**2 + c * x**3

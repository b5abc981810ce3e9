"""The linear steps of document 000, as it did them, for one joint's mean friction at speeds > 0.

Section 3.2.2, the law of Armstrong-Hélouvry: exponent and Stribeck speed chosen by hand, the rest
by linear least squares. Section 3.6, the lubricated law:

    step 1   ln τ = (1 - δ_v) ln v + ln c_v on the speeds of 0.5 to 4.5 rad/s
    step 2   δ_a = δ_v, and the Stribeck speed where friction is least
    step 3   asperity and viscous friction by linear least squares on all speeds
    step 4   exponent and Stribeck speed by hand: here a nonlinear fit that starts from these

Errata: (3.58) has ln τ on its right-hand side. Step 1 leaves out asperities, which is fine for
joints 1 to 4 and biases model c of the wrist (viscous +11 %); for model b, whose shear has a limit,
it has no meaning. (3.53b) turns model c at twice the speed of the joints.

Ref: [Waiboer 2007, sections 3.2.2, 3.5.2, 3.6]
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from armtwin.drives.friction.coulomb import Stribeck
from armtwin.drives.friction.lubricated import GearedJoint
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Pair, TwoArrays, check_array
from armtwin.maths.quantities import Positive, Speed

EXPONENT, SPEED = 0.33, 0.024  # of section 3.2.2, found there by eye
VISCOUS_RANGE = (0.5, 4.5)  # speeds at which asperities are neglected [rad/s]
FASTEST = 0.3  # share of the speeds used as that range where they do not reach it
LEAST_POINTS = 3


def armstrong_steps(
    v: ArrayLike, tau: ArrayLike, *, exponent: Positive = EXPONENT, speed: Speed = SPEED
) -> Stribeck:
    """Static, Coulomb and viscous friction by linear least squares, their shape chosen. (3.6-3.9)

    Neither positivity nor static above Coulomb friction is enforced.

    Args:
        v: Speeds, (k,) [rad/s].
        tau: Mean friction torques at these speeds, (k,) [N m].
        exponent: Shape of the drop.
        speed: Stribeck speed [rad/s].
    """
    w, torque = _points(v, tau)
    shape = Stribeck(1.0, 1.0, speed, exponent, 1.0)
    level, static, viscous = np.linalg.lstsq(shape.columns(w), torque, rcond=None)[0]
    return Stribeck(float(level), float(static), speed, exponent, float(viscous))


def viscous_by_logarithms(v: ArrayLike, tau: ArrayLike) -> Pair:
    """Exponent δ_v and viscous friction c_v of fast motion alone (3.54-3.59)."""
    w, torque = _points(v, tau)
    low, high = VISCOUS_RANGE
    fast = (w >= low) & (w <= high)
    if fast.sum() < LEAST_POINTS:
        fast = w >= np.quantile(w, 1 - FASTEST)
    if fast.sum() < 2 or np.ptp(w[fast]) == 0:
        raise ArmtwinError("viscous friction needs two or more different high speeds")
    if torque[fast].min() <= 0:
        raise ArmtwinError(f"torques at high speeds must be above 0, got {torque[fast].min():g}")
    A = np.column_stack([np.log(w[fast]), np.ones(int(fast.sum()))])
    slope, logarithm = np.linalg.lstsq(A, np.log(torque[fast]), rcond=None)[0]
    return float(1 - slope), float(np.exp(logarithm))


def lubricated_steps(v: ArrayLike, tau: ArrayLike) -> GearedJoint:
    """The lubricated law by steps 1 to 3 (3.54-3.64).

    Args:
        v: Speeds of one direction, (m,) [rad/s].
        tau: Torques at them, (m,) [N m].
    """
    w, torque = _points(v, tau)
    viscous_exponent, _ = viscous_by_logarithms(w, torque)
    film = float(np.clip(viscous_exponent, 0.01, 0.99))
    means = _means(w, torque)
    speed = float(means.speed[np.argmin(means.torque)])
    shape = GearedJoint(1.0, speed, film, 1.0, film)
    asperity, viscous = np.linalg.lstsq(shape.columns(w), torque, rcond=None)[0]
    return GearedJoint(float(asperity), speed, film, float(viscous), film)


class Means(NamedTuple):
    """Means of the series at each speed.

    Attributes:
        speed: Speeds in their order, (s,) [rad/s].
        torque: Mean torques, (s,) [N m].
        spread: Standard deviation of the series, (s,) [N m]; nan of one series alone. The squares
            are divided by their number less one; the document's (3.65) divides by the number,
            which for three series gives 0.82 of it.
        series: How many series there are, (s,).
    """

    speed: Floats
    torque: Floats
    spread: Floats
    series: Floats


def _means(v: Floats, tau: Floats) -> Means:
    """Means over rows of the same speed, to a per cent."""
    order = np.argsort(v)
    parted = np.flatnonzero(np.diff(np.log(v[order])) > 0.01) + 1
    speed, torque, spread, series = [], [], [], []
    for rows in np.split(order, parted):
        speed.append(v[rows].mean())
        torque.append(tau[rows].mean())
        spread.append(tau[rows].std(ddof=1) if len(rows) > 1 else np.nan)
        series.append(float(len(rows)))
    return Means(np.array(speed), np.array(torque), np.array(spread), np.array(series))


def means_of_series(v: ArrayLike, tau: ArrayLike) -> Means:
    """Mean torque and spread of the series at each speed, both directions together (3.65)."""
    return _means(*_points(np.abs(v), np.sign(v) * np.asarray(tau)))


class WristCurves(NamedTuple):
    """Friction of the three models of a coupled wrist.

    Attributes:
        a: Friction of model a at the speeds, (k,) [N m].
        b: Friction of model b at the speeds, (k,) [N m].
        c: Friction of model c at twice the speeds, (k,) [N m].
    """

    a: Floats
    b: Floats
    c: Floats


def separated_wrist(against: ArrayLike, along: ArrayLike) -> WristCurves:
    """Models a, b, c from two runs at the same speeds v. (3.53)

        against   joints 5 and 6 at v and -v:   T5 = a + c₀,  T6 = -b + c₀,  c₀ anything: c at rest
        along     both at v:                    T5 = a + c,   T6 = b + c,    c turns at 2 v

    The differences T5 - T6 are free of c: a + b of the first run, a - b of the second.

    Args:
        against: Torques of joints 5 and 6 of the first run, (k, 2) [N m].
        along: Those of the second, (k, 2) [N m].
    """
    first = check_array("against", against, (len(np.atleast_1d(along)), 2), "torques", single=True)
    second = check_array("along", along, first.shape, "torques", single=True)
    total = first[:, 0] - first[:, 1]
    difference = second[:, 0] - second[:, 1]
    a = 0.5 * (total + difference)
    b = 0.5 * (total - difference)
    c = second.mean(axis=1) - 0.5 * (a + b)
    return WristCurves(a, b, c)


def _points(v: ArrayLike, tau: ArrayLike) -> TwoArrays:
    w = check_array("v", v, np.shape(v), "speeds")
    torque = check_array("tau", tau, np.shape(tau), "torques")
    if w.shape != torque.shape or w.ndim != 1 or len(w) < LEAST_POINTS:
        raise ArmtwinError(
            f"friction needs {LEAST_POINTS} or more speeds and as many torques, got {w.size} and "
            f"{torque.size}"
        )
    if not (w > 0).all():
        raise ArmtwinError(f"speeds must be above 0, got {w.min():g}")
    return w, torque

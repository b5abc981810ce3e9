"""Torque constants from a payload of known mass, where only currents were logged.

    i_with - i_without = (Z φ + c) / k        φ₁ = m known, the other nine free

Z are the flange's columns at the motors, c the difference of the two runs of the arm there. The
mass alone fixes the scale of all constants; a motor that the payload hardly loads stays uncertain.
A linear fit of k i - Z φ is the start, refined by Gauss-Newton on the currents, which carry the
noise.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.scatter import jackknife
from armtwin.identification.payload.difference import PARTS, SIZES, LoadRows
from armtwin.identification.payload.load_fit import LoadFit, quantile, wider
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.robot.robot import Robot

STEPS = 60
SAME = 1e-10
LARGEST = 0.3  # of the logarithm of a constant in a step
TRUSTED = 0.1  # relative deviation above which a constant is not identified


@dataclass(frozen=True, eq=False)
class DriveGain:
    """Torque constants of motors, or gains of joints where the robot file has no motors.

    Attributes:
        constants: Torque constants, (motors,) [N m/A].
        covariance: Of their logarithms, (motors, motors).
        widths: Half the widths of their 95 % intervals, as logarithms, (motors,).
        load: The payload, its mass as given.
        known: The mass that was given [kg].
    """

    constants: Floats
    covariance: Floats
    widths: Floats
    load: LoadFit
    known: float

    @property
    def std(self) -> Floats:
        """Standard deviations of the constants, (motors,)."""
        return np.asarray(self.constants * np.sqrt(np.diag(self.covariance)))

    @property
    def low(self) -> Floats:
        """Lower ends of their 95 % intervals, (motors,)."""
        return np.asarray(self.constants * np.exp(-self.widths))

    @property
    def high(self) -> Floats:
        """Upper ends of their 95 % intervals, (motors,)."""
        return np.asarray(self.constants * np.exp(self.widths))

    @property
    def told(self) -> Flags:
        """Which constants are identified, (motors,)."""
        return np.asarray(self.std < TRUSTED * self.constants)


@dataclass(frozen=True, eq=False)
class _Currents:
    """Rows at the motors: columns (m, e, 10), currents and the arm's part, (m, e) each."""

    Z: Floats
    current: Floats
    arm: Floats
    used: Flags

    def part(self, which: Flags) -> _Currents:
        return _Currents(self.Z[which], self.current[which], self.arm[which], self.used[which])


def drive_gain(rows: LoadRows, at_motors: Floats, known: float) -> DriveGain:
    """Torque constants with which a payload of known mass explains the difference of currents.

    Args:
        rows: Rows whose targets are currents, (m, motors).
        at_motors: From joint torques to motor torques, (n, motors).
        known: The mass [kg].
    """
    of_motor = (at_motors != 0).astype(np.int64)
    at_rest = (~rows.used).astype(np.int64) @ of_motor
    whole = _Currents(
        Z=np.einsum("mnk,ne->mek", rows.Y, at_motors),
        current=rows.target,
        arm=rows.arm @ at_motors,
        used=np.asarray(at_rest == 0),
    )
    x, sigma = _solve(whole, known, None, None)
    count = len(rows.target)
    edges = np.linspace(0, count, PARTS + 1).astype(int)
    left_out = []
    for first, last in pairwise(edges.tolist()):
        rest = np.ones(count, dtype=bool)
        rest[first:last] = False
        left_out.append(_solve(whole.part(rest), known, x, sigma)[0])
    white = _white(whole, x, sigma, known, rows.independent)
    jack = jackknife(np.array(left_out))
    spread = wider(jack, white)
    rows_free = rows.independent * float(whole.used.sum()) - len(x)
    reach = wider(quantile(PARTS - 1) ** 2 * jack, quantile(rows_free) ** 2 * white)
    motors = rows.target.shape[1]
    gap, _ = _linear(whole, x, known)
    power = (whole.used * whole.current**2).sum(axis=0)
    load = LoadFit(
        parameters=_ten(x, known),
        covariance=_with_known_mass(spread[motors:, motors:]),
        reach=_with_known_mass(reach[motors:, motors:]),
        sigma=sigma,
        explained=1 - (whole.used * gap**2).sum(axis=0) / np.maximum(power, 1e-300),
    )
    widths = np.sqrt(np.diag(reach)[:motors])
    return DriveGain(np.exp(x[:motors]), spread[:motors, :motors], widths, load, known)


def _ten(x: Floats, known: float) -> Floats:
    return np.concatenate([[known], x[-9:] * SIZES[1:]])


def _with_known_mass(nine: Floats) -> Floats:
    """Covariance of all ten parameters, the mass known, (10, 10)."""
    ten = np.zeros((10, 10))
    ten[1:, 1:] = nine * np.outer(SIZES[1:], SIZES[1:])
    return ten


def _linear(rows: _Currents, x: Floats, known: float) -> TwoArrays:
    """Residual currents, (m, e), and the Jacobian by (ln k, nine), (m, e, e + 9)."""
    motors = rows.current.shape[1]
    k = np.exp(x[:motors])
    explained = (rows.Z @ _ten(x, known) + rows.arm) / k
    slope = np.zeros((*rows.current.shape, motors + 9))
    for e in range(motors):
        slope[:, e, e] = -explained[:, e]
    slope[:, :, motors:] = rows.Z[:, :, 1:] * SIZES[1:] / k[:, None]
    return rows.current - explained, slope


def _solve(rows: _Currents, known: float, start: Floats | None, sigma: Floats | None) -> TwoArrays:
    """(ln k, nine) of least squares, (e + 9,), and the residual of each motor, (e,)."""
    x = _first(rows, known) if start is None else start
    fixed = sigma
    for _ in range(STEPS):
        gap, slope = _linear(rows, x, known)
        sigma = _residual(rows, gap) if fixed is None else fixed
        A = (slope / sigma[:, None])[rows.used]
        b = (gap / sigma)[rows.used]
        change = np.linalg.lstsq(A, b, rcond=None)[0]
        largest = np.abs(change[: len(sigma)]).max()
        x = x + change * min(1.0, LARGEST / max(largest, 1e-300))
        if np.abs(change).max() < SAME:
            break
    gap, _ = _linear(rows, x, known)
    return np.asarray(x), _residual(rows, gap)


def _residual(rows: _Currents, gap: Floats) -> Floats:
    count = np.maximum(rows.used.sum(axis=0), 1)
    rms = np.sqrt((rows.used * gap**2).sum(axis=0) / count)
    size = np.sqrt((rows.used * rows.current**2).sum(axis=0) / count)
    return np.maximum(rms, 1e-9 * size + 1e-300)


def _first(rows: _Currents, known: float) -> Floats:
    """A linear fit: k i - Z φ = Z₁ m + c for all motors, each over its torque's size."""
    motors = rows.current.shape[1]
    heavy = rows.Z[:, :, 0] * known + rows.arm
    size = np.sqrt((heavy**2).mean(axis=0)) + 1e-9
    A = np.zeros((*rows.current.shape, motors + 9))
    for e in range(motors):
        A[:, e, e] = rows.current[:, e]
    A[:, :, motors:] = -rows.Z[:, :, 1:] * SIZES[1:]
    A /= size[:, None]
    found = np.linalg.lstsq(A[rows.used], (heavy / size)[rows.used], rcond=None)[0]
    k = found[:motors]
    if (k <= 0).any():
        worst = int(np.argmin(k))
        raise ArmtwinError(
            f"the currents of motor {worst + 1} do not follow the payload's weight, so its torque "
            "constant is not identifiable; check its sign, and which run had the payload"
        )
    return np.concatenate([np.log(k), found[motors:]])


def _white(rows: _Currents, x: Floats, sigma: Floats, known: float, independent: float) -> Floats:
    """Covariance of (ln k, nine) for residuals correlated by the filter alone."""
    _, slope = _linear(rows, x, known)
    A = (slope / sigma[:, None])[rows.used]
    return np.asarray(np.linalg.pinv(A.T @ A) / independent)


def motors_of(robot: Robot) -> Floats:
    """From joint torques to motor torques, (n, motors); to themselves where no motors are known."""
    motors, n = robot.assembly.motor_rows.shape
    if motors == 0:
        return np.eye(robot.n)
    if motors != n:
        raise ArmtwinError(
            f"robot '{robot.name}': torque constants need as many motors as joints, got {motors} "
            f"motors and {n} joints"
        )
    return np.asarray(robot.assembly.motor_inverse)

"""Torque constants from a payload of known mass, where only currents were logged.

    i_with - i_without = (Z φ + c) / k        φ₁ = m known, the other nine free

Z are the flange's columns at the motors, c the difference of the two runs of the arm there. The
mass alone fixes the scale of all constants; a motor that the payload hardly loads stays uncertain.
A linear fit of k i - Z φ is the start of a separable one on the currents, which carry the noise.
"""

from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.separable import ShapeParameters, fit_separable, solve
from armtwin.identification.payload.difference import SIZES, LoadRows
from armtwin.identification.payload.load_fit import LoadFit, put_mass_first, share_explained
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.robot.robot import Robot

CLOSE = 1e-6  # relative change at which the search of the constants ends
WIDEST = 100.0  # logarithm of a factor that is as good as any
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
        return self.constants * np.sqrt(np.diag(self.covariance))

    @property
    def low(self) -> Floats:
        """Lower ends of their 95 % intervals, (motors,)."""
        return self.constants * np.exp(-self.widths)

    @property
    def high(self) -> Floats:
        """Upper ends of their 95 % intervals, (motors,)."""
        return self.constants * np.exp(self.widths.clip(max=WIDEST))

    @property
    def told(self) -> Flags:
        """Which constants are identified, (motors,)."""
        return self.std < TRUSTED * self.constants


def drive_gain(rows: LoadRows, at_motors: Floats, known: float) -> DriveGain:
    """Torque constants with which a payload of known mass explains the difference of currents.

    Args:
        rows: Rows whose targets are currents, (m, motors).
        at_motors: From joint torques to motor torques, (n, motors).
        known: The mass [kg].
    """
    of_motor = (at_motors != 0).astype(np.int64)
    used = (~rows.used).astype(np.int64) @ of_motor == 0
    Z = np.einsum("mnk,ne->mek", rows.Y, at_motors)
    heavy = Z[:, :, 0] * known + rows.arm @ at_motors
    motors = rows.target.shape[1]

    def model(logs: Floats) -> TwoArrays:
        constant = np.exp(logs)
        return Z[:, :, 1:] / constant[:, None], rows.target - heavy / constant

    def slopes(logs: Floats, nine: Floats) -> Floats:
        current = (Z[:, :, 1:] @ nine + heavy) / np.exp(logs)
        return -np.eye(motors) * current[:, :, None]

    start = _first(Z[:, :, 1:], heavy, rows.target, used)
    found = fit_separable(
        model, ShapeParameters(np.log(start), close=CLOSE, slopes=slopes), rows.noise, used
    )
    nine, logs = found.only(slice(0, 9)), found.only(slice(9, 9 + motors))
    ten = put_mass_first(nine, known)
    load = LoadFit(ten, share_explained(found.residual, rows.target, used))
    return DriveGain(np.exp(logs.values), logs.covariance, logs.half_width, load, known)


def _first(Z: Floats, heavy: Floats, current: Floats, used: Flags) -> Floats:
    """Constants of a linear fit, k i - Z φ = Z₁ m + c, each motor over its torque's size, (e,)."""
    motors = current.shape[1]
    own = np.eye(motors) * current[:, :, None]
    A = np.concatenate([own, -Z * SIZES[1:]], axis=2)
    size = np.sqrt((heavy**2).mean(axis=0)) + 1e-9
    k = solve((A / size[:, None])[used], (heavy / size)[used]).values[:motors]
    if (k <= 0).any():
        worst = np.argmin(k)
        raise ArmtwinError(
            f"the currents of motor {worst + 1} do not follow the payload's weight, so its torque "
            "constant is not identifiable; check its sign, and which run had the payload"
        )
    return k


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
    return robot.assembly.motor_inverse

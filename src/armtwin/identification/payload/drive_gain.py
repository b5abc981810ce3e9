"""Torque constants from a payload of known mass, where only currents were logged.

    i_with - i_without = (Z φ + c) / k        φ₁ = m known, the other nine free

Z are the flange's columns at the motors, c the difference of the two runs of the arm there. The
mass alone fixes the scale of all constants; a motor that the payload hardly loads stays uncertain.
A linear fit of k i - Z φ is the start of a separable one on the currents, which carry the noise.

Ten parameters of a load from its rows: least squares without a prior.

The payload by a second method: all parameters of the loaded arm, regularised to a prior.

A truncated fit of the run with the payload takes directions that are not identifiable from the
prior; the payload is the difference of the last link with and without it. Whether it comes from the
run or from the prior follows from the share of the last link's mass in the retained directions.

Ref: [Waiboer 2007, section 4.4.4]
"""

from dataclasses import dataclass, replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting import estimate as fits
from armtwin.identification.fitting.decomposition import decompose
from armtwin.identification.fitting.factors import merge_factors
from armtwin.identification.payload.difference import SIZES, LoadRows
from armtwin.identification.rigid_body.data.preparation import prepare_identification
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, TwoArrays
from armtwin.mechanics.inertia import about_centre, inertia_matrix, pseudo_inertia, why_unphysical
from armtwin.robot.defaults.joint_sizes import joint_sizes
from armtwin.robot.robot import Robot

LEAST_MASS = 1e-3  # [kg]
LEAST_MOMENT = 1e-6  # eigenvalue of the pseudo-inertia that a real body has at least
BLIND = 1e6  # condition number from which a direction is not identifiable


@dataclass(frozen=True, eq=False)
class LoadFit:
    """Ten parameters of a load.

    Attributes:
        ten: m, mx, my, mz, Jxx, Jyy, Jzz, Jxy, Jxz, Jyz in the flange's frame.
        explained: Share of the target's power that they explain, (n,).
    """

    ten: fits.ParameterEstimate
    explained: Floats

    @property
    def parameters(self) -> Floats:
        """The ten parameters, (10,)."""
        return self.ten.values

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return float(self.parameters[0])

    def seen(self) -> fits.ParameterEstimate:
        """Mass, centre (3) and inertia about the centre (6)."""
        return self.ten.transform(_centre_and_inertia, SIZES)


def _centre_and_inertia(ten: Floats) -> Floats:
    J = about_centre(ten) if ten[0] > LEAST_MASS else inertia_matrix(ten)
    mass = max(ten[0], LEAST_MASS)
    six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    return np.array([ten[0], *(ten[1:4] / mass), *six])


def fit_load(rows: LoadRows, mass: float | None = None) -> LoadFit:
    """Fit a load to rows by least squares, with its mass where that is known [kg]."""
    target = rows.target - rows.arm
    if not rows.used.any():
        raise ArmtwinError("no row of the runs can be used; let the joints move faster")
    if mass is None:
        ten = fits.fit(rows.Y, target, rows.noise, rows.used)
    else:
        others = target - mass * rows.Y[:, :, 0]
        ten = put_mass_first(fits.fit(rows.Y[:, :, 1:], others, rows.noise, rows.used), mass)
    if ten.condition > BLIND:
        raise ArmtwinError(
            "not all ten parameters of a payload are identifiable from this motion: let the wrist "
            "turn about several axes, fast enough for inertias to show"
        )
    return LoadFit(ten, share_explained(ten.residual, target, rows.used))


def check_mass(mass: float) -> None:
    """Refuse a payload's mass that is none [kg]."""
    if not 0 < mass < np.inf:
        raise ArmtwinError(f"mass must be the payload's mass above 0 kg, got {mass!r}")


def put_mass_first(nine: fits.ParameterEstimate, mass: float) -> fits.ParameterEstimate:
    """Ten parameters of a load whose mass is known [kg], from the estimate of the other nine."""
    return replace(
        nine,
        values=np.concatenate([[mass], nine.values]),
        covariance=np.pad(nine.covariance, (1, 0)),
        reach=np.pad(nine.reach, (1, 0)),
        freedom=np.pad(nine.freedom, (1, 0), constant_values=1.0),
    )


def share_explained(residual: Floats, target: Floats, used: Flags) -> Floats:
    """Share of the power of a target (m, n) that a residual does not hold, (n,)."""
    power = (used * target**2).sum(axis=0)
    return 1 - (residual**2).sum(axis=0) / np.maximum(power, 1e-300)


def nearest_body(ten: Floats) -> Floats:
    """Ten parameters of a near physically consistent body of the same mass, (10,).

    The pseudo-inertia without its negative eigenvalues.
    """
    if not why_unphysical(ten) and ten[0] > 0:
        return ten
    values, vectors = np.linalg.eigh(pseudo_inertia(ten))
    P = (vectors * np.maximum(values, LEAST_MOMENT)) @ vectors.T
    P *= max(ten[0], LEAST_MASS) / P[3, 3]
    trace = P[0, 0] + P[1, 1] + P[2, 2]
    diagonal = trace - np.diag(P)[:3]
    return np.array([P[3, 3], *P[:3, 3], *diagonal, -P[0, 1], -P[0, 2], -P[1, 2]])


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
    found = fits.fit_separable(
        model, fits.ShapeParameters(np.log(start), close=CLOSE, slopes=slopes), rows.noise, used
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
    k = fits.solve((A / size[:, None])[used], (heavy / size)[used]).values[:motors]
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


INDEPENDENT = 0.9  # share from which on an estimate counts as independent of its prior


@dataclass(frozen=True)
class TruncatedMass:
    """A payload's mass by a truncated fit.

    Attributes:
        mass: The identified mass [kg].
        expected: The mass of the prior [kg].
        share: Share of it identified from the run, 0 to 1; the rest is the prior's.
    """

    mass: float
    expected: float
    share: float

    @property
    def is_independent(self) -> bool:
        """Whether the mass is the run's, not the prior's."""
        return self.share >= INDEPENDENT

    @property
    def sentence(self) -> str:
        """The mass and how far it depends on the prior, in words."""
        found = f"A truncated fit of the loaded run gives {self.mass:.3g} kg"
        if self.is_independent:
            return f"{found}, {100 * self.share:.0f} % of it identified from the run."
        rest = 100 * (1 - self.share)
        return (
            f"{found}, which is not independent of the prior of {self.expected:.3g} kg: "
            f"{100 * self.share:.0f} % of it is identified from the run, {rest:.0f} % is the prior."
        )


def fit_truncated_mass(
    bare: Robot, expected: Robot, with_it: Log, torque: str | None, cutoff: float | None
) -> TruncatedMass:
    """The payload's mass by a truncated fit of the run with it.

    Args:
        bare: The robot without the payload.
        expected: The robot with the payload assumed as prior.
        with_it: The log with the payload.
        torque: Channel of the torque.
        cutoff: Cut-off frequency [Hz].
    """
    recipe = Recipe(estimator="truncated", friction="file", tilt="file", trust=True)
    ready = prepare_identification(expected, [with_it], torque=torque, cutoff=cutoff, recipe=recipe)
    experiment = ready.experiment
    largest = joint_sizes(expected).torque
    analysis = decompose(merge_factors(experiment.parts()), largest, experiment.free)
    body, _ = bare.assembly.frame("flange")
    mass = 10 * body
    phi = analysis.truncate(None)
    share = analysis.share(None)[mass]
    own = float(bare.parameters[mass])
    prior = float(expected.parameters[mass]) - own
    return TruncatedMass(
        mass=float(phi[mass]) - own, expected=prior, share=float(np.clip(share, 0, 1))
    )

"""Equations of motion of the whole robot: bodies and rotors by kernels, the rest by rows.

    τ = M(q) a + C(q, v) v + g(q) + balancers + friction

All arrays are checked (m, n) tables here; shapes and batches are the business of `Robot`.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, ThreeArrays, TwoArrays, spread
from armtwin.maths.traced_rows import Formula, compute, is_traced
from armtwin.mechanics import linearisation, mass, regressor
from armtwin.mechanics.rotors import Rotors
from armtwin.robot.dynamics import formulas
from armtwin.robot.dynamics.assembly import Assembly
from armtwin.robot.dynamics.friction_columns import SURE, ContactStates, friction_columns
from armtwin.robot.dynamics.traced import whole_regressor


class Linearisation(NamedTuple):
    """Linear equations of motion about a state, M δa + D δv + K δq = δτ; each (..., n, n)."""

    M: Floats
    D: Floats
    K: Floats


def inverse_dynamics(
    robot: Assembly,
    q: Floats,
    v: Floats,
    a: Floats,
    rotors: Rotors | None = None,
    *,
    out: Floats | None = None,
) -> Floats:
    """Joint torques of bodies, rotors and balancers, (m, n).

    There are more coordinates than joints where rotors move on their own.
    """
    m, n = q.shape
    tau = np.empty((m, n)) if out is None else out
    compute(_of(robot, formulas.inverse_dynamics, rotors), (q, v, a), (tau,))
    return tau


def _of(
    robot: Assembly, make: Callable[[Assembly, Rotors], Formula], rotors: Rotors | None = None
) -> Formula:
    """A formula of a robot, with rotors of its own or others; that with its own is kept."""
    if rotors is not None:
        return make(robot, rotors)
    return robot.keep(make.__name__, lambda: make(robot, robot.rotors))


def mass_matrix(robot: Assembly, q: Floats, rotors: Rotors | None = None) -> Floats:
    """Mass matrices with the rotors, (m, n, n)."""
    m, n = q.shape
    M = np.empty((m, n, n))
    compute(_of(robot, formulas.mass_matrix, rotors), (q,), (M,))
    return M


def forward_dynamics(robot: Assembly, q: Floats, v: Floats, tau: Floats) -> Floats:
    """Accelerations, (m, n), under joint torques less friction."""
    m, n = q.shape
    a, definite = np.empty((m, n)), np.empty((m, 1))
    compute(_of(robot, formulas.forward_dynamics), (q, v, tau), (a, definite))
    if not definite.all():
        at = int(np.argmin(definite))
        least = np.linalg.eigvalsh(mass_matrix(robot, q[at : at + 1])[0])[0]
        contract = f"robot '{robot.description.name}': the mass matrix must be positive definite"
        where = f"at sample {at}, q = {np.round(q[at], 4).tolist()}"
        raise ArmtwinError(f"{contract}, got a smallest eigenvalue of {least:.3g} {where}")
    return a


def poses(robot: Assembly, frame: str, q: Floats) -> Floats:
    """Poses of a frame in the base frame, (m, 4, 4)."""
    X = np.empty((len(q), 4, 4))
    formula = robot.keep(f"pose {frame}", lambda: formulas.pose(robot, *robot.frame(frame)))
    compute(formula, (q,), (X,))
    return X


def jacobians(robot: Assembly, frame: str, q: Floats) -> Floats:
    """Jacobians of a frame's origin, (m, 6, n); rows linear then angular, base axes."""
    m, n = q.shape
    J = np.empty((m, 6, n))
    formula = robot.keep(f"jacobian {frame}", lambda: formulas.jacobian(robot, *robot.frame(frame)))
    compute(formula, (q,), (J,))
    return J


def energy(robot: Assembly, q: Floats, v: Floats) -> TwoArrays:
    """Kinetic energy with the rotors, and potential energy with the balancers, each (m,) [J]."""
    m, n = q.shape
    kinetic = 0.5 * np.einsum("mi,mij,mj->m", v, mass_matrix(robot, q), v)
    potential = np.empty(m)
    spread(mass.potential_energy, m, 2 * n, robot.arm, q, potential)
    for strut in robot.struts:
        potential += strut.energy(q)
    return kinetic, potential


def linearise(
    robot: Assembly, q: Floats, v: Floats, a: Floats, rotors: Rotors | None = None
) -> Linearisation:
    """Mass, damping and stiffness about states, without friction."""
    m, n = q.shape
    K = np.empty((m, n, n))
    D = np.empty((m, n, n))
    turning = robot.rotors if rotors is None else rotors
    if is_traced(m):
        compute(formulas.linearisation(robot, turning), (q, v, a), (K, D))
    else:
        spread(linearisation.linearise, m, 100 * n, robot.arm, turning, q, v, a, K, D)
    h = linearisation.STEP
    for strut in robot.struts:
        j = strut.joint
        stepped = q.astype(np.complex128)
        stepped[:, j] += 1j * h
        K[:, j, j] += strut.torque(stepped).imag / h
    return Linearisation(mass_matrix(robot, q, rotors), D, K)


def full_regressor(
    robot: Assembly, state: ThreeArrays, Y: Floats, contacts: ContactStates = SURE
) -> None:
    """Fill Y (m, n, p), zeros or an earlier regressor of this robot, with all of its columns."""
    q, v, a = state
    m, n = q.shape
    places = robot.layout
    formula = whole_regressor(robot) if is_traced(m) else None
    if formula is not None:
        compute(formula, state, (Y,))
        if contacts is not SURE:
            Y[:, :, places.friction] = friction_regressor(robot, v, q, contacts)
        return
    spread(regressor.body_regressor, m, 20 * n, robot.arm, q, v, a, Y)
    if len(robot.gear):
        drives = robot.rotors, robot.gear, robot.spin_on
        first = places.rotors.start
        spread(regressor.rotor_regressor, m, 4 * n, robot.arm, *drives, q, v, a, Y, first)
    for k, strut in enumerate(robot.struts):
        Y[:, strut.joint, places.balancer(k)] = strut.columns(q)
    Y[:, :, places.friction] = friction_regressor(robot, v, q, contacts)


def weight_regressor(robot: Assembly, q: Floats) -> Floats:
    """Torques (m, n, 3, n, 4) at rest with gravity 1 along each axis.

    They are per mass and first moments of each link; its other parameters have no weight.
    """
    m, n = q.shape
    found = np.empty((m, n, 3, n, regressor.HEAVY))
    Y = np.zeros((m, n, regressor.OF_A_BODY * n))
    rest = np.zeros_like(q)
    for axis, along in enumerate(np.eye(3)):
        arm = robot.arm._replace(gravity=along)
        spread(regressor.body_regressor, m, 20 * n, arm, q, rest, rest, Y)
        found[:, :, axis] = Y.reshape(m, n, n, -1)[..., : regressor.HEAVY]
    return found


def friction_regressor(
    robot: Assembly, v: Floats, q: Floats | None, contacts: ContactStates = SURE
) -> Floats:
    """Columns (m, n, k) of the coefficients of all friction elements."""
    places = robot.layout.friction
    Y = np.zeros((*v.shape, places.stop - places.start))
    at = 0
    for row, columns, _ in friction_columns(robot.friction, v, q, contacts):
        width = columns.shape[1]
        for joint in np.flatnonzero(row.any(axis=0)):
            Y[:, joint, at : at + width] = row[:, joint, None] * columns
        at += width
    return Y

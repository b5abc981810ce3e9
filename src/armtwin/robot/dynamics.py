"""Equations of motion of the whole robot: bodies and rotors by kernels, balancers and friction by rows.

    τ = M(q) a + C(q, v) v + g(q) + balancers + friction

All arrays are checked (m, n) tables here; shapes and batches are the business of `Robot`.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, spread
from armtwin.mechanics import linearisation, mass, newton_euler, regressor
from armtwin.mechanics.rotors import Rotors
from armtwin.robot.assembly import Assembly


class Linearisation(NamedTuple):
    """Linear equations of motion about a state, M δa + D δv + K δq = δτ; each (..., n, n)."""

    M: Floats
    D: Floats
    K: Floats


def inverse_dynamics(
    robot: Assembly, q: Floats, v: Floats, a: Floats, rotors: Rotors | None = None
) -> Floats:
    """Joint torques of bodies, rotors and balancers, (m, n); of more coordinates where rotors move on their own."""
    tau = np.empty_like(q)
    turning = robot.rotors if rotors is None else rotors
    spread(newton_euler.inverse_dynamics, len(q), 4 * q.shape[1], robot.arm, turning, q, v, a, tau)
    for strut in robot.struts:
        tau[:, strut.joint] += strut.torque(q)
    return tau


def mass_matrix(robot: Assembly, q: Floats, rotors: Rotors | None = None) -> Floats:
    """Mass matrices with the rotors, (m, n, n)."""
    M = np.empty((*q.shape, q.shape[1]))
    turning = robot.rotors if rotors is None else rotors
    spread(mass.mass_matrix, len(q), 8 * q.shape[1], robot.arm, turning, q, M)
    return M


def forward_dynamics(robot: Assembly, q: Floats, v: Floats, tau: Floats) -> Floats:
    """Accelerations, (m, n), under joint torques less friction."""
    force, a, bad = tau.copy(), np.empty_like(q), np.zeros(len(q), dtype=np.int64)
    for strut in robot.struts:
        force[:, strut.joint] -= strut.torque(q)
    spread(
        mass.forward_dynamics, len(q), 12 * q.shape[1], robot.arm, robot.rotors, q, v, force, a, bad
    )
    if bad.any():
        at = int(np.argmax(bad))
        least = np.linalg.eigvalsh(mass_matrix(robot, q[at : at + 1])[0])[0]
        raise ArmtwinError(
            f"robot '{robot.description.name}': the mass matrix must be positive definite, got a smallest "
            f"eigenvalue of {least:.3g} at sample {at}, q = {np.round(q[at], 4).tolist()}"
        )
    return a


def energy(robot: Assembly, q: Floats, v: Floats) -> tuple[Floats, Floats]:
    """Kinetic energy with the rotors, and potential energy with the balancers, each (m,) [J]."""
    kinetic = 0.5 * np.einsum("mi,mij,mj->m", v, mass_matrix(robot, q), v)
    potential = np.empty(len(q))
    spread(mass.potential_energy, len(q), 2 * q.shape[1], robot.arm, q, potential)
    for strut in robot.struts:
        potential += strut.energy(q)
    return kinetic, potential


def linearise(
    robot: Assembly, q: Floats, v: Floats, a: Floats, rotors: Rotors | None = None
) -> Linearisation:
    """Mass, damping and stiffness about states, without friction."""
    K, D = np.empty((*q.shape, q.shape[1])), np.empty((*q.shape, q.shape[1]))
    turning = robot.rotors if rotors is None else rotors
    spread(linearisation.linearise, len(q), 100 * q.shape[1], robot.arm, turning, q, v, a, K, D)
    for strut in robot.struts:
        step = q.astype(np.complex128)
        step[:, strut.joint] += 1j * linearisation.STEP
        K[:, strut.joint, strut.joint] += strut.torque(step).imag / linearisation.STEP
    return Linearisation(mass_matrix(robot, q, turning), D, K)


def _friction_columns(
    robot: Assembly, v: Floats, q: Floats | None
) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Row (m or 1, n), columns (m, k), coefficients (k,) of each friction element, in the parameters' order."""
    for element, row in robot.friction:
        acting = np.multiply.outer(row.lever(q), row.weights)
        w = (v * acting).sum(axis=-1)
        laws = [element.law] if element.negative is None else [element.law, element.negative]
        columns = [law.columns(w) for law in laws]
        if element.negative is not None:
            columns = [columns[0] * (w > 0)[:, None], columns[1] * (w < 0)[:, None]]
        values = [getattr(law, name) for law in laws for name, _ in law.coefficients]
        if element.offset is not None:
            columns.append(np.ones((len(w), 1)))
            values.append(element.offset)
        yield np.atleast_2d(acting), np.concatenate(columns, axis=1), np.array(values)


def friction_torque(robot: Assembly, v: Floats, q: Floats | None) -> Floats:
    """Steady sliding friction on the joints, (m, n); 0 where a row is at rest, but for offsets."""
    tau = np.zeros_like(v)
    for row, columns, values in _friction_columns(robot, v, q):
        tau += (columns @ values)[:, None] * row
    return tau


def full_regressor(robot: Assembly, state: tuple[Floats, Floats, Floats], Y: Floats) -> None:
    """Fill Y (m, n, p), zeros or an earlier regressor of this robot, for bodies, rotors, balancers and friction."""
    q, v, a = state
    m, n = q.shape
    places = robot.layout
    spread(regressor.body_regressor, m, 20 * n, robot.arm, q, v, a, Y)
    if len(robot.gear):
        at = places.rotors.start
        spread(
            regressor.rotor_regressor,
            m,
            4 * n,
            robot.arm,
            robot.rotors,
            robot.gear,
            robot.spin_on,
            q,
            v,
            a,
            Y,
            at,
        )
    for k, strut in enumerate(robot.struts):
        Y[:, strut.joint, places.balancer(k)] = strut.columns(q)
    Y[:, :, places.friction] = friction_regressor(robot, v, q)


def friction_regressor(robot: Assembly, v: Floats, q: Floats | None) -> Floats:
    """Columns (m, n, k) of the coefficients of all friction elements."""
    places = robot.layout.friction
    Y = np.zeros((*v.shape, places.stop - places.start))
    at = 0
    for row, columns, _ in _friction_columns(robot, v, q):
        width = columns.shape[1]
        for joint in np.flatnonzero(row.any(axis=0)):
            Y[:, joint, at : at + width] = row[:, joint, None] * columns
        at += width
    return Y

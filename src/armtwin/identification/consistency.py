"""Estimates that a real robot could have: one conic problem, solved by Clarabel.

    min ‖R x - d‖²   with the pseudo-inertia of every link positive definite, rotor inertias and friction >= 0

The residual itself is in the problem, not its normal equations.

Ref: [Wensing-Kim-Slotine 2018]
"""

from __future__ import annotations

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.mechanics.inertia import pseudo_inertia
from armtwin.robot.robot import Robot

MARGIN = 1e-6  # of the prior's pseudo-inertia that every link keeps


def violations(robot: Robot, phi: Floats) -> list[str]:
    """Links, rotors and friction elements whose numbers no real robot has."""
    found = []
    for k, joint in enumerate(robot.assembly.tree.joints):
        smallest = float(np.linalg.eigvalsh(pseudo_inertia(phi[10 * k : 10 * k + 10]))[0])
        if not smallest > 0:
            found.append(f"{joint.child}: its mass and inertia are those of no real body")
    for parameter, value in zip(robot.parameter_table, phi, strict=True):
        if _at_least_zero(parameter.group, parameter.name) and value < 0:
            found.append(f"{parameter.name} must be at least 0 {parameter.unit}, got {value:.4g}")
    return found


def _at_least_zero(group: str, name: str) -> bool:
    return group == "rotor" or (group == "friction" and not name.endswith(".offset"))


def nearest(robot: Robot, R: Floats, d: Floats, sizes: Floats) -> Floats:
    """Scaled change x of the parameters that minimises ‖R x - d‖ among physical ones, (p,)."""
    import clarabel
    from scipy import sparse

    prior, p = robot.parameters, len(d)
    links = len(robot.assembly.tree.joints)
    # unknowns (x, r): r = R x - d, objective |r|² / 2
    P = sparse.block_diag([sparse.csc_matrix((p, p)), sparse.identity(p)]).tocsc()
    rows = [sparse.hstack([sparse.csc_matrix(R), -sparse.identity(p)])]
    right, cones = [d], [clarabel.ZeroConeT(p)]
    signed = [k for k, x in enumerate(robot.parameter_table) if _at_least_zero(x.group, x.name)]
    if signed:
        pick = sparse.csc_matrix((-sizes[signed], (range(len(signed)), signed)), shape=(len(signed), 2 * p))
        rows, right = [*rows, pick], [*right, prior[signed]]
        cones.append(clarabel.NonnegativeConeT(len(signed)))
    basis = np.array([_triangle(pseudo_inertia(e)) for e in np.eye(10)]).T  # (10 of the triangle, 10 parameters)
    for k in range(links):
        ten = slice(10 * k, 10 * k + 10)
        G = np.zeros((10, 2 * p))
        G[:, ten] = -basis * sizes[ten]
        here = pseudo_inertia(prior[ten])
        room = MARGIN * np.trace(here) / 4
        rows, right = [*rows, sparse.csc_matrix(G)], [*right, _triangle(here - room * np.eye(4))]
        cones.append(clarabel.PSDTriangleConeT(4))
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    A, b = sparse.vstack(rows).tocsc(), np.concatenate(right)
    solution = clarabel.DefaultSolver(P, np.zeros(2 * p), A, b, cones, settings).solve()
    if "Solved" not in str(solution.status):
        raise ArmtwinError(f"the physically consistent fit was not found ({solution.status}); check signs and units")
    return np.array(solution.x[:p])


def _triangle(S: Floats) -> Floats:
    """Upper triangle of a symmetric matrix column by column, off-diagonals times √2."""
    return np.array([S[i, j] * (1.0 if i == j else np.sqrt(2.0)) for j in range(4) for i in range(j + 1)])

"""Estimates that a real robot could have: one conic problem, solved by Clarabel.

    min ‖R z - d‖²   with the pseudo-inertia of every link positive definite, rotor inertias and friction >= 0

The residual itself is in the problem, not its normal equations.

Ref: [Wensing-Kim-Slotine 2018]
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.estimators import Fit
from armtwin.identification.freedom import Freedom
from armtwin.maths.batch import Floats
from armtwin.mechanics.inertia import pseudo_inertia
from armtwin.robot.bodies import mounted_load
from armtwin.robot.robot import Robot

MARGIN = 1e-6  # of the prior's pseudo-inertia that every link keeps
SLACK = 1e-3  # of a parameter's size by which a solver may miss a contract of 0


def violations(robot: Robot, phi: Floats) -> list[str]:
    """Links, rotors and friction elements whose numbers no real robot has."""
    found = []
    loads = _mounted(robot)
    for k, joint in enumerate(robot.assembly.tree.joints):
        smallest = float(
            np.linalg.eigvalsh(pseudo_inertia(phi[robot.layout.link(k)] - loads[k]))[0]
        )
        if not smallest > 0:
            found.append(f"{joint.child}: its mass and inertia are those of no real body")
    for parameter, value in zip(robot.parameter_table, phi, strict=True):
        if _at_least_zero(parameter.group, parameter.name) and value < 0:
            found.append(f"{parameter.name} must be at least 0 {parameter.unit}, got {value:.4g}")
    return found


def _mounted(robot: Robot) -> Floats:
    """Ten parameters of what is mounted on each link, (links, 10); the link itself is what is left without."""
    loads = np.zeros((len(robot.assembly.tree.joints), 10))
    flange = robot.description.flange
    if flange is not None:
        loads[robot.assembly.tree.body(flange.link)] = mounted_load(robot.description)
    return loads


def _at_least_zero(group: str, name: str) -> bool:
    return group == "rotor" or (group == "friction" and not name.endswith(".offset"))


def nearest(
    robot: Robot, found: Fit, free: Freedom, mass: Mapping[str, tuple[float, float]]
) -> Floats:
    """Physical parameters φ that minimise ‖R z - d‖ of a fit, masses within their bounds, (p,)."""
    import clarabel
    from scipy import sparse

    start, slope, f = free.start, free.map, len(found.z)
    tree, loads = robot.assembly.tree, _mounted(robot)
    signed = [
        k
        for k, x in enumerate(robot.parameter_table)
        if _at_least_zero(x.group, x.name) and slope[k].any()
    ]
    limits = [(tree.body(link), bounds) for link, bounds in mass.items()]
    # -G z + s = h with s in a cone, for each contract
    contracts = (
        [(clarabel.NonnegativeConeT(len(signed)), -slope[signed], start[signed])] if signed else []
    )
    for k, (low, high) in limits:
        cone = clarabel.ZeroConeT(1) if low == high else clarabel.NonnegativeConeT(1)
        mass_of = [robot.layout.link(k).start]
        own = start[mass_of] - loads[k][0]
        contracts.append((cone, -slope[mass_of], own - low))
        if low < high:
            contracts.append((clarabel.NonnegativeConeT(1), slope[mass_of], high - own))
    for k in range(len(tree.joints)):
        ten = robot.layout.link(k)
        if slope[ten].any():
            here = pseudo_inertia(start[ten] - loads[k])
            room = min(
                MARGIN * np.trace(here) / 4, 0.5 * max(0.0, float(np.linalg.eigvalsh(here)[0]))
            )
            contracts.append(
                (
                    clarabel.PSDTriangleConeT(4),
                    -_BASIS @ slope[ten],
                    _triangle(here - room * np.eye(4)),
                )
            )
    # unknowns (z, r): r = R z - d, objective |r|² / 2
    rows = [sparse.hstack([sparse.csc_matrix(found.R), -sparse.identity(f)])]
    rows += [sparse.csc_matrix(np.hstack([G, np.zeros((len(G), f))])) for _, G, _ in contracts]
    A, b = sparse.vstack(rows).tocsc(), np.concatenate([found.d, *(h for _, _, h in contracts)])
    P = sparse.block_diag([sparse.csc_matrix((f, f)), sparse.identity(f)]).tocsc()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    cones = [clarabel.ZeroConeT(f), *(cone for cone, _, _ in contracts)]
    solution = clarabel.DefaultSolver(P, np.zeros(2 * f), A, b, cones, settings).solve()
    if "Solved" not in str(solution.status):
        told = "check signs and units of the logs, and the bounds of masses"
        raise ArmtwinError(
            f"no physically consistent parameters were found ({solution.status}); {told}"
        )
    return _kept(robot, free, free.parameters(np.array(solution.x[:f])))


def _kept(robot: Robot, free: Freedom, phi: Floats) -> Floats:
    """Parameters that keep a contract of 0 exactly, where a solver keeps it to its tolerance."""
    at_least_zero = np.array([_at_least_zero(x.group, x.name) for x in robot.parameter_table])
    missed = at_least_zero & (phi < 0) & (phi > -SLACK * free.sizes)
    return np.where(missed, 0.0, phi)


def _triangle(S: Floats) -> Floats:
    """Upper triangle of a symmetric matrix column by column, off-diagonals times √2."""
    return np.array(
        [S[i, j] * (1.0 if i == j else np.sqrt(2.0)) for j in range(4) for i in range(j + 1)]
    )


_BASIS = np.array(
    [_triangle(pseudo_inertia(e)) for e in np.eye(10)]
).T  # (10 of the triangle, 10 parameters)

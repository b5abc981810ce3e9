"""Kinematics and dynamics of a robot as formulas of a row, traced from their kernels."""

from collections.abc import Callable, Iterable
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from armtwin.drives.balancers import Strut
from armtwin.files.shape import Group, WithFields
from armtwin.maths import choice
from armtwin.maths.batch import Floats, Indices, NamedArrays, Numbers
from armtwin.maths.dual import Dual, slope_of
from armtwin.maths.tape import as_symbols
from armtwin.maths.traced_rows import Arrays, Formula
from armtwin.maths.tracing import python_of
from armtwin.mechanics import kinematics, mass, newton_euler
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.rotors import Rotors
from armtwin.robot.dynamics.assembly import Assembly

P = TypeVar("P", bound=WithFields)
STATE = ("q", "v", "a")


def geometry(arm: Arm) -> NamedArrays:
    """Arrays of an arm whose zeros and ones shape a kernel."""
    return {"turn": arm.turn, "offset": arm.offset, "axis": arm.axis, "gravity": arm.gravity}


def trace_arm(arm: Arm, of: Arrays) -> Arm:
    """The arm with symbols for its numbers."""
    symbols: dict[str, Any] = {name: of.get(name) for name in (*geometry(arm), "inertia")}
    return arm._replace(**symbols)


def rows_of_state(of: Arrays) -> list[Any]:
    """q, v, a as tables of one row."""
    return [of[name].reshape(1, -1) for name in STATE]


def tree(arm: Arm, rotors: Rotors) -> tuple[list[int], ...]:
    """What shapes a kernel beside numbers."""
    return arm.parent.tolist(), arm.slides.tolist(), rotors.body.tolist()


def shape_numbers(part: Group) -> list[str] | None:
    """Names of the numbers of a law, force or linkage that are no coefficients.

    None where some are no single numbers: a table is not traced.
    """
    linear = {name for name, _ in getattr(part, "coefficients", ())}
    names = []
    for f in fields(part):
        value = getattr(part, f.name)
        if isinstance(value, str) or f.name in linear:
            continue
        if not isinstance(value, (int, float)):
            return None
        names.append(f.name)
    return names


def read_numbers(part: Group) -> Floats:
    """The numbers of a part that are no coefficients."""
    return np.array([getattr(part, name) for name in shape_numbers(part) or ()], dtype=np.float64)


def with_numbers(part: P, numbers: Iterable[object]) -> P:
    """A part with others in place of these numbers."""
    changes: dict[str, Any] = dict(zip(shape_numbers(part) or (), numbers, strict=True))
    return replace(part, **changes)


class StrutParts:
    """Balancers of a robot whose numbers become symbols."""

    def __init__(self, struts: tuple[Strut, ...]) -> None:
        self.struts = struts

    @property
    def kinds(self) -> list[tuple[int, str]]:
        """What shapes a kernel beside numbers."""
        return [(strut.joint, type(strut.force).__name__) for strut in self.struts]

    @property
    def numbers(self) -> NamedArrays:
        """Numbers of each, and values of its coefficients."""
        found = {}
        for k, strut in enumerate(self.struts):
            found[f"force {k}"] = read_numbers(strut.force)
            found[f"strut {k}"] = read_numbers(strut.linkage)
            found[f"coefficients {k}"] = np.array(strut.values)
        return found

    def columns(self, of: Arrays, q: Numbers) -> list[Any]:
        """Torque of each per unit of its coefficients at a row of positions (1, n), (1, k)."""
        found = []
        for k, strut in enumerate(self.struts):
            force = with_numbers(strut.force, of[f"force {k}"])
            linkage = with_numbers(strut.linkage, of[f"strut {k}"])
            found.append(replace(strut, force=force, linkage=linkage).columns(as_symbols(q)))
        return found

    def torques(self, of: Arrays, n: int) -> Any:
        """Torques on the joints, (n,)."""
        tau = np.zeros(n, dtype=object)
        columns = self.columns(of, of["q"].reshape(1, -1))
        for k, (strut, own) in enumerate(zip(self.struts, columns, strict=True)):
            for column, value in zip(own[0], of[f"coefficients {k}"], strict=True):
                tau[strut.joint] = tau[strut.joint] + column * value
        return tau


class _Dynamics:
    """Bodies, rotors and balancers of a robot in one row, from symbols."""

    def __init__(self, robot: Assembly, rotors: Rotors, struts: tuple[Strut, ...]) -> None:
        self.arm, self.rotors, self.N = robot.arm, rotors, len(rotors.inertia)
        self.struts = StrutParts(struts)

    def parts(self, of: Arrays) -> tuple[Arm, Rotors]:
        """Bodies and rotors with symbols for their numbers."""
        rotors = Rotors(of["rotor_inertia"], self.rotors.body, of["rotor_axis"], of["rotor_row"])
        return trace_arm(self.arm, of), rotors

    def torques(self, of: Arrays) -> Any:
        """The torques, (N,)."""
        tau = np.empty((1, self.N), dtype=object)
        inverse_dynamics = python_of(newton_euler.inverse_dynamics)
        inverse_dynamics(*self.parts(of), *rows_of_state(of), tau, 0, 1)
        return tau[0] + self.struts.torques(of, self.N)

    def accelerations(self, of: Arrays) -> Arrays:
        """The accelerations, (N,), and 1 where the mass matrix is definite, else 0."""
        force = of["tau"] - self.struts.torques(of, self.N)
        forward_dynamics = python_of(mass.forward_dynamics)
        a, definite = forward_dynamics(*self.parts(of), of["q"], of["v"], force)
        return {"a": a, "definite": [python_of(choice.choose)(definite, 1.0, 0.0)]}

    def formula(
        self,
        kind: str,
        inputs: tuple[str, ...],
        made: dict[str, Indices],
        trace: Callable[[Arrays], Arrays],
    ) -> Formula:
        """A formula of inputs (N,)."""
        arm, rotors = self.arm, self.rotors
        patterns = geometry(arm) | {
            "rotor_inertia": rotors.inertia,
            "rotor_axis": rotors.axis,
            "rotor_row": rotors.row,
        }
        numbers = {"inertia": arm.inertia, **self.struts.numbers}
        shapes = dict.fromkeys(inputs, (self.N,))
        kinds = (kind, *tree(arm, rotors), self.struts.kinds)
        return Formula(kinds, patterns, numbers, shapes, made, trace)


def inverse_dynamics(robot: Assembly, rotors: Rotors) -> Formula:
    """Torques tau, (N,), of a row, with the balancers."""
    of_robot = _Dynamics(robot, rotors, robot.struts)
    made: dict[str, Indices] = {"tau": (of_robot.N,)}
    return of_robot.formula(
        "inverse dynamics", STATE, made, lambda of: {"tau": of_robot.torques(of)}
    )


def forward_dynamics(robot: Assembly, rotors: Rotors) -> Formula:
    """Accelerations a, (N,), of a row, and whether its mass matrix is definite, (1,)."""
    of_robot = _Dynamics(robot, rotors, robot.struts)
    made: dict[str, Indices] = {"a": (of_robot.N,), "definite": (1,)}
    return of_robot.formula("forward dynamics", ("q", "v", "tau"), made, of_robot.accelerations)


def mass_matrix(robot: Assembly, rotors: Rotors) -> Formula:
    """Mass matrix M, (N, N), of a row."""
    of_robot = _Dynamics(robot, rotors, ())

    def trace(of: Arrays) -> Arrays:
        return {"M": python_of(mass.mass_matrix)(*of_robot.parts(of), of["q"])}

    return of_robot.formula("mass matrix", ("q",), {"M": (of_robot.N, of_robot.N)}, trace)


def linearisation(robot: Assembly, rotors: Rotors) -> Formula:
    """Stiffness K and damping D, (N, N), of a row: derivatives of its torques by q and v."""
    of_robot = _Dynamics(robot, rotors, ())
    N = of_robot.N

    def derivatives(of: Arrays, name: str) -> Any:
        """Derivatives of the torques by one of q and v, (N, N)."""
        found = np.empty((N, N), dtype=object)
        for k in range(N):
            stepped = of[name].copy()
            stepped[k] = Dual(stepped[k], 1.0)
            tau = of_robot.torques({**of, name: stepped})
            for i in range(N):
                found[i, k] = slope_of(tau[i])
        return found

    def trace(of: Arrays) -> Arrays:
        return {"K": derivatives(of, "q"), "D": derivatives(of, "v")}

    return of_robot.formula("linearisation", STATE, dict.fromkeys("KD", (N, N)), trace)


def pose(robot: Assembly, body: int, X_BF: Floats) -> Formula:
    """Pose X, (4, 4), in the base frame of the frame that sits at X_BF on a body (-1: the base)."""

    def trace(of: Arrays) -> Arrays:
        X = np.empty((1, 4, 4), dtype=object)
        q = of["q"].reshape(1, -1)
        python_of(kinematics.poses)(trace_arm(robot.arm, of), body, of["X_BF"], q, X, 0, 1)
        return {"X": X[0]}

    return _kinematics("pose", robot.arm, body, {"X_BF": X_BF}, {"X": (4, 4)}, trace)


def jacobian(robot: Assembly, body: int, X_BF: Floats) -> Formula:
    """Jacobian J, (6, n), of the origin of that frame; rows linear then angular, base axes."""
    made: dict[str, Indices] = {"J": (6, len(robot.arm.parent))}

    def trace(of: Arrays) -> Arrays:
        J = np.empty((1, *made["J"]), dtype=object)
        q = of["q"].reshape(1, -1)
        python_of(kinematics.jacobians)(trace_arm(robot.arm, of), body, of["point"], q, J, 0, 1)
        return {"J": J[0]}

    return _kinematics("jacobian", robot.arm, body, {"point": X_BF[:3, 3]}, made, trace)


def _kinematics(
    kind: str,
    arm: Arm,
    body: int,
    numbers: NamedArrays,
    made: dict[str, Indices],
    trace: Callable[[Arrays], Arrays],
) -> Formula:
    """A formula of joint positions and of numbers of a frame on a body."""
    patterns = geometry(arm)
    del patterns["gravity"]
    kinds = (kind, body, arm.parent.tolist(), arm.slides.tolist())
    return Formula(kinds, patterns, numbers, {"q": (len(arm.parent),)}, made, trace)

"""Robot: an arm with its drives, tool and names, and everything one may ask it."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError, FileError, check_known
from armtwin.files.atomic import write_file
from armtwin.files.covariance import beside
from armtwin.files.file_cache import FileCache
from armtwin.files.meshes import meshes_beside
from armtwin.maths.batch import (
    Floats,
    Indices,
    Names,
    TwoArrays,
    check_array,
    one_row,
    read_only,
    reusable,
    spread,
    stack_tables,
)
from armtwin.mechanics import kinematics
from armtwin.notebook import cards
from armtwin.notebook.sections import Report, Text
from armtwin.report.result import Result
from armtwin.robot import files
from armtwin.robot.dynamics import equations as dynamics
from armtwin.robot.dynamics.assembly import Assembly
from armtwin.robot.dynamics.equations import Linearisation
from armtwin.robot.dynamics.friction_columns import SURE, ContactStates, friction_over_motion
from armtwin.robot.dynamics.load_friction import beyond_gears, has_loads, load_dependent_friction
from armtwin.robot.formats.denavit_hartenberg import Convention
from armtwin.robot.kinematics.inverse import InverseKinematics
from armtwin.robot.kinematics.limits import Limits, motion_limits, position_limits
from armtwin.robot.parameters import Layout, Parameter, parameter_table, with_values
from armtwin.robot.plausibility import find_mistakes
from armtwin.robot.schema.checks import mounting_problems, problems
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.mounting import vector
from armtwin.robot.schema.provenance import Provenance, provenance
from armtwin.robot.showing import display
from armtwin.robot.uncertainty import Uncertainty, carry_covariance, uncertainty


@dataclass(frozen=True)
class Robot(Result):
    """An arm with its drives, as a robot file describes it; it never changes.

    Joint coordinates q, v, a are (..., n) in rad (m for prismatic joints); torques in N m (N).
    Leading dimensions are batches; large batches run on several threads.

    Attributes:
        description: The file's keys.
        origin: Where it came from.
    """

    description: Description
    origin: str = field(default="", compare=False)

    def __hash__(self) -> int:
        return hash((self.description.name, len(self.description.joint)))

    def __post_init__(self) -> None:
        self._refuse(problems(self.description))

    def _refuse(self, found: list[str]) -> None:
        if found:
            raise FileError(self.origin or f"robot '{self.description.name}'", found)

    @staticmethod
    def load(name_or_path: str | Path, *, allow_unphysical: bool = False, tip: str = "") -> Robot:
        """A shipped robot by its name, or a robot from a .toml or .urdf file.

        Args:
            name_or_path: Name or path.
            allow_unphysical: Keep bodies of a URDF that cannot exist, marked so, in place of
                refusing them.
            tip: Link of a URDF at the end of the chain that is wanted, as of an arm on a carrier;
                other joints are fixed at zero. "" takes all.
        """

        def read() -> Robot:
            description, origin = files.load(name_or_path, allow_unphysical, tip)
            return Robot(description, origin)

        path = files.path_of(name_or_path)
        return _LOADED.value(
            path, read, (allow_unphysical, tip), beside=(beside(path), meshes_beside(path))
        )

    @staticmethod
    def from_dh(path: str | Path, convention: Convention = "standard") -> Robot:
        """A robot of a Denavit-Hartenberg table alone: its kinematics, without masses.

        Args:
            path: Comma-separated file with a header of a, alpha, d, theta and, where wanted, type,
                name, link; a row for each joint.
            convention: "standard", or "modified" (Craig).
        """
        return Robot(*files.load_dh(Path(path), convention))

    def save(self, path: str | Path) -> None:
        """Write a robot file from which `load` makes an equal robot.

        The covariance of its parameters, where it has one, goes beside it as NAME.covariance.npz,
        surfaces of its links as NAME.meshes.npz.
        """
        files.save(self.description, Path(path))

    def to_urdf(self, path: str | Path) -> Names:
        """Write a URDF file of the same kinematics and bodies; what is mounted is its own link.

        Friction is written as far as URDF knows it, Coulomb and viscous; where it follows the
        posture, as it is at home.

        Returns:
            What the file does not hold or holds approximately, in phrases.
        """
        from armtwin.robot.formats.urdf_writing import to_urdf

        def friction_torque(v: Floats) -> Floats:
            return self.friction_torque(v, np.tile(self.home, (len(v), 1)))

        text, lost = to_urdf(self.assembly, friction_torque)
        write_file(Path(path), text)
        return lost

    # what is shown

    def __repr__(self) -> str:
        held = str(self.description.mounted)
        name = f"{self.name!r} with {held}" if held else repr(self.name)
        joints = cards.format_count(self.n, "joint")
        parameters = cards.format_count(len(self.parameters), "parameter")
        return cards.line("Robot", name, joints, parameters)

    def sections(self, *, sources: bool = True) -> Report:
        """Joints, bodies, drives and tools, and where its numbers come from.

        Args:
            sources: Whether every source is listed.
        """
        from armtwin.robot.showing.overview import describe_robot

        report = describe_robot(
            self.assembly,
            self.parameter_table,
            self.provenance,
            self.uncertainty,
            self.inverse_kinematics_kind,
            sources=sources,
        )
        return replace(report, verdict=tuple(Text(caution, "bad") for caution in self.cautions))

    def plot(self, q: ArrayLike | None = None, *, axes: Any = None) -> Any:
        """Draw the robot's skeleton in space with the names of its joints.

        Args:
            q: The posture, (n,); zero where none is given.
            axes: Axes with three dimensions; new ones where none are given.
        """
        what = f"one posture of the {self.n} joints of '{self.name}'"
        given = np.zeros(self.n) if q is None else q
        posture = check_array("q", given, (self.n,), what, single=True)
        pose = partial(self.forward_kinematics, posture)
        return display.draw_skeleton(self.assembly, pose, axes)

    # names and numbers

    @property
    def name(self) -> str:
        """Short name."""
        return self.description.name

    @cached_property
    def assembly(self) -> Assembly:
        """Packed arrays for the kernels."""
        return Assembly(self.description)

    @property
    def n(self) -> int:
        """Number of joint coordinates; joints that follow others have none."""
        return len(self.assembly.free)

    @cached_property
    def joint_names(self) -> Names:
        """Names of the joints, in the order of q."""
        return tuple(joint.name for joint in self.assembly.free_joints)

    @property
    def frame_names(self) -> Names:
        """Names that `frame=` understands."""
        return tuple(self.assembly.frames)

    @cached_property
    def parameter_table(self) -> tuple[Parameter, ...]:
        """Name, unit, group and value of every dynamic parameter."""
        return parameter_table(self.description)

    @property
    def layout(self) -> Layout:
        """Where each group of parameters lies in the vector."""
        return self.assembly.layout

    @property
    def parameter_names(self) -> Names:
        """Names of the dynamic parameters, in order."""
        return tuple(p.name for p in self.parameter_table)

    @cached_property
    def parameters(self) -> Floats:
        """Dynamic parameters φ, (p,)."""
        return read_only(np.array([p.value for p in self.parameter_table]))

    @cached_property
    def provenance(self) -> Provenance:
        """Where every number comes from, and what is missing."""
        return provenance(self.description)

    @cached_property
    def cautions(self) -> Names:
        """What is odd about its numbers and one mistake would explain, as sentences."""
        return tuple(hypothesis.sentence for hypothesis in find_mistakes(self.description))

    @cached_property
    def uncertainty(self) -> Uncertainty:
        """How well the parameters are known: their standard deviations and covariance."""
        return uncertainty(self.description)

    @cached_property
    def limits(self) -> Limits:
        """Largest speeds, accelerations and torques of the joints, (n,); inf where none is."""
        return motion_limits(self.assembly)

    @cached_property
    def position_limits(self) -> Floats:
        """Lower and upper limits of q, (2, n); ±inf where there is none."""
        return position_limits(self.assembly)

    @cached_property
    def home(self) -> Floats:
        """Posture at which analyses start, (n,): that of the file, else the middle of the ranges.

        A joint without limits is at 0.
        """
        wrist = self.description.wrist
        if wrist is not None:
            return read_only(np.array(wrist.home))
        lower, upper = self.position_limits
        limited = np.isfinite(lower) & np.isfinite(upper)
        middle = 0.5 * (np.where(limited, lower, 0.0) + np.where(limited, upper, 0.0))
        return read_only(middle)

    # other robots from this one

    def with_parameters(
        self,
        phi: ArrayLike,
        source: str = "derived: set by with_parameters",
        *,
        identified: ArrayLike | None = None,
    ) -> Robot:
        """The robot with other dynamic parameters; a body that cannot exist is refused by name.

        What was known of the deviations of the others stays known.

        Args:
            phi: The parameters, (p,).
            source: Where they come from.
            identified: Which come from there, (p,); the others keep their source, and those that
                keep their value their deviation. All by default.
        """
        shape = (len(self.parameters),)
        values = check_array("phi", phi, shape, "dynamic parameters", single=True)
        all_of_them = np.ones(len(values), dtype=bool)
        flags = all_of_them if identified is None else np.asarray(identified, dtype=bool)
        if flags.shape != values.shape:
            raise ArmtwinError(f"identified must have shape {values.shape}, got {flags.shape}")
        new = with_values(self.description, values, source, flags)
        renewed = {name for name, flag in zip(self.parameter_names, flags, strict=True) if flag}
        # its file has others: not to blame
        return self.with_description(new, "with these parameters", renewed)

    def with_description(
        self, description: Description, blamed: str = "", renewed: Collection[str] = ()
    ) -> Robot:
        """The robot with something of its description changed.

        What is known of the deviations of the parameters that did not change is kept.

        Args:
            description: The description with the changes.
            blamed: What of the robot is wrong if it is refused; else its file is.
            renewed: Names of parameters that were found anew, whether their value changed or not.
        """
        new = carry_covariance(self.description, description, renewed)
        origin = f"robot '{self.name}' {blamed}" if blamed else self.origin
        return Robot(new, origin).with_origin(self.origin)

    def with_gravity(self, gravity: ArrayLike, source: str = "") -> Robot:
        """The robot on a base with another gravity direction, (3,) [m/s²].

        Args:
            gravity: Gravity vector in the base frame; `mounting.gravity_of` gives it for a wall or
                a ceiling.
            source: Where it comes from, starting as sources do with "measured:" or the like.
        """
        g = check_array("gravity", gravity, (3,), "gravity in the base frame", single=True)
        sources = dict(self.description.source)
        sources.pop("gravity", None)
        if source:
            sources["gravity"] = source
        description = replace(self.description, gravity=vector(g), source=sources)
        return self.with_description(description)

    def with_origin(self, origin: str) -> Robot:
        """The same robot with another origin; it is not checked again."""
        robot = copy(self)
        object.__setattr__(robot, "origin", origin)
        return robot

    def with_numbers(self, description: Description) -> Robot:
        """A robot of the same groups with other numbers, which the caller answers for.

        It is not checked again: a draw of many that differ by a few per cent.
        """
        robot = object.__new__(Robot)
        object.__setattr__(robot, "description", description)
        object.__setattr__(robot, "origin", self.origin)
        return robot

    def with_tool(self, name: str | None) -> Robot:
        """The robot with a tool of its file on the flange; None takes the tool off."""
        return self._with_mounted("tool", name)

    def with_payload(self, name: str | None) -> Robot:
        """The robot with a payload of its file on the flange; None takes it off."""
        return self._with_mounted("payload", name)

    def _with_mounted(self, what: str, name: str | None) -> Robot:
        if name is not None:
            check_known(f"robot '{self.name}': {what}", name, getattr(self.description, what))
        mounted = replace(self.description.mounted, **{what: name or ""})
        key = mounted.tool, mounted.payload
        if key not in self._mounted:
            robot = self.with_numbers(replace(self.description, mounted=mounted))
            robot._refuse(mounting_problems(robot.description))  # nothing else has changed
            self._mounted[key] = robot
        return self._mounted[key]

    @cached_property
    def _mounted(self) -> dict[tuple[str, str], Robot]:
        """The robot with tools and payloads on it, none of which is made twice."""
        return {}

    # kinematics

    def forward_kinematics(self, q: ArrayLike, frame: str = "tool") -> Floats:
        """Pose of a frame in the base frame, (..., 4, 4)."""
        lead, (q,) = self._states(q=q)
        return dynamics.poses(self.assembly, frame, q).reshape(*lead, 4, 4)

    def origins(self, q: ArrayLike, frames: Sequence[str]) -> Floats:
        """Where the origins of frames are in the base frame, (..., k, 3)."""
        lead, (q,) = self._states(q=q)
        found = [self.assembly.frame(frame) for frame in frames]
        bodies = np.array([body for body, _ in found], dtype=np.int64)
        points = np.array([X_BF[:3, 3] for _, X_BF in found])
        m, k = len(q), len(frames)
        P = np.empty((m, k, 3))
        spread(kinematics.places, m, k * self.n, self.assembly.arm, bodies, points, q, P)
        return P.reshape(*lead, k, 3)

    def jacobian(self, q: ArrayLike, frame: str = "tool") -> Floats:
        """Velocity of a frame per joint speed, (..., 6, n); rows linear then angular, base axes."""
        lead, (q,) = self._states(q=q)
        return self._torques(dynamics.jacobians(self.assembly, frame, q), (*lead, 6))

    @cached_property
    def inverse(self) -> InverseKinematics:
        """Inverse kinematics of the tool, for paths that may leave the reach."""
        return InverseKinematics(self.assembly, self.position_limits)

    @property
    def inverse_kinematics_kind(self) -> str:
        """ "closed form", or "numerical" with the reason."""
        reason = self.inverse.recognised
        return f"numerical ({reason})" if isinstance(reason, str) else "closed form"

    def inverse_kinematics(
        self, X: ArrayLike, within_limits: bool = False, elbow: ArrayLike | None = None
    ) -> Floats:
        """Every joint position that puts the tool at one pose X (4, 4); (k, n), k may be 0.

        Angles are in (-π, π]; within limits, an angle is turned by 2π where only that is allowed.
        Where a pose leaves an angle undetermined (wrist straight), it is 0 in the one solution
        given. Of redundant arms, whose solutions are not countable, those at elbow angles are given
        where there are seven revolute joints, and 60 or fewer of all others.

        Args:
            X: The pose.
            within_limits: Whether only positions within the joint limits are given.
            elbow: Elbow angle or angles [rad] of a seven-axis arm as of `elbow_angle`; by default
                every 30 degrees.
        """
        if within_limits:
            return self.inverse.solutions_within(X, elbow)
        return self.inverse.solutions(X, elbow)

    def elbow_angle(self, q: ArrayLike) -> Floats:
        """Angle of a seven-axis arm's elbow about the line from shoulder to wrist, (...) [rad].

        At 0 the elbow lies in the plane of axis 1 and that line, on the side to which axis 1
        points; angles turn about the line, towards the wrist.

        Ref: [Shimizu-Kakuya-Yoon 2008]
        """
        lead, (q,) = self._states(q=q)
        return self.inverse.elbow_angle(q).reshape(lead)

    def why_unreachable(self, X: ArrayLike, elbow: float | None = None) -> str:
        """Why the tool cannot be put at one pose X (4, 4), as a sentence.

        Args:
            X: The pose.
            elbow: Elbow angle at which it shall be there [rad].
        """
        return self.inverse.why_unreachable(X, elbow)

    def follow(self, X: ArrayLike, q0: ArrayLike, elbow: float | None = None) -> Floats:
        """Joint path (m, n) that takes the tool along poses X (m, 4, 4).

        It starts with the solution nearest to q0, stays on one branch and turns on beyond half a
        turn; joint limits are not looked at. A redundant arm takes the shortest steps of its joints
        [rad, m] from pose to pose.

        Args:
            X: The poses.
            q0: Joint position near which it starts, (n,).
            elbow: Elbow angle that a seven-axis arm holds [rad], as of `elbow_angle`.
        """
        return self.inverse.follow(X, q0, elbow)

    # dynamics

    def inverse_dynamics(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        wrench: ArrayLike | None = None,
        *,
        out: Floats | None = None,
    ) -> Floats:
        """Joint torques for a motion, with rotors and balancers, without friction, (..., n).

        Args:
            q: Joint positions.
            v: Joint speeds.
            a: Joint accelerations.
            wrench: Force [N] and torque [N m] that the surroundings exert on the tool, at the tool
                point, base axes, (..., 6).
            out: Earlier torques for as many samples, (m, n), whose memory is used again.
        """
        lead, (positions, speeds, accelerations) = self._states(q=q, v=v, a=a)
        memory = reusable(out, positions.shape)
        tau = dynamics.inverse_dynamics(self.assembly, positions, speeds, accelerations, out=memory)
        tau = self._torques(tau, lead)
        if wrench is None:
            return tau
        force = check_array("wrench", wrench, (6,), "force and torque on the tool")
        try:
            return tau - np.einsum("...ij,...i->...j", self.jacobian(q), force)
        except ValueError:
            contract = "leading dimensions of q and wrench must agree or broadcast"
            got = f"{np.shape(q)} and {force.shape}"
            raise ArmtwinError(f"{contract}, got {got}") from None

    def mass_matrix(self, q: ArrayLike) -> Floats:
        """Mass matrix M with the rotors, (..., n, n)."""
        lead, (q,) = self._states(q=q)
        return self._matrices(dynamics.mass_matrix(self.assembly, q), lead)

    def bias(self, q: ArrayLike, v: ArrayLike) -> Floats:
        """Torques h = C v + g that hold without acceleration, balancers included, (..., n)."""
        return self.inverse_dynamics(q, v, np.zeros(self.n))

    def gravity(self, q: ArrayLike) -> Floats:
        """Torques that hold the robot at rest against weight and balancers, (..., n)."""
        return self.inverse_dynamics(q, np.zeros(self.n), np.zeros(self.n))

    def forward_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Floats:
        """Accelerations under joint torques, friction left out, (..., n)."""
        if self.assembly.coupling is not None:
            return self._solve_coupled_dynamics(q, v, tau)
        lead, tables = self._states(q=q, v=v, tau=tau)
        return dynamics.forward_dynamics(self.assembly, *tables).reshape(*lead, self.n)

    def _solve_coupled_dynamics(self, q: ArrayLike, v: ArrayLike, tau: ArrayLike) -> Floats:
        """Accelerations where joints follow others: M a = τ - h in the free coordinates."""
        force = check_array("tau", tau, (self.n,), "joint torques") - self.bias(q, v)
        try:
            a = np.linalg.solve(self.mass_matrix(q), force[..., None])
        except np.linalg.LinAlgError:
            contract = f"robot '{self.name}': the mass matrix must be positive definite"
            raise ArmtwinError(contract) from None
        return np.asarray(a[..., 0], dtype=np.float64)

    def friction_torque(
        self, v: ArrayLike, q: ArrayLike | None = None, a: ArrayLike | None = None
    ) -> Floats:
        """Steady sliding friction on the joints, (..., n); 0 where a row is at rest.

        Args:
            v: Joint speeds, (..., n) [rad/s].
            q: Joint positions, where a linkage or a load needs them.
            a: Joint accelerations, with which friction that follows the load of gears is that of
                the motion; without them it is `load_dependent_friction` less.
        """
        lead, speeds, positions = self._speeds(v, q)
        tau = friction_over_motion(self.assembly.friction, speeds, positions)
        found = self._torques(tau, lead)
        if a is None or q is None or not has_loads(self.assembly):
            return found
        return found + self.load_dependent_friction(q, v, a)

    def load_dependent_friction(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Floats:
        """Friction that the load of gears adds to `friction_torque`, (..., n)."""
        lead, (positions, speeds, accelerations) = self._states(q=q, v=v, a=a)
        if not has_loads(self.assembly):
            return np.zeros((*lead, self.n))
        rigid = dynamics.inverse_dynamics(self.assembly, positions, speeds, accelerations)
        on_links = beyond_gears(self.assembly, rigid, speeds, accelerations)
        tau = load_dependent_friction(self.assembly, on_links, speeds)
        return self._torques(tau, lead)

    def energy(self, q: ArrayLike, v: ArrayLike) -> TwoArrays:
        """Kinetic energy with rotors and potential energy with balancers, each (...) [J]."""
        lead, tables = self._states(q=q, v=v)
        kinetic, potential = dynamics.energy(self.assembly, *tables)
        return kinetic.reshape(lead), potential.reshape(lead)

    def regressor(
        self,
        q: ArrayLike,
        v: ArrayLike,
        a: ArrayLike,
        *,
        contacts: ContactStates = SURE,
        out: Floats | None = None,
    ) -> Floats:
        """Y with Y @ parameters = inverse_dynamics + friction_torque, (..., n, p).

        Args:
            q: Joint positions.
            v: Joint speeds.
            a: Joint accelerations.
            contacts: What is known of the contacts of friction beside the speeds.
            out: An earlier regressor of this robot for as many samples, whose memory is used again.
        """
        lead, (positions, speeds, accelerations) = self._states(q=q, v=v, a=a)
        p = len(self.parameters)
        shape = (*positions.shape, p)
        Y = reusable(out, shape)
        if Y is None:
            Y = np.zeros(shape)
        known = self._contacts(contacts)
        dynamics.full_regressor(self.assembly, (positions, speeds, accelerations), Y, known)
        return self._columns(Y).reshape(*lead, self.n, p)

    def friction_regressor(
        self, v: ArrayLike, q: ArrayLike | None = None, contacts: ContactStates = SURE
    ) -> Floats:
        """Columns of the regressor for friction, (..., n, k).

        Args:
            v: Joint speeds.
            q: Joint positions, only where a linkage needs them.
            contacts: What is known of the contacts beside the speeds.
        """
        lead, speeds, positions = self._speeds(v, q)
        known = self._contacts(contacts)
        Y = dynamics.friction_regressor(self.assembly, speeds, positions, known)
        k = Y.shape[2]
        return self._columns(Y).reshape(*lead, self.n, k)

    def weight_regressor(self, q: ArrayLike) -> Floats:
        """Torque per mass and first moments of the links at rest, (..., n, 3, links, 4).

        Gravity is 1 along each base axis; that of the regressor is a sum of these.
        """
        lead, (positions,) = self._states(q=q)
        falling = dynamics.weight_regressor(self.assembly, positions)
        m, joints, *shape = falling.shape
        Y = self._columns(falling.reshape(m, joints, -1))
        return Y.reshape(*lead, self.n, *shape)

    def motor_inertia(self, q: ArrayLike) -> Floats:
        """Inertia that each motor feels while the others hold, (..., motors) [kg m²].

        It is the diagonal of N⁻ᵀ M N⁻¹.
        """
        back = self.assembly.motor_inverse
        return np.einsum("im,...ij,jm->...m", back, self.mass_matrix(q), back)

    def linearise(self, q: ArrayLike, v: ArrayLike, a: ArrayLike) -> Linearisation:
        """Linear equations of motion about a state, without friction: M δa + D δv + K δq = δτ."""
        lead, (positions, speeds, accelerations) = self._states(q=q, v=v, a=a)
        parts = dynamics.linearise(self.assembly, positions, speeds, accelerations)
        return Linearisation(*(self._matrices(part, lead) for part in parts))

    # borders

    def _states(self, **arrays: ArrayLike) -> tuple[Indices, list[Floats]]:
        """Checked (m, joints) tables of joint quantities, with their common leading shape."""
        lead, tables = one_row(arrays.values(), self.n) or self._checked(arrays)
        coupling = self.assembly.coupling
        if coupling is None:
            return lead, tables
        joints = []
        for name, table in zip(arrays, tables, strict=True):
            shift = coupling.c if name == "q" else 0.0
            joints.append(table @ coupling.G.T + shift)
        return lead, joints

    def _checked(self, arrays: Mapping[str, ArrayLike]) -> tuple[Indices, list[Floats]]:
        what = f"one value for each of the {self.n} joints of '{self.name}'"
        states = [check_array(name, x, (self.n,), what) for name, x in arrays.items()]
        return stack_tables(*states)

    def _speeds(self, v: ArrayLike, q: ArrayLike | None) -> tuple[Indices, Floats, Floats | None]:
        """Checked tables of joint speeds and, where given, positions."""
        if q is None:
            lead, (speeds,) = self._states(v=v)
            return lead, speeds, None
        lead, (speeds, positions) = self._states(v=v, q=q)
        return lead, speeds, positions

    def _contacts(self, contacts: ContactStates) -> ContactStates:
        """What is known of contacts as tables, doubts of coordinates as those of all joints."""
        if contacts is SURE:
            return SURE
        bends, doubt = contacts
        if bends is not None:
            bends = bends.reshape(-1, bends.shape[-1])
        if doubt is not None:
            _, (doubt,) = self._states(doubt=doubt)
        return ContactStates(bends, doubt)

    def _torques(self, tau: Floats, lead: Indices) -> Floats:
        """Torques of all joints as those of the coordinates, (..., n)."""
        coupling = self.assembly.coupling
        own = tau if coupling is None else coupling.torques(tau)
        return own.reshape(*lead, self.n)

    def _matrices(self, M: Floats, lead: Indices) -> Floats:
        """Matrices of all joints as those of the coordinates, (..., n, n)."""
        coupling = self.assembly.coupling
        own = M if coupling is None else coupling.matrices(M)
        return own.reshape(*lead, self.n, self.n)

    def _columns(self, Y: Floats) -> Floats:
        return Y if self.assembly.coupling is None else self.assembly.coupling.G.T @ Y


MOST_LOADED = 32  # robots
_LOADED: FileCache[Robot] = FileCache(MOST_LOADED)

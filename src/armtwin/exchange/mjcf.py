"""The twin as an MJCF file: bodies, rotors, friction, struts, springs, servo, for MuJoCo >= 4.

Every motor is a fixed tendon over the coordinates that it turns, with its rotor as armature and its
servo as `pid`; every friction element acts on a tendon of its own row; an elastic gear has a joint
for its drive side. Coordinates are joints in their order, so that qpos are those of the twin.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement

import numpy as np
from numpy.typing import ArrayLike

from armtwin.control import controller as control
from armtwin.errors import ArmtwinError
from armtwin.exchange.reductions import (
    FrictionForm,
    RowFriction,
    StrutSpring,
    fit_friction,
    fit_strut,
)
from armtwin.maths.batch import Floats, Names, Sentences
from armtwin.mechanics.inertia import about_centre
from armtwin.robot.dynamics.bodies import lump_mounted_load, parameters_of
from armtwin.robot.dynamics.sag import Outside, holding_torques
from armtwin.robot.kinematics.strokes import drive_forces
from armtwin.robot.robot import Robot
from armtwin.robot.showing.scene import robot_figure, sides
from armtwin.simulation.model import Model
from armtwin.simulation.prepared import PreparedRun, mass_matrix, servo_of

FILTERS = ("input", "feedback", "output", "feedforward")
PLACEHOLDER = 1e-9  # mass and inertia of what MuJoCo would refuse without any [kg, kg m²]
STEPS_A_RADIAN = 4.0  # steps in which the fastest spring turns its phase by a radian
STEPS_A_BRISTLE = 1.0  # the same of bristles, twice what just does not run away
THICK = 0.03  # radius of links that are drawn, as a share of the robot's size
UNSEEN = {"contype": "0", "conaffinity": "0", "mass": "0", "group": "2"}


class PidServo(NamedTuple):
    """The servo of every motor as MuJoCo has it, with what its user feeds forward.

        torque = kp (pos - q_m) + kv (vel - v_m) + ki ∫(pos - q_m) + ff
        ff = forward · (v_ref, a_ref, τ_ref, sign(v_ref)) + held

    Attributes:
        kp, ki, kv: Gains, (motors,).
        forward: Factors of what is fed forward, (4, motors).
        held: Torque that holds the robot at first, where no integral does, (motors,) [N m].
        preload: Integrals that do, (motors,).
    """

    kp: Floats
    ki: Floats
    kv: Floats
    forward: Floats
    held: Floats
    preload: Floats

    def commands(self, ref: Floats) -> Floats:
        """Position, speed and ff of references, (k, REFERENCES, motors): (k, motors, 3)."""
        position, speed, acceleration, torque, _ = np.moveaxis(ref, 1, 0)
        fed = np.stack([speed, acceleration, torque, np.sign(speed)])
        ff = np.einsum("fm,fkm->km", self.forward, fed) + self.held
        return np.stack([position, speed, ff], axis=2)


@dataclass(frozen=True, eq=False)
class Mjcf:
    """A twin as MuJoCo has it.

    Attributes:
        text: The file.
        friction: Its friction.
        struts: Its struts, None for one that is left out.
        servo: Its servo.
        lost: What of the twin it does not have, in phrases.
    """

    text: str
    friction: tuple[RowFriction, ...]
    struts: tuple[StrutSpring | None, ...]
    servo: PidServo
    lost: Names


def to_mjcf(run: PreparedRun, model: Model, form: FrictionForm) -> Mjcf:
    """A twin that holds its first set-point, as MJCF.

    Args:
        run: The run; its state is the keyframe called home.
        model: What it was prepared for.
        form: Friction as LuGre elements, or as frictionloss and damping.
    """
    robot = run.coordinates.built
    limits = np.clip(robot.position_limits.T, -np.pi, np.pi)
    struts = tuple(fit_strut(s, limits[s.joint]) for s in robot.assembly.struts)
    friction, servo = fit_friction(run.plant.friction, form), _pid(run, model)
    writer = _Writer(run, robot, _timestep(run, friction))
    writer.put_bodies()
    writer.put_looks()
    writer.put_motors(servo)
    writer.put_friction(friction)
    writer.put_springs()
    for k, spring in enumerate(struts):
        if spring is not None:
            writer.put_strut(k, spring)
    writer.put_home(servo, sum(len(f.bristles) for f in friction))
    ElementTree.indent(writer.root)
    text = ElementTree.tostring(writer.root, "unicode") + "\n"
    return Mjcf(text, friction, struts, servo, tuple(_lost(run, model, struts)))


def check_tree(robot: Robot) -> None:
    """Refuse what is no tree of joints with motors."""
    described = robot.description
    kinds = {"closed loops": described.loop, "hydraulic drives": described.hydraulic}
    kinds["joints that follow others"] = tuple(j for j in described.joint if j.mimic)
    for kind, groups in kinds.items():
        if groups:
            raise ArmtwinError(f"robot '{robot.name}' has {kind}, which an MJCF file does not hold")


def coordinate_names(run: PreparedRun) -> list[str]:
    """Names of the joints of an MJCF file, in the order of the coordinates."""
    places = run.coordinates
    names = [*places.built.joint_names, *[""] * (places.count - places.bodies)]
    for name, drive, link in zip(run.robot.joint_names, places.drive, places.link, strict=True):
        if drive != link:
            names[drive] = f"{name}_drive"
    for motor, side in zip(run.robot.description.motor, places.motor, strict=True):
        if side >= 0:
            names[side] = f"{motor.name}_side"
    return names


def put(parent: Element, tag: str, **values: Any) -> Element:
    """An element with attributes: words as they are, numbers so that they read back exactly."""
    element = SubElement(parent, tag)
    for name, value in values.items():
        numbers = np.ravel(value).tolist()
        words = [x if isinstance(x, str) else repr(x) for x in numbers]
        element.set(name, " ".join(words))
    return element


class _Writer:
    """Writes the parts of a twin into a file."""

    def __init__(self, run: PreparedRun, robot: Robot, step: float) -> None:
        self.run, self.robot, self.names = run, robot, coordinate_names(run)
        self.root = root = Element("mujoco", {"model": robot.name})
        put(root, "compiler", angle="radian", autolimits="true")
        gravity = robot.assembly.arm.gravity
        put(root, "option", timestep=step, integrator="implicitfast", gravity=gravity)
        parts = ("asset", "worldbody", "tendon", "actuator")
        self.assets, world, self.tendons, self.actuators = (put(root, part) for part in parts)
        self.bodies = {-1: world}

    def put_bodies(self) -> None:
        """Links with their joints and frames, what is mounted, and sides of drives."""
        robot = self.robot
        tree, described = robot.assembly.tree, robot.description
        own = {link.name: parameters_of(link.body) for link in described.link}
        for i, (parent, joint) in enumerate(zip(tree.parents, tree.joints, strict=True)):
            body = put(
                self.bodies[parent], "body", name=joint.child, **_pose(joint.origin.matrix())
            )
            kind = "slide" if joint.type == "prismatic" else "hinge"
            element = put(body, "joint", name=joint.name, type=kind, axis=joint.axis)
            if np.isfinite(robot.position_limits[:, i]).all():
                element.set("range", " ".join(map(repr, robot.position_limits[:, i].tolist())))
            _put_mass(body, own[joint.child])
            self.bodies[i] = body
        for name, (i, X) in robot.assembly.frames.items():
            if name not in own:
                put(self.bodies[i], "site", name=name, **_pose(X))
        load = lump_mounted_load(described)
        if load.any():
            carrier, _ = robot.assembly.frame("flange")
            _put_mass(put(self.bodies[carrier], "body", name="mounted"), load)
        self.put_sides()

    def put_sides(self) -> None:
        """Sides of drives; behind the last coordinate that a motor turns with them.

        MuJoCo has no entries of the mass matrix for joints of different branches.
        """
        rows = self.run.coordinates.motor_rows
        for k in range(self.run.coordinates.bodies, len(self.names)):
            shared = rows[rows[:, k] != 0][:, :k].any(axis=0)
            last = int(np.flatnonzero(shared)[-1]) if shared.any() else -1
            name = self.names[k]
            body = put(self.bodies[last], "body", name=name)
            put(body, "joint", name=name, axis="0 0 1")
            _put_mass(body, np.zeros(10))
            self.bodies[k] = body

    def put_looks(self) -> None:
        """Meshes of links that have some, else capsules; none of them touches anything."""
        worn = set()
        meshes = self.robot.description.meshes
        for mesh in () if meshes is None else meshes.links:
            # a surface that is not closed has no volume
            surface = {"inertia": "shell", "vertex": mesh.corners, "face": mesh.faces}
            put(self.assets, "mesh", name=mesh.link, **surface)
            body = self.robot.assembly.tree.body(mesh.link)
            worn.add(body)
            put(self.bodies[body], "geom", type="mesh", mesh=mesh.link, **UNSEEN)
        figure = robot_figure(self.robot)
        radius = THICK * figure["size"]
        for bar in figure["bars"]:
            if np.linalg.norm(bar["to"]) > radius and bar["body"] not in worn:
                ends = [bar["from"], bar["to"]]
                put(
                    self.bodies[bar["body"]],
                    "geom",
                    type="capsule",
                    fromto=ends,
                    size=radius,
                    **UNSEEN,
                )

    def put_row(self, name: str, row: Floats, **more: Any) -> None:
        """A fixed tendon whose length is a row of the coordinates."""
        tendon = put(self.tendons, "fixed", name=name, **more)
        for joint, weight in zip(self.names, row.tolist(), strict=True):
            if weight:
                put(tendon, "joint", joint=joint, coef=weight)

    def put_motors(self, servo: PidServo) -> None:
        """Rotors as armature, servos and limits of torque."""
        outputs = self.run.plant.outputs
        largest = outputs.torque * outputs.limit
        for k, motor in enumerate(self.run.robot.description.motor):
            self.put_row(
                motor.name, self.run.coordinates.motor_rows[k], armature=motor.rotor_inertia
            )
            gains = {"kp": servo.kp[k], "kv": servo.kv[k], "ki": servo.ki[k]}
            bound = {"forcerange": [-largest[k], largest[k]]} if np.isfinite(largest[k]) else {}
            pid = {"tendon": motor.name, "input": "pos vel ff", **gains, **bound}
            put(self.actuators, "pid", name=motor.name, **pid)

    def put_friction(self, friction: Sequence[RowFriction]) -> None:
        """Each element on the tendon of its row."""
        elements = self.run.robot.assembly.friction if friction else ()
        for f, (element, _) in zip(friction, elements, strict=True):
            name = f"friction_{element.name}"
            row = self.run.plant.rows.weights[f.row]
            self.put_row(name, row, damping=f.damping, frictionloss=f.loss)
            passive = {"tendon": name, "input": "none", "resistance": "1", "motorconst": "0"}
            for k, bristle in enumerate(f.bristles, 1):
                put(self.actuators, "dcmotor", name=f"{name}_{k}", **passive, lugre=bristle)
            if f.offset:  # cogging that does not repeat is a constant torque
                constant = [-f.offset, 0.0, np.pi / 2]
                put(self.actuators, "dcmotor", name=f"{name}_offset", **passive, cogging=constant)

    def put_springs(self) -> None:
        """Springs of elastic gears and links, with their gaps."""
        for compliance in self.run.coordinates.elastic:
            spring, name = compliance.spring, f"spring_{compliance.name}"
            force = {"stiffness": spring.stiffness, "damping": spring.damping}
            gap = [-spring.backlash / 2, spring.backlash / 2]
            self.put_row(name, compliance.twist, springlength=gap, **force)
            if compliance.ground_damping:
                ground = f"ground_{compliance.name}"
                self.put_row(ground, compliance.driving, damping=compliance.ground_damping)

    def put_strut(self, k: int, spring: StrutSpring) -> None:
        """A strut between two pins at the sides of its triangle, square to the joint's axis."""
        assembly, name = self.robot.assembly, self.robot.description.balancer[k].name
        strut = assembly.struts[k]
        if any(spring.turning):
            row = np.eye(self.run.coordinates.count)[strut.joint]
            self.put_row(f"{name}_turn", row, stiffness=spring.turning, springlength=spring.turn)
        axis, angle = assembly.arm.axis[strut.joint], strut.linkage.angle
        along = np.linalg.svd(axis[None])[2][1]
        across = np.cross(axis, along)
        long, short = sides(strut.linkage)
        X = assembly.tree.joints[strut.joint].origin.matrix()
        pins = {
            assembly.tree.parents[strut.joint]: X[:3, :3] @ (long * along) + X[:3, 3],
            strut.joint: short * (np.cos(angle) * along + np.sin(angle) * across),
        }
        pull = {"stiffness": spring.stiffness, "springlength": spring.free}
        tendon = put(self.tendons, "spatial", name=name, **pull)
        for end, (body, place) in zip("ab", pins.items(), strict=True):
            put(self.bodies[body], "site", name=f"{name}_{end}", pos=place)
            put(tendon, "site", site=f"{name}_{end}")

    def put_home(self, servo: PidServo, bristles: int) -> None:
        """A keyframe at the first set-point; the file has its joints depth first."""
        places = dict(zip(self.names, self.run.state.u.tolist(), strict=True))
        position = [places[joint.attrib["name"]] for joint in self.bodies[-1].iter("joint")]
        active = [*servo.preload[servo.ki > 0].tolist(), *[0.0] * bristles]
        ctrl = servo.commands(self.run.inputs.ref[:1])
        keys = put(self.root, "keyframe")
        put(keys, "key", name="home", qpos=position, act=active, ctrl=ctrl)


def _put_mass(body: Element, ten: Floats) -> None:
    mass, centre, J = float(ten[0]), np.zeros(3), PLACEHOLDER * np.eye(3)
    if ten.any():
        centre, J = ten[1:4] / mass, about_centre(ten)
    six = [J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2]]
    put(body, "inertial", mass=max(mass, PLACEHOLDER), pos=centre, fullinertia=six)


def _pose(X: Floats) -> dict[str, Floats]:
    """Position, and two axes of a rotation as they are."""
    return {"pos": X[:3, 3], "xyaxes": X[:3, :2].T}


def _timestep(run: PreparedRun, friction: Sequence[RowFriction]) -> float:
    """The servo's tick, or a whole fraction of it that resolves springs and holds bristles.

    MuJoCo integrates springs with the new speed, bristles with the old one.
    """
    springs, bristles = run.plant.springs, [sum(b.stiffness for b in f.bristles) for f in friction]
    fastest = _fastest(run, springs.row, springs.stiffness)
    bristling = _fastest(run, [f.row for f in friction], bristles)
    tick = run.controller.tick
    steps = tick * max(STEPS_A_RADIAN * fastest, STEPS_A_BRISTLE * bristling)
    return tick / max(1, int(np.ceil(steps)))


def _fastest(run: PreparedRun, rows: ArrayLike, stiffness: ArrayLike) -> float:
    """Largest natural frequency of a run's masses on springs along rows [rad/s].

    det(Σ s k sᵀ - ω² M) = 0
    """
    s = run.plant.rows.weights[np.asarray(rows, dtype=int)]
    M = mass_matrix(run.coordinates.built, run.plant, run.state.u)
    squares = np.linalg.eigvals(np.linalg.solve(M, s.T * np.asarray(stiffness) @ s)).real
    return float(np.sqrt(squares.max()))


def _pid(run: PreparedRun, model: Model) -> PidServo:
    """Gains of the servo as one PID a motor; those of a velocity loop with integral as well."""
    gains, places = run.controller.gains.T, run.coordinates
    reset = control.equation(servo_of(run.robot, model), gains.shape[1]).reset
    velocity = 0.0 if reset is None else np.array(reset)
    kp, ki, kv = gains[control.KP], gains[control.KI], gains[control.KV]
    speed = gains[control.KVF] - kv
    acceleration = gains[control.KAFV] + gains[control.KAFC]
    torque = gains[control.KTFV] + gains[control.KTFC]
    forward = np.stack([speed, acceleration, torque, gains[control.COULOMB]])
    static = holding_torques(places, run.state.u, Outside())[places.own]
    force = drive_forces(run.robot, run.motion.q[:1], static[None])[0]
    held = force - torque * run.inputs.ref[0, control.TORQUE]
    integral = ki + velocity * kp
    preload = np.divide(held, integral, out=np.zeros_like(held), where=integral > 0)
    by_hand = np.where(integral > 0, 0.0, held)
    pid = kp + velocity * kv, integral, kv + gains[control.KD]
    return PidServo(*pid, forward, by_hand, preload)


def _lost(run: PreparedRun, model: Model, struts: Iterable[StrutSpring | None]) -> Sentences:
    """What of the twin the file does not have, in phrases."""
    robot, servo = run.robot, servo_of(run.robot, model)
    described = robot.description
    elements = described.active_friction() if run.plant.friction.kind else ()
    filters = [getattr(servo, f"{name}_filter", None) for name in FILTERS]
    springs = [compliance.spring for compliance in run.coordinates.elastic]
    sampled = run.controller
    shaped = np.delete(sampled.shaping, control.SIGN_SPEED, axis=1)
    absent = {
        "rates of the servo: its loops run at every step": True,
        "filters of the servo": any(filters),
        "delays of sensors, outputs and set-points": any(map(any, vars(servo.delay).values())),
        "shaping of the servo's reference": bool(shaped.any()),
        "encoders on the links: the servo reads the motors": "link"
        in getattr(servo, "feedback", ()),
        "steps of currents and encoders": model.quantise,
        "stop on following errors": bool(np.isfinite(sampled.gains[:, control.ERROR_LIMIT]).any()),
        "directions of friction: their mean is written": any(e.negative for e in elements),
        "friction that follows temperature": any(e.thermal for e in elements),
        "friction that follows the load of a gear": any(e.follows_load for e in elements),
        "ripple of gears": bool(run.coordinates.rippling),
        "springs that are softer at low torque": any(s.low_stiffness for s in springs),
        "gyroscopic torques of rotors": bool(len(run.plant.rotors.body)),
        "limits of acceleration and speed": bool(np.isfinite(robot.limits.velocity).any()),
    }
    yield from (phrase for phrase, holds in absent.items() if holds)
    for balancer, spring in zip(described.balancer, struts, strict=True):
        if spring is None:
            yield f"{balancer.name}, whose force no cubics have"
        elif spring.error:
            share = 100 * spring.error / spring.largest
            yield f"force of {balancer.name} to {share:.1g} % (cubics of length and angle)"

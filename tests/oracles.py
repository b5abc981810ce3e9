"""The same random or shipped arm built three times: as a Robot, in Pinocchio, in MuJoCo."""

from dataclasses import dataclass, replace

import mujoco
import numpy as np
import pinocchio

import armtwin as at
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.groups import Body, Joint, Link, Pose, SixInertias


@dataclass
class Arm:
    """Raw numbers of a tree of bodies; inertias about the centre of mass in link axes."""

    parents: list
    slides: list
    origins: np.ndarray
    axes: np.ndarray
    masses: np.ndarray
    centres: np.ndarray
    inertias: np.ndarray
    gravity: np.ndarray


def random_rotation(rng):
    Q, R = np.linalg.qr(rng.normal(size=(3, 3)))
    Q = Q * np.sign(np.diag(R))
    return Q * np.sign(np.linalg.det(Q))


def random_arm(rng, n):
    """A tree with random branches, frames, axes, prismatic joints, bodies and a tilted base."""
    origins = np.tile(np.eye(4), (n, 1, 1))
    inertias = np.empty((n, 3, 3))
    for i in range(n):
        origins[i, :3, :3], origins[i, :3, 3] = random_rotation(rng), rng.normal(size=3) * 0.4
        points = rng.normal(size=(8, 3)) * 0.2  # a body made of eight point masses is always real
        points -= points.mean(axis=0)
        inertias[i] = sum((p @ p) * np.eye(3) - np.outer(p, p) for p in points) * rng.uniform(
            0.2, 3
        )
    axes = rng.normal(size=(n, 3))
    parents = [-1]
    for i in range(
        1, n
    ):  # depth first, as Pinocchio needs it: from the last body or one of its ancestors
        parent = i - 1
        while parent >= 0 and rng.uniform() < 0.3:
            parent = parents[parent]
        parents.append(parent)
    return Arm(
        parents=parents,
        slides=[bool(x) for x in rng.uniform(size=n) < 0.3],
        origins=origins,
        axes=axes / np.linalg.norm(axes, axis=1)[:, None],
        masses=rng.uniform(0.5, 20, size=n),
        centres=rng.normal(size=(n, 3)) * 0.2,
        inertias=inertias,
        gravity=random_rotation(rng) @ [0, 0, 9.81],
    )


def arm_of(robot):
    """Raw numbers of a shipped robot's bodies, read from its description and parameters."""
    tree = robot.assembly.tree
    tens = robot.parameters[: 10 * robot.n].reshape(-1, 10)
    masses = tens[:, 0]
    centres = np.array([t[1:4] / t[0] if t[0] else np.zeros(3) for t in tens])
    inertias = []
    for m, c, t in zip(masses, centres, tens, strict=True):
        J = np.array([[t[4], t[7], t[8]], [t[7], t[5], t[9]], [t[8], t[9], t[6]]])
        inertias.append(J - m * ((c @ c) * np.eye(3) - np.outer(c, c)))
    return Arm(
        parents=list(tree.parents),
        slides=[j.type == "prismatic" for j in tree.joints],
        origins=np.array([j.origin.matrix() for j in tree.joints]),
        axes=np.array([np.array(j.axis) / np.linalg.norm(j.axis) for j in tree.joints]),
        masses=masses,
        centres=centres,
        inertias=np.array(inertias),
        gravity=np.array(robot.description.gravity),
    )


def bodies_only(robot):
    """The robot without rotors, balancers and friction: what the other libraries model."""
    return at.Robot(
        replace(
            robot.description,
            motor=(),
            gear=None,
            balancer=(),
            friction=(),
            friction_set="",
            servo={},
            standard_deviation=None,
        )
    )


def as_robot(arm):
    names = ["base", *(f"link_{i + 1}" for i in range(len(arm.parents)))]
    joints, links = [], []
    for i, parent in enumerate(arm.parents):
        kind = "prismatic" if arm.slides[i] else "revolute"
        origin = Pose.from_matrix(arm.origins[i])
        joints.append(
            Joint(
                f"joint_{i + 1}",
                names[parent + 1],
                names[i + 1],
                "assumed: random",
                kind,
                origin,
                tuple(arm.axes[i]),
            )
        )
        J = arm.inertias[i]
        six = SixInertias(J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        links.append(
            Link(
                names[i + 1],
                "assumed: random",
                Body(arm.masses[i], tuple(arm.centres[i]), None, six),
            )
        )
    return at.Robot(Description("random", tuple(joints), tuple(links), gravity=tuple(arm.gravity)))


def as_pinocchio(arm):
    model = pinocchio.Model()
    model.gravity.linear = arm.gravity
    for i, parent in enumerate(arm.parents):
        kind = (
            pinocchio.JointModelPrismaticUnaligned
            if arm.slides[i]
            else pinocchio.JointModelRevoluteUnaligned
        )
        place = pinocchio.SE3(arm.origins[i, :3, :3], arm.origins[i, :3, 3])
        model.addJoint(parent + 1, kind(arm.axes[i]), place, f"j{i}")
        body = pinocchio.Inertia(arm.masses[i], arm.centres[i], arm.inertias[i])
        model.appendBodyToJoint(i + 1, body, pinocchio.SE3.Identity())
    return model, model.createData()


def as_mujoco(arm):
    """MuJoCo model from an MJCF text with 17 digits."""
    children = {
        i: [k for k, p in enumerate(arm.parents) if p == i] for i in range(-1, len(arm.parents))
    }

    def text(values):
        return " ".join(f"{x:.17g}" for x in values)

    def body(i):
        X, J = arm.origins[i], arm.inertias[i]
        kind = "slide" if arm.slides[i] else "hinge"
        six = (J[0, 0], J[1, 1], J[2, 2], J[0, 1], J[0, 2], J[1, 2])
        quaternion = np.empty(4)
        mujoco.mju_mat2Quat(quaternion, np.ascontiguousarray(X[:3, :3]).ravel())
        return (
            f'<body name="b{i}" pos="{text(X[:3, 3])}" quat="{text(quaternion)}">'
            f'<joint type="{kind}" axis="{text(arm.axes[i])}"/>'
            f'<inertial pos="{text(arm.centres[i])}" mass="{arm.masses[i]:.17g}" '
            f'fullinertia="{text(six)}"/>' + "".join(body(k) for k in children[i]) + "</body>"
        )

    xml = (
        '<mujoco><compiler angle="radian" balanceinertia="false" boundmass="0"/>'
        f'<option gravity="{text(arm.gravity)}"><flag contact="disable"/></option><worldbody>'
        + "".join(body(k) for k in children[-1])
        + "</worldbody></mujoco>"
    )
    model = mujoco.MjModel.from_xml_string(xml)
    order = [
        model.body(f"b{i}").jntadr[0] for i in range(len(arm.parents))
    ]  # MuJoCo counts depth first
    return model, mujoco.MjData(model), np.array(order)

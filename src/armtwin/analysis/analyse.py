"""`analyse`: what acts in the equations of motion of a robot."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from armtwin.analysis.bearing_loads import BearingLoads, bearing_loads
from armtwin.analysis.compliance import Sag, ToolCompliance, compliance, sag, steady_force
from armtwin.analysis.coupling import Coupling, coupling
from armtwin.analysis.inertia import EffectiveInertia, effective_inertia, workspace
from armtwin.analysis.mode_shapes import Modes
from armtwin.analysis.modes import modes
from armtwin.analysis.states import States, along, posture
from armtwin.analysis.torques import TorqueShares, torque_shares
from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.dynamics.sag import Outside
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Body, Payload

Kind = Literal["torques", "coupling", "inertia", "modes", "sag", "compliance", "loads"]
KINDS = ("torques", "coupling", "inertia", "modes", "sag", "compliance", "loads")
Analysis = TorqueShares | Coupling | EffectiveInertia | Modes | Sag | ToolCompliance | BearingLoads
ELASTIC = ("modes", "sag", "compliance")
MOST_ELASTIC = 200  # states of a motion at which an elastic robot is analysed
LOAD = "load"

Motion = Trajectory | Log | States | ArrayLike


def analyse(
    robot: Robot,
    what: Kind,
    motion: Motion | None = None,
    *,
    load: float | str | None = None,
    force: ArrayLike | Outside | None = None,
    links: bool = False,
) -> Analysis:
    """What acts in the equations of motion of a robot, at one posture or along a motion.

    Args:
        robot: The robot, tool mounted.
        what: "torques" by their causes, inertial "coupling", effective "inertia"; of an elastic
            robot natural "modes", "sag" by gravity, "compliance" of the tool; "loads" on bearings
            and in links. Links with beams, or with closed loops, are finite elements there.
        motion: A trajectory or a log, or one posture, (n,), or what `states` makes of them, with
            speeds and accelerations. Without it the robot's home; "inertia" then goes over the
            workspace.
        load: A payload of the robot's file by name, or a mass at the flange [kg]; "inertia" shows
            it beside the robot without, the others have it mounted.
        force: Force, or force and torque, on the tool under which it sags, base axes, (3,) or (6,);
            or what acts from outside at the samples of a trajectory.
        links: Whether links bend at their flexures, for an elastic robot.
    """
    loaded = None if load is None else with_load(robot, load)
    if what == "inertia":
        q, chosen = _postures(robot, motion)
        return effective_inertia(robot, q, chosen, loaded)
    acting = robot if loaded is None else loaded[0]
    at_states = states(robot, motion)
    if what == "loads":
        return bearing_loads(acting, at_states)
    if what in ELASTIC:
        name = "" if loaded is None else loaded[1]
        some = at_states.thin(MOST_ELASTIC)
        return _elastic(acting, what, some, name, _outside(force, motion, some), links)
    if what == "coupling":
        return coupling(acting, at_states)
    return torque_shares(acting, at_states)


def _outside(
    force: ArrayLike | Outside | None, motion: Motion | None, states: States
) -> Outside | None:
    """What acts from outside at states."""
    if force is None:
        return None
    if not isinstance(force, Outside):
        return steady_force(force, len(states.q))
    if not isinstance(motion, Trajectory):
        raise ArmtwinError("what acts at the samples of a trajectory needs that trajectory")
    return force.at_times(motion.time, states.time)


def _elastic(
    robot: Robot, what: str, states: States, load: str, outside: Outside | None, links: bool
) -> Modes | Sag | ToolCompliance:
    if what == "modes":
        return modes(robot, states, load, links=links)
    if what == "sag":
        return sag(robot, states, load, outside, links=links)
    return compliance(robot, states, load, links=links)


def states(
    robot: Robot,
    motion: Motion | None = None,
    v: ArrayLike | None = None,
    a: ArrayLike | None = None,
) -> States:
    """The states of a robot along a motion, or at one posture, where it is analysed.

    Args:
        robot: The robot.
        motion: A trajectory or a log, or one posture, (n,); without it the robot's home.
        v: Speeds at the posture, (n,); 0 without.
        a: Accelerations at the posture, (n,); 0 without.
    """
    if isinstance(motion, States):
        return motion
    if isinstance(motion, Trajectory | Log):
        if v is not None or a is not None:
            raise ArmtwinError("v and a belong to one posture; a motion has its own")
        return along(robot, motion)
    if motion is not None:
        return posture(robot, motion, v, a)
    home = posture(robot, robot.home, v, a)
    if robot.description.wrist is None:
        return replace(home, chosen=f"the middle of the joints' ranges, {_angles(robot)}")
    return home


def _angles(robot: Robot) -> str:
    """The home of a robot in words."""
    words = []
    for k, position in zip(robot.assembly.free, robot.home.tolist(), strict=True):
        slides = robot.assembly.tree.joints[k].type == "prismatic"
        words.append(f"{1e3 * position:.4g} mm" if slides else f"{np.degrees(position):.4g}°")
    return ", ".join(words)


def _postures(robot: Robot, motion: Motion | None) -> tuple[np.ndarray, str]:
    if motion is None:
        return workspace(robot)
    chosen = states(robot, motion)
    if chosen.alone:
        return chosen.q, "one posture"
    return chosen.q, f"{len(chosen.q)} postures along the motion"


def with_load(robot: Robot, load: float | str) -> tuple[Robot, str]:
    """The robot with a payload of its file, or a mass at its flange; and what that is."""
    if isinstance(load, str):
        return robot.with_payload(load), load
    if not np.isfinite(load) or load <= 0:
        raise ArmtwinError(f"load must be a mass greater than 0 kg, got {load}")
    if robot.description.flange is None:
        raise ArmtwinError(f"robot '{robot.name}' has no flange to hold a load")
    point = Payload(source="assumed: a mass at the flange", body=Body(mass=float(load)))
    payloads = {**robot.description.payload, LOAD: point}
    holding = Robot(replace(robot.description, payload=payloads), robot.origin)
    return holding.with_payload(LOAD), f"{load:g} kg at the flange"

"""Whether a description makes sense: every problem at once, each as a sentence with its place."""

from collections import Counter
from dataclasses import fields, is_dataclass

import numpy as np

from armtwin.drives.balancers import GasForce
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.fields import groups_of, own_problems
from armtwin.files.shape import Group
from armtwin.maths.batch import NamedArrays, Sentences
from armtwin.maths.units import units_of
from armtwin.robot.dynamics import assembly
from armtwin.robot.dynamics.bodies import body_problems
from armtwin.robot.parameters import actions
from armtwin.robot.schema.description import Description, Tree, build_tree, tree_problems
from armtwin.robot.schema.drive_groups import Balancer, Gear
from armtwin.robot.schema.groups import Joint, Loop, Orientation
from armtwin.robot.schema.mentions import name_problems
from armtwin.robot.schema.servo import count_problems

FOLLOWS = "which follows through a loop and has no coordinate of its own"
NO_LENGTH = 1e-6  # m: a rod so short has no direction, pins so near are one


def loop_problems(description: Description) -> Sentences:
    """Rods without a length, hinges in two places, joints that cannot follow."""
    if not description.loop:
        return
    tree = build_tree(description)
    poses = tree.poses()
    for i, loop in enumerate(description.loop, 1):
        place = f"loop.{i} ('{loop.name}')"
        yield from _pin_problems(place, loop, poses)
        yield from _passive_problems(place, loop, tree)
    counts = Counter(name for loop in description.loop for name in loop.passive)
    for name, count in counts.items():
        if count > 1:
            yield f"loop: joint '{name}' must follow through one loop, got {count}"
    yield from _driven_problems(description, counts)


def _pin_problems(place: str, loop: Loop, poses: NamedArrays) -> Sentences:
    if loop.link_a == loop.link_b:
        yield f"{place} must join two links, got '{loop.link_a}' twice"
        return
    a = poses[loop.link_a] @ [*loop.a, 1.0]
    b = poses[loop.link_b] @ [*loop.b, 1.0]
    apart = float(np.linalg.norm(a - b))
    if loop.axis is None and apart < NO_LENGTH:
        words = f"must lie apart at q = 0, got {apart:.2g} m; a hinge has an axis"
        yield f"{place}: the pins of a rod {words}"
    if loop.axis is not None and apart > NO_LENGTH:
        words = f"must be one place at q = 0, got {apart:.4g} m between them"
        yield f"{place}: both pins of a hinge {words}"
    if loop.axis is not None and not np.any(loop.axis):
        yield f"{place}.axis must not be zero"


def _passive_problems(place: str, loop: Loop, tree: Tree) -> Sentences:
    if not loop.passive:
        yield f"{place}.passive must name the joints that follow through this loop, got none"
    for name in loop.passive:
        joint = tree.joints[tree.joint(name)]
        if joint.type == "prismatic" or joint.mimic is not None:
            yield f"{place}.passive: joint '{name}' must be revolute and must not mimic another"


def _driven_problems(description: Description, passive: Counter[str]) -> Sentences:
    """Motors, friction and transmissions act on joints that have a coordinate."""
    for transmission in description.transmission:
        if transmission.joint in passive:
            yield f"transmission acts on joint '{transmission.joint}', {FOLLOWS}"
    for balancer in description.balancer:
        if balancer.joint in passive:
            yield f"balancer '{balancer.name}' acts on joint '{balancer.joint}', {FOLLOWS}"


WRIST_COORDINATES = 5  # r, z, phi, gamma, psi


def problems(description: Description) -> list[str]:
    """All problems of a description; an empty list if it can be used."""
    found = [*_own_problems(description), *_joint_problems(description)]
    names = _structure_problems(description)
    if names or not _poses_are_given(description):
        return [*names, *found]
    bodies = [*body_problems(description), *_drive_problems(description)]
    deviations = _standard_deviation_problems(description)
    return [*found, *bodies, *loop_problems(description), *deviations]


def can_be_computed(description: Description) -> bool:
    """Whether it is a tree of known joints, links and drives, with numbers that a file may hold."""
    return not [*_structure_problems(description), *_own_problems(description)]


def _structure_problems(description: Description) -> list[str]:
    """What is no tree, and names and gears of nothing; the tree's problems hide the others."""
    tree = tree_problems(description)
    return tree or [*name_problems(description), *_gear_problems(description)]


def mounting_problems(description: Description) -> list[str]:
    """Problems with what is mounted on a robot that has no others."""
    return list(name_problems(description)) or list(body_problems(description))


def _poses_are_given(description: Description) -> bool:
    """Whether every pose can be computed."""
    groups = [group for _, group in groups_of(description, by_name=False)]
    return not any(group.problem() for group in groups if isinstance(group, Orientation))


def _own_problems(description: Description) -> Sentences:
    """What the groups find wrong with themselves."""
    yield from own_problems(description)
    for path, group in groups_of(description, by_name=False):
        yield from _range_problems(group, path)
        yield from _idle_sources(group, path)


def _range_problems(group: Group, path: str) -> Sentences:
    """Numbers that a file could not hold; a robot changed by code obeys the same ranges."""
    for name, unit in units_of(group.__class__):
        value = getattr(group, name)
        numbers = value if isinstance(value, tuple) else (value,)
        for number in numbers:
            if isinstance(number, float | int) and unit.broken(number):
                yield f"{path}.{name} {unit.broken(number)}, got {number:g}"


def _idle_sources(group: Group, path: str) -> Sentences:
    """Sources for keys that the group does not have."""
    source = getattr(group, "source", None)
    if not isinstance(source, dict):
        return
    keys = _keys_within(group)
    for key in source:
        if key not in keys:
            yield f"{path}.source.{key} names no key of its group"


def _keys_within(group: Group) -> set[str]:
    """Keys of a group and of the groups within it."""
    keys = set()
    for f in fields(group):
        keys.add(f.name)
        value = getattr(group, f.name)
        if is_dataclass(value):
            keys |= _keys_within(value)
    return keys


def _joint_problems(description: Description) -> Sentences:
    leaders = [joint.name for joint in description.joint if joint.mimic is None]
    for i, joint in enumerate(description.joint, 1):
        if not np.linalg.norm(joint.axis) > 1e-9:
            yield f"joint.{i}.axis ('{joint.name}') must not be zero, got {list(joint.axis)}"
        if joint.mimic is not None and joint.mimic.joint not in leaders:
            leader = joint.mimic.joint
            place = f"joint.{i}.mimic ('{joint.name}')"
            hint = did_you_mean(leader, leaders)
            yield f"{place}: '{leader}' is no joint that moves freely. {hint}"
        yield from _limit_problems(joint, f"joint.{i}.limits")


def _limit_problems(joint: Joint, place: str) -> Sentences:
    limits = joint.limits
    if limits is None:
        return
    lower, upper = limits.lower, limits.upper
    if lower is not None and upper is not None and not lower < upper:
        got = f"got {lower:g} and {upper:g}"
        yield f"{place} ('{joint.name}'): lower must be less than upper, {got}"
    if limits.source is None and isinstance(joint.source, dict):
        yield f"{place}.source ('{joint.name}') is missing"


def _gear_problems(description: Description) -> Sentences:
    gear = description.gear
    motors, joints = len(description.motor), len(description.joint)
    if gear is None:
        if motors:
            yield f"gear is missing: {motors} motors need gear ratios or a gear matrix"
        return
    if (gear.ratios is None) == (gear.matrix is None):
        yield "gear must have either ratios or matrix"
        return
    if not _has_shape(gear, motors, joints):
        each = f"a row for each of {motors} motors and a column for each of {joints} joints"
        yield f"gear must have {each}"
        return
    N = assembly.gear_matrix(description)
    rank = int(np.linalg.matrix_rank(N))
    if rank < motors:
        yield f"gear.matrix must not be singular: {motors} motors, rank {rank}, got {N.tolist()}"


def _has_shape(gear: Gear, motors: int, joints: int) -> bool:
    """Whether the gear matrix is (motors, joints); one of ratios is square."""
    if gear.ratios is not None:
        return len(gear.ratios) == motors == joints > 0
    widths = {len(weights) for weights in gear.matrix or ()}
    return len(gear.matrix or ()) == motors and widths == {joints}


def _drive_problems(description: Description) -> Sentences:
    for i, balancer in enumerate(description.balancer, 1):
        why = _why_no_balancer(balancer, description)
        if why:
            yield f"balancer.{i} ('{balancer.name}'){why}"
    yield from _transmission_problems(description)
    yield from _side_problems(description)
    yield from _load_problems(description)
    drives = len(description.motor) + len(description.hydraulic)
    yield from _wrist_problems(description)
    yield from _as_built_problems(description)
    for name, servo in description.servo.items():
        for phrase in count_problems(servo, drives):
            yield f"servo.{name}.{phrase}"


def _load_problems(description: Description) -> Sentences:
    """Friction by the load of a gear on rows that no motor alone turns."""
    followers = [element for element in description.friction if element.follows_load]
    if not followers or any(joint.mimic is not None for joint in description.joint):
        return
    tree = build_tree(description)
    motors = assembly.order_gear_matrix(description, tree)
    for element in followers:
        found = assembly.row(description, tree, element.on, element.side)
        try:
            assembly.turning_motor(found.weights, motors, element.name)
        except ArmtwinError as error:
            yield str(error)


def _as_built_problems(description: Description) -> Sentences:
    """Flexures and deviations of the same name, or with the name of a joint."""
    names = [joint.name for joint in description.joint]
    for i, flexure in enumerate(description.flexure, 1):
        if flexure.name in names:
            yield f"flexure.{i}.name: '{flexure.name}' is the name of another joint or flexure"
        names.append(flexure.name)
    seen: set[str] = set()
    for i, deviation in enumerate(description.deviation, 1):
        if deviation.joint in seen:
            yield f"deviation.{i}: joint '{deviation.joint}' has a deviation already"
        seen.add(deviation.joint)


def _wrist_problems(description: Description) -> Sentences:
    """Wrist coordinates of an arm that has not as many joints, or a home of another length."""
    wrist = description.wrist
    if wrist is None:
        return
    joints = len(description.joint)
    if joints != WRIST_COORDINATES:
        yield f"wrist: r, z, phi, gamma and psi need {WRIST_COORDINATES} joints, got {joints}"
    elif len(wrist.home) != joints:
        yield f"wrist.home must have a position for each of {joints} joints, got {len(wrist.home)}"


def _standard_deviation_problems(description: Description) -> Sentences:
    """Standard deviations of what is no parameter, with any of the sets of friction."""
    if description.standard_deviation is None:
        return
    known = actions(description)
    for name in description.standard_deviation.parameters:
        if name not in known:
            hint = did_you_mean(name, known)
            yield f"standard_deviation.parameters: '{name}' is no parameter of the robot. {hint}"


def _why_no_balancer(balancer: Balancer, description: Description) -> str:
    """What is wrong with a balancer, to follow its name; empty if nothing is."""
    by_pins = balancer.pins is not None
    by_linkage = balancer.joint is not None and balancer.linkage is not None
    if by_pins == by_linkage:
        return " must have either pins, or joint and linkage"
    if assembly.separating_joint(balancer, description.joint) is None:
        return " must act across exactly one revolute joint"
    if not isinstance(balancer.force, GasForce):
        return ""
    linkage = assembly.strut(balancer, build_tree(description)).linkage
    if linkage.problem():
        return ""
    why = balancer.force.too_long(linkage)
    return f": {why}" if why else ""


def _transmission_problems(description: Description) -> Sentences:
    """Joints with two transmissions, springs without a stiffness."""
    seen: dict[str, int] = {}
    for i, transmission in enumerate(description.transmission, 1):
        joint = transmission.joint or transmission.motor
        what = "joint" if transmission.joint else "motor"
        if joint in seen:
            already = f"{what} '{joint}' has a transmission already, transmission.{seen[joint]}"
            yield f"transmission.{i}: {already}"
        seen[joint] = i
        parts = (transmission.damping, transmission.backlash, transmission.ground_damping)
        springs = any(part is not None for part in parts)
        if springs and transmission.stiffness is None:
            yield f"transmission.{i} ('{joint}'): damping and backlash need a stiffness"


def _side_problems(description: Description) -> Sentences:
    """Friction that does not say its side of a transmission, or says one where there is none."""
    between = {x.joint for x in description.transmission if x.joint}
    for i, element in enumerate(description.friction, 1):
        place = f"friction.{i}.side ('{element.name}')"
        joints = list(element.on) if isinstance(element.on, dict) else [element.on]
        crossed = [joint for joint in joints if joint in between]
        if crossed and element.side is None:
            yield f"{place} is missing: 'motor' or 'link' of the transmission of '{crossed[0]}'"
        if not crossed and element.side is not None:
            got = f"got '{element.side}'"
            yield f"{place} must be left out where no [[transmission]] lies between, {got}"

"""What is wrong with the closed loops of a robot file, as sentences."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.robot.description import Description
from armtwin.robot.groups import Loop
from armtwin.robot.tree import Tree, grow

FOLLOWS = "which follows through a loop and has no coordinate of its own"
NO_LENGTH = 1e-6  # m: a rod so short has no direction, pins so near are one


def loop_problems(description: Description) -> Iterator[str]:
    """Rods without a length, hinges in two places, joints that cannot follow."""
    if not description.loop:
        return
    tree = grow(description)
    poses = link_poses(tree)
    for i, loop in enumerate(description.loop, 1):
        place = f"loop.{i} ('{loop.name}')"
        yield from _pin_problems(place, loop, poses)
        yield from _passive_problems(place, loop, tree)
    counts = Counter(name for loop in description.loop for name in loop.passive)
    for name, count in counts.items():
        if count > 1:
            yield f"loop: joint '{name}' must follow through one loop, got {count}"
    yield from _driven_problems(description, counts)


def link_poses(tree: Tree) -> dict[str, Floats]:
    """Pose of every link's frame in the base at q = 0, (4, 4) each."""
    found = {tree.root: np.eye(4)}
    for joint in tree.joints:
        found[joint.child] = found[joint.parent] @ joint.origin.matrix()
    return found


def _pin_problems(place: str, loop: Loop, poses: dict[str, Floats]) -> Iterator[str]:
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


def _passive_problems(place: str, loop: Loop, tree: Tree) -> Iterator[str]:
    if not loop.passive:
        yield f"{place}.passive must name the joints that follow through this loop, got none"
    for name in loop.passive:
        joint = tree.joints[tree.joint(name)]
        if joint.type == "prismatic" or joint.mimic is not None:
            yield f"{place}.passive: joint '{name}' must be revolute and must not mimic another"


def _driven_problems(description: Description, passive: Counter[str]) -> Iterator[str]:
    """Motors, friction and transmissions act on joints that have a coordinate."""
    for transmission in description.transmission:
        if transmission.joint in passive:
            yield f"transmission acts on joint '{transmission.joint}', {FOLLOWS}"
    for balancer in description.balancer:
        if balancer.joint in passive:
            yield f"balancer '{balancer.name}' acts on joint '{balancer.joint}', {FOLLOWS}"

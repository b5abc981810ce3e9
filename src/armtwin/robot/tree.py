"""The tree of links: which body hangs on which, and what is wrong where it is no tree."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from armtwin.errors import did_you_mean
from armtwin.robot.description import Description
from armtwin.robot.groups import Joint


@dataclass(frozen=True)
class Tree:
    """Joints of a robot, parents before children, each with the body it moves.

    Attributes:
        joints: The joints, in the order of the coordinates q.
        parents: Index of the body that carries each joint; -1 is the base.
        root: Name of the link that does not move.
    """

    joints: tuple[Joint, ...]
    parents: tuple[int, ...]
    root: str

    def body(self, link: str) -> int:
        """Index of the body of a link; -1 for the base."""
        return next((i for i, joint in enumerate(self.joints) if joint.child == link), -1)

    def joint(self, name: str) -> int:
        """Index of a joint."""
        return next(i for i, joint in enumerate(self.joints) if joint.name == name)


def grow(description: Description) -> Tree:
    """The tree of a description whose `tree_problems` are none."""
    root = next(iter(_roots(description)))
    left = list(description.joint)
    joints: list[Joint] = []
    placed = {root: -1}
    while left:
        joint = next(j for j in left if j.parent in placed)
        left.remove(joint)
        placed[joint.child] = len(joints)
        joints.append(joint)
    return Tree(tuple(joints), tuple(placed[j.parent] for j in joints), root)


def _roots(description: Description) -> dict[str, None]:
    children = {j.child for j in description.joint}
    return {j.parent: None for j in description.joint if j.parent not in children}


def tree_problems(description: Description) -> list[str]:
    """Sentences on duplicate, unknown or looping links and joints."""
    problems = []
    if not description.joint:
        return ["joint: a robot needs at least one joint, got none"]
    for group, names in (
        ("joint", [j.name for j in description.joint]),
        ("motor", [m.name for m in description.motor]),
        ("friction", [f.name for f in description.active_friction()]),
        ("balancer", [b.name for b in description.balancer]),
        (
            "link or frame",
            [*(x.name for x in description.link), *(f.name for f in description.frame)],
        ),
    ):
        problems += [
            f"{group} '{name}' is given {count} times"
            for name, count in Counter(names).items()
            if count > 1
        ]
        problems += [f"{group}: name {i} is empty" for i, name in enumerate(names, 1) if not name]
    for child, count in Counter(j.child for j in description.joint).items():
        if count > 1:
            which = " and ".join(f"'{j.name}'" for j in description.joint if j.child == child)
            problems.append(
                f"link '{child}' is moved by {count} joints ({which}); a link hangs on one joint only"
            )
    known = [x.name for x in description.link]
    for i, j in enumerate(description.joint, 1):
        if j.child not in known:
            problems.append(
                f"joint.{i}.child ('{j.name}'): link '{j.child}' is not given. {did_you_mean(j.child, known)}"
            )
        if j.child == j.parent:
            problems.append(f"joint.{i} ('{j.name}') joins link '{j.child}' to itself")
    return problems or _loop_problems(description)


def _loop_problems(description: Description) -> list[str]:
    roots = _roots(description)
    if not roots:
        links = " -> ".join(j.parent for j in description.joint)
        return [
            f"joint: the links form a cycle ({links}); one link must be the base, which no joint moves"
        ]
    if len(roots) > 1:
        return [f"joint: the links must form one tree, got {len(roots)} bases: {', '.join(roots)}"]
    reached, grew = set(roots), True
    while grew:
        new = {j.child for j in description.joint if j.parent in reached} - reached
        reached, grew = reached | new, bool(new)
    joined = {j.child for j in description.joint} | set(roots)
    for link in description.link:
        if link.name not in joined:
            return [f"link '{link.name}' is not joined to the robot by any joint"]
    reserved = {"flange", "tool"} | ({"base"} - set(roots))
    for name in (*(x.name for x in description.link), *(f.name for f in description.frame)):
        if name in reserved:
            return [
                f"link or frame '{name}' has a name that stands for the robot's own frame; choose another"
            ]
    lost = [j for j in description.joint if j.child not in reached]
    if lost:
        return [
            f"joint: links {', '.join(j.child for j in lost)} form a cycle that does not reach the base"
        ]
    return []

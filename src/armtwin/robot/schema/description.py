"""What a robot file says, all of it: the schema of format 2; and the tree of its links."""

from collections import Counter
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar

import numpy as np

from armtwin.errors import did_you_mean
from armtwin.files.fields import PROSE, Beside, OneOf, SourceText
from armtwin.files.shape import ALWAYS, DERIVED
from armtwin.maths.batch import Indices, NamedArrays, Sentences
from armtwin.maths.quantities import Acceleration
from armtwin.robot.schema import drive_groups, groups
from armtwin.robot.schema.groups import Joint
from armtwin.robot.schema.servo import Servo

FORMAT = 2  # of robot files


@dataclass(frozen=True)
class Description:
    """A robot file, checked for its form; `checks` checks that it makes sense.

    Attributes:
        name: Short name.
        title: Maker and type.
        note: Joint zero, directions and sides, in words.
        gravity: Gravity vector in the base frame [m/s²]; a tilted base is a tilted
            gravity.
        source: Where numbers beside the groups come from, by their keys.
        torques_only: Why this is a model of torques alone, which is not simulated; "" for a robot.
        friction_set: The set of friction elements in use, besides those without a set.
        deviation: How well identified numbers are known.
        meshes: Surfaces of the links, from the file beside; None where it is not there.
    """

    name: str
    joint: tuple[groups.Joint, ...]
    link: tuple[groups.Link, ...]
    title: str = ""
    note: str = ""
    gravity: tuple[Acceleration, Acceleration, Acceleration] = field(
        default=(0.0, 0.0, -9.81), metadata=ALWAYS
    )
    source: dict[str, SourceText] = field(default_factory=dict)
    torques_only: str = field(default="", metadata=PROSE)
    friction_set: str = ""
    mounted: groups.Mounted = field(default_factory=groups.Mounted)
    flange: groups.Flange | None = None
    frame: tuple[groups.Frame, ...] = ()
    tool: dict[str, groups.Tool] = field(default_factory=dict)
    payload: dict[str, groups.Payload] = field(default_factory=dict)
    gear: drive_groups.Gear | None = None
    motor: tuple[drive_groups.Motor, ...] = ()
    balancer: tuple[drive_groups.Balancer, ...] = ()
    friction: tuple[drive_groups.FrictionElement, ...] = ()
    transmission: tuple[drive_groups.Transmission, ...] = ()
    hydraulic: tuple[drive_groups.Hydraulic, ...] = ()
    flexure: tuple[groups.Flexure, ...] = ()
    loop: tuple[groups.Loop, ...] = ()
    deviation: tuple[groups.Deviation, ...] = ()
    wrist: groups.Wrist | None = None
    servo: dict[str, Annotated[Servo, OneOf("kind")]] = field(default_factory=dict)
    standard_deviation: groups.StandardDeviations | None = None
    meshes: Beside = field(default=None, compare=False, repr=False, metadata=DERIVED)

    format_number: ClassVar[int] = FORMAT

    def active_friction(self) -> tuple[drive_groups.FrictionElement, ...]:
        """The friction elements in use."""
        return tuple(e for e in self.friction if e.set in ("", self.friction_set))


OWN_FRAMES = ("flange", "tool")  # names of a robot's own frames, besides base


@dataclass(frozen=True)
class Tree:
    """Joints of a robot, parents before children, each with the body it moves.

    Attributes:
        joints: The joints, in the order of the coordinates q.
        parents: Index of the body that carries each joint; -1 is the base.
        root: Name of the link that does not move.
    """

    joints: tuple[Joint, ...]
    parents: Indices
    root: str

    def body(self, link: str) -> int:
        """Index of the body of a link; -1 for the base."""
        for i, joint in enumerate(self.joints):
            if joint.child == link:
                return i
        return -1

    def poses(self) -> NamedArrays:
        """Pose of every link's frame in the base at q = 0, (4, 4) each."""
        found = {self.root: np.eye(4)}
        for joint in self.joints:
            found[joint.child] = found[joint.parent] @ joint.origin.matrix()
        return found

    def joint(self, name: str) -> int:
        """Index of a joint."""
        return [joint.name for joint in self.joints].index(name)


def build_tree(description: Description) -> Tree:
    """The tree of a description whose `tree_problems` are none."""
    root = _bases(description)[0]
    left = list(description.joint)
    joints: list[Joint] = []
    placed = {root: -1}
    while left:
        joint = next(joint for joint in left if joint.parent in placed)
        left.remove(joint)
        placed[joint.child] = len(joints)
        joints.append(joint)
    parents = tuple(placed[joint.parent] for joint in joints)
    return Tree(tuple(joints), parents, root)


def _bases(description: Description) -> list[str]:
    """Links that carry joints and are moved by none."""
    children = {joint.child for joint in description.joint}
    bases: dict[str, None] = {}
    for joint in description.joint:
        if joint.parent not in children:
            bases[joint.parent] = None
    return list(bases)


def tree_problems(description: Description) -> list[str]:
    """Sentences on duplicate, unknown or looping links and joints."""
    if not description.joint:
        return ["joint: a robot needs at least one joint, got none"]
    problems = [*_doubtful_names(description), *_joining_problems(description)]
    if problems:
        return problems
    why = _why_no_tree(description) or _name_conflict(description)
    return [why] if why else []


def _doubtful_names(description: Description) -> Sentences:
    """Names that are given twice, or empty."""
    groups: dict[str, tuple[Any, ...]] = {
        "joint": description.joint,
        "motor": description.motor,
        "friction": description.active_friction(),
        "balancer": description.balancer,
        "link or frame": (*description.link, *description.frame),
    }
    for what, group in groups.items():
        names = [item.name for item in group]
        for name, count in Counter(names).items():
            if count > 1:
                yield f"{what} '{name}' is given {count} times"
        for i, name in enumerate(names, 1):
            if not name:
                yield f"{what}: name {i} is empty"


def _joining_problems(description: Description) -> Sentences:
    """Joints that do not join one given link to another one."""
    moved_by: dict[str, list[str]] = {}
    for joint in description.joint:
        moved_by.setdefault(joint.child, []).append(f"'{joint.name}'")
    for link, joints in moved_by.items():
        if len(joints) > 1:
            which = f"{len(joints)} joints ({' and '.join(joints)})"
            yield f"link '{link}' is moved by {which}; a link has one parent joint only"
    known = [link.name for link in description.link]
    for i, joint in enumerate(description.joint, 1):
        place = f"joint.{i}"
        if joint.child not in known:
            hint = did_you_mean(joint.child, known)
            yield f"{place}.child ('{joint.name}'): link '{joint.child}' is not given. {hint}"
        if joint.child == joint.parent:
            yield f"{place} ('{joint.name}') joins link '{joint.child}' to itself"


def _why_no_tree(description: Description) -> str:
    """Why the links are not carried by one base, as a sentence; empty if they do."""
    bases = _bases(description)
    if not bases:
        links = " -> ".join(joint.parent for joint in description.joint)
        contract = "one link must be the base, which no joint moves"
        return f"joint: the links form a cycle ({links}); {contract}"
    if len(bases) > 1:
        return f"joint: the links must form one tree, got {len(bases)} bases: {', '.join(bases)}"
    children = [joint.child for joint in description.joint]
    for link in description.link:
        if link.name not in (*children, *bases):
            return f"link '{link.name}' is not joined to the robot by any joint"
    reached = _links_from_base(description, bases[0])
    lost = [link for link in children if link not in reached]
    if lost:
        return f"joint: links {', '.join(lost)} form a cycle that does not reach the base"
    return ""


def _links_from_base(description: Description, base: str) -> set[str]:
    """The links that the base carries, itself included."""
    reached = {base}
    before = 0
    while len(reached) > before:
        before = len(reached)
        reached.update(joint.child for joint in description.joint if joint.parent in reached)
    return reached


def _name_conflict(description: Description) -> str:
    """A link or frame that takes the name of a frame that every robot has, as a sentence."""
    reserved = [*OWN_FRAMES] if "base" in _bases(description) else [*OWN_FRAMES, "base"]
    links = [link.name for link in description.link]
    frames = [frame.name for frame in description.frame]
    for name in (*links, *frames):
        if name in reserved:
            own = "a name reserved for the robot's own frame"
            return f"link or frame '{name}' has {own}; choose another"
    return ""

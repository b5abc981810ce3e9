"""Where the numbers of a robot file come from: what is measured, public, assumed, missing."""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from armtwin.files.fields import SOURCE_KINDS, groups_of
from armtwin.maths.batch import Names, Sentences
from armtwin.robot.schema.description import Description

DEFAULT_SERVO = "cascade"  # of a job that names none
SEAM_JOINTS = 6  # for position and orientation of a tool


@dataclass(frozen=True)
class Origin:
    """Source of a group of numbers, or of one key of it.

    Attributes:
        path: Key path in the robot file, with the group's name.
        kind: One of `fields.SOURCE_KINDS`.
        text: The source in words.
    """

    path: str
    kind: str
    text: str


@dataclass(frozen=True)
class Provenance:
    """All sources of a robot file, and what a prediction would still need.

    Attributes:
        origins: One for each group or key with a source.
        missing: What a prediction cannot do without and the file lacks, as phrases.
        not_given: What the file lacks and a prediction does without, as phrases.
    """

    origins: tuple[Origin, ...]
    missing: Names
    not_given: Names

    def counts(self) -> dict[str, int]:
        """Number of sources of each kind, in the order of trust."""
        found = Counter(origin.kind for origin in self.origins)
        return {kind: found[kind] for kind in SOURCE_KINDS if found[kind]}

    def of_kind(self, kind: str) -> tuple[Origin, ...]:
        """The sources of one kind."""
        return tuple(origin for origin in self.origins if origin.kind == kind)


def provenance(description: Description) -> Provenance:
    """Sources of all groups in the order of the file, and what is missing."""
    lacking = missing(description, seam=True)
    return Provenance(tuple(_origins(description)), tuple(lacking), tuple(_not_given(description)))


def _origins(description: Description) -> Iterator[Origin]:
    for path, group in groups_of(description, by_name=True):
        source = getattr(group, "source", None) or {}
        texts = {"": source} if isinstance(source, str) else source
        for key, text in texts.items():
            kind, _, words = text.partition(":")
            yield Origin(f"{path}.{key}".strip("."), kind, words.strip())


@dataclass(frozen=True)
class Wants:
    """What a closed-loop run wants of a robot file.

    Attributes:
        servo: Name of the servo; "" for any that the file has.
        friction: Friction model, as in a job's model.
        joints: "rigid" or "elastic".
        links: "rigid" or "elastic".
        deviations: Whether the arm differs from what the controller knows.
        ripple: Whether gears turn unevenly.
        temperature: Whether joints have another temperature than the reference.
    """

    servo: str = ""
    friction: str = "lugre"
    joints: str = "rigid"
    links: str = "rigid"
    deviations: bool = False
    ripple: bool = False
    temperature: bool = False


def missing(
    description: Description, wants: Wants | None = None, *, seam: bool = False
) -> list[str]:
    """All that a closed-loop run needs and the file does not have, as phrases.

    Args:
        description: The robot.
        wants: What the run wants.
        seam: Whether the tool is to follow a seam.
    """
    wants = Wants() if wants is None else wants
    return [
        *_not_simulated(description, seam),
        *_missing_servo(description, wants.servo),
        *_missing_friction(description, wants.friction),
        *_missing_oil(description, wants),
        *_missing_drives(description),
        *_missing_springs(description, wants.joints),
        *_missing_of_arm(description, wants),
    ]


def _not_simulated(description: Description, seam: bool) -> Sentences:
    """What no number in the file would help."""
    if description.torques_only:
        yield f"torques_only: {description.torques_only}"
    followers = [j.name for j in description.joint if j.mimic is not None]
    if followers:
        yield f"joint.mimic: joints that follow others are not simulated, as {', '.join(followers)}"
    free = len(description.joint) - len(followers)
    if seam and free < SEAM_JOINTS:
        yield f"joint: a seam needs {SEAM_JOINTS} joints that move freely, got {free}"


def _missing_servo(description: Description, servo: str) -> Sentences:
    known = description.servo
    if servo in known or (not servo and known):
        return
    others = f" (it has {', '.join(known)})" if known else ""
    yield f"servo.{servo or DEFAULT_SERVO}: a servo controller is missing{others}"


def _missing_friction(description: Description, friction: str) -> Sentences:
    if friction == "off":
        return
    elements = description.active_friction()
    if not elements:
        yield 'friction: joint friction is missing; or choose model friction = "off"'
    without = _without(elements, "presliding")
    if friction == "lugre" and without:
        lacking = f"a pre-sliding stiffness is missing for {', '.join(without)}"
        yield f'friction.presliding: {lacking}; or choose model friction = "switching"'


def _missing_oil(description: Description, wants: Wants) -> Sentences:
    """Refuse a temperature that nothing would react to."""
    if not wants.temperature:
        return
    if wants.friction == "off":
        yield 'model.temperature: nothing reacts to it with friction = "off"; leave it out'
        return
    elements = description.active_friction()
    if not any(element.thermal is not None for element in elements):
        yield (
            "friction.thermal: missing for all friction elements in use, so that nothing reacts "
            "to model.temperature; or leave that out"
        )


def _missing_drives(description: Description) -> Sentences:
    motors = description.motor
    joints = sum(joint.mimic is None for joint in description.joint)
    drives = len(motors) + len(description.hydraulic)
    if not drives:
        yield "motor: motors with rotor inertia, torque constant and current limit are missing"
    elif drives < joints:
        needed = f"{joints} joints need as many motors or cylinders to be controlled"
        yield f"motor: {needed}, got {drives}"
    for key in ("torque_constant", "current_limit"):
        without = _without(motors, key)
        if without:
            yield f"motor.{key}: missing for {', '.join(without)}"


def _missing_springs(description: Description, joints: str) -> Sentences:
    springs = [t for t in description.transmission if t.stiffness is not None]
    if joints == "elastic" and not springs:
        yield 'transmission.stiffness: missing for all joints; or choose model joints = "rigid"'


def _missing_of_arm(description: Description, wants: Wants) -> Sentences:
    """What a model wants of the arm as it is built, and the file does not have."""
    if wants.links == "elastic" and not description.flexure:
        yield 'flexure: no link has one; or choose model links = "rigid"'
    if wants.deviations and not description.deviation:
        yield "deviation: no joint has one; or choose model deviations = false"
    if wants.ripple and not any(t.ripple for t in description.transmission):
        yield "transmission.ripple: no gear has one; or choose model ripple = false"


def _not_given(description: Description) -> Sentences:
    """What a prediction does without: it is then not simulated, or not checked."""
    if description.flange is None:
        yield "flange: a flange to mount tools on"
    if not description.tool:
        yield "tool: a tool"
    for key in ("current_quantum", "encoder_counts"):
        without = _without(description.motor, key)
        if without:
            yield f"motor.{key}: {_which(without, len(description.motor), 'motors')}"
    for key in ("lower", "upper", "velocity", "torque"):
        without = [x.name for x in description.joint if getattr(x.limits, key, None) is None]
        if without:
            yield f"joint.limits.{key}: {_which(without, len(description.joint), 'joints')}"


def _without(groups: Iterable[Any], key: str) -> list[str]:
    """Names of the groups that do not give a key."""
    return [group.name for group in groups if getattr(group, key) is None]


def _which(names: list[str], total: int, what: str) -> str:
    return f"all {what}" if len(names) == total else ", ".join(names)

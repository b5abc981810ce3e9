"""Robots without what `complete` gives, as they come from an import or an identification."""

from dataclasses import replace

import armtwin as at


def incomplete(robot):
    """A robot without torque constants, current limits, bristles and servo."""
    d = robot.description
    motors = []
    for motor in d.motor:
        bare = replace(motor, torque_constant=None, current_limit=None, current_quantum=None)
        motors.append(replace(bare, source=_kept(motor, "torque_constant", "current_limit")))
    friction = []
    for element in d.friction:
        friction.append(replace(element, presliding=None, source=_kept(element, "presliding")))
    return at.Robot(replace(d, motor=tuple(motors), friction=tuple(friction), servo={}))


def _kept(group, *gone):
    """The source of a group without that of some of its keys."""
    if isinstance(group.source, str):
        return group.source
    return {
        key: text for key, text in group.source.items() if key not in (*gone, "current_quantum")
    }

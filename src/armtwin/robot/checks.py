"""Whether a description makes sense: every problem at once, each as a sentence with its place."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields, is_dataclass
from typing import Any

import numpy as np

from armtwin.drives.balancers import GasForce
from armtwin.errors import did_you_mean
from armtwin.files.fields import bad_texts, groups_of
from armtwin.maths.units import units_of
from armtwin.robot.bodies import body_problems
from armtwin.robot.description import Description
from armtwin.robot.rows import gear_matrix, separating_joint, strut
from armtwin.robot.servo import count_problems
from armtwin.robot.tree import grow, tree_problems


def problems(description: Description) -> list[str]:
    """All problems of a description; an empty list if it can be used."""
    tree = tree_problems(description)
    found = [*tree, *_own_problems(description), *_joint_problems(description)]
    if tree:
        return found
    names = [*_name_problems(description), *_gear_problems(description)]
    if not names:
        names = [*body_problems(description), *_drive_problems(description)]
    return [*found, *names]


def _own_problems(description: Description) -> Iterator[str]:
    """What the groups find wrong with themselves, and sources that name no key of their group."""
    for path, group in groups_of(description, by_name=False):
        if hasattr(group, "problem") and group.problem():
            yield f"{path} {group.problem()}"
        if bad_texts(group):
            yield f"{path} {bad_texts(group)}".strip()
        yield from _broken_contracts(group, path)
        source = getattr(group, "source", None)
        if isinstance(source, dict):
            keys = [f.name for f in fields(group)]
            inner = [
                f.name
                for k in keys
                if is_dataclass(getattr(group, k))
                for f in fields(getattr(group, k))
            ]
            for key in source:
                if key not in keys and key not in inner:
                    yield f"{path}.source.{key} names no key of its group"


def _broken_contracts(group: Any, path: str) -> Iterator[str]:
    """Numbers that a file could not hold: a robot made or changed by code keeps the same contracts."""
    for name, unit in units_of(group.__class__):
        value = getattr(group, name)
        for number in value if isinstance(value, tuple) else (value,):
            if isinstance(number, float | int) and unit.broken(number):
                yield f"{path}.{name} {unit.broken(number)}, got {number:g}"


def _joint_problems(description: Description) -> Iterator[str]:
    for i, joint in enumerate(description.joint, 1):
        place = f"joint.{i}"
        if not np.linalg.norm(joint.axis) > 1e-9:
            yield f"{place}.axis ('{joint.name}') must not be zero, got {list(joint.axis)}"
        if joint.mimic is not None:
            leaders = [j.name for j in description.joint if j.mimic is None]
            if joint.mimic.joint not in leaders:
                hint = did_you_mean(joint.mimic.joint, leaders)
                yield f"{place}.mimic ('{joint.name}'): '{joint.mimic.joint}' is no joint that moves freely. {hint}"
        limits = joint.limits
        if limits is None:
            continue
        lower, upper = limits.lower, limits.upper
        if lower is not None and upper is not None and not lower < upper:
            got = f"got {lower:g} and {upper:g}"
            yield f"{place}.limits ('{joint.name}'): lower must be less than upper, {got}"
        if limits.source is None and isinstance(joint.source, dict):
            yield f"{place}.limits.source ('{joint.name}') is missing"


def _name_problems(description: Description) -> Iterator[str]:
    links = [x.name for x in description.link]
    joints = [j.name for j in description.joint]
    motors = [m.name for m in description.motor]
    known: list[tuple[str, str, list[str], str]] = []
    if description.flange is not None:
        known.append(("flange.link", description.flange.link, links, "link"))
    known += [
        (f"frame.{i}.link", f.link, links, "link") for i, f in enumerate(description.frame, 1)
    ]
    known += [
        (f"motor.{i}.spin.link", m.spin.link, links, "link")
        for i, m in enumerate(description.motor, 1)
        if m.spin
    ]
    known += [
        (f"transmission.{i}.joint", t.joint, joints, "joint")
        for i, t in enumerate(description.transmission, 1)
    ]
    known += [
        (f"balancer.{i}.joint", b.joint, joints, "joint")
        for i, b in enumerate(description.balancer, 1)
        if b.joint
    ]
    drives = motors + [h.name for h in description.hydraulic]
    rows = [
        (f"friction.{i}.on ('{f.name}')", f.on, joints + drives)
        for i, f in enumerate(description.friction, 1)
    ]
    rows += [
        (f"hydraulic.{i}.on ('{h.name}')", h.on, joints)
        for i, h in enumerate(description.hydraulic, 1)
    ]
    for place, on, choices in rows:
        names = list(on) if isinstance(on, dict) else [on]
        known += [
            (place, name, joints if isinstance(on, dict) else choices, "joint or drive")
            for name in names
        ]
    for i, b in enumerate(description.balancer, 1):
        if b.pins is not None:
            known += [
                (f"balancer.{i}.pins", x, [*links, grow(description).root], "link")
                for x in (b.pins.link_a, b.pins.link_b)
            ]
    if description.mounted.tool:
        known.append(("mounted.tool", description.mounted.tool, list(description.tool), "tool"))
    if description.mounted.payload:
        known.append(
            ("mounted.payload", description.mounted.payload, list(description.payload), "payload")
        )
    if description.friction_set or any(f.set for f in description.friction):
        sets = sorted({f.set for f in description.friction if f.set})
        known.append(("friction_set", description.friction_set, sets, "friction set"))
    for place, name, choices, what in known:
        if name not in choices:
            yield f"{place}: {what} '{name}' is not given. {did_you_mean(name, choices)}"
    for name in set(joints) & set(drives):
        yield f"drive '{name}' has the name of a joint; friction on '{name}' would be ambiguous"
    if description.flange is None and (description.mounted.tool or description.mounted.payload):
        yield "mounted: a tool needs a flange to be mounted on, and the file has none"


def _gear_problems(description: Description) -> Iterator[str]:
    gear, motors, joints = description.gear, len(description.motor), len(description.joint)
    if gear is None:
        if motors:
            yield f"gear is missing: {motors} motors need gear ratios or a gear matrix"
        return
    if (gear.ratios is None) == (gear.matrix is None):
        yield "gear must have either ratios or matrix"
        return
    rows = gear.matrix if gear.matrix is not None else (gear.ratios,) * len(gear.ratios or ())
    widths = {len(r or ()) for r in rows}
    if len(rows) != motors or widths != {joints}:
        yield f"gear must have a row for each of {motors} motors and a column for each of {joints} joints"
        return
    N = gear_matrix(description)
    rank = int(np.linalg.matrix_rank(N))
    if rank < motors:
        yield f"gear.matrix must not be singular: {motors} motors, rank {rank}, got {N.tolist()}"


def _drive_problems(description: Description) -> Iterator[str]:
    for i, b in enumerate(description.balancer, 1):
        place = f"balancer.{i} ('{b.name}')"
        if (b.pins is None) == (b.joint is None or b.linkage is None):
            yield f"{place} must have either pins, or joint and linkage"
        elif separating_joint(b, description.joint) is None:
            yield f"{place} must act across exactly one revolute joint"
        elif isinstance(b.force, GasForce):
            linkage = strut(b, grow(description)).linkage
            why = "" if linkage.problem() else b.force.too_long(linkage)
            if why:
                yield f"{place}: {why}"
    yield from _transmission_problems(description)
    drives = len(description.motor) + len(description.hydraulic)
    for name, servo in description.servo.items():
        for phrase in count_problems(servo, drives):
            yield f"servo.{name}.{phrase}"


def _transmission_problems(description: Description) -> Iterator[str]:
    """Joints with two transmissions, springs without a stiffness, friction that does not say its side."""
    between: dict[str, int] = {}
    for i, t in enumerate(description.transmission, 1):
        if t.joint in between:
            yield f"transmission.{i}: joint '{t.joint}' has a transmission already, transmission.{between[t.joint]}"
        between[t.joint] = i
        if t.stiffness is None and (t.damping is not None or t.backlash is not None):
            yield f"transmission.{i} ('{t.joint}'): damping and backlash need a stiffness"
    for i, f in enumerate(description.friction, 1):
        joints = list(f.on) if isinstance(f.on, dict) else [f.on]
        crossed = next((joint for joint in joints if joint in between), None)
        place = f"friction.{i}.side ('{f.name}')"
        if crossed is not None and f.side is None:
            yield f"{place} is missing: 'motor' or 'link' of the transmission of '{crossed}'"
        elif crossed is None and f.side is not None:
            yield f"{place} must be left out where no [[transmission]] lies between, got '{f.side}'"

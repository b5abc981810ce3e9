"""What is shown of robots: joints, bodies, drives, tools, and where their numbers come from."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator

import numpy as np

from armtwin.files.fields import SOURCE_KINDS
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.sections import Block, Column, Facts, Record, Report, Section, Table, Text
from armtwin.robot.drive_tables import friction_section, hydraulic_section
from armtwin.robot.groups import Joint
from armtwin.robot.mounting import in_words
from armtwin.robot.robot import Robot
from armtwin.robot.servo import Servo

BRIEF = Number(digits=3)


def robot_shelf(robots: Iterable[Robot]) -> Report:
    """One line for each robot."""
    columns = (
        Column("name", "name"),
        Column("title", "robot"),
        Column("joints", "joints", Number()),
        Column("parameters", "parameters", Number()),
        Column("inverse", "inverse kin."),
        Column("missing", "missing"),
    )
    table = Table(columns, [_on_shelf(robot) for robot in robots], "robots")
    hint = Text("Show one: armtwin robots NAME. What its numbers rest on: armtwin check NAME.")
    return Report("Shipped robots", "", (Section("", (table, hint)),))


def _on_shelf(robot: Robot) -> Record:
    lacking = {phrase.partition(":")[0].partition(".")[0] for phrase in robot.provenance.missing}
    return {
        "name": robot.name,
        "title": robot.description.title,
        "joints": robot.n,
        "parameters": len(robot.parameters),
        "inverse": robot.inverse_kinematics_kind.partition(" (")[0],
        "missing": ", ".join(sorted(lacking)),
    }


def robot_report(robot: Robot, *, sources: bool = False) -> Report:
    """Joints, bodies, drives and tools of a robot.

    With every source of its numbers where asked for.
    """
    d = robot.description
    mounted = " and ".join(name for name in (d.mounted.tool, d.mounted.payload) if name)
    title = f"{robot.name}: {d.title or 'no title'}"
    if mounted:
        title += f", with {mounted}"
    sections = [
        Section("Joints (deg, deg/s, N m; kg m²)", (_joints(robot),)),
        Section("Bodies (kg, mm; kg m² at the frame)", (_bodies(robot),)),
        friction_section(robot),
        hydraulic_section(robot),
        Section("", (_facts(robot),)),
        Section("", tuple(_sources(robot))),
    ]
    if sources:
        sections += _all_sources(robot)
    return Report(title, d.note, tuple(sections))


def _joints(robot: Robot) -> Table:
    columns = (
        Column("name", "joint", words=_joint_words),
        _limit("lower", "from"),
        _limit("upper", "to"),
        _limit("velocity", "speed"),
        Column("torque", "torque", PLAIN),
        Column("gear", "gear", PLAIN),
        Column("rotor", "rotor", PLAIN),
    )
    joints = robot.assembly.tree.joints
    return Table(columns, [_joint(robot, i, joint) for i, joint in enumerate(joints)], "joints")


def _limit(key: str, head: str) -> Column:
    """A limit, which is shown in degrees of a joint that turns."""

    def words(record: Record) -> str:
        value = record.get(key)
        turns = record["type"] == "revolute" and value is not None
        return PLAIN.text(np.degrees(value) if turns else value)

    return Column(key, head, PLAIN, words)


def _joint_words(record: Record) -> str:
    """The name of a joint, with what is special of it."""
    name = str(record["name"])
    if record["follows"] is not None:
        return f"{name} (follows {record['follows']})"
    return name if record["type"] == "revolute" else f"{name} (slides, m)"


def _joint(robot: Robot, i: int, joint: Joint) -> Record:
    follows = None if joint.mimic is None else joint.mimic.joint
    record: dict[str, object] = {"name": joint.name, "type": joint.type, "follows": follows}
    if joint.limits is not None:
        for key in ("lower", "upper", "velocity", "torque"):
            record[key] = getattr(joint.limits, key)
    motor = _motor_of(robot, i)
    if motor is not None:
        record["gear"] = float(robot.assembly.gear[motor, i])
        record["rotor"] = robot.description.motor[motor].rotor_inertia
    return record


def _motor_of(robot: Robot, i: int) -> int | None:
    """The motor that moves a joint most."""
    gear = robot.assembly.gear
    if len(gear) == len(robot.assembly.tree.joints):
        return i
    own = [m for m, row in enumerate(gear) if np.argmax(np.abs(row)) == i]
    return own[-1] if own else None


def _links(robot: Robot) -> np.ndarray:
    """Ten parameters of each link, (links, 10)."""
    return robot.parameters[robot.layout.all_links].reshape(-1, 10)


def _bodies(robot: Robot) -> Table:
    columns = (
        Column("link", "link"),
        Column("mass", "mass", PLAIN),
        *(Column(axis, axis, Number(1e3)) for axis in "xyz"),
        *(Column(axis, axis, BRIEF) for axis in ("Jxx", "Jyy", "Jzz")),
    )
    records = []
    for joint, ten in zip(robot.assembly.tree.joints, _links(robot), strict=True):
        mass = ten[0]
        record = {"link": joint.child, "mass": mass}
        record |= dict(zip(("Jxx", "Jyy", "Jzz"), ten[4:7], strict=True))
        if mass:
            record |= dict(zip("xyz", ten[1:4] / mass, strict=True))
        records.append(record)
    return Table(columns, records, "bodies")


def _facts(robot: Robot) -> Facts:
    d = robot.description
    mass = _links(robot)[:, 0].sum()
    elastic = [t.joint for t in d.transmission if t.stiffness is not None]
    balancers = [f"{b.name} ({b.force.kind})" for b in d.balancer]
    servos = []
    for name, servo in d.servo.items():
        servos.append(_servo(name, servo))
    return Facts(
        (
            ("moving mass", f"{PLAIN.text(mass)} kg"),
            ("mounted", in_words(d.gravity)),
            ("parameters", f"{len(robot.parameters)}: {_parameter_groups(robot)}"),
            ("standard deviations", _known(robot)),
            ("inverse kinematics", robot.inverse_kinematics_kind),
            ("tools, payloads", ", ".join([*d.tool, *d.payload])),
            ("balancers", ", ".join(balancers)),
            ("friction sets", ", ".join(_friction_sets(robot))),
            ("transmissions", ", ".join(elastic)),
            ("servos", ", ".join(servos)),
        )
    )


def _known(robot: Robot) -> str:
    """For how many parameters standard deviations are known, "" where for none."""
    found = robot.uncertainty
    if not found.known.any():
        return ""
    together = "with their covariance" if found.correlated else found.remark
    return f"of {found.known.sum()} parameters, {together}"


def _servo(name: str, servo: Servo) -> str:
    """A servo by its name and what is to be said of it."""
    notes: list[str] = []
    if name != servo.kind:
        notes.append(servo.kind)
    if servo.structure != "known":
        notes.append("structure not known")
    return f"{name} ({', '.join(notes)})" if notes else name


def _friction_sets(robot: Robot) -> Iterator[str]:
    used = robot.description.friction_set
    for name in sorted({f.set for f in robot.description.friction if f.set}):
        yield f"{name} (in use)" if name == used else name


def _parameter_groups(robot: Robot) -> str:
    counts = Counter(parameter.group for parameter in robot.parameter_table)
    return ", ".join(f"{count} {group}" for group, count in counts.items())


def _sources(robot: Robot) -> Iterator[Block]:
    """How many numbers come from where, and what is not there."""
    known = robot.provenance
    counts = ", ".join(f"{count} {kind}" for kind, count in known.counts().items())
    yield Text(f"Sources of its numbers: {counts}.")
    if known.missing:
        yield Text("Missing for a prediction:")
    for phrase in known.missing:
        yield Text(f"  {phrase}")
    if known.missing:
        yield Text("armtwin complete fills what can be filled by rules.")
    if known.not_given:
        yield Text("Not given, and so not simulated or not checked:")
    for phrase in known.not_given:
        yield Text(f"  {phrase}")


def _all_sources(robot: Robot) -> Iterator[Section]:
    """Every source by kind; groups that differ only in a name or number are one line."""
    columns = (Column("groups", "group"), Column("source", "source"))
    for kind, meaning in SOURCE_KINDS.items():
        records = [
            {"groups": groups, "source": source} for source, groups in _by_source(robot, kind)
        ]
        if records:
            yield Section(f"{kind}: {meaning}", (Table(columns, records, f"sources.{kind}"),))


def _by_source(robot: Robot, kind: str) -> Iterator[tuple[str, str]]:
    """Each source of a kind with the groups that have it."""
    paths: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for origin in robot.provenance.of_kind(kind):
        paths[origin.text][_pattern(origin.path)].append(origin.path)
    for source, patterns in paths.items():
        groups = []
        for pattern, members in patterns.items():
            groups.append(members[0] if len(members) == 1 else f"{pattern} ({len(members)})")
        yield source, ", ".join(groups)


def _pattern(path: str) -> str:
    """A key path with the numbers of its items left out."""
    return re.sub(r"(?<=[a-z])_?\d+(?=\.|$)", "_*", path)

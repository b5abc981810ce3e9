"""What a robot shows of itself: joints, bodies, drives, tools, and where its numbers come from."""

import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

import numpy as np

from armtwin.files.fields import SOURCE_KINDS
from armtwin.maths.batch import Floats, Record, Sentences
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.robot.dynamics.assembly import Assembly
from armtwin.robot.parameters import Parameter
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.drive_groups import FrictionElement, Hydraulic, On
from armtwin.robot.schema.groups import Joint
from armtwin.robot.schema.mounting import in_words
from armtwin.robot.schema.provenance import Provenance
from armtwin.robot.schema.servo import Servo
from armtwin.robot.uncertainty import Uncertainty

BRIEF = Number(digits=3)


def describe_robot(
    assembly: Assembly,
    parameters: Sequence[Parameter],
    provenance: Provenance,
    uncertainty: Uncertainty,
    inverse: str,
    *,
    sources: bool,
) -> show.Report:
    """Joints, bodies, drives and tools of a robot.

    Args:
        assembly: The robot.
        parameters: Its dynamic parameters.
        provenance: Where its numbers come from.
        uncertainty: How well its parameters are known.
        inverse: How its inverse kinematics are solved.
        sources: Whether every source of its numbers is listed.
    """
    d = assembly.description
    mounted = str(d.mounted)
    title = f"{d.name}: {d.title or 'no title'}"
    if mounted:
        title += f", with {mounted}"
    links = np.array([p.value for p in parameters])[assembly.layout.all_links].reshape(-1, 10)
    known = {
        "moving mass": f"{PLAIN.text(links[:, 0].sum())} kg",
        "mounted": in_words(d.gravity),
        "parameters": f"{len(parameters)}: {_parameter_groups(parameters)}",
        "standard deviations": _describe_deviations(uncertainty),
        "inverse kinematics": inverse,
        "meshes": "" if d.meshes is None else d.meshes.remark,
    }
    sections = [
        show.Section("Joints (deg, deg/s, N m; kg m²)", _joints(assembly)),
        show.Section("Bodies (kg, mm; kg m² at the frame)", _bodies(assembly, links)),
        friction_section(assembly),
        hydraulic_section(d.hydraulic),
        show.Section("", (show.Facts((*known.items(), *_equipment(d))),)),
        show.Section("", _sources(provenance)),
    ]
    if sources:
        sections += _all_sources(provenance)
    return show.Report(title, d.note, tuple(sections))


def _joints(assembly: Assembly) -> show.Blocks:
    columns = (
        show.Column("name", "joint", words=_joint_words),
        _limit("lower", "from"),
        _limit("upper", "to"),
        _limit("velocity", "speed"),
        *show.Column.alike(PLAIN, torque="torque", gear="gear", rotor="rotor"),
    )
    joints = assembly.tree.joints
    records = [_joint(assembly, i, joint) for i, joint in enumerate(joints)]
    yield show.Table(columns, records, "joints")


def _limit(key: str, head: str) -> show.Column:
    """A limit, which is shown in degrees of a joint that turns."""

    def words(record: Record) -> str:
        value: float | None = record.get(key)
        if value is not None and record["type"] == "revolute":
            value = math.degrees(value)
        return PLAIN.text(value)

    return show.Column(key, head, PLAIN, words)


def _joint_words(record: Record) -> str:
    """The name of a joint, with what is special of it."""
    name = str(record["name"])
    if record["follows"] is not None:
        return f"{name} (follows {record['follows']})"
    return name if record["type"] == "revolute" else f"{name} (slides, m)"


def _joint(assembly: Assembly, i: int, joint: Joint) -> Record:
    follows = None if joint.mimic is None else joint.mimic.joint
    record: dict[str, object] = {"name": joint.name, "type": joint.type, "follows": follows}
    if joint.limits is not None:
        for key in ("lower", "upper", "velocity", "torque"):
            record[key] = getattr(joint.limits, key)
    motor = _motor_of(assembly.gear, len(assembly.tree.joints), i)
    if motor is not None:
        record["gear"] = float(assembly.gear[motor, i])
        record["rotor"] = assembly.description.motor[motor].rotor_inertia
    return record


def _motor_of(gear: Floats, joints: int, i: int) -> int | None:
    """The motor that moves a joint most."""
    if len(gear) == joints:
        return i
    own = [m for m, row in enumerate(gear) if np.argmax(np.abs(row)) == i]
    return own[-1] if own else None


def _bodies(assembly: Assembly, links: Floats) -> show.Blocks:
    columns = (
        show.Column("link", "link"),
        show.Column("mass", "mass", PLAIN),
        *(show.Column(axis, axis, Number(1e3)) for axis in "xyz"),
        *(show.Column(axis, axis, BRIEF) for axis in ("Jxx", "Jyy", "Jzz")),
    )
    records = []
    for joint, ten in zip(assembly.tree.joints, links, strict=True):
        mass = ten[0]
        record = {"link": joint.child, "mass": mass}
        record |= dict(zip(("Jxx", "Jyy", "Jzz"), ten[4:7], strict=True))
        if mass:
            record |= dict(zip("xyz", ten[1:4] / mass, strict=True))
        records.append(record)
    yield show.Table(columns, records, "bodies")


def _equipment(d: Description) -> Iterator[tuple[str, str]]:
    """What a robot has besides its joints."""
    yield "tools, payloads", ", ".join([*d.tool, *d.payload])
    yield "balancers", ", ".join(f"{b.name} ({b.force.kind})" for b in d.balancer)
    yield "friction sets", ", ".join(_friction_sets(d))
    elastic = [t.joint for t in d.transmission if t.stiffness is not None]
    yield "transmissions", ", ".join(elastic)
    yield "servos", ", ".join(_servo(name, servo) for name, servo in d.servo.items())


def _describe_deviations(found: Uncertainty) -> str:
    """For how many parameters standard deviations are known, "" where for none."""
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


def _friction_sets(d: Description) -> Sentences:
    for name in sorted({f.set for f in d.friction if f.set}):
        yield f"{name} (in use)" if name == d.friction_set else name


def _parameter_groups(parameters: Sequence[Parameter]) -> str:
    counts = Counter(parameter.group for parameter in parameters)
    return ", ".join(f"{count} {group}" for group, count in counts.items())


def _sources(known: Provenance) -> show.Blocks:
    """How many numbers come from where, and what is not there."""
    counts = ", ".join(f"{count} {kind}" for kind, count in known.counts().items())
    yield show.Text(f"Sources of its numbers: {counts}.")
    if known.missing:
        yield show.Text("Missing for a prediction:")
    for phrase in known.missing:
        yield show.Text(f"  {phrase}")
    if known.missing:
        yield show.Text("armtwin complete fills what can be filled by rules.")
    if known.not_given:
        yield show.Text("Not given, and so not simulated or not checked:")
    for phrase in known.not_given:
        yield show.Text(f"  {phrase}")


def _all_sources(known: Provenance) -> Iterator[show.Section]:
    """Every source by kind; groups that differ only in a name or number are one line."""
    columns = show.list_columns(groups="group", source="source")
    for kind, meaning in SOURCE_KINDS.items():
        records = [
            {"groups": groups, "source": source} for source, groups in _by_source(known, kind)
        ]
        if records:
            yield show.Section(
                f"{kind}: {meaning}", (show.Table(columns, records, f"sources.{kind}"),)
            )


def _by_source(known: Provenance, kind: str) -> Iterator[tuple[str, str]]:
    """Each source of a kind with the groups that have it."""
    paths: dict[str, dict[str, list[str]]] = defaultdict(lambda: defaultdict(list))
    for origin in known.of_kind(kind):
        paths[origin.text][_pattern(origin.path)].append(origin.path)
    for source, patterns in paths.items():
        groups = []
        for pattern, members in patterns.items():
            groups.append(members[0] if len(members) == 1 else f"{pattern} ({len(members)})")
        yield source, ", ".join(groups)


def _pattern(path: str) -> str:
    """A key path with the numbers of its items left out."""
    return re.sub(r"(?<=[a-z])_?\d+(?=\.|$)", "_*", path)


SPEEDS = (0.1, 1.0)  # at which friction is shown [rad/s or m/s]


def friction_section(assembly: Assembly) -> show.Section:
    """Friction of each row at two speeds; forces and speeds in m where a row slides."""
    slides = [assembly.slides(row) for _, row in assembly.friction]
    records = []
    for (element, _), is_line in zip(assembly.friction, slides, strict=True):
        records.append({**_element(element), "unit": "N" if is_line else "N m"})
    name = show.list_columns(name="friction", on="acts on", law="law")
    if not any(slides):
        at_speeds = [show.Column(f"at {x:g}", f"at {x:g} rad/s", PLAIN) for x in SPEEDS]
        table = show.Table((*name, *at_speeds), records, "friction")
        return show.Section("Friction (N m on its row)", (table,))
    at_speeds = [show.Column(f"at {x:g}", f"at {x:g}", PLAIN) for x in SPEEDS]
    table = show.Table((*name, *at_speeds, show.Column("unit", "")), records, "friction")
    return show.Section("Friction (on its row, at speeds in m/s for N, in rad/s for N m)", (table,))


def row_words(on: On) -> str:
    """What an element acts on: the name of a joint or drive, or a sum of joints."""
    if isinstance(on, str):
        return on
    return " + ".join(f"{weight:g} {joint}" for joint, weight in on.items())


def _element(element: FrictionElement) -> Record:
    torque = element.law.sliding_torque(np.array(SPEEDS)) + (element.offset or 0.0)
    at_speeds = {f"at {speed:g}": x for speed, x in zip(SPEEDS, torque, strict=True)}
    return {"name": element.name, "on": row_words(element.on), "law": element.law.law, **at_speeds}


def hydraulic_section(drives: Sequence[Hydraulic]) -> show.Section:
    """Oil, no-load speeds and valve of each hydraulic drive."""
    columns = show.list_columns(
        name="drive",
        compliance=("compliance", PLAIN),
        leakage=("leakage", PLAIN),
        slowest=("from", PLAIN),
        fastest=("to", PLAIN),
        frequency=("valve", Number(1 / (2 * np.pi), "Hz", digits=4)),
        damping=("damping", PLAIN),
        delay=("delay", Number(1e3, "ms", digits=4)),
    )
    title = "Hydraulic drives (m/N, m/(N s), m/s of a cylinder; rad and N m of a motor)"
    records = [_circuit(drive) for drive in drives]
    return show.Section(title, (show.Table(columns, records, "hydraulic"),))


def _circuit(drive: Hydraulic) -> Record:
    oil, valve = drive.circuit.oil, drive.circuit.valve
    currents, speeds = oil.flow.T
    limit = valve.current_limit
    slowest, fastest = np.interp([-limit, limit], currents, speeds)
    return {
        "name": drive.name,
        "compliance": oil.compliance,
        "leakage": oil.leakage,
        "slowest": float(slowest),
        "fastest": float(fastest),
        "frequency": valve.frequency,
        "damping": valve.damping,
        "delay": valve.delay,
    }

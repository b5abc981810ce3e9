"""Mistakes that people make in robot files, URDFs, Denavit-Hartenberg tables and jobs.

Each takes something that is right, spoils one thing of it, and gives the words by which the mistake
must be named. Those that the file cannot show say why.
"""

import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

import armtwin as at
from armtwin.files.writing import to_tables, to_toml

SHARED_URDFS = {
    "ur5": "ur5_course/ur5.urdf",
    "ur10e": "ur10e/ur10e.urdf",
    "gen3": "kinova_gen3/kinova_gen3.urdf",
    "xmate7": "rokae_xmate7/xmate7.urdf",
    "dualarm": "dualarm_v2/dualarm_v2.urdf",
}


@dataclass(frozen=True)
class Case:
    """A mistake in a file.

    Attributes:
        of: The robot or job that is spoilt.
        name: The mistake.
        spoil: Changes the tables of a TOML file, or the root of a URDF, in place.
        words: What must be in the sentence that names it.
        silent: Why the file cannot show it; "" where it must be named.
    """

    of: str
    name: str
    spoil: object = field(repr=False)
    words: tuple[str, ...] = ()
    silent: str = ""

    def __str__(self):
        return re.sub(r"\W+", "-", f"{self.of} {self.name}")


# TOML files


def walk(tables, path):
    """Every table and key that a path names; * is any item or key."""
    *steps, key = path.split(".")
    found = [tables]
    for step in steps:
        below = []
        for table in found:
            if step == "*":
                below += table if isinstance(table, list) else table.values()
            elif isinstance(table, list):
                below.append(table[int(step) - 1])
            elif step in table:
                below.append(table[step])
        found = below
    for table in found:
        if isinstance(table, list):
            keys = range(len(table)) if key == "*" else [int(key) - 1]
        else:
            keys = [k for k in table if key == "*"] or [key]
        for k in keys:
            if isinstance(table, list) or k in table:
                yield table, k


def multiplied(value, factor):
    if isinstance(value, list):
        return [multiplied(x, factor) for x in value]
    if isinstance(value, dict):
        return {k: x if k == "about" else multiplied(x, factor) for k, x in value.items()}
    if isinstance(value, str):
        match = re.match(r"(-?[\d.e-]+)( .+)$", value)
        return f"{float(match[1]) * factor!r}{match[2]}" if match else value
    return value * factor


def times(factor, *paths):
    """Multiply all numbers that paths name."""

    def spoil(tables):
        for path in paths:
            found = list(walk(tables, path))
            assert found, path
            for table, key in found:
                table[key] = multiplied(table[key], factor)

    return spoil


def put(path, value):
    """Write a value at a path."""

    def spoil(tables):
        found = list(walk(tables, path))
        if not found:  # a new key of a table that is there
            table, _, key = path.rpartition(".")
            owner = next(walk(tables, table)) if table else (None, None)
            (tables if not table else owner[0][owner[1]])[key] = value
        for table, key in found:
            table[key] = value

    return spoil


def exchange(one, other):
    """Exchange the values at two paths."""

    def spoil(tables):
        (a, i), (b, k) = next(walk(tables, one)), next(walk(tables, other))
        a[i], b[k] = b[k], a[i]

    return spoil


def copy(source, to):
    """Write the value of one path at another."""

    def spoil(tables):
        (a, i), (b, k) = next(walk(tables, source)), next(walk(tables, to))
        b[k] = a[i]

    return spoil


def both(*spoils):
    def spoil(tables):
        for step in spoils:
            step(tables)

    return spoil


def spoil_ratio(change):
    """Change the gear ratio of each motor, by a function of it, on the diagonal and beside."""

    def spoil(tables):
        gear = tables["gear"]
        if "ratios" in gear:
            gear["ratios"] = [change(x) for x in gear["ratios"]]
        else:
            gear["matrix"] = [[change(x) if x else 0.0 for x in row] for row in gear["matrix"]]

    return spoil


def spoil_rotors(power):
    """Multiply rotor inertias by a power of their gear ratios."""

    def spoil(tables):
        gear = tables["gear"]
        rows = gear.get("matrix") or [[x] for x in gear["ratios"]]
        for motor, row in zip(tables["motor"], rows, strict=True):
            motor["rotor_inertia"] *= max(map(abs, row)) ** power

    return spoil


def by_ratio(group, **powers):
    """Multiply keys of friction elements or transmissions by powers of the gear ratios."""

    def spoil(tables):
        gear = tables["gear"]
        ratios = gear.get("ratios") or [max(map(abs, row)) for row in gear["matrix"]]
        for element, ratio in zip(tables[group], ratios, strict=False):
            for key, power in powers.items():
                element[key] *= ratio**power

    return spoil


def scale(**factors):
    """Scale kinds of numbers of the arm: length, centre, mass, inertia."""
    paths = {
        "length": ("joint.*.origin.position", "flange.origin.position"),
        "centre": ("link.*.body.com", "link.*.body.first_moment", "link.*.body.frame.position"),
        "mass": ("link.*.body.mass", "link.*.body.first_moment"),
        "inertia": ("link.*.body.inertia",),
    }

    def spoil(tables):
        for kind, factor in factors.items():
            for path in paths[kind]:
                for table, key in walk(tables, path):
                    table[key] = multiplied(table[key], factor)

    return spoil


def robot_tables(name):
    """Tables of a shipped robot, its centres of mass and central inertias written out."""
    return tomllib.loads(to_toml(to_tables(at.Robot.load(name).description)))


def job_tables(name):
    from armtwin.jobs.files import list_shipped

    return tomllib.loads(Path(list_shipped()[name]).read_text(encoding="utf-8"))


# URDF files


def numbers(node, key, factor):
    words = [float(word) * factor for word in node.get(key).split()]
    node.set(key, " ".join(repr(word) for word in words))


def urdf(length=1.0, centre=1.0, mass=1.0, inertia=1.0, joint=None, link=None):
    """Scale numbers of a URDF, of one joint or link only where one is named."""

    def spoil(root):
        for node in root.iter("joint"):
            origin = node.find("origin")
            if origin is not None and origin.get("xyz") and joint in (None, node.get("name")):
                numbers(origin, "xyz", length)
        for node in root.iter("link"):
            inertial = node.find("inertial")
            if inertial is None or link not in (None, node.get("name")):
                continue
            origin = inertial.find("origin")
            if origin is not None and origin.get("xyz"):
                numbers(origin, "xyz", centre)
            numbers(inertial.find("mass"), "value", mass)
            six = inertial.find("inertia")
            for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"):
                if six is not None and six.get(key):
                    numbers(six, key, inertia)

    return spoil


def limits(factor, *keys):
    def spoil(root):
        for node in root.iter("limit"):
            for key in keys:
                if node.get(key):
                    numbers(node, key, factor)

    return spoil


def exchange_masses(one, other):
    def spoil(root):
        nodes = {x.get("name"): x.find("inertial/mass") for x in root.iter("link")}
        a, b = nodes[one], nodes[other]
        value = a.get("value")
        a.set("value", b.get("value"))
        b.set("value", value)

    return spoil


def reductions(ratio, first=None):
    """Give all transmissions a gear ratio, the first another one."""

    def spoil(root):
        for i, node in enumerate(root.iter("mechanicalReduction")):
            node.text = str(ratio if i or first is None else first)

    return spoil


def turn_by_degrees(root):
    for node in root.iter("origin"):
        if node.get("rpy"):
            numbers(node, "rpy", 57.29577951308232)


def read_urdf(path):
    return ElementTree.parse(path)


ROBOT_CASES = [
    # units of the arm
    Case("rx90b", "lengths in mm", scale(length=1e3), ("lengths", "in mm")),
    Case("kr300", "lengths in mm", scale(length=1e3), ("lengths", "in mm")),
    Case("lwa4p", "lengths in cm", scale(length=1e2), ("lengths", "in cm")),
    Case("tx40", "lengths in inches", scale(length=39.37), ("lengths", "inches")),
    Case("lwa4p", "lengths and centres in mm", scale(length=1e3, centre=1e3), ("lengths", "in mm")),
    Case("rx90b", "lengths of m marked as mm", scale(length=1e-3), ("lengths", "read in mm")),
    Case("rx90b", "masses in g", scale(mass=1e3), ("masses", "in g")),
    Case("kr300", "masses in g", scale(mass=1e3), ("masses", "in g")),
    Case("tx40", "masses in g", scale(mass=1e3), ("masses", "in g")),
    Case("epaas", "masses in g", scale(mass=1e3), ("masses", "in g")),
    Case("lwa4p", "masses of kg marked as g", scale(mass=1e-3), ("masses", "read in g")),
    Case("rx90b", "inertias in kg mm²", scale(inertia=1e6), ("inertias", "kg mm^2")),
    Case("lwa4p", "inertias in g mm²", scale(inertia=1e9), ("inertias", "g mm^2")),
    Case("kr300", "inertias in kg cm²", scale(inertia=1e4), ("inertias", "kg cm^2")),
    Case("tx40", "inertias in g cm²", scale(inertia=1e7), ("inertias", "g cm^2")),
    Case("rx90b", "all of a CAD in mm", scale(length=1e3, centre=1e3, inertia=1e6), ("mm",)),
    Case(
        "tx40",
        "all of a CAD in mm and g",
        scale(length=1e3, centre=1e3, mass=1e3, inertia=1e9),
        ("mm", " g"),
    ),
    Case(
        "rx90b", "masses and inertias of a CAD in g mm²", scale(mass=1e3, inertia=1e9), ("g mm^2",)
    ),
    Case("rx90b", "centres of mass in mm", scale(centre=1e3), ("centres of mass", "in mm")),
    Case("kr300", "centres of mass in cm", scale(centre=1e2), ("centres of mass", "in cm")),
    # one number among right ones
    Case(
        "rx90b",
        "one origin in mm",
        put("joint.3.origin.position", [0.0, 0.0, 450.0]),
        ("origin of joint_3", "in mm"),
    ),
    Case("kr300", "one mass in g", times(1e3, "link.3.body.mass"), ("mass of link_3", "in g")),
    Case("rx90b", "one mass a thousandfold", times(1e3, "link.4.body.mass"), ("mass of link_4",)),
    Case(
        "lwa4p",
        "one inertia in kg mm²",
        times(1e6, "link.2.body.inertia"),
        ("inertia of link_2",),
    ),
    Case(
        "rx90b",
        "one centre of mass in mm",
        put("link.2.body.com", [0.0, 230.0, 197.0]),
        ("centre of mass of link_2", "in mm"),
    ),
    Case(
        "rx90b",
        "masses of first and last link exchanged",
        exchange("link.1.body.mass", "link.6.body.mass"),
        ("exchanged",),
    ),
    Case(
        "kr300",
        "inertias of link 1 and 6 exchanged",
        exchange("link.1.body.inertia", "link.6.body.inertia"),
        ("exchanged",),
    ),
    Case(
        "rx90b",
        "masses of link 2 and 3 exchanged",
        exchange("link.2.body.mass", "link.3.body.mass"),
        silent="21 and 16 kg: both links stay possible with either",
    ),
    # tools and payloads
    Case("rx90b", "tool in g", times(1e-3, "tool.laser_head.body.mass"), ("tool", "read in g")),
    Case("rx90b", "tool of 4120 kg", times(1e3, "tool.laser_head.body.mass"), ("tool", "in g")),
    Case("kr300", "tool of grams", times(1e3, "tool.spindle.body.mass"), ("spindle", "in g")),
    Case("rx90b", "tcp in mm", times(1e3, "tool.laser_head.tcp.position"), ("tcp", "in mm")),
    Case("lwa4p", "tcp of m marked as mm", times(1e-3, "tool.torch.tcp.position"), ("tcp",)),
    Case(
        "rx90b", "com of the tool in mm", times(1e3, "tool.laser_head.body.com"), ("com", "in mm")
    ),
    Case(
        "rx90b",
        "inertia of the tool in kg mm²",
        times(1e6, "tool.laser_head.body.inertia"),
        ("tool", "inertia", "kg mm^2"),
    ),
    Case("epaas", "payload in g", times(1e3, "payload.*.body.mass"), ("payload", "in g")),
    Case(
        "rx90b",
        "tool in pounds",
        times(2.2046, "tool.laser_head.body.mass"),
        silent="9 kg is a tool that this arm carries",
    ),
    # limits
    Case("rx90b", "speed limits in rpm", times(9.549, "joint.*.limits.velocity"), ("rpm",)),
    Case("kr300", "speed limits in deg/s", times(57.296, "joint.*.limits.velocity"), ("deg/s",)),
    Case("tx40", "speed limits in deg/s", times(57.296, "joint.*.limits.velocity"), ("deg/s",)),
    Case(
        "lwa4p",
        "angles turned into radians twice",
        times(0.0174533, "joint.*.limits.lower", "joint.*.limits.upper"),
        ("radians", "twice"),
    ),
    Case(
        "tx40",
        "torque limits of the motors",
        times(1 / 40, "joint.*.limits.torque"),
        ("torque limit",),
    ),
    Case("ur10e", "torque limits in N mm", limits(1e3, "effort"), ("torque limits", "N mm")),
    Case(
        "rx90b",
        "torque limits in N cm",
        times(1e2, "joint.*.limits.torque"),
        ("torque limit", "N cm"),
    ),
    Case("kr300", "gravity in mm/s²", put("gravity", [0.0, 0.0, -9810.0]), ("gravity", "mm/s^2")),
    # drives
    Case("kr300", "gear ratios inverted", spoil_ratio(lambda x: 1 / x), ("gear ratio", "inverted")),
    Case("rx90b", "gear ratios inverted", spoil_ratio(lambda x: 1 / x), ("gear ratio", "inverted")),
    Case("lwa4p", "gear ratios inverted", spoil_ratio(lambda x: 1 / x), ("gear ratio", "inverted")),
    Case("kr300", "one ratio inverted", times(1 / 256.857**2, "gear.ratios.1"), ("inverted",)),
    Case(
        "kr300", "ratio of another joint", copy("gear.ratios.6", "gear.ratios.1"), ("gear ratio",)
    ),
    Case("kr300", "ratios exchanged", exchange("gear.ratios.1", "gear.ratios.6"), ("gear ratio",)),
    Case("rx90b", "rotor inertias in kg cm²", times(1e4, "motor.*.rotor_inertia"), ("kg cm^2",)),
    Case(
        "kr300", "rotor inertias in kg cm²", times(1e4, "motor.*.rotor_inertia"), ("rotor inertia",)
    ),
    Case("lwa4p", "rotor inertias in g cm²", times(1e7, "motor.*.rotor_inertia"), ("g cm^2",)),
    Case("tx40", "rotor inertias in kg mm²", times(1e6, "motor.*.rotor_inertia"), ("kg mm^2",)),
    Case("kr300", "rotors on the joints' side", spoil_rotors(2), ("rotor inertia", "joint's side")),
    Case("tx40", "rotors on the joints' side", spoil_rotors(2), ("rotor inertia",)),
    Case("lwa4p", "rotors divided twice", spoil_rotors(-2), ("rotor inertia", "already")),
    Case("rx90b", "torque constants in mN m/A", times(1e3, "motor.*.torque_constant"), ("mN m/A",)),
    Case("kr300", "current limits in mA", times(1e3, "motor.*.current_limit"), ("mA",)),
    Case(
        "tx40",
        "friction of the motors on the joints",
        by_ratio("friction", level=-1, viscous=-2),
        ("friction", "motor's side"),
    ),
    Case(
        "tx40",
        "friction of the joints on the motors",
        both(*(put(f"friction.{k}.on", f"motor_{k}") for k in range(1, 6))),
        ("friction", "other side"),
    ),
    Case("tx40", "friction in N mm", times(1e3, "friction.*.level"), ("friction", "N mm")),
    Case(
        "kr300", "stiffness per arcmin", times(1 / 3437.7, "transmission.*.stiffness"), ("arcmin",)
    ),
    Case(
        "kr300",
        "stiffness on the motors",
        by_ratio("transmission", stiffness=-2),
        ("stiffness", "motor's side"),
    ),
    Case(
        "rx90b",
        "stiffness on the motors",
        by_ratio("transmission", stiffness=-2),
        ("stiffness",),
    ),
    # URDFs
    Case("ur5", "lengths in mm", urdf(length=1e3), ("lengths", "in mm")),
    Case("ur5", "lengths and centres in mm", urdf(length=1e3, centre=1e3), ("in mm",)),
    Case("ur10e", "masses in g", urdf(mass=1e3), ("masses", "in g")),
    Case("gen3", "masses in g", urdf(mass=1e3), ("masses", "in g")),
    Case("ur10e", "inertias in kg mm²", urdf(inertia=1e6), ("inertias", "mm^2")),
    Case("gen3", "inertias in g mm²", urdf(inertia=1e9), ("inertias", "g mm^2")),
    Case("gen3", "inertias in kg cm²", urdf(inertia=1e4), ("inertias", "kg cm^2")),
    Case("gen3", "masses and inertias in g", urdf(mass=1e3, inertia=1e3), ("masses", "g")),
    Case("gen3", "centres of mass in mm", urdf(centre=1e3), ("centres of mass", "in mm")),
    Case("xmate7", "lengths in mm", urdf(length=1e3), ("lengths", "in mm")),
    Case("dualarm", "lengths in cm", urdf(length=1e2), ("lengths", "in cm")),
    Case("ur10e", "one joint in mm", urdf(length=1e3, joint="elbow_joint"), ("elbow_joint", "mm")),
    Case("ur10e", "reductions inverted", reductions(0.01), ("gear ratio", "inverted")),
    Case("ur10e", "one reduction inverted", reductions(100, 0.01), ("gear ratio", "inverted")),
    Case("ur5", "speeds in deg/s", limits(57.296, "velocity"), ("speed limits", "deg/s")),
    Case("ur10e", "angles in degrees", limits(57.296, "lower", "upper"), ("degrees",)),
    Case("gen3", "turns in degrees", turn_by_degrees, ("degrees",)),
    Case(
        "gen3",
        "masses of the first and last link exchanged",
        exchange_masses("shoulder_link", "bracelet_link"),
        silent="1.4 and 0.5 kg: both links stay possible with either",
    ),
    Case(
        "xmate7",
        "invented masses in g",
        urdf(mass=1e3, inertia=1e3),
        ("masses",),
    ),
]


# jobs; points are those of a file seam.csv beside the job


def points_file(factor, unit, shift=(0.0, 0.0, 0.0), *, start=None):
    """Replace the segments by the points of a file, numbers in mm multiplied by a factor.

    Args:
        factor: On the numbers of a line of 400 mm, in mm.
        unit: Unit in the header.
        shift: Of the line in mm; where the workpiece is not (0, 0, 0) the points are relative.
        start: The job's own start, in mm.
    """

    def spoil(tables):
        lines = [f"x [{unit}],y [{unit}],z [{unit}]"] if unit else ["x,y,z"]
        for k in range(41):
            point = (shift[0], shift[1] - 200 + 10 * k, shift[2])
            lines.append(",".join(repr(factor * x) for x in point))
        tables["seam.csv"] = "\n".join(lines)
        tables["segment"] = [{"points": "seam.csv"}]
        tables.pop("start", None)
        if start is not None:
            tables["start"] = [f"{x} mm" for x in start]

    return spoil


def in_base(spoil):
    """Points in the base frame: the workpiece is at its origin."""
    return both(put("workpiece", {}), spoil)


AT = (500.0, 0.0, 100.0)  # mm, in front of an RX90B
BOX = {"name": "fixture", "size": ["200 mm", "200 mm", "200 mm"]}


def with_box(**changes):
    return put("cell", {"box": [{**BOX, **changes}]})


JOB_CASES = [
    Case("rx90b_line", "workpiece in mm", put("workpiece.position", [425, 0, -50]), ("in mm",)),
    Case(
        "kr300_frame", "workpiece in mm", put("workpiece.position", [1600, -200, 900]), ("in mm",)
    ),
    Case(
        "rx90b_line",
        "workpiece in cm",
        put("workpiece.position", ["42.5 mm", "0 mm", "-5 mm"]),
        ("workpiece", "in cm"),
    ),
    Case(
        "lwa4p_bead",
        "workpiece in m",
        put("workpiece.position", ["0.35 mm", "0 mm", "0.1 mm"]),
        ("workpiece", "in m"),
    ),
    Case(
        "kr300_frame", "workpiece of m in cm", put("workpiece.position", [160, -20, 90]), ("in cm",)
    ),
    Case(
        "rx90b_line",
        "one point in m",
        put("segment.1.lin", ["0 mm", "562.5 m", "0 mm"]),
        ("points",),
    ),
    Case(
        "rx90b_line",
        "points of m marked as mm",
        both(
            put("start", ["0 mm", "-0.4125 mm", "0 mm"]),
            put("segment.1.lin", ["0 mm", "0.5625 mm", "0 mm"]),
        ),
        ("in m, but read in mm",),
    ),
    Case("rx90b_line", "points in cm", in_base(points_file(0.1, "mm", AT)), ("seam.csv", "in cm")),
    Case("rx90b_line", "points in m", in_base(points_file(1e-3, "mm", AT)), ("seam.csv", "in m,")),
    Case("rx90b_line", "points in inches", in_base(points_file(1 / 25.4, "mm", AT)), ("seam.csv",)),
    Case(
        "rx90b_line", "points of mm in m", in_base(points_file(1, "m", AT)), ("seam.csv", "in mm")
    ),
    Case("rx90b_line", "points of mm in cm", in_base(points_file(1, "cm", AT)), ("seam.csv", "mm")),
    Case("rx90b_line", "points without unit", in_base(points_file(1, "", AT)), ("mm",)),
    Case(
        "rx90b_line",
        "points in cm after a start",
        points_file(0.1, "mm", start=(0, -200, 0)),
        ("in cm",),
    ),
    Case(
        "rx90b_line",
        "points in cm on a workpiece",
        points_file(0.1, "mm"),
        ("nowhere on", "points of seam.csv in cm, but read in mm"),
    ),
    Case("rx90b_line", "speed of m/min in m/s", put("speed", "6 m/s"), ("m/min",)),
    Case("lwa4p_bead", "speed of m/min in m/s", put("speed", "2.4 m/s"), ("m/min",)),
    Case("kr300_frame", "speed of m/min in m/s", put("speed", "4.8 m/s"), ("m/min",)),
    Case("rx90b_corner_follow", "speed of mm/s in m/s", put("speed", "100 m/s"), ("mm/s",)),
    Case("rx90b_line", "bare speed of m/min", put("speed", 6), ("m/min",)),
    Case("rx90b_line", "bare speed of mm/s", put("speed", 100), ("mm/s",)),
    Case(
        "rx90b_line", "speed of m/s in mm/s", put("speed", "0.1 mm/s"), ("m/s, but read in mm/s",)
    ),
    Case(
        "rx90b_line",
        "speed of m/min in mm/s",
        put("speed", "6 mm/s"),
        silent="arc welding runs at 6 mm/s",
    ),
    Case("rx90b_line", "speed of a segment", put("segment.1.speed", "6 m/s"), ("m/min",)),
    Case("rx90b_line", "tolerance in m", put("tolerance.lateral", "0.1 m"), ("tolerance", "mm")),
    Case("rx90b_line", "bare tolerance", put("tolerance.vertical", 0.1), ("0.1 mm",)),
    Case(
        "kr300_frame",
        "tolerance in um",
        put("tolerance.lateral", "0.3 um"),
        ("mm, but read in um",),
    ),
    Case(
        "rx90b_line",
        "tolerance of mm in cm",
        put("tolerance.lateral", "0.1 cm"),
        silent="1 mm is a tolerance",
    ),
    Case("rx90b_line", "box in mm", with_box(pose={"position": [550, 0, 0]}), ("fixture", "in mm")),
    Case("kr300_frame", "box of m", with_box(size=["0.2 mm", "0.2 mm", "0.2 mm"]), ("size",)),
    Case("kr300_frame", "large box", with_box(size=["200 m", "200 m", "200 m"]), ("size", "mm")),
    Case(
        "rx90b_line",
        "plane in mm",
        put("cell", {"plane": [{"point": ["900 m", "0 m", "0 m"], "normal": [-1, 0, 0]}]}),
        ("plane", "in mm"),
    ),
    Case("rx90b_line", "floor in mm", put("cell", {"floor": "-500 m"}), ("floor", "in mm")),
    Case("rx90b_line", "run-in of ms", put("process.after_ramp", 350), ("after_ramp", "ms")),
    Case("kr300_frame", "run-in in m", put("process.run_in", "15 m"), ("run_in", "mm")),
    Case("lwa4p_bead", "run-out in m", put("process.run_out", 10), ("run_out", "mm")),
    Case("kr300_frame", "acceleration of mm", put("time_law.acceleration", 500), ("mm/s^2",)),
    Case("lwa4p_bead", "acceleration of m", put("time_law.acceleration", "0.2 mm/s^2"), ("m/s^2",)),
    Case("rx90b_line", "ramp in ms", put("time_law.ramp", 250), ("ms",)),
    Case("rx90b_line", "ramp of 50 s", put("time_law.ramp", 50), ("ramp", "ms")),
    Case("kr300_frame", "force in kN", put("force.1.value", ["0 kN", "150 kN", "0 kN"]), ("kN",)),
    Case("kr300_frame", "blend of m", put("segment.1.blend", "0.06 mm"), ("blend",)),
    Case("rx90b_line", "rest in ms", put("standstill", {"before": 1000}), ("standstill", "ms")),
    Case("rx90b_line", "posture in degrees", put("posture", [-38, 59, 82, -26, 79, -23]), ("deg",)),
    Case(
        "rx90b_corner_fixed",
        "workpiece turned by degrees",
        put("workpiece.orientation", {"rpy": [0, 0, -45]}),
        ("deg",),
    ),
    Case(
        "rx90b_line",
        "tool of grams by an override",
        put("override", {"tool.laser_head.body.mass": 4120.0}),
        ("laser_head", "in g"),
    ),
]

"""A small good job, and everything that can be wrong with one:
shared by the tests of jobs and of the command line.
"""

from dataclasses import dataclass

JOB = """\
format = 1
robot = "rx90b"
tool = "laser_head"
speed = "100 mm/s"
tolerance = { lateral = "0.1 mm", vertical = "0.1 mm" }
start = ["0 mm", "-100 mm", "0 mm"]
posture = ["-36.7 deg", "47.4 deg", "79.8 deg", "-25.0 deg", "91.4 deg", "-28.5 deg"]

[workpiece]
position = ["450 mm", "0 mm", "100 mm"]

[orientation]
mode = "follow"
tool = { rpy = ["180 deg", "0 deg", "90 deg"] }

[[segment]]
name = "seam"
lin = ["0 mm", "100 mm", "0 mm"]
"""


def changed(old, new, text=JOB):
    """The job with one thing changed."""
    assert text.count(old) == 1, f"'{old}' stands {text.count(old)} times in the job"
    return text.replace(old, new)


def with_top(line, text=JOB):
    """The job with one more line among its top keys."""
    return changed("format = 1\n", f"format = 1\n{line}\n", text)


WITHOUT_SEGMENT = JOB.partition("[[segment]]")[0]
POINTS = changed('lin = ["0 mm", "100 mm", "0 mm"]', 'points = "seam.csv"')
CORNER = (
    changed('lin = ["0 mm", "100 mm"', 'lin = ["50 mm", "0 mm"')
    + '\n[[segment]]\nlin = ["0 mm", "100 mm", "0 mm"]\n'
)
BAND = 'window = { speed = ["90 mm/s", "110 mm/s"] }\n'
TRIANGLE = (
    'window = { polygon = [["90 mm/s", "100 W"], ["110 mm/s", "100 W"], ["100 mm/s", "200 W"]] }\n'
)


@dataclass(frozen=True)
class Bad:
    """Text of a job file, and the sentence that refuses it; form:
    whether its form alone is wrong.
    """

    text: str
    sentence: str
    form: bool = True


BAD = {
    "unknown key": Bad(
        with_top('titel = "x"'), "titel is not a key of a job file. Did you mean 'title'?"
    ),
    "unknown key of a segment": Bad(
        JOB + "procss = true\n",
        "segment.1.procss ('seam') is not a key of a job file. Did you mean 'process'?",
    ),
    "speed of zero": Bad(changed('"100 mm/s"', "0"), "speed must be greater than 0 m/s, got 0"),
    "speed of a segment of zero": Bad(
        JOB + 'speed = "0 mm/s"\n',
        "segment.1.speed ('seam') must be greater than 0 m/s, got 0 mm/s",
    ),
    "speed without its unit": Bad(
        changed('"100 mm/s"', "100"),
        "speed as a bare number must be at most 5 m/s, got 100. Did you mean '100 mm/s'?",
    ),
    "speed in kilograms": Bad(
        changed('"100 mm/s"', '"100 kg"'),
        "speed must be in m/s or a unit of that kind, got '100 kg'",
    ),
    "negative tolerance": Bad(
        changed('lateral = "0.1 mm"', 'lateral = "-0.1 mm"'),
        "tolerance.lateral must be greater than 0 m, got -0.1 mm",
    ),
    "tolerance of nothing": Bad(
        changed('vertical = "0.1 mm"', 'vertical = "0 mm"'),
        "tolerance.vertical must be greater than 0 m, got 0 mm",
    ),
    "tolerance without its unit": Bad(
        changed('lateral = "0.1 mm"', "lateral = 0.1"),
        (
            "tolerance.lateral as a bare number must be at most 0.02 m, got 0.1. "
            "Did you mean '0.1 mm'?"
        ),
    ),
    "empty segment list": Bad(
        with_top("segment = []", WITHOUT_SEGMENT),
        "segment must have at least one entry, [[segment]]",
    ),
    "missing segment": Bad(WITHOUT_SEGMENT, "segment is missing"),
    "segment that is no list": Bad(
        changed("[[segment]]", "[segment]"),
        "segment must be a list of tables, [[segment]], got {'name': 'seam'",
    ),
    "two orientations of the tool": Bad(
        changed("tool = { rpy", "tool = { abc = [0, 0, 0], rpy"),
        "orientation.tool must have exactly one of rpy, abc, quaternion, matrix, got rpy and abc",
    ),
    "two orientations of the workpiece": Bad(
        changed(
            "[workpiece]\n", "[workpiece]\norientation = { rpy = [0, 0, 0], abc = [0, 0, 0] }\n"
        ),
        (
            "workpiece.orientation must have exactly one of rpy, abc, quaternion, matrix, got rpy "
            "and abc"
        ),
    ),
    "two shapes in a segment": Bad(
        JOB + "spline = [[0, 0.1, 0]]\n",
        "segment.1 must have exactly one of lin, circ, spline, points, ptp, joints, "
        "recorded, got lin and spline",
    ),
    "no shape in a segment": Bad(
        changed("lin =", "# lin ="),
        "segment.1 must have exactly one of lin, circ, spline, points, ptp, joints, "
        "recorded, got none",
    ),
    "start that is no number": Bad(
        changed('"-100 mm"', "nan"), "start.2 must be a finite number in m, got nan"
    ),
    "speed that is no number": Bad(
        changed('"100 mm/s"', "nan"), "speed must be a finite number in m/s, got nan"
    ),
    "point that is no number": Bad(
        changed('lin = ["0 mm", "100 mm"', 'lin = ["0 mm", nan'),
        "segment.1.lin.2 must be a finite number in m, got nan",
    ),
    "endless tolerance": Bad(
        changed('lateral = "0.1 mm"', "lateral = inf"),
        "tolerance.lateral must be a finite number in m, got inf",
    ),
    "too few posture angles": Bad(
        changed(', "91.4 deg", "-28.5 deg"]', "]"),
        "posture must be the angles of the 6 joints of 'rx90b', got 4",
    ),
    "too many posture angles": Bad(
        changed('"-28.5 deg"]', '"-28.5 deg", "0 deg"]'),
        "posture must be the angles of the 6 joints of 'rx90b', got 7",
    ),
    "posture in bare degrees": Bad(
        changed('"91.4 deg"', "91.4"),
        "posture.5 as a bare number must be at most 12.57 rad, got 91.4. Did you mean '91.4 deg'?",
    ),
    "posture of an unknown name": Bad(
        changed(
            'posture = ["-36.7 deg", "47.4 deg", "79.8 deg", "-25.0 deg", "91.4 deg", "-28.5 deg"]',
            'posture = "elbow sideways"',
        ),
        "posture must be the angles of the joints or one of 'elbow up', 'elbow down', "
        "got 'elbow sideways'",
    ),
    "floor above the base": Bad(
        JOB + '[cell]\nfloor = "300 mm"\n',
        "cell floor must be at most 0 mm, where the robot's base is, got 300 mm",
    ),
    "box without a size": Bad(
        JOB + '[[cell.box]]\nname = "fixture"\n', "cell.box.1.size ('fixture') is missing"
    ),
    "box without a height": Bad(
        JOB + '[[cell.box]]\nsize = ["1 m", "1 m", 0]\n',
        "cell.box.1.size.3 must be greater than 0 m, got 0",
    ),
    "plane without a direction": Bad(
        JOB + "[[cell.plane]]\npoint = [0, 0, 0]\nnormal = [0, 0, 0]\n",
        "cell.plane.1 normal must have a length, the direction to the free side, got 0, 0, 0",
    ),
    "corner without points": Bad(JOB + 'corner = "40 deg"\n', "segment.1 corner belongs to points"),
    "tool inside a box": Bad(
        JOB
        + '[[cell.box]]\nname = "table"\nsize = [0.4, 0.8, 0.45]\n'
        + "pose = { position = [0.45, 0, -0.075] }\n",
        "the seam cannot be run by 'rx90b': from 0.0 to 200.0 mm the tool point would be 50.0 mm "
        "inside box 'table'",
        form=False,
    ),
    "run in by length and by time": Bad(
        JOB + '[process]\nrun_in = "1 mm"\nafter_ramp = "1 s"\n',
        "process must have either after_ramp or run_in, not both",
    ),
    "run out by length and by time": Bad(
        JOB + '[process]\nrun_out = "1 mm"\nbefore_ramp = "1 s"\n',
        "process must have either before_ramp or run_out, not both",
    ),
    "window of two kinds": Bad(
        JOB + BAND.replace(" }", ", polygon = [] }") + '[process]\npower = "1 W"\n',
        "segment.1.window must have either speed or polygon",
    ),
    "window that is upside down": Bad(
        JOB + 'window = { speed = ["110 mm/s", "90 mm/s"] }\n',
        "segment.1.window speed must be the lowest and the highest, got 0.11 and 0.09 m/s",
    ),
    "window of two corners": Bad(
        JOB
        + 'window = { polygon = [["1 mm/s", "1 W"], ["2 mm/s", "1 W"]] }\n'
        + '[process]\npower = "1 W"\n',
        "segment.1.window polygon must have at least three corners, got 2",
    ),
    "window of power without a power": Bad(
        JOB + TRIANGLE, "process.power is missing, which a window of speed and power needs"
    ),
    "time law with the wrong number": Bad(
        JOB + '[time_law]\nkind = "trapezoid"\nramp = "1 s"\n',
        "time_law of kind trapezoid must have acceleration and nothing else",
    ),
    "unknown friction model": Bad(
        JOB + '[model]\nfriction = "lugr"\n',
        "model.friction: input should be 'lugre', 'switching', 'arctan' or 'off', got 'lugr'",
    ),
    "angles without points": Bad(JOB + 'angles = "rpy"\n', "segment.1 angles belong to points"),
    "newer format": Bad(
        changed("format = 1", "format = 2"),
        "format 2 is newer than this armtwin reads (1); update armtwin",
    ),
    "missing format": Bad(changed("format = 1\n", ""), "format is missing; write format = 1"),
    "not TOML": Bad(
        "hello world",
        "is not valid TOML: Expected '=' after a key in a key/value pair (at line 1, column 7)",
    ),
    "seam without a start": Bad(
        changed("start =", "# start ="),
        "start is missing: the point where the first segment begins",
    ),
    "tool without an orientation": Bad(
        changed("tool = { rpy", "# tool = { rpy"),
        "orientation.tool is missing: how the tool is turned (mode follow)",
    ),
    "missing points file": Bad(POINTS, "seam.csv: cannot be read (No such file or directory)"),
    "corner without a radius": Bad(
        CORNER,
        (
            "the corner between segments 'seam' and 'segment 2' at (500, 0, 100) mm turns by "
            "53.13° and cannot be passed"
        ),
    ),
    "ramps longer than the segment": Bad(
        changed('"100 mm/s"', '"1 m/s"'),
        (
            "segment 'seam' is 200.0 mm long, but speeding up and slowing down at 1000 mm/s needs "
            "250.0 mm; choose a lower"
        ),
    ),
    "process switched off everywhere": Bad(
        JOB + "process = false\n", "process: it is nowhere on, so there is nothing to judge"
    ),
    "run in beyond the end": Bad(
        JOB + '[process]\nrun_in = "300 mm"\n',
        "process: it is nowhere on, so there is nothing to judge",
    ),
    "tool of another robot": Bad(
        changed('"laser_head"', '"spindle"'),
        "robot 'rx90b': tool 'spindle' is not known. Known: laser_head.",
        form=False,
    ),
    "unknown override": Bad(
        JOB + '[override]\n"frction.5.viscous" = 1\n',
        "override 'frction.5.viscous': there is no 'frction'. Did you mean 'friction'?",
        form=False,
    ),
    "override of an eighth of seven": Bad(
        JOB + '[override]\n"friction.8.viscous" = 1\n',
        (
            "override 'friction.8.viscous': there is no 'friction.8'. Known: joint_1, joint_2, "
            "joint_3, joint_4, wrist_a,"
        ),
        form=False,
    ),
    "override that is no number": Bad(
        JOB + '[override]\n"friction.5.viscous" = nan\n',
        "friction.5.viscous ('wrist_a') must be a finite number in N m s/rad, got nan",
        form=False,
    ),
    "seam out of reach": Bad(
        changed('"450 mm"', '"2450 mm"'),
        "the seam cannot be run by 'rx90b': from 0.0 to 200.0 mm out of reach. The wrist centre is "
        "2554.7 mm from axis 2, "
        "1654.7 mm beyond the stretched arm (900.0 mm).",
        form=False,
    ),
}
FORM = {name: bad for name, bad in BAD.items() if bad.form}

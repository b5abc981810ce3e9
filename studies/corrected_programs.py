"""Corrected programs read again and run on the twin: `python studies/corrected_programs.py`.

Makes the numbers of docs/from_program.md, "Corrected programs": a line and a corner of 20 mm zone,
with run-in, in each dialect; largest errors beside the original seam as ratios to those of the
set-points. The last column is a bound: the same points where the controller's jerk is not limited,
so that what is left is what the points can follow, and the rest is that short moves round a corner
slower than one zone.
"""

import sys
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.maths.rotations import from_rpy, pose
from armtwin.motion.moves import ProgramMove
from armtwin.prediction import corrected_program as written
from armtwin.programs.table import read_program
from armtwin.programs.writing import write_program

ENDINGS = {"krl": ".src", "rapid": ".mod", "urscript": ".script", "ls": ".ls"}
LINE = ((0.425, -0.16), (0.425, -0.12), (0.425, 0.12), (0.425, 0.16))
CORNER = ((0.425, -0.1), (0.425, -0.06), (0.425, 0.06), (0.545, 0.06), (0.585, 0.06))
SEAMS = {"line": LINE, "corner": CORNER}
HEIGHT = -0.05
ZONE = 0.02
UNLIMITED = 4000.0  # jerk of a controller that does not slow down between points [m/s³]


def write_seam(name: str, dialect: str, folder: Path) -> at.Job:
    """A program of a dialect with run-in and run-out, as a job."""
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    R = from_rpy(np.pi, 0.0, np.pi / 2)
    places = [pose(R, (*p, HEIGHT)) for p in SEAMS[name]]
    moves = [ProgramMove("PTP", places[0])]
    for k, X in enumerate(places[1:], 1):
        zone = ZONE if k + 1 < len(places) else 0.0
        moves.append(ProgramMove("LIN", X, speed=0.1, zone=zone))
    tool = robot.description.tool["laser_head"].tcp.matrix()
    path = folder / f"{name}{ENDINGS[dialect]}"
    path.write_text(write_program(name, dialect, tool, moves))
    lines = [step.line for step in read_program(path).stretches[0]]
    side = folder / "side.toml"
    side.write_text(f'format = 1\nseams = ["{lines[2]}-{lines[-2]}"]\n')
    return at.Job.from_program(path, robot, tolerance="0.1 mm", frames=side)


def correct_seam(
    job: at.Job, found: at.Correction, jerk: float | None = None
) -> tuple[float, written.WrittenProgram]:
    """Largest ratio of the written program's peaks to those of the set-points, and the program."""
    p = found.prediction
    if jerk is not None:
        law = replace(p.job.description.time_law, jerk=jerk)
        quick = at.Job(replace(p.job.description, time_law=law), p.job.origin)
        found = replace(found, prediction=replace(p, job=quick))
    program = written.correct_program(found, job.source)
    size = found.best.size
    ratio = max(program.size.lateral / size.lateral, program.size.vertical / size.vertical)
    return ratio, program


def nearest_points(job: at.Job, text: str) -> float:
    """Least distance between the points of a program [m]."""
    steps = read_program(job.source.read.path, text=text).stretches[0]
    places = np.array([x.spot.X[:3, 3] for x in steps[1:]])
    return float(np.linalg.norm(np.diff(places, axis=0), axis=1).min())


if __name__ == "__main__":
    print("| seam | dialect | points | nearest mm | before µm | set-points µm | ratio | bound |")
    for seam in sys.argv[1:] or SEAMS:
        correction = None
        for name in ENDINGS:
            with tempfile.TemporaryDirectory() as made:
                given = write_seam(seam, name, Path(made))
                correction = correction or at.correct(given, nominal=True)
                share, new = correct_seam(given, correction)
                bound, _ = correct_seam(given, correction, UNLIMITED)
                near = 1e3 * nearest_points(given, new.text)
            before, best = correction.before.lateral, correction.best.size.lateral
            cells = (seam, name, new.points, f"{near:.2f}", f"{1e6 * before:.0f}")
            print(*cells, f"{1e6 * best:.1f} {share:.2f} {bound:.2f}", flush=True)

"""Random stretches of robot programs through `predict`: `python studies/program_stretches.py [N]`.

A stretch has what seam-only jobs cannot hold: corners passed in zones, exact stops, turns back by
180 degrees, plunges and retracts along the tool's axis, segments shorter than their ramps, turns on
the spot, arcs, and joint moves between seams. It is written as a program, read and predicted. In
reach is a stretch whose tool has a joint position within the limits at every tenth of every move.

The RX90B's file has a limit of the following error (8 degrees of the motor): a run that it stops is
an answer of `predict` too, and counted.
"""

import itertools
import sys
import tempfile
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import numpy as np

import armtwin as at
from armtwin.maths.rotations import from_rpy, pose
from armtwin.motion.moves import ProgramMove
from armtwin.programs.writing import write_program

ENDINGS = {"krl": ".src", "rapid": ".mod", "urscript": ".script", "ls": ".ls"}
KINDS = ("corner", "stop", "turn back", "plunge", "short", "turn", "arc", "joints")
SHORT = (2e-4, 1.5e-3)  # length of segments that no ramp fits into [m]
MOVES = 9
CENTRE = (0.55, 0.0, 0.05)  # where the seams lie [m]


class Stretch(NamedTuple):
    """A program's moves, and what kinds of them it has."""

    moves: list[ProgramMove]
    kinds: tuple[str, ...]


def draw_stretch(random: np.random.Generator) -> Stretch:
    """Moves of random kinds about a place on the workpiece."""
    R = from_rpy(np.pi, 0.0, np.pi / 2)
    here = np.array(CENTRE) + random.uniform(-0.06, 0.06, 3)
    way = np.array([0.0, 0.04, 0.0])
    start = pose(R, here)
    moves = [ProgramMove("PTP", start)]
    kinds = tuple(random.choice(KINDS, MOVES).tolist())
    for kind in ("corner", *kinds):
        zone = 0.0 if kind in ("stop", "plunge", "turn") else float(random.choice([1e-3, 5e-3]))
        speed = float(random.choice([0.02, 0.06, 0.1]))
        turned, via = R, None
        step = _draw_step(kind, random, way, R)
        if kind == "turn":
            turned = R @ from_rpy(*random.uniform(-0.2, 0.2, 3))
        if kind == "arc":
            aside = np.cross(step, R[:, 2])
            via = pose(R, here + step / 2 + 0.4 * aside)
        here = here + step
        R = turned
        word = "PTP" if kind == "joints" else "CIRC" if kind == "arc" else "LIN"
        speed = 0.3 if kind == "joints" else speed
        moves.append(ProgramMove(word, pose(R, here), via=via, speed=speed, zone=zone))
        if kind not in ("plunge", "turn", "short"):
            way = step
    return Stretch(moves, kinds)


def _draw_step(kind, random, way, R):
    """Where a move of a kind leads from where the tool is [m]."""
    unit = way / np.linalg.norm(way)
    across = np.cross(R[:, 2], unit)
    across /= np.linalg.norm(across)
    length = random.uniform(0.005, 0.05)
    if kind == "turn back":
        return -way * random.uniform(0.3, 1.0)
    if kind == "plunge":
        return R[:, 2] * length * random.choice([-1.0, 1.0])
    if kind == "turn":
        return np.zeros(3)
    if kind == "short":
        length = random.uniform(*SHORT)
    angle = random.uniform(0.5, 2.4) * random.choice([-1.0, 1.0])
    return length * (np.cos(angle) * unit + np.sin(angle) * across)


def is_in_reach(robot: at.Robot, moves: list[ProgramMove]) -> bool:
    """Whether every tenth of each move's straight way has a joint position within the limits."""
    for before, move in itertools.pairwise(moves):
        for share in np.linspace(0.0, 1.0, 11):
            X = before.pose.copy()
            X[:3, 3] += share * (move.pose[:3, 3] - before.pose[:3, 3])
            if not len(robot.inverse_kinematics(X, within_limits=True)):
                return False
    return True


def run_stretches(count: int, seed: int, folder: Path) -> tuple[int, Counter, list[str]]:
    """How many stretches in reach there were, those run by kind, and why others were not."""
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    tool = robot.description.tool["laser_head"].tcp.matrix()
    random = np.random.default_rng(seed)
    reached, run, refused = 0, Counter(), []
    for k in range(count):
        stretch = draw_stretch(random)
        if not is_in_reach(robot, stretch.moves):
            continue
        reached += 1
        dialect = list(ENDINGS)[k % len(ENDINGS)]
        path = folder / f"part{k}{ENDINGS[dialect]}"
        path.write_text(write_program("part", dialect, tool, stretch.moves))
        try:
            job = at.Job.from_program(path, robot, tolerance="5 mm")
            found = at.predict(job)
        except at.ArmtwinError as why:
            refused.append(f"stretch {k} ({', '.join(stretch.kinds)}): {why}")
            continue
        run.update({"all", *stretch.kinds})
        if found.verdict.stopped is not None:
            run["stopped"] += 1
    return reached, run, refused


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 90
    with tempfile.TemporaryDirectory() as made:
        total, done, others = run_stretches(number, 38, Path(made))
    print(f"{done['all']} of {total} stretches in reach run: {done['all'] / total:.1%}")
    print(f"  in {done['stopped']} of them the servo's following error stops the robot")
    for kind in KINDS:
        print(f"  with {kind}: {done[kind]}")
    print(*others, sep="\n")

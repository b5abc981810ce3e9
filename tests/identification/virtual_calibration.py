"""Virtual calibrations: robots whose geometry is off, and positions of their tool with noise."""

import numpy as np

import armtwin as at
from armtwin.identification.calibration.geometry import RobotGeometry

NOISE = 5e-5  # [m]
SIZES = {"rad": 1e-3, "m": 5e-4}  # deviations of the arm from its file
REST = np.array([0.182, 0.182, 0.258, 0.182, 0.0])  # of the drives of the EPAAS [m, rad]
REACH = np.array([0.02, 0.02, 0.03, 0.03, 1.5])  # that its postures have to either side
# robot, and the numbers that may change: all that positions determine where none is named
CASES = {
    "rx90b": ("rx90b", ()),
    "epaas, triangles": ("epaas", ("L3", "L4", "vane", "joint_3.x", "joint_4.x")),
    "epaas, zeros": (
        "epaas",
        ("L3.angle", "L3.zero", "L4.angle", "L4.zero", "vane", "joint_3.x", "joint_4.x"),
    ),
}


def load(name):
    """The robot as its file has it, with a tool."""
    robot = at.Robot.load(name)
    return robot.with_tool("laser_head") if name == "rx90b" else robot


def postures(name, robot, count, rng):
    """Postures (count, n): joints anywhere within limits, or cylinders anywhere in their stroke."""
    if name == "epaas":
        return REST + REACH * rng.uniform(-1, 1, (count, 5))
    return rng.uniform(*robot.position_limits, (count, robot.n))


def built_otherwise(geometry, kept, rng):
    """Numbers of an arm that differs from its file in what positions determine, (p,)."""
    numbers = geometry.start.copy()
    sizes = np.array([SIZES[unit] for unit in geometry.units])
    chosen = list(kept)
    numbers[chosen] += sizes[chosen] * rng.normal(size=len(chosen))
    return numbers


def calibrate(case, rng, count=30, noise=NOISE):
    """A calibration of an arm drawn anew, the arm's true numbers, and unseen postures."""
    name, only = CASES[case]
    robot = load(name)
    of_drives = name == "epaas"
    geometry = RobotGeometry(robot, of_drives, only=only)
    at_ = postures(name, robot, count, rng)
    silent = geometry.points(geometry.start, at_)
    kept = at.calibrate(
        robot, at.ToolPositions.of(robot, at_, silent, of_drives=of_drives), only=only
    ).kept
    truth = built_otherwise(geometry, kept, rng)
    seen = geometry.points(truth, at_) + noise * rng.normal(size=(count, 3))
    measured = at.ToolPositions.of(robot, at_, seen, of_drives=of_drives)
    found = at.calibrate(robot, measured, only=only)
    return found, truth, postures(name, robot, 50, rng)

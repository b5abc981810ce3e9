"""Forces of a job: what acts on the tool and on the joints along the motion.

A force is constant, a table along the seam, or a file over time or along the seam. It is given in
the base's, the workpiece's, the seam's or the tool's frame.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.errors import FileError, blame, did_you_mean
from armtwin.files.sheets import Sheet, read_sheet, table_of
from armtwin.jobs.groups import Force
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats
from armtwin.maths.interpolation import interpolate_columns
from armtwin.maths.units import Unit
from armtwin.motion.seam import Seam
from armtwin.robot.robot import Robot
from armtwin.simulation.options import RunOptions

SECONDS, METRES = Unit("s", at_least=0), Unit("m", at_least=0, plausible=100, hint="mm")
NEWTONS, NEWTON_METRES = Unit("N"), Unit("N m")
FORCES = ("fx", "fy", "fz")
TORQUES = ("tx", "ty", "tz")
SLACK_TIME, SLACK_PLACE = 0.01, 1e-4  # by which a file may end early [s, m]


@dataclass(frozen=True, eq=False)
class Acting:
    """What acts on a robot along a motion, at its samples.

    Attributes:
        torque: Torques on the joints, (m, n) [N m]; None for none.
        wrench: Force and torque on the tool point, base axes, (m, 6); None for none.
    """

    torque: Floats | None = None
    wrench: Floats | None = None

    def rows(self, some: slice) -> Acting:
        """What acts at given samples."""
        torque = None if self.torque is None else self.torque[some]
        wrench = None if self.wrench is None else self.wrench[some]
        return Acting(torque, wrench)

    def make_zero(self) -> Acting:
        """Torques and forces of zero where there are some: the same kernel runs without them."""
        torque = None if self.torque is None else np.zeros_like(self.torque)
        wrench = None if self.wrench is None else np.zeros_like(self.wrench)
        return Acting(torque, wrench)

    def options(self, **others: Any) -> RunOptions:
        """What a run is given where it acts, and other options."""
        return RunOptions(torque=self.torque, wrench=self.wrench, **others)

    def with_torque(self, more: Floats | None) -> Acting:
        """The same with more torque on the joints, (m, n)."""
        if more is None:
            return self
        return Acting(more if self.torque is None else self.torque + more, self.wrench)


def acting(job: Job, robot: Robot, time: Floats) -> Acting:
    """What acts on a robot while it runs a job, at times, (m,).

    Args:
        job: The job.
        robot: The robot, tool mounted.
        time: Times from the start of the motion [s].
    """
    torque: Floats | None = None
    wrench: Floats | None = None
    for i, force in enumerate(job.description.force, 1):
        place = f"force.{i}"
        values = _values(job, place, force, time)
        if force.process:
            values = values * _on(job, time, force.ramp)[:, None]
        if force.at == "tool":
            turned = _in_base(job, force, time, values)
            wrench = turned if wrench is None else wrench + turned
            continue
        j = _joint(job, robot, place, force)
        torque = np.zeros((len(time), robot.n)) if torque is None else torque
        torque[:, j] += values[:, 0]
    return Acting(torque, wrench)


def _joint(job: Job, robot: Robot, place: str, force: Force) -> int:
    if force.at in robot.joint_names:
        return robot.joint_names.index(force.at)
    hint = did_you_mean(force.at, ("tool", *robot.joint_names))
    raise FileError(job.where, f"{place}.at: '{force.at}' is no joint of the robot. {hint}")


def _on(job: Job, time: Floats, ramp: float) -> Floats:
    """1 where the process is on, 0 elsewhere, linear over the ramps within."""
    s = job.seam.command(time).s
    on = np.zeros(len(time))
    for start, stop in job.process_on():
        inside = (s >= start) & (s <= stop)
        entered = np.minimum(s - start, stop - s)
        on[inside] = np.clip(entered / ramp, 0.0, 1.0)[inside] if ramp > 0 else 1.0
    return on


def _values(job: Job, place: str, force: Force, time: Floats) -> Floats:
    """Force and torque in the force's own frame, (m, 6), or joint torque, (m, 1)."""
    if force.joint_torque is not None:
        return np.full((len(time), 1), force.joint_torque)
    if force.file is not None:
        return _of_file(job, place, force, time)
    if force.along is not None:
        table = np.array(force.along)
        nodes, forces = table[:, 0], table[:, 1:]
        _check_reach(job.where, f"{place}.along", nodes, job.seam)
        return interpolate_columns(job.seam.command(time).s, nodes, _six(forces))
    constant = np.zeros(6)
    if force.value is not None:
        constant[:3] = force.value
    if force.torque is not None:
        constant[3:] = force.torque
    return np.tile(constant, (len(time), 1))


def _six(forces: Floats) -> Floats:
    return np.concatenate([forces, np.zeros((len(forces), 6 - forces.shape[1]))], axis=1)


def _of_file(job: Job, place: str, force: Force, time: Floats) -> Floats:
    """Forces of a file, over time or along the seam."""
    assert force.file is not None
    path = job.beside(force.file)
    sheet = read_sheet(path)
    over_time = "time" in sheet.named
    nodes = {"time": SECONDS} if over_time else {"place": METRES}
    wanted = dict.fromkeys(FORCES, NEWTONS)
    if force.at != "tool":
        wanted = {"torque": NEWTON_METRES}
    elif set(TORQUES) <= sheet.named.keys():
        wanted |= dict.fromkeys(TORQUES, NEWTON_METRES)
    table = table_of(sheet, sheet.columns({**nodes, **wanted}))
    given, values = table[:, 0], table[:, 1:]
    if force.at == "tool":
        values = _six(values)
    if over_time:
        _check_rising(sheet, given, "time")
        _check_duration(path, place, given, job.seam)
        return interpolate_columns(time, given, values)
    _check_rising(sheet, given, "place")
    _check_reach(str(path), place, given, job.seam)
    return interpolate_columns(job.seam.command(time).s, given, values)


def _check_rising(sheet: Sheet, nodes: Floats, name: str) -> None:
    decreasing = np.diff(nodes) <= 0
    if decreasing.any():
        raise sheet.error(2 + int(decreasing.argmax()), f"{name} must rise from line to line")


def _check_duration(path: Path, place: str, nodes: Floats, seam: Seam) -> None:
    last = float(nodes[-1])
    if abs(last - seam.duration) > SLACK_TIME or nodes[0] > SLACK_TIME:
        raise FileError(
            path,
            f"{place}: forces must reach from 0 s to the end of the motion at "
            f"{seam.duration:.4g} s, got {nodes[0]:.4g} to {last:.4g} s",
        )


def _check_reach(where: str, place: str, nodes: Floats, seam: Seam) -> None:
    first, last = 1e3 * float(nodes[0]), 1e3 * float(nodes[-1])
    if (np.diff(nodes) <= 0).any():
        raise FileError(where, f"{place}: places along the seam must rise")
    if nodes[0] > SLACK_PLACE or abs(nodes[-1] - seam.length) > SLACK_PLACE:
        raise FileError(
            where,
            f"{place}: forces must reach from 0 mm to the end of the seam at "
            f"{1e3 * seam.length:.5g} mm, got {first:.5g} to {last:.5g} mm",
        )


def _in_base(job: Job, force: Force, time: Floats, values: Floats) -> Floats:
    """Force and torque in base axes, (m, 6)."""
    if force.frame == "base":
        return values
    if force.frame == "workpiece":
        R = job.description.workpiece.matrix()[:3, :3]
        turns = np.broadcast_to(R, (len(time), 3, 3))
    else:
        with blame(job.where):
            _, frames, tools = job.seam.frames(job.seam.command(time).s)
        turns = frames if force.frame == "seam" else tools
    linear = np.einsum("mij,mj->mi", turns, values[:, :3])
    angular = np.einsum("mij,mj->mi", turns, values[:, 3:])
    return np.concatenate([linear, angular], axis=1)

"""Moments on bearings and forces in links along a motion, links rigid."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from armtwin.analysis.states import States, chart_values
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Names
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import NEWTON_METRES, SECONDS, Number
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

if TYPE_CHECKING:
    from armtwin.elements.structure import Structure

NEWTONS = Number(1.0, "N", digits=4)


@dataclass(frozen=True, eq=False, repr=False)
class BearingLoads(Result):
    """What bearings, links and rods carry along a motion.

    What more than one part could carry is not determined, NaN.

    Attributes:
        robot: Name of the robot.
        time: Times, (m,) [s].
        drives: Names of the joints that are driven.
        torque: What drives each of them, without friction, (m, drives) [N m or N].
        joints: Names of the revolute joints.
        moments: Moment across each joint's axis, (m, joints) [N m].
        links: Names of the beams between the nodes of the links.
        axial: Tension in each, (m, links) [N].
        bending: Larger of its bending moments at both ends, (m, links) [N m].
        torsion: Torque about its axis, (m, links) [N m].
        rods: Names of struts and of rods that close loops.
        pull: Tension in each, (m, rods) [N].
    """

    robot: str
    time: Floats
    drives: Names
    torque: Floats
    joints: Names
    moments: Floats
    links: Names
    axial: Floats
    bending: Floats
    torsion: Floats
    rods: Names
    pull: Floats

    def sections(self) -> show.Report:
        """Peaks of the drives' torques, of the moments on bearings and of the forces in links."""
        subtitle = "at one posture"
        if len(self.time) > 1:
            length = SECONDS.with_unit(float(np.ptp(self.time)))
            subtitle = f"along {length} of motion, {len(self.time)} states"
        drives = _joints(self.time, "drive", "torque", self.drives, self.torque)
        sections = (
            show.Section("Drives, without friction", (drives,)),
            show.Section("Loads", load_blocks(self)),
            show.Section("Moments on bearings", _moments(self), page_only=True),
        )
        title = f"{self.robot}: loads on bearings and links"
        return show.Report(title, subtitle, sections, (_largest_moment(self),))


def _largest_moment(loads: BearingLoads) -> show.Text:
    """The bearing that carries most."""
    if np.isnan(loads.moments).all():
        return show.Text("No bearing's moment is determined: more than one part could carry it.")
    when, which = np.unravel_index(np.nanargmax(loads.moments), loads.moments.shape)
    moment = NEWTON_METRES.with_unit(float(loads.moments[when, which]))
    at = "" if len(loads.time) == 1 else f", at {SECONDS.with_unit(float(loads.time[when]))}"
    return show.Text(f"Largest moment on a bearing: {moment} ({loads.joints[which]}{at}).")


def _moments(loads: BearingLoads) -> show.Blocks:
    """Moments that are determined, over time or at the posture."""
    values = {}
    for name, moment in zip(loads.joints, loads.moments.T, strict=True):
        if not np.isnan(moment).any():
            values[name] = moment
    yield chart_values("", show.Axis("moment", "N m"), values, loads.time)


def load_blocks(loads: BearingLoads) -> show.Blocks:
    """Peaks on bearings, in links and in rods."""
    yield _joints(loads.time, "bearing", "moment", loads.joints, loads.moments)
    yield _links(loads)
    if loads.rods:
        yield _rods(loads)
    words = (
        "Links are rigid, and the body of each acts at its joint: a link shows what it carries for "
        "others. Moments about a joint's own axis are its torque and not shown with its bearing."
    )
    values = (loads.moments, loads.axial, loads.bending, loads.torsion)
    if any(np.isnan(value).any() for value in values):
        words += " An empty cell is not determined: more than one part could carry the load."
    yield show.Text(words)


def _peaks(values: Floats, time: Floats) -> tuple[list[float | None], list[float | None]]:
    """Largest size of each column, (m, k), and its time; none where it is not determined."""
    sizes: list[float | None] = []
    times: list[float | None] = []
    for column in values.T:
        is_known = not np.isnan(column).all()
        at = int(np.nanargmax(np.abs(column))) if is_known else 0
        sizes.append(float(column[at]) if is_known else None)
        times.append(float(time[at]) if is_known else None)
    return sizes, times


def _joints(time: Floats, part: str, what: str, names: Names, values: Floats) -> show.Table:
    """Peak, root mean square and time of the peak of each joint."""
    sizes, times = _peaks(values, time)
    rms = [float(np.sqrt(np.mean(column**2))) for column in values.T]
    known = [None if size is None else x for size, x in zip(sizes, rms, strict=True)]
    peaks = {f"{what}_nm": (sizes, f"peak {what}", NEWTON_METRES)}
    shown = peaks | {"rms_nm": (known, "rms", NEWTON_METRES)}
    return show.Table.of(f"{part}s", joint=(names, part), **shown, time_s=(times, "at", SECONDS))


def _links(loads: BearingLoads) -> show.Table:
    bending, times = _peaks(loads.bending, loads.time)
    return show.Table.of(
        "links",
        link=(loads.links, "link"),
        bending_nm=(bending, "bending", NEWTON_METRES),
        axial_n=(_peaks(loads.axial, loads.time)[0], "axial", NEWTONS),
        torsion_nm=(_peaks(loads.torsion, loads.time)[0], "torsion", NEWTON_METRES),
        time_s=(times, "bending at", SECONDS),
    )


def _rods(loads: BearingLoads) -> show.Table:
    pulls, times = _peaks(loads.pull, loads.time)
    pull, at = (pulls, "pull", NEWTONS), (times, "at", SECONDS)
    return show.Table.of("rods", rod=(loads.rods, "strut or rod"), pull_n=pull, time_s=at)


def bearing_loads(robot: Robot, states: States) -> BearingLoads:
    """Moments on every bearing and forces in every link and rod at states of a robot."""
    if any(joint.mimic is not None for joint in robot.description.joint):
        raise ArmtwinError(f"robot '{robot.name}': joints that follow others have no bearings yet")
    # kernels of elements are for those who ask
    from armtwin.robot.dynamics.structure import structure_of

    built = structure_of(robot.assembly, bending=False)
    found = built.inverse_dynamics(states.q, states.v, states.a)
    rows = _Rows(built.structure, found.stress)
    hinges, beams, trusses = built.structure.hinges, built.structure.beams, built.structure.trusses
    return BearingLoads(
        robot=robot.name,
        time=states.time,
        drives=robot.joint_names,
        torque=found.tau,
        joints=tuple(hinge.name for hinge in hinges),
        moments=rows.across([hinge.name for hinge in hinges], "bend_y", "bend_z"),
        links=tuple(beam.name for beam in beams),
        axial=rows.along([beam.name for beam in beams], "elongation"),
        bending=rows.bending(),
        torsion=rows.lengths * rows.along([beam.name for beam in beams], "torsion"),
        rods=tuple(truss.name for truss in trusses),
        pull=rows.along([truss.name for truss in trusses], "elongation"),
    )


@dataclass(frozen=True)
class _Rows:
    """Stresses of a structure by the names of its elements, (m, rows)."""

    structure: Structure
    stress: Floats

    @property
    def lengths(self) -> Floats:
        """Lengths of the beams, (beams,) [m]."""
        from armtwin.elements.packing import distance

        return np.array([distance(self.structure, *b.points) for b in self.structure.beams])

    def along(self, names: list[str], mode: str) -> Floats:
        """Stresses of one mode of some elements, (m, elements)."""
        rows = [self.structure.row(f"{name}.{mode}") for name in names]
        return self.stress[:, rows]

    def across(self, names: list[str], first: str, second: str) -> Floats:
        """Size of a moment with two components, (m, elements)."""
        return np.hypot(self.along(names, first), self.along(names, second))

    def bending(self) -> Floats:
        """Larger of the bending moments at both ends of each beam, (m, beams)."""
        names = [beam.name for beam in self.structure.beams]
        at_p = self.across(names, "bend_pz", "bend_py")
        at_q = self.across(names, "bend_qz", "bend_qy")
        return self.lengths * np.maximum(at_p, at_q)

"""Effective inertia of each drive, its variation, and hydraulic natural frequencies.

    m_i = (Aᵀ M A)_ii                            effective mass or inertia
    ω_i² = (1 + B leakage) / (compliance m_i)    a drive alone, the others held
    2 ζ ω = B / m_i + leakage / compliance

All drives together have the modes of `modes.py` with their valves closed.

Ref: [Machielsen 1983, sections 7.3 and 8.2.2]

Postures all over the workspace of a robot, or along its boundary.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise, product

import numpy as np

from armtwin.analysis.equations import Axes, drive_axes, drive_inertia, joint_axes
from armtwin.analysis.flexible import elastic_coordinates, flexible, viscous_friction
from armtwin.analysis.modes import find_locked_modes
from armtwin.analysis.states import arrange, chart_values
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, Record
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import HERTZ, PLAIN, Number
from armtwin.report.result import Result
from armtwin.robot.kinematics import wrist
from armtwin.robot.kinematics.strokes import levers
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import Hydraulic
from armtwin.robot.schema.groups import WristLimits

ALONG_EDGE = 26  # postures on each edge of r and z of a wrist's workspace
ALONG_RANGE = 101  # postures through the range of an angle at home
GAMMAS, PSIS = 5, 3  # values of the wrist's angles with which the edges are gone around
LEAST_LEVER = 0.5  # of a cylinder's longest lever, with which it feels 4 times the least mass
IN_JOINT_SPACE = 4096
SEED = 1983
BOUNDARY = "along the boundary of the wrist's workspace, its angles varied too"


def workspace(robot: Robot) -> tuple[Floats, str]:
    """Postures (m, n) that sample the workspace of a robot, and how they were chosen."""
    if robot.description.wrist is not None:
        return boundary(robot), BOUNDARY
    lower, upper = robot.position_limits
    if not np.isfinite([lower, upper]).all():
        raise ArmtwinError(
            f"robot '{robot.name}' has no position limits that bound its workspace; give a posture "
            "(--at) or a motion (--along)"
        )
    rng = np.random.default_rng(SEED)
    q = rng.uniform(lower, upper, (IN_JOINT_SPACE, robot.n))
    return q, f"{IN_JOINT_SPACE} postures spread evenly within the joints' limits"


def boundary(robot: Robot) -> Floats:
    """Postures around the four edges of r and z, with the wrist's angles γ and ψ varied as well.

    Home is the first, then angles go through their ranges there, then each pair of angles goes
    around the edges. Where a cylinder's lever is shorter than LEAST_LEVER of its longest the
    posture is left out: at its dead point a cylinder would feel any mass as infinite.
    """
    limits = wrist.wrist_of(robot).limits
    still = wrist.wrist_coordinates(robot, np.array(wrist.wrist_of(robot).home))
    legs = [still[None]]
    for name in wrist.ANGLES:
        low, high = getattr(limits, name)
        leg = np.tile(still, (ALONG_RANGE, 1))
        leg[:, wrist.COORDINATES.index(name)] = np.linspace(low, high, ALONG_RANGE)
        legs.append(leg)
    gammas = np.linspace(limits.gamma[0], limits.gamma[1], GAMMAS)
    psis = np.linspace(limits.psi[0], limits.psi[1], PSIS)
    for gamma, psi in product(gammas.tolist(), psis.tolist()):
        around = np.tile(still, (4 * ALONG_EDGE, 1))
        around[:, :2] = _edges(limits)
        around[:, 3:] = gamma, psi
        legs.append(around)
    q = wrist.solve_wrist(robot, np.concatenate(legs))
    lever = np.abs(levers(robot, q).slope)
    return q[(lever >= LEAST_LEVER * lever.max(axis=0)).all(axis=1)]


def _edges(limits: WristLimits) -> Floats:
    """r and z around the rectangle of their limits from the inner lower corner outwards, (m, 2)."""
    (r0, r1), (z0, z1) = limits.r, limits.z
    corners = np.array([(r0, z0), (r1, z0), (r1, z1), (r0, z1), (r0, z0)])
    share = np.linspace(0.0, 1.0, ALONG_EDGE)[:, None]
    return np.concatenate([start + share * (end - start) for start, end in pairwise(corners)])


@dataclass(frozen=True, eq=False)
class HydraulicModes:
    """Natural frequencies of hydraulic drives on their oil at one posture.

    Attributes:
        alone: Frequency of each drive with the others held, (drives,) [Hz].
        damping: Its relative damping, (drives,).
        coupled: Frequencies of all drives together, rising, (k,) [Hz].
        coupled_damping: Their relative dampings, (k,).
    """

    alone: Floats
    damping: Floats
    coupled: Floats
    coupled_damping: Floats


@dataclass(frozen=True, eq=False, repr=False)
class EffectiveInertia(Result):
    """Effective inertia of each drive over postures of a robot.

    Attributes:
        robot: The robot, with what is mounted on it.
        axes: Its drives; its joints where drives do not determine them.
        q: The postures, (m, n).
        chosen: How they were chosen, in words.
        values: Effective mass or inertia, (m, drives) [kg or kg m²].
        load: The same with a load, (m, drives); None without one.
        load_name: What the load is.
        hydraulic_modes: Natural frequencies at the first posture, where drives are hydraulic.
    """

    robot: Robot
    axes: Axes
    q: Floats
    chosen: str
    values: Floats
    load: Floats | None
    load_name: str
    hydraulic_modes: HydraulicModes | None

    def sections(self) -> show.Report:
        """Effective inertia of each drive, its extremes and natural frequencies."""
        subtitle = f"effective inertia {self.chosen}"
        if self.load_name:
            subtitle += f"; with load: {self.load_name}"
        sections = [show.Section("", _inertia_blocks(self))]
        if self.hydraulic_modes is not None:
            sections.append(
                show.Section(
                    "Hydraulic natural frequencies", _frequency_blocks(self, self.hydraulic_modes)
                )
            )
        ratios = self.values.max(axis=0) / self.values.min(axis=0)
        worst = int(np.argmax(ratios))
        verdict = show.Text(
            f"Effective inertia changes most at {self.axes.names[worst]}: by a factor of "
            f"{PLAIN.text(ratios[worst])}."
        )
        title = f"{self.robot.name}: effective inertia of the drives"
        return show.Report(title, subtitle, tuple(sections), (verdict,))

    @property
    def table(self) -> list[Record]:
        """A record for each drive: extremes without and with the load, and their ratios."""
        low, high = self.values.min(axis=0), self.values.max(axis=0)
        columns: dict[str, Floats] = {"smallest": low, "largest": high, "ratio": high / low}
        if self.load is not None:
            least, most = self.load.min(axis=0), self.load.max(axis=0)
            columns |= {"smallest_loaded": least, "largest_loaded": most}
            columns |= {"ratio_loaded": most / least}
            columns |= {"ratio_overall": np.maximum(high, most) / np.minimum(low, least)}
        if self.hydraulic_modes is not None:
            columns |= {"frequency_hz": self.hydraulic_modes.alone}
            columns |= {"damping": self.hydraulic_modes.damping}
        units = self.axes.inertia_units
        return show.tabulate(axis=self.axes.names, unit=units, **columns)


def _inertia_blocks(result: EffectiveInertia) -> show.Blocks:
    columns = show.list_columns(
        axis="drive",
        unit="",
        smallest=("least", PLAIN),
        largest=("most", PLAIN),
        ratio=("ratio", PLAIN),
    )
    if result.load is not None:
        columns += show.Column.alike(
            PLAIN,
            smallest_loaded="least, load",
            largest_loaded="most, load",
            ratio_loaded="ratio",
            ratio_overall="overall",
        )
    yield show.Table(tuple(columns), result.table, "drives.inertia")
    yield show.Data({"postures": len(result.q), "chosen": result.chosen})
    if result.chosen == BOUNDARY:
        yield show.Text(
            "Posture 1 is home, then φ, γ and ψ go through their ranges there, then each of "
            f"{GAMMAS * PSIS} pairs of γ and ψ goes around the four edges of r and z from the "
            "inner lower corner outwards; postures near a cylinder's dead point are left out.",
            "soft",
        )
    yield from arrange(list(_inertia_charts(result)), "Effective inertia")


def _inertia_charts(result: EffectiveInertia) -> Iterator[show.Chart | show.Bars]:
    cases = {"without load": result.values}
    if result.load is not None:
        cases[result.load_name] = result.load
    postures = np.arange(1.0, len(result.q) + 1)
    for i, (name, unit) in enumerate(_axes(result)):
        values = {case: inertia[:, i] for case, inertia in cases.items()}
        yield chart_values(name, show.Axis("inertia", unit), values, postures, show.Axis("posture"))


def _axes(result: EffectiveInertia) -> Iterator[tuple[str, str]]:
    """Name and unit of the inertia of each drive."""
    return zip(result.axes.names, result.axes.inertia_units, strict=True)


def _frequency_blocks(result: EffectiveInertia, swings: HydraulicModes) -> show.Blocks:
    where = "home" if result.chosen == BOUNDARY else "the first posture"
    yield show.Text(f"Natural frequencies at {where}, valves shut.")
    columns = show.list_columns(
        axis="drive", frequency_hz=("alone", HERTZ), damping=("damping", Number())
    )
    yield show.Table(columns, result.table)
    coupled = ", ".join(f"{x:.4g}" for x in swings.coupled)
    yield show.Text(f"All drives together: {coupled} Hz.")
    yield show.Data({"coupled_hz": swings.coupled, "coupled_damping": swings.coupled_damping})


def effective_inertia(
    robot: Robot, q: Floats, chosen: str, loaded: tuple[Robot, str] | None = None
) -> EffectiveInertia:
    """Effective inertia of the drives of a robot, or of its joints where it has none.

    Args:
        robot: The robot.
        q: Postures, (m, n).
        chosen: How they were chosen, in words.
        loaded: The robot with a load, and what the load is.
    """
    by_drives = len(robot.assembly.drives) == robot.n
    axes = drive_axes(robot) if by_drives else joint_axes(robot)
    load, name = None, ""
    if loaded is not None:
        with_load, name = loaded
        load = _diagonal(with_load, q, by_drives)
    swings = find_hydraulic_modes(robot, q[0]) if robot.description.hydraulic else None
    return EffectiveInertia(
        robot, axes, q, chosen, _diagonal(robot, q, by_drives), load, name, swings
    )


def _diagonal(robot: Robot, q: Floats, by_drives: bool) -> Floats:
    M = drive_inertia(robot, q) if by_drives else robot.mass_matrix(q)
    return np.einsum("mii->mi", M).copy()


def find_hydraulic_modes(robot: Robot, q: Floats) -> HydraulicModes:
    """Natural frequencies of the hydraulic drives of a robot at one posture, (n,)."""
    M = drive_inertia(robot, q[None])[0]
    compliance, leakage, viscous = _oil(robot)
    own = np.diag(M)
    alone = np.sqrt((1 + viscous * leakage) / (compliance * own))
    damping = (viscous / own + leakage / compliance) / (2 * alone)
    modes = find_locked_modes(flexible(elastic_coordinates(robot), q))
    coupled = np.array([(mode.frequency, mode.damping) for mode in modes])
    return HydraulicModes(alone / (2 * np.pi), damping, *coupled.T)


def _oil(robot: Robot) -> tuple[Floats, Floats, Floats]:
    """Compliance, leakage and viscous friction of each drive, all of them hydraulic."""
    numbers = []
    for drive, _ in robot.assembly.drives:
        if not isinstance(drive, Hydraulic):
            raise ArmtwinError(
                f"robot '{robot.name}': drive '{drive.name}' is not hydraulic; all drives "
                "must be hydraulic"
            )
        oil = drive.circuit.oil
        numbers.append((oil.compliance, oil.leakage, viscous_friction(robot, drive)))
    compliance, leakage, viscous = np.array(numbers).T
    return compliance, leakage, viscous

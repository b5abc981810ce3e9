"""Pre-sliding stiffness: how the torque rises with the displacement from rest or a reversal.

    τ = T + (τ₀ - T) exp(-c₀ |Δq| / T)

T is the break-away torque, τ₀ the torque where the motion began: 0 from rest, -T at a reversal. The
rise takes a travel of T / c₀; an encoder with fewer than a few steps in it cannot resolve it.

Ref: [Waiboer 2007, eq. 3.73-3.78, section 3.8.3]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError
from armtwin.identification.clamping.half_cycles import find_half_cycles
from armtwin.identification.fitting import estimate as fits
from armtwin.logs.joints import in_order_of, joint_torque
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Record, TwoArrays
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import Number
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

FEWEST_STEPS = 3.0  # of the encoder in the elastic travel
FEWEST = 8  # samples of a rise
OUTLYING = 0.1  # of the level: distance of a sample from the curve beyond which it counts less
FAR = 8.0  # travels of the first guess that a rise is looked at for
LEAST_RISE = 0.3  # of the torque's range that a stretch must rise by


@dataclass(frozen=True, eq=False, repr=False)
class PreslidingFit(Result):
    """Pre-sliding stiffness of a contact.

    Attributes:
        joint: Name of the joint.
        way: "a break-away ramp" or "reversals".
        stiffness: c₀ [N m/rad]; nan where it is refused.
        std: Its standard deviation [N m/rad].
        half_width: Half width of its 95 % interval [N m/rad].
        level: Break-away torque T [N m].
        travel: Elastic travel T / c₀ [rad].
        quantum: Step of the logged position [rad].
        displacement: Displacement from where the rise began, of all samples used, (m,) [rad].
        torque: Torque over them, (m,) [N m].
        refused: Why there is no stiffness, "" where there is one.
    """

    joint: str
    way: str
    stiffness: float
    std: float
    half_width: float
    level: float
    travel: float
    quantum: float
    displacement: Floats
    torque: Floats
    refused: str = ""

    @property
    def steps(self) -> float:
        """Steps of the encoder in the elastic travel."""
        return self.travel / self.quantum if self.quantum > 0 else float("inf")

    @property
    def table(self) -> tuple[Record, ...]:
        """The identified stiffness, as one row."""
        record = {
            "joint": self.joint,
            "way": self.way,
            "stiffness_nm_rad": self.stiffness,
            "std": self.std,
            "half_width": self.half_width,
            "level_nm": self.level,
            "travel_rad": self.travel,
            "encoder_step_rad": self.quantum,
            "refused": self.refused or None,
        }
        return (record,)

    def sections(self) -> show.Report:
        """The stiffness, and the torque over the displacement."""
        return show.Report(
            title=f"{self.joint}: pre-sliding friction",
            subtitle=f"from {self.way}",
            sections=(
                show.Section("", (show.Data({"presliding": self.table[0]}),)),
                show.Section("Torque over displacement", _chart(self), page_only=True),
            ),
            verdict=(_verdict(self),),
        )


def _verdict(result: PreslidingFit) -> show.Text:
    if result.refused:
        return show.Text(result.refused, "bad")
    stiffness = Number().with_width(result.stiffness, result.half_width)
    return show.Text(
        f"{result.joint}: stiffness {stiffness} N m/rad (95 %), break-away {result.level:.4g} N m, "
        f"from {result.way}; the encoder has {result.steps:.0f} steps in the elastic travel."
    )


def _chart(result: PreslidingFit) -> show.Blocks:
    order = np.argsort(result.displacement)
    x, torque = result.displacement[order], result.torque[order]
    layers: list[show.Layer] = [show.Points("measured", 1e6 * x, torque)]
    if not result.refused:
        share = -np.expm1(-x / result.travel)
        layers.append(show.Curve("exponential", 1e6 * x, result.level * share))
    axes = show.Axis("displacement", "µrad"), show.Axis("rise of the torque", "N m")
    yield show.Chart("From rest or a reversal", *axes, tuple(layers))


def fit_presliding(robot: Robot, log: Log, joint: str | None = None) -> PreslidingFit:
    """Identify pre-sliding stiffness from a slow break-away ramp, or from reversals.

    Gravity is removed by the robot's file; inertia is not, as the motion must be slow.

    Args:
        robot: The robot.
        log: A log of a slowly rising torque, or of slow motion back and forth.
        joint: The joint; by default the one that moves most.
    """
    log = in_order_of(log, robot.joint_names)
    j = _joint(robot, log, joint)
    tau, _ = joint_torque(robot, log)
    friction = tau[:, j] - robot.gravity(log.q)[:, j]
    q = log.q[:, j]
    quantum = position_step(q)
    rises = list(_rises(q, friction))
    name = robot.joint_names[j]
    if not rises:
        raise ArmtwinError(
            f"{log.origin or 'the log'}: {name} shows no rise of friction from rest or a reversal; "
            "raise its torque slowly until it breaks away, or move it slowly back and forth"
        )
    way = "a break-away ramp" if abs(rises[0][2]) < 0.5 * abs(rises[0][3]) else "reversals"
    first, displacement, torque, number = _all_rises(rises)
    found = _fit_travel(displacement, torque, number, first)
    travel = float(np.exp(found.values[0]))
    level = float(np.median([abs(rise[3]) for rise in rises]))
    widths = level / travel * np.array([found.std[0], found.half_width[0]])
    result = PreslidingFit(
        joint=name,
        way=way,
        stiffness=level / travel,
        std=float(widths[0]),
        half_width=float(widths[1]),
        level=level,
        travel=travel,
        quantum=quantum,
        displacement=displacement,
        torque=level * torque,
    )
    if result.steps >= FEWEST_STEPS:
        return result
    refused = (
        f"{name}: the encoder cannot resolve the pre-sliding stiffness: its step of "
        f"{1e6 * quantum:.3g} µrad is {100 * quantum / travel:.0f} % of the elastic travel of "
        f"about {1e6 * travel:.3g} µrad, of which {FEWEST_STEPS:g} steps are needed; it is at "
        f"least {level / (FEWEST_STEPS * quantum):.3g} N m/rad"
    )
    return replace(result, stiffness=np.nan, std=np.nan, half_width=np.nan, refused=refused)


def _joint(robot: Robot, log: Log, joint: str | None) -> int:
    if joint is None:
        return int(np.argmax(np.abs(np.diff(log.q, axis=0)).sum(axis=0)))
    if joint not in robot.joint_names:
        names = ", ".join(robot.joint_names)
        raise ArmtwinError(f"joint '{joint}' is not one of the robot's: {names}")
    return robot.joint_names.index(joint)


def position_step(q: Floats) -> float:
    """Least step of logged positions [rad]; 0 where they are not in steps."""
    steps = np.abs(np.diff(q))
    steps = np.sort(steps[steps > 0])
    if not len(steps):
        return 0.0
    least = float(np.median(steps[: max(1, len(steps) // 50)]))
    whole = steps / least
    off = np.abs(whole - np.round(whole))
    near = whole < 50
    return least if np.mean(off[near] < 0.05) > 0.9 else 0.0


Rise = tuple[Floats, Floats, float, float]


def _rises(q: Floats, tau: Floats) -> Iterator[Rise]:
    """Displacement, torque, first torque and level of each rise from rest or a reversal."""
    size = np.quantile(np.abs(tau), 0.95)
    if size == 0:
        return
    for first, last in pairwise(_turns(q)):
        moved = q[first:last] - q[first]
        if last - first < FEWEST or np.ptp(moved) == 0:
            continue
        sign = float(np.sign(moved[-1]))
        x, rising = sign * moved, sign * tau[first:last]
        level = float(np.median(rising[x > 0.5 * x.max()]))
        begin = float(rising[0])
        if level <= 0 or level - begin < LEAST_RISE * size:
            continue
        yield x, rising, begin, level


def _turns(q: Floats) -> list[int]:
    """Samples at which a half-cycle begins: first, extreme positions, one after the last."""
    starts = [0]
    half_cycles = find_half_cycles(q)
    for one, other in pairwise(half_cycles):
        start, stop = (one.start + one.stop) // 2, (other.start + other.stop) // 2
        extreme = np.argmax(one.direction * q[start:stop])
        starts.append(start + int(extreme))
    return [*starts, len(q)]


def _all_rises(rises: list[Rise]) -> tuple[float, Floats, Floats, NDArray[np.intp]]:
    """First guess of the travel, and all rises as displacement, share of the level and number.

    The share left to rise, (T - τ)/(T - τ₀), is e⁻¹ after one travel.
    """
    travels = []
    for x, tau, begin, level in rises:
        remaining = (level - tau) / (level - begin)
        below = np.flatnonzero(remaining < np.exp(-1.0))
        travels.append(float(x[below[0]]) if len(below) else float(x.max()))
    travel = max(float(np.median(travels)), 1e-12)
    displacement, share, number = [], [], []
    for k, (x, tau, begin, level) in enumerate(rises):
        near = x < FAR * travel
        number.append(np.full(int(near.sum()), k))
        displacement.append(x[near])
        # 1 - exp(-x / travel), whatever the torque began with
        share.append((tau[near] - begin) / (level - begin))
    every = np.concatenate(displacement), np.concatenate(share), np.concatenate(number)
    return travel, *every


def _fit_travel(
    x: Floats, share: Floats, number: NDArray[np.intp], first: float
) -> fits.ParameterEstimate:
    """Logarithm of the travel of share = 1 - exp(-x / travel); rises are independent."""

    def model(logs: Floats) -> TwoArrays:
        return np.zeros((len(x), 0)), share + np.expm1(-x / np.exp(logs[0]))

    shapes = fits.ShapeParameters(np.log([first]), outlying=OUTLYING)
    return fits.fit_separable(model, shapes, fits.RowNoise(number, independent=None))

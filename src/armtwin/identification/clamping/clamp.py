"""`clamp`: a transmission from the log of its clamped joint, by three methods side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from armtwin.errors import ArmtwinError
from armtwin.identification.clamping.algorithm_one import AlgorithmOne, algorithm_one
from armtwin.identification.clamping.algorithm_two import AlgorithmTwo, algorithm_two
from armtwin.identification.clamping.found import FoundTransmission
from armtwin.identification.clamping.half_cycles import HalfCycle, find_half_cycles
from armtwin.identification.clamping.least_squares import LeastSquares, least_squares
from armtwin.identification.clamping.record import ClampingRecord, clamping_record
from armtwin.logs.log import Log
from armtwin.notebook import cards
from armtwin.report.figures import RED, chosen_axes, legend

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NAMES = ("algorithm_1", "algorithm_2", "least_squares")


@dataclass(frozen=True, eq=False)
class Clamping:
    """A transmission identified from a clamping curve.

    Attributes:
        record: What was logged, on the motor side.
        half_cycles: Half-cycles of the curve, parts at its ends included.
        one: Algorithm I of document 001.
        two: Algorithm II of document 001.
        squares: Least squares of the hysteretic transmission on all samples.
    """

    record: ClampingRecord
    half_cycles: tuple[HalfCycle, ...]
    one: AlgorithmOne
    two: AlgorithmTwo
    squares: LeastSquares

    @property
    def table(self) -> tuple[FoundTransmission, ...]:
        """What the three methods found, on the motor side."""
        return (self.one.found, self.two.found, self.squares.found)

    @property
    def joint_side(self) -> tuple[FoundTransmission, ...]:
        """The same on the joint side; empty where the gear ratio is not known."""
        ratio = self.record.gear_ratio
        if ratio is None:
            return ()
        return tuple(found.on_joint_side(ratio) for found in self.table)

    @property
    def best(self) -> FoundTransmission:
        """The result to use: least squares, else Algorithm II."""
        if self.squares.found.stiffness is not None:
            return self.squares.found
        return self.two.found

    def __repr__(self) -> str:
        best = self.best
        backlash = "no backlash told" if best.backlash is None else f"{best.backlash:.3g} rad"
        return cards.line(
            "Clamping", f"{best.stiffness:.4g} N m/rad", backlash, f"{best.friction:.3g} N m"
        )

    def _repr_html_(self) -> str:
        rows = []
        for found in self.table:
            numbers = (found.stiffness, found.backlash, found.friction)
            cells = ["-" if x is None else f"{x:.4g}" for x in numbers]
            rows.append((found.method, *cells, found.refused))
        heads = ("motor side", "stiffness [N m/rad]", "backlash [rad]", "friction [N m]", "refused")
        return cards.table(repr(self), rows, heads)

    def plot(self, *, axes: Axes | Sequence[Axes] | None = None) -> list[Axes]:
        """Draw the clamping curve, torque over motor angle, and the curves of Algorithm II.

        Args:
            axes: One; a new one where none is given.
        """
        chosen = chosen_axes(axes, 1)
        axis = chosen[0]
        axis.plot(self.record.q, self.record.tau, linewidth=0.6, label="measured")
        for curve in (self.two.upper, self.two.lower):
            if curve is not None:
                axis.plot(curve.q, curve.tau, color=RED, label="Algorithm II")
        axis.set_xlabel("motor angle [rad]")
        axis.set_ylabel("motor torque [N m]")
        legend(axis)
        return chosen


def clamp(log: Log, *, gear_ratio: float | None = None, joint: int | None = None) -> Clamping:
    """Stiffness, backlash and friction of a transmission from the log of its clamped joint.

    The joint is held, the motor's torque rises and falls slowly several times.

    Args:
        log: Time, q_m (or q) and tau_m (or tau).
        gear_ratio: Motor angle per joint angle; needed where q or tau is on the joint side, and for
            the numbers of the joint side.
        joint: Column of the joint that was moved, from 1, where the log has several.
    """
    record = clamping_record(log, gear_ratio, joint)
    found = find_half_cycles(record.q)
    result = Clamping(
        record=record,
        half_cycles=tuple(found),
        one=algorithm_one(record.q, record.tau),
        two=algorithm_two(record.q, record.tau),
        squares=least_squares(record.q, record.tau, found),
    )
    if result.squares.found.stiffness is None and result.two.found.stiffness is None:
        raise ArmtwinError(f"clamping log: {result.squares.found.refused}")
    return result

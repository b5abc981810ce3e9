"""A transmission from the log of its clamped joint, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from armtwin.files.digests import file_name
from armtwin.identification.clamping.algorithm_one import AlgorithmOne
from armtwin.identification.clamping.algorithm_two import AlgorithmTwo
from armtwin.identification.clamping.clamping_steps import (
    clamping_curve,
    half_cycles_of,
    steps_of_one,
    steps_of_squares,
    steps_of_two,
)
from armtwin.identification.clamping.estimate import TransmissionEstimate
from armtwin.identification.clamping.half_cycles import HalfCycle
from armtwin.identification.clamping.least_squares import LeastSquares
from armtwin.identification.clamping.record import ClampingRecord
from armtwin.maths.batch import Record
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.sections import Blocks, Column, Data, Report, Section, Table, Text
from armtwin.report.result import Result

NAMES = ("algorithm_1", "algorithm_2", "least_squares")
MILLIRADIANS = Number(1e3, "mrad", digits=4)


@dataclass(frozen=True, eq=False, repr=False)
class Clamping(Result):
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
    def table(self) -> tuple[TransmissionEstimate, ...]:
        """Results of the three methods, on the motor side."""
        return (self.one.found, self.two.found, self.squares.found)

    @property
    def joint_side(self) -> tuple[TransmissionEstimate, ...]:
        """Results on the joint side; empty where the gear ratio is not known."""
        ratio = self.record.gear_ratio
        if ratio is None:
            return ()
        return tuple(found.on_joint_side(ratio) for found in self.table)

    @property
    def best(self) -> TransmissionEstimate:
        """The result to use: least squares, else Algorithm II."""
        if self.squares.found.stiffness is not None:
            return self.squares.found
        return self.two.found

    def sections(self) -> Report:
        """Three methods side by side, and their steps."""
        record, two = self.record, self.two
        half_cycles = half_cycles_of(record, two)
        return Report(
            title=f"Clamping of {file_name(record.origin, 'a log')}",
            subtitle=_subtitle(self),
            sections=(
                Section("", _numbers(self)),
                Section("The clamping curve", clamping_curve(record, two), page_only=True),
                Section("Algorithm I, step by step", steps_of_one(self.one)),
                Section("Algorithm II, step by step", steps_of_two(two)),
                Section("Algorithm II, its half-cycles", half_cycles, page_only=True),
                Section("Least squares on all samples", steps_of_squares(record, self.squares)),
            ),
            verdict=(_verdict(self.best),),
        )


def _verdict(best: TransmissionEstimate) -> Text:
    """The best result in one sentence."""
    parts = [f"stiffness {PLAIN.with_width(best.stiffness, best.stiffness_half)} N m/rad"]
    if best.backlash is not None:
        backlash = MILLIRADIANS.with_width(best.backlash, best.backlash_half)
        parts.append(f"backlash {backlash} mrad")
    parts.append(f"friction {PLAIN.with_width(best.friction, best.friction_half)} N m")
    sentence = f"On the motor side, by {best.method}: {', '.join(parts)} (95 %)."
    if best.backlash is None:
        sentence += f" {best.refused[0].upper()}{best.refused[1:]}"
    return Text(sentence)


def _subtitle(result: Clamping) -> str:
    record = result.record
    ratio = record.gear_ratio
    gear = "gear ratio not given" if ratio is None else f"gear ratio {ratio:.6g}"
    whole = len(result.two.half_cycles)
    return (
        f"{len(record.q)} samples, {len(result.half_cycles)} half-cycles, {whole} whole, angle "
        f"from {record.position_from}, torque from {record.torque_from}, {gear}"
    )


def _numbers(result: Clamping) -> Blocks:
    yield Text("On the motor side:")
    yield _table(result.table)
    if result.joint_side:
        yield Text("On the joint side:")
        yield _table(result.joint_side)
    for found in result.table:
        if found.refused:
            yield Text(f"{found.method}: {found.refused}", "bad")
    for time, pause in result.record.gaps:
        yield Text(f"The log pauses for {pause:.3g} s at {time:.4g} s.", "bad")
    yield Data(
        {
            "motor_side": _records(result.table),
            "joint_side": _records(result.joint_side) if result.joint_side else None,
            "half_cycles": len(result.half_cycles),
            "turn_rad": result.record.turn,
        }
    )


def _table(found: Sequence[TransmissionEstimate]) -> Table:
    columns = (
        Column("method", "method"),
        Column("stiffness", "stiffness", Number(1.0, "N m/rad", digits=4)),
        Column("stiffness_half", "± 95 %", Number(digits=2)),
        Column("backlash", "backlash", MILLIRADIANS),
        Column("backlash_half", "± 95 %", Number(1e3, digits=2)),
        Column("friction", "friction", Number(1.0, "N m", digits=4)),
        Column("friction_half", "± 95 %", Number(digits=2)),
    )
    return Table(columns, [vars(one) for one in found])


def _records(found: Sequence[TransmissionEstimate]) -> Record:
    """Records of the methods in result.json."""
    records = {}
    for name, one in zip(NAMES, found, strict=True):
        records[name] = {
            "stiffness_nm_rad": one.stiffness,
            "backlash_rad": one.backlash,
            "friction_nm": one.friction,
            "std": {
                "stiffness_nm_rad": one.stiffness_std,
                "backlash_rad": one.backlash_std,
                "friction_nm": one.friction_std,
            },
            "half_width": {
                "stiffness_nm_rad": one.stiffness_half,
                "backlash_rad": one.backlash_half,
                "friction_nm": one.friction_half,
            },
            "refused": one.refused or None,
        }
    return records

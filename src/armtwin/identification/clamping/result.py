"""A transmission from the log of its clamped joint, and its report."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

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
from armtwin.notebook.numbers import Number, list_estimates
from armtwin.notebook.sections import (
    Blocks,
    Column,
    Data,
    Report,
    Section,
    Table,
    Text,
    list_columns,
)
from armtwin.report.result import Result

NAMES = ("algorithm_1", "algorithm_2", "least_squares")
KEYS = {"stiffness": "stiffness_nm_rad", "backlash": "backlash_rad", "friction": "friction_nm"}
NUMBERS = {
    "stiffness": Number(unit="N m/rad", digits=4),
    "backlash": Number(1e3, "mrad", digits=4),
    "friction": Number(unit="N m", digits=4),
}


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
    shown = {name: number for name, number in NUMBERS.items() if getattr(best, name) is not None}
    values = [getattr(best, name) for name in shown]
    widths = [getattr(best, f"{name}_half") for name in shown]
    numbers = list_estimates(shown, values, widths)
    sentence = f"On the motor side, by {best.method}: {numbers} (95 %)."
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
    columns = list_columns(method="method")
    for name, number in NUMBERS.items():
        width = replace(number, unit="", digits=2)
        columns += (Column(name, name, number), Column(f"{name}_half", "± 95 %", width))
    return Table(columns, [vars(one) for one in found])


def _records(found: Sequence[TransmissionEstimate]) -> Record:
    """Records of the methods in result.json."""
    records = {}
    for name, one in zip(NAMES, found, strict=True):
        records[name] = {
            **_by_keys(one, ""),
            "std": _by_keys(one, "_std"),
            "half_width": _by_keys(one, "_half"),
            "refused": one.refused or None,
        }
    return records


def _by_keys(found: TransmissionEstimate, kind: str) -> Record:
    """Values, deviations or half widths by their keys of result.json."""
    return {key: getattr(found, f"{name}{kind}") for name, key in KEYS.items()}

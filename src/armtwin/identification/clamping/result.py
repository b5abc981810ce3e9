"""A transmission from the log of its clamped joint, and its report."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
from armtwin.identification.clamping.headline import NUMBERS, Headline
from armtwin.identification.clamping.least_squares import LeastSquares
from armtwin.identification.clamping.record import ClampingRecord
from armtwin.maths.batch import Record
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import Number, list_estimates
from armtwin.report.result import Result

NAMES = ("algorithm_1", "algorithm_2", "least_squares")
KEYS = {"stiffness": "stiffness_nm_rad", "backlash": "backlash_rad", "friction": "friction_nm"}


@dataclass(frozen=True, eq=False, repr=False)
class Clamping(Result):
    """A transmission identified from a clamping curve.

    Attributes:
        record: What was logged, on the motor side.
        half_cycles: Half-cycles of the curve, parts at its ends included.
        one: Algorithm I of document 001.
        two: Algorithm II of document 001.
        squares: Least squares of the hysteretic transmission on all samples.
        headline: The numbers to use, or why there are none.
    """

    record: ClampingRecord
    half_cycles: tuple[HalfCycle, ...]
    one: AlgorithmOne
    two: AlgorithmTwo
    squares: LeastSquares
    headline: Headline

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
        """The result to use, without the numbers that are not headlined."""
        return self.headline.found

    def sections(self) -> show.Report:
        """Three methods side by side, and their steps."""
        record, two = self.record, self.two
        half_cycles = half_cycles_of(record, two)
        return show.Report(
            title=f"Clamping of {file_name(record.origin, 'a log')}",
            subtitle=_subtitle(self),
            sections=(
                show.Section("", _numbers(self)),
                show.Section("The clamping curve", clamping_curve(record, two), page_only=True),
                show.Section("Algorithm I, step by step", steps_of_one(self.one)),
                show.Section("Algorithm II, step by step", steps_of_two(two)),
                show.Section("Algorithm II, its half-cycles", half_cycles, page_only=True),
                show.Section(
                    "Least squares on all samples", steps_of_squares(record, self.squares)
                ),
            ),
            verdict=tuple(_verdict(self.headline)),
        )


def _verdict(headline: Headline) -> Iterator[show.Text]:
    """The numbers to use in one sentence, or why there are none."""
    best = headline.found
    if headline.doubts:
        yield show.Text("No number is headlined; all methods are listed below.", "bad")
        for doubt in headline.doubts:
            yield show.Text(f"{doubt[0].upper()}{doubt[1:]}", "bad")
        return
    shown = {name: number for name, number in NUMBERS.items() if getattr(best, name) is not None}
    values = [getattr(best, name) for name in shown]
    widths = [getattr(best, f"{name}_half") for name in shown]
    numbers = list_estimates(shown, values, widths)
    sentence = f"On the motor side, by {best.method}: {numbers} (95 %)."
    if best.refused:
        sentence += f" {best.refused[0].upper()}{best.refused[1:]}"
    yield show.Text(sentence)


def _subtitle(result: Clamping) -> str:
    record = result.record
    ratio = record.gear_ratio
    gear = "gear ratio not given" if ratio is None else f"gear ratio {ratio:.6g}"
    whole = len(result.two.half_cycles)
    return (
        f"{len(record.q)} samples, {len(result.half_cycles)} half-cycles, {whole} whole, angle "
        f"from {record.position_from}, torque from {record.torque_from}, {gear}"
    )


def _numbers(result: Clamping) -> show.Blocks:
    yield show.Text("On the motor side:")
    yield _table(result.table)
    if result.joint_side:
        yield show.Text("On the joint side:")
        yield _table(result.joint_side)
    for found in result.table:
        if found.refused:
            yield show.Text(f"{found.method}: {found.refused}", "bad")
    for time, pause in result.record.gaps:
        yield show.Text(f"The log pauses for {pause:.3g} s at {time:.4g} s.", "bad")
    yield show.Data(
        {
            "motor_side": _records(result.table),
            "joint_side": _records(result.joint_side) if result.joint_side else None,
            "headline": None if result.headline.doubts else _record(result.best),
            "doubts": list(result.headline.doubts),
            "half_cycles": len(result.half_cycles),
            "turn_rad": result.record.turn,
        }
    )


def _table(found: Sequence[TransmissionEstimate]) -> show.Table:
    columns = show.list_columns(method="method")
    for name, number in NUMBERS.items():
        width = replace(number, unit="", digits=2)
        columns += (show.Column(name, name, number), show.Column(f"{name}_half", "± 95 %", width))
    columns += (show.Column("explained", "explains", Number(100.0, "%", digits=3)),)
    return show.Table(columns, [vars(one) for one in found])


def _records(found: Sequence[TransmissionEstimate]) -> Record:
    """Records of the methods in result.json."""
    return {name: _record(one) for name, one in zip(NAMES, found, strict=True)}


def _record(found: TransmissionEstimate) -> Record:
    return {
        **_by_keys(found, ""),
        "std": _by_keys(found, "_std"),
        "half_width": _by_keys(found, "_half"),
        "explained": found.explained,
        "refused": found.refused or None,
    }


def _by_keys(found: TransmissionEstimate, kind: str) -> Record:
    """Values, deviations or half widths by their keys of result.json."""
    return {key: getattr(found, f"{name}{kind}") for name, key in KEYS.items()}

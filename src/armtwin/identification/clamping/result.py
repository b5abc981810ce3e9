"""A transmission from the log of its clamped joint, and its report.

`clamp`: a transmission from the log of its clamped joint, by three methods side by side.

Which numbers of a clamping are headlined: those that explain the log and that rivals confirm.

A number is headlined where the log recreated with it is explained, where its 95 % interval is
narrow, and where the other methods agree within the intervals of both, their known bias counted in:

    |x - x_rival| <= half width + its half width + bias

Bias of the algorithms: a gap that a moving average hides counts as spring, which is then softer by
the gap's share of the turn, and no gap is known better than that average; where the motor sticks in
waves they average torques at rest, and friction is low by up to the amplitude of the waves.

Else nothing is headlined, and it is said why, with all methods side by side.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.files.hypothesis import strongest
from armtwin.identification.clamping import clamping_steps as steps, hysteresis, record as records
from armtwin.identification.clamping.algorithm_one import AlgorithmOne, algorithm_one
from armtwin.identification.clamping.algorithm_two import AlgorithmTwo, algorithm_two
from armtwin.identification.clamping.curves import WINDOWS
from armtwin.identification.clamping.half_cycles import HalfCycle, find_half_cycles
from armtwin.identification.clamping.least_squares import LeastSquares, least_squares
from armtwin.identification.clamping.record import ClampingRecord, TransmissionEstimate, doubt_sizes
from armtwin.logs.log import Log
from armtwin.maths.batch import Names, Record
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import Number, list_estimates
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

EXPLAINED = 0.8  # share of the spring's torque: below, noise or another law is as large as it
NARROW = 0.06  # of a number, half width of its interval: an error of 10 % is three deviations
SOFTER = 0.03  # of the stiffness: rounding of the algorithms beside their intervals
NUMBERS = {
    "stiffness": Number(unit="N m/rad", digits=4),
    "backlash": Number(1e3, "mrad", digits=4),
    "friction": Number(unit="N m", digits=4),
}


@dataclass(frozen=True, eq=False)
class Headline:
    """What is said of a transmission first.

    Attributes:
        found: The numbers that are headlined, None for others, on the motor side.
        doubts: Why none is, a sentence each; empty where some are.
    """

    found: TransmissionEstimate
    doubts: Names = ()


def choose_headline(
    record: ClampingRecord, squares: LeastSquares, rivals: tuple[TransmissionEstimate, ...]
) -> Headline:
    """The numbers of least squares that are headlined.

    Args:
        record: What was logged.
        squares: Least squares, with the log recreated.
        rivals: Results of the algorithms.
    """
    found = squares.found
    doubts = tuple(_doubt(record, squares, rivals))
    if doubts:
        return Headline(TransmissionEstimate(found.method, refused=doubts[0]), doubts)
    for name, number in NUMBERS.items():
        value, half = getattr(found, name), getattr(found, f"{name}_half")
        if value is None or half <= NARROW * value:
            continue
        ends = number.text(max(value - half, 0.0)), number.with_unit(value + half)
        sentence = f"{name} is poorly identified: {ends[0]} to {ends[1]} (95 %)."
        changes: dict[str, Any] = dict.fromkeys((name, f"{name}_std", f"{name}_half"))
        found = replace(found, **changes, refused=f"{found.refused} {sentence}".strip())
    return Headline(found)


def _doubt(
    record: ClampingRecord,
    squares: LeastSquares,
    rivals: tuple[TransmissionEstimate, ...],
) -> Iterator[str]:
    """Why nothing is headlined, most telling first."""
    found = squares.found
    assert found.stiffness is not None
    assert found.stiffness_half is not None
    suspected = strongest(doubt_sizes(record, found))
    if suspected is not None:
        yield f"{suspected.sentence}."
    if squares.doubt:
        yield squares.doubt
    if found.explained is not None and found.explained < EXPLAINED:
        yield (
            "recreated with it, the log is not explained: "
            f"{100 * max(found.explained, 0):.0f} % of the spring's torque, at least "
            f"{100 * EXPLAINED:.0f} % are needed. Turn the motor farther against the clamp, so "
            "that the spring's torque exceeds noise and waves."
        )
    if found.stiffness_half > NARROW * found.stiffness:
        share = min(100 * found.stiffness_half / found.stiffness, 100)
        yield (
            f"the stiffness is poorly identified: ±{share:.0f} % or more (95 %), at most ±"
            f"{100 * NARROW:.0f} % are headlined. Log more cycles, or turn the motor farther "
            "against the clamp."
        )
    for rival in rivals:
        yield from _disagree(record.turn, squares, rival)


def _disagree(turn: float, squares: LeastSquares, rival: TransmissionEstimate) -> Iterator[str]:
    """Where a method contradicts least squares beyond both intervals and its bias.

    A method that the recreated log refutes, as one that took a wave for the gap, is no rival.
    """
    found = squares.found
    if rival.explained is not None and rival.explained < EXPLAINED:
        return
    noise = 0.0 if squares.left is None else 2**0.5 * float(np.std(squares.left))
    hidden = max((found.backlash or 0.0) - (rival.backlash or 0.0), 0.0) / turn
    bias = {
        "stiffness": (SOFTER + hidden) * (found.stiffness or 0.0),
        "backlash": WINDOWS[-1] * turn,
        "friction": SOFTER * (found.friction or 0.0) + noise + squares.waves,
    }
    for name, number in NUMBERS.items():
        ours, theirs = getattr(found, name), getattr(rival, name)
        if ours is None or theirs is None:
            continue
        halves = [getattr(one, f"{name}_half") or 0.0 for one in (found, rival)]
        if abs(ours - theirs) > sum(halves) + bias[name]:
            yield (
                f"the methods disagree: {name} {number.with_unit(ours)} by {found.method}, "
                f"{number.with_unit(theirs)} by {rival.method}, more than their intervals. Log "
                "more cycles, turned more slowly."
            )


def explain(squares: LeastSquares, found: TransmissionEstimate) -> TransmissionEstimate:
    """An estimate with the share of the spring's torque that it explains in the recreated log.

    1 - var(tau - tau_recreated) / var(K beyond(q))        K of least squares
    """
    theta, turns = squares.theta, squares.turns
    if theta is None or turns is None or found.stiffness is None or found.friction is None:
        return found
    changed = theta.copy()
    changed[hysteresis.STIFFNESS], changed[hysteresis.FRICTION] = found.stiffness, found.friction
    if found.backlash is not None:
        changed[hysteresis.BACKLASH] = found.backlash
    spring = theta[hysteresis.STIFFNESS] * hysteresis.beyond_gap(theta, turns)
    left = np.var(hysteresis.torque_errors(changed, turns))
    return replace(found, explained=1 - float(left / np.var(spring)))


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

    record: records.ClampingRecord
    half_cycles: tuple[HalfCycle, ...]
    one: AlgorithmOne
    two: AlgorithmTwo
    squares: LeastSquares
    headline: Headline

    @property
    def table(self) -> tuple[records.TransmissionEstimate, ...]:
        """Results of the three methods, on the motor side."""
        return (self.one.found, self.two.found, self.squares.found)

    @property
    def joint_side(self) -> tuple[records.TransmissionEstimate, ...]:
        """Results on the joint side; empty where the gear ratio is not known."""
        ratio = self.record.gear_ratio
        if ratio is None:
            return ()
        return tuple(found.on_joint_side(ratio) for found in self.table)

    @property
    def best(self) -> records.TransmissionEstimate:
        """The result to use, without the numbers that are not headlined."""
        return self.headline.found

    def sections(self) -> show.Report:
        """Three methods side by side, and their steps."""
        record, two = self.record, self.two
        half_cycles = steps.half_cycles_of(record, two)
        return show.Report(
            title=f"Clamping of {file_name(record.origin, 'a log')}",
            subtitle=_subtitle(self),
            sections=(
                show.Section("", _numbers(self)),
                show.Section(
                    "The clamping curve", steps.clamping_curve(record, two), page_only=True
                ),
                show.Section("Algorithm I, step by step", steps.steps_of_one(self.one)),
                show.Section("Algorithm II, step by step", steps.steps_of_two(two)),
                show.Section("Algorithm II, its half-cycles", half_cycles, page_only=True),
                show.Section(
                    "Least squares on all samples", steps.steps_of_squares(record, self.squares)
                ),
            ),
            verdict=(*_verdict(self.headline), *_unknown(record)),
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


def _unknown(record: ClampingRecord) -> Iterator[show.Text]:
    """What scales the numbers and no log of one joint shows."""
    if record.most == ClampingRecord.most:
        given = "" if record.gear_ratio is None else f" and the gear ratio {record.gear_ratio:.6g}"
        yield show.Text(
            f"Not checked: the unit of {record.torque_from}{given}. A factor in them is one in "
            "these numbers; name the robot to compare it (--robot, --joint).",
            "soft",
        )


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
    yield show.Data.of(
        motor_side=_records(result.table),
        joint_side=_records(result.joint_side) if result.joint_side else None,
        headline=None if result.headline.doubts else _record(result.best),
        doubts=list(result.headline.doubts),
        half_cycles=len(result.half_cycles),
        turn_rad=result.record.turn,
    )


def _table(found: Sequence[records.TransmissionEstimate]) -> show.Table:
    columns = show.list_columns(method="method")
    for name, number in NUMBERS.items():
        width = replace(number, unit="", digits=2)
        columns += (show.Column(name, name, number), show.Column(f"{name}_half", "± 95 %", width))
    columns += (show.Column("explained", "explains", Number(100.0, "%", digits=3)),)
    return show.Table(columns, [vars(one) for one in found])


def _records(found: Sequence[records.TransmissionEstimate]) -> Record:
    """Records of the methods in result.json."""
    return {name: _record(one) for name, one in zip(NAMES, found, strict=True)}


def _record(found: records.TransmissionEstimate) -> Record:
    return {
        **_by_keys(found, ""),
        "std": _by_keys(found, "_std"),
        "half_width": _by_keys(found, "_half"),
        "explained": found.explained,
        "refused": found.refused or None,
    }


def _by_keys(found: records.TransmissionEstimate, kind: str) -> Record:
    """Values, deviations or half widths by their keys of result.json."""
    return {key: getattr(found, f"{name}{kind}") for name, key in KEYS.items()}


def clamp(
    log: Log,
    *,
    gear_ratio: float | None = None,
    joint: int | None = None,
    robot: Robot | None = None,
) -> Clamping:
    """Stiffness, backlash and friction of a transmission from the log of its clamped joint.

    The joint is held, the motor's torque rises and falls slowly several times.

    Args:
        log: Time, q_m (or q) and tau_m (or tau).
        gear_ratio: Motor angle per joint angle; needed where q or tau is on the joint side, and for
            the numbers of the joint side.
        joint: Column of the joint that was moved, from 1, where the log has several; or the joint
            of the robot.
        robot: The robot whose joint it is: its gear ratio is taken, or compared with the given one,
            and torques are compared with what its motor can.
    """
    record = records.clamping_record(log, gear_ratio, joint, robot)
    found = find_half_cycles(record.q)
    records.refuse_gained_work(record, found)
    squares = least_squares(record.time, record.q, record.tau, found)
    if squares.found.stiffness is None:
        raise ArmtwinError(f"clamping log: {squares.found.refused}")
    squares = replace(squares, found=explain(squares, squares.found))
    one, two = algorithm_one(record.q, record.tau), algorithm_two(record.q, record.tau)
    one = replace(one, found=explain(squares, one.found))
    two = replace(two, found=explain(squares, two.found))
    headline = choose_headline(record, squares, (one.found, two.found))
    return Clamping(record, tuple(found), one, two, squares, headline)

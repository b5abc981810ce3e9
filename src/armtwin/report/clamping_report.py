"""The report of a clamping: three methods side by side, their steps, the curve recreated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from armtwin.identification.clamping.algorithm_one import AlgorithmOne, CurveParts
from armtwin.identification.clamping.algorithm_two import AlgorithmTwo
from armtwin.identification.clamping.clamp import NAMES, Clamping
from armtwin.identification.clamping.curves import Curve as ClampingCurve
from armtwin.identification.clamping.found import FoundTransmission
from armtwin.identification.clamping.hysteresis import torque_of
from armtwin.prediction.recreation import Recreation
from armtwin.report.charts import Chart, Multiples
from armtwin.report.inputs import file_name
from armtwin.report.layers import Curve, Layer, Points, Rule
from armtwin.report.numbers import PLAIN, Number
from armtwin.report.scales import Axis
from armtwin.report.sections import Block, Column, Data, Facts, Report, Section, Table, Text

DRAWN = 4000  # samples of a curve that are drawn
MILLIRADIANS = Number(1e3, "mrad")
SECONDS = Number(1.0, "s", digits=5)
ANGLE, TORQUE = Axis("motor angle", "rad"), Axis("motor torque", "N m")


def clamping_report(result: Clamping, recreation: Recreation | None = None) -> Report:
    """The report of a clamping, with its curve recreated where that was done."""
    sections = [
        Section("", tuple(_numbers(result))),
        Section("The clamping curve", tuple(_curve(result)), page_only=True),
        Section("Algorithm I, step by step", tuple(_algorithm_one(result.one))),
        Section("Algorithm II, step by step", tuple(_algorithm_two(result.two))),
        Section("Algorithm II, its half-cycles", tuple(_half_cycles(result)), page_only=True),
        Section("Least squares on all samples", tuple(_least_squares(result))),
    ]
    if recreation is not None:
        sections.append(Section("The curve recreated", tuple(_recreated(result, recreation))))
    name = file_name(result.record.origin, "a log")
    return Report(
        title=f"Clamping of {name}",
        subtitle=_subtitle(result),
        sections=tuple(sections),
        verdict=(Text(clamping_verdict(result)),),
    )


def clamping_verdict(result: Clamping) -> str:
    """What the clamping comes to, in one sentence."""
    best = result.best
    parts = [f"stiffness {_with_std(best.stiffness, best.stiffness_std)} N m/rad"]
    if best.backlash is not None:
        backlash = _with_std(best.backlash, best.backlash_std, 1e3)
        parts.append(f"backlash {backlash} mrad")
    parts.append(f"friction {_with_std(best.friction, best.friction_std)} N m")
    sentence = f"On the motor side, by {best.method}: {', '.join(parts)}."
    if best.backlash is None:
        sentence += f" {best.refused[0].upper()}{best.refused[1:]}"
    return sentence


def _with_std(value: float | None, std: float | None, scale: float = 1.0) -> str:
    number = Number(scale, digits=4)
    if std is None:
        return number.text(value)
    return f"{number.text(value)} ± {Number(scale, digits=2).text(std)}"


def _subtitle(result: Clamping) -> str:
    record = result.record
    ratio = record.gear_ratio
    gear = "gear ratio not given" if ratio is None else f"gear ratio {ratio:.6g}"
    whole = len(result.two.half_cycles)
    return (
        f"{len(record.q)} samples, {len(result.half_cycles)} half-cycles, {whole} whole, angle "
        f"from {record.position_from}, torque from {record.torque_from}, {gear}"
    )


def _numbers(result: Clamping) -> Iterator[Block]:
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
    yield Data("motor_side", _records(result.table))
    yield Data("joint_side", _records(result.joint_side) if result.joint_side else None)
    yield Data("half_cycles", len(result.half_cycles))
    yield Data("turn_rad", result.record.turn)


def _table(found: Sequence[FoundTransmission]) -> Table:
    columns = (
        Column("method", "method"),
        Column("stiffness", "stiffness", Number(1.0, "N m/rad", digits=4)),
        Column("stiffness_std", "±", Number(digits=2)),
        Column("backlash", "backlash", Number(1e3, "mrad", digits=4)),
        Column("backlash_std", "±", Number(1e3, digits=2)),
        Column("friction", "friction", Number(1.0, "N m", digits=4)),
        Column("friction_std", "±", Number(digits=2)),
    )
    return Table(columns, [vars(one) for one in found])


def _records(found: Sequence[FoundTransmission]) -> dict[str, Any]:
    """What result.json says of the methods."""
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
            "refused": one.refused or None,
        }
    return records


def _measured(result: Clamping, label: str = "measured") -> Curve:
    """The measured curve, thinned to what can be drawn."""
    record = result.record
    step = max(1, len(record.q) // DRAWN)
    return Curve(label, record.q[::step], record.tau[::step], colour=6, dash="solid")


def _drawn(label: str, curve: ClampingCurve, colour: int) -> Curve:
    step = max(1, len(curve.q) // DRAWN)
    return Curve(label, curve.q[::step], curve.tau[::step], colour=colour, dash="solid")


def _curve(result: Clamping) -> Iterator[Block]:
    layers: list[Layer] = [_measured(result)]
    if result.two.upper is not None and result.two.lower is not None:
        layers.append(_drawn("upper and lower curve", result.two.upper, 1))
        layers.append(_drawn("", result.two.lower, 1))
    caption = "Torque over motor angle, with the curves that Algorithm II makes of the half-cycles."
    yield Chart("Clamping curve", ANGLE, TORQUE, tuple(layers), caption)


def _notes(found: FoundTransmission) -> Iterator[Block]:
    for note in found.notes:
        yield Text(f"{note[0].upper()}{note[1:]}.")
    if found.refused:
        yield Text(f"{found.refused[0].upper()}{found.refused[1:]}")


def _algorithm_one(one: AlgorithmOne) -> Iterator[Block]:
    yield Text(
        "Positions as 10 000 channels, curves parted by lines through the mean torques of short "
        "intervals, a tenth cut at each end; the longest interval with less than half of the "
        "overall slope is the backlash, what follows with less than the slope of the rest is "
        "nonlinear, straight lines through what remains are the springs.",
        "soft",
    )
    yield from _notes(one.found)
    if one.parted is not None:
        parted = one.parted
        layers = (
            _drawn("upper curve", parted.upper, 1),
            _drawn("lower curve", parted.lower, 0),
            _drawn("lines that part them", parted.parting, 2),
        )
        caption = "Samples above the lines make the upper curve, those below them the lower one."
        yield Chart("Curves parted", ANGLE, TORQUE, layers, caption)
    yield from _both_intervals(one)


def _both_intervals(one: AlgorithmOne) -> Iterator[Block]:
    """The intervals of upper and lower curve, where there are some."""
    if one.upper is None or one.lower is None:
        return
    charts = []
    for title, parts in (("Upper curve", one.upper), ("Lower curve", one.lower)):
        charts.append(_intervals(title, parts))
    caption = "Backlash between the inner lines, nonlinear up to the outer ones, then springs."
    yield Multiples(tuple(charts), shared="xy", title="Intervals", caption=caption)


def _intervals(title: str, parts: CurveParts) -> Chart:
    curve = parts.curve
    step = max(1, len(curve.q) // DRAWN)
    layers: list[Layer] = [Curve("curve", curve.q[::step], curve.tau[::step], dash="solid")]
    places = {parts.left, parts.right}
    if parts.backlash is not None:
        places |= set(parts.backlash)
    for place in sorted(places):
        layers.append(Rule(float(curve.q[min(place, len(curve.q) - 1)]), on="x"))
    return Chart(title, ANGLE, TORQUE, tuple(layers))


def _algorithm_two(two: AlgorithmTwo) -> Iterator[Block]:
    yield Text(
        "Half-cycles by the sign of the motion, turning regions and outliers cut, those whose line "
        "stands out by two standard deviations rejected twice, the rest merged to an upper and a "
        "lower curve; moved onto each other, merged, cut in the middle and folded.",
        "soft",
    )
    yield from _notes(two.found)
    if two.fallback is not None:
        yield from _both_intervals(two.fallback)
    if two.folded is None or two.upper is None or two.onto is None:
        return
    onto, upper = two.onto, _drawn("upper", two.upper, 0)
    charts = (
        Chart(
            "The lower curve moved so that the middles of the gaps coincide",
            ANGLE,
            TORQUE,
            (upper, _drawn("lower, moved", onto.displaced, 1)),
        ),
        Chart(
            "Moved up by the mean distance",
            ANGLE,
            TORQUE,
            (upper, _drawn("lower, moved", onto.lifted, 1)),
        ),
        Chart("Both merged to one", ANGLE, TORQUE, (_drawn("merged", onto.merged, 0),)),
        Chart(
            "Cut in the middle and folded",
            Axis("angle from the middle", "rad"),
            TORQUE,
            (
                _drawn("folded", two.folded, 0),
                Rule(float(two.flat * two.folded.step), "half of the backlash", on="x"),
            ),
        ),
    )
    yield Multiples(charts, columns=2, shared="")


def _half_cycles(result: Clamping) -> Iterator[Block]:
    """What became of each half-cycle."""
    columns = (
        Column("number", "half-cycle", Number(digits=3)),
        Column("from_s", "from", SECONDS),
        Column("to_s", "to", SECONDS),
        Column("motor", "motor turns"),
        Column("samples", "samples used", Number(digits=6)),
        Column("slope", "slope", Number(1.0, "N m/rad", digits=4)),
        Column("outcome", "outcome"),
    )
    time = result.record.time
    records = []
    for number, judged in enumerate(result.two.judged, 1):
        part = judged.half_cycle
        record = {
            "number": number,
            "from_s": float(time[part.start]),
            "to_s": float(time[part.stop - 1]),
            "motor": "forward" if part.direction > 0 else "back",
            "samples": judged.samples,
            "slope": judged.slope,
            "outcome": judged.outcome,
        }
        records.append(record)
    yield Table(columns, records)


def _least_squares(result: Clamping) -> Iterator[Block]:
    yield Text(
        "The hysteretic transmission fitted to all samples from the first turn on; distances are "
        "taken across the curve, large ones count less, half-cycles far from the rest are left "
        "out. Standard deviations from the spread of the half-cycles or the autocorrelation of "
        "what is left, whichever is larger.",
        "soft",
    )
    squares = result.squares
    yield from _notes(squares.found)
    if squares.turns is None or squares.left is None:
        return
    step = max(1, len(squares.left) // DRAWN)
    turns, theta = squares.turns, squares.theta
    if theta is not None:
        fitted = torque_of(theta, turns)[::step]
        over = (_measured(result), Points("fitted", turns.q[::step], fitted, shape="circle"))
        yield Chart("Fitted over measured", ANGLE, TORQUE, over, "The samples that were used.")
    layers = (Points("distance", turns.q[::step], squares.left[::step], shape="circle"),)
    yield Chart(
        "What is left", ANGLE, Axis("distance from the curve", "N m"), layers, "Sample by sample."
    )


def _recreated(result: Clamping, recreation: Recreation) -> Iterator[Block]:
    facts = [
        ("between the turning regions", _share(recreation.between_rms, recreation.turn)),
        ("in the turning regions", _share(recreation.turning_rms, recreation.turn)),
    ]
    yield Text(
        "The identified transmission on a bench under the logged torques at the logged times; "
        "simulated minus measured motor angle, rms:"
    )
    yield Facts(facts)
    yield Data("recreated.between_rms_rad", recreation.between_rms)
    yield Data("recreated.turning_rms_rad", recreation.turning_rms)
    compared = recreation.compared
    q, tau = recreation.q[compared], result.record.tau[compared]
    step = max(1, len(q) // DRAWN)
    layers = (
        _measured(result),
        Curve("simulated", q[::step], tau[::step], colour=1, dash="solid"),
    )
    yield Chart("Simulated over measured", ANGLE, TORQUE, layers)


def _share(rms: float, turn: float) -> str:
    share = PLAIN.text(100 * rms / turn)
    return f"{MILLIRADIANS.with_unit(rms)}, {share} % of the whole turn"

"""The report of a clamping: three methods side by side, their steps, the curve recreated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from armtwin.files.digests import file_name
from armtwin.identification.clamping.clamp import NAMES, Clamping
from armtwin.identification.clamping.clamping_steps import (
    ANGLE,
    DRAWN,
    TORQUE,
    clamping_curve,
    half_cycles_of,
    measured_curve,
    steps_of_one,
    steps_of_squares,
    steps_of_two,
)
from armtwin.identification.clamping.found import FoundTransmission
from armtwin.jobs.recreation import Recreation
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.sections import Block, Column, Data, Facts, Report, Section, Table, Text

MILLIRADIANS = Number(1e3, "mrad")


def clamping_report(result: Clamping, recreation: Recreation | None = None) -> Report:
    """The report of a clamping, with its curve recreated where that was done."""
    sections = [
        Section("", tuple(_numbers(result))),
        Section("The clamping curve", tuple(clamping_curve(result)), page_only=True),
        Section("Algorithm I, step by step", tuple(steps_of_one(result.one))),
        Section("Algorithm II, step by step", tuple(steps_of_two(result.two))),
        Section("Algorithm II, its half-cycles", tuple(half_cycles_of(result)), page_only=True),
        Section("Least squares on all samples", tuple(steps_of_squares(result))),
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
        measured_curve(result),
        Curve("simulated", q[::step], tau[::step], colour=1, dash="solid"),
    )
    yield Chart("Simulated over measured", ANGLE, TORQUE, layers)


def _share(rms: float, turn: float) -> str:
    share = PLAIN.text(100 * rms / turn)
    return f"{MILLIRADIANS.with_unit(rms)}, {share} % of the whole turn"

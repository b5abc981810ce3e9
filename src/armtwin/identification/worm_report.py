"""The report of friction that follows the load of its gear."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

from armtwin.drives.friction.load import LOCKS
from armtwin.identification.worm import HELD, WormIdentification
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Block, Column, Record, Report, Section, Table, Text

SI = Number(digits=4)


def worm_report(result: WormIdentification) -> Report:
    """The report of worm gears from runs of different loads."""
    return Report(
        title=f"{result.prior.name}: friction that follows the load",
        subtitle="runs of different loads; bodies as the robot file has them",
        sections=(
            Section("", tuple(_numbers(result))),
            Section("What is missed", tuple(_missed(result))),
        ),
        verdict=(Text(_verdict(result)),),
    )


def _verdict(result: WormIdentification) -> str:
    parts = []
    for row in result.table:
        if row.name == "load.share":
            locks = ", which locks itself" if row.value >= LOCKS else ""
            parts.append(f"{row.element} {row.value:.3g} ± {HELD * row.std:.2g}{locks}")
    return f"Friction per load (95 %): {'; '.join(parts)}."


def _numbers(result: WormIdentification) -> Iterator[Block]:
    columns = (
        Column("element", "element"),
        Column("name", "number"),
        Column("prior", "file", SI),
        Column("value", "found", SI),
        Column("std", "std", Number(digits=2)),
        Column("plain", "without load", SI),
    )
    yield Table(columns, [asdict(row) for row in result.table], "numbers")
    yield Text(
        "Without load: a fit of the same rows by a law that knows no load, which takes part of the "
        "load's friction for level.",
        "soft",
    )


def _missed(result: WormIdentification) -> Iterator[Block]:
    records: list[Record] = []
    for k, joint in enumerate(result.joints):
        plain, missed = float(result.missed_plain[k]), float(result.missed[k])
        records.append({"joint": joint, "missed_nm": missed, "missed_without_nm": plain})
    columns = (
        Column("joint", "joint"),
        Column("missed_nm", "with load", Number(1.0, "N m", digits=3)),
        Column("missed_without_nm", "without", Number(1.0, "N m", digits=3)),
    )
    yield Table(columns, records, "missed")

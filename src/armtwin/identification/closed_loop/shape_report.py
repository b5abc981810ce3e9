"""The report of shape numbers of friction laws fitted to dynamic logs."""

from __future__ import annotations

from armtwin.identification.closed_loop.friction_shapes import ShapeFit
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Column, Data, Record, Report, Section, Table, Text

FOUR = Number(digits=4)


def shape_report(result: ShapeFit) -> Report:
    """The report of fitted shapes of friction."""
    told = sum(row.told for row in result.table)
    columns = (
        Column("name", "shape number"),
        Column("file", "file", FOUR),
        Column("value", "logs", FOUR),
        Column("std", "deviation", Number(digits=2)),
        Column("told", "told", words=_told),
    )
    residuals = []
    for j, name in enumerate(result.prior.joint_names):
        row = {"name": name, "before": result.before[j], "after": result.after[j]}
        residuals.append(row)
    left = (
        Column("name", "joint"),
        Column("before", "shapes of the file, N m", Number(digits=3)),
        Column("after", "shapes by the logs, N m", Number(digits=3)),
    )
    return Report(
        title=f"Friction shapes of {result.prior.name} from dynamic logs",
        subtitle="separable least squares: everything linear is fitted anew for each shape",
        sections=(
            Section(
                "",
                (
                    Table(columns, [vars(row) for row in result.table], key="shapes"),
                    Text("A number that the logs do not tell keeps the value of the file."),
                    Data("robot", result.prior.name),
                ),
            ),
            Section("What is left of the torque", (Table(left, residuals, key="residuals_nm"),)),
        ),
        verdict=(Text(f"{told} of {len(result.table)} shape numbers are told by the logs."),),
    )


def _told(record: Record) -> str:
    return "yes" if record["told"] else "no"

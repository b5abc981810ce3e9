"""What experiments there are."""

from __future__ import annotations

from collections.abc import Iterable

from armtwin.jobs.experiment import Experiment
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Column, Report, Section, Table, Text

SECONDS = Number(1.0, "s", digits=4)


def experiment_shelf(experiments: Iterable[Experiment]) -> Report:
    """One line for each experiment."""
    columns = (
        Column("name", "experiment"),
        Column("robot", "robot"),
        Column("title", "what"),
        Column("duration", "lasts", SECONDS),
    )
    records = []
    for experiment in experiments:
        d = experiment.description
        record = {"name": d.name, "robot": d.setup.robot, "title": d.title}
        records.append({**record, "duration": d.duration})
    hint = Text("Show one: armtwin experiments NAME. Run one: armtwin simulate NAME.")
    return Report("Shipped experiments", "", (Section("", (Table(columns, records), hint)),))

"""What experiments there are, and what one of them is; nothing is run."""

from __future__ import annotations

from collections.abc import Iterable

from armtwin.jobs.experiment import Experiment
from armtwin.jobs.experiment_description import HydraulicSetup, Setup
from armtwin.jobs.setpoints import Setpoint
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Column, Facts, Report, Section, Table, Text

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
    return Report(
        "Shipped experiments", "", (Section("", (Table(columns, records, "experiments"), hint)),)
    )


def described_experiment(experiment: Experiment) -> Report:
    """What an experiment is: its set-up, its set-points, what is read off the responses."""
    d = experiment.description
    facts = [("set-up", _setup_words(d.setup))]
    if isinstance(d.setup, HydraulicSetup):
        facts.append(("set-points in", d.setup.coordinates))
    for what in ("tool", "payload"):
        mounted = getattr(d.setup, what, "")
        if mounted:
            facts.append((what, mounted))
    if d.duration is not None:
        facts.append(("lasts", SECONDS.with_unit(d.duration)))
    facts.append(("features", ", ".join(d.features) or "none"))
    columns = (Column("on", "set-point on"), Column("kind", "kind"), Column("how", "how"))
    records = []
    for point in d.setpoint:
        records.append({"on": point.on, "kind": point.kind, "how": _point_words(point)})
    sections = (
        Section("", (Facts(facts),)),
        Section("Set-points", (Table(columns, records, "setpoints"),)),
    )
    return Report(f"{d.name}: {d.title or 'no title'}", "", sections)


def _setup_words(setup: Setup) -> str:
    if not setup.robot:
        return "a bench"
    axis = getattr(setup, "axis", "")
    return f"{axis} of {setup.robot} on a bench" if axis else f"robot {setup.robot}"


def _point_words(point: Setpoint) -> str:
    """The keys of a set-point that are not its kind and what it drives."""
    words = []
    for key, value in vars(point).items():
        if key in ("on", "kind") or value is None:
            continue
        shown = ", ".join(str(x) for x in value) if isinstance(value, tuple) else value
        words.append(f"{key} {shown}")
    return "; ".join(words)

"""A payload with intervals, or the torque constants of the motors by a known load."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from armtwin.identification.payload.difference import LoadRows
from armtwin.identification.payload.drive_gain import DriveGain, motors_of
from armtwin.identification.payload.load_fit import LoadFit, nearest_body
from armtwin.identification.payload.synchronisation import SynchronisedRuns
from armtwin.identification.payload.truncated_mass import TruncatedMass
from armtwin.maths.batch import Floats, NamedNumbers, Record
from armtwin.mechanics.inertia import why_unphysical
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import DEVIATION, PLAIN
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Column, Data, Facts, Report, Section, Table, Text
from armtwin.report.result import Result
from armtwin.robot.dynamics.bodies import body_from
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Payload

Method = Literal["difference", "held"]
NAME = "identified"  # of the payload in the robot file
CHART_SAMPLES = 1500
WELL_IDENTIFIED = 0.01  # relative deviation of a torque constant that is well identified
METHODS = {"difference": "the difference of two runs", "held": "one run, the arm as in its file"}
ROWS = (
    ("mass", "kg"),
    ("centre x", "m"),
    ("centre y", "m"),
    ("centre z", "m"),
    ("inertia xx", "kg m²"),
    ("inertia yy", "kg m²"),
    ("inertia zz", "kg m²"),
    ("inertia xy", "kg m²"),
    ("inertia xz", "kg m²"),
    ("inertia yz", "kg m²"),
)


@dataclass(frozen=True)
class LoadRow:
    """A parameter of the payload: centre in the flange's frame, inertia about the centre.

    Attributes:
        name: What it is.
        unit: Its unit.
        value: Its value.
        std: Its standard deviation.
        low: Lower end of the 95 % interval.
        high: Upper end.
    """

    name: str
    unit: str
    value: float
    std: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class PayloadIdentification(Result):
    """An identified payload.

    Attributes:
        prior: The robot without it.
        method: "difference" of two runs, or the arm "held" as in its file.
        torque_source: Channel of the torque.
        rows: The rows that were fitted.
        fit: The ten parameters in the flange's frame.
        gain: Torque constants, where the mass was given.
        runs: Both runs on one clock, None with the arm held.
        road: The mass by a truncated fit, where a prior was given.
    """

    prior: Robot
    method: Method
    torque_source: str
    rows: LoadRows
    fit: LoadFit
    gain: DriveGain | None
    runs: SynchronisedRuns | None
    road: TruncatedMass | None

    @cached_property
    def table(self) -> tuple[LoadRow, ...]:
        """Mass, centre and inertia with deviations and intervals."""
        seen = self.fit.seen()
        numbers = np.array([seen.values, seen.std, seen.low, seen.high]).T.tolist()
        return tuple(LoadRow(*row, *four) for row, four in zip(ROWS, numbers, strict=True))

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.fit.mass

    @property
    def refused(self) -> str:
        """Why no payload is identified, as a sentence; empty if one is."""
        row = self.table[0]
        if self.gain is not None or row.low > 0:
            return ""
        return (
            f"The torque from {self.torque_source} shows no payload: its mass is {row.value:.3g} "
            f"kg, 95 % interval {row.low:.3g} to {row.high:.3g} kg. A torque computed from the "
            "controller's own model does not include the payload; choose a measured channel."
        )

    @property
    def impossible(self) -> str:
        """Why the parameters are not physically consistent, as a phrase; empty if they are."""
        return why_unphysical(self.fit.parameters)

    @cached_property
    def robot(self) -> Robot:
        """The robot with the payload on it, or with the identified torque constants.

        The payload is the nearest physically consistent body.
        """
        if self.gain is not None:
            return _with_constants(self.prior, self.gain)
        if self.refused:
            return self.prior
        count = len(self.rows.target)
        source = (
            f"identified: {self.method}, {count} rows of torque from {self.torque_source}, "
            f"cut-off {self.rows.cutoff:.4g} Hz"
        )
        body = body_from(nearest_body(self.fit.parameters))
        payloads = {**self.prior.description.payload, NAME: Payload(source=source, body=body)}
        description = replace(self.prior.description, payload=payloads)
        return self.prior.with_description(description).with_payload(NAME)

    def sections(self) -> Report:
        """The ten parameters, torque constants where the mass was given, and the data used."""
        sections = [Section("", _numbers(self))]
        if self.gain is not None:
            sections.append(Section("Torque constants", _constants(self, self.gain)))
        sections += [
            Section("Data and fit", _basis(self)),
            Section("Torque of the payload, measured and fitted", _charts(self), page_only=True),
        ]
        return Report(
            title=f"Payload of {self.prior.name}",
            subtitle=f"{METHODS[self.method]}, torque from {self.torque_source}",
            sections=tuple(sections),
            verdict=tuple(_verdict(self)),
        )


def _verdict(result: PayloadIdentification) -> Iterator[Text]:
    if result.gain is not None:
        identified = int(result.gain.told.sum())
        yield Text(
            f"{identified} of {len(result.gain.told)} torque constants are identified by "
            f"{result.gain.known:g} kg."
        )
        return
    if result.refused:
        yield Text(result.refused, "bad")
        return
    row = result.table[0]
    yield Text(f"{row.value:.4g} kg, 95 % interval {row.low:.4g} to {row.high:.4g} kg.")
    if result.impossible:
        yield Text(
            f"The parameters are not physically consistent ({result.impossible}); the robot file "
            "has the nearest consistent ones.",
            "bad",
        )


def _numbers(result: PayloadIdentification) -> Blocks:
    columns = (
        Column("name", "payload"),
        Column("value", "value", PLAIN),
        Column("std", "deviation", DEVIATION),
        Column("interval", "95 %", words=_interval),
        Column("unit", "unit"),
    )
    records = [vars(row) for row in result.table]
    yield Table(columns, records)
    yield Text(
        "Centre in the flange's frame, inertia about the centre, axes of the flange.", "soft"
    )
    value = [row.value for row in result.table]
    std = [row.std for row in result.table]
    is_identified = not result.refused
    yield Data(
        {
            "mass_kg": value[0] if is_identified else None,
            "centre_m": value[1:4] if is_identified else None,
            "inertia_kg_m2": _six(value[4:]) if is_identified else None,
        }
    )
    if result.gain is None:
        yield Data({"refused": result.refused or None})
    deviations: Record = {"mass_kg": std[0], "centre_m": std[1:4]}
    deviations["inertia_kg_m2"] = _six(std[4:])
    if result.gain is not None:
        deviations["torque_constant_nm_a"] = result.gain.std.tolist()
    yield Data({"std": deviations})


def _six(values: list[float]) -> NamedNumbers:
    return dict(zip(("xx", "yy", "zz", "xy", "xz", "yz"), values, strict=True))


def _interval(record: Record) -> str:
    return f"{record['low']:.4g} to {record['high']:.4g}"


def _constants(result: PayloadIdentification, gain: DriveGain) -> Blocks:
    motors = result.prior.description.motor
    names = [motor.name for motor in motors] or list(result.prior.joint_names)
    records: list[Record] = []
    for k, name in enumerate(names):
        file = motors[k].torque_constant if motors else None
        value = float(gain.constants[k])
        records.append(
            {
                "name": name,
                "value": value if gain.told[k] else None,
                "std": float(gain.std[k]),
                "low": float(gain.low[k]),
                "high": float(gain.high[k]),
                "file": file,
            }
        )
    columns = (
        Column("name", "motor" if motors else "joint"),
        Column("value", "constant N m/A", PLAIN),
        Column("std", "deviation", DEVIATION),
        Column("interval", "95 %", words=_interval),
        Column("file", "in the file", PLAIN),
    )
    yield Table(columns, records)
    yield from _suggest_longer_logs(gain, names)
    refused = [record["name"] for record in records if record["value"] is None]
    sentence = ""
    if refused:
        sentence = (
            f"Not identifiable: the constants of {', '.join(refused)}, which the payload hardly "
            "loads. Mount it further out, or move faster."
        )
        yield Text(sentence)
    yield Data({"torque_constant_nm_a": [record["value"] for record in records]})
    ends = np.column_stack([gain.low, gain.high])
    yield Data({"torque_constant_interval_nm_a": ends.tolist(), "refused": sentence or None})


def _suggest_longer_logs(gain: DriveGain, names: list[str]) -> Blocks:
    """Constants with a deviation above 1 %, and the log length that would lower it."""
    share = gain.std / gain.constants
    for k, name in enumerate(names):
        if gain.told[k] and share[k] > WELL_IDENTIFIED:
            times = (share[k] / WELL_IDENTIFIED) ** 2
            yield Text(
                f"{name}: std {100 * share[k]:.2g} %; logs {times:.2g} times as long, or a motion "
                f"in which the payload loads it more, lower that to {100 * WELL_IDENTIFIED:g} %.",
                "soft",
            )


def _basis(result: PayloadIdentification) -> Blocks:
    facts = [("robot", result.prior.name), ("cut-off", f"{result.rows.cutoff:.3g} Hz")]
    facts.append(("rows", f"{int(result.rows.used.sum())}, of all joints"))
    if result.runs is not None:
        shift = f"{1e3 * result.runs.shift:.1f} ms"
        facts.append(("clocks", f"the run with it is shifted by {shift}"))
        apart = 100 * result.runs.apart.max()
        facts.append(("motions", f"speeds differ by {apart:.2g} % at most"))
        share = _share(result.rows.arm, result.rows.Y @ result.fit.parameters)
        facts.append(
            ("arm", f"difference of the runs of the arm: {share:.2g} % of the load's torque")
        )
    explained = ", ".join(f"{100 * share:.1f}" for share in result.fit.explained)
    facts.append(("explained", f"{explained} % of the payload's torque, joint by joint"))
    yield Facts(tuple(facts))
    if result.road is not None:
        yield Text(result.road.sentence, "" if result.road.is_independent else "bad")
    yield Data(
        {
            "robot": result.prior.name,
            "method": result.method,
            "cutoff_hz": result.rows.cutoff,
            "torque": result.torque_source,
            "explained": result.fit.explained,
        }
    )
    if result.road is not None:
        yield Data({"truncated": {**vars(result.road), "sentence": result.road.sentence}})


def _share(part: Floats, whole: Floats) -> float:
    return 100 * float(np.linalg.norm(part)) / max(float(np.linalg.norm(whole)), 1e-300)


def _charts(result: PayloadIdentification) -> Iterator[Multiples]:
    rows = result.rows
    step = max(1, len(rows.target) // CHART_SAMPLES)
    number = np.arange(0, len(rows.target), step).astype(np.float64)
    explained = rows.Y @ result.fit.parameters
    measured, unit = rows.target - rows.arm, "N m"
    if result.gain is not None:
        at_motors = motors_of(result.prior)
        explained = (explained + rows.arm) @ at_motors / result.gain.constants
        measured, unit = rows.target, "A"
    charts = []
    for j, name in enumerate(result.prior.joint_names):
        layers = (
            Curve("measured", number, measured[::step, j]),
            Curve("explained", number, explained[::step, j]),
        )
        charts.append(Chart(name, Axis("row"), Axis("difference", unit), layers))
    yield Multiples(tuple(charts), columns=2, shared="x")


def _with_constants(robot: Robot, gain: DriveGain) -> Robot:
    """The robot with the identified torque constants; the others stay."""
    source = f"identified: by a payload of {gain.known:g} kg"
    motors = []
    found = zip(gain.constants, gain.told, strict=True)
    for motor, (constant, is_identified) in zip(robot.description.motor, found, strict=False):
        if not is_identified:
            motors.append(motor)
            continue
        had = motor.source if isinstance(motor.source, dict) else {"rotor_inertia": motor.source}
        sources = {**had, "torque_constant": source}
        motors.append(replace(motor, torque_constant=float(constant), source=sources))
    return robot.with_description(replace(robot.description, motor=tuple(motors)))

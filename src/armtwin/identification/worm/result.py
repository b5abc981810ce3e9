"""Friction that grows with the load of its gear, and its report."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from functools import cached_property
from typing import Any

from armtwin.drives.friction.load import LOCKS, Load
from armtwin.maths.batch import Floats, Names
from armtwin.notebook.charts import Bars
from armtwin.notebook.numbers import NEWTON_METRES, PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text, list_columns, tabulate
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement

SOURCE = "identified: from runs of different loads"


@dataclass(frozen=True)
class WormParameter:
    """A coefficient of a friction element, with and without load in the fit.

    Attributes:
        element: Name of the element.
        name: Name of the coefficient; "load.share" for b.
        prior: Its value in the robot file.
        value: Its value by the fit.
        std: Its standard deviation.
        half_width: Half width of its 95 % interval.
        plain: Its value by a fit without load; nan of b itself.
    """

    element: str
    name: str
    prior: float
    value: float
    std: float
    half_width: float
    plain: float


@dataclass(frozen=True, eq=False, repr=False)
class WormIdentification(Result):
    """Friction of worm gears from runs of different loads.

    Attributes:
        prior: The robot before.
        table: The coefficients.
        missed: Residual rms of the torque of each joint, (joints,) [N m].
        residual_rms_plain: Residual rms of the fit without load, (joints,) [N m].
        joints: Names of these joints.
    """

    prior: Robot
    table: tuple[WormParameter, ...]
    missed: Floats
    residual_rms_plain: Floats
    joints: Names

    @cached_property
    def robot(self) -> Robot:
        """The robot with these coefficients and shares."""
        values: dict[tuple[str, str], float] = {}
        for row in self.table:
            values[row.element, row.name] = max(row.value, 0.0)
        active = self.prior.description.active_friction()
        elements = []
        for element in self.prior.description.friction:
            elements.append(_set_parameters(element, values) if element in active else element)
        description = replace(self.prior.description, friction=tuple(elements))
        return self.prior.with_description(description)

    def sections(self) -> Report:
        """The coefficients, and the torque error with and without load."""
        return Report(
            title=f"{self.prior.name}: load-dependent friction",
            subtitle="runs of different loads; bodies as the robot file has them",
            sections=(Section("", _numbers(self)), Section("Torque error", _torque_error(self))),
            verdict=(_verdict(self),),
        )


def _set_parameters(
    element: FrictionElement, values: dict[tuple[str, str], float]
) -> FrictionElement:
    """The element with its fitted parameters, if it has any."""
    changes: Any = {}
    for name, _ in element.law.coefficients:
        if (element.name, name) in values:
            changes[name] = values[element.name, name]
    if not changes:
        return element
    share = values.get((element.name, "load.share"))
    load = element.load if share is None else Load(share)
    source: str | dict[str, str] = SOURCE
    if isinstance(element.source, dict) and element.source:
        keys = changes if load is None else (*changes, "load")
        source = element.source | dict.fromkeys(keys, SOURCE)
    return replace(element, law=replace(element.law, **changes), load=load, source=source)


def _verdict(result: WormIdentification) -> Text:
    parts = []
    for row in result.table:
        if row.name == "load.share":
            locks = ", self-locking at rest" if row.value >= LOCKS else ""
            parts.append(f"{row.element} {Number().with_width(row.value, row.half_width)}{locks}")
    return Text(f"Friction per load (95 %): {'; '.join(parts)}.")


def _numbers(result: WormIdentification) -> Blocks:
    columns = list_columns(
        element="element",
        name="parameter",
        prior=("file", PLAIN),
        value=("identified", PLAIN),
        half_width=("± 95 %", Number(digits=2)),
        plain=("without load", PLAIN),
    )
    yield Table(columns, [asdict(row) for row in result.table], "numbers")
    yield Text(
        "Without load: a fit of the same rows without load dependence, whose level includes part "
        "of the load-dependent friction.",
        "soft",
    )


def _torque_error(result: WormIdentification) -> Blocks:
    joints, rms, plain = result.joints, result.missed, result.residual_rms_plain
    records = tabulate(joint=joints, missed_nm=rms, missed_without_nm=plain)
    columns = list_columns(
        joint="joint",
        missed_nm=("with load", NEWTON_METRES),
        missed_without_nm=("without", NEWTON_METRES),
    )
    yield Table(columns, records, "missed")
    cases = ("with load", "without load")
    yield Bars("Torque error", Axis("rms", "N m"), joints, rms, plain, cases=cases)

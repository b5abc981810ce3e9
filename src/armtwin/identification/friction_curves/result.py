"""Friction laws fitted to curves, and their report."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.friction_group import (
    FrictionGroup,
    FrictionParameter,
    charts_of,
)
from armtwin.identification.friction_curves.gravity import Gravity
from armtwin.identification.friction_curves.shapes import coefficient_names, shape_names
from armtwin.maths.batch import Record
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement, Thermal

FILE = "file"  # the laws that the robot file has
KELVIN = Number(1.0, "K", digits=4)
GRAVITY_TEXTS = {
    "directions": "gravity removed by half the difference of the directions",
    "file": "gravity removed by the robot file",
    "pose": "torques taken as friction alone: axis parallel to gravity",
}


@dataclass(frozen=True, eq=False, repr=False)
class FrictionFit(Result):
    """Friction laws fitted to curves.

    Attributes:
        prior: The robot before.
        curves: The curves as they were given.
        gravity: How gravity was removed.
        groups: Elements that share joints, with their laws.
    """

    prior: Robot
    curves: FrictionCurves
    gravity: Gravity
    groups: tuple[FrictionGroup, ...]

    @property
    def table(self) -> tuple[FrictionParameter, ...]:
        """The parameters of the selected laws."""
        found: list[FrictionParameter] = []
        for group in self.groups:
            found += group.numbers(group.chosen)
        return tuple(found)

    @cached_property
    def robot(self) -> Robot:
        """The robot with these laws."""
        if self.curves.unit != "N m":
            raise ArmtwinError(
                f"robot '{self.prior.name}': its friction is identified in amperes only; give "
                "motor.torque_constant of every motor for a robot file with these laws"
            )
        new_elements = {}
        for group in self.groups:
            for element, law in zip(group.elements, group.fit.laws, strict=True):
                new_elements[element.name, element.set] = _with_law(
                    element, law, group, self.curves
                )
        elements = []
        for element in self.prior.description.friction:
            elements.append(new_elements.get((element.name, element.set), element))
        description = replace(self.prior.description, friction=tuple(elements))
        return self.prior.with_description(description)

    def sections(self) -> show.Report:
        """The selected laws, those compared, temperature, the curves."""
        sections = [
            show.Section("", _numbers(self)),
            show.Section("Laws compared", _compare_laws(self)),
        ]
        if any(group.temperature is not None for group in self.groups):
            sections.append(show.Section("Temperature", _temperature(self)))
        for group in self.groups:
            sections.append(show.Section(group.names, charts_of(group), page_only=True))
        how = GRAVITY_TEXTS[self.gravity]
        if self.curves.bare:
            how = "half the difference of forward and backward motion at each position"
        return show.Report(
            title=f"{self.prior.name}: friction from {_source(self)}",
            subtitle=f"{len(self.curves.torque)} torques at constant speed; {how}",
            sections=tuple(sections),
            verdict=(_verdict(self),),
        )


def _with_law(
    element: FrictionElement, law: Law, group: FrictionGroup, curves: FrictionCurves
) -> FrictionElement:
    """The element with a law by the curves; what is beside the law keeps its source."""
    source = f"measured: friction curves of {curves.origin or 'given points'}"
    texts = dict.fromkeys((*coefficient_names(type(law)), *shape_names(type(law))), source)
    old = element.source
    for key in ("presliding", "offset", "load"):
        if getattr(element, key) is not None:
            texts[key] = old if isinstance(old, str) else old.get(key, next(iter(old.values())))
    changed = replace(element, law=law, negative=None, source=source)
    warm = group.temperature
    if warm is not None:
        before = element.thermal or Thermal(warm.reference, warm.viscosity)
        thermal = replace(before, reference=warm.reference, viscosity=warm.viscosity)
        changed = replace(changed, thermal=thermal)
        texts["thermal"] = source
    elif element.thermal is not None:
        texts["thermal"] = old if isinstance(old, str) else old.get("thermal", source)
    alike = len(set(texts.values())) == 1
    return replace(changed, source=source if alike else texts)


def _source(result: FrictionFit) -> str:
    names = [file_name(name.strip(), "") for name in result.curves.origin.split(",")]
    shown = [name for name in names if name]
    if len(shown) > 2:
        return f"{len(shown)} logs"
    return ", ".join(shown) or "given points"


def _verdict(result: FrictionFit) -> show.Text:
    parts = []
    for group in result.groups:
        law = "the laws of the file" if group.chosen == FILE else group.chosen
        share = 100 * group.fit.rms / group.largest
        parts.append(f"{group.names}: {law}, rms error {share:.2g} % of the largest torque")
    vague = [f"{n.element}.{n.name}" for n in result.table if not n.told]
    sentence = "; ".join(parts) + "."
    if vague:
        sentence += f" Not identifiable from these curves: {', '.join(vague[:6])}"
        sentence += f" and {len(vague) - 6} more." if len(vague) > 6 else "."
    return show.Text(sentence)


def _numbers(result: FrictionFit) -> show.Blocks:
    columns = show.list_columns(
        element="element",
        law="law",
        name="parameter",
        value=("value", PLAIN),
        std=("std", Number(digits=2)),
        low=("95 % from", PLAIN),
        high=("to", PLAIN),
    )
    yield show.Table(columns, [vars(number) for number in result.table], "numbers")
    if result.curves.unit != "N m":
        yield show.Text(
            "Torques are in amperes: the robot file has no torque constants. No robot file is "
            "written.",
            "bad",
        )
    yield show.Data(
        {"unit": result.curves.unit, "gravity": result.gravity, "joints": list(_records(result))}
    )


def _records(result: FrictionFit) -> Iterator[Record]:
    """What result.json says of each friction element."""
    for group in result.groups:
        for e, element in enumerate(group.elements):
            laws = []
            for name, fit in group.candidates.items():
                rows = [row for row in group.numbers(name) if row.element == element.name]
                laws.append(
                    {
                        "law": fit.laws[e].law,
                        "taken": name == group.chosen,
                        "parameters": {row.name: row.value for row in rows},
                        "std": {row.name: row.std for row in rows},
                        "interval": {row.name: (row.low, row.high) for row in rows},
                        "rms_nm": fit.rms,
                        "criterion": fit.criterion,
                    }
                )
            steps = None
            if group.steps is not None:
                steps = {k: v for k, v in vars(group.steps).items() if k != "law"}
            yield {"name": element.name, "laws": laws, "linear_steps": steps}


def _compare_laws(result: FrictionFit) -> show.Blocks:
    records: list[Record] = []
    for group in result.groups:
        candidates = sorted(group.candidates.items(), key=lambda pair: pair[1].criterion)
        _, best = candidates[0]
        for name, fit in candidates:
            records.append(
                {
                    "elements": group.names,
                    "law": name,
                    "count": fit.count,
                    "rms": fit.rms,
                    "share": 100 * fit.rms / group.largest,
                    "behind": fit.criterion - best.criterion,
                    "taken": "taken" if name == group.chosen else "",
                }
            )
    columns = show.list_columns(
        elements="friction",
        law="law",
        count=("parameters", Number()),
        rms=(f"rms error {result.curves.unit}", Number(digits=3)),
        share=("% of largest", Number(digits=2)),
        behind=("ΔAICc", Number(digits=3)),
        taken="",
    )
    yield show.Table(columns, records, "compared")
    yield show.Text(
        "ΔAICc: Akaike's criterion, corrected for few points, above that of the best law; 2 is "
        "little, 10 decides. A law with more parameters is selected only if it gains more than 2.",
        "soft",
    )


def _temperature(result: FrictionFit) -> show.Blocks:
    fits: list[Record] = []
    curves: list[Record] = []
    for group in result.groups:
        warm, name = group.temperature, group.elements[0].name
        if warm is None:
            continue
        found = {"viscosity_k": warm.viscosity, "std": warm.viscosity_std}
        fits.append({"name": name, **found, "half_width": warm.viscosity_half})
        numbers = [coefficients(law) for law in warm.laws]
        curves += show.tabulate(
            element=[name] * len(numbers),
            temperature=warm.temperatures,
            dry=[sum(law[key] for key in law if key in warm.laws[0].dry) for law in numbers],
            viscous=[law[warm.thermal] for law in numbers],
        )
    columns = show.list_columns(
        name="element",
        viscosity_k=("viscosity coefficient", KELVIN),
        half_width=("± 95 %", Number(1.0, "K", digits=2)),
    )
    yield show.Table(columns, fits, "temperature.viscosity")
    yield show.Text("The shape of the law is that of the reference temperature.", "soft")
    columns = show.list_columns(element="element", temperature=("temperature", KELVIN))
    columns += show.Column.alike(PLAIN, "dry", "viscous")
    yield show.Table(columns, curves, "temperature.curves")

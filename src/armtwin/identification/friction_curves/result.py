"""Friction laws fitted to curves, and their report.

Friction elements that share joints, the laws that were tried for them, and their charts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from armtwin.drives.friction.curves import coefficients
from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.lubricated import GearedJoint
from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.identification.friction_curves.curves import FrictionCurves, Gravity
from armtwin.identification.friction_curves.document_steps import means_of_series
from armtwin.identification.friction_curves.law_fit import LawFit
from armtwin.identification.friction_curves.temperature import TemperatureFit
from armtwin.identification.friction_curves.torque_rows import coefficient_names, shape_names
from armtwin.maths.batch import Floats, Record
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Layer, Points
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.report.result import Result
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement, Thermal

CURVE_POINTS = 200  # points of a fitted curve


def group_rows(rows: Sequence[Row]) -> list[int]:
    """Number of the group of each row; rows that share joints are in one."""
    from scipy.sparse.csgraph import connected_components

    if not rows:
        return []
    acts = np.array([row.weights != 0 for row in rows]).astype(np.float64)
    found: list[int] = connected_components(acts @ acts.T)[1].tolist()
    return found


@dataclass(frozen=True)
class FrictionParameter:
    """A parameter of a law.

    Attributes:
        element: Name of the friction element.
        law: The law.
        name: Name of the parameter.
        value: Its value in SI.
        std: Its standard deviation; nan where it is at its bound or not identifiable.
        low: Lower end of its 95 % interval.
        high: Upper end.
    """

    element: str
    law: str
    name: str
    value: float
    std: float
    low: float
    high: float

    @property
    def told(self) -> bool:
        """Whether the standard deviation is below the value."""
        return bool(self.std < abs(self.value))


@dataclass(frozen=True, eq=False)
class FrictionGroup:
    """Friction elements that share joints, and the laws that were tried for them.

    Attributes:
        elements: The elements as the robot file has them.
        rows: Their rows of the joints, (elements, n).
        curves: Rows of friction torques that were fitted.
        candidates: Fits by the name of the law of all elements, or "file" for the file's own.
        chosen: Name of the selected one.
        steps: The lubricated law by the document's linear steps, where the group is one element.
        temperature: Fit over several temperatures, where there are any.
    """

    elements: tuple[FrictionElement, ...]
    rows: Floats
    curves: FrictionCurves
    candidates: dict[str, LawFit]
    chosen: str
    steps: GearedJoint | None
    temperature: TemperatureFit | None

    @property
    def names(self) -> str:
        """Names of its elements."""
        return ", ".join(element.name for element in self.elements)

    @property
    def largest(self) -> float:
        """Largest friction of the curves [N m or A]."""
        return float(np.abs(self.curves.torque).max())

    @property
    def fit(self) -> LawFit:
        """The selected fit."""
        return self.candidates[self.chosen]

    def numbers(self, candidate: str) -> Iterator[FrictionParameter]:
        """The parameters of a fit."""
        fit = self.candidates[candidate]
        numbers = np.array([fit.values, fit.std, fit.low, fit.high]).T.tolist()
        for (e, name), four in zip(fit.names, numbers, strict=True):
            yield FrictionParameter(self.elements[e].name, fit.laws[e].law, name, *four)


def charts_of(group: FrictionGroup) -> show.Blocks:
    """Measured friction and the best laws over the speed; of several elements their laws, and the
    fitted torque over the measured one.
    """
    several = len(group.elements) > 1
    if several:
        yield _of_elements(group)
    for j in np.unique(group.curves.joint).tolist():
        yield _fit_against_rows(group, j) if several else _laws_over_points(group, j)


def _in_both_scales(name: str, speed: str, unit: str, layers: tuple[Layer, ...]) -> list[Chart]:
    """Friction over speed with linear and with logarithmic axes."""
    charts = []
    for title, logarithmic in (("linear", False), ("logarithmic", True)):
        x = Axis(speed, "rad/s", logarithmic=logarithmic)
        y = Axis("friction", unit, logarithmic=logarithmic)
        charts.append(Chart(f"{name}{title}", x, y, layers))
    return charts


def _of_elements(group: FrictionGroup) -> Multiples:
    """Laws of elements that share joints, over their own speeds."""
    speeds = np.abs(group.curves.speeds @ group.rows.T)
    layers: list[Layer] = []
    for e, (element, law) in enumerate(zip(group.elements, group.fit.laws, strict=True)):
        moving = speeds[:, e][speeds[:, e] > 0]
        even = np.geomspace(moving.min(), moving.max(), CURVE_POINTS)
        layers.append(Curve(f"{element.name}, {law.law}", even, law.sliding_torque(even)))
    charts = _in_both_scales("", "speed of the element", group.curves.unit, tuple(layers))
    return Multiples(tuple(charts), columns=2, shared="")


def _laws_over_points(group: FrictionGroup, j: int) -> Multiples:
    """Friction of joint j by the laws of its one element, over the means of its series."""
    rows = group.curves.joint == j
    means = means_of_series(group.curves.speed[rows], group.curves.torque[rows])
    spread = np.nan_to_num(means.spread)
    even = np.geomspace(means.speed.min(), means.speed.max(), CURVE_POINTS)
    layers: list[Layer] = [Points("mean of the series", means.speed, means.torque, y_error=spread)]
    best = sorted(group.candidates, key=lambda law: group.candidates[law].criterion)[:3]
    lever = group.rows[0, j]
    for name in dict.fromkeys([group.chosen, *best]):
        law = group.candidates[name].laws[0]
        layers.append(Curve(name, even, law.sliding_torque(lever * even) * lever))
    joint = group.curves.joint_names[j]
    charts = _in_both_scales(f"{joint}, ", "speed", group.curves.unit, tuple(layers))
    caption = "Bars: standard deviation of the series (squares over their number less one)."
    return Multiples(tuple(charts), columns=2, shared="", caption=caption)


def _fit_against_rows(group: FrictionGroup, j: int) -> Chart:
    """Fitted over measured torque of joint j."""
    whole = (group.curves.joint == j) & np.isfinite(group.fit.residual)
    tau, fitted = group.curves.torque[whole], group.fit.fitted[whole]
    span = np.array([float(tau.min()), float(tau.max())])
    layers = (Curve("equal", span, span, colour=6), Points("", tau, fitted))
    unit = group.curves.unit
    return Chart(group.curves.joint_names[j], Axis("measured", unit), Axis("fitted", unit), layers)


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
    rows: list[tuple[FrictionGroup, str, LawFit]] = []
    behind = []
    for group in result.groups:
        candidates = sorted(group.candidates.items(), key=lambda pair: pair[1].criterion)
        rows += [(group, name, fit) for name, fit in candidates]
        behind += [fit.criterion - candidates[0][1].criterion for _, fit in candidates]
    shares = [100 * fit.rms / group.largest for group, _, fit in rows]
    yield show.Table.of(
        "compared",
        elements=([group.names for group, _, _ in rows], "friction"),
        law=([name for _, name, _ in rows], "law"),
        count=([fit.count for _, _, fit in rows], "parameters", Number()),
        rms=([fit.rms for *_, fit in rows], f"rms error {result.curves.unit}", Number(digits=3)),
        share=(shares, "% of largest", Number(digits=2)),
        behind=(behind, "ΔAICc", Number(digits=3)),
        taken=(["taken" if name == group.chosen else "" for group, name, _ in rows], ""),
    )
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

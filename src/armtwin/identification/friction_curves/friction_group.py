"""Friction elements that share joints, the laws that were tried for them, and their charts."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.drives.friction.lubricated import GearedJoint
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.document_steps import means_of_series
from armtwin.identification.friction_curves.law_fit import LawFit
from armtwin.identification.friction_curves.temperature import TemperatureFit
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.layers import Curve, Layer, Points
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.schema.drive_groups import FrictionElement

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


def charts_of(group: FrictionGroup) -> Blocks:
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

"""Results in a closed loop: shapes of friction laws, and a robot by its simulated motion."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.fitting.decomposition import FittedParameter
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.maths.batch import Floats
from armtwin.notebook import sections as show
from armtwin.notebook.cards import format_count
from armtwin.notebook.numbers import DEVIATION, PLAIN, Number
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

SETTLED = 2e-3  # change of the torque from step to step, over the torque


@dataclass(frozen=True)
class ShapeParameter:
    """A shape parameter of a friction law.

    Attributes:
        name: Element and key, as "joint_1.speed".
        file: Its value in the robot file.
        value: Its value by the logs.
        std: Its standard deviation.
        told: Whether it is identified.
    """

    name: str
    file: float
    value: float
    std: float
    told: bool


@dataclass(frozen=True, eq=False, repr=False)
class ShapeFit(Result):
    """Friction laws whose shapes were fitted.

    Attributes:
        prior: The robot it started from.
        robot: The robot with the identified shapes, fitted to the same logs.
        table: The shape parameters.
        before: Residual of each joint with the shapes of the file, everything linear fitted,
            (n,) [N m].
        after: Residual of each joint with the fitted shapes, (n,) [N m].
    """

    prior: Robot
    robot: Robot
    table: tuple[ShapeParameter, ...]
    before: Floats
    after: Floats

    def sections(self) -> show.Report:
        """The shape parameters, and the torque residual with them."""
        return show.Report(
            title=f"Friction shapes of {self.prior.name} from dynamic logs",
            subtitle="separable least squares: everything linear is fitted anew for each shape",
            sections=(
                show.Section("", _shapes(self)),
                show.Section("Torque residual", _residuals(self)),
            ),
            verdict=(_verdict(self),),
        )


def _verdict(result: ShapeFit) -> show.Text:
    identified = sum(row.told for row in result.table)
    less = 100 * (1 - np.linalg.norm(result.after) / np.linalg.norm(result.before))
    return show.Text(
        f"{identified} of {len(result.table)} shape parameters are identified; with them the "
        f"torque residual is {less:.2g} % smaller."
    )


def _shapes(result: ShapeFit) -> show.Blocks:
    columns = show.list_columns(
        name="shape parameter",
        file=("file", PLAIN),
        value=("logs", PLAIN),
        std=("deviation", DEVIATION),
        told=("identified", lambda record: "yes" if record["told"] else "no"),
    )
    yield show.Table(columns, [vars(row) for row in result.table], key="shapes")
    yield show.Text("A parameter that is not identified keeps the value of the file.")
    yield show.Data({"robot": result.prior.name})


def _residuals(result: ShapeFit) -> show.Blocks:
    names = result.prior.joint_names
    yield show.Table.of(
        "residuals_nm",
        name=(names, "joint"),
        before=(result.before, "shapes of the file, N m", Number()),
        after=(result.after, "shapes by the logs, N m", Number()),
    )
    joints = np.arange(1.0, len(names) + 1)
    layers = (
        show.Points("shapes of the file", joints, result.before, names=names),
        show.Points("shapes by the logs", joints, result.after, names=names),
    )
    yield show.Chart(
        "Residual of each joint", show.Axis("joint"), show.Axis("residual", "N m"), layers
    )


@dataclass(frozen=True)
class LoopStep:
    """A step of the iteration.

    Attributes:
        change: Root mean square by which the torque changed, over that of the torque.
        apart: Root mean square of the simulated less the measured positions, worst joint [rad, m].
    """

    change: float
    apart: float


@dataclass(frozen=True, eq=False, repr=False)
class LoopIdentification(Result):
    """A robot identified with the motion of its simulated loop.

    Attributes:
        fit: The estimate of the last step.
        steps: The steps.
    """

    fit: Estimate
    steps: tuple[LoopStep, ...]

    @property
    def robot(self) -> Robot:
        """The identified robot."""
        return self.fit.robot

    @property
    def table(self) -> tuple[FittedParameter, ...]:
        """Every parameter with its deviation and group."""
        return self.fit.table

    @property
    def settled(self) -> bool:
        """Whether the last step changed hardly anything."""
        return self.steps[-1].change < SETTLED

    def sections(self) -> show.Report:
        """The steps, then the report of the last estimate."""
        last = self.fit.sections()
        how = "Settled" if self.settled else "Not settled"
        change = f"the last changed the torque by {100 * self.steps[-1].change:.2g} %"
        verdict = show.Text(
            f"{how} after {format_count(len(self.steps), 'step')}, {change}.",
            "good" if self.settled else "bad",
        )
        steps = show.Section("Steps with the simulated motion", _steps(self))
        return replace(last, sections=(steps, *last.sections), verdict=(verdict, *last.verdict))


def _steps(result: LoopIdentification) -> show.Blocks:
    columns = show.list_columns(
        step=("step", Number()),
        change=("change of the torque", Number(100, "%", digits=2)),
        apart=("from the measured positions, rad", DEVIATION),
    )
    yield show.Table(columns, [{"step": k, **vars(step)} for k, step in enumerate(result.steps, 1)])

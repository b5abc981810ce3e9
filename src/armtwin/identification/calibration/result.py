"""A calibrated robot, and its report."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np
from numpy.typing import ArrayLike

from armtwin.files.digests import file_name
from armtwin.identification.calibration.geometry import RobotGeometry, ToolPositions
from armtwin.identification.fitting.estimate import ParameterEstimate
from armtwin.maths.batch import Floats, Indices, Names, Record
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Chart
from armtwin.notebook.layers import Points
from armtwin.notebook.numbers import MICROMETRES, SIGNED_DEGREES, Number
from armtwin.notebook.scales import Axis
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

LENGTH = Number(1e3, "mm", places=3, signed=True)
OUTLYING = 4.0  # left-one-out error over its rms beyond which a position is named


@dataclass(frozen=True)
class CalibratedNumber:
    """A number of the geometry.

    Attributes:
        name: Its name, as "joint_2.zero", "joint_3.x", "L3.long_side".
        unit: "m" or "rad".
        prior: Value of the file; of joints what they deviate.
        value: Value that the positions give.
        std: Its standard deviation.
        low: Lower end of its 95 % interval.
        high: Upper end.
    """

    name: str
    unit: str
    prior: float
    value: float
    std: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class Calibration(Result):
    """Link lengths and zeros of a robot from measured positions of its tool.

    Attributes:
        robot: The robot with these numbers.
        prior: The robot before.
        positions: What was measured.
        table: The numbers that the positions determine.
        held: Which others stay as the file has them and why, as sentences.
        before: Measured less computed positions with the file's numbers, (m, 3) [m].
        after: The same with the calibrated ones, (m, 3) [m].
        left_out: The same of each posture by the numbers without it, (m, 3) [m].
        estimate: The numbers of the table, with their covariance.
        geometry: All numbers of the geometry.
        numbers: Their values, (p,).
        kept: Which of them are in the table.
    """

    robot: Robot
    prior: Robot
    positions: ToolPositions
    table: tuple[CalibratedNumber, ...]
    held: Names
    before: Floats
    after: Floats
    left_out: Floats
    estimate: ParameterEstimate
    geometry: RobotGeometry
    numbers: Floats
    kept: Indices

    def position_std(self, at: ArrayLike) -> Floats:
        """Standard deviation of the tool's position at postures (m, n), by the numbers, (m,) [m].

        Args:
            at: Positions of joints or drives, as those of the calibration.
        """
        J = self.geometry.slopes(self.numbers, np.asarray(at, dtype=np.float64), self.kept)
        return np.sqrt(np.einsum("mip,pq,miq->m", J, self.estimate.covariance, J))

    @property
    def outlying(self) -> list[int]:
        """Postures whose measured position the others contradict, from 1."""
        error = np.linalg.norm(self.left_out, axis=1)
        usual = np.sqrt(np.median(error**2))
        return [int(k) + 1 for k in np.flatnonzero(error > OUTLYING * usual)]

    def sections(self) -> show.Report:
        """The numbers with their intervals, and the position errors."""
        count = len(self.positions.points)
        origin = file_name(self.positions.origin, "arrays")
        return show.Report(
            title=f"Calibration of {self.prior.name}",
            subtitle=f"{count} measured positions of the tool, {origin}",
            sections=(
                show.Section("", _numbers(self)),
                show.Section("Position error", _errors(self), page_only=True),
                show.Section("Not determined", show.list_sentences(self.held, "held")),
            ),
            verdict=(_verdict(self),),
        )


def rms(error: Floats) -> float:
    """Root mean square length of vectors (m, 3)."""
    return float(np.sqrt((error**2).sum(axis=1).mean()))


def _verdict(result: Calibration) -> show.Text:
    before, after, unseen = map(rms, (result.before, result.after, result.left_out))
    text = (
        f"Position error {MICROMETRES.with_unit(unseen)} rms at postures left out one by one "
        f"({MICROMETRES.with_unit(before)} with the original file, {MICROMETRES.with_unit(after)} "
        f"in the fit); {len(result.table)} numbers are determined."
    )
    if result.outlying:
        text += f" The others contradict posture {', '.join(map(str, result.outlying))}."
    return show.Text(text)


def _numbers(result: Calibration) -> show.Blocks:
    def write(key: str, record: Record) -> str:
        form = SIGNED_DEGREES if record["unit"] == "rad" else LENGTH
        return form.with_unit(record[key])

    columns = show.list_columns(
        name="number",
        prior=("file", lambda record: write("prior", record)),
        value=("calibrated", lambda record: write("value", record)),
        low=("95 % from", lambda record: write("low", record)),
        high=("to", lambda record: write("high", record)),
    )
    yield show.Table(columns, [asdict(number) for number in result.table], "numbers")
    yield show.Text(
        "Of a joint: its zero and the shift of its frame in the frame of the link before it. Axes "
        "keep their directions.",
        "soft",
    )
    yield show.Data(
        {
            "robot": result.prior.name,
            "position_error_m": {
                "before": rms(result.before),
                "after": rms(result.after),
                "left_out": rms(result.left_out),
            },
            "outlying": result.outlying,
        }
    )


def _errors(result: Calibration) -> show.Blocks:
    number = np.arange(1.0, len(result.before) + 1)
    layers = []
    for name, error in {"file": result.before, "left out": result.left_out}.items():
        layers.append(Points(name, number, 1e6 * np.linalg.norm(error, axis=1)))
    yield Chart("Position error", Axis("posture"), Axis("error", "µm"), tuple(layers))

"""Calibration: link lengths and zeros of a robot from measured positions of its tool.

    min over g  Σ_i ‖p_i - f(g, x_i)‖²

g is the geometry of the file, x_i the posture of the controller, p_i the tool point that an
instrument saw. Numbers that act on these positions alike are determined only in combination: in the
order of `RobotGeometry.ranks` each is kept that the ones before it do not explain, the others stay
as the file has them and are named. What positions of usual accuracy would leave more uncertain than
the number can be stays as well.

Ref: [Machielsen 1983, section 1.2], [Hollerbach-Wampler 1996]

A calibrated robot, and its report.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.files.digests import file_name
from armtwin.identification.calibration.geometry import NEVER, STEP, RobotGeometry, ToolPositions
from armtwin.identification.fitting import estimate as fits
from armtwin.identification.fitting.estimate import ParameterEstimate
from armtwin.maths.batch import Floats, Indices, Names, Record, TwoArrays
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import MICROMETRES, SIGNED_DEGREES, Number
from armtwin.report.result import Result
from armtwin.robot.kinematics.strokes import check_drives
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
    yield show.Data.of(
        robot=result.prior.name,
        position_error_m={
            "before": rms(result.before),
            "after": rms(result.after),
            "left_out": rms(result.left_out),
        },
        outlying=result.outlying,
    )


def _errors(result: Calibration) -> show.Blocks:
    number = np.arange(1.0, len(result.before) + 1)
    layers = []
    for name, error in {"file": result.before, "left out": result.left_out}.items():
        layers.append(show.Points(name, number, 1e6 * np.linalg.norm(error, axis=1)))
    yield show.Chart(
        "Position error", show.Axis("posture"), show.Axis("error", "µm"), tuple(layers)
    )


SAME = 1e-6  # share of a column beyond those before it below which it is their combination
USUAL_NOISE = 1e-4  # error of a measured position when numbers are chosen [m]
LARGEST = {"m": 0.05, "rad": 0.1}  # deviation that a number can have, as of [[deviation]]
VISIBLE = 1e-4  # factor of a combination below which it is not written
SPARE = 3  # rows beyond the numbers that a fit needs at least


def calibrate(
    robot: Robot,
    positions: ToolPositions | str | Path,
    *,
    only: Sequence[str] = (),
    free_frame: bool = False,
    as_deviations: bool = False,
) -> Calibration:
    """Link lengths and zeros of a robot from measured positions of its tool.

    Args:
        robot: The robot, with the tool whose point was measured.
        positions: Postures with the positions measured there, or a table of them.
        only: Numbers that may change, as "joint_3.x", or owners of several, as "joint_3", "L3" or
            "tool"; by default all that the positions determine.
        free_frame: Whether the positions are in a frame of the instrument, which is found too;
            else they are in the base frame.
        as_deviations: Whether the robot gets them as [[deviation]] that its controller does not
            know, in place of corrected joint frames.
    """
    if not isinstance(positions, ToolPositions):
        positions = ToolPositions.read(positions, robot)
    if positions.of_drives:
        check_drives(robot)
    geometry = RobotGeometry(robot, positions.of_drives, free_frame, tuple(only))
    geometry.check()
    start = geometry.start.copy()
    if free_frame:
        start[:6] = _register(geometry.points(start, positions.at), positions.points)
    kept, held = _select(geometry, start, positions.at)
    found = _fit(geometry, start, kept, positions)
    numbers = start.copy()
    numbers[list(kept)] = found.values
    origin = Path(positions.origin).name or "arrays"
    source = f"identified: calibration with {len(positions.points)} positions of the tool, {origin}"
    description = geometry.describe(numbers, source, as_deviations=as_deviations)
    after = found.residual.reshape(-1, 3)
    return Calibration(
        robot=robot.with_description(description, "as calibrated"),
        prior=robot,
        positions=positions,
        table=_tabulate(geometry, kept, found),
        held=held,
        before=positions.points - geometry.points(start, positions.at),
        after=after,
        left_out=_leave_out(geometry.slopes(numbers, positions.at, kept), after),
        estimate=found,
        geometry=geometry,
        numbers=numbers,
        kept=kept,
    )


def _fit(
    geometry: RobotGeometry, start: Floats, kept: Indices, positions: ToolPositions
) -> fits.ParameterEstimate:
    """Fit chosen numbers to positions."""
    rows, chosen = positions.points.size, list(kept)
    if rows < len(kept) + SPARE:
        raise ArmtwinError(
            f"{positions.origin or 'positions'}: {len(positions.points)} positions give {rows} "
            f"coordinates for {len(kept)} numbers; measure at least {(len(kept) + SPARE + 2) // 3} "
            "postures, better twice as many"
        )

    def model(x: Floats) -> TwoArrays:
        numbers = start.copy()
        numbers[chosen] = x
        error = positions.points - geometry.points(numbers, positions.at)
        return np.empty((rows, 0)), error.ravel()

    return fits.fit_separable(model, fits.ShapeParameters(start[chosen], step=STEP))


def _tabulate(
    geometry: RobotGeometry, kept: Indices, found: fits.ParameterEstimate
) -> tuple[CalibratedNumber, ...]:
    """The numbers that were fitted."""
    columns = zip(found.values, found.std, found.low, found.high, strict=True)
    table = []
    for k, numbers in zip(kept, columns, strict=True):
        prior, *found_ones = map(float, (geometry.start[k], *numbers))
        table.append(CalibratedNumber(geometry.names[k], geometry.units[k], prior, *found_ones))
    return tuple(table)


def _leave_out(J: Floats, residual: Floats) -> Floats:
    """Error of each position by the fit without it, (m, 3): (1 - H_ii)⁻¹ e_i.

    Args:
        J: Slopes of the positions, (m, 3, k).
        residual: e, (m, 3).
    """
    Q = np.linalg.qr(J.reshape(-1, J.shape[-1]))[0].reshape(J.shape)
    own = np.eye(3) - Q @ Q.transpose(0, 2, 1)
    return np.linalg.solve(own, residual[..., None])[..., 0]


def _register(seen: Floats, measured: Floats) -> Floats:
    """Position and rotation vector of the base in the instrument's frame, (6,), by least squares.

    Args:
        seen: Points in the base frame, (m, 3).
        measured: The same points in the instrument's frame, (m, 3).
    """
    from scipy.spatial.transform import Rotation

    turn, _ = Rotation.align_vectors(measured - measured.mean(axis=0), seen - seen.mean(axis=0))
    shift = measured.mean(axis=0) - turn.apply(seen.mean(axis=0))
    return np.concatenate([shift, turn.as_rotvec()])


def _select(geometry: RobotGeometry, start: Floats, at: Floats) -> tuple[Indices, Names]:
    """Numbers that the positions determine, and sentences on those that stay.

    Args:
        geometry: The geometry.
        start: Its numbers, (p,).
        at: The postures, (m, n).
    """
    ranks, names = geometry.ranks, geometry.names
    columns = geometry.slopes(start, at, range(len(start))).reshape(-1, len(start))
    basis: list[Floats] = []
    kept: list[int] = []
    held, silent = [], []
    for k in sorted(np.flatnonzero(ranks < NEVER).tolist(), key=lambda k: (ranks[k], k)):
        column = columns[:, k]
        size = float(np.linalg.norm(column))
        beyond = column.copy()
        for direction in (*basis, *basis):  # twice: rounding of the first is removed
            beyond -= (direction @ beyond) * direction
        left = float(np.linalg.norm(beyond))
        if size * LARGEST[geometry.units[k]] < USUAL_NOISE:
            silent.append(names[k])
        elif left < SAME * size:
            factors = np.linalg.lstsq(columns[:, kept], column, rcond=None)[0].astype(float)
            held.append(f"{names[k]} acts as {_combine(factors, kept, names)}")
        elif 2 * USUAL_NOISE / left > LARGEST[geometry.units[k]]:
            width = f"±{2 * USUAL_NOISE / left:.2g} {geometry.units[k]}"
            held.append(
                f"{names[k]} is not identifiable beside the others: {width} at 0.1 mm noise"
            )
        else:
            kept.append(k)
            basis.append(beyond / left)
    if silent:
        held.append(f"{', '.join(silent)} do not move the tool point")
    return tuple(kept), tuple(held)


def _combine(factors: Floats, kept: Sequence[int], names: Names) -> str:
    """A combination of numbers as text."""
    words: list[str] = []
    for factor, k in zip(factors.tolist(), kept, strict=True):
        if abs(factor) < VISIBLE:
            continue
        size = "" if abs(abs(factor) - 1) < VISIBLE else f"{abs(factor):.4g} "
        sign = "-" if factor < 0 else "+" if words else ""
        words.append(f"{sign} {size}{names[k]}".strip())
    return " ".join(words)

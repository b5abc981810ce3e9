"""Registration of a measured tool path: where the instrument stands, what it sees, when it starts.

    R y_k + c = p(t_k - t_0) + R_T(t_k - t_0) d + noise

y is what the instrument measured at its times t, p and R_T the tool's path and orientation as
predicted. Unknown are the instrument's frame R, c in the robot's base, the measured point d in the
tool's frame and the time t_0 of each run at which the job begins. Least squares; where the tool
does not turn, the point is held near the tool's by a wide prior. Slopes are those of the commanded
path: what a prediction says of its errors must not determine a frame.

The covariance is that of white noise times the sum of the residuals' autocorrelation, which is
large where the prediction is not the run.

Ref: [Kabsch 1976] for the first guess at each t_0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Flags, Floats, Names, Pair
from armtwin.maths.rotations import nearest_rotation, pose
from armtwin.maths.time_shift import possible_shifts, search_shift

THIN = 150  # samples that the search for the time looks at
STEPS = 40  # of Gauss and Newton
DONE = 1e-9  # change of the points, rms, below which they end; they converge quadratically [m]
POINT_PRIOR = 0.3  # standard deviation of the measured point about the tool's [m]
TURN_PRIOR = 1.0  # standard deviation of a rotation that nothing determines [rad]
LARGEST_TURN = 0.05  # standard deviation of the frame's rotation up to which it is determined [rad]
# of a measured path over the predicted one, from which on its unit is another; a point far from the
# tool that turns may travel several times as far as the tool
SCALE = 20.0
LEAST_SAMPLES = 20  # of a run with the tool moving
OTHER_PATH = 0.01  # residual over the path's extent from which on it is that of another job
LONGEST_MEMORY = 0.2  # share of a run over which residuals may be correlated
ANGLES, CENTRE, POINT = slice(0, 3), slice(3, 6), slice(6, 9)
FRAME, TOOL, CLOCK = "frame", "point", "clock"


@dataclass(frozen=True, eq=False)
class ToolMotion:
    """A path of the tool with its orientation, and its rates.

    Attributes:
        time: Increasing times from the start of the job on, (m,) [s].
        X: Poses of the tool in the base, (m, 4, 4).
    """

    time: Floats
    X: Floats

    @cached_property
    def _curve(self) -> Callable[..., Floats]:
        from scipy.interpolate import CubicSpline

        return CubicSpline(self.time, self.X[:, :3, :])

    def at(self, time: Floats, rate: int = 0) -> Floats:
        """Rotation and position, or their rates, at rest beyond its ends, (k, 3, 4)."""
        inside = np.clip(time, self.time[0], self.time[-1])
        found = self._curve(inside, rate)
        if rate:
            found[inside != time] = 0.0
        return found


@dataclass(frozen=True, eq=False)
class MeasuredRun:
    """What an instrument measured of one run.

    Attributes:
        time: Its times, (m,) [s].
        points: Points in its frame, (m, 3) [m].
    """

    time: Floats
    points: Floats


@dataclass(frozen=True, eq=False)
class GivenRegistration:
    """What of a registration is given; the rest is estimated.

    Attributes:
        frame: Pose of the instrument's frame in the robot's base, (4, 4).
        point: The measured point in the tool's frame, (3,) [m].
        clock: Time of the instrument at which the job begins [s].
    """

    frame: Floats | None = None
    point: Floats | None = None
    clock: float | None = None

    def held(self, runs: int) -> Flags:
        """Whether each unknown is given, (9 + runs,)."""
        given = [self.frame is not None] * 6 + [self.point is not None] * 3
        return np.array(given + [self.clock is not None] * runs)


@dataclass(frozen=True, eq=False)
class Registration:
    """Frame, point and clocks of a measured path, with their covariance.

    Attributes:
        X: Pose of the instrument's frame in the robot's base, (4, 4).
        point: The measured point in the tool's frame, (3,) [m].
        clocks: For each run the instrument's time at which the job begins, (r,) [s].
        covariance: Of a rotation about the base's axes [rad], the position of the frame [m], the
            point [m] and the clocks [s], (9 + r, 9 + r).
        given: Which of frame, point and clock were given.
        noise: Standard deviation of a measured coordinate about the registered path [m].
        memory: Sum of the residuals' autocorrelation: 1 for white noise.
    """

    X: Floats
    point: Floats
    clocks: Floats
    covariance: Floats
    given: Names
    noise: float
    memory: float

    @property
    def std(self) -> Floats:
        """Standard deviations in the order of the covariance, (9 + r,)."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def is_determined(self) -> Flags:
        """Whether the path, more than what was assumed of it before, says each unknown, (9 + r,).

        The prior's share of a variance is diag(C P C) / diag(C).
        """
        C = self.covariance
        prior = _prior_weights(len(self.clocks)) ** 2
        return np.einsum("ij,j,ij->i", C, prior, C) <= 0.5 * np.diag(C)

    def place(self, points: Floats) -> Floats:
        """Measured points in the robot's base, (m, 3)."""
        return points @ self.X[:3, :3].T + self.X[:3, 3]

    def slopes(self, motion: ToolMotion, run: int, time: Floats) -> Floats:
        """Change of where the tool is found with each unknown, (m, 3, 9 + r)."""
        unknown = _Unknown(self.X[:3, :3], self.X[:3, 3], self.point, self.clocks)
        return unknown.slopes(motion, run, time)


@dataclass(frozen=True, eq=False)
class _Unknown:
    """The unknowns of a registration."""

    R: Floats
    c: Floats
    d: Floats
    clocks: Floats

    def residuals(self, motion: ToolMotion, runs: Sequence[MeasuredRun]) -> list[Floats]:
        """Measured minus predicted points in the base, (m, 3) of each run."""
        found = []
        for run, clock in zip(runs, self.clocks, strict=True):
            X = motion.at(run.time - clock)
            found.append(run.points @ self.R.T + self.c - X[..., 3] - X[..., :3] @ self.d)
        return found

    def slopes(self, motion: ToolMotion, run: int, time: Floats) -> Floats:
        """Slopes of the residuals of a run at its times, (m, 3, 9 + r)."""
        X = motion.at(time - self.clocks[run])
        rate = motion.at(time - self.clocks[run], 1)
        J = np.zeros((len(time), 3, 9 + len(self.clocks)))
        arm = X[..., 3] + X[..., :3] @ self.d - self.c
        J[:, :, ANGLES] = np.cross(np.eye(3), arm[:, None]).swapaxes(1, 2)
        J[:, :, CENTRE] = np.eye(3)
        J[:, :, POINT] = -X[..., :3]
        J[:, :, 9 + run] = rate[..., 3] + rate[..., :3] @ self.d
        return J

    def moved(self, step: Floats) -> _Unknown:
        """The unknowns after a step."""
        from scipy.spatial.transform import Rotation

        turn = Rotation.from_rotvec(step[ANGLES]).as_matrix()
        R = nearest_rotation((turn @ self.R)[None])[0]
        return _Unknown(R, self.c + step[CENTRE], self.d + step[POINT], self.clocks + step[9:])


def register(
    predicted: ToolMotion,
    commanded: ToolMotion,
    runs: Sequence[MeasuredRun],
    known: GivenRegistration,
) -> Registration:
    """Frame, point and clocks by least squares; a path that does not determine them is refused.

    Args:
        predicted: What the tool is predicted to do.
        commanded: What it was commanded, whose shape alone determines a frame.
        runs: What was measured of one or several runs, the instrument being moved in none.
        known: What is given.
    """
    unknown = _guess(predicted, runs, known)
    held = known.held(len(runs))
    weak = _prior_weights(len(runs))[~held]
    for _ in range(STEPS):
        r, J = _stack(unknown, predicted, commanded, runs)
        J = J[:, ~held]
        scale = np.maximum(np.linalg.norm(J, axis=0), 1e-300)
        noise = max(float(np.sqrt(np.mean(r * r))), 1e-9)
        pulled = np.concatenate([np.zeros(6), unknown.d, np.zeros(len(runs))])[~held]
        rows = np.vstack([J / scale, np.diag(noise * weak / scale)])
        step = np.linalg.lstsq(rows, -np.concatenate([r, noise * weak * pulled]), rcond=None)[0]
        whole = np.zeros(len(held))
        whole[~held] = step / scale
        unknown = unknown.moved(whole)
        if np.abs(step).max(initial=0.0) < DONE * np.sqrt(len(r)):
            break
    return _conclude(unknown, predicted, commanded, runs, known)


def _prior_weights(runs: int) -> Floats:
    """Inverse standard deviations of the unknowns before anything is measured, (9 + r,)."""
    return np.array([1 / TURN_PRIOR] * 3 + [0.0] * 3 + [1 / POINT_PRIOR] * 3 + [0.0] * runs)


def _stack(
    unknown: _Unknown, predicted: ToolMotion, commanded: ToolMotion, runs: Sequence[MeasuredRun]
) -> tuple[Floats, Floats]:
    """Residuals (k,) and slopes (k, 9 + r) of all runs while the tool moves."""
    residuals, slopes = [], []
    for k, r in enumerate(unknown.residuals(predicted, runs)):
        inside = _inside(runs[k].time - unknown.clocks[k], predicted)
        J = unknown.slopes(commanded, k, runs[k].time[inside])
        residuals.append(r[inside].ravel())
        slopes.append(J.reshape(-1, J.shape[2]))
    return np.concatenate(residuals), np.vstack(slopes)


def _inside(time: Floats, motion: ToolMotion) -> Flags:
    return (time >= motion.time[0]) & (time <= motion.time[-1])


def _conclude(
    unknown: _Unknown,
    predicted: ToolMotion,
    commanded: ToolMotion,
    runs: Sequence[MeasuredRun],
    known: GivenRegistration,
) -> Registration:
    """The registration with its covariance; one whose rotation is open is refused."""
    held = known.held(len(runs))
    r, J = _stack(unknown, predicted, commanded, runs)
    free = max(len(r) - int((~held).sum()), 1)
    noise = float(np.sqrt(r @ r / free))
    memory = _memory(unknown.residuals(predicted, runs))
    weak = _prior_weights(len(runs))[~held]
    information = J[:, ~held].T @ J[:, ~held] / (noise**2 * memory + 1e-300) + np.diag(weak**2)
    scale = np.sqrt(np.maximum(np.diag(information), 1e-300))
    covariance = np.zeros((len(held), len(held)))
    inverse = np.linalg.pinv(information / np.outer(scale, scale), hermitian=True)
    covariance[np.ix_(~held, ~held)] = inverse / np.outer(scale, scale)
    given = {FRAME: known.frame, TOOL: known.point, CLOCK: known.clock}
    found = Registration(
        X=pose(unknown.R, unknown.c),
        point=unknown.d,
        clocks=unknown.clocks,
        covariance=covariance,
        given=tuple(name for name, value in given.items() if value is not None),
        noise=noise,
        memory=memory,
    )
    _refuse_open_rotation(found, commanded)
    _refuse_other_path(found, commanded)
    return found


def _refuse_other_path(found: Registration, commanded: ToolMotion) -> None:
    """Refuse a path that no registration brings near to the job's."""
    extent = float(np.linalg.norm(np.ptp(commanded.X[:, :3, 3], axis=0)))
    if found.noise <= OTHER_PATH * extent:
        return
    given = f" with the given {', '.join(found.given)}" if found.given else ""
    raise ArmtwinError(
        f"the measured path is not that of the job: registered{given} it is "
        f"{1e3 * found.noise:.3g} mm (rms) from the predicted path of {1e3 * extent:.4g} mm"
    )


def _refuse_open_rotation(found: Registration, commanded: ToolMotion) -> None:
    values, axes = np.linalg.eigh(found.covariance[ANGLES, ANGLES])
    turn = float(np.sqrt(values[-1]))
    if turn <= LARGEST_TURN:
        return
    path = commanded.X[:, :3, 3] - commanded.X[:, :3, 3].mean(axis=0)
    extent = np.linalg.svd(path, compute_uv=False)
    straight = " (it is a straight line)" if extent[1] < 1e-3 * extent[0] else ""
    axis = ", ".join(f"{x + 0.0:.2f}" for x in axes[:, -1])
    raise ArmtwinError(
        f"the measured path cannot be registered: it leaves the rotation of the instrument's frame "
        f"about [{axis}] open (std {np.degrees(turn):.2g} deg){straight}. Measure a motion beside "
        "the seam as well, as its approach, or give the frame"
    )


def _memory(residuals: Sequence[Floats]) -> float:
    """Sum of the autocorrelation of residuals up to its first lag within noise, at least 1."""
    largest = 1.0
    for r in residuals:
        r = r - r.mean(axis=0)
        count = len(r)
        power = float((r * r).sum())
        total = 1.0
        for lag in range(1, max(2, int(LONGEST_MEMORY * count))):
            share = float((r[lag:] * r[:-lag]).sum()) / max(power, 1e-300)
            if share < 2 / np.sqrt(3 * count):
                break
            total += 2 * share
        largest = max(largest, total)
    return largest


def _guess(
    predicted: ToolMotion, runs: Sequence[MeasuredRun], known: GivenRegistration
) -> _Unknown:
    """Clocks at which rigid motions of the runs come nearest to the predicted path, and these."""
    d = np.zeros(3) if known.point is None else known.point
    clocks = []
    for run in runs:
        clocks.append(_find_clock(predicted, run, d, known) if known.clock is None else known.clock)
    for run, clock in zip(runs[::-1], clocks[::-1], strict=True):
        y, p = _pairs(predicted, run, clock, d)
        _refuse_other_unit(y, p)
    X = known.frame
    if X is None:
        R, c, _ = align_points(y, p)
        X = pose(R, c)
    return _Unknown(X[:3, :3], X[:3, 3], d, np.array(clocks))


def _find_clock(
    predicted: ToolMotion, run: MeasuredRun, d: Floats, known: GivenRegistration
) -> float:
    from scipy.interpolate import CubicSpline

    speed = np.linalg.norm(np.gradient(predicted.X[:, :3, 3], predicted.time, axis=0), axis=1)
    moving = np.flatnonzero(speed > 1e-3 * speed.max())
    motion: Pair = (predicted.time[moving[0]], predicted.time[moving[-1]])
    thin = MeasuredRun(*_thin(run))
    X = known.frame
    path = CubicSpline(predicted.time, _points_at(predicted, predicted.time, d))

    def costs(clocks: Floats) -> Floats:
        """Of all samples, the tool being at rest before and after: half a path fits too often."""
        p = path(np.clip(thin.time - clocks[:, None], predicted.time[0], predicted.time[-1]))
        if X is None:
            return align_points(thin.points, p)[2]
        apart = thin.points @ X[:3, :3].T + X[:3, 3] - p
        return np.asarray(np.mean(apart**2, axis=(1, 2)))

    return search_shift(possible_shifts(run.time, *motion), costs)


def _thin(run: MeasuredRun) -> tuple[Floats, Floats]:
    """Some of the samples of a run, each the mean of those about it."""
    each = max(1, len(run.time) // THIN)
    count = len(run.time) // each
    shape = (count, each)
    time = run.time[: count * each].reshape(shape).mean(axis=1)
    return time, run.points[: count * each].reshape(*shape, 3).mean(axis=1)


def _pairs(
    predicted: ToolMotion, run: MeasuredRun, clock: float, d: Floats
) -> tuple[Floats, Floats]:
    """Measured points and where they are predicted, at the times that both have."""
    time = run.time - clock
    inside = _inside(time, predicted)
    if inside.sum() < LEAST_SAMPLES:
        raise ArmtwinError(
            f"at least {LEAST_SAMPLES} measured points must be of the job's "
            f"{predicted.time[-1]:.3g} s, got {inside.sum()}; is time in another unit?"
        )
    return run.points[inside], _points_at(predicted, time[inside], d)


def _points_at(motion: ToolMotion, time: Floats, d: Floats) -> Floats:
    X = motion.at(time)
    return X[..., 3] + X[..., :3] @ d


def align_points(y: Floats, p: Floats) -> tuple[Floats, Floats, Floats]:
    """R, c of the rigid motion that brings points y nearest to p, and the mean square left [m²].

    Args:
        y: Points, (m, 3).
        p: Where they should be, (m, 3), or (k, m, 3) of several motions.
    """
    my, mp = y.mean(axis=0), p.mean(axis=-2, keepdims=True)
    y, p = y - my, p - mp
    U, values, V = np.linalg.svd(np.swapaxes(p, -1, -2) @ y)
    sign = np.linalg.det(U @ V)
    U[..., 2] *= sign[..., None]
    values[..., 2] *= sign
    left = (y * y).sum() + (p * p).sum(axis=(-1, -2)) - 2 * values.sum(axis=-1)
    R = U @ V
    return R, mp[..., 0, :] - R @ my, left / len(y)


def _refuse_other_unit(y: Floats, p: Floats) -> None:
    """Refuse points that travel much more or less than is predicted."""
    travels = [float(np.linalg.norm(np.std(points, axis=0))) for points in (y, p)]
    factor = travels[0] / max(travels[1], 1e-9)
    if 1 / SCALE < factor < SCALE:
        return
    looks = ", as of mm taken as m" if 500 < factor < 2000 else ""
    raise ArmtwinError(
        f"the measured path is {factor:.3g} times as large as the job's{looks}: another job, or "
        'another unit; say unit.tool = "mm" in a columns file if it is mm'
    )

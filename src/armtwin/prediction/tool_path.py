"""A measured tool path beside the predicted one: across the path, along it, and from run to run.

What an instrument saw is registered to the robot (registration.py), and its path error is taken as
that of a simulation. Of several runs the mean is compared, and their spread is the repeatability:

    s² = mean over the path of var over runs - share of the instrument's noise in it

below which no prediction can be judged.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Flags, Floats, NamedArrays, NamedNumbers, Names, Pair
from armtwin.prediction import registration as registering
from armtwin.prediction.agreement import Agreement, Series, agreement
from armtwin.prediction.band.band import Band, assess_run
from armtwin.prediction.path_error import PathError, path_error
from armtwin.prediction.predict import Prediction, Progress, predict
from armtwin.prediction.reference_comparison import PATH
from armtwin.prediction.verdict import process_is_on
from armtwin.report.result import Result
from armtwin.robot.robot import Robot

ACROSS = ("lateral", "vertical")
ROTATION = "tool_rotation"  # channel of a log
SURE = 3.0  # times the noise of the mean by which an error must exceed the tolerance


@dataclass(frozen=True, eq=False, repr=False)
class ToolPathComparison(Result):
    """Measured tool paths of a job over the predicted one.

    Attributes:
        prediction: The predicted run.
        logs: The measured runs.
        registration: Frame, point and clocks.
        runs: Path error of each run, at its own times.
        time: Times of the compared samples in the job's time, (m,) [s].
        channels: Mean of the runs and predicted series by name, (2, m) each.
        spread: Standard deviation between runs, without the instrument's noise, by direction [m];
            empty for one run.
        noise: Standard deviation of a measured coordinate from sample to sample [m].
        band: The interval of the prediction, where it was computed.
    """

    prediction: Prediction
    logs: tuple[Log, ...]
    registration: registering.Registration
    runs: tuple[PathError, ...]
    time: Floats
    channels: NamedArrays
    spread: NamedNumbers
    noise: float
    band: Band | None = None

    described_by = "armtwin.prediction.sections.tool_path:describe_tool_path"

    @property
    def job(self) -> Job:
        """The job."""
        return self.prediction.job

    @cached_property
    def rows(self) -> tuple[Agreement, ...]:
        """How well each direction agrees."""
        return tuple(agreement(Series(name, "m", self.channels[name])) for name in PATH)

    @cached_property
    def is_judged(self) -> Flags:
        """Whether the process is on at each compared sample, (m,)."""
        return process_is_on(self.job, self.job.seam.command(self.time)[0])

    @cached_property
    def exceeded(self) -> Names:
        """Directions in which the tolerance is exceeded beyond the noise of the measurement."""
        noise = SURE * self.noise / np.sqrt(len(self.runs))
        found = []
        for direction in ACROSS:
            limit = getattr(self.job.description.tolerance, direction)
            measured = np.abs(self.channels[direction][0][self.is_judged])
            if limit is not None and measured.max(initial=0.0) > limit + noise:
                found.append(direction)
        return tuple(found)

    @cached_property
    def orientation(self) -> Pair | None:
        """Largest angle to the seam's orientation, measured and predicted; None if unmeasured."""
        turned = [r for r, log in zip(self.runs, self.logs, strict=True) if ROTATION in log]
        if not turned:
            return None
        found = []
        for error in (*turned, self.prediction.path_error):
            is_on = process_is_on(self.job, error.s)
            found.append(float(error.orientation[is_on].max(initial=0.0)))
        return max(found[:-1]), found[-1]

    def registration_deviation(self, direction: str) -> float:
        """Standard deviation of the mean error in a direction by the registration alone [m]."""
        motion = _commanded(self.prediction)
        clock = self.registration.clocks[0]
        J = self.registration.slopes(motion, 0, self.time + clock)
        _, E, _ = self.job.seam.frames(self.job.seam.command(self.time)[0])
        axis = {"lag": 0, "lateral": 1, "vertical": 2}[direction]
        across = np.einsum("mi,mij->mj", E[:, :, axis], J)
        return float(np.sqrt(np.mean(((across @ self.registration.covariance) * across).sum(1))))


def compare_tool_path(
    job: Job,
    logs: Log | Sequence[Log],
    *,
    given: registering.GivenRegistration | None = None,
    robot: Robot | None = None,
    interval: bool = True,
    progress: Progress | None = None,
) -> ToolPathComparison:
    """Compare measured tool paths of one or several runs of a job with its prediction.

    Args:
        job: The job.
        logs: Logs with the channel tool, in the frame and by the clock of one instrument that was
            not moved between them.
        given: What of the registration is known; the rest is estimated from the paths.
        robot: A robot in place of the job's.
        interval: Whether the interval of the prediction is computed, too.
        progress: Called with what is being done and the share that is done.
    """
    measured = as_logs(logs, "compare_tool_path")
    for log in measured:
        if "tool" not in log or log.tool.shape[1] != 3:
            held = ", ".join(log.channels)
            raise ArmtwinError(f"{log.origin or 'log'}: a tool path needs x, y, z, got {held}")
    prediction = predict(job, robot, progress=progress)
    predicted = registering.ToolMotion(prediction.run.trace_time, prediction.run.tool_poses())
    runs = [registering.MeasuredRun(log.time, log.tool) for log in measured]
    known = given or registering.GivenRegistration()
    found = registering.register(predicted, _commanded(prediction), runs, known)
    errors = []
    for k, log in enumerate(measured):
        errors.append(_path_error(prediction, predicted, found, log, k))
    time, series, weights = _on_one_clock(errors)
    noise = _noise_of(errors)
    channels = {}
    for name, values in series.items():
        own = prediction.path_error
        predicted_values = np.interp(time, own.time, getattr(own, name))
        channels[name] = np.stack([values.mean(axis=0), predicted_values])
    return ToolPathComparison(
        prediction=prediction,
        logs=measured,
        registration=found,
        runs=tuple(errors),
        time=time,
        channels=channels,
        spread=_spread(series, noise**2 * weights) if len(runs) > 1 else {},
        noise=noise,
        band=assess_run(prediction) if interval else None,
    )


def _commanded(prediction: Prediction) -> registering.ToolMotion:
    """What the tool was commanded."""
    motion = prediction.motion.trajectory
    return registering.ToolMotion(motion.time, prediction.robot.forward_kinematics(motion.q))


def _path_error(
    prediction: Prediction,
    predicted: registering.ToolMotion,
    found: registering.Registration,
    log: Log,
    run: int,
) -> PathError:
    """Path error of a run, at the times at which the tool moves."""
    clock = found.clocks[run]
    own = log.time - clock
    inside = (own >= 0) & (own <= predicted.time[-1])
    X = np.tile(np.eye(4), (int(inside.sum()), 1, 1))
    X[:, :3] = predicted.at(own[inside])
    X[:, :3, 3] = found.place(log.tool[inside]) - X[:, :3, :3] @ found.point
    if ROTATION in log:
        X[:, :3, :3] = _rotations(found, log.tool_rotation[inside], X[:, :3, :3])
    return path_error(prediction.job.seam, own[inside], X)


def _rotations(found: registering.Registration, vectors: Floats, predicted: Floats) -> Floats:
    """Measured rotations of the tool, the target on it turned as fits the whole run, (m, 3, 3)."""
    from scipy.spatial.transform import Rotation

    seen = Rotation.from_matrix(found.X[:3, :3]) * Rotation.from_rotvec(vectors)
    on_tool = (seen.inv() * Rotation.from_matrix(predicted)).mean()
    return np.asarray((seen * on_tool).as_matrix())


def _on_one_clock(errors: Sequence[PathError]) -> tuple[Floats, dict[str, Floats], Floats]:
    """Times that all runs have, errors there by direction (r, m), and squared weights (r, m).

    Between two samples a value is their weighted mean, with less noise than either.
    """
    first = max(error.time[0] for error in errors)
    last = min(error.time[-1] for error in errors)
    time = errors[0].time[(errors[0].time >= first) & (errors[0].time <= last)]
    series = {name: np.empty((len(errors), len(time))) for name in PATH}
    weights = np.empty((len(errors), len(time)))
    for k, error in enumerate(errors):
        place = np.interp(time, error.time, np.arange(len(error.time)))
        share = place - np.floor(place)
        weights[k] = share**2 + (1 - share) ** 2
        for name, values in series.items():
            values[k] = np.interp(time, error.time, getattr(error, name))
    return time, series, weights


def _noise_of(errors: Sequence[PathError]) -> float:
    """Noise of a coordinate by second differences across the path: their variance is 6 s² [m]."""
    powers = []
    for error in errors:
        for name in ACROSS:
            powers.append(np.mean(np.diff(getattr(error, name), 2) ** 2) / 6)
    return float(np.sqrt(np.mean(powers)))


def _spread(series: NamedArrays, noise: Floats) -> NamedNumbers:
    """Standard deviation between runs across the path, without the instrument's noise [m]."""
    found: NamedNumbers = {}
    for name in ACROSS:
        variance = float(series[name].var(axis=0, ddof=1).mean())
        found[name] = float(np.sqrt(max(0.0, variance - float(noise.mean()))))
    return found

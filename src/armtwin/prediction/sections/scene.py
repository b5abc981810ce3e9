"""The robot as bars between its joints and the seam as coloured points, for the viewer."""

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Flags, Floats, Record
from armtwin.notebook.sampling import encode_series
from armtwin.prediction.band.along import EVEN, LIKELY
from armtwin.prediction.band.band import Band
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.plots import once_per_run, select_times
from armtwin.prediction.verdict import process_is_on
from armtwin.robot.showing.scene import robot_figure

SEAM_POINTS = 700  # of the seam in 3-D
GOOD, FAIR, BAD = 0.25, 0.75, 1.0  # ratios of the viewer's colours


def figure(p: Prediction, band: Band | None = None) -> Record:
    """Everything the viewer draws in 3-D; positions of the tool are those at the sample times.

    With an interval the seam's colours say how likely it holds within a window about each place.
    """
    drawn, places, frames = _drawn_of_run(p)
    ratio = _ratios(p, places) if band is None else _ratios_of_odds(band, places)
    judged = {
        "ratio": encode_series(ratio),
        "sides": encode_series(_sides(p, frames).ravel()),
    }
    return {**drawn, "seam": {**drawn["seam"], **judged}}


@once_per_run
def _drawn_of_run(p: Prediction) -> tuple[Record, Floats, Floats]:
    """What is drawn of a run however it is judged, places along the seam [m] and its frames."""
    places = np.linspace(0, p.job.seam.length, SEAM_POINTS)
    points = p.job.seam.path.at(places).p
    _, frames, _ = p.job.seam.frames(places)
    drawn = {
        **robot_figure(p.robot),
        "tip": encode_series(_tip(p).ravel()),
        "seam": {
            "points": encode_series(points.ravel()),
            "error": encode_series(_errors(p, places, frames).ravel()),
            "lines": _list_lines(p),
        },
    }
    return drawn, places, frames


def _list_lines(p: Prediction) -> list[tuple[float, float, int]]:
    """From and to along the seam [mm], and the line of the program that leads the tool there."""
    segments = p.job.description.segment
    found = []
    for x in p.job.seam.path.stretches:
        line = segments[x.move].line
        if line:
            found.append((1e3 * x.start, 1e3 * x.stop, line))
    return found


def _tip(p: Prediction) -> Floats:
    """Where the tool is at the times of the samples, (k, 3) [m]."""
    times = select_times(p)
    q = np.empty((len(times), p.run.bodies.shape[1]))
    for j, values in enumerate(p.run.bodies.T):
        q[:, j] = np.interp(times, p.run.trace_time, values)
    poses = p.run.built.forward_kinematics(q)
    return poses[:, :3, 3]


def _errors(p: Prediction, places: Floats, frames: Floats) -> Floats:
    """Path error as a vector e = lateral y + vertical z of the seam's frames, (k, 3) [m]."""
    error = p.path_error
    moving = error.speed_ref > 0
    along = np.maximum.accumulate(error.place[moving])
    lateral = np.interp(places, along, error.lateral[moving])
    vertical = np.interp(places, along, error.vertical[moving])
    sideways, upwards = frames[:, :, 1], frames[:, :, 2]
    return lateral[:, None] * sideways + vertical[:, None] * upwards


def _sides(p: Prediction, frames: Floats) -> Floats:
    """What is allowed to the side and upwards as vectors in the seam's frames, (k, 2, 3) [m]."""
    tolerance = p.verdict.tolerance
    lateral = tolerance.lateral * frames[:, :, 1]
    vertical = tolerance.vertical * frames[:, :, 2]
    return np.stack([lateral, vertical], axis=1)


def _ratios(p: Prediction, places: Floats) -> Floats:
    """Largest error over its tolerance around each point of the seam.

    It is -1 where the process is off or the tool never was.
    """
    tolerance, error = p.verdict.tolerance, p.path_error
    on = process_is_on(p.job, error.s)
    relative = np.abs(error.lateral[on]) / tolerance.lateral
    np.maximum(relative, np.abs(error.vertical[on]) / tolerance.vertical, out=relative)
    last = len(places) - 1
    nearest = np.round(error.place[on] / places[-1] * last).astype(np.int32)
    np.clip(nearest, 0, last, out=nearest)
    largest = np.full(len(places), -1.0)
    np.maximum.at(largest, nearest, relative)
    if on.any():
        _fill_between(largest, process_is_on(p.job, places), nearest)
    return largest


def _ratios_of_odds(band: Band, places: Floats) -> Floats:
    """How likely the seam holds about each point, as ratios of the three colours.

    It is -1 where the process is off. A point has the worst of what is nearest to it.
    """
    along = band.along
    between = (along.place[1:] + along.place[:-1]) / 2
    odds = along.probability[np.searchsorted(between, places)]
    nearest = np.round(along.place / places[-1] * (len(places) - 1)).astype(int)
    np.minimum.at(odds, nearest, along.probability)
    on = process_is_on(band.prediction.job, places)
    on[nearest] = True
    return np.where(on, np.select([odds < EVEN, odds < LIKELY], [BAD, FAIR], GOOD), -1.0)


def _fill_between(largest: Floats, on: Flags, reached: NDArray[np.int32]) -> None:
    """Points between two samples take the value of the one before."""
    first, last = int(reached.min()), int(reached.max())
    for k in range(first, last):
        if largest[k] < 0 and on[k]:
            largest[k] = largest[k - 1]

"""Predictions of the seams of chapter 5 at a placement, and what is read off them.

Ref: [Waiboer 2007, sections 5.4 and 5.5]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache
from typing import Literal

import numpy as np

import armtwin as at
from chapter_5_placements import FIXED, FOLLOWING, LINE, Corner, Placement, as_shipped, placed

Method = Literal["nonlinear", "perturbation"]
AFTER = 0.02  # way after a corner on which its transients last [m]


@cache
def predicted(
    name: str, placement: Placement, radius: float | None, speed: float, method: Method
) -> at.Prediction:
    """The prediction of a shipped job at a placement, with a radius [m] and a speed [m/s]."""
    return at.predict(placed(name, placement, radius, speed), method=method)


def without_rounding(p: at.Prediction, method: Method) -> at.Prediction:
    """A prediction again, with encoders and currents that are not rounded."""
    model = replace(p.job.description.model, quantise=False)
    job = at.Job(replace(p.job.description, model=model), p.job.origin)
    return at.predict(job, method=method)


@dataclass(frozen=True)
class Seams:
    """The seams of the chapter at their placements.

    Attributes:
        straight: Placement of the straight seam.
        corner: Placements of the corner.
    """

    straight: Placement
    corner: Corner

    @staticmethod
    def shipped() -> Seams:
        """The seams as the shipped jobs place them."""
        corner = Corner(as_shipped(FOLLOWING), as_shipped(FIXED))
        return Seams(as_shipped(LINE), corner)

    def line(self, speed: float = 0.1, method: Method = "nonlinear") -> at.Prediction:
        """The straight seam at a speed [m/s]."""
        return predicted(LINE, self.straight, None, speed, method)

    def following(
        self, radius: float, speed: float = 0.1, method: Method = "nonlinear"
    ) -> at.Prediction:
        """The corner of a radius [m] with following head at a speed [m/s]."""
        return predicted(FOLLOWING, self.corner.following, radius, speed, method)

    def fixed(self, radius: float, method: Method = "nonlinear") -> at.Prediction:
        """The corner of a radius [m] with fixed head at 100 mm/s."""
        return predicted(FIXED, self.corner.fixed, radius, 0.1, method)

    def line_with(self, **keys: object) -> at.Prediction:
        """The straight seam with other keys of its job."""
        job = placed(LINE, self.straight)
        return at.predict(at.Job(replace(job.description, **keys), job.origin))


def largest(values: np.ndarray) -> float:
    """Largest size of values."""
    return float(np.abs(values).max())


def rms(values: np.ndarray) -> np.ndarray:
    """Root of the mean square over time."""
    return np.sqrt(np.mean(values**2, axis=0))


def between(time: np.ndarray, start: float, stop: float) -> np.ndarray:
    """Samples between two times [s]."""
    return (time > start) & (time < stop)


def on_process(p: at.Prediction) -> np.ndarray:
    """Samples of the path error at which the process is on."""
    s = p.path_error.s
    on = np.zeros(len(s), dtype=bool)
    for start, stop in p.job.process_on():
        on |= (s >= start) & (s <= stop)
    return on


def peaks(p: at.Prediction) -> tuple[float, float]:
    """Largest lateral and vertical error with the process on [m]."""
    error, on = p.path_error, on_process(p)
    return largest(error.lateral[on]), largest(error.vertical[on])


def peak_places(p: at.Prediction) -> tuple[float, float]:
    """Where the lateral and the vertical error are largest with the process on [m]."""
    error, on = p.path_error, on_process(p)
    s = error.s[on]
    lateral = np.abs(error.lateral[on])
    vertical = np.abs(error.vertical[on])
    return float(s[lateral.argmax()]), float(s[vertical.argmax()])


def sizes(p: at.Prediction) -> np.ndarray:
    """Size of the path error across the seam, (m,) [m]."""
    return np.hypot(p.path_error.lateral, p.path_error.vertical)


def joint_errors(p: at.Prediction) -> np.ndarray:
    """Sizes of the joints' position errors, (m, 6) [mdeg]."""
    error = p.log.q - p.log.q_ref
    return 1e3 * np.degrees(np.abs(error))


def reversals(p: at.Prediction) -> list[list[float]]:
    """Times at which each joint of the commanded motion turns back [s]."""
    motion = p.motion.trajectory
    found = []
    for v in motion.v.T:
        moving = np.flatnonzero(np.abs(v) > 1e-6)
        signs = np.sign(v[moving])
        flips = np.flatnonzero(np.diff(signs))
        found.append(motion.time[moving[flips]].tolist())
    return found


def corner_of(p: at.Prediction) -> tuple[float, float]:
    """Where the corner of a seam begins and ends [m]."""
    for stretch in p.job.seam.path.stretches:
        if stretch.corner:
            return stretch.start, stretch.stop
    raise ValueError(f"the seam of {p.job.name} has no corner")


def peaks_in_corner(p: at.Prediction) -> bool:
    """Whether both errors are largest in the corner or where its transients last."""
    start, stop = corner_of(p)
    places = peak_places(p)
    return start <= min(places) and max(places) <= stop + AFTER


def share_within(p: at.Prediction) -> float:
    """Share of the seam under process that is within tolerance."""
    length = sum(stop - start for start, stop in p.job.process_on())
    return 1 - p.verdict.out_of_tolerance_m / length


def apart(a: at.Prediction, b: at.Prediction) -> np.ndarray:
    """How far two predictions of one motion are apart, the larger direction, (m,) [m]."""
    lateral = a.path_error.lateral - b.path_error.lateral
    vertical = a.path_error.vertical - b.path_error.vertical
    return np.maximum(np.abs(lateral), np.abs(vertical))


def methods_apart(p: at.Prediction) -> float:
    """How far both methods are apart where the process is off, without rounding, at most [m].

    With rounding one step of a current, at rest, decides.
    """
    whole, linear = (without_rounding(p, method) for method in ("nonlinear", "perturbation"))
    return largest(apart(whole, linear)[~on_process(whole)])


def causes_of(p: at.Prediction, direction: str) -> str:
    """The two largest causes of the largest error in a direction, with their shares."""
    causes = [found for found in at.explain(p) if found.span.direction == direction]
    causes.sort(key=lambda found: abs(found.span.peak_m))
    worst = causes[-1]
    words = []
    for cause in worst.causes[:2]:
        words.append(f"{cause.cause} of {cause.joint} {100 * cause.share:.0f} %")
    return f"{1e6 * abs(worst.span.peak_m):.0f} µm: {', '.join(words)}"

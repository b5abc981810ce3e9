"""The path error part by part: what the controller sees, and what it does not.

    e = e_servo + e_deviations + e_ripple + e_sag + e_force + e_dynamic

servo       by the motor side of the joints and the controller's own model: all that it can know
deviations  motors on their set-points: link lengths and joint zeros of the arm
ripple      motors on their set-points: gears that turn unevenly
sag         motors on their set-points, at rest: gears and links deflected by gravity
force       motors on their set-points, at rest: additional deflection by external forces
dynamic     what is left: gears and links that vibrate

A part that a model does not have is left out.

Ref: [Waiboer 2007, section 6.2, fig. 6.1]
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.jobs.forces import Acting
from armtwin.maths.batch import Floats, NamedArrays, Record
from armtwin.maths.interpolation import interpolate_columns
from armtwin.notebook.charts import Multiples
from armtwin.notebook.layers import Curve
from armtwin.notebook.numbers import MICROMETRES
from armtwin.notebook.sampling import thin_out
from armtwin.notebook.sections import Blocks, Report, Section, Table, Text, list_columns
from armtwin.prediction.path_error import PathError, path_error
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.headline import chart_along_seam
from armtwin.prediction.verdict import process_is_on
from armtwin.report.result import Result
from armtwin.robot.dynamics.sag import Outside, solve_sag
from armtwin.robot.kinematics.coordinates import Coordinates
from armtwin.simulation.coordinates import coordinates

PARTS = ("servo", "deviations", "ripple", "sag", "force", "dynamic")
UNSEEN = PARTS[1:-1]  # by the controller, and there at rest as well
SAMPLES = 600  # of a curve
WORDS = {
    "servo": "motor side: what the controller sees",
    "deviations": "deviations of link lengths and joint zeros",
    "ripple": "ripple of gears",
    "sag": "sag by gravity",
    "force": "external force",
    "dynamic": "vibration of gears and links",
    "total": "link side: what the seam gets",
}
RESTS = 400  # places along the motion at which the sag is found


@dataclass(frozen=True, eq=False, repr=False)
class ErrorParts(Result):
    """Path error by parts, at the times of a run.

    Attributes:
        time: Times, (m,) [s].
        s: Commanded arc length, (m,) [m].
        on: Where the process is on, (m,).
        lateral: Lateral error of each part, and "total", (m,) each [m].
        vertical: Vertical error of each part, and "total", (m,) each [m].
    """

    time: Floats
    s: Floats
    on: Any
    lateral: NamedArrays
    vertical: NamedArrays

    @property
    def table(self) -> list[Record]:
        """A record for each part: peak and root mean square with the process on."""
        records = []
        for name in self.lateral:
            record: Record = {"part": name}
            for direction in ("lateral", "vertical"):
                values = getattr(self, direction)[name][self.on]
                record[f"{direction}_peak_m"] = float(np.abs(values).max(initial=0.0))
                record[f"{direction}_rms_m"] = float(np.sqrt(np.mean(values**2)))
            records.append(record)
        return records

    def sections(self) -> Report:
        """Peaks of each part, and the parts along the seam."""
        *parts, total = self.table
        largest = max(parts, key=lambda record: record["vertical_peak_m"])
        verdict = Text(
            f"{MICROMETRES.with_unit(largest['vertical_peak_m'])} of vertical error at most come "
            f"from {_short(largest['part'])}, {MICROMETRES.with_unit(total['vertical_peak_m'])} "
            "from all parts together."
        )
        return Report("Path error by parts", "", (Section("", self.blocks()),), (verdict,))

    def blocks(self) -> Blocks:
        """The table and the charts."""
        columns = list_columns(
            part=("part", lambda record: WORDS[record["part"]]),
            lateral_peak_m=("lateral peak", MICROMETRES),
            lateral_rms_m=("rms", MICROMETRES),
            vertical_peak_m=("vertical peak", MICROMETRES),
            vertical_rms_m=("rms", MICROMETRES),
        )
        yield Text("Parts of the error with the process on; they add up to the total.")
        yield Table(columns, self.table, "parts")
        moving = np.flatnonzero(np.diff(self.s, prepend=-1.0) > 0)
        thin = thin_out(moving, SAMPLES)
        charts = []
        for direction in ("lateral", "vertical"):
            layers = []
            for name, values in getattr(self, direction).items():
                layers.append(Curve(_short(name), 1e3 * self.s[thin], 1e6 * values[thin]))
            charts.append(chart_along_seam(direction, "µm", layers))
        yield Multiples(tuple(charts), columns=2, shared="x", title="Part by part")


def _short(part: str) -> str:
    """A part in a word or two."""
    return WORDS[part].partition(":")[0].partition(" of ")[0]


def error_parts(p: Prediction) -> ErrorParts | None:
    """The path error of a prediction by parts; None where the motor side has all of it.

    Args:
        p: The prediction.
    """
    places = coordinates(p.robot, p.job.description.model)
    if places.built is p.robot and not places.elastic and not places.rippling:
        return None
    error = p.path_error
    stages = _at_set_points(p, places)
    parts: dict[str, NamedArrays] = {}
    for name in ("lateral", "vertical"):
        total = getattr(error, name)
        found = {"servo": getattr(p.seen, name)}
        for part, (alone, before) in stages.items():
            found[part] = getattr(alone, name) - (0.0 if before is None else getattr(before, name))
        found["dynamic"] = total - sum(found.values())
        found["total"] = total
        parts[name] = found
    on = process_is_on(p.job, error.s)
    return ErrorParts(error.time, error.s, on, parts["lateral"], parts["vertical"])


def _at_set_points(
    p: Prediction, places: Coordinates
) -> dict[str, tuple[PathError, PathError | None]]:
    """Path error with the motors on their set-points, with each cause and before it."""
    model = p.job.description.model
    stiff = replace(model, joints="rigid", links="rigid", deviations=False, ripple=False)
    q = _references(p)
    found: dict[str, tuple[PathError, PathError | None]] = {}
    before: PathError | None = None
    if model.deviations:
        before = _error(p, coordinates(p.robot, replace(stiff, deviations=True)), q)
        found["deviations"] = before, None
    if places.rippling:
        uneven = replace(stiff, deviations=model.deviations, ripple=True)
        found["ripple"] = _error(p, coordinates(p.robot, uneven), q), before
    if places.elastic:
        soft = coordinates(p.robot, replace(model, ripple=False))
        resting = _error(p, soft, q, _sag(soft, p, q, Acting()))
        found["sag"] = resting, before
        if p.outside.torque is not None or p.outside.wrench is not None:
            pushed = _error(p, soft, q, _sag(soft, p, q, p.outside))
            found["force"] = pushed, resting
    return found


def _error(p: Prediction, places: Coordinates, q: Floats, bent: Floats | float = 0.0) -> PathError:
    """Path error of an arm whose motors are on q, its coordinates deflected."""
    u = places.both_sides(q) + bent
    poses = places.built.forward_kinematics(places.of_bodies(u))
    return path_error(p.job.seam, p.path_error.time, poses)


def _references(p: Prediction) -> Floats:
    """Set-points of the joints at the times of the path error, (m, n)."""
    q, _, _ = p.motion.trajectory.at(p.path_error.time)
    return q


def _sag(places: Coordinates, p: Prediction, q: Floats, outside: Acting) -> Floats:
    """How far the coordinates are from straight while motors hold the set-points, (m, N)."""
    time = p.path_error.time
    rows = np.unique(np.linspace(0, len(q) - 1, min(RESTS, len(q))).astype(int))
    motion = p.motion.trajectory
    bent = np.empty((len(rows), places.count))
    for k, row in enumerate(rows):
        sample = min(round(time[row] * motion.rate), len(motion.q) - 1)
        now = outside.rows(slice(sample, sample + 1))
        resting = solve_sag(places, q[row], Outside(now.torque, now.wrench))
        bent[k] = resting - places.both_sides(q[row])
    return interpolate_columns(time, time[rows], bent)

"""What a sweep file says, all of it: the schema of format 1."""

from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from armtwin.files.fields import Flag
from armtwin.jobs.uncertainty import Whole
from armtwin.maths.batch import Names

Design = Literal["grid", "list", "latin hypercube", "sobol"]
SAMPLED = ("latin hypercube", "sobol")  # designs that need a number of runs
MOST_AXES = 20  # of a sweep


@dataclass(frozen=True)
class AxisGroup:
    """One thing that differs from run to run: its values, or a span of them.

    Attributes:
        key: Key path of the job file, as "speed" or "workpiece.position.1"; of the robot file with
            "robot." before it; "workpiece.yaw"; or, where it is relative, an uncertain quantity.
        values: The values, as they would be written in the file.
        span: First and last value, in place of values.
        count: Values from the first to the last, evenly; sampled designs need none.
        relative: Whether values are factors on what the file has.
        label: What it is called in the report; by default its key.
    """

    key: str
    values: tuple[Any, ...] | None = None
    span: tuple[Any, Any] | None = None
    count: Whole | None = None
    relative: Flag = False
    label: str = ""

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if (self.values is None) == (self.span is None):
            got = "none" if self.span is None else "both"
            return f"must have either values or span, got {got}"
        if self.values is not None:
            if not self.values:
                return "values must have at least one value, so the sweep is empty"
            if self.count is not None:
                return "count belongs to span, not to values"
        if self.count is not None and self.count < 1:
            return f"count must be at least 1, got {self.count}"
        return ""


@dataclass(frozen=True)
class SweepDescription:
    """A sweep file, checked for its form.

    Attributes:
        jobs: Shipped jobs, or job files beside the sweep.
        robots: Robots in place of the jobs' own, shipped or files beside the sweep.
        axis: What differs from run to run.
        design: "grid" for every combination of values, "list" for first values together, then
            second ones, "latin hypercube" or "sobol" for points spread over the spans.
        runs: Points of a sampled design.
        seed: Seed of a sampled design.
        band: Whether each run gets the 90 % interval of its verdict, not the nominal run alone.
        method: How the arm is simulated.
        map: Keys of the two axes of the map; by default the first two that hold numbers.
        limit: Key of the axis whose highest value that holds is mapped; by default "speed" where it
            is an axis.
        name: Short name; by default the file's.
        title: What it is, in words.
    """

    jobs: Names
    axis: tuple[AxisGroup, ...] = ()
    robots: Names = ()
    design: Design = "grid"
    runs: Whole | None = None
    seed: Whole = 0
    band: Flag = False
    method: Literal["nonlinear", "perturbation"] = "nonlinear"
    map: tuple[str, str] | None = None
    limit: str = ""
    name: str = ""
    title: str = ""

    format_number: ClassVar[int] = 1

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        keys = [axis.key for axis in self.axis]
        if not self.jobs:
            return "jobs must name at least one job"
        if len(keys) > MOST_AXES:
            return f"axis: at most {MOST_AXES} are taken, got {len(keys)}"
        for k, key in enumerate(keys):
            if key in keys[:k]:
                return f"axis.{k + 1}.key must differ from the others, got '{key}' twice"
        for key in (*(self.map or ()), self.limit):
            if key and key not in keys:
                return f"map and limit must name keys of axes, got '{key}'"
        return self._design_problem()

    def _design_problem(self) -> str:
        if self.design in SAMPLED:
            if not self.runs:
                return f"runs must be at least 1 where the design is '{self.design}'"
            if not self.axis:
                return f"axis: a design '{self.design}' needs at least one"
        elif self.runs is not None:
            return f"runs belong to sampled designs ({', '.join(SAMPLED)}), not to '{self.design}'"
        if self.design == "list":
            lengths = {len(axis.values or ()) or axis.count for axis in self.axis}
            if len(lengths) > 1:
                return "axis: a design 'list' needs as many values on each axis"
        return ""

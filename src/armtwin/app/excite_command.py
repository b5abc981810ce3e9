"""The command that designs an excitation."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.places import Source
from armtwin.app.progress import of, progress_bar
from armtwin.app.run import folder_run
from armtwin.errors import ArmtwinError
from armtwin.files.staging import Content
from armtwin.logs.csv_files import put_csv
from armtwin.maths.batch import Record
from armtwin.maths.units import Unit

if TYPE_CHECKING:
    from armtwin.identification.excitation.bounds import ExcitationPlan
    from armtwin.identification.excitation.result import Twin


@dataclass(frozen=True)
class PlanOptions:
    """What of an excitation is chosen, by the names of its plan, and the cell around it."""

    criterion: str | None = opt.option("NAME", "log_det (usual), sigma_min, condition or weighted.")
    scaling: str | None = opt.option("NAME", "Columns scaled by parameters (usual) or by columns.")
    weights: str | None = opt.option("LIST", 'Of condition and 1/sigma_min: "1, 1".')
    search: str | None = opt.option("NAME", "optimised (usual), or the best random.")
    starts: int | None = opt.option("NUMBER", "Random motions tried.")
    period: opt.Period = None
    harmonics: int | None = opt.option("NUMBER", "Harmonics of a period.")
    periods: int | None = opt.option("NUMBER", "Periods to run.")
    rate: float | None = opt.quantity(
        "--rate", "Hz", "Set-points a second; by default the servo's."
    )
    speed: float | None = opt.quantity("--speed", "1", 'Share of the highest speeds, as "80 %".')
    acceleration: float | None = opt.quantity(
        "--acceleration", "1", "Share of the largest accelerations."
    )
    torque: float | None = opt.quantity("--torque", "1", "Share of the largest torques.")
    cell: Path | None = opt.option("FILE", "File with a [cell] table: floor, planes, boxes.")
    clearance: float | None = opt.quantity(
        "--clearance", Unit("m", plausible=20, hint="mm"), 'Distance to the cell, as "100 mm".'
    )
    noise: float | None = opt.quantity(
        "--noise", "1", 'Noise of the torque, of the largest, as "1 %".'
    )
    seed: int | None = opt.option("NUMBER", "Of the random starts.")

    def plan(self) -> ExcitationPlan:
        """The plan of the options that are given; what it refuses is said of the option."""
        choices = opt.drop_unset(vars(self))
        choices.pop("cell", None)
        if self.weights is not None:
            units = [Unit("1")] * (self.weights.count(",") + 1)
            choices["weights"] = tuple(opt.read_quantities("--weights", self.weights, units))
        try:
            return at.ExcitationPlan(**choices)
        except ArmtwinError as error:
            _, _, contract = str(error).partition(": ")
            raise ArmtwinError(f"--{contract}") from None


def excite(
    robot: opt.RobotFile,
    *,
    chosen: PlanOptions,
    friction: bool = opt.flag(
        "--friction", "Motions for friction curves: constant speeds of each joint."
    ),
    carried: opt.Carried,
    output: opt.Output,
) -> None:
    """Design a motion that identifies the parameters of a robot well: trajectory and report.

    With --friction: one trajectory for each joint and coupled motor, for armtwin friction curves.
    """
    from armtwin.identification.excitation.friction_motions import list_directions
    from armtwin.identification.excitation.result import TRAJECTORY
    from armtwin.motion.cell import read_cell

    found = carried.by(robot)
    plan, cell = chosen.plan(), chosen.cell
    around = None if cell is None else read_cell(cell)
    mounted = opt.drop_unset(vars(carried))
    options = _options(plan) | mounted
    inputs = [Path(robot)]
    if cell is not None:
        options["cell"] = str(cell)
        inputs.append(cell)
    source = Source("excite", found.name, found.origin, options, tuple(mounted.values()))
    names = [f"{name}.csv" for name in list_directions(found)] if friction else [TRAJECTORY]
    if friction:
        options["friction"] = True
    run = folder_run(source, output, inputs, names)
    motions: dict[str, at.Trajectory] = {}
    result: at.Excitation | at.FrictionMotions
    with progress_bar("search") as progress:
        run_twin = partial(simulate_twin, found)
        if friction:
            result = at.excite_friction(found, plan, around, run_twin=run_twin)
            motions = {f"{key}.csv": one.trajectory for key, one in result.motions.items()}
        else:
            search_progress = of(progress, "search")
            result = at.excite(found, plan, around, run_twin=run_twin, progress=search_progress)
            motions = {TRAJECTORY: result.trajectory}
    run.finish(result, {name: _content(found, motion) for name, motion in motions.items()})


def _content(robot: at.Robot, motion: at.Trajectory) -> Content:
    """A trajectory as a file."""
    log = at.Log.of(motion.time, joint_names=robot.joint_names, q=motion.q, v=motion.v, a=motion.a)
    return partial(put_csv, log.recording)


def simulate_twin(robot: at.Robot, motion: at.Trajectory) -> Twin | None:
    """What the robot's own simulated loop makes of a motion; None where it cannot be simulated."""
    from armtwin.identification.excitation.result import Twin
    from armtwin.prediction.compare_reference import usual_model

    try:
        run = at.simulate(robot, motion, usual_model(robot))
    except ArmtwinError:  # the file lacks what a simulation needs, which `armtwin check` says
        return None
    end = float(run.log.time[-1])
    if end > motion.duration - 2 / motion.rate:
        return Twin(True, "The twin runs it to its end under its servo.")
    events = run.log.events
    why = events[-1].text if events else "The robot stops."
    remedy = "Use less of --torque or --speed, or a longer --period"
    drive = events[-1].joint if events else ""
    return Twin(False, f"The twin stops at {end:.3g} s: {why} {remedy}", drive)


def _options(plan: ExcitationPlan) -> Record:
    """What a plan has otherwise than by default."""
    found = {}
    usual = vars(at.ExcitationPlan())
    for key, value in vars(plan).items():
        if value != usual[key]:
            found[key] = list(value) if isinstance(value, tuple) else value
    return found

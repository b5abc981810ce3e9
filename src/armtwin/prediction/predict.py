"""Predict a job: seam, joint motion, feasibility, closed loop, path error, verdict."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from pathlib import Path

import numpy as np

from armtwin.errors import ArmtwinError, FileError, blame
from armtwin.jobs.forces import Acting, acting
from armtwin.jobs.job import Job
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats, Names, OnProgress
from armtwin.maths.runner import run_all, threads
from armtwin.motion.feasibility import Feasibility, feasibility
from armtwin.motion.joint_motion import JointMotion, joint_motion
from armtwin.motion.posture import start_posture
from armtwin.motion.shifted_motion import shift_motion
from armtwin.motion.trajectory import Trajectory
from armtwin.prediction.cautions import cautions, cautions_of_run, find_caps, remarks
from armtwin.prediction.path_error import PathError, path_error_of
from armtwin.prediction.servo_basis import ServoBasis, servo_basis
from armtwin.prediction.verdict import Direction, Verdict, process_is_on, verdict_on
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.schema import provenance
from armtwin.robot.schema.provenance import Origin
from armtwin.simulation.closed_loop import prepare_run, setpoint_rate, simulate, simulate_all
from armtwin.simulation.options import Method
from armtwin.simulation.outcome import Run
from armtwin.simulation.prepared import PreparedRun, controller_of

Progress = Callable[[str, float], None]
LIMIT_LINES = 30  # violations that a refusal lists
SAMPLES_ON = 2  # of a run that the process must be on for: one lies within for certain


@dataclass(frozen=True, eq=False, repr=False)
class Prediction(Result):
    """A predicted run of a job.

    Attributes:
        job: The job.
        robot: The robot as it was simulated, with tool, payload and overrides.
        given: The robot that was given in place of the job's, or None.
        method: "nonlinear" or "perturbation".
        motion: What was commanded to the joints.
        outside: What acted on tool and joints from outside.
        feasibility: What of its limits the motion uses.
        run: The simulated run.
        path_error: Where the tool was beside its seam, by the link side of the joints.
        verdict: Whether the seam holds.
        shift: Lateral and vertical shift of the commanded tool point from the seam at the
            set-points, (m, 2) [m]; None for none.
    """

    job: Job
    robot: Robot
    given: Robot | None
    method: Method
    motion: JointMotion
    outside: Acting
    feasibility: Feasibility
    run: Run
    path_error: PathError
    verdict: Verdict
    shift: Floats | None = None

    described_by = "armtwin.prediction.sections.overview:describe_prediction"
    drawn_by = "armtwin.prediction.sections.overview:draw_prediction"

    def place_of_peak(self, direction: Direction) -> float:
        """Arc length at which an error is largest with the process on [m]."""
        return float(self.path_error.place[self._sample_of_peak(direction)])

    def time_of_peak(self, direction: Direction) -> float:
        """When an error is largest with the process on [s]."""
        return float(self.path_error.time[self._sample_of_peak(direction)])

    def _sample_of_peak(self, direction: Direction) -> int:
        error = self.path_error
        size = np.abs(getattr(error, direction))
        return int(np.where(process_is_on(self.job, error.s), size, -1.0).argmax())

    @cached_property
    def seen(self) -> PathError:
        """The path error that the controller sees.

        By the motor side of the joints, as if gears were rigid.
        """
        run = self.run
        if run.motor_side is run.bodies and run.built is self.robot:
            return self.path_error
        return path_error_of(self.job.seam, run.trace_time, self.robot, run.motor_side)

    @property
    def log(self) -> Log:
        """What a machine would have logged."""
        return self.run.log

    @cached_property
    def servo(self) -> ServoBasis:
        """What the servo is based on."""
        duration = float(self.run.log.time[-1])
        return servo_basis(self.robot, self.job.description.model.servo, duration)

    @cached_property
    def cautions(self) -> Names:
        """What a reader of the verdict must know, in sentences."""
        return (*cautions(self.robot, self.job), *cautions_of_run(self))

    @cached_property
    def remarks(self) -> Names:
        """What it simplifies, in sentences."""
        return tuple(remarks(self))

    @cached_property
    def capped_by(self) -> Names:
        """Why its seam is at most said to hold probably, as phrases; none where nothing caps it."""
        return find_caps(self)

    @property
    def assumed(self) -> tuple[Origin, ...]:
        """The assumed numbers of the verdict."""
        return find_assumed(self.robot, self.job)


def predict(
    job: Job | str | Path,
    robot: Robot | str | Path | None = None,
    method: Method = "nonlinear",
    *,
    progress: Progress | None = None,
) -> Prediction:
    """Predict where a robot's tool will be beside the seam of a job.

    Args:
        job: The job, or the name or file of one.
        robot: A robot in place of the job's; the job's tool and overrides are applied to it.
        method: "nonlinear", or "perturbation" for the arm linearised along the motion.
        progress: Called with what is being done and the share that is done.
    """
    job, robot = load_job_and_robot(job, robot)
    say: Progress = progress or (lambda what, share: None)
    watch = None if progress is None else lambda share: say("simulation", share)
    prediction = run_plan(plan_job(job, robot, say), method, say, watch)
    say("path error", 1.0)
    return prediction


def run_plan(
    plan: Plan, method: Method, say: Progress, watch: OnProgress | None = None
) -> Prediction:
    """A planned job run and judged.

    Args:
        plan: The job.
        method: As of `predict`.
        say: Called before each stage.
        watch: Called with the share of the simulation that is done.
    """
    say("simulation", 0.0)
    model, options = plan.job.description.model, plan.outside.options(method=method)
    run = simulate(plan.robot, plan.motion.trajectory, model, progress=watch, options=options)
    say("path error", 0.0)
    return evaluate_run(method, plan, run)


def load_job_and_robot(
    job: Job | str | Path, robot: Robot | str | Path | None
) -> tuple[Job, Robot | None]:
    """Job and robot of a call, loaded where names or files are given."""
    job = job if isinstance(job, Job) else Job.load(job)
    return job, robot if isinstance(robot, Robot | None) else Robot.load(robot)


def predict_all(
    jobs: Sequence[Job], robot: Robot | None = None, *, method: Method = "nonlinear"
) -> list[Prediction | None]:
    """Predict jobs, each as `predict` does, their runs together; None for one that is refused.

    Args:
        jobs: The jobs.
        robot: A robot in place of the jobs'.
        method: As of `predict`.
    """
    found: list[Prediction | None] = [None] * len(jobs)
    with threads() as executor:
        made = run_all(partial(_prepare_job, robot, method), jobs, executor=executor)
        possible = {place: ready for place, ready in enumerate(made) if ready is not None}
        plans = [plan for plan, _ in possible.values()]
        runs = simulate_all([prepared for _, prepared in possible.values()])
        judged = run_all(partial(evaluate_run, method), plans, runs, executor=executor)
        for place, prediction in zip(possible, judged, strict=True):
            found[place] = prediction
    return found


@dataclass(frozen=True, eq=False)
class Plan:
    """A job planned for a robot; fields as of a Prediction."""

    job: Job
    robot: Robot
    given: Robot | None
    motion: JointMotion
    outside: Acting
    feasibility: Feasibility


def plan_job(job: Job, given: Robot | None, say: Progress) -> Plan:
    """The motion of a job and what it uses of the robot's limits."""
    robot = job.robot(given)
    refuse_incomplete(robot, job)
    say("path", 0.0)
    job = job.planned_for(robot)
    motion = plan_motion(robot, job)
    say("limits", 0.0)
    limits = check_limits(robot, job, motion)
    outside = acting(job, robot, motion.trajectory.time)
    return Plan(job, robot, given, motion, outside, limits)


def _prepare_job(robot: Robot | None, method: Method, job: Job) -> tuple[Plan, PreparedRun] | None:
    """Plan a job and prepare its run; None where it is out of reach or beyond limits."""
    try:
        plan = plan_job(job, robot, lambda what, share: None)
        ready = prepare_run(
            plan.robot,
            plan.motion.trajectory,
            job.description.model,
            options=plan.outside.options(method=method),
        )
    except ArmtwinError:
        return None
    return plan, ready


def evaluate_run(method: Method, plan: Plan, run: Run) -> Prediction:
    """A simulated run beside its seam."""
    error = path_error_of(plan.job.seam, run.trace_time, run.built, run.bodies)
    verdict = verdict_on(plan.job, error, run.log.events)
    return Prediction(**vars(plan), method=method, run=run, path_error=error, verdict=verdict)


def run_shifted(prediction: Prediction, shift: Floats) -> Prediction:
    """The job of a prediction with its command shifted across the seam, on the same robot.

    Args:
        prediction: The job commanded along its seam.
        shift: Lateral and vertical shift at the set-points, (m, 2) [m].
    """
    p = prediction
    motion = shift_motion(p.robot, p.job.seam, p.motion, shift)
    limits = check_limits(p.robot, p.job, motion)
    plan = Plan(p.job, p.robot, p.given, motion, p.outside, limits)
    run = run_command(p, p.robot, motion.trajectory)
    return replace(evaluate_run(p.method, plan, run), shift=shift)


def run_command(p: Prediction, robot: Robot, motion: Trajectory) -> Run:
    """A command run as the prediction was."""
    return simulate(
        robot, motion, p.job.description.model, options=p.outside.options(method=p.method)
    )


def plan_motion(robot: Robot, job: Job) -> JointMotion:
    """Joint motion of a job at the set-point rate of its servo."""
    d = job.description
    posture = np.array(d.posture) if isinstance(d.posture, tuple) else d.posture
    seam = job.seam
    _refuse_short_process(robot, job)
    with blame(job.where):
        # a beam along the seam is refused before anything is computed
        seam.frames(np.linspace(0.0, seam.length, 500))
        q0 = start_posture(robot, seam, posture, d.cell)
        return joint_motion(robot, seam, setpoint_rate(robot, d.model), q0)


def _refuse_short_process(robot: Robot, job: Job) -> None:
    """Refuse a process that is nowhere on, or on between two samples of a run only."""
    c = controller_of(robot, job.description.model)
    period = c.tick * c.position_ticks  # of the samples that are judged [s]
    speed = max([job.description.speed, *(x.speed or 0.0 for x in job.description.segment)])
    longest = max(stop - start for start, stop in job.process_on())
    apart = speed * period
    if longest < SAMPLES_ON * apart:
        raise FileError(
            job.where,
            f"process: it is on for {1e3 * longest:.3g} mm at most, must be at least "
            f"{1e3 * SAMPLES_ON * apart:.3g} mm: at {1e3 * speed:.4g} mm/s a run has a sample "
            f"every {1e3 * apart:.3g} mm",
        )


def check_limits(robot: Robot, job: Job, motion: JointMotion) -> Feasibility:
    """What the motion uses of the robot's limits and its cell.

    A motion that cannot be run is refused with every violation.
    """
    with blame(job.where):
        found = feasibility(robot, job.seam, motion, job.description.cell)
    refused = found.refused if job.description.limits == "report" else found.violations
    if refused:
        lines = [f"{x.text}{_line_of(job, x.from_m)}" for x in refused[:LIMIT_LINES]]
        if len(refused) > LIMIT_LINES:
            lines.append(f"and {len(refused) - LIMIT_LINES} more")
        raise FileError(
            job.where, [f"the seam cannot be run by '{robot.name}': {lines[0]}", *lines[1:]]
        )
    return found


def _line_of(job: Job, place: float) -> str:
    """The line of the source at a place of the seam, in brackets; "" for none."""
    for x in job.seam.path.stretches:
        line = job.description.segment[x.move].line
        if line and x.start <= place <= x.stop:
            return f" (line {line})"
    return ""


def missing(robot: Robot, job: Job) -> list[str]:
    """All that the robot's file lacks for a closed-loop prediction of a job, as phrases."""
    return provenance.missing(robot.description, job.description.model.wants, seam=True)


def refuse_incomplete(robot: Robot, job: Job) -> None:
    """Refuse a robot that lacks something for the prediction of a job, with all that it lacks."""
    lacking = missing(robot, job)
    if lacking:
        origin = robot.origin or f"robot '{robot.name}'"
        raise FileError(origin, [f"cannot be predicted: {x}" for x in lacking])


def find_assumed(robot: Robot, job: Job) -> tuple[Origin, ...]:
    """Assumed numbers of a robot file that a prediction of a job uses."""
    unused = _find_unused(robot, job)
    found = []
    for origin in robot.provenance.of_kind("assumed"):
        if not any(origin.path == x or origin.path.startswith(f"{x}.") for x in unused):
            found.append(origin)
    return tuple(found)


def _find_unused(robot: Robot, job: Job) -> list[str]:
    """Key paths of a robot file that a prediction of a job does not use."""
    d, model = robot.description, job.description.model
    unused = [f"servo.{name}" for name in d.servo if name != model.servo]
    unused += [f"tool.{name}" for name in d.tool if name != d.mounted.tool]
    unused += [f"payload.{name}" for name in d.payload if name != d.mounted.payload]
    active = () if model.friction == "off" else d.active_friction()
    unused += [f"friction.{f.name}" for f in d.friction if f not in active]
    if model.joints == "rigid" and not model.ripple:
        unused.append("transmission")
    if model.links == "rigid":
        unused.append("flexure")
    if not model.deviations:
        unused.append("deviation")
    return unused

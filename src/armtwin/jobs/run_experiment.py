"""`run_experiment`: a bench, a robot or a hydraulic robot, driven as its file says."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, nullcontext
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError, blame, did_you_mean
from armtwin.exchange.external_fmu import ForeignUnit
from armtwin.files.schema import Schema
from armtwin.files.writing import group_table
from armtwin.jobs.experiment import Experiment
from armtwin.jobs.experiment_description import BenchSetup, ForeignLoad, HydraulicSetup, RobotSetup
from armtwin.jobs.experiment_run import ExperimentRun
from armtwin.jobs.features import SetpointResponse
from armtwin.jobs.setpoints import Drive, FromFile, Setpoint
from armtwin.maths.batch import Floats, Names, OnProgress, Record
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot
from armtwin.simulation import setpoints
from armtwin.simulation.bench import simulate_bench
from armtwin.simulation.clamped_tool import clamp_at_tool
from armtwin.simulation.closed_loop import setpoint_rate, simulate
from armtwin.simulation.model import Model
from armtwin.simulation.options import RunOptions
from armtwin.simulation.response import Response
from armtwin.simulation.responses import motion_response

MODEL = Schema(Model, "model")


def answer_of(
    experiment: Experiment, setup: HydraulicSetup, progress: OnProgress | None = None
) -> Response:
    """What the sensors of a hydraulic robot show under the set-points of an experiment.

    Args:
        experiment: The experiment.
        setup: Its set-up.
        progress: Called now and then with the share that is done.
    """
    robot = experiment.robot()
    assert robot is not None
    with blame(experiment.place):
        model = _model(robot, setup.model, experiment.place)
        time = experiment.times(setpoint_rate(robot, model))
        values = _values(experiment, setup, robot, model, time)
        motion = setpoints.hold_motion(robot, model, setup.coordinates, values)
        rate = experiment.description.rate
        return motion_response(
            robot, model, setup.coordinates, motion, log_rate=rate, progress=progress
        )


def _model(robot: Robot, given: Mapping[str, Any], origin: str) -> Model:
    """The model of the robot's proportional servo, with other values where some are given."""
    base = group_table(setpoints.hydraulic_model(robot))
    return MODEL.read({**base, **given}, f"{origin}: setup.model")


def _values(
    experiment: Experiment, setup: HydraulicSetup, robot: Robot, model: Model, time: Floats
) -> Floats:
    """Set-points of all coordinates at times, (m, k); those that none drives are held."""
    names = setpoints.coordinate_names(robot, setup.coordinates)
    start = setpoints.coordinates_of(
        robot, model, setup.coordinates, setpoints.home_of(robot)[None]
    )[0]
    values = np.tile(start, (len(time), 1))
    points = experiment.description.setpoint
    driven = [point.on for point in points]
    units = setpoints.list_units(robot, setup.coordinates)
    for name, level in setup.start.items():
        k = _place(names, name, f"setup.start.{name}")
        if name in driven:
            raise ArmtwinError(f"setup.start.{name}: a set-point drives it and gives its start")
        values[:, k] = Drive(units[k], experiment.folder).read(level)
    for number, point in enumerate(points, 1):
        k = _place(names, point.on, f"setpoint.{number}.on")
        drive = Drive(units[k], experiment.folder)
        values[:, k], _ = experiment.sampled(number, point, time, drive)
    return values


def _place(names: Names, name: str, key: str) -> int:
    if name not in names:
        raise ArmtwinError(f"{key}: '{name}' is not known. {did_you_mean(name, names)}")
    return names.index(name)


UNITS = {"torque": "N m", "position": "rad"}  # what a bench is driven by
RATE = 250.0  # of a bench's log where none is given [Hz]


def run_experiment(
    experiment: Experiment, *, foreign: bool = False, progress: OnProgress | None = None
) -> ExperimentRun:
    """Run an experiment.

    Args:
        experiment: The experiment.
        foreign: Whether an external FMU that it names may be run: third-party code.
        progress: Called now and then with the share that is done.
    """
    setup = experiment.description.setup
    if not isinstance(setup, HydraulicSetup) and setup.foreign is not None and not foreign:
        raise experiment.refused(
            f"setup.foreign: '{setup.foreign.unit}' is third-party code and is run only "
            "where that is asked for, with --foreign or run_experiment(..., foreign=True)"
        )
    if isinstance(setup, BenchSetup):
        return _run_bench(experiment, setup)
    if isinstance(setup, HydraulicSetup):
        return _run_hydraulic(experiment, setup, progress)
    return _run_robot(experiment, setup, progress)


def _run_bench(experiment: Experiment, setup: BenchSetup) -> ExperimentRun:
    d = experiment.description
    if len(d.setpoint) != 1 or d.setpoint[0].on not in UNITS:
        driven = ", ".join(point.on for point in d.setpoint)
        raise experiment.refused(
            f'a bench needs one setpoint, on = "torque" or on = "position", got {driven}'
        )
    point = d.setpoint[0]
    bench = experiment.bench()
    drive = Drive(UNITS[point.on], experiment.folder)
    time = _bench_times(experiment, point, drive)
    values, _ = experiment.sampled(1, point, time, drive)
    given: Record = {point.on: values}
    with _partner(experiment, None, setup.foreign) as partner:
        run = simulate_bench(bench, time, partner=partner, **given)
    got = run.log.q_m[:, 0]
    response = SetpointResponse("motor angle", "rad", drive.unit, time, values, got)
    return ExperimentRun(
        experiment, run.log, (response,), run.energy, bench.joint == "clamped", bench.gear_ratio
    )


def _bench_times(experiment: Experiment, point: Setpoint, drive: Drive) -> Floats:
    """Times of the log: those of a file that drives it, even or not; else an even grid."""
    d = experiment.description
    if isinstance(point, FromFile) and d.rate is None and d.duration is None:
        time, _ = point.log_column(drive)
        return time - time[0]
    return experiment.times(d.rate or RATE)


def _run_robot(
    experiment: Experiment, setup: RobotSetup, progress: OnProgress | None
) -> ExperimentRun:
    d = experiment.description
    robot = experiment.robot()
    assert robot is not None
    posture = np.array(setup.posture)
    if len(posture) != robot.n:
        raise experiment.refused(f"setup.posture must have {robot.n} values, got {len(posture)}")
    rate = setpoint_rate(robot, setup.model)
    time = experiment.times(rate)
    q = np.tile(posture, (len(time), 1))
    v, a = np.zeros_like(q), np.zeros_like(q)
    driven = []
    for number, point in enumerate(d.setpoint, 1):
        joint = _joint(experiment, robot, point, number)
        turns = robot.assembly.tree.joints[joint].type == "revolute"
        drive = Drive("rad" if turns else "m", experiment.folder)
        q[:, joint], v[:, joint] = experiment.sampled(number, point, time, drive)
        if point.kind in ("sine", "noise", "file"):
            a[:, joint] = np.gradient(v[:, joint], time)
        driven.append((joint, drive.unit))
    change = None
    if setup.clamp is not None:
        change = clamp_at_tool(robot, setup.model, q[0], setup.clamp)
    motion = Trajectory.sampled(rate, q, v, a)
    with _partner(experiment, robot, setup.foreign) as partner:
        run = simulate(
            robot,
            motion,
            setup.model,
            progress=progress,
            options=RunOptions(change=change, log_rate=d.rate, partner=partner),
        )
    responses = []
    for joint, unit in driven:
        got = run.log.q[:, joint]
        wanted = run.log.q_ref[:, joint]
        name = robot.joint_names[joint]
        responses.append(SetpointResponse(name, unit, unit, run.log.time, wanted, got))
        if "lost_motion" in d.features and "q_link" in run.log:
            link = run.log.q_link[:, joint]
            of = f"{name}, link side"
            responses.append(SetpointResponse(of, unit, unit, run.log.time, wanted, link))
    return ExperimentRun(experiment, run.log, tuple(responses), run.energy, setup.clamp is not None)


def _partner(
    experiment: Experiment, robot: Robot | None, foreign: ForeignLoad | None
) -> AbstractContextManager[ForeignUnit | None]:
    """The external FMU that acts on the robot or the bench, if there is one."""
    if foreign is None:
        return nullcontext()
    return ForeignUnit(
        experiment.folder / foreign.unit,
        robot,
        inputs=foreign.inputs,
        outputs=foreign.outputs,
        start=foreign.start,
        timeout=foreign.timeout,
    )


def _joint(experiment: Experiment, robot: Robot, point: Setpoint, number: int) -> int:
    if point.on not in robot.joint_names:
        hint = did_you_mean(point.on, robot.joint_names)
        raise experiment.refused(
            f"setpoint.{number}.on: robot '{robot.name}' has no joint '{point.on}'. {hint}"
        )
    return list(robot.joint_names).index(point.on)


def _run_hydraulic(
    experiment: Experiment, setup: HydraulicSetup, progress: OnProgress | None
) -> ExperimentRun:
    answer = answer_of(experiment, setup, progress)
    responses = []
    for point in experiment.description.setpoint:
        k = answer.names.index(point.on)
        unit = answer.units[k]
        start = answer.start[k]
        wanted, got = start + answer.setpoint[:, k], start + answer.reading[:, k]
        responses.append(SetpointResponse(point.on, unit, unit, answer.time, wanted, got))
    run = answer.run
    return ExperimentRun(
        experiment, run.log, tuple(responses), run.energy, clamped=False, answer=answer
    )

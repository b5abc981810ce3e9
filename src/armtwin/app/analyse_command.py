"""The command that shows the terms of the equations of motion of a robot."""

from pathlib import Path
from typing import Annotated, Any, Literal

import numpy as np
import typer

import armtwin as at
from armtwin.app import options as opt
from armtwin.app.places import Source, files_of_job, files_of_log, words_of
from armtwin.app.progress import progress_bar
from armtwin.app.run import folder_run
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.jobs import files as job_files
from armtwin.jobs.forces import acting
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats, NamedTexts, Record
from armtwin.maths.units import Unit
from armtwin.prediction.predict import plan_motion
from armtwin.robot.dynamics.sag import Outside
from armtwin.robot.kinematics.strokes import drive_names, drives_slide, joint_positions, levers
from armtwin.robot.kinematics.wrist import COORDINATES, from_wrist, replace_home_coordinates

MOVING = ("torques", "loads")
MASS = Unit("kg", above=0)


def analyse(
    robot: opt.RobotFile,
    what: Annotated[
        Literal["torques", "coupling", "inertia", "modes", "sag", "compliance", "loads"],
        typer.Argument(
            help="Torques by causes, inertial coupling, effective inertia; of an elastic robot "
            "modes, sag, compliance; loads on bearings and in links."
        ),
    ],
    at_posture: str | None = opt.option(
        "--at", "POSE", '"0, 90, 271, 0, 0 deg", "L3 = 260 mm" or "r = 300 mm, gamma = 10 deg".'
    ),
    along: str | None = opt.option(
        "JOB|FILE", "A job, with its tool and its forces, or a log with a motion."
    ),
    speeds: str | None = opt.option("LIST", 'Joint speeds at --at, as "10, 0, 5 deg/s".'),
    accelerations: str | None = opt.option("LIST", "Joint accelerations at --at."),
    faster: float | None = opt.quantity("--faster", "1", "The same path n times as fast."),
    load: str | None = opt.option("LOAD", 'A payload of the robot\'s file, or a mass "4 kg".'),
    push: str | None = opt.option("LIST", 'Force on the tool for sag: "0, -100, 50 N".'),
    links: bool = opt.flag("--links", "Let links bend at their flexures; of an elastic robot."),
    *,
    carried: opt.Carried,
    output: opt.Output,
) -> None:
    """Show torques, coupling and inertia; modes, sag and compliance of an elastic robot."""
    if at_posture is not None and along is not None:
        raise ArmtwinError("--at and --along cannot be given together")
    _check_moving(what, along is not None, (speeds, accelerations), faster)
    _check_elastic(what, push, links)
    found = carried.by(robot)
    options = {"at": at_posture, "along": along, "load": load, "faster": faster, "speeds": speeds}
    options |= {"accelerations": accelerations, **vars(carried), "push": push}
    options |= {"links": "elastic" if links else None}
    given = opt.drop_unset(options)
    words = (what, *words_of(given))
    source = Source("analyse", found.name, found.origin, {"what": what, **given}, words)
    run = folder_run(source, output, [Path(robot), *_inputs(along)])
    settings: Record = {"load": None if load is None else _load(found, load)}
    if links:
        settings["links"] = True
    if push is not None:
        settings["force"] = np.array(opt.read_quantities("--push", push, [Unit("N")] * 3))
    motion: Any = None
    if along is not None and _is_job(along):
        job = Job.load(along)
        equipped = job.robot(found)
        motion = plan_motion(equipped, job).trajectory
        found = carried.by(equipped)
        if what == "sag" and push is None and job.description.force:
            outside = acting(job, found, motion.time)
            settings["force"] = Outside(outside.torque, outside.wrench)
    elif along is not None:
        motion = at.Log.read(along)
    elif at_posture is not None:
        motion = _posture(found, at_posture)
    if what in MOVING:
        v = _rates(found, "--speeds", speeds, "rad/s")
        a = _rates(found, "--accelerations", accelerations, "rad/s^2")
        motion = at.states(found, motion, v, a).faster(faster or 1.0)
    with progress_bar(what):
        result = at.analyse(found, what, motion, **settings)
    run.finish(result)


def _check_moving(
    what: str, is_along: bool, rates: tuple[str | None, ...], faster: float | None
) -> None:
    """Refuse speeds and accelerations where a motion has its own, or where they change nothing."""
    is_given = any(x is not None for x in rates)
    if is_along and is_given:
        raise ArmtwinError("--speeds and --accelerations belong to --at; a motion has its own")
    if what not in MOVING and (is_given or faster is not None):
        raise ArmtwinError(
            f"--speeds, --accelerations and --faster change torques and loads, not {what}"
        )


def _check_elastic(what: str, push: str | None, links: bool) -> None:
    """Refuse options of an elastic robot where they change nothing."""
    if push is not None and what != "sag":
        raise ArmtwinError(f"--push is what the tool sags under; it does not change {what}")
    if links and what not in ("modes", "sag", "compliance"):
        raise ArmtwinError(f"--links lets an elastic robot bend; it does not change {what}")


def _is_job(along: str) -> bool:
    return along in job_files.list_shipped() or along.endswith(".toml")


def _inputs(along: str | None) -> list[Path]:
    if along is None:
        return []
    if _is_job(along):
        return files_of_job(Job.load(along))
    return files_of_log(Path(along), None)


def _posture(robot: at.Robot, text: str) -> Floats:
    """Joint positions by a list, by lengths of drives or by wrist coordinates."""
    if "=" not in text:
        return np.array(opt.read_quantities("--at", text, _joint_units(robot, "rad", "m")))
    named = dict(_assignment(part) for part in text.split(","))
    drives = drive_names(robot)
    known = drives if robot.description.wrist is None else (*drives, *COORDINATES)
    for name in named:
        if name not in known:
            raise ArmtwinError(f"--at: '{name}' is not known. {did_you_mean(name, known)}")
    if any(name in drives for name in named):
        return _by_drives(robot, named)
    values = {}
    for name, word in named.items():
        values[name] = opt.read_quantity(
            f"--at {name}", word, Unit("m" if name in ("r", "z") else "rad")
        )
    return from_wrist(robot, replace_home_coordinates(robot, values))


def _assignment(part: str) -> tuple[str, str]:
    name, sign, value = part.partition("=")
    if not sign or not value.strip():
        raise ArmtwinError(
            f"--at must be a list of numbers, or of names as 'r = 300 mm', got '{part.strip()}'"
        )
    return name.strip(), value.strip()


def _by_drives(robot: at.Robot, named: NamedTexts) -> Floats:
    """The home of a robot with the positions of named drives replaced."""
    wrist = robot.description.wrist
    home = np.zeros(robot.n) if wrist is None else np.array(wrist.home)
    positions = levers(robot, home[None]).position[0]
    drives = drive_names(robot)
    slides = drives_slide(robot)
    for name, word in named.items():
        if name not in drives:
            raise ArmtwinError(f"--at: drives and wrist coordinates cannot be mixed, got '{name}'")
        k = drives.index(name)
        positions[k] = opt.read_quantity(f"--at {name}", word, Unit("m" if slides[k] else "rad"))
    return joint_positions(robot, positions, home)


def _joint_units(robot: at.Robot, turning: str, sliding: str) -> list[Unit]:
    units = []
    for joint in robot.assembly.free_joints:
        units.append(Unit(sliding if joint.type == "prismatic" else turning))
    return units


def _rates(robot: at.Robot, option: str, text: str | None, unit: str) -> Floats | None:
    if text is None:
        return None
    units = _joint_units(robot, unit, unit.replace("rad", "m"))
    return np.array(opt.read_quantities(option, text, units))


def _load(robot: at.Robot, text: str) -> float | str:
    """A payload by name, or a mass."""
    if text in robot.description.payload:
        return text
    try:
        return MASS.read_word(text)
    except ArmtwinError as error:
        known = ", ".join(robot.description.payload) or "none"
        raise ArmtwinError(f"--load {error}. Payloads of '{robot.name}': {known}.") from None

"""The commands that write a robot or a log in another format."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Literal

import typer

import armtwin as at
from armtwin import ArmtwinError, Log, Robot
from armtwin.app import options as opt
from armtwin.app.progress import progress_bar
from armtwin.app.showing import describe
from armtwin.exchange.check import CheckMotion, usual_motion
from armtwin.exchange.formats import FORMATS, Choices, convert_robot
from armtwin.files.names import safe_name
from armtwin.maths.units import Unit
from armtwin.notebook.sections import Report
from armtwin.report.folder import refuse_written
from armtwin.simulation.model import Model

export = typer.Typer(no_args_is_help=True, help="Write a robot in another format.")


Gears = Annotated[Literal["rigid", "elastic"], typer.Option(help="Of a whole robot: its gears.")]
ServoName = Annotated[
    str, typer.Option(metavar="NAME", help="Of a whole robot: a servo of its file.")
]


@dataclass(frozen=True)
class Checked:
    """What a robot carries, and the job that its export is checked on."""

    along: str | None = opt.option(
        "--along", "JOB", "Check it on this job, with its tool, forces and model."
    )
    tool: opt.Tool = None
    payload: opt.Payload = None

    def by(self, robot: Robot, model: Model) -> tuple[Robot, CheckMotion]:
        """The robot and the motion of its check; a model where no job gives one."""
        if self.along is None:
            return robot, usual_motion(robot, model)
        prediction = at.predict(self.along, robot)
        return prediction.robot, at.check_motion_of(prediction)


@opt.command_of(export, "urdf")
def export_urdf(robot: opt.RobotFile, *, checked: Checked, output: opt.FileOutput) -> None:
    """Write a URDF file with the robot's kinematics, bodies and joint friction."""
    write_checked("urdf", robot, checked, output)


@opt.command_of(export, "c")
def export_c(robot: opt.RobotFile, *, checked: Checked, output: opt.FileOutput) -> None:
    """Write inverse dynamics and friction as C99: a header and a source, for feed-forward."""
    write_checked("c", robot, checked, output)


@opt.command_of(export, "mjcf")
def export_mjcf(
    robot: opt.RobotFile,
    friction: Literal["lugre", "frictionloss", "off"] = opt.option(
        "Friction as LuGre elements, or as frictionloss and damping.", default="lugre"
    ),
    joints: Gears = "rigid",
    servo: ServoName = "cascade",
    *,
    checked: Checked,
    output: opt.FileOutput,
) -> None:
    """Write the robot under its servo as MJCF, for MuJoCo 4 and later."""
    model = Model(servo=servo, joints=joints)
    write_checked("mjcf", robot, checked, output, model, Choices(friction))


def write_checked(
    kind: str,
    source: str,
    checked: Checked,
    output: opt.FileOutput,
    model: Model = Model(),
    choices: Choices = Choices(),
) -> None:
    """Write a robot in a format of the table with its check, and show that."""
    loaded = opt.Carried(checked.tool, checked.payload).by(source)
    target = free(loaded, FORMATS[kind].suffix, output, source)
    with progress_bar("check"):
        loaded, motion = checked.by(loaded, model)
        exported = convert_robot(loaded, target, kind, motion, choices)
    for path in exported.files:
        free_file(path, output, source)
    exported.write()
    describe(exported, output.json, exported.files, exported.converted.remarks)


def free(robot: Robot, suffix: str, output: opt.FileOutput, source: str | Path) -> Path:
    """The file to write, if it may be written; never that which is read.

    By default one in this folder named after the robot, whatever characters its name has.
    """
    return free_file(output.out or Path(safe_name(robot.name, "robot") + suffix), output, source)


def free_file(path: Path, output: opt.FileOutput, source: str | Path) -> Path:
    """A file to write, if it may be written; never that which is read."""
    refuse_written([path], [Path(source)], force=output.force)
    return path


@opt.command_of(export, "fmu")
def export_fmu(
    robot: opt.RobotFile,
    joint: str | None = opt.option(
        "JOINT", "Number or name: the transmission of this joint alone, on a bench."
    ),
    fmi: int = opt.option(
        "VERSION", "2: co-simulation and model exchange; 3: co-simulation.", default=2
    ),
    friction: Literal["lugre", "switching", "arctan", "off"] | None = opt.option(
        "Friction model; by default lugre where pre-sliding stiffness is given."
    ),
    driven: Literal["torque", "angle"] = opt.flag(
        "--input", "Of a joint: what its motor is driven by.", default="torque"
    ),
    inertia: float | None = opt.quantity(
        "--inertia",
        "kg m^2",
        'Of a joint: inertia behind it, as "10 kg m^2"; without it is clamped.',
    ),
    joints: Gears = "rigid",
    servo: ServoName = "cascade",
    quantise: bool = opt.option("Of a whole robot: currents and encoders in steps.", default=True),
    sources_only: bool = opt.flag("--sources-only", "Make no binary, even with a C compiler."),
    *,
    checked: Checked,
    output: opt.FileOutput,
) -> None:
    """Write a robot in closed loop, or one transmission, as a Functional Mock-up Unit."""
    from armtwin.exchange.export_fmu import OneJoint, export_fmu, joint_name

    if fmi not in (2, 3):
        raise ArmtwinError(f"--fmi must be 2 or 3, got {fmi}")
    if joint is None:
        model = Model(friction or "lugre", servo, quantise, joints)
        choices = Choices(fmi=fmi, sources_only=sources_only)
        write_checked("fmu", robot, checked, output, model, choices)
        return
    if checked.along is not None:
        raise ArmtwinError("--along is for a whole robot, got --joint too")
    loaded = opt.Carried(checked.tool, checked.payload).by(robot)
    target = free(loaded, f"_{joint_name(loaded, joint)}.fmu", output, robot)
    part = OneJoint(joint, friction, driven, inertia)
    with progress_bar("unit"):
        written = export_fmu(loaded, target, part, fmi=fmi, sources_only=sources_only)
    report = Report(f"{loaded.name} as FMU", "", ())
    describe(report, output.json, [target], written.remarks)


def log(
    log: opt.LogFile,
    to: Annotated[
        Literal["csv", "csv.gz", "npz", "parquet"], opt.flag("--to", "Format of the file to write.")
    ],
    start: float | None = opt.quantity(
        "--from", Unit("s"), 'Time of the first sample to keep, as "2 s".'
    ),
    until: float | None = opt.quantity("--until", Unit("s"), "Time of the last sample to keep."),
    columns: opt.Columns = None,
    *,
    output: opt.FileOutput,
) -> None:
    """Write a log of any layout as CSV, NPZ or Parquet, all of it or a cut."""
    name = safe_name(log.name.partition(".")[0], "log")
    target = free_file(output.out or Path(f"{name}.{to}"), output, log)
    if not target.name.endswith(f".{to}"):
        raise ArmtwinError(f"--out must end in .{to}, as --to says, got '{target}'")
    whole = Log.read(log, columns)
    kept = whole.cut(start, until)
    kept.write(target)
    remarks = [f"{len(kept.time)} of {len(whole.time)} samples, {', '.join(kept.channels)}"]
    describe(Report(f"{log.name} as {to}", "", ()), output.json, [target], remarks)

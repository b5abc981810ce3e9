"""Write docs/evidence.md and its pictures: `python docs/make_evidence.py DATA [NAME...]`.

DATA holds the public recordings, one folder each, as studies/identification.py and studies/servo.py
read them; without names all sections are written. Every number and curve is of a log that the fit
never saw. Needs matplotlib and Pillow.
"""

from __future__ import annotations

import io
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

import armtwin as at

DOCS = Path(__file__).parent
PAGE = DOCS / "evidence.md"
SIZE, DPI = (8.2, 3.6), 90
COLOURS = 48
WIDTH = 130  # of the page's lines
SECTION = "<!-- {} -->\n{}<!-- end -->\n"


class Curve(NamedTuple):
    """Measured and predicted over time.

    Attributes:
        title: What it is.
        time: Times, (m,) [s].
        measured: Measured, (m,).
        predicted: Predicted, (m,).
        unit: Their unit.
        before: Predicted without the fit, (m,); None where nothing would be.
    """

    title: str
    time: np.ndarray
    measured: np.ndarray
    predicted: np.ndarray
    unit: str
    before: np.ndarray | None = None


class Found(NamedTuple):
    """What a section says.

    Attributes:
        rows: Rows of its table: what, numbers of the joints, their mean.
        curves: What is drawn.
    """

    rows: list[tuple[str, np.ndarray]]
    curves: list[Curve]


class Case(NamedTuple):
    """A recording.

    Attributes:
        title: Heading.
        text: What it is, what others reach on it, and where the twin falls short.
        unit: Of the numbers.
        run: Computes what the section says from the folder of all recordings.
        command: The same from the command line, in the folder of the recording.
    """

    title: str
    text: str
    unit: str
    run: Callable[[Path], Found]
    command: str


def judge_torque(
    robot: at.Robot, logs: list[at.Log], unseen: at.Log, torque: str, cutoff: float | None = None
) -> Found:
    """Torque errors on an unseen log, the best and the worst joint drawn."""
    fit = at.identify(robot, logs, torque=torque)
    ours = fit.validate(unseen, cutoff)
    prior = fit.validate(unseen, cutoff, robot=fit.prior)
    rows = [
        ("armtwin", ours.nrmse),
        ("plain least squares, same rows", fit.validate_plain(unseen, cutoff).nrmse),
        ("robot file as it was", prior.nrmse),
    ]
    curves = []
    for j in (int(np.argmin(ours.nrmse)), int(np.argmax(ours.nrmse))):
        title = f"{robot.joint_names[j]}, {ours.nrmse[j]:.1f} %"
        measured, predicted = ours.tau[:, j], ours.tau_hat[:, j]
        before = prior.tau_hat[:, j]
        curves.append(Curve(title, ours.time, measured, predicted, "N m", before))
    return Found(rows, curves)


def judge_tracking(robot: at.Robot, log: at.Log, offsets: str = "mean") -> list[Curve]:
    """The joints' errors of a logged run and of the twin on its reference, the largest two."""
    shown = at.compare(robot, log, offsets=offsets)
    names = sorted(shown.errors, key=lambda row: -np.ptp(shown.channels[row.name][0]))[:2]
    curves = []
    for row in names:
        measured, predicted = shown.channels[row.name]
        curves.append(Curve(row.name, shown.time, 1e3 * measured, 1e3 * predicted, "mrad"))
    return curves


def read_kr300(data: Path) -> tuple[at.Robot, at.Log, at.Log]:
    """The robot with what it carried, and both runs."""
    folder = data / "kuka_kr300"
    logs = [at.Log.read(folder / name) for name in ("ident_A.csv.gz", "valid_B.csv.gz")]
    return at.Robot.load("kr300").with_payload("recorded"), logs[0], logs[1]


def kr300(data: Path) -> Found:
    """Torques of the KR 300."""
    robot, a, b = read_kr300(data)
    found = judge_torque(robot, [a], b, "tau")
    found.rows.insert(1, ("published model", np.array([29.0, 18, 14, 54, 33, 31])))
    return found


def kr300_servo(data: Path) -> Found:
    """Errors of the joints of the KR 300."""
    robot, a, b = read_kr300(data)
    fit = at.identify_servo(robot, a, b)
    rows = [
        ("armtwin, torque of the model", 100 * fit.share),
        ("best pure delay", 100 * np.array(fit.evaluation.delay_only)),
    ]
    return Found(rows, judge_tracking(fit.robot, b))


# nominal stiffness of axes 1 to 3 times the ratio that document 001 clamped on another machine
CLAMPED = (1.6956e6, 2.7849e6, 1.5186e6)


def kr300_twist(data: Path) -> Found:
    """Twist of the gears of the KR 300 by the closed elastic loop on the reference of run B."""
    robot, a, b = read_kr300(data)
    shown = at.compare(robot, b)
    rows = [("elastic loop, shipped gears", residual_twist(shown))]
    for words, factor in (("axis 1 half as stiff", 0.5), ("axis 1 twice as stiff", 2.0)):
        own = robot.description.transmission[0].stiffness
        rows.append(
            (
                f"elastic loop, {words}",
                residual_twist(at.compare(with_gears(robot, (factor * own,)), b)),
            )
        )
    clamped = at.compare(with_gears(robot, CLAMPED), b)
    rows.append(("elastic loop, gears by the clamping of document 001", residual_twist(clamped)))
    fit = at.identify_transmission(robot, [a], validate=b)
    rows.append(("regression on run A", np.array([1e6 * row.rms_unseen for row in fit.table])))
    time_offset = [1e6 * row.rms_offset_only for row in at.identify_transmission(robot, [b]).table]
    rows.append(("time offset of the encoders alone", np.array(time_offset)))
    curves = []
    for name in ("joint_2 twist", "joint_3 twist"):
        measured, predicted = shown.channels[name]
        curves.append(Curve(name, shown.time, 1e6 * measured, 1e6 * predicted, "µrad"))
    measured, predicted = shown.channels["flange z"]
    curves.append(Curve("flange, vertical", shown.time, 1e6 * measured, 1e6 * predicted, "µm"))
    return Found(rows, curves)


def with_gears(robot: at.Robot, stiffness: tuple[float, ...]) -> at.Robot:
    """The robot with other stiffnesses of its first gears."""
    gears = list(robot.description.transmission)
    for k, value in enumerate(stiffness):
        gears[k] = replace(gears[k], stiffness=value)
    return robot.with_description(replace(robot.description, transmission=tuple(gears)))


def residual_twist(shown: at.ReferenceComparison) -> np.ndarray:
    """What the loop leaves of q - q_link of each axis, rms [µrad]."""
    return np.array([1e6 * row.rms_difference for row in shown.rows if row.name.endswith(" twist")])


def tx40(data: Path) -> Found:
    """Torques of the TX40, one of six segments left out."""
    folder = data / "staubli_tx40"
    logs = [at.Log.read(folder / f"segment_{k:02d}.csv.gz") for k in (0, 2, 6, 8, 10, 4)]
    return judge_torque(at.Robot.load("tx40"), logs[:-1], logs[-1], "tau", 60.0)


def ur10e(data: Path) -> Found:
    """Currents of the UR10e as torques."""
    folder = data / "ur10e"
    logs = [
        at.Log.read(folder / f"ident_{name}.csv.gz")
        for name in ("20_02_10_30sec_12harm", "20_01_31_unload")
    ]
    robot = at.Robot.load(folder / "ur10e.urdf")
    return judge_torque(robot, logs[:1], logs[1], "current_des")


def xmate7(data: Path) -> Found:
    """Torque sensors of the xMate 7, the last third of the run left out."""
    folder = data / "rokae_xmate7"
    run = at.Log.read(folder / "excitation_first_13s.csv.gz")
    cut = 2 * len(run.time) // 3
    seen, unseen = (
        at.Log.of(run.time[part], (), **{k: x[part] for k, x in run.channels.items()})
        for part in (slice(0, cut), slice(cut, None))
    )
    return judge_torque(at.Robot.load(folder / "xmate7.urdf"), [seen], unseen, "tau")


def gen3(data: Path) -> Found:
    """Torque sensors of the Gen3."""
    folder = data / "kinova_gen3"
    logs = [at.Log.read(folder / f"{name}.csv.gz") for name in ("ident_quadratic", "ident_run1")]
    return judge_torque(at.Robot.load(folder / "kinova_gen3.urdf"), logs[:1], logs[1], "tau")


def dualarm(data: Path) -> Found:
    """Servo of the dual-arm robot."""
    folder = data / "dualarm_v2"
    robot = at.Robot.load(folder / "dualarm_v2.urdf")
    seen, unseen = (at.Log.read(path) for path in sorted(folder.glob("*.csv.gz")))
    fit = at.identify_servo(robot, seen, unseen)
    rows = [
        ("armtwin", 100 * fit.share),
        ("best pure delay", 100 * np.array(fit.evaluation.delay_only)),
    ]
    time = fit.evaluation.time
    curves = []
    for j in (int(np.argmax(fit.share)), int(np.argmin(fit.share))):
        pair = [1e3 * x[:, j] for x in (fit.evaluation.measured, fit.evaluation.predicted)]
        curves.append(
            Curve(f"{robot.joint_names[j]}, {100 * fit.share[j]:.1f} %", time, *pair, "mrad")
        )
    return Found(rows, curves)


def ur5(data: Path) -> Found:
    """Size of the errors of short runs of a UR5, of another operator."""
    folder = data / "ur5_course"
    robot = at.complete(at.Robot.load(folder / "ur5.urdf")).robot
    fit = at.identify_servo(robot, [at.Log.read(path) for path in sorted(folder.glob("run_a_*"))])
    unseen = at.Log.read(folder / "run_b_3_linear_12_45_36.csv.gz")
    shown = at.compare(fit.robot, unseen)
    measured = [1e3 * shown.channels[row.name][0].std() for row in shown.errors]
    intervals = {row.name: row.rms for row in shown.intervals}
    bounds = [[1e3 * intervals[row.name][k] for row in shown.errors] for k in (0, 1)]
    rows = [
        ("measured rms", np.array(measured)),
        ("predicted, 5 %", np.array(bounds[0])),
        ("predicted, 95 %", np.array(bounds[1])),
    ]
    return Found(rows, judge_tracking(fit.robot, unseen))


CASES = {
    "kr300": Case(
        "KUKA KR 300 R2500 ultra, torques",
        "Weigand's identification project (TU Kaiserslautern, MIT licence): two runs of 10 s at "
        "250 Hz. Fitted on run A, judged on run B as measured. The published model is the authors' "
        "own. It falls short at rest, where dry friction holds any torque within its bounds: "
        "in the picture the first and the last second.",
        "torque error [%]",
        kr300,
        "armtwin identify kr300 ident_A.csv.gz --payload recorded --torque tau "
        "--validate valid_B.csv.gz",
    ),
    "tx40": Case(
        "Staubli TX40, torques",
        "FIGAROH's example data (Apache 2.0): point-to-point motion at 5 kHz in six segments. "
        "Fitted on five, judged on the sixth, 60 Hz on both sides. FIGAROH's own parameters reach "
        "7.5 10.0 12.1 13.0 13.8 15.9 % on segments that are not here. A segment in which the arm "
        "is at rest (segment_10) is not predicted by anyone: 88 % error, as with the file.",
        "torque error [%]",
        tx40,
        "armtwin identify tx40 segment_00.csv.gz segment_02.csv.gz segment_06.csv.gz "
        "segment_08.csv.gz segment_10.csv.gz --validate segment_04.csv.gz",
    ),
    "ur10e": Case(
        "Universal Robots UR10e, target currents",
        "Mamedov's dynamic calibration (Innopolis University): fitted on an excitation of 30 s, "
        "judged on another run. Beside a URDF nothing was known; torque per ampere is identified "
        "too. The source's own fit reaches 6.0 2.4 1.8 2.9 3.4 7.1 % on runs that are not here. On "
        "such rich data plain least squares is as good.",
        "torque error [%]",
        ur10e,
        "armtwin identify ur10e.urdf ident_20_02_10_30sec_12harm.csv.gz --torque current_des "
        "--validate ident_20_01_31_unload.csv.gz",
    ),
    "xmate7": Case(
        "Rokae xMate 7, torque sensors of seven joints",
        "Liu's identification of an xMate: 13 s at 1 kHz; the masses of its URDF are invented. "
        "Fitted on the first two thirds, judged on the last. Here plain least squares is better in "
        "the mean, by joint 7 alone: its torque is below 1 N m, and the constraints cost more than "
        "they bring.",
        "torque error [%]",
        xmate7,
        "armtwin identify xmate7.urdf excitation_first_13s.csv.gz --torque tau",
    ),
    "gen3": Case(
        "Kinova Gen3, torque sensors of seven joints",
        "Chiha's dynamic identification (CC0): fitted on a run of 4.9 s, judged on one of 1.9 s. "
        "So little motion determines few parameters: less is wrong than with plain least "
        "squares or the URDF, but no joint is predicted well, and joint 1, whose torque is below "
        "2 N m, not at all. This is a failure; `identify` lists what the logs do not identify.",
        "torque error [%]",
        gen3,
        "armtwin identify kinova_gen3.urdf ident_quadratic.csv.gz --torque tau "
        "--validate ident_run1.csv.gz",
    ),
    "kr300_servo": Case(
        "KUKA KR 300 R2500 ultra, errors of the joints",
        "The same two runs: the servo is fitted to commanded and reached positions of run A, and "
        "its error predicted on run B. Given is the share of the error's variance that is "
        "explained; a pure delay is what is often assumed. The curves are the closed loop of the "
        "twin on the reference of run B, with the torque of its own model. It needs to know what "
        "the robot carried: without `--payload recorded` nothing is explained of joint 2.",
        "explained [%]",
        kr300_servo,
        "armtwin servo kr300 ident_A.csv.gz --validate valid_B.csv.gz --payload recorded",
    ),
    "kr300_twist": Case(
        "KUKA KR 300 R2500 ultra, twist of the gears",
        "The robot has link encoders on axes 1 to 3. Its closed elastic loop runs on the reference "
        "of run B, which neither servo nor gears were fitted to; q - q_link is beside the "
        "measured, the 3.01 ms by which the link encoders are late and each mean taken off, and "
        "what it moves the flange by. It falls short on axis 1: any stiffness from half the "
        "nominal on leaves about as much, so that these runs do not determine it. What bends "
        "beyond the link encoders is not seen: after the stops the arm swings with 7.2 to 7.7 Hz, "
        "the model with these gears with 11.6.",
        "residual q - q_link [µrad]",
        kr300_twist,
        "armtwin compare kr300 valid_B.csv.gz --payload recorded",
    ),
    "dualarm": Case(
        "A laboratory dual-arm robot, seven joints, ordinary position servo",
        "Hu's dual-arm robot: 30 s at 99 Hz; the masses of its URDF are invented and the currents "
        "have no unit. The servo is fitted to one excitation and judged on the other.",
        "explained [%]",
        dualarm,
        "armtwin servo dualarm_v2.urdf ident_cond13.5.csv.gz --validate ident_cond52.2.csv.gz",
    ),
    "ur5": Case(
        "Universal Robots UR5, size of the error",
        "Short runs of a course, its own controller, no torque logged: fitted to the runs of one "
        "operator, judged on a run of another. Such logs do not determine the servo. What the twin "
        "gives is the size of the error with an interval: on this run it holds three of six "
        "joints, and is wrong by up to a factor of 4.",
        "rms of the error [mrad]",
        ur5,
        "armtwin complete ur5.urdf --out ur5.toml",
    ),
}


def draw(curves: list[Curve], path: Path) -> None:
    """Draw measured over predicted as a small picture."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from PIL import Image

    figure, axes = plt.subplots(1, len(curves), figsize=SIZE, layout="constrained")
    for ax, curve in zip(axes, curves, strict=True):
        if curve.before is not None:
            ax.plot(curve.time, curve.before, color="#d58c11", lw=0.8, ls="--", label="robot file")
        ax.plot(curve.time, curve.measured, color="#8a94a0", lw=1.6, label="measured")
        ax.plot(curve.time, curve.predicted, color="#1c83e8", lw=0.9, label="predicted")
        ax.set_title(curve.title, fontsize=10)
        ax.set_xlabel("time [s]")
        ax.set_ylabel(f"[{curve.unit}]")
        ax.grid(color="#d9dee5", lw=0.6)
    axes[0].legend(fontsize=8, frameon=False)
    drawn = io.BytesIO()
    figure.savefig(drawn, dpi=DPI)
    plt.close(figure)
    with Image.open(drawn) as image:
        image.convert("RGB").quantize(COLOURS).save(path, optimize=True)


def write_section(name: str, case: Case, found: Found) -> str:
    """The section of a recording."""
    joints = len(found.rows[0][1])
    head = " | ".join(str(k + 1) for k in range(joints))
    lines = [f"## {case.title}", "", textwrap.fill(case.text, WIDTH), ""]
    lines += [f"| {case.unit} of joint | {head} | mean |", "|---|" + "---|" * (joints + 1)]
    for what, values in found.rows:
        cells = " | ".join(f"{value:.3g}" for value in values)
        lines.append(f"| {what} | {cells} | {np.mean(values):.3g} |")
    picture = f"![Measured and predicted on an unseen log](pictures/evidence_{name}.png)"
    again = f"`python docs/make_evidence.py DATA {name}` makes table and picture."
    lines += [
        "",
        picture,
        "",
        again,
        "The same as a command:",
        "",
        "```sh",
        case.command,
        "```",
        "",
    ]
    return SECTION.format(name, "\n".join(lines))


def main() -> None:
    """Renew the sections that are named, or all."""
    data, names = Path(sys.argv[1]), sys.argv[2:] or list(CASES)
    text = PAGE.read_text(encoding="utf-8")
    for name in names:
        case = CASES[name]
        found = case.run(data)
        draw(found.curves, DOCS / "pictures" / f"evidence_{name}.png")
        section = write_section(name, case, found)
        old = re.compile(f"<!-- {name} -->.*?<!-- end -->\n", re.DOTALL)
        text = old.sub(lambda _, section=section: section, text)
        sys.stdout.write(section)
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

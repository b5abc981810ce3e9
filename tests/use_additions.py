"""Use what docs/adding.md adds to a copy of the package; prints what was seen as JSON."""

import contextlib
import io
import json
import re
import sys
from pathlib import Path
from unittest import mock

import numpy as np
from rich.console import Console

import armtwin as at
from armtwin.report.result_file import to_result
from armtwin.report.terminal import to_terminal

ROBOT = "planar_arm"
SPEEDS = [-0.5, -0.02, 0.02, 0.5]


def call(*words):
    """The command line in this process: exit code and what it prints."""
    from armtwin.app.commands import main  # which loads other experiments

    out, err = io.StringIO(), io.StringIO()
    with (
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["armtwin", *words]),
    ):
        try:
            main()
        except SystemExit as ended:
            return {"code": ended.code or 0, "out": out.getvalue(), "err": err.getvalue()}


def use_robot():
    """A short closed loop, and commands that list, check and analyse it."""
    log = simulate(at.Robot.load(ROBOT), "lugre").log
    return {
        "following_error_rad": float(np.abs(log.q - log.q_ref).max()),
        "robots": call("robots"),
        "check": call("check", ROBOT),
        "torques": call("analyse", ROBOT, "torques", "--json"),
    }


def simulate(robot, friction):
    """A closed loop of 60 ms: both joints swing by a hundredth of a radian and back."""
    t = np.arange(0, 0.06, 1 / 250)[:, None]
    size, w = np.array([[0.01, -0.01]]), 2 * np.pi / 0.06
    q = size * (1 - np.cos(w * t))
    motion = at.Trajectory.sampled(250, q, size * w * np.sin(w * t), size * w**2 * np.cos(w * t))
    return at.simulate(robot, motion, at.Model(friction=friction, servo="cascade"))


def use_law(element, curves):
    """The law in a robot file: its torque, its columns, a closed loop, a fit to curves."""
    text = Path(at.Robot.load(ROBOT).origin).read_text(encoding="utf-8")
    of_shoulder = re.compile(r'\[\[friction\]\]\nname = "shoulder".*?\n(?=\[\[)', re.DOTALL)
    Path("with_law.toml").write_text(of_shoulder.sub(f"{element}\n", text), encoding="utf-8")
    robot = at.Robot.load("with_law.toml")
    v = np.zeros((len(SPEEDS), 2))
    v[:, 0] = SPEEDS
    rest = np.zeros_like(v)
    load = robot.inverse_dynamics(rest, v, rest) + robot.friction_torque(v)
    of_columns = robot.regressor(rest, v, rest) @ robot.parameters
    log = simulate(robot, "switching").log
    return {
        "speeds_rad_s": SPEEDS,
        "torque_n_m": robot.friction_torque(v)[:, 0].tolist(),
        "apart_n_m": float(np.abs(of_columns - load).max()),
        "parameters": [name for name in robot.parameter_names if "shoulder" in name],
        "loop_rad_s": log.v[:, 0].tolist(),
        "loop_n_m": log.tau_friction[:, 0].tolist(),
        "fit": call("friction", "curves", "with_law.toml", curves, "--law", "hess_soom", "--json"),
    }


def use_experiment(log):
    """The result of the experiment as terminal, page, JSON, card, plot and table show it."""
    swing = at.fit_swing(at.Log.read(log))
    swing.report("swing.html")
    console = Console(width=60)
    with console.capture() as capture:
        console.print(to_terminal(swing.sections()))
    axes = swing.plot()
    loaded = [name for name in sys.modules if name.startswith("armtwin.identification.")]
    return {
        "public": sorted({"Swing", "fit_swing"} & set(dir(at))),
        "repr": repr(swing),
        "card": swing._repr_html_(),
        "terminal": capture.get(),
        "page": Path("swing.html").read_text(encoding="utf-8"),
        "json": to_result(swing.sections()),
        "frame": swing.to_dataframe()["time_s"].tolist(),
        "plot": [axes[0].get_ylabel(), axes[0].get_lines()[0].get_ydata().tolist()],
        "loaded": loaded,
    }


def use_command(log, still):
    """The command: in the list, its result as text and JSON, its folder, its errors."""
    return {
        "help": call("--help"),
        "text": call("swing", log),
        "json": call("swing", log, "--json", "--out", "chosen"),
        "files": sorted(path.as_posix() for path in Path().glob("[ac]*/**/*.*")),
        "again": call("swing", log, "--joint", "2", "--out", "chosen"),
        "refused": call("swing", still, "--json"),
    }


if __name__ == "__main__":
    element, curves, log, still = sys.argv[1:]
    used = {
        "experiment": use_experiment(log),
        "command": use_command(log, still),
        "robot": use_robot(),
        "law": use_law(element, curves),
    }
    sys.stdout.write(json.dumps(used))

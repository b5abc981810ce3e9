"""Use what docs/adding.md adds to a copy of the package; prints what was seen as JSON."""

import contextlib
import io
import json
import sys
import tomllib
from pathlib import Path
from unittest import mock

import matplotlib as mpl
import numpy as np

mpl.use("Agg")

import armtwin as at  # noqa: E402 (matplotlib must not look for a screen)
from armtwin.app.commands import main  # noqa: E402

ROBOT = "planar_arm"


def call(*words):
    """The command line in this process: exit code and what it prints."""
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
    """Its gravity torques with both links stretched, a short closed loop, commands."""
    robot = at.Robot.load(ROBOT)
    return {
        "gravity": robot.gravity([0.0, 0.0]).tolist(),
        "errors": np.abs(run_of(robot).log.q - run_of(robot).log.q_ref).max(axis=0).tolist(),
        "names": list(at.robots().names),
        "check": call("check", ROBOT),
        "torques": call("analyse", ROBOT, "torques", "--json"),
    }


def run_of(robot, friction="lugre"):
    """A closed loop of 60 ms: both joints swing by a hundredth of a radian and back."""
    t = np.arange(0, 0.06, 1 / 250)[:, None]
    size, w = np.array([[0.01, -0.01]]), 2 * np.pi / 0.06
    q = size * (1 - np.cos(w * t))
    motion = at.Trajectory.sampled(250, q, size * w * np.sin(w * t), size * w**2 * np.cos(w * t))
    return at.simulate(robot, motion, at.Model(friction=friction, servo="cascade"))


def use_law(element):
    """The law in a robot file: its torque, its columns, a fit to a curve, a closed loop."""
    robot = with_friction(element)
    at_rest = np.zeros((4, 2))
    v = at_rest.copy()
    v[:, 0] = -0.5, -0.02, 0.02, 0.5
    load = robot.inverse_dynamics(at_rest, v, at_rest) + robot.friction_torque(v)
    columns = robot.regressor(at_rest, v, at_rest)
    names = [parameter.name for parameter in robot.parameter_table]
    return {
        "speeds": v[:, 0].tolist(),
        "torque": robot.friction_torque(v)[:, 0].tolist(),
        "from_columns": np.abs(columns @ robot.parameters - load).max(),
        "parameters": [name for name in names if "shoulder" in name],
        "energy": {kind: energy(run_of(robot, kind)) for kind in ("lugre", "switching")},
        "fit": fit_of(robot),
    }


def energy(run):
    """What motors and friction took, and what is missing in the account [J]."""
    account = run.energy
    left = account.motors - account.stored - account.friction - account.dampers
    return {"friction": account.friction, "left": left - account.numerical}

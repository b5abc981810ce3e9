"""An exported model in MuJoCo: its torques along a motion, and its closed loop."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from armtwin.control.controller import ACCELERATION, POSITION, SPEED
from armtwin.exchange.mjcf import Mjcf, coordinate_names
from armtwin.maths.batch import Floats
from armtwin.maths.interpolation import interpolate_columns
from armtwin.robot.dynamics.sag import Outside
from armtwin.simulation.prepared import PreparedRun

ENGINE = "mujoco"


class EngineRun(NamedTuple):
    """What the engine did until it ran away: times, (k,) [s], and coordinates there, (k, N)."""

    time: Floats
    u: Floats


class Engine(NamedTuple):
    """An exported file in the engine: its model and data, and where it has the coordinates."""

    model: Any
    data: Any
    places: Any


def load(exported: Mjcf, run: PreparedRun) -> Engine:
    """An exported file, and where the engine has the coordinates of the twin."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(exported.text)
    places = [int(model.joint(name).qposadr[0]) for name in coordinate_names(run)]
    return Engine(model, mujoco.MjData(model), np.array(places))


def inverse_dynamics(exported: Mjcf, run: PreparedRun, u: Floats, v: Floats, a: Floats) -> Floats:
    """Torques on the coordinates without friction and dampers, (k, N) [N m]."""
    import mujoco

    model, data, places = load(exported, run)
    no_friction = mujoco.mjtDisableBit.mjDSBL_DAMPER | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.disableflags |= no_friction
    torques = np.empty_like(u)
    for k in range(len(u)):
        data.qpos[places], data.qvel[places], data.qacc[places] = u[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        torques[k] = data.qfrc_inverse[places]
    return torques


def closed_loop(exported: Mjcf, run: PreparedRun, outside: Outside) -> EngineRun:
    """The servo of the file along the set-points of a run, from the keyframe called home.

    It ends where the engine warns: what it has then is nothing that a robot does.

    Args:
        exported: The file.
        run: The run.
        outside: What acts at its set-points.
    """
    import mujoco

    model, data, places = load(exported, run)
    step = float(model.opt.timestep)
    ref = run.inputs.ref
    duration = (len(ref) - 1) / run.motion.rate
    time = np.asarray(np.arange(round(duration / step) + 1) * step, dtype=np.float64)
    commands = exported.servo.commands(_between(ref, run, time)).reshape(len(time), -1)
    mujoco.mj_resetDataKeyframe(model, data, 0)
    data.qpos[places] = run.state.u
    torque, wrench = (
        None if x is None else _resample(x, run, time) for x in (outside.torque, outside.wrench)
    )
    tool = model.site("tool").id
    carrier = int(model.site_bodyid[tool])
    links = places[run.coordinates.link]
    u = np.empty((len(time), len(places)))
    with _warnings() as found:
        for k in range(len(time)):
            u[k] = data.qpos[places]
            data.ctrl[:] = commands[k]
            data.qfrc_applied[:] = 0.0
            if torque is not None:
                data.qfrc_applied[links] = torque[k]
            if wrench is not None:
                force, moment, place = wrench[k, :3], wrench[k, 3:], data.site_xpos[tool]
                mujoco.mj_applyFT(model, data, force, moment, place, carrier, data.qfrc_applied)
            mujoco.mj_step(model, data)
            if found:
                break
    return EngineRun(time[: k + 1], u[: k + 1])


@contextmanager
def _warnings() -> Iterator[list[str]]:
    """Warnings of the engine, which it would print and write into this folder."""
    import mujoco

    found: list[str] = []
    mujoco.set_mju_user_warning(found.append)
    try:
        yield found
    finally:
        mujoco.set_mju_user_warning(None)


def _between(ref: Floats, run: PreparedRun, time: Floats) -> Floats:
    """References of the drives at times, the cubics between set-points, (k, REFERENCES, m)."""
    from scipy.interpolate import CubicHermiteSpline

    stamps = np.arange(len(ref)) / run.motion.rate
    spline = CubicHermiteSpline(stamps, ref[:, POSITION], ref[:, SPEED])
    at = _resample(ref.reshape(len(ref), -1), run, time).reshape(len(time), *ref.shape[1:])
    at[:, POSITION], at[:, SPEED] = spline(time), spline(time, 1)
    if not run.controller.given_acceleration:
        at[:, ACCELERATION] = spline(time, 2)
    return at


def _resample(values: Floats, run: PreparedRun, time: Floats) -> Floats:
    """Columns at the set-points, linear between them."""
    stamps = np.arange(len(values)) / run.motion.rate
    return interpolate_columns(time, stamps, values)


def version() -> str:
    """Version of the engine."""
    import mujoco

    return str(mujoco.__version__)

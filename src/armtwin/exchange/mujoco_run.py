"""An exported model in MuJoCo: its torques along a motion, and its closed loop."""

from __future__ import annotations

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
    """What the engine did: times, (k,) [s], and coordinates there, (k, N)."""

    time: Floats
    u: Floats


def load(exported: Mjcf) -> tuple[Any, Any]:
    """Model and data of an exported file."""
    import mujoco

    model = mujoco.MjModel.from_xml_string(exported.text)
    return model, mujoco.MjData(model)


def _places(model: Any, run: PreparedRun) -> Any:
    """Where the engine has the coordinates of the twin."""
    return [int(model.joint(name).qposadr[0]) for name in coordinate_names(run)]


def inverse_dynamics(exported: Mjcf, run: PreparedRun, u: Floats, v: Floats, a: Floats) -> Floats:
    """Torques on the coordinates without friction and dampers, (k, N) [N m]."""
    import mujoco

    model, data = load(exported)
    no_friction = mujoco.mjtDisableBit.mjDSBL_DAMPER | mujoco.mjtDisableBit.mjDSBL_CONSTRAINT
    model.opt.disableflags |= no_friction
    places = _places(model, run)
    torques = np.empty_like(u)
    for k in range(len(u)):
        data.qpos[places], data.qvel[places], data.qacc[places] = u[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        torques[k] = data.qfrc_inverse[places]
    return torques


def closed_loop(exported: Mjcf, run: PreparedRun, outside: Outside) -> EngineRun:
    """The servo of the file along the set-points of a run, from the keyframe called home.

    Args:
        exported: The file.
        run: The run.
        outside: What acts at its set-points.
    """
    import mujoco

    model, data = load(exported)
    step = float(model.opt.timestep)
    places = _places(model, run)
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
    links = np.array(places)[run.coordinates.link]
    u = np.empty((len(time), len(places)))
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
    return EngineRun(time, u)


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

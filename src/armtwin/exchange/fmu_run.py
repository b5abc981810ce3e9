"""An exported unit of a robot in fmpy: along a motion, and at rest on postures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np

from armtwin.control.controller import TORQUE, uses_torque
from armtwin.exchange import robot_stages
from armtwin.exchange.external_fmu_process import UnitInFmpy
from armtwin.maths.batch import Floats
from armtwin.robot.dynamics.sag import Outside
from armtwin.simulation.prepared import PreparedRun

ENGINE = "fmpy"
POSE = ("R11", "R12", "R13", "x", "R21", "R22", "R23", "y", "R31", "R32", "R33", "z")


class UnitRun(NamedTuple):
    """What a unit did: poses of the tool, (k, 4, 4), links, (k, n), and torques on the joints."""

    poses: Floats
    q: Floats
    tau: Floats


@contextmanager
def unpacked(unit: bytes) -> Iterator[str]:
    """The folder of a unit, removed at the end."""
    import fmpy

    with TemporaryDirectory(prefix="armtwin-fmu-", ignore_cleanup_errors=True) as folder:
        file = Path(folder, "unit.fmu")
        file.write_bytes(unit)
        yield str(fmpy.extract(str(file), str(Path(folder, "unit"))))


def joint_loads(run: PreparedRun, outside: Outside) -> Floats:
    """What acts from outside as torques on the joints on their set-points, (k, n) [N m]."""
    q = run.motion.q
    loads = np.zeros_like(q)
    if outside.torque is not None:
        loads += outside.torque
    if outside.wrench is not None:
        loads += np.einsum("kij,ki->kj", run.robot.jacobian(q), outside.wrench)
    return loads


def closed_loop(folder: str, run: PreparedRun, loads: Floats) -> UnitRun:
    """The unit along the set-points of a run: what it has at each of them until it stops.

    Args:
        folder: The unit.
        run: The run.
        loads: Torques on the joints from outside, each from its set-point to the next one.
    """
    from fmpy.fmi1 import FMICallException

    c, motion = run.controller, run.motion
    given = {"q_ref": motion.q, "v_ref": motion.v, "a_ref": motion.a}
    if uses_torque(c):
        given["tau_ff"] = run.inputs.ref[:, TORQUE]
    names = [name for array, values in given.items() for name in _numbered(array, values)]
    rows = np.hstack([*given.values()])
    last = len(rows) - 1
    ahead = np.minimum(np.arange(last + 1) + 1 + int(robot_stages.looks_ahead(c)), last)
    found = []
    with _started(folder, [*names, *_numbered("load", loads)], run.robot.n) as unit:
        unit.asked(0.0, [*rows[0].tolist(), *loads[0].tolist()])
        for k, row in enumerate(np.hstack([rows[ahead], loads]).tolist()):
            try:
                found.append(unit.asked(k / motion.rate, row))
            except FMICallException:
                break
    return _split(found, run.robot.n)


def at_rest(folder: str, postures: Floats) -> UnitRun:
    """The unit at rest on postures, (k, n)."""
    found = []
    for q in postures:
        with _started(folder, _numbered("q_ref", postures), len(q)) as unit:
            found.append(unit.asked(0.0, q.tolist()))
    return _split(found, postures.shape[1])


@contextmanager
def _started(folder: str, inputs: list[str], n: int) -> Iterator[UnitInFmpy]:
    """An instance whose outputs are the tool's pose, links and torques of n joints."""
    joints = np.empty((0, n))
    outputs = [f"tool_{name}" for name in POSE]
    outputs += [*_numbered("q_link", joints), *_numbered("tau", joints)]
    unit = UnitInFmpy(folder, {}, inputs, outputs)
    try:
        yield unit
    finally:
        unit.unit.freeInstance()


def _numbered(name: str, values: Floats) -> list[str]:
    """Names of variables, one for each column of values."""
    return [f"{name}{k + 1}" for k in range(values.shape[1])]


def _split(found: list[list[float]], n: int) -> UnitRun:
    pose, q, tau = np.split(np.array(found), [len(POSE), len(POSE) + n], axis=1)
    poses = np.tile(np.eye(4), (len(pose), 1, 1))
    poses[:, :3] = pose.reshape(-1, 3, 4)
    return UnitRun(poses, q, tau)

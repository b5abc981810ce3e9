"""An exported unit of a robot in fmpy: along a motion, and at rest on postures."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from armtwin.control.controller import TORQUE
from armtwin.exchange import robot_stages
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


class LoadedUnit:
    """A unit of a robot in fmpy, by the names of its variables."""

    def __init__(self, folder: Path, file: Path) -> None:
        import fmpy

        fmpy.extract(str(file), str(folder))
        described = fmpy.read_model_description(str(folder))
        self.reference = {x.name: x.valueReference for x in described.modelVariables}
        self.is_old = described.fmiVersion.startswith("2")
        self.unit: Any = fmpy.instantiate_fmu(str(folder), described, fmi_type="CoSimulation")

    def begin(self, **start: Floats) -> None:
        """At rest on the first set-point."""
        if self.is_old:
            self.unit.setupExperiment(startTime=0.0)
            self.unit.enterInitializationMode()
        else:
            self.unit.enterInitializationMode(startTime=0.0)
        self.set(**start)
        self.unit.exitInitializationMode()

    def set(self, **arrays: Floats) -> None:
        """Inputs, an array for those whose names end in a number."""
        put = self.unit.setReal if self.is_old else self.unit.setFloat64
        for name, values in arrays.items():
            put(self._numbered(name, len(values)), values.tolist())

    def outputs(self, n: int) -> list[float]:
        """The tool's pose, links and torques of n joints, one after another."""
        ask = self.unit.getReal if self.is_old else self.unit.getFloat64
        pose = [self.reference[f"tool_{name}"] for name in POSE]
        found = ask([*pose, *self._numbered("q_link", n), *self._numbered("tau", n)])
        return list(map(float, found))

    def _numbered(self, name: str, count: int) -> list[int]:
        return [self.reference[f"{name}{k}"] for k in range(1, count + 1)]


@contextmanager
def load(unit: bytes) -> Iterator[LoadedUnit]:
    """A unit, freed at the end."""
    with TemporaryDirectory(prefix="armtwin-fmu-", ignore_cleanup_errors=True) as folder:
        file = Path(folder, "unit.fmu")
        file.write_bytes(unit)
        found = LoadedUnit(Path(folder, "unit"), file)
        try:
            yield found
        finally:
            found.unit.freeInstance()


def joint_loads(run: PreparedRun, outside: Outside) -> Floats:
    """What acts from outside as torques on the joints on their set-points, (k, n) [N m]."""
    q = run.motion.q
    loads = np.zeros_like(q)
    if outside.torque is not None:
        loads += outside.torque
    if outside.wrench is not None:
        loads += np.einsum("kij,ki->kj", run.robot.jacobian(q), outside.wrench)
    return loads


def closed_loop(unit: LoadedUnit, run: PreparedRun, loads: Floats) -> UnitRun:
    """The unit along the set-points of a run: what it has at each of them until it stops.

    Args:
        unit: The unit.
        run: The run.
        loads: Torques on the joints from outside, each from its set-point to the next one.
    """
    from fmpy.fmi1 import FMICallException

    motion, torque = run.motion, run.inputs.ref[:, TORQUE]
    last, period = len(motion.q) - 1, 1 / motion.rate
    ahead = 1 + int(robot_stages.looks_ahead(run.controller))
    fed = "tau_ff1" in unit.reference

    def inputs(k: int) -> dict[str, Floats]:
        found = {"q_ref": motion.q[k], "v_ref": motion.v[k], "a_ref": motion.a[k]}
        return found | {"tau_ff": torque[k]} if fed else found

    unit.begin(**inputs(0), load=loads[0])
    found = [unit.outputs(run.robot.n)]
    for k in range(last):
        unit.set(**inputs(min(k + ahead, last)), load=loads[k])
        try:
            unit.unit.doStep(k * period, period)
        except FMICallException:
            break
        found.append(unit.outputs(run.robot.n))
    return _split(found, run.robot.n)


def at_rest(unit: LoadedUnit, postures: Floats) -> UnitRun:
    """The unit at rest on postures, (k, n)."""
    found = []
    for q in postures:
        unit.unit.reset()
        unit.begin(q_ref=q)
        found.append(unit.outputs(len(q)))
    return _split(found, postures.shape[1])


def _split(found: list[list[float]], n: int) -> UnitRun:
    pose, q, tau = np.split(np.array(found), [len(POSE), len(POSE) + n], axis=1)
    poses = np.tile(np.eye(4), (len(pose), 1, 1))
    poses[:, :3] = pose.reshape(-1, 3, 4)
    return UnitRun(poses, q, tau)

"""Units that several tests look at, written once."""

from dataclasses import replace

import pytest

import armtwin as at
from armtwin.exchange.export import c_compiler
from armtwin.prediction.predict import plan_motion
from tests.exchange.units import compiled


@pytest.fixture(scope="session")
def folder(tmp_path_factory):
    if c_compiler() is None:
        pytest.skip("no C compiler is found on this machine")
    return tmp_path_factory.mktemp("units")


@pytest.fixture(scope="session")
def host(folder):
    return compiled(folder, "host")


@pytest.fixture(scope="session")
def transmissions(folder):
    """Joint 1 of the KR 300 with bristles, clamped, as units of both versions."""
    robot = at.Robot.load("kr300")
    found = {}
    for version in (2, 3):
        path = folder / f"joint_{version}.fmu"
        at.export_fmu(robot, path, at.OneJoint(1), fmi=version)
        found[version] = path
    return found


@pytest.fixture(scope="session")
def clamping():
    """The shipped clamping experiment, run on our bench."""
    return at.run_experiment(at.Experiment.load("kr300_clamping"))


@pytest.fixture(scope="session")
def line():
    """The line of the RX90B without quantiser: robot, model, motion."""
    job = at.Job.load("rx90b_line")
    robot = job.robot()
    model = replace(job.description.model, quantise=False)
    return robot, model, plan_motion(robot, job).trajectory


@pytest.fixture(scope="session")
def line_unit(folder, line):
    robot, model, motion = line
    path = folder / "rx90b.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, motion.q[0]))
    return path

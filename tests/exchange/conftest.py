"""Units that several tests look at, written once."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.load import Load
from armtwin.drives.ripple import Ripple
from armtwin.exchange.export import c_compiler
from armtwin.prediction.predict import plan_motion
from tests.exchange.units import compiled
from tests.robot.test_epaas import START

BENT = np.radians([10.0, -60.0, 100.0, 20.0, 30.0, 5.0])  # a posture of the KR 300


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


@pytest.fixture(scope="session")
def uneven(folder):
    """The KR 300 with uneven elastic gears, loaded friction and spinning rotors, and its unit.

    Its gears are damped by 0.3 of critical of the motor on the spring. With the 0.02 of the file
    they rattle in their backlash, where a push of 1e-10 N m grows to 3e-5 rad, and so does a
    rounding; damped, it stays below 1e-10 rad, with switching friction as with bristles.
    """
    shipped = at.Robot.load("kr300")
    d = shipped.description
    rotors = np.diag(shipped.assembly.rotors.inertia)
    gears = []
    for k, (gear, rotor) in enumerate(zip(d.transmission, rotors, strict=True)):
        ripple = (Ripple(2.0 + k, 1e-4, 0.3 * k),)
        damping = 2 * 0.3 * np.sqrt(gear.stiffness * rotor)
        gears.append(replace(gear, ripple=ripple, damping=float(damping)))
    elements = tuple(replace(element, load=Load(0.15)) for element in d.friction)
    spinning = replace(d.gear, gyroscopic=True)
    robot = at.Robot(replace(d, transmission=tuple(gears), friction=elements, gear=spinning))
    model = at.Model(quantise=False, joints="elastic", ripple=True)
    path = folder / "uneven.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, BENT))
    return robot, model, path


@pytest.fixture(scope="session")
def hydraulic(folder):
    """The EPAAS without friction: robot, model, unit, and a motion from its home posture."""
    from tests.exchange.test_robot_unit import motion_of

    robot = at.Robot.load("epaas")
    model = at.Model(servo="proportional", friction="off", quantise=False)
    path = folder / "epaas.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, START))
    return robot, model, path, motion_of(robot, model, START, 0.2)

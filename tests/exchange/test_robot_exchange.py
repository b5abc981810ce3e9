"""A robot whose host integrates the plant: model exchange with the ticks of the controller."""

import fmpy
import numpy as np
import pytest

import armtwin as at
from tests.exchange.test_robot_unit import motion_of, rows_of
from tests.exchange.units import needs_compiler, opened

pytestmark = needs_compiler

POSE = [0.1, 0.6, 1.3, 0.2, 1.0, 0.1]


def integrate(unit, motion, steps):
    """Joints at the set-points, by Runge and Kutta's method with some steps in a tick."""
    names = [f"q{j}" for j in range(1, motion.q.shape[1] + 1)]
    count = len([name for name in unit.reference if name.startswith("state.")])
    first, *others = rows_of(motion)
    unit.begin(first)
    time, period, found = 0.0, 1 / motion.rate, [unit.get(*names)]
    for k, row in enumerate(others):
        unit.set(row)
        while True:
            unit.unit.setTime(time)
            _, _, _, _, defined, after = unit.unit.newDiscreteStates()
            assert defined
            unit.unit.enterContinuousTimeMode()
            h = (after - time) / steps
            for _ in range(steps):
                advance(unit, count, time, h)
                time += h
            time = after
            unit.unit.setTime(time)
            unit.unit.enterEventMode()
            if time > (k + 1) * period - 1e-9:
                break
        found.append(unit.get(*names))
    return np.array(found)


def advance(unit, count, time, h):
    """One step of fourth order."""
    import ctypes

    def states(values=None):
        x = (ctypes.c_double * count)(*([] if values is None else values))
        act = unit.unit.getContinuousStates if values is None else unit.unit.setContinuousStates
        act(x, count)
        return np.array(x)

    def slopes(values, now):
        unit.unit.setTime(now)
        states(values)
        x = (ctypes.c_double * count)()
        unit.unit.getDerivatives(x, count)
        return np.array(x)

    x = states()
    one = slopes(x, time)
    two = slopes(x + 0.5 * h * one, time + 0.5 * h)
    three = slopes(x + 0.5 * h * two, time + 0.5 * h)
    four = slopes(x + h * three, time + h)
    states(x + h / 6 * (one + 2 * two + 2 * three + four))


@pytest.mark.parametrize("friction", ["lugre", "off"])
def test_a_plain_host_integrates_what_is_simulated(tmp_path, friction):
    robot = at.Robot.load("rx90b")
    model = at.Model(quantise=False, friction=friction)
    motion = motion_of(robot, model, POSE, 0.1)
    path = tmp_path / "unit.fmu"
    written = at.export_fmu(robot, path, at.WholeRobot(model, motion.q[0]))
    assert written.kinds == ("co-simulation", "model exchange")
    wanted = at.simulate(robot, motion, model).log.q
    for steps in (1, 2, 4, 8):
        with opened(path, tmp_path, fmi_type="ModelExchange") as unit:
            got = integrate(unit, motion, steps)
        print(friction, steps, np.abs(got - wanted).max(), np.abs(wanted - motion.q).max())


def test_more(tmp_path):
    from tests.exchange.test_robot_families import BENT, START, uneven

    for robot, model, start, n in (
        (
            uneven(at.Robot.load("kr300")),
            at.Model(quantise=False, joints="elastic", ripple=True),
            BENT,
            0.06,
        ),
        (
            at.Robot.load("epaas"),
            at.Model(quantise=False, servo="proportional", friction="off"),
            START,
            0.02,
        ),
        (
            at.Robot.load("epaas"),
            at.Model(quantise=False, servo="proportional", friction="off", valves="delay"),
            START,
            0.02,
        ),
    ):
        motion = motion_of(robot, model, start, n)
        path = tmp_path / "unit.fmu"
        at.export_fmu(robot, path, at.WholeRobot(model, motion.q[0]))
        wanted = at.simulate(robot, motion, model).log.q
        for steps in (1, 2, 4, 8, 16):
            with opened(path, tmp_path, fmi_type="ModelExchange") as unit:
                got = integrate(unit, motion, steps)
            print(
                robot.name,
                steps,
                np.abs(got - wanted).max(),
                np.abs(wanted - motion.q).max(),
                np.ptp(wanted, axis=0).max(),
            )


def test_cvode(tmp_path):
    robot = at.Robot.load("rx90b")
    model = at.Model(quantise=True)
    motion = motion_of(robot, model, POSE, 0.1)
    waiting = [np.vstack([x[:1], x]) for x in (motion.q, motion.v, motion.a)]
    path = tmp_path / "unit.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, motion.q[0]))
    wanted = at.simulate(robot, at.Trajectory(motion.rate, *waiting), model).log.q
    names = ["time"] + [f"{x}{j}" for x in ("q_ref", "v_ref", "a_ref") for j in range(1, 7)]
    # what is given at a set-point is the next one
    times = np.arange(len(motion.q)) / motion.rate
    rows = np.column_stack([times, *(x[1:] for x in waiting)])
    signal = np.array([tuple(row) for row in rows], dtype=[(name, float) for name in names])
    import time

    t = time.time()
    found = fmpy.simulate_fmu(
        str(path), fmi_type="ModelExchange", stop_time=times[-1], output_interval=1 / motion.rate,
        input=signal, relative_tolerance=1e-6, output=[f"q{j}" for j in range(1, 7)],
    )  # fmt: skip
    got = np.array([[row[f"q{j}"] for j in range(1, 7)] for row in found])
    at_setpoints = [int(np.argmin(np.abs(found["time"] - x))) for x in times]
    print(
        "cvode", time.time() - t, len(found), np.abs(got[at_setpoints] - wanted[: len(times)]).max()
    )

"""A robot whose host integrates the plant: model exchange, the controller's ticks as events."""

from ctypes import c_double

import fmpy
import numpy as np
import pytest

import armtwin as at
from tests.exchange.conftest import BENT
from tests.exchange.test_robot_unit import motion_of, rows_of
from tests.exchange.units import needs_compiler, opened

pytestmark = needs_compiler


class Integrator:
    """A plain host of fourth order: Runge and Kutta's method with some steps in a tick."""

    def __init__(self, unit, steps):
        self.unit, self.steps = unit, steps
        self.count = len([name for name in unit.reference if name.startswith("state.")])
        self.time = 0.0

    def follow(self, motion):
        """Joints at the set-points."""
        names = [f"q{j}" for j in range(1, motion.q.shape[1] + 1)]
        first, *others = rows_of(motion)
        self.unit.begin(first)
        found = [self.unit.get(*names)]
        for k, row in enumerate(others, 1):
            self.unit.set(row)
            while self.time < k / motion.rate - 1e-9:
                self.go_to_event()
            found.append(self.unit.get(*names))
        return np.array(found)

    def go_to_event(self):
        """From one event to the next."""
        fmu = self.unit.unit
        *_, defined, after = fmu.newDiscreteStates()
        assert defined
        fmu.enterContinuousTimeMode()
        for _ in range(self.steps):
            self.advance((after - self.time) / self.steps)
        fmu.enterEventMode()

    def advance(self, h):
        x, t = self.states(), self.time
        one = self.slopes(x, t)
        two = self.slopes(x + 0.5 * h * one, t + 0.5 * h)
        three = self.slopes(x + 0.5 * h * two, t + 0.5 * h)
        four = self.slopes(x + h * three, t + h)
        self.put(x + h / 6 * (one + 2 * two + 2 * three + four))
        self.time = t + h

    def states(self):
        x = (c_double * self.count)()
        self.unit.unit.getContinuousStates(x, self.count)
        return np.array(x)

    def put(self, x):
        self.unit.unit.setContinuousStates((c_double * self.count)(*x), self.count)

    def slopes(self, x, time):
        self.unit.unit.setTime(time)
        self.put(x)
        found = (c_double * self.count)()
        self.unit.unit.getDerivatives(found, self.count)
        return np.array(found)


def integrated(path, tmp_path, motion, steps):
    with opened(path, tmp_path, fmi_type="ModelExchange") as unit:
        return Integrator(unit, steps).follow(motion)


def test_a_plain_host_integrates_what_is_simulated(line, line_unit, tmp_path):
    """Within 2e-9 rad, whatever the host's steps: the error of the ticks, of second order."""
    robot, model, motion = line
    motion = motion_of(robot, model, motion.q[0], 0.1)
    wanted = at.simulate(robot, motion, model).log.q
    some, more = (integrated(line_unit, tmp_path, motion, steps) for steps in (4, 8))
    assert np.abs(wanted - motion.q).max() > 1e-4
    assert np.abs(more - wanted).max() < 1e-8
    assert np.abs(more - some).max() < 1e-10


def test_elastic_uneven_and_loaded_gears_are_integrated(uneven, tmp_path):
    """Joint 1 carries no weight and crosses its backlash: it meets the flank within a tick."""
    robot, model, path = uneven
    motion = motion_of(robot, model, BENT, 0.1)
    wanted = at.simulate(robot, motion, model).log.q
    got = integrated(path, tmp_path, motion, 2)
    assert np.ptp(wanted, axis=0).max() > 1e-4
    off = np.abs(got - wanted).max(axis=0)
    assert off[0] < 1e-6
    assert off[1:].max() < 1e-8


def test_cylinders_and_valves_are_integrated(hydraulic, tmp_path):
    robot, model, path, motion = hydraulic
    some = at.Trajectory(motion.rate, *(x[:3000] for x in (motion.q, motion.v, motion.a)))
    wanted = at.simulate(robot, some, model).log.q
    got = integrated(path, tmp_path, some, 1)
    assert np.ptp(wanted, axis=0).max() > 1e-5
    assert np.abs(got - wanted).max() < 1e-8


def test_a_solver_of_another_tool_integrates_a_robot(line, line_unit, tmp_path):
    """CVode of fmpy; it initialises on what it gives at first, so that set-point comes twice."""
    robot, model, motion = line
    motion = motion_of(robot, model, motion.q[0], 0.1)
    repeated = [np.vstack([x[:1], x]) for x in (motion.q, motion.v, motion.a)]
    wanted = at.simulate(robot, at.Trajectory(motion.rate, *repeated), model).log.q
    names = [f"{x}{j}" for x in ("q_ref", "v_ref", "a_ref") for j in range(1, 7)]
    loads = [f"load{j}" for j in range(1, 7)]
    times = np.arange(len(motion.q)) / motion.rate
    # what is given at a set-point is the one after it
    rows = np.column_stack([times, *(x[1:] for x in repeated), np.zeros((len(times), 6))])
    kind = [(name, float) for name in ("time", *names, *loads)]
    joints = [f"q{j}" for j in range(1, 7)]
    found = fmpy.simulate_fmu(
        str(line_unit), fmi_type="ModelExchange", stop_time=times[-1], relative_tolerance=1e-7,
        output_interval=1 / motion.rate, output=joints,
        input=np.array([tuple(row) for row in rows], dtype=kind),
    )  # fmt: skip
    got = np.array([[row[name] for name in joints] for row in found])
    places = [int(np.argmin(np.abs(found["time"] - time))) for time in times]
    assert np.abs(got[places] - wanted[: len(times)]).max() < 1e-7


def test_a_robot_whose_friction_switches_is_for_co_simulation_only(tmp_path):
    robot = at.Robot.load("rx90b")
    switching = at.WholeRobot(at.Model(friction="switching"))
    written = at.export_fmu(robot, tmp_path / "x.fmu", switching, sources_only=True)
    assert written.kinds == ("co-simulation",)


@pytest.mark.parametrize("fixture", ["line_unit", "uneven", "hydraulic"])
def test_fmpy_finds_nothing_wrong_with_its_states(fixture, request):
    from fmpy.validation import validate_fmu

    found = request.getfixturevalue(fixture)
    path = found if fixture == "line_unit" else found[2]
    assert validate_fmu(str(path)) == []
    assert fmpy.read_model_description(str(path)).modelExchange is not None

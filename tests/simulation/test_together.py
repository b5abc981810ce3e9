"""Many runs at once: each gives the digits that it gives alone, whatever its neighbours do."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.control.controller import ERROR_LIMIT
from armtwin.maths.stretches import Part, find_fused_products, stretches
from armtwin.maths.tape import Tape
from armtwin.prediction.predict import plan_motion
from armtwin.simulation import closed_loop, loop
from armtwin.simulation.closed_loop import prepare_run, simulate_all
from armtwin.simulation.kernels import kernel_of
from armtwin.simulation.lanes import run_lanes
from armtwin.simulation.options import RunOptions
from armtwin.simulation.plant import without_friction
from armtwin.simulation.prepared import controller_of, prepare, servo_of

SETPOINTS = 500  # of a run: 2 s, from rest into motion


@pytest.fixture(scope="module")
def line():
    return Case("rx90b_line")


class Case:
    """The first seconds of a job, whose runs are made ready again and again."""

    def __init__(self, name):
        job = at.Job.load(name)
        self.robot, self.model = job.robot(), job.description.model
        self.motion = plan_motion(self.robot, job).trajectory
        self.servo = controller_of(self.robot, self.model)

    def run(self, setpoints=SETPOINTS, robot=None, **options):
        m, some = self.motion, slice(0, setpoints)
        motion = at.Trajectory(m.rate, m.q[some], m.v[some], m.a[some])
        model = options.pop("model", self.model)
        return prepare(robot or self.robot, motion, model, RunOptions(**options))


def in_lanes(*runs):
    """How runs ended that were put into the lanes of one kernel."""
    return run_lanes(kernel_of(runs[0].fields, 4), runs)


def assert_the_same(run, other):
    """Every number that a run leaves, bit for bit; those that are not numbers too."""
    for noun in ("state", "record"):
        for name in getattr(run, noun)._fields:
            found, expected = (getattr(getattr(x, noun), name) for x in (run, other))
            np.testing.assert_array_equal(found, expected, err_msg=f"{noun}.{name}")


def assert_as_alone(make):
    """Runs in lanes end as each does alone; `make` gives all of them, anew each time."""
    together, alone = make(), make()
    ends = in_lanes(*together)
    assert ends == [run.run() for run in alone]
    for run, other in zip(together, alone, strict=True):
        assert_the_same(run, other)
    return ends


@pytest.mark.parametrize("name", ["rx90b_line", "kr300_frame"])
def test_a_run_in_a_lane_has_the_digits_of_the_run_alone(name):
    """In steps of encoders and currents one unit of the last digit would become a whole step.

    Other friction, outside torques and lengths beside it, forces on the tool that milling has;
    lanes take their own numbers of substeps.
    """
    case = Case(name)
    turn = 0.1 * np.arange(SETPOINTS)[:, None]
    torque = 0.5 * np.sin(turn * np.ones(case.robot.n))
    cut = 100.0 * np.cos(turn * np.arange(1, 7)) if name == "kr300_frame" else None
    milled, both = {"wrench": cut}, {"torque": torque, "wrench": cut}
    exact = replace(case.model, quantise=False)

    def runs():
        return [
            case.run(model=replace(case.model, quantise=True), **milled),
            case.run(model=exact, **both),
            case.run(300, change=lambda plant: without_friction([0], plant), **milled),
            case.run(400, model=exact, **milled),
        ]

    ends = assert_as_alone(runs)
    assert [how for how, _, _ in ends] == [loop.FINISHED] * 4


def test_a_run_that_stops_or_runs_away_leaves_its_neighbours_alone(line):
    """One falls behind, one is pushed away; the fourth lane repeats another."""
    strict, loose = line.servo.gains.copy(), line.servo.gains.copy()
    strict[1, ERROR_LIMIT] = 1e-6
    loose[:, ERROR_LIMIT] = np.inf
    pushed = np.zeros((SETPOINTS, line.robot.n))
    pushed[200:, 2] = 1e7

    def runs():
        return [
            line.run(servo=line.servo._replace(gains=strict)),
            line.run(),
            line.run(servo=line.servo._replace(gains=loose), torque=pushed),
        ]

    ends = assert_as_alone(runs)
    assert [how for how, _, _ in ends] == [loop.FOLLOWING_ERROR, loop.FINISHED, loop.UNSTABLE]
    assert ends[0][2] == 1
    assert ends[2][1] > 199 * line.servo.setpoint_ticks


def test_late_sensors_and_outputs_are_late_in_each_lane_by_its_own_delay(line):
    servo = servo_of(line.robot, line.model)
    robots = []
    for ticks in (1.1, 1.4, 1.7):  # kept in rings of one length
        late = type(servo.delay)(sensor=(ticks / 4000,) * 6, output=(0.5 * ticks / 4000,) * 6)
        d = line.robot.description
        servos = {**d.servo, line.model.servo: replace(servo, delay=late)}
        robots.append(at.Robot(replace(d, servo=servos), line.robot.origin))

    def runs():
        return [line.run(250, robot) for robot in robots]

    assert_as_alone(runs)


def test_an_ensemble_of_no_width_is_the_nominal_run_in_every_member(line):
    """One more than go into lanes: the last one runs alone."""
    m = line.motion
    motion = at.Trajectory(m.rate, m.q[:SETPOINTS], m.v[:SETPOINTS], m.a[:SETPOINTS])
    nominal = at.simulate(line.robot, motion, line.model)
    done = []
    members = [prepare_run(line.robot, motion, line.model) for _ in range(closed_loop.MANY + 1)]
    for run in simulate_all(members, done.append):
        np.testing.assert_array_equal(run.link_side, nominal.link_side)
        np.testing.assert_array_equal(run.log.current, nominal.log.current)
        assert run.energy == nominal.energy
    assert done == [*range(4, closed_loop.MANY + 1, 4), closed_loop.MANY + 1]


def test_only_runs_of_one_kernel_and_rate_share_lanes(line):
    """Another log rate, another robot: each run goes its own way, in one call."""
    other = Case("kr300_frame")
    runs = [line.run(100) for _ in range(3)]
    runs += [line.run(100, log_rate=1000.0), other.run(100)]
    groups = sorted(closed_loop._groups(runs))
    assert groups == [[0, 1, 2], [3], [4]]


def test_a_product_that_nothing_else_needs_is_taken_into_its_sum():
    tape = Tape()
    a, b, c = (tape.input(name, ()) for name in "abc")
    alone, shared = a * b, b * c
    total = alone + c
    part = Part(tape)
    part.put("out", (0,), total)
    part.put("out", (1,), shared - c)
    part.put("out", (2,), shared)
    part.put("out", (3,), a * a + c * c)
    (stretch,) = stretches(part, "kept")
    taken = {
        sum_: stretch.tape.operations[x].of for sum_, x in find_fused_products(stretch).items()
    }
    assert taken == {
        total.number: (a.number, b.number),
        part.outputs[3][1]: (c.number, c.number),
    }

"""A whole robot as a unit: the closed loop of `simulate`, tick by tick, in other hosts."""

from dataclasses import replace

import numpy as np
import pytest
from fmpy.fmi1 import FMICallException
from fmpy.validation import validate_fmu

import armtwin as at
from armtwin.drives.friction.curves import at_level
from armtwin.robot.schema.groups import Body, Payload, SixInertias
from armtwin.robot.schema.servo import Delays
from tests.exchange.units import hosted, needs_compiler, opened

pytestmark = needs_compiler

ROUNDING = 1e-12  # rad: the same ticks, their sums rounded apart


def motion_of(robot, model, start, duration=0.6):
    """A smooth motion of all joints from a posture at the set-point rate."""
    from armtwin.simulation.closed_loop import setpoint_rate

    rate = setpoint_rate(robot, model)
    t = np.arange(0.0, duration, 1 / rate)[:, None]
    size, w = np.full((1, robot.n), 0.1), np.pi
    s, c = np.sin(w * t), np.cos(w * t)
    q = np.asarray(start) + size * (1 - c) ** 2
    v = size * 2 * w * (1 - c) * s
    a = size * 2 * w**2 * (s**2 + c - c**2)
    return at.Trajectory.sampled(rate, q, v, a)


def rows_of(motion, torque=None):
    """Set-points by the names of the unit's inputs, one dict for each."""
    given = {"q_ref": motion.q, "v_ref": motion.v, "a_ref": motion.a}
    if torque is not None:
        given["tau_ff"] = torque
    rows = []
    for k in range(len(motion.q)):
        row = {}
        for name, values in given.items():
            row |= {f"{name}{j}": x for j, x in enumerate(values[k], 1)}
        rows.append(row)
    return rows


def followed(unit, motion, parameters=None, parts=1, torque=None):
    """Joints on both sides and the tool point at the set-points, in steps of parts of a period."""
    n, period = motion.q.shape[1], 1 / motion.rate
    names = [f"{side}{j}" for side in ("q", "q_link") for j in range(1, n + 1)]
    names += ["tool_x", "tool_y", "tool_z"]
    first, *others = rows_of(motion, torque)
    unit.begin(first, parameters)
    found = [unit.get(*names)]
    for k, row in enumerate(others):
        unit.set(row)
        for part in range(parts):
            unit.step((k + part / parts) * period, period / parts)
        found.append(unit.get(*names))
    return np.split(np.array(found), [n, 2 * n], axis=1)


def test_the_rx90b_line_is_followed_as_simulated(line, line_unit, tmp_path):
    """12 s within 1e-9 rad, quantiser off (it is 5e-15)."""
    robot, model, motion = line
    with opened(line_unit, tmp_path) as unit:
        q, link, tool = followed(unit, motion)
    wanted = at.simulate(robot, motion, model).log.q
    assert np.abs(q - wanted).max() < 1e-9
    assert np.abs(link - wanted).max() < 1e-9
    X = robot.forward_kinematics(wanted)[:, :3, 3]
    assert np.abs(tool - X).max() < 1e-9


def test_fmpy_finds_nothing_wrong(line, line_unit, tmp_path):
    robot, model, _ = line
    assert validate_fmu(str(line_unit)) == []
    at.export_fmu(robot, tmp_path / "three.fmu", at.WholeRobot(model), fmi=3, sources_only=True)
    assert validate_fmu(str(tmp_path / "three.fmu")) == []


@pytest.mark.parametrize("fixture", ["line_unit", "uneven", "hydraulic"])
def test_a_plain_c_host_runs_it_as_fmpy_does(host, fixture, request, tmp_path):
    """Held on its posture, joints 1 and 2 pushed by torques that turn over."""
    found = request.getfixturevalue(fixture)
    path = found if fixture == "line_unit" else found[2]
    times = np.arange(60) * 0.004
    torque = 0.5 * np.sin(40.0 * times)
    rates = np.diff(torque) / np.diff(times)
    got = hosted(host, path, tmp_path, times, torque, ("load1", "load2", "q2"))
    with opened(path, tmp_path) as unit:
        unit.begin({"load1": torque[0]})
        wanted = [unit.get("q2")[0]]
        for k, rate in enumerate(rates):  # the host's second number goes to joint 2
            unit.set({"load1": torque[k], "load2": rate})
            unit.step(times[k], times[k + 1] - times[k])
            wanted.append(unit.get("q2")[0])
    assert np.ptp(wanted) > 1e-8
    np.testing.assert_array_equal(got, wanted)


def test_steps_of_a_part_of_a_period_change_nothing(line, line_unit, tmp_path):
    _, _, motion = line
    some = at.Trajectory(motion.rate, motion.q[:120], motion.v[:120], motion.a[:120])
    with opened(line_unit, tmp_path) as unit:
        whole = followed(unit, some)[0]
    with opened(line_unit, tmp_path) as unit:
        parts = followed(unit, some, parts=2)[0]
    np.testing.assert_array_equal(whole, parts)


def test_a_state_is_saved_and_restored_in_the_middle_of_a_motion(line, line_unit, tmp_path):
    _, _, motion = line
    first, *others = rows_of(motion)
    period = 1 / motion.rate

    def go(unit, span):
        for k in span:
            unit.set(others[k])
            unit.step(k * period, period)
        return unit.get("q1", "q2", "tau_m3")

    with opened(line_unit, tmp_path) as unit:
        unit.begin(first)
        go(unit, range(100, 200))
        state = unit.unit.getFMUstate()
        onward = go(unit, range(200, 260))
        unit.unit.setFMUstate(state)
        np.testing.assert_array_equal(go(unit, range(200, 260)), onward)
        unit.unit.freeFMUstate(state)


@pytest.fixture(scope="module")
def elastic(folder):
    """The KR 300 with elastic gears, its unit, model and a motion from a bent posture."""
    robot = at.Robot.load("kr300")
    model = at.Model(quantise=False, joints="elastic")
    start = np.radians([10.0, -60.0, 100.0, 20.0, 30.0, 5.0])
    path = folder / "kr300.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, start), fmi=3)
    return robot, model, path, motion_of(robot, model, start)


def test_both_sides_of_elastic_gears_are_those_simulated(elastic, tmp_path):
    """It starts in the sag of its gears; the tool is where the links are."""
    robot, model, path, motion = elastic
    with opened(path, tmp_path) as unit:
        q, link, tool = followed(unit, motion)
    log = at.simulate(robot, motion, model).log
    assert np.abs(log.q - log.q_link).max() > 1e-4
    assert np.abs(q - log.q).max() < ROUNDING
    assert np.abs(link - log.q_link).max() < ROUNDING
    assert np.abs(tool - robot.forward_kinematics(log.q_link)[:, :3, 3]).max() < ROUNDING


def test_a_payload_is_a_parameter(elastic, tmp_path):
    robot, model, path, motion = elastic
    six = SixInertias(1.0, 1.2, 0.8, 0.1, 0.05, -0.02, about="com")
    body = Body(mass=50.0, com=(0.05, 0.02, 0.2), inertia=six)
    d = robot.description
    loads = {**d.payload, "block": Payload(source="assumed: a test", body=body)}
    loaded = at.Robot(replace(d, payload=loads)).with_payload("block")
    names = ("mass", "x", "y", "z", "xx", "yy", "zz", "xy", "xz", "yz")
    values = (50.0, 0.05, 0.02, 0.2, 1.0, 1.2, 0.8, 0.1, 0.05, -0.02)
    given = {f"payload_{name}": x for name, x in zip(names, values, strict=True)}
    with opened(path, tmp_path) as unit:
        _, link, _ = followed(unit, motion, given)
    log = at.simulate(loaded, motion, model).log
    bare = at.simulate(robot, motion, model).log
    assert np.abs(log.q_link - bare.q_link).max() > 1e-4
    assert np.abs(link - log.q_link).max() < ROUNDING


def test_the_level_of_friction_is_a_parameter(elastic, tmp_path):
    robot, model, path, motion = elastic
    elements = []
    for element in robot.description.friction:
        negative = element.negative and at_level(element.negative, 1.5)
        elements.append(replace(element, law=at_level(element.law, 1.5), negative=negative))
    other = at.Robot(replace(robot.description, friction=tuple(elements)))
    with opened(path, tmp_path) as unit:
        given = {f"friction_level{k}": 1.5 for k in range(1, 7)}
        q, _, _ = followed(unit, motion, given)
    assert np.abs(q - at.simulate(other, motion, model).log.q).max() < ROUNDING


def test_a_torque_from_outside_is_an_input(elastic, tmp_path):
    """Constant on joint 2 from the start on: the robot rests under it, then moves."""
    robot, model, path, motion = elastic
    with opened(path, tmp_path) as unit:
        unit.set({"load2": 800.0})
        _, link, _ = followed(unit, motion)
    torque = np.zeros_like(motion.q)
    torque[:, 1] = 800.0
    log = at.simulate(robot, motion, model, options=at.RunOptions(torque=torque)).log
    assert np.abs(link - log.q_link).max() < ROUNDING


def test_late_sensors_outputs_and_references_are_late_in_the_unit(tmp_path):
    """Delays that are no whole numbers of ticks."""
    robot = at.Robot.load("rx90b")
    servo = robot.description.servo["cascade"]
    late = replace(servo, delay=Delays(sensor=(0.0007,), output=(0.00045,), reference=(0.0013,)))
    robot = at.Robot(replace(robot.description, servo={"cascade": late}))
    model = at.Model(quantise=False)
    motion = motion_of(robot, model, [0.1, 0.6, 1.3, 0.2, 1.0, 0.1], 0.3)
    path = tmp_path / "late.fmu"
    at.export_fmu(robot, path, at.WholeRobot(model, motion.q[0]))
    with opened(path, tmp_path) as unit:
        q, _, _ = followed(unit, motion)
    wanted = at.simulate(robot, motion, model).log.q
    on_time = at.simulate(at.Robot.load("rx90b"), motion, model).log.q
    assert np.abs(wanted - on_time).max() > 1e-6
    assert np.abs(q - wanted).max() < 1e-9


def test_a_set_point_that_jumps_too_far_stops_the_unit_with_a_reason(line_unit, line, tmp_path):
    _, _, motion = line
    first = rows_of(motion)[0]
    with opened(line_unit, tmp_path) as unit:
        unit.begin(first)
        unit.set({"q_ref1": first["q_ref1"] + 1e4})
        with pytest.raises(FMICallException):
            unit.step(0.0, 200 / motion.rate)
        assert any("falls behind" in str(x) or "runs away" in str(x) for x in unit.messages)

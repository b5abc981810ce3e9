"""Logs that cannot be of this robot are named in one sentence,
with the cause where it can be known.
"""

import re
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.plausibility.suspect import refuse_torque_mistakes
from tests.identification.test_identify import logged


@pytest.fixture(scope="module")
def tx40():
    return at.Robot.load("tx40")


@pytest.fixture(scope="module")
def log(tx40):
    return logged(tx40, tx40, 8.0, 1)[0]


def changed(log, q=None, tau=None):
    return at.Log.of(log.time, q=log.q if q is None else q, tau=log.tau if tau is None else tau)


def swapped(x, i, k):
    order = np.arange(x.shape[1])
    order[[i, k]] = k, i
    return x[:, order]


def refusal(robot, log, **options):
    with pytest.raises(at.ArmtwinError) as error:
        at.identify(robot, [log], cutoff=10.0, **options)
    return str(error.value)


def test_a_joint_that_stands_still_is_named(tx40, log):
    q = log.q.copy()
    q[:, 2] = 0.7
    assert refusal(tx40, changed(log, q)).startswith(
        "joint_3 does not move in the log, so its parameters are not identifiable"
    )


def test_fewer_samples_than_parameters_are_counted(tx40, log):
    short = at.Log.of(log.time[:12], q=log.q[:12], tau=log.tau[:12])
    assert (
        refusal(tx40, short) == "the logs have 72 torques for 86 parameters of 'tx40'; log longer"
    )


def test_degrees_are_recognised(tx40, log):
    said = refusal(tx40, changed(log, np.degrees(log.q)))
    assert "where its limit is" in said
    assert 'Is it in degrees? If so, say unit.q = "deg" in a columns file' in said


def test_milliradians_are_recognised(tx40, log):
    assert "Is it in milliradians?" in refusal(tx40, changed(log, 1e3 * log.q))


def test_angles_beyond_a_limit_that_are_no_degrees_are_of_another_robot(tx40, log):
    q = log.q.copy()
    q[:, 1:3] = q[:, 1:3] / np.abs(q[:, 1:3]).max(axis=0) * 4.5
    said = refusal(tx40, changed(log, q))
    assert "Is it the log of another robot, or are zeros or columns of its joints others?" in said


@pytest.mark.parametrize("joints", [(1,), (4,), (0, 1, 2, 3, 4, 5)])
def test_a_reversed_sign_of_torque_is_recognised(tx40, log, joints):
    sign = np.ones(6)
    sign[list(joints)] = -1
    said = refusal(tx40, changed(log, tau=log.tau * sign))
    alone = f"Is the sign of joint_{joints[0] + 1}'s torque reversed?"
    asked = alone if len(joints) == 1 else "Are the torques of all joints counted the other way?"
    assert asked in said
    assert f"say torque_sign = {[int(x) for x in sign]} in a columns file" in said


@pytest.mark.parametrize(("i", "k"), [(0, 1), (1, 2), (2, 4)])
@pytest.mark.parametrize("what", ["torque", "position"])
def test_swapped_joints_are_recognised(tx40, log, i, k, what):
    bad = (
        changed(log, tau=swapped(log.tau, i, k))
        if what == "torque"
        else changed(log, q=swapped(log.q, i, k))
    )
    said = refusal(tx40, bad)
    assert f"Are the columns of {what} of joint_{i + 1} and joint_{k + 1} swapped?" in said


def test_a_wrong_prior_is_no_reason_for_suspicion(tx40, log):
    """Inertias off by half, friction by a factor of three: fitted, not refused."""
    group = np.array([p.group for p in tx40.parameter_table])
    wrong = tx40.with_parameters(
        tx40.parameters * np.where(group == "friction", 3.0, np.where(group == "rotor", 0.5, 1.5))
    )
    assert at.identify(wrong, [log], cutoff=10.0).validate(log).nrmse.max() < 20


def test_currents_of_reversed_sign_are_recognised_without_gains(shared_data):
    robot = at.Robot.load(shared_data / "ur10e" / "ur10e.urdf")
    whole = at.Log.read(shared_data / "ur10e" / "ident_20_02_10_30sec_12harm.csv.gz")
    said = refusal(robot, at.Log.of(whole.time, q=whole.q, current=-whole.current))
    assert "Are the torques of all joints counted the other way?" in said


def test_too_few_logs_or_no_torque_are_refused(tx40, log):
    with pytest.raises(at.ArmtwinError, match="at least one log"):
        at.identify(tx40, [])
    assert refusal(tx40, at.Log.of(log.time, q=log.q)).startswith(
        "the log has no torque (tau, tau_m, current)"
    )
    assert (
        refusal(tx40, log, torque="current_des")
        == "the log has no channel 'current_des'. It has: q, tau."
    )


def test_powerball_table_3_is_refused_by_name_of_the_link(robots):
    """[Memar-Esfahani 2015, table 3]: sums of positive inertias are negative;
    no robot with them can be.
    """
    robot = robots["lwa4p"]
    phi = dict(zip(robot.parameter_names, robot.parameters, strict=True))
    phi |= {
        "Jzz5": -1.69e-1 - phi["Jyy6"],
        "Jyy5": -1.69e-1 - phi["Jyy6"],
        "Jzz6": -3.17e-2 - phi["Jm6"],
    }
    with pytest.raises(at.ArmtwinError, match="link_5"):
        robot.with_parameters(list(phi.values()))


def test_currents_of_coupled_joints_need_their_constants(robots):
    """Which motor a joint's current belongs to is not one question a joint where gears couple."""
    robot = robots["rx90b"]
    motors = tuple(
        replace(m, torque_constant=None, current_limit=None) for m in robot.description.motor
    )
    bare = at.Robot(replace(robot.description, motor=motors, servo={}))
    made = logged(robot, robot, 8.0, 1)[0]
    said = refusal(bare, at.Log.of(made.time, q=made.q, current=made.tau))
    assert (
        said
        == "robot 'rx90b': currents of coupled joints need motor.torque_constant of every motor"
    )


def test_gains_of_currents_are_found_with_the_parameters(robots):
    """A KR300 without torque constants, currents made with known ones:
    gains of the loaded joints within 10 %.
    """
    robot = robots["kr300"]
    motors = tuple(replace(m, torque_constant=None) for m in robot.description.motor)
    bare = at.Robot(replace(robot.description, motor=motors, servo={}))
    made = logged(robot, robot, 16.0, 1, noise=0.001)[0]
    constants = np.array([1.81, 1.89, 1.89, 1.41, 1.41, 1.41])
    ratio = np.diag(robot.assembly.gear)
    found = at.identify(
        bare, [at.Log.of(made.time, q=made.q, current=made.tau / (constants * ratio))], cutoff=10.0
    )
    told = [m.torque_constant for m in found.robot.description.motor]
    assert told[:3] == pytest.approx(constants[:3], rel=0.1)
    assert found.validate(found.logs[0]).nrmse[:3].max() < 5


# Time


@pytest.fixture(scope="module")
def kr300():
    return at.Robot.load("kr300")


@pytest.fixture(scope="module")
def heavy(kr300):
    """A log in which several joints show both their weight and their inertia."""
    return logged(kr300, kr300, 8.0, 1)[0]


def in_time(log, factor):
    return at.Log.of(factor * log.time, (), **log.channels)


@pytest.mark.parametrize("cutoff", [None, 10.0])
def test_time_in_milliseconds_is_named_and_no_joint_blamed(tx40, log, cutoff):
    with pytest.raises(at.ArmtwinError) as error:
        at.identify(tx40, [log, in_time(log, 1e3)], cutoff=cutoff)
    assert str(error.value).startswith("log 2: time looks like milliseconds")


@pytest.mark.parametrize("factor", [2.0, 5.0])
def test_inertia_beside_weight_tells_stretched_time(kr300, heavy, factor):
    """Accelerations go with the square of time, weight does not; told to a tenth."""
    with pytest.raises(at.ArmtwinError) as error:
        at.identify(kr300, [in_time(heavy, factor)])
    number = re.search(r"Does time run (\S+) times too slow", str(error.value))[1]
    assert float(number) == pytest.approx(factor, rel=0.1)


@pytest.mark.parametrize(("factor", "word"), [(2.0, "slow"), (1 / 3, "fast")])
def test_stretched_time_is_told_of_a_bare_ur10e(shared_data, factor, word):
    """Currents without gains, assumed rotors:
    weight and inertia of lift and elbow tell it all the same.
    """
    robot = at.Robot.load(shared_data / "ur10e" / "ur10e.urdf")
    whole = at.Log.read(shared_data / "ur10e" / "ident_20_02_10_30sec_12harm.csv.gz")
    bare = at.Log.of(factor * whole.time, q=whole.q, current=whole.current_des)
    with pytest.raises(at.ArmtwinError, match=f"Does time run .* times too {word}"):
        at.identify(robot, [bare])


@pytest.mark.parametrize(("factor", "told"), [(2.0, False), (10.0, True)])
def test_one_joint_alone_tells_only_what_is_far_off(shared_data, factor, told):
    """In the slow motion of the KR 300 only joint 5 shows both;
    a payload left out looks like a factor of 3.
    """
    robot = at.Robot.load("kr300").with_payload("recorded")
    whole = at.Log.read(shared_data / "kuka_kr300" / "ident_A.csv.gz")
    bare = at.Log.of(factor * whole.time, q=whole.q, tau=whole.tau)
    refused = (
        pytest.raises(at.ArmtwinError, match=r"Does time run 1\d(\.\d)? times too slow")
        if told
        else nullcontext()
    )
    with refused:
        at.identify(robot, [bare])


def test_a_robot_file_with_other_inertias_is_not_taken_for_stretched_time(kr300, heavy):
    """Links half as heavy again and rotors of half the inertia:
    the file is corrected, not the log.
    """
    group = np.array([p.group for p in kr300.parameter_table])
    wrong = kr300.with_parameters(
        kr300.parameters * np.select([group == "rotor", group == "link"], [0.5, 1.5], 1.0)
    )
    assert at.identify(wrong, [heavy], cutoff=10.0).validate(heavy).nrmse.max() < 20


def test_a_log_to_validate_in_milliseconds_is_refused_by_its_name(tx40, log):
    found = at.identify(tx40, [log], cutoff=10.0)
    other = in_time(logged(tx40, tx40, 8.0, 2)[0], 1e3)
    with pytest.raises(at.ArmtwinError, match="the log to validate: time looks like milliseconds"):
        at.judge(tx40, found, other)


def test_wrapped_angles_are_refused(tx40, log):
    q = log.q.copy()
    q[:, 5] += 3.0
    wrapped = np.angle(np.exp(1j * q))
    assert "log 1: the angle of joint_6 jumps by a whole turn" in refusal(
        tx40, changed(log, q=wrapped)
    )


def test_accelerations_that_take_torques_beyond_the_limits_are_compressed_time(tx40):
    """Slow strokes, seventy times too fast:
    speeds are within the limits, what moves the arm is not.
    """
    time = np.arange(0, 20, 0.004)
    phase = np.arange(6)
    q = 0.03 * np.sin(2.0 * time[:, None] + phase) + np.array([0.0, 0.3, 1.2, 0.0, 0.6, 0.0])
    v = 0.06 * np.cos(2.0 * time[:, None] + phase)
    a = -0.12 * np.sin(2.0 * time[:, None] + phase)
    tau = tx40.inverse_dynamics(q, v, a) + tx40.friction_torque(v)
    at.identify(tx40, [at.Log.of(time, q=q, tau=tau)])
    with pytest.raises(
        at.ArmtwinError,
        match=r"joint_\d would need .* N m where its limit is .* Does time run too fast",
    ):
        at.identify(tx40, [at.Log.of(time / 70, q=q, tau=tau)])


# a log of another robot


@pytest.fixture(scope="module")
def of_a_large_robot(log):
    """The motion of the log as a KR 300 does it: its torques beside the same angles."""
    large = at.Robot.load("kr300")
    v = np.gradient(log.q, log.time, axis=0)
    a = np.gradient(v, log.time, axis=0)
    tau = large.inverse_dynamics(log.q, v, a) + large.friction_torque(v)
    return at.Log.of(log.time, q=log.q, q_ref=log.q + 1e-3 * np.cos(log.time)[:, None], tau=tau)


@pytest.mark.parametrize("name", ["tx40", "rx90b"])
@pytest.mark.parametrize("call", ["identify", "identify_servo", "compare"])
def test_a_log_of_a_larger_robot_is_refused_by_its_torques(name, call, of_a_large_robot):
    robot = at.Robot.load(name)
    options = {"cutoff": 10.0} if call == "identify" else {}
    given = of_a_large_robot if call == "compare" else [of_a_large_robot]
    with pytest.raises(at.ArmtwinError) as error:
        getattr(at, call)(robot, given, **options)
    assert "Is the log of 'kr300'? If so, name robot kr300" in str(error.value)


def test_a_limit_that_nobody_meant_is_no_reason_to_doubt_the_robot(tx40, log):
    """A file with limits of 1 N m, whose arm explains the logged torque."""
    joints = []
    for joint in tx40.description.joint:
        joints.append(replace(joint, limits=replace(joint.limits, torque=1.0)))
    weak = at.Robot(replace(tx40.description, joint=tuple(joints)), tx40.origin)
    assert (np.quantile(np.abs(log.tau), 0.98, axis=0) > 3.0).sum() > 3
    refuse_torque_mistakes(weak, log)

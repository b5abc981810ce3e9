"""Friction with memory: the law, its columns, and a radius that logs tell or do not tell."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.coulomb import Coulomb
from armtwin.drives.friction.terms import Drop
from armtwin.identification.rigid_body.evaluation.diagnostics import describe_friction
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.identification.rigid_body.friction.presliding import (
    PLAY,
    bristle_operators,
    bundles_of,
    compute_deflections,
    find_settled,
    stop_operators,
)
from armtwin.identification.rigid_body.friction.selection import is_command
from armtwin.identification.rigid_body.friction.terms import (
    find_hosts,
    list_presliding_distances,
    with_terms,
)
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.report.result_file import to_result
from armtwin.robot.dynamics.friction_columns import ContactStates
from armtwin.robot.schema.drive_groups import Presliding

RATE, LENGTH, NOISE = 250.0, 24.0, 0.2
RADIUS = 1e-3


def steps_between_poses(robot, seed):
    """Moves of a second between poses, half a second of rest after each: q, v, a at all times."""
    chance = np.random.default_rng(seed)
    count = int(LENGTH / 1.5)
    middle = np.array([0.0, 0.3, 1.0, 0.0, 0.6, 0.0])
    poses = middle + chance.uniform(-0.8, 0.8, (count + 1, robot.n))
    t = np.arange(0, LENGTH, 1 / RATE)
    k = np.minimum((t / 1.5).astype(int), count - 1)
    x = np.clip(t - 1.5 * k, 0, 1)[:, None]
    step = np.diff(poses, axis=0)[k]
    inside = (x > 0) & (x < 1)
    q = poses[k] + step * x**3 * (10 - 15 * x + 6 * x**2)
    v = step * 30 * x**2 * (1 - x) ** 2
    a = np.where(inside, step * 60 * x * (1 - x) * (1 - 2 * x), 0.0)
    return t, q, v, a


def remembering(robot, radius, share):
    """The robot with a share of each joint's Coulomb friction in contacts that bend."""
    places = find_hosts(robot, Recipe(), np.ones(robot.n))
    wide = with_terms(robot, tuple(host.memory(radius) for host in places))
    values = dict(zip(wide.parameter_names, wide.parameters, strict=True))
    for host in places:
        name = host.element.name
        level = values[f"{name}.level"]
        values[f"{name}.level"] = (1 - share) * level
        values[f"{name}_memory.level"] = share * level
    return wide.with_parameters(np.array(list(values.values())))


def logged(robot, seed):
    """A log with noise, and its torque without."""
    t, q, v, a = steps_between_poses(robot, seed)
    friction = robot.parameters[robot.layout.friction]
    shares = compute_deflections(robot, robot.assembly.friction, q, v)
    exact = (
        robot.inverse_dynamics(q, v, a)
        + robot.friction_regressor(v, q, ContactStates(shares)) @ friction
    )
    noise = NOISE * np.random.default_rng(seed).normal(size=exact.shape)
    return at.Log.of(t, q=q, tau=exact + noise), exact


def bent_along(x):
    """Share that a contact of radius 1 bears along positions."""
    shares = np.empty((1, len(x)))
    stop_operators(x, np.ones(1), np.arange(1), shares)
    return shares[0]


def test_stop_and_bristle_differ_by_a_third_of_the_level_at_a_reversal_and_take_the_same_work():
    """Bristle 1 - 2 exp(-x), stop -1 + x up to 1: apart by 1 - ln 2 at x = ln 2, in radii."""
    x = np.linspace(-3, 12, 15001)
    path = np.concatenate([np.linspace(3, -3, 1000), x])  # slides backwards, then turns round
    share = bent_along(path)
    travel = x + 3
    stop, bristle = share[1000:], 1 - 2 * np.exp(-travel)
    gap = bristle - stop
    assert gap.max() == pytest.approx(1 - np.log(2), abs=1e-3)
    assert travel[gap.argmax()] == pytest.approx(np.log(2), abs=2e-3)
    assert gap.min() == pytest.approx(-2 * np.exp(-2), abs=1e-3)
    assert np.trapezoid(gap, travel) == pytest.approx(0, abs=1e-3)
    share = bent_along(np.array([0.0, 0.1]))
    assert share[1] == pytest.approx(0.1)  # slope level / r, the bristle's c0


def cut(log, first):
    """The log from one of its samples on."""
    channels = {name: values[first:] for name, values in log.channels.items()}
    return at.Log.of(log.time[first:], **channels)


def test_rows_count_once_contacts_have_forgotten_how_they_were_bent(robots):
    """Bends from any start agree to 5 % after three radii of way, and not before one of them.

    The first is what e⁻³ of a bristle's bend is; a stop operator has none of it left after two.
    """
    robot = remembering(robots["tx40"], RADIUS, 1.0)
    _, q, v, _ = steps_between_poses(robot, 1)
    first = int(1.2 * RATE)  # a standstill after the first move
    known = find_settled(robot, bundles_of(robot.assembly.friction), q[first:])
    whole = compute_deflections(robot, robot.assembly.friction, q, v)[first:]
    later = compute_deflections(robot, robot.assembly.friction, q[first:], v[first:])
    remembered = ~np.isnan(whole[0])
    assert np.abs(whole - later)[0, remembered].min() > 0.9  # fully bent, and said not to be
    assert not known[: int(0.3 * RATE)].any()  # the robot stands
    assert known[int(0.5 * RATE) :].all()
    of_joints = np.array([row.weights for _, row in robot.assembly.friction])[remembered] @ known.T
    acting = np.abs(np.array([row.weights for _, row in robot.assembly.friction])[remembered])
    sure = acting.sum(axis=1) == np.abs(of_joints).T
    assert np.abs(whole - later)[:, remembered][sure].max() < 0.05


@pytest.mark.parametrize("travel", [0.0, 1e-5, 2e-4, 1e-3])
def test_a_joint_that_hardly_moves_does_not_spoil_the_others(robots, travel):
    """It moves less than its contact bends; the memory of the others is found all the same."""
    truth = remembering(robots["tx40"], RADIUS, 1.0)
    t, q, v, a = steps_between_poses(truth, 1)
    chance = np.random.default_rng(3)
    w = 2 * np.pi / 3
    q[:, 5] = travel * np.sin(w * t)
    v[:, 5] = travel * w * np.cos(w * t)
    a[:, 5] = -travel * w**2 * np.sin(w * t)
    friction = truth.parameters[truth.layout.friction]
    bent = ContactStates(compute_deflections(truth, truth.assembly.friction, q, v))
    tau = truth.inverse_dynamics(q, v, a) + truth.friction_regressor(v, q, bent) @ friction
    noisy = q + 1e-6 * chance.normal(size=q.shape)
    tau += NOISE * chance.normal(size=tau.shape)
    found = at.identify(robots["tx40"], [at.Log.of(t, q=noisy, tau=tau)], cutoff=10.0)
    assert len(list(list_presliding_distances(found.model.terms))) >= 5
    assert np.isfinite(list(found.friction.errors.values())).all()
    other, exact = logged(truth, 2)
    missed = found.validate(other).tau_hat[:, :5] - exact[:, :5]
    assert 100 * np.sqrt((missed**2).sum() / (exact[:, :5] ** 2).sum()) < 3


@pytest.mark.parametrize("rest", [10.0, 90.0])
def test_a_long_standstill_before_a_motion_is_no_part_of_it(robots, rest):
    truth = remembering(robots["tx40"], RADIUS, 1.0)
    log, _ = logged(truth, 1)
    count = int(rest * RATE)
    standing = {name: np.repeat(x[:1], count, axis=0) for name, x in log.channels.items()}
    standing["tau"] = standing["tau"] + NOISE * np.random.default_rng(4).normal(size=(count, 6))
    channels = {name: np.concatenate([standing[name], x]) for name, x in log.channels.items()}
    time = np.arange(len(channels["q"])) / RATE
    found = at.identify(robots["tx40"], [at.Log.of(time, **channels)], cutoff=10.0)
    other, exact = logged(truth, 2)
    missed = found.validate(other).tau_hat - exact
    assert 100 * np.sqrt((missed**2).sum() / (exact**2).sum()) < 3


def test_a_jump_in_the_last_samples_of_a_long_rest_is_refused_in_words(robots):
    """Fewer rows are left than parts; each has one all the same."""
    truth = remembering(robots["tx40"], RADIUS, 1.0)
    t = np.arange(0, 200.0, 1 / RATE)
    q = np.tile([0.0, 0.3, 1.0, 0.0, 0.6, 0.0], (len(t), 1))
    q[-14:] += 0.02
    log = at.Log.of(t, q=q, tau=truth.inverse_dynamics(q, 0 * q, 0 * q))
    with pytest.raises(at.ArmtwinError, match="18 usable rows for 93 parameters"):
        at.identify(truth, [log], cutoff=40.0, recipe=Recipe(friction="file", trust=True))


def test_a_robot_that_was_identified_is_identified_again_as_well(robots):
    """Levels of a joint and of its memory are told apart, as contacts bend on their own."""
    truth = remembering(robots["tx40"], RADIUS, 0.7)
    log, _ = logged(truth, 1)
    other, exact = logged(truth, 2)
    first = at.identify(robots["tx40"], [log], cutoff=20.0)
    again = at.identify(first.robot, [logged(truth, 3)[0]], cutoff=20.0)
    assert (
        analyse_identifiability(first.robot, bent=True).rank
        > analyse_identifiability(first.robot).rank
    )
    once = np.sqrt(((first.validate(other).tau_hat - exact) ** 2).mean())
    twice = np.sqrt(((again.validate(other).tau_hat - exact) ** 2).mean())
    assert twice < 1.2 * once


def test_a_log_that_begins_with_bent_contacts_tells_as_much_as_another(robots):
    """Cut within a standstill it begins with friction of which the motion shows nothing.

    The level is then found as without the cut. A contact that is bent fully misses √3 deviations
    of one that may be bent anyhow.
    """
    truth = remembering(robots["tx40"], RADIUS, 1.0)
    log, exact = logged(truth, 1)
    first = int(1.2 * RATE)
    found = at.identify(robots["tx40"], [cut(log, first)], cutoff=20.0)
    values = dict(zip(found.robot.parameter_names, found.robot.parameters, strict=True))
    true = dict(zip(truth.parameter_names, truth.parameters, strict=True))
    for name in true:
        if name.endswith("_memory.level") and name in values:
            host = name.removesuffix("_memory.level") + ".level"
            assert values[name] + values[host] == pytest.approx(true[name] + true[host], rel=0.05)
    standing = slice(0, int(0.25 * RATE))
    gap = (found.validate(cut(log, first)).tau_hat - exact[first:])[standing]
    deviation = found.torque_deviation(cut(log, first))[standing]
    assert np.sqrt((gap**2).mean() / (deviation**2).mean()) == pytest.approx(np.sqrt(3), rel=0.1)


def test_a_contact_that_is_bent_fully_slides(robots):
    """Columns with a bend of the sign of the speed are those of steady sliding."""
    robot = robots["rx90b"]
    v = np.random.default_rng(1).normal(size=(20, robot.n))
    rows = np.array([row.weights for _, row in robot.assembly.friction])
    bent = robot.friction_regressor(v, None, ContactStates(np.sign(v @ rows.T)))
    assert bent == pytest.approx(robot.friction_regressor(v), abs=1e-12)


@pytest.fixture(scope="module")
def bending():
    """A robot whose contacts bend, and what is identified of it from the file without."""
    robot = at.Robot.load("tx40")
    truth = remembering(robot, RADIUS, 1.0)
    return truth, at.identify(robot, [logged(truth, 1)[0]], cutoff=20.0)


def test_a_radius_that_the_logs_show_is_found_and_predicts_another_run(bending):
    """Within 30 %; where joints stand or turn round, to twice the noise."""
    truth, found = bending
    radii = np.array([radius for _, radius in list_presliding_distances(found.model.terms)])
    assert len(radii) >= 5
    assert radii == pytest.approx(RADIUS, rel=0.3)
    other, exact = logged(truth, 2)
    judged = found.validate(other)
    standing = found.standing(other)
    standing[: int(3 * RATE)] = False  # a motion begins with a bend that nobody knows
    missed = np.where(standing, judged.tau_hat - exact, 0.0)
    assert np.sqrt((missed**2).sum(axis=0) / standing.sum(axis=0)).max() < 2 * NOISE


def test_the_result_names_what_bends_and_the_row_it_acts_on(bending):
    """A row of several joints, as the wrist's motor has, is one text too."""
    truth, found = bending
    judged = at.judge(found.prior, found, logged(truth, 2)[0])
    memory = to_result(judged.sections())["presliding"]
    rows = {record["element"]: record["row"] for record in memory}
    assert rows["joint_1_memory"] == "joint_1"
    assert rows["motor_6_memory"] == "1 joint_5 + 1 joint_6"


@pytest.mark.parametrize("cutoff", [10.0, 20.0])
def test_a_robot_without_a_memory_gets_none(cutoff):
    """Also where the filter takes so little that samples are averaged, two by two at 10 Hz: a
    reversal lies between them.
    """
    robot = at.Robot.load("tx40")
    found = at.identify(robot, [moving_only(robot)], cutoff=cutoff)
    assert found.model.terms == ()
    (said,) = describe_friction(found)
    assert said.startswith("The logs do not identify pre-sliding friction")


def moving_only(robot):
    """A log of harmonics, whose joints never stand."""
    t = np.arange(0, 16, 1 / RATE)[:, None]
    w = 2 * np.pi / 8 * np.array([1, 2, 3, 2, 3, 4])
    q = np.array([0.0, 0.3, 1.0, 0.0, 0.6, 0.0]) + 0.5 * np.sin(w * t) + 0.2 * np.cos(2.5 * w * t)
    v = 0.5 * w * np.cos(w * t) - 0.5 * w * np.sin(2.5 * w * t)
    a = -0.5 * w**2 * np.sin(w * t) - 1.25 * w**2 * np.cos(2.5 * w * t)
    noise = 0.2 * np.random.default_rng(0).normal(size=q.shape)
    tau = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v) + noise
    return at.Log.of(t[:, 0], q=q, tau=tau)


def test_friction_that_grows_as_a_root_of_the_speed_is_no_memory_where_joints_never_stand():
    """Both are small about a reversal; a root beside the file's laws explains all of it."""
    robot = at.Robot.load("tx40")
    places = find_hosts(robot, Recipe(), np.ones(robot.n))
    wide = with_terms(robot, tuple(host.root(0.5) for host in places))
    values = dict(zip(wide.parameter_names, wide.parameters, strict=True))
    for host in places:
        name = host.element.name
        values[f"{name}_shape.torque"] = 0.5 * values[f"{name}.level"]
        values[f"{name}.level"] *= 0.5
    truth = wide.with_parameters(np.array(list(values.values())))
    chance = np.random.default_rng(3)
    t = np.arange(0, LENGTH, 1 / RATE)[:, None]
    q = np.tile([0.0, 0.3, 1.0, 0.0, 0.6, 0.0], (len(t), 1))
    v, a = np.zeros_like(q), np.zeros_like(q)
    for k in range(1, 6):
        w, size, phase = 2 * np.pi * k / 8, 0.4 * chance.normal(size=6) / k, chance.uniform(0, 6, 6)
        q = q + size * np.sin(w * t + phase)
        v = v + size * w * np.cos(w * t + phase)
        a = a - size * w**2 * np.sin(w * t + phase)
    tau = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
    log = at.Log.of(t[:, 0], q=q, tau=tau + NOISE * chance.normal(size=q.shape))
    found = at.identify(robot, [log], cutoff=20.0)
    endings = {term.element.name.rpartition("_")[2] for term in found.model.terms}
    assert endings == {"shape"}


def test_a_doubted_torque_is_trusted_when_asked_and_the_doubt_is_kept():
    robot = at.Robot.load("tx40")
    log = moving_only(robot)
    turned = at.Log.of(log.time, q=log.q, tau=log.tau * np.array([1, -1, 1, 1, 1, 1]))
    with pytest.raises(at.ArmtwinError, match="the sign of joint_2's torque reversed"):
        at.identify(robot, [turned], cutoff=10.0)
    recipe = at.Recipe(trust=True, friction="file")
    found = at.identify(robot, [turned], cutoff=10.0, recipe=recipe)
    assert "joint_2" in found.distrusted


@pytest.mark.parametrize(
    ("channel", "asked"), [("tau", False), ("current_des", True), ("tau_m_ff", True)]
)
def test_set_values_have_no_memory(channel, asked):
    assert is_command(channel) == asked


def test_an_identified_memory_survives_its_file(tmp_path):
    robot = remembering(at.Robot.load("tx40"), RADIUS, 0.5)
    robot.save(tmp_path / "tx40.toml")
    again = at.Robot.load(tmp_path / "tx40.toml")
    elements = {element.name: element for element in again.description.friction}
    level = dict(zip(again.parameter_names, again.parameters, strict=True))["joint_1_memory.level"]
    assert elements["joint_1_memory"].radius == RADIUS
    assert elements["joint_1_memory"].bristle_stiffness == pytest.approx(level / RADIUS)
    doubled = replace(elements["joint_1_memory"].presliding, stiffness=1.0)
    assert doubled.problem() == "must have a stiffness or a radius, and one of them only"


def test_bristles_of_a_stiffness_are_no_memory(robots):
    """Their radius would change with the level that is fitted; assumed ones would be believed."""
    tx40 = robots["tx40"]
    still = np.zeros((3, 6))
    assert max(element.radius for element in tx40.description.friction) >= 1e-5
    assert compute_deflections(tx40, tx40.assembly.friction, still, still) is None


def test_a_contact_whose_friction_falls_keeps_its_stiffness():
    """Through a reversal at speeds that leave a share e^-1 of it, it is the loop's bristle of that
    share and of the stiffness at rest, later by the play in which positions may tremble.
    """
    robot = at.Robot.load("tx40")
    (host, *_) = find_hosts(robot, Recipe(), np.ones(robot.n))
    element = replace(host.memory(RADIUS).element, law=Drop(2.0, 0.5, 1.0))
    x = np.concatenate([np.linspace(0.1, 0.0, 20001), np.linspace(0.0, 0.1, 20001)[1:]])
    q, v = np.zeros((len(x), 6)), np.zeros((len(x), 6))
    q[:, 0] = x
    v[:, 0] = 0.5 * np.sign(np.gradient(x))
    bent = compute_deflections(robot, [(element, host.row)], q, v)[20001:, 0]
    torque = 2.0 * np.exp(-1) * bent
    late = np.maximum(x[20001:] - 2 * PLAY * RADIUS, 0.0)
    bristle = 2.0 * np.exp(-1) * (1 - 2 * np.exp(-late / (RADIUS * np.exp(-1))))
    assert torque == pytest.approx(bristle, abs=1e-3)


@pytest.mark.parametrize("law", [Coulomb(1.0), Drop(1.0, 1e6)])
def test_a_contact_that_leads_bears_more_while_it_bends(robots, law):
    """From rest at a steady speed w: a stop bears x / r + lead w / r up to its corner, a bristle
    1 - e + lead w / r e with e = exp(-x / r); of a fall over 1e6 rad/s nothing is seen."""
    radius, lead, speed, rate = 1e-3, 5e-3, 0.02, 4000.0
    robot = robots["tx40"]
    first, *others = robot.description.friction
    bristles = Presliding(radius=radius, lead=lead)
    contact = replace(first, law=law, presliding=bristles, source="assumed: a test")
    robot = at.Robot(replace(robot.description, friction=(contact, *others)))
    x = speed / rate * np.arange(1000)
    q, v = np.zeros((1000, 6)), np.zeros((1000, 6))
    q[:, 0], v[:, 0] = x, speed
    share = compute_deflections(robot, robot.assembly.friction, q, v)[:, 0]
    if isinstance(law, Coulomb):
        expected = np.where(x < radius, x / radius + lead * speed / radius, 1.0)
    else:
        left = np.exp(-np.maximum(x - PLAY * radius, 0) / radius)
        expected = 1 - left + lead * speed / radius * left
    far = np.abs(x - radius) > 2 * speed / rate
    assert share[far] == pytest.approx(expected[far], abs=2e-3)


def test_a_falling_contact_that_trembles_at_rest_keeps_its_bend():
    """White noise of a hundredth of the radius for 4 s does not wear it off."""
    x = np.concatenate([np.linspace(0, 5, 1000), np.full(1000, 4.5)])
    x += 0.01 * np.random.default_rng(2).normal(size=len(x))
    shares = np.empty((1, len(x)))
    bristle_operators(x, np.ones(len(x)), np.ones(1), np.arange(1), shares)
    assert shares[0, -1] == pytest.approx(shares[0, 1010], abs=0.02)


def test_nothing_is_added_to_friction_of_a_joint_that_stands(robots):
    robot = robots["tx40"]
    moving = find_hosts(robot, Recipe(), np.ones(robot.n))
    fewer = find_hosts(robot, Recipe(), np.array([1.0, 1.0, 1.0, 0.0, 1.0, 1.0]))
    assert {host.element.name for host in moving} - {host.element.name for host in fewer} == {
        "joint_4"
    }

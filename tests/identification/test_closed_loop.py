"""Noise that goes round the loop: coarse encoders, the simulated motion, shapes, repeated runs.

The virtual RX90B moves slowly, by three tenths of an excitation, with 1024 steps of a turn of its
motors: the steps' share of the accelerations is then what it is for a fast motion with encoders of
a hundred steps.
"""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.logs.averaging import average_runs
from tests.identification.virtual import NOISE, excitation, measured, on_the_bench

COUNTS, SWING, CUTOFF = 1024, 0.3, 40.0
PLAIN = at.Recipe(weight=1e-7, friction="file", tilt="file", trust=True)


@pytest.fixture(scope="module")
def bench():
    return on_the_bench()


def slow(robot, seed):
    """Three tenths of an excitation."""
    fast = excitation(robot, seed, periods=2)
    middle = fast.q.mean(axis=0)
    return at.Trajectory.sampled(
        fast.rate, middle + SWING * (fast.q - middle), SWING * fast.v, SWING * fast.a
    )


def by_encoders(robot, counts, log):
    """A log as a machine writes it, whose motors' encoders have so many steps."""
    N = robot.assembly.motor_rows
    step = 2 * np.pi / counts
    q = np.round(log.q @ N.T / step) * step @ np.linalg.inv(N.T)
    return at.Log.of(log.time, q=q, q_ref=log.q_ref, v_ref=log.v_ref, tau=log.tau)


@pytest.fixture(scope="module")
def logs(bench):
    motors = [replace(motor, encoder_counts=COUNTS) for motor in bench.description.motor]
    coarse = at.Robot(replace(bench.description, motor=tuple(motors)), bench.origin)
    found = []
    for seed in (1, 2, 3):
        found.append(by_encoders(bench, COUNTS, at.simulate(coarse, slow(bench, seed)).log))
    return found


@pytest.fixture(scope="module")
def underestimated(bench):
    rotor = np.array([p.group == "rotor" for p in bench.parameter_table])
    return bench.with_parameters(bench.parameters * np.where(rotor, 0.7, 1.0))


@pytest.fixture(scope="module")
def found(underestimated, logs):
    return [at.identify_in_loop(underestimated, [log], cutoff=CUTOFF, recipe=PLAIN) for log in logs]


def mean_errors(bench, robots):
    """Mean relative errors of the inertias that the arm's first three joints feel."""
    C = analyse_identifiability(bench).combination
    names = analyse_identifiability(bench).base
    chosen = [k for k, name in enumerate(names) if name.startswith(("Jm1", "Jyy2", "Jm3", "Jyy3"))]
    truth = C @ bench.parameters
    errors = [(C @ robot.parameters)[chosen] / truth[chosen] - 1 for robot in robots]
    return np.mean(errors, axis=0)


def test_plain_least_squares_is_drawn_away_by_coarse_encoders_and_the_loop_is_not(
    bench, underestimated, logs, found
):
    """Mean of three motions: inertias off by more than 5 % each on average with the measured
    motion, by a third of that with the simulated one.
    """
    plain = [at.identify(underestimated, [log], cutoff=CUTOFF, recipe=PLAIN).robot for log in logs]
    off = np.abs(mean_errors(bench, plain)).mean()
    left = np.abs(mean_errors(bench, [one.robot for one in found])).mean()
    assert off > 0.05
    assert left < off / 3


def test_the_iteration_settles_in_a_few_steps(found):
    """From rotors 30 % too light; a servo tracks much the same with any of them."""
    for one in found:
        assert one.settled
        assert len(one.steps) <= 3
        assert one.steps[-1].apart < 2e-3


def test_the_estimate_says_that_its_motion_was_simulated(found):
    assert found[0].fit.recipe.motion == "simulated"


def test_the_estimate_is_judged_on_parts_left_out(found, underestimated):
    judged = at.judge(underestimated, found[0].fit)
    assert judged.unjudged == ""
    assert judged.left_out is not None
    assert not judged.failed


def test_the_torque_of_a_motion_that_the_fit_never_saw_is_known(bench, found):
    """Within 3 % of each joint's torque, of another slow motion."""
    motion = slow(bench, 7)
    torques = []
    for robot in (bench, found[0].robot):
        torque = robot.inverse_dynamics(motion.q, motion.v, motion.a)
        torques.append(torque + robot.friction_torque(motion.v))
    exact, predicted = torques
    gap = np.linalg.norm(predicted - exact, axis=0) / np.linalg.norm(exact, axis=0)
    assert gap.max() < 0.03


def test_a_log_without_a_reference_is_refused(bench, logs):
    bare = at.Log.of(logs[0].time, q=logs[0].q, tau=logs[0].tau)
    with pytest.raises(ArmtwinError, match="no reference q_ref to simulate the robot on"):
        at.identify_in_loop(bench, [bare])


def test_a_robot_without_a_servo_is_refused(bench, logs):
    blind = at.Robot(replace(bench.description, servo={}), bench.origin)
    with pytest.raises(ArmtwinError, match="its loop cannot be simulated"):
        at.identify_in_loop(blind, logs)


def test_identify_alone_refuses_a_simulated_motion(bench, logs):
    with pytest.raises(ArmtwinError, match=r"use at.identify_in_loop"):
        at.identify(bench, logs, recipe=at.Recipe(motion="simulated"))


def test_a_loop_shows_its_steps_before_the_last_estimate(found):
    report = found[0].sections()
    steps = report.sections[0].blocks[0].records
    assert [(row["change"], row["apart"]) for row in steps] == [
        (step.change, step.apart) for step in found[0].steps
    ]
    assert report.verdict[0].text.startswith(f"Settled after {len(steps)} step")
    assert report.verdict[1].text.startswith("Fitted, not validated")
    assert "parameters" in report.tables


@pytest.fixture(scope="module")
def shapes(bench):
    """Shapes fitted from a file whose exponents of the oil are 40 % too large."""
    elements = []
    for element in bench.description.friction:
        law = element.law
        if hasattr(law, "viscous_exponent"):
            law = replace(law, viscous_exponent=1.4 * law.viscous_exponent)
        elements.append(replace(element, law=law))
    wrong = at.Robot(replace(bench.description, friction=tuple(elements)), bench.origin)
    log = measured(bench, excitation(bench, 1, periods=2), 1)
    return at.fit_friction_shapes(wrong, [log], cutoff=10.0)


def test_exponents_of_the_oil_are_found_in_a_dynamic_log(bench, shapes):
    """Within three deviations, and within 10 % where the deviation is below 3 %."""
    truth = {element.name: element.law for element in bench.description.friction}
    identified = {row.name: row for row in shapes.table if row.told}
    exponents = [name for name in identified if name.endswith(".viscous_exponent")]
    assert len(exponents) >= 5
    for name in exponents:
        element, _, key = name.partition(".")
        exact = getattr(truth[element], key)
        assert abs(identified[name].value - exact) < 3 * identified[name].std
        if identified[name].std < 0.03 * exact:
            assert identified[name].value == pytest.approx(exact, rel=0.1)


def test_the_robot_with_the_shapes_predicts_its_log_no_worse_than_identified_without(bench, shapes):
    """Coefficients, bodies and rotors are those that go with the shapes."""
    log = measured(bench, excitation(bench, 1, periods=2), 1)
    recipe = at.Recipe(friction="file", tilt="file")
    plain = at.identify(shapes.prior, [log], cutoff=10.0, recipe=recipe)
    own = plain.validate(log, robot=shapes.robot).rmse
    assert (own < 1.02 * plain.validate(log).rmse).all()


def test_shapes_are_shown_and_written(shapes, tmp_path):
    at.write_report(shapes, tmp_path / "shapes.html")
    assert "joint_1.viscous_exponent" in (tmp_path / "shapes.html").read_text(encoding="utf-8")
    assert "shape parameters are identified" in repr(shapes)
    (axis,) = shapes.plot()
    drawn = [points.lines[0].get_ydata() for points in axis.containers]
    np.testing.assert_array_equal(drawn, [shapes.before, shapes.after])


def test_what_a_log_does_not_tell_keeps_the_files_value(shapes):
    """The Stribeck speeds of the first joints lie below what a fast motion shows."""
    row = next(row for row in shapes.table if row.name == "joint_1.speed")
    assert not row.told
    assert row.value == row.file


def test_shapes_predict_another_motion_better(bench, shapes):
    """Friction of a motion that the fit never saw, the file's own less half its error."""
    motion = excitation(bench, 7)
    exact = bench.friction_torque(motion.v)
    before = np.linalg.norm(shapes.prior.friction_torque(motion.v) - exact)
    after = np.linalg.norm(shapes.robot.friction_torque(motion.v) - exact)
    assert after < 0.5 * before


def test_eight_runs_lower_the_noise_but_not_the_quantisation(bench):
    """[Waiboer 2007, section 4.4.2]: what is left of the mean of eight runs is √(σ²/8 + s²), s the
    steps of encoders and currents, which repeat from run to run.
    """
    motion = excitation(bench, 1, periods=1)
    stepped = at.simulate(bench, motion).log
    smooth = at.simulate(bench, motion, at.Model(quantise=False)).log
    sigma = 0.05 * NOISE * bench.limits.torque
    steps = np.sqrt(((stepped.tau - smooth.tau) ** 2).mean(axis=0))
    chance = np.random.default_rng(8)
    runs = []
    for _ in range(8):
        tau = stepped.tau + sigma * chance.normal(size=stepped.tau.shape)
        runs.append(at.Log.of(stepped.time, q=stepped.q, tau=tau))
    alone = np.sqrt(((runs[0].tau - smooth.tau) ** 2).mean(axis=0))
    mean = np.sqrt(((average_runs(runs).tau - smooth.tau) ** 2).mean(axis=0))
    np.testing.assert_allclose(alone, np.hypot(sigma, steps), rtol=0.05)
    np.testing.assert_allclose(mean, np.hypot(sigma / np.sqrt(8), steps), rtol=0.05)
    assert (mean > steps * 0.95).all()
    assert (steps > 0.2 * sigma).any()

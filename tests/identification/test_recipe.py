"""The choices of an identification: symmetry, bounds, friction alone, robust rows, where motion and
torque come from.
"""

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.rigid_body.evaluation.diagnostics import list_unidentified
from tests.identification.test_identify import excitation, logged
from tests.oracles import bodies_only


@pytest.fixture(scope="module")
def tx40():
    return at.Robot.load("tx40")


@pytest.fixture(scope="module")
def changed(tx40):
    """A robot whose rotors and friction differ from the file's by a fifth."""
    group = np.array([p.group for p in tx40.parameter_table])
    factor = np.where(group == "rotor", 1.2, np.where(group == "friction", 0.8, 1.0))
    return tx40.with_parameters(tx40.parameters * factor)


@pytest.fixture(scope="module")
def log(tx40, changed):
    """Torque of the changed robot with noise of half a newton metre, 16 s."""
    t, q, v, a = excitation(tx40, 16.0)
    tau = changed.inverse_dynamics(q, v, a) + changed.friction_torque(v)
    chance = np.random.default_rng(3)
    return at.Log.of(t, q=q, tau=tau + 0.5 * chance.normal(size=tau.shape))


def values(found):
    return {row.name: row.value for row in found.table}


def test_parameters_declared_zero_or_equal_are(tx40, log):
    """As [Memar-Esfahani 2015, eq. 12]: products of inertia vanish by symmetry; two coefficients
    share one value.
    """
    recipe = at.Recipe(
        zero=("Jxy2", "Jyz3"), equal=(("Jxx5", "Jyy5"), ("Jyy5", "Jzz5")), fixed=("m4",)
    )
    found = values(at.identify(tx40, [log], cutoff=10.0, recipe=recipe))
    assert found["Jxy2"] == 0
    assert found["Jyz3"] == 0
    assert found["Jxx5"] == found["Jyy5"] == found["Jzz5"]
    assert found["m4"] == dict(zip(tx40.parameter_names, tx40.parameters, strict=True))["m4"]


def test_friction_alone_is_renewed_and_inertias_stay(tx40, changed, log):
    held = tx40.with_parameters(
        np.where(
            [p.group == "rotor" for p in tx40.parameter_table], changed.parameters, tx40.parameters
        )
    )
    found = at.identify(held, [log], cutoff=10.0, recipe=at.Recipe(only="friction"))
    inertia = 66
    assert np.array_equal([row.value for row in found.table[:inertia]], held.parameters[:inertia])
    told = np.array([row.from_logs > 0.9 for row in found.table[inertia:]])
    ratio = np.array([row.value for row in found.table[inertia:]]) / changed.parameters[inertia:]
    assert told.sum() >= 10
    assert np.abs(ratio[told] - 1).max() < 0.2
    assert np.abs(ratio[told] - 1).mean() < 0.04


def test_a_mass_keeps_its_bounds(tx40, log):
    bounds = {"link_3": (6.0, 7.0), "link_4": (3.62, 3.62)}
    found = values(at.identify(tx40, [log], cutoff=10.0, recipe=at.Recipe(mass=bounds)))
    assert 6.0 - 1e-6 <= found["m3"] <= 7.0 + 1e-6
    assert found["m4"] == pytest.approx(3.62, abs=1e-6)


def test_robust_weights_shrug_off_bursts(tx40, changed, log):
    """A stretch of one second in which joint 2 pushes against a stop: 60 N m too much."""
    tau = log.tau.copy()
    tau[1000:1250, 1] += 60.0
    burst = at.Log.of(log.time, q=log.q, tau=tau)
    plain = at.identify(tx40, [burst], cutoff=10.0)
    robust = at.identify(tx40, [burst], cutoff=10.0, recipe=at.Recipe(robust=True))
    _, q, v, a = excitation(tx40, 8.0, seed=4)
    exact = changed.inverse_dynamics(q, v, a) + changed.friction_torque(v)
    gap = [
        np.abs(f.robot.inverse_dynamics(q, v, a) + f.robot.friction_torque(v) - exact)[:, 1].mean()
        for f in (plain, robust)
    ]
    assert gap[1] < 0.5 * gap[0]


def test_motor_torque_and_joint_torque_tell_the_same(tx40, log):
    """tau = Nᵀ tau_m, also through the coupled wrist; the result says where it was measured."""
    motors = np.linalg.solve(tx40.assembly.gear.T, log.tau.T).T
    there = at.identify(tx40, [at.Log.of(log.time, q=log.q, tau_m=motors)], cutoff=10.0)
    here = at.identify(tx40, [log], cutoff=10.0)
    assert there.torque_side == "torque at the motor"
    a, b = (np.array([row.value for row in f.table]) for f in (there, here))
    assert np.abs(a - b).max() < 1e-6 * np.abs(b).max()


def test_several_logs_of_other_rates_and_lengths_are_one_fit(tx40, changed):
    """250 Hz and 16 s, 100 Hz and 8 s with uneven stamps; a third motion is known better from both
    than from one.
    """
    chance = np.random.default_rng(4)
    exact = logged(tx40, changed, 16.0, 1, noise=0.0)[0]
    first = at.Log.of(
        exact.time, q=exact.q, tau=exact.tau + 2.0 * chance.normal(size=exact.tau.shape)
    )
    t, q, v, a = excitation(tx40, 8.0, rate=100.0, seed=2)
    late = t + 0.002 * np.random.default_rng(0).uniform(-1, 1, len(t))
    tau = (
        changed.inverse_dynamics(q, v, a)
        + changed.friction_torque(v)
        + 2.0 * chance.normal(size=q.shape)
    )
    second = at.Log.of(late, q=q + v * (late - t)[:, None], tau=tau)
    both, one = (at.identify(tx40, logs, cutoff=10.0) for logs in ([first, second], [second]))
    assert both.cleaning[0].rate != both.cleaning[1].rate
    assert [how.resampled for how in both.cleaning] == [False, True]
    _, q, v, a = excitation(tx40, 8.0, seed=5)
    exact = changed.inverse_dynamics(q, v, a) + changed.friction_torque(v)
    gaps = [
        np.abs(f.robot.inverse_dynamics(q, v, a) + f.robot.friction_torque(v) - exact).mean()
        for f in (both, one)
    ]
    assert gaps[0] < 0.9 * gaps[1]


def test_repeated_runs_are_averaged(tx40, changed):
    """Eight runs of one motion, noise of 5 % of the largest torque: the residual falls by the root
    of eight.
    """
    t, q, v, a = excitation(tx40, 8.0)
    tau = changed.inverse_dynamics(q, v, a) + changed.friction_torque(v)
    chance = np.random.default_rng(1)
    runs = [at.Log.of(t, q=q, tau=tau + 5.0 * chance.normal(size=tau.shape)) for _ in range(8)]
    one = at.identify(tx40, runs[:1], cutoff=20.0)
    mean = at.identify(tx40, runs, cutoff=20.0, recipe=at.Recipe(average=True))
    assert len(mean.logs) == 1
    assert (one.sigma / mean.sigma) == pytest.approx(np.sqrt(8), rel=0.15)


@pytest.mark.parametrize(
    ("asked", "sentence"),
    [
        ({"zero": ("Jxy9",)}, "parameter 'Jxy9' is not known"),
        ({"mass": {"link_9": (1.0, 2.0)}}, "link 'link_9' is not known"),
        ({"mass": {"link_3": (2.0, 1.0)}}, "must have 0 <= lower <= upper, got 2 and 1"),
        (
            {"estimator": "best"},
            "estimator must be one of consistent, ridge, truncated, got 'best'",
        ),
        ({"periods": (1, 2)}, "periods are counted by period, which is not given"),
        (
            {"fixed": ("m4",), "equal": (("m4", "m5"),)},
            "parameter 'm4' is held, so nothing can be equal to it",
        ),
        (
            {"only": "friction", "equal": (("m4", "m5"),)},
            "parameter 'm4' is held, so nothing can be equal to it",
        ),
        ({"equal": (("m4", "Jxx4"),)}, "equal parameters must have one unit"),
        ({"zero": ("m4",), "fixed": ("m4",)}, "parameter 'm4' must be zero or fixed, not both"),
        (
            {"mass": {"link_3": 2.0}},
            r"to a sequence \(a number in kg, a number in kg\), got 'link_3': 2.0",
        ),
        ({"weight": float("inf")}, "weight must be a number or None, got inf"),
        ({"rest": 1.5}, "rest must be at least 0 and below 1, got 1.5"),
        ({"weight": -1.0}, "weight must be at least 0, got -1"),
        ({"motion": "reference"}, "must have 6 columns of q_ref for robot 'tx40', got 0"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(tx40, log, asked, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.identify(tx40, [log], cutoff=10.0, recipe=at.Recipe(**asked))


def test_robust_weights_change_nothing_where_noise_is_normal(tx40, log):
    """The residual stays that of the noise: half a newton metre, less what the filter takes."""
    plain, robust = (
        at.identify(tx40, [log], cutoff=10.0, recipe=at.Recipe(robust=x)) for x in (False, True)
    )
    assert robust.sigma == pytest.approx(plain.sigma, rel=0.1)


def test_a_truncated_estimate_knows_only_what_it_kept(tx40, log):
    found = at.identify(tx40, [log], cutoff=10.0, recipe=at.Recipe(estimator="truncated", kept=3))
    assert sum(row.from_logs for row in found.table) == pytest.approx(3.0, abs=1e-6)
    assert np.linalg.matrix_rank(found.covariance) == 3


def test_a_bound_of_a_mass_is_that_of_the_link_without_its_tool():
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    own = {x.name: x.body.mass for x in robot.description.link}["link_6"]
    made = logged(robot, robot, 8.0, 1)[0]
    found = at.identify(robot, [made], cutoff=10.0, recipe=at.Recipe(mass={"link_6": (own, own)}))
    assert {x.name: x.body.mass for x in found.robot.description.link}["link_6"] == pytest.approx(
        own, abs=1e-6
    )


def test_a_bare_robot_on_exact_data_is_no_worse_than_plain_least_squares(tmp_path):
    """Drives assumed at first; the prior must not spoil a joint whose data are good."""
    robot = at.Robot.load("tx40")
    bodies_only(robot).to_urdf(tmp_path / "bare.urdf")
    bare = at.Robot.load(tmp_path / "bare.urdf")
    assert not bare.description.friction
    logs = [logged(robot, robot, 8.0, seed, noise=0.002)[0] for seed in (1, 2, 3)]
    found = at.identify(bare, logs[:2], cutoff=10.0)
    assert (
        "The robot file lacks rotor inertia and viscous and Coulomb friction and offset"
        in list_unidentified(found)[0]
    )
    assert (found.validate(logs[2]).nrmse < 1.2 * found.validate_plain(logs[2]).nrmse + 0.5).all()


def test_logs_must_have_one_torque_channel(tx40, log):
    other = at.Log.of(log.time[:-1], q=log.q[:-1], current=log.tau[:-1])
    with pytest.raises(at.ArmtwinError, match="log 2: the log has no channel 'tau'"):
        at.identify(tx40, [log, other], cutoff=10.0)


def test_the_same_log_twice_is_refused(tx40, log):
    with pytest.raises(at.ArmtwinError, match="log 2 is the same log as log 1"):
        at.identify(tx40, [log, log], cutoff=10.0)
    found = at.identify(tx40, [log], cutoff=10.0)
    with pytest.raises(at.ArmtwinError, match="was part of the fit"):
        at.judge(tx40, found, log)


def test_periods_are_left_out_one_by_one(tx40):
    """The middle two of four, each predicted from the other; a single one cannot be judged, and
    that is said.
    """
    made = logged(tx40, tx40, 32.0, 1)[0]
    for periods, count in (((1, 2), 2), ((1, 1), 0)):
        found = at.identify(
            tx40, [made], cutoff=10.0, recipe=at.Recipe(period=8.0, periods=periods)
        )
        judged = at.judge(tx40, found)
        if count:
            assert len(judged.left_out.parts) == count
            assert judged.left_out.nrmse.max() < 30
        else:
            assert (
                judged.unjudged == "a log of one period leaves nothing to fit when it is left out"
            )
            assert judged.errors is None


@pytest.mark.parametrize(("rate", "digits"), [(300.0, 3), (248.0, 3), (120.0, 3), (1000.0, 4)])
def test_time_stamps_that_were_rounded_are_even(tx40, rate, digits):
    t, q, v, a = excitation(tx40, 8.0, rate=rate)
    tau = tx40.inverse_dynamics(q, v, a) + tx40.friction_torque(v)
    found = at.identify(tx40, [at.Log.of(np.round(t, digits), q=q, tau=tau)])
    assert not found.cleaning[0].resampled
    assert found.cleaning[0].rate * found.cleaning[0].averaged == pytest.approx(rate, rel=1e-3)
    assert found.validate(found.logs[0]).nrmse.max() < 8


def test_wrong_arguments_get_a_sentence(tx40, log):
    for robot, logs, sentence in (
        ("tx40", [log], r"robot must be a Robot, got 'tx40'; write at.Robot.load\(\"tx40\"\)"),
        (tx40, "run.csv", r"logs must be .*got 'run.csv'; write at.Log.read\(\"run.csv\"\)"),
        (tx40, iter([]), "identify needs"),
    ):
        with pytest.raises(at.ArmtwinError, match=sentence):
            at.identify(robot, logs)
    with pytest.raises(at.ArmtwinError, match=r"cutoff must be .*, got '5 Hz'"):
        at.identify(tx40, [log], cutoff="5 Hz")
    tau = log.tau.copy()
    tau[:, 3] = 0
    with pytest.raises(
        at.ArmtwinError, match="the torque of joint_4 never changes while the joint moves"
    ):
        at.identify(tx40, [at.Log.of(log.time, q=log.q, tau=tau)], cutoff=10.0)
    tau[5, 2] = np.nan
    with pytest.raises(
        at.ArmtwinError, match="log channel 'tau' must be finite, got nan at sample 6, column 3"
    ):
        at.Log.of(log.time, q=log.q, tau=tau)


def test_a_log_to_validate_is_checked_like_the_others(tx40, log):
    found = at.identify(tx40, [log], cutoff=10.0)
    for bad, sentence in (
        (
            at.Log.of(log.time, q=log.q, tau=-log.tau),
            "the log to validate: .* Are the torques of all joints counted the other way",
        ),
        (
            at.Log.of(log.time, q=np.degrees(log.q), tau=log.tau),
            "the log to validate: .* Is it in degrees",
        ),
        (
            at.Log.of(log.time, q=log.q[:, :5], tau=log.tau[:, :5]),
            "the log to validate: must have 6 columns of q",
        ),
    ):
        with pytest.raises(at.ArmtwinError, match=sentence):
            at.judge(tx40, found, bad)


def test_a_reversed_torque_is_turned_by_a_columns_file(tx40, log, tmp_path):
    at.Log.of(log.time, q=log.q, tau=-log.tau).write(tmp_path / "run.csv")
    (tmp_path / "run.columns.toml").write_text(
        "format = 1\ntorque_sign = [-1, -1, -1, -1, -1, -1]\n"
    )
    assert (at.Log.read(tmp_path / "run.csv").tau == log.tau).all()

"""The choices of an identification: symmetry, bounds, friction alone, robust rows, where motion and torque come from."""

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.freedom import freedom
from tests.identification.test_identify import excitation, logged


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
    """As [Memar-Esfahani 2015, eq. 12]: products of inertia vanish by symmetry; two coefficients share one value."""
    recipe = at.Recipe(zero=("Jxy2", "Jyz3"), equal=(("Jxx5", "Jyy5"), ("Jyy5", "Jzz5")), fixed=("m4",))
    found = values(at.identify(tx40, [log], cutoff=10.0, recipe=recipe))
    assert found["Jxy2"] == 0
    assert found["Jyz3"] == 0
    assert found["Jxx5"] == found["Jyy5"] == found["Jzz5"]
    assert found["m4"] == dict(zip(tx40.parameter_names, tx40.parameters, strict=True))["m4"]


def test_what_equals_a_parameter_that_is_held_is_held(tx40):
    free = freedom(tx40, at.Recipe(fixed=("m4",), equal=(("m4", "m5"), ("m5", "m6"))))
    names = list(tx40.parameter_names)
    m4, m5, m6 = (names.index(f"m{k}") for k in (4, 5, 6))
    assert free.start[m5] == free.start[m6] == tx40.parameters[m4]
    assert not free.basis[[m4, m5, m6]].any()


def test_friction_alone_is_renewed_and_inertias_stay(tx40, changed, log):
    held = tx40.with_parameters(
        np.where([p.group == "rotor" for p in tx40.parameter_table], changed.parameters, tx40.parameters)
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
    """250 Hz and 16 s, 100 Hz and 8 s with uneven stamps; better than the shorter one alone."""
    first = logged(tx40, changed, 16.0, 1, noise=0.0)[0]
    t, q, v, a = excitation(tx40, 8.0, rate=100.0, seed=2)
    late = t + 0.002 * np.random.default_rng(0).uniform(-1, 1, len(t))
    tau = changed.inverse_dynamics(q, v, a) + changed.friction_torque(v)
    second = at.Log.of(late, q=q + v * (late - t)[:, None], tau=tau)
    found = at.identify(tx40, [first, second], cutoff=10.0)
    assert found.cleaning[0].rate != found.cleaning[1].rate
    assert found.cleaning[1].resampled
    assert not found.cleaning[0].resampled
    rotor = {
        row.name: row.value / dict(zip(tx40.parameter_names, changed.parameters, strict=True))[row.name]
        for row in found.table[60:66]
    }
    assert rotor["Jm3"] == pytest.approx(1.0, abs=0.05)


def test_repeated_runs_are_averaged(tx40, changed):
    """Eight runs of one motion, noise of 5 % of the largest torque: the residual falls by the root of eight."""
    t, q, v, a = excitation(tx40, 8.0)
    tau = changed.inverse_dynamics(q, v, a) + changed.friction_torque(v)
    chance = np.random.default_rng(1)
    runs = [at.Log.of(t, q=q, tau=tau + 5.0 * chance.normal(size=tau.shape)) for _ in range(8)]
    one = at.identify(tx40, runs[:1], cutoff=20.0)
    mean = at.identify(tx40, runs, cutoff=20.0, recipe=at.Recipe(average=True))
    assert len(mean.logs) == 1
    assert (one.sigma / mean.sigma) == pytest.approx(np.sqrt(8), rel=0.15)


@pytest.mark.parametrize(
    ("recipe", "sentence"),
    [
        (at.Recipe(zero=("Jxy9",)), "parameter 'Jxy9' is not known"),
        (at.Recipe(mass={"link_9": (1.0, 2.0)}), "link 'link_9' is not known"),
        (at.Recipe(mass={"link_3": (2.0, 1.0)}), "must have 0 <= lower <= upper, got 2 and 1"),
        (at.Recipe(estimator="best"), "estimator must be one of consistent, ridge, truncated, got 'best'"),
        (at.Recipe(periods=(1, 2)), "periods are counted by period, which is not given"),
        (at.Recipe(rest=1.5), "rest must be at least 0 and below 1, got 1.5"),
        (at.Recipe(weight=-1.0), "weight must be at least 0, got -1"),
        (at.Recipe(motion="reference"), "must have 6 columns of q_ref for robot 'tx40', got 0"),
    ],
)
def test_a_recipe_that_cannot_be_is_refused(tx40, log, recipe, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.identify(tx40, [log], cutoff=10.0, recipe=recipe)

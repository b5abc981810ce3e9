"""What a clamping headlines is right, or it says why nothing is; mistakes are named.

Curves come from studies/clamping_sets.py, a generator that shares no code with the package.
"""

import warnings

import numpy as np
import pytest
from studies.clamping_sets import follow_angle, follow_torque, judge, swing

import armtwin as at

K, B, F = 25.7, 1.02e-2, 1.91  # motor side: N m/rad, rad, N m
SETS = range(20)


def make_log(q, tau, /, noise=(0.0, 0.0), rate=50.0, lines=None, **more):
    """A log of angles and torques with noise of both, the angle in steps of an encoder."""
    rng = np.random.default_rng(5)
    q = q + noise[0] * rng.standard_normal(len(q))
    tau = tau + noise[1] * rng.standard_normal(len(tau))
    if lines is not None:
        step = 2 * np.pi / lines
        q = step * np.round(q / step)
    time = np.arange(len(q)) / rate
    return at.Log.of(time, q_m=q[:, None], tau_m=tau[:, None], **more)


def driven_by_torque(friction=F, wave=0.0, rate=50.0, cycles=4, twist=0.35):
    """Angle and torque of 20 s a cycle, waves of 1.7 s in the torque that drives the motor."""
    time = np.arange(0, 20.0 * cycles, 1 / rate)
    tau = (K * twist + friction) * swing(time, 20.0, even=True)
    tau = tau + wave * np.sin(2 * np.pi * time / 1.7)
    return follow_torque(tau, K, B, (friction, friction)), tau


def driven_by_angle(friction=F, wave=0.0, rate=50.0, cycles=4):
    time = np.arange(0, 20.0 * cycles, 1 / rate)
    q = 0.35 * swing(time, 20.0, even=True)
    tau = follow_angle(q, K, B, (friction, friction), 2e-3)
    return q, tau + wave * np.sin(2 * np.pi * time / 1.7)


def test_no_random_set_has_a_wrong_headline_and_most_have_one():
    """Twenty of the 500 of the study, whose shares are on docs/transmissions.md."""
    outcomes = [judge(seed) for seed in SETS]
    assert not [one for one in outcomes if one.is_wrong]
    assert np.mean([not one.refused for one in outcomes]) >= 0.7
    inside = [covers for one in outcomes for covers in one.covered.values()]
    assert np.mean(inside) >= 0.85


@pytest.mark.parametrize("share", [0.5, 0.75, 0.85])
def test_friction_of_most_of_the_torque_leaves_the_stiffness(share):
    """The fit that divided distances by a function of K found 9e-5 N m/rad at three quarters."""
    friction = share / (1 - share) * K * 0.35
    result = at.clamp(make_log(*driven_by_torque(friction), noise=(1e-4, 0.02)))
    assert not result.headline.doubts
    assert result.best.stiffness == pytest.approx(K, rel=0.03)
    assert result.best.friction == pytest.approx(friction, rel=0.01)


def test_two_milliradians_of_angle_noise_leave_the_numbers():
    result = at.clamp(make_log(*driven_by_torque(), noise=(2e-3, 0.02)))
    assert not result.headline.doubts
    assert result.best.stiffness == pytest.approx(K, rel=0.01)
    assert result.best.friction == pytest.approx(F, rel=0.02)


@pytest.mark.parametrize("wave", [0.3, 0.6, 1.2])
@pytest.mark.parametrize("driven", [driven_by_torque, driven_by_angle])
def test_waves_leave_friction_whatever_drives_the_motor(driven, wave):
    """A motor that its torque drives slides at the crests of the waves alone; the mean distance of
    the curves is then short of friction by up to their amplitude, 38 % where it was not looked at.
    """
    result = at.clamp(make_log(*driven(wave=wave), noise=(1e-5, 0.02)))
    assert not result.headline.doubts
    assert result.best.stiffness == pytest.approx(K, rel=0.02)
    assert result.best.friction == pytest.approx(F, rel=0.03)


def test_waves_that_the_samples_do_not_resolve_are_doubted():
    """Waves of 1.7 s at 1.5 samples a second: which crests the motor slid at is not logged."""
    q, tau = driven_by_torque(wave=1.5, rate=60.0, cycles=6)
    result = at.clamp(make_log(q[::40], tau[::40], noise=(1e-5, 0.01), rate=1.5))
    right = result.best.friction is None or result.best.friction == pytest.approx(F, rel=0.1)
    assert right


@pytest.mark.parametrize("lines", [256, 1024])
def test_a_coarse_encoder_is_no_lack_of_turns(lines):
    """Steps of 25 mrad at 200 samples a second: most samples do not move at all."""
    q, tau = driven_by_angle(rate=200.0)
    result = at.clamp(make_log(q, tau, noise=(0, 0.02), rate=200.0, lines=lines))
    assert len(result.half_cycles) == 9
    assert not result.headline.doubts
    assert result.best.stiffness == pytest.approx(K, rel=0.03)
    assert result.best.friction == pytest.approx(F, rel=0.03)


def test_methods_that_disagree_headline_nothing_and_are_all_shown():
    """Half of the log of another transmission: each method finds some mean of both."""
    q, tau = driven_by_angle(cycles=4)
    soft = np.concatenate([tau, 0.6 * driven_by_angle(cycles=4)[1]])
    result = at.clamp(make_log(np.concatenate([q, q]), soft, noise=(1e-5, 0.01)))
    assert result.headline.doubts
    assert result.best.stiffness is None
    shown = result.sections()
    assert "No number is headlined" in shown.verdict[0].text
    assert len(result.table) == 3


def test_algorithm_one_gives_no_gap_that_its_window_hides():
    """A gap of 1 mrad of 0.7 rad: it saw four times as much, or none, without a word."""
    time = np.arange(0, 80.0, 0.02)
    q = 0.35 * swing(time, 20.0, even=True)
    tau = follow_angle(q, K, 1e-3, (F, F), 2e-3)
    found = at.clamp(make_log(q, tau, noise=(1e-5, 0.05))).one.found
    assert found.backlash is None
    assert "backlash not identifiable" in found.refused


def test_a_clamping_warns_of_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        at.clamp(make_log(*driven_by_torque(9.0, rate=6.0), noise=(2e-3, 0.1), rate=6.0, lines=256))


GOOD = driven_by_angle()


@pytest.mark.parametrize("ratio", [0.01, -1 / 256.857])
def test_an_inverted_gear_ratio_is_refused_with_the_right_one(ratio):
    with pytest.raises(at.ArmtwinError, match="Is it joint angle per motor angle") as refused:
        at.clamp(make_log(*GOOD), gear_ratio=ratio)
    assert f"--gear-ratio {1 / ratio:.6g}" in str(refused.value)


@pytest.mark.parametrize("channel", ["q", "tau"])
def test_a_gear_ratio_that_the_joint_side_contradicts_is_refused(channel):
    q, tau = GOOD
    joint = {"q": q / 256.857, "tau": 256.857 * tau}[channel][:, None]
    log = make_log(q, tau, **{channel: joint})
    assert not at.clamp(log, gear_ratio=256.857).headline.doubts
    with pytest.raises(at.ArmtwinError, match="gear ratio of another joint") as refused:
        at.clamp(log, gear_ratio=121.0)
    assert "--gear-ratio 256.857" in str(refused.value)


def test_a_link_encoder_contradicts_no_gear_ratio():
    """A clamped joint whose own encoder sees the clamp yield: no ratio of the gear."""
    q, tau = GOOD
    spring = K * (q - np.clip(q, -B / 2, B / 2))
    log = make_log(q, tau, noise=(1e-6, 0.01), q=1e-5 * spring[:, None])
    assert not at.clamp(log, gear_ratio=256.857).headline.doubts


def test_swapped_channels_are_refused():
    """Friction opposes motion: swapped, the motor would gain work in every cycle."""
    q, tau = GOOD
    with pytest.raises(at.ArmtwinError, match="Are q_m and tau_m swapped"):
        at.clamp(make_log(tau, q))


def test_a_torque_without_its_sign_is_refused_for_that():
    """It follows no angle; that it decreased was said before."""
    q, tau = GOOD
    unsigned = np.abs(tau) - np.abs(tau).mean()
    with pytest.raises(at.ArmtwinError, match="Did one of them lose its sign"):
        at.clamp(make_log(q if unsigned @ q < 0 else -q, unsigned))


@pytest.mark.parametrize(
    ("scale", "mistake", "remedy"),
    [
        ((180 / np.pi, 1.0), "Is q_m in degrees", 'q_m = "deg"'),
        ((1.0, 100.0), "Is tau_m in N cm", 'tau_m = "N cm"'),
        ((1.0, 1000.0), "Is tau_m in N mm", 'tau_m = "N mm"'),
        ((1.0, 5e-4), "Is tau_m in kN m", 'tau_m = "kN m"'),
    ],
)
def test_units_are_doubted_first_where_no_motor_has_such_sizes(scale, mistake, remedy):
    q, tau = GOOD
    result = at.clamp(make_log(scale[0] * q, scale[1] * tau))
    assert mistake in result.headline.doubts[0]
    assert remedy in result.headline.doubts[0]
    assert result.best.stiffness is None


def test_the_joint_side_shows_a_unit_that_the_motor_side_does_not():
    """A gear of 1.7e8 N m/rad: the torque of a small motor in N cm."""
    q, tau = GOOD
    log = make_log(q, 30 * tau)
    assert not at.clamp(log).headline.doubts
    assert "Is tau_m in N" in at.clamp(log, gear_ratio=256.857).headline.doubts[0]


@pytest.fixture(scope="module")
def kr300():
    return at.Robot.load("kr300")


def test_a_foreign_gear_ratio_is_named_beside_the_robot_where_one_side_is_logged(kr300):
    """121 turns no joint of it, 252.333 turns joint 3."""
    q, tau = GOOD
    log = at.Log.of(np.arange(len(q)) / 50.0, q_m=q[:, None], tau=256.857 * tau[:, None])
    for ratio, whose in ((757 / 3, "joint_3"), (121.0, "another robot")):
        with pytest.raises(at.ArmtwinError, match=f"Is it that of {whose}.*leave --gear-ratio out"):
            at.clamp(log, gear_ratio=ratio, robot=kr300, joint=1)
    found = at.clamp(log, robot=kr300, joint=1)
    assert found.best.stiffness == pytest.approx(K, rel=0.03)
    assert len(found.sections().verdict) == 1


@pytest.mark.parametrize("share", [0.02, 0.1, 0.6])
def test_newton_centimetres_of_a_small_motor_are_named_beside_its_robot(kr300, share):
    """Its motors give 50 N m; a torque in N cm is beyond that from a fiftieth of it on."""
    q, tau = GOOD
    small = 1.05 * share * 50 / np.abs(tau).max() * tau
    doubts = at.clamp(make_log(q, 100 * small), robot=kr300, joint=1).headline.doubts
    assert "Is tau_m in N" in doubts[0]
    assert "limit of joint_1 of 'kr300'" in doubts[0]
    assert not at.clamp(make_log(q, small), robot=kr300, joint=1).headline.doubts


def test_without_the_robot_a_factor_of_the_torque_is_one_of_the_numbers_and_said(kr300):
    """What no log of one joint shows: all fits are linear in the torque."""
    q, tau = GOOD
    right, wrong = (at.clamp(make_log(q, f * 0.1 * tau)) for f in (1, 30))
    assert wrong.best.stiffness == pytest.approx(30 * right.best.stiffness, rel=1e-3)
    assert wrong.best.explained == pytest.approx(right.best.explained, abs=1e-3)
    assert "Not checked: the unit of tau_m" in right.sections().verdict[-1].text


@pytest.mark.parametrize("name", ["kr300_clamping", "kr300_clamped_tool"])
def test_shipped_clamping_experiments_are_headlined(name):
    found = at.run_experiment(at.Experiment.load(name)).clamping
    assert found.headline.doubts == ()
    assert found.best.stiffness is not None

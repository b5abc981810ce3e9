"""Wild samples go, motion stays; repeated runs and chosen periods."""

import numpy as np
import pytest

import armtwin as at
from armtwin.logs.averaging import average_runs
from armtwin.logs.outliers import without_outliers

T = np.arange(0, 8, 1 / 250)


def waves(noise=0.0):
    chance = np.random.default_rng(1)
    q = np.stack([np.sin(2 * np.pi * 0.5 * T), np.cos(2 * np.pi * 0.25 * T)], axis=1)
    return q + noise * chance.normal(size=q.shape)


def test_a_lost_telegram_is_replaced_by_its_neighbours_mean():
    q = waves()
    bad = q.copy()
    bad[400, 0], bad[1200, 1] = 0.0, 3.0
    found, count = without_outliers({"q": bad})
    assert count == 2
    assert np.abs(found["q"] - q).max() < 1e-4
    assert (np.delete(found["q"], [400, 1200], axis=0) == np.delete(q, [400, 1200], axis=0)).all()


@pytest.mark.parametrize("noise", [0.0, 1e-3, 0.05])
def test_motion_and_noise_are_no_outliers(noise):
    assert without_outliers({"q": waves(noise)})[1] == 0


def test_a_step_of_friction_is_no_outlier():
    tau = np.sign(waves()) + waves(0.02)
    assert without_outliers({"tau": tau})[1] == 0


def test_a_mean_of_runs_needs_the_same_times():
    log = at.Log.of(T, q=waves())
    assert (average_runs([log, log]).q == log.q).all()
    with pytest.raises(
        at.ArmtwinError, match="equally many samples; number 1 has 2000, number 2 has 1999"
    ):
        average_runs([log, at.Log.of(T[:-1], q=waves()[:-1])])
    with pytest.raises(at.ArmtwinError, match=r"same time stamps; number 2 is 0\.\d+ s off"):
        average_runs([log, at.Log.of(1.01 * T, q=waves())])


def test_a_torque_may_carry_a_suffix(tmp_path):
    """current_des is a current: kept, written, read again, its unit that of currents;
    other strange columns are not.
    """
    (tmp_path / "a.csv").write_text("time,q1,current_des1,foo1\n0,1,2,3\n0.1,1,2,3\n")
    (tmp_path / "a.columns.toml").write_text('format = 1\n[unit]\ncurrent_des = "mA"\n')
    log = at.Log.read(tmp_path / "a.csv")
    assert list(log.channels) == ["q", "current_des"]
    assert log.channels["current_des"][0, 0] == pytest.approx(2e-3)
    log.write(tmp_path / "b.npz")
    assert (
        at.Log.read(tmp_path / "b.npz").channels["current_des"] == log.channels["current_des"]
    ).all()
    assert log.origin.endswith("a.csv")

"""A measured tool path: registered within its intervals, and its error across the path as it was.

Measured points are made here from the predicted poses by interpolation of their own; frame, point
and clock are unknown to what is tested.
"""

import json
from functools import partial

import numpy as np
import pytest
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

import armtwin as at
from armtwin.prediction.registration import (
    GivenRegistration,
    MeasuredRun,
    ToolMotion,
    register,
)
from tests.app.test_job_commands import call

NOISE = 5e-5  # of a coordinate [m]
CORNER = "rx90b_corner_follow"  # the head follows the seam, so that it turns about the beam


class Instrument:
    """Stands somewhere, sees a point beside the tool, and has a clock of its own."""

    def __init__(self, rng, point=0.1):
        self.R = Rotation.random(random_state=int(rng.integers(1 << 30))).as_matrix()
        self.c = rng.uniform(-3, 3, 3)
        self.d = rng.uniform(-point, point, 3)
        self.rng = rng

    @property
    def frame(self):
        X = np.eye(4)
        X[:3, :3], X[:3, 3] = self.R, self.c
        return X

    def measure(self, curve, duration, rate, *, clock, off=0.0, noise=NOISE):
        """Times and points of a run; `off` is what the tool is beside the curve, as a function."""
        start = clock - 0.8 + self.rng.uniform(0, 1 / rate)
        time = np.arange(start, clock + duration + 0.8, 1 / rate)
        X = curve(np.clip(time - clock, 0, duration))
        p = X[..., 3] + X[..., :3] @ self.d + (off(time - clock) if callable(off) else off)
        return time, (p - self.c) @ self.R + noise * self.rng.normal(size=(len(time), 3))


@pytest.fixture(scope="module")
def corner():
    """Prediction of a corner, its predicted and commanded motion, and a curve of the poses."""
    return motions(CORNER)


def motions(name):
    prediction = at.predict(at.Job.load(name))
    run, motion = prediction.run, prediction.motion.trajectory
    predicted = ToolMotion(run.trace_time, run.tool_poses())
    commanded = ToolMotion(motion.time, prediction.robot.forward_kinematics(motion.q))
    curve = make_interp_spline(run.trace_time, run.tool_poses()[:, :3], k=3)
    return prediction, predicted, commanded, curve


def errors_over_std(here, clock, found):
    """Errors of all unknowns over their standard deviations, and of both points along z as one."""
    turn = Rotation.from_matrix(here.R @ found.X[:3, :3].T).as_rotvec()
    parts = turn, here.c - found.X[:3, 3], here.d - found.point, [clock - found.clocks[0]]
    error = np.concatenate(parts)
    along = np.zeros(10)
    along[5], along[8] = 1, -1  # the beam points down: z of the frame minus that of the point
    std = np.sqrt(along @ found.covariance @ along)
    return np.append(error / found.std, along @ error / std)


def test_a_registration_is_within_its_intervals_in_90_to_98_percent_of_50_draws(corner, rng):
    """At 10 to 1000 Hz; the point along the axis that the head turns about is in none."""
    _, predicted, commanded, curve = corner
    inside, ratios = [], []
    for rate in np.geomspace(10, 1000, 50):
        here = Instrument(rng)
        clock = rng.uniform(-5, 50)
        time, y = here.measure(curve, predicted.time[-1], rate, clock=clock)
        found = register(predicted, commanded, [MeasuredRun(time, y)], GivenRegistration())
        assert np.flatnonzero(~found.is_determined).tolist() == [5, 8]  # z of frame and of point
        inside.append(np.abs(errors_over_std(here, clock, found)) < 1.96)
        moving = (time > clock) & (time < clock + predicted.time[-1])
        X = curve(time[moving] - clock)
        tool = found.place(y[moving]) - X[..., :3] @ found.point
        apart = tool - X[..., 3]
        if moving.sum() > 300:  # below that the noise itself is known to 5 % only
            ratios.append(np.sqrt(np.mean(apart**2)) / NOISE)
    share = np.delete(np.mean(inside, axis=0), [5, 8])  # their difference is the last
    assert 0.9 <= share.mean() <= 0.98
    assert share.min() >= 0.84  # one of nine that each have 95 % of 50: 1 in 200 is below
    assert max(ratios) < 1.3


def test_all_unknowns_are_within_their_intervals_where_the_tool_turns_about_two_axes(rng):
    """Each alone in 90 to 98 % of 400 draws, which is 95 % to three standard deviations."""
    time = np.linspace(0, 4, 401)
    angles = np.radians(25) * np.stack([np.sin(2 * time), np.sin(3 * time), 0 * time], axis=1)
    X = np.zeros((len(time), 3, 4))
    X[..., :3] = Rotation.from_euler("xyz", angles).as_matrix()
    X[..., 3] = 0.2 * np.stack([np.sin(time), np.cos(2 * time), 0.3 * np.sin(3 * time)], axis=1)
    curve = make_interp_spline(time, X, k=3)
    motion = ToolMotion(time, X)
    inside = []
    for _ in range(400):
        here = Instrument(rng)
        clock = rng.uniform(-5, 50)
        stamps, y = here.measure(curve, 4.0, rng.uniform(10, 25), clock=clock)
        found = register(motion, motion, [MeasuredRun(stamps, y)], GivenRegistration())
        assert found.is_determined.all()
        inside.append(np.abs(errors_over_std(here, clock, found)[:10]) < 1.96)
    share = np.mean(inside, axis=0)
    assert share.min() >= 0.9
    assert share.max() <= 0.98


def test_the_measured_error_across_a_path_is_that_of_the_run(corner, rng):
    """Beside the seam by a wave that the prediction knows nothing of."""
    prediction, predicted, _, curve = corner
    here = Instrument(rng)

    def wave(t):
        return 2e-4 * np.sin(2 * np.pi * 3 * t)[:, None] * [0, 0, 1.0]

    time, y = here.measure(curve, predicted.time[-1], 500, clock=3.0, off=wave)
    log = at.Log.of(time, tool=y)
    found = at.compare_tool_path(prediction.job, log, interval=False)
    own = np.interp(found.time, prediction.path_error.time, prediction.path_error.vertical)
    true = own + wave(found.time)[:, 2]
    inner = slice(50, -50)
    apart = (found.channels["vertical"][0] - true)[inner]
    assert np.sqrt(np.mean(apart**2)) < 1.3 * NOISE
    assert found.noise == pytest.approx(NOISE, rel=0.1)
    assert found.exceeded == ("vertical",)


def test_measured_rotations_show_the_tilt_of_the_tool(corner, rng):
    """By 10 mrad back and forth; the target sits turned on the tool, the instrument anywhere."""
    prediction, predicted, _, curve = corner
    here = Instrument(rng)
    time, y = here.measure(curve, predicted.time[-1], 200, clock=3.0)
    t = np.clip(time - 3.0, 0, predicted.time[-1])
    tilt = 0.01 * np.sin(20 * t)
    of_tool = Rotation.from_matrix(curve(t)[..., :3])
    on_tool = Rotation.random(random_state=5)
    tilted = of_tool * Rotation.from_rotvec(tilt[:, None] * [1, 0, 0]) * on_tool
    seen = Rotation.from_matrix(here.R.T) * tilted
    log = at.Log.of(time, tool=y, tool_rotation=seen.as_rotvec())
    found = at.compare_tool_path(prediction.job, log, interval=False)
    own = prediction.path_error.orientation.max()
    apart = found.runs[0].orientation - np.abs(0.01 * np.sin(20 * found.runs[0].time))
    assert np.abs(apart).max() < own + 2e-4
    measured, of_twin = found.orientation
    assert measured == pytest.approx(0.01, abs=own + 2e-4)
    assert of_twin <= own
    bare = at.compare_tool_path(prediction.job, at.Log.of(time, tool=y), interval=False)
    assert bare.orientation is None


def test_a_lag_is_measured_where_frame_point_and_clock_are_given(corner, rng):
    """3 ms; estimated from the path itself the clock takes it away."""
    prediction, predicted, _, curve = corner
    here = Instrument(rng, point=0.0)
    time, y = here.measure(curve, predicted.time[-1], 200, clock=3.003)
    log = at.Log.of(time, tool=y)
    given = at.GivenRegistration(frame=here.frame, point=here.d, clock=3.0)
    speed = prediction.job.description.speed
    lags = []
    for known in (given, at.GivenRegistration(frame=here.frame, point=here.d)):
        found = at.compare_tool_path(prediction.job, log, given=known, interval=False)
        steady = prediction.path_error.speed_ref > 0.999 * speed
        steady = np.interp(found.time, prediction.path_error.time, steady) == 1
        measured, of_twin = found.channels["lag"]
        lags.append(np.mean((measured - of_twin)[steady]))
        assert found.registration.clocks[0] == pytest.approx(
            3.0 if known.clock else 3.003, abs=1e-4
        )
    assert steady.sum() > 100
    assert lags == pytest.approx([0.003 * speed, 0], abs=0.05 * 0.003 * speed)
    assert (found.registration.std[:9] == 0).all()


def test_a_measured_path_is_compared_with_a_program(tmp_path, rng):
    """Whose tool does not turn, so that the measured point is not determined."""
    (tmp_path / "seam.csv").write_text("x,y,z\n0.45,0.1,0.2\n0.53,0.1,0.2\n0.53,0.18,0.2\n")
    robot = at.Robot.load("rx90b").with_tool("laser_head")
    words = {"tolerance": "0.5 mm", "speed": "50 mm/s"}
    job = at.Job.from_program(tmp_path / "seam.csv", robot, **words)
    run = at.predict(job).run
    curve = make_interp_spline(run.trace_time, run.tool_poses()[:, :3], k=3)
    time, y = Instrument(rng).measure(curve, run.trace_time[-1], 100, clock=2.0)
    header = "time,x [m],y [m],z [m]"
    table = np.column_stack([time, y])
    np.savetxt(tmp_path / "a.csv", table, delimiter=",", header=header, comments="")
    options = ["--robot", "rx90b", "--tool", "laser_head"]
    options += [f"--{key}={value}" for key, value in words.items()]
    done = call(tmp_path, "compare", "seam.csv", "a.csv", *options, "--out", "out", "--full")
    assert done.code == 0, done.err
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    for row in result["comparison"]["peaks"]:
        assert row["measured"] == pytest.approx(row["predicted"], abs=5 * NOISE)
    sources = {row["name"]: row["source"] for row in result["comparison"]["registration"]}
    assert {sources[f"point {axis}"] for axis in "xyz"} == {"not determined, assumed"}
    assert {sources[f"rotation {axis}"] for axis in "xyz"} == {"estimated"}
    assert "not determined, assumed" in " ".join(done.out.split())


def test_a_straight_line_alone_cannot_be_registered_unless_its_frame_is_given(rng):
    prediction, predicted, _, curve = motions("rx90b_line")
    here = Instrument(rng)
    time, y = here.measure(curve, predicted.time[-1], 100, clock=3.0)
    log = at.Log.of(time, tool=y)
    sentence = r"cannot be registered: .* about \[-?0\.00, -?1\.00, -?0\.00\] open .*straight line"
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.compare_tool_path(prediction.job, log, interval=False)
    given = at.GivenRegistration(frame=here.frame, point=here.d)
    found = at.compare_tool_path(prediction.job, log, given=given, interval=False)
    assert found.registration.given == ("frame", "point")
    assert abs(found.registration.clocks[0] - 3.0) < 3 * found.registration.std[9]
    lateral, predicted_lateral = found.channels["lateral"]
    assert np.sqrt(np.mean((lateral - predicted_lateral) ** 2)) < 1.1 * NOISE


def test_repeatability_is_the_spread_of_the_runs_without_the_noise(corner, rng):
    """Each run is beside the others by its own slow wave, with a standard deviation of 0.08 mm."""
    prediction, predicted, _, curve = corner
    here = Instrument(rng)
    logs, offs = [], []
    for k in range(6):
        phase, size = rng.uniform(0, 2 * np.pi), 8e-5 * np.sqrt(2)

        def off(t, phase=phase, size=size):
            return size * np.sin(9 * t + phase)[:, None] * [0, 0, 1.0]

        time, y = here.measure(curve, predicted.time[-1], 150 + 10 * k, clock=5.0 * k, off=off)
        logs.append(at.Log.of(time, tool=y))
        offs.append(off)
    found = at.compare_tool_path(prediction.job, logs, interval=False)
    simulated = np.array([off(found.time)[:, 2] for off in offs])
    spread = np.sqrt(simulated.var(axis=0, ddof=1).mean())
    assert found.spread["vertical"] == pytest.approx(spread, rel=0.1)
    assert found.spread["lateral"] < 0.3 * NOISE


def test_a_command_shows_measured_beside_predicted_and_keeps_the_registration(
    corner, tmp_path, rng, monkeypatch
):
    prediction, predicted, _, curve = corner
    here = Instrument(rng)
    time, y = here.measure(curve, predicted.time[-1], 100, clock=2.0)
    header = "time [ms],x [mm],y [mm],z [mm]"
    table = 1e3 * np.column_stack([time, y])
    slow, large = table * [1e3, 1, 1, 1], table * [1, 1e3, 1e3, 1e3]
    for name, rows in {"a.csv": table, "slow.csv": slow, "large.csv": large}.items():
        np.savetxt(tmp_path / name, rows, delimiter=",", header=header, comments="")
    words = ("compare", CORNER, "a.csv", "--out", "out", "--full")
    monkeypatch.setattr(at, "assess", partial(at.assess, draws=16))
    done = call(tmp_path, *words, band=True)
    assert done.code == 0, done.err
    assert "a constant lag along the path is not measured" in done.out.replace("\n", " ")
    result = json.loads((tmp_path / "out" / "result.json").read_text())
    assert result["comparison"]["noise_m"] == pytest.approx(NOISE, rel=0.15)
    within = 0
    for row in result["comparison"]["peaks"]:
        if row["direction"] != "lag":  # what was measured is the twin's own run
            assert row["low"] - 5 * NOISE < row["measured"] < row["high"] + 5 * NOISE
            assert row["low"] < row["predicted"] < row["high"]
            within += 1
    assert within == 2
    again = call(
        tmp_path,
        "compare",
        CORNER,
        "a.csv",
        "--registration",
        "out/registration.toml",
        "--out",
        "b",
    )
    assert again.code == 0, again.err
    result = json.loads((tmp_path / "b" / "result.json").read_text())
    assert result["comparison"]["given"] == ["frame", "point"]
    wrong = call(tmp_path, "compare", CORNER, "large.csv")
    assert wrong.code == 2
    assert "times as large as the job's, as of mm taken as m" in wrong.err
    wrong = call(tmp_path, "compare", CORNER, "slow.csv")
    assert wrong.code == 2
    assert "is time in another unit?" in wrong.err
    several = call(tmp_path, "compare", "rx90b", "a.csv", "a.csv")
    assert several.code == 2
    assert "several logs are for measured tool paths" in several.err
    with pytest.raises(at.ArmtwinError, match=r"no joints; compare it by at\.compare_tool_path"):
        at.compare(prediction.job, at.Log.read(tmp_path / "a.csv"))

"""What tests of plots and tables share: results computed once, figures without a screen."""

from dataclasses import replace

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib import pyplot

import armtwin as at

mpl.use("Agg")


@pytest.fixture(autouse=True)
def _nothing_is_shown(monkeypatch):
    def refuse(*args, **kwargs):
        raise AssertionError("plots must leave showing to who asked for them")

    monkeypatch.setattr(pyplot, "show", refuse)
    yield
    pyplot.close("all")


@pytest.fixture(scope="session")
def fast_run():
    """A line too fast for its tolerance, so that it has spans out of it."""
    description = at.Job.load("rx90b_line").with_speed("300 mm/s").description
    tight = replace(description.tolerance, lateral=20e-6, vertical=20e-6)
    return at.predict(at.Job(replace(description, tolerance=tight)))


@pytest.fixture(scope="session")
def comparison(fast_run):
    return at.compare(fast_run.job, fast_run.log, method="perturbation")


@pytest.fixture(scope="session")
def identification():
    """A robot with a fifth less friction than its file says, torque with noise of 0.2 N m."""
    robot = at.Robot.load("tx40")
    t = np.arange(0, 8, 1 / 250)[:, None]
    w = 2 * np.pi / 8 * np.array([1, 2, 3, 2, 3, 4])
    q = np.array([0.0, 0.3, 1.0, 0.0, 0.6, 0.0]) + 0.5 * np.sin(w * t)
    v, a = 0.5 * w * np.cos(w * t), -0.5 * w**2 * np.sin(w * t)
    noise = 0.2 * np.random.default_rng(0).normal(size=q.shape)
    tau = robot.inverse_dynamics(q, v, a) + 0.8 * robot.friction_torque(v) + noise
    recipe = at.Recipe(weight=1.0)  # given, as finding it takes longest
    log = at.Log.of(t[:, 0], q=q, tau=tau)
    return at.Identification(at.identify(robot, [log], cutoff=10.0, recipe=recipe))

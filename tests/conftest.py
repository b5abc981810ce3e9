"""What tests share: the shipped robots, and the project's measure of difference."""

import gc
import os
from pathlib import Path

import numpy as np
import pytest
import scipy.linalg  # noqa: F401  its library must be loaded to be limited
from threadpoolctl import threadpool_limits

import armtwin as at

SHIPPED = ("rx90b", "lwa4p", "kr300", "tx40", "ur10e", "epaas")


def relative(value, reference):
    """max|difference| / (1 + max|reference|)."""
    value, reference = np.asarray(value), np.asarray(reference)
    return np.abs(value - reference).max() / (1 + np.abs(reference).max())


@pytest.fixture(scope="session")
def robots():
    return {name: at.Robot.load(name) for name in SHIPPED}


@pytest.fixture(scope="session")
def shared_data():
    folder = Path(__file__).parents[2] / "shared" / "data"
    if not folder.is_dir():
        pytest.skip("the shared measurement data are not on this machine")
    return folder


@pytest.fixture
def rng(request):
    """Random numbers that differ from test to test and never from run to run."""
    return np.random.default_rng(list(request.node.name.encode()))


os.environ.setdefault("COLUMNS", "80")


def pytest_configure(config):
    """Linear algebra on one thread: others would wait busily, at ten times the cost of the work."""
    threadpool_limits(limits=1, user_api="blas")


def pytest_collection_finish(session):
    """What was imported stays, and compiling makes much waste: it is searched for less often."""
    gc.freeze()
    gc.set_threshold(20_000, 20, 50)

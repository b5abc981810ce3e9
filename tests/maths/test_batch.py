"""Batches: threads give the same numbers, arrays of any kind are taken without silent recompiles."""

import numpy as np

from armtwin.maths import batch
from armtwin.mechanics import newton_euler


def test_threads_change_nothing(robots, rng, monkeypatch):
    robot = robots["rx90b"]
    q, v, a = rng.normal(size=(3, 3000, 6))
    monkeypatch.setattr(batch, "thread_count", lambda: 1)
    alone = robot.regressor(q, v, a)
    monkeypatch.setattr(batch, "thread_count", lambda: 3)
    assert np.array_equal(robot.regressor(q, v, a), alone)


def test_lists_slices_and_read_only_arrays_do_not_recompile(robots, rng):
    robot = robots["rx90b"]
    robot.gravity(np.zeros(6))
    before = len(newton_euler.inverse_dynamics.signatures)
    frozen = rng.normal(size=(5, 6))
    frozen.flags.writeable = False
    wide = rng.normal(size=(5, 12))
    robot.gravity([0, 0, 0, 0, 0, 0])
    robot.gravity(frozen)
    robot.gravity(wide[:, ::2])
    robot.gravity(np.asfortranarray(wide[:, :6]))
    robot.gravity(wide[:, :6].astype(np.float32))
    assert len(newton_euler.inverse_dynamics.signatures) == before

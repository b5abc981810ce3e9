"""Batches: threads change no number, arrays of any kind are taken without silent recompiles."""

import numpy as np
import pytest

import armtwin as at
from armtwin.maths import batch
from armtwin.robot.dynamics import formulas


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
    kernel = formulas.inverse_dynamics(robot.assembly, robot.assembly.rotors).run
    before = len(kernel.signatures)
    frozen = rng.normal(size=(5, 6))
    frozen.flags.writeable = False
    wide = rng.normal(size=(5, 12))
    robot.gravity([0, 0, 0, 0, 0, 0])
    robot.gravity(frozen)
    robot.gravity(wide[:, ::2])
    robot.gravity(np.asfortranarray(wide[:, :6]))
    robot.gravity(wide[:, :6].astype(np.float32))
    assert len(kernel.signatures) == before == 1


def test_a_number_that_is_none_is_named_with_its_place():
    q = np.zeros((4, 6))
    q[2, 5] = np.nan
    sentence = r"q must be finite \(joint angles\), got nan at index \(2, 5\)"
    with pytest.raises(at.ArmtwinError, match=sentence):
        batch.check_array("q", q, (6,), "joint angles")
    with pytest.raises(at.ArmtwinError, match=r"q must have shape \(..., 6\) .*, got \(6, 4\)"):
        batch.check_array("q", q.T, (6,), "joint angles")
    with pytest.raises(at.ArmtwinError, match="q must be an array of numbers"):
        batch.check_array("q", q + 1j, (6,), "joint angles")


def test_leading_dimensions_broadcast_or_are_refused(rng):
    one, many = rng.normal(size=(3,)), rng.normal(size=(4, 2, 3))
    lead, (left, right) = batch.stack_tables(one, many)
    assert lead == (4, 2)
    assert (left == one).all()
    assert (right.reshape(4, 2, 3) == many).all()
    with pytest.raises(at.ArmtwinError, match=r"must agree or broadcast, got shapes \(4, 2, 3\)"):
        batch.stack_tables(many, rng.normal(size=(3, 3)))


@pytest.mark.parametrize("rows", [0, 1, 7, 1000])
def test_every_row_is_computed_once_however_many_threads(rows, monkeypatch):
    monkeypatch.setattr(batch, "thread_count", lambda: 3)
    visits = np.zeros(rows)

    def kernel(table, start, stop):
        table[start:stop] += 1

    batch.spread(kernel, rows, 5000, visits)
    assert (visits == 1).all()


def test_an_error_in_a_thread_reaches_the_caller(monkeypatch):
    monkeypatch.setattr(batch, "thread_count", lambda: 2)

    def kernel(start, stop):
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        batch.spread(kernel, 100, 5000)


def test_rows_of_each_number_are_those_that_hold_it(rng):
    which = rng.integers(-3, 4, 200)
    for numbers in (which, np.sort(which), np.full(9, 2), which[:0]):
        found = dict(batch.rows_of_each(numbers))
        assert sorted(found) == sorted(set(numbers))
        for number, rows in found.items():
            assert (np.arange(len(numbers))[rows] == np.flatnonzero(numbers == number)).all()


def test_rows_of_rising_numbers_are_not_copied(rng):
    which = np.sort(rng.integers(-3, 4, 200))
    assert all(isinstance(rows, slice) for _, rows in batch.rows_of_each(which))

"""One runner for all work: order, bounded waiting, lost workers."""

from concurrent.futures import BrokenExecutor, Future
from threading import get_ident

import pytest

from armtwin.errors import ArmtwinError
from armtwin.maths import batch
from armtwin.maths.runner import AHEAD, TRIES, as_done, run_all, threads


class Here:
    """An executor that does each piece when it is given, losing some of its workers."""

    width = 2

    def __init__(self, lost=()):
        self.lost = list(lost)
        self.given = []

    def submit(self, work, *arguments):
        self.given.append(arguments)
        future = Future()
        if self.lost and self.lost[0] == arguments[0]:
            self.lost.pop(0)
            future.set_exception(BrokenExecutor())
        else:
            future.set_result(work(*arguments))
        return future


def double(x):
    return 2 * x


def test_results_come_in_the_order_of_their_items():
    with threads(3) as executor:
        assert list(run_all(pow, range(20), [2] * 20, executor=executor)) == [
            k**2 for k in range(20)
        ]


def visited(count):
    """Which threads take part in a batch."""
    names = set()

    def kernel(start, stop):
        names.add(get_ident())

    batch.spread(kernel, count, batch.LEAST_PER_THREAD)
    return names


@pytest.mark.parametrize("alone", [True, False])
def test_a_batch_stays_on_the_thread_that_keeps_to_itself(alone, monkeypatch):
    monkeypatch.setattr(batch, "_threads", lambda: 3)
    with threads(2, alone=alone) as executor:
        here, names = executor.submit(lambda: (get_ident(), visited(3))).result()
    assert (names == {here}) == alone
    assert get_ident() not in visited(3)  # of three, none runs on a thread that waits


def test_an_error_of_the_work_is_raised():
    with threads(2) as executor, pytest.raises(ZeroDivisionError):
        list(run_all(divmod, [1, 2], [1, 0], executor=executor))


def test_no_more_items_are_taken_than_workers_will_soon_need():
    taken = []

    def items():
        for k in range(1, 1000):
            taken.append(k)
            yield k

    found = as_done(double, items(), Here())
    next(found)
    assert len(taken) <= 2 * AHEAD * Here.width
    found.close()


def test_work_of_a_lost_worker_is_given_out_again():
    found = {}
    for done in as_done(double, range(1, 10), Here(lost=[3, 3, 7])):
        found.update(done)
    assert found == {k: 2 * k for k in range(1, 10)}


def test_work_that_loses_every_worker_ends_with_a_sentence():
    with pytest.raises(ArmtwinError, match=f"a worker was lost {TRIES} times with the same work"):
        list(as_done(double, [1], Here(lost=[1] * TRIES)))

"""Tables written digit by digit as Python's `repr` writes them."""

import numpy as np
import pytest

from armtwin.maths.shortest import LARGEST, SMALLEST, lines_of

TENS = 10.0 ** np.arange(-59, 60)
TWOS = 2.0 ** np.arange(-190, 190)  # the number below is half a step nearer than the one above
CASES = {
    "zeros": [0.0, -0.0],
    "powers of ten": TENS,
    "the next above a power of ten": np.nextafter(TENS, np.inf),
    "the next below a power of ten": np.nextafter(TENS, 0.0),
    "powers of two": TWOS,
    "the next above a power of two": np.nextafter(TWOS, np.inf),
    "the next below a power of two": np.nextafter(TWOS, 0.0),
    "around 2^53": 2.0**53 + 2.0 * np.arange(-300, 300),
    "where repr turns to exponents": [1e-4, 9.999e-5, 1e-5, 1e15, 1e16, 1e17, 123456789012345680.0],
    "times at 250 Hz": np.arange(-1000, 4000) / 250,
    "the ends of the range": [SMALLEST, LARGEST, -SMALLEST, -LARGEST],
}


def by_repr(table):
    return "".join(",".join(map(repr, row)) + "\n" for row in table.tolist()).encode()


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_numbers_that_are_hard_to_write_are_written_as_repr_does(values):
    table = np.reshape(values, (-1, 1))
    assert lines_of(table) == by_repr(table)


def test_numbers_of_all_sizes_are_written_as_repr_does(rng):
    sizes = np.exp(rng.uniform(np.log(SMALLEST), np.log(LARGEST), (4000, 20)))
    table = sizes * rng.choice([-1.0, 1.0], sizes.shape)
    assert lines_of(table) == by_repr(table)


def test_rounded_numbers_and_their_neighbours_are_written_as_repr_does(rng):
    """Where fifteen digits suffice, and where seventeen do not quite."""
    rounded = np.round(100 * rng.normal(size=(2000, 10)), 3)
    table = np.hstack([rounded, np.nextafter(rounded, np.inf)])
    assert lines_of(table) == by_repr(table)


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf, 5e-324, 1e-61, 1.7e308])
def test_a_table_with_a_number_out_of_range_is_left_to_others(value):
    assert lines_of(np.array([[1.0, value]])) is None

"""Rows of numbers as text: each is read back to the last bit, and no shorter text would do."""

import numpy as np
import pytest

from armtwin.logs.csv_files import rows_as_text

TENS = 10.0 ** np.arange(-59, 60)
TWOS = 2.0 ** np.arange(-190, 190)  # the number below is half a step nearer than the one above
CASES = {
    "zeros": [0.0, -0.0],
    "powers of ten": TENS,
    "the next above a power of ten": np.nextafter(TENS, np.inf),
    "the next below a power of two": np.nextafter(TWOS, 0.0),
    "around 2^53": 2.0**53 + 2.0 * np.arange(-300, 300),
    "times at 250 Hz": np.arange(-1000, 4000) / 250,
    "the ends of the range": [5e-324, 2.2e-308, 1.7e308, -1.7e308],
}


def read(text):
    return np.array([[float(word) for word in line.split(",")] for line in text.splitlines()])


def digits(word):
    """The significant digits of a number."""
    mantissa = word.partition("e")[0].lstrip("-").replace(".", "")
    return mantissa.strip("0") or "0"


@pytest.mark.parametrize("values", CASES.values(), ids=CASES)
def test_numbers_that_are_hard_to_write_are_read_back_to_the_last_bit(values):
    table = np.reshape(values, (-1, 1)).astype(np.float64)
    text = rows_as_text(table).decode()
    assert read(text).tobytes() == table.tobytes()
    for word, value in zip(text.split(), table[:, 0].tolist(), strict=True):
        assert digits(word) == digits(repr(value))


def test_rows_of_all_sizes_are_read_back_to_the_last_bit(rng):
    table = np.exp(rng.uniform(-140, 140, (400, 20))) * rng.choice([-1.0, 1.0], (400, 20))
    text = rows_as_text(table).decode()
    assert text.endswith("\n")
    assert read(text).tobytes() == table.tobytes()


def test_what_is_not_a_number_is_written_as_such():
    assert rows_as_text(np.array([[1.0, np.nan], [-np.inf, 0.5]])) == b"1.0,nan\n-inf,0.5\n"

"""Numbers from text: the same double as Python's own reading, whatever is written."""

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from armtwin.maths.decimals import DecimalLayout, table_of


def plain(data, width, separator=b",", decimal=b".", places=None):
    """The table of a text all of whose lines are plain numbers; None where one is not."""
    left = []
    layout = DecimalLayout(
        separator, decimal, np.arange(width) if places is None else np.array(places)
    )
    table = table_of(data, layout, lambda at, end: left.append(data[at:end]))
    return None if left else table


def same(words, width=8):
    """Whether a table of words is read to the bit as float() reads them."""
    words = words[: len(words) // width * width]
    data = "\n".join(",".join(words[k : k + width]) for k in range(0, len(words), width)).encode()
    expected = np.array([float(word) for word in words]).reshape(-1, width)
    found = plain(data, width)
    return found is not None and (found.view(np.uint64) == expected.view(np.uint64)).all()


def test_every_way_of_writing_a_number_gives_the_nearest_double(rng):
    x = rng.normal(size=40_000) * 10.0 ** rng.integers(-12, 12, 40_000)
    for form in ("{!r}", "{:.16e}", "{:.6g}", "{:.3f}", "{:+.12E}"):
        assert same([form.format(float(v)) for v in x]), form


def test_whole_numbers_half_way_between_two_doubles_go_to_the_even_one(rng):
    middle = 2 * rng.integers(2**53, 2**54, 20_000) + 1
    assert same([str(int(m)) for m in middle])


def test_long_numbers_with_any_power_are_rounded_right(rng):
    whole, power = rng.integers(1, 2**63, 80_000), rng.integers(-58, 41, 80_000)
    assert same([f"{int(w)}e{int(q)}" for w, q in zip(whole, power, strict=True)])


def test_signs_zeros_and_spaces():
    found = plain(b"-0.0, +1 ,0003.50\r\n\r\n# a remark, 3\n 1e3,-2E-2,.5\n", 3)
    assert (found == [[0.0, 1.0, 3.5], [1000.0, -0.02, 0.5]]).all()
    assert np.signbit(found[0, 0])


def test_a_decimal_comma_and_another_separator():
    assert (plain(b"1,5;-2,25\n3;4\n", 2, b";", b",") == [[1.5, -2.25], [3.0, 4.0]]).all()


@pytest.mark.parametrize(
    "text",
    [
        b"1,nan\n",
        b"1,\n",
        b"1\n",
        b"1,2,3\n",
        b"1,0x10\n",
        b"1,1e\n",
        b"1,12345678901234567890123\n",
        b"1,1e400\n",
        b"1,2 3\n",
        b"1,--2\n",
    ],
)
def test_what_is_no_row_of_plain_numbers_is_left_to_the_caller(text):
    assert plain(text, 2) is None


def test_a_column_that_is_not_wanted_may_hold_anything():
    assert (
        plain(b"1,nan,2\n3,,4\n5,RUN now,6\r\n", 3, places=[0, -1, 1]) == [[1, 2], [3, 4], [5, 6]]
    ).all()


def test_a_line_that_is_left_to_the_caller_is_a_row_among_the_others():
    lines = []

    def otherwise(at, end):
        lines.append(data[at:end])
        return [7.0, 8.0]

    data = b"1,2\n3,x\n5,6\n"
    table = table_of(data, DecimalLayout(b",", b".", np.arange(2)), otherwise)
    assert lines == [b"3,x"]
    assert (table == [[1, 2], [7, 8], [5, 6]]).all()


NUMBERS = st.one_of(
    st.from_regex(r"[+-]?[0-9]{0,20}(\.[0-9]{0,20})?([eE][+-]?[0-9]{0,3})?", fullmatch=True),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.text("+-.0123456789eE", max_size=8),
)


@settings(derandomize=True, deadline=None, max_examples=150, database=None)
@given(st.lists(NUMBERS, min_size=1, max_size=20))
def test_a_text_is_the_double_of_python_or_left_to_the_caller(words):
    """Each word on a line of its own: read to the bit as float() reads it, or handed over."""
    handed_over = []

    def otherwise(at, end):
        handed_over.append(data[at:end])

    data = "\n".join(words).encode()
    table = table_of(data, DecimalLayout(b",", b".", np.arange(1)), otherwise)
    read = [word for word in words if word and word.encode() not in handed_over]
    expected = np.array([float(word) for word in read])
    assert (table[:, 0].view(np.uint64) == expected.view(np.uint64)).all()


ENDS = ["", "\n", "\r\n", "  ", " \n", "\n\n", "\n# a remark", "\n   ", "\n#\n"]


@pytest.mark.parametrize("holder", [bytes, bytearray])
@pytest.mark.parametrize("end", ENDS)
def test_a_table_ends_where_its_text_does(end, holder):
    data = holder(b"1,2\n3,4" + end.encode())
    assert (plain(data, 2) == [[1, 2], [3, 4]]).all()


def test_a_last_line_without_its_end_is_left_to_the_caller_whole():
    assert plain(b"1,2\n3", 2) is None
    assert plain(b"1,2\n3,", 2) is None
    assert plain(b"1,2\n3,4e", 2) is None
    assert plain(b"1,2\n3,-", 2) is None

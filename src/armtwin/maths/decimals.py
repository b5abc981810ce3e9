"""Tables of decimal numbers, from bytes to floats, each to the nearest double.

Many times faster than line by line. A number is w 10^q with a whole w below 2^64. Small ones are
exact products of doubles; of the others 128 bits of w 5^q decide the rounding. What is not decided
so, or is no plain number, is left to the caller.

Ref: [Lemire 2021]
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats, Integers
from armtwin.maths.compiled import compiled, inlined

Bits = np.uint64
Bytes = NDArray[np.uint8]

# Powers of ten that are in the table.
LOWEST, HIGHEST = -60, 60
NEWLINE, RETURN, SPACE, HASH, PLUS, MINUS, UPPER_E, LOWER_E = b"\n\r #+-Ee"


def _powers_of_five() -> NDArray[np.uint64]:
    """The first 128 bits of 5^q, (powers, 2), reciprocals down to 5^-27 rounded up."""
    table = np.zeros((HIGHEST - LOWEST + 1, 2), dtype=np.uint64)
    for q in range(LOWEST, HIGHEST + 1):
        whole = 5 ** abs(q)
        if q < 0:
            digits = (whole - 1).bit_length()
            enough = digits + 127 if q >= -27 else 2 * digits + 128
            whole = (1 << enough) // whole + 1
        surplus = whole.bit_length() - 128
        whole = whole >> surplus if surplus > 0 else whole << -surplus
        table[q - LOWEST] = whole >> 64, whole & ((1 << 64) - 1)
    return table


# Constants of the kernels: arrays that are handed over would be counted in and out for each number.
_FIVES = _powers_of_five()
_TENS = np.array([10.0**k for k in range(23)])  # all that are exact doubles
_TWOS = np.ldexp(1.0, np.arange(2046) - 1075)  # scales of a mantissa of 53 bits, by biased power
_ONE, _ZERO, _ALL = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW32 = np.uint64(0xFFFFFFFF)


class DecimalLayout(NamedTuple):
    """How the lines of a table are written.

    Attributes:
        separator: What stands between two values, one byte; none for any white space.
        decimal: The decimal point, one byte.
        places: For each value of a line its column of the table; -1 for a value that is passed
            over, whatever it is.
    """

    separator: bytes
    decimal: bytes
    places: NDArray[np.int64]


Text = bytes | bytearray
Otherwise = Callable[[int, int], Sequence[float] | None]


def table_of(data: Text, layout: DecimalLayout, otherwise: Otherwise, start: int = 0) -> Floats:
    """Numbers of all lines that hold any, (rows, columns).

    Lines that are empty or start with # are passed over.

    Args:
        data: The text.
        layout: How its lines are written.
        otherwise: Reads a line, from one place of the text to another, that is no row of plain
            numbers: returns its columns, None for a line to pass over, or raises.
        start: Where the first line begins.
    """
    width = len(layout.places)
    # a line has a sign after each of its values, so that lines without any do not ask for memory
    most = min(data.count(b"\n", start) + 1, (len(data) - start) // max(width, 1) + 1)
    out = np.empty((most, int(layout.places.max(initial=-1)) + 1))
    whole = data if data.endswith(b"\n") else data + b"\n"
    text = np.frombuffer(whole, dtype=np.uint8)
    text.flags.writeable = False  # one type for the kernel, whatever holds the text
    separator, decimal = layout.separator, layout.decimal
    at, row = start, 0
    while at < len(data):
        if separator:
            at, row = _parse(text, at, row, separator[0], decimal[0], layout.places, out)
        if at >= len(data):
            break
        end = data.find(b"\n", at)
        if end < 0:
            end = len(data)
        values = otherwise(at, end)
        if values is not None:
            out[row] = values
            row += 1
        at = end + 1
    return out[:row]


@compiled
def wide_product(a: Bits, b: Bits) -> Any:
    """The 128 bits of a product of two 64-bit numbers, upper and lower half."""
    half = np.uint64(32)
    a1, a0 = a >> half, a & _LOW32
    b1, b0 = b >> half, b & _LOW32
    low = a0 * b0
    cross = a1 * b0
    middle = (low >> half) + (cross & _LOW32) + a0 * b1
    upper = a1 * b1 + (cross >> half) + (middle >> half)
    lower = (middle << half) | (low & _LOW32)
    return upper, lower


@inlined
def _times_power(w: Bits, q: int) -> Any:
    """The first 128 bits of w 5^q, upper and lower half; all of 5^q only where it counts."""
    upper, lower = wide_product(w, _FIVES[q - LOWEST, 0])
    if upper & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = wide_product(w, _FIVES[q - LOWEST, 1])
        lower = lower + more
        if lower < more:
            upper = upper + _ONE
    return upper, lower


@inlined
def _leading_zeros(w: Bits) -> int:
    """Zeros before the first bit of a 64-bit number above 0."""
    zeros = 0
    while w >> np.uint64(63) == _ZERO:
        w = w << _ONE
        zeros += 1
    return zeros


@compiled
def _round_to_double(w: Bits, q: int) -> float:
    """The double nearest to w 10^q, w above 0; NaN where 128 bits do not determine it."""
    zeros = _leading_zeros(w)
    upper, lower = _times_power(w << np.uint64(zeros), q)
    # within these powers 5^q is known so well that nothing is left open
    if lower == _ALL and not -27 <= q <= 55:
        return np.nan
    top = upper >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = upper >> shift
    power = ((217706 * q) >> 16) + 63 + int(top) - zeros + 1023
    if power <= 0 or power >= 2046:
        return np.nan
    whole = lower <= _ONE and -4 <= q <= 23 and mantissa << shift == upper
    if whole and mantissa & np.uint64(3) == _ONE:
        mantissa = mantissa & ~_ONE  # exactly half way: to the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    return float(np.int64(mantissa)) * _TWOS[power]


@inlined
def _value(w: Bits, power: int) -> float:
    """The double nearest to w 10^power, or NaN."""
    if w == _ZERO:
        return 0.0
    if w <= np.uint64(9007199254740992) and -22 <= power <= 22:
        x = float(np.int64(w))
        return x * _TENS[power] if power >= 0 else x / _TENS[-power]
    if LOWEST <= power <= HIGHEST:
        return _round_to_double(w, power)
    return np.nan


@inlined
def _past(text: Bytes, at: int, letter: int) -> int:
    """The place after a run of one letter."""
    while text[at] == letter:
        at += 1
    return at


@inlined
def _past_value(text: Bytes, at: int, separator: int) -> int:
    """The place after whatever stands before the next separator or the end of the line."""
    while text[at] != separator and text[at] != NEWLINE:
        at += 1
    return at


@inlined
def _past_sign(text: Bytes, at: int) -> int:
    """The place after a sign, if there is one."""
    c = text[at]
    if c == PLUS:
        return at + 1
    return at + 1 if c == MINUS else at


@inlined
def _digits(text: Bytes, at: int, decimal: int) -> tuple[int, Any, int, int]:
    """Digits with at most one decimal point, w 10^power: the place after them, w, power, count.

    The count begins with the first digit that is not 0; it is -1 where there is no digit at all.
    """
    w, power = _ZERO, 0
    seen, count, after = 0, 0, 0
    while True:
        c = text[at]
        if 48 <= c <= 57:
            seen += 1
            power -= after
            w = w * np.uint64(10) + np.uint64(c - 48)
            if count > 0 or c != 48:
                count += 1
        elif c == decimal and after == 0:
            after = 1
        else:
            break
        at += 1
    return at, w, power, count if seen > 0 else -1


@inlined
def _exponent(text: Bytes, at: int) -> tuple[int, int]:
    """The place after an exponent, -1 where its digits lack, and its value, 0 without one."""
    given = text[at] == LOWER_E or text[at] == UPPER_E
    begin, most = at, 0
    if given:
        begin, most = _past_sign(text, at + 1), 5
    down = given and text[at + 1] == MINUS
    at, exponent = begin, 0
    while at < begin + most and 48 <= text[at] <= 57:
        exponent = 10 * exponent + (text[at] - 48)
        at += 1
    if given and at == begin:
        at = -1
    return at, -exponent if down else exponent


@inlined
def _number(text: Bytes, at: int, decimal: int) -> tuple[int, float]:
    """The place after the number that begins at a place, and its value; NaN where it is none."""
    negative = text[at] == MINUS
    at, w, power, count = _digits(text, _past_sign(text, at), decimal)
    at, exponent = _exponent(text, at)
    if at < 0 or count < 0 or count > 19:
        return at, np.nan
    x = _value(w, power + exponent)
    return at, -x if negative else x


@inlined
def _line(
    text: Bytes, at: int, row: int, separator: int, decimal: int, places: Integers, out: Floats
) -> int:
    """Fill a row of `out` from the line at a place; returns where the next begins, or -1."""
    width = places.shape[0]
    for column in range(width):
        at = _past(text, at, SPACE)
        if places[column] < 0:
            at = _past_value(text, at, separator)
        else:
            at, x = _number(text, at, decimal)
            if np.isnan(x):
                return -1
            out[row, places[column]] = x
        at = _past(text, at, SPACE)
        if column + 1 < width:
            if text[at] != separator:
                return -1
            at += 1
    if text[at] == RETURN:
        at += 1
    return at + 1 if text[at] == NEWLINE else -1


@compiled
def _parse(
    text: Bytes, at: int, row: int, separator: int, decimal: int, places: Integers, out: Floats
) -> tuple[int, int]:
    """Fill rows of `out` from a place on; returns where a line is no row, and the rows so far.

    The text ends with a line feed, at which every search within a line stops.
    """
    size = text.shape[0]
    while at < size:
        begin = at
        at = _past(text, at, SPACE)
        if text[at] == NEWLINE or text[at] == RETURN:
            at += 1
        elif text[at] == HASH and at == begin:  # a comment
            at = _past_value(text, at, NEWLINE)
        else:
            at = _line(text, at, row, separator, decimal, places, out)
            if at < 0:
                return begin, row
            row += 1
    return size, row

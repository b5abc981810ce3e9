"""Tables of decimal numbers, from bytes to floats: each to the nearest double, many times faster than line by line.

A number is w 10^q with a whole w below 2^64. Small ones are exact products of doubles; of the others 128 bits of
w 5^q decide the rounding. What is not decided so, or is no plain number, is left to the caller.

Ref: [Lemire 2021]
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, inlined

LOWEST, HIGHEST = -60, 60  # powers of ten that are in the table
_EXACT = np.array([10.0**k for k in range(23)])
_ONE, _ZERO, _ALL = np.uint64(1), np.uint64(0), np.uint64(0xFFFFFFFFFFFFFFFF)
_LOW32 = np.uint64(0xFFFFFFFF)


@cache
def _powers() -> NDArray[np.uint64]:
    """The first 128 bits of 5^q, (powers, 2), reciprocals down to 5^-27 rounded up."""
    table = np.zeros((HIGHEST - LOWEST + 1, 2), dtype=np.uint64)
    for q in range(LOWEST, HIGHEST + 1):
        whole = 5 ** abs(q)
        if q < 0:
            digits = (whole - 1).bit_length()
            whole = (1 << (digits + 127 if q >= -27 else 2 * digits + 128)) // whole + 1
        bits = whole.bit_length()
        whole = whole << (128 - bits) if bits <= 128 else whole >> (bits - 128)
        table[q - LOWEST] = whole >> 64, whole & ((1 << 64) - 1)
    return table


class Layout(NamedTuple):
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


def table_of(data: Text, layout: Layout, otherwise: Otherwise, start: int = 0) -> Floats:
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
    text = np.frombuffer(data, dtype=np.uint8)
    text.flags.writeable = False  # one type for the kernel, whatever holds the text
    signs = (*layout.separator, *layout.decimal)
    fixed = (*signs, _powers(), _EXACT, layout.places, out, out.view(np.uint64))
    at, row = start, 0
    while at < len(data):
        if layout.separator:
            at, row = _parse(text, at, row, *fixed)
        if at < len(data):
            end = data.find(b"\n", at)
            end = len(data) if end < 0 else end
            values = otherwise(at, end)
            if values is not None:
                out[row] = values
                row += 1
            at = end + 1
    return out[:row]


@compiled
def _times(a: Any, b: Any) -> Any:
    """The 128 bits of a product of two 64-bit numbers, upper and lower half."""
    half = np.uint64(32)
    a1, a0, b1, b0 = a >> half, a & _LOW32, b >> half, b & _LOW32
    low, cross = a0 * b0, a1 * b0
    middle = (low >> half) + (cross & _LOW32) + a0 * b1
    return a1 * b1 + (cross >> half) + (middle >> half), (middle << half) | (low & _LOW32)


@compiled
def _rounded(w: Any, q: int, powers: Any) -> Any:
    """Bits of the double nearest to w 10^q, w above 0; 0 where 128 bits do not tell it."""
    zeros = 0
    while w >> np.uint64(63) == _ZERO:
        w = w << _ONE
        zeros += 1
    upper, lower = _times(w, powers[q - LOWEST, 0])
    if upper & np.uint64(0x1FF) == np.uint64(0x1FF):
        more, _ = _times(w, powers[q - LOWEST, 1])
        lower = lower + more
        if lower < more:
            upper = upper + _ONE
    if (
        lower == _ALL and not -27 <= q <= 55
    ):  # within, 5^q is known so well that nothing is left open
        return _ZERO
    top = upper >> np.uint64(63)
    shift = top + np.uint64(9)
    mantissa = upper >> shift
    power = ((217706 * q) >> 16) + 63 + int(top) - zeros + 1023
    if power <= 0 or power >= 2046:
        return _ZERO
    if (
        lower <= _ONE
        and -4 <= q <= 23
        and mantissa & np.uint64(3) == _ONE
        and mantissa << shift == upper
    ):
        mantissa = mantissa & ~_ONE  # exactly half way: to the even one
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    if mantissa >> np.uint64(53) != _ZERO:
        mantissa = mantissa >> _ONE
        power += 1
    return (mantissa & np.uint64(0xFFFFFFFFFFFFF)) | (np.uint64(power) << np.uint64(52))


@inlined
def _number(  # noqa: C901  one pass over the letters of a number
    text: Any,
    at: int,
    decimal: int,
    powers: Any,
    exact: Any,
    row: int,
    column: int,
    out: Any,
    bits: Any,
) -> int:
    """Read the number that begins at a place into out[row, column]; returns the place after it, or -1."""
    size = text.shape[0]
    negative = at < size and text[at] == 45
    if at < size and (text[at] == 45 or text[at] == 43):
        at += 1
    w, digits, seen, power, after = _ZERO, 0, 0, 0, 0
    while at < size:
        c = text[at]
        if 48 <= c <= 57:
            seen += 1
            power -= after
            w = w * np.uint64(10) + np.uint64(c - 48)
            if digits > 0 or c != 48:
                digits += 1
        elif c == decimal and after == 0:
            after = 1
        else:
            break
        at += 1
    if seen == 0 or digits > 19:
        return -1
    if at < size and (text[at] == 101 or text[at] == 69):
        at += 1
        down = at < size and text[at] == 45
        if at < size and (text[at] == 45 or text[at] == 43):
            at += 1
        exponent, seen = 0, 0
        while at < size and 48 <= text[at] <= 57 and seen < 5:
            exponent = 10 * exponent + (text[at] - 48)
            seen += 1
            at += 1
        if seen == 0:
            return -1
        power += -exponent if down else exponent
    if w == _ZERO:
        out[row, column] = 0.0
    elif w <= np.uint64(9007199254740992) and -22 <= power <= 22:
        out[row, column] = float(w) * exact[power] if power >= 0 else float(w) / exact[-power]
    elif LOWEST <= power <= HIGHEST:
        found = _rounded(w, power, powers)
        if found == _ZERO:
            return -1
        bits[row, column] = found
    else:
        return -1
    if negative:
        out[row, column] = -out[row, column]
    return at


@compiled
def _parse(  # noqa: C901  one pass over the lines of a table
    text: Any,
    at: int,
    row: int,
    separator: int,
    decimal: int,
    powers: Any,
    exact: Any,
    places: Any,
    out: Any,
    bits: Any,
) -> Any:
    """Fill rows of `out` from a place on; returns where a line is no row, and the rows so far."""
    size, width = text.shape[0], places.shape[0]
    while at < size:
        begin = at
        while at < size and text[at] == 32:
            at += 1
        if at >= size:
            return size, row
        if text[at] == 10 or text[at] == 13:
            at += 1
            continue
        if text[at] == 35 and at == begin:  # a comment
            while at < size and text[at] != 10:
                at += 1
            continue
        for column in range(width):
            while at < size and text[at] == 32:
                at += 1
            if places[column] < 0:
                while at < size and text[at] != separator and text[at] != 10:
                    at += 1
            else:
                at = _number(text, at, decimal, powers, exact, row, places[column], out, bits)
                if at < 0:
                    return begin, row
            while at < size and text[at] == 32:
                at += 1
            if column + 1 < width:
                if at >= size or text[at] != separator:
                    return begin, row
                at += 1
        if at < size and text[at] == 13:
            at += 1
        if at < size and text[at] != 10:
            return begin, row
        at += 1
        row += 1
    return size, row

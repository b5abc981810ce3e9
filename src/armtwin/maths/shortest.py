"""Tables of floats as decimal numbers, each with the fewest digits that identify it.

Python's `repr` of floats, byte by byte, eight times faster. A double is c 2^q, and what lies within
half a step of it rounds to it. In units of 10^k that interval is 2 to 20 long: it holds
one or two whole numbers of 16 or 17 digits, and at most one that ends in 0.

Ref: [Giulietti 2020]
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, inlined
from armtwin.maths.decimals import Bits, Bytes, wide_product

Words = NDArray[Bits]

LOWEST, HIGHEST = -60, 80  # powers of ten that are in the table
SMALLEST, LARGEST = 1e-60, 1e60  # absolute values that it serves, and 0
LONGEST = 25  # characters of a number with what follows it
COMMA, MINUS, POINT, ZERO, LOWER_E, PLUS, NEWLINE = b",-.0e+\n"


def _powers_of_ten() -> NDArray[np.uint64]:
    """The first 128 bits of 10^p, rounded up, (powers, 2)."""
    table = np.zeros((HIGHEST - LOWEST + 1, 2), dtype=np.uint64)
    for p in range(LOWEST, HIGHEST + 1):
        shift = 127 - ((p * 1741647) >> 19)  # 127 - floor(log2 10^p)
        above, below = 10 ** max(p, 0), 10 ** max(-p, 0)
        if shift >= 0:
            above <<= shift
        else:
            below <<= -shift
        whole = -(-above // below)
        table[p - LOWEST] = whole >> 64, whole & ((1 << 64) - 1)
    return table


_TENS = _powers_of_ten()
_ONE, _TWO, _FOUR, _TEN, _FORTY = (np.uint64(x) for x in (1, 2, 4, 10, 40))
_FRACTION, _HIDDEN = np.uint64((1 << 52) - 1), np.uint64(1 << 52)


def lines_of(table: Floats) -> bytes | None:
    """Lines of numbers between commas, as `repr` writes them; None where one is out of range.

    Args:
        table: The numbers, (rows, columns).
    """
    size = np.abs(table)
    if not ((size >= SMALLEST) & (size <= LARGEST) | (size == 0)).all():
        return None
    out = np.empty(LONGEST * table.size, dtype=np.uint8)
    count = _write(np.ascontiguousarray(table).view(np.uint64), out)
    return out[:count].tobytes()


@inlined
def _scale_bits(row: np.int64, c: Bits) -> Any:
    """The first 64 bits of c 10^p; the last of them is 1 if anything was cut off."""
    carry, _ = wide_product(_TENS[row, 1], c)
    upper, lower = wide_product(_TENS[row, 0], c)
    lower = lower + carry
    if lower < carry:
        upper = upper + _ONE
    return upper | _ONE if lower > _ONE else upper


@compiled
def _shortest(fraction: Bits, biased: np.int64) -> Any:
    """The fewest digits w and their power, w 10^power, of a number by its bits; w may end in 0."""
    c, q = fraction | _HIDDEN, biased - 1075
    if -52 <= q <= 0 and (c & ((_ONE << np.uint64(-q)) - _ONE)) == 0:
        return c >> np.uint64(-q), 0
    odd = c & _ONE  # an even number also owns the ends of its interval
    nearer = _ONE if fraction == 0 else np.uint64(0)  # below a power of two, steps are half as long
    k = (q * 1262611 - 524031 * np.int64(nearer)) >> 22
    shift = np.uint64(q + ((-k * 1741647) >> 19) + 1)
    row, c = -k - LOWEST, c << _TWO
    low = _scale_bits(row, (c - _TWO + nearer) << shift) + odd
    here = _scale_bits(row, c << shift)
    high = _scale_bits(row, (c + _TWO) << shift) - odd
    w = here >> _TWO
    short = w // _TEN
    down, up = low <= _FORTY * short, _FORTY * short + _FORTY <= high
    if down != up:
        return (short + _ONE if up else short), k + 1
    down, up = low <= _FOUR * w, _FOUR * w + _FOUR <= high
    if down != up:
        return (w + _ONE if up else w), k
    middle = _FOUR * w + _TWO
    if here > middle or (here == middle and (w & _ONE) == _ONE):
        w = w + _ONE
    return w, k


@inlined
def _put_digits(out: Bytes, at: int, w: Bits, count: int) -> None:
    """The last digits of w, before a place."""
    for i in range(count):
        rest = w // _TEN
        out[at - 1 - i] = ZERO + np.int64(w - _TEN * rest)
        w = rest


@inlined
def _put_zeros(out: Bytes, at: int, count: int) -> int:
    for i in range(count):
        out[at + i] = ZERO
    return at + max(count, 0)


@inlined
def _put_exponent(out: Bytes, at: int, power: int) -> int:
    """An exponent of at least two digits; returns the place after it."""
    out[at] = LOWER_E
    out[at + 1] = MINUS if power < 0 else PLUS
    out[at + 2] = ZERO + abs(power) // 10
    out[at + 3] = ZERO + abs(power) % 10
    return at + 4


@inlined
def _put(out: Bytes, at: int, w: Bits, power: int) -> int:
    """Write w 10^power, w above 0 and not ending in 0; returns the place after it."""
    count, ten = 1, _TEN
    while count < 17 and w >= ten:
        count, ten = count + 1, ten * _TEN
    before = count + power  # digits before the point
    if -4 < before <= 0:
        out[at], out[at + 1] = ZERO, POINT
        at = _put_zeros(out, at + 2, -before) + count
        _put_digits(out, at, w, count)
        return at
    if before > 16 or before <= -4:
        _put_digits(out, at + 1 + count, w, count)
        out[at] = out[at + 1]
        out[at + 1] = POINT
        at += 1 if count == 1 else 1 + count
        return _put_exponent(out, at, before - 1)
    if before >= count:
        _put_digits(out, at + count, w, count)
        at = _put_zeros(out, at + count, before - count)
        out[at], out[at + 1] = POINT, ZERO
        return at + 2
    _put_digits(out, at + 1 + count, w, count)
    for i in range(before):
        out[at + i] = out[at + i + 1]
    out[at + before] = POINT
    return at + 1 + count


@compiled
def _write(table: Words, out: Bytes) -> int:
    """Write the lines of a table of bits; returns how many characters there are."""
    at = 0
    for r in range(table.shape[0]):
        for column in range(table.shape[1]):
            bits = table[r, column]
            if bits >> np.uint64(63) == _ONE:
                out[at] = MINUS
                at += 1
            fraction = bits & _FRACTION
            biased = np.int64((bits >> np.uint64(52)) & np.uint64(0x7FF))
            if biased == 0:  # zero
                out[at], out[at + 1], out[at + 2] = ZERO, POINT, ZERO
                at += 3
            else:
                w, power = _shortest(fraction, biased)
                while w % _TEN == 0:
                    w, power = w // _TEN, power + 1
                at = _put(out, at, w, power)
            out[at] = COMMA
            at += 1
        out[at - 1] = NEWLINE
    return at

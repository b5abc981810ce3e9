"""Elementary functions of several lanes at once: the same instructions for each, no call.

Exact to two units of the last digit for what a robot asks: angles up to 1e5 rad (beyond, the
library's function is called), exponents that do not overflow, powers of numbers from 1e-307 on.

Ref: [Cody-Waite 1980], [Sun 1993]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypeAlias

from llvmlite import ir
from llvmlite.ir import IRBuilder, Type, Value

from armtwin.maths.compiled import Function

Term: TypeAlias = "Wide | float"  # of a sum or product in lanes

LIBRARY = {"sine": "llvm.sin.f64", "cosine": "llvm.cos.f64"}
QUARTERS = {"sine": 0, "cosine": 1}


def of_angles(name: str, angles: Wide, call: Function) -> Any:
    """A vector of the sines or cosines of angles, the library's of those that are large.

    Each depends on its own angle alone.

    Args:
        name: "sine" or "cosine".
        angles: Doubles in lanes.
        call: Calls a function of the library by its name.
    """
    builder = angles.builder
    near = sine(angles, QUARTERS[name]).value
    large = angles.beyond(LARGEST_ANGLE)
    start = builder.block
    with builder.if_then(any_lane(builder, large), likely=False):
        exact = []
        for lane in range(LANES):
            angle = builder.extract_element(angles.value, INTEGER(lane))
            exact.append(call(LIBRARY[name], [angle]))
        apart = builder.select(large, vector(builder, exact), near)
        end = builder.block
    found = builder.phi(near.type)
    found.add_incoming(near, start)
    found.add_incoming(apart, end)
    return found


def any_lane(builder: IRBuilder, conditions: Value) -> Any:
    """Whether a condition holds in some lane."""
    lanes = ir.IntType(LANES)
    return builder.icmp_signed("!=", builder.bitcast(conditions, lanes), lanes(0))


LANES = 4  # doubles in a vector register of 256 bits
DOUBLE, INTEGER = ir.DoubleType(), ir.IntType(64)

# x + ROUNDER has the nearest whole number to x in its last bits
ROUNDER = 1.5 * 2.0**52
MANTISSA = 2**52 - 1
ONE = 1023 << 52  # bits of 1.0
SMALLEST = 2.0**-1022

# π/2 and ln 2 in pieces, of which all but the last times a whole number are exact
QUARTER = (1.57079632673412561417e00, 6.07710050630396597660e-11, 2.02226624879595063154e-21)
LN2 = (6.93147180369123816490e-01, 1.90821492927058770002e-10)
LARGEST_ANGLE = 1e5

SINE = (
    -1.66666666666666324348e-01,
    8.33333333332248946124e-03,
    -1.98412698298579493134e-04,
    2.75573137070700676789e-06,
    -2.50507602534068634195e-08,
    1.58969099521155010221e-10,
)
COSINE = (
    4.16666666666666019037e-02,
    -1.38888888888741095749e-03,
    2.48015872894767294178e-05,
    -2.75573143513906633035e-07,
    2.08757232129817482790e-09,
    -1.13596475577881948265e-11,
)
EXPONENTIAL = tuple(1.0 / math.factorial(k) for k in range(14))
LOGARITHM = (
    6.666666666666735130e-01,
    3.999999999940941908e-01,
    2.857142874366239149e-01,
    2.222219843214978396e-01,
    1.818357216161805012e-01,
    1.531383769920937332e-01,
    1.479819860511658591e-01,
)


def transpose(builder: IRBuilder, rows: Sequence[Any]) -> list[Any]:
    """Columns of four by four values in lanes."""

    def pick(a: Value, b: Value, *places: int) -> Any:
        mask = ir.Constant(ir.VectorType(ir.IntType(32), LANES), list(places))
        return builder.shuffle_vector(a, b, mask)

    first = [pick(rows[k], rows[k + 1], 0, 4, 2, 6) for k in (0, 2)]
    second = [pick(rows[k], rows[k + 1], 1, 5, 3, 7) for k in (0, 2)]
    return [
        pick(*first, 0, 1, 4, 5),
        pick(*second, 0, 1, 4, 5),
        pick(*first, 2, 3, 6, 7),
        pick(*second, 2, 3, 6, 7),
    ]


def vector(builder: IRBuilder, values: Sequence[Any]) -> Any:
    """Up to LANES doubles in lanes; the last one fills the rest."""
    found = ir.Constant(ir.VectorType(DOUBLE, LANES), ir.Undefined)
    for lane in range(LANES):
        value = values[min(lane, len(values) - 1)]
        found = builder.insert_element(found, value, INTEGER(lane))
    return found


def spread(builder: IRBuilder, value: Value) -> Any:
    """A double in all lanes."""
    empty = ir.Constant(ir.VectorType(DOUBLE, LANES), ir.Undefined)
    first = builder.insert_element(empty, value, INTEGER(0))
    everywhere = ir.Constant(ir.VectorType(ir.IntType(32), LANES), [0] * LANES)
    return builder.shuffle_vector(first, empty, everywhere)


def multiply_add(builder: IRBuilder, a: Value, b: Value, c: Value) -> Any:
    """a b + c of doubles or of lanes, rounded once where the processor can.

    Where it cannot, product and sum are rounded: in one lane as in several.
    """
    kind = a.type
    suffix = f"v{LANES}f64" if isinstance(kind, ir.VectorType) else "f64"
    name = f"llvm.fmuladd.{suffix}"
    function = builder.module.globals.get(name)
    if function is None:
        function = ir.Function(builder.module, ir.FunctionType(kind, [kind] * 3), name)
    return builder.call(function, [a, b, c])


def splat(kind: Type, value: float) -> Any:
    """A constant in all lanes."""
    return ir.Constant(ir.VectorType(kind, LANES), [value] * LANES)


class Wide:
    """Doubles in lanes: arithmetic writes instructions."""

    __slots__ = ("builder", "value")

    def __init__(self, builder: IRBuilder, value: Value) -> None:
        self.builder = builder
        self.value = value

    def __add__(self, other: Term) -> Wide:
        return self._new(self.builder.fadd(self.value, self._of(other)))

    def __sub__(self, other: Term) -> Wide:
        return self._new(self.builder.fsub(self.value, self._of(other)))

    def __mul__(self, other: Term) -> Wide:
        return self._new(self.builder.fmul(self.value, self._of(other)))

    def __truediv__(self, other: Term) -> Wide:
        return self._new(self.builder.fdiv(self.value, self._of(other)))

    def times_plus(self, factor: Term, term: Term) -> Wide:
        """These times a factor plus a term, in one operation."""
        return self._new(multiply_add(self.builder, self.value, self._of(factor), self._of(term)))

    def __neg__(self) -> Wide:
        return self._new(self.builder.fneg(self.value))

    def compare(self, sign: str, other: Term) -> Any:
        """Where a comparison holds."""
        return self.builder.fcmp_ordered(sign, self.value, self._of(other))

    def beyond(self, size: float) -> Any:
        """Where they are larger than a size, of either sign."""
        return self.builder.or_(self.compare(">", size), self.compare("<", -size))

    def replaced(self, condition: Value, other: Term) -> Wide:
        """Others where a condition holds, else these."""
        return self._new(self.builder.select(condition, self._of(other), self.value))

    @property
    def bits(self) -> Any:
        """The bits of each double."""
        return self.builder.bitcast(self.value, ir.VectorType(INTEGER, LANES))

    def from_bits(self, bits: Value) -> Wide:
        """Doubles of these bits."""
        return self._new(self.builder.bitcast(bits, ir.VectorType(DOUBLE, LANES)))

    def _new(self, value: Value) -> Wide:
        return Wide(self.builder, value)

    def _of(self, other: Term) -> Any:
        return other.value if isinstance(other, Wide) else splat(DOUBLE, other)


def polynomial(x: Wide, coefficients: Sequence[float]) -> Wide:
    """c0 + c1 x + c2 x² ..."""
    total = x.times_plus(coefficients[-1], coefficients[-2])
    for c in reversed(coefficients[:-2]):
        total = total.times_plus(x, c)
    return total


def _quadrant(x: Wide) -> tuple[Wide, Any]:
    """The angle less whole quarter turns, within ±π/4, and the number of these."""
    rounded = x.times_plus(2.0 / math.pi, ROUNDER)
    turns = rounded - ROUNDER
    for piece in QUARTER:
        x = turns.times_plus(-piece, x)
    return x, rounded.bits


def sine(x: Wide, quarters: int = 0) -> Wide:
    """sin(x + quarters π/2), |x| up to LARGEST_ANGLE."""
    b = x.builder
    r, count = _quadrant(x)
    count = b.add(count, splat(INTEGER, quarters))
    z = r * r
    sin = (r * z).times_plus(polynomial(z, SINE), r)
    cos = polynomial(z, (1.0, -0.5, *COSINE))
    odd = b.icmp_signed("!=", b.and_(count, splat(INTEGER, 1)), splat(INTEGER, 0))
    found = sin.replaced(odd, cos)
    # the second bit of the quadrant is the sign
    sign = b.shl(b.and_(count, splat(INTEGER, 2)), splat(INTEGER, 62))
    return found.from_bits(b.xor(found.bits, sign))


def exponential(x: Wide) -> Wide:
    """exp(x) = 2^k exp(r), r within ±ln 2 / 2."""
    b = x.builder
    rounded = x.times_plus(1.0 / math.log(2.0), ROUNDER)
    whole = rounded - ROUNDER
    r = x
    for piece in LN2:
        r = whole.times_plus(-piece, r)
    shifted = b.shl(b.add(rounded.bits, splat(INTEGER, 1023)), splat(INTEGER, 52))
    found = polynomial(r, EXPONENTIAL) * x.from_bits(shifted)
    found = found.replaced(x.compare(">", 709.0), math.inf)
    return found.replaced(x.compare("<", -708.0), 0.0)


def logarithm(x: Wide) -> Wide:
    """ln x = k ln 2 + ln m, m within √2 of 1, for x from the smallest normal number on."""
    b = x.builder
    exponent = b.lshr(x.bits, splat(INTEGER, 52))
    mantissa = b.and_(x.bits, splat(INTEGER, MANTISSA))
    m = x.from_bits(b.or_(mantissa, splat(INTEGER, ONE)))
    # whole numbers below 2^52 stand in the last bits of 2^52 + themselves
    biased = x.from_bits(b.or_(exponent, splat(INTEGER, (1023 + 52) << 52)))
    k = biased - (2.0**52 + 1023.0)
    large = m.compare(">", math.sqrt(2.0))
    m = m.replaced(large, m * 0.5)
    k = k.replaced(large, k + 1.0)
    f = m - 1.0
    s = f / (f + 2.0)
    z = s * s
    half = f * f * 0.5
    series = z.times_plus(polynomial(z, LOGARITHM), half)
    rest = s.times_plus(series, k * LN2[1])
    return k.times_plus(LN2[0], f - (half - rest))


def power(x: Wide, y: Wide) -> Wide:
    """x^y of numbers that are not negative: exp(y ln x), 0^0 = 1."""
    found = exponential(y * logarithm(x))
    nothing = x.compare("<", SMALLEST)
    found = found.replaced(nothing, 0.0)
    return found.replaced(x.builder.and_(nothing, y.compare("==", 0.0)), 1.0)

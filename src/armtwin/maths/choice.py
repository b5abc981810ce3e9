"""Choices by comparing, in kernels that are also traced: both sides are values."""

from typing import TypeVar

from armtwin.maths.compiled import inlined

T = TypeVar("T")
N = TypeVar("N", bound=float)


@inlined
def choose(condition: bool, yes: T, no: T) -> T:
    """One of two values."""
    return yes if condition else no


@inlined
def smaller(a: N, b: N) -> N:
    """The smaller of two values."""
    return min(a, b)


@inlined
def larger(a: N, b: N) -> N:
    """The larger of two values."""
    return max(a, b)


@inlined
def whole(x: float) -> int:
    """The whole part of a number that is not negative, as an integer."""
    return int(x)


@inlined
def either(a: bool, b: bool) -> bool:
    """Whether one of two conditions holds."""
    return a or b


@inlined
def both(a: bool, b: bool) -> bool:
    """Whether two conditions hold."""
    return a and b

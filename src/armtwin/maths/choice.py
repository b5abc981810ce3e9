"""Choices by comparing, in kernels that are also traced: both sides are values."""

from __future__ import annotations

from typing import Any

from armtwin.maths.compiled import inlined


@inlined
def choose(condition: Any, yes: Any, no: Any) -> Any:
    """One of two values."""
    return yes if condition else no


@inlined
def smaller(a: Any, b: Any) -> Any:
    """The smaller of two values."""
    return min(a, b)


@inlined
def larger(a: Any, b: Any) -> Any:
    """The larger of two values."""
    return max(a, b)


@inlined
def whole(x: Any) -> Any:
    """The whole part of a number that is not negative, as an integer."""
    return int(x)


@inlined
def either(a: Any, b: Any) -> Any:
    """Whether one of two conditions holds."""
    return a or b


@inlined
def both(a: Any, b: Any) -> Any:
    """Whether two conditions hold."""
    return a and b

"""Sines and cosines of several angles at once, in instructions for one row.

A call of the library for each would cost more than the rest of a robot's equations.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from armtwin.maths.lanes import DOUBLE, INTEGER, LANES, LARGEST_ANGLE, Wide, sine

LIBRARY = {"sine": "llvm.sin.f64", "cosine": "llvm.cos.f64"}
QUARTERS = {"sine": 0, "cosine": 1}


def of_angles(builder: Any, name: str, angles: Sequence[Any], call: Callable[..., Any]) -> Any:
    """A vector of the sines or cosines of up to LANES angles, the library's where one is large.

    Args:
        builder: Writes the instructions.
        name: "sine" or "cosine".
        angles: Doubles.
        call: Calls a function of the library by its name.
    """
    x = Wide(builder, _vector(builder, angles))
    near = sine(x, QUARTERS[name]).value
    large = _any_large(builder, angles)
    start = builder.block
    with builder.if_then(large, likely=False):
        exact = _vector(builder, [call(LIBRARY[name], [angle]) for angle in angles])
        end = builder.block
    found = builder.phi(near.type)
    found.add_incoming(near, start)
    found.add_incoming(exact, end)
    return found


def _vector(builder: Any, values: Sequence[Any]) -> Any:
    """Values in lanes; the last one fills the rest."""
    found = ir.Constant(ir.VectorType(DOUBLE, LANES), ir.Undefined)
    for lane in range(LANES):
        value = values[min(lane, len(values) - 1)]
        found = builder.insert_element(found, value, INTEGER(lane))
    return found


def _any_large(builder: Any, angles: Sequence[Any]) -> Any:
    """Whether an angle is too large for lanes."""
    found: Any = ir.IntType(1)(0)
    for angle in angles:
        for sign, limit in ((">", LARGEST_ANGLE), ("<", -LARGEST_ANGLE)):
            large = builder.fcmp_ordered(sign, angle, DOUBLE(limit))
            found = builder.or_(found, large)
    return found

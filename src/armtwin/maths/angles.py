"""Sines and cosines of several angles at once: those of several lanes, or several of one row.

A call of the library for each would cost more than the rest of a robot's equations.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir

from armtwin.maths.lanes import INTEGER, LANES, LARGEST_ANGLE, Wide, sine, vector

LIBRARY = {"sine": "llvm.sin.f64", "cosine": "llvm.cos.f64"}
QUARTERS = {"sine": 0, "cosine": 1}


def of_angles(name: str, angles: Wide, call: Callable[..., Any]) -> Any:
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


def any_lane(builder: Any, conditions: Any) -> Any:
    """Whether a condition holds in some lane."""
    lanes = ir.IntType(LANES)
    return builder.icmp_signed("!=", builder.bitcast(conditions, lanes), lanes(0))

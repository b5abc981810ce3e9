"""Stretches of a tape as instructions inside a numba kernel, without numba's own reading of them.

A kernel of straight lines has thousands of operations; numba would infer the type of each. Here
they are handed to LLVM as they stand on the tape, which compiles ten times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from types import FunctionType
from typing import Any, TypeVar

from numba.core import types
from numba.extending import intrinsic

from armtwin.maths.compiled import compiled
from armtwin.maths.instructions import Emitter
from armtwin.maths.lanes import INTEGER, LANES
from armtwin.maths.memory import Memory
from armtwin.maths.stretches import TapeStretch

F = TypeVar("F", bound=Callable[..., Any])
Making = Callable[[], tuple[list[TapeStretch], Memory]]


def stretch_kernel(make: Making, lanes: int = 1) -> Any:
    """A function for use in kernels: do(memories) or do(memories, row) does stretches.

    The memories come in a tuple; the row is that of all memories with rows.

    Args:
        make: Gives stretches and memory; it is called only when the kernel is compiled.
        lanes: How many rows are done at once, from the given one on: 1 or LANES.
    """

    @intrinsic
    def do(typing: Any, memories: Any, row: Any = 0) -> Any:
        def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            found, memory = make()
            pointers = []
            for i, kind in enumerate(signature.args[0].types):
                struct = builder.extract_value(arguments[0], i)
                pointer = context.make_array(kind)(context, builder, struct).data
                if i in memory.tables:
                    first = builder.mul(arguments[1], INTEGER(memory.sizes[i]))
                    pointer = builder.gep(pointer, [first])
                pointers.append(pointer)
            for stretch in found:
                Emitter(builder, stretch, memory, pointers, lanes).write()
            return context.get_dummy_value()

        return types.void(memories, types.int64), code

    return do


def kernel(function: F) -> F:
    """Mark the source of a kernel: `staged` compiles it for each structure, with its stages."""
    return function


def staged(
    function: Any, stages: Mapping[str, Making], name: str, wide: Collection[str] = ()
) -> Any:
    """A kernel from a function that calls stages: `do_x` is the stage x; it is kept by its name.

    Stages that are wide do LANES rows at once. Multiply-adds are fused where the tape has it.
    """
    names = dict(function.__globals__)
    for stage, make in stages.items():
        names[f"do_{stage}"] = stretch_kernel(make, LANES if stage in wide else 1)
    made: Any = FunctionType(function.__code__, names, function.__name__)
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    narrow = any(stage not in wide for stage in stages)
    return compiled(made, f"-{name}", straight=narrow, exact=True)

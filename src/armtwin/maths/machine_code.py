"""Stretches of a tape as instructions inside a numba kernel, without numba's own reading of them.

A kernel of straight lines has thousands of operations; numba would infer the type of each. Here
they are handed to LLVM as they stand on the tape, which compiles ten times faster.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import lru_cache, partial
from types import FunctionType
from typing import Any, TypeVar

from numba.core import types
from numba.extending import intrinsic

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled, exactly, inlined
from armtwin.maths.instructions import Emitter
from armtwin.maths.lanes import INTEGER, LANES
from armtwin.maths.stretches import Memory, TapeStretch

F = TypeVar("F", bound=Callable[..., Any])
Stages = dict[str, list[TapeStretch]]
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


@inlined
def largest(memories: Any, place: int, lanes: Any) -> float:
    """The largest of a number of the first memory over all lanes."""
    found = memories[0][place * len(lanes)]
    for lane in range(1, len(lanes)):
        found = max(found, memories[0][place * len(lanes) + lane])
    return found


@inlined
def number(memories: Any, place: int, lanes: Any, lane: int) -> float:
    """A number of the first memory in a lane."""
    return memories[0][place * len(lanes) + lane]


@inlined
def put(memories: Any, place: int, lanes: Any, value: float) -> None:
    """Write a number to a place of the first memory, in all lanes."""
    for lane in range(len(lanes)):
        memories[0][place * len(lanes) + lane] = value


def staged(
    function: Any,
    stages: Mapping[str, Making],
    name: str,
    inner: Sequence[Any] = (),
    wide: Collection[str] = (),
) -> Any:
    """A kernel from a function that calls stages: `do_x` is the stage x; it is kept by its name.

    Multiply-adds are fused where the tape has it.

    Args:
        function: What is called.
        stages: Stages by name; those that are not there do nothing.
        name: Name of the structure.
        inner: Further functions with stages, which are called by the ones after them.
        wide: Stages that do LANES rows at once.
    """
    done: dict[str, Any] = {}
    for stage, make in stages.items():
        done[f"do_{stage}"] = stretch_kernel(make, LANES if stage in wide else 1)
    for part in inner:
        done[part.__name__] = exactly(_with_names(part, done))
    narrow = any(stage not in wide for stage in stages)
    return compiled(_with_names(function, done), f"-{name}", straight=narrow, exact=True)


def defer_stages(trace: Callable[[], tuple[Stages, Memory]], names: Iterable[str]) -> Any:
    """Stages by name that are traced when they are compiled; one that is not there is empty."""
    traced = lru_cache(maxsize=1)(trace)

    def build(stage: str) -> tuple[list[TapeStretch], Memory]:
        stages, memory = traced()
        return stages.get(stage, []), memory

    return {stage: partial(build, stage) for stage in names}


def _with_names(function: Any, names: Mapping[str, Any]) -> Any:
    """A function in which names of its module stand for something else."""
    made: Any = FunctionType(
        function.__code__, dict(function.__globals__) | dict(names), function.__name__
    )
    made.__qualname__ = function.__qualname__
    made.__module__ = function.__module__
    return made


def interpret(function: Any, stages: Mapping[str, Any], inner: Sequence[Any] = ()) -> Any:
    """The same for one loop in Python: stages, by name, are functions of what it is given.

    In place of places in a memory it takes arrays of one number.
    """
    done: dict[str, Any] = {f"do_{name}": stage for name, stage in stages.items()}
    done |= {"largest": _read_first, "number": _read_first, "put": _write_first}
    for part in (*inner, function):
        done[part.__name__] = _with_names(part, done)
    return done[function.__name__]


def _read_first(_: Any, array: Floats, *lanes: Any) -> float:
    return float(array[0])


def _write_first(_: Any, array: Floats, lanes: Any, value: float) -> None:
    array[0] = value

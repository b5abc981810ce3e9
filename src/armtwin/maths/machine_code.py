"""Stretches of a tape as instructions inside a numba kernel, without numba's own reading of them.

A kernel of straight lines has thousands of operations; numba would infer the type of each. Here
they are handed to LLVM as they stand on the tape, which compiles ten times faster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import FunctionType
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from armtwin.maths.compiled import compiled
from armtwin.maths.stretches import Side, Stretch, blocks

DOUBLE, INTEGER, TRUTH = ir.DoubleType(), ir.IntType(64), ir.IntType(1)
FAST = ("contract",)  # multiply-adds may fuse, nothing else changes
FUNCTIONS = {
    "root": "llvm.sqrt",
    "cosine": "llvm.cos",
    "sine": "llvm.sin",
    "floor": "llvm.floor",
    "exponential": "llvm.exp",
    "power": "llvm.pow",
}
OUTSIDE = {"arctangent": "atan", "growth": "expm1", "hyperbolic_tangent": "tanh"}
COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "==", "unequal": "!="}


class Memory:
    """Where the arrays of a stretch lie: in which of the arrays given to the kernel, from where on.

    Attributes:
        arrays: For each array by name the number of the memory, its first element there, its shape.
        sizes: Elements of each memory, or of one of its rows.
        tables: Memories with rows: the arrays lie in them once for each row, one after the other.
    """

    def __init__(self) -> None:
        self.arrays: dict[str, tuple[int, int, tuple[int, ...]]] = {}
        self.sizes: list[int] = []
        self.tables: set[int] = set()

    def add(self, name: str, shape: tuple[int, ...], memory: int = 0) -> None:
        """Give an array its place at the end of a memory."""
        while len(self.sizes) <= memory:
            self.sizes.append(0)
        size = 1
        for length in shape:
            size *= length
        self.arrays[name] = memory, self.sizes[memory], shape
        self.sizes[memory] += size


Making = Callable[[], tuple[list[Stretch], Memory]]


def stretch_kernel(make: Making) -> Any:
    """A function for use in kernels: do(memories) or do(memories, row) does stretches.

    The memories come in a tuple; the row is that of all memories with rows.

    Args:
        make: Gives stretches and memory; it is called only when the kernel is compiled.
    """

    @intrinsic
    def do(typing: Any, memories: Any, row: Any = None) -> Any:
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
                _Emitter(builder, stretch, memory, pointers).write()
            return context.get_dummy_value()

        if row is None:
            return types.void(memories), code
        return types.void(memories, types.int64), code

    return do


def staged(function: Any, stages: Mapping[str, Making], name: str) -> Any:
    """A kernel from a function that calls stages: `do_x` is the stage x; it is kept by its name."""
    names = dict(function.__globals__)
    for stage, make in stages.items():
        names[f"do_{stage}"] = stretch_kernel(make)
    kernel: Any = FunctionType(function.__code__, names, function.__name__)
    kernel.__qualname__ = function.__qualname__
    kernel.__module__ = function.__module__
    return compiled(kernel, f"-{name}")


class _Emitter:
    """Writes the instructions of a stretch."""

    def __init__(self, builder: Any, stretch: Stretch, memory: Memory, pointers: list[Any]) -> None:
        self.builder, self.stretch, self.memory, self.pointers = builder, stretch, memory, pointers
        self.tape = stretch.tape
        self.blocks = blocks(stretch)
        self.values: dict[int, Any] = {}

    def write(self) -> None:
        self._do(None)
        for (array, place), number in self.stretch.outputs:
            pointer = self._pointer(array, place)
            self.builder.store(self._double(self._value(number)), pointer)

    def _pointer(self, array: str, place: tuple[int, ...]) -> Any:
        memory, first, shape = self.memory.arrays[array]
        flat = 0
        for index, length in zip(place, shape, strict=True):
            flat = flat * length + index
        return self.builder.gep(self.pointers[memory], [INTEGER(first + flat)])

    def _do(self, side: Side | None) -> None:
        """The operations of a side of a choice, or of none."""
        for number in self.blocks.get(side, []):
            operation = self.tape.operations[number]
            if operation.name == "choose" and self._branches(number):
                self.values[number] = self._branch(number)
            elif operation.name != "constant":
                self.values[number] = self._result(number)

    def _branches(self, number: int) -> bool:
        return (number, True) in self.blocks or (number, False) in self.blocks

    def _branch(self, number: int) -> Any:
        """A choice of which only one side is computed."""
        condition, yes, no = self.tape.operations[number].of
        ends = []
        with self.builder.if_else(self._truth(self._value(condition))) as (then, otherwise):
            for block, side, value in ((then, True, yes), (otherwise, False, no)):
                with block:
                    self._do((number, side))
                    ends.append((self._double(self._value(value)), self.builder.block))
        phi = self.builder.phi(DOUBLE)
        for value, block in ends:
            phi.add_incoming(value, block)
        return phi

    def _value(self, number: int) -> Any:
        """The value of an operation, here or in a stretch before."""
        found = self.values.get(number)
        if found is not None:
            return found
        operation = self.tape.operations[number]
        if operation.name == "constant":
            return _constant(operation.detail)
        if operation.name == "input":
            found = self.builder.load(self._pointer(*operation.detail))
        else:
            found = self.builder.load(self._pointer(*self.stretch.kept[number]))
        return found

    def _result(self, number: int) -> Any:
        name, of, detail = self.tape.operations[number]
        if name == "input":
            return self.builder.load(self._pointer(*detail))
        values = [self._value(x) for x in of]
        if name == "load":
            return self._load(detail, values)
        if name == "choose":
            condition = self._truth(values[0])
            yes, no = self._alike(values[1:])
            return self.builder.select(condition, yes, no)
        if name in ("both", "either"):
            truths = [self._truth(x) for x in values]
            return getattr(self.builder, "and_" if name == "both" else "or_")(*truths)
        return self._arithmetic(name, values)

    def _load(self, table: str, place: list[Any]) -> Any:
        memory, first, shape = self.memory.arrays[table]
        flat: Any = INTEGER(0)
        for index, length in zip(place, shape, strict=True):
            flat = self.builder.mul(flat, INTEGER(length))
            flat = self.builder.add(flat, self._integer(index))
        pointer = self.builder.gep(self.pointers[memory], [self.builder.add(flat, INTEGER(first))])
        return self.builder.load(pointer)

    def _arithmetic(self, name: str, values: list[Any]) -> Any:
        b = self.builder
        if name == "whole":
            return b.fptosi(values[0], INTEGER)
        if name in FUNCTIONS:
            return self._call(FUNCTIONS[name], [self._double(x) for x in values])
        if name in OUTSIDE:
            return self._outside(OUTSIDE[name], self._double(values[0]))
        if name in COMPARISONS:
            left, right = self._alike(values)
            if left.type == INTEGER:
                return b.icmp_signed(COMPARISONS[name], left, right)
            compare = b.fcmp_unordered if name == "unequal" else b.fcmp_ordered
            return compare(COMPARISONS[name], left, right)
        if name in ("smaller", "larger"):
            return self._extreme(name, *self._alike(values))
        if all(x.type == INTEGER for x in values) and name != "divide":
            return self._of_integers(name, values)
        return self._of_doubles(name, [self._double(x) for x in values])

    def _extreme(self, name: str, left: Any, right: Any) -> Any:
        """min or max as Python has it: the first of two that compare equal or not at all."""
        sign = "<" if name == "smaller" else ">"
        if left.type == INTEGER:
            other = self.builder.icmp_signed(sign, right, left)
        else:
            other = self.builder.fcmp_ordered(sign, right, left)
        return self.builder.select(other, right, left)

    def _of_integers(self, name: str, values: list[Any]) -> Any:
        b = self.builder
        if name == "negative":
            return b.neg(values[0])
        if name == "absolute":
            return b.select(b.icmp_signed("<", values[0], INTEGER(0)), b.neg(values[0]), values[0])
        return {"add": b.add, "subtract": b.sub, "multiply": b.mul}[name](*values)

    def _of_doubles(self, name: str, values: list[Any]) -> Any:
        b = self.builder
        if name == "negative":
            return b.fneg(values[0], flags=FAST)
        if name == "absolute":
            return self._call("llvm.fabs", values)
        do = {"add": b.fadd, "subtract": b.fsub, "multiply": b.fmul, "divide": b.fdiv}[name]
        return do(*values, flags=FAST)

    def _call(self, name: str, values: list[Any]) -> Any:
        kind = ir.FunctionType(DOUBLE, [DOUBLE] * len(values))
        function = self.builder.module.declare_intrinsic(name, [DOUBLE], kind)
        return self.builder.call(function, values)

    def _outside(self, name: str, value: Any) -> Any:
        kind = ir.FunctionType(DOUBLE, [DOUBLE])
        function = cgutils.get_or_insert_function(self.builder.module, kind, name)
        return self.builder.call(function, [value])

    # kinds of values

    def _double(self, value: Any) -> Any:
        if value.type == INTEGER:
            return self.builder.sitofp(value, DOUBLE)
        if value.type == TRUTH:
            return self.builder.uitofp(value, DOUBLE)
        return value

    def _integer(self, value: Any) -> Any:
        return self.builder.fptosi(value, INTEGER) if value.type == DOUBLE else value

    def _truth(self, value: Any) -> Any:
        if value.type == TRUTH:
            return value
        return self.builder.fcmp_unordered("!=", self._double(value), DOUBLE(0.0))

    def _alike(self, values: list[Any]) -> list[Any]:
        """Values of one kind: integers if all are, else doubles."""
        if all(x.type == INTEGER for x in values) or all(x.type == TRUTH for x in values):
            return values
        return [self._double(x) for x in values]


def _constant(value: Any) -> Any:
    if isinstance(value, bool):
        return TRUTH(int(value))
    return INTEGER(value) if isinstance(value, int) else DOUBLE(value)

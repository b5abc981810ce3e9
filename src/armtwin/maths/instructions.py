"""The instructions of a stretch, for one row or for several rows in lanes."""

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

from llvmlite import ir
from llvmlite.ir import IRBuilder, Value

from armtwin.maths import stretches
from armtwin.maths.batch import Indices
from armtwin.maths.bits import DROPPED, MASK
from armtwin.maths.lanes import (
    DOUBLE,
    INTEGER,
    LANES,
    Wide,
    any_lane,
    exponential,
    multiply_add,
    of_angles,
    power,
    spread,
    transpose,
    vector,
)
from armtwin.maths.stretches import Memory, flat_index

TRUTH = ir.IntType(1)
FUNCTIONS = {"root": "llvm.sqrt", "floor": "llvm.floor"}
OUTSIDE = {"arctangent": "atan", "growth": "expm1", "hyperbolic_tangent": "tanh"}
IN_LANES = ("sine", "cosine", "exponential", "power")
COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "==", "unequal": "!="}


class Emitter:
    """Writes the instructions of a stretch, for one row or for several in lanes.

    In lanes both sides of a choice are computed, and only woven tables are read at computed places.
    The compiler may change no instruction and join none: a row gives the same digits alone and in
    a lane.
    """

    def __init__(
        self,
        builder: IRBuilder,
        stretch: stretches.TapeStretch,
        memory: Memory,
        pointers: list[Any],
        lanes: int,
    ) -> None:
        self.builder, self.stretch, self.memory, self.pointers = builder, stretch, memory, pointers
        self.tape, self.lanes = stretch.tape, lanes
        self.double, self.integer, self.truth = DOUBLE, INTEGER, TRUTH
        if lanes > 1:
            self.stretch = stretch = replace(stretch, sides={})
            self.double, self.integer, self.truth = (
                ir.VectorType(kind, lanes) for kind in (DOUBLE, INTEGER, TRUTH)
            )
        self.blocks = stretches.blocks(stretch)
        self.fused = stretches.find_fused_products(stretch)
        self.taken_in = set(self.fused.values())
        self.values: dict[int, Any] = {}

    def write(self) -> None:
        """Write all operations, then the outputs."""
        if self.lanes == 1:
            self._do_angles()
        self._do(None)
        if self.lanes > 1:
            self._write_lanes()
            return
        stores = []
        for (array, place), number in self.stretch.outputs:
            stores.append((array, self._indices(place), self._double(self._value(number))))
        for array, indices, value in stores:
            self.builder.store(value, self._computed(array, indices))

    def _write_lanes(self) -> None:
        """Store the outputs of several rows."""
        values: dict[tuple[int, int], Any] = {}
        scattered = []
        for (array, place), number in self.stretch.outputs:
            value = self._double(self._value(number))
            if stretches.is_computed(place):
                scattered.append((array, self._indices(place), value))
            else:
                values[self._element(array, place)] = value
        if not self.memory.woven:
            self._write_rows(values)
            return
        for (memory, element), value in values.items():
            self.builder.store(value, self._side_by_side(memory, element), align=8)
        for array, indices, value in scattered:
            for lane in range(self.lanes):
                one = self.builder.extract_element(value, INTEGER(lane))
                pointer = self._computed(array, self._in_lane(indices, lane), lane)
                self.builder.store(one, pointer)

    def _write_rows(self, values: dict[tuple[int, int], Any]) -> None:
        """Store rows that lie one after the other, neighbours in a row together."""
        waiting = sorted(values)
        while waiting:
            memory, first = waiting[0]
            neighbours = [(memory, first + k) for k in range(self.lanes)]
            if waiting[: self.lanes] == neighbours:
                self._store_block(memory, first, [values[x] for x in neighbours])
                del waiting[: self.lanes]
            else:
                self._store_column(memory, first, values[memory, first])
                del waiting[0]

    def _store_block(self, memory: int, first: int, columns: list[Any]) -> None:
        """Store as many neighbours as there are lanes, given for all rows, row by row."""
        for lane, row in enumerate(transpose(self.builder, columns)):
            pointer = self._at(memory, first, lane)
            pointer = self.builder.bitcast(pointer, self.double.as_pointer())
            self.builder.store(row, pointer, align=8)

    def _store_column(self, memory: int, element: int, column: Value) -> None:
        """Store one element of all rows."""
        for lane in range(self.lanes):
            value = self.builder.extract_element(column, INTEGER(lane))
            self.builder.store(value, self._at(memory, element, lane))

    def _element(self, array: str, place: tuple[int | stretches.Computed, ...]) -> tuple[int, int]:
        """Memory of an element and its place there."""
        memory, first, shape = self.memory.arrays[array]
        return memory, first + flat_index(stretches.known_place(place), shape)

    def _at(self, memory: int, element: int, lane: int = 0) -> Any:
        """Pointer to an element of a memory, in the row of a lane."""
        row = lane * self.memory.sizes[memory]
        return self.builder.gep(self.pointers[memory], [INTEGER(row + element)])

    def _side_by_side(self, memory: int, element: int) -> Any:
        """Pointer to an element of all lanes in a woven memory."""
        pointer = self.builder.gep(self.pointers[memory], [INTEGER(self.lanes * element)])
        return self.builder.bitcast(pointer, self.double.as_pointer())

    def _indices(self, place: tuple[int | stretches.Computed, ...]) -> list[Any]:
        """The indices of a place as values, computed or known."""
        found = []
        for index in place:
            if isinstance(index, stretches.Computed):
                found.append(self._integer(self._value(index.number)))
            else:
                found.append(self._constant(index))
        return found

    def _in_lane(self, indices: list[Any], lane: int) -> list[Any]:
        return [self.builder.extract_element(x, INTEGER(lane)) for x in indices]

    def _read(self, array: str, place: tuple[int | stretches.Computed, ...]) -> Any:
        """An element of an array: the same in all lanes, or one of each row."""
        if self.lanes == 1:
            return self.builder.load(self._at(*self._element(array, place)))
        memory, element = self._element(array, place)
        if self.memory.woven:
            return self.builder.load(self._side_by_side(memory, element), align=8)
        if memory not in self.memory.tables:
            return spread(self.builder, self.builder.load(self._at(memory, element)))
        found = ir.Constant(self.double, ir.Undefined)
        for lane in range(self.lanes):
            value = self.builder.load(self._at(memory, element, lane))
            found = self.builder.insert_element(found, value, INTEGER(lane))
        return found

    def _do(self, side: stretches.Side | None) -> None:
        """The operations of a side of a choice, or of none."""
        for number in self.blocks.get(side, []):
            if number in self.values or number in self.taken_in:
                continue
            operation = self.tape.operations[number]
            if operation.name == "choose" and stretches.is_branch(number, self.blocks):
                self.values[number] = self._branch(number)
            elif operation.name != "constant":
                self.values[number] = self._result(number)

    def _do_angles(self) -> None:
        """Sines and cosines of angles that come from no others, LANES of them at once."""
        functions = stretches.functions_of_angles(self.stretch)
        angles = sorted(functions)
        here = set(self.blocks.get(None, []))
        for number in self.tape.needed(angles):
            if number in self.taken_in:
                continue
            if number in here and self.tape.constant(number) is None:
                self.values[number] = self._result(number)
        for first in range(0, len(angles), LANES):
            self._do_together(angles[first : first + LANES], functions)

    def _do_together(self, angles: list[int], functions: dict[int, list[int]]) -> None:
        """The sines and cosines of a few angles."""
        values = [self._double(self._value(angle)) for angle in angles]
        together = Wide(self.builder, vector(self.builder, values))
        for name in ("sine", "cosine"):
            found = of_angles(name, together, self._call_function)
            for lane, angle in enumerate(angles):
                for number in functions[angle]:
                    if self.tape.operations[number].name == name:
                        value = self.builder.extract_element(found, INTEGER(lane))
                        self.values[number] = value

    def _call_function(self, name: str, values: list[Any]) -> Any:
        return self.builder.call(self._declare(name, values), values)

    def _branch(self, number: int) -> Any:
        """A choice of which only one side is computed."""
        condition, yes, no = self.tape.operations[number].of
        truth = self._truth(self._value(condition))
        taken = partial(self._side, (number, True), yes)
        left = partial(self._side, (number, False), no)
        return self._write_branches(truth, taken, left)

    def _side(self, side: stretches.Side, number: int) -> Any:
        """The value of a side of a choice, with the operations that only it needs."""
        self._do(side)
        return self._double(self._value(number))

    def _write_branches(
        self, condition: Value, yes: Callable[[], Any], no: Callable[[], Any]
    ) -> Any:
        """The value that one of two branches writes."""
        ends = []
        with self.builder.if_else(condition) as branches:
            for branch, write in zip(branches, (yes, no), strict=True):
                with branch:
                    ends.append((write(), self.builder.block))
        phi = self.builder.phi(self.double)
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
            return self._constant(operation.detail)
        if operation.name == "input":
            return self._read(*operation.detail)
        return self._read(*self.stretch.kept[number])

    def _result(self, number: int) -> Any:
        name, of, detail = self.tape.operations[number]
        if name == "input":
            return self._read(*detail)
        if number in self.fused:
            return self._sum_with_product(name, of, self.fused[number])
        if name == "load":
            return self._load(number)
        values = [self._value(x) for x in of]
        if name == "choose":
            condition = self._truth(values[0])
            yes, no = self._alike(values[1:])
            return self.builder.select(condition, yes, no)
        if name in ("both", "either"):
            truths = [self._truth(x) for x in values]
            return getattr(self.builder, "and_" if name == "both" else "or_")(*truths)
        return self._arithmetic(name, values)

    def _sum_with_product(self, name: str, of: Indices, product: int) -> Any:
        """A sum or difference of which one term is a product: a b + c, c - a b, a b - c."""
        factors = [self._value(x) for x in self.tape.operations[product].of]
        if all(x.type == self.integer for x in factors):
            self.values[product] = self._of_integers("multiply", factors)
            return self._arithmetic(name, [self._value(x) for x in of])
        a, b = (self._double(x) for x in factors)
        first, second = of
        term = self._double(self._value(second if first == product else first))
        if name == "subtract" and first == product:
            term = self.builder.fneg(term)
        elif name == "subtract":
            a = self.builder.fneg(a)
        return multiply_add(self.builder, a, b, term)

    def _load(self, number: int) -> Any:
        """An element of a table at a computed place, in each lane at its own."""
        _, place, table = self.tape.operations[number]
        indices = [self._integer(self._value(index)) for index in place]
        if self.lanes == 1:
            return self.builder.load(self._computed(table, indices))
        assert self.memory.woven
        self._load_blocks(table, place)
        if number in self.values:
            return self.values[number]
        found = ir.Constant(self.double, ir.Undefined)
        for lane in range(self.lanes):
            pointer = self._computed(table, self._in_lane(indices, lane), lane)
            found = self.builder.insert_element(found, self.builder.load(pointer), INTEGER(lane))
        return found

    def _load_blocks(self, table: str, place: Indices) -> None:
        """Elements that are needed of the rows that hold a place: as many as lanes at once."""
        axes, width = self.memory.rows.get(table, 0), self.memory.width(table)
        if width < self.lanes:
            return
        shape = self.memory.arrays[table][2][-axes:]
        row = place[:-axes]
        wanted: dict[int, int] = {}
        for number in self.stretch.numbers:
            name, of, array = self.tape.operations[number]
            if (name, array, of[:-axes]) == ("load", table, row):
                known = [self.tape.constant(x) for x in of[-axes:]]
                if None not in known:
                    wanted[flat_index(known, shape)] = number
        for first in range(0, width, self.lanes):
            first = min(first, width - self.lanes)
            columns = [wanted.pop(first + k, None) for k in range(self.lanes)]
            if sum(column is not None for column in columns) > 1:
                self._load_block(table, row, first, columns)

    def _load_block(
        self, table: str, row: Indices, first: int, columns: Sequence[int | None]
    ) -> None:
        """Neighbours in a row, in each lane those of its own row."""
        before = [self._integer(self._value(index)) for index in row]
        start = [INTEGER(0)] * self.memory.rows[table]
        blocks = []
        for lane in range(self.lanes):
            pointer = self._computed(table, [*self._in_lane(before, lane), *start], lane)
            pointer = self.builder.gep(pointer, [INTEGER(first)])
            pointer = self.builder.bitcast(pointer, self.double.as_pointer())
            blocks.append(self.builder.load(pointer, align=8))
        for column, value in zip(columns, transpose(self.builder, blocks), strict=True):
            if column is not None:
                self.values[column] = value

    def _computed(self, table: str, indices: list[Any], lane: int = 0) -> Any:
        """Pointer to an element of an array at computed indices."""
        memory, first, shape = self.memory.arrays[table]
        axes, width = self.memory.rows.get(table, 0), self.memory.width(table)
        known, stride = first * self.lanes, math.prod(shape)
        flat: Any = INTEGER(0)
        for axis, (index, length) in enumerate(zip(indices, shape, strict=True)):
            stride //= length
            is_within = axis >= len(shape) - axes  # rows of all lanes lie between its rows
            apart = stride if is_within else stride * self.lanes
            if isinstance(index, ir.Constant):
                known += apart * index.constant
            else:
                flat = self.builder.add(flat, self.builder.mul(index, INTEGER(apart)))
        pointer = self.builder.gep(self.pointers[memory], [flat])
        return self.builder.gep(pointer, [INTEGER(known + lane * width)])

    def _arithmetic(self, name: str, values: list[Any]) -> Any:
        b = self.builder
        if name == "whole":
            return b.fptosi(values[0], self.integer)
        if name in ("coarse", "rank"):
            return self._of_bits(name, b.bitcast(self._double(values[0]), self.integer))
        if name in FUNCTIONS or name in OUTSIDE or name in IN_LANES:
            return self._function(name, [self._double(x) for x in values])
        if name in COMPARISONS:
            left, right = self._alike(values)
            if left.type == self.integer:
                return b.icmp_signed(COMPARISONS[name], left, right)
            compare = b.fcmp_unordered if name == "unequal" else b.fcmp_ordered
            return compare(COMPARISONS[name], left, right)
        if name in ("smaller", "larger"):
            return self._extreme(name, *self._alike(values))
        if all(x.type == self.integer for x in values) and name != "divide":
            return self._of_integers(name, values)
        return self._of_doubles(name, [self._double(x) for x in values])

    def _of_bits(self, name: str, bits: Value) -> Any:
        """A number without its last bits, or its place among such numbers."""
        if name == "rank":
            return self.builder.lshr(bits, self._constant(DROPPED))
        return self.builder.bitcast(self.builder.and_(bits, self._constant(MASK)), self.double)

    def _extreme(self, name: str, left: Value, right: Value) -> Any:
        """min or max as Python has it: the first of two that compare equal or not at all."""
        sign = "<" if name == "smaller" else ">"
        if left.type == self.integer:
            other = self.builder.icmp_signed(sign, right, left)
        else:
            other = self.builder.fcmp_ordered(sign, right, left)
        return self.builder.select(other, right, left)

    def _of_integers(self, name: str, values: list[Any]) -> Any:
        b = self.builder
        if name == "negative":
            return b.neg(values[0])
        if name == "absolute":
            return b.select(
                b.icmp_signed("<", values[0], self._constant(0)), b.neg(values[0]), values[0]
            )
        return {"add": b.add, "subtract": b.sub, "multiply": b.mul}[name](*values)

    def _of_doubles(self, name: str, values: list[Any]) -> Any:
        b = self.builder
        if name == "negative":
            return b.fneg(values[0])
        if name == "absolute":
            return self._call("llvm.fabs", values)
        do = {"add": b.fadd, "subtract": b.fsub, "multiply": b.fmul, "divide": b.fdiv}[name]
        return do(*values)

    def _function(self, name: str, values: list[Any]) -> Any:
        """An elementary function."""
        if name in FUNCTIONS:
            return self._call(FUNCTIONS[name], values)
        if name in OUTSIDE:
            return self._one_by_one(OUTSIDE[name], values)
        if self.lanes > 1:
            return self._of_lanes(name, [Wide(self.builder, x) for x in values])
        # by the same instructions as in lanes, for the same digits
        alone = [Wide(self.builder, vector(self.builder, [x])) for x in values]
        return self.builder.extract_element(self._of_lanes(name, alone), INTEGER(0))

    def _of_lanes(self, name: str, values: list[Wide]) -> Any:
        """An elementary function that is computed in lanes."""
        if name == "exponential":
            return exponential(values[0]).value
        if name == "power":
            return self._power(*values)
        return of_angles(name, values[0], self._call_function)

    def _one_by_one(self, name: str, values: list[Any]) -> Any:
        """A function of the library, lane by lane."""
        if not isinstance(values[0].type, ir.VectorType):
            return self._call_function(name, values)
        found = ir.Constant(values[0].type, ir.Undefined)
        for lane in range(LANES):
            of = [self.builder.extract_element(x, INTEGER(lane)) for x in values]
            value = self._call_function(name, of)
            found = self.builder.insert_element(found, value, INTEGER(lane))
        return found

    def _power(self, x: Wide, y: Wide) -> Any:
        """A power in lanes; the library's of numbers that are negative."""
        near = power(x, y)
        negative = x.compare("<", 0.0)
        start = self.builder.block
        with self.builder.if_then(any_lane(self.builder, negative), likely=False):
            library = Wide(self.builder, self._one_by_one("llvm.pow.f64", [x.value, y.value]))
            apart = near.replaced(negative, library)
            end = self.builder.block
        found = self.builder.phi(near.value.type)
        found.add_incoming(near.value, start)
        found.add_incoming(apart.value, end)
        return found

    def _call(self, name: str, values: list[Any]) -> Any:
        """An instruction of LLVM, on a double or on lanes."""
        wide = isinstance(values[0].type, ir.VectorType)
        suffix = f"v{self.lanes}f64" if wide else "f64"
        return self._call_function(f"{name}.{suffix}", values)

    def _declare(self, name: str, values: list[Any]) -> Any:
        module = self.builder.module
        if name not in module.globals:
            kind = ir.FunctionType(values[0].type, [x.type for x in values])
            return ir.Function(module, kind, name)
        return module.globals[name]

    # kinds of values

    def _constant(self, value: float) -> Any:
        kind = DOUBLE
        if isinstance(value, bool):
            kind = TRUTH
            value = int(value)
        elif isinstance(value, int):
            kind = INTEGER
        if self.lanes == 1:
            return kind(value)
        return ir.Constant(ir.VectorType(kind, self.lanes), [value] * self.lanes)

    def _double(self, value: Value) -> Any:
        if value.type == self.integer:
            return self.builder.sitofp(value, self.double)
        if value.type == self.truth:
            return self.builder.uitofp(value, self.double)
        return value

    def _integer(self, value: Value) -> Any:
        return self.builder.fptosi(value, self.integer) if value.type == self.double else value

    def _truth(self, value: Value) -> Any:
        if value.type == self.truth:
            return value
        return self.builder.fcmp_unordered("!=", self._double(value), self._constant(0.0))

    def _alike(self, values: list[Any]) -> list[Any]:
        """Values of one kind: integers if all are, else doubles."""
        kinds = {str(x.type) for x in values}
        if kinds == {str(self.integer)} or kinds == {str(self.truth)}:
            return values
        return [self._double(x) for x in values]

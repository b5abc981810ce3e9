"""Stretches of a tape as plain C99: the same operations in the same order, for exchange.

Nothing but the language and its mathematical library is needed. Values have the kinds that the
writer of instructions gives them: doubles, integers and truths. Sines and cosines are those of the
lanes. Sums that take in a product are rounded once where the processor can, else twice: GCC and
Clang compile every stage for x86-64 with and without, and the processor that runs it decides.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from importlib import resources
from string import Template
from typing import Any

from llvmlite import ir

from armtwin.maths import lanes, stretches as of_tape
from armtwin.maths.batch import Floats, Indices, Sentences
from armtwin.maths.bits import DROPPED
from armtwin.maths.lanes import LANES, Wide
from armtwin.maths.stretches import Memory, flat_index

DOUBLE, INTEGER, TRUTH = "double", "int64_t", "int"
FUNCTIONS = {
    "root": "sqrt",
    "floor": "floor",
    "arctangent": "atan",
    "exponential": "exp",
    "growth": "expm1",
    "hyperbolic_tangent": "tanh",
    "power": "pow",
    "coarse": "coarse",
}
INFIX = {"add": "+", "subtract": "-", "multiply": "*", "divide": "/"}
COMPARISONS = {"less": "<", "less_equal": "<=", "equal": "==", "unequal": "!="}
EXTREMES = {"smaller": "<", "larger": ">"}
JOINED = {"both": "&&", "either": "||"}
KIND_OF = {bool: TRUTH, int: INTEGER}  # of a constant
NUMBERS_IN_A_LINE = 6  # of a table in C


def c_number(value: Any) -> str:
    """A constant of C with the same value."""
    if isinstance(value, bool):
        return "1" if value else "0"
    if isinstance(value, int):
        return f"INT64_C({value})" if abs(value) >= 2**31 else f"{value}"
    if math.isnan(value):
        return "NAN"
    if math.isinf(value):
        return "INFINITY" if value > 0 else "(-INFINITY)"
    text = repr(float(value))
    return f"({text})" if text.startswith("-") else text


# what an instruction of a formula in lanes is in C, for one lane
INSTRUCTIONS = {
    "fadd": "{} + {}",
    "fsub": "{} - {}",
    "fmul": "{} * {}",
    f"llvm.fmuladd.v{LANES}f64": "FUSED({}, {}, {})",
    "add": "{} + {}",
    "and": "{} & {}",
    "xor": "{} ^ {}",
    "shl": "{} << {}",
    "icmp ne": "{} != {}",
    "select": "{} ? {} : {}",
    "bitcast to double": "double_of({})",
    "bitcast to i64": "bits_of({})",
}
KINDS = {"double": DOUBLE, "i64": "uint64_t", "i1": TRUTH}


def _formula(name: str, formula: Callable[[Wide], Wide]) -> str:
    """A function of C that does to one number what a formula does to each lane."""
    kind = ir.VectorType(lanes.DOUBLE, LANES)
    function = ir.Function(ir.Module(), ir.FunctionType(kind, [kind]), name)
    builder = ir.IRBuilder(function.append_basic_block())
    found = formula(Wide(builder, function.args[0])).value
    words = {function.args[0]: "x"}
    lines = [f"INLINED double {name}(const double x, const int fused)", "{"]
    for k, step in enumerate(builder.block.instructions):
        operands = []
        for operand in step.operands:
            if operand in words:
                operands.append(words[operand])
            elif isinstance(operand, ir.Constant):  # the same in all lanes
                operands.append(c_number(operand.constant[0].constant))
        text = INSTRUCTIONS[_instruction(step)].format(*operands)
        lines.append(f"    const {KINDS[str(step.type.element)]} x{k} = {text};")
        words[step] = f"x{k}"
    return "\n".join([*lines, f"    return {words[found]};", "}"])


def _instruction(step: ir.Instruction) -> str:
    """The name of an instruction, with what it calls, compares by or turns into."""
    if step.opname == "call":
        return str(step.callee.name)
    if step.opname == "bitcast":
        return f"bitcast to {step.type.element}"
    return f"{step.opname} {step.op}" if step.opname == "icmp" else str(step.opname)


_TEXT = (resources.files("armtwin.maths") / "prelude.c").read_text("utf-8")
PRELUDE = Template(_TEXT).substitute(
    DROPPED=DROPPED,
    LARGEST=repr(lanes.LARGEST_ANGLE),
    LARGEST_IN_WORDS=f"{lanes.LARGEST_ANGLE:g}",
    NEAR_SINE=_formula("near_sine", lanes.sine),
    NEAR_COSINE=_formula("near_cosine", lambda x: lanes.sine(x, lanes.QUARTERS["cosine"])),
)


def c_function(name: str, found: Sequence[of_tape.TapeStretch], memory: Memory) -> str:
    """A function `static void name(double *const *m)` that does stretches one after the other.

    Args:
        name: Its name.
        found: The stretches.
        memory: Where their arrays lie; m has one pointer for each of the memories.
    """
    lines = [f"INLINED void {name}_body(double *const *m, const int fused)", "{"]
    lines.append("    (void)m, (void)fused;")
    bodies = [_Writer(stretch, memory).written() for stretch in found]
    text = "\n".join(line for body in bodies for line in body)
    for k in range(len(memory.sizes)):
        if f"m{k}[" in text:
            lines.append(f"    double *const m{k} = m[{k}];")
    for body in bodies:
        lines += ["    {", *(f"        {line}" for line in body), "    }"] if body else []
    return "\n".join([*lines, "}", f"STAGE({name})", ""])


def c_table(name: str, values: Floats | Iterable[float]) -> str:
    """A constant array of doubles; one that is empty has an unused element."""
    words = [c_number(float(x)) for x in values] or ["0.0"]
    lines = []
    for first in range(0, len(words), NUMBERS_IN_A_LINE):
        lines.append("    " + ", ".join(words[first : first + NUMBERS_IN_A_LINE]) + ",")
    return "\n".join([f"static const double {name}[{len(words)}] = {{", *lines, "};", ""])


class _Writer:
    """Writes the lines of a stretch."""

    def __init__(self, stretch: of_tape.TapeStretch, memory: Memory) -> None:
        self.stretch, self.memory, self.tape = stretch, memory, stretch.tape
        self.blocks = of_tape.blocks(stretch)
        self.fused = of_tape.find_fused_products(stretch)
        self.taken_in = set(self.fused.values())
        self.kinds: dict[int, str] = {}

    def written(self) -> list[str]:
        """All lines: operations, then outputs."""
        lines = [*self._do_angles(), *self._do(None)]
        lines += self._read_first()
        for (array, place), number in self.stretch.outputs:
            word, _ = self._value(number)
            lines.append(f"{self._element(array, place)} = {word};")
        return lines

    def _read_first(self) -> Sentences:
        """Inputs that are written elsewhere as they are: read before their place is written."""
        for number in sorted(set(of_tape.operands(self.stretch.outputs))):
            if number not in self.kinds and self.tape.operations[number].name != "constant":
                word, kind = self._value(number)
                self.kinds[number] = kind
                yield f"const {kind} x{number} = {word};"

    def _do_angles(self) -> Sentences:
        """Sines and cosines of angles that come from no others, in whole lanes."""
        functions = of_tape.functions_of_angles(self.stretch)
        if not functions:
            return
        angles = sorted(functions)
        here = set(self.blocks.get(None, []))
        yield from self._do_each(x for x in self.tape.needed(angles) if x in here)
        words = [self._value(angle)[0] for angle in angles]
        words += words[-1:] * (-len(words) % LANES)
        count = len(words)
        yield f"const double angles[{count}] = {{{', '.join(words)}}};"
        yield f"double sines[{count}], cosines[{count}];"
        yield f"turn({count}, angles, sines, cosines, fused);"
        for k, angle in enumerate(angles):
            for number in functions[angle]:
                self.kinds[number] = DOUBLE
                yield f"const double x{number} = {self.tape.operations[number].name}s[{k}];"

    def _do(self, side: of_tape.Side | None) -> Sentences:
        """The operations of a side of a choice, or of none."""
        return self._do_each(self.blocks.get(side, []))

    def _do_each(self, numbers: Iterable[int]) -> Sentences:
        for number in numbers:
            name = self.tape.operations[number].name
            if number in self.taken_in or number in self.kinds or name in ("constant", "input"):
                continue
            if name == "choose" and of_tape.is_branch(number, self.blocks):
                yield from self._branch(number)
                continue
            word, kind = self._result(number)
            self.kinds[number] = kind
            yield f"const {kind} x{number} = {word};"

    def _branch(self, number: int) -> Sentences:
        """A choice of which only one side is computed."""
        condition, yes, no = self.tape.operations[number].of
        truth, _ = self._value(condition)
        yield f"double x{number};"
        yield f"if ({truth}) {{"
        yield from self._side(number, yes, holds=True)
        yield "} else {"
        yield from self._side(number, no, holds=False)
        yield "}"
        self.kinds[number] = DOUBLE

    def _side(self, number: int, value: int, *, holds: bool) -> Sentences:
        for line in self._do((number, holds)):
            yield f"    {line}"
        word, _ = self._value(value)
        yield f"    x{number} = {word};"

    def _element(self, array: str, place: tuple[int | of_tape.Computed, ...]) -> str:
        """An element of an array, at a place that is known or computed."""
        if of_tape.is_computed(place):
            indices = []
            for x in place:
                word = (
                    self._value(x.number) if isinstance(x, of_tape.Computed) else (str(x), INTEGER)
                )
                indices.append(word)
            return self._load(array, indices)
        memory, first, shape = self.memory.arrays[array]
        return f"m{memory}[{first + flat_index(of_tape.known_place(place), shape)}]"

    def _value(self, number: int) -> tuple[str, str]:
        """The word and the kind of a value, of this stretch or of one before."""
        if number in self.kinds:
            return f"x{number}", self.kinds[number]
        name, _, detail = self.tape.operations[number]
        if name == "constant":
            return c_number(detail), KIND_OF.get(type(detail), DOUBLE)
        if name == "input":
            return self._element(*detail), DOUBLE
        return self._element(*self.stretch.kept[number]), DOUBLE

    def _result(self, number: int) -> tuple[str, str]:
        name, of, detail = self.tape.operations[number]
        if number in self.fused:
            return self._sum_with_product(name, of, self.fused[number])
        values = [self._value(x) for x in of]
        words = [word for word, _ in values]
        kinds = {kind for _, kind in values}
        if name == "load":
            return self._load(detail, values), DOUBLE
        if name == "choose":
            _, yes, no = words
            return f"{words[0]} ? {yes} : {no}", _alike({kind for _, kind in values[1:]})
        if name == "whole":
            return f"(int64_t){words[0]}", INTEGER
        if name == "rank":
            return f"rank_of({words[0]})", INTEGER
        if name in lanes.QUARTERS:
            return f"{name}_of({words[0]}, fused)", DOUBLE
        if name in FUNCTIONS:
            return f"{FUNCTIONS[name]}({', '.join(words)})", DOUBLE
        if name in JOINED:
            return f"{words[0]} {JOINED[name]} {words[1]}", TRUTH
        if name in COMPARISONS:
            return f"{words[0]} {COMPARISONS[name]} {words[1]}", TRUTH
        if name in EXTREMES:  # the first of two that are equal, as Python has it
            first, second = words
            return f"{second} {EXTREMES[name]} {first} ? {second} : {first}", _alike(kinds)
        return _arithmetic(name, words, kinds)

    def _sum_with_product(self, name: str, of: Indices, product: int) -> tuple[str, str]:
        """A sum or difference of which one term is a product: a b + c, c - a b, a b - c."""
        factors = [self._value(x) for x in self.tape.operations[product].of]
        (a, _), (b, _) = factors
        first, second = of
        term, kind = self._value(second if first == product else first)
        if {kind, *(kind for _, kind in factors)} == {INTEGER}:
            terms = [f"({a} * {b})" if x == product else term for x in of]
            return f"{terms[0]} {INFIX[name]} {terms[1]}", INTEGER
        if name == "subtract" and first == product:
            term = f"-{term}"
        elif name == "subtract":
            a = f"-{a}"
        return f"FUSED({a}, {b}, {term})", DOUBLE

    def _load(self, table: str, place: list[tuple[str, str]]) -> str:
        """An element of a table at a computed place."""
        memory, first, shape = self.memory.arrays[table]
        flat = ""
        for (word, kind), length in zip(place, shape, strict=True):
            index = word if kind == INTEGER else f"(int64_t){word}"
            flat = f"({flat}) * {length} + {index}" if flat else index
        return f"m{memory}[{first} + {flat}]"


def _arithmetic(name: str, words: list[str], kinds: set[str]) -> tuple[str, str]:
    """Arithmetic of integers where all are integers, else of doubles."""
    kind = INTEGER if kinds == {INTEGER} and name != "divide" else DOUBLE
    if name == "negative":
        return f"-{words[0]}", kind
    if name == "absolute":
        word = words[0]
        return (f"{word} < 0 ? -{word} : {word}" if kind == INTEGER else f"fabs({word})"), kind
    left, right = words
    if name == "divide" and kinds <= {INTEGER, TRUTH}:
        left = f"(double){left}"
    return f"{left} {INFIX[name]} {right}", kind


def _alike(kinds: set[str]) -> str:
    """The kind of values of several: that of all, or double."""
    return next(iter(kinds)) if len(kinds) == 1 else DOUBLE

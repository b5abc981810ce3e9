"""A tape of scalar operations, left by kernels that are run with symbols in place of numbers.

The readable kernels stay the only source of a formula: their Python functions, given arrays of
symbols, write down what they compute. What is known beforehand is folded (zeros, ones, constants),
what is computed twice is kept once, what nobody asks for is dropped. A tape knows no robot; writers
turn it into a kernel.

A value that a kernel chooses by comparing is written with `maths.choice`; the tape keeps both sides
and the comparison. Tables are read at computed places.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Iterable
from itertools import product
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from armtwin.maths import bits
from armtwin.maths.batch import Floats, Indices
from armtwin.maths.compiled import Function

Scalar: TypeAlias = "Symbol | float"  # a number, known or not

ROUNDING = 1e-15  # by which a zero or one of a rotation matrix may be off


def _python(kernel: Function) -> Function:
    return getattr(kernel, "py_func", kernel)


COMPUTED: dict[str, Function] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "divide": operator.truediv,
    "negative": operator.neg,
    "absolute": abs,
    "less": operator.lt,
    "less_equal": operator.le,
    "equal": operator.eq,
    "unequal": operator.ne,
    "smaller": min,
    "larger": max,
    "whole": int,
    "floor": math.floor,
    "coarse": _python(bits.coarse),
    "rank": _python(bits.rank),
    "root": math.sqrt,
    "cosine": math.cos,
    "sine": math.sin,
    "arctangent": math.atan,
    "exponential": math.exp,
    "growth": math.expm1,
    "hyperbolic_tangent": math.tanh,
    "power": math.pow,
    "both": lambda a, b: a and b,
    "either": lambda a, b: a or b,
}
COMMUTES = {"add", "multiply", "equal", "unequal", "both", "either"}


class Operation(NamedTuple):
    """One operation of a tape.

    Attributes:
        name: What is done: a name of COMPUTED, "choose", or "constant", "input", "load".
        of: Numbers of the operations it is done to.
        detail: Value of a constant; array and place of an input; array of a load.
    """

    name: str
    of: Indices = ()
    detail: Any = None


def _combine(name: str, reverse: bool = False) -> Callable[[Symbol, Scalar], Any]:
    """A method of symbols that writes down an operation of them and another number."""

    def combine(self: Symbol, other: Scalar) -> Any:
        if not isinstance(other, NUMBERS):
            return NotImplemented
        of = (other, self) if reverse else (self, other)
        return self.tape.do(name, *of)

    return combine


def _apply(name: str) -> Callable[[Symbol], Any]:
    """A method of symbols that writes down a function of them."""

    def apply(self: Symbol) -> Any:
        return self.tape.do(name, self)

    return apply


class Symbol:
    """A number that is not known yet: an operation of a tape.

    Arithmetic with an array or a number with a derivative is left to these.
    """

    __slots__ = ("number", "tape")
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, tape: Tape, number: int) -> None:
        self.tape = tape
        self.number = number

    def __bool__(self) -> bool:
        raise TypeError("a kernel branches on a number that is not known: use maths.choice")

    __add__, __radd__ = _combine("add"), _combine("add", reverse=True)
    __sub__, __rsub__ = _combine("subtract"), _combine("subtract", reverse=True)
    __mul__, __rmul__ = _combine("multiply"), _combine("multiply", reverse=True)
    __truediv__, __rtruediv__ = _combine("divide"), _combine("divide", reverse=True)
    __lt__, __gt__ = _combine("less"), _combine("less", reverse=True)
    __le__, __ge__ = _combine("less_equal"), _combine("less_equal", reverse=True)

    def __pow__(self, exponent: Scalar) -> Any:
        if not isinstance(exponent, Symbol) and exponent == 2:
            return self.tape.do("multiply", self, self)
        return self.tape.do("power", self, exponent)

    def __eq__(self, other: object) -> Any:
        return self.tape.do("equal", self, other)

    def __ne__(self, other: object) -> Any:
        return self.tape.do("unequal", self, other)

    __neg__, __abs__, __floor__ = _apply("negative"), _apply("absolute"), _apply("floor")
    # numpy's functions of an object call its methods of the same names
    sqrt, exp, expm1 = _apply("root"), _apply("exponential"), _apply("growth")
    cos, sin, arctan = _apply("cosine"), _apply("sine"), _apply("arctangent")
    tanh = _apply("hyperbolic_tangent")

    def sign(self) -> Any:
        """1, -1, or 0 for 0."""
        below = self.tape.choose(self < 0.0, -1.0, 0.0)
        return self.tape.choose(self > 0.0, 1.0, below)


NUMBERS = (Symbol, int, float, np.generic)


class Symbols(np.ndarray):
    """An array of symbols and numbers of which numpy's functions are traced.

    numpy asks objects for most functions by name; signs and comparisons it would decide itself.
    """

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        plain = [x.view(np.ndarray) if isinstance(x, Symbols) else x for x in inputs]
        if ufunc is np.sign:
            ufunc = np.frompyfunc(sign_of, 1, 1)
        elif ufunc is np.minimum:
            ufunc = np.frompyfunc(_smaller, 2, 1)
        elif ufunc in (np.less, np.less_equal, np.greater, np.greater_equal):
            options["dtype"] = object
        return as_symbols(getattr(ufunc, method)(*plain, **options))


def as_symbols(values: object) -> Symbols:
    """Symbols and numbers as an array that numpy's functions understand."""
    return np.asarray(values, dtype=object).view(Symbols)


def sign_of(x: Scalar) -> Any:
    """1, -1, or 0 for 0."""
    return x.sign() if isinstance(x, Symbol) else float(np.sign(x))


def _smaller(a: Scalar, b: Scalar) -> Any:
    for x in (a, b):
        if isinstance(x, Symbol):
            return x.tape.do("smaller", a, b)
    return min(a, b)


class TapeTable:
    """A table that is read at places which may be symbols; it is never written."""

    def __init__(self, tape: Tape, name: str, shape: Indices) -> None:
        self.tape, self.name, self.shape = tape, name, shape

    def __getitem__(self, place: tuple[Any, ...]) -> Any:
        return self.tape.load(self.name, place)


class Tape:
    """Operations in the order in which they can be done, each once."""

    def __init__(self) -> None:
        self.operations: list[Operation] = []
        self._known: dict[Any, int] = {}

    def __len__(self) -> int:
        return len(self.operations)

    # what goes in

    def input(self, array: str, place: Indices) -> Symbol:
        """An element of an array that the kernel is given."""
        return Symbol(self, self._keep(Operation("input", (), (array, place))))

    def inputs(self, array: str, shape: Indices) -> Any:
        """An array of inputs."""
        found = np.empty(shape, dtype=object)
        for place in product(*(range(size) for size in shape)):
            found[place] = self.input(array, place)
        return found

    def pattern(self, array: str, values: Floats) -> Any:
        """An array of inputs in which zeros and plus or minus ones are constants."""
        found = np.empty(values.shape, dtype=object)
        for place, value in np.ndenumerate(values):
            nearest = round(float(value))
            if abs(nearest) <= 1 and abs(value - nearest) < ROUNDING:
                found[place] = float(nearest)
            else:
                found[place] = self.input(array, place)
        return found

    def load(self, array: str, place: tuple[Any, ...]) -> Symbol:
        """An element of a table at a place that may be computed."""
        of = tuple(self.number_of(index) for index in place)
        return Symbol(self, self._keep(Operation("load", of, array)))

    # what is done

    def do(self, name: str, *of: Any) -> Any:
        """Write down an operation, or give its result where that is known."""
        return self.value(self._simplest(name, [self.number_of(x) for x in of]))

    def choose(self, condition: Scalar, yes: Scalar, no: Scalar) -> Any:
        """One of two values."""
        decided = self.constant(self.number_of(condition))
        if decided is not None:
            return yes if decided else no
        of = (self.number_of(condition), self.number_of(yes), self.number_of(no))
        if of[1] == of[2]:
            return yes
        return Symbol(self, self._keep(Operation("choose", of)))

    def number_of(self, x: Scalar) -> int:
        """Number of a symbol's operation, or of a constant."""
        if isinstance(x, Symbol):
            if x.tape is not self:
                raise TypeError("two tapes must not be mixed")
            return x.number
        if isinstance(x, np.generic):
            x = x.item()
        return self._keep(Operation("constant", (), x))

    def constant(self, number: int) -> Any:
        """The value of a constant, None for what is not known."""
        operation = self.operations[number]
        return operation.detail if operation.name == "constant" else None

    def value(self, number: int) -> Any:
        """The constant or the symbol of an operation."""
        known = self.constant(number)
        return Symbol(self, number) if known is None else known

    def _keep(self, operation: Operation) -> int:
        """Number of an operation, which is new or was there before."""
        key: Any = operation
        if operation.name == "constant":  # 1, 1.0 and True are distinct
            key = (operation, type(operation.detail), str(operation.detail))
        number = self._known.get(key)
        if number is None:
            number = len(self.operations)
            self.operations.append(operation)
            self._known[key] = number
        return number

    def _simplest(self, name: str, of: list[int]) -> int:
        """Number of the simplest operation that gives the same."""
        constants = [self.constant(x) for x in of]
        if None not in constants:
            return self.number_of(COMPUTED[name](*constants))
        simpler = _SIMPLER.get(name)
        if simpler is not None:
            found = simpler(self, of, constants)
            if found is not None:
                return found
        if name in COMMUTES:
            of = sorted(of)
        return self._keep(Operation(name, tuple(of)))

    def inner(self, number: int) -> int | None:
        """What is negated, if an operation is a negation."""
        operation = self.operations[number]
        return operation.of[0] if operation.name == "negative" else None

    # what is asked for

    def needed(self, outputs: Iterable[int]) -> list[int]:
        """Numbers of all operations that some depend on, in order."""
        waiting = list(outputs)
        found: set[int] = set()
        while waiting:
            number = waiting.pop()
            if number not in found:
                found.add(number)
                waiting += self.operations[number].of
        return sorted(found)


def pattern_of(values: Floats) -> bytes:
    """Shape, zeros, ones and what is neither: the pattern of an array."""
    given = np.asarray(values, dtype=np.float64)
    nearest = np.clip(np.rint(given), -1.0, 1.0)
    words = np.where(np.abs(given - nearest) < ROUNDING, nearest, 2.0).astype(np.int8)
    return repr(words.shape).encode() + words.tobytes()


def _add(tape: Tape, of: list[int], constants: list[Any]) -> int | None:
    for this, other in ((0, 1), (1, 0)):
        if constants[this] == 0:
            return of[other]
        inner = tape.inner(of[this])
        if inner is not None:
            return tape._simplest("subtract", [of[other], inner])
    return None


def _subtract(tape: Tape, of: list[int], constants: list[Any]) -> int | None:
    if constants[1] == 0:
        return of[0]
    if constants[0] == 0:
        return tape._simplest("negative", [of[1]])
    inner = tape.inner(of[1])
    if inner is not None:
        return tape._simplest("add", [of[0], inner])
    return None


def _multiply(tape: Tape, of: list[int], constants: list[Any]) -> int | None:
    for this, other in ((0, 1), (1, 0)):
        if constants[this] == 0:
            return tape.number_of(0.0)
        if constants[this] == 1:
            return of[other]
        if constants[this] == -1:
            return tape._simplest("negative", [of[other]])
        inner = tape.inner(of[this])
        if inner is not None:
            return tape._simplest("negative", [tape._simplest("multiply", [inner, of[other]])])
    return None


def _divide(tape: Tape, of: list[int], constants: list[Any]) -> int | None:
    if constants[0] == 0:
        return tape.number_of(0.0)
    return of[0] if constants[1] == 1 else None


def _negative(tape: Tape, of: list[int], constants: list[Any]) -> int | None:
    return tape.inner(of[0])


def _absolute(tape: Tape, of: list[int], constants: list[Any]) -> int | None:
    inner = tape.inner(of[0])
    return None if inner is None else tape._simplest("absolute", [inner])


_SIMPLER: dict[str, Callable[[Tape, list[int], list[Any]], int | None]] = {
    "add": _add,
    "subtract": _subtract,
    "multiply": _multiply,
    "divide": _divide,
    "negative": _negative,
    "absolute": _absolute,
}

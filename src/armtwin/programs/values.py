"""Values of a program that are known without running it: numbers, lists, tables of fields.

A number knows where it is written, so that it can be replaced there. What is known at run time only
raises `Unknown`, whose text is the reason.
"""

import math
import operator
import re
from collections.abc import Callable
from copy import copy
from typing import Any, NamedTuple, Protocol

from armtwin.maths.batch import Record

Value = Any  # number, text, list, table of fields or `Unknown`
TOKEN = re.compile(
    r"""\s*(?:(?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)|(?P<text>"[^"]*"|'[^']*')
    |(?P<name>[$\#]?[^\W\d][\w$]*)|(?P<sign>:=|<>|<=|>=|==|!=|[-+*/=<>()\[\]{},.:\\%]))""",
    re.VERBOSE,
)
PLACE = re.compile(
    r"\s*(?:(?:global|local)\s+)?([$]?[^\W\d][\w$]*(?:\s*(?:\.\s*\w+|\[[^=]*?\]|\{[^=]*?\}))*)\s*"
    r":?=(?!=)\s*",
    re.IGNORECASE,
)
LEVELS = (
    ("or", "exor", "xor"),
    ("and",),
    ("=", "==", "<>", "!=", "<", ">", "<=", ">="),
    ("+", "-"),
    ("*", "/", "div", "mod", "%"),
    (":",),
)
COMPARISONS: dict[str, Callable[[Value, Value], Value]] = {
    **dict.fromkeys(("=", "=="), operator.eq),
    **dict.fromkeys(("<>", "!="), operator.ne),
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
    "or": lambda a, b: bool(a or b),
    "and": lambda a, b: bool(a and b),
    **dict.fromkeys(("exor", "xor"), lambda a, b: bool(a) != bool(b)),
}
ARITHMETIC: dict[str, Callable[[float, float], float]] = {
    "+": operator.add,
    "-": operator.sub,
    "*": operator.mul,
    "/": operator.truediv,
    "div": operator.floordiv,
    **dict.fromkeys(("mod", "%"), operator.mod),
}
SPEEDS = {"mm/sec": 1e-3, "mm/sek": 1e-3, "cm/min": 1 / 6000, "inch/min": 0.0254 / 60}  # [m/s]
DEGREES: dict[str, Callable[..., float]] = {
    "sin": lambda x: math.sin(math.radians(x)),
    "cos": lambda x: math.cos(math.radians(x)),
    "tan": lambda x: math.tan(math.radians(x)),
    "atan": lambda x: math.degrees(math.atan(x)),
    "atan2": lambda y, x: math.degrees(math.atan2(y, x)),
    "acos": lambda x: math.degrees(math.acos(x)),
    "asin": lambda x: math.degrees(math.asin(x)),
    "sqrt": math.sqrt,
    "abs": abs,
    "pow": pow,
    "trunc": math.trunc,
}


class Unknown(Exception):
    """What cannot be known without running a program, as a phrase."""


def known(value: Value) -> Value:
    """A value that is known; any other is refused."""
    if isinstance(value, Unknown):
        raise value
    return value


def blank(text: str) -> str:
    """Spaces in the place of a text, so that what follows stays where it is."""
    return " " * len(text)


def without_remarks(text: str, sign: str) -> str:
    """A text with spaces in the place of remarks, which begin with a sign."""
    parts = rf'"[^"\n]*"|{sign}[^\n]*'
    return re.sub(parts, lambda x: x[0] if x[0][0] == '"' else blank(x[0]), text)


class Literal(float):
    """A number as it is written, with its place in the text."""

    __slots__ = ("start", "stop")
    start: int
    stop: int


class Token(NamedTuple):
    """A word of an expression: its kind, its text and where that begins."""

    kind: str
    text: str
    start: int


class Surroundings(Protocol):
    """What the names in an expression mean."""

    functions: dict[str, Callable[..., Value]]
    indexed_by: str
    fields_by_name: bool

    def fold(self, name: str) -> str:
        """A name as it is compared."""

    def look_up(self, name: str) -> Value:
        """The value of a name."""

    def call(self, name: str, args: list[Value], switches: Record) -> Value:
        """The value of a function."""

    def pick(self, of: Value, key: Value) -> Value:
        """A field, by name, or an item, by number or numbers."""


class Expression:
    """The words of an expression, read from left to right.

    Args:
        text: Text that has it.
        start: Where it begins in the text.
        names: What its names mean.
        stop: Where it must end at the latest.
        offset: Of the text in its file.
    """

    def __init__(
        self, text: str, names: Surroundings, start: int = 0, offset: int = 0, stop: int = -1
    ) -> None:
        self.text, self.names, self.at, self.offset = text, names, start, offset
        self.stop = len(text) if stop < 0 else stop
        self.token = self._read()

    def _read(self) -> Token:
        found = TOKEN.match(self.text, self.at, self.stop)
        if found is None:
            return Token("end", "", self.at)
        kind = found.lastgroup or "end"
        self.at = found.end()
        return Token(kind, found[kind], found.start(kind))

    def take(self, text: str = "") -> str:
        """The next word; where one is asked for, only that one, else ""."""
        token = self.token
        if text and token.text.lower() != text:
            return ""
        self.token = self._read()
        return token.text

    def demand(self, text: str) -> None:
        """Take a word that must be there."""
        if not self.take(text):
            got = self.token.text or "the end"
            raise Unknown(f"'{text}' is wanted before '{got}'")

    def whole(self) -> Value:
        """The value of all of it; what follows it is not understood."""
        value = self.value()
        if self.token.kind != "end" or self.text[self.token.start : self.stop].strip():
            raise Unknown(f"'{self.text[self.token.start : self.stop].strip():.40}' is not known")
        return value

    def value(self, level: int = 0) -> Value:
        """The value of a part that binds at least as much as a level."""
        if level == len(LEVELS):
            return self._unary()
        left = self.value(level + 1)
        while self.token.text.lower() in LEVELS[level] and self.token.kind in {"sign", "name"}:
            if self.token.text == ":" and not self.names.fields_by_name:
                break
            left = combine(self.take().lower(), left, self.value(level + 1), self.names)
        return left

    def _unary(self) -> Value:
        sign = self.token.text.lower()
        if self.token.kind in {"sign", "name"} and sign in {"-", "+", "not"}:
            start = self.token.start
            self.take()
            found = self._unary()
            if sign == "not":
                return not found
            if sign == "+" or not isinstance(found, float):
                return found if sign == "+" else combine("*", -1.0, found, self.names)
            return self._literal(-found, start, getattr(found, "stop", 0) - self.offset)
        return self._postfix(self._primary())

    def _literal(self, number: float, start: int, stop: int) -> float:
        if stop <= 0:
            return number
        found = Literal(number)
        found.start, found.stop = self.offset + start, self.offset + stop
        return found

    def _primary(self) -> Value:
        kind, text, start = self.token
        self.take()
        if kind == "number":
            return self._literal(float(text), start, start + len(text))
        if kind == "text":
            return text[1:-1]
        if kind == "name":
            return self._name(text)
        if text == "(":
            found = self.value()
            self.demand(")")
            return found
        if text == "[":
            return self.items("]")
        if text == "{" and self.names.fields_by_name:
            return self._table()
        raise Unknown(f"'{text or self.text[start : self.stop].strip():.40}' is not known")

    def _name(self, text: str) -> Value:
        name = self.names.fold(text)
        if name.lower() in {"true", "false"}:
            return name.lower() == "true"
        if text.startswith("#"):
            return name
        if self.token.text == "(":
            self.take()
            switches: Record = {}
            return self.names.call(name, self.items(")", switches), switches)
        return self.names.look_up(name)

    def items(self, end: str, switches: Record | None = None) -> list[Value]:
        r"""Values up to a bracket, and switches as \Rz:=30 or a=1.2; one left out is None."""
        found: list[Value] = []
        while not self.take(end):
            if self.token.kind == "end":
                raise Unknown(f"'{end}' is missing")
            if self.take(","):
                found.append(None)
                continue
            if switches is None or not self._switch(switches):
                found.append(self.value())
            while self.token.text == "\\" and switches is not None:
                self._switch(switches)
            if self.token.text != end:
                self.demand(",")
        return found

    def _switch(self, switches: Record) -> bool:
        slash = self.take("\\")
        sign = re.compile(r"\s*:=" if slash else r"\s*=(?!=)").match(self.text, self.at)
        if not slash and (self.token.kind != "name" or sign is None):
            return False
        name = self.take().lower()
        switches[name] = True
        if sign is not None:
            self.take()
            switches[name] = self.value()
        return True

    def _table(self) -> Value:
        """Fields as {E6POS: X 1,Y 2}."""
        found: Record = {}
        first = self.take()
        if self.token.text == ":":
            self.take()
            first = self.take()
        while first and first != "}":
            if self.take("["):
                while self.token.text and not self.take("]"):
                    self.take()
            found[first.lower()] = self.value(3)
            if not self.take(","):
                self.demand("}")
                break
            first = self.take()
        return found

    def _postfix(self, value: Value) -> Value:
        opening = self.names.indexed_by
        while self.token.text in {".", opening} and self.token.kind == "sign":
            if self.take(".") == ".":
                value = self.names.pick(value, self.take().lower())
            else:
                self.take()
                keys = self.items({"{": "}", "[": "]"}[opening])
                value = self.names.pick(value, tuple(keys) if len(keys) > 1 else (*keys, "")[0])
        return value


def combine(sign: str, a: Value, b: Value, names: Surroundings) -> Value:
    """The value of two values and a sign between them."""
    if sign == ":":
        return names.functions[":"](a, b)
    try:
        if sign in COMPARISONS:
            return COMPARISONS[sign](a, b)
        if isinstance(a, list) and isinstance(b, list) and len(a) == len(b) and sign in "+-":
            return type(a)(combine(sign, x, y, names) for x, y in zip(a, b, strict=True))
        if isinstance(b, list) and sign == "*":
            return type(b)(combine(sign, a, y, names) for y in b)
        if isinstance(a, str) and isinstance(b, str) and sign == "+":
            return a + b
        return float(ARITHMETIC[sign](float(a), float(b)))
    except (TypeError, ValueError, ZeroDivisionError, OverflowError):
        raise Unknown(f"'{sign}' cannot be computed of these values") from None


def put(into: Value, keys: list[Value], value: Value) -> Value:
    """A value with another one at a place in it; what it was stays as it was."""
    if not keys:
        return value
    key, *others = keys
    changed = copy(into) if isinstance(into, list | dict) else {}
    try:
        known = changed[key]
    except (LookupError, TypeError):
        known = {}
    try:
        changed[key] = put(known, others, value)
    except (LookupError, TypeError):
        raise Unknown(f"'{key}' is no part of this value") from None
    return changed

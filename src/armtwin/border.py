"""The border of the package: what a public call is given is what its annotations say.

A call is checked once, before anything is done. Annotations are the contract, `Unit` in them the
range of a number; what they do not say, as a shape, the call checks itself.
"""

import builtins
import collections.abc
import inspect
import math
import numbers
import os
import types
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, Literal, NamedTuple, Union, get_args, get_origin

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import CallError, did_you_mean, shorten
from armtwin.maths.batch import Names
from armtwin.maths.tape import Symbol, Symbols
from armtwin.maths.units import Unit

Call = Callable[..., Any]
Given = tuple[object, ...]
REAL, WHOLE_OR_FLAG = "biuf", "biu"  # kinds of arrays
LONGEST_VALUE = 60  # characters of a value that a sentence shows
ARRAY_LIKE = frozenset(get_args(ArrayLike))
MANY = (Sequence, Collection, Iterable, list, tuple)
GUARDED: set[type] = set()  # classes that check what their methods are given
LOADERS = ("load", "read")
# how an object of a class is got, where that is not by `load` or `read` of the class
MAKERS = {"Prediction": "predict", "Band": "assess", "Estimate": "identify", "Clamping": "clamp"}


class Expected(NamedTuple):
    """What an argument may be.

    Attributes:
        words: As a phrase after "must be".
        fits: Whether a value is such.
        choices: The names to choose from.
        maker: Public call that gives such a value, as "Log.read"; "" for none.
    """

    words: str
    fits: Callable[[object], bool]
    choices: Names = ()
    maker: str = ""


class _Absent(type):
    """A class of a library that is not loaded: known by its name alone."""

    def __getattr__(cls, name: str) -> type:
        if name.startswith("_"):
            raise AttributeError(name)
        return _Absent(name, (), {})


class _Names(dict[str, Any]):
    """Names of an annotation that are imported for type checkers only."""

    def __init__(self, known: Mapping[str, object]) -> None:
        self.known = known

    def __missing__(self, name: str) -> Any:
        if name in self.known or hasattr(builtins, name) or name.startswith("_"):
            raise KeyError(name)
        return getattr(collections.abc, name, None) or _Absent(name, (), {})


ANYTHING = Expected("anything", lambda value: True)
PLAIN = {
    Any: ANYTHING,
    object: ANYTHING,
    types.NoneType: Expected("None", lambda value: value is None),
    bool: Expected("True or False", lambda value: isinstance(value, bool | np.bool_)),
    int: Expected("a whole number", lambda value: _is_number(value, numbers.Integral)),
    float: Expected("a finite number", lambda value: _is_number(value, numbers.Real)),
    str: Expected("text", lambda value: isinstance(value, str)),
    Path: Expected("a path", lambda value: isinstance(value, os.PathLike)),
}
NUMBERS = Expected("an array of numbers", lambda value: _is_array(value, REAL))


def _is_number(value: object, kind: type) -> bool:
    if type(value) is float:
        return kind is numbers.Real and math.isfinite(value)
    if isinstance(value, np.ndarray) and value.ndim == 0:
        value = value[()]
    try:
        return isinstance(value, Symbol) or (
            isinstance(value, kind)
            and not isinstance(value, bool | np.bool_)
            and math.isfinite(value)  # type: ignore[arg-type]
        )
    except OverflowError:  # a whole number beyond all floats
        return False


def _is_array(value: object, kinds: str) -> bool:
    """Whether a value is an array of numbers, none of them masked; dates are no numbers."""
    if type(value) is np.ndarray and value.dtype.char == "d":
        return "f" in kinds
    if isinstance(value, Symbols):
        return True
    if isinstance(value, np.ma.MaskedArray) and np.ma.is_masked(value):
        return False
    try:
        array = np.asarray(value)
        if array.dtype.kind == "O":
            held = array.ravel().tolist()
            if any(isinstance(x, Symbol) for x in held):
                return True
            array = array if None in held else array.astype(np.float64)
    except (TypeError, ValueError, OverflowError):
        return False
    return array.dtype.kind in kinds


def kind_of(given: object) -> Expected:
    """What an annotation says that an argument may be."""
    origin, inner = get_origin(given), get_args(given)
    if origin in (Union, types.UnionType):
        return _one_of(inner)
    if origin is Annotated:
        return _in_unit(kind_of(inner[0]), inner[1:])
    if origin is Literal:
        return _named(inner)
    if origin is np.ndarray:
        return _array_of(inner)
    if origin in (Mapping, dict):
        return _table(*map(kind_of, inner))
    if origin in MANY:
        return _several(inner)
    if origin is Callable or given is Callable:
        return Expected("a function", callable)
    if isinstance(given, _Absent):
        name = given.__name__
        return Expected(_article(name), lambda x: name in [k.__name__ for k in type(x).__mro__])
    if given in PLAIN:
        return PLAIN[given]
    if isinstance(given, type) and not getattr(given, "_is_protocol", False):
        words, maker = _article(given.__name__), _maker_of(given)
        return Expected(words, lambda value: isinstance(value, given), maker=maker)
    return ANYTHING


def _maker_of(wanted: type) -> str:
    for verb in LOADERS:
        if isinstance(inspect.getattr_static(wanted, verb, None), staticmethod):
            return f"{wanted.__name__}.{verb}"
    return MAKERS.get(wanted.__name__, "")


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'AEIOUaeiou' else 'a'} {noun}"


def _one_of(members: Sequence[object]) -> Expected:
    is_array = set(members) >= ARRAY_LIKE
    kinds = [NUMBERS] if is_array else []
    kinds += [kind_of(x) for x in members if not (is_array and x in ARRAY_LIKE)]
    choices = tuple(choice for kind in kinds for choice in kind.choices)
    words = " or ".join(kind.words for kind in kinds)
    maker = next((kind.maker for kind in kinds if kind.maker), "")
    if len(kinds) == 1:
        return Expected(words, kinds[0].fits, choices, maker)
    return Expected(words, lambda value: any(kind.fits(value) for kind in kinds), choices, maker)


def _in_unit(kind: Expected, notes: Sequence[object]) -> Expected:
    """A number in the range of its unit, where one is annotated."""
    unit = next((note for note in notes if isinstance(note, Unit)), None)
    if unit is None:
        return kind
    words = "a number" if unit.symbol == "1" else f"a number in {unit.symbol}"
    words += f" greater than {unit.above:g}" if unit.above is not None else ""
    words += f" of at least {unit.at_least:g}" if unit.at_least is not None else ""

    def fits(value: object) -> bool:
        is_symbol = isinstance(value, Symbol)
        return kind.fits(value) and (is_symbol or not unit.broken(float(value)))  # type: ignore[arg-type]

    return Expected(words, fits)


def _named(choices: Sequence[object]) -> Expected:
    words = f"one of {', '.join(map(str, choices))}"
    names = tuple(choice for choice in choices if isinstance(choice, str))
    return Expected(words, lambda value: isinstance(value, str | int) and value in choices, names)


def _array_of(inner: Sequence[object]) -> Expected:
    [scalar] = get_args(inner[1]) or (np.float64,)
    is_real = isinstance(scalar, type) and issubclass(scalar, np.floating)
    kinds = REAL if is_real else WHOLE_OR_FLAG
    words = f"a NumPy array of {'real' if is_real else 'whole'} numbers"
    return Expected(words, lambda value: isinstance(value, np.ndarray) and _is_array(value, kinds))


def _table(key: Expected, item: Expected) -> Expected:
    def fits(value: object) -> bool:
        if not isinstance(value, Mapping):
            return False
        return all(key.fits(name) and item.fits(held) for name, held in value.items())

    return Expected(f"a mapping from {key.words} to {item.words}", fits)


def _several(inner: Sequence[object]) -> Expected:
    """A sequence of one kind; one of fixed length where several kinds are named."""
    kinds = [kind_of(member) for member in inner if member is not Ellipsis]
    length = len(kinds) if len(inner) > 1 and Ellipsis not in inner else None

    def fits(value: object) -> bool:
        if isinstance(value, str | bytes | Mapping) or not isinstance(value, Iterable):
            return False
        if not isinstance(value, list | tuple | np.ndarray):
            return True  # what is asked once cannot be looked at before
        if length is None:
            return all(kinds[0].fits(member) for member in value)
        pairs = zip(kinds, value, strict=False)
        return len(value) == length and all(kind.fits(member) for kind, member in pairs)

    words = ", ".join(kind.words for kind in kinds)
    return Expected(f"a sequence ({words})", fits, maker=kinds[0].maker)


class _Contract:
    """Kinds of the arguments of a call, read from its annotations at its first use."""

    def __init__(self, call: Call, name: str, loader: str) -> None:
        self.name, self.loader = name, loader
        self.signature = inspect.signature(call)
        self.known = inspect.unwrap(call).__globals__
        self.order: list[tuple[str, Expected]] = []
        self.kinds: dict[str, Expected] = {}
        self.more = self.others = ANYTHING
        for name, argument in self.signature.parameters.items():
            kind = self._read(argument)
            if argument.kind is argument.VAR_POSITIONAL:
                self.more = kind
            elif argument.kind is argument.VAR_KEYWORD:
                self.others = kind
            else:
                self.kinds[name] = kind
            if argument.kind is argument.POSITIONAL_OR_KEYWORD:
                self.order.append((name, kind))
        self.by_place = [kind.fits for _, kind in self.order]

    def _read(self, argument: inspect.Parameter) -> Expected:
        """The kind of an argument; its default value is always such."""
        given, default = argument.annotation, argument.default
        if given is argument.empty:
            return ANYTHING
        if isinstance(given, str):
            given = eval(given, self.known, _Names(self.known))  # of our own source
        kind = kind_of(given)
        if default is argument.empty or kind.fits(default):
            return kind
        return kind._replace(fits=lambda value: value is default or kind.fits(value))

    def check(self, given: Given, options: Mapping[str, object]) -> None:
        """Refuse an argument that is not what the call takes."""
        for place, fits in enumerate(self.by_place[: len(given)]):
            if not fits(given[place]):
                raise self._refuse(*self.order[place], given[place], given)
        for value in given[len(self.order) :]:
            if not self.more.fits(value):
                raise self._refuse("an argument", self.more, value, given)
        for name, value in options.items():
            kind = self.kinds.get(name, self.others)
            if not kind.fits(value):
                raise self._refuse(name, kind, value, given)

    def misfit(self, given: Given, options: Mapping[str, object]) -> CallError | None:
        """Why arguments do not fit the signature: one is missing, unknown or there twice."""
        try:
            self.signature.bind(*given, **options)
        except TypeError as error:
            unknown = [name for name in options if name not in self.kinds]
            hint = f". {did_you_mean(unknown[0], self.kinds)}" if unknown else ""
            return CallError(f"at.{self._called(given)}: {error}{hint}")
        return None

    def _called(self, given: Given) -> str:
        """The name of the call; of a method that a class has from its parent, by that class."""
        _, is_method, method = self.name.partition(".")
        if is_method and given and "self" in self.kinds:
            return f"{type(given[0]).__name__}.{method}"
        return self.name

    def _refuse(self, name: str, kind: Expected, value: object, given: Given) -> CallError:
        called = self._called(given)
        sentence = f"at.{called}: {name} must be {kind.words}, got {_show(value)}"
        maker = self.loader or kind.maker
        swapped = self._find_swapped(name, kind, value, given)
        if swapped:
            first, second = sorted((name, swapped), key=list(self.kinds).index)
            sentence += f"; the order is at.{called}({first}, {second})"
        elif kind.choices and isinstance(value, str):
            hint = did_you_mean(value, kind.choices)
            sentence += f". {hint}" if hint.startswith("Did") else ""
        elif maker and isinstance(value, str | Path):
            sentence += f'; write at.{maker}("{shorten(str(value), LONGEST_VALUE)}")'
        elif maker:
            sentence += f"; at.{maker} gives one"
        return CallError(sentence)

    def _find_swapped(self, name: str, kind: Expected, value: object, given: Given) -> str:
        """The argument that a value of ours would fit, while what is there fits this one."""
        for place, (other, wanted) in enumerate(self.order):
            if other == name or wanted is ANYTHING or not wanted.fits(value):
                continue
            there = given[place] if place < len(given) else None
            fits = place >= len(given) or kind.fits(there)
            if fits and any(_is_ours(x) for x in (value, there)):
                return other
        return ""


def _is_ours(value: object) -> bool:
    return type(value).__module__.startswith("armtwin.")


def _show(value: object) -> str:
    """A value in few words; a long or a costly one by its type."""
    if isinstance(value, np.ndarray):
        held = " with masked values" if np.ma.is_masked(value) else ""
        return f"an array of {value.dtype}{held}, shape {value.shape}"
    if isinstance(value, str | bytes):
        return repr(value[:LONGEST_VALUE])
    if value is None or isinstance(value, float | complex) or type(value) in (bool, int):
        return shorten(repr(value), LONGEST_VALUE)
    if isinstance(value, list | tuple):
        return f"{_article(type(value).__name__)} of {len(value)}"
    if isinstance(value, Mapping) and value:
        return shorten(", ".join(f"{x!r}: {_show(y)}" for x, y in value.items()), LONGEST_VALUE)
    return _article(type(value).__name__)


def guard(call: Call, name: str, loader: str = "") -> Call:
    """A public call that checks what it is given.

    Args:
        call: A function.
        name: Its public name.
        loader: What users may have meant who give it a name or a path, as "Robot.load".
    """
    contract: _Contract | None = None

    @wraps(call)
    def checked(*given: object, **options: object) -> Any:
        nonlocal contract
        if contract is None:
            contract = _Contract(call, name, loader)
        contract.check(given, options)
        try:
            return call(*given, **options)
        except TypeError:
            problem = contract.misfit(given, options)
            if problem is not None:
                raise problem from None
            raise

    return checked


def guard_class(noun: type) -> None:
    """Check what public methods of a class are given, and its constructor where users call it."""
    for owner in noun.__mro__:
        if not owner.__module__.startswith("armtwin.") or owner in GUARDED:
            continue
        for name, held in list(vars(owner).items()):
            is_static = isinstance(held, staticmethod)
            call = held.__func__ if is_static else held
            if inspect.isfunction(call) and _is_public(owner, name, call):
                full = owner.__name__ if name == "__init__" else f"{owner.__name__}.{name}"
                checked = guard(call, full, _maker_of(owner) if name == "__init__" else "")
                setattr(owner, name, staticmethod(checked) if is_static else checked)
        GUARDED.add(owner)


def _is_public(owner: type, name: str, call: Call) -> bool:
    """Whether users call a method with arguments; results are made by the package alone."""
    if name == "__init__":
        return bool(_maker_of(owner)) or not hasattr(owner, "sections")
    is_named = name == "__call__" or not name.startswith("_")
    return is_named and call.__code__.co_argcount + call.__code__.co_kwonlyargcount > 0

"""Misused calls of every public name: each argument in turn is what no such argument can be.

The sentence names the argument. Other arguments are objects of the right class that hold nothing:
a call that did anything with them would fail otherwise.
"""

import inspect
import re
import sys
import types
import typing
from datetime import date, timedelta

import numpy as np
import pytest

import armtwin as at

# by their kind; the last ones are arrays
WRONG = {
    "nothing": None,
    "whole": 3,
    "number": 2.5,
    "not a number": float("nan"),
    "endless": 10**400,
    "bytes": b"x",
    "text": "no such word",
    "flag": True,
    "object": object(),
    "mapping": {1: object()},
    "things": [object()],
    "texts": ["a", "b"],
    "dates": np.array(["2026-01-01", "2026-01-02"], dtype="datetime64[D]"),
    "days": [date(2026, 1, 1), date(2026, 1, 2)],
    "durations": [timedelta(seconds=1), timedelta(seconds=2)],
    "structured": np.zeros(2, dtype=[("q", float), ("v", float)]),
    "imaginary": np.array([1.0, 2.0j]),
    "masked": np.ma.masked_array([1.0, 2.0], [False, True]),
}
# words of an annotation, and the kinds that may then be right
RIGHT = {
    r"\bNone\b": {"nothing"},
    r"\bstr\b|\bPath\b": {"text"},
    r"\bbool\b": {"flag"},
    r"\bint\b": {"whole"},
    r"\bfloat\b": {"whole", "number"},
    r"(Sequence|Iterable|Collection|tuple)\[(float \| )?str\b": {"texts"},
    r"ArrayLike": {"whole", "number", "not a number", "flag"},
    r"\bAny\b|\bobject\b": set(WRONG),
}
# words of an annotation, and an object that it allows and that holds nothing
HOLLOW = {
    "ArrayLike": np.zeros(2),
    "int64": np.zeros(2, dtype=int),
    "ndarray": np.zeros(2),
    "Mapping": {},
    "Sequence": [],
    "^tuple": (),
    "str": "x",
    "float": 1.0,
    "int": 1,
    "bool": True,
    "slice": slice(0),
    "object": 1,
}
NEEDED = inspect.Parameter.empty
MANY = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
RESULT = at.Advice.__mro__[1]  # the parent of results, which the package alone makes


def spell_out(call, annotation):
    """An annotation with its aliases in full."""
    known = vars(sys.modules[call.__module__])

    def full(found):
        alias = known.get(found[0], found[0])
        is_plain = found[0] == "ArrayLike" or isinstance(alias, type | types.ModuleType)
        return found[0] if is_plain else str(alias)

    return re.sub(r"[A-Za-z]\w*", full, annotation)


def hollow(call, annotation):
    """An object that an annotation allows, and that holds nothing."""
    full = spell_out(call, annotation)
    if "Literal" in full:
        return re.search(r"'(\w+)'", full)[1]
    for word, value in HOLLOW.items():
        if re.search(rf"\b{word}\b", full):
            return value
    first = re.match(r"(Annotated.)?(\w+)", annotation)[2]
    noun = vars(sys.modules[call.__module__]).get(first) or getattr(at, first)
    return object.__new__(noun if isinstance(noun, type) else typing.get_args(noun)[0])


def public_calls():
    """Each public call by its name, with an object whose method it is."""
    for name in at.__all__:
        noun = getattr(at, name)
        if inspect.isfunction(noun):
            yield name, inspect.unwrap(noun), ()
        if not isinstance(noun, type) or issubclass(noun, Exception):
            continue
        if not issubclass(noun, RESULT | tuple) or hasattr(noun, "load"):
            yield name, inspect.unwrap(noun.__init__), (object.__new__(noun),)
        for method, held in vars(noun).items():
            if isinstance(held, staticmethod) and not method.startswith("_"):
                yield f"{name}.{method}", inspect.unwrap(held.__func__), ()
            elif inspect.isfunction(held) and not method.startswith("_"):
                yield f"{name}.{method}", inspect.unwrap(held), (object.__new__(noun),)


def misuses(name, call, own):
    """Arguments of a call, one of them wrong, with the name of that one."""
    arguments = list(inspect.signature(call).parameters.values())[len(own) :]
    for wrong in arguments:
        if wrong.kind in MANY:
            continue
        allowed = set()
        for word, kinds in RIGHT.items():
            allowed |= kinds if re.search(word, spell_out(call, wrong.annotation)) else set()
        given = {}
        for other in arguments:
            if other is not wrong and other.default is NEEDED and other.kind not in MANY:
                given[other.name] = hollow(call, other.annotation)
        for kind, value in WRONG.items():
            if kind not in allowed:
                yield wrong.name, kind, {**given, wrong.name: value}


CALLS = {name: (call, own) for name, call, own in public_calls()}


def public(name):
    """What users call."""
    found = at
    for part in name.split("."):
        found = getattr(found, part)
    return found


@pytest.mark.parametrize("name", CALLS)
def test_an_argument_that_cannot_be_is_refused_by_its_name(name):
    call, own = CALLS[name]
    before = own if inspect.isfunction(public(name)) else ()
    for argument, kind, given in misuses(name, call, own):
        with pytest.raises(at.ArmtwinError, match=rf"at\.{name}: {argument} must be ") as told:
            public(name)(*before, **given)
        assert "object at 0x" not in str(told.value), kind


def test_every_public_argument_was_misused():
    count = sum(1 for name, (call, own) in CALLS.items() for _ in misuses(name, call, own))
    assert count > 3000

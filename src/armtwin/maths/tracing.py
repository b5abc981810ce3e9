"""Kernels as plain Python, so that they can be run with the symbols of a tape."""

from collections.abc import Iterator
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from armtwin.maths import bits, choice
from armtwin.maths.compiled import Function
from armtwin.maths.tape import Symbol

PACKAGE = __name__.partition(".")[0] + "."


def _symbolic(name: str, plain: Function) -> Function:
    """A function of `choice` or `bits` for numbers, for arrays and for symbols."""

    def call(*of: Any) -> Any:
        for x in of:
            if isinstance(x, Symbol):
                return x.tape.choose(*of) if name == "choose" else x.tape.do(name, *of)
        if name == "choose" and isinstance(of[0], np.ndarray):
            return np.where(*of)
        return plain(*of)

    return call


_known: dict[Any, Function] = {}


def python_of(kernel: Function) -> Function:
    """The Python function of a kernel or of a function; all that it calls are Python too."""
    found = _known.get(kernel)
    return _plain(kernel) if found is None else found


def _plain(kernel: Function) -> Function:
    function: Any = getattr(kernel, "py_func", kernel)
    if function.__module__ in (choice.__name__, bits.__name__):
        _known[kernel] = _symbolic(function.__name__, function)
        return _known[kernel]
    names = dict(function.__globals__)
    made = FunctionType(function.__code__, names, function.__name__, function.__defaults__)
    _known[kernel] = made
    for name in _names_in(function.__code__):
        value: Any = names.get(name)
        if hasattr(value, "py_func") or _is_own(value):
            names[name] = python_of(value)
    return made


def _names_in(code: CodeType) -> Iterator[str]:
    """Names that a function looks up, in its comprehensions too."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_in(constant)


def _is_own(value: Any) -> bool:
    """Whether it is a function of this package, which may call kernels."""
    return isinstance(value, FunctionType) and value.__module__.startswith(PACKAGE)

"""Kernels as plain Python, so that they can be run with the symbols of a tape."""

from __future__ import annotations

from types import FunctionType
from typing import Any

import numpy as np

from armtwin.maths import bits, choice
from armtwin.maths.compiled import Function
from armtwin.maths.tape import Symbol


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
    """The Python function of a kernel; the kernels that it calls are Python functions too."""
    if kernel not in _known:
        _known[kernel] = _plain(kernel)
    return _known[kernel]


def _plain(kernel: Function) -> Function:
    function: Any = getattr(kernel, "py_func", kernel)
    if function.__module__ in (choice.__name__, bits.__name__):
        return _symbolic(function.__name__, function)
    names = dict(function.__globals__)
    for name in function.__code__.co_names:
        value: Any = names.get(name)
        if hasattr(value, "py_func"):
            names[name] = python_of(value)
    return FunctionType(function.__code__, names, function.__name__, function.__defaults__)

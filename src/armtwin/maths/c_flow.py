"""The order of stages as C: kernels that call stages, translated from their own source.

Such a kernel is written in few words: calls of stages and of kernels like it, conditions, loops
over a range, and numbers that are read and put by `largest` and `put`. Anything else is refused.
"""

import ast
import inspect
import textwrap
from collections.abc import Collection
from typing import Any

from armtwin.maths.batch import Sentences
from armtwin.maths.c_code import c_number

MEMORIES, SLOTS, LANES = "x", "slots", "lanes"  # arguments that C takes as one, or not at all
COMPARISONS = {ast.Gt: ">", ast.GtE: ">=", ast.Lt: "<", ast.LtE: "<=", ast.Eq: "=="}


def place_name(path: str) -> str:
    """Name in C of where an array lies in the memory of inputs."""
    return "AT_" + "".join(letter if letter.isalnum() else "_" for letter in path)


def c_kernel(kernel: Any, stages: Collection[str], slots: str, name: str = "") -> str:
    """A kernel that calls stages as a function of C.

    Args:
        kernel: Its function in Python.
        stages: Names of the stages that there are; calls of others are left out.
        slots: Path of the fields that `slots` means.
        name: Name of the function; by default the kernel's.
    """
    (function,) = ast.parse(textwrap.dedent(inspect.getsource(kernel))).body
    assert isinstance(function, ast.FunctionDef)
    function.name = name or function.name
    return "\n".join(_Flow(kernel, stages, slots).function(function)) + "\n"


class _Flow:
    """Writes the lines of a kernel."""

    def __init__(self, kernel: Any, stages: Collection[str], slots: str) -> None:
        self.known, self.stages, self.slots = kernel.__globals__, stages, slots

    def function(self, node: ast.FunctionDef) -> Sentences:
        """The whole function."""
        names = [x.arg for x in node.args.args if x.arg not in (MEMORIES, SLOTS, LANES)]
        given = "".join(f", int {name}" for name in names)
        yield f"static void {node.name}(double *const *m{given})"
        yield "{"
        yield from self._block(node.body[1:])  # the first line says what it does
        yield "}"

    def _block(self, body: list[ast.stmt]) -> Sentences:
        for statement in body:
            for line in self._statement(statement):
                yield f"    {line}"

    def _statement(self, node: ast.stmt) -> Sentences:
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Call):
            yield from self._call(node.value)
        elif isinstance(node, ast.If) and not node.orelse:
            yield f"if ({self._value(node.test)}) {{"
            yield from self._block(node.body)
            yield "}"
        elif isinstance(node, ast.For) and isinstance(node.target, ast.Name):
            assert isinstance(node.iter, ast.Call)
            count, (last,) = node.target.id, node.iter.args
            yield f"for (int {count} = 0; {count} < {self._value(last)}; ++{count}) {{"
            yield from self._block(node.body)
            yield "}"
        elif isinstance(node, ast.Break):
            yield "break;"
        else:
            raise TypeError(f"a kernel of stages cannot have: {ast.unparse(node)}")

    def _call(self, node: ast.Call) -> Sentences:
        assert isinstance(node.func, ast.Name)
        name = node.func.id
        if name == "put":
            yield f"{self._slot(node.args[1])} = {self._value(node.args[3])};"
        elif name.startswith("do_"):
            if name.removeprefix("do_") in self.stages:
                yield f"{name}(m);"
        else:
            yield f"{name}(m);"

    def _slot(self, node: ast.expr) -> str:
        assert isinstance(node, ast.Attribute)
        return f"m[0][{place_name(f'{self.slots}.{node.attr}')}]"

    def _value(self, node: ast.expr) -> str:
        if isinstance(node, ast.Constant):
            return c_number(node.value)
        if isinstance(node, ast.Name):
            known = self.known.get(node.id)
            return node.id if known is None else c_number(known)
        if isinstance(node, ast.Compare):
            (sign,), (right,) = node.ops, node.comparators
            return f"{self._value(node.left)} {COMPARISONS[type(sign)]} {self._value(right)}"
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            if node.func.id == "largest":
                return self._slot(node.args[1])
            if node.func.id == "int":
                return f"(int){self._value(node.args[0])}"
        raise TypeError(f"a kernel of stages cannot have: {ast.unparse(node)}")

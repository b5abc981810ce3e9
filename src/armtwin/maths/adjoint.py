"""Derivatives of what stands on a tape, taken backwards: all inputs at once for one weighted sum.

    S = Σ_i w_i y_i(x)        dS/dx from the last operation to the first

Each operation hands what S gains per unit of its result on to what it was done to. The derivatives
stand on the same tape, so that a kernel has them beside the values for a few times their work.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from armtwin.maths.tape import Scalar, Symbol, Tape, sign_of
from armtwin.maths.traced_rows import Arrays, Formula

WEIGHTS = "weights"

Rule = Callable[[Tape, Any, Any, Sequence[Any]], Sequence[Any]]


def gradient(outputs: Sequence[Symbol], weights: Sequence[Any], inputs: Sequence[Any]) -> list[Any]:
    """Derivatives of the weighted sum of outputs by each input.

    Args:
        outputs: Symbols y, of one tape.
        weights: What each counts in the sum.
        inputs: Symbols x; what is none has no derivative, 0.
    """
    tape = outputs[0].tape
    gains: dict[int, Any] = {}
    for output, weight in zip(outputs, weights, strict=True):
        _add(gains, output.number, weight)
    for number in reversed(tape.needed(list(gains))):
        gain = gains.get(number)
        operation = tape.operations[number]
        rule = _RULES.get(operation.name)
        if gain is None or rule is None:
            continue
        of = [tape.value(x) for x in operation.of]
        shares = rule(tape, gain, tape.value(number), of)
        for x, share in zip(operation.of, shares, strict=True):
            if tape.constant(x) is None:
                _add(gains, x, share)
    found = []
    for x in inputs:
        found.append(gains.get(x.number, 0.0) if isinstance(x, Symbol) else 0.0)
    return found


def pull_back(formula: Formula, output: str) -> Formula:
    """The formula of dS/dx for each input x of a formula, S a weighted sum of one of its outputs.

    It takes the inputs of the formula and then the weights, of the output's shape; its outputs are
    named after the inputs with a "d" before them.
    """

    def trace(of: Arrays) -> Arrays:
        values = np.asarray(formula.trace(of)[output], dtype=object)
        symbols, weights = [], []
        for place, value in np.ndenumerate(values):
            if isinstance(value, Symbol):
                symbols.append(value)
                weights.append(of[WEIGHTS][place])
        slopes: dict[str, Any] = {}
        flat = np.concatenate([of[name].ravel() for name in formula.inputs])
        found = gradient(symbols, weights, flat.tolist())
        at = 0
        for name, shape in formula.inputs.items():
            size = int(np.prod(shape))
            slopes[f"d{name}"] = np.array(found[at : at + size], dtype=object).reshape(shape)
            at += size
        return slopes

    inputs = {**formula.inputs, WEIGHTS: formula.outputs[output]}
    outputs = {f"d{name}": shape for name, shape in formula.inputs.items()}
    kind = ("pulled back", output, *formula.kind)
    return replace(formula, kind=kind, inputs=inputs, outputs=outputs, trace=trace)


def _add(gains: dict[int, Any], number: int, share: Scalar) -> None:
    if isinstance(share, float) and share == 0.0:
        return
    before = gains.get(number)
    gains[number] = share if before is None else before + share


def _power(tape: Tape, gain: Scalar, y: Scalar, of: Sequence[Any]) -> Sequence[Any]:
    """d x^c = c x^(c-1) dx; taken as 0 at x = 0, where a root has no derivative."""
    x, exponent = of
    is_zero = tape.do("equal", x, 0.0)
    slope = exponent * tape.do("power", tape.choose(is_zero, 1.0, x), exponent - 1.0)
    return gain * tape.choose(is_zero, 0.0, slope), 0.0


def _extreme(tape: Tape, gain: Scalar, y: Scalar, of: Sequence[Any]) -> Sequence[Any]:
    """All to the one that was taken."""
    first = tape.do("equal", y, of[0])
    return tape.choose(first, gain, 0.0), tape.choose(first, 0.0, gain)


_RULES: dict[str, Rule] = {
    "add": lambda tape, gain, y, of: (gain, gain),
    "subtract": lambda tape, gain, y, of: (gain, -gain),
    "multiply": lambda tape, gain, y, of: (gain * of[1], gain * of[0]),
    "divide": lambda tape, gain, y, of: (gain / of[1], -(gain * y / of[1])),
    "negative": lambda tape, gain, y, of: (-gain,),
    "absolute": lambda tape, gain, y, of: (gain * sign_of(of[0]),),
    "root": lambda tape, gain, y, of: (0.5 * gain / y,),
    "cosine": lambda tape, gain, y, of: (-(gain * tape.do("sine", of[0])),),
    "sine": lambda tape, gain, y, of: (gain * tape.do("cosine", of[0]),),
    "arctangent": lambda tape, gain, y, of: (gain / (1.0 + of[0] * of[0]),),
    "exponential": lambda tape, gain, y, of: (gain * y,),
    "growth": lambda tape, gain, y, of: (gain * (y + 1.0),),
    "hyperbolic_tangent": lambda tape, gain, y, of: (gain * (1.0 - y * y),),
    "power": _power,
    "smaller": _extreme,
    "larger": _extreme,
    "choose": lambda tape, gain, y, of: (
        0.0,
        tape.choose(of[0], gain, 0.0),
        tape.choose(of[0], 0.0, gain),
    ),
}

"""Slopes taken backwards through a tape against those of a complex step and of differences."""

import numpy as np
import pytest

from armtwin.maths.adjoint import gradient, pull_back
from armtwin.maths.tape import Tape, as_symbols
from armtwin.maths.traced_rows import Formula, compute

x0, y0 = 0.7, -1.3
FUNCTIONS = {
    "polynomial": lambda x, y: 3.0 * x * x * y - (y - x) * 2.0 + x,
    "quotient": lambda x, y: (x + 2.0) / (y * y + x),
    "angles": lambda x, y: np.sin(x * y) * np.cos(y) + np.arctan(x - y),
    "growth": lambda x, y: np.exp(-x) * np.tanh(y) + np.expm1(0.5 * x),
    "root": lambda x, y: np.sqrt(x * x + y * y),
    "power": lambda x, y: np.abs(y) ** 0.6 * x,
    "sign": lambda x, y: np.sign(y) * (x * x) + np.abs(x * y),
}


def traced(function, at, tape_values=None):
    """Derivatives of a function of two numbers by the tape, evaluated in plain Python."""
    from armtwin.maths.stretches import Part, evaluate, stretches

    tape = Tape()
    given = tape.inputs("z", (2,))
    symbols = as_symbols(given)
    value = np.asarray(function(symbols[0:1], symbols[1:2]), dtype=object)[0]
    slopes = gradient([value], [1.0], list(given))
    part = Part(tape)
    for k, slope in enumerate(slopes):
        part.put("out", (k,), slope)
    memory = {"z": np.array(at), "out": np.zeros(2)}
    for stretch in stretches(part, "kept"):
        evaluate(stretch, memory)
    return memory["out"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_slopes_are_those_of_central_differences(name):
    """Sixth digit: differences of 1e-6 lose what is beyond."""
    function = FUNCTIONS[name]

    def plain(x, y):
        return float(function(np.array([x]), np.array([y]))[0])

    h = 1e-6
    dx = (plain(x0 + h, y0) - plain(x0 - h, y0)) / (2 * h)
    dy = (plain(x0, y0 + h) - plain(x0, y0 - h)) / (2 * h)
    assert traced(function, (x0, y0)) == pytest.approx([dx, dy], rel=1e-6, abs=1e-8)


def test_a_root_at_zero_has_no_slope_and_no_nan():
    assert traced(lambda x, y: np.abs(x) ** 0.5 * y, (0.0, 2.0)).tolist() == [0.0, 0.0]


def test_a_formula_pulled_back_gives_the_transposed_jacobian(rng):
    """S = Σ w y of a linear map y = A x has the slope Aᵀ w."""
    A = rng.normal(size=(3, 4))

    def trace(of):
        return {"y": (of["A"] * of["x"]).sum(axis=1)}

    formula = Formula(("linear map",), {}, {"A": A}, {"x": (4,)}, {"y": (3,)}, trace)
    x, w = rng.normal(size=(16, 4)), rng.normal(size=(16, 3))
    dx = np.zeros((16, 4))
    compute(pull_back(formula, "y"), (x, w), (dx,))
    np.testing.assert_allclose(dx, w @ A, atol=1e-14)

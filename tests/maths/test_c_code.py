"""The C writer computes what the tape computes."""

import ctypes
import subprocess

import numpy as np
import pytest

from armtwin.drives.friction import curves
from armtwin.drives.friction.presliding import bristle
from armtwin.exchange.export import c_compiler
from armtwin.maths import bits, choice
from armtwin.maths.c_code import PRELUDE, c_function, c_number, c_table
from armtwin.maths.memory import Memory
from armtwin.maths.stretches import Part, evaluate, stretches
from armtwin.maths.tape import Tape, TapeTable
from armtwin.maths.tracing import python_of

needs_compiler = pytest.mark.skipif(
    c_compiler() is None, reason="no C compiler is found on this machine"
)


def in_c(tmp_path, stretch, memory, arrays):
    """Do a stretch as C, on copies of arrays in their memories; returns the memories."""
    text = PRELUDE + c_function("do_it", [stretch], memory)
    text += "\nvoid run(double *const *m) { do_it(m); }\n"
    (tmp_path / "it.c").write_text(text)
    library = tmp_path / "it.so"
    command = [*c_compiler(), "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-pedantic"]
    command += ["-Wno-unused-function", "-fPIC", "-shared", "it.c", "-o", str(library), "-lm"]
    subprocess.run(command, cwd=tmp_path, check=True)
    blocks = [np.zeros(max(size, 1)) for size in memory.sizes]
    for name, values in arrays.items():
        which, first, shape = memory.arrays[name]
        blocks[which][first : first + int(np.prod(shape))] = np.ravel(values)
    pointers = (ctypes.c_void_p * len(blocks))(*(x.ctypes.data for x in blocks))
    ctypes.CDLL(str(library)).run(pointers)
    return blocks


def assert_equal(tmp_path, part, shapes, arrays, tables=()):
    """C and plain Python give the same numbers, up to two roundings."""
    (stretch,) = stretches(part, "kept")
    memory = Memory()
    for name, shape in shapes.items():
        memory.add(name, shape, 1 if name in tables else 0)
    memory.add("kept", (0,), 2)
    plain = {name: np.array(values, dtype=float) for name, values in arrays.items()}
    evaluate(stretch, plain)
    blocks = in_c(tmp_path, stretch, memory, arrays)
    _, first, shape = memory.arrays["found"]
    found = blocks[0][first : first + int(np.prod(shape))].reshape(shape)
    np.testing.assert_allclose(found, plain["found"], rtol=4e-16, atol=1e-300)


@needs_compiler
def test_every_operation_is_written(tmp_path, rng):
    """Integers, truths and doubles; both sides of a branch; fused products of three kinds."""
    tape = Tape()
    x = [tape.input("x", (k,)) for k in range(4)]
    a, b, c, d = x
    whole = python_of(choice.whole)(abs(a) * 10.0)
    costly = np.sin(a) * np.cos(b) + np.arctan(c) / np.sqrt(abs(d))
    values = [
        a * b + c, a * b - c, c - a * b, a / b, -a, abs(b), np.floor(c * 10.0), a**3,
        np.exp(a), np.expm1(b), np.tanh(c), d.sign(),
        whole * 3 + 2, abs(whole - 7), whole - whole * 2, -whole, whole / 3,
        python_of(bits.coarse)(abs(a) + 0.1), python_of(bits.rank)(abs(b) + 0.1),
        python_of(choice.smaller)(a, b), python_of(choice.larger)(whole, 3),
        python_of(choice.choose)(a < b, costly, c),
        python_of(choice.choose)(python_of(choice.both)(a <= b, c != d), 1, 0),
        python_of(choice.choose)(python_of(choice.either)(a == b, c > d), a, whole),
    ]  # fmt: skip
    part = Part(tape)
    for k, value in enumerate(values):
        part.put("found", (k,), value)
    shapes = {"x": (4,), "found": (len(values),)}
    for _ in range(3):
        arrays = {"x": rng.normal(size=4), "found": np.zeros(len(values))}
        assert_equal(tmp_path, part, shapes, arrays)


@needs_compiler
def test_a_friction_table_is_read_by_the_bits_of_the_speed(tmp_path, rng):
    """Over ten orders of magnitude of the speed, both ways."""
    table = rng.normal(size=(1, 2, curves.INTERVALS, 8))
    for w in (0.0, 1e-9, -3e-5, 0.02, -0.7, 5.0):
        tape = Tape()
        part = Part(tape)
        read = TapeTable(tape, "table", table.shape)
        speed = tape.input("w", ())
        found = python_of(bristle)(read, 0, 0.5, 1.0, 1e5, 10.0, speed, 1e-5, 1e-3)
        for k, value in enumerate(found):
            part.put("found", (k,), value)
        shapes = {"w": (), "found": (2,), "table": table.shape}
        arrays = {"w": w, "found": np.zeros(2), "table": table}
        assert_equal(tmp_path, part, shapes, arrays, tables=("table",))


@needs_compiler
def test_inputs_that_change_places_are_read_before_they_are_written(tmp_path):
    tape = Tape()
    one, two = tape.input("found", (0,)), tape.input("found", (1,))
    part = Part(tape)
    part.put("found", (0,), two)
    part.put("found", (1,), one)
    (stretch,) = stretches(part, "kept")
    memory = Memory()
    memory.add("found", (2,))
    (block,) = in_c(tmp_path, stretch, memory, {"found": [1.0, 2.0]})
    assert block.tolist() == [2.0, 1.0]


@pytest.mark.parametrize("value", [0.1, -1e-300, 1.7976931348623157e308, 2.0, -5, 2**40, True])
def test_a_constant_of_c_is_the_number(value):
    word = c_number(value).strip("()").replace("INT64_C(", "")
    assert float(word) == float(value)


def test_infinities_have_names():
    assert c_number(np.inf) == "INFINITY"
    assert c_number(-np.inf) == "(-INFINITY)"


def test_an_empty_table_is_still_c():
    assert "[1]" in c_table("none", [])

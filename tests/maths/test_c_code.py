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
from armtwin.maths.compiled import compiled
from armtwin.maths.machine_code import stretch_kernel
from armtwin.maths.stretches import Memory, Part, evaluate, stretches
from armtwin.maths.tape import Tape, TapeTable
from armtwin.maths.tracing import python_of

needs_compiler = pytest.mark.skipif(
    c_compiler() is None, reason="no C compiler is found on this machine"
)


def compile_stretch(tmp_path, stretch, memory, *options):
    """A stretch as C: a function of arrays, done on copies in their memories, which it returns."""
    text = PRELUDE + c_function("do_it", [stretch], memory)
    text += "\nvoid run(double *const *m) { do_it(m); }\n"
    (tmp_path / "it.c").write_text(text)
    library = tmp_path / f"it{len(list(tmp_path.iterdir()))}.so"
    command = [*c_compiler(), "-std=c99", "-O2", *options, "-Wall", "-Wextra", "-Werror"]
    command += ["-pedantic", "-Wno-unused-function", "-fPIC", "-shared", "it.c"]
    subprocess.run([*command, "-o", str(library), "-lm"], cwd=tmp_path, check=True)
    run = ctypes.CDLL(str(library)).run

    def do(**arrays):
        blocks = [np.zeros(max(size, 1)) for size in memory.sizes]
        for name, values in arrays.items():
            which, first, shape = memory.arrays[name]
            blocks[which][first : first + int(np.prod(shape))] = np.ravel(values)
        run((ctypes.c_void_p * len(blocks))(*(x.ctypes.data for x in blocks)))
        return blocks

    return do


def assert_equal(tmp_path, part, shapes, arrays, tables=()):
    """C and plain Python give the same numbers: up to two roundings, or a few where C fuses."""
    (stretch,) = stretches(part, "kept")
    memory = Memory()
    for name, shape in shapes.items():
        memory.add(name, shape, 1 if name in tables else 0)
    memory.add("kept", (0,), 2)
    plain = {name: np.array(values, dtype=float) for name, values in arrays.items()}
    evaluate(stretch, plain)
    _, first, shape = memory.arrays["found"]
    for option, rounding in (("-DUNFUSED", 4e-16), ("-O0", 4e-15)):
        blocks = compile_stretch(tmp_path, stretch, memory, option)(**arrays)
        found = blocks[0][first : first + int(np.prod(shape))].reshape(shape)
        np.testing.assert_allclose(found, plain["found"], rtol=rounding, atol=1e-300)


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
    (block,) = compile_stretch(tmp_path, stretch, memory)(found=[1.0, 2.0])
    assert block.tolist() == [2.0, 1.0]


def turned(n):
    """A stretch that takes sines and cosines of n angles, and sines of these; its memory."""
    tape = Tape()
    part = Part(tape)
    x = tape.inputs("x", (n,))
    for k in range(n):
        sine, cosine = np.sin(x[k]), np.cos(x[k])
        part.put("found", (k, 0), sine)
        part.put("found", (k, 1), cosine)
        part.put("found", (k, 2), np.sin(sine + 2.0 * cosine))
    (stretch,) = stretches(part, "kept")
    memory = Memory()
    memory.add("x", (n,))
    memory.add("found", (n, 3), 1)
    return stretch, memory


@needs_compiler
@pytest.mark.parametrize("option", ["-O2", "-O3", "-DUNFUSED"])
def test_sines_and_cosines_are_those_of_the_library(tmp_path, rng, option):
    """To two units of the last digit up to 1e5 rad; the library's own digits beyond."""
    do = compile_stretch(tmp_path, *turned(5), option)
    angles = rng.uniform(-1e5, 1e5, (4000, 5))
    angles[::2] /= 1e4
    angles[1] = np.pi * np.array([0.5, 1.0, 1.5, 3001.0, 30000.5])
    angles[0] = 0.0, 1e5, 1.0001e5, -3e9, 1e22
    found = np.array([do(x=row)[1].reshape(5, 3) for row in angles])
    for column, function in enumerate((np.sin, np.cos)):
        ours, theirs = found[:, :, column], function(angles)
        assert np.abs((ours - theirs) / np.spacing(theirs)).max() <= 2.0
        np.testing.assert_array_equal(ours[0, 2:], theirs[0, 2:])


@needs_compiler
def test_digits_are_those_of_the_compiled_kernel(tmp_path, rng):
    """Every one: sines side by side and alone, multiply-adds rounded as this processor can."""
    angles = rng.normal(scale=30.0, size=7)
    stretch, memory = turned(len(angles))
    do = stretch_kernel(lambda: ([stretch], memory))

    @compiled(exact=True)
    def run(memories):
        do(memories)

    wanted = angles.copy(), np.zeros(memory.sizes[1])
    run(wanted)
    found = compile_stretch(tmp_path, stretch, memory)(x=angles)
    np.testing.assert_array_equal(found[1], wanted[1])


@pytest.mark.parametrize("value", [0.1, -1e-300, 1.7976931348623157e308, 2.0, -5, 2**40, True])
def test_a_constant_of_c_is_the_number(value):
    word = c_number(value).strip("()").replace("INT64_C(", "")
    assert float(word) == float(value)


def test_infinities_have_names():
    assert c_number(np.inf) == "INFINITY"
    assert c_number(-np.inf) == "(-INFINITY)"


def test_an_empty_table_is_still_c():
    assert "[1]" in c_table("none", [])

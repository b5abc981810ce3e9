"""The tape computes what the kernel computed, and nothing that is known beforehand."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from armtwin.maths import bits, choice
from armtwin.maths.compiled import compiled
from armtwin.maths.machine_code import stretch_kernel
from armtwin.maths.stretches import Memory, Part, evaluate, stretches
from armtwin.maths.tape import Symbol, Tape, TapeTable
from armtwin.maths.tracing import python_of
from armtwin.maths.vectors import cross, dot, rotate


def value_of(tape, symbol, **memory):
    """What a traced value is for numbers."""
    part = Part(tape)
    part.put("found", (), symbol)
    (stretch,) = stretches(part, "kept")
    arrays = {name: np.asarray(x, dtype=float) for name, x in memory.items()}
    arrays["found"] = np.zeros(())
    evaluate(stretch, arrays)
    return float(arrays["found"])


def names_of(tape, *symbols):
    """Operations that some values need."""
    needed = tape.needed(tape.number_of(x) for x in symbols)
    return [tape.operations[number].name for number in needed]


def test_products_by_zero_and_one_leave_nothing_on_the_tape():
    tape = Tape()
    x = tape.input("x", ())
    assert x * 0.0 == 0.0
    assert (x * 1.0).number == x.number
    assert (0.0 + x).number == x.number
    assert (x - 0.0).number == x.number
    negative = -x
    assert (-negative).number == x.number
    assert ((-1.0) * x).number == (-x).number


def test_what_is_computed_twice_is_kept_once():
    tape = Tape()
    a, b = tape.input("a", ()), tape.input("b", ())
    assert (a * b).number == (b * a).number
    before = len(tape)
    again = a * b + a * b
    assert len(tape) == before + 1
    assert value_of(tape, again, a=2.0, b=3.0) == 12.0


def test_what_nobody_asks_for_is_not_done():
    tape = Tape()
    x = tape.input("x", ())
    _ = np.cos(x) * 3.0
    assert names_of(tape, x + 1.0) == ["input", "constant", "add"]


def test_a_kernel_with_an_axis_of_the_frame_has_only_the_products_that_matter():
    """z · (R x) of an axis (0, 0, 1) is one row of R: three products."""
    tape = Tape()
    R = tape.inputs("R", (1, 3, 3))
    x = tuple(tape.inputs("x", (3,)))
    along = python_of(dot)((0.0, 0.0, 1.0), python_of(rotate)(R, 0, x))
    assert names_of(tape, along).count("multiply") == 3
    rng = np.random.default_rng(0)
    numbers = rng.normal(size=(1, 3, 3)), rng.normal(size=3)
    told = value_of(tape, along, R=numbers[0], x=numbers[1])
    assert told == pytest.approx((numbers[0][0] @ numbers[1])[2], abs=1e-15)


@given(st.lists(st.floats(-1e3, 1e3), min_size=6, max_size=6))
def test_a_traced_kernel_computes_what_the_kernel_computes(numbers):
    tape = Tape()
    symbols = [tape.input("x", (k,)) for k in range(6)]
    traced = python_of(cross)(tuple(symbols[:3]), tuple(symbols[3:]))
    exact = np.cross(numbers[:3], numbers[3:])
    for symbol, number in zip(traced, exact, strict=True):
        assert value_of(tape, symbol, x=numbers) == pytest.approx(number, rel=1e-12, abs=1e-9)


def test_a_branch_on_what_is_not_known_is_refused():
    x = Tape().input("x", ())
    with pytest.raises(TypeError, match=r"use maths\.choice"):
        abs(x) if x > 0 else x


@pytest.mark.parametrize("x", [-2.0, 0.0, 0.5, 3.0])
def test_choices_clips_and_whole_numbers_are_those_of_numbers(x):
    tape = Tape()
    symbol = tape.input("x", ())
    clipped = python_of(choice.smaller)(python_of(choice.larger)(symbol, -1.0), 1.0)
    assert value_of(tape, clipped, x=x) == min(max(x, -1.0), 1.0)
    sign = python_of(choice.choose)(symbol > 0.0, 1.0, -1.0)
    assert value_of(tape, sign, x=x) == (1.0 if x > 0 else -1.0)
    whole = python_of(choice.whole)(abs(symbol))
    assert value_of(tape, whole, x=x) == int(abs(x))


@pytest.mark.parametrize("x", [1e-9, 0.37, 1.0, 1.0624, 1.0626, 5e3])
def test_leading_bits_give_the_nearest_node_below_and_its_place(x):
    """16 nodes in each octave: x = 2^k (1 + i/16 + rest)."""
    exponent = np.floor(np.log2(x))
    sixteenths = np.floor(16 * (x / 2**exponent - 1))
    tape = Tape()
    symbol = tape.input("x", ())
    node = value_of(tape, python_of(bits.coarse)(symbol), x=x)
    assert node == 2**exponent * (1 + sixteenths / 16)
    place = value_of(tape, python_of(bits.rank)(symbol), x=x)
    assert place - value_of(tape, python_of(bits.rank)(symbol), x=1.0) == 16 * exponent + sixteenths


@pytest.mark.parametrize("large", [0.1, 1e6])
def test_sines_and_cosines_taken_together_are_those_of_the_library(large):
    """To two units of the last digit of 1, also where one angle is too large for the polynomial."""
    angles = np.array([0.3, -2.0, 1.5, 40.0, -7.7, large])
    n = len(angles)
    tape = Tape()
    part = Part(tape)
    x = tape.inputs("x", (n,))
    for i in range(n):
        part.put("y", (i, 0), np.sin(x[i]))
        part.put("y", (i, 1), np.cos(x[i]))
    part.put("y", (n, 0), np.sin(np.cos(x[0])))  # an angle that comes from another one
    memory = Memory()
    memory.add("x", (n,))
    memory.add("y", (n + 1, 2))
    do = stretch_kernel(lambda: (stretches(part, "kept"), memory))

    @compiled
    def run(memories):
        do(memories)

    numbers = np.zeros(memory.sizes[0])
    numbers[:n] = angles
    run((numbers,))
    found = numbers[n:].reshape(n + 1, 2)
    assert np.abs(found[:n, 0] - np.sin(angles)).max() < 5e-16
    assert np.abs(found[:n, 1] - np.cos(angles)).max() < 5e-16
    assert found[n, 0] == pytest.approx(np.sin(np.cos(angles[0])), rel=1e-15)


def test_a_table_is_read_where_it_is_computed():
    tape = Tape()
    table = TapeTable(tape, "table", (4, 2))
    place = python_of(choice.whole)(tape.input("x", ()))
    numbers = np.arange(8.0).reshape(4, 2)
    assert value_of(tape, table[place, 1], x=2.7, table=numbers) == numbers[2, 1]


def test_what_does_not_change_in_a_loop_is_computed_before_it():
    tape = Tape()
    a, x = tape.input("a", ()), tape.input("x", ())
    part = Part(tape)
    part.put("y", (), (a * a + 1.0) * x)
    before, inside = stretches(part, "kept", [{"a"}])
    assert [tape.operations[k].name for k in before.numbers] == [
        "input",
        "multiply",
        "constant",
        "add",
    ]
    memory = {name: np.array(v) for name, v in (("a", 2.0), ("x", 3.0), ("y", 0.0))}
    memory["kept"] = np.zeros(len(before.kept))
    evaluate(before, memory)
    evaluate(inside, memory)
    assert memory["y"] == 15.0


def test_only_the_side_of_a_choice_that_is_costly_gets_a_branch():
    tape = Tape()
    x = tape.input("x", ())
    costly = np.sqrt(np.sqrt(x * x + 1.0)) / (x + 2.0)
    part = Part(tape)
    part.put("y", (), tape.choose(x > 1.0, costly, x))
    (stretch,) = stretches(part, "kept")
    assert {holds for _, holds in stretch.sides.values()} == {True}
    assert len(stretch.sides) >= 5


def test_two_tapes_do_not_mix():
    with pytest.raises(TypeError, match="two tapes"):
        _ = Tape().input("x", ()) + Tape().input("y", ())
    assert isinstance(Tape().input("x", ()), Symbol)

"""Kernels traced over the rows of a batch: equal to those they were traced from."""

import math
from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.drives.friction.coulomb import Coulomb
from armtwin.drives.friction.table import TabulatedFriction
from armtwin.maths import batch
from armtwin.maths.stretches import evaluate
from armtwin.maths.traced_rows import LEAST_ROWS, Formula, compute
from armtwin.mechanics import kinematics, linearisation, mass, newton_euler
from armtwin.robot.dynamics import equations as dynamics, formulas
from armtwin.robot.dynamics.traced import whole_regressor
from tests.oracles import as_robot, random_arm

SHIPPED = ["rx90b", "lwa4p", "kr300", "tx40", "epaas"]


def inputs_of(formula, state):
    """What a formula takes of q, v, a; the accelerations stand for torques too."""
    given = dict(zip("qva", state, strict=True)) | {"tau": state[2]}
    return [given[name] for name in formula.inputs]


def one_row(formula, state):
    """The outputs of a formula for a state, its tape evaluated in plain Python."""
    before, row = formula.stretches()
    given = zip(formula.inputs, inputs_of(formula, state), strict=True)
    memory = {**formula.patterns, **formula.numbers, **dict(given)}
    memory = {name: np.asarray(values, dtype=float) for name, values in memory.items()}
    memory["kept"] = np.zeros(len(before.kept))
    for name, shape in formula.outputs.items():
        memory[name] = np.full(shape, np.nan)
    evaluate(before, memory)
    evaluate(row, memory)
    return memory


def generic(robot, state):
    """All that formulas give, (m, ...), by the kernels for all arms."""
    assembly = robot.assembly
    arm, rotors = assembly.arm, assembly.rotors
    q, v, a = state
    m, n = q.shape
    assert m < LEAST_ROWS
    found = {"tau": np.empty((m, n)), "K": np.empty((m, n, n)), "D": np.empty((m, n, n))}
    newton_euler.inverse_dynamics(arm, rotors, *state, found["tau"], 0, m)
    linearisation.linearise(arm, rotors, *state, found["K"], found["D"], 0, m)
    force = a.copy()
    for strut in assembly.struts:
        found["tau"][:, strut.joint] += strut.torque(q)
        force[:, strut.joint] -= strut.torque(q)
    found["M"] = np.array([mass.mass_matrix(arm, rotors, x) for x in q])
    each = [mass.forward_dynamics(arm, rotors, *x) for x in zip(q, v, force, strict=True)]
    found["a"] = np.array([x for x, _ in each])
    found["definite"] = np.array([[float(definite)] for _, definite in each])
    body, X_BF = assembly.frame("tool")
    found["X"], found["J"] = np.empty((m, 4, 4)), np.empty((m, 6, n))
    kinematics.poses(arm, body, X_BF, q, found["X"], 0, m)
    kinematics.jacobians(arm, body, X_BF[:3, 3].copy(), q, found["J"], 0, m)
    found["Y"] = np.zeros((m, n, len(robot.parameters)))
    dynamics.full_regressor(assembly, state, found["Y"])
    return found


def assert_same(found, exact, name):
    """Equal to 1e-13 of the largest entry; of a regressor, of the largest of its column.

    Where only rounding is left (a column of zeros, no damping), it is compared to 1. Accelerations
    have the condition of the mass matrix before them.
    """
    size = np.abs(exact).max(axis=(0, 1)) if name == "Y" else np.abs(exact).max()
    size = np.maximum(size, 1.0)
    assert (np.abs(found - exact) <= (1e-12 if name == "a" else 1e-13) * size).all(), name


def assert_same_row(robot, formulas, rng):
    state = rng.normal(size=(3, 1, len(robot.assembly.arm.parent)))
    exact = generic(robot, state)
    for formula in formulas:
        found = one_row(formula, state[:, 0])
        for name in formula.outputs:
            assert_same(found[name][None], exact[name], name)


def formulas_of(robot):
    """All formulas of a robot, the linearisation last."""
    assembly = robot.assembly
    body, X_BF = assembly.frame("tool")
    makers = formulas.inverse_dynamics, formulas.mass_matrix, formulas.forward_dynamics
    return [
        *(make(assembly, assembly.rotors) for make in makers),
        formulas.pose(assembly, body, X_BF),
        formulas.jacobian(assembly, body, X_BF),
        whole_regressor(assembly),
        formulas.linearisation(assembly, assembly.rotors),
    ]


@pytest.mark.parametrize("name", SHIPPED)
def test_the_tape_of_a_shipped_robot_computes_what_its_kernels_compute(robots, name, rng):
    """Balancers, cylinders, coupled rotors, every law that these robots have."""
    assert_same_row(robots[name], formulas_of(robots[name]), rng)


@pytest.mark.parametrize("n", range(1, 13))
def test_the_tape_of_a_random_tree_computes_what_its_kernels_compute(n):
    """Odd angles, prismatic joints, branches, a tilted base."""
    rng = np.random.default_rng(n)
    robot = as_robot(random_arm(rng, n))
    found = formulas_of(robot)
    assert_same_row(robot, found if n <= 8 else found[:-1], rng)


def test_spinning_rotors_sided_laws_and_offsets_are_on_the_tape(robots, rng):
    description = robots["rx90b"].description
    sided = []
    for element in description.friction:
        sided.append(replace(element, negative=Coulomb(2.0), offset=0.3))
    gear = replace(description.gear, gyroscopic=True)
    robot = at.Robot(replace(description, friction=tuple(sided), gear=gear))
    assert len(robot.assembly.rotors.body) > 0
    assert_same_row(robot, formulas_of(robot), rng)


def test_compiled_rows_are_those_of_the_kernels_for_all_arms(robots, rng, monkeypatch):
    """Rows that fill no whole group of lanes, in three threads; some joints at rest."""
    robot = robots["rx90b"]
    m = 1501
    state = rng.normal(size=(3, m, 6))
    state[1, ::7] = 0.0
    exact = generic(robot, state)
    monkeypatch.setattr(batch, "thread_count", lambda: 3)
    for formula in formulas_of(robot):
        found = {name: np.full((m, *shape), np.nan) for name, shape in formula.outputs.items()}
        compute(formula, inputs_of(formula, state), list(found.values()))
        for name, values in found.items():
            assert_same(values, exact[name], name)


def test_a_large_batch_gives_the_torques_and_columns_of_small_ones(robots, rng):
    robot = robots["rx90b"]
    state = rng.normal(size=(3, LEAST_ROWS, 6))
    some = slice(100, 200)
    small = [x[some] for x in state]
    assert_same(robot.inverse_dynamics(*state)[some], robot.inverse_dynamics(*small), "tau")
    Y = robot.regressor(*state)
    assert_same(Y[some], robot.regressor(*small), "Y")
    again = robot.regressor(*state[:, ::-1], out=Y)
    assert again is Y or np.shares_memory(again, Y)
    assert_same(again[::-1][some], robot.regressor(*small), "Y")


def test_a_state_alone_gives_the_digits_that_it_has_in_a_batch(robots, rng):
    robot = robots["rx90b"]
    q, v, a = rng.normal(size=(3, 9, 6))
    calls = {
        "inverse dynamics": lambda rows: robot.inverse_dynamics(q[rows], v[rows], a[rows]),
        "forward dynamics": lambda rows: robot.forward_dynamics(q[rows], v[rows], a[rows]),
        "mass matrix": lambda rows: robot.mass_matrix(q[rows]),
        "pose": lambda rows: robot.forward_kinematics(q[rows]),
        "jacobian": lambda rows: robot.jacobian(q[rows]),
    }
    for name, call in calls.items():
        every = call(slice(None))
        assert np.array_equal(call(4), every[4]), name
        for some in (slice(2, 5), slice(3, 8), slice(0, 0)):
            assert np.array_equal(call(some), every[some]), name
    backwards = robot.inverse_dynamics(q[::-1, ::-1], v[::-1, ::-1], a[::-1, ::-1])[::-1]
    turned = robot.inverse_dynamics(*(x[:, ::-1].copy() for x in (q, v, a)))
    assert np.array_equal(backwards, turned)


def test_a_row_without_the_compiler_is_that_of_the_kernel(robots, rng, monkeypatch):
    robot = robots["lwa4p"]
    state = rng.normal(size=(3, 2, 6))
    compiled = robot.inverse_dynamics(*state)
    monkeypatch.setattr("armtwin.maths.traced_rows.compiles", lambda: False)
    assert_same(robot.inverse_dynamics(*state), compiled, "tau")


def test_elementary_functions_in_lanes_are_those_of_the_library(rng):
    """Four units of the last digit; a power loses as many as its logarithm is large."""

    def trace(of):
        x, y = of["x"][0], of["x"][1]
        found = [np.sin(x), np.cos(x), np.exp(x), abs(x) ** y, np.tanh(x), np.expm1(x), x**3]
        return {"found": np.array(found, dtype=object)}

    numbers, shapes = {"none": np.zeros(1)}, ({"x": (2,)}, {"found": (7,)})
    formula = Formula(("functions",), {}, numbers, *shapes, trace)
    x = np.concatenate(
        [rng.normal(size=400), rng.uniform(-700, 700, 400), rng.normal(size=101) * 1e7]
    )
    x = np.concatenate([x, [0.0, 0.0, -0.0, 1e-200, math.pi / 2, -math.pi, 1.0]])
    y = rng.uniform(0, 2, size=len(x))
    y[-7:-5] = 0.0, 0.5
    found = np.empty((len(x), 7))
    compute(formula, [np.column_stack([x, y])], [found])
    with np.errstate(over="ignore"):
        exact = [np.sin(x), np.cos(x), np.exp(x), np.abs(x) ** y, np.tanh(x), np.expm1(x), x**3]
    tiny = np.finfo(float).eps
    for k, values in enumerate(exact):
        near = np.isclose(
            found[:, k], values, rtol=(4 if k not in (3, 6) else 100) * tiny, atol=tiny
        )
        assert near.all(), (k, x[~near], found[~near, k], values[~near])


def test_variants_of_a_robot_share_a_kernel_and_another_law_makes_a_new_one(robots):
    robot = robots["rx90b"]
    name = whole_regressor(robot.assembly).name
    assert whole_regressor(robot.with_tool("laser_head").assembly).name == name
    elements = robot.description.friction

    def name_with(law):
        first = replace(elements[0], law=law, source="assumed: a test")
        changed = replace(robot.description, friction=(first, *elements[1:]))
        formula = whole_regressor(at.Robot(changed).assembly)
        return None if formula is None else formula.name

    assert name_with(replace(elements[0].law, speed=0.1, exponent=0.7)) == name
    assert name_with(Coulomb(1.0)) not in (None, name)
    assert name_with(TabulatedFriction((0.1, 1.0), (3.0, 4.0))) is None


def test_torques_are_written_into_earlier_ones(robots, rng):
    robot = robots["rx90b"]
    first, second = rng.normal(size=(2, 3, 20, robot.n))
    out = robot.inverse_dynamics(*first)
    again = robot.inverse_dynamics(*second, out=out)
    assert np.shares_memory(again, out)
    assert np.array_equal(again, robot.inverse_dynamics(*second))
    apart = np.empty((robot.n, 20)).T  # not in one piece: not written to
    assert np.array_equal(robot.inverse_dynamics(*second, out=apart), again)

"""Misused calls of every public name: each argument in turn is what no such argument can be.

The sentence names the argument. Other arguments are objects of the right class that hold nothing:
a call that did anything with them would fail otherwise.
"""

import inspect
import pickle
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
    "Callable": len,
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

    def full(found):
        alias = resolve(call, found[0])
        is_plain = found[0] == "ArrayLike" or isinstance(alias, type | types.ModuleType)
        return found[0] if is_plain else str(alias)

    return re.sub(r"[A-Za-z][\w.]*", full, annotation)


def resolve(call, name):
    """What a name, or a name of a module, is where a call was written; itself if nothing."""
    first, *more = name.split(".")
    found = vars(sys.modules[call.__module__]).get(first, name)
    for part in more:
        found = getattr(found, part, name)
    return found


def hollow(call, annotation):
    """An object that an annotation allows, and that holds nothing."""
    full = spell_out(call, annotation)
    if "Literal" in full:
        return re.search(r"'(\w+)'", full)[1]
    for word, value in HOLLOW.items():
        if re.search(rf"\b{word}\b", full):
            return value
    first = re.match(r"(Annotated.)?([\w.]+)", annotation)[2]
    noun = resolve(call, first)
    noun = getattr(at, first) if isinstance(noun, str) else noun
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
        for method in dir(noun):
            held = inspect.getattr_static(noun, method)
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


# right kinds with values that cannot be, on a robot and a log that are there

STAMPS = np.arange(100) / 100.0
JOINTS = np.zeros((100, 6))


@pytest.fixture(scope="module")
def robot():
    return at.Robot.load("rx90b").with_tool("laser_head")


def methods_of_arrays():
    """Methods of a robot that take arrays of its joints, with the names of these."""
    for method, held in vars(at.Robot).items():
        if inspect.isfunction(held) and not method.startswith("_"):
            known = inspect.signature(held).parameters.values()
            names = [x.name for x in known if x.annotation == "ArrayLike" and x.name in "q v a tau"]
            others = [x for x in known if x.default is NEEDED and x.name not in ("self", *names)]
            if names and not others:
                yield method, names


@pytest.mark.parametrize(("method", "names"), [*methods_of_arrays()])
def test_a_robot_is_asked_for_finite_numbers_of_its_own_joints(robot, method, names):
    """1e299 is finite, its square is not; six joints are neither five nor none."""
    call = getattr(robot, method)
    for wrong in names:
        for value in (np.nan, np.inf, -np.inf, 1e299):
            given = dict.fromkeys(names, robot.home)
            with pytest.raises(at.ArmtwinError, match="must be finite"):
                call(**{**given, wrong: np.where(np.arange(6) == 2, value, robot.home)})
        for shape in ((5,), (7,), (0,), (6, 5), ()):
            with pytest.raises(at.ArmtwinError, match="must have shape"):
                call(**{**given, wrong: np.zeros(shape)})


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: at.Log.of(STAMPS.astype("m8[s]")), "time must be an array of numbers"),
        (lambda: at.Log.of(STAMPS.astype("M8[s]")), "got an array of datetime64"),
        (lambda: at.Log.of([timedelta(k) for k in range(9)]), "time must be an array of numbers"),
        (lambda: at.Log.of(STAMPS, q=JOINTS.astype("M8[s]")), "q must be an array of numbers"),
        (lambda: at.Log.of(STAMPS, q=JOINTS + 1j), "q must be an array of numbers"),
        (lambda: at.Log.of(STAMPS, q=np.ma.masked_equal(JOINTS, 0)), "with masked values"),
        (lambda: at.Log.of(STAMPS, q=JOINTS, v=JOINTS[:, :5]), "as many columns as 'q', 6, got 5"),
        (lambda: at.Log.of(STAMPS, q_m=JOINTS[:, :5], current=JOINTS), "as 'q_m', 5, got 6"),
        (lambda: at.Log.of(STAMPS, (), "ab", q=JOINTS), "joint_names must be"),
        (lambda: at.Log.of(STAMPS, (), ["a", "b"], q=JOINTS), "'joint_names', 2, got 6"),
        (lambda: at.Event.of([1.0, "x"]), "an event must be a list"),
        (lambda: at.OneJoint(1, inertia=-1), "inertia must be a number in kg m.2 greater than 0"),
        (lambda: at.Trajectory(0.0, JOINTS, JOINTS, JOINTS), "rate must be a number in Hz"),
        (lambda: at.film_height(1.0, 1.0, 1.0, 1.0, 0.0, 1.0), "load must be a number greater"),
        (lambda: at.lubrication_number(1.0, -1.0, 1.0, 1.0), "sum_speed must be a number of at"),
        (lambda: at.armstrong_steps([1.0, 2.0, np.nan], [1, 2, 3]), "v must be finite"),
        (lambda: at.lubricated_steps(np.arange(1, 9), -np.ones(8)), "must be above 0, got -1"),
        (lambda: at.separated_wrist([[1, 2]], [[1, 2], [3, 4]]), "against must have shape"),
        (lambda: at.FrictionCurves.of("ab", [0], [1.0], [1.0]), "joint_names must be a sequence"),
        (lambda: at.FrictionCurves.of(["a"], [1], [1.0], [1.0]), "from 0 to 0, got"),
        (lambda: at.FrictionCurves.of(["a"], [0, 0], [1, 2], [1.0]), "torque must have shape"),
        (lambda: at.predict(), "at.predict: missing a required argument: 'job'"),
        (lambda: at.predict("rx90b_line", speeed=3), "unexpected keyword argument 'speeed'"),
        (lambda: at.analyse(at.Robot.load("tx40"), "torqes"), "Did you mean 'torques'"),
        (lambda: at.Robot.load("tx40").save(""), "it is no name of a file"),
        (lambda: at.Robot.load("tx40").save("a\0b"), "it is no name of a file"),
    ],
)
def test_what_would_be_wrong_in_silence_is_refused(call, sentence):
    with pytest.raises(at.ArmtwinError, match=sentence):
        call()


def test_a_motion_that_is_no_number_is_not_simulated(robot):
    still = np.tile(robot.home, (50, 1))
    for place in range(3):
        arrays = [still, 0 * still, 0 * still]
        arrays[place] = np.where(np.arange(6) == 2, np.nan, arrays[place])
        with pytest.raises(at.ArmtwinError, match=f"{'qva'[place]} must be finite"):
            at.simulate(robot, at.Trajectory(250.0, *arrays))


def test_a_motion_is_made_no_longer_than_memory_holds():
    motion = at.Trajectory(250.0, JOINTS, JOINTS, JOINTS)
    for call in (lambda: motion.with_standstill(1e8, 0.0), lambda: motion.at_rate(1e9)):
        with pytest.raises(at.ArmtwinError, match="at most 50000000 samples"):
            call()


def test_a_public_function_is_pickled_by_its_public_name():
    """It is another object than that of its module, which workers of others must find again."""
    assert pickle.loads(pickle.dumps(at.predict)) is at.predict

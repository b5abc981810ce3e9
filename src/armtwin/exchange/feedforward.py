"""Inverse dynamics and friction of a robot as C99: one header, one source, no dependency.

The same formulas as in Python, run with symbols; every number of the robot is a constant.
"""

from __future__ import annotations

import ctypes
import time
from collections.abc import Mapping, Sequence
from importlib import resources
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.exchange.export import compile_binary
from armtwin.maths.batch import Floats
from armtwin.maths.c_code import PRELUDE, c_function
from armtwin.maths.stretches import Memory, Part, evaluate, stretches
from armtwin.maths.tape import Tape, as_symbols
from armtwin.robot.dynamics import formulas, traced
from armtwin.robot.robot import Robot

STATES, TORQUES = ("q", "v", "a"), ("tau", "friction")


def write_feedforward(robot: Robot, name: str) -> dict[str, str]:
    """Header and source by file name.

    Args:
        robot: The robot, tool mounted.
        name: Name of both files and of what they define, valid in C.
    """
    comment = ", ".join(robot.joint_names).replace("*/", "* /")
    title = robot.name.replace("*/", "* /")
    words = {"name": name, "n": str(robot.n), "joints": comment, "title": title}
    part, memory = trace_torques(robot)
    body = c_function("compute_torques", stretches(part, "kept"), memory)
    source = "\n".join([f'#include "{name}.h"', PRELUDE, body, fill_source(".c", words)])
    return {f"{name}.h": fill_source(".h", words), f"{name}.c": source}


def fill_source(file: str, words: Mapping[str, str]) -> str:
    """A shipped source of the feed-forward with words in its places."""
    place = resources.files("armtwin.exchange") / "sources" / f"feedforward{file}"
    return Template(place.read_text("utf-8")).substitute(words)


def trace_torques(robot: Robot) -> tuple[Part, Memory]:
    """Torques of one state on a tape, and where they lie: an array a memory."""
    assembly, n = robot.assembly, robot.n
    columns = traced.whole_regressor(assembly)
    if columns is None:
        raise ArmtwinError(f"robot '{robot.name}': a friction law that is a table is not written")
    rigid = formulas.inverse_dynamics(assembly, assembly.rotors)
    tape, memory = Tape(), Memory()
    for place, array in enumerate((*STATES, *TORQUES)):
        memory.add(array, (n,), place)
    state: dict[str, Any] = {array: as_symbols(tape.inputs(array, (n,))) for array in STATES}
    coupling = assembly.coupling
    if coupling is not None:
        state = {array: as_symbols(coupling.G @ x) for array, x in state.items()}
        state["q"] = state["q"] + coupling.c
    torque = rigid.trace({**rigid.patterns, **rigid.numbers, **state})["tau"]
    Y = columns.trace({**columns.patterns, **columns.numbers, **state})["Y"]
    first = assembly.layout.friction.start
    phi = robot.parameters
    found = {"tau": torque, "friction": Y[:, first:] @ phi[first:]}
    part = Part(tape)
    for array, values in found.items():
        own = values if coupling is None else coupling.G.T @ values
        for joint, value in np.ndenumerate(own):
            part.put(array, joint, value)
    return part, memory


def evaluate_torques(robot: Robot, states: Sequence[Floats]) -> Floats:
    """Both torques, (2, m, n), as the tape gives them without a compiler."""
    part, _ = trace_torques(robot)
    (stretch,) = stretches(part, "kept")
    found = np.empty((2, *states[0].shape))
    for k, rows in enumerate(zip(*states, strict=True)):
        own = dict(zip(TORQUES, found[:, k], strict=True))
        evaluate(stretch, {**dict(zip(STATES, rows, strict=True)), **own})
    return found


class Compiled(NamedTuple):
    """What a compiled source computed: both torques, (m, n) each, and the time a call took [s]."""

    tau: Floats
    friction: Floats
    call: float


def run_compiled(
    compiler: list[str], sources: dict[str, str], name: str, states: Sequence[Floats]
) -> Compiled:
    """Compile both files and run them at positions, speeds and accelerations, (m, n) each."""
    m, n = states[0].shape
    main = {"rows.c": fill_source("_rows.c", {"name": name, "n": str(n)})}
    with TemporaryDirectory(prefix="armtwin-c-", ignore_cleanup_errors=True) as folder:
        binary = Path(folder, "rows.bin")
        binary.write_bytes(compile_binary(compiler, sources | main, "rows.c"))
        rows = ctypes.CDLL(str(binary)).rows
    rows.restype = None
    tables = [np.ascontiguousarray(x, dtype=np.float64) for x in states]
    tables += [np.empty((m, n)), np.empty((m, n))]
    pointers = [x.ctypes.data_as(ctypes.POINTER(ctypes.c_double)) for x in tables]
    started = time.perf_counter()
    rows(*pointers, ctypes.c_long(m))
    call = (time.perf_counter() - started) / m
    return Compiled(tables[3], tables[4], call)

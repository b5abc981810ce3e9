"""The process in which an external FMU runs: it answers lines of JSON with lines of JSON.

Started as a program of its own, under a supervisor. What the unit prints goes nowhere; what it does
to memory, or a step that never ends, harms this process only.
"""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

from armtwin.errors import LONGEST_PROBLEM, did_you_mean, shorten
from armtwin.exchange.confinement import confine, supervise

if TYPE_CHECKING:
    from armtwin.maths.batch import NamedNumbers

VERSIONS = ("2.0", "3.0")
UNIT, WORK = "unit", "work"  # folders of the unit's files, and of what it writes


def _ignore(*_: object) -> None:
    """What a unit says of itself: that it stops is seen from outside."""


class UnitInFmpy:
    """An instance of a unit for co-simulation."""

    def __init__(self, folder: str, start: NamedNumbers, inputs: list[str], outputs: list[str]):
        import fmpy

        described = fmpy.read_model_description(folder, validate=False)
        if not described.fmiVersion.startswith(VERSIONS):
            raise ValueError(f"is of FMI {described.fmiVersion}; 2.0 and 3.0 are understood")
        if described.coSimulation is None:
            raise ValueError("is not for co-simulation")
        self.references = {}
        for variable in described.modelVariables:
            if variable.type in ("Real", "Float64"):
                self.references[variable.name] = variable.valueReference
        self.inputs, self.outputs = self._of(inputs), self._of(outputs)
        self.is_old = described.fmiVersion.startswith("2")
        self.time = 0.0
        # one of its own: that of an instance before it may be gone, and fmpy would call it
        options: dict[str, Any] = {"fmi_type": "CoSimulation", "logger": _ignore}
        self.unit = fmpy.instantiate_fmu(folder, described, **options)
        self._set(self._of(list(start)), list(start.values()))
        if self.is_old:
            self.unit.setupExperiment(startTime=0.0)
            self.unit.enterInitializationMode()
        else:
            self.unit.enterInitializationMode(startTime=0.0)
        self.initialising = True

    def _of(self, names: list[str]) -> list[int]:
        found = []
        for name in names:
            if name not in self.references:
                hint = did_you_mean(name, self.references)
                raise ValueError(f"has no number '{name}'. {hint}")
            found.append(self.references[name])
        return found

    def _set(self, references: list[int], values: list[float]) -> None:
        if references:
            put = self.unit.setReal if self.is_old else self.unit.setFloat64
            put(references, values)

    def asked(self, time: float, values: list[float]) -> list[float]:
        """Outputs at a time: the steps up to it, then the inputs as they are there."""
        if self.initialising:
            self._set(self.inputs, values)
            self.unit.exitInitializationMode()
            self.initialising = False
        elif time > self.time:
            self.unit.doStep(self.time, time - self.time)
            self.time = time
        self._set(self.inputs, values)
        get = self.unit.getReal if self.is_old else self.unit.getFloat64
        return list(get(self.outputs)) if self.outputs else []


def serve(lines: TextIO, answers: TextIO) -> None:
    """Answer until there are no more lines."""
    unit: UnitInFmpy | None = None
    for line in lines:
        asked = json.loads(line)
        try:
            if unit is None:
                folder = Path(asked["folder"])
                confine(folder / WORK)
                names = asked["inputs"], asked["outputs"]
                unit = UnitInFmpy(str(folder / UNIT), asked["start"], *names)
                answer: dict[str, Any] = {"ready": True}
            else:
                answer = {"outputs": unit.asked(asked["time"], asked["inputs"])}
        except ImportError:
            answer = {"problem": "needs the extra fmi (fmpy): pip install armtwin[fmi]"}
        except Exception as error:  # whatever an external FMU does is reported, not raised
            answer = {"problem": shorten(str(error) or type(error).__name__, LONGEST_PROBLEM)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


def host() -> None:
    """Keep our own standard output for answers, and redirect the unit's to nowhere."""
    own = os.dup(1)
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    os.dup2(nowhere, 2)
    with os.fdopen(own, "w", encoding="utf-8") as answers:
        serve(sys.stdin, answers)


if __name__ == "__main__":
    if len(sys.argv) > 1:
        supervise(int(sys.argv[1]), host)
    else:  # where a process cannot be forked
        host()

"""What tests of units share: a compiler or a reason, hosts in C and in fmpy, instances."""

import subprocess
import zipfile
from contextlib import contextmanager
from pathlib import Path

import fmpy
import numpy as np
import pytest

from armtwin.exchange.export import c_compiler

HERE = Path(__file__).parent

needs_compiler = pytest.mark.skipif(
    c_compiler() is None, reason="no C compiler is found on this machine"
)


def compiled(folder, name, *options):
    """A C file of this folder as a program or library."""
    target = Path(folder) / f"{name}.out"
    command = [*c_compiler(), "-std=gnu99", "-O1", *options, str(HERE / f"{name}.c")]
    subprocess.run([*command, "-o", str(target), "-ldl", "-lm"], check=True)
    return target


class Unit:
    """A unit in fmpy by the names of its variables, FMI 2.0 or 3.0."""

    def __init__(self, path, folder, fmi_type="CoSimulation"):
        self.described = fmpy.read_model_description(str(path))
        fmpy.extract(str(path), str(folder))
        self.folder = folder
        self.reference = {x.name: x.valueReference for x in self.described.modelVariables}
        self.is_old = self.described.fmiVersion.startswith("2")
        self.messages = []
        self.unit = fmpy.instantiate_fmu(
            str(folder), self.described, fmi_type=fmi_type, logger=self._logger()
        )

    def _logger(self):
        def keep(*words):
            self.messages.append(words[-1])

        return keep if self.is_old else None

    def begin(self, inputs=None, parameters=None, start=0.0):
        self.set(parameters or {})
        if self.is_old:
            self.unit.setupExperiment(startTime=start)
            self.unit.enterInitializationMode()
        else:
            self.unit.enterInitializationMode(startTime=start)
        self.set(inputs or {})
        self.unit.exitInitializationMode()

    def set(self, values):
        if values:
            put = self.unit.setReal if self.is_old else self.unit.setFloat64
            put([self.reference[name] for name in values], [float(x) for x in values.values()])

    def get(self, *names):
        ask = self.unit.getReal if self.is_old else self.unit.getFloat64
        return np.array(ask([self.reference[name] for name in names]))

    def step(self, time, duration):
        self.unit.doStep(time, duration)

    def drive(self, times, values, name, output="motor_angle"):
        """Through times under an input that is linear between them: the output at each."""
        found = [self.get(output)[0]]
        for k in range(len(times) - 1):
            duration = times[k + 1] - times[k]
            rate = (values[k + 1] - values[k]) / duration
            self.set({name: values[k], f"{name}_rate": rate})
            self.step(times[k], duration)
            found.append(self.get(output)[0])
        return np.array(found)


@contextmanager
def opened(path, tmp_path, **options):
    """A unit in fmpy, freed at the end."""
    folder = tmp_path / f"unpacked {path.stem} {len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    found = Unit(path, folder, **options)
    try:
        yield found
    finally:
        found.unit.freeInstance()


def hosted(host, path, folder, times, values, names, *, instances=1, around=()):
    """Outputs of a unit in the plain C host, driven by an input that is linear between times."""
    described = fmpy.read_model_description(str(path))
    version = int(described.fmiVersion[0])
    reference = {x.name: x.valueReference for x in described.modelVariables}
    with zipfile.ZipFile(path) as archive:
        (member,) = [x for x in archive.namelist() if x.startswith("binaries/")]
        library = Path(folder) / "unit.so"
        library.write_bytes(archive.read(member))
    token = described.guid if version == 2 else described.instantiationToken
    rates = np.append(np.diff(values) / np.diff(times), 0.0)
    rows = "\n".join(
        f"{t!r} {x!r} {r!r}"
        for t, x, r in zip(times.tolist(), values.tolist(), rates.tolist(), strict=True)
    )
    numbers = [str(reference[name]) for name in names]
    command = [*around, str(host), str(library), token, str(version), str(instances), *numbers]
    done = subprocess.run(command, input=rows, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return np.array([float(word) for word in done.stdout.split()])

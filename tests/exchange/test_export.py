"""Sources of a unit are plain C; its binary runs on any processor of its platform."""

import os
import subprocess
import sys
import time
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.exchange.export import c_compiler
from tests.exchange.hostile import MARK, processes_marked
from tests.exchange.test_robot_unit import followed
from tests.exchange.units import needs_compiler, opened


@needs_compiler
def test_a_processor_that_rounds_products_and_sums_gives_the_same_motion(
    line, line_unit, tmp_path, monkeypatch
):
    """0.8 s of the line within 1e-9 rad with and without fused multiply-adds (it is 1e-15)."""
    robot, model, motion = line
    some = at.Trajectory(motion.rate, motion.q[:200], motion.v[:200], motion.a[:200])
    monkeypatch.setenv("CC", " ".join([*c_compiler(), "-DUNFUSED"]))
    plain = tmp_path / "plain.fmu"
    at.export_fmu(robot, plain, at.WholeRobot(model, motion.q[0]))
    with opened(line_unit, tmp_path) as unit:
        wanted = followed(unit, some)
    with opened(plain, tmp_path) as unit:
        found = followed(unit, some)
    for ours, theirs in zip(found, wanted, strict=True):
        assert np.abs(ours - theirs).max() < 1e-9


@needs_compiler
@pytest.mark.parametrize("friction", ["lugre", "switching"])
@pytest.mark.parametrize("version", [2, 3])
def test_sources_compile_without_a_warning(line, tmp_path, friction, version):
    robot, model, _ = line
    whole = at.WholeRobot(replace(model, friction=friction, joints="elastic"))
    gear = at.OneJoint(1, friction=friction)
    for name, of, part in (("robot", robot, whole), ("gear", at.Robot.load("kr300"), gear)):
        path = tmp_path / f"{name}.fmu"
        at.export_fmu(of, path, part, fmi=version, sources_only=True)
        folder = tmp_path / name
        with zipfile.ZipFile(path) as archive:
            archive.extractall(folder)
        strict = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-c", f"fmi{version}.c"]
        command = [*c_compiler(), *strict, "-o", "unit.o"]
        done = subprocess.run(
            command, cwd=folder / "sources", capture_output=True, text=True, check=False
        )
        assert done.returncode == 0, done.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="looks at processes of Linux")
def test_an_export_that_is_stopped_leaves_neither_folder_nor_process(tmp_path):
    """A compiler that takes for ever, with a child; SIGTERM ends all of it."""
    slow = tmp_path / "slow"
    slow.write_text("#!/bin/sh\nsleep 1000 &\nsleep 1000\n")
    slow.chmod(0o755)
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    marks = {"CC": str(slow), "TMPDIR": str(temporary), MARK: str(tmp_path)}
    command = [sys.executable, "-m", "armtwin", "export", "fmu", "kr300", "--joint", "1"]
    process = subprocess.Popen(
        command, cwd=tmp_path, env={**os.environ, **marks}, stderr=subprocess.PIPE, text=True
    )
    end = time.monotonic() + 60.0
    while len(processes_marked(str(tmp_path))) < 4 and time.monotonic() < end:
        time.sleep(0.05)
    assert [path.name[:13] for path in temporary.iterdir()] == ["armtwin-unit-"]
    process.terminate()
    said = process.communicate(timeout=20)[1]
    assert (process.returncode, said) == (143, "armtwin: stopped\n")
    assert list(temporary.iterdir()) == []
    assert sorted(path.name for path in tmp_path.iterdir()) == ["slow", "temporary"]
    assert processes_marked(str(tmp_path)) == []

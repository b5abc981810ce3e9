"""`armtwin export fmu`: what is written, what is said, what is refused."""

import os
import subprocess
import zipfile

import pytest
from fmpy.validation import validate_fmu

import armtwin as at
from armtwin.exchange import export
from armtwin.exchange.export import c_compiler
from tests.app.test_job_commands import call

needs_compiler = pytest.mark.skipif(
    c_compiler() is None, reason="no C compiler is found on this machine"
)


@needs_compiler
def test_a_joint_is_written_and_said(tmp_path):
    done = call(tmp_path, "export", "fmu", "kr300", "--joint", "1")
    assert done.code == 0, done.err
    wrote = "wrote kr300_joint_1.fmu\nFMI 2.0, co-simulation and model exchange\n"
    assert done.out.startswith(wrote)
    assert "binary for this platform: binaries/" in done.out
    assert max(map(len, done.out.splitlines())) <= 80
    with zipfile.ZipFile(tmp_path / "kr300_joint_1.fmu") as archive:
        names = archive.namelist()
    assert names[:1] == ["modelDescription.xml"]
    assert {"sources/fmi2.c", "sources/model.c", "documentation/index.html"} <= set(names)


@needs_compiler
def test_version_3_is_asked_for(tmp_path):
    done = call(tmp_path, "export", "fmu", "kr300", "--joint", "joint_2", "--fmi", "3")
    assert done.code == 0, done.err
    assert "FMI 3.0, co-simulation" in done.out
    assert validate_fmu(str(tmp_path / "kr300_joint_2.fmu")) == []


@needs_compiler
def test_a_path_with_spaces_and_other_letters_is_written(tmp_path):
    folder = tmp_path / "Übergabe an Łódź é"
    folder.mkdir()
    target = folder / "Gelenk 1 – schnell.fmu"
    done = call(tmp_path, "export", "fmu", "kr300", "--joint", "1", "--out", str(target))
    assert done.code == 0, done.err
    assert validate_fmu(str(target)) == []
    with zipfile.ZipFile(target) as archive:
        (binary,) = [name for name in archive.namelist() if name.startswith("binaries/")]
    assert binary.isascii()


def test_without_a_compiler_a_unit_of_sources_is_written_and_said(tmp_path, monkeypatch):
    monkeypatch.setattr(export, "c_compiler", lambda: None)
    done = call(tmp_path, "export", "fmu", "kr300", "--joint", "1")
    assert done.code == 0, done.err
    assert "no C compiler (CC, cc, gcc, clang) is found: a unit of sources" in done.out
    with zipfile.ZipFile(tmp_path / "kr300_joint_1.fmu") as archive:
        assert not [name for name in archive.namelist() if name.startswith("binaries/")]


@needs_compiler
def test_a_unit_of_sources_compiles_by_hand(tmp_path):
    """One file is compiled; it includes the others; strict C99 has nothing to say."""
    at.export_fmu(at.Robot.load("kr300"), tmp_path / "x.fmu", at.OneJoint(1), sources_only=True)
    with zipfile.ZipFile(tmp_path / "x.fmu") as archive:
        archive.extractall(tmp_path / "x")
    command = [*c_compiler(), "-std=c99", "-pedantic", "-Wall", "-Wextra", "-Wno-unused-function"]
    command += ["-Werror", "-fPIC", "-shared", "fmi2.c", "-o", "unit.so", "-lm"]
    sources = tmp_path / "x" / "sources"
    done = subprocess.run(command, cwd=sources, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_compiler_that_fails_leaves_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("CC", "false")
    done = call(tmp_path, "export", "fmu", "kr300", "--joint", "1")
    assert done.code == 2
    assert "C compiler false: failed on the unit's sources" in done.err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("tx40", "--joint", "1"), "has no elastic transmission to export"),
        (("kr300", "--joint", "9"), "joint must be 1 to 6 or a name, got 9"),
        (("kr300", "--joint", "joint_x"), "has no joint 'joint_x'. Did you mean"),
        (("kr300", "--joint", "1", "--fmi", "4"), "--fmi must be 2 or 3, got 4"),
        (("kr300", "--joint", "1", "--inertia", "-3"), "--inertia"),
        (("kr300", "--joint", "1", "--out", "none/x.fmu"), "cannot be written"),
        (("epaas",), "cannot be simulated: servo.cascade: a servo controller is missing"),
    ],
)
def test_bad_input_is_one_sentence_and_nothing_is_written(tmp_path, words, sentence):
    done = call(tmp_path, "export", "fmu", *words)
    assert done.code == 2
    assert sentence in " ".join(done.err.split())
    assert list(tmp_path.iterdir()) == []


def test_a_file_that_is_there_is_not_replaced_without_force(tmp_path):
    (tmp_path / "kr300_joint_1.fmu").write_text("mine")
    done = call(tmp_path, "export", "fmu", "kr300", "--joint", "1")
    assert done.code == 2
    assert "exists already" in done.err
    assert (tmp_path / "kr300_joint_1.fmu").read_text() == "mine"


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="there is no read-only place here")
def test_a_read_only_target_is_refused(tmp_path):
    """/proc can be written by nobody, root included."""
    done = call(
        tmp_path, "export", "fmu", "kr300", "--joint", "1", "--sources-only",
        "--out", "/proc/self/x.fmu",
    )  # fmt: skip
    assert done.code == 2
    assert "/proc/self/x.fmu: cannot be written" in done.err

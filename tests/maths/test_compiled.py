"""Compiled kernels: an edit anywhere in the package recompiles what uses it; no cache folder is no problem."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import armtwin

PACKAGE = Path(armtwin.__file__).parent
SCRIPT = "import armtwin; print(float(armtwin.Robot.load('rx90b').forward_kinematics([0] * 6)[2, 3]))"


def run(folder, cache, **extra):
    environment = {**os.environ, "PYTHONPATH": str(folder), "ARMTWIN_CACHE_DIR": str(cache), **extra}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True)
    return float(done.stdout)


def test_an_edited_law_in_one_file_recompiles_the_kernel_of_another(tmp_path):
    """`poses` (kinematics.py) calls `place` (arm.py) calls nothing it could see changing: the stamp must."""
    shutil.copytree(PACKAGE, tmp_path / "armtwin", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert run(tmp_path, cache) == pytest.approx(1.405, abs=1e-15)
    assert run(tmp_path, cache) == pytest.approx(1.405, abs=1e-15)
    law = tmp_path / "armtwin" / "mechanics" / "arm.py"
    law.write_text(law.read_text().replace("P[i, r] = offset[i, 0, r]", "P[i, r] = 2.0 * offset[i, 0, r]"))
    assert run(tmp_path, cache) == pytest.approx(2 * 0.42 + 2 * 0.45 + 2 * 0.45 + 0.085, abs=1e-15)
    assert len(list((cache / "kernels").iterdir())) == 2


def test_without_a_writable_cache_folder_it_works_uncached(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(PACKAGE.parent, blocked) == pytest.approx(1.405, abs=1e-15)


def test_with_the_jit_off_the_same_code_runs_in_plain_python(tmp_path):
    assert run(PACKAGE.parent, tmp_path, NUMBA_DISABLE_JIT="1") == pytest.approx(1.405, abs=1e-15)

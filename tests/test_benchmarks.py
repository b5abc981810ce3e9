"""Benchmarks run once in their quick mode, so that they do not rot; no time is judged."""

import subprocess
import sys
from pathlib import Path

import pytest

SCRIPTS = sorted((Path(__file__).parents[1] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda p: p.name)
def test_benchmark_runs(script):
    pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
    done = subprocess.run(
        [sys.executable, str(script), "--quick"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "ratio" in done.stdout

"""A cluster: schedulers that do not answer, workers of other versions."""

import os
import socket
import subprocess
import sys
import time

import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.sweeps import cluster
from tests.sweeps.examples import short_job

pytest.importorskip("distributed")


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


def test_an_unreachable_scheduler_is_told(monkeypatch):
    monkeypatch.setattr(cluster, "PATIENCE", 0.3)
    asked = at.Sweep.over(short_job(), {"speed": ["0.2 m/s"]})
    address = f"tcp://127.0.0.1:{free_port()}"
    with pytest.raises(ArmtwinError, match=f"no scheduler of dask answers at {address}"):
        at.sweep(asked, cluster=address)


def test_a_worker_with_another_version_is_refused(tmp_path):
    """A real worker whose armtwin says that it is 0.0.9."""
    fake = tmp_path / "armtwin-0.0.9.dist-info"
    fake.mkdir()
    (fake / "METADATA").write_text("Metadata-Version: 2.1\nName: armtwin\nVersion: 0.0.9\n")
    address = f"tcp://127.0.0.1:{free_port()}"
    path = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    begun = [subprocess.Popen([*start, "--host", address], stderr=subprocess.DEVNULL)]
    worker = [sys.executable, "-m", "distributed.cli.dask_worker", address, "--no-nanny"]
    begun.append(
        subprocess.Popen(
            [*worker, "--no-dashboard", "--nthreads", "1"],
            stderr=subprocess.DEVNULL,
            env={**os.environ, "PYTHONPATH": path},
            cwd=tmp_path,
        )
    )
    try:
        time.sleep(1)
        asked = at.Sweep.over(short_job(), {"speed": ["0.2 m/s"]})
        with pytest.raises(ArmtwinError, match=r"worker tcp://\S+ has armtwin 0\.0\.9, this is"):
            at.sweep(asked, cluster=address)
    finally:
        for process in begun:
            process.kill()
            process.wait()

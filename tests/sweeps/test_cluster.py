"""A cluster: schedulers that do not answer, workers of other versions."""

import os
import shutil
import socket
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.sweeps import cluster
from tests.exchange.hostile import MARK, processes_marked
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
        with pytest.raises(ArmtwinError, match=r"worker \S+ has armtwin 0\.0\.9\+\w+, this is"):
            at.sweep(asked, cluster=address)
    finally:
        for process in begun:
            process.kill()
            process.wait()


def listening(mark):
    """Addresses on which processes listen that were started with a text in their environment."""
    handles = set()
    for process in (*processes_marked(mark), os.getpid()):
        for handle in Path(f"/proc/{process}/fd").iterdir():
            with suppress(OSError):
                handles.add(os.readlink(handle))
    found = set()
    for line in Path("/proc/net/tcp").read_text().splitlines()[1:]:
        words = line.split()
        if words[3] == "0A" and f"socket:[{words[9]}]" in handles:  # 0A: listens
            found.add(socket.inet_ntoa(bytes.fromhex(words[1][:8])[::-1]))
    return found


@pytest.mark.skipif(sys.platform != "linux", reason="looks at sockets of Linux")
def test_a_cluster_of_our_own_listens_to_this_machine_alone(tmp_path, monkeypatch):
    monkeypatch.setenv(MARK, str(tmp_path))
    with cluster._connect(cluster._import_distributed(), at.Cluster("local:1")):
        assert listening(str(tmp_path)) == {"127.0.0.1"}


def test_a_cluster_of_the_same_version_and_other_sources_is_refused():
    own, other = "0.2.0+aaaaaaaaaaaa", "0.2.0+bbbbbbbbbbbb"
    with pytest.raises(ArmtwinError, match=r"has armtwin 0\.2\.0\+b+, this is 0\.2\.0\+a+"):
        cluster.refuse_other_versions({"tcp://w": other, "tcp://v": own}, own)


# TLS


@pytest.fixture(scope="module")
def signed(tmp_path_factory):
    """Files of TLS: an authority, and a certificate with its key that it has signed."""
    tool = shutil.which("openssl")
    if tool is None:
        pytest.skip("openssl, which makes certificates, is not on this machine")
    folder = tmp_path_factory.mktemp("tls")

    def run(*words):
        subprocess.run([tool, *words], cwd=folder, check=True, capture_output=True)

    new = ("req", "-newkey", "rsa:2048", "-nodes", "-keyout")
    run(*new, "ca.key", "-x509", "-days", "2", "-subj", "/CN=authority", "-out", "ca.pem")
    run(*new, "own.key", "-subj", "/CN=machine", "-out", "own.csr")
    by = ("-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2")
    run("x509", "-req", "-in", "own.csr", *by, "-out", "own.pem")
    return {
        "tls_ca": folder / "ca.pem",
        "tls_certificate": folder / "own.pem",
        "tls_key": folder / "own.key",
    }


def test_a_scheduler_with_tls_is_reached_with_its_files_and_not_without(signed, monkeypatch):
    """It has no worker: that this is said shows that the scheduler has answered."""
    monkeypatch.setattr(cluster, "FIRST_WORKER", 0.2)
    address = f"tls://127.0.0.1:{free_port()}"
    start = [sys.executable, "-m", "distributed.cli.dask_scheduler", "--no-dashboard"]
    files = ["--tls-ca-file", signed["tls_ca"], "--tls-cert", signed["tls_certificate"]]
    command = [*start, "--host", address, *files, "--tls-key", signed["tls_key"]]
    scheduler = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    try:
        with pytest.raises(ArmtwinError, match="the cluster has no worker"):
            cluster.check_cluster(at.Cluster(address, **signed), "0")
        monkeypatch.setattr(cluster, "PATIENCE", 1.0)
        for other in (address, address.replace("tls", "tcp")):
            with pytest.raises(ArmtwinError, match="no scheduler of dask answers"):
                cluster.check_cluster(other, "0")
    finally:
        scheduler.kill()
        scheduler.wait()


def test_files_of_tls_come_together_and_with_such_an_address(signed, tmp_path):
    with pytest.raises(ArmtwinError, match="got 1 of 3 files"):
        at.Cluster("tls://host:8786", tls_ca=signed["tls_ca"])
    with pytest.raises(ArmtwinError, match="need an address that begins with tls://"):
        at.Cluster("tcp://host:8786", **signed)
    with pytest.raises(ArmtwinError, match="must be a plain file, but is a folder"):
        at.Cluster("tls://host:8786", **{**signed, "tls_key": tmp_path})

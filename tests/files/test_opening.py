"""Files that have no end, are no files or unpack to more than they may:
refused at once, by a sentence.
"""

import ast
import gzip
import os
import signal
import sys
import time
from pathlib import Path

import pytest

import armtwin as at
from armtwin.files import opening
from armtwin.files.digests import digest_of
from armtwin.files.opening import MB, Kind, read_bytes, unpack_gzip
from armtwin.files.staging import MARK, recover
from armtwin.jobs.from_points import read_points
from armtwin.report.folder import ResultFolder
from tests.sweeps.examples import short_job

READERS = {
    ".toml": at.Robot.load,
    ".urdf": at.Robot.load,
    ".job.toml": at.Job.load,
    ".csv": at.Log.read,
    ".csv.gz": at.Log.read,
    ".npz": at.Log.read,
    ".mcap": at.Log.read,
    ".points.csv": lambda path: read_points(path, None),
}
PACKAGE = Path(at.__file__).parent
needs_pipes = pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")


@pytest.fixture
def alarm():
    """Ends a test that waits for ever."""

    def late(*_):
        raise TimeoutError("a reader waits for ever")

    signal.signal(signal.SIGALRM, late)
    signal.alarm(10)
    yield
    signal.alarm(0)


@needs_pipes
@pytest.mark.parametrize("suffix", READERS)
def test_a_pipe_is_refused_and_not_waited_for(suffix, tmp_path, alarm):
    path = tmp_path / f"pipe{suffix}"
    os.mkfifo(path)
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a pipe"):
        READERS[suffix](path)


@needs_pipes
@pytest.mark.parametrize("suffix", READERS)
def test_a_device_without_end_is_refused(suffix, tmp_path, alarm):
    path = tmp_path / f"zero{suffix}"
    path.symlink_to("/dev/zero")
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a device"):
        READERS[suffix](path)


@needs_pipes
@pytest.mark.parametrize("force", [False, True])
def test_a_pipe_as_result_json_is_not_waited_for(force, tmp_path, alarm):
    os.mkfifo(tmp_path / "result.json")
    place = ResultFolder(tmp_path, {}, ["result.json"], [], force)
    if force:
        place.check()
    else:
        with pytest.raises(at.ArmtwinError, match="holds files that are no result of armtwin"):
            place.check()


@needs_pipes
def test_a_pipe_as_points_of_a_job_in_a_sweep_is_not_waited_for(tmp_path, alarm):
    text = short_job().to_toml().replace("lin = [0.0, 0.02, 0.0]", 'points = "seam.csv"')
    (tmp_path / "job.toml").write_text(text)
    (tmp_path / "places.toml").write_text(
        'format = 1\njobs = ["job.toml"]\n[[axis]]\nkey = "speed"\nvalues = ["0.1 m/s"]\n'
    )
    os.mkfifo(tmp_path / "seam.csv")
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a pipe"):
        at.sweep(tmp_path / "places.toml")


@needs_pipes
def test_a_pipe_as_the_journal_of_a_killed_run_is_not_waited_for(tmp_path, alarm):
    (tmp_path / f"{MARK}x").mkdir()
    os.mkfifo(tmp_path / f"{MARK}x" / "journal")
    recover(tmp_path)


@needs_pipes
def test_a_pipe_beside_a_robot_as_its_covariance_is_not_waited_for(tmp_path, alarm):
    at.Robot.load("rx90b").save(tmp_path / "my.toml")
    os.mkfifo(tmp_path / "my.covariance.npz")
    at.Robot.load(tmp_path / "my.toml")


@needs_pipes
def test_a_pipe_in_a_recording_is_not_waited_for(tmp_path, alarm):
    pytest.importorskip("rosbags")
    (tmp_path / "metadata.yaml").write_text("rosbag2_bagfile_information: {}\n")
    os.mkfifo(tmp_path / "data")
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a pipe"):
        at.Log.read(tmp_path)


def test_an_input_is_digested_by_its_contents(tmp_path):
    (tmp_path / "log").write_bytes(b"abc")
    of_abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"  # FIPS 180-2
    assert digest_of(str(tmp_path / "log")) == of_abc


@pytest.mark.parametrize("suffix", [suffix for suffix in READERS if suffix != ".mcap"])
def test_a_folder_is_no_file(suffix, tmp_path):
    (tmp_path / f"folder{suffix}").mkdir()
    with pytest.raises(at.ArmtwinError, match="must be a plain file, but is a folder"):
        READERS[suffix](tmp_path / f"folder{suffix}")


@pytest.mark.parametrize("suffix", [".toml", ".urdf", ".points.csv", ".csv"])
def test_a_file_of_gigabytes_is_refused_before_it_is_read(suffix, tmp_path):
    path = tmp_path / f"large{suffix}"
    with path.open("wb") as file:
        file.truncate(5 * 1024 * MB)
    with pytest.raises(at.FileError, match=r"must be at most \d+ MB"):
        READERS[suffix](path)


def test_a_gzip_bomb_is_unpacked_no_further_than_a_log_may_be_long(tmp_path, monkeypatch):
    monkeypatch.setattr("armtwin.logs.csv_reading.LOG", Kind("a log", 4 * MB))
    path = tmp_path / "bomb.csv.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"time,q1\n")
        for _ in range(50):
            file.write(b"0" * MB)
    with pytest.raises(at.FileError, match="a log must be at most 4 MB"):
        at.Log.read(path)


def test_a_file_may_hold_as_much_as_its_kind_and_no_more(tmp_path):
    kind = Kind("a note", 100)
    (tmp_path / "note").write_bytes(b"x" * 100)
    assert read_bytes(tmp_path / "note", kind) == b"x" * 100
    (tmp_path / "note.gz").write_bytes(gzip.compress(b"x" * 100))
    assert unpack_gzip(tmp_path / "note.gz", kind) == b"x" * 100
    (tmp_path / "note").write_bytes(b"x" * 101)
    (tmp_path / "note.gz").write_bytes(gzip.compress(b"x" * 101))
    for read, name in ((read_bytes, "note"), (unpack_gzip, "note.gz")):
        with pytest.raises(at.FileError, match="a note must be at most"):
            read(tmp_path / name, kind)


@pytest.mark.skipif(sys.platform != "linux", reason="needs /proc")
def test_a_file_of_the_system_that_says_it_is_empty_is_bounded_all_the_same():
    with pytest.raises(at.FileError, match="a note must be at most"):
        read_bytes(opening.Path("/proc/self/maps"), Kind("a note", 100))


@pytest.mark.parametrize(
    "name", ["", ".", "a\0b.csv", "x" * 400 + ".csv", "x" * 400 + ".npz", "a\0b.mcap"], ids=range(6)
)
def test_a_name_that_no_file_can_have_is_refused_as_a_log(name):
    with pytest.raises(at.ArmtwinError):
        at.Log.read(name)


@pytest.mark.parametrize(
    "name", ["a\0b.toml", "x" * 400 + ".toml", "x" * 400 + ".urdf"], ids=range(3)
)
def test_a_name_that_no_file_can_have_is_refused_as_a_robot_and_as_a_job(name, tmp_path):
    with pytest.raises(at.ArmtwinError):
        at.Robot.load(name)
    with pytest.raises(at.ArmtwinError):
        at.Job.load(name)


def test_a_small_file_that_unpacks_to_a_gigabyte_is_refused_soon(tmp_path):
    path = tmp_path / "bomb.csv.gz"
    piece = gzip.compress(b"\n" * (16 * MB), 9)
    path.write_bytes(piece * 64)  # parts of a gzip file follow each other
    begin = time.process_time()
    with pytest.raises(at.FileError, match="unpacks to more than 200 times its size"):
        at.Log.read(path)
    assert time.process_time() - begin < 2


# One door: whoever opens a file without it says here why.

OPENERS = {"open", "read_text", "read_bytes", "fdopen", "connect", "fromfile", "memmap", "loadtxt"}
OPENERS |= {"genfromtxt", "ZipFile", "GzipFile", "BZ2File", "LZMAFile", "AnyReader"}
LOADERS = {"np", "numpy", "json", "tomllib", "pickle"}  # whose `load` opens
OWN_DATA = "data of the package"
WRITES = "writes"
NOWHERE = "the null device, to which output is led"
OTHERWISE = {
    "__init__.py": {"Path(__file__).read_text": "its own text"},
    "app/commands.py": {"open": WRITES},
    "app/studio/server.py": {
        "(resources.files('armtwin.app.studio') / 'page.html').read_text": OWN_DATA,
        "(resources.files(package) / name).read_text": OWN_DATA,
    },
    "app/studio_command.py": {"webbrowser.open": "an address"},
    "app/streams.py": {"os.open": NOWHERE},
    "exchange/confinement.py": {
        "os.open": "the null device, and names of folders that a program may write to",
        "file.read_bytes": "what Linux says of processes",
    },
    "exchange/export.py": {
        "Path(folder, 'unit.bin').read_bytes": "what a compiler wrote into a folder of ours",
        "zipfile.ZipFile": WRITES,
    },
    "exchange/external_fmu.py": {
        "zipfile.ZipFile": "bytes that came through the door",
        "archive.open": "as above",
        "target.open": WRITES,
    },
    "exchange/external_fmu_process.py": {"os.open": NOWHERE, "os.fdopen": "its own output"},
    "exchange/feedforward.py": {"place.read_text": OWN_DATA},
    "exchange/formats.py": {"path.read_text": "what it has written into a folder of its own"},
    "exchange/unit.py": {
        "(resources.files('armtwin.exchange') / 'sources' / file).read_text": OWN_DATA
    },
    "files/arrays.py": {
        "zipfile.ZipFile": "a file that came through the door",
        "self.archive.open": "as above",
    },
    "files/staging.py": {"os.open": "a folder", "(folder / name).open": WRITES},
    "files/locks.py": {"os.open": "a folder, or a file that is a lock"},
    "files/opening.py": {"open": "the door", "os.open": "the door", "gzip.GzipFile": "the door"},
    "logs/bag_bounds.py": {"sqlite3.connect": "after check_database"},
    "logs/bag_files.py": {"AnyReader": "after check_bag"},
    "logs/csv_files.py": {"gzip.GzipFile": WRITES},
    "maths/c_code.py": {"(resources.files('armtwin.maths') / 'prelude.c').read_text": OWN_DATA},
    "maths/compiled.py": {"path.read_bytes": "kernels that were installed with the sources"},
    "maths/ownership.py": {
        "open": "kernels: maths is below the door, and refuses what is no plain file of ours",
        "os.open": "as above",
    },
    "maths/sobol.py": {"(resources.files('armtwin.maths') / 'sobol.txt').read_text": OWN_DATA},
    "maths/sources.py": {"path.read_bytes": "the package's own sources"},
    "notebook/charts.py": {
        "(resources.files('armtwin.report') / 'bundle' / 'chart.css').read_text": OWN_DATA
    },
    "report/page.py": {"(resources.files('armtwin.report') / name).read_text": OWN_DATA},
    "sweeps/estimate.py": {"sqlite3.connect": "a table in memory"},
    "sweeps/table.py": {"sqlite3.connect": "after check_database"},
}


def opening_calls(tree):
    """What a file calls that opens files, but for the functions of the door."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        name = ast.unparse(node.func)
        owner, _, last = name.rpartition(".")
        if last == "load" and owner in LOADERS:
            yield name
        if last in OPENERS and owner != "opening" and name not in ("read_text", "read_bytes"):
            yield name


def test_files_are_opened_by_one_door():
    """The functions of files/opening.py are called by their plain names."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        calls = set(opening_calls(ast.parse(path.read_text(encoding="utf-8"))))
        if calls:
            found[path.relative_to(PACKAGE).as_posix()] = calls
    assert found == {name: set(calls) for name, calls in OTHERWISE.items()}

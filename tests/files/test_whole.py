"""Files are whole or not there:
whatever kills a writer, whoever writes beside it, however full the disk is.
"""

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.files import atomic as whole
from armtwin.files.names import safe_name
from armtwin.report.folder import ResultFolder

ROOT = Path(__file__).parents[2]
needs_fork = pytest.mark.skipif(
    not hasattr(os, "fork"), reason="writers are killed in forked children"
)
needs_links = pytest.mark.skipif(sys.platform == "win32", reason="links of files need rights there")
LOG = at.Log.of(range(500), q=[[1.0, 2.0]] * 500)

# Longer: python -m tests.files.kills 200 SEED, python -m tests.files.rivals 60
RANDOM_KILLS, SECONDS = 35, 1.5


def program(name, *words):
    done = subprocess.run(
        [sys.executable, "-m", f"tests.files.{name}", *map(str, words)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@needs_fork
def test_a_writer_killed_before_any_step_or_at_any_time_leaves_old_or_new_and_no_litter():
    told = program("kills", RANDOM_KILLS, 1)
    assert all(kinds["steps"] > 10 for kinds in told.values())
    assert sum(kinds["random"] for kinds in told.values()) > 100


@needs_fork
def test_two_writers_and_a_reader_do_not_disturb_each_other():
    told = program("rivals", SECONDS)
    assert all(writes > 10 for writes in told.values())


# A full disk


@contextlib.contextmanager
def full_disk(room):
    """Files cannot grow beyond a size."""
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (room, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def result_in(folder, text):
    place = ResultFolder(folder, {"command": "predict"}, [], ())
    place.write({"format": 1, "armtwin": text}, {"log.csv": text * 100, "report.html": text * 100})


def set_in(folder, text):
    whole.write_files(folder, {"my.toml": text, "my.report.html": text * 100})


WRITERS = {
    "robot": lambda folder: at.Robot.load("rx90b").save(folder / "robot.toml"),
    "urdf": lambda folder: at.Robot.load("rx90b").to_urdf(folder / "robot.urdf"),
    "job": lambda folder: at.Job.load("rx90b_line").save(folder / "job.toml"),
    "csv": lambda folder: LOG.write(folder / "log.csv"),
    "csv.gz": lambda folder: LOG.write(folder / "log.csv.gz"),
    "npz": lambda folder: LOG.write(folder / "log.npz"),
    "result": lambda folder: result_in(folder / "out", "a"),
    "result beside notes": lambda folder: result_in(folder / "noted", "a"),
    "set": lambda folder: set_in(folder, "a"),
}


def contents(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


@pytest.mark.parametrize("name", WRITERS)
def test_a_full_disk_leaves_what_was_there_and_a_sentence(name, tmp_path):
    (tmp_path / "noted").mkdir()
    (tmp_path / "noted" / "notes.txt").write_text("mine")
    ResultFolder(tmp_path / "noted", {"command": "predict"}, [], (), force=True).write(
        {"format": 1, "armtwin": "x"}, {"log.csv": "older"}
    )
    write = WRITERS[name]
    empty = contents(tmp_path)
    for room in (0, 60):
        with (
            full_disk(room),
            pytest.raises(ArmtwinError, match=r"cannot be written \(File too large\)"),
        ):
            write(tmp_path)
        assert contents(tmp_path) == empty
    write(tmp_path)
    filled = contents(tmp_path)
    assert filled != empty
    with full_disk(60), pytest.raises(ArmtwinError, match="cannot be written"):
        write(tmp_path)
    assert contents(tmp_path) == filled
    assert not [path for path in tmp_path.rglob("*") if path.name.startswith(".")]


def test_a_report_on_a_full_disk_leaves_the_older_one(tmp_path):
    path = tmp_path / "report.html"
    path.write_text("older")
    with full_disk(1000), pytest.raises(ArmtwinError, match="cannot be written"):
        whole.write_file(path, "x" * 2000)
    assert contents(tmp_path) == {"report.html": b"older"}


# Planted files


@needs_links
@pytest.mark.parametrize("name", ["run.csv", "run.csv.gz", "run.npz"])
def test_a_link_planted_under_a_temporary_name_is_not_followed(name, tmp_path):
    precious = tmp_path / "precious"
    precious.write_text("mine")
    for planted in (f".{name}.part", ".run.part.npz"):
        (tmp_path / planted).symlink_to(precious)
    LOG.write(tmp_path / name)
    assert precious.read_text() == "mine"
    assert at.Log.read(tmp_path / name).q.shape == (500, 2)


@needs_links
def test_a_device_or_a_folder_is_not_replaced_by_a_file(tmp_path):
    with pytest.raises(
        ArmtwinError, match=r"/dev/full: cannot be written \(it is no ordinary file\)"
    ):
        LOG.write("/dev/full")
    (tmp_path / "x.csv").mkdir()
    with pytest.raises(ArmtwinError, match=r"cannot be written \(it is a folder\)"):
        LOG.write(tmp_path / "x.csv")


def stage(folder, plan, files):
    """What a killed run left: staged files, and a journal where there is a plan."""
    left = folder / ".armtwin.abcdefgh"
    (left / "new").mkdir(parents=True)
    (left / "old").mkdir()
    for name, text in files.items():
        (left / "new" / name).write_text(text)
    if plan is not None:
        (left / "journal").write_text(json.dumps(plan))
    return left


def test_what_was_staged_without_a_journal_is_swept_by_the_next_writer_there(tmp_path):
    stage(tmp_path, None, {"robot.toml": "half"})
    LOG.write(tmp_path / "log.csv")
    assert list(contents(tmp_path)) == ["log.csv"]


def test_a_journal_that_is_there_is_finished_by_the_next_writer_there(tmp_path):
    (tmp_path / "gone.txt").write_text("older")
    stage(tmp_path, {"into": ".", "names": ["a.txt"], "gone": ["gone.txt"]}, {"a.txt": "new"})
    LOG.write(tmp_path / "log.csv")
    assert sorted(contents(tmp_path)) == ["a.txt", "log.csv"]


@pytest.mark.parametrize(
    "plan",
    [
        {"into": ".", "names": [], "gone": ["../precious"]},
        {"into": ".", "names": ["../precious"], "gone": []},
        {"into": "..", "names": [], "gone": ["precious"]},
        {"into": "."},
        ["no plan"],
        "no plan",
    ],
)
def test_a_journal_leads_nowhere_out_of_its_folder(plan, tmp_path):
    (tmp_path / "precious").write_text("mine")
    folder = tmp_path / "inner"
    folder.mkdir()
    stage(folder, plan, {"precious": "theirs"})
    LOG.write(folder / "log.csv")
    assert (tmp_path / "precious").read_text() == "mine"
    assert (folder / "log.csv").exists()


@pytest.mark.parametrize(("age", "left"), [(60, True), (7200, False)])
def test_where_nothing_can_be_locked_only_an_old_stage_is_swept(age, left, tmp_path, monkeypatch):
    def no_locks(folder):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr("armtwin.files.locks.grab", no_locks)
    monkeypatch.setattr("armtwin.files.staging.grab", no_locks)
    path = stage(tmp_path, None, {"robot.toml": "half"})
    os.utime(path, (path.stat().st_mtime - age,) * 2)
    LOG.write(tmp_path / "log.csv")
    assert path.exists() == left


@needs_fork
def test_the_stage_of_a_run_that_lives_is_not_swept(tmp_path):
    def write_another(file):
        LOG.write(tmp_path / "other.csv")
        file.write(b"done")

    whole.write_file(tmp_path / "slow.txt", write_another)
    assert (tmp_path / "slow.txt").read_bytes() == b"done"
    assert sorted(contents(tmp_path)) == ["other.csv", "slow.txt"]


def test_who_waits_too_long_for_another_writer_is_told(tmp_path):
    from armtwin.files.locks import lock_folder

    with (
        lock_folder(tmp_path),
        pytest.raises(ArmtwinError, match=r"another run has been writing there for 0\.05 s"),
        lock_folder(tmp_path, patience=0.05),
    ):
        pass


@needs_links
def test_a_file_has_the_rights_that_other_programs_give_theirs(tmp_path):
    (tmp_path / "plain").write_text("")
    LOG.write(tmp_path / "log.csv")
    assert (tmp_path / "log.csv").stat().st_mode == (tmp_path / "plain").stat().st_mode


# Names


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("rx90b_line", "rx90b_line"),
        ("../../etc/x", "etc_x"),
        ("", "job"),
        ("..", "job"),
        ("12.5mm_s", "12.5mm_s"),
        ("NUL", "NUL_"),
        ("con.txt", "con.txt_"),
        ("日本", "日本"),
        ("a\0b\x1b[31m", "a_b_31m"),
    ],
)
def test_a_name_becomes_one_that_any_file_system_takes(text, name):
    assert safe_name(text, "job") == name


def test_long_names_are_cut_and_stay_apart():
    one, other = (safe_name("ä" * 300 + end, "job") for end in "xy")
    assert one != other
    assert max(len(name.encode()) for name in (one, other)) < 120


@pytest.mark.parametrize("text", ["[" * 100_000, "7", '{"into": []}', '{"into": ".", "names": 3}'])
def test_a_journal_that_is_none_is_left_alone(text, tmp_path):
    stage = tmp_path / ".armtwin.left"
    (stage / "new").mkdir(parents=True)
    (stage / "journal").write_text(text)
    LOG.write(tmp_path / "log.csv")
    assert (stage / "journal").read_text() == text
    assert (tmp_path / "log.csv").exists()

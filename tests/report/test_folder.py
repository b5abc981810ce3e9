"""A folder of results is whole or not there: ours is replaced, others' files stay."""

import json
import os
import sys

import pytest

import armtwin as at
from armtwin.report.folder import ResultFolder, read_result

HEAD = {"format": 1, "armtwin": "0.1.0"}
RUN = {"command": "predict", "file": "../job.toml", "options": {}}
NAMES = ["result.json", "log.csv"]
OURS = json.dumps({**HEAD, "run": RUN, "files": sorted(NAMES)}, indent=1)


def place(folder, force=False, inputs=(), run=RUN):
    return ResultFolder(folder, run, NAMES, inputs, force)


def check(folder, force=False, **given):
    place(folder, force, **given).check()


def write(folder, log="time\n", force=False):
    place(folder, force).write(HEAD, {"log.csv": log})


def half(error):
    """A content that breaks off."""

    def put(file):
        file.write(b"half")
        raise error

    return put


def tree(folder):
    """Every file below a folder with its text, hidden ones too."""
    return {
        path.relative_to(folder).as_posix(): path.read_text() if path.is_file() else "folder"
        for path in sorted(folder.rglob("*"))
    }


def test_a_folder_that_is_not_there_is_made_with_its_parents(tmp_path):
    write(tmp_path / "a" / "b")
    assert tree(tmp_path) == {
        "a": "folder",
        "a/b": "folder",
        "a/b/log.csv": "time\n",
        "a/b/result.json": OURS,
    }


def test_our_results_are_replaced_and_those_of_another_run_do_not_stay(tmp_path):
    folder = tmp_path / "out"
    place(folder).write(HEAD, {"log.csv": "first", "compared.csv": "of an older run"})
    for log in ("second", "third"):
        check(folder, force=False)
        write(folder, log=log)
        assert tree(folder) == {"log.csv": log, "result.json": OURS}


def test_files_of_others_in_our_folder_stay(tmp_path):
    folder = tmp_path / "out"
    write(folder)
    (folder / "notes.txt").write_text("mine")
    (folder / "photos").mkdir()
    (folder / "photos" / "seam.txt").write_text("mine too")
    write(folder, log="second")
    expected = {
        "log.csv": "second",
        "notes.txt": "mine",
        "photos": "folder",
        "photos/seam.txt": "mine too",
    }
    assert tree(folder) == {**expected, "result.json": OURS}
    assert list(tree(tmp_path)) == [
        "out",
        *(f"out/{name}" for name in sorted([*expected, "result.json"])),
    ]


def test_a_folder_of_others_is_refused_and_left_as_it_is(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    with pytest.raises(at.ArmtwinError) as caught:
        check(tmp_path, force=False)
    sentence = (
        "holds files that are no result of armtwin; choose another folder with --out, "
        "or use --force to add the"
    )
    assert str(caught.value).startswith(f"{tmp_path}: {sentence}")
    assert tree(tmp_path) == {"thesis.tex": "precious"}


def test_results_are_added_to_a_folder_of_others_by_force(tmp_path):
    (tmp_path / "thesis.tex").write_text("precious")
    check(tmp_path, force=True)
    write(tmp_path, force=True)
    assert tree(tmp_path) == {"log.csv": "time\n", "result.json": OURS, "thesis.tex": "precious"}


@pytest.mark.parametrize("text", ["{}", "[]", "not json", '{"format": 1}', '"armtwin format"', ""])
def test_a_result_of_another_program_is_not_ours(text, tmp_path):
    (tmp_path / "result.json").write_text(text)
    assert read_result(tmp_path) is None
    with pytest.raises(at.ArmtwinError, match="holds files that are no result of armtwin"):
        check(tmp_path, force=False)


def test_an_empty_folder_is_free(tmp_path):
    (tmp_path / "out").mkdir()
    check(tmp_path / "out", force=False)
    write(tmp_path / "out")
    assert read_result(tmp_path / "out")


@pytest.mark.parametrize("force", [False, True])
def test_a_file_in_the_way_is_refused_and_stays(force, tmp_path):
    (tmp_path / "out").write_text("precious")
    with pytest.raises(at.ArmtwinError) as caught:
        check(tmp_path / "out", force)
    assert str(caught.value) == f"{tmp_path / 'out'}: is a file; choose another folder with --out"
    assert tree(tmp_path) == {"out": "precious"}


@pytest.mark.parametrize("below", ["results", "results/of/today"])
def test_a_parent_that_is_a_file_is_refused_beforehand(below, tmp_path):
    (tmp_path / "out").write_text("precious")
    with pytest.raises(at.ArmtwinError, match="cannot be written"):
        check(tmp_path / "out" / below, force=True)
    assert tree(tmp_path) == {"out": "precious"}


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_parent_that_is_read_only_is_refused_beforehand(tmp_path):
    tmp_path.chmod(0o555)
    try:
        with pytest.raises(at.ArmtwinError, match=r"out: cannot be written \(Permission denied\)"):
            check(tmp_path / "out", force=False)
    finally:
        tmp_path.chmod(0o755)


def test_a_parent_in_which_nothing_can_be_made_is_refused_beforehand(tmp_path, monkeypatch):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    with pytest.raises(at.ArmtwinError, match=r"out: cannot be written \(Permission denied\)"):
        check(tmp_path / "new" / "out", force=False)
    assert tree(tmp_path) == {}


def test_a_look_beforehand_leaves_no_trace(tmp_path):
    check(tmp_path / "a" / "b" / "out", force=False)
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, RuntimeError, OSError(28, "No space left on device")]
)
def test_a_writer_that_breaks_off_leaves_no_folder_and_no_parents(error, tmp_path):
    with pytest.raises((KeyboardInterrupt, RuntimeError, at.ArmtwinError)):
        write(tmp_path / "a" / "out", log=half(error))
    assert tree(tmp_path) == {}


@pytest.mark.parametrize(
    "error", [KeyboardInterrupt, RuntimeError, OSError(28, "No space left on device")]
)
def test_a_writer_that_breaks_off_leaves_the_older_results_and_others_files(error, tmp_path):
    write(tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    before = tree(tmp_path)

    with pytest.raises((KeyboardInterrupt, RuntimeError, at.ArmtwinError)):
        write(tmp_path / "out", log=half(error))
    assert tree(tmp_path) == before


def test_a_full_disk_is_told_with_the_folder(tmp_path):
    with pytest.raises(at.ArmtwinError) as caught:
        write(tmp_path / "out", log=half(OSError(28, "No space left on device")))
    assert str(caught.value) == f"{tmp_path / 'out'}: cannot be written (No space left on device)"


@pytest.mark.parametrize("last", range(1, 6))
def test_an_interrupted_move_puts_the_older_results_back(last, tmp_path, monkeypatch):
    folder = tmp_path / "out"
    place(folder).write(HEAD, {"log.csv": "first", "advised.toml": "older"})
    (folder / "notes.txt").write_text("mine")  # so that files move one by one
    before, replace, calls = tree(tmp_path), os.replace, []

    def interrupted(source, target):
        calls.append(target)
        if len(calls) == last:
            raise KeyboardInterrupt
        return replace(source, target)

    monkeypatch.setattr("os.replace", interrupted)
    with pytest.raises(KeyboardInterrupt):
        write(folder, log="second")
    assert tree(tmp_path) == before


def test_a_link_to_nowhere_is_refused(tmp_path):
    (tmp_path / "out").symlink_to(tmp_path / "nowhere")
    with pytest.raises(at.ArmtwinError, match="out: is a link to nowhere"):
        check(tmp_path / "out", force=True)


def test_results_go_through_a_link_to_a_folder(tmp_path):
    (tmp_path / "disk").mkdir()
    (tmp_path / "out").symlink_to(tmp_path / "disk", target_is_directory=True)
    write(tmp_path / "out")
    assert (tmp_path / "out").is_symlink()
    assert read_result(tmp_path / "disk")


@pytest.mark.skipif(
    sys.platform == "win32", reason="Windows does not rename the folder one stands in"
)
@pytest.mark.parametrize("out", [".", "../here", "../here/../here"])
def test_results_can_be_written_into_the_folder_one_stands_in(out, tmp_path, monkeypatch):
    here = tmp_path / "here"
    here.mkdir()
    (here / "job.toml").write_text("precious")
    monkeypatch.chdir(here)
    write(type(here)(out), force=True)
    assert tree(tmp_path) == {
        "here": "folder",
        "here/job.toml": "precious",
        "here/log.csv": "time\n",
        "here/result.json": OURS,
    }


def test_a_name_that_is_too_long_is_told_as_a_sentence(tmp_path):
    with pytest.raises(at.ArmtwinError, match="cannot be written"):
        check(tmp_path / ("x" * 300), force=False)


@pytest.mark.skipif(sys.platform == "win32", reason="links of files need rights there")
def test_files_of_others_stay_the_same_files(tmp_path):
    write(tmp_path / "out")
    (tmp_path / "out" / "notes.txt").write_text("mine")
    before = (tmp_path / "out" / "notes.txt").stat().st_ino
    write(tmp_path / "out")
    assert (tmp_path / "out" / "notes.txt").stat().st_ino == before

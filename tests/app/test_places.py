"""Where results go: an input is never removed nor replaced,
a result replaces itself and nothing else.
"""

import json
import shutil
from pathlib import Path

import pytest

import armtwin as at
from tests.app.test_job_commands import assert_refused, call, save, tree
from tests.jobs.examples import changed, with_top

never_run = pytest.fixture(
    lambda monkeypatch: monkeypatch.setattr("armtwin.prediction.predict.simulate", None)
)


@pytest.fixture(scope="module")
def original(tmp_path_factory):
    """A folder with job.toml and its result, which lists an advised.toml."""
    top = tmp_path_factory.mktemp("predicted")
    call(save(top), "predict", "job.toml")
    folder = top / "armtwin_out" / "job"
    result = json.loads((folder / "result.json").read_text())
    result.setdefault("files", []).append("advised.toml")
    (folder / "result.json").write_text(json.dumps(result))
    save(folder, with_top('name = "job"', changed("100 mm/s", "50 mm/s")))
    (folder / "job.toml").rename(folder / "advised.toml")
    return top


@pytest.fixture
def predicted(original, tmp_path):
    """A copy of it."""
    return Path(shutil.copytree(original, tmp_path / "predicted"))


def everything(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# Own input


def test_the_advised_job_gets_a_folder_of_its_own_and_stays(predicted):
    before = everything(predicted)
    done = call(predicted, "predict", "armtwin_out/job/advised.toml")
    assert done.code == 0, done.err
    assert "wrote armtwin_out/job_advised/report.html" in done.out
    assert before.items() <= everything(predicted).items()
    assert tree(predicted / "armtwin_out" / "job_advised") == [
        "log.csv",
        "report.html",
        "result.json",
    ]


def test_a_job_advised_twice_gets_a_folder_of_its_own_each_time(predicted):
    call(predicted, "predict", "armtwin_out/job/advised.toml")
    folder = predicted / "armtwin_out" / "job_advised"
    result = json.loads((folder / "result.json").read_text())
    (folder / "result.json").write_text(
        json.dumps({**result, "files": [*result["files"], "advised.toml"]})
    )
    (folder / "advised.toml").write_bytes(
        (predicted / "armtwin_out" / "job" / "advised.toml").read_bytes()
    )
    before = everything(predicted)
    assert call(predicted, "predict", "armtwin_out/job_advised/advised.toml").code == 0
    assert before.items() <= everything(predicted).items()
    assert (predicted / "armtwin_out" / "job_advised_advised" / "result.json").exists()


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_an_input_among_the_files_of_a_result_is_refused_with_out(force, never_run, predicted):
    before = everything(predicted)
    done = call(
        predicted, "predict", "armtwin_out/job/advised.toml", "--out", "armtwin_out/job", *force
    )
    assert (done.code, done.out) == (2, "")
    assert "armtwin_out/job/advised.toml: is an input of this run and would be replaced" in done.err
    assert everything(predicted) == before


@pytest.mark.parametrize("force", [[], ["--force"]])
def test_a_measured_log_is_not_replaced_by_the_predicted_one(force, never_run, predicted):
    before = everything(predicted)
    words = ("compare", "job.toml", "armtwin_out/job/log.csv", "--out", "armtwin_out/job", *force)
    done = call(predicted, *words)
    assert (done.code, done.out) == (2, "")
    assert "armtwin_out/job/log.csv: is an input of this run and would be replaced" in done.err
    assert everything(predicted) == before


def test_a_log_in_a_folder_without_a_result_is_not_replaced_either(never_run, predicted):
    (predicted / "measured").mkdir()
    (predicted / "armtwin_out" / "job" / "log.csv").rename(predicted / "measured" / "log.csv")
    before = everything(predicted)
    done = call(
        predicted, "compare", "job.toml", "measured/log.csv", "--out", "measured", "--force"
    )
    assert "measured/log.csv: is an input of this run and would be replaced" in done.err
    assert everything(predicted) == before


@pytest.fixture
def identified(tmp_path):
    """A folder with the result of an identification, as far as a folder knows it."""
    folder = tmp_path / "twin"
    folder.mkdir()
    at.Robot.load("rx90b").save(folder / "robot.toml")
    files = ["report.html", "result.json", "robot.toml"]
    run = {"command": "identify", "file": "rx90b", "options": {}}
    (folder / "result.json").write_text(
        json.dumps({"format": 1, "armtwin": "0", "run": run, "files": files})
    )
    (folder / "report.html").write_text("of the identification")
    return save(tmp_path)


def test_an_identified_robot_is_not_removed_by_a_prediction(never_run, identified):
    before = everything(identified)
    done = call(identified, "predict", "job.toml", "--out", "twin")
    assert (done.code, done.out) == (2, "")
    assert "twin: holds the result of another run (identify rx90b)" in done.err
    assert everything(identified) == before


def test_an_identified_robot_that_is_an_input_is_not_removed_by_force_either(never_run, identified):
    before = everything(identified)
    done = call(
        identified, "predict", "job.toml", "--robot", "twin/robot.toml", "--out", "twin", "--force"
    )
    assert "twin/robot.toml: is an input of this run and would be replaced" in done.err
    assert everything(identified) == before


@pytest.mark.parametrize(
    "words",
    [
        ["import", "robot.urdf", "--out", "robot.urdf"],
        ["export", "urdf", "robot.toml", "--out", "robot.toml"],
    ],
    ids=" ".join,
)
def test_import_and_export_do_not_replace_what_they_read(words, tmp_path):
    robot = at.Robot.load("rx90b")
    robot.save(tmp_path / "robot.toml")
    robot.to_urdf(tmp_path / "robot.urdf")
    before = everything(tmp_path)
    done = call(tmp_path, *words, "--force")
    assert done.code == 2
    assert "is an input of this run and would be replaced" in done.err
    assert everything(tmp_path) == before


# Own result


def test_a_result_lists_its_files(predicted):
    call(predicted, "compare", "job.toml", "armtwin_out/job/log.csv")
    folder = predicted / "armtwin_out" / "job_compared"
    assert json.loads((folder / "result.json").read_text()).get("files") == tree(folder)


@pytest.mark.parametrize(
    "listed", [{}, {"files": None}, {"files": ["../../job.toml"]}, {"files": [1]}]
)
def test_a_result_that_does_not_list_its_files_is_refused(listed, never_run, predicted):
    path = predicted / "armtwin_out" / "job" / "result.json"
    result = json.loads(path.read_text())
    del result["files"]
    path.write_text(json.dumps({**result, **listed}))
    before = everything(predicted)
    done = call(predicted, "predict", "job.toml")
    assert (done.code, done.out) == (2, "")
    assert "holds a result.json that does not list its `files`" in done.err
    assert everything(predicted) == before


def test_files_that_a_result_does_not_list_stay_though_another_command_would_write_them(predicted):
    (predicted / "armtwin_out" / "job" / "robot.toml").write_text("mine")
    (predicted / "armtwin_out" / "job" / "compared.csv").write_text("mine")
    assert call(predicted, "predict", "job.toml").code == 0
    found = tree(predicted / "armtwin_out" / "job")
    assert found == ["compared.csv", "log.csv", "report.html", "result.json", "robot.toml"]


def test_options_that_are_not_the_job_files_name_another_folder(tmp_path):
    at.Robot.load("rx90b").save(save(tmp_path) / "my robot.toml")
    assert call(tmp_path, "predict", "job.toml", "--speed", "100 mm/s").code == 0
    others = ("--speed", "62.5 mm/s", "--robot", "my robot.toml", "--method", "perturbation")
    assert call(tmp_path, "predict", "job.toml", *others).code == 0
    folders = sorted(path.name for path in (tmp_path / "armtwin_out").iterdir())
    assert folders == ["job", "job_62.5mm_s_my_robot_perturbation"]


def test_another_run_needs_force_to_replace_a_result_in_a_folder_asked_for(tmp_path):
    save(tmp_path)
    assert call(tmp_path, "predict", "job.toml", "--out", "out").code == 0
    assert call(tmp_path, "predict", "job.toml", "--out", "out").code == 0
    before = everything(tmp_path)
    words = ("predict", "job.toml", "--speed", "50 mm/s", "--out", "out")
    done = call(tmp_path, *words)
    assert (done.code, done.out) == (2, "")
    assert (
        "out: holds the result of another run (predict ../job.toml); choose another folder"
        in done.err
    )
    assert everything(tmp_path) == before
    assert call(tmp_path, *words, "--force").code == 0
    assert json.loads((tmp_path / "out" / "result.json").read_text())["speed_m_s"] == 0.05


def test_another_job_file_of_the_same_name_does_not_replace_a_result(never_run, predicted):
    (predicted / "other").mkdir()
    save(predicted / "other")
    before = everything(predicted)
    done = call(predicted, "predict", "other/job.toml")
    assert (done.code, done.out) == (2, "")
    assert "armtwin_out/job: holds the result of another run (predict ../../job.toml)" in done.err
    assert everything(predicted) == before


def test_a_result_is_its_own_wherever_one_stands_and_wherever_both_are_moved(predicted):
    moved = predicted.rename(predicted.with_name(f"{predicted.name} moved"))
    assert (
        call(
            moved.parent, "predict", moved / "job.toml", "--out", moved / "armtwin_out" / "job"
        ).code
        == 0
    )


def test_the_result_of_a_run_that_ended_meanwhile_is_not_replaced(tmp_path, monkeypatch):
    """Another run may write the folder while this one simulates."""
    save(tmp_path)
    original = at.predict

    def late(*args, **kwargs):
        monkeypatch.setattr(at, "predict", original)
        assert call(tmp_path, "predict", "job.toml", "--speed", "50 mm/s", "--out", "out").code == 0
        return original(*args, **kwargs)

    monkeypatch.setattr(at, "predict", late)
    done = call(tmp_path, "predict", "job.toml", "--out", "out")
    assert done.code == 2
    assert "holds the result of another run" in done.err
    assert json.loads((tmp_path / "out" / "result.json").read_text())["speed_m_s"] == 0.05


# Names


def test_a_job_with_a_name_of_300_letters_gets_a_folder(tmp_path):
    save(tmp_path, with_top(f'name = "{"x" * 300}"'))
    assert call(tmp_path, "predict", "job.toml").code == 0
    [folder] = (tmp_path / "armtwin_out").iterdir()
    assert folder.name.startswith("x" * 100)
    assert len(folder.name) < 120


def test_a_robot_with_a_name_of_300_letters_gets_a_file(tmp_path):
    at.Robot.load("rx90b").to_urdf(tmp_path / "r.urdf")
    text = (
        (tmp_path / "r.urdf")
        .read_text()
        .replace('<robot name="rx90b">', f'<robot name="{"x" * 300}">')
    )
    (tmp_path / "r.urdf").write_text(text)
    done = call(tmp_path, "import", "r.urdf")
    assert done.code == 0, done.err
    assert len(list(tmp_path.glob("xxx*.toml"))) == 1


LONG = "x" * 300


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["predict", "job.toml", "--out", LONG], "cannot be written (File name too long)"),
        (
            ["predict", "job.toml", "--out", f"new/{LONG}/out"],
            "cannot be written (File name too long)",
        ),
        (["predict", "job.toml", "--out", ""], "--out must name a file or folder, got nothing"),
        (
            ["compare", "job.toml", "log.csv", "--out", " "],
            "--out must name a file or folder, got nothing",
        ),
        (
            ["identify", "tx40", "log.csv", "--out", f"{LONG}.toml"],
            "cannot be written (File name too long)",
        ),
        (
            ["identify", "tx40", "log.csv", "--out", f"{'x' * 246}.toml"],
            "cannot be written (File name too long)",
        ),
        (
            ["identify", "tx40", "log.csv", "--out", ""],
            "--out must name a file or folder, got nothing",
        ),
        (
            ["export", "urdf", "rx90b", "--out", f"{LONG}.urdf"],
            "cannot be written (File name too long)",
        ),
        (["export", "urdf", "rx90b", "--out", ""], "--out must name a file or folder, got nothing"),
    ],
    ids=lambda words: " ".join(words)[:40] if isinstance(words, list) else "",
)
def test_a_name_that_cannot_be_is_refused_before_the_run(words, sentence, never_run, tmp_path):
    done = call(save(tmp_path), *words)
    assert_refused(done, tmp_path, "job.toml")
    assert sentence in done.err

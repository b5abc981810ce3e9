"""armtwin identify: files, pages, exit codes, and one sentence for what cannot be."""

import gzip
import json
import re

import numpy as np
import pytest

import armtwin as at
from tests.app.test_job_commands import call, tree
from tests.identification.test_identify import excitation


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Two logs of a TX40 that differs from its file, and one to validate."""
    folder = tmp_path_factory.mktemp("logs")
    robot = at.Robot.load("tx40")
    group = np.array([p.group for p in robot.parameter_table])
    truth = robot.with_parameters(robot.parameters * np.where(group == "friction", 0.7, 1.0))
    for name, seed in (("a", 1), ("b", 2), ("c", 3)):
        t, q, v, a = excitation(robot, 8.0, rate=100.0, seed=seed)
        tau = truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)
        tau += 0.3 * np.random.default_rng(seed).normal(size=tau.shape)
        at.Log.of(t, q=q, q_ref=q, tau=tau).write(folder / f"{name}.csv")
    return folder


def test_a_validated_identification_writes_robot_report_and_result(folder, tmp_path):
    done = call(
        tmp_path,
        "identify",
        "tx40",
        folder / "a.csv",
        folder / "b.csv",
        "--validate",
        folder / "c.csv",
        "--cutoff",
        "10 Hz",
    )
    assert done.code == 0, done.err
    headline = (
        "The identified robot predicts better than its file: torque error on a log it never saw"
    )
    assert headline in " ".join(done.out.split())
    assert max(len(line) for line in done.out.splitlines()[:-1]) <= 80
    assert tree(tmp_path / "armtwin_out") == [
        "tx40_identified",
        "tx40_identified/recipe.toml",
        "tx40_identified/report.html",
        "tx40_identified/result.json",
        "tx40_identified/robot.covariance.npz",
        "tx40_identified/robot.toml",
    ]
    result = json.loads((tmp_path / "armtwin_out/tx40_identified/result.json").read_text())
    unseen = [j["nrmse_unseen_percent"] for j in result["joints"]]
    before = [j["nrmse_unseen_prior_percent"] for j in result["joints"]]
    assert np.mean(unseen) < 0.5 * np.mean(before)
    robot = at.Robot.load(tmp_path / "armtwin_out/tx40_identified/robot.toml")
    assert robot.uncertainty.correlated
    stds = [p["std"] for p in result["parameters"]]
    assert robot.uncertainty.deviations == pytest.approx(stds, rel=1e-12)
    assert robot.parameters == pytest.approx(
        [p["value"] for p in result["parameters"]], rel=1e-12, abs=1e-15
    )
    assert "identified: 2 logs with" in robot.provenance.of_kind("identified")[
        0
    ].text or robot.provenance.of_kind("identified")
    again = call(
        tmp_path,
        "identify",
        "tx40",
        folder / "a.csv",
        "--cutoff",
        "10 Hz",
        "--friction-only",
        "--json",
    )
    assert again.code == 0, again.err
    told = json.loads(again.out)  # exactly one object
    assert told["judged_on"] == "left out in turn"
    assert told["recipe"]["only"] == "friction"


def test_out_names_the_robot_file_and_nothing_is_replaced_unasked(folder, tmp_path):
    words = (
        "identify",
        "tx40",
        folder / "a.csv",
        "--validate",
        folder / "b.csv",
        "--cutoff",
        "10 Hz",
        "--out",
        "my.toml",
    )
    assert call(tmp_path, *words).code == 0
    written = ["my.covariance.npz", "my.recipe.toml", "my.report.html", "my.result.json", "my.toml"]
    assert tree(tmp_path) == written
    recipe = 'format = 1\ntorque = "tau"\ncutoff = 10.0\n'
    assert (tmp_path / "my.recipe.toml").read_text() == recipe
    before = (tmp_path / "my.toml").read_bytes()
    refused = call(tmp_path, *words)
    assert refused.code == 2
    assert "my.toml: exists already; use --force" in refused.err
    assert (tmp_path / "my.toml").read_bytes() == before
    own = call(tmp_path, *words, "--force", "--against", "my.toml")
    assert own.code == 2
    assert "my.toml: is an input of this run and would be replaced" in own.err
    assert (tmp_path / "my.toml").read_bytes() == before
    (tmp_path / "other.toml").write_bytes(before)
    beside = call(tmp_path, *words, "--force", "--against", "other.toml")
    assert beside.code == 0, beside.err
    assert "Models side by side" in (tmp_path / "my.report.html").read_text(encoding="utf-8")


def test_a_robot_file_that_came_while_identifying_is_not_replaced(folder, tmp_path, monkeypatch):
    original = at.judge

    def late(*args, **kwargs):
        (tmp_path / "my.toml").write_text("of another run")
        return original(*args, **kwargs)

    monkeypatch.setattr(at, "judge", late)
    words = ("--validate", folder / "b.csv", "--cutoff", "10 Hz", "--out", "my.toml")
    done = call(tmp_path, "identify", "tx40", folder / "a.csv", *words)
    assert (done.code, done.out) == (2, "")
    assert "my.toml: exists already" in done.err
    assert tree(tmp_path) == ["my.toml"]
    assert (tmp_path / "my.toml").read_text() == "of another run"


def test_a_fit_that_predicts_worse_than_its_file_ends_with_1(tmp_path):
    """Fitted to a log of another robot, judged on one of the file's own."""
    robot = at.Robot.load("tx40")
    wrong = robot.with_parameters(
        robot.parameters
        * np.where([p.group == "friction" for p in robot.parameter_table], 3.0, 1.0)
    )
    for name, truth in (("fit", wrong), ("judge", robot)):
        t, q, v, a = excitation(robot, 8.0, rate=100.0)
        at.Log.of(t, q=q, tau=truth.inverse_dynamics(q, v, a) + truth.friction_torque(v)).write(
            tmp_path / f"{name}.csv"
        )
    done = call(
        tmp_path, "identify", "tx40", "fit.csv", "--validate", "judge.csv", "--cutoff", "10 Hz"
    )
    assert done.code == 1
    assert "no better than its file" in done.out


def bad_files(folder, tmp_path):
    """Files that are wrong in one way each, and what must be said."""
    text = (folder / "a.csv").read_text()
    lines = text.splitlines()

    def put(name, content):
        (tmp_path / name).write_text(content)

    put(
        "nan.csv",
        "\n".join(
            x if not 100 <= k < 140 else re.sub(r",[^,]*$", ",nan", x) for k, x in enumerate(lines)
        ),
    )
    other = re.sub(r",[^,]*$", ",0.5", lines[49])
    put("twice.csv", "\n".join([*lines[:50], other, *lines[50:]]))
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(text.encode())[:2000])
    put("head.csv", lines[0] + "\n")
    return {
        "nan.csv": r"lines 101 to 140: value 19 \(tau6\) must be a finite number, got 'nan'",
        "twice.csv": "line 51: time must increase, got .* twice: a doubled sample",
        "cut.csv.gz": "the gzip file is cut off or damaged",
        "head.csv": "a log needs a header line and at least one line of numbers",
        "none.csv": "cannot be read",
    }


def test_a_bad_log_is_named_in_one_sentence_and_nothing_is_written(folder, tmp_path):
    expected = bad_files(folder, tmp_path)
    before = tree(tmp_path)
    for name, sentence in expected.items():
        done = call(tmp_path, "identify", "tx40", name)
        assert done.code == 2, name
        assert re.search(sentence, " ".join(done.err.split())), done.err
        assert "Traceback" not in done.err
        assert tree(tmp_path) == before


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--cutoff", "60"), "cutoff must lie between 0 and half of the log's rate, 50 Hz, got 60"),
        (("--periods", "²", "--period", "8 s"), "--periods must be a number or two"),
        (("--cutoff", "ten"), "--cutoff"),
        (("--cutoff", "200 Hz"), "cutoff must lie between 0 and half of the log's rate"),
        (("--torque", "current"), "the log has no channel 'current'. It has: q, q_ref, tau."),
        (("--periods", "3-2", "--period", "8 s"), "--periods must not run backwards"),
        (
            ("--period", "8 s", "--periods", "2-3"),
            "the log holds no 2 periods of 8 s from number 2 on",
        ),
        (("--payload", "anvil"), "payload 'anvil' is not known"),
        (("--mounting", "roof"), "--mounting must be floor, wall, ceiling or an angle"),
        (("--gravity", "0 0"), "--gravity must be three numbers in m/s²"),
        (("--out", "x.urdf"), "--out must be a robot file that ends in .toml"),
        (("--out", "nowhere/x.toml"), "there is no such folder"),
    ],
)
def test_wrong_options_are_refused(folder, tmp_path, words, sentence):
    done = call(tmp_path, "identify", "tx40", folder / "a.csv", *words)
    assert done.code == 2
    assert sentence in " ".join(done.err.split())
    assert tree(tmp_path) == []


def test_a_fit_is_repeated_by_its_recipe_to_the_last_digit(folder, tmp_path):
    """With choices that only a recipe has; what was chosen by the program is in the second."""
    recipe = 'format = 1\nrest = 0.02\nfixed = ["Jm6"]\nzero = ["mx1"]\nweight = 0.01\n'
    (tmp_path / "my_recipe.toml").write_text(recipe)
    logs = (folder / "a.csv", "--validate", folder / "b.csv")
    first = call(
        tmp_path, "identify", "tx40", *logs, "--recipe", "my_recipe.toml", "--out", "first.toml"
    )
    assert first.code == 0, first.err
    written = (tmp_path / "first.recipe.toml").read_text()
    assert 'torque = "tau"' in written
    assert "cutoff = " in written
    second = call(
        tmp_path, "identify", "tx40", *logs, "--recipe", "first.recipe.toml", "--out", "second.toml"
    )
    assert second.code == 0, second.err
    robots = [(tmp_path / f"{name}.toml").read_text() for name in ("first", "second")]
    assert robots[0] == robots[1]
    assert (tmp_path / "second.recipe.toml").read_text() == written
    found = at.Robot.load(tmp_path / "second.toml")
    assert found.parameters[found.parameter_names.index("mx1")] == 0.0
    held = found.uncertainty.known[found.parameter_names.index("Jm6")]
    assert not held


def test_options_come_before_the_recipe(folder, tmp_path):
    (tmp_path / "my.toml").write_text('format = 1\nestimator = "ridge"\ncutoff = "5 Hz"\n')
    words = ("--recipe", "my.toml", "--estimator", "consistent", "--cutoff", "10 Hz")
    done = call(
        tmp_path, "identify", "tx40", folder / "a.csv", "--validate", folder / "b.csv", *words,
        "--json",
    )  # fmt: skip
    assert done.code == 0, done.err
    result = json.loads(done.out)
    assert result["recipe"]["estimator"] == "consistent"
    assert result["cutoff_hz"] == 10.0


def test_a_wrong_mounting_is_named_and_the_right_one_is_identified(tmp_path):
    wall = at.Robot.load("rx90b").with_gravity((9.81, 0.0, 0.0))
    for name, seed in (("run", 1), ("unseen", 2)):
        t, q, v, a = excitation(wall, 8.0, rate=100.0, seed=seed)
        tau = wall.inverse_dynamics(q, v, a) + wall.friction_torque(v)
        noise = np.random.default_rng(seed).normal(size=tau.shape)
        tau += 0.003 * np.abs(tau).max(axis=0) * noise
        at.Log.of(t, q=q, tau=tau).write(tmp_path / f"{name}.csv")
    wrong = call(tmp_path, "identify", "rx90b", "run.csv", "--cutoff", "10 Hz")
    assert wrong.code == 2
    assert "that of a base on a wall" in wrong.err
    assert "say --mounting wall" in wrong.err
    assert tree(tmp_path) == ["run.csv", "unseen.csv"]
    words = ("--validate", "unseen.csv", "--mounting", "wall", "--out", "wall.toml")
    right = call(tmp_path, "identify", "rx90b", "run.csv", "--cutoff", "10 Hz", *words)
    assert right.code == 0, right.err
    found = at.Robot.load(tmp_path / "wall.toml")
    assert found.description.gravity == (9.81, 0.0, 0.0)
    assert "as given to identify" in found.description.source["gravity"]
    assert "gravity = [9.81, 0.0, 0.0]" in (tmp_path / "wall.recipe.toml").read_text()


def test_import_writes_how_the_robot_is_mounted(tmp_path):
    at.Robot.load("tx40").to_urdf(tmp_path / "arm.urdf")
    done = call(tmp_path, "import", "arm.urdf", "--mounting", "ceiling", "--out", "arm.toml")
    assert done.code == 0, done.err
    assert "on a ceiling" in done.out
    assert "gravity = [0.0, 0.0, 9.81]" in (tmp_path / "arm.toml").read_text()
    plain = call(tmp_path, "import", "arm.urdf", "--out", "plain.toml")
    assert plain.code == 0
    assert "gravity = [0.0, 0.0, -9.81]" in (tmp_path / "plain.toml").read_text()
    both = call(tmp_path, "import", "arm.urdf", "--mounting", "wall", "--gravity", "9.81 0 0")
    assert both.code == 2
    assert "--gravity and --mounting say the same; give one of them" in both.err

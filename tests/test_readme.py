"""What README and docs show is run: the example, the commands, the robot file."""

import math
import re
from pathlib import Path

import pytest

import armtwin as at
from armtwin.report.result_file import to_result
from tests.app.test_job_commands import call

ROOT = Path(__file__).parents[1]


def blocks(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize(("page", "count"), [("README.md", 1), ("docs/python.md", 3)])
def test_the_examples_for_python_run(page, count, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = blocks(page, "python")
    assert len(examples) == count
    for example in examples:
        assert len(example.splitlines()) <= 17
        exec(compile(example, page, "exec"), {})


def test_the_readme_is_short_and_its_links_and_pictures_exist():
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.split()) <= 700
    links = re.findall(r"\]\(([^)#]+)", text)
    pictures = [link for link in links if link.endswith((".png", ".gif"))]
    assert len(pictures) == 7  # a banner and a gallery of six
    assert [link for link in links if not (ROOT / link).exists()] == []
    assert sum((ROOT / link).stat().st_size for link in pictures) < 1_000_000


def test_the_robot_file_of_the_docs_loads(tmp_path):
    (text,) = blocks("docs/robot_file.md", "toml")
    path = tmp_path / "pendulum.toml"
    path.write_text(text, encoding="utf-8")
    robot = at.Robot.load(path)
    assert robot.gravity([0.5])[0] == pytest.approx(9.81 * 0.3 * 0.479425538604203)


def test_the_example_of_the_verdict_page_runs_and_its_widths_are_read(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("docs/verdict.md", "python")
    (widths,) = blocks("docs/verdict.md", "toml")
    exec(compile(code, "docs/verdict.md", "exec"), {})
    text, _ = blocks("docs/job_file.md", "toml")
    (tmp_path / "job.toml").write_text(f"{text}\n{widths}", encoding="utf-8")
    assert at.Job.load(tmp_path / "job.toml").description.uncertainty.draws == 128


def test_what_the_page_on_advice_asks_for_is_read(tmp_path):
    (wanted,) = blocks("docs/advice.md", "toml")
    text, _ = blocks("docs/job_file.md", "toml")
    (tmp_path / "job.toml").write_text(f"{text}\n{wanted}", encoding="utf-8")
    advice = at.Job.load(tmp_path / "job.toml").description.advice
    assert (advice.keep_speed, advice.share, advice.shift) == (False, 0.8, 0.05)
    assert advice.speed_window == (0.05, 0.07)
    assert advice.options == ("slower stretch", "shift")


def test_the_example_of_the_page_on_corrections_runs(capsys, tmp_path, monkeypatch):
    """With 8 variants, as a job file asks for them."""
    monkeypatch.chdir(tmp_path)
    (code,) = blocks("docs/correction.md", "python")
    assert 'at.Job.load("rx90b_corner_fixed")' in code
    job = at.Job.load("rx90b_corner_fixed")
    (tmp_path / "few.toml").write_text(f"{job.to_toml()}\n[uncertainty]\ndraws = 8\n")
    code = code.replace("rx90b_corner_fixed", "few.toml")
    exec(compile(code, "docs/correction.md", "exec"), {})
    before, after, points = map(float, capsys.readouterr().out.splitlines()[0].split())
    assert before < min(after, points)
    assert (tmp_path / "report.html").exists()


def test_the_examples_of_the_page_on_experiments_run(capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    examples = blocks("docs/experiments.md", "python")
    assert examples
    for example in examples:
        exec(compile(example, "docs/experiments.md", "exec"), {})
    assert "PayloadIdentification(4.1" in capsys.readouterr().out


def test_the_sweep_of_the_docs_is_run(tmp_path, monkeypatch):
    """The file by the command, and the example in Python; both predict what `predict` does."""
    monkeypatch.chdir(tmp_path)
    (text,) = blocks("docs/sweep_file.md", "toml")
    (tmp_path / "line.toml").write_text(text, encoding="utf-8")
    done = call(tmp_path, "sweep", "line.toml")
    assert done.code == 1
    assert done.out.startswith("None of 12 runs holds")
    (code,) = blocks("docs/sweep_file.md", "python")
    exec(compile(code, "docs/sweep_file.md", "exec"), {})
    assert (tmp_path / "places.html").exists()


def test_every_command_of_the_page_on_commands_exists(tmp_path):
    commands = re.findall(
        r"^\| `armtwin (\w+)", (ROOT / "docs" / "commands.md").read_text("utf-8"), re.MULTILINE
    )
    assert len(commands) >= 8
    for command in commands:
        assert call(tmp_path, command, "--help").code == 0


def test_the_columns_file_of_the_docs_reads_a_log(tmp_path):
    (text,) = blocks("docs/log_file.md", "toml")
    (tmp_path / "columns.toml").write_text(text, encoding="utf-8")
    names = [f"{word}{j}" for word in ("A", "I_", "T_") for j in range(1, 7)]
    rows = [";".join([str(4 * k), *["90,0"] * 6, *["1,5"] * 6, *["20,0"] * 6]) for k in range(2)]
    (tmp_path / "run.csv").write_text(
        "\n".join([";".join(["Zeit", *names]), *rows]) + "\n", encoding="utf-8"
    )
    log = at.Log.read(tmp_path / "run.csv")
    assert log.time.tolist() == [0.0, 0.004]
    assert log.q[0] == pytest.approx(
        [math.pi / 2, -math.pi, math.pi, math.pi / 2, -math.pi / 2, math.pi / 2]
    )
    assert log.temperature[0, 0] == 293.15


def test_the_job_of_the_docs_is_predicted(tmp_path):
    text, _ = blocks("docs/job_file.md", "toml")
    path = tmp_path / "tray.toml"
    path.write_text(text, encoding="utf-8")
    run = at.predict(at.Job.load(path))
    assert run.verdict.stopped is None
    assert [x.name for x in run.verdict.segments] == ["edge", "edge corner", "side", "end"]


def test_every_key_of_the_result_is_explained():
    """docs/result.md names each key of result.json of a comparison, whatever table it stands in; at
    300 mm/s the seam leaves its tolerance, and the stretches that do are in it.
    """
    job = at.Job.load("rx90b_line").with_speed(0.3)
    text = (ROOT / "docs" / "result.md").read_text(encoding="utf-8")
    comparison = at.compare(job, at.predict(job).log)
    run = comparison.prediction
    answer = at.Answer(run, at.explain(run), at.advise(run, nominal=True, budget=5), comparison)
    result = to_result(answer.sections())
    free = {
        "inputs_sha256",
        "versions",
        "overrides",
        "assumed",
        "model",
        "rows",
    }  # keys below these are data
    waiting, missing = [result], []
    while waiting:
        table = waiting.pop()
        missing += [key for key in table if key not in text]
        for key, value in table.items():
            items = value if isinstance(value, list) else [value]
            waiting += [item for item in items if isinstance(item, dict) and key not in free]
    assert not missing


def test_the_example_of_identification_runs_and_every_key_of_its_result_is_explained(
    tmp_path, monkeypatch, capsys
):
    """The Python of docs/identification.md;
    each key of what `armtwin identify` writes stands in docs/result.md.
    """
    from dataclasses import fields

    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks("docs/identification.md", "python"):
        exec(code, names)
    assert "False" in capsys.readouterr().out
    written = ["identified.covariance.npz", "identified.toml", "report.html"]
    assert sorted(path.name for path in tmp_path.iterdir()) == written
    saved, known = names["found"], names["known"]  # the second example loads what the first saved
    assert (known.covariance == saved.robot.uncertainty.covariance).all()
    text = (ROOT / "docs" / "result.md").read_text(encoding="utf-8")
    recipe = (ROOT / "docs" / "identification.md").read_text(encoding="utf-8")
    assert [f.name for f in fields(at.Recipe) if f"`{f.name}`" not in recipe] == []
    waiting, missing = [to_result(names["judged"].sections())], []
    while waiting:
        table = waiting.pop()
        missing += [key for key in table if f"`{key}`" not in text]
        for key, value in table.items():
            items = value if isinstance(value, list) else [value]
            waiting += [
                x
                for x in items
                if isinstance(x, dict) and key not in ("recipe", "versions", "inputs_sha256")
            ]
    assert not missing


@pytest.mark.parametrize("name", ["robot_file.md", "job_file.md"])
def test_every_key_of_the_schema_is_explained(name):
    """The page has a line for each field of each group that a file may hold."""
    from dataclasses import fields, is_dataclass
    from typing import get_args, get_type_hints

    from armtwin.jobs.description import JobDescription
    from armtwin.robot.schema.description import Description

    text = (ROOT / "docs" / name).read_text(encoding="utf-8")
    if name == "job_file.md":
        text += (ROOT / "docs" / "robot_file.md").read_text(
            encoding="utf-8"
        )  # poses and orientations are shared
    start, least = (Description, 35) if name == "robot_file.md" else (JobDescription, 10)
    seen, waiting, missing = set(), [start], []
    while waiting:
        kind = waiting.pop()
        if is_dataclass(kind) and kind not in seen:
            seen.add(kind)
            flat = {f.name for f in fields(kind) if f.metadata.get("flat")}
            missing += [
                f"{kind.__name__}.{f.name}"
                for f in fields(kind)
                if f"`{f.name}`" not in text and f"{f.name}]" not in text and f.name not in flat
            ]
            waiting += list(get_type_hints(kind).values())
        waiting += list(get_args(kind))
    assert len(seen) > least
    assert not missing

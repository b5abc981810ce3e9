"""Code that pages show: each block is run or read by a test, here or where TESTED says."""

import re
import shlex
import shutil
import tomllib

import numpy as np
import pytest

import armtwin as at
from armtwin.identification.rigid_body.recipe import read_recipe
from armtwin.prediction.registration_file import read_registration
from armtwin.programs.table import read_side_file
from tests.app.test_every_command import COMMANDS
from tests.app.test_job_commands import call
from tests.test_readme import ROOT, blocks

PAGES = sorted([ROOT / "README.md", *(ROOT / "docs").glob("*.md")])
BLOCK = re.compile(r"^```(\w*)\n(.*?)^```", re.DOTALL | re.MULTILINE)
README, HERE = "tests/test_readme.py", "tests/test_blocks.py"

# the test file of blocks that are no commands; those of tutorials are run by tests/test_site.py
TESTED = {
    "README.md": {"python": README},
    "adding.md": dict.fromkeys(("python", "text", "toml"), "tests/test_adding.py"),
    "advice.md": {"python": HERE, "toml": README},
    "chain.md": {"toml": "tests/test_chain.py"},
    "correction.md": {"python": README},
    "elements.md": {"python": HERE},
    "epaas.md": {"python": "tests/analysis/test_page.py"},
    "experiment_file.md": {"toml": "tests/jobs/test_experiment.py", "text": HERE},
    "experiments.md": {"python": README, "text": HERE},
    "fmu.md": {"python": "tests/exchange/test_docs.py", "text": "tests/exchange/test_foreign.py"},
    "from_program.md": {"python": HERE, "toml": HERE},
    "identification.md": {"python": README, "toml": HERE},
    "job_file.md": {"toml": README},
    "log_file.md": {"toml": README},
    "python.md": {"python": README},
    "robot_file.md": {"toml": README},
    "studio.md": {"python": HERE},
    "sweep_file.md": {"toml": README, "python": README},
    "tool_path.md": {"toml": HERE},
    "verdict.md": {"python": README, "toml": README, "output": "tests/app/test_job_commands.py"},
}
SHOWN = {"architecture.md", "identification.md"}  # whose plain blocks are a picture and a formula


def commands(text):
    """Commands of ours in a block, as their words."""
    lines = (line.removeprefix("$ ") for line in text.splitlines())
    return [shlex.split(line, comments=True)[1:] for line in lines if line.startswith("armtwin ")]


def is_console(text):
    """Whether a block is typed into a console."""
    words = (".venv", "armtwin ", "dask ", "make ", "pip", "py ", "python ", "uv", "$ ")
    return all(line.startswith(words) for line in text.splitlines() if line)


def test_every_block_of_a_page_has_a_test():
    found = {}
    for page in PAGES:
        if page.name == "api.md":  # signatures, made from the sources
            continue
        for language, text in BLOCK.findall(page.read_text(encoding="utf-8")):
            if not (is_console(text) or (not language and page.name in SHOWN)):
                found.setdefault(page.name, set()).add(language or "output")
    assert found == {page: set(tests) for page, tests in TESTED.items()}
    for page, tests in TESTED.items():
        for file in set(tests.values()):
            assert page in (ROOT / file).read_text(encoding="utf-8"), (page, file)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_of_a_page_are_understood(page, tmp_path, monkeypatch):
    """Each is parsed as it stands there, its words and numbers checked by their own types."""
    monkeypatch.chdir(tmp_path)
    for _, text in BLOCK.findall(page.read_text(encoding="utf-8")):
        for words in commands(text):
            known = next(known for known in COMMANDS if list(known) == words[: len(known)])
            COMMANDS[known].make_context(" ".join(known), words[len(known) :])


def test_the_commands_of_setup_are_targets_of_make():
    made = (ROOT / "Makefile").read_text(encoding="utf-8")
    first = BLOCK.findall((ROOT / "README.md").read_text(encoding="utf-8"))[0][1]
    targets = re.findall(r"^make (\w+)", first, re.MULTILINE)
    assert targets == ["demo", "test"]
    assert [target for target in targets if f"\n{target}:" not in made] == []


def test_the_page_on_install_names_the_wheel_and_the_extras_of_the_package():
    text = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"armtwin-(.+?)-py3", text)) == {at.__version__}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)
    assert sorted(extras) == sorted(project["optional-dependencies"])


def test_the_commands_of_the_page_on_programs_run(tmp_path, monkeypatch):
    """All but the correction, of which tests/programs/test_writing.py has every dialect."""
    for path in (ROOT / "docs" / "programs").iterdir():
        shutil.copy(path, tmp_path)
    ran = 0
    for words in commands(blocks("docs/from_program.md", "")[0]):
        nominal = ["--nominal"] if words[0] == "predict" else []
        if words[0] != "correct":
            done = call(tmp_path, *words, *nominal)
            assert done.code in (0, 1), done.err
            ran += 1
    assert ran >= 4
    monkeypatch.chdir(ROOT)
    (code,) = blocks("docs/from_program.md", "python")
    names = {}
    exec(compile(code, "docs/from_program.md", "exec"), names)
    assert names["job"].seam.length == pytest.approx(at.Job.load("rx90b_program").seam.length)


def test_small_files_of_the_pages_are_read(tmp_path):
    """The side file of a program, a recipe, a registration, friction curves."""
    texts = {
        "from_program": blocks("docs/from_program.md", "toml")[0],
        "identification": blocks("docs/identification.md", "toml")[0],
        "tool_path": blocks("docs/tool_path.md", "toml")[0],
        "experiments": blocks("docs/experiments.md", "text")[0],
    }
    paths = {name: tmp_path / f"{name}.toml" for name in texts}
    for name, text in texts.items():
        paths[name].write_text(text, encoding="utf-8")
    side = read_side_file(paths["from_program"])
    assert side.base["UFRAME[1]"][:3, 3] == pytest.approx([0.575, 0, 0.05])
    recipe = read_recipe(paths["identification"])
    assert (recipe.torque, recipe.cutoff) == ("tau", 20.0)
    given = read_registration(paths["tool_path"])
    assert given.clock == 1.25
    curves = at.FrictionCurves.read(paths["experiments"], at.Robot.load("rx90b").joint_names)
    assert curves.torque == pytest.approx([-2.02, 0.84])


def test_the_hydraulic_experiment_of_its_page_runs(tmp_path):
    head, (step,) = (
        blocks("docs/experiment_file.md", "toml"),
        blocks("docs/experiment_file.md", "text"),
    )
    path = tmp_path / "wrist.toml"
    path.write_text(f'format = 1\nduration = "40 ms"\n{step}', encoding="utf-8")
    run = at.run_experiment(at.Experiment.load(path))
    assert head
    assert np.isfinite(run.log.q).all()


def test_the_example_of_the_page_on_advice_runs(tmp_path, monkeypatch, capsys):
    """With 8 variants, as a job file asks for them."""
    monkeypatch.chdir(tmp_path)
    job = at.Job.load("rx90b_line")
    (tmp_path / "few.toml").write_text(f"{job.to_toml()}\n[uncertainty]\ndraws = 8\n")
    (code,) = blocks("docs/advice.md", "python")
    exec(compile(code.replace("rx90b_line", "few.toml"), "docs/advice.md", "exec"), {})
    assert len(capsys.readouterr().out.splitlines()) > 2


def test_the_examples_of_the_page_on_elements_run():
    """Names that the page leaves open are a posture, its rates and a motion of the RX90B."""
    robot = at.Robot.load("rx90b")
    q, v, a = np.full((3, robot.n), 0.3)
    motion = at.Trajectory.sampled(100, *np.tile([q, v, a], (3, 1, 1)).swapaxes(0, 1)[:, :2])
    names = {"q": q, "v": v, "a": a, "trajectory": motion}
    for code in blocks("docs/elements.md", "python"):
        exec(compile(code, "docs/elements.md", "exec"), names)
    assert names["rest"].position("tip") == pytest.approx([0.94358, 0.30163, 0], abs=1e-4)


def test_the_example_of_the_page_on_the_studio_runs(capsys):
    (code,) = blocks("docs/studio.md", "python")
    exec(compile(code, "docs/studio.md", "exec"), {})
    assert capsys.readouterr().out.startswith("Prediction(")

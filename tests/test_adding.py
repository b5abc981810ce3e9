"""docs/adding.md is followed to the letter: what it adds works, and touches as much as it says."""

import difflib
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pytest

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "docs" / "adding.md").read_text(encoding="utf-8")
BLOCK = r"\n\n```\w+\n(.*?)^```"
NEW_FILE = re.compile(rf"^New file `(.+?)`:{BLOCK}", re.DOTALL | re.MULTILINE)
ONE_LINE = re.compile(rf"^One line in `(.+?)`, before `(.+?)`:{BLOCK}", re.DOTALL | re.MULTILINE)
RECIPES = ("A friction law", "A robot", "An experiment", "A command")

# what the example's law is to give, and the joint that the log shows
LEVEL, DROP, VISCOUS, SPEED = 3.0, 2.0, 2.0, 0.1
LENGTH, GRAVITY = 0.5, 9.81
PERIOD = 2 * np.pi * np.sqrt(LENGTH / GRAVITY)


def torque(w):
    """The law of the example by its equation."""
    return np.sign(w) * (LEVEL + DROP / (1 + (w / SPEED) ** 2)) + VISCOUS * w


class Touched(NamedTuple):
    """Files and folders that a recipe makes, and lines that it adds to others or takes away."""

    new_files: list[str]
    new_folders: set[str]
    added_lines: int
    removed_lines: int


def recipe(title):
    """The section of the page below a heading."""
    return PAGE.split(f"\n## {title}\n")[1].split("\n## ")[0]


def follow(title, root):
    """Write what a recipe says."""
    for name, text in NEW_FILE.findall(recipe(title)):
        path = root / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    for name, before, line in ONE_LINE.findall(recipe(title)):
        path = root / name
        lines = path.read_text(encoding="utf-8").splitlines(keepends=True)
        (place,) = [k for k, text in enumerate(lines) if text.strip().startswith(before)]
        path.write_text("".join([*lines[:place], line, *lines[place:]]), encoding="utf-8")


def texts_below(root):
    """Contents of every file by its name."""
    paths = (path for path in root.rglob("*.*") if path.suffix in (".py", ".toml"))
    return {path.relative_to(root).as_posix(): path.read_text(encoding="utf-8") for path in paths}


def compare(old, new):
    """What was touched between two states of the sources."""
    new_files = sorted(new.keys() - old.keys())
    known = {str(Path(name).parent) for name in old}
    marks = []
    for name in old:
        if old[name] != new[name]:
            marks += [
                line[0] for line in difflib.ndiff(old[name].split("\n"), new[name].split("\n"))
            ]
    folders = {str(Path(name).parent) for name in new_files} - known
    return Touched(new_files, folders, marks.count("+"), marks.count("-"))


def write_inputs(folder):
    """A swing of two periods, a joint at rest and a friction curve, each from its equation."""
    t = np.arange(0, 2.2 * PERIOD, 0.005)
    angle = 0.1 * np.exp(-0.05 * t) * np.cos(2 * np.pi * t / PERIOD)
    for name, q in (("swing", angle), ("still", 0 * t)):
        np.savez(folder / f"{name}.npz", time=t, q=np.column_stack([q, q]))
    speeds = np.geomspace(0.005, 2.0, 16)
    lines = ["joint,v,tau,std"]
    for w in (*speeds, *-speeds):
        lines.append(f"shoulder,{w},{torque(w)},0.01")
    (folder / "curves.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """A copy of the package."""
    folder = tmp_path_factory.mktemp("copy")
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "src", folder / "src", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", folder)
    return folder


@pytest.fixture(scope="module")
def touched(root):
    """What each recipe touched, one after the other in one copy."""
    counts = {}
    for title in RECIPES:
        before = texts_below(root)
        follow(title, root)
        counts[title] = compare(before, texts_below(root))
    return counts


@pytest.fixture(scope="module")
def used(root, touched):
    """What use_additions.py saw; kernels run as they stand, so nothing is compiled."""
    write_inputs(root)
    (element,) = re.findall(r"```toml\n(.*?)```", recipe("A friction law"), re.DOTALL)
    script = ROOT / "tests" / "use_additions.py"
    command = [sys.executable, str(script), element, "curves.csv", "swing.npz", "still.npz"]
    chosen = {"PYTHONPATH": str(root / "src"), "NUMBA_DISABLE_JIT": "1", "MPLBACKEND": "agg"}
    chosen["ARMTWIN_CACHE_DIR"] = str(root / "cache")
    done = subprocess.run(
        command, cwd=root, capture_output=True, text=True, env=os.environ | chosen
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_friction_law_is_one_file_and_one_line(touched):
    counts = touched["A friction law"]
    assert len(counts.new_files) == 1
    assert (counts.added_lines, counts.removed_lines) == (1, 0)


def test_a_robot_is_one_file(touched):
    counts = touched["A robot"]
    assert len(counts.new_files) == 1
    assert (counts.added_lines, counts.removed_lines) == (0, 0)


def test_an_experiment_is_one_folder_and_one_line(touched):
    counts = touched["An experiment"]
    assert {str(Path(name).parent) for name in counts.new_files} == counts.new_folders
    assert len(counts.new_folders) == 1
    assert (counts.added_lines, counts.removed_lines) == (1, 0)


def test_a_command_is_one_file_and_one_line(touched):
    counts = touched["A command"]
    assert len(counts.new_files) == 1
    assert (counts.added_lines, counts.removed_lines) == (1, 0)


def test_the_code_of_the_page_is_in_the_style_of_the_sources(root, touched):
    ruff = Path(sys.executable).with_name("ruff")
    for words in (["check"], ["format", "--check"]):
        done = subprocess.run(
            [ruff, *words, "--no-cache", "src"], cwd=root, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stdout


def test_a_new_law_has_its_equation_in_torque_and_regressor(used):
    law = used["law"]
    expected = torque(np.array(law["speeds_rad_s"]))
    assert law["torque_n_m"] == pytest.approx(expected, rel=1e-12)
    assert law["apart_n_m"] < 1e-12
    for name in ("level", "drop", "viscous"):
        assert any(parameter.endswith(name) for parameter in law["parameters"])


def test_a_new_law_acts_in_a_closed_loop(used):
    """While the joint slides, its friction is the law's at its speed; the whole drop holds it."""
    speed = np.array(used["law"]["loop_rad_s"])
    friction = np.array(used["law"]["loop_n_m"])
    sliding = speed > 0
    assert sliding.sum() > 3
    assert friction[sliding] == pytest.approx(torque(speed[sliding]), rel=1e-6)
    assert friction[~sliding] == pytest.approx(LEVEL + DROP)


def test_a_new_law_is_fitted_to_the_curve_of_its_own_equation(used):
    fit = used["law"]["fit"]
    assert fit["code"] == 0, fit["err"]
    numbers = json.loads(fit["out"])["numbers"]
    assert {record["law"] for record in numbers} == {"hess_soom"}
    found = {record["name"]: record["value"] for record in numbers}
    expected = {"level": LEVEL, "drop": DROP, "viscous": VISCOUS, "speed": SPEED}
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=1e-6)


def test_a_new_robot_is_listed_checked_simulated_and_analysed(used):
    """Gravity at both joints of the stretched arm: masses times levers, by hand."""
    robot = used["robot"]
    by_hand = GRAVITY * np.array([4 * 0.2 + 2 * (0.4 + 0.15), 2 * 0.15])
    assert robot["following_error_rad"] < 0.02
    assert "planar_arm" in robot["robots"]["out"]
    assert robot["check"]["code"] == 0
    assert "assumed" in robot["check"]["out"]
    assert robot["torques"]["code"] == 0
    causes = json.loads(robot["torques"]["out"])["joints"]["causes"]
    assert [record["gravity"] for record in causes] == pytest.approx(by_hand, rel=1e-12)


def test_a_new_experiment_is_public_and_loads_no_other(used):
    experiment = used["experiment"]
    assert experiment["public"] == ["Swing", "fit_swing"]
    own = ("armtwin.identification.swing", "armtwin.identification.fitting")
    assert [name for name in experiment["loaded"] if not name.startswith(own)] == []


def test_line_card_terminal_and_page_show_a_new_experiment(used):
    experiment = used["experiment"]
    assert experiment["repr"].startswith("Swing(Pendulum length 50")
    sentence = experiment["repr"].removeprefix("Swing(").removesuffix(")")
    for place in ("card", "terminal", "page"):
        assert sentence in experiment[place]


def test_the_numbers_of_a_new_experiment_are_in_json_table_and_plot(used):
    """Turning points of a damped swing come half a period apart; damping shifts them all alike."""
    experiment = used["experiment"]
    assert experiment["json"]["length_m"] == pytest.approx(LENGTH, rel=1e-3)
    assert 0 < experiment["json"]["half_width_m"] < 1e-3 * LENGTH
    times = [record["time_s"] for record in experiment["json"]["turns"]]
    assert np.diff(times) == pytest.approx(PERIOD / 2, rel=1e-3)
    assert experiment["frame"] == times
    assert experiment["plot"] == ["time [s]", times]


def test_a_new_command_is_listed_and_takes_json_and_out(used):
    command = used["command"]
    assert re.search(r"^  swing +Pendulum length", command["help"]["out"], re.MULTILINE)
    assert command["text"]["code"] == 0
    assert "Pendulum length 50" in command["text"]["out"]
    assert command["json"]["code"] == 0
    assert json.loads(command["json"]["out"])["length_m"] == pytest.approx(LENGTH, rel=1e-3)
    for folder in ("armtwin_out/swing_joint_1_swing", "chosen"):
        assert {f"{folder}/report.html", f"{folder}/result.json"} <= set(command["files"])


def test_a_new_command_refuses_bad_input_and_the_result_of_another_run(used):
    command = used["command"]
    assert command["refused"]["code"] == 2
    error = json.loads(command["refused"]["out"])["error"]
    assert error == "joint 1: a swing needs at least 4 turning points, the log has 0"
    assert command["again"]["code"] == 2
    assert "--force" in command["again"]["err"]

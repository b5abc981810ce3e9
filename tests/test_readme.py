"""What README and docs show is run: the example, the commands, the robot file."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

import armtwin as at

ROOT = Path(__file__).parents[1]


def blocks(name, language):
    text = (ROOT / name).read_text(encoding="utf-8")
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_the_readme_examples_run(capsys):
    examples = blocks("README.md", "python")
    assert len(examples) == 2
    for example in examples:
        assert len(example.splitlines()) <= 17
        exec(compile(example, "README.md", "exec"), {})
    assert "public" in capsys.readouterr().out


def test_the_robot_file_of_the_docs_loads(tmp_path):
    (text,) = blocks("docs/robot_file.md", "toml")
    path = tmp_path / "pendulum.toml"
    path.write_text(text, encoding="utf-8")
    robot = at.Robot.load(path)
    assert robot.gravity([0.5])[0] == pytest.approx(9.81 * 0.3 * 0.479425538604203)


def test_every_command_of_the_readme_exists():
    commands = re.findall(r"^\| `armtwin (\w+)", (ROOT / "README.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert len(commands) >= 5
    for command in commands:
        done = subprocess.run([sys.executable, "-m", "armtwin", command, "--help"], capture_output=True, check=False)
        assert done.returncode == 0


def test_every_key_of_the_schema_is_explained():
    """docs/robot_file.md has a line for each field of each group that a robot file may hold."""
    from dataclasses import fields, is_dataclass
    from typing import get_args, get_type_hints

    from armtwin.robot.description import Description

    text = (ROOT / "docs" / "robot_file.md").read_text(encoding="utf-8")
    seen, waiting, missing = set(), [Description], []
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
    assert len(seen) > 35
    assert not missing

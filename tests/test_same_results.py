"""studies/same_results.py notices what differs between two folders of results."""

import json
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).parents[1] / "studies"))

import same_results

RESULT = {
    "run": {"file": "a.toml"},
    "outcome": "holds",
    "joints": [{"name": "a", "told": True, "std": 1e-9}, {"name": "b", "told": False, "std": 2.0}],
    "refused": None,
}
ROBOT = "[motor]\ninertia = np.float64(0.25)\n"


@pytest.fixture
def folders(tmp_path):
    """Two folders that hold the same."""
    for name in ("before", "after"):
        (tmp_path / name / "case").mkdir(parents=True)
        (tmp_path / name / "case" / "robot.toml").write_text(ROBOT)
        (tmp_path / name / "case" / "table.csv").write_text("time,word\n0.5,on\n")
        write(tmp_path / name, RESULT)
    return tmp_path


def write(folder, result):
    (folder / "case" / "result.json").write_text(json.dumps(result))


def compare(folders, *options):
    return same_results.main([str(folders / "before"), str(folders / "after"), *options])


def changed(**values):
    """The result with another first joint."""
    first, second = RESULT["joints"]
    return RESULT | {"joints": [first | values, second]}


def test_what_tells_runs_apart_words_and_what_is_new_do_not_count(folders, capsys):
    other = RESULT | {"run": {"file": "b.toml"}, "outcome": "does hold", "new": 1}
    write(folders / "after", other)
    (folders / "after" / "case" / "robot.toml").write_text("[motor]\ninertia = 0.25\n")
    assert compare(folders) == 0
    said = capsys.readouterr().out
    assert "case/result.json: 3 numbers, largest difference 0, 1 texts differ" in said
    assert "case/robot.toml: 1 numbers, largest difference 0" in said
    assert compare(folders, "--texts") == 0
    assert "- holds\n    + does hold" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("result", "sentence"),
    [
        (changed(std=1.00000000001e-9), "joints[0].std: 1e-09 -> 1.00000000001e-09, 1e-11"),
        (changed(std="1e-9"), "joints[0].std: 1e-09 -> '1e-9'"),
        (changed(std=None), "joints[0].std: 1e-09 -> None"),
        (changed(told=False), "joints[0].told: True -> False"),
        (RESULT | {"joints": RESULT["joints"][:1]}, "joints[1].std is missing after, was 2.0"),
        (RESULT | {"refused": "no"}, "refused: None -> 'no'"),
        ({"joints": RESULT["joints"], "refused": None}, "outcome is missing after, was 'holds'"),
    ],
)
def test_another_number_type_or_truth_and_a_missing_key_count(folders, capsys, result, sentence):
    write(folders / "after", result)
    assert compare(folders) == 1
    assert sentence in capsys.readouterr().out


def test_a_number_within_rounding_is_the_same(folders):
    write(folders / "after", changed(std=1e-9 * (1 + 4e-13)))
    assert compare(folders) == 0


@pytest.mark.parametrize("side", ["before", "after"])
def test_a_result_missing_on_either_side_counts(folders, capsys, side):
    (folders / side / "case" / "robot.toml").unlink()
    assert compare(folders) == 1
    assert f"the file is missing {side}" in capsys.readouterr().out


def test_a_number_of_a_table_counts(folders, capsys):
    (folders / "after" / "case" / "table.csv").write_text("time,word\n0.6,on\n")
    assert compare(folders) == 1
    assert "time[0]: 0.5 -> 0.6" in capsys.readouterr().out


def test_a_renamed_key_is_compared_under_its_new_name(folders, capsys):
    rows = []
    for row in RESULT["joints"]:
        rows.append({"name": row["name"], "fit": {"std": row["std"]}})
    write(folders / "after", RESULT | {"joints": rows})
    assert compare(folders) == 1
    table = '[renamed]\n"joints.std" = "joints.fit.std"\n"joints.told" = ""\n'
    (folders / "meant.toml").write_text(table)
    assert compare(folders, "--renamed", str(folders / "meant.toml")) == 0
    rows[1]["fit"]["std"] = 3.0
    write(folders / "after", RESULT | {"joints": rows})
    capsys.readouterr()
    assert compare(folders, "--renamed", str(folders / "meant.toml")) == 1
    assert "joints[1].fit.std: 2.0 -> 3.0" in capsys.readouterr().out


def test_a_case_that_was_meant_to_change_is_listed_with_its_reason(folders, capsys):
    write(folders / "after", changed(std=1.0))
    (folders / "meant.toml").write_text('[changed]\ncase = "was refused before"\n')
    assert compare(folders, "--renamed", str(folders / "meant.toml")) == 0
    said = capsys.readouterr().out
    assert "meant to change: was refused before\n  joints[0].std: 1e-09 -> 1.0" in said

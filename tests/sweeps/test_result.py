"""Results of sweeps: ranks, records, files that give them back, and sentences."""

import csv
import io
from dataclasses import replace

import pytest

import armtwin as at
from armtwin.sweeps import export
from armtwin.sweeps.result import Course, SweepResult
from armtwin.sweeps.rows import ResultRow
from armtwin.sweeps.sections import _tiles
from tests.sweeps.examples import made, short_job

X = ["300 mm", "100 mm", "200 mm"]
SPEEDS = ["100 mm/s", "300 mm/s"]
SENTENCE = 'axis 2 stops: "lag", 3 mm\nbehind'


@pytest.fixture(scope="module")
def result():
    """Six runs: 300 mm at 300 mm/s does not hold, none can be run at 100 mm."""
    whole = made(
        {"workpiece.position.1": X, "speed": SPEEDS},
        lambda x, speed: None if x == 0.1 else 10 * x * speed + 0.2,
    )
    rows = [replace(row, sentence=SENTENCE) if row.ratio is None else row for row in whole.rows]
    return replace(whole, rows=tuple(rows))


def of_rows(*rows, **options):
    """A sweep over as many speeds as there are rows."""
    speeds = [f"{100 + k} mm/s" for k in range(len(rows))]
    asked = at.Sweep.over(short_job(), {"speed": speeds}, **options)
    return SweepResult(asked, rows, Course(len(rows), 0, 1.0, "one thread"))


def test_the_best_runs_rise_in_ratio_and_leave_out_runs_without_one(result):
    ranked = result.best(6)
    ratios = [result.rows[number].ratio for number in ranked]
    assert ratios == sorted(ratios)
    assert set(ranked) == {k for k, row in enumerate(result.rows) if row.ratio is not None}


def test_a_csv_file_gives_the_records_back_bit_by_bit(tmp_path, result):
    """Also sentences with commas, quotes and line ends; an empty cell where there is no number."""
    result.write_csv(tmp_path / "runs.csv")
    with (tmp_path / "runs.csv").open(newline="", encoding="utf-8") as file:
        cells = list(csv.DictReader(file))
    wanted = [{k: "" if v is None else v for k, v in record.items()} for record in result.table]
    for line, record in zip(cells, wanted, strict=True):
        assert {k: type(record[k])(text) for k, text in line.items()} == record


@pytest.mark.parametrize("rows", [1, 3, 4, 100])
def test_groups_of_a_parquet_file_lose_and_repeat_no_run(tmp_path, monkeypatch, result, rows):
    parquet = pytest.importorskip("pyarrow.parquet")
    monkeypatch.setattr(export, "AT_ONCE", rows)
    result.write_parquet(tmp_path / "runs.parquet")
    assert parquet.read_table(tmp_path / "runs.parquet").to_pylist() == result.table


def test_records_are_in_si_and_sentences_in_the_units_that_were_written(result):
    record = result.table[4]
    assert (record["workpiece.position.1"], record["speed"]) == (0.2, 0.1)
    words = "best is run 5: workpiece.position.1 200 mm, speed 100 mm/s: holds, 40.0 % of tolerance"
    assert words in result.sections().verdict[0].text


HOLDS = ResultRow("holds", ratio=0.5, cpu_s=0.1)
EXCEEDS = ResultRow("does not hold", ratio=1.5, cpu_s=0.1)
STOPS = ResultRow("stops", sentence="axis 2 stops", cpu_s=0.1)
VERDICTS = [
    ((HOLDS, EXCEEDS, STOPS), False, "good", "1 of 3 runs hold nominally; best is run 1"),
    ((STOPS, EXCEEDS), False, "bad", "None of 2 runs holds, not even nominally; best is run 2"),
    ((EXCEEDS, EXCEEDS), True, "bad", "None of 2 runs holds with 95 % confidence; best is run 1"),
    ((STOPS, STOPS), False, "bad", "None of 2 runs could be run to its end."),
]


@pytest.mark.parametrize(("rows", "band", "tone", "sentence"), VERDICTS)
def test_a_verdict_says_how_many_hold_and_which_is_best(rows, band, tone, sentence):
    verdict = of_rows(*rows, band=band).sections().verdict[0]
    assert verdict.text.startswith(sentence)
    assert verdict.tone == tone


def test_a_tile_has_the_best_ratio_of_its_place(result):
    tiles = _tiles(result)
    _, y, z = short_job().description.workpiece.position
    assert tiles == pytest.approx({(0.3, y, z): 0.5, (0.1, y, z): -1.0, (0.2, y, z): 0.4})


@pytest.mark.parametrize("name", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1"])
def test_a_name_that_a_spreadsheet_would_take_for_a_formula_is_a_text(name):
    file = io.BytesIO()
    records = [{"run": 1, "job": name, "speed": -0.5}]
    export.csv_content(["run", "job", "speed"], lambda: iter(records))(file)
    [_, cells] = csv.reader(file.getvalue().decode().splitlines())
    assert cells == ["1", f"'{name}", "-0.5"]

"""Maps of sweeps: cells where the values say, the region that holds, the limit along an axis."""

import xml.etree.ElementTree as ET

import numpy as np
import pytest

import armtwin as at
from armtwin.notebook.cells import Cells, edges_of
from armtwin.notebook.charts import Chart, Multiples
from armtwin.notebook.scales import Axis
from armtwin.report.page import to_html
from armtwin.sweeps.maps import map_blocks
from armtwin.sweeps.pivot import pivot_of, sort_values
from armtwin.sweeps.result import Course, SweepResult
from armtwin.sweeps.rows import REFUSED, ResultRow
from tests.report.test_charts import by_class, percent
from tests.sweeps.examples import made, short_job

X = ["100 mm", "200 mm", "300 mm"]
Y = ["0 mm", "50 mm"]
SPEEDS = ["0.1 m/s", "0.2 m/s", "0.3 m/s"]


def charts(result):
    """Charts of a sweep by title, small ones by theirs."""
    found = {}
    for block in map_blocks(result):
        if isinstance(block, Multiples):
            found |= {chart.title: chart for chart in block.charts}
        elif isinstance(block, Chart):
            found[block.title] = block
    return found


def test_cells_lie_about_their_values():
    cells = Cells(
        x=edges_of(np.array([1.0, 2.0, 3.0])),
        y=edges_of(np.array([10.0, 20.0])),
        colours=np.array([[0, 1, 2], [3, 4, -1]]),
        held=np.array([[True, True, False], [True, False, False]]),
        hints=[["a", "b", "c"], ["d", "e", "f"]],
        keys=[(0, "little")],
    )
    axes = Axis("x", span=(0.5, 3.5)), Axis("y", span=(5.0, 25.0))
    root = ET.fromstring(Chart("map", *axes, (cells,)).html())
    pane = by_class(root, "pane")[0]
    drawn = by_class(pane, "cell")
    assert [x.find("title").text for x in drawn] == list("abcdef")
    assert [percent(x, "x") for x in drawn[:3]] == pytest.approx([0, 1 / 3, 2 / 3], abs=1e-4)
    assert [percent(x, "y") for x in drawn[::3]] == pytest.approx([0.5, 0.0])
    assert {percent(x, "height") for x in drawn} == {0.5}
    outline = by_class(pane, "region")
    assert len(outline) == 8  # three cells in the shape of an L have a rim of eight sides


def test_a_map_shows_the_best_of_the_other_axes_and_a_small_map_each():
    found = made({"workpiece.position.1": X, "workpiece.position.2": Y, "speed": SPEEDS}, best_low)
    pivot = pivot_of(found)
    best = [[found.sweep.inputs(int(k))["speed"] for k in line] for line in pivot.best()]
    assert best == [[0.1] * 3] * 2
    titles = charts(found)
    assert "Largest error, % of tolerance" in titles
    assert {"speed 0.1 m/s", "speed 0.2 m/s", "speed 0.3 m/s"} <= set(titles)
    assert "All axes at once" in titles


def best_low(x, y, speed):
    return 10 * x * speed + y


def test_the_limit_is_the_highest_speed_up_to_which_all_hold():
    """x v <= 0.03 holds; 0.2 m/s at x = 300 mm is an island that does not count."""

    def ratio(x, y, speed):
        if (x, speed) == (0.3, 0.1):
            return 2.0
        if (x, speed) == (0.3, 0.2):
            return 0.5
        return x * speed / 0.0301

    found = made({"workpiece.position.1": X, "workpiece.position.2": Y, "speed": SPEEDS}, ratio)
    pivot = pivot_of(found)
    speed = found.sweep.axes[2]
    assert pivot.limit(speed)[0] == pytest.approx([0.3, 0.1, np.nan], nan_ok=True)
    cells = charts(found)["Highest speed that holds, m/s"].layers[0]
    told = {label: colour for colour, label in cells.keys}
    assert list(cells.colours[0]) == [told["0.3 m/s"], told["0.1 m/s"], -1]


def test_runs_without_an_answer_are_told_together_and_have_no_colour():
    found = made(
        {"workpiece.position.1": ["400 mm", "425 mm", "450 mm"], "workpiece.position.2": Y},
        lambda x, y: None if x == 0.425 else 0.5,
    )
    page = to_html(found.sections())
    assert page.count("stops or cannot be run") == 1
    cells = charts(found)["Largest error, % of tolerance"].layers[0]
    assert (cells.colours[:, 1] == -1).all()
    assert (cells.colours[:, [0, 2]] >= 0).all()
    reasons = found.sections().sections[-1].blocks[-1].records
    assert [(x["outcome"], x["count"]) for x in reasons] == [(REFUSED, 2)]


@pytest.mark.parametrize("design", ["sobol", "latin hypercube"])
def test_sampled_runs_are_points_over_two_axes(design):
    axes = {"workpiece.position.1": X[:2], "speed": SPEEDS[:2], "tolerance.lateral": [1e-4, 2e-4]}
    found = made(axes, lambda x, v, tolerance: 5 * x + v, design=design, runs=8)
    titles = charts(found)
    assert set(titles) == {"Runs", "All axes at once"}
    marks = by_class(ET.fromstring(titles["Runs"].html()), "dot")
    assert len(marks) >= 8


def test_one_axis_is_drawn_along_it_with_the_tolerance():
    found = made({"speed": SPEEDS}, lambda speed: 5 * speed)
    page = charts(found)["Runs"].html()
    assert "tolerance" in page


def test_jobs_are_an_axis_of_small_maps():
    sweep = at.Sweep.over(
        [short_job("a"), short_job("b")],
        {"workpiece.position.1": X, "workpiece.position.2": Y},
    )
    rows = tuple(ResultRow("holds", ratio=0.1 * k, cpu_s=0.01) for k in range(1, 13))
    found = SweepResult(sweep, rows, Course(12, 0, 1.0, "one thread"))
    assert {"job a", "job b"} <= set(charts(found))


def test_with_bands_the_map_is_of_the_probability():
    places = {"workpiece.position.1": ["400 mm", "450 mm"], "workpiece.position.2": Y}
    sweep = at.Sweep.over(short_job(), places, band=True)
    likely = [0.99, 0.5, 0.01, 0.97]
    outcomes = ["holds", "may hold", "does not hold", "holds"]
    rows = tuple(
        ResultRow(word, ratio=0.8, probability=p, ratio_low=0.5, ratio_high=1.2, cpu_s=3.0)
        for word, p in zip(outcomes, likely, strict=True)
    )
    found = SweepResult(sweep, rows, Course(4, 0, 12.0, "one thread"))
    assert found.best(2) == [0, 3]
    cells = charts(found)["P that it holds, %"].layers[0]
    told = {label: colour for colour, label in cells.keys}
    assert cells.colours[0, 0] == cells.colours[1, 1] == told["95 to 100 %"]
    assert cells.held.sum() == 2
    assert "2 of 4 runs hold with 95 % confidence" in to_html(found.sections())


MIXED = {
    "speed": ["300 mm/s", "100 mm/s", "200 mm/s"],
    "workpiece.position.1": ["300 mm", "100 mm"],
    "workpiece.position.2": ["0 mm", "50 mm", "20 mm", "70 mm"],
}


def mixed_ratio(speed, x, y):
    """Not monotonic, so that a mixed-up axis shows; 50 mm cannot be run at 200 mm/s."""
    return None if (speed, y) == (0.2, 0.05) else 0.6 + np.sin(37 * speed + 51 * x + 113 * y)


@pytest.fixture(scope="module")
def mixed():
    return made(MIXED, mixed_ratio)


def test_a_pivot_has_each_run_once_in_the_cell_of_its_values(mixed):
    pivot = pivot_of(mixed)
    assert sorted(pivot.runs.ravel()) == list(range(24))
    x, y = sort_values(pivot.x), sort_values(pivot.y)
    for (row, column, other), run in np.ndenumerate(pivot.runs):
        values = (pivot.others[0].values[other], x[column], y[row])
        assert mixed.sweep.point(int(run)) == values


def test_the_region_outlined_on_small_maps_is_exactly_the_runs_that_hold(mixed):
    (small,) = (block for block in map_blocks(mixed) if isinstance(block, Multiples))
    outlined = set()
    for chart in small.charts:
        (cells,) = chart.layers
        for place in np.argwhere(cells.held):
            hint = cells.hints[place[0]][place[1]]
            outlined.add(int(hint.removeprefix("run ").split(":")[0]) - 1)
    assert outlined == {k for k, row in enumerate(mixed.rows) if row.holds}
    assert 0 < len(outlined) < 24


def test_a_value_lies_in_the_range_that_the_legend_gives_its_colour(mixed):
    chart = next(iter(map_blocks(mixed)))
    (cells,) = chart.layers
    ranges = {colour: words.split(" %")[0].split(" to ") for colour, words in cells.keys}
    values = 100 * mixed.numbers["ratio"][pivot_of(mixed).best()]
    for colour, value in zip(cells.colours.ravel(), values.ravel(), strict=True):
        low, high = map(float, ranges[colour])
        assert low <= value <= high


def test_the_limit_does_not_depend_on_the_order_in_which_values_are_written(mixed):
    rising = made({**MIXED, "speed": sorted(MIXED["speed"])}, mixed_ratio)
    limits = [pivot_of(one).limit(one.sweep.axes[0]) for one in (mixed, rising)]
    assert np.array_equal(*limits, equal_nan=True)
    assert np.isfinite(limits[0]).any()

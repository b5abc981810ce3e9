"""Charts: what is drawn lies where the numbers say, in their order; ticks are round."""

import re
import xml.etree.ElementTree as ET

import numpy as np
import pytest

from armtwin.notebook.charts import Bars, Chart, Multiples
from armtwin.notebook.drawings import MOST_SAMPLES, decimate
from armtwin.notebook.layers import Curve, Points, Rule
from armtwin.notebook.scales import Axis, Scale, scale_over

HOSTILE = 'joint <b>"&'
UNIT = Axis("x", span=(0.0, 1.0))


def drawn(chart):
    return ET.fromstring(chart.html())


def by_class(root, *words):
    return [e for e in root.iter() if set(words) <= set((e.get("class") or "").split())]


def stretches(x, y, x_axis=UNIT, y_axis=UNIT):
    """Points of each unbroken stretch of a curve's line, as shares of the pane, y up."""
    curve = Curve("", np.asarray(x, dtype=float), np.asarray(y, dtype=float))
    (line,) = by_class(drawn(Chart("", x_axis, y_axis, (curve,))), "line")
    found = []
    for piece in line.get("d").split("M")[1:]:
        places = np.array(re.findall(r"(-?[\d.]+),(-?[\d.]+)", piece), dtype=float) / 1000
        found.append(np.stack([places[:, 0], 1 - places[:, 1]], axis=1))
    return found


def percent(element, name):
    return float(element.get(name).rstrip("%")) / 100


def test_a_loop_keeps_the_order_of_its_samples():
    """A hysteresis loop runs out and back: x falls on the way back and is not sorted."""
    x = np.array([0.0, 0.5, 1.0, 0.5, 0.0])
    y = np.array([0.0, 0.2, 1.0, 0.8, 0.0])
    (piece,) = stretches(x, y)
    assert piece == pytest.approx(np.stack([x, y], axis=1), abs=1e-4)


def test_a_sample_that_is_not_a_number_is_a_gap():
    pieces = stretches([0, 0.1, 0.2, 0.3, 0.4, 0.5], [0, 0.1, np.nan, 0.3, np.nan, 0.5])
    assert [len(piece) for piece in pieces] == [2, 1, 1]


def test_what_has_no_logarithm_is_a_gap_on_a_logarithmic_axis():
    axis = Axis("f", "Hz", logarithmic=True, span=(0.1, 10.0))
    pieces = stretches([0.1, 1.0, 0.0, 10.0], [0, 1, 1, 1], axis)
    assert [piece[:, 0].tolist() for piece in pieces] == [[0.0, 0.5], [1.0]]


@pytest.mark.parametrize("values", [[], [3.0], [0.0, 0.0], [np.nan], [-2.0, -2.0, -2.0]])
@pytest.mark.parametrize("logarithmic", [False, True])
def test_a_series_that_is_empty_or_constant_is_drawn(values, logarithmic):
    axis = Axis("y", logarithmic=logarithmic)
    x = np.arange(float(len(values)))
    layers = (Curve("a", x, np.array(values)), Points("b", x, np.array(values)))
    root = drawn(Chart("still", Axis("x"), axis, layers))
    labels = [float(e.text.replace("−", "-")) for e in by_class(root, "tick")]
    assert np.isfinite(labels).all()
    assert len(labels) >= 4


def test_ticks_of_a_logarithmic_axis_are_decades():
    ticks = Scale(0.02, 3000.0, True).ticks(8)
    labelled = [(tick.value, tick.text) for tick in ticks if tick.text]
    assert labelled == [(10.0**k, f"{10.0**k:g}") for k in range(-1, 4)]
    minor = [tick.value for tick in ticks if not tick.text]
    assert minor[:3] == pytest.approx([0.02, 0.03, 0.04])
    far = [tick.text for tick in Scale(1e-9, 1e9, True).ticks(8) if tick.text]
    assert far == ["10⁻⁹", "10⁻⁶", "10⁻³", "10⁰", "10³", "10⁶", "10⁹"]


def test_a_part_of_a_decade_has_ticks_all_the_same():
    for low, high in ((2.0, 60.0), (20.0, 90.0), (31.0, 33.0)):
        labelled = [t.value for t in Scale(low, high, True).ticks(8) if t.text]
        assert len(labelled) >= 2
        assert all(low <= value <= high for value in labelled)


def test_ticks_are_multiples_of_one_two_or_five(rng):
    for _ in range(200):
        low = rng.normal() * 10.0 ** rng.integers(-6, 7)
        high = low + 10.0 ** rng.uniform(-3, 3) * abs(low)
        labelled = [tick.value for tick in Scale(low, high).ticks(8) if tick.text]
        assert 2 <= len(labelled) <= 9
        step = labelled[1] - labelled[0]
        leading = step / 10.0 ** np.floor(np.log10(step) + 1e-6)
        assert min(abs(leading - k) for k in (1, 2, 5)) < 1e-3
        assert np.diff(labelled) == pytest.approx(step, rel=1e-6)


def test_ticks_of_one_axis_have_labels_of_their_own(rng):
    """Enough digits: two ticks never read the same, and each reads as its value."""
    for _ in range(100):
        low = rng.normal() * 10.0 ** rng.integers(-6, 7)
        scale = Scale(low, low + abs(low) * 10.0 ** rng.uniform(-2, 2))
        labelled = [tick for tick in scale.ticks(8) if tick.text]
        read = [float(t.text.replace("−", "-")) * 10.0**scale.exponent for t in labelled]
        assert read == pytest.approx([t.value for t in labelled], rel=1e-9, abs=1e-12 * abs(low))


def test_a_power_of_ten_taken_out_of_the_ticks_stands_beside_the_unit():
    axis = Axis("stiffness", "N m/rad")
    scale = axis.scale([np.array([1.2e6, 4.8e6])])
    assert axis.title(scale) == "stiffness [10⁶ N m/rad]"
    assert "2" in [tick.text.rstrip("0").rstrip(".") for tick in scale.ticks(5)]


def test_error_bars_reach_from_value_minus_error_to_value_plus_error():
    points = Points("", np.array([0.5]), np.array([0.4]), np.array([0.1]), np.array([0.25]))
    level, upright = by_class(drawn(Chart("", UNIT, UNIT, (points,))), "error")
    assert [percent(level, n) for n in ("x1", "x2", "y1", "y2")] == [0.4, 0.6, 0.6, 0.6]
    assert [percent(upright, n) for n in ("x1", "x2")] == [0.5, 0.5]
    assert [percent(upright, n) for n in ("y1", "y2")] == pytest.approx([0.85, 0.35])


def test_an_error_bar_below_zero_ends_where_a_logarithmic_axis_ends():
    axis = Axis("y", logarithmic=True, span=(0.1, 10.0))
    points = Points("", np.array([0.5]), np.array([1.0]), y_error=np.array([2.0]))
    (bar,) = by_class(drawn(Chart("", UNIT, axis, (points,))), "error")
    assert percent(bar, "y1") == 1.0
    assert percent(bar, "y2") == pytest.approx(0.5 * (1 - np.log10(3.0)), abs=1e-4)


def test_all_of_a_chart_is_within_its_axes():
    """Bands, error bars and rules count for the range, not the lines alone."""
    x = np.array([0.0, 1.0])
    layers = (
        Curve("a", x, np.array([1.0, 2.0]), low=np.array([-5.0, 0.0]), high=np.array([2.0, 3.0])),
        Points("b", x, x, y_error=np.array([0.0, 7.0])),
        Rule(12.0, "limit"),
        Rule(-3.0, "start", on="x"),
    )
    root = drawn(Chart("", Axis("x"), Axis("y"), layers))
    assert len(by_class(root, "rule")) == 2
    (band,) = by_class(root, "band")
    places = np.array(re.findall(r"(-?[\d.]+),(-?[\d.]+)", band.get("d")), dtype=float)
    assert places.min() >= 0
    assert places.max() <= 1000


def test_bars_of_a_tornado_start_at_its_centre():
    """Opposite cases meet at the centre; cases on one side start there, one below the other."""
    axis = Axis("error", "µm", span=(0.0, 200.0))
    low, high = np.array([80.0, 110.0]), np.array([130.0, 150.0])
    root = drawn(Bars("", axis, ("a", "b"), low, high, centre=100.0))
    boxes = [e for e in by_class(root, "case") if e.get("width").endswith("%")]
    spans = [(percent(e, "x"), percent(e, "x") + percent(e, "width")) for e in boxes]
    expected = np.array([(0.4, 0.5), (0.5, 0.65), (0.5, 0.55), (0.5, 0.75)])
    assert np.array(spans) == pytest.approx(expected)
    assert percent(boxes[3], "y") >= percent(boxes[2], "y") + percent(boxes[2], "height")


def test_charts_that_share_an_axis_have_the_same_ticks():
    """Magnitude and phase of a frequency response stand over the same frequencies."""
    f = np.geomspace(1.0, 500.0, 50)
    frequency = Axis("frequency", "Hz", logarithmic=True)
    magnitude = Chart("", frequency, Axis("magnitude", "dB"), (Curve("", f, -f),))
    phase = Chart("", frequency, Axis("phase", "deg"), (Curve("", f[:20], -f[:20]),))
    root = drawn(Multiples((magnitude, phase), columns=1))
    charts = by_class(root, "chart")
    ticks = [
        [(e.text, e.get("x")) for e in by_class(chart, "tick") if e.get("y") == "100%"]
        for chart in charts
    ]
    assert ticks[0] == ticks[1]
    assert [text for text, _ in ticks[0]] == ["1", "10", "100"]


def test_a_long_curve_keeps_its_extremes_and_its_gaps(rng):
    count = 200_000
    x, y = np.arange(float(count)), rng.normal(size=count)
    y[123_456], y[50_000] = 40.0, -40.0
    y[150_000] = np.nan
    rows = decimate([x, y])
    assert len(rows) <= 1.5 * MOST_SAMPLES
    assert {0, 50_000, 123_456, 150_000, count - 1} <= set(rows.tolist())
    assert (np.diff(rows) > 0).all()


def test_thinning_a_loop_keeps_where_it_turns():
    """x of a slow triangle turns at ±1: both ends of every turn are drawn."""
    t = np.linspace(0, 20, 100_001)
    x = 2 * np.abs(t % 2 - 1) - 1
    rows = decimate([x, np.sin(t)])
    turns = np.flatnonzero(np.abs(x) == 1)
    assert set(turns.tolist()) <= set(rows.tolist())


def test_words_of_a_chart_are_text():
    x = np.array([0.0, 1.0])
    points = Points(HOSTILE, x, x, names=(HOSTILE, "b"))
    layers = (points, Curve(HOSTILE, x, x), Rule(0.5, HOSTILE), Rule(0.5, HOSTILE, on="x"))
    chart = Chart(HOSTILE, Axis(HOSTILE, HOSTILE), Axis(HOSTILE), layers, HOSTILE)
    bars = Bars(HOSTILE, Axis(HOSTILE), (HOSTILE,), x[:1], x[1:], cases=(HOSTILE, HOSTILE))
    root = drawn(Multiples((chart,), title=HOSTILE, caption=HOSTILE))
    assert not [e for e in root.iter() if e.tag == "b"]
    # titles 2, captions 2, key 2, axes 3, rules 2, hints of two points 1 + 3 and 3
    assert "".join(root.itertext()).count(HOSTILE) == 18
    assert "".join(drawn(bars).itertext()).count(HOSTILE) >= 5


def test_layers_differ_by_more_than_colour():
    """Without a choice each curve has its own dash, each set of points its own shape."""
    x = np.array([0.0, 1.0])
    root = drawn(Chart("", UNIT, UNIT, tuple(Curve(f"{k}", x, x) for k in range(7))))
    styles = [e.get("class") for e in by_class(root, "swatch") for e in by_class(e, "line")]
    assert len({style.split("line ")[1] for style in styles}) == 7
    root = drawn(Chart("", UNIT, UNIT, tuple(Points(f"{k}", x, x) for k in range(7))))
    assert len({e.get("d") for key in by_class(root, "swatch") for e in by_class(key, "dot")}) == 7


def test_a_range_that_is_asked_for_is_kept():
    assert scale_over(np.array([5.0, 50.0]), span=(0.0, 10.0)) == Scale(0.0, 10.0)
    points = Points("", np.array([0.5, 2.0]), np.array([0.5, 0.5]))
    assert len(by_class(drawn(Chart("", UNIT, UNIT, (points,))), "dot")) == 1


def test_a_chart_of_a_notebook_carries_its_style():
    html = Chart("", UNIT, UNIT, (Curve("", np.zeros(2), np.zeros(2)),))._repr_html_()
    style = re.match(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    assert "--c7:" in style
    assert "prefers-color-scheme" in style
    assert 'class="armtwin alone"' in html

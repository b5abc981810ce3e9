"""The report of an identification says what was computed; its drawings are whole."""

import re
import xml.etree.ElementTree as ET
from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.notebook.charts import Chart
from armtwin.notebook.drawings import matrix
from armtwin.notebook.sections import Picture, Plot, Table
from armtwin.report.page import to_html
from tests.identification.test_identify import logged

HOSTILE = 'joint <b>"&'


@pytest.fixture(scope="module")
def judged():
    robot = at.Robot.load("tx40")
    friction = np.array([p.group == "friction" for p in robot.parameter_table])
    truth = robot.with_parameters(robot.parameters * np.where(friction, 0.7, 1.0))
    logs = [logged(robot, truth, 8.0, seed)[0] for seed in (1, 2, 3)]
    found = at.identify(robot, logs[:2], cutoff=10.0)
    return at.judge(robot, found, logs[2], others={"truth": truth})


def section(report, title):
    (found,) = [s for s in report.sections if s.title == title]
    return found.blocks


def test_the_headline_holds_the_errors_of_what_was_never_seen(judged):
    (verdict,) = judged.sections().verdict
    own, prior = (x.mean() for x in judged.errors)
    assert (
        f"torque error on a log it never saw {own:.1f} % ({prior:.1f} % with the original file)"
        in verdict.text
    )
    assert verdict.tone == "good"
    swapped = replace(judged.estimate, robot=judged.estimate.prior, prior=judged.estimate.robot)
    worse = replace(judged, estimate=swapped)
    assert worse.sections().verdict[0].tone == "bad"
    assert worse.failed


def test_every_joint_has_its_torque_and_every_parameter_its_row(judged):
    report = judged.sections()
    plots = [b for b in section(report, "Torque, measured and predicted") if isinstance(b, Plot)]
    assert len(plots) == 6
    assert [line.label for line in plots[0].lines] == [
        "measured",
        "predicted",
        "residual",
        "residual of the robot file",
    ]
    whole = [b for b in section(report, "Parameters") if isinstance(b, Table)][-1]
    assert [row[0] for row in whole.rows] == list(judged.estimate.prior.parameter_names)
    models = next(b for b in section(report, "Models side by side") if isinstance(b, Table))
    assert [row[0] for row in models.rows] == ["prior", "estimate", "truth"]
    for name in ("measured1", "predicted1", "residual1", "prior residual1"):
        assert len(report.series[name]) == len(report.series["time"])
    gap = report.series["measured1"] - report.series["predicted1"]
    assert gap == pytest.approx(report.series["residual1"], abs=1e-9)


def test_drawings_are_well_formed_and_hold_every_value(judged):
    blocks = section(judged.sections(), "Singular values")
    chart = next(b for b in blocks if isinstance(b, Chart))
    (picture,) = [b for b in blocks if isinstance(b, Picture)]
    d = judged.estimate.decomposition
    points = ET.fromstring(chart.html())
    assert len(points.findall(".//circle")) == d.rank
    assert f"{d.kept} of {d.rank} identified to 10 %" in [e.text for e in points.findall(".//text")]
    squares = ET.fromstring(picture.svg).findall("rect")
    shown = (np.abs(d.V[:, : d.rank]) >= 0.125).sum()
    assert len([r for r in squares if r.get("class") in ("plus", "minus")]) == shown


def test_words_of_a_matrix_are_text():
    svg = matrix(np.eye(2), [HOSTILE, "b"], 0.5, HOSTILE)
    assert ET.fromstring(svg).find("text").text == HOSTILE


def test_a_hostile_robot_is_shown_as_text(judged):
    d = judged.estimate.prior.description
    found = replace(judged.estimate, prior=at.Robot(replace(d, name=HOSTILE, title=HOSTILE)))
    html = to_html(replace(judged, estimate=found).sections())
    assert "<b>" not in html.replace("\\u003c", "")
    assert re.search(r"joint &lt;b&gt;", html)


def test_an_estimate_alone_says_that_it_was_not_validated(judged):
    (verdict,) = judged.estimate.sections().verdict
    assert verdict.text.startswith("Fitted, not validated")


def test_friction_is_drawn_over_speed_with_what_the_log_shows(judged):
    """Points are the log's torque less the rigid body's: the fitted curve passes through them."""
    (charts,) = section(judged.sections(), "Friction")
    assert len(charts.charts) == 6
    for chart in charts.charts[:4]:  # the friction of joints 5 and 6 is coupled
        seen, fitted, file = chart.layers
        fast = np.abs(seen.x) > 0.3 * np.abs(seen.x).max()
        at_points = np.interp(seen.x[fast], fitted.x, fitted.y)
        apart = np.abs(seen.y[fast] - at_points).max()
        assert apart < 0.15 * np.abs(seen.y).max()
        assert np.abs(fitted.y).max() < 0.95 * np.abs(file.y).max()  # the truth has 0.7 of it


def test_masses_and_centres_stand_before_and_after(judged):
    chart, table = section(judged.sections(), "Masses and centres")
    prior, after = chart.layers
    found = judged.estimate
    masses = [found.table[found.prior.layout.link(k)][0] for k in range(6)]
    assert prior.y.tolist() == [row.prior for row in masses]
    assert after.y.tolist() == [row.value for row in masses]
    assert after.y_error == pytest.approx([1.96 * row.std for row in masses], rel=1e-3)  # 95 %
    for record, row in zip(table.records, masses, strict=True):
        assert record["mass_kg"] == row.value


def test_the_chosen_prior_weight_is_the_one_of_least_error(judged):
    blocks = section(judged.sections(), "Data and choices")
    (chart,) = [block for block in blocks if isinstance(block, Chart)]
    _, points, chosen = chart.layers
    assert len(points.x) == 31
    assert chosen.value == points.x[points.y.argmin()]


def test_an_estimate_is_not_called_better_for_a_hair(judged):
    """Own error within a tenth of the file's: neither good nor bad."""
    same = replace(judged, estimate=replace(judged.estimate, robot=judged.estimate.prior))
    (verdict,) = same.sections().verdict
    assert verdict.tone == ""
    assert "hardly better or worse" in verdict.text


def test_the_joint_with_the_largest_error_is_named(judged):
    j = int(judged.errors[0].argmax())
    name = judged.estimate.prior.joint_names[j]
    (verdict,) = judged.sections().verdict
    assert f"largest for {name}, {judged.errors[0][j]:.1f} %" in verdict.text


def test_an_estimate_is_judged_for_its_own_robot_only(judged):
    with pytest.raises(at.ArmtwinError, match="judge needs the robot that was identified, 'tx40'"):
        at.judge(at.Robot.load("epaas"), judged.estimate)
    with pytest.raises(at.ArmtwinError, match="log must be a Log or None, got a list of 1"):
        at.judge(judged.estimate.prior, judged.estimate, [judged.log])

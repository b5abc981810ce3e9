"""The report as a file: small, closed, escaped, with its peaks."""

import base64
import hashlib
import json
import re
from dataclasses import replace
from html import unescape
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Column, Report, Section, Table, Text
from armtwin.prediction.sections.plots import select_times
from armtwin.prediction.sections.scene import figure
from armtwin.report.page import to_html

HOSTILE = "<script>alert(1)</script><img src=x onerror=alert(2)>"


@pytest.fixture(scope="module")
def answer():
    p = at.predict(at.Job.load("rx90b_corner_follow"))
    return at.Answer(p, at.explain(p))


@pytest.fixture(scope="module")
def html(answer):
    return to_html(answer.sections())


def data_of(html):
    return json.loads(
        re.search(r'<script type="application/json" id="data">(.*?)</script>', html, re.DOTALL)[1]
    )


def series_of(html, name):
    return np.frombuffer(base64.b64decode(data_of(html)["series"][name]), dtype="<f4")


def test_a_report_of_a_short_job_stays_below_two_megabytes(html):
    assert len(html.encode()) < 2_000_000


def test_the_policy_allows_just_the_script_and_the_style_inside(html):
    """Digests of the policy are those of the elements; nothing else may be loaded."""
    policy = unescape(re.search(r'Content-Security-Policy" content="(.*?)"', html)[1])
    assert policy.startswith("default-src 'none'; ")
    script = re.search(r"<script>(.*)</script>", html, re.DOTALL)[1]
    style = re.search(r"<style>(.*?)</style>", html, re.DOTALL)[1]
    for text in (script, style):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy
    assert not re.search(r'\b(?:src|href)="(?!data:|#)', html)


def test_peaks_of_the_path_error_are_in_the_plots(answer, html):
    error = answer.prediction.path_error
    for name in ("lateral", "vertical"):
        shown, exact = series_of(html, name), 1e6 * getattr(error, name)
        assert shown.max() == pytest.approx(exact.max(), rel=1e-6)
        assert shown.min() == pytest.approx(exact.min(), rel=1e-6)


def test_the_error_drawn_in_space_leads_from_the_seam_to_the_tool(answer):
    """Point of the seam plus error vector is where the tool was; between points lie 1 µm of arc."""
    p = answer.prediction
    error = p.path_error
    place = np.interp(select_times(p), error.time, error.place)
    inside = (place > 0.02) & (place < p.job.seam.length - 0.02)  # speed is reached
    model = figure(p)
    tip, points, vectors = (
        np.frombuffer(base64.b64decode(text), dtype="<f4").reshape(-1, 3)
        for text in (model["tip"], model["seam"]["points"], model["seam"]["error"])
    )
    places = np.linspace(0, p.job.seam.length, len(points))
    for axis in range(3):
        seen = np.interp(place[inside], places, points[:, axis] + vectors[:, axis])
        assert seen == pytest.approx(tip[inside, axis], abs=5e-6)
    assert np.linalg.norm(vectors, axis=1).max() > 100e-6


def test_the_tube_around_the_path_is_the_tolerance_across_the_seam(answer):
    p = answer.prediction
    model = figure(p)["seam"]
    points, sides = (
        np.frombuffer(base64.b64decode(model[name]), dtype="<f4").reshape(-1, 3)
        for name in ("points", "sides")
    )
    lateral, vertical = sides[0::2], sides[1::2]
    allowed = p.job.description.tolerance
    assert np.linalg.norm(lateral, axis=1) == pytest.approx(allowed.lateral, rel=1e-6)
    assert np.linalg.norm(vertical, axis=1) == pytest.approx(allowed.vertical, rel=1e-6)
    along = np.gradient(points, axis=0)
    along /= np.linalg.norm(along, axis=1, keepdims=True)
    for side in (lateral / allowed.lateral, vertical / allowed.vertical):
        assert np.abs((side * along).sum(axis=1)).max() < 0.02  # points are 0.3 mm apart


def test_all_series_have_one_value_for_each_sample(html):
    data = data_of(html)
    assert {len(series_of(html, name)) for name in data["series"]} == {data["count"]}
    assert (np.diff(series_of(html, "place")) >= 0).all()


def test_hostile_names_of_robot_job_and_segment_are_text(answer):
    p = answer.prediction
    segments = tuple(replace(s, name=HOSTILE) for s in p.job.description.segment)
    job = at.Job(replace(p.job.description, name=HOSTILE, title=HOSTILE, segment=segments))
    robot = at.Robot(replace(p.robot.description, name=HOSTILE, title=HOSTILE))
    hostile = replace(p, job=job, robot=robot, verdict=at.predict(job, robot).verdict)
    html = to_html(at.Answer(hostile).sections())
    outside = re.sub(r"<script.*?</script>", "", html, flags=re.DOTALL)
    assert "<img src=x" not in html
    assert "alert(1)" in outside
    assert html.count("<script") == 2


def test_a_log_that_was_compared_is_drawn_over_the_prediction(answer):
    p = answer.prediction
    comparison = at.compare(p.job, p.log)
    html = to_html(replace(answer, comparison=comparison).sections())
    plots = data_of(html)["plots"]
    (plot,) = (x for x in plots if x["lines"][0]["series"] == "lateral")
    assert [line["series"] for line in plot["lines"]] == ["lateral", "measured lateral"]
    assert (
        np.nanmax(np.abs(series_of(html, "measured lateral") - series_of(html, "lateral"))) < 1.0
    )  # µm, 250 Hz
    assert "Beside the logged run" in html


def test_any_list_of_sections_is_a_report(tmp_path):
    """Nothing of a prediction is needed: a title, a text, a table."""
    page = to_html(
        Report(
            "Clamping",
            "joint 1",
            (
                Section(
                    "Stiffness",
                    (Text("stiff"), Table((Column("K", "K", Number()),), [{"K": 25.7}])),
                ),
            ),
        )
    )
    assert "<h2>Stiffness</h2>" in page
    assert "<td>25.7</td>" in page


def test_the_bundle_carries_the_licences_of_what_is_in_it():
    folder = Path(at.__file__).parent / "report" / "bundle"
    text = (folder / "LICENSES.txt").read_text()
    versions = json.loads((Path(__file__).parents[2] / "web" / "package.json").read_text())[
        "devDependencies"
    ]
    assert f"three {versions['three']}" in text
    assert f"uplot {versions['uplot']}" in text
    assert text.count("MIT") >= 2


def test_write_report_writes_a_prediction_and_refuses_other_things(answer, tmp_path):
    at.write_report(answer.prediction, tmp_path / "r.html")
    page = (tmp_path / "r.html").read_text(encoding="utf-8")
    assert "<strong>EXCEEDS TOLERANCE</strong><span>(nominal run, no interval)." in page
    with pytest.raises(at.ArmtwinError, match="result must be a Result, got 3"):
        at.write_report(3, tmp_path / "s.html")
    assert not (tmp_path / "s.html").exists()


def test_percentages_of_causes_say_why_they_need_not_sum_to_100(html):
    page = html.partition("<script")[0]
    assert "causes (error reduction without it)" in page
    assert "interact through the servo, so the percentages need not sum to 100 %" in page

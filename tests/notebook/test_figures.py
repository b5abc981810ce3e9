"""What is drawn is what was computed, and colour-blind eyes distinguish its lines."""

import sys
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
from matplotlib import colors, pyplot

import armtwin as at
from armtwin.report import figures

# Machado, Oliveira and Fernandes 2009, severity 1: linear RGB as seen without one kind of cone
SEEN = {
    "protan": [[0.152, 1.053, -0.205], [0.115, 0.786, 0.099], [-0.004, -0.048, 1.052]],
    "deutan": [[0.367, 0.861, -0.228], [0.280, 0.673, 0.047], [-0.012, 0.043, 0.969]],
    "tritan": [[1.256, -0.077, -0.179], [-0.078, 0.931, 0.148], [0.005, 0.691, 0.304]],
}


def line(axes, label):
    (found,) = (x for x in axes.lines if x.get_label() == label)
    return np.asarray(found.get_xdata()), np.asarray(found.get_ydata())


def labels(axes):
    return [x.get_label() for x in axes.lines]


def test_the_line_of_a_prediction_holds_the_extremes_of_its_path_error(fast_run):
    error = fast_run.path_error
    moving = error.speed_ref > 0
    for axes, name in zip(fast_run.plot()[:2], ("lateral", "vertical"), strict=True):
        place, drawn = line(axes, f"{name}, predicted")
        values, commanded = getattr(error, name)[moving], error.s[moving]
        assert drawn.min() == pytest.approx(1e6 * values.min(), rel=1e-12)
        assert drawn.max() == pytest.approx(1e6 * values.max(), rel=1e-12)
        assert place[drawn.argmax()] == pytest.approx(1e3 * commanded[values.argmax()])
        assert axes.get_ylabel() == f"{name} error [µm]"


def test_a_prediction_is_drawn_along_its_seam_and_joint_by_joint(fast_run):
    drawn = fast_run.plot()
    units = [axes.get_ylabel().partition(" [")[2] for axes in drawn]
    assert units == ["µm]", "µm]", "µm]", "mm/s]", "mdeg]", "%]", "deg/s]"]
    assert labels(drawn[-1]) == list(fast_run.robot.joint_names)


def test_the_tolerance_is_ruled_at_plus_and_minus_what_is_allowed(fast_run):
    job = fast_run.job.description
    tolerance = replace(job.tolerance, lateral=2e-4, vertical=3e-4, orientation=np.radians(0.5))
    wide = replace(fast_run, verdict=replace(fast_run.verdict, tolerance=tolerance, spans=()))
    drawn = wide.plot()
    for axes, limit in zip(drawn[:3], (200.0, 300.0, 0.5), strict=True):
        ruled = sorted(x.get_ydata()[0] for x in axes.lines if x.get_linestyle() == "--")
        assert ruled == pytest.approx([-limit, limit])
    assert drawn[2].get_ylabel() == "orientation error [°]"


def test_the_drawn_error_exceeds_the_ruled_tolerance_on_spans_alone(fast_run):
    """Where the process is on; spans end between two samples that are drawn."""
    (on, off), *_ = fast_run.job.process_on()
    for axes, direction in zip(fast_run.plot()[:2], ("lateral", "vertical"), strict=True):
        place, drawn = line(axes, f"{direction}, predicted")
        judged = (place > 1e3 * on) & (place < 1e3 * off)
        inside = np.zeros(len(place), dtype=bool)
        spans = [span for span in fast_run.verdict.spans if span.direction == direction]
        for span in spans:
            inside |= (place > 1e3 * span.from_m) & (place < 1e3 * span.to_m)
        allowed = 1e6 * getattr(fast_run.verdict.tolerance, direction)
        differ = judged & (inside != (np.abs(drawn) > allowed))
        assert differ.sum() <= 2 * len(spans)  # a sample beside each end
    assert fast_run.verdict.spans


def test_a_log_is_drawn_with_a_line_for_each_joint_and_its_unit(fast_run):
    log = fast_run.log
    units = {"q": "[rad]", "v": "[rad/s]", "tau": "[N m]"}
    for axes, (name, unit) in zip(log.plot(), units.items(), strict=True):
        assert axes.get_ylabel().endswith(unit)
        assert labels(axes) == [f"{name}{j}" for j in range(1, 7)]
        time, values = line(axes, f"{name}5")
        assert np.array_equal(time, log.time)
        assert np.array_equal(values, log.channels[name][:, 4])


def test_chosen_channels_of_a_log_are_drawn_and_unknown_ones_refused(fast_run):
    (axes,) = fast_run.log.plot("tau_friction")
    assert axes.get_ylabel() == "friction torque [N m]"
    with pytest.raises(at.ArmtwinError, match=r"no channel 'tau_fiction'\. Did you mean 'tau_fri"):
        fast_run.log.plot("tau_fiction")
    only = at.Log.of([0.0, 1.0], current=[[0.0], [1.0]])
    assert labels(only.plot()[0]) == ["current1"]


def test_the_drawn_speeds_are_the_slopes_of_the_drawn_positions(fast_run):
    """Central differences at 250 Hz miss a speed by dt² j / 6, here below 1 mrad/s."""
    positions, speeds, accelerations = fast_run.motion.trajectory.plot()
    for j in range(1, 7):
        time, q = line(positions, f"q{j}")
        _, v = line(speeds, f"v{j}")
        _, a = line(accelerations, f"a{j}")
        assert np.gradient(q, time) == pytest.approx(v, abs=1e-3)
        assert np.gradient(v, time) == pytest.approx(a, abs=0.02 * np.abs(a).max() + 0.05)


def test_a_run_is_drawn_as_what_each_joint_is_behind(fast_run):
    (axes,) = fast_run.run.plot()
    _, drawn = line(axes, "joint 6")
    assert np.array_equal(drawn, fast_run.log.q[:, 5] - fast_run.log.q_ref[:, 5])


def test_a_comparison_is_drawn_as_measured_over_predicted(comparison):
    """Exactly, wherever a sample of the log is drawn: most of them lie between drawn times."""
    drawn = {axes.get_ylabel(): axes for axes in comparison.plot()}
    lateral = drawn["lateral error [µm]"]
    _, measured = line(lateral, "lateral, measured")
    assert np.nanmax(measured) <= 1e6 * comparison.measured.lateral.max() * (1 + 1e-12)
    series = comparison.sections().series
    assert set(measured[np.isfinite(measured)]) <= set(series["measured lateral"])
    _, at, own = np.intersect1d(series["time"], comparison.time, return_indices=True)
    assert len(own) > 30
    shown = series["measured lateral"][at]
    assert np.array_equal(shown, 1e6 * comparison.channels["lateral"][0, own], equal_nan=True)
    assert "joint_5, measured" in labels(drawn["joint torque [%]"])
    assert "joint_5, measured" in labels(drawn["joint error [mdeg]"])


def test_an_identification_is_drawn_with_what_its_torque_misses(identification):
    """Noise of 0.2 N m is what is left, besides where friction changes its sign."""
    drawn = {axes.get_ylabel(): axes for axes in identification.plot()}
    for name in identification.estimate.robot.joint_names:
        axes = drawn[f"{name} torque [N m]"]
        _, residual = line(axes, "residual")
        gap = line(axes, "measured")[1] - line(axes, "predicted")[1]
        assert residual == pytest.approx(gap, abs=1e-12)
        assert np.median(np.abs(residual)) < 0.3


def test_a_validation_is_drawn_and_tabled_joint_by_joint(identification):
    fit = identification.fit
    drawn = fit.plot()
    assert [axes.get_ylabel() for axes in drawn] == [f"joint {j} torque [N m]" for j in range(1, 7)]
    for j, axes in enumerate(drawn):
        _, measured = line(axes, "measured")
        assert measured.max() == pytest.approx(fit.tau[:, j].max(), rel=1e-12)
        assert fit.tables[fit.sections().title][j]["max_n_m"] == fit.max[j]


def test_an_estimate_is_drawn_beside_its_prior(identification):
    estimate = identification.estimate
    (axes,) = (x for x in estimate.plot() if x.get_title().startswith("Free parameters"))
    prior, drawn = (points.lines[0].get_ydata() for points in axes.containers)
    free = [estimate.table[k] for k in np.flatnonzero(estimate.free)]
    for row, before, after in zip(free, prior, drawn, strict=True):
        if row.prior != 0:
            assert after / before == pytest.approx(row.value / row.prior)


def test_the_skeleton_of_a_robot_ends_at_its_tool(robots):
    for name, robot in robots.items():
        q = np.linspace(0.1, 0.5, robot.n)
        axes = robot.plot(q)
        tip = np.array([x.get_data_3d() for x in axes.lines if x.get_label() == "tool"]).ravel()
        assert tip == pytest.approx(1e3 * robot.forward_kinematics(q)[:3, 3]), name
        written = " ".join(text.get_text() for text in axes.texts)
        assert all(joint in written for joint in robot.joint_names)


def test_a_skeleton_needs_one_posture_and_axes_in_space(robots):
    robot = robots["rx90b"]
    with pytest.raises(at.ArmtwinError, match=r"q must have shape \(6,\)"):
        robot.plot(np.zeros((2, 6)))
    with pytest.raises(at.ArmtwinError, match="three dimensions"):
        robot.plot(axes=pyplot.subplots()[1])


def test_the_bold_part_of_a_drawn_seam_is_as_long_as_its_process_is_on():
    job = at.Job.load("rx90b_corner_follow")
    axes = job.plot()
    (on,) = (x for x in axes.lines if x.get_label() == "process on")
    drawn = np.linalg.norm(np.diff(np.array(on.get_data_3d()), axis=1), axis=0).sum()
    wanted = sum(stop - start for start, stop in job.process_on())
    assert drawn == pytest.approx(1e3 * wanted, rel=1e-4)  # chords of an arc of 100 mm


def test_given_axes_are_drawn_on_and_must_be_as_many_as_panels(fast_run):
    figure, seven = pyplot.subplots(7)
    assert fast_run.plot(axes=seven) == list(seven)
    assert pyplot.get_fignums() == [figure.number]
    with pytest.raises(at.ArmtwinError, match="axes must be 3, one for each panel, got 7"):
        fast_run.log.plot(axes=seven)


def test_dollars_in_names_begin_no_formula(robots):
    description = robots["epaas"].description
    name = r"$\frac$"
    joints = (replace(description.joint[0], name=name), *description.joint[1:])
    bare = replace(description, joint=joints, motor=(), friction=(), hydraulic=(), servo={})
    axes = at.Robot(replace(bare, gear=None, transmission=(), balancer=(), wrist=None)).plot()
    axes.figure.canvas.draw()
    assert any(r"\$\frac\$" in text.get_text() for text in axes.texts)


def test_no_two_lines_of_a_panel_look_alike():
    styles = [figures.style(k) for k in range(28)]
    for one, other in combinations(styles, 2):
        assert (one["color"], one["linestyle"]) != (other["color"], other["linestyle"])


@pytest.mark.parametrize("kind", SEEN)
def test_colour_blind_eyes_tell_neighbouring_lines_apart(kind):
    """CIELAB distances above 10 are distinct at a glance; dashes help where colours are near."""
    seen = np.array([_lab(colour, np.array(SEEN[kind])) for colour in figures.COLOURS])
    for j, k in combinations(range(len(seen)), 2):
        same_dash = figures.style(j)["linestyle"] == figures.style(k)["linestyle"]
        assert np.linalg.norm(seen[j] - seen[k]) > (20 if same_dash else 10)


def _lab(colour, sight):
    """CIELAB of a colour as seen through a matrix in linear RGB."""
    rgb = np.array(colors.to_rgb(colour))
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]]
    x, y, z = to_xyz @ (sight @ linear).clip(0, 1) / np.array([0.9505, 1.0, 1.089])
    fx, fy, fz = (t ** (1 / 3) if t > 0.008856 else 7.787 * t + 16 / 116 for t in (x, y, z))
    return 116 * fy - 16, 500 * (fx - fy), 200 * (fy - fz)


def test_without_matplotlib_a_sentence_says_how_to_get_it(fast_run, robots, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for noun in (fast_run, fast_run.log, robots["rx90b"]):
        with pytest.raises(at.ArmtwinError, match=r"pip install 'armtwin\[plot\]'"):
            noun.plot()


def test_an_analysis_at_one_posture_is_drawn_as_bars_of_its_numbers():
    """A panel of causes for each joint and drive, one of factors for the joints and the drives."""
    robot = at.Robot.load("epaas")
    torques = at.analyse(robot, "torques")
    first, *_ = torques.plot()
    names = [text.get_text() for text in first.get_yticklabels()]
    (bars,) = first.containers
    gravity = bars[names.index("gravity")]
    assert gravity.get_width() == pytest.approx(torques.joints.gravity[0, 0])
    coupling = at.analyse(robot, "coupling")
    joints, drives = coupling.plot()
    widths = [bar.get_width() for bar in drives.containers[0]]
    assert widths == pytest.approx(100 * coupling.drives.factor[0])
    assert joints.get_xlabel() == "factor [%]"
    pyplot.close("all")


def test_an_elastic_robot_is_drawn_at_a_posture_with_its_compliances_and_lowest_modes(robots):
    compliance = at.analyse(robots["kr300"], "compliance", np.zeros(6))
    (axes,) = compliance.plot()
    widths = [bar.get_width() for bar in axes.containers[0]]
    assert widths == pytest.approx(1e6 * compliance.principal[0][0])
    modes = at.analyse(robots["kr300"], "modes", np.zeros(6))
    (axes,) = modes.plot()
    widths = [bar.get_width() for bar in axes.containers[0]]
    assert widths == pytest.approx([mode.frequency for mode in modes.motors["locked"][:3]])


def test_effective_inertia_is_drawn_with_and_without_its_load():
    found = at.analyse(at.Robot.load("epaas"), "inertia", load="load_4")
    drawn = found.plot()[2]
    assert (drawn.get_title(), drawn.get_ylabel()) == ("L3", "inertia [kg]")
    assert line(drawn, "without load")[1] == pytest.approx(found.values[:, 2])
    assert line(drawn, "load_4")[1] == pytest.approx(found.load[:, 2])
    pyplot.close("all")


def test_a_tornado_has_its_widest_bar_on_top_and_both_signs():
    test = at.StepTest(at.Robot.load("epaas_bench"), {"cylinder": -0.23}, seconds=0.06)
    keys = ["hydraulic.*.leakage", "servo.proportional.gain"]
    found = at.sensitivity(test, keys, features=["overshoot"])
    (axes,) = found.plot()
    names = [text.get_text() for text in axes.get_yticklabels()]
    assert names == ["servo.proportional.gain", "hydraulic.*.leakage"]
    less, more = axes.containers
    gain = next(row for row in found.table if row["key"] == "servo.proportional.gain")
    assert axes.get_xlabel() == "overshoot [%]"
    assert less[0].get_width() == pytest.approx(100 * (gain["less"] - gain["base"]))
    assert more[0].get_width() == pytest.approx(100 * (gain["more"] - gain["base"]))
    pyplot.close("all")

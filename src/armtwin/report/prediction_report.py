"""The report of a prediction, and of a comparison with a log: verdict first, then where, why, and what to change."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.advice import Advice
from armtwin.prediction.answer import Answer
from armtwin.prediction.causes import Explanation
from armtwin.prediction.compare import Comparison
from armtwin.prediction.predict import Prediction
from armtwin.prediction.verdict import Verdict
from armtwin.report.background import joints, limits, provenance
from armtwin.report.figure import figure
from armtwin.report.sampling import at_times, kept_times
from armtwin.report.sections import Block, Line, Mark, Plot, Report, Scene, Section, Table, Text

UM = 1e6


def prediction_report(answer: Answer) -> Report:
    """The report of a predicted job, with a logged run over it where one was compared."""
    p, comparison = answer.prediction, answer.comparison
    times = kept_times(p)
    series = dict(_series(p, times))
    if comparison is not None:
        series |= dict(_measured(comparison, times))
    d = p.job.description
    tool = p.robot.description.mounted.tool
    subtitle = (
        f"{p.job.name}: {p.robot.description.title or p.robot.name}{f' with {tool}' if tool else ''}, "
        f"{1e3 * d.speed:g} mm/s, {p.method} method"
    )
    worst = max(answer.explanations, key=lambda x: abs(x.span.peak_m), default=None)
    start = int(np.searchsorted(times, worst.time)) if worst is not None else 0
    sections = [
        Section("", tuple(_verdict(p, comparison))),
        Section(
            "The robot and its seam",
            (Scene(figure(p, times), "Drag or use the arrow keys to turn the view."),),
        ),
        Section("Path error", tuple(_path_error(answer, times, series))),
        Section("Causes", tuple(_causes(answer.explanations, times))),
    ]
    if answer.advice is not None:
        sections.append(Section("What to change", tuple(_advice(answer.advice))))
    if comparison is not None:
        sections.append(Section("Beside the logged run", tuple(_agreement(comparison))))
    sections += [
        Section("Joints", tuple(joints(p, times, series))),
        Section("Feasibility", tuple(limits(p))),
        Section("What this rests on", tuple(provenance(p))),
    ]
    return Report(d.title or p.job.name, subtitle, tuple(sections), series, start)


def _series(p: Prediction, times: Floats) -> Iterator[tuple[str, Floats]]:
    """All series at the times of the samples, in the units of the plots."""
    error, log = p.path_error, p.log
    yield "time", times
    yield "place", np.maximum.accumulate(1e3 * at_times(times, error.time, error.s))
    for name in ("lateral", "vertical", "lag"):
        yield name, UM * at_times(times, error.time, getattr(error, name))
    yield "speed", 1e3 * at_times(times, error.time, error.speed)
    limits = np.where(
        np.isfinite(p.robot.limits.torque), p.robot.limits.torque, np.abs(log.tau).max(axis=0)
    )
    for j in range(p.robot.n):
        yield f"q{j + 1}", at_times(times, p.run.trace_time, p.run.link_side[:, j])
        yield (
            f"error{j + 1}",
            1e3 * np.degrees(at_times(times, log.time, log.q[:, j] - log.q_ref[:, j])),
        )
        yield f"torque{j + 1}", 100 * at_times(times, log.time, log.tau[:, j]) / limits[j]
        yield f"v{j + 1}", np.degrees(at_times(times, log.time, log.v[:, j]))


def _measured(c: Comparison, times: Floats) -> Iterator[tuple[str, Floats]]:
    """Series of the logged run; outside of the log there is none."""
    limits = c.prediction.robot.limits.torque
    for j, name in enumerate(c.prediction.robot.joint_names):
        yield (
            f"measured error{j + 1}",
            1e3 * np.degrees(_inside(times, c.time, c.channels[f"{name} error"][0])),
        )
        if c.torque_source and np.isfinite(limits[j]):
            yield (
                f"measured torque{j + 1}",
                100 * _inside(times, c.time, c.channels[f"{name} torque"][0]) / limits[j],
            )
    for name in ("lateral", "vertical"):
        yield f"measured {name}", UM * _inside(times, c.time, c.channels[name][0])


def _inside(times: Floats, own: Floats, values: Floats) -> Floats:
    return np.interp(times, own, values, left=np.nan, right=np.nan)


def _verdict(p: Prediction, comparison: Comparison | None) -> Iterator[Block]:
    verdict = p.verdict
    told = sentence(verdict)
    yield Text(f"Predicted: {told}" if comparison else told, "good" if verdict.within else "bad")
    if comparison is not None:
        yield Text(f"Logged: {comparison.sentence}", "good" if comparison.verdict.within else "bad")
    t = verdict.tolerance
    yield Text(
        f"Tolerance ±{1e3 * t.lateral:g} mm lateral, ±{1e3 * t.vertical:g} mm vertical, judged where the process is "
        "on: "
        + ", ".join(f"{1e3 * a:.1f} to {1e3 * b:.1f} mm" for a, b in p.job.process_on())
        + f" of {1e3 * p.job.seam.length:.1f} mm."
    )
    head = (
        "segment",
        "from mm",
        "to mm",
        "lateral µm",
        "vertical µm",
        "lag µm",
        "speed mm/s",
        "process off µm",
        "out mm",
    )
    rows = []
    for x in verdict.segments:
        speeds = (
            "-"
            if np.isnan(x.speed_m_s[0])
            else f"{1e3 * x.speed_m_s[0]:.1f} to {1e3 * x.speed_m_s[1]:.1f}"
        )
        cells = [x.name, f"{1e3 * x.from_m:.1f}", f"{1e3 * x.to_m:.1f}"]
        cells += [_um(v) for v in (x.lateral_peak_m, x.vertical_peak_m, x.lag_m)]
        off = f"{_um(x.lateral_off_m)} / {_um(x.vertical_off_m)}"
        rows.append([*cells, speeds, off, f"{1e3 * x.out_of_tolerance_m:.1f}"])
    bad = frozenset(k for k, x in enumerate(verdict.segments) if x.out_of_tolerance_m > 0)
    yield Table(head, rows, bad=bad)
    for event in p.log.events:
        yield Text(f"At {event.time:.3f} s: {event.text}", "bad")


def _um(value: float) -> str:
    return "-" if np.isnan(value) else f"{UM * value:.0f}"


def sentence(verdict: Verdict) -> str:
    """The verdict in one sentence."""
    if verdict.within:
        peaks = [(x.lateral_peak_m, x.vertical_peak_m) for x in verdict.segments]
        lateral, vertical = np.nanmax(np.array(peaks), axis=0)
        return f"The seam holds: at most {UM * lateral:.0f} µm lateral and {UM * vertical:.0f} µm vertical."
    parts = []
    if verdict.stopped is not None:
        parts.append(
            f"the robot stops at {1e3 * (verdict.stopped_at_m or 0):.1f} mm ({verdict.stopped.joint})"
        )
    if verdict.spans:
        worst = max(verdict.spans, key=lambda x: abs(x.peak_m))
        size = (
            f"{np.degrees(worst.peak_m):+.3f}°"
            if worst.direction == "orientation"
            else f"{UM * worst.peak_m:+.0f} µm"
        )
        length = f"{1e3 * verdict.out_of_tolerance_m:.1f} mm of it are out of tolerance"
        parts.append(
            f"{length}, the largest error is {size} {worst.direction} at {1e3 * worst.peak_at_m:.1f} mm"
        )
    if verdict.outside_window:
        parts.append(
            f"the tool speed leaves its process window {len(verdict.outside_window)} times"
        )
    return f"The seam does not hold: {'; '.join(parts)}."


def _path_error(answer: Answer, times: Floats, series: dict[str, Floats]) -> Iterator[Block]:
    p = answer.prediction
    command = p.job.seam.command(times)
    moving = np.flatnonzero(command.speed > 0)
    first, last = int(moving[0]), int(min(moving[-1] + 1, len(times)))
    on = p.job.process_on()
    edges = [0.0, *(x for pair in on for x in pair), p.job.seam.length]
    off = tuple((1e3 * a, 1e3 * b) for a, b in zip(edges[::2], edges[1::2], strict=True) if b > a)
    tolerance = p.verdict.tolerance
    marks = tuple(_marks(answer.explanations))
    for colour, (name, limit) in enumerate(
        (("lateral", tolerance.lateral), ("vertical", tolerance.vertical))
    ):
        lines = [Line(f"{name}, predicted", name, colour)]
        if f"measured {name}" in series:
            lines.append(Line(f"{name}, measured", f"measured {name}", 3, dashed=True))
        yield Plot(
            x="place",
            x_label="along the seam [mm]",
            y_label=f"{name} error",
            unit="µm",
            lines=tuple(lines),
            first=first,
            last=last,
            shaded=off,
            rules=(UM * limit, -UM * limit),
            marks=tuple(m for m, direction in marks if direction == name),
            caption=f"{name.capitalize()} error along the seam; dashed: the tolerance, grey: the process is off.",
        )
    lag = (Line("lag", "lag", 2),)
    yield Plot(
        "place",
        "along the seam [mm]",
        "lag",
        "µm",
        lag,
        first,
        last,
        off,
        caption="What the tool is behind.",
    )
    speed = (Line("tool speed", "speed", 5),)
    caption = "Speed along the seam."
    yield Plot(
        "place",
        "along the seam [mm]",
        "tool speed",
        "mm/s",
        speed,
        first,
        last,
        off,
        caption=caption,
    )


def _marks(explanations: tuple[Explanation, ...]) -> Iterator[tuple[Mark, str]]:
    rows = {"lateral": 0, "vertical": 0}
    for x in explanations:
        if not x.causes:
            continue
        cause = x.causes[0]
        row = rows[x.span.direction] % 5
        rows[x.span.direction] += 1
        text = f"{cause.cause}{f', {cause.joint}' if cause.joint else ''}"
        yield Mark(1e3 * x.span.peak_at_m, text, row, bad=not x.within), x.span.direction


def _causes(explanations: tuple[Explanation, ...], times: Floats) -> Iterator[Block]:
    if not explanations:
        yield Text("No causes were sought.", "soft")
        return
    rows, samples = [], []
    for x in explanations:
        told = "; ".join(
            f"{c.cause}{f' ({c.joint})' if c.joint else ''} {100 * c.share:.0f} %" for c in x.causes
        )
        place = f"{1e3 * x.span.from_m:.1f} to {1e3 * x.span.to_m:.1f}"
        state = "within" if x.within else "out"
        peak = f"{1e3 * x.span.peak_at_m:.1f} mm"
        rows.append(
            [peak, place, x.span.direction, _um(x.span.peak_m), state, told or "none above 10 %"]
        )
        samples.append(int(np.searchsorted(times, x.time)))
    bad = frozenset(k for k, x in enumerate(explanations) if not x.within)
    head = ("peak at", "span mm", "direction", "peak µm", "tolerance", "causes, share explained")
    yield Table(head, rows, words=True, bad=bad, samples=tuple(samples))
    yield Text(
        "Each cause was taken out of the simulation by itself; its share is 1 - |error without it| / |error| over the "
        "span. Effects act on each other through the servo, so shares need not sum to one.",
        "soft",
    )


def _advice(advice: Advice) -> Iterator[Block]:
    if advice.best is None:
        yield Text("Nothing that was tried makes the seam hold.", "bad")
    else:
        takes = f"it uses {100 * advice.best.ratio:.0f} % of the tolerance, the motion takes {advice.best.duration:.2f} s"
        yield Text(f"Advice: {advice.best.text} (advised.toml); {takes}.", "good")
    rows = []
    for x in advice.options:
        rows.append(
            [
                x.name,
                x.text,
                "holds" if x.holds else "does not hold",
                _share(x.ratio),
                f"{x.duration:.2f}",
            ]
        )
    yield Table(("option", "what", "", "largest error / tolerance", "motion s"), rows, words=True)
    tried = ", ".join(f"{1e3 * x:g} {'holds' if ok else 'fails'}" for x, ok in advice.tried)
    yield Text(f"Speeds tried, mm/s: {tried}.", "soft")
    if not advice.monotonic:
        yield Text(
            "The error is not monotonic in speed: some lower speeds fail where higher ones hold."
        )
    if advice.sensitivities:
        rows = [[x.key, f"{100 * x.effect:+.1f} %", x.source] for x in advice.sensitivities]
        yield Text("Assumed numbers that change the largest error most, each made larger by 10 %:")
        yield Table(("key", "largest error", "where the number comes from"), rows, words=True)
    yield Text(f"{advice.simulations} simulations.", "soft")


def _share(ratio: float) -> str:
    return f"{100 * ratio:.0f} %" if np.isfinite(ratio) else "cannot be run"


def _agreement(c: Comparison) -> Iterator[Block]:
    yield Text(f"{c.sentence} Measured lines are dashed in the plots.")
    rows = []
    for x in c.rows:
        scale, unit = {"rad": (180e3 / np.pi, "mdeg"), "m": (UM, "µm"), "N m": (1.0, "N m")}[x.unit]
        values = (
            x.rms_measured,
            x.rms_predicted,
            x.peak_measured,
            x.peak_predicted,
            x.rms_difference,
        )
        share = "-" if np.isnan(x.share_explained) else f"{100 * x.share_explained:.0f} %"
        rows.append([f"{x.name} [{unit}]", *(f"{scale * v:.3g}" for v in values), share])
    head = (
        "",
        "rms measured",
        "rms predicted",
        "peak measured",
        "peak predicted",
        "rms difference",
        "explained",
    )
    yield Table(head, rows)
    source = f"torque from {c.torque_source}" if c.torque_source else "no torque logged"
    yield Text(
        f"Positions from {c.side}, {source}; the job begins at {c.shift:.3f} s of the log.", "soft"
    )

"""What the command line shows of jobs, predictions and comparisons: tables that fit into 80 columns."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import numpy as np
from rich import box
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from armtwin import Advice, Answer, Comparison, Job, Prediction
from armtwin.app.pages import columns, number
from armtwin.prediction.causes import Explanation
from armtwin.prediction.predict import assumed, missing
from armtwin.prediction.verdict import Verdict

SPANS_SHOWN = 12
ASSUMED_SHOWN = 5
ORIENTATIONS = {"fixed": "fixed", "follow": "follows the seam", "given": "given at points"}


def job_shelf(jobs: Iterable[Job]) -> RenderableType:
    """One line for each job."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False)
    for column in ("job", "robot", "seam", "speed"):
        table.add_column(column, no_wrap=column != "seam")
    for job in jobs:
        d = job.description
        table.add_row(*map(escape, (job.name, d.robot, d.title, f"{1e3 * d.speed:g} mm/s")))
    return Group(table, Text("Show one: armtwin jobs NAME. Run one: armtwin predict NAME."))


def job_page(job: Job) -> RenderableType:
    """What a job is: seam, speed, tolerance, process, model; nothing is run."""
    d, seam, robot = job.description, job.seam, job.robot()
    facts = Table(box=None, show_header=False, pad_edge=False, padding=(0, 2, 0, 0))
    on = ", ".join(f"{1e3 * a:.1f} to {1e3 * b:.1f} mm" for a, b in job.process_on())
    law = ", ".join(
        f"{key} {value:g} {unit}"
        for key, unit in (("ramp", "s"), ("acceleration", "m/s²"), ("jerk", "m/s³"))
        if (value := getattr(d.time_law, key)) is not None
    )
    place = ", ".join(f"{1e3 * x:g}" for x in d.workpiece.position)
    for name, value in (
        (
            "robot, tool",
            f"{d.robot} with {d.tool or 'no tool'}" + (f" and {d.payload}" if d.payload else ""),
        ),
        ("workpiece at", f"({place}) mm in the base frame"),
        ("orientation", ORIENTATIONS[d.orientation.mode]),
        ("tolerance", _tolerance(d.tolerance.lateral, d.tolerance.vertical)),
        ("time law", f"{d.time_law.kind}, {law}"),
        ("duration", f"{seam.duration:.3f} s, of which {seam.profile.duration:.3f} s in motion"),
        ("process on", on),
        ("model", f"friction {d.model.friction}, servo {d.model.servo}, {d.model.joints} joints"),
        ("overrides", ", ".join(f"{key} = {value}" for key, value in d.override.items())),
        (
            "assumed numbers",
            f"{len(assumed(robot, job))} of the robot file are in use: armtwin check {d.robot}",
        ),
        ("missing", "; ".join(missing(robot, job))),
    ):
        if value:
            facts.add_row(name, escape(value))
    table = columns(
        "segment",
        "from mm",
        "to mm",
        "speed mm/s",
        "shape",
        title=f"Seam of {1e3 * seam.length:.1f} mm",
    )
    for x in seam.path.stretches:
        s = d.segment[x.move]
        shape = f"corner r {1e3 * (s.blend or 0):g} mm" if x.corner else _shape(job, x.move)
        speed = (s.blend_speed if x.corner else None) or s.speed or d.speed
        table.add_row(
            escape(x.name), f"{1e3 * x.start:.1f}", f"{1e3 * x.stop:.1f}", number(speed, 1e3), shape
        )
    return Group(Text(f"{job.name}: {d.title or 'no title'}", style="bold"), facts, Text(), table)


def _shape(job: Job, i: int) -> str:
    s = job.description.segment[i]
    return next(k for k in ("lin", "circ", "spline", "points") if getattr(s, k) is not None)


def _tolerance(lateral: float, vertical: float) -> str:
    return f"±{1e3 * lateral:g} mm lateral, ±{1e3 * vertical:g} mm vertical"


def prediction_page(answer: Answer) -> RenderableType:
    """Errors of each segment, joints, the verdict, causes, advice and what it rests on."""
    p = answer.prediction
    d = p.job.description
    tool = p.robot.description.mounted.tool
    head = Text(f"{p.job.name}: {d.title or 'no title'}", style="bold")
    setting = (
        f"{p.robot.name}{f' with {tool}' if tool else ''}, {1e3 * d.speed:g} mm/s, {p.method}; "
        + _tolerance(d.tolerance.lateral, d.tolerance.vertical)
    )
    parts: list[RenderableType] = [head, Text(setting), Text(), _segments(p.verdict), _joints(p)]
    parts += [*_verdict(p.verdict), *(Text(f"at {e.time:.3f} s: {e.text}") for e in p.log.events)]
    if p.feasibility.violations:
        parts.append(Text("Limits that the commanded motion breaks (reported, as the job asks):"))
        parts += [Text(f"  {v.text}") for v in p.feasibility.violations[:SPANS_SHOWN]]
    parts += [_causes(answer.explanations), *_advice(answer.advice)]
    return Group(*parts, Text(), *_rests_on(p))


def _causes(explanations: tuple[Explanation, ...]) -> Table:
    table = Table(
        box=box.SIMPLE_HEAD,
        pad_edge=False,
        title="Causes of the largest errors",
        title_justify="left",
    )
    table.add_column("at mm", justify="right")
    table.add_column("")
    table.add_column("peak µm", justify="right")
    table.add_column("causes and the share each explains (need not sum to one)")
    for x in explanations:
        told = ", ".join(
            f"{c.cause}{f' {c.joint}' if c.joint else ''} {100 * c.share:.0f} %" for c in x.causes
        )
        peak = Text(f"{1e6 * x.span.peak_m:+.0f}", style="" if x.within else "bold red")
        table.add_row(
            f"{1e3 * x.span.peak_at_m:.1f}",
            x.span.direction,
            peak,
            escape(told or "none above 10 %"),
        )
    return table


def _advice(advice: Advice | None) -> list[RenderableType]:
    if advice is None:
        return []
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, title="Advice", title_justify="left")
    for column in ("what", "", "error", "s"):
        table.add_column(column, justify="left" if column in ("what", "") else "right")
    for x in advice.options:
        ratio = f"{100 * x.ratio:.0f} %" if np.isfinite(x.ratio) else "-"
        table.add_row(
            escape(x.text), "holds" if x.holds else "does not hold", ratio, f"{x.duration:.1f}"
        )
    best = "Nothing that was tried makes the seam hold."
    if advice.best is not None:
        best = (
            f"Best: {advice.best.text}; it uses {100 * advice.best.ratio:.0f} % of the tolerance."
        )
    parts: list[RenderableType] = [table, Text(best, style="bold")]
    if not advice.monotonic:
        tried = ", ".join(f"{1e3 * v:g} {'holds' if ok else 'fails'}" for v, ok in advice.tried)
        parts.append(Text(f"The error is not monotonic in speed; tried, in mm/s: {tried}."))
    if advice.sensitivities:
        told = ", ".join(
            f"{x.key} {100 * x.effect:+.1f} %" for x in advice.sensitivities[:ASSUMED_SHOWN]
        )
        parts.append(
            Text(f"Assumed numbers that, 10 % larger, change the largest error most: {told}.")
        )
    return parts


def _segments(verdict: Verdict) -> Table:
    table = columns(
        "segment",
        "from",
        "to mm",
        "lateral",
        "vertical",
        "lag",
        "off",
        "out mm",
        title="Largest path errors (µm; off: lateral/vertical while the process is off)",
    )
    for x in verdict.segments:
        values = (x.lateral_peak_m, x.vertical_peak_m, x.lag_m)
        off = (
            "-"
            if np.isnan(x.lateral_off_m)
            else f"{1e6 * x.lateral_off_m:.0f}/{1e6 * x.vertical_off_m:.0f}"
        )
        ends = f"{1e3 * x.from_m:.0f}", f"{1e3 * x.to_m:.0f}"
        out = f"{1e3 * x.out_of_tolerance_m:.1f}" if x.out_of_tolerance_m else "0"
        table.add_row(escape(x.name), *ends, *(number(v, 1e6, 3) for v in values), off, out)
    return table


def _joints(p: Prediction) -> Table:
    table = columns(
        "joint",
        "error mdeg",
        "torque %",
        "speed %",
        "reversals",
        title="Joints: largest error, use of limits",
    )
    torque = np.abs(p.log.tau).max(axis=0) / p.robot.limits.torque
    deviation = np.degrees(np.abs(p.log.q - p.log.q_ref).max(axis=0))
    speed = p.motion.trajectory.v
    for j, name in enumerate(p.robot.joint_names):
        signs = np.sign(speed[np.abs(speed[:, j]) > 1e-9, j])
        turns = int((np.diff(signs) != 0).sum())
        share = number(torque[j] if torque[j] > 0 else None, 100, 3)
        velocity = number(float(p.feasibility.shares["velocity"][j]), 100, 3)
        table.add_row(escape(name), number(deviation[j], 1e3, 3), share, velocity, str(turns))
    return table


def _verdict(verdict: Verdict) -> list[RenderableType]:
    if verdict.within:
        peaks = [
            np.nanmax([getattr(x, f"{k}_peak_m") for x in verdict.segments])
            for k in ("lateral", "vertical")
        ]
        lateral, vertical = (
            100 * peaks[0] / verdict.tolerance.lateral,
            100 * peaks[1] / verdict.tolerance.vertical,
        )
        used = f"at most {lateral:.0f} % of the lateral and {vertical:.0f} % of the vertical tolerance is used"
        return [
            Text("WITHIN TOLERANCE wherever the process is on:", style="bold green"),
            Text(f"{used}."),
        ]
    parts: list[RenderableType] = []
    if verdict.stopped is not None:
        where = f"{1e3 * (verdict.stopped_at_m or 0):.1f} mm"
        parts.append(
            Text(f"STOPPED at {where}: the rest of the seam is not run.", style="bold red")
        )
    if verdict.spans:
        length = 1e3 * verdict.out_of_tolerance_m
        parts.append(Text(f"OUT OF TOLERANCE on {length:.1f} mm of the seam:", style="bold red"))
        table = columns("direction", "from mm", "to mm", "peak", "at mm")
        for x in verdict.spans[:SPANS_SHOWN]:
            peak = (
                f"{np.degrees(x.peak_m):+.3f}°"
                if x.direction == "orientation"
                else f"{1e6 * x.peak_m:+.0f} µm"
            )
            table.add_row(
                x.direction,
                f"{1e3 * x.from_m:.1f}",
                f"{1e3 * x.to_m:.1f}",
                peak,
                f"{1e3 * x.peak_at_m:.1f}",
            )
        parts.append(table)
        if len(verdict.spans) > SPANS_SHOWN:
            parts.append(Text(f"and {len(verdict.spans) - SPANS_SHOWN} more in result.json"))
    for slow in verdict.outside_window[:SPANS_SHOWN]:
        place = f"from {1e3 * slow.from_m:.1f} to {1e3 * slow.to_m:.1f} mm"
        text = f"Outside of the process window of '{slow.segment}' {place}: tool speed {1e3 * slow.speed_m_s:.1f} mm/s."
        parts.append(Text(text, style="red"))
    return parts


def _rests_on(p: Prediction) -> list[RenderableType]:
    """The assumed numbers behind a verdict, by group."""
    groups = Counter(origin.path.partition(".")[0] for origin in p.assumed)
    if not groups:
        return [Text("No number of the robot file that this rests on is assumed.")]
    told = ", ".join(f"{group} {count}" for group, count in groups.most_common(ASSUMED_SHOWN))
    more = " and others" if len(groups) > ASSUMED_SHOWN else ""
    total, robot = sum(groups.values()), p.job.description.robot
    text = f"It rests on {total} assumed numbers of the robot file ({told}{more}): see armtwin check {robot}."
    return [Text(text), Text("Collisions are not checked.")]


def comparison_page(c: Comparison, name: str) -> RenderableType:
    """Measured beside predicted: rms, peak and share explained of every quantity."""
    table = columns("", "rms\nlog", "rms\npred.", "peak\nlog", "peak\npred.", "rms\ndiff.", "expl.")
    for row in c.rows:
        scale, unit = {"rad": (180e3 / np.pi, "mdeg"), "m": (1e6, "µm"), "N m": (1.0, "N m")}[
            row.unit
        ]
        values = (
            row.rms_measured,
            row.rms_predicted,
            row.peak_measured,
            row.peak_predicted,
            row.rms_difference,
        )
        share = "-" if np.isnan(row.share_explained) else f"{100 * row.share_explained:.0f} %"
        table.add_row(escape(f"{row.name}, {unit}"), *(number(v, scale, 3) for v in values), share)
    torque = f"torque from {c.torque_source}" if c.torque_source else "no torque logged"
    setting = f"positions from {c.side}, {torque}, {len(c.time)} samples, the job begins at {c.shift:.3f} s of the log"
    title = Text(f"{name} beside the prediction of {c.prediction.job.name}", style="bold")
    explained = "log: measured; expl.: share explained, 1 - |measured - predicted| / |measured|"
    return Group(
        title, Text(setting), Text(), table, Text(explained), Text(c.sentence, style="bold")
    )

"""The report of an identification: what it is worth, measured against predicted torque, what was told and what not."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

import numpy as np

from armtwin.identification.decomposition import RELATIVE_ERROR
from armtwin.identification.estimate import Estimate, Row
from armtwin.identification.judged import Identification
from armtwin.identification.statements import not_told, reasons
from armtwin.logs.cleaning import Cleaning
from armtwin.maths.batch import Floats
from armtwin.report.charts import Chart
from armtwin.report.drawings import matrix
from armtwin.report.layers import Curve, Points, Rule
from armtwin.report.plain import versions
from armtwin.report.sampling import at_times, extremes
from armtwin.report.scales import Axis
from armtwin.report.sections import Block, Line, Picture, Plot, Report, Section, Table, Text

GRID, BUCKETS = 1200, 150
MOVED = 12  # parameters shown unfolded
SHOWN_IN_V = (
    0.125  # size of an element of V from which on it is drawn, as in figure 4.13 of [Waiboer 2007]
)


def identification_report(result: Identification) -> Report:
    """The report of an estimate and its judgement."""
    found = result.estimate
    times = _times(result)
    series = dict(_series(result, times))
    title = found.prior.description.title or found.prior.name
    logs = f"{len(found.logs)} log{'s' if len(found.logs) > 1 else ''}"
    subtitle = f"{title}: {logs}, {found.torque_side} ({found.torque_source}), {found.recipe.estimator} estimate"
    sections = [
        Section("", tuple(_verdict(result))),
        Section("What the logs do not tell", tuple(_untold(found))),
        Section("Torque, measured and predicted", tuple(_torques(result, times))),
        Section("Parameters", tuple(_parameters(found))),
        Section("Singular values", tuple(_singular(found))),
    ]
    if result.models is not None:
        sections.append(Section("Models side by side", tuple(_models(result))))
    sections += [
        Section("Physical consistency", tuple(_consistency(found))),
        Section("What this rests on", tuple(_choices(found))),
    ]
    return Report(f"Identification of {found.prior.name}", subtitle, tuple(sections), series)


def headline(result: Identification) -> tuple[str, Literal["", "good", "bad"]]:
    """The judgement in one sentence, and its tone."""
    errors = result.errors
    if errors is None:
        why = f" ({result.unjudged})" if result.unjudged else ""
        mean = float(np.nanmean(result.fit.nrmse))
        return (
            f"Fitted, not validated{why}: {mean:.1f} % of the first log's torque is not explained, mean of joints.",
            "",
        )
    own, prior = (float(np.nanmean(x)) for x in errors)
    where = "a log it never saw" if result.log is not None else "logs left out in turn"
    if result.log is None and len(result.estimate.logs) == 1:
        where = "parts of the log left out in turn"
    told = f"on {where} it misses {own:.1f} % of the torque (mean of joints), the robot file missed {prior:.1f} %"
    if result.failed:
        return f"The identified robot is no better than its file: {told}.", "bad"
    if own > prior:
        return f"The identified robot predicts hardly better or worse than its file: {told}.", ""
    return f"The identified robot predicts: {told}.", "good"


def _verdict(result: Identification) -> Iterator[Block]:
    text, tone = headline(result)
    yield Text(text, tone)
    names = result.estimate.prior.joint_names
    errors = result.errors
    head = ["joint"]
    columns: list[Floats] = []
    if errors is not None and result.log is None:
        head += ["left out %", "prior there %"]
        columns += [errors[0], errors[1]]
    which = "validation log" if result.log is not None else "first log"
    head += [
        f"{which} %",
        "plain least squares %",
        "prior %",
        "rms N m",
        "largest N m",
        "residual of the fit N m",
    ]
    columns += [
        result.fit.nrmse,
        result.plain.nrmse,
        result.prior.nrmse,
        result.fit.rmse,
        result.fit.max,
    ]
    columns.append(result.estimate.sigma)
    rows = [[name, *(short(x[j]) for x in columns)] for j, name in enumerate(names)]
    rows.append(["mean", *(short(float(np.nanmean(x))) for x in columns[:-3]), "", "", ""])
    yield Table(tuple(head), rows)
    yield Text("NRMSE in % is 100 ‖τ - τ̂‖ / ‖τ‖ on the torque as measured.", "soft")
    for sentence in reasons(result.estimate, result.shown, result.fit):
        yield Text(sentence)


def _untold(found: Estimate) -> Iterator[Block]:
    said = not_told(found)
    for sentence in said or ["Every parameter that a motion can tell is told by these logs."]:
        yield Text(sentence)
    counts = {
        kind: sum(row.group == kind for row in found.table)
        for kind in ("alone", "combined", "none")
    }
    yield Text(
        f"Of {len(found.table)} parameters any motion can tell {counts['alone']} alone, {counts['combined']} in "
        f"combinations and {counts['none']} not at all; {found.structure.rank} base parameters stand for all of them. "
        f"These logs tell {found.decomposition.kept} directions to 10 %.",
        "soft",
    )
    rows = [[text] for text in found.base]
    yield Table(("base parameters",), rows, words=True, folded="Base parameters as combinations")


def _times(result: Identification) -> Floats:
    """Times of the samples that are shown: an even grid and the extremes of each torque."""
    fit = result.fit
    times = [np.linspace(fit.time[0], fit.time[-1], min(GRID, len(fit.time)))]
    for j in range(fit.tau.shape[1]):
        times += [extremes(fit.time, x[:, j], BUCKETS) for x in (fit.tau, fit.tau_hat)]
    return np.unique(np.concatenate(times))


def _series(result: Identification, times: Floats) -> Iterator[tuple[str, Floats]]:
    fit, prior = result.fit, result.prior
    yield "time", times
    for j in range(fit.tau.shape[1]):
        for name, x in (
            ("measured", fit.tau),
            ("predicted", fit.tau_hat),
            ("residual", fit.tau - fit.tau_hat),
            ("prior residual", prior.tau - prior.tau_hat),
        ):
            yield f"{name}{j + 1}", at_times(times, fit.time, x[:, j])


def _torques(result: Identification, times: Floats) -> Iterator[Block]:
    found = result.estimate
    where = result.shown.origin.replace("\\", "/").rpartition("/")[2] or "the log"
    yield Text(
        f"Shown: {where}, {'which the fit never saw' if result.log is not None else 'to which it was fitted'}."
    )
    deviation = found.torque_deviation(result.shown)
    for j, name in enumerate(found.prior.joint_names):
        spread = float(np.sqrt((deviation[:, j] ** 2).mean()))
        caption = (
            f"{name}: {result.fit.nrmse[j]:.1f} % not explained, {result.prior.nrmse[j]:.1f} % by the robot file; the "
            f"parameters' own uncertainty is worth {short(spread)} N m."
        )
        lines = (
            Line("measured", f"measured{j + 1}", 6),
            Line("predicted", f"predicted{j + 1}", 0),
            Line("residual", f"residual{j + 1}", 1),
            Line("residual of the robot file", f"prior residual{j + 1}", 3, dashed=True),
        )
        yield Plot("time", "time [s]", "torque", "N m", lines, 0, len(times), caption=caption)


def _parameters(found: Estimate) -> Iterator[Block]:
    yield Text(
        "From logs: the share of a value that the logs tell, the rest is the robot file's. To 10 %: the share of the "
        "parameter that lies in directions which the logs tell to a tenth of its size in the robot file. Standard "
        "deviations count the draw to the robot file as knowledge."
    )
    head = (
        "parameter",
        "unit",
        "prior",
        "estimate",
        "std",
        "change",
        "a motion tells it",
        "from logs",
        "to 10 %",
    )
    moved = sorted(
        found.table, key=lambda r: abs(r.value - r.prior) / max(r.std, 1e-300), reverse=True
    )
    yield Text("What changed most, for its uncertainty:")
    yield Table(head, [_parameter(row) for row in moved[:MOVED]])
    yield Table(
        head, [_parameter(row) for row in found.table], folded=f"All {len(found.table)} parameters"
    )


def _parameter(row: Row) -> list[str]:
    """A parameter as cells."""
    change = "" if row.prior == 0 else f"{100 * (row.value / row.prior - 1):+.0f} %"
    numbers = [short(x, 4) for x in (row.prior, row.value)]
    return [
        row.name,
        row.unit,
        *numbers,
        short(row.std, 2),
        change,
        row.group,
        f"{row.from_logs:.2f}",
        f"{row.told:.2f}",
    ]


def short(x: float, digits: int = 3) -> str:
    """A number with few digits, without an exponent where it can be read so."""
    if not np.isfinite(x):
        return "-"
    if x != 0 and not 1e-4 <= abs(x) < 1e6:
        return f"{x:.{digits}g}"
    return np.format_float_positional(x, digits, fractional=False, trim="-")


def _singular(found: Estimate) -> Iterator[Block]:
    d = found.decomposition
    r = d.rank
    rule = d.deviation / RELATIVE_ERROR
    directions = np.arange(1.0, r + 1)
    layers = (
        Points("singular values", directions, d.singular[:r]),
        Curve("what each direction explains, |g|", directions, np.abs(d.g[:r]), dash="solid"),
        Rule(rule, "ten times the residual"),
        Rule(d.kept + 0.5, f"{d.kept} of {r} told to 10 %", on="x"),
    )
    yield Chart(
        "",
        Axis("direction"),
        Axis("singular value", logarithmic=True),
        layers,
        f"Singular values of the scaled regression ({d.rows} rows); those above the dashed line "
        "give their direction to 10 %.",
    )
    left = d.residuals / d.residuals[0]
    steps = [k for k in (0, 5, 10, 15, 20, 25, 30, 35, 40, 50) if k <= r]
    yield Table(
        ("directions", *map(str, sorted({*steps, d.kept, r}))),
        [["residual, share of squares", *(f"{left[k]:.3g}" for k in sorted({*steps, d.kept, r}))]],
        folded="Residual against the number of directions",
    )
    free = [found.table[int(np.argmax(column))].name for column in found.decomposition.free.basis.T]
    yield Picture(
        matrix(d.V[:, :r], free, SHOWN_IN_V, "Which parameters each singular direction holds"),
        f"Which parameters each direction holds: elements of V from {SHOWN_IN_V} on, two colours for the two signs; "
        "parameters down, directions across.",
    )


def _models(result: Identification) -> Iterator[Block]:
    m = result.models
    assert m is not None
    rows = [
        [name, *(f"{x:.1f}" for x in v.nrmse), f"{np.nanmean(v.nrmse):.1f}"]
        for name, v in zip(m.names, m.validation, strict=True)
    ]
    yield Table(("NRMSE %", *result.estimate.prior.joint_names, "mean"), rows)
    rows = [
        [name, *(f"{x:.3f}" for x in m.scaled[:, k]), f"{m.told[k]:.2f}"]
        for k, name in enumerate(m.parameters)
    ]
    yield Table(
        ("parameter over its size in the prior", *m.names, "told"),
        rows,
        folded="Parameters of all models",
    )


def _consistency(found: Estimate) -> Iterator[Block]:
    if found.recipe.estimator == "consistent":
        yield Text(
            "Every link of the identified robot is a body that can exist, every rotor inertia and friction at least 0."
        )
    if found.broken:
        yield Text("Plain least squares on the same rows would have been refused:")
        yield Table(("what it breaks",), [[text] for text in found.broken], words=True)
    else:
        yield Text("Plain least squares on the same rows breaks no contract either.")


def _choices(found: Estimate) -> Iterator[Block]:
    rows = []
    for log, how in zip(found.logs, found.cleaning, strict=True):
        rows.append(
            [
                log.origin or "a log",
                f"{len(log.time)}",
                f"{how.rate * how.averaged:.5g}",
                *_cleaned(how),
            ]
        )
    head = (
        "log",
        "samples",
        "rate Hz",
        "cut-off Hz",
        "rows a second",
        "stamps",
        "differentiation",
        "wild samples",
    )
    yield Table(head, rows, words=True)
    tried = ", ".join(f"{w:.1e}: {e:.3g}" for w, e in found.draw.errors.items())
    friction = f" (friction parameters with {found.draw.friction:g} of their size)"
    chosen = (
        f"the best for what was left out{friction}. Weight and error: {tried}"
        if tried
        else "as asked for"
    )
    yield Text(f"Weight of the robot file: {found.draw.weight:.2g}, {chosen}.", "soft")
    reversal = ", ".join(f"{np.degrees(x):.3g}" for x in found.reversal)
    yield Text(
        f"Speeds about a reversal within which the sign of friction is in doubt, °/s: {reversal}.",
        "soft",
    )
    options = ", ".join(
        f"{key} {value}"
        for key, value in vars(found.recipe).items()
        if value not in (None, (), {}, False)
    )
    yield Text(f"Recipe: {options}.", "soft")
    yield Table(
        ("version", ""), [[k, v] for k, v in versions().items()], words=True, folded="Versions"
    )


def _cleaned(how: Cleaning) -> list[str]:
    """The choices of a cleaning as words."""
    stamps = "put on an even grid" if how.resampled else "even"
    kind = "Fourier series" if how.differentiation == "fourier" else "central differences"
    return [f"{how.cutoff:.4g}", f"{how.rate / how.step:.4g}", stamps, kind, str(how.replaced)]

"""The report of an identification.

What it is worth, what was told and what not, torques, parameters.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from armtwin.drives.friction.curves import breakaway
from armtwin.files.digests import file_name
from armtwin.identification.fitting.decomposition import RELATIVE_ERROR
from armtwin.identification.fitting.table import FittedParameter
from armtwin.identification.rigid_body.estimate import Estimate
from armtwin.identification.rigid_body.findings import not_told, reasons
from armtwin.identification.rigid_body.identification_basis import WEIGHT, basis_blocks, fall_words
from armtwin.identification.rigid_body.identification_charts import friction_charts, link_blocks
from armtwin.identification.rigid_body.judgement import Identification
from armtwin.identification.rigid_body.memory import remembers
from armtwin.identification.rigid_body.validation import shares_of
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Chart
from armtwin.notebook.drawings import matrix
from armtwin.notebook.layers import Curve, Points, Rule
from armtwin.notebook.numbers import NEWTON_METRES, PER_HUNDRED, PLAIN, Number
from armtwin.notebook.sampling import at_times, extremes
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import (
    Block,
    Column,
    Data,
    Line,
    Picture,
    Plot,
    Record,
    Report,
    Section,
    Table,
    Text,
)
from armtwin.prediction.verdicts import identification_verdict
from armtwin.robot.drive_tables import row_words

GRID, BUCKETS = 1200, 150
MOVED = 12  # parameters shown unfolded
SHOWN_IN_V = 0.125  # size of an element of V that is drawn, as in figure 4.13 of [Waiboer 2007]
STEPS = (0, 5, 10, 15, 20, 25, 30, 35, 40, 50)  # numbers of directions whose residual is listed
SHARE = Number(places=2)
PERCENT = Number(100.0, "%", places=1, signed=True)


def identification_report(result: Identification) -> Report:
    """The report of an estimate and its judgement."""
    found = result.estimate
    times = _times(result)
    sections = [
        Section("", tuple(_errors(result))),
        Section("What the logs do not tell", tuple(_untold(found))),
        Section("Torque, measured and predicted", tuple(_torques(result, times)), page_only=True),
        Section("Friction", (friction_charts(result),), page_only=True),
        Section("Masses and centres", tuple(link_blocks(found)), page_only=True),
        Section("Parameters", tuple(_parameters(found))),
        Section("Singular values", tuple(_singular(found)), page_only=True),
    ]
    if result.models is not None:
        sections.append(Section("Models side by side", tuple(_models(result))))
    sections += [
        Section("Physical consistency", tuple(_consistency(found))),
        Section("What this rests on", tuple(basis_blocks(result))),
    ]
    return Report(
        title=f"Identification of {found.prior.name}",
        subtitle=_subtitle(found),
        sections=tuple(sections),
        verdict=(identification_verdict(result),),
        series=_series(result, times),
    )


def _subtitle(found: Estimate) -> str:
    robot = found.prior.description.title or found.prior.name
    count = len(found.logs)
    logs = f"{count} log{'s' if count > 1 else ''}"
    torque = f"{found.torque_side} ({found.torque_source})"
    return f"{robot}: {logs}, {torque}, {found.recipe.estimator} estimate"


def _errors(result: Identification) -> Iterator[Block]:
    """What it is worth, joint by joint."""
    found = result.estimate
    yield Text(_settings(found))
    left_out = result.errors is not None and result.log is None
    shown = "validation" if result.log is not None else "first log"
    columns = [
        Column("name", "joint"),
        Column("nrmse_percent", shown, PER_HUNDRED),
        Column("nrmse_standing_percent", "standing", PER_HUNDRED, page_only=True),
        Column("nrmse_moving_percent", "moving", PER_HUNDRED, page_only=True),
        Column("nrmse_plain_percent", "plain", PER_HUNDRED),
        Column("nrmse_prior_percent", "prior", PER_HUNDRED),
    ]
    if left_out:
        columns += [
            Column("nrmse_unseen_percent", "left out", PER_HUNDRED),
            Column("nrmse_unseen_prior_percent", "prior there", PER_HUNDRED, page_only=True),
        ]
    columns += [
        Column("rmse_n_m", "rms", NEWTON_METRES, page_only=True),
        Column("max_n_m", "largest", NEWTON_METRES, page_only=True),
        Column("residual_n_m", "residual", NEWTON_METRES),
    ]
    joints = list(_joints(result))
    yield Data("joints", joints)
    yield Table(tuple(columns), [*joints, _mean(joints)])
    if result.left_out is not None and result.left_out.share < 1:
        yield Text(
            "The logs are long: each part left out is predicted from the middle "
            f"{100 * result.left_out.share:.0f} % of the others, and of a log of more than 100 000 "
            "samples the middle is shown.",
            "soft",
        )
    yield Text(
        "In % is what is missed, 100 ‖τ - τ̂‖ / ‖τ‖ of the measured torque: by the identified "
        "robot, by plain least squares, by the robot file (prior). The residual is the fit's."
    )
    if found.distrusted:
        yield Text(f"Trusted in spite of a check: {found.distrusted}.", "bad")
    yield Data("distrusted", found.distrusted)
    if found.fall is not None and found.fall.leans:
        yield Text(fall_words(found.fall))
    why = reasons(found, result.shown, result.fit)
    for sentence in why:
        yield Text(sentence)
    yield Data("reasons", why)
    yield from _data(result)


def _settings(found: Estimate) -> str:
    d, how = found.decomposition, found.cleaning[0]
    return (
        f"{found.torque_side} from {found.torque_source}, cut-off {how.cutoff:.4g} Hz, weight of "
        f"the robot file {WEIGHT.text(found.draw.weight)}, {d.kept} of {d.rank} directions told to "
        "10 %"
    )


def _joints(result: Identification) -> Iterator[Record]:
    """Errors of each joint."""
    found, errors = result.estimate, result.errors
    still, moving = shares_of(result.fit, found.standing(result.shown))
    for j, name in enumerate(found.prior.joint_names):
        yield {
            "name": name,
            "nrmse_percent": result.fit.nrmse[j],
            "nrmse_standing_percent": still[j],
            "nrmse_moving_percent": moving[j],
            "nrmse_plain_percent": result.plain.nrmse[j],
            "nrmse_prior_percent": result.prior.nrmse[j],
            "nrmse_unseen_percent": None if errors is None else errors[0][j],
            "nrmse_unseen_prior_percent": None if errors is None else errors[1][j],
            "rmse_n_m": result.fit.rmse[j],
            "max_n_m": result.fit.max[j],
            "residual_n_m": found.sigma[j],
            "reversal_rad_s": found.reversal[j],
            "gain_n_m_a": None if found.gains is None else found.gains[j],
        }


def _mean(joints: list[Record]) -> Record:
    """The means of the percentages, as one more row."""
    mean: dict[str, object] = {"name": "mean"}
    for key in joints[0]:
        values = [record[key] for record in joints]
        if key.endswith("_percent") and None not in values:
            mean[key] = float(np.nanmean(values))
    return mean


def _data(result: Identification) -> Iterator[Data]:
    """What else result.json says."""
    found, d = result.estimate, result.estimate.decomposition
    yield Data("robot", found.prior.name)
    yield Data("tool", found.prior.description.mounted.tool)
    yield Data("payload", found.prior.description.mounted.payload)
    yield Data("torque", {"source": found.torque_source, "side": found.torque_side})
    yield Data("judged_on", _judged_on(result))
    yield Data("unjudged", result.unjudged)
    yield Data("failed", result.failed)
    yield Data("cutoff_hz", found.cleaning[0].cutoff)
    yield Data("friction_memory", list(_memory(found)))
    yield Data(
        "decomposition",
        {
            "rank": d.rank,
            "kept": d.kept,
            "rows": d.rows,
            "deviation": d.deviation,
            "singular_values": d.singular[: d.rank],
            "g": d.g[: d.rank],
        },
    )


def _memory(found: Estimate) -> Iterator[Record]:
    """Friction elements that bend before they slide, as identified."""
    for element in found.robot.description.active_friction():
        if remembers(element):
            yield {
                "element": element.name,
                "row": row_words(element.on),
                "radius_rad": element.radius,
                "level_n_m": breakaway(element.law),
            }


def _judged_on(result: Identification) -> str:
    if result.log is not None:
        return result.log.origin or "a log"
    return "left out in turn" if result.left_out is not None else "nothing unseen"


def _untold(found: Estimate) -> Iterator[Block]:
    sentences = not_told(found)
    for sentence in sentences or ["Every parameter that a motion can tell is told by these logs."]:
        yield Text(sentence)
    yield Data("not_told", sentences)
    counts = {"alone": 0, "combined": 0, "none": 0}
    for row in found.table:
        counts[row.group] += 1
    yield Text(
        f"Of {len(found.table)} parameters any motion can tell {counts['alone']} alone, "
        f"{counts['combined']} in combinations and {counts['none']} not at all; "
        f"{found.structure.rank} base parameters stand for all of them. These logs tell "
        f"{found.decomposition.kept} directions to 10 %.",
        "soft",
    )
    columns = (Column("text", "base parameters"),)
    records = [{"text": text} for text in found.base]
    yield Table(columns, records, folded="Base parameters as combinations")
    yield Data("base", found.base)


def _times(result: Identification) -> Floats:
    """Times of the samples that are shown: an even grid and the extremes of each torque."""
    fit = result.fit
    times = [np.linspace(fit.time[0], fit.time[-1], min(GRID, len(fit.time)))]
    for torque in (fit.tau, fit.tau_hat):
        for j in range(torque.shape[1]):
            times.append(extremes(fit.time, torque[:, j], BUCKETS))
    return np.unique(np.concatenate(times))


def _series(result: Identification, times: Floats) -> dict[str, Floats]:
    fit, prior = result.fit, result.prior
    kinds = {
        "measured": fit.tau,
        "predicted": fit.tau_hat,
        "residual": fit.tau - fit.tau_hat,
        "prior residual": prior.tau - prior.tau_hat,
    }
    series = {"time": times}
    for j in range(fit.tau.shape[1]):
        for name, values in kinds.items():
            series[f"{name}{j + 1}"] = at_times(times, fit.time, values[:, j])
    return series


def _torques(result: Identification, times: Floats) -> Iterator[Block]:
    found = result.estimate
    where = file_name(result.shown.origin, "the log")
    seen = "to which it was fitted" if result.log is None else "which the fit never saw"
    yield Text(f"Shown: {where}, {seen}.")
    deviation = found.torque_deviation(result.shown)
    for j, name in enumerate(found.prior.joint_names):
        spread = float(np.sqrt((deviation[:, j] ** 2).mean()))
        lines = (
            Line("measured", f"measured{j + 1}", 6),
            Line("predicted", f"predicted{j + 1}", 0),
            Line("residual", f"residual{j + 1}", 1),
            Line("residual of the robot file", f"prior residual{j + 1}", 3, dashed=True),
        )
        caption = (
            f"{name}: {result.fit.nrmse[j]:.1f} % not explained, {result.prior.nrmse[j]:.1f} % by "
            f"the robot file; the prediction's own standard deviation is "
            f"{NEWTON_METRES.with_unit(spread)}."
        )
        yield Plot("time", "time [s]", "torque", "N m", lines, 0, len(times), caption=caption)


def _parameters(found: Estimate) -> Iterator[Block]:
    gains = ""
    if found.gains is not None:
        gains = " They hold what the drive gains, told with them, are uncertain by."
    yield Text(
        "From logs: the share of a value that the logs tell, the rest is the robot file's. "
        "To 10 %: the share of the parameter that lies in directions which the logs tell to a "
        "tenth of its size in the robot file. Standard deviations count the draw to the robot "
        f"file as knowledge; they are {found.inflation:.1f} times those of independent rows, as "
        f"estimates with parts left out lie that far apart.{gains}",
        "soft",
    )
    columns = (
        Column("name", "parameter"),
        Column("prior", "prior", PLAIN),
        Column("value", "estimate", PLAIN),
        Column("std", "std", Number(digits=2)),
        Column("change", "change", words=_change, page_only=True),
        Column("group", "a motion tells it", page_only=True),
        Column("from_logs", "from logs", SHARE),
        Column("told", "to 10 %", SHARE, page_only=True),
        Column("unit", "unit"),
    )
    yield Text("What changed most, for its uncertainty:")
    moved = sorted(found.table, key=_moved, reverse=True)
    yield Table(columns, [asdict(row) for row in moved[:MOVED]])
    everything = f"All {len(found.table)} parameters"
    yield Table(columns, [asdict(row) for row in found.table], "parameters", folded=everything)


def _moved(row: FittedParameter) -> float:
    """By how many standard deviations a parameter changed."""
    return abs(row.value - row.prior) / max(row.std, 1e-300)


def _change(record: Record) -> str:
    """Change of a value in percent of its size before."""
    before = record["prior"]
    if before == 0:
        return ""
    change = (record["value"] - before) / abs(before)
    return Number(100.0, "%", places=0, signed=True).with_unit(change)


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
        "Singular values",
        Axis("direction"),
        Axis("singular value", logarithmic=True),
        layers,
        f"Of the scaled regression ({d.rows} rows); those above the dashed line give their "
        "direction to 10 %.",
    )
    yield _residuals(found)
    names = []
    for column in d.free.basis.T:
        names.append(found.table[int(np.argmax(column))].name)
    yield Picture(
        matrix(d.V[:, :r], names, SHOWN_IN_V, "Which parameters each singular direction holds"),
        f"Which parameters each direction holds: elements of V from {SHOWN_IN_V} on, two colours "
        "for the two signs; parameters down, directions across.",
    )


def _residuals(found: Estimate) -> Table:
    """What is left of the squares after so many directions."""
    d = found.decomposition
    left = d.residuals / d.residuals[0]
    counts = sorted({d.kept, d.rank, *(k for k in STEPS if k <= d.rank)})
    columns = (
        Column("directions", "directions", Number()),
        Column("left", "residual, share of squares", Number(digits=3)),
    )
    records = [{"directions": k, "left": float(left[k])} for k in counts]
    return Table(columns, records, folded="Residual against the number of directions")


def _models(result: Identification) -> Iterator[Block]:
    models = result.models
    assert models is not None
    joints = result.estimate.prior.joint_names
    columns = [Column("model", "NRMSE %")]
    columns += [Column(name, name, Number(places=1)) for name in (*joints, "mean")]
    records = []
    for name, validation in zip(models.names, models.validation, strict=True):
        errors = dict(zip(joints, validation.nrmse, strict=True))
        mean = float(np.nanmean(validation.nrmse))
        records.append({"model": name, **errors, "mean": mean})
    yield Table(tuple(columns), records)
    columns = [Column("parameter", "parameter over its size in the prior")]
    columns += [Column(name, name, Number(places=3)) for name in models.names]
    columns.append(Column("told", "told", SHARE))
    records = []
    for k, name in enumerate(models.parameters):
        scaled = dict(zip(models.names, models.scaled[:, k], strict=True))
        records.append({"parameter": name, **scaled, "told": models.told[k]})
    yield Table(tuple(columns), records, folded="Parameters of all models")


def _consistency(found: Estimate) -> Iterator[Block]:
    yield Data("broken_by_plain", found.broken)
    if found.recipe.estimator == "consistent":
        yield Text(
            "Every link of the identified robot is a body that can exist, every rotor inertia and "
            "friction at least 0."
        )
    if found.price is not None:
        share = found.price.share
        does = "costs" if share >= 0 else "saves"
        yield Text(f"On parts left out that {does} {100 * abs(share):.2g} % of the error.")
        yield Data("contracts", asdict(found.price))
    if not found.broken:
        yield Text("Plain least squares on the same rows breaks no contract either.")
        return
    yield Text("Plain least squares on the same rows would have been refused:")
    records = [{"text": text} for text in found.broken]
    yield Table((Column("text", "what it breaks"),), records, most=3)

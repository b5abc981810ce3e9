"""What the command line shows of an identification: tables that fit into 80 columns."""

from __future__ import annotations

import numpy as np
from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from armtwin import Identification
from armtwin.app.pages import columns, number
from armtwin.identification.rigid_body.findings import not_told, reasons
from armtwin.report.identification_report import headline

LONGEST_NAME = 22
MOVED = 10  # parameters shown, those that changed most for their uncertainty


def identification_page(result: Identification) -> RenderableType:
    """Judgement, errors of the joints, what changed most, what is not told."""
    found = result.estimate
    text, tone = headline(result)
    style = {"good": "bold green", "bad": "bold red"}.get(tone, "bold")
    d, how = found.decomposition, found.cleaning[0]
    facts = (
        f"{found.torque_side} from {found.torque_source}, cut-off {how.cutoff:.4g} Hz, weight of the robot file "
        f"{found.draw.weight:.2g}, {d.kept} of {d.rank} directions told to 10 %"
    )
    parts = [Text(text, style=style), Text(facts), Text(), _errors(result), _moved(result)]
    if found.broken:
        links = [x.partition(":")[0] for x in found.broken if ":" in x]
        rest = len(found.broken) - len(links)
        more = f"{' and ' if links else ''}{rest} negative coefficients" if rest else ""
        parts.append(
            Text(f"Plain least squares would be refused: {', '.join(links)}{more} cannot exist.")
        )
    parts += [Text(f"- {x}") for x in (*reasons(found, result.shown, result.fit), *not_told(found))]
    return Group(*parts)


def _errors(result: Identification) -> RenderableType:
    """NRMSE of each joint, ours beside plain least squares and the robot file."""
    errors = result.errors
    which = "validation" if result.log is not None else "fit"
    head = ["NRMSE %", which, "plain", "prior"]
    series = [result.fit.nrmse, result.plain.nrmse, result.prior.nrmse]
    if errors is not None and result.log is None:
        head += ["left out", "prior"]
        series += list(errors)
    table = columns(*head, "residual N m")
    for j, name in enumerate(result.estimate.prior.joint_names):
        table.add_row(
            escape(_short(name)),
            *(f"{x[j]:.1f}" for x in series),
            number(result.estimate.sigma[j], digits=3),
        )
    table.add_row("mean", *(f"{np.nanmean(x):.1f}" for x in series), "")
    return table


def _moved(result: Identification) -> RenderableType:
    rows = sorted(
        result.estimate.table,
        key=lambda r: abs(r.value - r.prior) / max(r.std, 1e-300),
        reverse=True,
    )
    table = columns(
        "parameter",
        "prior",
        "estimate",
        "std",
        "from logs",
        "unit",
        title="What changed most, for its uncertainty",
    )
    for r in rows[:MOVED]:
        cells = (
            number(r.prior, digits=3),
            number(r.value, digits=3),
            number(r.std, digits=2),
            f"{r.from_logs:.2f}",
        )
        table.add_row(escape(_short(r.name)), *cells, escape(r.unit))
    return table


def _short(name: str) -> str:
    """A name that leaves room for the numbers."""
    return name if len(name) <= LONGEST_NAME else f"{name[: LONGEST_NAME - 1]}…"

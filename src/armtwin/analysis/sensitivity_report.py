"""What is shown of a sensitivity: a table with both signs, and a tornado for each feature."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from armtwin.analysis.sensitivity import Sensitivity
from armtwin.notebook.charts import Bars
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Report, Section, Table, Text

# how a feature is written: by the last words of its name
NUMBERS = {
    "overshoot": Number(100.0, "%", digits=3),
    "final": Number(100.0, "%", digits=4),
    "over tolerance": Number(100.0, "%", digits=3),
    "first peak time": Number(1e3, "ms", digits=4),
    "lateral peak": Number(1e6, "µm", digits=4),
    "vertical peak": Number(1e6, "µm", digits=4),
    "period": Number(1e3, "ms", digits=4),
    "settling": Number(1e3, "ms", digits=4),
}


def sensitivity_report(result: Sensitivity, name: str) -> Report:
    """What the features of a run depend on."""
    by = f"±{100 * result.by:g} %"
    sections = []
    stopping = [effect for effect in result.effects if effect.stops]
    if stopping:
        lines = []
        for effect in stopping:
            for which, outcome in (("smaller", effect.less), ("larger", effect.more)):
                if outcome.stopped:
                    lines.append(Text(f"{effect.key} {which}: {outcome.stopped}", "bad"))
        sections.append(Section("Changes that stop the robot", tuple(lines)))
    for feature in result.features:
        sections.append(Section(feature.capitalize(), tuple(_blocks(result, feature))))
    data = (Data("by", result.by), Data("effects", result.table))
    sections.append(Section("", data))
    strongest = result.effects[0].key
    verdict = Text(f"{result.features[0].capitalize()} depends most on {strongest}.")
    return Report(
        f"{name}: what it depends on", f"each number by {by}", tuple(sections), (verdict,)
    )


def _number(feature: str) -> Number:
    for words, number in sorted(NUMBERS.items(), key=lambda item: -len(item[0])):
        if feature.endswith(words):
            return number
    return PLAIN


def _blocks(result: Sensitivity, feature: str) -> Iterator[Block]:
    number = _number(feature)
    per_percent = Number(number.scale, f"{number.unit} per %".strip(), digits=3)
    columns = (
        Column("key", "key"),
        Column("less", "less", number),
        Column("base", "now", number),
        Column("more", "more", number),
        Column("per_percent", "sensitivity", per_percent),
    )
    records = [record for record in result.table if record["feature"] == feature]
    yield Table(columns, records)
    known = [record for record in records if _complete(record)]
    if known:
        yield _tornado(result, feature, number, known)


def _complete(record: Record) -> bool:
    return all(record[key] is not None for key in ("less", "base", "more"))


def _width(record: Record) -> float:
    """The larger change of a feature."""
    base = record["base"]
    return max(abs(record["less"] - base), abs(record["more"] - base))


def _tornado(result: Sensitivity, feature: str, number: Number, records: Sequence[Record]) -> Bars:
    wide = sorted(
        records, key=lambda r: -max(abs(r["less"] - r["base"]), abs(r["more"] - r["base"]))
    )
    low = number.scale * np.array([record["less"] for record in wide])
    high = number.scale * np.array([record["more"] for record in wide])
    by = f"{100 * result.by:g} %"
    return Bars(
        feature.capitalize(),
        Axis(feature, number.unit),
        [str(record["key"]) for record in wide],
        low,
        high,
        centre=number.scale * float(wide[0]["base"]),
        cases=(f"-{by}", f"+{by}"),
    )

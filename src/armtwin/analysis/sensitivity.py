"""What an answer depends on: numbers of a robot file changed both ways, and what that does.

    sensitivity = (feature at +x - feature at -x) / (2 x)      x in per cent

What is measured is a function of the changed numbers that is passed in: of a step response, of the
path error of a job, of anything. A change with which nothing can be measured any more is listed
as such and comes first.

Ref: [Machielsen 1983, section 8.1]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Names, OnProgress, Record
from armtwin.maths.runner import run_all, threads
from armtwin.notebook.charts import Bars
from armtwin.notebook.numbers import MILLISECONDS, PLAIN, Number
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Blocks, Data, Report, Section, Table, Text, list_columns
from armtwin.report.result import Result

Features = Mapping[str, float | None]
Measure = Callable[[Mapping[str, Any]], Features]
Moved = Callable[[str, float], dict[str, Any]]
SHARE = Number(100.0, "%", digits=3)
PEAK = Number(1e6, "µm", digits=4)
# how a feature is written: by the last words of its name
NUMBERS = {
    "overshoot": SHARE,
    "final": Number(100.0, "%", digits=4),
    "over tolerance": SHARE,
    "first peak time": MILLISECONDS,
    "lateral peak": PEAK,
    "vertical peak": PEAK,
    "period": MILLISECONDS,
    "settling": MILLISECONDS,
}


@dataclass(frozen=True)
class Outcome:
    """What became of a change.

    Attributes:
        features: What was measured, by name; a feature that there is none of is None.
        stopped: Why nothing could be measured; "" where it could.
    """

    features: Features
    stopped: str = ""


@dataclass(frozen=True)
class KeyEffect:
    """What a number does when it is smaller, and when it is larger.

    Attributes:
        key: Key path, several joined by " + " where they move together.
        less: Outcome with the number smaller.
        more: Outcome with the number larger.
    """

    key: str
    less: Outcome
    more: Outcome

    @property
    def stops(self) -> bool:
        """Whether one of the changes leaves nothing to measure."""
        return bool(self.less.stopped or self.more.stopped)


@dataclass(frozen=True, eq=False, repr=False)
class Sensitivity(Result):
    """What some features depend on.

    Attributes:
        by: Relative change that was tried, both ways.
        base: What was measured without a change.
        effects: What each number does; those that stop it first, then the strongest on the first
            feature.
        name: Of what they are features: a job, an experiment or a robot.
    """

    by: float
    base: Outcome
    effects: tuple[KeyEffect, ...]
    name: str = "sensitivity"

    @property
    def features(self) -> Names:
        """Names of the features."""
        return tuple(self.base.features)

    @property
    def table(self) -> list[Record]:
        """A record for each number and feature: smaller, unchanged, larger, per cent of change."""
        records: list[Record] = []
        for effect in self.effects:
            for name in self.features:
                low = effect.less.features.get(name)
                high = effect.more.features.get(name)
                slope = None
                if low is not None and high is not None:
                    slope = (high - low) / (200 * self.by)
                records.append(
                    {
                        "key": effect.key,
                        "feature": name,
                        "less": low,
                        "base": self.base.features[name],
                        "more": high,
                        "per_percent": slope,
                        "stopped": effect.less.stopped or effect.more.stopped,
                    }
                )
        return records

    def sections(self) -> Report:
        """Changes that stop the robot; for each feature a table with both signs and a tornado."""
        sections = [Section("Changes that stop the robot", _stops(self))]
        for feature in self.features:
            sections.append(Section(feature.capitalize(), _blocks(self, feature)))
        sections.append(Section("", (Data({"by": self.by, "effects": self.table}),)))
        strongest = self.effects[0].key
        verdict = Text(f"{self.features[0].capitalize()} depends most on {strongest}.")
        title = f"{self.name}: what it depends on"
        return Report(title, f"each number by ±{100 * self.by:g} %", tuple(sections), (verdict,))


def _stops(result: Sensitivity) -> Blocks:
    for effect in result.effects:
        for which, outcome in (("smaller", effect.less), ("larger", effect.more)):
            if outcome.stopped:
                yield Text(f"{effect.key} {which}: {outcome.stopped}", "bad")


def _number(feature: str) -> Number:
    for words, number in sorted(NUMBERS.items(), key=lambda item: -len(item[0])):
        if feature.endswith(words):
            return number
    return PLAIN


def _blocks(result: Sensitivity, feature: str) -> Blocks:
    number = _number(feature)
    per_percent = Number(number.scale, f"{number.unit} per %".strip(), digits=3)
    columns = list_columns(
        key="key",
        less=("less", number),
        base=("now", number),
        more=("more", number),
        per_percent=("sensitivity", per_percent),
    )
    records = [record for record in result.table if record["feature"] == feature]
    yield Table(columns, records)
    known = [x for x in records if None not in (x["less"], x["base"], x["more"])]
    if known:
        yield _tornado(result, feature, number, known)


def _tornado(result: Sensitivity, feature: str, number: Number, records: Sequence[Record]) -> Bars:
    """Both changes of a feature by each number, the widest first."""
    ends = number.scale * np.array([[record["less"], record["more"]] for record in records])
    centre = number.scale * float(records[0]["base"])
    order = np.argsort(-np.abs(ends - centre).max(axis=1), kind="stable")
    low, high = ends[order].T
    by = f"{100 * result.by:g} %"
    return Bars(
        feature.capitalize(),
        Axis(feature, number.unit),
        [str(records[k]["key"]) for k in order],
        low,
        high,
        centre=centre,
        cases=(f"-{by}", f"+{by}"),
    )


def sensitivity_of(
    moved: Moved,
    keys: Sequence[str],
    by: float,
    measure: Measure,
    progress: OnProgress | None = None,
) -> Sensitivity:
    """Change numbers both ways and measure what that does, several at a time.

    Args:
        moved: Gives the values of the numbers that a key names, times a factor, by key path; it
            raises an ArmtwinError for a key that names none.
        keys: The keys.
        by: Relative change, as 0.1.
        measure: Gives features for changed values by key path; it raises an ArmtwinError where a
            change leaves nothing to measure.
        progress: Called with the share that is done.
    """
    if not 0 < by < 1:
        raise ArmtwinError(f"a relative change must be between 0 and 100 %, got {100 * by:g} %")
    trials: list[Record] = [{}]
    for key in keys:
        trials.append(moved(key, 1 - by))
        trials.append(moved(key, 1 + by))
    outcomes = _measure_all(trials, measure, progress)
    base = outcomes[0]
    if base.stopped:
        raise ArmtwinError(f"without a change nothing can be measured: {base.stopped}")
    effects = []
    for k, key in enumerate(keys):
        name = " + ".join(part.strip() for part in key.split("+"))
        effects.append(KeyEffect(name, outcomes[2 * k + 1], outcomes[2 * k + 2]))
    effects.sort(key=lambda effect: -_strength(effect, base))
    return Sensitivity(by, base, tuple(effects))


def _measure_all(
    trials: Sequence[Record], measure: Measure, progress: OnProgress | None
) -> list[Outcome]:
    def outcome(values: Record) -> Outcome:
        try:
            return Outcome(measure(values))
        except ArmtwinError as error:
            return Outcome({}, str(error))

    found = []
    with threads() as executor:
        for done in run_all(outcome, trials, executor=executor):
            found.append(done)
            if progress is not None:
                progress(len(found) / len(trials))
    return found


def _strength(effect: KeyEffect, base: Outcome) -> float:
    """How strongly a number acts on the first feature; one that stops it acts most."""
    if effect.stops:
        return float("inf")
    name = next(iter(base.features))
    middle = base.features[name]
    changes = []
    for outcome in (effect.less, effect.more):
        value = outcome.features.get(name)
        if (value is None) != (middle is None):
            return float("inf")
        if value is not None and middle is not None:
            changes.append(abs(value - middle))
    return float(np.max(changes)) if changes else 0.0

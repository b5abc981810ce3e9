"""What an answer depends on: numbers of a robot file changed both ways, and what that does.

    sensitivity = (feature at +x - feature at -x) / (2 x)      x in per cent

What is measured is a function of the changed numbers that is passed in: of a step response, of the
path error of a job, of anything. A change with which nothing can be measured any more is told as
such and comes first.

Ref: [Machielsen 1983, section 8.1]
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths.runner import run_all, threads
from armtwin.notebook import cards
from armtwin.report.figures import chosen_axes, draw_tornado

if TYPE_CHECKING:
    from matplotlib.axes import Axes as Drawn

Features = Mapping[str, float | None]
Measure = Callable[[Mapping[str, Any]], Features]
Moved = Callable[[str, float], dict[str, Any]]


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


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What some features depend on.

    Attributes:
        by: Relative change that was tried, both ways.
        base: What was measured without a change.
        effects: What each number does; those that stop it first, then the strongest on the first
            feature.
    """

    by: float
    base: Outcome
    effects: tuple[KeyEffect, ...]

    @property
    def features(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(self.base.features)

    @property
    def table(self) -> list[dict[str, float | str | None]]:
        """A record for each number and feature: smaller, unchanged, larger, per cent of change."""
        records: list[dict[str, float | str | None]] = []
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

    def __repr__(self) -> str:
        keys = cards.counted(len(self.effects), "number")
        return cards.line("Sensitivity", keys, f"by ±{100 * self.by:g} %", *self.features)

    def _repr_html_(self) -> str:
        rows = []
        for record in self.table:
            cells = ["-" if x is None else f"{x:.4g}" for x in _numbers(record)]
            rows.append((str(record["key"]), str(record["feature"]), *cells))
        heads = ("key", "feature", "less", "base", "more", "per %")
        return cards.table(repr(self), rows, heads)

    def plot(self, *, axes: Drawn | Sequence[Drawn] | None = None) -> list[Drawn]:
        """Draw a tornado for each feature.

        Args:
            axes: One for each feature; new ones where none are given.
        """
        chosen = chosen_axes(axes, len(self.features), sharex=False)
        for axis, feature in zip(chosen, self.features, strict=True):
            now = self.base.features[feature]
            ends = {}
            for record in self.table:
                less, more = record["less"], record["more"]
                if record["feature"] == feature and None not in (less, now, more):
                    ends[str(record["key"])] = (float(less), float(more))  # type: ignore[arg-type]
            if now is not None and ends:
                wide = sorted(ends, key=lambda key: -max(abs(x - now) for x in ends[key]))
                draw_tornado(axis, feature, {key: ends[key] for key in wide}, now)
        return chosen


def _numbers(record: Mapping[str, Any]) -> list[float | None]:
    return [record[key] for key in ("less", "base", "more", "per_percent")]


def sensitivity_of(
    moved: Moved,
    keys: Sequence[str],
    by: float,
    measure: Measure,
    progress: Callable[[float], None] | None = None,
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
    trials: list[dict[str, Any]] = [{}]
    for key in keys:
        trials.append(moved(key, 1 - by))
        trials.append(moved(key, 1 + by))
    outcomes = _measured(trials, measure, progress)
    base = outcomes[0]
    if base.stopped:
        raise ArmtwinError(f"without a change nothing can be measured: {base.stopped}")
    effects = []
    for k, key in enumerate(keys):
        name = " + ".join(part.strip() for part in key.split("+"))
        effects.append(KeyEffect(name, outcomes[2 * k + 1], outcomes[2 * k + 2]))
    effects.sort(key=lambda effect: -_strength(effect, base))
    return Sensitivity(by, base, tuple(effects))


def _measured(
    trials: Sequence[dict[str, Any]], measure: Measure, progress: Callable[[float], None] | None
) -> list[Outcome]:
    def outcome(values: dict[str, Any]) -> Outcome:
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

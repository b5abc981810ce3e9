"""Which assumed number of a robot file would change the answer most."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.writing import to_tables
from armtwin.jobs.job import Job
from armtwin.prediction.predict import Prediction
from armtwin.robot.provenance import Origin

CHANGE = 0.1  # relative change that is tried
IDLE = ("limits", "rate", "name")  # words of keys that do not act in a run
GEOMETRY = ("origin", "tcp", "axis", "orientation", "position", "com", "about")
WORDS = ("source", "on", "kind", "law")
LEFT_ALONE = {*GEOMETRY, *WORDS}


@dataclass(frozen=True)
class Sensitivity:
    """What a change of an assumed number does.

    Attributes:
        key: Key path in the robot file.
        change: Relative change that was tried.
        effect: Relative change of the largest error over its tolerance; inf where the run then
            stops.
        source: Where the number comes from.
    """

    key: str
    change: float
    effect: float
    source: str


def sensitivities(
    prediction: Prediction, ratios: Callable[[Sequence[Job]], Sequence[float]], most: int = 5
) -> tuple[Sensitivity, ...]:
    """The assumed numbers that change the largest error most when each is made larger by a tenth.

    Args:
        prediction: What is changed.
        ratios: Gives the largest error over its tolerance of each of several jobs.
        most: How many to tell.
    """
    base = ratios([prediction.job])[0]
    if not np.isfinite(base):
        return ()
    origins: list[Origin] = []
    jobs: list[Job] = []
    for origin in prediction.assumed:
        changed = _with_larger(prediction, origin)
        if changed is not None:
            origins.append(origin)
            jobs.append(changed)
    found = []
    for origin, ratio in zip(origins, ratios(jobs), strict=True):
        if np.isfinite(ratio):
            found.append(Sensitivity(origin.path, CHANGE, ratio / base - 1, origin.text))
    found.sort(key=lambda x: -abs(x.effect))
    return tuple(found[:most])


def _with_larger(prediction: Prediction, origin: Origin) -> Job | None:
    """The job with an assumed number larger; None where it does not act or cannot be larger."""
    if any(word in origin.path for word in IDLE):
        return None
    larger = dict(_larger(to_tables(prediction.robot.description), origin.path))
    if not larger:
        return None
    job = prediction.job
    override = {**job.description.override, **larger}
    changed = Job(replace(job.description, override=override), job.origin)
    try:
        changed.robot(prediction.given)
    except ArmtwinError:  # a body that cannot exist, a rate that does not divide
        return None
    return changed


def _larger(tables: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """Key paths and enlarged values of all numbers at or below a path.

    Poses and axes are left alone.
    """
    here: Any = tables
    steps = []
    for word in path.split("."):
        found = _step(here, word)
        if found is None:
            return
        here, way = found
        steps.append(way)
    yield from _numbers(here, ".".join(steps))


def _step(here: Any, word: str) -> tuple[Any, str] | None:
    """What a word of a path leads to.

    The way there: an item by name, a key, a key one group below.
    """
    if isinstance(here, list):
        for item in here:
            if isinstance(item, dict) and item.get("name", item.get("joint")) == word:
                return item, word
        return None
    if not isinstance(here, dict):
        return None
    if word in here:
        return here[word], word
    for outer, group in here.items():
        if isinstance(group, dict) and word in group:
            return group[word], f"{outer}.{word}"
    return None


def _numbers(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    """All numbers of a value, made larger, with their paths."""
    if path.rpartition(".")[2] in LEFT_ALONE or isinstance(value, bool | str):
        return
    if isinstance(value, int | float):
        yield path, (1 + CHANGE) * value
    elif isinstance(value, list) and value and all(isinstance(x, int | float) for x in value):
        yield path, [(1 + CHANGE) * x for x in value]
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{path}.{key}")

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

CHANGE = 0.1  # relative change that is tried
IDLE = ("limits", "rate", "name")  # words of keys that do not act in a run


@dataclass(frozen=True)
class Sensitivity:
    """What a change of an assumed number does.

    Attributes:
        key: Key path in the robot file.
        change: Relative change that was tried.
        effect: Relative change of the largest error over its tolerance; inf where the run then stops.
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
    job, base = prediction.job, ratios([prediction.job])[0]
    if not np.isfinite(base):
        return ()
    keys, jobs, sources = [], [], []
    for origin in prediction.assumed:
        if any(word in origin.path for word in IDLE):
            continue
        larger = dict(_larger(to_tables(prediction.robot.description), origin.path))
        if not larger:
            continue
        changed = Job(
            replace(job.description, override={**job.description.override, **larger}), job.origin
        )
        try:
            changed.robot(prediction.given)
        except ArmtwinError:  # a body that cannot exist, a rate that does not divide
            continue
        keys.append(origin.path)
        jobs.append(changed)
        sources.append(origin.text)
    found = [
        Sensitivity(key, CHANGE, ratio / base - 1, source)
        for key, ratio, source in zip(keys, ratios(jobs), sources, strict=True)
        if np.isfinite(ratio)
    ]
    return tuple(sorted(found, key=lambda x: -abs(x.effect))[:most])


def _larger(tables: dict[str, Any], path: str) -> Iterator[tuple[str, Any]]:
    """Key paths and enlarged values of all numbers at or below a path; poses and axes are left alone."""
    here: Any = tables
    for word in path.split("."):
        if isinstance(here, list):
            names = [
                item.get("name", item.get("joint")) if isinstance(item, dict) else None
                for item in here
            ]
            if word not in names:
                return
            here = here[names.index(word)]
        elif isinstance(here, dict) and word in here:
            here = here[word]
        elif isinstance(here, dict) and any(
            isinstance(x, dict) and word in x for x in here.values()
        ):
            outer = next(key for key, x in here.items() if isinstance(x, dict) and word in x)
            path = path.removesuffix(f".{word}") + f".{outer}.{word}"
            here = here[outer][word]
        else:
            return
    yield from _numbers(here, path)


def _numbers(value: Any, path: str) -> Iterator[tuple[str, Any]]:
    last = path.rpartition(".")[2]
    if last in (
        "origin",
        "tcp",
        "axis",
        "orientation",
        "position",
        "source",
        "on",
        "com",
        "about",
        "kind",
        "law",
    ):
        return
    if isinstance(value, bool | str):
        return
    if isinstance(value, int | float):
        yield path, (1 + CHANGE) * value
    elif isinstance(value, list) and value and all(isinstance(x, int | float) for x in value):
        yield path, [(1 + CHANGE) * x for x in value]
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from _numbers(item, f"{path}.{key}")

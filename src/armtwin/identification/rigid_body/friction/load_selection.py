"""Which gears the logs ask to rub by their load."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armtwin.identification.fitting.comparison import by_the_others, gain
from armtwin.identification.rigid_body.data.clean_log import Motion
from armtwin.identification.rigid_body.data.experiment import Experiment
from armtwin.identification.rigid_body.friction.terms import Host, Terms
from armtwin.identification.rigid_body.friction.trials import Missed, Trial
from armtwin.robot.dynamics.loaded_friction import load_of

# of a load that friction takes at most: gears but worms pass on two thirds and more of their torque
MOST_SHARE = 0.5
THINNED = 10  # samples of which one tells the usual load


def usual_loads(some: Experiment, places: Sequence[Host]) -> dict[int, float]:
    """Root mean square of the loads of hosts with a gear of their own, by their place [N m]."""
    geared = [place for place, host in enumerate(places) if host.geared]
    if some.carried is None or not geared:
        return {}
    motions = [log.motion.at(slice(None, None, THINNED)) for log in some.clean]
    on_links = some.model.on_links(Motion.joined(motions))
    usual = {}
    for place in geared:
        load = load_of(some.prior.assembly, on_links, places[place].row)
        mean = float(np.sqrt((load**2).mean()))
        if mean > 0:
            usual[place] = mean
    return usual


def load_terms(
    places: Sequence[Host],
    usual: dict[int, float],
    radii: dict[int, float],
    *,
    damped: bool = False,
) -> Terms:
    """A load of every host with a gear of its own, with the memory of its place if it has one."""
    found = []
    for place, load in usual.items():
        found.append(places[place].load(load, radii.get(place), damped=damped))
    return tuple(found)


def with_loads(
    trial: Trial, taken: Sequence[int], first: int, errors: dict[str, float]
) -> list[int]:
    """Terms that were taken, and those that follow loads where parts are predicted better so.

    They are added one after the other, the one that gains most first. Whether friction follows
    loads is one question for the whole robot, whose gears are of a kind. Loads are those of one fit
    to all parts: gravity is known much better than friction.

    Args:
        trial: The terms.
        taken: Numbers of the terms that were taken; one that would no more resist is given up.
        first: Number of the first term that follows a load.
        errors: What was tried, added to.
    """
    options, squares = [], []
    numbers, rest = list(taken), list(range(first, len(trial.terms)))
    while rest:
        found = _one_more(trial, numbers, rest)
        if found is None:
            break
        added, numbers, missed = found
        rest.remove(added)
        options.append(numbers)
        squares.append(missed)
    if not options:
        return list(taken)
    best = trial.best(squares)
    errors["with the loads of gears"] = trial.share(squares[best])
    if not gain(trial.missed(taken), by_the_others(squares)).shows:
        return list(taken)
    return options[best]


def _one_more(
    trial: Trial, taken: Sequence[int], offered: Sequence[int]
) -> tuple[int, list[int], Missed] | None:
    """The offered term that gains most: it, all that are then taken, and the squares missed.

    None where none resists as a gear does that is no worm.
    """
    added, options, squares = [], [], []
    for k in offered:
        numbers = trial.positive([*taken, k])
        if k in numbers and trial.parameters(numbers)[-len(trial.terms) + k] < MOST_SHARE:
            added.append(k)
            options.append(numbers)
            squares.append(trial.missed(numbers))
    if not added:
        return None
    best = trial.best(squares)
    return added[best], options[best], squares[best]

"""Selection of pre-sliding friction: pre-sliding distances of contacts, and their damping."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from armtwin.identification.fitting.comparison import by_the_others, gain
from armtwin.identification.fitting.tried import vertex
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.friction.terms import Host, Terms
from armtwin.identification.rigid_body.friction.trials import Missed, Trial, trial_of

RADII = tuple(np.logspace(-5, -2, 16).tolist())  # tried [rad]
WIDER = tuple((RADII[1] / RADII[0]) ** k for k in (-0.5, 0, 0.5, 1, 1.5, 2))  # with damping


def memory_terms(places: Sequence[Host], radii: Sequence[float]) -> Terms:
    """Pre-sliding terms of every distance for every host."""
    found = []
    for host in places:
        for radius in radii:
            found.append(host.memory(radius))
    return tuple(found)


def best_memory(
    trial: Trial, places: int, radii: int, errors: dict[str, float]
) -> dict[int, tuple[float, bool]]:
    """Best pre-sliding distance [rad] of each host that gets one, and whether it is identified.

    One distance for all is found first, then each host's own. Where joints are never at rest, the
    least distance acts as a sharper sign of the speed; others must do better than that, too.
    """
    if not radii:
        return {}
    numbers, squares = [], []
    for r in range(radii):
        every = trial.positive([radii * host + r for host in range(places)])
        numbers.append(every)
        squares.append(trial.missed(every))
    best = trial.best(squares)
    errors["with one pre-sliding distance for all"] = trial.share(squares[best])
    rivals = [trial.missed(())]
    if not trial.stands:
        rivals.append(squares[0])
    rival = rivals[trial.best(rivals)]
    if not gain(rival, by_the_others(squares)).shows:
        return {}
    larger = gain(squares[0], squares[best]).shows
    finer = vertex(RADII, [trial.share(residual) for residual in squares])
    chosen = dict.fromkeys(range(places), -1)
    for k in numbers[best]:
        chosen[k // radii] = k % radii
    residual = _with_own_radii(trial, chosen, radii, squares[best])
    errors["with pre-sliding hysteresis"] = trial.share(residual)
    found = {}
    for host, r in chosen.items():
        if r >= 0:
            found[host] = finer if r == best else RADII[r], larger and r > 0
    return found


def _with_own_radii(trial: Trial, chosen: dict[int, int], radii: int, before: Missed) -> Missed:
    """Residual squares where each host has a distance of its own, or none, that does better.

    Args:
        trial: The terms.
        chosen: Number of the distance of each host, -1 for none; changed where another is better.
        radii: Number of distances.
        before: Residual squares as chosen before.
    """
    for host in chosen:
        options, squares = [], []
        for r in range(-1, radii):
            numbers = _numbers({**chosen, host: r}, radii)
            if trial.positive(numbers) == numbers:
                options.append(r)
                squares.append(trial.missed(numbers))
        if squares and gain(before, by_the_others(squares)).shows:
            best = trial.best(squares)
            chosen[host], before = options[best], squares[best]
    return before


def _numbers(chosen: dict[int, int], radii: int) -> list[int]:
    """Numbers of the terms from the distance of each host."""
    found = []
    for host in sorted(chosen):
        if chosen[host] >= 0:
            found.append(radii * host + chosen[host])
    return found


def damped_radii(
    some: IdentificationData,
    places: Sequence[Host],
    memory: dict[int, tuple[float, bool]],
    errors: dict[str, float],
) -> float | None:
    """Factor of pre-sliding distances with the file's damping; None where that is no better.

    The torque of a damped contact reverses sooner than its pre-sliding distance alone gives.
    """
    if not any(places[place].is_damped for place in memory):
        return None
    terms: Terms = tuple(places[place].memory(radius) for place, (radius, _) in memory.items())
    for factor in WIDER:
        for place, (radius, _) in memory.items():
            terms += (places[place].memory(factor * radius, damped=True),)
    trial = trial_of(some, terms)
    size = len(memory)
    shares = []
    for first in range(0, len(terms), size):
        numbers = trial.positive(range(first, first + size))
        shares.append(trial.share(trial.missed(numbers)))
    errors["with pre-sliding hysteresis and its damping"] = min(shares[1:])
    if min(shares[1:]) >= shares[0]:
        return None
    return vertex(WIDER, shares[1:])

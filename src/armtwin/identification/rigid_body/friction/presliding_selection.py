"""Selection of pre-sliding friction: pre-sliding distances of contacts, and their damping."""

from collections.abc import Sequence

import numpy as np

from armtwin.identification.fitting.comparison import cross_validate, estimate_gain
from armtwin.identification.fitting.parabola import find_vertex
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.friction.terms import Host, Terms
from armtwin.identification.rigid_body.friction.trials import Trial, prepare_trial
from armtwin.maths.batch import NamedNumbers

DISTANCES = tuple(np.logspace(-5, -2, 16).tolist())  # tried [rad]
WIDER = tuple((DISTANCES[1] / DISTANCES[0]) ** k for k in (-0.5, 0, 0.5, 1, 1.5, 2))  # with damping


def build_presliding_terms(places: Sequence[Host], distances: Sequence[float]) -> Terms:
    """Pre-sliding terms of every distance for every host."""
    found = []
    for host in places:
        for distance in distances:
            found.append(host.memory(distance))
    return tuple(found)


def choose_distances(
    trial: Trial, places: int, distances: int, errors: NamedNumbers
) -> dict[int, tuple[float, bool]]:
    """Best pre-sliding distance [rad] of each host that gets one, and whether it is identified.

    One distance for all is found first, then each host's own. Where joints are never at rest, the
    least distance acts as a sharper sign of the speed; others must do better than that, too.
    """
    if not distances:
        return {}
    firsts = range(0, distances * places, distances)
    numbers, squares = [], []
    for r in range(distances):
        every = trial.positive([first + r for first in firsts])
        numbers.append(every)
        squares.append(trial.missed(every))
    best = trial.best(squares)
    errors["with one pre-sliding distance for all"] = trial.share(squares[best])
    rivals = [trial.missed(())]
    if not trial.is_often_at_rest:
        rivals.append(squares[0])
    rival = rivals[trial.best(rivals)]
    if not estimate_gain(rival, cross_validate(squares)).is_significant:
        return {}
    larger = estimate_gain(squares[0], squares[best]).is_significant
    finer = find_vertex(DISTANCES, [trial.share(residual) for residual in squares])
    own = trial.choose_own(numbers[best], [range(k, k + distances) for k in firsts])
    errors["with pre-sliding hysteresis"] = trial.share(trial.missed(own))
    found = {}
    for host, r in (divmod(k, distances) for k in own):
        found[host] = finer if r == best else DISTANCES[r], larger and r > 0
    return found


def choose_damped_distances(
    some: IdentificationData,
    places: Sequence[Host],
    presliding: dict[int, tuple[float, bool]],
    errors: NamedNumbers,
) -> float | None:
    """Factor of pre-sliding distances with the file's damping; None where that is no better.

    The torque of a damped contact reverses sooner than its pre-sliding distance alone gives.
    """
    if not any(places[place].is_damped for place in presliding):
        return None
    terms: Terms = tuple(
        places[place].memory(distance) for place, (distance, _) in presliding.items()
    )
    for factor in WIDER:
        for place, (distance, _) in presliding.items():
            terms += (places[place].memory(factor * distance, damped=True),)
    trial = prepare_trial(some, terms)
    size = len(presliding)
    shares = []
    for first in range(0, len(terms), size):
        numbers = trial.positive(range(first, first + size))
        shares.append(trial.share(trial.missed(numbers)))
    errors["with pre-sliding hysteresis and its damping"] = min(shares[1:])
    if min(shares[1:]) >= shares[0]:
        return None
    return find_vertex(WIDER, shares[1:])

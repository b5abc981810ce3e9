"""Selection of friction terms: those with which left-out parts are predicted better.

Every comparison is made part by part, and of several options each part is predicted with the one
that the other parts find best. What is taken must do better by a significant gain.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.fitting.comparison import cross_validate, estimate_gain
from armtwin.identification.rigid_body.data import experiment as data
from armtwin.identification.rigid_body.data.clean_log import CleanLog, Motion
from armtwin.identification.rigid_body.friction import trials
from armtwin.identification.rigid_body.friction.terms import Host, Terms, find_hosts
from armtwin.maths.batch import Floats, NamedNumbers
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.dynamics.load_friction import load_of

# of a load that friction takes at most: gears but worms transmit two thirds of their torque or more
MOST_SHARE = 0.5
THINNED = 10  # samples of which one is used for the usual load


def estimate_usual_loads(some: data.IdentificationData, places: Sequence[Host]) -> dict[int, float]:
    """Root mean square of the loads of hosts with a gear of their own, by their place [N m]."""
    geared = [place for place, host in enumerate(places) if host.geared]
    if some.carried is None or not geared:
        return {}
    motions = [log.motion.at(slice(None, None, THINNED)) for log in some.clean]
    on_links = some.model.on_links(Motion.join(motions))
    usual = {}
    for place in geared:
        load = load_of(some.prior.assembly, on_links, places[place].row)
        mean = float(np.sqrt((load**2).mean()))
        if mean > 0:
            usual[place] = mean
    return usual


def build_load_terms(
    places: Sequence[Host],
    usual: dict[int, float],
    distances: dict[int, float],
    *,
    damped: bool = False,
) -> Terms:
    """A load term of every host with a gear of its own, with its pre-sliding distance if any."""
    return tuple(
        places[place].load(load, distances.get(place), damped=damped)
        for place, load in usual.items()
    )


def add_load_terms(
    trial: trials.Trial, taken: Sequence[int], first: int, errors: NamedNumbers
) -> list[int]:
    """Terms that were taken, and those that follow loads where parts are predicted better so.

    They are added one after the other, the one that gains most first. Whether friction follows
    loads is one question for the whole robot, whose gears are of a kind. Loads are those of one fit
    to all parts: gravity is known much better than friction.

    Args:
        trial: The terms.
        taken: Numbers of the terms that were taken; one that would no longer resist is dropped.
        first: Number of the first term that follows a load.
        errors: What was tried, added to.
    """
    options, squares = [], []
    numbers, rest = list(taken), list(range(first, len(trial.terms)))
    while rest:
        found = _add_best_term(trial, numbers, rest)
        if found is None:
            break
        added, numbers, residual = found
        rest.remove(added)
        options.append(numbers)
        squares.append(residual)
    if not options:
        return list(taken)
    best = trial.best(squares)
    errors["with friction by gear load"] = trial.share(squares[best])
    if not estimate_gain(trial.missed(taken), cross_validate(squares)).is_significant:
        return list(taken)
    return options[best]


def _add_best_term(
    trial: trials.Trial, taken: Sequence[int], offered: Sequence[int]
) -> tuple[int, list[int], trials.ResidualSquares] | None:
    """The offered term that gains most: it, all that are then taken, and residual squares.

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


DECREASES = (0.03, 0.1)  # of the highest speed within which dry friction may decrease
ROOTS = (1 / 3, 1 / 2, 2 / 3, 4 / 5)  # exponents of the speed that are tried
SAMPLES = 6000  # of all logs on which terms are compared, more than short logs have
STRETCHES = 6  # of all logs that these are spread over, or one of each
LEAST_STRETCH = 100  # samples at least of one stretch
COMMAND_ENDINGS = ("_des", "_ref", "_ff", "_cmd", "_target")


def is_command(channel: str) -> bool:
    """Whether a channel is a command of the controller, in which no contact shows."""
    return channel.endswith(COMMAND_ENDINGS)


@dataclass(frozen=True, eq=False)
class FrictionSelection:
    """Friction terms that were chosen.

    Attributes:
        terms: The terms.
        errors: Relative error of left-out torque, mean of the joints, by what was tried.
        carried: Parameters of what lies beyond the gears, by the fit with these terms, (p,); None
            where nothing was fitted.
        told: For each pre-sliding term whether its distance is identified, or only bounded.
    """

    terms: Terms
    errors: NamedNumbers
    carried: Floats | None = None
    told: tuple[bool, ...] = ()

    @property
    def has_presliding(self) -> bool:
        """Whether friction has pre-sliding hysteresis."""
        return len(self.told) > 0


@one_blas_thread()
def select_friction_terms(experiment: data.IdentificationData) -> FrictionSelection:
    """The friction terms that predict left-out parts better than the robot's own laws alone.

    A reference is not the travel of a contact, so that none is looked for in it.
    """
    if not experiment.recipe.chooses_friction:
        return FrictionSelection((), {})
    some = _thin_rows(experiment)
    places = find_hosts(some.prior, some.recipe, data.find_highest_speeds(some.clean))
    if not places:
        return FrictionSelection((), {})
    usual = estimate_usual_loads(some, places)
    distances = () if is_command(some.source) else trials.DISTANCES
    kept = trials.build_presliding_terms(places, distances)
    added = _build_shape_terms(places, {}) + build_load_terms(places, usual, {})
    trial = trials.prepare_trial(some, kept + added)
    errors = {"the laws of the file": trial.share(trial.missed(()))}
    presliding = trials.choose_distances(trial, len(places), len(distances), errors)
    first = len(kept)
    numbers: list[int] = []
    if presliding and _shape_suffices(trial, presliding, len(places)):
        presliding = {}
    if presliding:
        wider = trials.choose_damped_distances(some, places, presliding, errors)
        damped = wider is not None
        distances_of = {
            place: (wider or 1.0) * distance for place, (distance, _) in presliding.items()
        }
        kept = tuple(places[place].memory(r, damped=damped) for place, r in distances_of.items())
        added = _build_shape_terms(places, distances_of, damped=damped)
        added += build_load_terms(places, usual, distances_of, damped=damped)
        trial = trials.prepare_trial(some, kept + added)
        first = len(kept)
        numbers = list(range(first))
    numbers += _choose_shape(trial, numbers, first, len(places), errors)
    numbers = add_load_terms(trial, numbers, len(trial.terms) - len(usual), errors)
    own = trial.parameters(numbers)[: len(some.prior.parameters)]
    identified = [identified for _, identified in presliding.values()]
    return FrictionSelection(
        terms=tuple(trial.terms[k] for k in numbers),
        errors=errors,
        carried=data.beyond_gears(some.prior, own),
        told=tuple(identified[k] for k in numbers if k < len(identified)),
    )


def _thin_rows(experiment: data.IdentificationData) -> data.IdentificationData:
    """The data with all rows, of stretches spread over the logs where these are long."""
    samples = sum(len(log.clean.time) for log in experiment.clean)
    if samples <= SAMPLES:
        return experiment.with_all_rows()
    of_each_log = -(-STRETCHES // len(experiment.clean))
    clean: list[CleanLog] = []
    for log in experiment.clean:
        length = SAMPLES * len(log.clean.time) // (samples * of_each_log)
        clean += log.stretches(of_each_log, max(LEAST_STRETCH, length))
    return replace(experiment, clean=tuple(clean)).with_all_rows()


def _build_shape_terms(
    places: Sequence[Host], distances: dict[int, float], *, damped: bool = False
) -> Terms:
    """For every shape a term of each host, a decrease with its pre-sliding distance if any."""
    found = []
    for share in DECREASES:
        for place, host in enumerate(places):
            found.append(host.fall(share, distances.get(place), damped=damped))
    for exponent in ROOTS:
        for host in places:
            found.append(host.root(exponent))
    return tuple(found)


def _shape_suffices(
    trial: trials.Trial, presliding: dict[int, tuple[float, bool]], places: int
) -> bool:
    """Whether a dependence on speed predicts better, and pre-sliding beside it adds nothing.

    Friction that decreases towards rest looks like a deflecting contact where joints never rest.
    """
    shape = _choose_shape(trial, (), places * len(trials.DISTANCES), places, {})
    if not shape:
        return False
    deflecting = []
    for place, (distance, _) in presliding.items():
        nearest = int(np.argmin(np.abs(np.log(trials.DISTANCES) - np.log(distance))))
        deflecting.append(len(trials.DISTANCES) * place + nearest)
    both = trial.positive([*deflecting, *shape])
    return not estimate_gain(trial.missed(shape), trial.missed(both)).is_significant


def _choose_shape(
    trial: trials.Trial, presliding: Sequence[int], first: int, places: int, errors: NamedNumbers
) -> list[int]:
    """Terms of the shape that does better, none where none does.

    It is the same for all hosts but those whose own friction or rotor another one keeps positive.

    Args:
        trial: The terms.
        presliding: Numbers of the pre-sliding terms that were taken.
        first: Number of the first term with a shape.
        places: Number of hosts.
        errors: What was tried, added to.
    """
    options, squares = [], []
    for words, numbers in _shapes(first, places):
        kept = [k for k in trial.positive([*presliding, *numbers]) if k not in presliding]
        if not kept:
            continue
        residual = trial.missed([*presliding, *kept])
        errors[f"with {words}"] = trial.share(residual)
        options.append(kept)
        squares.append(residual)
    if (
        not squares
        or not estimate_gain(trial.missed(presliding), cross_validate(squares)).is_significant
    ):
        return []
    shapes = len(DECREASES) + len(ROOTS)
    of_hosts = [range(first + host, first + shapes * places, places) for host in range(places)]
    return trial.avoid_negative(options[trial.best(squares)], of_hosts, presliding)


def _shapes(first: int, places: int) -> Iterator[tuple[str, list[int]]]:
    """Words for every shape, and the numbers of its terms."""
    words = [f"a decrease within {100 * share:g} % of the highest speed" for share in DECREASES]
    words += [f"the power {exponent:.2g} of the speed" for exponent in ROOTS]
    for k, word in enumerate(words):
        start = first + k * places
        yield word, list(range(start, start + places))

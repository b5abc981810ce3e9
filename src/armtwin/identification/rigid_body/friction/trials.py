"""Friction terms tried on left-out parts, the squares of all of them computed once.

Selection of pre-sliding friction: pre-sliding distances of contacts, and their damping.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting import regularisation as regularising
from armtwin.identification.fitting.comparison import cross_validate, estimate_gain, find_vertex
from armtwin.identification.fitting.factors import FreeDirections
from armtwin.identification.fitting.squares import LeftOutParts, Squares, prepare_left_out_parts
from armtwin.identification.rigid_body.data import experiment as data
from armtwin.identification.rigid_body.friction.terms import Host, Terms
from armtwin.maths.batch import Flags, Floats, NamedNumbers

PARTS = 12  # left out in turn, enough to estimate a standard error to 20 %
# share of the samples at rest above which logs show that friction keeps its sign at rest
REST_SHARE = 0.05
LEAST_WEIGHT = 1e-8  # of the prior

ResidualSquares = Floats  # residual squares of each part and joint, (parts, n)


@dataclass(frozen=True, eq=False)
class Trial:
    """All terms that may be chosen, their squares computed once.

    Attributes:
        is_often_at_rest: Whether the joints rest often enough to show that friction keeps its sign.
        terms: The terms, in the order of the last coordinates.
        free: The free directions of all, as regularised.
        squares: Squares of the parts.
        resists: Which of the robot's own parameters are never negative, (p,).
    """

    is_often_at_rest: bool
    terms: Terms
    free: FreeDirections
    squares: LeftOutParts
    resists: Flags

    def missed(self, chosen: Sequence[int]) -> ResidualSquares:
        """Residual squares of each part and joint with the chosen terms, (parts, n)."""
        return self.squares.missed(chosen)

    def share(self, residual: ResidualSquares) -> float:
        """Relative error of the left-out torque, mean of the joints."""
        return float(np.exp(0.5 * self._error(residual)))

    def best(self, options: Sequence[ResidualSquares]) -> int:
        """Number of the option with the least residual squares."""
        return int(np.argmin([self._error(residual) for residual in options]))

    def positive(self, chosen: Sequence[int]) -> list[int]:
        """Those of the chosen terms whose friction resists."""
        kept = list(chosen)
        while kept:
            values = self.squares.values(kept)[self.squares.always :]
            resisting = [k for k in kept if values[k] > 0]
            if resisting == kept:
                break
            kept = resisting
        return kept

    def choose_own(self, chosen: Sequence[int], options: Sequence[Sequence[int]]) -> list[int]:
        """Chosen terms, where each host has the one of its own options, or none, that does better.

        Args:
            chosen: Numbers of the terms that were chosen for all hosts alike.
            options: Numbers of the terms that are options of each host.
        """
        found = sorted(chosen)
        before = self.missed(found)
        for own in options:
            tried = self._list_options(found, own, ())
            squares = [self.missed(numbers) for numbers in tried]
            if tried and estimate_gain(before, cross_validate(squares)).is_significant:
                best = self.best(squares)
                found, before = tried[best], squares[best]
        return found

    def avoid_negative(
        self, chosen: Sequence[int], options: Sequence[Sequence[int]], taken: Sequence[int]
    ) -> list[int]:
        """Chosen terms, others where these predict alike beside fewer negative parameters.

        What a term takes from rotor inertias or friction the constraints would give back.

        Args:
            chosen: Numbers of the terms that were chosen for all hosts alike.
            options: Numbers of the terms that are options of each host.
            taken: Numbers of terms that are there in any case.
        """
        found = sorted(chosen)
        for own in options:
            before = self.count_negative([*taken, *found])
            tried = []
            for numbers in self._list_options(found, own, taken):
                tried.append((self.count_negative([*taken, *numbers]), numbers))
            fewest = min((count for count, _ in tried), default=before)
            if fewest >= before:
                continue
            better = [numbers for count, numbers in tried if count == fewest]
            squares = [self.missed([*taken, *numbers]) for numbers in better]
            best = self.best(squares)
            here = self.missed([*taken, *found])
            if not estimate_gain(squares[best], here).is_significant:
                found = better[best]
        return found

    def _list_options(
        self, chosen: Sequence[int], own: Sequence[int], taken: Sequence[int]
    ) -> list[list[int]]:
        """Chosen terms with none and each of one host's own, where all terms resist."""
        others = [k for k in chosen if k not in own]
        found = []
        for numbers in (others, *(sorted([*others, k]) for k in own)):
            every = [*taken, *numbers]
            if self.positive(every) == every:
                found.append(numbers)
        return found

    def count_negative(self, chosen: Sequence[int]) -> int:
        """Number of the robot's rotor inertias and friction below zero in a fit to all parts."""
        own = self.parameters(chosen)[: len(self.resists)]
        return int((own[self.resists] < 0).sum())

    def parameters(self, chosen: Sequence[int]) -> Floats:
        """Parameters of the robot and of all terms in a fit to all parts with the chosen ones."""
        return self.free.parameters(self.squares.values(chosen))

    def _error(self, residual: ResidualSquares) -> float:
        """ln of the residual squares over those of the torque, mean of the joints."""
        return float(np.log(residual.sum(axis=0) / self.squares.power).mean())


def prepare_trial(some: data.IdentificationData, terms: Terms) -> Trial:
    """The squares of left-out parts with all terms."""
    wide = some.with_terms(terms)
    parts = wide.squares(PARTS)
    gains = wide.gains(parts.whole()) if wide.needs_gains else None
    if gains is not None:
        parts = parts.scaled(gains)
    sigma, regularisation = _fit_without_terms(
        some, parts.first_columns(*some.model.combination.shape)
    )
    sized = wide.free.scaled(wide.friction, regularisation.family_size)
    weight = max(regularisation.weight, LEAST_WEIGHT)
    squares = prepare_left_out_parts(parts, sized, sigma, weight, always=some.free.count)
    resists = np.array([parameter.resists for parameter in some.prior.parameter_table])
    return Trial(_is_often_at_rest(some), terms, sized, squares, resists)


def _fit_without_terms(
    some: data.IdentificationData, parts: Squares
) -> tuple[Floats, regularising.Regularisation]:
    """Residuals of a fit without any term, (n,), and its regularisation."""
    sigma = regularising.estimate_scales(parts.whole(), some.free)
    weight = some.recipe.weight
    if weight is not None:
        return sigma, regularising.Regularisation(weight, 1.0, {})
    return sigma, regularising.choose_regularisation(
        parts.prepare_left_out_fits(sigma), some.free, some.friction
    )


def _is_often_at_rest(some: data.IdentificationData) -> bool:
    """Whether the joints are at rest for a share of the samples."""
    rest = some.recipe.rest * data.find_highest_speeds(some.clean)
    slow = np.concatenate([np.abs(log.clean.v) < rest for log in some.clean])
    return bool(slow.mean() > REST_SHARE)


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
    some: data.IdentificationData,
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

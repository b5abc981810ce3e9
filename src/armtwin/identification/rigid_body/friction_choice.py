"""Which friction terms the logs ask for: those with which left-out parts are predicted better."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.fitting.draw import drawn_fit
from armtwin.identification.fitting.factors import together
from armtwin.identification.fitting.left_out import LeftOutParts, left_out_parts
from armtwin.identification.rigid_body.experiment import Experiment, fastest
from armtwin.identification.rigid_body.terms import Host, Terms, hosts
from armtwin.maths.blas import one_blas_thread

RADII = tuple(np.logspace(-5, -2, 16).tolist())  # tried [rad]
FALLS = (0.03, 0.1)  # of the highest speed within which dry friction may fall
ROOTS = (1 / 3, 1 / 2, 2 / 3, 4 / 5)  # exponents of the speed that are tried
# share of the squares missed of left-out parts by which terms must do better to be taken
GAIN = 0.02
OWN_GAIN = 0.05  # the same for a radius of one element's own, as many of them are tried
# share of the samples at which joints stand from which on it shows that friction holds its sign
STANDING = 0.05
SAMPLES = 20_000  # of all logs on which terms are compared
SET_VALUES = ("_des", "_ref", "_ff", "_cmd", "_target")


def is_set_value(channel: str) -> bool:
    """Whether a channel holds what a controller asked for, which no contact has held back."""
    return channel.endswith(SET_VALUES)


@dataclass(frozen=True, eq=False)
class Chosen:
    """Friction terms that were chosen.

    Attributes:
        terms: The terms.
        errors: Share of left-out torque that is missed, mean of the joints, by what was tried.
        told: For each term with memory whether the logs tell its radius, or only a bound of it.
    """

    terms: Terms
    errors: dict[str, float]
    told: tuple[bool, ...] = ()

    @property
    def remembers(self) -> bool:
        """Whether friction has a memory."""
        return len(self.told) > 0


@dataclass(frozen=True, eq=False)
class Trial:
    """All terms that may be chosen, their squares computed once.

    Attributes:
        own: Number of coordinates of the robot itself.
        stands: Whether the joints stand often enough to show that friction keeps its sign there.
        terms: The terms, in the order of the coordinates after those.
        squares: Squares of the parts.
    """

    own: int
    stands: bool
    terms: Terms
    squares: LeftOutParts

    def error(self, chosen: Sequence[int]) -> float:
        """ln of the squares missed with some terms; infinite where one would drive the joint."""
        used = [*range(self.own), *(self.own + k for k in chosen)]
        values = self.squares.values(used)[self.own :]
        if (values <= 0).any():
            return np.inf
        return self.squares.error(used)

    def positive(self, chosen: Sequence[int]) -> list[int]:
        """Those of some terms whose friction resists."""
        kept = list(chosen)
        while kept:
            used = [*range(self.own), *(self.own + k for k in kept)]
            values = self.squares.values(used)[self.own :]
            if (values > 0).all():
                break
            kept = [k for k, value in zip(kept, values, strict=True) if value > 0]
        return kept


@one_blas_thread()
def chosen_terms(experiment: Experiment) -> Chosen:
    """The friction terms that predict left-out parts better than the robot's own laws alone.

    A reference is not the way that a contact went, so that none is looked for in it.
    """
    recipe = experiment.recipe
    if recipe.friction == "file" or recipe.motion == "reference":
        return Chosen((), {})
    some = _some_rows(experiment)
    places = hosts(some.prior, some.recipe, fastest(some.clean))
    if not places:
        return Chosen((), {})
    radii = () if is_set_value(some.source) else RADII
    trial = _trial(some, _memory_terms(places, radii) + _shape_terms(places, {}))
    least = trial.error(())
    errors = {"the laws of the file": least}
    memory = _best_memory(trial, len(places), len(radii), errors)
    if memory:
        found = {trial.terms[k].host: trial.terms[k].element.radius for k in memory}
        shapes = _shape_terms(places, found)
        kept = tuple(trial.terms[k] for k in memory)
        told = _told(trial, memory, len(radii))
        trial = _trial(some, kept + shapes)
        memory = list(range(len(kept)))
    else:
        told = ()
    shape = _best_shape(trial, memory, len(places), errors)
    chosen = tuple(trial.terms[k] for k in [*memory, *shape])
    shares = {words: float(np.exp(0.5 * error)) for words, error in errors.items()}
    return Chosen(chosen, shares, told)


def _some_rows(experiment: Experiment) -> Experiment:
    """The experiment with all rows of a stretch of each log."""
    samples = sum(len(log.clean.time) for log in experiment.clean)
    share = min(1.0, SAMPLES / samples)
    clean = []
    for log in experiment.clean:
        clean.append(log.first(max(100, int(share * len(log.clean.time)))))
    return replace(experiment, clean=tuple(clean)).with_all_rows()


def _memory_terms(places: Sequence[Host], radii: Sequence[float]) -> Terms:
    """Memory of every radius for every host."""
    found = []
    for host in places:
        for radius in radii:
            found.append(host.memory(radius))
    return tuple(found)


def _shape_terms(places: Sequence[Host], radii: dict[int, float]) -> Terms:
    """For every shape a term of each host, a fall with the host's memory where it has one."""
    found = []
    for share in FALLS:
        for host in places:
            found.append(host.fall(share, radii.get(host.number)))
    for exponent in ROOTS:
        for host in places:
            found.append(host.root(exponent))
    return tuple(found)


def _trial(some: Experiment, terms: Terms) -> Trial:
    """The squares of left-out parts with all terms."""
    wide = some.with_terms(terms)
    parts = wide.parts()
    gains = wide.gains(together(parts))
    if gains is not None:
        parts = [part.scaled(gains) for part in parts]
    own = some.free.count
    narrow = replace(wide.free, basis=wide.free.basis[:, :own])
    drawn = drawn_fit(parts, narrow, wide.friction, some.recipe.weight)
    sized = wide.free.scaled(wide.friction, drawn.draw.family_size)
    squares = left_out_parts(parts, sized, drawn.sigma, max(drawn.draw.weight, 1e-8))
    return Trial(own, _stands(some), terms, squares)


def _stands(some: Experiment) -> bool:
    """Whether the joints stand for a share of the samples."""
    rest = some.recipe.rest * fastest(some.clean)
    slow = np.concatenate([np.abs(log.clean.v) < rest for log in some.clean])
    return bool(slow.mean() > STANDING)


def _best_memory(trial: Trial, places: int, radii: int, errors: dict[str, float]) -> list[int]:
    """Terms with the best radius of each host; none where no radius does clearly better.

    One radius for all is found first, then each host's own. Where joints never stand, a memory of
    the least radius is the sign of the speed, told more sharply; it must do better than that too.
    """
    if not radii:
        return []
    start = trial.error(())
    common = {}
    for r in range(radii):
        every = trial.positive([radii * host + r for host in range(places)])
        common[r] = trial.error(every)
    best = min(common, key=common.__getitem__)
    errors["with memory of one radius"] = common[best]
    rival = start if trial.stands else min(start, common[0])
    if not common[best] < rival - GAIN:
        return []
    chosen: dict[int, int | None] = dict.fromkeys(range(places))
    for k in trial.positive([radii * host + best for host in range(places)]):
        chosen[k // radii] = k % radii
    least = common[best]
    for host in range(places):
        options: list[int | None] = [None, *range(radii)]
        tried = {r: _with(trial, {**chosen, host: r}, radii) for r in options}
        found = min(tried, key=tried.__getitem__)
        if tried[found] < least - OWN_GAIN:
            chosen[host], least = found, tried[found]
    errors["with memory"] = least
    return _numbers(chosen, radii)


def _with(trial: Trial, chosen: dict[int, int | None], radii: int) -> float:
    return trial.error(_numbers(chosen, radii))


def _numbers(chosen: dict[int, int | None], radii: int) -> list[int]:
    """Numbers of the terms from the radius of each host."""
    found = []
    for host in sorted(chosen):
        r = chosen[host]
        if r is not None:
            found.append(radii * host + r)
    return found


def _told(trial: Trial, memory: Sequence[int], radii: int) -> tuple[bool, ...]:
    """For each term whether a radius is told: not the least that was tried."""
    return tuple(k % radii > 0 for k in memory)


def _best_shape(
    trial: Trial, memory: Sequence[int], places: int, errors: dict[str, float]
) -> list[int]:
    """Terms of the shape that does clearly better, the same for all hosts; none where none does."""
    first = len(trial.terms) - places * (len(FALLS) + len(ROOTS))
    start = trial.error(memory)
    best, least = [], start - GAIN
    for words, numbers in _shapes(first, places):
        kept = [k for k in trial.positive([*memory, *numbers]) if k not in memory]
        if not kept:
            continue
        error = trial.error([*memory, *kept])
        errors[f"with {words}"] = error
        if error < least:
            best, least = kept, error
    return best


def _shapes(first: int, places: int) -> Iterator[tuple[str, list[int]]]:
    """Words for every shape, and the numbers of its terms."""
    words = [f"a fall within {100 * share:g} % of the highest speed" for share in FALLS]
    words += [f"the power {exponent:.2g} of the speed" for exponent in ROOTS]
    for k, word in enumerate(words):
        start = first + k * places
        yield word, list(range(start, start + places))

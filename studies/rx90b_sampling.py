"""Samples of what the document leaves open, by a tempered sequential Monte Carlo method.

A population begins as the prior, p_0, and is carried to the posterior, p_1:

    p_b(x) ~ prior(x) likelihood(x)^b,   0 = b_0 < b_1 < ... < 1

Each b is the largest at which the weights of the population still have half its size as their
effective number. The population is resampled by its weights, and each member moved by Metropolis
steps that leave p_b as it is: normal steps by the population's own covariance, another placement,
another normalisation of friction model c. As terms of the likelihood are at most 0, a step that
cannot be accepted any more is refused before all seams are run; that changes no result.

Ref: [Del Moral, Doucet, Jasra 2006]
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from rx90b_numbers import NORMALISES_C, NUMBERS, Sample, corners, lines

EFFECTIVE = 0.5  # share of the population that is left by each temperature
MOVED = 0.5  # probability that a number is moved in a step
ELSEWHERE = 0.3  # probability that a placement is moved in a step
NEAR = 6  # places of a list by which it is moved at most, or anywhere
FLOOR = 0.02  # least standard deviation of a step


@dataclass(frozen=True, eq=False)
class Member:
    """A sample with its log-likelihood, sentence by sentence."""

    sample: Sample
    terms: dict[str, float]

    @property
    def log_likelihood(self) -> float:
        """Of all sentences."""
        return sum(self.terms.values())


Evaluate = Callable[[Sample], Iterable[tuple[str, float]]]


@dataclass
class Sampler:
    """A population on its way from prior to posterior.

    Attributes:
        evaluate: Terms of the likelihood of a sample, each at most 0.
        random: Where its random numbers are from.
        population: The members.
        tried: Number of samples that were begun, and of those, completed.
        temperature: How far it is.
    """

    evaluate: Evaluate
    random: np.random.Generator
    population: list[Member]
    tried: int = 0
    completed: int = 0
    temperature: float = 0.0

    @staticmethod
    def begin(evaluate: Evaluate, size: int, seed: int) -> Sampler:
        """A population of the prior."""
        sampler = Sampler(evaluate, np.random.default_rng(seed), [])
        for _ in range(size):
            member = sampler.complete(sampler.prior(), -np.inf)
            assert member is not None
            sampler.population.append(member)
        return sampler

    def prior(self) -> Sample:
        """A sample of the prior."""
        draw = self.random.integers
        z = self.random.standard_normal(len(NUMBERS))
        c = NORMALISES_C[draw(2)]
        return Sample(z, c, int(draw(len(lines()))), int(draw(len(corners()))))

    def complete(self, sample: Sample, least: float) -> Member | None:
        """The member of a sample; None where its log-likelihood is below the least."""
        self.tried += 1
        found: dict[str, float] = {}
        whole = 0.0
        for name, term in self.evaluate(sample):
            found[name] = found.get(name, 0.0) + term
            whole += term
            if whole < least:
                return None
        self.completed += 1
        return Member(sample, found)

    @staticmethod
    def resume(evaluate: Evaluate, file: Path, size: int, seed: int) -> Sampler:
        """The sampler that a file holds, at its last temperature; a new one where none does."""
        if not file.exists():
            return Sampler.begin(evaluate, size, seed)
        sampler = Sampler(evaluate, np.random.default_rng(seed), [])
        vars(sampler).update(pickle.loads(file.read_bytes()))
        return sampler

    def save(self, file: Path) -> None:
        """Write all but the likelihood, so that a run goes on with the same numbers."""
        state = {name: value for name, value in vars(self).items() if name != "evaluate"}
        file.write_bytes(pickle.dumps(state))

    def run(self, moves: int, file: Path) -> None:
        """Carry the population to the posterior; each temperature is kept in a file."""
        self.save(file)
        while self.temperature < 1:
            self.reweight()
            factor = self.factor()
            accepted = 0
            for _ in range(moves):
                accepted += sum(self.move(k, factor) for k in range(len(self.population)))
            self.save(file)
            self.report(accepted / moves / len(self.population))

    def report(self, accepted: float) -> None:
        """Say how far it is."""
        sizes = np.array([member.log_likelihood for member in self.population])
        low, middle, high = np.quantile(sizes, [0.05, 0.5, 0.95])
        print(
            f"b = {self.temperature:.4f}, log-likelihood {low:.1f} {middle:.1f} {high:.1f}, "
            f"{accepted:.2f} accepted, {self.tried} tried, {self.completed} completed, "
            f"{time.process_time():.0f} s",
            file=sys.stderr,
            flush=True,
        )

    def reweight(self) -> None:
        """The next temperature, and the population resampled for it."""
        logs = np.array([member.log_likelihood for member in self.population])
        step = 1 - self.temperature
        if effective(step * logs) < EFFECTIVE:
            low, high = 0.0, step
            for _ in range(50):
                step = (low + high) / 2
                low, high = (step, high) if effective(step * logs) > EFFECTIVE else (low, step)
        self.temperature = min(1.0, self.temperature + step)
        edges = np.cumsum(weights(step * logs))
        count = len(logs)
        marks = (np.arange(count) + self.random.random()) / count
        chosen = np.minimum(np.searchsorted(edges, marks), count - 1)
        self.population = [self.population[k] for k in chosen]

    def factor(self) -> np.ndarray:
        """A square root of the population's covariance, (d, d)."""
        z = np.array([member.sample.z for member in self.population])
        spread = np.cov(z.T) + FLOOR**2 * np.eye(z.shape[1])
        return np.linalg.cholesky(spread)

    def move(self, k: int, factor: np.ndarray) -> bool:
        """One Metropolis step of a member; whether it was accepted."""
        member = self.population[k]
        sample = self.propose(member.sample, factor)
        gain = sample.log_prior - member.sample.log_prior
        bar = np.log(self.random.random()) - gain
        found = self.complete(sample, member.log_likelihood + bar / self.temperature)
        if found is None:
            return False
        self.population[k] = found
        return True

    def propose(self, sample: Sample, factor: np.ndarray) -> Sample:
        """A sample nearby; as likely as the step back."""
        random = self.random
        dimension = len(sample.z)
        moved = random.random(dimension) < MOVED
        size = 2.4 / np.sqrt(max(1, moved.sum())) * random.choice([1.0, 0.4, 0.15])
        step = size * (factor @ random.standard_normal(dimension))
        found = replace(sample, z=sample.z + np.where(moved, step, 0.0))
        if random.random() < ELSEWHERE:
            found = replace(found, line=self._beside(found.line, len(lines())))
        if random.random() < ELSEWHERE:
            found = replace(found, corner=self._beside(found.corner, len(corners())))
        if random.random() < ELSEWHERE / 2:
            found = replace(found, normalises_c=sum(NORMALISES_C) - found.normalises_c)
        return found

    def _beside(self, place: int, count: int) -> int:
        """Another place of a list, near or anywhere."""
        reach = NEAR if self.random.random() < 0.5 else count // 2
        return int((place + self.random.integers(-reach, reach + 1)) % count)


def weights(logs: np.ndarray) -> np.ndarray:
    """Weights of logarithms, with the sum 1."""
    found = np.exp(logs - logs.max())
    return found / found.sum()


def effective(logs: np.ndarray) -> float:
    """Effective number of the members by their weights, over their number."""
    return float(1 / (weights(logs) ** 2).sum() / len(logs))

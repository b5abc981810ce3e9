"""RX90B from its document: samples of what the document leaves open, and what they predict.

    python studies/rx90b_inference.py [MEMBERS [SEED]] > docs/rx90b_inference.md

Priors stand in rx90b_numbers.py, the likelihood in rx90b_statements.py, the method in
rx90b_sampling.py. The centre of the samples, one of them, is graded by the statement code of
chapter_5.py as it is, and written to rx90b_inferred.toml beside this file. About 20 minutes of a
core with 160 members; a run that is interrupted goes on from its last temperature. No run has
ended yet: nothing of the project depends on it.

Ref: [Waiboer 2007]
"""

from __future__ import annotations

import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import armtwin as at
import chapter_5
import rx90b_statements as said
from chapter_5_placements import FIXED, FOLLOWING, LINE, Placement, placed
from chapter_5_runs import Method, Seams
from chapter_5_statements import Statement, percent
from rx90b_numbers import NUMBERS, Sample, corners, lines
from rx90b_sampling import Member, Sampler, weights

MEMBERS, SEED, MOVES = 160, 1, 3
FILE = Path(__file__).with_name("rx90b_inferred.toml")
FEW = 40  # members at which all statements are graded
SHIFTED = 0.25  # prior standard deviations by which a sentence moves a number it determines
GRADED = {  # sentences of the likelihood and their statements in chapter 5, by their first words
    said.ORDER: "torques are of the order of 10 %",
    said.RUBBED: "most of the torque is friction",
    said.ACCELERATED: "acceleration takes only a small part",
    said.PEAKS: "the path error peaks at the reversal",
    said.PEAK_6: "joint 6 peaks at the reversal",
    said.FASTER: "the error grows with speed",
    said.OUT: "in tolerance below 300 mm/s",
    said.WIDE: "following, r = 100 mm at 100 mm/s",
    said.SLOW: "following, r = 40 mm at 50 mm/s",
    said.SHARPER: "following at 100 mm/s: the error grows",
    said.STOP: "following, r = 50 mm at 100 mm/s",
    said.IN_CORNER: "fixed: for all radii both errors peak",
    said.MAJOR: "fixed: well within 0.1 mm",
    said.VERTICAL: "fixed: the vertical error grows",
    said.LATERAL: "fixed: the lateral error does not grow",
}


# grading


@dataclass(frozen=True)
class SeamsOf(Seams):
    """The seams of the chapter, run by another robot.

    Attributes:
        robot: File of the robot.
    """

    robot: str = ""

    def line(self, speed: float = 0.1, method: Method = "nonlinear") -> at.Prediction:
        """The straight seam at a speed [m/s]."""
        return run(self.robot, LINE, self.straight, None, speed, method)

    def following(
        self, radius: float, speed: float = 0.1, method: Method = "nonlinear"
    ) -> at.Prediction:
        """The corner of a radius [m] with following head at a speed [m/s]."""
        return run(self.robot, FOLLOWING, self.corner.following, radius, speed, method)

    def fixed(self, radius: float, method: Method = "nonlinear") -> at.Prediction:
        """The corner of a radius [m] with fixed head at 100 mm/s."""
        return run(self.robot, FIXED, self.corner.fixed, radius, 0.1, method)

    def line_with(self, **keys: object) -> at.Prediction:
        """The straight seam with other keys of its job."""
        job = with_robot(placed(LINE, self.straight), self.robot)
        return at.predict(at.Job(replace(job.description, **keys), job.origin))


def with_robot(job: at.Job, robot: str) -> at.Job:
    """A job of another robot's file."""
    return at.Job(replace(job.description, robot=robot), job.origin)


@cache
def run(
    robot: str, name: str, place: Placement, radius: float | None, speed: float, method: Method
) -> at.Prediction:
    """A seam run by the robot of a file."""
    return at.predict(with_robot(placed(name, place, radius, speed), robot), method=method)


def rounded(sample: Sample) -> at.Robot:
    """The robot of a sample, its numbers as its file has them."""
    return at.Robot(sample.robot().description)


def grade(sample: Sample) -> list[Statement]:
    """The statements of chapter 5 at a sample, by their own code."""
    run.cache_clear()
    place = lines()[sample.line], corners()[sample.corner]
    with tempfile.TemporaryDirectory() as folder:
        file = str(Path(folder) / "robot.toml")
        rounded(sample).save(file)
        return chapter_5.statements(SeamsOf(*place, robot=file))


def verdicts(found: Sequence[Statement]) -> str:
    """How many statements hold, in part, not."""
    counts = Counter(statement.verdict for statement in found)
    names = ("holds", "holds in part", "does not hold")
    return " / ".join(str(counts[name]) for name in names)


# the population


def centre(members: Sequence[Member], shares: np.ndarray) -> Sample:
    """The member with the least weighted sum of distances to all, in their standard deviations.

    Of those whose placements and normalisation are the most frequent.
    """
    keys = [(m.sample.line, m.sample.corner, m.sample.normalises_c) for m in members]
    weight: Counter[tuple[int, int, int]] = Counter()
    for key, share in zip(keys, shares, strict=True):
        weight[key] += float(share)
    most = weight.most_common(1)[0][0]
    z = np.array([member.sample.z for member in members])
    spread = np.sqrt(np.cov(z.T, aweights=shares).diagonal()) + 1e-9
    apart = np.abs((z[:, None] - z[None]) / spread).sum(axis=2) @ shares
    apart[[key != most for key in keys]] = np.inf
    return members[int(apart.argmin())].sample


def without(members: Sequence[Member], name: str) -> np.ndarray:
    """Weights of the members without a sentence."""
    return weights(-np.array([member.terms.get(name, 0.0) for member in members]))


def quantiles(values: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """Values below which 5, 50 and 95 % of the weight is."""
    order = np.argsort(values)
    below = np.cumsum(shares[order])
    places = np.minimum(np.searchsorted(below, [0.05, 0.5, 0.95]), len(values) - 1)
    return values[order][places]


def determined_by(members: Sequence[Member], k: int) -> str:
    """The sentence without which a number would be farthest from where it is."""
    z = np.array([member.sample.z[k] for member in members])
    best, most = "-", SHIFTED
    for name in members[0].terms:
        moved = abs(float(without(members, name) @ z) - z.mean())
        if moved > most:
            best, most = name, moved
    return best


# the page


def number_table(members: Sequence[Member], chosen: Sample) -> Iterator[str]:
    """Each number with prior, posterior and the sentence that determined it."""
    yield "| number | prior, 90 % | posterior, 90 % | centre | determined by |"
    yield "|---|---|---|---|---|"
    even = np.full(len(members), 1 / len(members))
    for k, number in enumerate(NUMBERS):
        low, high = number.value(-1.645), number.value(1.645)
        z = np.array([member.sample.z[k] for member in members])
        after = [number.value(x) for x in quantiles(z, even)]
        yield (
            f"| {number.words} [{number.unit or '1'}] | {low:.4g} to {high:.4g} | "
            f"{after[0]:.4g} to {after[2]:.4g} | {number.value(chosen.z[k]):.4g} | "
            f"{determined_by(members, k)} |"
        )


def correlations(members: Sequence[Member]) -> Iterator[str]:
    """The pairs of numbers that are correlated most."""
    z = np.array([member.sample.z for member in members])
    found = np.corrcoef(z.T)
    rows, columns = np.triu_indices(len(found), 1)
    order = np.argsort(-np.abs(found[rows, columns]))[:8]
    yield "| number | number | correlation |"
    yield "|---|---|---|"
    for k in order:
        a, b = NUMBERS[rows[k]], NUMBERS[columns[k]]
        yield f"| {a.words} | {b.words} | {found[rows[k], columns[k]]:+.2f} |"


def statement_table(found: Sequence[Statement], shipped: Sequence[Statement]) -> Iterator[str]:
    """The statements at the inferred robot beside the shipped one."""
    yield "| section | statement | inferred robot | | shipped |"
    yield "|---|---|---|---|---|"
    for ours, other in zip(found, shipped, strict=True):
        yield (
            f"| {ours.section} | {ours.text} | {ours.figure} | {ours.verdict} | {other.verdict} |"
        )


def left_out_table(members: Sequence[Member]) -> Iterator[str]:
    """Each sentence, left out: its statement at the centre without it, and how often it holds."""
    some = members[:: max(1, len(members) // FEW)]
    graded = [{s.text: s.holds for s in grade(member.sample)} for member in some]
    yield (
        "| sentence left out | effective members | its statement at the centre without it | | "
        "holds at, with it | without it |"
    )
    yield "|---|---|---|---|---|---|"
    held = 0
    for name, text in GRADED.items():
        shares = without(members, name)
        found = grade(centre(members, shares))
        (statement,) = [s for s in found if s.text.startswith(text)]
        held += statement.holds == 1
        number = 1 / float((shares**2).sum())
        holds = np.array([statements[statement.text] == 1 for statements in graded])
        least = weights(-np.array([member.terms.get(name, 0.0) for member in some]))
        yield (
            f"| {name} | {number:.0f} | {statement.figure} | {statement.verdict} | "
            f"{percent(holds.mean())} | {percent(float(least @ holds))} |"
        )
    yield ""
    yield f"{held} of {len(GRADED)} hold at the robot inferred without them."


def page(sampler: Sampler, seconds: float) -> Iterator[str]:
    """The page, as lines."""
    members = sampler.population
    even = np.full(len(members), 1 / len(members))
    chosen = centre(members, even)
    robot = rounded(chosen)
    described = replace(robot.description, name="rx90b_inferred")
    at.Robot(described).save(FILE)
    found, shipped = grade(chosen), chapter_5.statements(Seams.shipped())
    yield HEAD
    yield (
        f"{sampler.tried} samples were begun and {sampler.completed} completed, "
        f"{seconds / 60:.0f} minutes of a core; {len(members)} members, "
        f"{len({id(member) for member in members})} of them distinct. "
        f"Largest torque for friction model c: {torque_of_c(members)}."
    )
    yield ""
    yield from number_table(members, chosen)
    yield ""
    yield f"Straight seam at {lines()[chosen.line]}, corner at {corners()[chosen.corner]}."
    yield "\n## What is correlated\n"
    yield from correlations(members)
    yield "\n## The statements at the centre\n"
    yield f"Hold / in part / not: {verdicts(found)}; the shipped robot: {verdicts(shipped)}.\n"
    yield from statement_table(found, shipped)
    yield "\n## Sentences left out one by one\n"
    yield from left_out_table(members)


def torque_of_c(members: Sequence[Member]) -> str:
    """Which joint's largest torque normalises friction model c, as shares of the members."""
    counts = Counter(member.sample.normalises_c for member in members)
    parts = [f"joint {c} in {100 * n / len(members):.0f} %" for c, n in sorted(counts.items())]
    return ", ".join(parts)


HEAD = """# RX90B inferred from its document

Made by `python studies/rx90b_inference.py`. The laser welding thesis [Waiboer 2007] prints no
masses, torques, spring or gains of its robot. Its sentences on what the robot did determine some of
them all the same: 23 numbers, the joint whose largest torque normalises friction model c, and the
placements of both seams are sampled together, from stated priors (`studies/rx90b_numbers.py`), by a
stated likelihood of its sentences (`studies/rx90b_statements.py`).
"""


def main() -> None:
    """Sample, print the page and write the robot."""
    given = [int(x) for x in sys.argv[1:]]
    members, seed = (*given, *(MEMBERS, SEED)[len(given) :])
    kept = Path(tempfile.gettempdir()) / f"rx90b_inference_{members}_{seed}.pickle"
    sampler = Sampler.resume(said.terms, kept, members, seed)
    sampler.run(MOVES, kept)
    print("\n".join(page(sampler, time.process_time())).rstrip())


if __name__ == "__main__":
    main()

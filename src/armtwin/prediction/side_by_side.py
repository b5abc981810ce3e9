"""Several runs side by side: jobs, robots and speeds, each with its verdict and its band."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from armtwin.errors import ArmtwinError
from armtwin.jobs.job import Job
from armtwin.notebook import cards
from armtwin.prediction.answer import Answer
from armtwin.prediction.band.band import assess
from armtwin.prediction.predict import predict
from armtwin.simulation.options import Method

MOST_RUNS = 64  # side by side: more are no picture any more


@dataclass(frozen=True, eq=False)
class SideBySide:
    """Several jobs, each with what became of it.

    Attributes:
        jobs: The jobs.
        answers: Prediction and band of each; None of one that cannot be run.
        refusals: Why a job cannot be run, as a sentence; "" of one that was.
    """

    jobs: tuple[Job, ...]
    answers: tuple[Answer | None, ...]
    refusals: tuple[str, ...]

    def __repr__(self) -> str:
        held = sum(answer is not None and answer.holds for answer in self.answers)
        return cards.line("SideBySide", f"{held} of {cards.counted(len(self.jobs), 'run')} hold")

    @property
    def hold(self) -> bool:
        """Whether every one of them was run and holds."""
        return all(answer is not None and answer.holds for answer in self.answers)


def side_by_side(
    jobs: Sequence[Job],
    *,
    nominal: bool = False,
    method: Method = "nonlinear",
    progress: Callable[[float], None] | None = None,
) -> SideBySide:
    """Predict several jobs, each with its band.

    One that cannot be run, as at a speed beyond the robot's limits, is told so; where none can,
    the first refusal is raised.

    Args:
        jobs: The jobs.
        nominal: Whether nominal runs alone are made, without their bands.
        method: As of `predict`.
        progress: Called with the share that is done.
    """
    if not 1 <= len(jobs) <= MOST_RUNS:
        raise ArmtwinError(f"from 1 to {MOST_RUNS} runs can stand side by side, got {len(jobs)}")
    answers: list[Answer | None] = []
    refusals: list[ArmtwinError | None] = []
    for job in jobs:
        answer, refusal = _answered(job, nominal, method)
        answers.append(answer)
        refusals.append(refusal)
        if progress is not None:
            progress(len(answers) / len(jobs))
    first = refusals[0]
    if first is not None and not any(answers):
        raise first
    words = ["" if refusal is None else str(refusal) for refusal in refusals]
    return SideBySide(tuple(jobs), tuple(answers), tuple(words))


def _answered(
    job: Job, nominal: bool, method: Method
) -> tuple[Answer, None] | tuple[None, ArmtwinError]:
    """A job predicted, or why it cannot be."""
    try:
        prediction = predict(None, job, method=method)
    except ArmtwinError as error:
        return None, error
    band = None
    if not nominal and prediction.verdict.stopped is None:
        band = assess(prediction)
    return Answer(prediction, band=band), None

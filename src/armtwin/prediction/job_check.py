"""A job as a prediction sees it: what it assumes, and what its robot lacks; nothing is run."""

from dataclasses import dataclass, replace

from armtwin.jobs.job import Job
from armtwin.maths.batch import Names
from armtwin.notebook.sections import Blocks, Facts, Report, Section, Text
from armtwin.prediction.band.quantities import quantities_for
from armtwin.prediction.predict import find_assumed, missing
from armtwin.report.result import Result


@dataclass(frozen=True, eq=False, repr=False)
class JobCheck(Result):
    """What a job is and what its prediction would assume.

    Attributes:
        job: The job.
    """

    job: Job

    def sections(self) -> Report:
        """The job with the assumed numbers, widths and gaps of its robot file."""
        report = self.job.sections()
        first, *others = report.sections
        return replace(
            report,
            sections=(Section("", _facts(self.job, first)), *others),
            verdict=tuple(Text(caution, "bad") for caution in self.cautions),
        )

    @property
    def cautions(self) -> Names:
        """What is odd about the job and its robot and one mistake would explain, as sentences."""
        return self.job.cautions_on(self.job.robot())


def _facts(job: Job, own: Section) -> Blocks:
    """Facts of a job, and those of its prediction behind them."""
    robot = job.robot()
    count = len(find_assumed(robot, job))
    where = f"armtwin check {job.description.robot}"
    more = (
        ("assumed numbers", f"{count} of the robot file are in use: {where}"),
        ("uncertainty", _widths(job)),
        ("missing", "; ".join(missing(robot, job))),
    )
    for block in own.blocks:
        yield Facts((*block.facts, *more)) if isinstance(block, Facts) else block


def _widths(job: Job) -> str:
    """Quantities whose width the job gives; one for what its robot does not have is refused."""
    given = set(job.description.uncertainty.widths)
    robot = job.robot()
    if not given or missing(robot, job):
        return ""
    found = []
    for quantity in quantities_for(robot, job):
        if given.intersection(quantity.names):
            found.append(f"{quantity.name} {quantity.width_in_words}")
    return ", ".join(found)

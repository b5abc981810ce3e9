"""Changes tried so that a seam holds with 95 % confidence, the best one, and their report."""

from __future__ import annotations

from dataclasses import asdict, dataclass

import numpy as np

from armtwin.maths.batch import Record
from armtwin.notebook.numbers import FINE_PERCENT, MILLIMETRES_PER_SECOND, PERCENT, Number
from armtwin.notebook.sections import Blocks, Column, Data, Report, Section, Table, Text, Tone
from armtwin.prediction.band.band import Band
from armtwin.prediction.band.measured import MeasuredFirst
from armtwin.prediction.correction import WrittenProgram, measuring_in_words
from armtwin.prediction.options import Speeds
from armtwin.prediction.sections.headline import likelihood
from armtwin.prediction.trials import Option
from armtwin.report.result import Result

MOTION = Number(1.0, "s", places=2)


@dataclass(frozen=True)
class Measuring:
    """What a measurement would allow, if it confirms the numbers of the robot file.

    Attributes:
        way: How it is measured, as a sentence.
        limit: Largest error over tolerance up to which a seam then holds at 95 %.
        allows: What would hold with 95 % confidence then; "" for nothing that was tried.
    """

    way: str
    limit: float
    allows: str


@dataclass(frozen=True, eq=False, repr=False)
class Advice(Result):
    """What was tried, and what is best.

    Attributes:
        needed: Whether anything must change at all.
        best: The option that holds with 95 % confidence and has the smallest change, or the
            shortest time where the speed may change; None if none does.
        nearest: Where none does, the option with the highest probability by its variants.
        slower: Where none does that keeps the speed, a slower run of the whole seam that does.
        options: All options.
        speeds: What became of other speeds of the whole job.
        limit: Largest error over tolerance that the nominal run of an option might have.
        measuring: What measurements would allow, where nothing holds with 95 % confidence.
        measured_first: What corrected points would reach after measurements, where nothing holds.
        simulations: How many nominal runs it took.
        draws: How many sampled variants of options.
        band: The 90 % interval of the prediction; None for nominal advice, or where its run stops.
        written: The robot program with the speeds of the best option, where the job is from one.
    """

    needed: bool
    best: Option | None
    nearest: Option | None
    slower: Option | None
    options: tuple[Option, ...]
    speeds: Speeds
    limit: float
    measuring: tuple[Measuring, ...]
    measured_first: tuple[MeasuredFirst, ...]
    simulations: int
    draws: int
    band: Band | None
    written: WrittenProgram | None = None

    def sections(self) -> Report:
        """What is best, all that was tried, and what measuring would allow."""
        section = Section("What to change", self.blocks())
        return Report("Advice", "", (section,), (self.verdict_text,))

    @property
    def verdict_text(self) -> Text:
        """The best change, or that nothing that was tried holds with 95 % confidence."""
        tone: Tone = "good" if self.best is not None or not self.needed else "bad"
        return Text(self._sentence(), tone)

    def _sentence(self) -> str:
        if not self.needed:
            return _as_it_is(self)
        if self.best is not None:
            written = "" if self.best.corrected is not None else " (advised.toml)"
            return f"Best: {self.best.text}{written}; {_outcome(self.best)}."
        if self.slower is not None:
            return (
                "Nothing that keeps the job's speed holds with 95 % confidence. "
                f"This does: {self.slower.text}; {_outcome(self.slower)}; "
                "keep_speed = false in [advice] of the job allows it."
            )
        if self.nearest is None:
            return "Nothing that was tried holds with 95 % confidence."
        nearest = f"Nearest: {self.nearest.text}; {_outcome(self.nearest)}."
        caps = _caps(self)
        if caps:
            return f"Nothing holds with 95 % confidence, capped by {caps}. {nearest}"
        return f"Nothing that was tried holds with 95 % confidence. {nearest}"

    def blocks(self) -> Blocks:
        """What measuring would allow, all options, and the speeds that were tried."""
        if self.written is not None:
            yield Text(
                f"The program with these speeds, read again and run on the twin: "
                f"{self.written.peaks}; all else is kept."
            )
        yield from _measuring(self)
        columns = (
            Column("text", "what"),
            Column("probability", "holds", words=_likely),
            Column("ratio", "nominal, of tolerance", FINE_PERCENT, words=_ratio),
            Column("duration_s", "motion", MOTION),
        )
        yield Table(columns, [option_record(x) for x in self.options], "advice.options")
        yield from _report_speeds(self)
        yield Text(_effort(self), "soft")
        if self.band is not None and self.band.prediction.job.description.advice.share < 1:
            yield Text(
                "Simulated variants decided: share in [advice] of the job counts only with "
                "--nominal."
            )
        chosen = {}
        for key in ("best", "nearest", "slower"):
            option = getattr(self, key)
            chosen[f"advice.{key}"] = None if option is None else option_record(option)
        yield Data(
            {
                "advice.needed": self.needed,
                **chosen,
                "advice.limit": self.limit,
                "advice.monotonic": self.speeds.monotonic,
                "advice.speed_is_lever": self.speeds.is_lever,
                "advice.speed_window_m_s": self.speeds.window,
                "advice.simulations": self.simulations,
                "advice.draws": self.draws,
            }
        )


def _caps(advice: Advice) -> str:
    """What caps the verdict on the job; "" for nothing, and for the nominal run alone."""
    return "" if advice.band is None else " and ".join(advice.band.prediction.capped_by)


def _as_it_is(advice: Advice) -> str:
    faster = "keep_speed = false in [advice] of the job asks how much faster it could be"
    caps = _caps(advice)
    if caps:
        return f"Nothing needs to change but what caps the verdict, {caps}; {faster}."
    return f"Nothing needs to change: the seam holds as it is; {faster}."


def _outcome(option: Option) -> str:
    """Probability of an option, what it uses of the tolerance, how long it takes."""
    odds = ""
    if option.probability is not None:
        odds = f"{likelihood(option.probability)} likely to hold, "
    used = FINE_PERCENT.with_unit(option.ratio)
    motion = MOTION.with_unit(option.duration)
    return f"{odds}the nominal run uses {used} of the tolerance, the motion takes {motion}"


def _measuring(advice: Advice) -> Blocks:
    """What measuring would allow, where nothing holds with 95 % confidence."""
    if advice.measured_first:
        yield Text(f"Corrected points: {measuring_in_words(advice.measured_first)}")
    yield Data({"advice.measured_first": [step.record for step in advice.measured_first]})
    records = [asdict(x) for x in advice.measuring]
    for x in advice.measuring:
        if x.allows:
            then = f"holds with 95 % confidence if it confirms the robot file: {x.allows}"
            yield Text(f"{x.way}: {then}.")
        else:
            yield Text(f"{x.way}: even then nothing else that was tried holds.")
    yield Data({"advice.measuring": records})


def option_record(option: Option) -> Record:
    """An option as plain values."""
    return {
        "name": option.name,
        "text": option.text,
        "holds": option.holds,
        "fits": option.fits,
        "probability": option.probability,
        "ratio": option.ratio,
        "duration_s": option.duration,
        "size": option.size,
    }


def _likely(record: Record) -> str:
    """Probability to hold; or why it is not known: the search ended before, or left it out."""
    if record["probability"] is not None:
        return likelihood(record["probability"])
    if record["holds"]:
        return "nominally"
    if record["fits"]:
        return "not sampled"
    return "margin too small" if record["ratio"] <= 1 else "no"


def _ratio(record: Record) -> str:
    ratio = record["ratio"]
    return FINE_PERCENT.text(ratio) if np.isfinite(ratio) else "cannot be run"


def _report_speeds(advice: Advice) -> Blocks:
    """The speeds that were tried, and whether speed changes the error at all."""
    records = []
    for speed, ratio in advice.speeds.tried:
        records.append({"speed_m_s": speed, "ratio": ratio, "holds": ratio <= 1})
    yield Data({"advice.speeds_tried": records})
    if advice.speeds.window is None:
        return
    words = []
    for speed, ratio in advice.speeds.tried:
        used = PERCENT.with_unit(ratio) if np.isfinite(ratio) else "cannot be run"
        words.append(f"{MILLIMETRES_PER_SECOND.text(speed)} ({used})")
    tried = f"Speeds tried, mm/s (nominal, of the tolerance): {', '.join(words)}."
    low, high = advice.speeds.window
    allowed = (
        f"Advised are speeds from {MILLIMETRES_PER_SECOND.text(low)} to "
        f"{MILLIMETRES_PER_SECOND.with_unit(high)}; speed_window in [advice] of the job gives "
        "others."
    )
    if not advice.speeds.is_lever:
        yield Text(f"Speed is no lever here: none makes the error clearly smaller. {tried}")
    elif not advice.speeds.monotonic:
        yield Text(
            "The error is not monotonic in speed: some lower speeds are worse than higher ones. "
            f"{tried}"
        )
    else:
        yield Text(tried, "soft")
    yield Text(allowed, "soft")


def _effort(advice: Advice) -> str:
    effort = f"{advice.simulations} nominal simulations, {advice.draws} sampled variants."
    if advice.needed and advice.limit < 1:
        used = PERCENT.with_unit(advice.limit)
        return f"Searched for nominal runs that use at most {used} of the tolerance. {effort}"
    return effort

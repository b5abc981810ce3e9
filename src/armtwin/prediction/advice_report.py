"""What to change: the best option, all that were tried, and what measuring would allow."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict

import numpy as np

from armtwin.notebook.numbers import FINE_PERCENT, MILLIMETRES_PER_SECOND, PERCENT, Number
from armtwin.notebook.sections import Block, Column, Data, Record, Section, Table, Text
from armtwin.prediction.advice import Advice
from armtwin.prediction.band.band_report import tenths
from armtwin.prediction.trials import Option

MOTION = Number(1.0, "s", places=2)


def advice_section(advice: Advice) -> Section:
    """The section of a report that says what to change."""
    return Section("What to change", tuple(_blocks(advice)))


def _blocks(advice: Advice) -> Iterator[Block]:
    is_good = advice.best is not None or not advice.needed
    yield Text(advice_sentence(advice), "good" if is_good else "bad")
    yield from _measuring(advice)
    columns = (
        Column("text", "what"),
        Column("probability", "holds", words=_likely),
        Column("ratio", "nominal, of tolerance", FINE_PERCENT, words=_ratio),
        Column("duration_s", "motion", MOTION),
    )
    yield Table(columns, [option_record(x) for x in advice.options], "advice.options")
    yield from _tried(advice)
    yield Text(_effort(advice), "soft")
    if advice.band is not None and advice.band.prediction.job.description.advice.share < 1:
        yield Text("Draws decided: share in [advice] of the job counts with --nominal only.")
    yield Data("advice.needed", advice.needed)
    for key in ("best", "nearest", "slower"):
        option = getattr(advice, key)
        yield Data(f"advice.{key}", None if option is None else option_record(option))
    yield Data("advice.limit", advice.limit)
    yield Data("advice.monotonic", advice.monotonic)
    yield Data("advice.simulations", advice.simulations)
    yield Data("advice.draws", advice.draws)


def advice_sentence(advice: Advice) -> str:
    """What is best to do, or that nothing that was tried surely holds."""
    if not advice.needed:
        return _as_it_is(advice)
    if advice.best is not None:
        return f"Best: {advice.best.text} (advised.toml); {_outcome(advice.best)}."
    if advice.slower is not None:
        return (
            "Nothing that was tried keeps the job's speed and surely holds. "
            f"This does: {advice.slower.text}; {_outcome(advice.slower)}; "
            "keep_speed = false in [advice] of the job allows it."
        )
    if advice.nearest is None:
        return "Nothing that was tried surely holds."
    nearest = f"Nearest: {advice.nearest.text}; {_outcome(advice.nearest)}."
    if advice.band is not None and advice.band.is_guessed:
        return f"Nothing surely holds on a guessed servo. {nearest}"
    return f"Nothing that was tried surely holds. {nearest}"


def _as_it_is(advice: Advice) -> str:
    faster = "keep_speed = false in [advice] of the job asks how much faster it could be"
    if advice.band is not None and advice.band.is_guessed:
        return f"Nothing needs to change but the servo, which is a guess; {faster}."
    return f"Nothing needs to change: the seam holds as it is; {faster}."


def _outcome(option: Option) -> str:
    """How sure an option is, what it uses of the tolerance, how long it takes."""
    sure = "" if option.probability is None else f"{tenths(option.probability)} hold, "
    used = FINE_PERCENT.with_unit(option.ratio)
    motion = MOTION.with_unit(option.duration)
    return f"{sure}the nominal run uses {used} of the tolerance, the motion takes {motion}"


def _measuring(advice: Advice) -> Iterator[Block]:
    """What measuring would allow, where nothing surely holds."""
    records = [asdict(x) for x in advice.measuring]
    for x in advice.measuring:
        if x.allows:
            then = f"this would surely hold if it confirms the robot file: {x.allows}"
            yield Text(f"{x.way}: {then}.")
        else:
            yield Text(f"{x.way}: even then nothing that was tried would surely hold.")
    yield Data("advice.measuring", records)


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
    """How sure it is to hold; or why that is not known: the search ended before, or left it out."""
    if record["probability"] is not None:
        return tenths(record["probability"])
    if record["holds"]:
        return "nominally"
    if record["fits"]:
        return "not drawn"
    return "margin too small" if record["ratio"] <= 1 else "no"


def _ratio(record: Record) -> str:
    ratio = record["ratio"]
    return FINE_PERCENT.text(ratio) if np.isfinite(ratio) else "cannot be run"


def _tried(advice: Advice) -> Iterator[Block]:
    """The speeds that were tried."""
    words = []
    for speed, ratio in advice.tried:
        used = PERCENT.with_unit(ratio) if np.isfinite(ratio) else "cannot be run"
        words.append(f"{MILLIMETRES_PER_SECOND.text(speed)} ({used})")
    tried = f"Speeds tried, mm/s (nominal, of the tolerance): {', '.join(words)}."
    if words and advice.monotonic:
        yield Text(tried, "soft")
    elif words:
        yield Text(
            "The error is not monotonic in speed: some lower speeds are worse than higher ones. "
            f"{tried}"
        )
    records = []
    for speed, ratio in advice.tried:
        records.append({"speed_m_s": speed, "ratio": ratio, "holds": ratio <= 1})
    yield Data("advice.speeds_tried", records)


def _effort(advice: Advice) -> str:
    effort = f"{advice.simulations} nominal simulations, {advice.draws} draws."
    if advice.needed and advice.limit < 1:
        used = PERCENT.with_unit(advice.limit)
        return f"Searched for nominal runs that use at most {used} of the tolerance. {effort}"
    return effort

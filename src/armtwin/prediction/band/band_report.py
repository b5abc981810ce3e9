"""How sure a prediction is: its first lines, and the section that shows its band."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Bars, Chart, Multiples
from armtwin.notebook.layers import Curve, Rule
from armtwin.notebook.numbers import (
    DEGREES,
    MICROMETRES,
    MILLIMETRES_PER_SECOND,
    NONE,
    PERCENT,
    Number,
)
from armtwin.notebook.scales import Axis
from armtwin.notebook.sections import Block, Column, Data, Record, Section, Table, Text, Tone
from armtwin.prediction.band.band import LEAST_SHARE, Band, Share
from armtwin.prediction.band.measuring import narrowed
from armtwin.prediction.band.widths import in_words
from armtwin.prediction.predict import Prediction

SHARES_SHOWN = 5
LOW, MIDDLE, HIGH = 5.0, 50.0, 95.0
CAPPED = "a servo whose structure is not known"
TONES: dict[str, Tone] = {"holds": "good", "may hold": "", "does not hold": "bad"}


def band_verdict(band: Band) -> Iterator[Text]:
    """The first lines: outcome with its band, what decides it, what measuring would buy."""
    yield Text(outcome_sentence(band), TONES[band.outcome])
    reasons = f"{servo_sentence(band)} {deciding_sentence(band)}".strip()
    for sentence in (reasons, measuring_sentence(band)):
        if sentence:
            yield Text(sentence)


def outcome_sentence(band: Band) -> str:
    """Outcome, probability, nominal peak, and between which nine of ten robots lie."""
    p = band.prediction
    number = size_of(band.direction)
    k = band.ensemble.directions.index(band.direction)
    low, high = band.peak
    guessed = ", on a guessed servo" if band.is_guessed and band.outcome == "may hold" else ""
    speed = MILLIMETRES_PER_SECOND.with_unit(p.job.description.speed)
    expected = number.with_unit(float(band.nominal[k]))
    allowed = number.text(float(band.tolerances[k]))
    between = f"{number.text(low)} to {number.with_unit(high)}"
    return (
        f"{band.outcome.upper()}{guessed}, {tenths(band.probability)}. {p.job.name}, {speed}: "
        f"{expected} expected of {allowed} allowed ({band.direction}); "
        f"9 of 10 such robots: {between}{_failures(band)}."
    )


def tenths(probability: float) -> str:
    """A probability as people say it."""
    if probability >= 0.95:
        return "more than 9 in 10"
    if probability <= 0.05:
        return "less than 1 in 10"
    return f"{max(1, round(10 * probability))} in 10"


def _failures(band: Band) -> str:
    if not band.failures:
        return ""
    return f"; {band.failures} of {len(band.ensemble)} stop or cannot be run"


def servo_sentence(band: Band) -> str:
    """What the servo rests on; empty for one that is given."""
    servo = band.prediction.servo.summary
    return f"{servo[0].upper()}{servo[1:]}." if servo else ""


def deciding_sentence(band: Band) -> str:
    """What the spread comes from; empty where nothing does."""
    parts = []
    for share in band.shares[:2]:
        known = f"{share.quantity.basis}, {share.quantity.width_in_words}"
        parts.append((share.share, share.quantity.words, f" ({known})"))
    rest = band.regression.rest_share
    if band.beside_quantities and rest >= LEAST_SHARE:
        parts.append((rest, " and ".join(band.beside_quantities), ""))
    if not parts:
        return ""
    parts.sort(key=lambda part: -part[0])
    first, words, known = parts[0]
    found = f"It depends on {words}{known}: {PERCENT.with_unit(first)} of the spread"
    if len(parts) > 1:
        second, words, _ = parts[1]
        found += f"; then {words}: {PERCENT.with_unit(second)}"
    return f"{found}."


def measuring_sentence(band: Band) -> str:
    """What the best measurement would buy; empty where none would."""
    if not band.savings:
        return ""
    best = band.savings[0]
    number = size_of(band.direction)
    low, high = narrowed(*band.peak, best.left)
    shrunk = f"{number.text(low)} to {number.with_unit(high)}"
    return f"{best.way}: the band shrinks to about {shrunk}."


def size_of(direction: str) -> Number:
    """How errors of a direction are written."""
    return DEGREES if direction == "orientation" else MICROMETRES


def band_section(band: Band) -> Section:
    """Bars against the tolerance, the band along the seam, where the spread comes from."""
    return Section("How sure this is", tuple(_blocks(band)))


def _blocks(band: Band) -> Iterator[Block]:
    count = len(band.ensemble)
    numbers = sum(quantity.spread > 0 for quantity in band.quantities)
    yield Text(
        f"{count} robots were drawn in which {numbers} quantities differ by what their sources "
        "leave open; widths are judgement, [uncertainty] in the job gives others by these names.",
        "soft",
    )
    yield _bars(band)
    yield _along(band)
    yield from _shares(band)
    yield from _savings(band)
    yield from _data(band)


def _bars(band: Band) -> Bars:
    """Nine of ten robots in each direction, as a share of the tolerance."""
    bounds = 100 * band.distribution.bounds() / band.tolerances[:, None]
    low, middle, high = bounds.T
    return Bars(
        "Nine of ten robots",
        Axis("largest error, of the tolerance", "%"),
        band.ensemble.directions,
        low,
        high,
        centre=middle,
        limit=100.0,
        cases=("the better half of them", "the worse half"),
        caption="Each bar ends where 5 and 95 of 100 robots lie; dashed: the tolerance.",
    )


def _along(band: Band) -> Multiples:
    """The error along the seam with its band, in each direction."""
    charts = []
    ensemble = band.ensemble
    whole = ~np.isnan(ensemble.peaks).any(axis=1)
    for k, direction in enumerate(ensemble.directions):
        scale = size_of(direction).scale
        errors = scale * ensemble.errors[whole, k]
        low, middle, high = np.percentile(errors, (LOW, MIDDLE, HIGH), axis=0)
        allowed = scale * float(band.tolerances[k])
        unit = size_of(direction).unit
        curve = Curve("half of the robots", 1e3 * ensemble.place, middle, low=low, high=high)
        layers = (curve, Rule(allowed, "tolerance"), Rule(-allowed))
        axes = Axis("along the seam", "mm"), Axis("error", unit)
        charts.append(Chart(direction, *axes, layers))
    caption = "Shaded: nine of ten robots at each place."
    return Multiples(tuple(charts), columns=2, shared="x", title="Along the seam", caption=caption)


def out_of_tolerance(band: Band) -> Floats:
    """Share of the draws that are out of tolerance at the places of the ensemble, (k,)."""
    ensemble = band.ensemble
    whole = ~np.isnan(ensemble.peaks).any(axis=1)
    relative = np.abs(ensemble.errors[whole]) / band.tolerances[:, None]
    found: Floats = (relative.max(axis=1) > 1).mean(axis=0)
    return found


def _shares(band: Band) -> Iterator[Block]:
    if band.shares:
        yield Text("Where the spread comes from:")
        records = [share_record(x) for x in band.shares[:SHARES_SHOWN]]
        yield Table(SHARE_COLUMNS, records)
    if band.beside_quantities:
        rest = PERCENT.with_unit(band.regression.rest_share)
        yield Text(f"Of the spread {rest} come from {' and '.join(band.beside_quantities)}.")


def uncertainty_blocks(band: Band | None) -> Iterator[Block]:
    """All that was drawn with its width, and what it makes of the spread."""
    records = []
    for share in () if band is None else band.all_shares:
        records.append(share_record(share))
    yield Table(
        SHARE_COLUMNS, records, "uncertainty", folded="What was drawn, and how far it may be off"
    )


def share_record(share: Share) -> Record:
    """What a quantity makes of the spread, as plain values; a small share is not told."""
    quantity = share.quantity
    told = share.share >= LEAST_SHARE
    return {
        "name": quantity.name,
        "what": quantity.words,
        "known_from": quantity.basis,
        "source": quantity.source,
        "width": quantity.width,
        "unit": quantity.unit,
        "share": share.share if told else None,
        "elasticity": share.elasticity if told else None,
    }


def _within(record: Record) -> str:
    return in_words(record["width"], record["unit"])


def _elastic(record: Record) -> str:
    """What ten per cent more of a quantity, or a millimetre or a degree, do to the error."""
    elasticity = record["elasticity"]
    if elasticity is None:
        return NONE
    step, per = STEPS[record["unit"]]
    change = step**elasticity - 1 if per == "" else math.expm1(step * elasticity)
    return f"{100 * change:+.0f} %{per}"


STEPS = {"1": (1.1, ""), "m": (0.001, " a mm"), "rad": (math.radians(1.0), " a deg")}
SHARE_COLUMNS = (
    Column("name", "quantity"),
    Column("what", "what it is", page_only=True),
    Column("known_from", "known from"),
    Column("width", "nine of ten", words=_within),
    Column("share", "of spread", PERCENT),
    Column("elasticity", "error at +10 %", words=_elastic),
)


def _savings(band: Band) -> Iterator[Block]:
    if not band.savings:
        return
    number = size_of(band.direction)
    records = []
    for saving in band.savings:
        low, high = narrowed(*band.peak, saving.left)
        between = f"{number.text(low)} to {number.with_unit(high)}"
        records.append({"way": saving.way, "band": between, "left": saving.left})
    yield Text("What measuring would buy:")
    columns = (
        Column("way", "measurement"),
        Column("band", "nine of ten then"),
    )
    yield Table(columns, records, "band.measuring")


def _data(band: Band) -> Iterator[Data]:
    low, middle, high = band.ratio
    yield Data("band.direction", band.direction)
    yield Data("band.ratio", {"p5": low, "p50": middle, "p95": high})
    yield Data("band.draws", len(band.ensemble))
    yield Data("band.failed", band.failures)
    reasons = sorted({reason for reason in band.ensemble.reasons if reason})
    yield Data("band.reasons", reasons)
    place = band.ensemble.place
    yield Data("band.along", {"s_m": place.tolist(), "out": out_of_tolerance(band).tolist()})


def verdict_data(p: Prediction, band: Band | None) -> Iterator[Data]:
    """Outcome, nominal peaks and bands as result.json has them; null where nothing was drawn."""
    stopped = "does not hold" if p.verdict.stopped is not None else None
    yield Data("verdict.outcome", stopped if band is None else band.outcome)
    yield Data("verdict.probability", None if band is None else band.probability)
    capped = band is not None and band.is_guessed
    yield Data("verdict.capped_by", CAPPED if capped else None)
    nominal = dict(p.verdict.peaks)
    angle = nominal.pop("orientation", None)
    yield Data("verdict.nominal_m", nominal)
    yield Data("verdict.nominal_orientation_rad", angle)
    bounds = {} if band is None else _bounds(band)
    angles = bounds.pop("orientation", None)
    yield Data("verdict.band_m", bounds or None)
    yield Data("verdict.band_orientation_rad", angles)


def _bounds(band: Band) -> dict[str, list[float]]:
    """Peaks of which 5, 50 and 95 % of the robots stay below, in each direction."""
    rows = band.distribution.bounds()
    return dict(zip(band.ensemble.directions, rows.tolist(), strict=True))

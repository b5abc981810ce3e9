"""How sure a prediction is: its first lines, and the section that shows its band."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.band.band import Band, Share
from armtwin.prediction.band.measuring import narrowed
from armtwin.report.charts import Bars, Chart, Multiples
from armtwin.report.layers import Curve, Rule
from armtwin.report.numbers import (
    DEGREES,
    MICROMETRES,
    MILLIMETRES_PER_SECOND,
    PERCENT,
    Number,
)
from armtwin.report.scales import Axis
from armtwin.report.sections import Block, Column, Data, Record, Section, Table, Text, Tone

SHARES_SHOWN = 5
LOW, MIDDLE, HIGH = 5.0, 50.0, 95.0
TONES: dict[str, Tone] = {"holds": "good", "may hold": "", "does not hold": "bad"}


def band_verdict(band: Band) -> Iterator[Text]:
    """The first lines: outcome with its band, what decides it, what measuring would buy."""
    yield Text(outcome_sentence(band), TONES[band.outcome])
    sentences = (servo_sentence(band), deciding_sentence(band), measuring_sentence(band))
    reasons = " ".join(sentence for sentence in sentences if sentence)
    if reasons:
        yield Text(reasons)


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
    if not band.shares:
        return ""
    first, *others = band.shares
    known = f"{first.quantity.basis}, {first.quantity.width}"
    share = PERCENT.with_unit(first.share)
    found = f"It depends on {first.quantity.name} ({known}): {share} of the spread"
    if others:
        second = others[0]
        found += f"; then {second.quantity.name}: {PERCENT.with_unit(second.share)}"
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
    count, numbers = len(band.ensemble), len(band.quantities)
    yield Text(
        f"{count} robots were drawn in which {numbers} quantities differ by what their sources "
        "leave open; widths are judgement, [uncertainty] in the job gives others.",
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
    yield Text("Where the spread comes from:")
    columns = (
        Column("quantity", "quantity"),
        Column("basis", "known from"),
        Column("width", "nine of ten"),
        Column("share", "of the spread", PERCENT),
        Column("elasticity", "10 % more of it", words=_elastic, page_only=True),
    )
    yield Table(columns, [share_record(x) for x in band.shares], "band.shares", most=SHARES_SHOWN)


def share_record(share: Share) -> Record:
    """What a quantity makes of the spread, as plain values."""
    quantity = share.quantity
    return {
        "quantity": quantity.name,
        "basis": quantity.basis,
        "width": quantity.width,
        "share": share.share,
        "elasticity": share.elasticity,
        "is_ratio": quantity.is_ratio,
    }


def _elastic(record: Record) -> str:
    """What ten per cent more of a quantity do to the error."""
    if not record["is_ratio"]:
        return ""
    change = 1.1 ** record["elasticity"] - 1
    more = "more" if change > 0 else "less"
    return f"{PERCENT.with_unit(abs(change))} {more} error"


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
    bounds = band.distribution.bounds()
    directions = {}
    for k, direction in enumerate(band.ensemble.directions):
        low, middle, high = (float(x) for x in bounds[k])
        nominal = float(band.nominal[k])
        directions[direction] = {"nominal": nominal, "p5": low, "p50": middle, "p95": high}
    low, middle, high = band.ratio
    yield Data("band.outcome", band.outcome)
    yield Data("band.probability", band.probability)
    yield Data("band.direction", band.direction)
    yield Data("band.ratio", {"p5": low, "p50": middle, "p95": high})
    yield Data("band.peaks", directions)
    yield Data("band.draws", len(band.ensemble))
    yield Data("band.failed", band.failures)
    yield Data("band.seed", band.seed)
    reasons = sorted({reason for reason in band.ensemble.reasons if reason})
    yield Data("band.reasons", reasons)
    place = band.ensemble.place
    yield Data("band.along", {"s_m": place.tolist(), "out": out_of_tolerance(band).tolist()})

"""Uncertainty of a prediction: its first lines, and the section with its 90 % interval."""

import math
from collections.abc import Iterator, Mapping

import numpy as np

from armtwin.maths.batch import Record
from armtwin.notebook import sections as show
from armtwin.notebook.charts import Bars, Multiples
from armtwin.notebook.layers import Curve, Rule
from armtwin.notebook.numbers import MILLIMETRES, NONE, PERCENT
from armtwin.notebook.scales import Axis
from armtwin.prediction.band.band import LEAST_SHARE, Band, Share
from armtwin.prediction.band.measuring import Saving, narrow_interval
from armtwin.prediction.band.widths import in_words
from armtwin.prediction.cautions import describe_judged
from armtwin.prediction.predict import Prediction
from armtwin.prediction.sections.headline import chart_along_seam, number_of, verdict_text

SHARES_SHOWN = 5  # contributions to the uncertainty in the table


def describe_band(band: Band) -> show.Report:
    """The report on the 90 % interval of a prediction."""
    p = band.prediction
    return show.Report(
        title=f"{p.job.description.title or p.job.name}: 90 % interval",
        subtitle=f"{p.job.name}: {p.robot.name}, {len(band.ensemble)} variants",
        sections=(
            show.Section("", interval_blocks(band)),
            show.Section("", uncertainty_blocks(band)),
        ),
        verdict=tuple(interval_verdict(band)),
    )


def interval_verdict(band: Band) -> Iterator[show.Text]:
    """The first lines: outcome with its interval, what decides it, what measuring would gain."""
    yield verdict_text(band.prediction, band)
    yield show.Text(describe_judged(band.prediction))
    reasons = f"{_servo_sentence(band)} {deciding_sentence(band)}".strip()
    for sentence in (reasons, _measuring_sentence(band)):
        if sentence:
            yield show.Text(sentence)


def _servo_sentence(band: Band) -> str:
    """What the servo is, where neither its file gives it nor the deciding quantity says it."""
    servo = band.prediction.servo
    if not servo.summary or (_is_deciding(band) and servo.summary == "assumed servo"):
        return ""
    return f"{servo.summary[0].upper()}{servo.summary[1:]}."


def _is_deciding(band: Band) -> bool:
    """Whether most of the uncertainty is the servo's."""
    return bool(band.shares) and band.shares[0].quantity.name.startswith("servo.")


def deciding_sentence(band: Band) -> str:
    """What the uncertainty comes from; empty where nothing does."""
    parts = []
    for share in band.shares[:2]:
        known = f"{share.quantity.basis} {share.quantity.width_in_words}"
        parts.append((share.share, share.quantity.words, f", {known}"))
    rest = band.regression.rest_share
    if band.beside_quantities and rest >= LEAST_SHARE:
        parts.append((rest, " and ".join(band.beside_quantities), ""))
    if not parts:
        return ""
    parts.sort(key=lambda part: -part[0])
    first, words, known = parts[0]
    sentence = f"{PERCENT.with_unit(first)} of this uncertainty is {words}{known}"
    if len(parts) > 1:
        second, words, _ = parts[1]
        sentence += f"; {PERCENT.with_unit(second)} is {words}"
    return f"{sentence}."


def _measuring_sentence(band: Band) -> str:
    """What the best measurement would gain; empty where none would."""
    if not band.savings:
        return ""
    best = band.savings[0]
    narrowed = _describe_narrowing(band, best)
    allowed = number_of(band.direction).with_unit(band.allowed)
    return f"{best.way}: the interval narrows to about {narrowed}, {allowed} allowed."


def _describe_narrowing(band: Band, saving: Saving) -> str:
    """The interval that a measurement would leave."""
    number = number_of(band.direction)
    low, high = narrow_interval(*band.peak, saving.left)
    return f"{number.text(low)} to {number.with_unit(high)}"


def interval_blocks(band: Band) -> show.Blocks:
    """The interval along the seam, where uncertainty comes from."""
    count = len(band.ensemble)
    numbers = sum(quantity.spread > 0 for quantity in band.quantities)
    yield show.Text(
        f"{count} variants were simulated, {numbers} quantities varied within the uncertainty of "
        "their sources; the widths are estimates, [uncertainty] in the job gives others by these "
        "names.",
        "soft",
    )
    yield _along(band)
    yield from _shares(band)
    yield from _savings(band)
    yield from _data(band)


def interval_bars(bands: Mapping[str, Band], caption: str) -> Bars:
    """The 90 % interval of each command in each direction, as a share of the tolerance."""
    labels, rows = [], []
    for name, band in bands.items():
        bounds = 100 * band.bounds / band.tolerances[:, None]
        for direction, row in zip(band.ensemble.directions, bounds, strict=True):
            labels.append(f"{name}, {direction}" if name else direction)
            rows.append(row)
    low, middle, high = np.array(rows).T
    return Bars(
        "90 % interval",
        Axis("largest error, of the tolerance", "%"),
        labels,
        low,
        high,
        centre=middle,
        limit=100.0,
        cases=("5-50 %", "50-95 %"),
        caption=caption,
    )


def _along(band: Band) -> Multiples:
    """The largest error within a window along the seam with its 90 % interval."""
    charts = []
    along = band.along
    for k, direction in enumerate(band.ensemble.directions):
        number = number_of(direction)
        low, middle, high = number.scale * along.bounds[k]
        allowed = number.scale * float(band.tolerances[k])
        curve = Curve("median", 1e3 * along.place, middle, low=low, high=high)
        charts.append(chart_along_seam(direction, number.unit, (curve, Rule(allowed, "tolerance"))))
    caption = (
        f"Largest error within ±{describe_window(band)} of each place, shaded: its 90 % interval. "
        "The peaks of the variants are that far apart."
    )
    return Multiples(tuple(charts), columns=2, shared="x", title="Along the seam", caption=caption)


def describe_window(band: Band) -> str:
    """How far a window of the interval along the seam reaches, as "15 mm"."""
    return MILLIMETRES.with_unit(band.along.half_width)


def _shares(band: Band) -> show.Blocks:
    if band.shares:
        yield show.Text("Where the uncertainty comes from:")
        records = [share_record(x) for x in band.shares[:SHARES_SHOWN]]
        yield show.Table(SHARE_COLUMNS, records)
    if band.beside_quantities:
        rest = PERCENT.with_unit(band.regression.rest_share)
        yield show.Text(f"{rest} of it come from {' and '.join(band.beside_quantities)}.")


def uncertainty_blocks(band: Band | None) -> show.Blocks:
    """All that was varied with its width, and its share in the spread."""
    records = []
    for share in () if band is None else band.all_shares:
        records.append(share_record(share))
    yield show.Table(
        SHARE_COLUMNS, records, "uncertainty", folded="What was varied, and how far it may be off"
    )


def share_record(share: Share) -> Record:
    """Share of a quantity in the spread, as plain values; a small share is left out."""
    quantity = share.quantity
    large = share.share >= LEAST_SHARE
    return {
        "name": quantity.name,
        "what": quantity.words,
        "known_from": quantity.basis,
        "source": quantity.source,
        "width": quantity.width,
        "unit": quantity.unit,
        "share": share.share if large else None,
        "elasticity": share.elasticity if large else None,
    }


def _elastic(record: Record) -> str:
    """Change of the error by ten per cent of a quantity, or a millimetre or a degree."""
    elasticity = record["elasticity"]
    if elasticity is None:
        return NONE
    step, per = STEPS[record["unit"]]
    change = step**elasticity - 1 if per == "" else math.expm1(step * elasticity)
    return f"{100 * change:+.0f} %{per}"


STEPS = {"1": (1.1, ""), "m": (0.001, " a mm"), "rad": (math.radians(1.0), " a deg")}
SHARE_COLUMNS = show.list_columns(
    name="quantity",
    what=("what it is", None, show.PAGE_ONLY),
    known_from="known from",
    width=("90 % within", lambda x: in_words(x["width"], x["unit"])),
    share=("share", PERCENT),
    elasticity=("error at +10 %", _elastic),
)


def _savings(band: Band) -> show.Blocks:
    if not band.savings:
        return
    records = []
    for saving in band.savings:
        records.append(
            {"way": saving.way, "band": _describe_narrowing(band, saving), "left": saving.left}
        )
    yield show.Text("What measuring would gain:")
    columns = show.list_columns(way="measurement", band="90 % interval then")
    yield show.Table(columns, records, "band.measuring")


def _data(band: Band) -> Iterator[show.Data]:
    low, middle, high = band.ratio
    along = band.along
    curves: Record = {}
    for direction, bounds in zip(band.ensemble.directions, along.bounds, strict=True):
        curves[f"{direction}_{'rad' if direction == 'orientation' else 'm'}"] = bounds.tolist()
    out = 1 - along.probability
    places = {"s_m": along.place.tolist(), "window_m": along.half_width, "out": out.tolist()}
    yield show.Data(
        {
            "band.direction": band.direction,
            "band.ratio": {"p5": low, "p50": middle, "p95": high},
            "band.draws": len(band.ensemble),
            "band.failed": band.failures,
            "band.reasons": sorted({reason for reason in band.ensemble.reasons if reason}),
            "band.along": places | curves,
        }
    )


def verdict_data(p: Prediction, band: Band | None) -> show.Data:
    """Outcome, nominal peaks and intervals as in result.json; null for the nominal run alone."""
    stopped = "does not hold" if p.verdict.stopped is not None else None
    nominal = dict(p.verdict.peaks)
    angle = nominal.pop("orientation", None)
    bounds = {}
    if band is not None:
        bounds = dict(zip(band.ensemble.directions, band.bounds.tolist(), strict=True))
    angles = bounds.pop("orientation", None)
    return show.Data(
        {
            "verdict.outcome": stopped if band is None else band.outcome,
            "verdict.probability": None if band is None else band.probability,
            "verdict.capped_by": " and ".join(p.capped_by) or None,
            "verdict.nominal_m": nominal,
            "verdict.nominal_orientation_rad": angle,
            "verdict.band_m": bounds or None,
            "verdict.band_orientation_rad": angles,
        }
    )

"""Whether the pictures of a report say what its verdict says: `python studies/pictures.py`.

For the shipped jobs at their own speed and at 60, 100 and 300 mm/s, and with tolerances of other
sizes: probability, share of the seam that is red in 3-D, and the largest value of the interval that
is shown along the seam beside the verdict's 95 % value. Behind docs/verdict.md.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.jobs.files import list_shipped
from armtwin.maths.batch import Floats
from armtwin.notebook.charts import Multiples
from armtwin.notebook.layers import Curve
from armtwin.prediction.band.band import Band
from armtwin.prediction.sections.headline import number_of
from armtwin.prediction.sections.scene import figure

SPEEDS = (0.06, 0.1, 0.3)  # beside the job's own [m/s]
FACTORS = (1.0, 1.7, 4.0)  # of the job's tolerance
DRAWS = 64


@dataclass(frozen=True)
class Shown:
    """What the pictures of a report say, beside its verdict.

    Attributes:
        probability: Of the verdict.
        red: Share of the seam with the process on that is red.
        green: And that is green.
        ends: Largest value of the interval along the seam in each direction over the 95 % value of
            the verdict in it.
        worst: In the direction that decides, over the end of the headline's interval.
    """

    probability: float
    red: float
    green: float
    ends: tuple[float, ...]
    worst: float


def read_pictures(band: Band) -> Shown:
    """What colours and curves show, read from the blocks of a report."""
    model = figure(band.prediction, band)
    ratio = np.frombuffer(base64.b64decode(model["seam"]["ratio"]), dtype="<f4")
    on = ratio[ratio >= 0]
    highest = dict(_highest(band))
    ends = [highest[x] / end[2] for x, end in zip(highest, band.bounds, strict=True)]
    worst = highest[band.direction] / band.peak[1]
    red, green = float((on >= 1).mean()), float((on < 0.5).mean())
    return Shown(band.probability, red, green, tuple(ends), worst)


def _highest(band: Band) -> Iterator[tuple[str, float]]:
    """Upper end of the shaded interval of each direction where it is largest [m; rad]."""
    for section in band.sections().sections:
        for block in section.blocks:
            if not isinstance(block, Multiples):
                continue
            for chart in block.charts:
                (curve,) = (x for x in chart.layers if isinstance(x, Curve))
                high: Floats = np.asarray(curve.high)
                yield chart.title, float(high.max()) / number_of(chart.title).scale


def widen(band: Band, factor: float) -> Band:
    """The same variants, judged by another tolerance."""
    p = band.prediction
    tolerance = p.job.description.tolerance
    wider = replace(
        tolerance, lateral=factor * tolerance.lateral, vertical=factor * tolerance.vertical
    )
    job = at.Job(replace(p.job.description, tolerance=wider), p.job.origin)
    return replace(band, prediction=replace(p, job=job))


def rows(name: str) -> Iterator[str]:
    """Rows of the table for a shipped job."""
    job = at.Job.load(name)
    for speed in sorted({job.description.speed, *SPEEDS}):
        what = f"{name} | {1e3 * speed:.0f}"
        try:
            p = at.predict(job.with_speed(speed))
            band = at.assess(p, draws=DRAWS)
        except ArmtwinError as refusal:
            yield f"{what} | {str(refusal).splitlines()[0][-60:]}"
            continue
        for factor in FACTORS:
            wider = widen(band, factor)
            shown = read_pictures(wider)
            ends = ", ".join(f"{x:.2f}" for x in shown.ends)
            window = 1e3 * wider.along.half_width
            yield (
                f"{what} | {factor:g} | {shown.probability:.2f} | {window:.1f}"
                f" | {100 * shown.red:.1f} | {100 * shown.green:.0f}"
                f" | {1e6 * shown.worst * wider.peak[1]:.0f} | {1e6 * wider.peak[1]:.0f}"
                f" | {shown.worst:.2f} | {ends}"
            )


if __name__ == "__main__":
    print(
        "job | mm/s | tolerance times | P | window ± mm | red % | green % | shown 95 % µm | "
        "verdict 95 % µm | ratio | by direction"
    )
    for shipped in list_shipped():
        for row in rows(shipped):
            print(row, flush=True)

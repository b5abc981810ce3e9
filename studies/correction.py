"""How likely seams hold once they are corrected: `python studies/correction.py [JOB[:SPEED]]...`.

Makes the table of docs/correction.md: of each shipped job, on the same 64 variants, the probability
as programmed, by corrected set-points and by program points, the share of variants that get worse,
and what measurements before the correction would reach.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence

import armtwin as at

CASES = (
    "rx90b_line:60 mm/s",
    "rx90b_line",
    "rx90b_line:300 mm/s",
    "rx90b_corner_follow",
    "rx90b_corner_fixed",
    "kr300_frame",
    "lwa4p_bead",
    "rx90b_probed",
    "rx90b_cladding",
    "ur10e_bead",
)
HEAD = (
    "| job | P as programmed | P by set-points | P by program points | get worse "
    "| points | nominal peaks: set-points, points | measured first |"
)
RULE = "|---|---|---|---|---|---|---|---|"


def rows(cases: Sequence[str]) -> Iterator[str]:
    """The table, a row for each case."""
    yield HEAD
    yield RULE
    for case in cases:
        name, _, speed = case.partition(":")
        job = at.Job.load(name)
        yield row(case.replace(":", ", "), at.correct(job.with_speed(speed) if speed else job))


def row(name: str, found: at.Correction) -> str:
    """What became of a job."""
    assert found.band is not None
    odds, worse, peaks = [f"{found.band.probability:.2f}"], [], []
    for command in (found.best, found.points):
        assert command.band is not None
        odds.append(f"{command.band.probability:.2f}")
        worse.append(f"{100 * (found.share_worse(command) or 0.0):.0f}")
        peaks.append(f"{1e6 * command.size.lateral:.0f}/{1e6 * command.size.vertical:.0f}")
    nearest = 1e3 * found.program.spacings.min()
    steps = [f"{step.probability:.2f}" for step in found.measured_first]
    cells = [
        name,
        *odds,
        f"{' and '.join(worse)} %",
        f"{len(found.program)}, from {nearest:.1f} mm",
        f"{', '.join(peaks)} µm",
        ", ".join(steps) or "-",
    ]
    return f"| {' | '.join(cells)} |"


if __name__ == "__main__":
    for line in rows(sys.argv[1:] or CASES):
        print(line, flush=True)

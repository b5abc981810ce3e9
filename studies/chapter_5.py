"""The statements of chapter 5 of the laser welding thesis, armtwin's figures, and what holds.

    python studies/chapter_5.py > docs/chapter_5.md

The robot's servo, motors and masses are assumptions (armtwin check rx90b), and the seams lie in
the middle of what the document's sentences on joint motion allow (chapter_5_placements.py):
agreement is of kind, not of digits. The second half of the page shows other placements.

Ref: [Waiboer 2007, sections 5.4 to 5.6]
"""

import sys
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

import chapter_5_corner as corner
import chapter_5_line as line
from chapter_5_placements import (
    STEP,
    Corner,
    Placement,
    all_corner_placements,
    line_placements,
    middle,
    speed_ratio,
)
from chapter_5_runs import Seams, causes_of, peaks, predicted
from chapter_5_statements import Statement, all_um, listed

Part = Callable[[Seams], Iterator[Statement]]
PARTS: tuple[Part, ...] = (
    line.reversal_statements,
    line.torque_statements,
    line.stiffness_statements,
    line.kinematic_statements,
    line.perturbation_statements,
    corner.perturbation_statements,
    line.orientation_statements,
    line.speed_statements,
    corner.motion_statements,
    corner.following_statements,
    corner.stop_statements,
    corner.fixed_statements,
    line.viscous_statements,
)
OF_LINE: tuple[Part, ...] = (line.speed_statements,)
OF_CORNER: tuple[Part, ...] = (
    corner.following_statements,
    corner.stop_statements,
    corner.fixed_statements,
)
SERVOS = (  # factors on bandwidth and integrator, and relative damping
    (1.0, 1.0, 0.8),
    (1.0, 0.3, 0.8),
    (1.3, 1.0, 0.8),
    (1.6, 0.2, 0.5),
)
HEAD_ALONG = Corner(Placement(650, 0, -45, 90), Placement(650, 0, -45, 45))

HEAD = """# Chapter 5, statement by statement

What the laser welding thesis [Waiboer 2007] says about its seams, beside what armtwin computes;
made by `python studies/chapter_5.py`. The robot's servo, motors and masses are assumptions anchored
to sister robots (`armtwin check rx90b`). Its bandwidth was chosen for tracking errors of the
document's size, and the limit of its following error for the document's one emergency stop; nothing
else was tuned to these statements.

![A straight seam of the RX90B as a report shows it](pictures/seam_out.png)

The document does not say where its seams lie. Their placements are chosen by its sentences on joint
motion alone (which joints turn back, when, how fast they are), never by errors:
`studies/chapter_5_placements.py` lists the sentences, says how they are read, and scans all places
within reach. The shipped jobs are the middle of what is left: the placement with the least sum of
distances to all others, in steps of 25 mm and 15 degrees.
"""


def statements(seams: Seams, parts: Sequence[Part] = PARTS) -> list[Statement]:
    """Statements in the order of the chapter."""
    found = []
    for part in parts:
        found.extend(part(seams))
    return sorted(found, key=lambda statement: statement.section)


# What makes the errors


def speed_text(seams: Seams) -> str:
    """Why the error of the straight seam does not grow with speed."""
    errors = all_um(line.without_stribeck(seams))
    rows = ""
    for bandwidth, integrator, damping in SERVOS:
        peak, out = line.with_servo(seams, bandwidth, integrator, damping)
        lengths = listed((1e3 * length for length in out), ".1f")
        rows += f"| {bandwidth:g} | {integrator:g} | {damping:g} | {all_um(peak)} | {lengths} |\n"
    return (
        "On the straight seam asperity friction decreases within about 0.03 rad/s: a reversal\n"
        "that is passed faster acts for a shorter time. Were asperity friction the same at all\n"
        f"speeds, the error would be {errors} µm at 100 to 500 mm/s.\n"
        "The assumed servo decides more: how its error changes with speed, and how much is out of\n"
        "tolerance, at factors on its bandwidth and on the integrator's share of it:\n\n"
        "| bandwidth | integrator | damping | error at 100 to 500 mm/s [µm] | out [mm] |\n"
        "|---|---|---|---|---|\n" + rows
    )


def causes_text(seams: Seams) -> str:
    """What makes the lateral peaks of the sharpest corner with fixed head."""
    along = replace(seams, corner=HEAD_ALONG)
    here = causes_of(seams.fixed(0.0025), "lateral")
    there = causes_of(along.fixed(0.0025), "lateral")
    wide = causes_of(along.fixed(0.05), "lateral")
    ratio = speed_ratio(HEAD_ALONG)
    return (
        f"The largest lateral error with fixed head at r = 2.5 mm is\n{here}.\n"
        "With the head turned by 180 degrees and the corner at (650, 0, 0) mm the joints would be\n"
        f"only {ratio:.1f} times slower than following, against section 5.5.3. There it would be\n"
        f"{there};\nat r = 50 mm, before the corner, {wide}.\n"
        "Shares are what goes when a cause is taken out alone; they need not add up to 100 %.\n"
    )


# Other placements


@dataclass(frozen=True)
class Spread:
    """What placements that agree with the document's joint motion give.

    Attributes:
        numbers: Errors [µm] and lengths [mm] by their name, one for each placement.
        verdicts: How often each statement holds, holds in part or does not.
    """

    numbers: dict[str, list[float]] = field(default_factory=dict)
    verdicts: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, numbers: dict[str, float], found: Sequence[Statement]) -> None:
        """Add what one placement gives."""
        for name, value in numbers.items():
            self.numbers.setdefault(name, []).append(value)
        for statement in found:
            counts = self.verdicts.setdefault(statement.text, Counter())
            counts[statement.verdict] += 1


def line_numbers(seams: Seams) -> dict[str, float]:
    """Errors of the straight seam at a placement [µm], and how much of it is out [mm]."""
    found = {}
    for speed in (0.1, 0.3, 0.5):
        p = seams.line(speed)
        lateral, vertical = peaks(p)
        name = f"straight, {1e3 * speed:.0f} mm/s"
        found[f"{name}, lateral [µm]"] = 1e6 * lateral
        found[f"{name}, vertical [µm]"] = 1e6 * vertical
        found[f"{name}, out of tolerance [mm]"] = 1e3 * p.verdict.out_of_tolerance_m
    return found


def corner_numbers(seams: Seams) -> dict[str, float]:
    """Errors of the corners at a placement [µm]."""
    runs = {
        "following, r = 100 mm at 100 mm/s": seams.following(0.1),
        "following, r = 40 mm at 50 mm/s": seams.following(0.04, 0.05),
    }
    for radius in corner.FIXED_RADII:
        runs[f"fixed, r = {1e3 * radius:g} mm"] = seams.fixed(radius)
    found = {}
    for name, p in runs.items():
        lateral, vertical = peaks(p)
        found[f"{name}, lateral [µm]"] = 1e6 * lateral
        found[f"{name}, vertical [µm]"] = 1e6 * vertical
    return found


def line_spread(places: Sequence[Placement]) -> Spread:
    """The straight seam at placements."""
    shipped, spread = Seams.shipped(), Spread()
    for place in places:
        seams = replace(shipped, straight=place)
        spread.add(line_numbers(seams), statements(seams, OF_LINE))
        predicted.cache_clear()
    return spread


def corner_spread(places: Sequence[Corner]) -> Spread:
    """The corners at placements."""
    shipped, spread = Seams.shipped(), Spread()
    for place in places:
        seams = replace(shipped, corner=place)
        spread.add(corner_numbers(seams), statements(seams, OF_CORNER))
        predicted.cache_clear()
    return spread


def on_coarse_grid(placement: Placement) -> bool:
    """Whether a placement lies on the grid of twice the step: those are simulated."""
    return placement.x % (2 * STEP) == 0 and placement.z % (2 * STEP) == 0


# The page


def statement_table(found: Sequence[Statement]) -> Iterator[str]:
    """Statements as lines of a table."""
    yield "| section | statement | armtwin | | what it depends on, or why not |"
    yield "|---|---|---|---|---|"
    for s in found:
        yield f"| {s.section} | {s.text} | {s.figure} | {s.verdict} | {s.why} |"


def spread_tables(spread: Spread, shipped: dict[str, float]) -> Iterator[str]:
    """A spread as two tables."""
    yield "| quantity | least | median | largest | as shipped |"
    yield "|---|---|---|---|---|"
    for name, values in spread.numbers.items():
        low, half, high = np.quantile(values, [0, 0.5, 1])
        yield f"| {name} | {low:.0f} | {half:.0f} | {high:.0f} | {shipped[name]:.0f} |"
    yield ""
    yield "| statement | holds at | in part at | does not at |"
    yield "|---|---|---|---|"
    for text, counts in spread.verdicts.items():
        holds, part = counts["holds"], counts["holds in part"]
        yield f"| {text} | {holds} | {part} | {counts['does not hold']} |"
    yield ""


def page(lines: Sequence[Placement], corners: Sequence[Corner]) -> Iterator[str]:
    """Statements, causes, and what other placements give, as lines."""
    shipped = Seams.shipped()
    yield HEAD
    yield from statement_table(statements(shipped))
    yield ""
    yield speed_text(shipped)
    yield causes_text(shipped)
    yield "## Other placements"
    yield ""
    yield (
        "The document's sentences on joint motion leave these open; sizes of errors differ\n"
        "between them by a factor of two to eight. What holds at some of them only neither speaks\n"
        "for the model nor against it.\n"
    )
    some = [place for place in lines if on_coarse_grid(place)]
    above = [place for place in lines if place.z >= 0]
    yield (
        f"{len(lines)} placements of the straight seam agree with the sentences on joint motion,\n"
        f"{len(above)} of them not below the plane of the robot's foot. The {len(some)} on a grid\n"
        "of 50 mm are simulated.\n"
    )
    yield from spread_tables(line_spread(some), line_numbers(shipped))
    few = [place for place in corners if on_coarse_grid(place.fixed)]
    yield (
        f"{len(corners)} placements of the corner, with turns of the fixed head, agree; the\n"
        f"{len(few)} on a grid of 50 mm are simulated.\n"
    )
    yield from spread_tables(corner_spread(few), corner_numbers(shipped))


def main() -> None:
    """Scan, report where the shipped jobs do not lie in the middle, print the page."""
    lines = list(line_placements(STEP))
    corners = all_corner_placements()
    found = Seams(middle(lines), middle(corners))
    if found != Seams.shipped():
        print(f"the middle is {found}, the jobs have {Seams.shipped()}", file=sys.stderr)
    print("\n".join(page(lines, corners)).rstrip())


if __name__ == "__main__":
    main()

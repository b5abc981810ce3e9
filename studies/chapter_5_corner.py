"""What chapter 5 says of its corner, with the head that follows and with the one that does not.

Ref: [Waiboer 2007, sections 5.5.2 and 5.5.3]
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from chapter_5_placements import (
    FIXED,
    LEAST_ORDER,
    MOST_ORDER,
    motion,
    only_reverse_at,
    reversals_in_corner,
    speed_ratio,
    that_reverse,
    times,
)
from chapter_5_runs import (
    Seams,
    apart,
    corner_of,
    largest,
    methods_apart,
    on_process,
    peak_places,
    peaks,
    peaks_in_corner,
    share_within,
)
from chapter_5_statements import CHOSEN, Statement, all_um, listed, of_all, pairs_um

TOLERANCE = 1e-4  # of laser welding [m]
FOLLOWED_RADII = (0.1, 0.08, 0.06)  # at 100 mm/s [m]; 50 mm stops the robot
FIXED_RADII = (0.05, 0.01, 0.005, 0.0025)  # [m]
RADII = "r = 50, 10, 5, 2.5 mm"


def motion_statements(seams: Seams) -> Iterator[Statement]:
    """How the joints move in the corner."""
    counts = reversals_in_corner(seams.corner.following)
    yield Statement(
        section="5.5.2",
        text="following, r = 100 mm: all six joints turn back twice or more in the corner",
        figure=f"{listed(counts)} times in joints 1 to 6",
        holds=min(counts) >= 2,
        why=CHOSEN,
    )
    fixed = motion(FIXED, seams.corner.fixed, 0.05)
    when = times(np.concatenate(fixed.reversals()))
    yield Statement(
        section="5.5.3",
        text="fixed, r = 50 mm: joints 2, 3 and 5 turn back at about 3.9 s",
        figure=f"joints {listed(that_reverse(fixed))} at {min(when):.2f} to {max(when):.2f} s",
        holds=only_reverse_at(fixed, 3.9),
        why=CHOSEN,
    )
    ratio = speed_ratio(seams.corner)
    yield Statement(
        section="5.5.3",
        text="fixed: the largest joint speed is one order lower than following",
        figure=f"{ratio:.1f} times lower",
        holds=LEAST_ORDER <= ratio <= MOST_ORDER,
        why=CHOSEN,
    )


def following_statements(seams: Seams) -> Iterator[Statement]:
    """Errors in the corner with following head."""
    for radius, speed in ((0.1, 0.1), (0.04, 0.05)):
        pair = peaks(seams.following(radius, speed))
        seam = f"r = {1e3 * radius:.0f} mm at {1e3 * speed:.0f} mm/s"
        yield Statement(
            section="5.5.2",
            text=f"following, {seam}: just out of tolerance",
            figure=f"{pairs_um([pair])} µm lateral/vertical",
            holds=TOLERANCE < max(pair) < 2 * TOLERANCE,
            why="just out: up to twice the tolerance",
        )
    pairs = [peaks(seams.following(radius)) for radius in FOLLOWED_RADII]
    growing = []
    for before, after in pairwise(pairs):
        growing += [after[0] > before[0], after[1] > before[1]]
    yield Statement(
        section="5.5.2",
        text="following at 100 mm/s: the error grows as the radius falls",
        figure=f"{pairs_um(pairs)} µm lateral/vertical at r = 100, 80, 60 mm",
        holds=of_all(growing),
        why="vertically it is friction as joint 2 turns back, which does not go on growing",
    )


def stop_statements(seams: Seams) -> Iterator[Statement]:
    """The following error that stops the robot in the corner of 50 mm."""
    verdict = seams.following(0.05).verdict
    joint, figure = "", "no stop"
    if verdict.stopped is not None:
        joint = verdict.stopped.joint
        figure = f"{joint} at {1e3 * verdict.stopped_at_m:.0f} mm"
    yield Statement(
        section="5.5.2",
        text="following, r = 50 mm at 100 mm/s: emergency stop by joint 4",
        figure=figure,
        holds=joint == "motor_4",
        why="the limit of the following error was chosen so, it is no prediction",
    )


def fixed_statements(seams: Seams) -> Iterator[Statement]:
    """Errors in the corner with fixed head."""
    runs = [seams.fixed(radius) for radius in FIXED_RADII]
    places = []
    for p in runs:
        lateral, vertical = peak_places(p)
        places.append(f"{1e3 * lateral:.0f}/{1e3 * vertical:.0f}")
    middles = [1e3 * np.mean(corner_of(p)) for p in runs]
    yield Statement(
        section="5.5.3",
        text="fixed: for all radii both errors peak in the corner",
        figure=f"largest at {'; '.join(places)} mm lateral/vertical, its middle at "
        f"{listed(middles)} mm, {RADII}",
        holds=of_all([peaks_in_corner(p) for p in runs]),
    )
    within = [100 * share_within(p) for p in runs]
    yield Statement(
        section="5.5.3",
        text="fixed: well within 0.1 mm on the major part of the seam",
        figure=f"within on {listed(within, '.1f')} % of it, {RADII}",
        holds=min(within) > 50,
    )
    yield from fixed_growth([peaks(p) for p in runs])


def fixed_growth(pairs: list[tuple[float, float]]) -> Iterator[Statement]:
    """How lateral and vertical errors with fixed head grow as the corner gets sharper."""
    laterals, verticals = zip(*pairs, strict=True)
    first, last = verticals[0], verticals[-1]
    yield Statement(
        section="5.5.3",
        text="fixed: the vertical error grows from 0.2 to 0.3 mm, r = 50 to 2.5 mm",
        figure=f"{all_um(verticals)} µm at {RADII}",
        holds=of_all([last > 1.2 * first, 1.5e-4 < first < 2.5e-4, 2.5e-4 < last < 3.5e-4]),
        why="it grows; sizes depend on assumed gains and on the placement",
    )
    yield Statement(
        section="5.5.3",
        text="fixed: the lateral error does not grow much and stays more or less within 0.1 mm",
        figure=f"{all_um(laterals)} µm at {RADII}",
        holds=of_all([laterals[-1] < 1.5 * laterals[0], max(laterals) < 1.5 * TOLERANCE]),
        why="causes below",
    )


def perturbation_statements(seams: Seams) -> Iterator[Statement]:
    """The perturbation method on the corners."""
    method = "perturbation"
    pairs = [
        (seams.following(0.1), seams.following(0.1, method=method)),
        (seams.fixed(0.05), seams.fixed(0.05, method)),
        (seams.fixed(0.0025), seams.fixed(0.0025, method)),
    ]
    in_process, elsewhere = [], []
    for whole, linear in pairs:
        off, on = apart(whole, linear), on_process(whole)
        in_process.append(largest(off[on]))
        elsewhere.append(methods_apart(whole))
    yield Statement(
        section="5.5",
        text="the perturbation method is accurate enough for the corners too",
        figure=f"{all_um(in_process, '.1f')} µm at most, following r = 100 and fixed r = 50, "
        f"2.5 mm; {all_um(elsewhere, '.1f')} µm in ramps and at rest without rounding",
        holds=max(in_process) < 0.1 * TOLERANCE,
    )

"""Which numbers of a clamping are headlined: those that explain the log and that rivals confirm.

A number is headlined where the log recreated with it is explained, where its 95 % interval is
narrow, and where the other methods agree within the intervals of both, their known bias counted in:

    |x - x_rival| <= half width + its half width + bias

Bias of the algorithms: a gap that a moving average hides counts as spring, which is then softer by
the gap's share of the turn, and no gap is known better than that average; where the motor sticks in
waves they average torques at rest, and friction is low by up to the amplitude of the waves.

Else nothing is headlined, and it is said why, with all methods side by side.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from armtwin.files.hypothesis import strongest
from armtwin.identification.clamping import hysteresis
from armtwin.identification.clamping.curves import WINDOWS
from armtwin.identification.clamping.estimate import TransmissionEstimate
from armtwin.identification.clamping.least_squares import LeastSquares
from armtwin.identification.clamping.record import ClampingRecord, doubt_sizes
from armtwin.maths.batch import Names
from armtwin.notebook.numbers import Number

EXPLAINED = 0.8  # share of the spring's torque: below, noise or another law is as large as it
NARROW = 0.06  # of a number, half width of its interval: an error of 10 % is three deviations
SOFTER = 0.03  # of the stiffness: rounding of the algorithms beside their intervals
NUMBERS = {
    "stiffness": Number(unit="N m/rad", digits=4),
    "backlash": Number(1e3, "mrad", digits=4),
    "friction": Number(unit="N m", digits=4),
}


@dataclass(frozen=True, eq=False)
class Headline:
    """What is said of a transmission first.

    Attributes:
        found: The numbers that are headlined, None for others, on the motor side.
        doubts: Why none is, a sentence each; empty where some are.
    """

    found: TransmissionEstimate
    doubts: Names = ()


def choose_headline(
    record: ClampingRecord, squares: LeastSquares, rivals: tuple[TransmissionEstimate, ...]
) -> Headline:
    """The numbers of least squares that are headlined.

    Args:
        record: What was logged.
        squares: Least squares, with the log recreated.
        rivals: Results of the algorithms.
    """
    found = squares.found
    doubts = tuple(_doubt(record, squares, rivals))
    if doubts:
        return Headline(TransmissionEstimate(found.method, refused=doubts[0]), doubts)
    for name, number in NUMBERS.items():
        value, half = getattr(found, name), getattr(found, f"{name}_half")
        if value is None or half <= NARROW * value:
            continue
        ends = number.text(max(value - half, 0.0)), number.with_unit(value + half)
        sentence = f"{name} is poorly identified: {ends[0]} to {ends[1]} (95 %)."
        changes: dict[str, Any] = dict.fromkeys((name, f"{name}_std", f"{name}_half"))
        found = replace(found, **changes, refused=f"{found.refused} {sentence}".strip())
    return Headline(found)


def _doubt(
    record: ClampingRecord,
    squares: LeastSquares,
    rivals: tuple[TransmissionEstimate, ...],
) -> Iterator[str]:
    """Why nothing is headlined, most telling first."""
    found = squares.found
    assert found.stiffness is not None
    assert found.stiffness_half is not None
    suspected = strongest(doubt_sizes(record, found))
    if suspected is not None:
        yield f"{suspected.sentence}."
    if squares.doubt:
        yield squares.doubt
    if found.explained is not None and found.explained < EXPLAINED:
        yield (
            "recreated with it, the log is not explained: "
            f"{100 * max(found.explained, 0):.0f} % of the spring's torque, at least "
            f"{100 * EXPLAINED:.0f} % are needed. Turn the motor farther against the clamp, so "
            "that the spring's torque exceeds noise and waves."
        )
    if found.stiffness_half > NARROW * found.stiffness:
        share = min(100 * found.stiffness_half / found.stiffness, 100)
        yield (
            f"the stiffness is poorly identified: ±{share:.0f} % or more (95 %), at most ±"
            f"{100 * NARROW:.0f} % are headlined. Log more cycles, or turn the motor farther "
            "against the clamp."
        )
    for rival in rivals:
        yield from _disagree(record.turn, squares, rival)


def _disagree(turn: float, squares: LeastSquares, rival: TransmissionEstimate) -> Iterator[str]:
    """Where a method contradicts least squares beyond both intervals and its bias.

    A method that the recreated log refutes, as one that took a wave for the gap, is no rival.
    """
    found = squares.found
    if rival.explained is not None and rival.explained < EXPLAINED:
        return
    noise = 0.0 if squares.left is None else 2**0.5 * float(np.std(squares.left))
    hidden = max((found.backlash or 0.0) - (rival.backlash or 0.0), 0.0) / turn
    bias = {
        "stiffness": (SOFTER + hidden) * (found.stiffness or 0.0),
        "backlash": WINDOWS[-1] * turn,
        "friction": SOFTER * (found.friction or 0.0) + noise + squares.waves,
    }
    for name, number in NUMBERS.items():
        ours, theirs = getattr(found, name), getattr(rival, name)
        if ours is None or theirs is None:
            continue
        halves = [getattr(one, f"{name}_half") or 0.0 for one in (found, rival)]
        if abs(ours - theirs) > sum(halves) + bias[name]:
            yield (
                f"the methods disagree: {name} {number.with_unit(ours)} by {found.method}, "
                f"{number.with_unit(theirs)} by {rival.method}, more than their intervals. Log "
                "more cycles, turned more slowly."
            )


def explain(squares: LeastSquares, found: TransmissionEstimate) -> TransmissionEstimate:
    """An estimate with the share of the spring's torque that it explains in the recreated log.

    1 - var(tau - tau_recreated) / var(K beyond(q))        K of least squares
    """
    theta, turns = squares.theta, squares.turns
    if theta is None or turns is None or found.stiffness is None or found.friction is None:
        return found
    changed = theta.copy()
    changed[hysteresis.STIFFNESS], changed[hysteresis.FRICTION] = found.stiffness, found.friction
    if found.backlash is not None:
        changed[hysteresis.BACKLASH] = found.backlash
    spring = theta[hysteresis.STIFFNESS] * hysteresis.beyond_gap(theta, turns)
    left = np.var(hysteresis.torque_errors(changed, turns))
    return replace(found, explained=1 - float(left / np.var(spring)))

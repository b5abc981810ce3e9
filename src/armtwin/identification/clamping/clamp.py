"""`clamp`: a transmission from the log of its clamped joint, by three methods side by side."""

from __future__ import annotations

from dataclasses import replace

from armtwin.errors import ArmtwinError
from armtwin.identification.clamping.algorithm_one import algorithm_one
from armtwin.identification.clamping.algorithm_two import algorithm_two
from armtwin.identification.clamping.half_cycles import find_half_cycles
from armtwin.identification.clamping.headline import choose_headline, explain
from armtwin.identification.clamping.least_squares import least_squares
from armtwin.identification.clamping.record import clamping_record, refuse_gained_work
from armtwin.identification.clamping.result import Clamping
from armtwin.logs.log import Log


def clamp(log: Log, *, gear_ratio: float | None = None, joint: int | None = None) -> Clamping:
    """Stiffness, backlash and friction of a transmission from the log of its clamped joint.

    The joint is held, the motor's torque rises and falls slowly several times.

    Args:
        log: Time, q_m (or q) and tau_m (or tau).
        gear_ratio: Motor angle per joint angle; needed where q or tau is on the joint side, and for
            the numbers of the joint side.
        joint: Column of the joint that was moved, from 1, where the log has several.
    """
    record = clamping_record(log, gear_ratio, joint)
    found = find_half_cycles(record.q)
    refuse_gained_work(record, found)
    squares = least_squares(record.time, record.q, record.tau, found)
    if squares.found.stiffness is None:
        raise ArmtwinError(f"clamping log: {squares.found.refused}")
    squares = replace(squares, found=explain(squares, squares.found))
    one, two = algorithm_one(record.q, record.tau), algorithm_two(record.q, record.tau)
    one = replace(one, found=explain(squares, one.found))
    two = replace(two, found=explain(squares, two.found))
    headline = choose_headline(record, squares, (one.found, two.found))
    return Clamping(record, tuple(found), one, two, squares, headline)

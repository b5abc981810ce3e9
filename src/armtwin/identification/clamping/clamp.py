"""`clamp`: a transmission from the log of its clamped joint, by three methods side by side."""

from __future__ import annotations

from armtwin.errors import ArmtwinError
from armtwin.identification.clamping.algorithm_one import algorithm_one
from armtwin.identification.clamping.algorithm_two import algorithm_two
from armtwin.identification.clamping.half_cycles import find_half_cycles
from armtwin.identification.clamping.least_squares import least_squares
from armtwin.identification.clamping.record import clamping_record
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
    result = Clamping(
        record=record,
        half_cycles=tuple(found),
        one=algorithm_one(record.q, record.tau),
        two=algorithm_two(record.q, record.tau),
        squares=least_squares(record.q, record.tau, found),
    )
    if result.squares.found.stiffness is None and result.two.found.stiffness is None:
        raise ArmtwinError(f"clamping log: {result.squares.found.refused}")
    return result

"""A clamping curve recreated: the identified transmission on a bench under the logged torques.

The bench of document 001: logged torques at the logged times in, motor angle out. Inertia and
dampers are not told by a slow curve; they are chosen small enough to change nothing and large
enough that the noise of a sample does not move the motor.

Ref: [Soder-Hoorn 2015, section 6.4, 7.3]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from armtwin.drives.friction.coulomb import Coulomb
from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.clamping.clamp import Clamping
from armtwin.identification.clamping.found import FoundTransmission
from armtwin.identification.clamping.hysteresis import CENTRE, OFFSET, Turns, turns_of
from armtwin.maths.batch import Flags, Floats
from armtwin.notebook import cards
from armtwin.simulation.bench import Bench, BenchFriction, simulate_bench

SWING = 10.0  # samples in a swing of the motor on its spring
RELATIVE_DAMPING = 0.1  # of each damper
TURNING = 0.1  # share of the whole turn at each end that is a turning region


@dataclass(frozen=True, eq=False)
class Recreation:
    """A simulated clamping curve beside the measured one.

    Attributes:
        found: The transmission that was simulated.
        q: Simulated motor angle at the logged times, (m,) [rad].
        compared: Samples that are compared, from the first turn on, (m,).
        turning: Those of them in the turning regions, (m,).
        between_rms: Rms of simulated minus measured angle between the turning regions [rad].
        turning_rms: The same in the turning regions [rad].
        turn: The whole turn of the motor [rad].
    """

    found: FoundTransmission
    q: Floats
    compared: Flags
    turning: Flags
    between_rms: float
    turning_rms: float
    turn: float

    def __repr__(self) -> str:
        between = 100 * self.between_rms / self.turn
        turning = 100 * self.turning_rms / self.turn
        return cards.line(
            "Recreation",
            f"{between:.3g} % of the turn between the turns",
            f"{turning:.3g} % in them",
        )


def recreate(result: Clamping, law: Law | None = None) -> Recreation:
    """Simulate the identified transmission under the torques of its record.

    Args:
        result: The identified transmission.
        law: Another friction law of the motor than the identified constant one.
    """
    found, record = result.best, result.record
    if found.stiffness is None or found.friction is None:
        raise ArmtwinError("a clamping curve cannot be recreated without a stiffness")
    swing = SWING * float(np.median(np.diff(record.time))) / (2 * np.pi)
    K = found.stiffness
    damping = 2 * RELATIVE_DAMPING * K * swing
    friction = BenchFriction("motor", law or Coulomb(found.friction))
    bench = Bench(
        rotor_inertia=K * swing**2,
        stiffness=K,
        damping=damping,
        ground_damping=damping,
        backlash=found.backlash or 0.0,
        friction=(friction,),
    )
    centre, offset = _zero(result)
    run = simulate_bench(bench, record.time, record.tau - offset)
    q = run.log.q_m[:, 0] + centre
    turns = turns_of(record.q, record.tau, list(result.half_cycles))
    return _compared(result, q, turns)


def _zero(result: Clamping) -> tuple[float, float]:
    """Angle at which the spring is slack, and torque of the motor at which it is."""
    theta = result.squares.theta
    if theta is None:
        return float(np.mean(result.record.q)), 0.0
    return float(theta[CENTRE]), float(theta[OFFSET])


def _compared(result: Clamping, q: Floats, turns: Turns) -> Recreation:
    measured = result.record.q
    turn = result.record.turn
    compared = np.zeros(len(q), dtype=bool)
    compared[turns.rows] = True
    ends = TURNING * turn
    low, high = float(measured.min()) + ends, float(measured.max()) - ends
    turning = compared & ((measured < low) | (measured > high))
    away = q - measured
    return Recreation(
        found=result.best,
        q=q,
        compared=compared,
        turning=turning,
        between_rms=_rms(away[compared & ~turning]),
        turning_rms=_rms(away[turning]),
        turn=turn,
    )


def _rms(x: Floats) -> float:
    return float(np.sqrt(np.mean(x**2))) if len(x) else 0.0

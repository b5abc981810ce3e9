"""A clamping curve recreated: the identified transmission on a bench under the logged torques.

The bench of document 001: logged torques at the logged times in, motor angle out. Inertia and
dampers are not identifiable from a slow curve; they are chosen small enough to change nothing and
large enough that the noise of a sample does not move the motor.

Ref: [Soder-Hoorn 2015, section 6.4, 7.3]
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from armtwin.drives.friction.coulomb import Coulomb
from armtwin.drives.friction.laws import Law
from armtwin.errors import ArmtwinError
from armtwin.identification.clamping import clamping_steps
from armtwin.identification.clamping.hysteresis import CENTRE, OFFSET, Turns, turns_of
from armtwin.identification.clamping.result import Clamping
from armtwin.maths.batch import Flags, Floats, Pair
from armtwin.notebook.charts import Chart
from armtwin.notebook.numbers import PLAIN, Number
from armtwin.notebook.sections import Blocks, Data, Facts, Report, Section, Text
from armtwin.report.result import Result
from armtwin.simulation.bench import Bench, BenchFriction, simulate_bench

SAMPLES_PER_PERIOD = 10.0  # samples in a period of the motor on its spring
RELATIVE_DAMPING = 0.1  # of each damper
TITLE = "The curve recreated"
TURNING = 0.1  # share of the whole turn at each end that is a turning region


@dataclass(frozen=True, eq=False, repr=False)
class Recreation(Result):
    """A simulated clamping curve beside the measured one.

    Attributes:
        clamping: The clamping whose transmission was simulated.
        q: Simulated motor angle at the logged times, (m,) [rad].
        compared: Samples that are compared, from the first turn on, (m,).
        turning: Those of them in the turning regions, (m,).
        between_rms: Rms of simulated minus measured angle between the turning regions [rad].
        turning_rms: Rms of simulated minus measured angle in the turning regions [rad].
    """

    clamping: Clamping
    q: Floats
    compared: Flags
    turning: Flags
    between_rms: float
    turning_rms: float

    @property
    def turn(self) -> float:
        """The whole turn of the motor [rad]."""
        return self.clamping.record.turn

    def sections(self) -> Report:
        """The sections of the clamping, and the simulated curve over the measured one."""
        shown = self.clamping.sections()
        return replace(shown, sections=(*shown.sections, Section(TITLE, _show_recreation(self))))


def _show_recreation(result: Recreation) -> Blocks:
    yield Text(
        "The identified transmission on a bench under the logged torques at the logged times; "
        "simulated minus measured motor angle, rms:"
    )
    between, turning = result.between_rms, result.turning_rms
    yield Facts(
        (
            ("between the turning regions", _of_turn(between, result.turn)),
            ("in the turning regions", _of_turn(turning, result.turn)),
        )
    )
    yield Data({"recreated.between_rms_rad": between, "recreated.turning_rms_rad": turning})
    record, compared = result.clamping.record, result.compared
    simulated = clamping_steps.thin_curve("simulated", result.q[compared], record.tau[compared], 1)
    layers = (clamping_steps.build_measured_curve(record), simulated)
    yield Chart("Simulated over measured", clamping_steps.ANGLE, clamping_steps.TORQUE, layers)


def _of_turn(rms: float, turn: float) -> str:
    share = PLAIN.text(100 * rms / turn)
    return f"{Number(1e3, 'mrad').with_unit(rms)}, {share} % of the whole turn"


def recreate(result: Clamping, law: Law | None = None) -> Recreation:
    """Simulate the identified transmission under the torques of its record.

    Args:
        result: The identified transmission.
        law: Another friction law of the motor than the identified constant one.
    """
    found, record = result.squares.found, result.record
    if found.stiffness is None or found.friction is None:
        raise ArmtwinError("a clamping curve cannot be recreated without a stiffness")
    inverse_omega = SAMPLES_PER_PERIOD * float(np.median(np.diff(record.time))) / (2 * np.pi)
    K = found.stiffness
    damping = 2 * RELATIVE_DAMPING * K * inverse_omega
    friction = BenchFriction("motor", law or Coulomb(found.friction))
    bench = Bench(
        rotor_inertia=K * inverse_omega**2,
        stiffness=K,
        damping=damping,
        ground_damping=damping,
        backlash=found.backlash or 0.0,
        friction=(friction,),
    )
    centre, offset = _zero(result)
    run = simulate_bench(bench, record.time, record.tau - offset)
    q = run.log.q_m[:, 0] + centre
    turns = turns_of(record.time, record.q, record.tau, list(result.half_cycles))
    return _compare_angles(result, q, turns)


def _zero(result: Clamping) -> Pair:
    """Angle at which the spring is slack, and torque of the motor at which it is."""
    theta = result.squares.theta
    if theta is None:
        return float(np.mean(result.record.q)), 0.0
    return float(theta[CENTRE]), float(theta[OFFSET])


def _compare_angles(result: Clamping, q: Floats, turns: Turns) -> Recreation:
    measured = result.record.q
    turn = result.record.turn
    compared = np.zeros(len(q), dtype=bool)
    compared[turns.rows] = True
    ends = TURNING * turn
    low, high = float(measured.min()) + ends, float(measured.max()) - ends
    turning = compared & ((measured < low) | (measured > high))
    away = q - measured
    return Recreation(
        clamping=result,
        q=q,
        compared=compared,
        turning=turning,
        between_rms=_rms(away[compared & ~turning]),
        turning_rms=_rms(away[turning]),
    )


def _rms(x: Floats) -> float:
    return float(np.sqrt(np.mean(x**2))) if len(x) else 0.0

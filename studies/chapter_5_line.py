"""What chapter 5 says of its straight seam, of friction and of the perturbation method.

Ref: [Waiboer 2007, sections 5.4, 5.5.1 and 5.6]
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

import armtwin as at
from chapter_5_placements import ABOUT, REVERSING
from chapter_5_runs import (
    Seams,
    apart,
    between,
    joint_errors,
    largest,
    methods_apart,
    on_process,
    peaks,
    reversals,
    rms,
    sizes,
)
from chapter_5_statements import CHOSEN, Statement, all_um, listed, of_all, pairs_um, percent, um

SPEEDS = (0.1, 0.2, 0.3, 0.4, 0.5)  # [m/s]
STIFFNESSES = (0.003, 0.03, 0.3, 1.0, 3.0)  # of the bristles, as shares of the file's
OF_ORDER_10 = 0.2  # largest share of the largest torque that is of the order of 10 %
VISCOUS = 1.2  # other viscous friction, as of drives some kelvins colder
HARDLY = 1e-5  # a tenth of the tolerance [m]


# around the reversal


def reversal_statements(seams: Seams) -> Iterator[Statement]:
    """What the straight seam at 100 mm/s shows around the reversal."""
    p = seams.line()
    turns = reversals(p)
    which = [joint for joint, times in enumerate(turns, 1) if times]
    when = np.concatenate(turns)
    on_time = largest(when - 5.25) < ABOUT
    yield Statement(
        section="5.4",
        text="only joints 2, 3 and 5 turn back, at about 5.25 s",
        figure=f"joints {listed(which)} at {min(when):.2f} to {max(when):.2f} s",
        holds=which == REVERSING and on_time,
        why=CHOSEN,
    )
    reversal = float(when.mean())
    yield path_peak(p, reversal)
    yield joint_6_peak(p, reversal, bool(turns[5]))


def path_peak(p: at.Prediction, reversal: float) -> Statement:
    """Where the path error of the straight seam peaks."""
    error, size, on = p.path_error, sizes(p), on_process(p)
    near = between(error.time, reversal - 1, reversal + 1)
    moving = (error.s > 0) & (error.s < p.job.seam.length)
    quiet = on & ~near
    ramps = moving & ~on
    at_reversal, in_ramps = largest(size[on]), largest(size[ramps])
    usual = float(rms(size[quiet]))
    time = float(error.time[on][size[on].argmax()])
    stands_out = min(at_reversal, in_ramps) > 3 * usual
    return Statement(
        section="5.4.1",
        text="the path error peaks at the reversal and in the ramps",
        figure=f"{um(at_reversal)} µm at {time:.2f} s, {um(in_ramps)} µm in the ramps, "
        f"rms {um(usual)} µm between",
        holds=stands_out and abs(time - reversal) < 0.2,
    )


def joint_6_peak(p: at.Prediction, reversal: float, turns_back: bool) -> Statement:
    """How joint 6 feels the reversal of joint 5."""
    time, error = p.log.time, joint_errors(p)[:, 5]
    near = between(time, reversal - 0.3, reversal + 0.3)
    around = between(time, reversal - 1, reversal + 1)
    steady = between(time, 2.0, 10.5) & ~around
    peak = largest(error[near])
    ratio = peak / error[steady].mean()
    return Statement(
        section="5.4.1",
        text="joint 6 peaks at the reversal of joint 5 without turning back itself",
        figure=f"{peak:.0f} mdeg, {ratio:.0f} x its mean; no reversal",
        holds=ratio > 3 and not turns_back,
    )


# torques and orientation


def torque_statements(seams: Seams) -> Iterator[Statement]:
    """Torques on the straight seam."""
    p = seams.line()
    moving = between(p.log.time, 1.0, 11.0)
    tau, friction = p.log.tau[moving], p.log.tau_friction[moving]
    q, v, a = p.log.q[moving], p.log.v[moving], p.log.a[moving]
    weight = p.robot.gravity(q)
    inertia = p.robot.inverse_dynamics(q, v, a) - weight

    most = p.robot.limits.torque
    share = np.abs(tau).max(axis=0) / most
    carried = np.abs(weight).max(axis=0) / most
    yield Statement(
        section="5.4.1",
        text="torques are of the order of 10 % of the maximum",
        figure=f"{listed(100 * share)} % at most in joints 1 to 6",
        holds=of_all(share < OF_ORDER_10),
        why=f"up to 20 % is taken for that order; weight alone takes {listed(100 * carried)} %",
    )
    rubbed = rms(friction) / rms(tau)
    yield Statement(
        section="5.4.1",
        text="most of the torque is friction",
        figure=f"rms of friction over rms of torque {listed(100 * rubbed)} % in joints 1 to 6",
        holds=of_all(rubbed > 0.5),
        why="joints 2, 3 and 5 of the assumed robot carry weight that its spring does not take",
    )
    part = largest(rms(inertia) / rms(tau))
    yield Statement(
        section="5.4.1",
        text="acceleration takes only a small part of the torque",
        figure=f"rms at most {percent(part)} of the torque's",
        holds=part < 0.25,
    )


def orientation_statements(seams: Seams) -> Iterator[Statement]:
    """The orientation of the head on the straight seam."""
    angle = np.degrees(largest(seams.line().path_error.orientation))
    yield Statement(
        section="5.5.1",
        text="the orientation error is negligible",
        figure=f"{1e3 * angle:.0f} mdeg at most, where degrees are allowed",
        holds=angle < 0.5,
    )


# friction


def stiffness_statements(seams: Seams) -> Iterator[Statement]:
    """Error peaks of the reversing joints over the stiffness before sliding."""
    elements = seams.line().robot.description.friction
    found, errors = [], []
    for factor in STIFFNESSES:
        softer = {}
        for f in elements:
            softer[f"friction.{f.name}.presliding.stiffness"] = factor * f.presliding.stiffness
        p = seams.line_with(override=softer)
        near = between(p.log.time, 4.97, 5.57)
        found.append(joint_errors(p)[near].max(axis=0))
        errors.append(peaks(p))
    table = np.array(found)[:, [1, 2, 4]]
    growing = np.diff(table, axis=0) > -1e-3 * table[1:]
    words = [listed(row, ".1f") for row in table]
    yield Statement(
        section="5.4.1",
        text="joint error peaks grow with the stiffness before sliding",
        figure=f"{'; '.join(words)} mdeg in joints 2, 3, 5 at c0 x {listed(STIFFNESSES, 'g')}; "
        f"path error {pairs_um([errors[0], errors[-1]])} µm at the first and last",
        holds=of_all(growing.all(axis=0)),
        why="from 0.3 times the file's stiffness on they stay; why joint 3 falls is not known",
    )


def kinematic_statements(seams: Seams) -> Iterator[Statement]:
    """Friction as an arctangent of the speed beside bristles."""
    bristles = seams.line()
    arctangent = seams.line_with(model=at.Model(friction="arctan"))
    off, on = apart(bristles, arctangent), on_process(bristles)
    in_process, elsewhere = largest(off[on]), largest(off[~on])
    peak = max(peaks(bristles))
    yield Statement(
        section="5.4.1",
        text="kinematic (arctangent) and dynamic (LuGre) friction before sliding behave alike",
        figure=f"{um(in_process)} µm apart at most of {um(peak)} µm; {um(elsewhere)} µm in ramps "
        "and at rest, where an arctangent creeps",
        holds=in_process < 0.1 * peak,
    )


def viscous_statements(seams: Seams) -> Iterator[Statement]:
    """What other viscous friction does to torque and path of the straight seam."""
    p = seams.line()
    thicker = {}
    for f in p.robot.description.friction:
        key = "viscous" if hasattr(f.law, "viscous") else "limit"
        thicker[f"friction.{f.name}.{key}"] = VISCOUS * getattr(f.law, key)
    other = seams.line_with(override=thicker)
    moved = largest(apart(p, other)[on_process(p)])
    steady = between(p.log.time, 1.5, 10.5)
    change = np.abs(other.log.tau - p.log.tau)[steady]
    share = change.mean(axis=0) / p.robot.limits.torque
    yield Statement(
        section="5.6",
        text="other viscous friction changes torques and hardly moves the path",
        figure=f"20 % more of it: {um(moved, '.1f')} µm of path, {listed(100 * share, '.1f')} % "
        "of the largest torques in joints 1 to 6",
        holds=moved < HARDLY,
    )


def without_stribeck(seams: Seams) -> list[float]:
    """Largest errors at the speeds if asperity friction did not decrease with speed [m]."""
    even = {}
    for f in seams.line().robot.description.friction:
        even[f"friction.{f.name}.speed"] = 100 * f.law.speed
    errors = []
    for speed in SPEEDS:
        errors.append(max(peaks(seams.line_with(override=even, speed=speed))))
    return errors


def with_servo(
    seams: Seams, bandwidth: float, integrator: float, damping: float
) -> tuple[list[float], list[float]]:
    """Largest errors and lengths out of tolerance at the speeds under another servo [m].

    Args:
        seams: The seams.
        bandwidth: Factor on the bandwidths.
        integrator: Factor on the corners of the integrators, as shares of the bandwidths.
        damping: The relative damping.
    """
    rule = seams.line().robot.description.servo["cascade"].rule
    other = {
        "servo.cascade.rule.bandwidth": [bandwidth * x for x in rule.bandwidth],
        "servo.cascade.rule.integrator": [integrator * x for x in rule.integrator],
        "servo.cascade.rule.damping": [damping],
    }
    runs = [seams.line_with(override=other, speed=speed) for speed in SPEEDS]
    return [max(peaks(p)) for p in runs], [p.verdict.out_of_tolerance_m for p in runs]


# the perturbation method


def perturbation_statements(seams: Seams) -> Iterator[Statement]:
    """The perturbation method beside the nonlinear loop on the straight seam."""
    whole, linear = seams.line(), seams.line(method="perturbation")
    off, on = apart(whole, linear), on_process(whole)
    small = float(np.mean(off[on] < 2e-6))
    welding, elsewhere = largest(off[on]), methods_apart(whole)
    yield Statement(
        section="5.4.2",
        text="perturbation and nonlinear method agree within 10 µm, mostly within 2 µm",
        figure=f"{um(welding, '.1f')} µm at most on the seam, {um(elsewhere, '.1f')} µm in ramps "
        f"and at rest without rounding; below 2 µm on {percent(small)} of the seam",
        holds=of_all([welding < HARDLY and small > 0.5, elsewhere < HARDLY]),
        why="with rounding, one step of a current at rest decides",
    )
    change = np.abs(whole.log.tau - linear.log.tau) / whole.robot.limits.torque
    moving = between(whole.log.time, 1.0, 11.0)
    small = float(np.mean(change[moving] < 1e-3))
    in_motion, at_rest = largest(change[moving]), largest(change[~moving])
    yield Statement(
        section="5.4.2",
        text="their torques differ by less than 0.1 % of the largest, mostly; by more at rest",
        figure=f"{percent(small, '.1f')} of the samples in motion; at most "
        f"{percent(in_motion, '.2f')} in motion, {percent(at_rest, '.2f')} at rest",
        holds=of_all([small > 0.5, at_rest > in_motion]),
    )


# speed


def speed_statements(seams: Seams) -> Iterator[Statement]:
    """How the straight seam's error grows with speed."""
    runs = [seams.line(speed) for speed in SPEEDS]
    errors = [max(peaks(p)) for p in runs]
    growing = [after > before for before, after in pairwise(errors)]
    yield Statement(
        section="5.5.1",
        text="the error grows with speed",
        figure=f"{all_um(errors)} µm at 100 to 500 mm/s",
        holds=of_all([all(growing), errors[-1] > errors[0]]),
        why="the assumed servo decides it, see below",
    )
    out = [1e3 * p.verdict.out_of_tolerance_m for p in runs]
    slow, fast = out[:2], out[2:]
    about_8 = min(fast) > 4 and max(fast) < 16
    yield Statement(
        section="5.5.1",
        text="in tolerance below 300 mm/s, from there about 8 mm after the reversal are out",
        figure=f"{listed(out, '.1f')} mm out at 100 to 500 mm/s",
        holds=of_all([max(slow) == 0, about_8]),
        why="the assumed servo decides it, and as much the seam's height, see below",
    )

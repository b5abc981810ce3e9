"""What a verdict judged and what it leaves out, in sentences; and what caps it.

A model that leaves out friction, or most of the seam, can be confident and wrong: no interval
covers what is not in it.
"""

from typing import Protocol

import numpy as np

from armtwin.control.controller import KI, KP, KV, KVF, Controller
from armtwin.jobs.forces import Acting
from armtwin.jobs.job import Job
from armtwin.maths.batch import Floats, Integers, Names, Sentences, TwoArrays
from armtwin.motion.joint_motion import CHUNK, JointMotion
from armtwin.prediction.servo_basis import ServoBasis
from armtwin.prediction.verdict import Verdict, process_is_on
from armtwin.robot.dynamics.sag import Outside, solve_sag
from armtwin.robot.kinematics.coordinates import coordinates
from armtwin.robot.robot import Robot
from armtwin.simulation.options import Method
from armtwin.simulation.prepared import controller_of
from armtwin.simulation.temperature import describe_unheated_joints

MM, UM = 1e3, 1e6  # a metre in mm, in µm
UNKNOWN_SERVO = "a servo whose structure is not known"
FRICTION_OFF = "friction that is off"
PARTLY_JUDGED = "less than half of the seam judged"
LEAST_JUDGED = 0.5  # share of the asked length below which a verdict on the seam is one on a part
COUNT_SPRINGS = 'Set joints = "elastic" in [model] of the job to count it.'
PLACES = 16  # along the seam at which a deflection at rest is found; it changes with the posture


class Judged(Protocol):
    """What a verdict is on: a `Prediction`, which imports this module."""

    @property
    def job(self) -> Job:
        """Its job."""

    @property
    def robot(self) -> Robot:
        """The robot as it was simulated."""

    @property
    def method(self) -> Method:
        """How it was simulated."""

    @property
    def motion(self) -> JointMotion:
        """What was commanded to the joints."""

    @property
    def outside(self) -> Acting:
        """What acted on tool and joints from outside."""

    @property
    def servo(self) -> ServoBasis:
        """What the servo is based on."""

    @property
    def verdict(self) -> Verdict:
        """What was found."""


def find_caps(p: Judged) -> Names:
    """What caps the verdict on a prediction, as phrases; a seam of such a one only may hold."""
    found = []
    if p.servo.structure != "known" and p.servo.basis != "fitted":
        found.append(UNKNOWN_SERVO)
    if p.job.description.model.friction == "off":
        found.append(FRICTION_OFF)
    if p.job.judged_length < LEAST_JUDGED * p.job.asked_length:
        found.append(PARTLY_JUDGED)
    return tuple(found)


def describe_judged(p: Judged) -> str:
    """What of the seam was judged, by what tolerance."""
    job, tolerance = p.job, p.job.description.tolerance
    judged, asked = job.judged_length, job.asked_length
    length = f"{MM * judged:.4g} of the {MM * asked:.4g} mm that the job asks for"
    if p.verdict.stopped_at_m is not None:
        length = f"{length}, as far as the stop at {MM * p.verdict.stopped_at_m:.4g} mm"
    elif asked - judged > 1e-3 * asked:
        length += f" (ramps and times about them take {MM * (asked - judged):.3g} mm)"
    allowed = (
        f"±{UM * tolerance.lateral:.4g} µm lateral, ±{UM * tolerance.vertical:.4g} µm vertical"
    )
    if tolerance.orientation is not None:
        allowed += f", {np.degrees(tolerance.orientation):.3g} deg of orientation"
    model = job.description.model
    words = f"{p.method} method, friction {model.friction}, {model.words}"
    return f"Judged: {length}; tolerance {allowed}; {words}."


def cautions(robot: Robot, job: Job) -> Sentences:
    """Sentences that belong beside any verdict on a job.

    Args:
        robot: The robot as it was simulated.
        job: The job.
    """
    d = robot.description
    if d.tool and not d.mounted.tool:
        names = " and ".join(d.tool)
        yield (
            f"No tool is mounted: the job names none, the file of '{robot.name}' has {names}. "
            "The bare flange is evaluated, without a tool's length and weight."
        )
    yield from (*_warn_of_splines(job), *_say_smoothed(job))
    if job.description.model.friction == "off":
        yield (
            "Friction is off: joints that reverse cause no error here, so that the verdict is at "
            'most PROBABLY IN TOLERANCE. Set friction = "lugre" in [model] of the job.'
        )
    judged, asked = job.judged_length, job.asked_length
    if judged < LEAST_JUDGED * asked:
        yield (
            f"{MM * judged:.4g} of {MM * asked:.4g} mm are judged: ramps and times about them take "
            "the rest, so that the verdict is at most PROBABLY IN TOLERANCE. Choose a lower speed "
            "or shorter ramps ([time_law]), or say by run_in and run_out in [process] of the job "
            "where the process is off."
        )
    unheated = describe_unheated_joints(robot, job.description.model)
    if unheated:
        yield unheated
    yield from (*job.cautions_on(robot), *job.description.notes)


def cautions_of_run(p: Judged) -> Sentences:
    """Sentences that belong beside the verdict on one run of a job."""
    yield from (*_rigid_under_force(p), *_lagging(p))


def remarks(p: Judged) -> Sentences:
    """Sentences on what a prediction simplifies: its method, and gears without their stiffness."""
    if p.method == "perturbation":
        yield (
            "The perturbation method was used: the arm is linearised along the commanded motion. "
            "The nonlinear method has no such error."
        )
    if _unused_springs(p) and not _process_force(p):
        yield (
            f"{_describe_springs(p)}: at rest the weight of the arm would deflect the tool by up "
            f"to {MM * _deflection(p):.2g} mm across the seam. Points that were taught on the "
            f"robot include that. {COUNT_SPRINGS}"
        )


def _warn_of_splines(job: Job) -> Sentences:
    """Splines through points of a file whose deviation from the polyline exceeds the tolerance."""
    tolerance = job.description.tolerance
    allowed = min(tolerance.lateral, tolerance.vertical)
    for spline in job.splines:
        segment = job.description.segment[spline.move]
        if segment.points is None or spline.deviation <= allowed:
            continue
        yield (
            f"The spline through {segment.points} deviates from the lines between its points by "
            f"{MM * spline.deviation:.3g} mm at {MM * spline.at_m:.1f} mm, more than the tolerance "
            f"of {MM * allowed:.3g} mm. The path error is measured from the spline."
        )


def _say_smoothed(job: Job) -> Sentences:
    """Points of files that were moved to take their rounding out."""
    for k, points in job.points.items():
        if points.moved > 0:
            segment = job.description.segment[k]
            yield (
                f"The points of {segment.points} were smoothed: moved by up to "
                f"{MM * points.moved:.3g} mm, {MM * (segment.smooth or 0.0):.3g} mm being allowed. "
                "The path error is measured from the smoothed curve."
            )


def _rigid_under_force(p: Judged) -> Sentences:
    """A process force that deflects no gear."""
    force = _process_force(p)
    if p.job.description.model.joints == "elastic" or not force:
        return
    if _unused_springs(p):
        yield (
            f"{_describe_springs(p)}: at rest the process force of {force:.3g} N and the weight of "
            f"the arm would deflect the tool by up to {MM * _deflection(p):.2g} mm across the "
            f"seam. {COUNT_SPRINGS}"
        )
    else:
        yield (
            f"The process force of {force:.3g} N deflects nothing: joints are rigid, and the file "
            f"of '{p.robot.name}' has no stiffness. Identify it (armtwin transmission, armtwin "
            "clamp) or give a [[transmission]]."
        )


def _unused_springs(p: Judged) -> int:
    """Number of gears whose stiffness the robot file has and the model does not use."""
    if p.job.description.model.joints == "elastic":
        return 0
    return sum(x.stiffness is not None for x in p.robot.description.transmission)


def _describe_springs(p: Judged) -> str:
    gears = f"the stiffness of {_unused_springs(p)} gears"
    return f"Joints are rigid here, although the file of '{p.robot.name}' has {gears}"


def _process_force(p: Judged) -> float:
    """Largest force on the tool along the motion [N]."""
    wrench = p.outside.wrench
    return 0.0 if wrench is None else float(np.linalg.norm(wrench[:, :3], axis=1).max())


def _deflection(p: Judged) -> float:
    """Largest shift of the tool across the seam by elastic gears at rest, process on [m]."""
    motion = p.motion.trajectory
    places = coordinates(p.robot, joints=True)
    outside = Outside(p.outside.torque, p.outside.wrench)
    on = _rows_judged(p)
    largest = 0.0
    for k in on[np.linspace(0, len(on) - 1, PLACES).astype(int)]:
        u = solve_sag(places, motion.q[k], outside.at(k))
        moved = places.built.forward_kinematics(places.of_bodies(u))
        shift = moved[:3, 3] - p.robot.forward_kinematics(motion.q[k])[:3, 3]
        across = _across(p, motion.time[k : k + 1], shift[None])
        largest = max(largest, float(np.hypot(*across[:, 0])))
    return largest


def _lagging(p: Judged) -> Sentences:
    """A servo that feeds back more of the speed than forward, so that the tool leaves the seam."""
    # the scheme of a fitted one is that of its logs; valves have no speed feedback
    if p.servo.basis == "fitted" or p.robot.description.hydraulic:
        return
    lateness, shift = _speed_lag(p)
    tolerance = p.job.description.tolerance
    allowed = np.array([tolerance.lateral, tolerance.vertical])
    ratio = np.abs(shift).max(axis=1) / allowed
    if ratio.max() <= 1:
        return
    worst = int(ratio.argmax())
    yield (
        f"Servo '{p.servo.name}' feeds less of the speed forward than it feeds back: by its gains "
        f"joints lag by up to {1e3 * lateness.max():.3g} ms, which alone moves the tool by up to "
        f"{MM * np.abs(shift[worst]).max():.2g} mm across the seam, "
        f"{MM * allowed[worst]:.3g} mm allowed. Such a scheme does not fit these gains: feed the "
        "speed forward, or fit the servo to a log (armtwin servo)."
    )


def _speed_lag(p: Judged) -> TwoArrays:
    """Lateness of each drive by its gains, (drives,) [s], and the tool's shift across the seam.

        k_p e + k_i ∫e = (k_v - k_vf) v_ref,  hence  e' + (k_i / k_p) e = T a_ref
        T = (k_v - k_vf) / k_p

    The shift by e is lateral and vertical at the set-points judged, (2, k) [m].
    """
    motion, robot = p.motion.trajectory, p.robot
    lateness, decay = _lag_of_gains(controller_of(robot, p.job.description.model))
    gear = robot.assembly.gear
    lag = lateness * np.diff(motion.v @ gear.T, axis=0, prepend=0.0)
    kept, step = np.exp(-decay / motion.rate), 1
    while step < len(lag):  # e[k] += kept e[k - 1], in twice as long a memory each time
        lag[step:] += kept * lag[:-step]
        kept, step = kept * kept, 2 * step
    on = _rows_judged(p)
    behind = lag[on] @ np.linalg.pinv(gear).T
    across = np.empty((2, len(on)))
    for start in range(0, len(on), CHUNK):  # Jacobians and frames of all would fill the memory
        some = slice(start, start + CHUNK)
        J = robot.jacobian(motion.q[on[some]])[:, :3]
        shift = np.einsum("kij,kj->ki", J, behind[some])
        across[:, some] = _across(p, on[some] / motion.rate, shift)
    return lateness, across


def _lag_of_gains(c: Controller) -> TwoArrays:
    """Lateness T of each drive [s], and the rate at which its integrator removes it [1/s]."""
    held = np.where(c.gains[:, KP] > 0, c.gains[:, KP], np.inf)
    # more than the feedback is friction that is fed forward: no lead
    return np.maximum(c.gains[:, KV] - c.gains[:, KVF], 0.0) / held, c.gains[:, KI] / held


def _rows_judged(p: Judged) -> Integers:
    """Set-points with the process on."""
    s = p.job.seam.command(p.motion.trajectory.time).s
    return np.flatnonzero(process_is_on(p.job, s))


def _across(p: Judged, time: Floats, shift: Floats) -> Floats:
    """Lateral and vertical part of shifts of the tool, (k, 3), at times of the motion, (2, k)."""
    seam = p.job.seam
    _, frames, _ = seam.frames(seam.command(time).s)
    return np.einsum("ki,kij->jk", shift, frames[:, :, 1:])

"""The twin on a log's own reference: joint errors, path error at the tool, torques.

The machine's servo was asked for q_ref; so is the twin's. The mean difference of each joint, or
that at the start, is an encoder's zero or an error that no position feedback takes away: it is
taken off the measurement as the user says.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.joints import in_order_of, joint_positions
from armtwin.logs.log import Log
from armtwin.logs.rest import SLOW_SHARE
from armtwin.maths.batch import Flags, Floats, Integers, ThreeArrays
from armtwin.maths.interpolation import interpolate_columns
from armtwin.motion.trajectory import Trajectory
from armtwin.prediction import compare_interval
from armtwin.prediction.agreement import Series, agreement, pair_joints, pair_torques
from armtwin.prediction.band.quantity import source_kind
from armtwin.prediction.logged_reference import LoggedReference, read_reference
from armtwin.prediction.reference_comparison import PATH, ReferenceComparison
from armtwin.prediction.twist import has_two_encoders, pair_twists
from armtwin.robot.robot import Robot
from armtwin.robot.schema.provenance import DEFAULT_SERVO
from armtwin.simulation.closed_loop import simulate
from armtwin.simulation.model import Model
from armtwin.simulation.options import Method, RunOptions

LATEST = 0.2  # the closest point is sought this long before and after [s]
STEPS = 4
ALONG = 0.1  # sine of the angle between beam and path below which the beam gives no upright
OF_CONTROL = 4.0  # times the torque of a reference that the control about it may ask for
NOTHING = 1e-12  # a length or speed that is none


class BesideReference(NamedTuple):
    """Distances of the tool point from a reference path, (m,) each [m]."""

    lateral: Floats
    vertical: Floats
    lag: Floats


@dataclass(frozen=True, eq=False)
class ReferencePath:
    """The path of the tool in a reference motion, as `reference_path` makes it.

    Attributes:
        time: Times of its samples, (m,) [s].
        speed: Speed of the tool, (m,) [m/s].
        moving: Where it is not at rest, (m,).
        point: Curve of the tool point over time.
        arc: Curve of the arc length over time.
        along: Directions of the path, (m, 3).
        upright: Directions across it, against the beam, (m, 3).
    """

    time: Floats
    speed: Floats
    moving: Flags
    point: Any
    arc: Any
    along: Floats
    upright: Floats

    def beside(self, p: Floats) -> BesideReference:
        """Where points of the tool (m, 3), one for each time, are beside the path."""
        closest = self._closest(p)
        x, y, z = self._frame(closest)
        e = p - self.point(closest)
        behind = self.arc(self.time) - self.arc(closest)
        return BesideReference(_dots(e, y), _dots(e, z), behind - _dots(e, x))

    def _closest(self, p: Floats) -> Floats:
        """Times at which the path is closest to points, by Newton's method, (m,) [s]."""
        earliest = np.maximum(self.time - LATEST, self.time[0])
        latest = np.minimum(self.time + LATEST, self.time[-1])
        closest = self.time.copy()
        for _ in range(STEPS):
            x, _, _ = self._frame(closest)
            ahead = _dots(p - self.point(closest), x)
            step = np.zeros_like(ahead)
            np.divide(ahead, self.speed, out=step, where=self.moving)
            closest = np.clip(closest + step, earliest, latest)
        return closest

    def _frame(self, at: Floats) -> ThreeArrays:
        """Axes x, y, z of the path's frame at times, (m, 3) each, straight between samples."""
        last = len(self.time) - 1
        place = np.interp(at, self.time, np.arange(last + 1))
        before = np.minimum(place.astype(np.int64), last - 1)
        share = (place - before)[:, None]
        x = _unit(_between(self.along, before, share))
        z = _unit(_across(_between(self.upright, before, share), x))
        return x, np.cross(z, x), z


def reference_path(robot: Robot, time: Floats, q: Floats, v: Floats) -> ReferencePath:
    """The path of a robot's tool in a reference motion.

    Args:
        robot: The robot, tool mounted.
        time: Times, (m,) [s].
        q: Joint positions of the reference, (m, n).
        v: Joint speeds of the reference, (m, n).
    """
    from scipy.interpolate import CubicHermiteSpline

    X = robot.forward_kinematics(q)
    J = robot.jacobian(q)
    velocity = np.einsum("mij,mj->mi", J[:, :3], v)
    speed = np.linalg.norm(velocity, axis=1)
    fastest = max(float(speed.max()), NOTHING)
    moving = speed > SLOW_SHARE * fastest
    mean_speed = 0.5 * (speed[1:] + speed[:-1])
    ways = np.cumsum(mean_speed * np.diff(time))
    along = _directions(velocity, moving)
    return ReferencePath(
        time=time,
        speed=speed,
        moving=moving,
        point=CubicHermiteSpline(time, X[:, :3, 3], velocity),
        arc=CubicHermiteSpline(time, np.append(0.0, ways), speed),
        along=along,
        upright=_upright(X[:, :3, :3], along),
    )


def _directions(velocity: Floats, moving: Flags) -> Floats:
    """Unit vectors along the path; at rest those of the nearest motion, (m, 3)."""
    places = np.flatnonzero(moving)
    if not len(places):
        return np.tile([1.0, 0.0, 0.0], (len(velocity), 1))
    every = np.arange(len(velocity))
    next_one = np.searchsorted(places, every)
    after = places[np.minimum(next_one, len(places) - 1)]
    before = places[np.maximum(next_one - 1, 0)]
    nearer = np.abs(before - every) < np.abs(after - every)
    return _unit(velocity[np.where(nearer, before, after)])


def _upright(R: Floats, x: Floats) -> Floats:
    """Unit vectors against the beam across a path, (m, 3), for orientations R of the tool.

    Where the beam runs along the path, the tool's own x axis takes its place.
    """
    up = _across(-R[:, :, 2], x)
    level = _across(R[:, :, 0], x)
    steep = np.linalg.norm(up, axis=1) > ALONG
    return _unit(np.where(steep[:, None], up, level))


def _dots(a: Floats, b: Floats) -> Floats:
    """Products a · b row by row, (m,)."""
    return (a * b).sum(axis=1)


def _unit(vectors: Floats) -> Floats:
    """Vectors of length 1, (m, 3)."""
    length = np.linalg.norm(vectors, axis=1)
    return vectors / np.maximum(length, NOTHING)[:, None]


def _across(vectors: Floats, x: Floats) -> Floats:
    """What of vectors is perpendicular to unit vectors x, (m, 3)."""
    return vectors - _dots(vectors, x)[:, None] * x


def _between(samples: Floats, before: Integers, share: Floats) -> Floats:
    """Samples, straight between each and the next, (m, 3)."""
    start, stop = samples[before], samples[before + 1]
    return start + share * (stop - start)


def usual_model(robot: Robot) -> Model:
    """The full model with the robot's fitted servo, where it has one, else its usual one.

    Friction switches where the file has no pre-sliding stiffness, as of an identified robot.
    """
    servos = robot.description.servo
    names = list(servos) or [DEFAULT_SERVO]
    chosen = DEFAULT_SERVO if DEFAULT_SERVO in names else names[0]
    fitted = [name for name, servo in servos.items() if getattr(servo, "fit", None) is not None]
    model = Model(servo=fitted[0] if fitted else chosen)
    elements = robot.description.active_friction()
    if all(element.presliding is not None for element in elements):
        return model
    return replace(model, friction="switching")


def without_exceeded_limits(robot: Robot, reference: Trajectory) -> Robot:
    """The robot with higher limits of currents that a followed reference exceeds.

    A machine has followed it: where a rule gave the rotor's inertia, that is too large, and the
    drive must not fail for it.
    """
    torque = robot.inverse_dynamics(reference.q, reference.v, reference.a)
    torque = torque + robot.friction_torque(reference.v)
    needed = np.abs(torque @ robot.assembly.motor_inverse).max(axis=0)
    motors = []
    for motor, need in zip(robot.description.motor, needed.tolist(), strict=True):
        limit, constant = motor.current_limit or np.inf, motor.torque_constant or np.inf
        least = OF_CONTROL * need / constant
        if least > limit and source_kind(motor, "rotor_inertia") == "assumed":
            motor = replace(motor, current_limit=least)
        motors.append(motor)
    return robot.with_description(replace(robot.description, motor=tuple(motors)))


def compare_reference(
    robot: Robot,
    log: Log,
    model: Model | None = None,
    *,
    offsets: compare_interval.Offsets = "mean",
    method: Method = "nonlinear",
    progress: Callable[[str, float], None] | None = None,
) -> ReferenceComparison:
    """Run the twin on a log's own reference and compare.

    Args:
        robot: The robot, with what it carried mounted.
        log: A log with q_ref.
        model: What is simulated; by default all of it, with the fitted servo where there is one.
        offsets: What is taken off the measured positions: the "mean" difference of each joint, that
            at the "start", or none, as "logged".
        method: How to predict.
        progress: Called with what is being done and the share that is done.
    """
    if offsets not in compare_interval.OFFSETS:
        raise ArmtwinError(
            f"offsets must be one of {', '.join(compare_interval.OFFSETS)}, got '{offsets}'"
        )
    ordered = in_order_of(log, robot.joint_names)
    used = usual_model(robot) if model is None else model
    if model is None and has_two_encoders(robot, ordered):
        used = replace(used, joints="elastic")
    q, side = joint_positions(robot, ordered)
    reference = read_reference(robot, ordered, q)
    fit = getattr(robot.description.servo.get(used.servo), "fit", None)
    if fit is not None and fit.feedforward == "model":  # in place of what the machine fed
        reference = replace(reference, feedforward=None, source="")
    followed = without_exceeded_limits(robot, reference.trajectory)
    watch = None if progress is None else lambda share: progress("simulation", share)
    run = simulate(
        followed,
        reference.trajectory,
        used,
        progress=watch,
        options=RunOptions(method=method, feedforward=reference.feedforward),
    )
    time = ordered.time - ordered.time[0]
    done = time <= run.trace_time[-1] + 1e-9  # a run that stops early has nothing to say later
    time = time[done]
    positions = run.link_side if side == "q_link" else run.motor_side
    predicted = interpolate_columns(time, run.trace_time, positions)
    gap = q[done] - predicted
    offset = compare_interval.take_offset(gap, time, offsets)
    measured = q[done] - offset
    errors = partial(_errors, robot, reference, time, measured)
    series = [*errors(predicted)]
    variants = []
    start = compare_interval.take_offset(gap, time, "start" if offsets == "mean" else offsets)
    nominal = compare_interval.NominalRun(
        followed, used, reference.trajectory, time, predicted, start
    )
    for other in compare_interval.sample_positions(nominal):
        shifted = other + compare_interval.take_offset(predicted - other, time, offsets)
        variants.append(partial(errors, shifted))
    bounds, intervals = compare_interval.find_interval(series, variants)
    if used.joints == "elastic" and has_two_encoders(robot, ordered):
        series += pair_twists(robot, ordered, run, time)
    torques, source = pair_torques(robot, ordered, done, run.log, time)
    series += torques
    return ReferenceComparison(
        robot=robot,
        model=used,
        log=log,
        reference=reference,
        run=run,
        side=side,
        torque_source=source,
        offset=offset,
        offsets=offsets,
        bounds=bounds,
        intervals=intervals,
        time=time,
        channels={x.name: x.pair for x in series},
        rows=tuple(agreement(x) for x in series),
    )


def _errors(
    robot: Robot, reference: LoggedReference, time: Floats, measured: Floats, predicted: Floats
) -> Iterator[Series]:
    """Errors of the joints, and of the tool beside the path of the reference."""
    wanted, speed, _ = reference.trajectory.at(time)
    off = measured - wanted, predicted - wanted
    yield from pair_joints(robot.joint_names, "error", "rad", *off)
    path = reference_path(robot, time, wanted, speed)
    logged = path.beside(robot.forward_kinematics(measured)[:, :3, 3])
    twin = path.beside(robot.forward_kinematics(predicted)[:, :3, 3])
    for direction in PATH:
        pair = np.stack([getattr(logged, direction), getattr(twin, direction)])
        yield Series(direction, "m", pair)

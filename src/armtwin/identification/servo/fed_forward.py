"""The controller's own model from the torque that it was logged to feed forward.

    τ_ff = N⁻ᵀ Y(q_ref, v_ref, a_ref) φ + Σ c_i tanh(v_ref / v_i) + f v_ref + constant

A controller often has the links of a data sheet, but rotors and friction of its own. Links are
regularised towards those of the robot by deviations relative to their size, rotors and friction
towards the robot's and towards none by the torque that they make; both strengths are chosen by the
error on left-out parts.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product

import numpy as np

from armtwin.identification.servo.signals import PARTS, Signals
from armtwin.maths.batch import Flags, Floats, Integers
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.dynamics import feedforward
from armtwin.robot.parameters import TEN
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import ControllerModel, DriveFriction

OF_FASTEST = (2.0, 0.2, 0.02, 0.002, 0.0002)  # speeds of the friction over a drive's fastest
LINK_RIDGES = tuple(10.0 ** (0.5 * k) for k in range(-12, 5))
DRIVE_RIDGES = tuple(10.0**k for k in range(-6, 0))
LEAST_SIZE = 1e-3  # of the heaviest link that a link counts as at least
LEAST_RIDGE = 1e-12  # so that columns without rows have a solution


@dataclass(frozen=True, eq=False)
class LoggedTorque:
    """Rows of the feed-forward of all drives and logs, each drive's over the size of its torque.

    Attributes:
        robots: The robot as it was in each log.
        prior: Rigid parameters of the first of these, (p,).
        friction: Speeds of the friction of each drive.
        columns: Columns in units of their sizes, (rows, k).
        target: What the robot's own rigid body leaves, (rows,).
        parts: Part of the logs of each row, (rows,).
        unit: Parameter per unit of each column, (k,).
        is_link: Columns of the links, (k,).
        is_drive: Columns of rotors and friction, (k,).
    """

    robots: tuple[Robot, ...]
    prior: Floats
    friction: tuple[DriveFriction, ...]
    columns: Floats
    target: Floats
    parts: Integers
    unit: Floats
    is_link: Flags
    is_drive: Flags

    def sums(self, rows: Flags) -> tuple[Floats, Floats, float]:
        """Sums of products of some rows."""
        A, y = self.columns[rows], self.target[rows]
        return A.T @ A, A.T @ y, float(y @ y)

    def penalty(self, ridges: tuple[float, float]) -> Floats:
        """Ridge of each column, for ridges of links and of drives."""
        return LEAST_RIDGE + ridges[0] * self.is_link + ridges[1] * self.is_drive


def collect_logged_torque(robots: Sequence[Robot], logs: Sequence[Signals]) -> LoggedTorque:
    """The rows of logs of one controller, all of which have the torque that was fed forward."""
    drives = logs[0].q.shape[1]
    fastest = np.max([np.abs(log.v).max(axis=0) for log in logs], axis=0)
    friction = tuple(
        DriveFriction(speed=tuple(float(x * top) for x in OF_FASTEST))
        for top in np.maximum(fastest, 1e-9)
    )
    size = np.sqrt(np.mean([_logged(log).var(axis=0) for log in logs], axis=0))
    size = np.maximum(size, 1e-12)
    tables, targets, parts = [], [], []
    for robot, log in zip(robots, logs, strict=True):
        for k, (table, target) in enumerate(_rows_of_drives(robot, log, friction)):
            # a loop at rest on its first set-point holds what the torque is there
            tables.append((table - table[0]) / size[k])
            targets.append((target - target[0]) / size[k])
            parts.append(log.parts)
    columns = np.concatenate(tables)
    layout = robots[0].layout
    p, terms = layout.friction.start, drives * (len(OF_FASTEST) + 1)
    number = np.arange(columns.shape[1])
    is_rotor = (number >= layout.rotors.start) & (number < layout.rotors.stop)
    is_link = (number < p) & ~is_rotor
    is_drive = (number < p + terms) & ~is_link
    rms = np.sqrt((columns**2).mean(axis=0))
    unit = 1 / np.where(rms > 0, rms, 1.0)
    prior = robots[0].parameters[:p]
    unit[:p] = np.where(is_link[:p], _link_sizes(robots[0]), unit[:p])
    return LoggedTorque(
        robots=tuple(robots),
        prior=prior,
        friction=friction,
        columns=columns * unit,
        target=np.concatenate(targets),
        parts=np.concatenate(parts),
        unit=unit,
        is_link=is_link,
        is_drive=is_drive,
    )


def _logged(log: Signals) -> Floats:
    """The torque that was fed forward, of a log that has it."""
    assert log.logged is not None
    return log.logged


def _rows_of_drives(
    robot: Robot, log: Signals, friction: Sequence[DriveFriction]
) -> Iterator[tuple[Floats, Floats]]:
    """Columns of rigid body and friction of each drive, and what the prior leaves, (m,)."""
    inverse = robot.assembly.motor_inverse
    motion = (log.q @ inverse.T, log.v @ inverse.T, log.a @ inverse.T)
    rigid = np.einsum("mjp,jk->kmp", feedforward.rigid_regressor(robot, *motion), inverse)
    width = len(OF_FASTEST) + 1
    for k, one in enumerate(friction):
        own = np.zeros((len(log.time), width * len(friction)))
        own[:, width * k : width * (k + 1)] = feedforward.friction_columns(one, log.v[:, k])
        prior = rigid[k] @ robot.parameters[: rigid.shape[2]]
        yield np.column_stack([rigid[k], own]), _logged(log)[:, k] - prior


def _link_sizes(robot: Robot) -> Floats:
    """Size of each rigid parameter of the links: how far it can go in a body of their shape, (p,).

    mass m,  first moments √(m Σ_ii),  J_ii,  products √(Σ_ii Σ_jj),  Σ = tr(J)/2 - J
    """
    layout = robot.layout
    sizes = np.abs(robot.parameters[: layout.friction.start])
    links = robot.parameters[layout.all_links].reshape(-1, len(TEN))
    mass = np.maximum(links[:, :1], LEAST_SIZE * max(float(links[:, 0].max()), 1e-9))
    J = links[:, 4:7]
    half = 0.5 * J.sum(axis=1, keepdims=True)
    half = np.maximum(half, LEAST_SIZE * mass * max(float(half.max()), 1e-9) / mass.max())
    J = np.maximum(J, LEAST_SIZE * half)
    x, y, z = np.maximum(half - links[:, 4:7], LEAST_SIZE * half).T
    moments = np.sqrt(mass * np.stack([x, y, z], axis=1))
    products = np.sqrt(np.stack([x * y, x * z, y * z], axis=1))
    sizes[layout.all_links] = np.concatenate([mass, moments, J, products], axis=1).reshape(-1)
    return np.maximum(sizes, 1e-12)


@one_blas_thread()
def fit_controller_model(found: LoggedTorque, without: int | None = None) -> ControllerModel:
    """The controller's model, by all parts of the logs or without one of them."""
    kept = np.ones(len(found.target), dtype=bool) if without is None else found.parts != without
    whole = found.sums(kept)
    count = int(kept.sum())
    numbers = [part for part in range(PARTS) if part != without]
    parts = {part: found.sums(kept & (found.parts == part)) for part in numbers}
    errors: dict[tuple[float, float], float] = {}
    for ridges in product(LINK_RIDGES, DRIVE_RIDGES):
        penalty = np.diag(found.penalty(ridges))
        errors[ridges] = 0.0
        for part, (gram, across, itself) in parts.items():
            rows = count - int((found.parts == part).sum())
            z = np.linalg.solve((whole[0] - gram) / rows + penalty, (whole[1] - across) / rows)
            errors[ridges] += float(itself - 2 * z @ across + z @ gram @ z)
    best = min(errors, key=lambda ridges: errors[ridges])
    z = np.linalg.solve(whole[0] / count + np.diag(found.penalty(best)), whole[1] / count)
    return _build_model(found, z * found.unit)


def _build_model(found: LoggedTorque, values: Floats) -> ControllerModel:
    """The model of deviations from the prior, then coefficients of friction."""
    robot, p = found.robots[0], len(found.prior)
    phi = found.prior + values[:p]
    width = len(OF_FASTEST) + 1
    friction = []
    for k, one in enumerate(found.friction):
        *level, viscous = values[p + width * k : p + width * (k + 1)].tolist()
        friction.append(replace(one, level=tuple(level), viscous=viscous))
    source = "identified: the torque that the logs say was fed forward"
    return _describe_model(robot, phi, friction, source)


def _describe_model(
    robot: Robot, phi: Floats, friction: Sequence[DriveFriction], source: str
) -> ControllerModel:
    """A model of rigid parameters φ, the first of the robot's, and the friction of each drive."""
    rigid = robot.layout.friction.start
    values = zip(robot.parameter_names[:rigid], phi[:rigid].tolist(), strict=True)
    mounted = robot.description.mounted
    return ControllerModel(dict(values), source, tuple(friction), mounted.tool, mounted.payload)


def with_model_torque(robot: Robot, log: Signals, model: ControllerModel | None) -> Signals:
    """A log with the torque that a controller's model would have fed forward."""
    inverse = robot.assembly.motor_inverse
    motion = (log.q @ inverse.T, log.v @ inverse.T, log.a @ inverse.T)
    return replace(log, model=feedforward.feedforward_torque(robot, model, *motion))


def list_models(robot: Robot, logs: Sequence[Signals]) -> Iterator[ControllerModel | None]:
    """What a controller may feed forward that no log says: the robot's own model comes first.

    Then those of the file's servos, and the robot's without dry friction.
    """
    yield None
    for servo in robot.description.servo.values():
        known = getattr(servo, "model", None)
        if known is not None:
            yield known
    if not robot.assembly.friction:
        return
    fastest = np.max([np.abs(log.v).max(axis=0) for log in logs], axis=0)
    friction = [DriveFriction(viscous=x) for x in _viscous(robot, fastest)]
    source = "derived: the robot's own dynamics without dry friction"
    yield _describe_model(robot, robot.parameters, friction, source)


def _viscous(robot: Robot, fastest: Floats) -> list[float]:
    """Slope of each drive's own friction between half and full speed [N m s/rad]."""
    inverse = robot.assembly.motor_inverse
    q = np.tile(robot.home, (2, 1))
    found = []
    for k, speed in enumerate(np.maximum(fastest, 1e-9)):
        v = np.outer((0.5 * speed, speed), inverse[:, k])
        torque = (robot.friction_torque(v, q) @ inverse)[:, k]
        found.append(max(float(torque[1] - torque[0]) / (0.5 * speed), 0.0))
    return found

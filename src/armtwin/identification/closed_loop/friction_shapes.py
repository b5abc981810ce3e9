"""Shape numbers of friction laws from dynamic logs, by separable least squares.

    min over s  ‖P(s) b‖²        P(s) = 1 - A(s) A(s)⁺,   A(s) = [A₀ | F(s)]

Speeds and exponents s of the laws enter their columns F alone; everything else, A₀, does not change
and is taken out of both sides once. What is linear never becomes an unknown of the search. Each
shape number is searched by its logarithm and hardly drawn to the file's, so that one which the logs
do not tell stays where it is.

Ref: [Golub-Pereyra 1973], [Waiboer 2007, section 3.6]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from armtwin.drives.friction.terms import Loaded, Power
from armtwin.errors import ArmtwinError
from armtwin.identification.closed_loop.result import ShapeFit, ShapeNumber
from armtwin.identification.rigid_body.data.clean_log import CleanLog
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.data.preparation import prepare_identification
from armtwin.identification.rigid_body.fit.identifiable import identifiable
from armtwin.identification.rigid_body.fit.regression import kept_rows
from armtwin.identification.rigid_body.identify import identify
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.cleaning import filtered
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.dynamics.friction_columns import friction_columns
from armtwin.robot.dynamics.rows import Row
from armtwin.robot.dynamics.traced import shape_numbers
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement

SPREAD = 1.0  # of the logarithm of a shape number that the file may be off by
TOLD = 0.25  # share of the spread below which a deviation says that the logs tell a number
WIDEST = 3.0  # logarithm by which a number may change at most
CLOSE = 1e-5  # relative change of the squares at which a search ends
STEP = 1e-3  # of a logarithm in differences
REST = 0.01  # share of a joint's highest speed below which its rows do not count
ROWS = 2500  # of all logs at most, for each joint
READY, SEARCHED = 0.3, 0.8  # shares of the work when logs are clean and all shapes were searched
KEPT = 64  # columns of elements that are kept while others change

UNITS = {(Power, "speed"), (Loaded, "usual")}  # keys that only say what a coefficient is a unit of

Elements = list[tuple[FrictionElement, Row]]


@one_blas_thread()
def fit_friction_shapes(
    robot: Robot,
    logs: Log | Sequence[Log],
    *,
    torque: str | None = None,
    cutoff: float | None = None,
    recipe: Recipe | None = None,
    progress: Callable[[float], None] | None = None,
) -> ShapeFit:
    """Fit speeds and exponents of a robot's friction laws to logs of its motion.

    Args:
        robot: The robot as it was when logged.
        logs: One or more logs in which the joints turn fast and slowly.
        torque: Channel of the torque, as for `identify`.
        cutoff: Cut-off frequency; by default as for `identify` [Hz].
        recipe: Other choices.
        progress: Told the share of the work that is done.
    """
    say = progress or _silent
    chosen = replace(recipe or Recipe(), friction="file", tilt="file")
    ready = prepare_identification(
        robot,
        logs,
        torque=torque,
        cutoff=cutoff,
        recipe=chosen,
        progress=lambda share: say(READY * share),
    )
    task = _Task(ready.experiment)
    if not task.places:
        raise ArmtwinError(f"robot '{robot.name}': its friction laws have no shape numbers")
    start = np.zeros(len(task.places))
    task = replace(task, sigma=task.residual_of_joints(start))
    before = task.residual_of_joints(start)
    everything = np.ones(len(start), dtype=bool)
    say(READY)
    x, deviation = _searched(task, start, everything)
    say(SEARCHED)
    told = (deviation < TOLD * SPREAD) & (np.abs(x) < WIDEST - CLOSE)
    x = np.where(told, x, 0.0)
    if told.any():
        x, again = _searched(task, x, told)
        deviation = np.where(told, again, deviation)
    applied = ready.experiment.clean[0].how.cutoff
    shaped = task.robot_with(x)
    return ShapeFit(
        prior=robot,
        robot=identify(shaped, logs, torque=torque, cutoff=applied, recipe=chosen).robot,
        table=tuple(task.numbers(x, deviation, told)),
        before=before,
        after=task.residual_of_joints(x),
    )


def _silent(_: float) -> None:
    """Say nothing."""


def _searched(task: _Task, start: Floats, free: Flags) -> tuple[Floats, Floats]:
    """Logarithms of the shapes, some of them free, and the deviations of these, (k,) each."""
    from scipy.optimize import least_squares

    def whole(some: Floats) -> Floats:
        x = start.copy()
        x[free] = some
        return x

    def gap(some: Floats) -> Floats:
        return np.concatenate([task.left(whole(some)), some / SPREAD])

    limits = (-WIDEST, WIDEST)
    found = least_squares(gap, start[free], bounds=limits, diff_step=STEP, ftol=CLOSE)
    curvature = found.jac.T @ found.jac
    own = np.eye(len(curvature)) / SPREAD**2
    rows = task.experiment.independent * (curvature - own)
    deviation = np.zeros(len(start))
    deviation[free] = np.sqrt(np.diag(np.linalg.inv(rows + own)))
    return whole(np.asarray(found.x, dtype=np.float64)), deviation


@dataclass(frozen=True)
class _Place:
    """A shape number: of which element, its key and value."""

    element: int
    key: str
    value: float


@dataclass(frozen=True, eq=False)
class _Task:
    """Rows with everything linear but friction taken out, and friction by its shapes."""

    experiment: IdentificationData
    sigma: Floats | None = None

    @property
    def robot(self) -> Robot:
        return self.experiment.prior

    @cached_property
    def places(self) -> list[_Place]:
        """The shape numbers that can be searched: positive ones of laws that are no tables."""
        found = []
        for k, (element, _) in enumerate(self.robot.assembly.friction):
            if element.negative is not None:
                continue
            for key in shape_numbers(element.law) or ():
                value = float(getattr(element.law, key))
                if value > 0 and (type(element.law), key) not in UNITS:
                    found.append(_Place(k, key, value))
        return found

    def elements(self, x: Floats) -> Elements:
        """The friction elements with shapes of logarithms x from the file's."""
        found = list(self.robot.assembly.friction)
        for place, change in zip(self.places, x, strict=True):
            element, row = found[place.element]
            shape: Any = {place.key: place.value * float(np.exp(change))}
            law = replace(element.law, **shape)
            found[place.element] = replace(element, law=law), row
        return found

    @cached_property
    def _some(self) -> list[tuple[CleanLog, slice]]:
        """The logs with the rows of each that are used."""
        counts = [len(kept_rows(log)) for log in self.experiment.clean]
        every = max(1, sum(counts) // ROWS)
        found = []
        for log in self.experiment.clean:
            kept = kept_rows(log)
            found.append((log, slice(kept.start, kept.stop, kept.step * every)))
        return found

    @cached_property
    def target(self) -> Floats:
        """Torques, (m, n)."""
        return np.concatenate([log.clean.tau[rows] for log, rows in self._some])

    @cached_property
    def used(self) -> Floats:
        """1 for rows that count, else 0, (m, n)."""
        found = []
        for log, rows in self._some:
            speed = np.abs(log.clean.v)
            found.append((speed >= REST * speed.max(axis=0))[rows])
        return np.concatenate(found).astype(np.float64)

    @cached_property
    def rigid(self) -> Floats:
        """Independent columns of all that is not friction, (m, n, k)."""
        friction = self.robot.layout.friction
        kept = [k for k in identifiable(self.robot).kept if not friction.start <= k < friction.stop]
        found = []
        for log, rows in self._some:
            Y = self.robot.regressor(*log.motion)[:, :, kept]
            found.append(_filtered(Y, log)[rows])
        return np.concatenate(found)

    def friction(self, x: Floats) -> Floats:
        """Columns of friction with shapes x, without what is not friction, (m n, k)."""
        parts = []
        for k, (element, _) in enumerate(self.elements(x)):
            parts.append(self._of_element(k, element.law))
        return np.hstack(parts)

    @cached_property
    def _of_element(self) -> Callable[[int, Any], Floats]:
        """Columns of one element with some law; those of the last ones are kept."""
        return lru_cache(maxsize=KEPT)(self._columns_of)

    def _columns_of(self, number: int, law: Any) -> Floats:
        element, row = self.robot.assembly.friction[number]
        found = []
        for log, rows in self._some:
            q, v, _ = log.motion
            acting, columns, _ = next(friction_columns([(replace(element, law=law), row)], v, q))
            both = np.broadcast_to(acting, v.shape)[:, :, None] * columns[:, None, :]
            found.append(_filtered(both, log)[rows])
        F = self._weighted(np.concatenate(found))
        return np.asarray(F - self._projector @ (self._projector.T @ F))

    def _weighted(self, values: Floats) -> Floats:
        """Rows (m, n, ...) over their joint's deviation, those that do not count as zeros."""
        sigma = np.ones(self.robot.n) if self.sigma is None else self.sigma
        weight = self.used / sigma
        return (values.T * weight.T).T.reshape(len(values) * self.robot.n, -1)

    @cached_property
    def _projector(self) -> Floats:
        """Orthonormal columns of all that is not friction, (m n, k)."""
        return np.asarray(np.linalg.qr(self._weighted(self.rigid))[0])

    @cached_property
    def _rest(self) -> Floats:
        """The target without what is not friction, (m n,)."""
        b = self._weighted(self.target[:, :, None])[:, 0]
        return np.asarray(b - self._projector @ (self._projector.T @ b))

    def left(self, x: Floats) -> Floats:
        """What no linear parameter explains with shapes x, (m n,)."""
        return np.asarray(self._rest - self.friction(x) @ self.coefficients(x))

    def residual_of_joints(self, x: Floats) -> Floats:
        """Root mean square that is left of each joint's torque with shapes x, (n,) [N m]."""
        left = self.left(x).reshape(-1, self.robot.n)
        if self.sigma is not None:
            left = left * self.sigma
        count = np.maximum(self.used.sum(axis=0), 1.0)
        return np.asarray(np.sqrt((left**2).sum(axis=0) / count))

    def coefficients(self, x: Floats) -> Floats:
        """Coefficients of friction with shapes x, everything linear fitted, (k,)."""
        F = self.friction(x)
        sizes = np.sqrt((F**2).sum(axis=0)) + 1e-300
        normal = (F.T @ F) / np.outer(sizes, sizes)
        return np.asarray(np.linalg.pinv(normal, rcond=1e-12) @ (F.T @ self._rest / sizes) / sizes)

    def robot_with(self, x: Floats) -> Robot:
        """The robot with shapes x, and about the coefficients that go with them."""
        named = {element.name: element for element, _ in self.elements(x)}
        active = self.robot.description.active_friction()
        elements = []
        for element in self.robot.description.friction:
            elements.append(named[element.name] if element in active else element)
        description = replace(self.robot.description, friction=tuple(elements))
        robot = self.robot.with_description(description)
        if self.experiment.needs_gains:
            return robot  # its coefficients are torques, these are currents
        phi = robot.parameters.copy()
        some = phi[robot.layout.friction]
        fitted = self.coefficients(x)
        phi[robot.layout.friction] = np.where((fitted > 0) | (some < 0), fitted, some)
        told = np.zeros(len(phi), dtype=bool)
        told[robot.layout.friction] = True
        source = "identified: friction and its shapes on dynamic logs"
        return robot.with_parameters(phi, source, identified=told)

    def numbers(self, x: Floats, deviation: Floats, told: Flags) -> Iterator[ShapeNumber]:
        """The shape numbers; one that the logs do not tell keeps the file's value."""
        for k, place in enumerate(self.places):
            element, _ = self.robot.assembly.friction[place.element]
            value = place.value * float(np.exp(x[k]))
            std = value * float(deviation[k])
            name = f"{element.name}.{place.key}"
            yield ShapeNumber(name, place.value, value, std, bool(told[k]))


def _filtered(columns: Floats, log: CleanLog) -> Floats:
    """Columns (m, n, k) through the filter of a log."""
    m, n, k = columns.shape
    return np.asarray(filtered(columns.reshape(m, n * k), log.how).reshape(m, n, k))

"""Shape parameters of friction laws from dynamic logs, by separable least squares.

    min over s  ‖P(s) b‖²        P(s) = 1 - A(s) A(s)⁺,   A(s) = [A₀ | F(s)]

Speeds and exponents s of the laws enter their columns F alone; everything else, A₀, does not change
and is projected out of both sides once. Linear parameters are never unknowns of the search. Each
shape parameter is searched by its logarithm with a weak prior at the file's value, so that one that
is not identifiable keeps it.

Ref: [Golub-Pereyra 1973], [Waiboer 2007, section 3.6]
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from armtwin.drives.friction.laws import Law
from armtwin.drives.friction.terms import Loaded, Power
from armtwin.errors import ArmtwinError
from armtwin.identification.closed_loop.result import ShapeFit, ShapeParameter
from armtwin.identification.fitting import estimate as fits
from armtwin.identification.rigid_body.data.clean_log import CleanLog
from armtwin.identification.rigid_body.data.experiment import IdentificationData
from armtwin.identification.rigid_body.data.preparation import prepare_identification, silent
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.identification.rigid_body.fit.regression import select_rows
from armtwin.identification.rigid_body.identify import identify
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, OnProgress, TwoArrays
from armtwin.maths.blas import one_blas_thread
from armtwin.robot.dynamics import formulas
from armtwin.robot.dynamics.assembly import Row
from armtwin.robot.dynamics.friction_columns import friction_columns
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement

SPREAD = 1.0  # standard deviation of the prior of a shape parameter's logarithm
IDENTIFIED = 0.25  # share of the prior's deviation below which a parameter is identified
WIDEST = 3.0  # largest change of a parameter's logarithm
CLOSE = 1e-5  # relative change of the residual sum of squares at which a search ends
STEP = 1e-3  # of a logarithm in differences
REST = 0.01  # share of a joint's highest speed below which its rows do not count
ROWS = 2500  # of all logs at most, for each joint
READY, SEARCHED = 0.3, 0.8  # shares of the work when logs are clean and all shapes were searched
KEPT = 64  # cached columns of elements

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
    progress: OnProgress | None = None,
) -> ShapeFit:
    """Fit speeds and exponents of a robot's friction laws to logs of its motion.

    Args:
        robot: The robot as it was when logged.
        logs: One or more logs in which the joints turn fast and slowly.
        torque: Channel of the torque, as for `identify`.
        cutoff: Cut-off frequency; by default as for `identify` [Hz].
        recipe: Other choices.
        progress: Called with the share of the work that is done.
    """
    say = progress or silent
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
        raise ArmtwinError(f"robot '{robot.name}': its friction laws have no shape parameters")
    start = np.zeros(len(task.places))
    task = replace(task, sigma=task.residual_of_joints(start))
    before = task.residual_of_joints(start)
    everything = np.ones(len(start), dtype=bool)
    say(READY)
    x, deviation = _search(task, start, everything)
    say(SEARCHED)
    identified = (deviation < IDENTIFIED * SPREAD) & (np.abs(x) < WIDEST - CLOSE)
    x = np.where(identified, x, 0.0)
    if identified.any():
        x, again = _search(task, x, identified)
        deviation = np.where(identified, again, deviation)
    applied = ready.experiment.clean[0].how.cutoff
    shaped = task.robot_with(x)
    return ShapeFit(
        prior=robot,
        robot=identify(shaped, logs, torque=torque, cutoff=applied, recipe=chosen).robot,
        table=tuple(task.numbers(x, deviation, identified)),
        before=before,
        after=task.residual_of_joints(x),
    )


def _search(task: _Task, start: Floats, free: Flags) -> TwoArrays:
    """Search the free logarithms of the shapes; all of them and deviations, (k,) each."""

    def whole(free_x: Floats) -> Floats:
        x = start.copy()
        x[free] = free_x
        return x

    def model(free_x: Floats) -> TwoArrays:
        return task.friction(whole(free_x)), task.rest

    prior = np.full(int(free.sum()), 1 / SPREAD**2)
    limits = -WIDEST, WIDEST
    shapes = fits.ShapeParameters(0 * prior, *limits, prior=prior, close=CLOSE, step=STEP)
    x, here = fits.search(model, shapes, start[free])
    J = np.column_stack([here.A, fits.bend(model, shapes, x, here)])[:, None]
    noise = fits.RowNoise(independent=task.experiment.independent, known=np.inf)
    known = np.concatenate([0 * here.values, prior])
    values = np.concatenate([here.values, x])
    found = fits.assess(values, J, here.residual[:, None], noise, known)
    deviation = np.zeros(len(start))
    deviation[free] = found.std[len(here.values) :]
    return whole(x), deviation


@dataclass(frozen=True)
class _Place:
    """A shape parameter: of which element, its key and value."""

    element: int
    key: str
    value: float


@dataclass(frozen=True, eq=False)
class _Task:
    """Rows with everything linear but friction projected out, and friction by its shapes."""

    experiment: IdentificationData
    sigma: Floats | None = None

    @property
    def robot(self) -> Robot:
        return self.experiment.prior

    @cached_property
    def places(self) -> list[_Place]:
        """The shape parameters that can be searched: positive ones of laws that are no tables."""
        found = []
        for k, (element, _) in enumerate(self.robot.assembly.friction):
            if element.negative is not None:
                continue
            for key in formulas.shape_numbers(element.law) or ():
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
    def _some(self) -> list[tuple[CleanLog, range]]:
        """The logs with the rows of each that are used."""
        kept = [select_rows(log) for log in self.experiment.clean]
        every = max(1, sum(map(len, kept)) // ROWS)
        return [(log, rows[::every]) for log, rows in zip(self.experiment.clean, kept, strict=True)]

    @cached_property
    def target(self) -> Floats:
        """Torques, (m, n)."""
        return self._gather(lambda log: log.clean.tau)

    def _gather(self, of_log: Callable[[CleanLog], Floats]) -> Floats:
        """Values of all logs at the rows that are used, (m, ...)."""
        return np.concatenate([of_log(log)[rows] for log, rows in self._some])

    @cached_property
    def used(self) -> Floats:
        """1 for rows that count, else 0, (m, n)."""

        def moves(log: CleanLog) -> Floats:
            speed = np.abs(log.clean.v)
            return (speed >= REST * speed.max(axis=0)).astype(np.float64)

        return self._gather(moves)

    @cached_property
    def rigid(self) -> Floats:
        """Independent columns of all that is not friction, (m, n, k)."""
        friction = self.robot.layout.friction
        kept = [
            k
            for k in analyse_identifiability(self.robot).kept
            if not friction.start <= k < friction.stop
        ]
        return self._gather(
            lambda log: log.filter_columns(self.robot.regressor(*log.motion)[:, :, kept])
        )

    def friction(self, x: Floats) -> Floats:
        """Columns of friction with shapes x, without what is not friction, (m n, k)."""
        parts = []
        for k, (element, _) in enumerate(self.elements(x)):
            parts.append(self._of_element(k, element.law))
        return np.hstack(parts)

    @cached_property
    def _of_element(self) -> Callable[[int, Any], Floats]:
        """Columns of one element with a law; the latest are cached."""
        return lru_cache(maxsize=KEPT)(self._columns_of)

    def _columns_of(self, number: int, law: Law) -> Floats:
        element, row = self.robot.assembly.friction[number]

        def of_log(log: CleanLog) -> Floats:
            q, v, _ = log.motion
            acting, columns, _ = next(friction_columns([(replace(element, law=law), row)], v, q))
            both = np.broadcast_to(acting, v.shape)[:, :, None] * columns[:, None, :]
            return log.filter_columns(both)

        F = self._weight(self._gather(of_log))
        return F - self._projector @ (self._projector.T @ F)

    def _weight(self, values: Floats) -> Floats:
        """Rows (m, n, ...) over their joint's deviation, those that do not count as zeros."""
        sigma = np.ones(self.robot.n) if self.sigma is None else self.sigma
        weight = self.used / sigma
        return (values.T * weight.T).T.reshape(len(values) * self.robot.n, -1)

    @cached_property
    def _projector(self) -> Floats:
        """Orthonormal columns of all that is not friction, (m n, k)."""
        return np.linalg.qr(self._weight(self.rigid))[0]

    @cached_property
    def rest(self) -> Floats:
        """The target without what is not friction, (m n,)."""
        b = self._weight(self.target[:, :, None])[:, 0]
        return b - self._projector @ (self._projector.T @ b)

    def left(self, x: Floats) -> Floats:
        """Residual with shapes x, all linear parameters fitted, (m n,)."""
        return self.rest - self.friction(x) @ self.coefficients(x)

    def residual_of_joints(self, x: Floats) -> Floats:
        """Residual rms of each joint's torque with shapes x, (n,) [N m]."""
        residual = self.left(x).reshape(-1, self.robot.n)
        if self.sigma is not None:
            residual = residual * self.sigma
        count = np.maximum(self.used.sum(axis=0), 1.0)
        return np.sqrt((residual**2).sum(axis=0) / count)

    def coefficients(self, x: Floats) -> Floats:
        """Coefficients of friction with shapes x, everything linear fitted, (k,)."""
        return fits.solve(self.friction(x), self.rest).values

    def robot_with(self, x: Floats) -> Robot:
        """The robot with shapes x and approximate coefficients."""
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

    def numbers(self, x: Floats, deviation: Floats, identified: Flags) -> Iterator[ShapeParameter]:
        """The shape parameters; one that is not identifiable keeps the file's value."""
        for k, place in enumerate(self.places):
            element, _ = self.robot.assembly.friction[place.element]
            value = place.value * float(np.exp(x[k]))
            std = value * float(deviation[k])
            name = f"{element.name}.{place.key}"
            yield ShapeParameter(name, place.value, value, std, bool(identified[k]))

"""Design an excitation: random starts, then a search by gradient, then every limit checked densely.

The search first raises the determinant, which depends on every parameter, then turns to the
criterion; limits are penalties of growing stiffness. Violations that remain between the samples are
removed by a smaller amplitude.

Ref: [Waiboer 2007, section 4.4.1], [Swevers 1997]

Random motions that use the limits of a robot as far as they go.

Speeds of all harmonics are sampled from one distribution, each joint's amplitude is then widened to
its nearest limit, and all of them are scaled down where torques, floor or cell require it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property, partial

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.excitation import information
from armtwin.identification.excitation.bounds import Bounds, ExcitationPlan, Use
from armtwin.identification.excitation.information import RegressorColumns, columns_of
from armtwin.identification.excitation.result import Excitation, MotionCriteria, Twin
from armtwin.identification.rigid_body.data.clean_log import whole_torque
from armtwin.identification.rigid_body.data.preparation import silent
from armtwin.identification.rigid_body.fit.free_parameters import analyse_identifiability
from armtwin.maths.batch import Floats
from armtwin.maths.blas import one_blas_thread
from armtwin.motion.cell import Cell
from armtwin.motion.fourier import FourierSeries, Harmonics, Shapes
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.defaults.joint_sizes import joint_sizes
from armtwin.robot.robot import Robot

HALVINGS = 7
LEAST_MOTION = 0.05  # share of the largest amplitude below which a sample counts as no motion
MOST_TRIES = 200  # samples without success before none is taken to exist
MARGIN = 0.999  # of limits, for what is between samples


def find_largest_share(least: float, is_within: Callable[[float], bool]) -> float:
    """The largest share of an amplitude that is within all limits, between a least one and 1."""
    low, high = least, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if is_within(middle):
            low = middle
        else:
            high = middle
    return low


SAMPLES = 200  # of a period in the search, at least
A_HARMONIC = 20  # samples for each harmonic, at least
DENSER = 10  # times as dense as set-points and samples that limits are checked at the end
USUAL_RATE = 250.0  # of set-points where the robot's file has no servo [Hz]
# iterations and stiffness of the limits: of the determinant, then of the criterion
FIRST = ((150, 1e3),)
THEN = ((250, 1e4), (250, 1e5))
SETTLED = 1e-6  # relative gain of a step at which a stage of the search ends
LEAST_AMPLITUDE = 0.7  # smallest share of a motion's amplitude after the dense check
# times its amplitude that a joint gets whose servo stops the twin, and that the others get, whose
# motion loads it
SMALLER, BESIDE = 0.9, 0.95
LEAST_FOLLOWED = 0.05  # share of an amplitude below which a motion excites nothing

Progress = Callable[[float], None]
RunTwin = Callable[[Trajectory], Twin | None]


@dataclass(frozen=True, eq=False)
class _Task:
    """Data of a search."""

    robot: Robot
    plan: ExcitationPlan
    rate: float
    harmonics: Harmonics
    bounds: Bounds
    columns: RegressorColumns
    scales: information.Scales

    @property
    def samples(self) -> int:
        return max(SAMPLES, A_HARMONIC * self.plan.harmonics)

    @cached_property
    def shapes(self) -> Shapes:
        """Motion per coefficient at the samples at which limits are checked."""
        return self.harmonics.shapes(self.harmonics.grid(self.samples))

    def torque(self, motion: Shapes) -> Floats:
        """Torques of a motion by the columns of the independent parameters, (m, n)."""
        return self.columns.values(motion) @ self.scales.base

    def objective(self) -> information.Objective:
        """What is minimised, coefficients in units of the joints' own."""
        bounds, k = self.bounds, self.harmonics.at_rest.shape[1]
        units = np.empty((k, self.robot.n))
        widest = bounds.half * self.harmonics.omega * np.sqrt(self.plan.harmonics)
        units[0] = bounds.half
        units[1:] = np.minimum(bounds.speed, widest) / np.sqrt(k)
        return information.Objective(self.columns, self.scales, bounds, self.shapes, units)

    def draw(self, chance: np.random.Generator) -> FourierSeries:
        """A random motion within all limits."""
        broken: dict[str, int] = {}
        for _ in range(MOST_TRIES):
            series = self._wide(chance)
            found = self._scale_down(series)
            if found is not None:
                return found
            use = self._use(series.scale_amplitudes(LEAST_MOTION))
            word = use.worst(self.robot, self.bounds.clearance)
            broken[word] = broken.get(word, 0) + 1
        worst = max(broken, key=lambda word: broken[word])
        raise ArmtwinError(
            f"robot '{self.robot.name}': no motion within the limits among {MOST_TRIES} "
            f"random ones; most often exceeded: {worst}"
        )

    def _motion(self, series: FourierSeries) -> Shapes:
        return Shapes(*(shape @ series.free for shape in self.shapes))

    def _use(self, series: FourierSeries) -> Use:
        motion = self._motion(series)
        return self.bounds.use(motion, self.torque(motion))

    def _wide(self, chance: np.random.Generator) -> FourierSeries:
        """A random motion of each joint up to its own limits."""
        bounds, n = self.bounds, self.robot.n
        basis = self.harmonics.at_rest.shape[1]
        free = chance.normal(size=(basis, n))
        free[0] = 0.0
        motion = self._motion(FourierSeries(self.harmonics, free))
        amplitude = np.abs(motion.q).max(axis=0)
        share = chance.uniform(0.5, 1.0, size=n)
        widest = share * bounds.half / amplitude
        fastest = bounds.speed / np.abs(motion.v).max(axis=0)
        quickest = bounds.acceleration / np.abs(motion.a).max(axis=0)
        scale = MARGIN * np.minimum(widest, np.minimum(fastest, quickest))
        free *= scale
        margin = bounds.half - scale * amplitude
        free[0] = bounds.middle + chance.uniform(-1.0, 1.0, size=n) * MARGIN * margin
        return FourierSeries(self.harmonics, free)

    def _scale_down(self, series: FourierSeries) -> FourierSeries | None:
        """Scale a motion about its centre to the largest within all limits."""
        if self._is_within(series):
            return series
        if not self._is_within(series.scale_amplitudes(LEAST_MOTION)):
            return None
        share = find_largest_share(
            LEAST_MOTION, lambda share: self._is_within(series.scale_amplitudes(share))
        )
        return series.scale_amplitudes(share)

    def _is_within(self, series: FourierSeries) -> bool:
        use = self._use(series)
        return use.largest <= MARGIN and use.nearest >= self.bounds.clearance


@one_blas_thread()
def excite(
    robot: Robot,
    plan: ExcitationPlan | None = None,
    cell: Cell | None = None,
    *,
    run_twin: RunTwin | None = None,
    progress: Progress | None = None,
) -> Excitation:
    """Design an exciting trajectory within a robot's limits and its cell.

    Args:
        robot: The robot as it will be logged, with drives, tool and payload.
        plan: The choices.
        cell: Obstacles around it; by default the plane of its base alone.
        run_twin: Simulates a trajectory in the robot's closed loop, None where it cannot. A
            motion that the servo does not follow is made smaller until it does.
        progress: Called with the share that is done.
    """
    chosen = plan or ExcitationPlan()
    task = _task(robot, chosen, cell or Cell())
    say = progress or silent
    objective = task.objective()
    start, tried = _best_random(task, say)
    if chosen.search == "random":
        series, use = _scale_to_limits(task, start)
    else:
        series, use = _optimise(task, objective, start, say)
    amplitudes, twin = np.ones(robot.n), None
    if run_twin is not None:
        amplitudes, twin = _scale_to_servo(task, series, run_twin)
        series = series.scale_amplitudes(amplitudes)
        use = _use(task, series)
    return Excitation(
        robot=robot,
        plan=chosen,
        rate=task.rate,
        series=series,
        scales=task.scales,
        normal=_normal(task, series),
        start=_normal(task, start),
        use=use,
        clearance=chosen.clearance,
        tried=tried,
        amplitudes=amplitudes,
        twin=twin,
    )


def _task(robot: Robot, plan: ExcitationPlan, cell: Cell) -> _Task:
    rate = plan.check_rate(plan.rate or _servo_rate(robot))
    bounds = Bounds.of(robot, plan, cell)
    return _Task(
        robot=robot,
        plan=plan,
        rate=rate,
        harmonics=Harmonics(plan.period, plan.harmonics),
        bounds=bounds,
        columns=columns_of(robot, joint_sizes(robot).speed),
        scales=information.Scales.of(robot, bounds.scale),
    )


def _servo_rate(robot: Robot) -> float:
    """Set-points in a second of the robot's first servo [Hz]."""
    for servo in robot.description.servo.values():
        rate = getattr(servo, "setpoint_rate", None)
        if rate is not None:
            return float(rate)
    return USUAL_RATE


def _normal(task: _Task, series: FourierSeries) -> Floats:
    """N of a motion at its set-points, friction as it is."""
    samples = round(task.plan.period * task.rate)
    Y = task.robot.regressor(*series.at(task.harmonics.grid(samples)))
    return task.scales.normal(Y[:, :, list(analyse_identifiability(task.robot).kept)])


def _best_random(task: _Task, say: Progress) -> tuple[FourierSeries, tuple[MotionCriteria, ...]]:
    """The best random motion, and the criteria of all of them."""
    chance = np.random.default_rng(task.plan.seed)
    best, least, tried = None, np.inf, []
    share = 1.0 if task.plan.search == "random" else 0.3
    for k in range(task.plan.starts):
        say(share * k / task.plan.starts)
        series = task.draw(chance)
        N = _normal(task, series)
        value = information.criterion_of(N, task.scales, task.plan).value
        tried.append(MotionCriteria.of(N, task.scales))
        if best is None or value < least:
            best, least = series, value
    assert best is not None
    return best, tuple(tried)


def _optimise(
    task: _Task, objective: information.Objective, start: FourierSeries, say: Progress
) -> tuple[FourierSeries, Use]:
    """Search from a start; the start itself where nothing better is found."""
    from scipy.optimize import minimize

    sought = partial(information.criterion_of, scales=task.scales, plan=task.plan)
    stages: list[tuple[Callable[[Floats], information.Value], int, float]] = []
    stages += [(information.log_det_of, steps, stiffness) for steps, stiffness in FIRST]
    stages += [(sought, steps, stiffness) for steps, stiffness in THEN]
    x = (start.free / objective.units).ravel()
    for k, (criterion, steps, stiffness) in enumerate(stages):
        say(0.3 + 0.6 * k / len(stages))
        found = minimize(
            objective.evaluate,
            x,
            args=(criterion, stiffness),
            jac=True,
            method="L-BFGS-B",
            options={"maxiter": steps, "maxcor": 20, "ftol": SETTLED},
        )
        x = found.x
    free = x.reshape(objective.units.shape) * objective.units
    series, use = _scale_to_limits(task, FourierSeries(task.harmonics, free))
    before = sought(_normal(task, start)).value
    if not task.bounds.kept(use) or sought(_normal(task, series)).value > before:
        return _scale_to_limits(task, start)
    return series, use


def _scale_to_limits(task: _Task, series: FourierSeries) -> tuple[FourierSeries, Use]:
    """Reduce the amplitude of a motion until limits hold between the samples too."""
    use = _use(task, series)
    if task.bounds.kept(use):
        return series, use

    def is_within(share: float) -> bool:
        return task.bounds.kept(_use(task, series.scale_amplitudes(share)))

    scaled = series.scale_amplitudes(find_largest_share(LEAST_AMPLITUDE, is_within))
    return scaled, _use(task, scaled)


def _use(task: _Task, series: FourierSeries) -> Use:
    """How much of each limit a motion uses, on a grid denser than its set-points."""
    dense = max(task.samples, round(task.plan.period * task.rate))
    motion = series.at(np.linspace(0.0, task.plan.period, DENSER * dense + 1))
    return task.bounds.use(motion, whole_torque(task.robot, *motion))


def _scale_to_servo(
    task: _Task, series: FourierSeries, run_twin: RunTwin
) -> tuple[Floats, Twin | None]:
    """Shares of the joints' amplitudes, (n,), that the servo follows within the limits.

    The joints of the drive that stops the twin lose most.
    """
    motors = {motor.name: k for k, motor in enumerate(task.robot.description.motor)}
    shares, why = np.ones(task.robot.n), ""
    while shares.min() >= LEAST_FOLLOWED:
        scaled = series.scale_amplitudes(shares)
        twin = run_twin(scaled.trajectory(task.rate, task.plan.periods))
        if twin is None:
            return shares, None
        if twin.runs and task.bounds.kept(_use(task, scaled)):
            return shares, replace(twin, sentence=_with_shares(task.robot, twin, shares))
        why = twin.sentence
        to_blame = np.zeros(task.robot.n, dtype=bool)
        if twin.stopped_by in motors:
            to_blame = task.robot.assembly.motor_rows[motors[twin.stopped_by]] != 0
        shares *= np.where(to_blame, SMALLER, BESIDE)
    raise ArmtwinError(
        f"robot '{task.robot.name}': its twin runs no such motion, down to "
        f"{100 * LEAST_FOLLOWED:g} % of the amplitudes. {why}"
    )


def _with_shares(robot: Robot, twin: Twin, shares: Floats) -> str:
    """What the twin does, with what was made smaller for it."""
    smaller = [
        f"{robot.joint_names[j]} to {100 * shares[j]:.0f} %" for j in np.flatnonzero(shares < 1)
    ]
    if not smaller:
        return twin.sentence
    return f"{twin.sentence} For its servo amplitudes were made smaller: {', '.join(smaller)}."

"""Vibrations of an elastic robot: natural frequencies, dampings and mode shapes.

Rotors locked, the arm vibrates on its gears: (s² Zᵀ M Z + s Zᵀ D Z + Zᵀ K Z) y = 0, Z a basis of
the motions with the motors held. Rotors free, all coordinates vibrate. Held by the servo, its
torque depends on the frequency:

    (s² M + s D + K + Rᵀ C(s) R) x = 0
    C(s) = e^(-s d) G_out (G_in (k_p + k_i / s + k_d s) + G_fb k_v s),   filters at z = e^(s h)

d is half a tick, the mean hold of a current, and the delays of sensor and output. Roots are found
by inverse iteration from those of simpler equations.

Ref: [Waiboer 2007, section 5.4], [Güttel-Tisseur 2017, section 4.2]
"""

import numpy as np

from armtwin.analysis.flexible import Flexible, elastic_coordinates, find_cautions, flexible
from armtwin.analysis.mode_shapes import Complex, Mode, Modes, Rotors
from armtwin.analysis.states import States
from armtwin.control import controller as control
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.robot.robot import Robot
from armtwin.robot.schema.servo import Proportional, Servo, for_each

SLOWEST = 0.05  # frequency below which a root is no vibration [Hz]
OVERDAMPED = 0.995  # relative damping from which a root is no vibration
ROUNDS = 60
COARSE = 4  # rounds until a root is near
DAMPINGS = np.array([0.1, 0.4, 0.7])  # of roots from which others are sought
GRID = 12  # sizes of roots from which others are sought
CLOSE = 1e-10
SHIFT = 100.0  # [1/s] of the size of the roots that are sought, and none itself
MASSLESS = 1e-5  # of the largest 1/(s - σ), the root of rounding: a root so far away is none
MOST = 12  # modes of each kind
LOWEST = 3  # modes whose frequencies are shown along a motion
SERVO = "cascade"


def modes(
    robot: Robot, states: States, load: str = "", servo: str = SERVO, *, links: bool = False
) -> Modes:
    """Natural frequencies and shapes of a robot at postures.

    Args:
        robot: The robot with what it carries.
        states: The postures; of a motion the lowest frequencies are found along it.
        load: What it carries, in words.
        servo: Name of the servo that holds its rotors.
        links: Whether links bend at their flexures.
    """
    elastic = elastic_coordinates(robot, links=links)
    everywhere = [flexible(elastic, q) for q in states.q]
    here = everywhere[0]
    found: dict[Rotors, tuple[Mode, ...]] = {"locked": find_locked_modes(here)}
    if len(here.motor_rows):
        if servo in robot.description.servo:
            found["servo"] = find_servo_modes(here, robot.description.servo[servo])
        found["free"] = _modes(here, *_quadratic(here.M, here.D, here.K))  # rotors turn freely
    lowest = np.full((len(states.q), LOWEST), np.nan)
    for row, there in zip(lowest, everywhere, strict=True):
        frequencies = [mode.frequency for mode in find_locked_modes(there)[:LOWEST]]
        row[: len(frequencies)] = frequencies
    cautions = find_cautions([there.least_stiffness for there in everywhere])
    return Modes(robot, states, load, found, lowest, here, cautions)


def find_locked_modes(here: Flexible) -> tuple[Mode, ...]:
    """Modes with the rotors locked; of a hydraulic robot with the valves closed."""
    return _modes(here, *_solve_locked(here))


def _solve_locked(here: Flexible) -> tuple[Complex, Complex]:
    """Roots with the rotors locked, and their shapes."""
    Z = np.hstack([here.freedom, here.leaking])
    M = Z.T @ here.M @ Z
    D = Z.T @ here.D @ Z
    K = Z.T @ here.K @ Z
    roots, shapes = _quadratic(M, D, K)
    return roots, Z @ shapes


def find_servo_modes(here: Flexible, servo: Servo) -> tuple[Mode, ...]:
    """Modes with the rotors held by a servo."""
    c = control.controller(servo, len(here.motor_rows))
    if isinstance(servo, Proportional) or not len(here.motor_rows):
        raise ArmtwinError("modes: rotors are held by a servo of motors only")
    held = _HeldBy(here, c, servo)
    # rotors on the springs and dampers that the servo is at low frequency
    R = here.motor_rows
    stiff, damped = c.gains[:, control.KP], c.gains[:, control.KV] + c.gains[:, control.KD]
    K = here.K + (R.T * stiff) @ R
    D = here.D + (R.T * damped) @ R
    starts, _ = _quadratic(here.M, D, K)
    locked, _ = _solve_locked(here)
    seen = 2 * np.pi / c.tick  # what swings faster, as a stiff beam does, the servo never sees
    locked, starts = (found[np.abs(found) < seen] for found in (locked, starts))
    roots: list[complex] = []
    shapes: list[Complex] = []
    for start in (*locked, *starts, *_grid(locked)):
        found = held.root(complex(start))
        if found is None:
            continue
        s, shape = found
        if all(abs(s - other) > 1e-6 * abs(s) for other in roots):
            roots.append(s)
            shapes.append(shape)
    return _modes(here, np.array(roots), np.array(shapes).reshape(len(roots), -1).T)


def _grid(locked: Complex) -> Complex:
    """Frequencies and dampings from which roots are sought, about those with rotors locked."""
    slowest, fastest = abs(locked[0]), abs(locked[-1])
    size = np.geomspace(0.1 * slowest, 2 * fastest, GRID)
    angle = np.pi - np.arccos(DAMPINGS)
    starts = size[:, None] * np.exp(1j * angle)
    return np.asarray(starts, dtype=np.complex128).ravel()


class _HeldBy:
    """Rotors held by a servo, one equation for each frequency."""

    def __init__(self, here: Flexible, c: control.Controller, servo: Servo) -> None:
        self.here, self.c = here, c
        drives = len(here.motor_rows)
        assert not isinstance(servo, Proportional)
        sensor = np.array(for_each(servo.delay.sensor, drives), dtype=np.float64)
        output = np.array(for_each(servo.delay.output, drives), dtype=np.float64)
        self.delay = sensor + output + 0.5 * c.tick
        self.hold = 0.5 * (c.position_ticks - 1) * c.tick
        seen = here.motor_rows
        for k, side in enumerate(control.reading(servo, drives).sides):
            if side == "link":
                seen[k] = 0.0
                seen[k, here.places.link] = here.places.built.assembly.gear[k, here.places.own]
        self.seen = seen

    def stiffness(self, s: complex) -> Complex:
        """What the servo adds to K at a frequency, (N, N)."""
        gains = self.c.gains
        G = self._filters(s)
        late = G[:, control.OUT] * np.exp(-s * self.delay)
        of_position = gains[:, control.KP] + gains[:, control.KI] / s + gains[:, control.KD] * s
        position = late * G[:, control.IN] * of_position * np.exp(-s * self.hold)
        speed = late * G[:, control.FEEDBACK] * gains[:, control.KV] * s
        R = self.here.motor_rows
        by_position = R.T @ (position[:, None] * self.seen)
        by_speed = R.T @ (speed[:, None] * R)
        return by_position + by_speed

    def _filters(self, s: complex) -> Complex:
        """Transfer of G_in, G_fb, G_out, G_ff at a frequency, (drives, 4)."""
        z = np.exp(-s * self.c.tick)
        b0, b1, b2, a1, a2 = np.moveaxis(self.c.filters, 2, 0)
        above = b0 + z * (b1 + z * b2)
        below = 1 + z * (a1 + z * a2)
        return above / below

    def equation(self, s: complex) -> Complex:
        """T(s), whose null vector at a root is its shape, (N, N)."""
        here = self.here
        return s * s * here.M + s * here.D + here.K + self.stiffness(s)

    def root(self, s: complex) -> tuple[complex, Complex] | None:
        """The root that is reached from a frequency, and its shape, by inverse iteration.

        x <- T(s)⁻¹ T'(s) x,   s <- s - x · x before / x · x
        """
        here = self.here
        for _ in range(COARSE):  # with the servo as it is at the last frequency
            roots, _ = _quadratic(here.M, here.D, here.K + self.stiffness(s))
            s = complex(roots[np.abs(roots - s).argmin()])
        x: Complex = np.linalg.svd(self.equation(s))[2][-1].conj().astype(np.complex128)
        for _ in range(ROUNDS):
            step = 1e-6 * abs(s)
            slope = (self.equation(s + step) - self.equation(s - step)) / (2 * step)
            try:
                new = np.linalg.solve(self.equation(s), slope @ x)
            except np.linalg.LinAlgError:
                return s, x
            change = np.vdot(x, x) / np.vdot(x, new)
            s = complex(s - change)
            x = np.asarray(new / np.linalg.norm(new), dtype=np.complex128)
            if s.imag <= 0 or not np.isfinite(s):
                return None
            if abs(change) < CLOSE * abs(s):
                return s, x
        return None


def _quadratic(M: Floats, D: Floats, K: Complex | Floats) -> tuple[Complex, Complex]:
    """Roots and shapes of (s² M + s D + K) x = 0 in the upper half plane, the slowest first.

    About a shift σ, with K_σ = K + σ D + σ² M and D_σ = D + 2 σ M, s = σ + 1/μ:

        μ (x, w) = (-K_σ⁻¹ (D_σ x + M w), x)

    Beams as good as rigid and motions without mass are at μ = 0 and cost no digits of the others.
    """
    n = len(M)
    inverse = np.linalg.inv(K + SHIFT * D + SHIFT**2 * M)
    rates = np.zeros((2 * n, 2 * n), dtype=np.result_type(K))
    rates[:n, :n] = -inverse @ (D + 2 * SHIFT * M)
    rates[:n, n:] = -inverse @ M
    rates[n:, :n] = np.eye(n)
    values, vectors = np.linalg.eig(rates)
    finite = np.abs(values) > MASSLESS * np.abs(values).max()
    roots = SHIFT + 1 / values[finite]
    shapes = vectors[n:, finite]
    oscillates = roots.imag > 0
    order = np.argsort(np.abs(roots[oscillates]))
    return roots[oscillates][order], shapes[:, oscillates][:, order]


def _modes(here: Flexible, roots: Complex, shapes: Complex) -> tuple[Mode, ...]:
    """Modes of oscillating roots, the slowest first."""
    found = []
    tool = here.tool
    for s, shape in zip(roots, shapes.T, strict=True):
        frequency, damping = abs(s) / (2 * np.pi), -s.real / abs(s)
        if frequency < SLOWEST or damping > OVERDAMPED:
            continue
        moved = tool @ shape
        largest = moved[:3][np.abs(moved[:3]).argmax()]
        shape = shape / largest if abs(largest) > 1e-12 else shape
        energy = here.energies(shape)
        shares = energy / energy.sum() if energy.sum() > 0 else energy
        found.append(Mode(float(frequency), float(damping), shape, tool @ shape, shares))
    found.sort(key=lambda mode: mode.frequency)
    return tuple(found[:MOST])

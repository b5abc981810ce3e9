"""The servo of every motor as one packed noun and three compiled steps: set-points, position loop, velocity loop.

    u = G_out[G_in(k_p e + k_i ∫e + k_d e' + k_vf v_ref + k_afv a_ref) - G_fb k_v v] + G_ff(k_afc a_ref)
        + coulomb sign(v_ref)
    i = u / k_m, limited, then quantised

The CS7B controller is the same equation without filters, its friction compensation in k_vf and coulomb, and
its acceleration set-points taken as given in place of the cubic's.

Controllers see what a real one sees: motor positions in encoder steps, motor speeds, set-points at their rate.

Ref: [Waiboer 2007, section 2.3], [Aarts-Jonker-Waiboer 2006, section 5]
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from armtwin.control.filters import coefficients, filtered, settle
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.maths.compiled import inlined
from armtwin.robot.drive_groups import Motor
from armtwin.robot.servo import Cascade, Servo

KP, KI, KD, KVF, KAFV, KAFC, KV, COULOMB, TORQUE_CONSTANT, LIMIT, QUANTUM, ENCODER, ERROR_LIMIT = range(13)
IN, FEEDBACK, OUT, FORWARD = range(4)
INTEGRAL, COMMAND, BEFORE, FF, SATURATED = range(5)


class Controller(NamedTuple):
    """Gains, filters and rates of all motors, packed.

    Attributes:
        gains: One row for each motor, columns KP .. ERROR_LIMIT, (motors, 13); 0 switches a quantum off.
        filters: Coefficients of G_in, G_fb, G_out, G_ff, (motors, 4, 5).
        tick: Period of the velocity loop [s].
        position_ticks: Velocity ticks in a period of the position loop.
        setpoint_ticks: Velocity ticks between set-points.
        given_acceleration: 1 where acceleration set-points are taken as given, 0 where the cubic's are used.
    """

    gains: Any
    filters: Any
    tick: float
    position_ticks: int
    setpoint_ticks: int
    given_acceleration: int


def controller(servo: Servo, motors: tuple[Motor, ...], quantise: bool) -> Controller:
    """Pack a servo of a robot file for the motors it drives."""
    m, rate = len(motors), servo.velocity_rate
    lacking = [x.name for x in motors if x.torque_constant is None or x.current_limit is None]
    if lacking:
        raise ArmtwinError(f"motors {', '.join(lacking)} need a torque_constant and a current_limit to be controlled")
    gains = np.zeros((m, 13))
    names = {KP: "kp", KI: "ki", KV: "kv"}
    if isinstance(servo, Cascade):
        names |= {KD: "kd", KVF: "kvf", KAFV: "kafv", KAFC: "kafc"}
        specs = (servo.input_filter, servo.feedback_filter, servo.output_filter, servo.feedforward_filter)
        setpoint_rate = servo.setpoint_rate
    else:
        names |= {KVF: "viscous", KAFC: "kaf", COULOMB: "coulomb"}
        specs, setpoint_rate = (None, None, None, None), servo.position_rate
    for column, name in names.items():
        values = getattr(servo, name)
        gains[:, column] = 0.0 if values is None else values
    for i, motor in enumerate(motors):
        gains[i, TORQUE_CONSTANT], gains[i, LIMIT] = motor.torque_constant, motor.current_limit
        if quantise:
            gains[i, QUANTUM] = motor.current_quantum or 0.0
            gains[i, LIMIT] = _reachable(gains[i, LIMIT], gains[i, QUANTUM])
            gains[i, ENCODER] = 2 * np.pi / motor.encoder_counts if motor.encoder_counts else 0.0
    gains[:, ERROR_LIMIT] = servo.following_error_limit or np.inf
    filters = np.stack([coefficients(spec, rate, m) for spec in specs], axis=1)
    _whole(servo.position_rate, setpoint_rate, "position_rate", "setpoint_rate")
    return Controller(
        gains=gains,
        filters=filters,
        tick=1 / rate,
        position_ticks=_whole(rate, servo.position_rate, "velocity_rate", "position_rate"),
        setpoint_ticks=_whole(rate, setpoint_rate, "velocity_rate", "setpoint_rate"),
        given_acceleration=0 if isinstance(servo, Cascade) else 1,
    )


def _reachable(limit: float, quantum: float) -> float:
    """Largest current that is a whole number of quanta and within the limit."""
    return limit if quantum == 0 else float(np.floor(limit / quantum + 1e-9) * quantum)


def _whole(fast: float, slow: float, fast_name: str, slow_name: str) -> int:
    ratio = fast / slow
    if abs(ratio - round(ratio)) > 1e-9 or ratio < 1:
        raise ArmtwinError(f"servo: {fast_name} must be a whole multiple of {slow_name}, got {fast:g} and {slow:g} Hz")
    return round(ratio)


def initial(c: Controller, torque: Floats, speed: Floats, acceleration: Floats) -> tuple[Floats, Floats]:
    """Loop and filter states of motors that have long given a torque at a speed, (motors,) each.

    The integrators carry the torque; speed and acceleration feed-forward come on top as the motion starts.
    """
    m = len(torque)
    state, memory = np.zeros((m, 5)), np.zeros((m, 4, 2))
    for i in range(m):
        gains = [np.sum(c.filters[i, k, :3]) / (1 + np.sum(c.filters[i, k, 3:])) for k in (IN, OUT)]
        if not all(np.isfinite(gain) and gain != 0 for gain in gains):
            raise ArmtwinError("servo: input and output filters must pass a steady signal")
        back = settle(c.filters, memory, i, FEEDBACK, float(c.gains[i, KV] * speed[i]))
        settle(c.filters, memory, i, FORWARD, float(c.gains[i, KAFC] * acceleration[i]))
        inner = torque[i] / gains[1]
        settle(c.filters, memory, i, OUT, float(inner))
        settle(c.filters, memory, i, IN, float((inner + back) / gains[0]))
        if c.gains[i, KI] > 0:
            state[i, INTEGRAL] = inner / (gains[0] * c.gains[i, KI])
    return state, memory


@inlined
def interpolate(ref: Any, k: int, m: int, share: float, period: float) -> tuple[float, float, float]:
    """Cubic through set-points k and k + 1 of motor m (positions and speeds), at a share of the period.

    ref is (set-points, 3, motors): position, speed, acceleration. Returns position, speed, acceleration.
    """
    last = ref.shape[0] - 1
    a, b = min(k, last), min(k + 1, last)
    y0, y1, d0, d1 = ref[a, 0, m], ref[b, 0, m], period * ref[a, 1, m], period * ref[b, 1, m]
    c2, c3 = 3 * (y1 - y0) - 2 * d0 - d1, 2 * (y0 - y1) + d0 + d1
    x = share
    position = y0 + x * (d0 + x * (c2 + x * c3))
    rate, end = 1.0 / period, ref[a, 2, m]
    speed, acceleration = rate * (d0 + x * (2 * c2 + 3 * x * c3)), rate * rate * (2 * c2 + 6 * x * c3)
    if k >= last:  # the last set-point has no next one
        position, speed, acceleration = y0, rate * d0, end
    return position, speed, acceleration


@inlined
def quantised(x: float, step: float) -> float:
    """x in whole steps; a step of 0 changes nothing."""
    if step == 0.0:
        return x
    steps = x / step
    return step * float(int(steps + 0.5 if steps > 0.0 else steps - 0.5))


@inlined
def position_loop(g: Any, state: Any, m: int, q: float, ref: Any, dt: float) -> float:
    """Position loop of motor m: writes its command and feed-forward, returns the following error.

    ref is (position, speed, acceleration). The integrator stands while the current is at its limit and the
    error would push it further.
    """
    e = ref[0] - quantised(q, g[m, ENCODER])
    free = 1.0 if state[m, SATURATED] * e <= 0.0 else 0.0
    integral = state[m, INTEGRAL] + free * e * dt
    sign = 1.0 if ref[1] > 0.0 else (-1.0 if ref[1] < 0.0 else 0.0)
    command = g[m, KP] * e + g[m, KI] * integral + g[m, KD] * (e - state[m, BEFORE]) / dt
    command += g[m, KVF] * ref[1] + g[m, KAFV] * ref[2] + g[m, COULOMB] * sign
    forward = g[m, KAFC] * ref[2]
    state[m, INTEGRAL], state[m, COMMAND], state[m, BEFORE], state[m, FF] = integral, command, e, forward
    return e


@inlined
def velocity_loop(g: Any, c: Any, state: Any, memory: Any, m: int, v: float) -> float:
    """Velocity loop of motor m: returns its current [A], limited and quantised."""
    inner = filtered(c, memory, m, IN, state[m, COMMAND]) - filtered(c, memory, m, FEEDBACK, g[m, KV] * v)
    u = filtered(c, memory, m, OUT, inner) + filtered(c, memory, m, FORWARD, state[m, FF])
    i, limit, step = u / g[m, TORQUE_CONSTANT], g[m, LIMIT], g[m, QUANTUM]
    state[m, SATURATED] = 1.0 if i > limit else (-1.0 if i < -limit else 0.0)
    return quantised(min(max(i, -limit), limit), step)

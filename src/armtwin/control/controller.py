"""The servo of every drive as one equation with numbers; both its loops as compiled steps.

    c = k_p e + k_i ∫e + k_d e' + k_vf v_ref + k_afv a_ref + k_tfv τ_ref + coulomb sign(v_ref)
        + k_shift d/dt shift
    u = G_out(G_in c - G_fb k_v v) + G_ff(k_afc a_ref + k_tfc τ_ref)
    i = u / k_m, limited, then quantised

All kinds of servos are this equation: the CS7B without filters, its friction compensation in k_vf
and coulomb, and its acceleration set-points taken as given in place of the cubic's; the velocity
law with k_v times its gains and the integral of its velocity loop in G_out; proportional control
with k_p alone. What a servo adds to the reference before it feeds its speed forward, the shift, is
a table beside the set-points.

Controllers see what a real one sees: what their sensors read, set-points at their rate.

Ref: [Waiboer 2007, section 2.3], [Aarts-Jonker-Waiboer 2006, section 5]
"""

from collections.abc import Sequence
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np

from armtwin.control.filters import (
    apply_filter,
    coefficients,
    integrator_coefficients,
    settle,
    steady_gain,
)
from armtwin.drives.sensors import quantise
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, TwoArrays, Values
from armtwin.maths.choice import choose, larger, smaller, whole
from armtwin.maths.compiled import inlined
from armtwin.maths.traced_fields import Aside, Known, Pattern
from armtwin.robot.schema import servo as schema
from armtwin.robot.schema.servo import for_each

KP, KI, KD, KVF, KAFV, KTFV, COULOMB, KV, KAFC, KTFC, ERROR_LIMIT, KSHIFT = range(12)
COLUMNS = 12
NAMED = {  # gains that servos have by name
    "kp": KP,
    "ki": KI,
    "kd": KD,
    "kvf": KVF,
    "kafv": KAFV,
    "ktfv": KTFV,
    "kv": KV,
    "kafc": KAFC,
    "ktfc": KTFC,
}
IN, FEEDBACK, OUT, FORWARD = range(4)
INTEGRAL, COMMAND, BEFORE, FF, SATURATED, HELD = range(6)
POSITION, SPEED, ACCELERATION, TORQUE, SHIFT = range(5)
REFERENCES = 5
BY_SPEED, BY_ACCELERATION, BY_SIGN, SIGN_SPEED, BY_TORQUE, OF_POSITION = range(6)
NO_FILTERS: tuple[schema.Filter | None, ...] = (None, None, None, None)


class Controller(NamedTuple):
    """Gains, filters and rates of all drives, packed.

    Attributes:
        gains: One row for each drive, columns KP .. KSHIFT, (drives, COLUMNS).
        filters: Coefficients of G_in, G_fb, G_out, G_ff, (drives, 4, 5).
        lateness: Lateness of fed-forward speed, acceleration and torque, (drives,) [ticks].
        tick: Period of the velocity loop [s].
        position_ticks: Velocity ticks in a period of the position loop.
        setpoint_ticks: Velocity ticks between set-points.
        given_acceleration: 1 where acceleration set-points are taken as given, 0 where the cubic's
            are used.
        shaping: What shifts the reference, columns BY_SPEED .. OF_POSITION, (drives, 6).
        setpoint_delay: Lateness of the whole reference, (drives,) [s].
        model: The controller's own model, whose torque is fed forward; None for the robot's.
    """

    gains: Floats
    filters: Pattern
    lateness: Floats
    tick: float
    position_ticks: int
    setpoint_ticks: int
    given_acceleration: Known
    shaping: Aside
    setpoint_delay: Aside
    model: Aside = None


class Equation(NamedTuple):
    """A servo in terms of the one equation.

    Attributes:
        gains: Columns of the gains by their number; what is left out is 0.
        filters: G_in, G_fb, G_out, G_ff.
        rates: Rates of set-points, position loop and velocity loop [Hz].
        given_acceleration: Whether acceleration set-points are taken as given.
        reset: Integral gain of the velocity loop, which takes the place of G_out [1/s].
    """

    gains: dict[int, Any]
    filters: tuple[schema.Filter | None, ...]
    rates: tuple[float, float, float]
    given_acceleration: bool = False
    reset: Values | None = None


@singledispatch
def equation(servo: Any, drives: int) -> Equation:
    """The equation of a servo of a robot file for n drives."""
    raise ArmtwinError(f"there is no controller of kind {type(servo).__name__}")


@equation.register
def _of_cascade(servo: schema.Cascade, drives: int) -> Equation:
    given = {name: getattr(servo, name) for name in NAMED}
    if servo.rule is not None:
        given |= servo.rule.gains(drives)._asdict()
    gains = {NAMED[name]: values for name, values in given.items()}
    filters = (
        servo.input_filter,
        servo.feedback_filter,
        servo.output_filter,
        servo.feedforward_filter,
    )
    rates = (servo.setpoint_rate, servo.position_rate, servo.velocity_rate)
    gains[KSHIFT] = gains[KV]
    return Equation(gains, filters, rates)


@equation.register
def _of_cs7b(servo: schema.CS7B, drives: int) -> Equation:
    friction = np.zeros(drives) if servo.coulomb is None else np.array(servo.coulomb)
    gains = {
        KP: servo.kp,
        KI: servo.ki,
        KV: servo.kv,
        KAFC: servo.kaf,
        COULOMB: servo.coulomb_share * friction,
    }
    if servo.rule is not None:
        ruled = servo.rule.gains(drives)
        gains |= {KP: ruled.kp, KI: ruled.ki, KV: ruled.kv, KAFC: ruled.kafc}
    viscous = np.zeros(drives) if servo.viscous is None else np.array(servo.viscous)
    gains[KVF] = viscous + servo.speed_feedforward * np.array(gains[KV])
    rates = (servo.position_rate, servo.position_rate, servo.velocity_rate)
    return Equation(gains, NO_FILTERS, rates, given_acceleration=True)


@equation.register
def _of_velocity_law(servo: schema.VelocityLaw, drives: int) -> Equation:
    kv = np.array(servo.kv)
    gains = {KP: kv * np.array(servo.kp), KV: kv, KVF: kv, KTFC: servo.ktfc, KSHIFT: kv}
    for column, values in ((KI, servo.ki), (KVF, servo.kvf), (KTFV, servo.kff)):
        if values is not None:
            gains[column] = kv * np.array(values)
    rates = (servo.setpoint_rate, servo.position_rate, servo.velocity_rate)
    return Equation(gains, NO_FILTERS, rates, reset=servo.kiv)


@equation.register
def _of_proportional(servo: schema.Proportional, drives: int) -> Equation:
    return Equation({KP: servo.gain}, NO_FILTERS, (servo.rate,) * 3)


def controller(servo: schema.Servo, drives: int) -> Controller:
    """Pack a servo of a robot file for the drives it commands."""
    found = equation(servo, drives)
    setpoint_rate, position_rate, rate = found.rates
    gains = np.zeros((drives, COLUMNS))
    for column, values in found.gains.items():
        gains[:, column] = 0.0 if values is None else values
    gains[:, ERROR_LIMIT] = getattr(servo, "following_error_limit", None) or np.inf
    filters = np.stack([coefficients(spec, rate, drives) for spec in found.filters], axis=1)
    if found.reset is not None:
        filters[:, OUT] = integrator_coefficients(np.array(found.reset), 1 / rate)
    _whole(position_rate, setpoint_rate, "position_rate", "setpoint_rate")
    return Controller(
        gains=gains,
        filters=filters,
        lateness=rate * np.array(for_each(servo.delay.reference, drives), dtype=np.float64),
        tick=1 / rate,
        position_ticks=_whole(rate, position_rate, "velocity_rate", "position_rate"),
        setpoint_ticks=_whole(rate, setpoint_rate, "velocity_rate", "setpoint_rate"),
        given_acceleration=int(found.given_acceleration),
        shaping=_shaping(getattr(servo, "shaping", None), drives),
        setpoint_delay=np.array(for_each(servo.delay.setpoint, drives), dtype=np.float64),
        model=getattr(servo, "model", None),
    )


def _shaping(shaping: schema.Shaping | None, drives: int) -> Floats:
    """What shifts the reference of each drive, columns BY_SPEED .. OF_POSITION, (drives, 6)."""
    packed = np.zeros((drives, 6))
    packed[:, SIGN_SPEED] = 1.0
    if shaping is None:
        return packed
    for column, values in enumerate(vars(shaping).values()):
        packed[:, column] = for_each(values, drives)
    return packed


def uses_torque(c: Controller) -> bool:
    """Whether a servo feeds the model's torque forward."""
    return bool(c.gains[:, [KTFV, KTFC]].any() or c.shaping[:, BY_TORQUE].any())


def shifts_reference(c: Controller) -> bool:
    """Whether a servo adds something to its reference."""
    return bool(c.shaping[:, [BY_SPEED, BY_ACCELERATION, BY_SIGN, BY_TORQUE]].any())


def shift(c: Controller, v: Floats, a: Floats, torque: Floats) -> Floats:
    """What is added to the reference before its speed is fed forward, (k, drives).

    shift = T v_ref + b a_ref + s tanh(v_ref / v_s) + τ_ref / c
    """
    by_speed, by_acceleration, by_sign, sign_speed, by_torque, _ = c.shaping.T
    smooth_sign = np.tanh(v / sign_speed)
    return np.asarray(
        by_speed * v + by_acceleration * a + by_sign * smooth_sign + by_torque * torque
    )


class SensorReading(NamedTuple):
    """How a servo reads its sensors, one number for each drive.

    Attributes:
        scale: Reading per position.
        zero: Position that reads as 0.
        sides: Encoder of the position loop, "motor" or "link".
    """

    scale: Floats
    zero: Floats
    sides: tuple[schema.Side, ...]


def reading(servo: schema.Servo, drives: int) -> SensorReading:
    """How a servo of a robot file reads the sensors of its drives."""
    scale, zero = np.ones(drives), np.zeros(drives)
    if isinstance(servo, schema.Proportional):
        scale[:] = servo.sensor_gain
        zero[:] = servo.sensor_zero or 0.0
        on_drive: schema.Side = "motor"
        return SensorReading(scale, zero, (on_drive,) * drives)
    return SensorReading(scale, zero, for_each(servo.feedback, drives))


def _whole(fast: float, slow: float, fast_name: str, slow_name: str) -> int:
    ratio = fast / slow
    if abs(ratio - round(ratio)) > 1e-9 or ratio < 1:
        raise ArmtwinError(
            f"servo: {fast_name} must be a whole multiple of {slow_name}, "
            f"got {fast:g} and {slow:g} Hz"
        )
    return round(ratio)


def initial(c: Controller, torque: Floats, speed: Floats, acceleration: Floats) -> TwoArrays:
    """Loop and filter states of drives that have long given a torque at a speed, (drives,) each.

    The integrators carry the torque; speed and acceleration feed-forward come on top as the motion
    starts.
    """
    m = len(torque)
    state = np.zeros((m, 6))
    memory = np.zeros((m, 4, 2))
    for i in range(m):
        forward = float(c.gains[i, KAFC] * acceleration[i])
        settle(c.filters, memory, i, FORWARD, forward)
        back = settle(c.filters, memory, i, FEEDBACK, float(c.gains[i, KV] * speed[i]))
        gain_in = steady_gain(c.filters, i, IN)
        gain_out = steady_gain(c.filters, i, OUT)
        if not np.isfinite(gain_in) or gain_in == 0 or gain_out == 0:
            raise ArmtwinError("servo: input and output filters must pass a steady signal")
        if np.isinf(gain_out):  # the velocity loop integrates: it holds the torque without an input
            memory[i, OUT, 0] = torque[i]
            inner = 0.0
        else:
            inner = torque[i] / gain_out
            settle(c.filters, memory, i, OUT, float(inner))
        settle(c.filters, memory, i, IN, float((inner + back) / gain_in))
        if c.gains[i, KI] > 0:
            state[i, INTEGRAL] = inner / (gain_in * c.gains[i, KI])
    return state, memory


def acceleration_feedforward(c: Controller) -> Floats:
    """Torque per reference acceleration that drives get in advance, (drives,) [N m s²/rad]."""
    return c.gains[:, KAFC] + c.gains[:, KAFV]


def speed_surplus(c: Controller) -> Floats:
    """Speed feed-forward beyond the velocity feedback, k_vf - k_v, (drives,); 0 without any."""
    forward = c.gains[:, KVF]
    if c.given_acceleration == 1:  # what a CS7B feeds forward is friction
        return np.zeros(len(forward))
    return np.where(forward > 0, forward - c.gains[:, KV], 0.0)


def with_matched_speed(c: Controller, drive: int) -> Controller:
    """The controller with the speed feed-forward of one drive equal to its velocity feedback."""
    gains = c.gains.copy()
    gains[drive, KVF] = gains[drive, KV]
    return c._replace(gains=gains)


@inlined
def interpolate(
    ref: Floats, k: int, m: int, share: float, period: float
) -> tuple[float, float, float, float, float]:
    """Cubic through positions and speeds of set-points k and k + 1 of drive m, at a share between.

    ref is (set-points, 5, drives): position, speed, acceleration, torque of the model, speed of
    the shift; the last two are linear.
    """
    last = ref.shape[0] - 1
    a, b = smaller(k, last), smaller(k + 1, last)
    y0, y1 = ref[a, POSITION, m], ref[b, POSITION, m]
    d0, d1 = period * ref[a, SPEED, m], period * ref[b, SPEED, m]
    c2 = 3 * (y1 - y0) - 2 * d0 - d1
    c3 = 2 * (y0 - y1) + d0 + d1
    x = share
    rate = 1.0 / period
    position = y0 + x * (d0 + x * (c2 + x * c3))
    speed = rate * (d0 + x * (2 * c2 + 3 * x * c3))
    acceleration = rate * rate * (2 * c2 + 6 * x * c3)
    torque = (1.0 - x) * ref[a, TORQUE, m] + x * ref[b, TORQUE, m]
    shifting = (1.0 - x) * ref[a, SHIFT, m] + x * ref[b, SHIFT, m]
    end = ref[a, ACCELERATION, m]
    ended = k >= last  # the last set-point has no next one
    position = choose(ended, y0, position)
    speed = choose(ended, rate * d0, speed)
    acceleration = choose(ended, end, acceleration)
    return position, speed, acceleration, torque, shifting


@inlined
def reference(
    ref: Floats, k: int, within: int, m: int, ticks: int, period: float, lateness: float, given: int
) -> tuple[float, float, float, float, float]:
    """Set-points of drive m, ticks after set-point k; what is fed forward may be late."""
    position, speed, acceleration, torque, shifting = interpolate(ref, k, m, within / ticks, period)
    late = lateness > 0.0
    before = larger(k * ticks + within - lateness, 0.0) / ticks
    earlier = whole(before)
    was = interpolate(ref, earlier, m, before - earlier, period)
    since = choose(late, earlier, k)
    stepped = ref[smaller(since, ref.shape[0] - 1), ACCELERATION, m]
    speed = choose(late, was[1], speed)
    acceleration = choose(given == 1, stepped, choose(late, was[2], acceleration))
    torque = choose(late, was[3], torque)
    shifting = choose(late, was[4], shifting)
    return position, speed, acceleration, torque, shifting


@inlined
def position_loop(
    g: Floats, state: Floats, m: int, reading: float, wanted: Sequence[float], dt: float
) -> float:
    """Position loop of drive m: writes its command and feed-forward, returns the following error.

    wanted is (position, speed, acceleration, torque, speed of the shift) as the sensor would read
    it. The integrator
    stands while the current is at its limit and the error would push it further.
    """
    position, speed, acceleration, torque, shifting = wanted
    e = position - reading
    moves = choose(state[m, SATURATED] * e <= 0.0, 1.0, 0.0)
    integral = state[m, INTEGRAL] + moves * e * dt
    change = e - state[m, BEFORE]
    corrected = g[m, KP] * e + g[m, KI] * integral + g[m, KD] * change * (1.0 / dt)
    advanced = g[m, KVF] * speed + g[m, KAFV] * acceleration + g[m, COULOMB] * sign(speed)
    offset = g[m, KTFV] * torque + g[m, KSHIFT] * shifting + state[m, HELD]
    state[m, INTEGRAL] = integral
    state[m, COMMAND] = corrected + advanced + offset
    state[m, BEFORE] = e
    state[m, FF] = g[m, KAFC] * acceleration + g[m, KTFC] * torque
    return e


@inlined
def sign(x: float) -> float:
    """-1, 0 or 1."""
    return choose(x > 0.0, 1.0, choose(x < 0.0, -1.0, 0.0))


@inlined
def velocity_loop(
    g: Floats,
    c: Floats,
    state: Floats,
    memory: Floats,
    m: int,
    v: float,
    per_current: float,
    limit: float,
    step: float,
) -> float:
    """Velocity loop of drive m: returns its current [A], limited and quantised.

    An output filter that integrates goes on from what the limit lets through, so that it does not
    wind up.
    """
    command = apply_filter(c, memory, m, IN, state[m, COMMAND])
    feedback = apply_filter(c, memory, m, FEEDBACK, g[m, KV] * v)
    forward = apply_filter(c, memory, m, FORWARD, state[m, FF])
    u = apply_filter(c, memory, m, OUT, command - feedback) + forward
    i = u * (1.0 / per_current)
    limited = smaller(larger(i, -limit), limit)
    state[m, SATURATED] = sign(i - limited)
    integrates = choose(c[m, OUT, 3] + c[m, OUT, 4] == -1.0, per_current, 0.0)
    memory[m, OUT, 0] = memory[m, OUT, 0] + integrates * (limited - i)
    return quantise(limited, step)

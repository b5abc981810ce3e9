"""From the fitted laws of all drives to a servo of the robot file.

    torque loop:    k_v = 1/θ_I,  k_p = p₁/θ_I,  k_i = p₀/θ_I,  k_vf = k_v - θ_q/θ_I,
                    k_afc = -θ_v/θ_I
    velocity law:   k_p = p₁,  k_i = p₀,  k_ff = -θ_I,  k_vf = 1 - θ_q,  delay or lead = ±θ_v

Other terms of a law shift the reference; those of a law of the reference alone shift it as a whole,
and its position loop, which the logs do not show, takes away what a motion begins with. Where load
makes a drive lead, no torque loop does that:
the torque is then an offset of speed before a velocity servo so stiff that load does not show.
"""

from collections.abc import Collection, Sequence
from dataclasses import fields, replace
from typing import Any, TypeVar

import numpy as np

from armtwin.identification.servo import structure as loops
from armtwin.identification.servo.estimator import DriveLaw, is_of_reference, is_torque_loop
from armtwin.maths.batch import Floats, Values
from armtwin.robot.schema import servo as servos

S = TypeVar("S", bound=Any)
POSITION_RATE = 2000.0  # of the twin's position loop, about [Hz]
STIFF = 600.0  # bandwidth of a velocity loop that load does not move [1/s]
RESET = 150.0  # corner of its integral [1/s]
FAST = 60.0  # position gain where no decay shows, as it ends within what is smoothed [1/s]


def build_servo(
    laws: Sequence[DriveLaw],
    inertia: Floats,
    sample: float,
    fit: servos.ServoFitRecord,
    model: servos.ControllerModel | None = None,
) -> servos.Servo:
    """A servo with the fitted laws.

    Args:
        laws: The law of each drive.
        inertia: What the motors feel, (drives,) [kg m²].
        sample: Time between samples of the logs, taken for that between set-points [s].
        fit: Logs and quality of the fit.
        model: The controller's own model; None where it is that of the robot itself.
    """
    source = (
        f"identified: q_ref and q of {', '.join(fit.logs)}, torque of the "
        f"{'model' if fit.feedforward == 'model' else 'logs'}"
    )
    setpoints = float(f"{1 / sample:.4g}")
    position = setpoints * max(1, round(POSITION_RATE / setpoints))
    if all(is_torque_loop(law) for law in laws):
        return _cascade(laws, (setpoints, position, 2 * position), fit, source)
    servo = _velocity_law(laws, inertia, (setpoints, position, 2 * position), fit, source)
    return servo if model is None else replace(servo, model=model, ktfc=None)


def keep_former(servo: S, former: object, drives: Collection[int]) -> S:
    """A servo with the former numbers of some drives, where the file had them in the same kind."""
    if not drives or type(former) is not type(servo):
        return servo
    changes: dict[str, Any] = {}
    for f in fields(servo):
        new, old = getattr(servo, f.name), getattr(former, f.name)
        if isinstance(new, servos.Delays | servos.Shaping):
            changes[f.name] = keep_former(new, old, drives)
        elif isinstance(new, tuple) and isinstance(old, tuple) and len(new) == len(old):
            changes[f.name] = tuple(old[k] if k in drives else x for k, x in enumerate(new))
    return replace(servo, **changes)


def velocity_gain(law: DriveLaw) -> float:
    """Velocity gain of a torque loop [N m s/rad]."""
    return 1 / law.coefficient(loops.LOAD)


def position_gain(law: DriveLaw) -> float:
    """Position gain of a velocity law, one that is fast where its law shows no loop [1/s]."""
    return FAST if is_of_reference(law) else law.poles.p1


def _cascade(
    laws: Sequence[DriveLaw],
    rates: tuple[float, float, float],
    fit: servos.ServoFitRecord,
    source: str,
) -> servos.Cascade:
    rows = []
    for law in laws:
        gain = velocity_gain(law)
        forward = gain * (1 - law.coefficient(loops.REFERENCE))
        accelerating = max(-gain * law.coefficient(loops.SPEED), 0.0)
        rows.append((gain * law.poles.p1, gain * law.poles.p0, gain, forward, accelerating))
    kp, ki, kv, kvf, kafc = zip(*rows, strict=True)
    return servos.Cascade(
        *rates,
        source=source,
        kp=kp,
        ki=ki,
        kv=kv,
        kvf=kvf,
        kafc=kafc,
        feedback=tuple(law.side for law in laws),
        delay=_delays(laws),
        shaping=_shaping(laws, lead=False),
        fit=fit,
    )


def _velocity_law(
    laws: Sequence[DriveLaw],
    inertia: Floats,
    rates: tuple[float, float, float],
    fit: servos.ServoFitRecord,
    source: str,
) -> servos.VelocityLaw:
    drives = len(laws)
    p0 = tuple(law.poles.p0 for law in laws)
    return servos.VelocityLaw(
        *rates,
        kp=tuple(position_gain(law) for law in laws),
        kv=tuple(float(STIFF * x) for x in inertia),
        source=source,
        ki=p0 if any(p0) else None,
        kvf=tuple(1 - law.coefficient(loops.REFERENCE) for law in laws),
        kiv=(RESET,) * drives,
        kff=tuple(-law.coefficient(loops.LOAD) for law in laws),
        ktfc=(1.0,) * drives,
        feedback=tuple(law.side for law in laws),
        delay=_delays(laws),
        shaping=_shaping(laws, lead=True),
        fit=fit,
    )


def reference_delay(law: DriveLaw) -> float:
    """Time by which what is fed forward is late; negative where the drive leads its reference [s].

    The acceleration that a torque loop feeds forward looks like a lead and is none.
    """
    late = law.coefficient(loops.SPEED)
    if is_torque_loop(law):
        late = max(late, 0.0)
    return late + law.coefficient(loops.DELAY)


def _delays(laws: Sequence[DriveLaw]) -> servos.Delays:
    encoder = []
    for law in laws:
        behind = 0.0 if law.offset is None else law.offset.lateness
        encoder.append(max(behind, 0.0) if law.side == "link" else 0.0)
    return servos.Delays(
        reference=tuple(0.0 if is_of_reference(law) else law.late for law in laws),
        setpoint=tuple(max(law.coefficient(loops.DELAY), 0.0) for law in laws),
        encoder=tuple(encoder),
    )


def _shaping(laws: Sequence[DriveLaw], *, lead: bool) -> servos.Shaping | None:
    """Terms beside gains and delays."""
    table = np.array([law.theta for law in laws])
    whole = np.array([is_of_reference(law) for law in laws])
    late = whole * np.array([law.late for law in laws])
    early = np.minimum(table[:, loops.DELAY], 0.0) + late
    if lead:
        early = early + np.minimum(table[:, loops.SPEED], 0.0)
    accelerating = table[:, loops.ACCELERATION] - 0.5 * late**2
    shifts = (early, accelerating, table[:, loops.SIGN], table[:, loops.TORQUE])
    if not any(np.any(x) for x in shifts):
        return None
    return servos.Shaping(
        speed=_numbers(-early),
        acceleration=_numbers(-accelerating),
        sign=_numbers(-table[:, loops.SIGN]),
        sign_speed=tuple(law.sign_speed for law in laws),
        torque=_numbers(-table[:, loops.TORQUE]),
        position=_numbers(whole),
    )


def _numbers(values: Floats) -> Values:
    return tuple(float(x) + 0.0 for x in values)

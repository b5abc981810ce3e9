"""What q beside q_ref says about mistakes in a log, on every real log that has a reference."""

import numpy as np
import pytest

import armtwin as at
from armtwin.files.hypothesis import strongest
from armtwin.logs.reference_plausibility import JUMPS, choose_derivative, reference_hypotheses

# several kinds of servo: stiff, soft, feed-forward that leads, joints at rest; all others are
# looked at for false alarms only
SPOILED = (
    "dualarm_v2/ident_cond13.5.csv.gz",
    "kuka_kr300/valid_B.csv.gz",
    "ur5_course/run_b_test_12_12_19.csv.gz",
    "formats/run.csv.gz",
)


def first_mistake(time, q, q_ref):
    names = [f"joint_{j + 1}" for j in range(q.shape[1])]
    found = strongest(reference_hypotheses(time, q, q_ref, names))
    return "" if found is None else found.mistake


def exchange(time, q, q_ref):
    return q_ref, q


def copy(time, q, q_ref):
    return q, q


def copy_rounded(time, q, q_ref):
    return q, np.round(q, 4)


def copy_late(time, q, q_ref):
    return q, np.concatenate([q[:1], q[:1], q[:-2]])


def reference_in_degrees(time, q, q_ref):
    return q, np.degrees(q_ref)


def measurement_in_degrees(time, q, q_ref):
    return np.degrees(q), q_ref


def reference_in_milliradians(time, q, q_ref):
    return q, 1e3 * q_ref


def other_order(time, q, q_ref):
    order = np.arange(q.shape[1])
    order[[1, 2]] = 2, 1
    return q, q_ref[:, order]


def reversed_order(time, q, q_ref):
    return q, q_ref[:, ::-1]


def other_sign(time, q, q_ref):
    return q, q_ref * np.where(np.arange(q.shape[1]) == 1, -1, 1)


def other_zero(time, q, q_ref):
    return q, q_ref + np.where(np.arange(q.shape[1]) == 1, np.pi / 2, 0)


def shifted(time, q_ref, by):
    return np.stack([np.interp(time - by, time, column) for column in q_ref.T], axis=1)


def early(time, q, q_ref):
    return q, shifted(time, q_ref, -0.7)


def late(time, q, q_ref):
    return q, shifted(time, q_ref, 0.7)


def a_little_late(time, q, q_ref):
    return q, shifted(time, q_ref, 0.04)


def another_run(time, q, q_ref):
    return q, q_ref[::-1]


MISTAKES = {
    exchange: "Are q and q_ref exchanged",
    copy: "Is the measurement in the columns of q_ref",
    copy_rounded: "Is the measurement in the columns of q_ref",
    copy_late: "Is the measurement in the columns of q_ref",
    reference_in_degrees: "Is q_ref in degrees",
    measurement_in_degrees: "Is q in degrees",
    reference_in_milliradians: "Is q_ref in milliradians",
    other_order: "Is q_ref in another order of the joints than q",
    reversed_order: "Is q_ref in another order of the joints than q",
    other_sign: "Does q_ref count joint_2 the other way",
    other_zero: "Has q_ref another zero of joint_2 than q",
    early: "Is the clock of q_ref early",
    late: "late",
    a_little_late: "Is q_ref late, or exchanged with q",
    another_run: "Is q_ref of another run",
}


@pytest.mark.parametrize("log", SPOILED)
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda spoil: spoil.__name__)
def test_a_mistake_in_a_real_log_is_the_first_hypothesis(mistake, log, shared_data):
    given = at.Log.read(shared_data / log)
    q, q_ref = mistake(given.time, given.q, given.q_ref)
    assert MISTAKES[mistake] in first_mistake(given.time, q, q_ref)


def test_no_real_log_with_a_reference_raises_an_alarm(shared_data):
    seen = 0
    for path in sorted(shared_data.glob("*/*.csv.gz")):
        log = at.Log.read(path)
        if "q_ref" in log:
            assert first_mistake(log.time, log.q, log.q_ref) == "", path.name
            seen += 1
    assert seen >= 30


@pytest.mark.parametrize("hold", [3, 4, 7])
def test_a_reference_that_is_held_between_slower_steps_is_not_taken_for_noise(hold, rng):
    """A controller of a slower clock than the log; the loop smooths its steps."""
    time = np.arange(4000) / 1000
    smooth = np.stack([np.sin(2 * time), np.cos(3 * time)], axis=1)
    held = smooth[hold * (np.arange(4000) // hold)]
    q = shifted(time, smooth, 0.012) + 1e-9 * rng.normal(size=smooth.shape)
    assert first_mistake(time, q, held) == ""


@pytest.mark.parametrize("unit", [1.0, 180 / np.pi])
def test_a_reference_of_few_decimals_beside_a_fine_encoder_is_not_taken_for_noise(unit, rng):
    """3 decimals in rad, or in the degrees of a controller's trace."""
    time = np.arange(4000) / 1000
    q_ref = np.stack([np.sin(9 * time), np.cos(8 * time)], axis=1)
    q = shifted(time, q_ref, 0.012) + 1e-7 * rng.normal(size=q_ref.shape)
    assert first_mistake(time, q, np.round(unit * q_ref, 3) / unit) == ""


def test_a_slow_servo_in_a_fast_motion_raises_no_alarm(rng):
    """A position gain of 10 1/s at 8 rad/s: errors of 0.6 of the motion, 80 ms behind."""
    time = np.arange(6000) / 1000
    q_ref = np.stack([np.sin(8 * time), np.cos(8 * time + 0.4)], axis=1)
    q = np.zeros_like(q_ref)
    q[0] = q_ref[0]
    for k in range(len(time) - 1):
        q[k + 1] = q[k] + 1e-3 * 10 * (q_ref[k] - q[k])
    q += 1e-6 * rng.normal(size=q.shape)
    assert first_mistake(time, q, q_ref) == ""


def test_a_coarse_encoder_beside_a_fine_reference_raises_no_alarm():
    time = np.arange(4000) / 1000
    q_ref = np.stack([np.sin(2 * time), np.cos(3 * time)], axis=1)
    q = 2e-3 * np.round(shifted(time, q_ref, 0.005) / 2e-3)
    assert first_mistake(time, q, q_ref) == ""


def test_the_speed_of_a_reference_that_jumps_is_the_logged_one():
    """A jump is no speed that a servo was given; a speed of another unit is none at all."""
    t = np.arange(1000) / 125
    v = np.cos(t)[:, None] * [1.0, 0.5]
    q = np.cumsum(v, axis=0) / 125
    q[500:] += 0.1
    derived = np.gradient(q, 1 / 125, axis=0)
    assert choose_derivative(v, derived, JUMPS) is v
    assert choose_derivative(v, derived) is derived
    assert choose_derivative(57.3 * v, derived, JUMPS) is derived
    assert choose_derivative(v[:, :1], derived, JUMPS) is derived

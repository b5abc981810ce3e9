"""Times and angles that cannot be: named with the suspected unit, and no real log is doubted."""

import numpy as np
import pytest

import armtwin as at
from armtwin.logs.plausibility import Pace, check_motion, plausibility_problems
from tests.identification.test_identify import excitation

RECORDED = {
    "kuka_kr300": ("ident_A", "valid_B"),
    "staubli_tx40": tuple(f"segment_{k:02d}" for k in (0, 2, 4, 6, 8, 10)),
    "ur10e": (
        "ident_20_01_31_load",
        "ident_20_01_31_unload",
        "ident_20_02_10_30sec_12harm",
        *(f"jointwise_20_01_22_joint_{j}" for j in range(1, 7)),
    ),
}


@pytest.fixture(scope="module")
def tx40():
    return at.Robot.load("tx40")


@pytest.fixture(scope="module")
def moved(tx40):
    """Time, positions and speeds of a TX40, at 250 Hz for 8 s."""
    t, q, v, _ = excitation(tx40, 8.0)
    return t, q, v


def refusal(log, pace, channel="q"):
    with pytest.raises(at.ArmtwinError) as error:
        check_motion(log, channel, pace)
    return str(error.value)


@pytest.mark.parametrize("folder", RECORDED)
def test_no_recorded_log_is_doubted_alone_or_with_its_robot(shared_data, folder):
    shipped = {"kuka_kr300": "kr300", "staubli_tx40": "tx40"}
    robot = at.Robot.load(shipped.get(folder, shared_data / "ur10e" / "ur10e.urdf"))
    for name in RECORDED[folder]:
        log = at.Log.read(shared_data / folder / f"{name}.csv.gz")
        assert list(plausibility_problems(log)) == [], name
        check_motion(log, "q", Pace.of_robot(robot))


@pytest.mark.parametrize(
    ("factor", "words", "unit"),
    [(1e3, "milliseconds", "ms"), (1e6, "microseconds", "us"), (1e9, "nanoseconds", "ns")],
)
@pytest.mark.parametrize("rate", [20.0, 250.0, 5000.0])
def test_a_unit_of_time_is_named_by_rate_and_speeds(tx40, rate, factor, words, unit):
    t, q, _, _ = excitation(tx40, 4.0, rate=rate)
    log = at.Log.of(factor * t, q=q)
    said = refusal(log, Pace.of_robot(tx40))
    assert said.startswith(
        f"time looks like {words}: in seconds the log has {rate / factor:.3g} samples a second"
    )
    assert said.endswith(f'say unit.time = "{unit}" in a columns file')
    assert [x.lower() for x in plausibility_problems(log)] == [f"{said.lower()}."]


@pytest.mark.parametrize("unit", ["ms", "us", "ns"])
def test_what_the_sentence_says_to_write_heals_the_log(moved, tmp_path, unit):
    t, q, _ = moved
    at.Log.of(t / {"ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit], q=q).write(tmp_path / "run.csv")
    (tmp_path / "run.columns.toml").write_text(f'format = 1\nunit = {{ time = "{unit}" }}\n')
    log = at.Log.read(tmp_path / "run.csv")
    assert log.time == pytest.approx(t, abs=1e-12)
    assert list(plausibility_problems(log)) == []


def test_small_strokes_in_degrees_are_not_taken_for_compressed_time(tx40, moved):
    t, q, _ = moved
    stroke = np.degrees(0.07 * q / np.ptp(q, axis=0).max())
    said = refusal(at.Log.of(t / 4, q=stroke), Pace.of_robot(tx40))
    assert said.startswith("positions look like degrees: joint_")
    assert 'say unit.q = "deg" in a columns file' in said


def test_time_that_takes_a_joint_beyond_its_limit_is_compressed(tx40, moved):
    t, q, v = moved
    share = np.max(np.abs(v) / tx40.limits.velocity)
    said = refusal(at.Log.of(share / 2 * t, q=q), Pace.of_robot(tx40))
    assert said.startswith("time looks compressed: joint_")
    assert "where its limit is" in said
    check_motion(
        at.Log.of(share / 1.2 * t, q=q), "q", Pace.of_robot(tx40)
    )  # a file may be cautious


def test_a_wild_sample_and_a_gap_are_not_taken_for_speed(tx40, moved):
    t, q, _ = moved
    wild = q.copy()
    wild[700, 2] += 1.0
    kept = np.r_[0:400, 900 : len(t)]
    for log in (at.Log.of(t, q=wild), at.Log.of(t[kept], q=q[kept])):
        check_motion(log, "q", Pace.of_robot(tx40))


@pytest.mark.parametrize("factor", [0.5, 1.3, 2.0])
def test_logged_speeds_tell_by_how_much_time_is_stretched(tx40, moved, factor):
    t, q, v = moved
    said = refusal(at.Log.of(factor * t, q=q, v=v), Pace.of_robot(tx40))
    word = f"stretched by {factor:.3g}" if factor > 1 else f"compressed by {1 / factor:.3g}"
    assert said.startswith(
        f"time looks {word}: the logged speeds v are {factor:.3g} times those of the positions q"
    )


@pytest.mark.parametrize("unit", [180 / np.pi, 30 / np.pi, 1e3], ids=["deg/s", "rpm", "mrad/s"])
def test_speeds_in_another_unit_are_no_doubt_about_time(tx40, moved, unit):
    t, q, v = moved
    check_motion(at.Log.of(t, q=q, v=unit * v), "q", Pace.of_robot(tx40))


def test_a_joint_that_creeps_is_judged_by_what_it_was_told(tx40, moved):
    """A tenth of a percent of the speed limits at 10 Hz looks like milliseconds,
    unless it was commanded so.
    """
    t, q, v = moved
    share = np.max(np.abs(v) / tx40.limits.velocity)
    log = at.Log.of(25 * t, q=0.025 / share * q)
    assert refusal(log, Pace.of_robot(tx40)).startswith("time looks like")
    check_motion(log, "q", Pace.of_motion(tx40, 1e-3 / share * v))


def test_a_log_of_a_robot_at_rest_is_not_doubted():
    q = np.tile([0.1, 0.2], (100, 1)) + 1e-5 * np.random.default_rng(1).normal(size=(100, 2))
    assert list(plausibility_problems(at.Log.of(np.arange(100.0), q=q))) == []


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("size", [1e-320, 1e-300, 1e-11, 1e18])
def test_numbers_of_any_size_that_a_log_takes_are_told_without_a_warning(moved, size):
    t, q, v = moved
    for log in (at.Log.of(t, q=size * q, v=v), at.Log.of(t, q=q, v=size * v)):
        assert len(list(plausibility_problems(log))) <= 2
    if 1e-12 < size < 1e16:
        assert len(list(plausibility_problems(at.Log.of(size * np.arange(len(t)), q=q)))) == 1


# Angles


def wrapped(q, turn=2 * np.pi):
    return (q + turn / 2) % turn - turn / 2


@pytest.fixture(scope="module")
def turning(moved):
    """Joints 4 and 6 turn beyond half a turn."""
    t, q, _ = moved
    q = q.copy()
    q[:, 3] = 4.0 * np.sin(0.8 * t)
    q[:, 5] = 3.5 * np.sin(1.1 * t)
    return t, q


def test_wrapped_angles_are_named_with_joint_and_time(tx40, turning):
    t, q = turning
    said = refusal(at.Log.of(t, q=wrapped(q)), Pace.of_robot(tx40))
    first = t[np.argmax(np.abs(q[:, [3, 5]]).max(axis=1) > np.pi)]
    assert f"joint_6 jumps by a whole turn at {first:.6g} s, the first of" in said
    assert said.endswith("it is wrapped; say unwrap = true in a columns file")
    check_motion(at.Log.of(t, q=q), "q", Pace.of_robot(tx40))


def test_wrapped_angles_in_degrees_are_told_without_a_robot(turning):
    t, q = turning
    told = list(plausibility_problems(at.Log.of(t, q=wrapped(np.degrees(q), 360.0))))
    assert told[0].startswith("Angles look like degrees: q4 reaches 180 rad.")
    assert "jumps by a whole turn" in told[1]


def test_a_columns_file_joins_wrapped_angles(turning, tmp_path):
    t, q = turning
    at.Log.of(t, q=wrapped(np.degrees(q), 360.0)).write(tmp_path / "run.csv")
    (tmp_path / "columns.toml").write_text('format = 1\nunwrap = true\nunit = { q = "deg" }\n')
    assert at.Log.read(tmp_path / "run.csv").q == pytest.approx(q, abs=1e-9)

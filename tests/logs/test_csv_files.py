"""Logs as CSV: what is written is read again, and what is wrong is said with its line."""

import gzip

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.from_points import read_points
from tests.simulation.bench import from_rest


@pytest.mark.parametrize("name", ["run.csv", "run.csv.gz"])
def test_a_simulated_log_survives(robots, tmp_path, name):
    log = at.simulate(robots["rx90b"], from_rest(robots["rx90b"], 0.2, scale=8.0)).log
    assert log.events
    log.write(tmp_path / name)
    again = at.Log.read(tmp_path / name)
    assert np.array_equal(again.time, log.time)
    assert again.events == log.events
    assert set(again.channels) == set(log.channels)
    for channel, values in log.channels.items():
        assert np.array_equal(again.channels[channel], values)


def test_aliases_of_machines_are_understood(tmp_path):
    (tmp_path / "m.csv").write_text("time,q1,dq1,taum1,qref1,other\n0,1,2,3,4,5\n0.004,1,2,3,4,5\n")
    log = at.Log.read(tmp_path / "m.csv")
    assert (log.q[0, 0], log.v[0, 0], log.tau_m[0, 0], log.q_ref[0, 0]) == (1, 2, 3, 4)
    assert "a" not in log
    with pytest.raises(at.ArmtwinError, match=r"no channel 'a' .* It has: q, v, tau_m, q_ref"):
        _ = log.a


def test_real_logs_are_read(shared_data):
    log = at.Log.read(shared_data / "kuka_kr300" / "ident_A.csv.gz")
    assert log.q.shape == (2501, 6)
    assert log.q_link.shape == (2501, 3)
    assert {"v", "tau", "tau_m", "q_ref"} <= set(log.channels)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "needs a header line"),
        ("q1,v1\n1,2\n", "line 1: a log needs a column 'time'"),
        ("time,q1\n0,1\n0.1\n", "line 3: must have 2 values as the header, got 1"),
        ("time,q1\n0,1\n0.1,nan\n", "line 3: value 2 \\(q1\\) must be a finite number, got 'nan'"),
        ("time,q1\n0,1\n0.1,x\n", "line 3: value 2 \\(q1\\) must be a finite number, got 'x'"),
        (
            "time,q1\n0,1\n0.1,2\n0.1,3\n",
            "line 4: time must increase, got 0.1 twice: a doubled sample",
        ),
        (
            "time,q1,q3\n0,1,2\n0.1,1,2\n",
            r"columns of 'q' must be numbered 1, 2, .. without a gap, got \[1, 3\]",
        ),
        ("time,foo\n0,1\n0.1,2\n", "no column is a known channel"),
        ("time,v1,dq1\n0,1,2\n0.1,1,2\n", "columns 'v1' and 'dq1' mean the same"),
        (
            "time,q1\n0,1\n0.1,nan\n0.2,NaN\n0.3,nan\n0.4,1\n",
            r"lines 3 to 5: value 2 \(q1\) must be a finite number",
        ),
        (
            "time,q1\n0,1\n# event hello\n",
            "line 3: an event must be a list of time, kind, joint and text",
        ),
        ("time,q1\n0,1\n# event [null, 2, [], {}]\n", "line 3: an event must be a list"),
    ],
)
def test_a_bad_log_is_refused_with_its_line(text, sentence, tmp_path):
    (tmp_path / "bad.csv").write_text(text)
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(tmp_path / "bad.csv")


def test_damaged_files_are_refused(tmp_path):
    whole = gzip.compress(b"time,q1\n0,1\n" * 50)
    (tmp_path / "cut.csv.gz").write_bytes(whole[:-12])
    with pytest.raises(at.FileError, match="cut off or damaged"):
        at.Log.read(tmp_path / "cut.csv.gz")
    with pytest.raises(at.ArmtwinError, match="cannot be read"):
        at.Log.read(tmp_path / "nothing.csv")


def test_wrong_channels_are_refused():
    with pytest.raises(at.ArmtwinError, match="log channel 'torque' is not known"):
        at.Log.of([0, 1], torque=np.zeros((2, 1)))
    with pytest.raises(at.ArmtwinError, match=r"must have shape \(2, joints\)"):
        at.Log.of([0, 1], q=np.zeros((3, 1)))


def test_any_text_of_an_event_survives(tmp_path):
    events = (at.Event(0.5, "kind", "j\u2028oint", "a\x85b \ud800 \U0001f916"),)
    at.Log.of([0.0, 1.0], events, q=np.zeros((2, 1))).write(tmp_path / "e.csv")
    assert at.Log.read(tmp_path / "e.csv").events == events


@pytest.mark.parametrize("word", ["nan", "", "RUN", "inf", "1e999", "²"])
def test_a_column_that_is_not_used_may_hold_anything(word, tmp_path):
    (tmp_path / "m.csv").write_text(
        f"time,q1,state,v1\n0,1,0,2\n0.1,3,{word},4\n", encoding="utf-8"
    )
    log = at.Log.read(tmp_path / "m.csv")
    assert log.q[:, 0].tolist() == [1, 3]
    assert log.v[:, 0].tolist() == [2, 4]


SECRET = "root:x:0:0:root:/root:/bin/bash\ndaemon:*:secret word:\n"


@pytest.mark.parametrize("name", ["m.csv", "p.csv"])
def test_what_is_no_table_of_numbers_is_not_repeated(name, tmp_path):
    (tmp_path / name).write_text(SECRET)
    with pytest.raises(at.FileError) as caught:
        at.Log.read(tmp_path / name) if name == "m.csv" else read_points(tmp_path / name, None)
    assert "root" not in caught.value.problems[0]
    assert "secret" not in caught.value.problems[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("time,q1\n0,1\n1e300,2\n", r"line 3: value 1 \(time\) must be at most 1e"),
        ("time,q1\n0,1\n1,-1e300\n", r"line 3: value 2 \(q1\) must be at most 1e"),
        ("time,q1\n0,1\n1e-300,2\n", "time of a log must have steps of at least"),
        ("time,q1\n0,1\n1,2e999\n", r"line 3: value 2 \(q1\) must be a finite number"),
        ("time,q1\n0,1\n1," + "1" * 5000 + "\n", r"line 3: value 2 \(q1\) must be"),
        (
            "time,q1\n0,1\n1,2\n# event [1" + "0" * 5000 + ', "a", "b", "c"]\n',
            "line 4: an event must be a list",
        ),
        ('time,q1\n0,1\n1,2\n# event [1e999, "a", "b", "c"]\n', "line 4: an event must be a list"),
        (
            "time,q1\n0,1\n1," + "x" * 1_000_001 + "\n",
            "line 3: must have at most 1000000 characters",
        ),
    ],
    ids=["time", "angle", "step", "inf", "digits", "event", "event without end", "line"],
)
def test_numbers_that_no_machine_has_are_refused_without_a_warning(text, sentence, tmp_path):
    (tmp_path / "m.csv").write_text(text)
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(tmp_path / "m.csv")


@pytest.mark.parametrize("odd", [0.1, 1e-300, 5e-324, -1e-61, -0.0])
def test_a_number_of_any_size_is_written_with_the_digits_of_repr(odd, tmp_path):
    q = np.array([[0.1, 1 / 3], [odd, 2.0**60]])
    at.Log.of(np.array([0.0, 0.004]), q=q).write(tmp_path / "run.csv")
    lines = (tmp_path / "run.csv").read_text().splitlines()
    assert lines[1:] == [f"0.0,0.1,{1 / 3!r}", f"0.004,{odd!r},{2.0**60!r}"]

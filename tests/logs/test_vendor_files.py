"""Logs with the headers, orders and gaps that controllers, drivers and their users really write.

Layouts after `log.cpp` of libfranka, the RTDE clients of UR, public readers of KUKA traces, RSI
telegrams of public drivers, control_msgs of ROS 2 Humble and Foxy, ros2_control's broadcaster.
"""

import sqlite3
import struct

import numpy as np
import pytest

import armtwin as at
from armtwin.logs.joints import in_order_of
from tests.logs.test_bag_files import state

TIME = np.arange(60) * 0.004
DIGITS = 5e-10  # of texts with nine decimals


@pytest.fixture
def q(rng):
    return np.cumsum(rng.normal(size=(len(TIME), 3)), axis=0) * 0.01


def write_table(path, columns, *, sep=",", header=None, decimal="."):
    """Lines of numbers with nine decimals under a header."""
    words = []
    for word, values in columns:
        count = 1 if values.ndim == 1 else values.shape[1]
        words += [word.format(j) for j in range(count)]
    rows = np.column_stack([values for _, values in columns])
    lines = [header or sep.join(words)]
    lines += [sep.join(f"{x:.9f}".replace(".", decimal) for x in row) for row in rows]
    path.write_text("\n".join(lines) + "\n")
    return path


def test_a_log_of_libfranka_itself_has_its_time_in_ms_and_calls_it_time(tmp_path, q):
    columns = [
        ("time", 1e3 * TIME),
        (" success_rate", np.ones(60)),
        ("state.q[{}]", q),
        (" state.q_d[{}]", q + 1),
        ("cmd.q_d[{}]", q + 2),
    ]
    log = at.Log.read(write_table(tmp_path / "log.csv", columns))
    assert log.layout == "Franka"
    assert log.time == pytest.approx(TIME, abs=1e-12)
    assert log.q == pytest.approx(q, abs=DIGITS)
    assert log.q_ref == pytest.approx(q + 1, abs=DIGITS)
    assert "time is in ms: converted to s" in log.remarks


RTDE = ("timestamp", "actual_q_{}", "target_q_{}")


@pytest.mark.parametrize(
    ("sep", "decimal", "mark"), [(",", ".", ""), (" ", ".", "# "), (";", ",", ""), ("\t", ",", "")]
)
def test_tables_of_rtde_are_read_as_clients_numpy_and_spreadsheets_write_them(
    tmp_path, q, sep, decimal, mark
):
    columns = list(zip(RTDE, (5000 + TIME, q, q + 1), strict=True))
    path = write_table(tmp_path / "run.txt", columns, sep=sep, decimal=decimal)
    path.write_text(mark + path.read_text())
    log = at.Log.read(path)
    assert log.layout == "RTDE"
    assert log.time == pytest.approx(5000 + TIME)
    assert log.q_ref - log.q == pytest.approx(np.ones_like(q), abs=2 * DIGITS)
    assert ("decimals are written with a comma" in log.remarks) is (decimal == ",")


def test_telegrams_that_were_read_twice_count_once_and_others_at_one_time_are_refused(tmp_path, q):
    rows = np.sort(np.append(np.arange(60), [7, 7, 30]))
    columns = list(zip(RTDE, (TIME[rows], q[rows], q[rows]), strict=True))
    log = at.Log.read(write_table(tmp_path / "twice.csv", columns, sep=" "))
    assert log.q == pytest.approx(q, abs=DIGITS)
    sentence = "3 samples repeat time and values of the one before, the first at 0.028: left out"
    assert sentence in log.remarks
    columns[1] = (RTDE[1], q[rows] + 1e-3 * np.arange(63)[:, None])
    with pytest.raises(at.FileError, match=r"line 10: time must increase, got 0\.028 twice"):
        at.Log.read(write_table(tmp_path / "other.csv", columns, sep=" "))


@pytest.mark.parametrize("encoding", ["utf-8", "cp1252"])
def test_units_in_brackets_and_numbers_from_zero_are_understood(tmp_path, q, encoding):
    columns = [("Time (ms)", 1e3 * TIME), ("q[{}] [°]", np.degrees(q)), ("tau{} [Nm]", 5 * q)]
    path = write_table(tmp_path / "run.csv", columns, sep=";")
    path.write_bytes(path.read_text().encode(encoding))
    log = at.Log.read(path)
    assert log.time == pytest.approx(TIME, abs=1e-12)
    assert log.q == pytest.approx(q, abs=DIGITS)
    assert log.tau == pytest.approx(5 * q, abs=DIGITS)
    path.write_text(path.read_text(encoding).replace("q[1] [°]", "q[1] [rad]"))
    with pytest.raises(at.FileError, match=r"columns of q must have one unit, got rad, °"):
        at.Log.read(path)


def write_pair(folder, stem, signals, *, step=0.004, scale=1e-6):
    """A pair of a KUKA trace, one value of each channel in turn though 213 says BLOCK."""
    count = len(signals[0][2])
    blocks = [f"200,Zeit\r\n202,s\r\n210,IMPLIZIT\r\n220,{count}\r\n240,0\r\n241,{step}"]
    for k, (name, unit, _) in enumerate(signals):
        head = f"200,{name}\r\n202,{unit}\r\n210,EXPLIZIT\r\n211,{stem}.r64\r\n213,BLOCK"
        blocks.append(f"{head}\r\n214,REAL64\r\n220,{count}\r\n221,{k + 1}\r\n240,0\r\n241,{scale}")
    text = "".join(
        f"#BEGINCHANNELHEADER\r\n{block}\r\n#ENDCHANNELHEADER\r\n\r\n" for block in blocks
    )
    (folder / f"{stem}.dat").write_bytes(f"DIAEXTENDED\r\n{text}".encode("latin-1"))
    doubles = np.column_stack([values for _, _, values in signals]).ravel() / scale
    (folder / f"{stem}.r64").write_bytes(struct.pack(f"<{doubles.size}d", *doubles))


def write_drives(folder, angles, factor=1.0):
    for j, angle in enumerate(np.degrees(angles).T * factor, 1):
        signals = [("Sollposition", "°", angle + 1), ("Istposition", "°", angle)]
        signals += [("Positionsschleppfehler", "°", 0 * angle), ("Istmoment", "Nm", 2 * angle)]
        write_pair(folder, f"run_NextGenDrive#{j}", signals)
    (folder / "run_PROG.TXT").write_text("INI")


def test_a_trace_of_drives_has_its_values_in_turn_and_the_axis_in_the_name_of_its_file(tmp_path, q):
    write_drives(tmp_path, q)
    log = at.Log.read(tmp_path)
    assert log.q == pytest.approx(q, abs=1e-12)
    assert log.q_ref == pytest.approx(q + np.radians(1), abs=1e-12)
    assert log.tau == pytest.approx(2 * np.degrees(q), abs=1e-9)
    assert "not read: channels Positionsschleppfehler" in log.remarks


def write_interpolator(folder, angles):
    slow = np.degrees(angles[::3]).T
    signals = [(f"AxisPos_CmdIpo{j}", "°", angle + 1) for j, angle in enumerate(slow, 1)]
    signals += [(f"AxisPos_Act{j}", "°", angle) for j, angle in enumerate(slow, 1)]
    write_pair(folder, "run_KRCIpo", signals, step=0.012, scale=1)


def test_positions_of_the_interpolator_serve_where_the_drives_log_their_motors(tmp_path, q):
    q = q + 1.0
    write_interpolator(tmp_path, q)
    log = at.Log.read(tmp_path)
    assert log.q == pytest.approx(q[::3], abs=1e-12)
    write_drives(tmp_path, q)
    log = at.Log.read(tmp_path)
    assert log.q[::3] == pytest.approx(q[:-2:3], abs=1e-12)
    assert any("q of the interpolator" in remark for remark in log.remarks)
    write_drives(tmp_path, q, factor=100.0)
    log = at.Log.read(tmp_path)
    assert log.q_m[::3] == pytest.approx(100 * log.q[::3], rel=1e-9)
    assert {"q_ref", "tau_m"} <= set(log.channels)
    assert any("more than an axis turns: taken as those of motors" in one for one in log.remarks)


def test_a_header_that_says_fewer_values_than_there_are_is_refused(tmp_path, q):
    write_drives(tmp_path, q)
    file = tmp_path / "run_NextGenDrive#2.dat"
    file.write_bytes(file.read_bytes().replace(b"220,60", b"220,30"))
    with pytest.raises(at.FileError, match="have 120 values by code 220, but it holds 240"):
        at.Log.read(tmp_path)


def test_answers_between_the_telegrams_of_rsi_are_no_cycles(tmp_path, q):
    lines = []
    for k, row in enumerate(np.degrees(q)):
        angles = " ".join(f'A{j}="{x:.9f}"' for j, x in enumerate(row, 1))
        inner = f'<RIst X="1"/><AIPos {angles}/><EIPos E1="0"/><IPOC>{4 * k:010}</IPOC>'
        lines.append(f'<Rob TYPE="KUKA"><Dat TaskType="b">{inner}</Dat></Rob>')
        lines.append(f'<Sen Type="ImFree"><AKorr A1="0"/><IPOC>{4 * k:010}</IPOC></Sen>')
    (tmp_path / "udp.log").write_text("\r\n".join(lines))
    log = at.Log.read(tmp_path / "udp.log")
    assert log.q == pytest.approx(q, abs=1e-9)
    assert log.time == pytest.approx(TIME, abs=1e-12)


HUMBLE = ("reference", "feedback", "error", "output", "desired", "actual")
NAMES = ("a", "b", "c")


def write_recording(path, angles, *, words=HUMBLE, change=lambda k, message: [message], early=0):
    """A bag of ROS 2 without definitions of messages, as those of Humble and before."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    kinds = "sensor_msgs/msg/JointState", "control_msgs/msg/JointTrajectoryControllerState"
    point = "trajectory_msgs/{}JointTrajectoryPoint {}\n"
    text = "std_msgs/Header header\nstring[] joint_names\n"
    text += "".join(point.format("", word) for word in words) + "string[] multi_dof_joint_names\n"
    text += "".join(point.format("MultiDOF", f"multi_dof_{word}") for word in words)
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(text, kinds[1]))
    types = store.types
    zero, none = types["builtin_interfaces/msg/Duration"](0, 0), np.zeros(0)
    other = types["trajectory_msgs/msg/MultiDOFJointTrajectoryPoint"]([], [], [], zero)
    with Writer(path, version=9) as writer:
        topics = [
            writer.add_connection(f"/{k}", kind, typestore=store) for k, kind in enumerate(kinds)
        ]
        for k, (t, row) in enumerate(zip(TIME, angles, strict=True)):
            arrival = round(1e9 * (100 + t))
            for message in change(k, state(store, t, list(NAMES), row)):
                writer.write(topics[0], arrival, store.serialize_cdr(message, kinds[0]))
            wanted = row[::-1] + 0.5 if k >= early else np.full(3, np.nan)
            points = []
            for word in words:
                at_angles = wanted if word in ("reference", "desired") else row[::-1]
                point = types["trajectory_msgs/msg/JointTrajectoryPoint"]
                points.append(point(np.ascontiguousarray(at_angles), none, none, none, zero))
            header = state(store, t, ["a"], np.zeros(1)).header
            message = types[kinds[1]](
                header, list(NAMES[::-1]), *points, [], *[other for _ in words]
            )
            writer.write(topics[1], arrival, store.serialize_cdr(message, kinds[1]))
    with sqlite3.connect(next(path.glob("*.db3"))) as database:
        database.execute("DROP TABLE message_definitions")
        database.execute("DROP TABLE schema")
    return path


@pytest.mark.parametrize("words", [HUMBLE, ("desired", "actual", "error")])
def test_a_bag_without_definitions_of_messages_still_gives_the_reference(tmp_path, q, words):
    log = at.Log.read(write_recording(tmp_path / "bag", q, words=words))
    assert log.q_ref == pytest.approx(q + 0.5, abs=1e-15)


def test_signals_that_a_broadcaster_does_not_know_are_left_out_and_said(tmp_path, q):
    def without_effort(k, message):
        message.effort = np.full(3, np.nan)
        return [message]

    log = at.Log.read(write_recording(tmp_path / "bag", q, change=without_effort, early=10))
    assert set(log.channels) == {"q", "v", "q_ref"}
    assert log.q == pytest.approx(q[10:], abs=1e-15)  # from the first reference on
    assert "not read: signals effort of /0 (not a number)" in log.remarks

    def with_a_hole(k, message):
        message.effort = np.full(3, np.nan if k == 20 else 1.0)
        return [message]

    with pytest.raises(at.FileError, match="message 21: effort of a must be finite"):
        at.Log.read(write_recording(tmp_path / "hole", q, change=with_a_hole))


def test_a_gripper_on_the_topic_of_the_arm_is_told_apart(tmp_path, q):
    """A node of its own that writes first, or joints in the arm's messages."""
    import copy

    def with_gripper_before(k, message):
        gripper = copy.deepcopy(message)
        gripper.name, gripper.position = ["finger"], np.ones(1)
        gripper.velocity = gripper.effort = np.zeros(0)
        return [gripper, message]

    log = at.Log.read(write_recording(tmp_path / "before", q, change=with_gripper_before))
    assert log.joint_names == NAMES
    assert log.q_ref - log.q == pytest.approx(0.5 + 0 * q)
    assert any("topics /0 (finger)" in remark for remark in log.remarks)

    def with_fingers(k, message):
        message.name = ["left", *NAMES]
        for field in ("position", "velocity", "effort"):
            setattr(message, field, np.append(0.02, getattr(message, field)))
        return [message]

    log = at.Log.read(write_recording(tmp_path / "within", q, change=with_fingers))
    assert log.q == pytest.approx(q, abs=1e-15)
    assert "not read: joints that /1 lacks: left" in log.remarks


def test_joints_that_the_robot_lacks_are_left_out_by_their_names(q):
    log = at.Log.of(TIME, joint_names=("x", "y", "gripper"), q=q, tau=q)
    assert (in_order_of(log, ("y", "x")).tau == q[:, [1, 0]]).all()


def test_arrays_of_an_npz_file_that_are_not_read_are_named(tmp_path, q):
    np.savez(tmp_path / "run.npz", t=TIME, q=q, wrench=q)
    log = at.Log.read(tmp_path / "run.npz")
    assert (log.q == q).all()
    assert log.remarks == ("not read: arrays wrench",)


def test_a_motor_of_34_kelvin_is_one_of_34_degrees_in_a_table_too(tmp_path, q):
    columns = [("time", TIME), ("q{}", q), ("temperature{}", np.full((60, 3), 34.0))]
    log = at.Log.read(write_table(tmp_path / "run.csv", columns))
    assert log.temperature == pytest.approx(307.15)
    assert "temperature reaches 34 K only: taken as °C" in log.remarks


def as_number(x):
    return f"{x:.9f}"


def with_comma(x):
    return f"{x:.9f}".replace(".", ",")


def of_day(t):
    return f"2024-05-01 10:00:{t:06.3f}"


TABLES = {  # header lines, time and numbers as text, delimiter, coding
    "spreadsheet": (["time;q1;q2;q3"], with_comma, with_comma, ";", "utf-8-sig"),
    "named delimiter": (["sep=;", "time;q1;q2;q3"], with_comma, with_comma, ";", "cp1252"),
    "unicode text": (["time\tq1\tq2\tq3"], with_comma, with_comma, "\t", "utf-16"),
    "quoted": (['"t","q1","q2","q3"'], '"{:.9f}"'.format, '"{:.9f}"'.format, ",", "utf-8"),
    "PLC": (
        ["Name;Zelle 4", "Periode;4 ms", "", "Zeit;q1;q2;q3"],
        with_comma,
        with_comma,
        ";",
        "utf-8",
    ),
    "PLC with dates": (["time;q1;q2;q3"], of_day, with_comma, ";", "utf-8"),
    "PlotJuggler": (["__time,q1,q2,q3"], as_number, as_number, ",", "utf-8"),
}


@pytest.mark.parametrize("kind", TABLES)
def test_tables_of_spreadsheets_and_controllers_are_read_as_they_come(tmp_path, q, kind):
    lines, of_time, of_angle, sep, coding = TABLES[kind]
    rows = []
    for t, angles in zip(TIME, q, strict=True):
        rows.append(sep.join([of_time(t), *map(of_angle, angles)]))
    path = tmp_path / "run.csv"
    path.write_bytes("\r\n".join([*lines, *rows]).encode(coding))
    log = at.Log.read(path)
    assert log.q == pytest.approx(q, abs=DIGITS)
    # of the day: numbers of 1.7e9 s are known to 0.24 µs
    assert log.time - log.time[0] == pytest.approx(TIME, abs=3e-7)
    if kind == "PLC":
        assert "not read: lines 1, 2" in log.remarks


def test_a_table_of_pandas_with_its_index_is_the_log(tmp_path, q):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"time": TIME} | {f"q{j + 1}": q[:, j] for j in range(3)})
    frame.to_csv(tmp_path / "run.csv")
    assert (at.Log.read(tmp_path / "run.csv").q == q).all()
    frame.to_csv(tmp_path / "german.csv", sep=";", decimal=",")
    assert (at.Log.read(tmp_path / "german.csv").q == q).all()
    frame.set_index("time").to_csv(tmp_path / "indexed.csv")
    assert (at.Log.read(tmp_path / "indexed.csv").q == q).all()


def test_joint_states_that_rostopic_printed_are_a_log(tmp_path, q):
    stamps = [10**18 + round(1e9 * t) for t in TIME]
    header = ["%time", "field.header.seq", "field.header.stamp", "field.header.frame_id"]
    for field in ("name", "position", "velocity", "effort"):
        header += [f"field.{field}{j}" for j in range(3)]
    lines = [header]
    for k, (stamp, row) in enumerate(zip(stamps, q.tolist(), strict=True)):
        lines.append([stamp + 10**6, k, stamp, "", "a", "b", "c", *row, 0, 0, 0, 1, 2, 3])
    (tmp_path / "run.csv").write_text("\n".join(",".join(map(str, line)) for line in lines))
    log = at.Log.read(tmp_path / "run.csv")
    assert log.layout == "rostopic"
    assert (log.q == q).all()
    assert log.tau[0].tolist() == [1, 2, 3]
    assert log.time - log.time[0] == pytest.approx(TIME, abs=3e-7)
    assert any("drivers of Universal Robots write A" in remark for remark in log.remarks)


def test_columns_of_plotjuggler_are_named_by_a_columns_file(tmp_path, q):
    words = [f"/joint_states/{name}/position" for name in "cab"]
    columns = [("__time", 1.7e9 + TIME), *zip(words, q[:, [2, 0, 1]].T, strict=True)]
    write_table(tmp_path / "run.csv", columns)
    named = ", ".join(f'"/joint_states/{name}/position"' for name in "abc")
    (tmp_path / "columns.toml").write_text(f"format = 1\n[columns]\nq = [{named}]\n")
    assert at.Log.read(tmp_path / "run.csv").q == pytest.approx(q, abs=DIGITS)


def test_arrays_of_other_lengths_than_time_are_refused(tmp_path, q):
    from scipy.io import savemat

    savemat(tmp_path / "run.mat", {"t": TIME, "q": q, "tau": q[::2]})
    sentence = r"array 'tau' must have 60 samples as time, got shape \(30, 3\)"
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(tmp_path / "run.mat")


def test_a_rate_that_changes_within_a_log_is_said(q):
    time = np.concatenate([TIME, TIME[-1] + 0.008 * np.arange(1, 61)])
    section = at.Log.of(time, q=np.vstack([q, q])).sections().sections[0]
    assert "rate changes between 125 and 250 Hz within the log" in str(list(section.content))
    even = at.Log.of(TIME, q=q).sections().sections[0]
    assert "rate changes" not in str(list(even.content))


def test_a_drive_at_another_rate_is_put_on_the_times_of_the_others(tmp_path):
    from tests.logs.test_formats import write_trace

    for j, step in ((1, 0.004), (2, 0.008)):
        angle = np.sin(step * np.arange(round(2.4 / step)) + j)
        write_trace(tmp_path, j, [(f"Istposition_Achse{j}", "rad", angle)], step=step)
    log = at.Log.read(tmp_path)
    exact = np.stack([np.sin(log.time + j) for j in (1, 2)], axis=1)
    # of a spline with free ends: h^4 / 24 with h = 8 ms
    assert np.abs(log.q - exact).max() < 1e-9
    assert any("q has times of its own (125 Hz)" in remark for remark in log.remarks)

"""Layouts of controllers and tools: one run in each is the same log; damaged files are refused.

The files of the shared data are by another hand; what they lack is written here, byte by byte.
"""

import struct
from dataclasses import replace

import numpy as np
import pytest
import scipy.io

import armtwin as at
from tests.app.test_job_commands import call
from tests.logs.test_bag_files import state

TIME = np.arange(60) * 0.004
# half of the last printed digit: nine digits of numbers up to 100, four decimals of a degree
NINE_DIGITS, DEGREE, MILLIAMPERE = 5.1e-8, np.radians(5.1e-5), 5.1e-4
BINARY = 1.0001e-9
LAYOUTS = {
    "rtde.csv": ("RTDE", {"q": NINE_DIGITS, "q_ref": NINE_DIGITS, "current": NINE_DIGITS}),
    "franka.csv": ("Franka", {"q": NINE_DIGITS, "q_ref": NINE_DIGITS, "tau": NINE_DIGITS}),
    "t_NextGenDrive#1.dat": ("KUKA trace", {"q": BINARY, "q_ref": BINARY, "tau": BINARY}),
    "rsi.xml": ("KUKA RSI", {"q": DEGREE, "q_ref": DEGREE, "current": MILLIAMPERE}),
    "run.mat": ("MAT", {"q": BINARY, "v": BINARY, "tau": BINARY}),
    "run.parquet": ("Parquet", {"q": BINARY, "tau": BINARY}),
    "ros2_bag": ("ROS bag", {"q": BINARY, "v": BINARY, "q_ref": BINARY, "v_ref": BINARY}),
}


@pytest.fixture
def q(rng):
    return np.cumsum(rng.normal(size=(len(TIME), 2)), axis=0) * 0.01


@pytest.mark.parametrize("name", LAYOUTS)
def test_a_run_is_the_same_log_in_every_layout(name, shared_data):
    reference = at.Log.read(shared_data / "formats" / "run.csv.gz")
    layout, channels = LAYOUTS[name]
    log = at.Log.read(shared_data / "formats" / name)
    assert log.layout == layout
    assert log.time == pytest.approx(reference.time, abs=BINARY)
    for channel, tolerance in channels.items():
        assert np.abs(log.channels[channel] - reference.channels[channel]).max() <= tolerance
    for channel in set(log.channels) & set(reference.channels):  # none is taken for another
        assert np.abs(log.channels[channel] - reference.channels[channel]).max() < 1e-3


def test_content_counts_more_than_the_ending_of_a_name(tmp_path, shared_data):
    (tmp_path / "run.csv").write_bytes((shared_data / "formats" / "run.mat").read_bytes())
    assert at.Log.read(tmp_path / "run.csv").layout == "MAT"


def write_trace(folder, axis, signals, *, step=0.004, method="BLOCK", source="NextGenDrive#{}"):
    """A pair of files: signals are (name, unit, values)."""
    stem = f"t_{source.format(axis)}"
    count = len(signals[0][2])
    lines = ["DIAEXTENDED  {@:ENGLISH", "#BEGINGLOBALHEADER", "101,Trace", "#ENDGLOBALHEADER"]
    time = ["200,Zeit", "202,s", "210,IMPLIZIT", f"220,{count}", "240,0", f"241,{step}"]
    lines += ["#BEGINCHANNELHEADER", *time, "#ENDCHANNELHEADER"]
    for k, (name, unit, _) in enumerate(signals):
        first = k * count + 1 if method == "BLOCK" else k + 1
        where = [f"211,{stem}.r64", f"213,{method}", "214,REAL64", f"220,{count}", f"221,{first}"]
        head = [f"200,{name}", f"202,{unit}", "210,EXPLIZIT", *where, "240,0", "241,1"]
        lines += ["#BEGINCHANNELHEADER", *head, "#ENDCHANNELHEADER"]
    (folder / f"{stem}.dat").write_text("\n".join(lines))
    table = np.array([values for _, _, values in signals])
    doubles = (table if method == "BLOCK" else table.T).ravel()
    (folder / f"{stem}.r64").write_bytes(struct.pack(f"<{doubles.size}d", *doubles))
    return folder / f"{stem}.dat"


@pytest.mark.parametrize("method", ["BLOCK", "CHANNEL"])
def test_english_names_and_both_orders_of_values_are_read(tmp_path, q, method):
    for j in (1, 2):
        angle = np.degrees(q[:, j - 1])
        signals = [
            (f"Command position_Axis{j}", "deg", angle + 1),
            (f"Actual position_Axis{j}", "deg", angle),
            (f"Actual torque_Axis{j}", "Nm", 7 * angle),
            (f"Motor temperature_Axis{j}", "K", np.full(len(TIME), 34.0)),
            (f"Following error_Axis{j}", "deg", 0 * angle),
        ]
        write_trace(tmp_path, j, signals, method=method)
    log = at.Log.read(tmp_path)
    assert log.q == pytest.approx(q, abs=1e-12)
    assert log.q_ref == pytest.approx(q + np.radians(1), abs=1e-12)
    assert log.tau == pytest.approx(7 * np.degrees(q), abs=1e-12)
    assert log.temperature == pytest.approx(307.15)
    assert any("34 K only: taken as °C" in remark for remark in log.remarks)
    assert any("not read: channels Following error_Axis1" in remark for remark in log.remarks)


def test_an_interpolator_at_its_own_rate_is_put_on_the_times_of_the_drives(tmp_path):
    for j in (1, 2):
        write_trace(tmp_path, j, [(f"Istposition_Achse{j}", "Grad", np.sin(TIME + j))])
    slow = TIME[::3]
    commanded = [(f"Sollposition_Achse{j}", "rad", np.sin(slow + j)) for j in (1, 2)]
    write_trace(tmp_path, 0, commanded, step=0.012, source="KRCIpo")
    log = at.Log.read(tmp_path)
    assert log.time[1] == pytest.approx(0.004)
    exact = np.stack([np.sin(log.time + j) for j in (1, 2)], axis=1)
    assert log.q_ref == pytest.approx(exact, abs=1e-9)  # of a spline: h^4 / 384 with h = 12 ms
    assert any("q_ref has times of its own (83.33 Hz)" in remark for remark in log.remarks)


def cut_values(folder):
    file = folder / "t_NextGenDrive#2.r64"
    file.write_bytes(file.read_bytes()[:-3])


def lose_values(folder):
    file = folder / "t_NextGenDrive#2.r64"
    file.write_bytes(file.read_bytes()[:-80])


def lengthen(folder):
    file = folder / "t_NextGenDrive#2.dat"
    file.write_text(file.read_text().replace("220,60", "220,61"))


def lose_drive(folder):
    (folder / "t_NextGenDrive#2.dat").unlink()


@pytest.mark.parametrize(
    ("spoil", "sentence"),
    [
        (cut_values, "must hold whole doubles of 8 bytes, got 477: cut off"),
        (lose_values, "end at 60, but the file t_NextGenDrive#2.r64 holds 50"),
        (lengthen, "end at 61, but the file .* wrong length in the header"),
        (lose_drive, "q is there for the axes 1, 3, but not for 2: copy the files of all drives"),
    ],
)
def test_a_damaged_trace_is_refused_with_its_file(tmp_path, q, spoil, sentence):
    for j in (1, 2, 3):
        write_trace(tmp_path, j, [(f"Istposition_Achse{j}", "Grad", q[:, 0])])
    spoil(tmp_path)
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(tmp_path)


CYCLE = '<Rob Type="KUKA"><RIst X="1"/><AIPos A1="{}" A2="2"/><IPOC>{}</IPOC></Rob>'


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (CYCLE.format(1, 0) + CYCLE.format(1, 4)[:-9], "cycle 2: is no XML that can be read"),
        (CYCLE.format(1, 4) + CYCLE.format(1, 0), "sample 2 of q: time must increase"),
        (CYCLE.format("x", 4), "cycle 1: AIPos must hold numbers"),
        (CYCLE.format(1, 0) + "<Rob><IPOC>4</IPOC></Rob>", "cycle 2: a cycle needs one AIPos"),
        ("<!DOCTYPE a>" + CYCLE.format(1, 0), "is no XML|document type"),
        (2 * CYCLE.format(1, "1e999"), "IPOC must be finite"),
    ],
)
def test_a_stream_of_rsi_that_is_damaged_is_refused_with_its_cycle(tmp_path, text, sentence):
    (tmp_path / "rsi.xml").write_text(text)
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(tmp_path / "rsi.xml")


def test_structs_and_texts_of_a_mat_file_are_named_and_not_read(tmp_path, q):
    file = tmp_path / "run.mat"
    scipy.io.savemat(file, {"t": TIME, "q": q.T, "info": {"a": 1}, "note": "warm"})
    log = at.Log.read(file)
    assert (log.q == q).all()
    assert any("info (struct), note (char)" in remark for remark in log.remarks)
    scipy.io.savemat(file, {"run": {"t": TIME, "q": q}})
    with pytest.raises(at.FileError, match=r"needs an array 'time' .* run \(struct\)"):
        at.Log.read(file)


def test_an_array_qd_that_follows_q_is_the_reference(tmp_path, q):
    scipy.io.savemat(tmp_path / "run.mat", {"t": TIME, "q": q, "qd": q + 1e-4})
    assert (at.Log.read(tmp_path / "run.mat").q_ref == q + 1e-4).all()


def test_a_heap_of_hdf5_that_does_not_end_is_refused(tmp_path, q):
    """The library itself would look for its end for ever."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "run.h5"
    with h5py.File(path, "w") as file:
        file["time"], file["q"] = TIME, q
        file["q"].attrs["unit"] = "rad"
    content = bytearray(path.read_bytes())
    free = content.index(b"GCOL\1") + 16 + 16 + 8  # behind the head and one text
    assert content[free : free + 2] == b"\0\0"
    content[free + 8 : free + 16] = bytes(8)
    assert at.Log.read(path).q.shape == q.shape
    path.write_bytes(content)
    with pytest.raises(at.ArmtwinError, match="a heap of texts is damaged"):
        at.Log.read(path)


def test_datasets_and_tables_of_hdf5_are_logs_and_links_are_refused(tmp_path, q):
    h5py = pytest.importorskip("h5py")
    with h5py.File(tmp_path / "run.h5", "w") as file:
        file["run/time"] = 1e3 * TIME
        file["run/time"].attrs["unit"] = "ms"
        file["run/q"] = np.degrees(q)
        file["run/q"].attrs["unit"] = "deg"
    log = at.Log.read(tmp_path / "run.h5")
    assert log.time == pytest.approx(TIME, abs=1e-12)
    assert log.q == pytest.approx(q, abs=1e-12)
    table = np.zeros(len(TIME), dtype=[("time", "f8"), ("q1", "f8"), ("q2", "f8")])
    table["time"], table["q1"], table["q2"] = TIME, *q.T
    with h5py.File(tmp_path / "table.h5", "w") as file:
        file["table"] = table
    assert (at.Log.read(tmp_path / "table.h5").q == q).all()
    with h5py.File(tmp_path / "link.h5", "w") as file:
        file["time"] = TIME
        file["q"] = h5py.ExternalLink("run.h5", "/run/q")
    with pytest.raises(at.FileError, match="'q' is a link; datasets must be in the file itself"):
        at.Log.read(tmp_path / "link.h5")


def test_a_file_of_matlab_7_3_is_turned(tmp_path, q):
    """HDF5 behind a block of 512 bytes, with arrays stored by columns."""
    h5py = pytest.importorskip("h5py")
    path = tmp_path / "run.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        for name, values in {"t": TIME[:, None], "q": q}.items():
            file[name] = values.T
            file[name].attrs["MATLAB_class"] = np.bytes_("double")
        file["note"] = np.frombuffer("warm".encode("utf-16-le"), dtype=np.uint16)[:, None]
        file["note"].attrs["MATLAB_class"] = np.bytes_("char")
    data = bytearray(path.read_bytes())
    data[:19] = b"MATLAB 7.3 MAT-file"
    path.write_bytes(data)
    log = at.Log.read(path)
    assert log.layout == "HDF5"
    assert (log.q == q).all()
    assert any("note" in remark for remark in log.remarks)


def test_a_parquet_file_with_nulls_is_refused_with_the_row(tmp_path, q):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    column = [*q[:, 0]]
    column[6] = None
    parquet.write_table(pyarrow.table({"time": TIME, "q1": column}), tmp_path / "run.parquet")
    with pytest.raises(at.FileError, match=r"'q1' .* 1 of 60 are null, the first in row 7"):
        at.Log.read(tmp_path / "run.parquet")


def test_joints_of_the_controller_are_put_in_the_order_of_the_joint_states(tmp_path, q):
    """The controller's clock is 100 s off, and it is 3 ms late."""
    write_bag(tmp_path / "bag", np.sin(3 * TIME)[:, None] * [1, 2], late=0.003, other_clock=100)
    log = at.Log.read(tmp_path / "bag")
    exact = np.sin(3 * log.time)[:, None] * [1, 2] + 0.5
    start = log.time[0]
    assert start == 0
    # of the times that both have; half a step of 4 ms of the clock is left by arrivals
    assert log.q_ref - log.q == pytest.approx(0.5 + 0 * exact, abs=2e-4)
    assert any("has another clock than" in remark for remark in log.remarks)
    assert any("not read: topics /other" in remark for remark in log.remarks)


def test_a_bare_mcap_file_with_states_of_a_controller_is_the_log_of_its_bag(tmp_path, q):
    bag = write_bag(tmp_path / "bag", q)
    whole = at.Log.read(bag)
    (held,) = bag.glob("*.mcap")
    bare = held.rename(tmp_path / "run.log")
    log = at.Log.read(bare)
    assert log.layout == "ROS bag"
    assert log.q_ref == pytest.approx(q + 0.5, abs=1e-12)
    for name, values in whole.channels.items():
        assert (log.channels[name] == values).all()


def write_bag(
    path, values, *, late=0.0, other_clock=0, names=("a", "b"), second=(), time=TIME, reference=None
):
    """A bag with joint states and a controller that has the joints the other way round."""
    references = values + 0.5 if reference is None else reference
    pytest.importorskip("rosbags")
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    kind = "control_msgs/msg/JointTrajectoryControllerState"
    point = "trajectory_msgs/JointTrajectoryPoint"
    text = "std_msgs/Header header\nstring[] joint_names\n" + "".join(
        f"{point} {word}\n" for word in ("reference", "feedback", "error", "output")
    )
    store = get_typestore(Stores.ROS2_HUMBLE)
    store.register(get_types_from_msg(text, kind))
    types = store.types
    Point = types["trajectory_msgs/msg/JointTrajectoryPoint"]
    nothing = np.zeros(0)
    zero = types["builtin_interfaces/msg/Duration"](0, 0)

    def at_angles(angles):
        return Point(angles, nothing, nothing, nothing, zero)

    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        joint = "sensor_msgs/msg/JointState"
        states = writer.add_connection("/joint_states", joint, typestore=store)
        others = [
            writer.add_connection(f"/robot_{k}", joint, typestore=store)
            for k, _ in enumerate(second)
        ]
        controller = writer.add_connection("/controller_state", kind, typestore=store)
        other = writer.add_connection("/other", "std_msgs/msg/String", typestore=store)
        writer.write(
            other,
            10**11,
            store.serialize_cdr(types["std_msgs/msg/String"]("x"), "std_msgs/msg/String"),
        )
        for t, row, wanted in zip(time, values, references, strict=True):
            arrival = round(1e9 * (100 + t))
            message = state(store, t, list(names), row)
            if reference is not None:
                message = replace(message, velocity=nothing, effort=nothing)
            writer.write(states, arrival, store.serialize_cdr(message, joint))
            for connection, its in zip(others, second, strict=True):
                message = state(store, t, list(its), np.ones(len(its)))
                writer.write(connection, arrival, store.serialize_cdr(message, joint))
            header = state(store, t + late + other_clock, ["a"], np.zeros(1)).header
            back = row[::-1].copy()
            points = [at_angles(wanted[::-1].copy()), *(at_angles(back) for _ in range(3))]
            message = types[kind](header, list(names[::-1]), *points)
            writer.write(controller, arrival, store.serialize_cdr(message, kind))
    return path


def as_rtde(path, log):
    joints = range(log.q.shape[1])
    words = [f"{name}_{j}" for name in ("target_q", "actual_q") for j in joints]
    rows = np.column_stack([log.time, log.q_ref, log.q]).tolist()
    lines = [["timestamp", *words], *rows]
    path.write_text("\n".join(" ".join(map(str, line)) for line in lines))


def as_franka(path, log):
    joints = range(log.q.shape[1])
    words = [f"state.{name}[{j}]" for name in ("q_d", "q") for j in joints]
    rows = np.column_stack([1e3 * log.time, log.q_ref, log.q]).tolist()
    lines = [["duration", *words], *rows]
    path.write_text("\n".join(",".join(map(str, line)) for line in lines))


def as_trace(path, log):
    path.mkdir()
    for j in range(log.q.shape[1]):
        wanted, done = np.degrees(log.q_ref[:, j]), np.degrees(log.q[:, j])
        names = [f"Sollposition_Achse{j + 1}", f"Istposition_Achse{j + 1}"]
        signals = [(names[0], "Grad", wanted), (names[1], "Grad", done)]
        step = 0.004
        write_trace(path, j + 1, signals, step=step, method="CHANNEL")


def as_bag(path, log):
    names = [f"joint_{j}" for j in (4, 1, 6, 2, 5, 3)]
    order = [int(name[-1]) - 1 for name in names]
    q, q_ref = (np.ascontiguousarray(x[:, order]) for x in (log.q, log.q_ref))
    write_bag(path, q, reference=q_ref, names=names, time=log.time)


def numbers_of(law):
    delay, shaping = vars(law.delay), vars(law.shaping)
    found = [law.kp, law.kv, law.kff, *delay.values(), *shaping.values()]
    return np.concatenate([np.ravel(values) for values in found])


@pytest.fixture(scope="module")
def kr300_run(shared_data):
    whole = at.Log.read(shared_data / "kuka_kr300" / "ident_A.csv.gz")
    return at.Log.of(whole.time, q=whole.q, q_ref=whole.q_ref)


@pytest.mark.parametrize("write", [as_rtde, as_franka, as_trace, as_bag])
def test_a_servo_is_the_same_from_every_layout(kr300_run, robots, tmp_path, write):
    write(tmp_path / "run", kr300_run)
    log = at.Log.read(tmp_path / "run")
    by_csv = at.identify_servo(robots["kr300"], kr300_run).robot.description.servo["fitted"]
    found = at.identify_servo(robots["kr300"], log).robot.description.servo["fitted"]
    assert numbers_of(found) == pytest.approx(numbers_of(by_csv), rel=1e-6, abs=1e-9)


def test_the_older_form_of_a_controller_in_ros_1_gives_the_reference(tmp_path, q):
    """desired, actual and error in place of reference, feedback and output."""
    pytest.importorskip("rosbags")
    from rosbags.rosbag1 import Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    kind = "control_msgs/msg/JointTrajectoryControllerState"
    point = "trajectory_msgs/JointTrajectoryPoint"
    words = "".join(f"{point} {word}\n" for word in ("desired", "actual", "error"))
    store = get_typestore(Stores.ROS1_NOETIC)
    store.register(
        get_types_from_msg(f"std_msgs/Header header\nstring[] joint_names\n{words}", kind)
    )
    types = store.types
    none, zero = np.zeros(0), types["builtin_interfaces/msg/Duration"](0, 0)
    with Writer(tmp_path / "run.bag") as writer:
        topic = writer.add_connection("/arm/state", kind, typestore=store)
        for t, row in zip(TIME, q, strict=True):
            header = state(store, t, ["a"], np.zeros(1)).header
            points = []
            for shift in (0.25, 0.0, 0.0):
                angles = np.ascontiguousarray(row + shift)
                points.append(
                    types["trajectory_msgs/msg/JointTrajectoryPoint"](
                        angles, none, none, none, zero
                    )
                )
            message = types[kind](header, ["a", "b"], *points)
            data = store.serialize_ros1(message, kind)
            writer.write(topic, round(1e9 * (100 + t)), data)
    log = at.Log.read(tmp_path / "run.bag")
    assert (log.q == q).all()
    assert log.q_ref == pytest.approx(q + 0.25, abs=1e-15)


def test_a_log_is_written_by_a_command_cut_by_time(tmp_path, q):
    at.Log.of(TIME, q=q).write(tmp_path / "run.csv")
    words = ("log", "run.csv", "--to", "npz", "--from", "0.1 s", "--until", "0.2 s")
    done = call(tmp_path, *words)
    assert done.code == 0, done.err
    assert "26 of 60 samples, q" in done.out
    assert (at.Log.read(tmp_path / "run.npz").q == q[25:51]).all()
    again = call(tmp_path, *words)
    assert again.code == 2
    assert "exists already" in again.err
    other = call(tmp_path, *words, "--out", "run.csv")
    assert other.code == 2


def test_efforts_of_universal_robots_are_amperes(tmp_path, rng):
    names = ("shoulder_lift_joint", "elbow_joint")
    log = at.Log.read(write_bag(tmp_path / "bag", rng.normal(size=(60, 2)), names=names))
    assert "tau" not in log
    assert log.current == pytest.approx(3 * log.q)
    assert any("is in A, not in N m" in remark for remark in log.remarks)


def test_joint_states_of_two_robots_are_refused(tmp_path, q):
    bag = write_bag(tmp_path / "bag", q, second=[("x", "y", "z")])
    sentence = r"joint states of two robots: /robot_0 \(x, y, z\), /joint_states \(a, b\)"
    with pytest.raises(at.FileError, match=sentence):
        at.Log.read(bag)


def test_a_cut_log_is_the_same_from_every_format_that_is_written(tmp_path, q):
    pytest.importorskip("pyarrow")
    log = at.Log.of(TIME, q=q, tau=2 * q).cut(0.1, 0.2)
    assert log.time[0] == pytest.approx(0.1)
    assert len(log.time) == 26
    for ending in ("csv", "npz", "parquet"):
        log.write(tmp_path / f"run.{ending}")
        again = at.Log.read(tmp_path / f"run.{ending}")
        assert (again.time == log.time).all()
        assert (again.q == log.q).all()
        assert (again.tau == log.tau).all()
    with pytest.raises(at.ArmtwinError, match=r"a cut must hold a sample of 0 to 0\.236 s"):
        at.Log.of(TIME, q=q).cut(1.0)


def test_a_data_frame_is_a_log_and_back(q):
    pytest.importorskip("pandas")
    log = at.Log.of(TIME, q=q, current=q)
    again = at.Log.from_dataframe(log.to_dataframe())
    assert (again.time == TIME).all()
    assert (again.q == q).all()
    frame = log.to_dataframe().reset_index()
    frame["note"] = "warm"
    again = at.Log.from_dataframe(frame)
    assert (again.current == q).all()
    assert again.remarks == ("not read: arrays note",)


def test_a_rate_with_another_clock_is_moved_by_its_integral(tmp_path):
    """v comes at a third of the rate from a source that stamps it 7 ms late."""
    time = np.arange(900) * 0.004
    for j in (1, 2):
        write_trace(tmp_path, j, [(f"Istposition_Achse{j}", "rad", np.sin(2 * time + j))])
    slow = time[::3]
    rates = [
        (f"Istgeschwindigkeit_Achse{j}", "rad/s", 2 * np.cos(2 * (slow - 0.007) + j))
        for j in (1, 2)
    ]
    write_trace(tmp_path, 0, rates, step=0.012, source="KRCIpo")
    log = at.Log.read(tmp_path)
    exact = np.stack([2 * np.cos(2 * log.time + j) for j in (1, 2)], axis=1)
    # of the trapezoidal rule and a straight line: v'' h^2 / 8 = 1.4e-4; unmoved it would be 0.028
    assert np.abs(log.v - exact).max() < 3e-4
    assert any("v is 7 ms later than q by its integral: moved" in x for x in log.remarks)


def test_two_encoders_that_are_read_at_other_times_are_said(shared_data):
    """3.0 ms, by the recording's own description."""
    log = at.Log.read(shared_data / "kuka_kr300" / "ident_A.csv.gz")
    assert "q_link is 3.04 ms later than q" in str(list(log.sections().sections[0].content))


TURN = np.array([np.cos(0.2), 0.0, 0.0, np.sin(0.2)])  # by 0.4 rad about z


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_a_path_of_an_instrument_is_a_log_with_its_units(tmp_path, rng, delimiter):
    points = rng.normal(size=(20, 3))
    rows = np.column_stack([10 * np.arange(20), 1e3 * points, np.tile(TURN, (20, 1))])
    header = ["t [ms]", "X [mm]", "Y [mm]", "Z [mm]", "qw", "qx", "qy", "qz"]
    lines = [header, *rows.tolist()]
    text = "\n".join(delimiter.join(map(str, line)) for line in lines)
    (tmp_path / "tracker.txt").write_text(text)
    log = at.Log.read(tmp_path / "tracker.txt")
    assert log.layout == "tool path"
    assert log.time == pytest.approx(0.01 * np.arange(20), abs=1e-12)
    assert log.tool == pytest.approx(points, abs=1e-12)
    assert log.tool_rotation == pytest.approx(np.tile([0, 0, 0.4], (20, 1)), abs=1e-12)
    log.write(tmp_path / "again.csv")
    assert (at.Log.read(tmp_path / "again.csv").tool == log.tool).all()
    bare = text.replace(" [mm]", "").replace(str(TURN[0]), "2")
    (tmp_path / "tracker.txt").write_text(bare)
    with pytest.raises(at.FileError, match="sample 1: qw, qx, qy, qz must have length 1, got 2"):
        at.Log.read(tmp_path / "tracker.txt")


def test_joints_of_a_log_beside_tool_points_stay_joints(tmp_path, q):
    header = "time,x,y,z,q1,q2"
    rows = np.column_stack([TIME, q, q[:, :1], q])
    np.savetxt(tmp_path / "a.csv", rows, delimiter=",", header=header, comments="")
    log = at.Log.read(tmp_path / "a.csv")
    assert set(log.channels) == {"q"}
    assert log.remarks == ("not read: columns x, y, z",)


def test_check_names_gaps_copies_jitter_and_what_a_log_lacks(tmp_path, q, rng):
    """A gap of 0.9 s in a log of 0.05 s steps is one, though it is below twenty of them."""
    time = np.arange(60) * 0.05 + 0.02 * rng.random(60)
    time[30:] += 0.9
    section = at.Log.of(time, q=q, q_ref=q).sections().sections[0]
    text = str(list(section.content))
    assert "1 gap in time: 0.9" in text
    assert "q equals q_ref to the last bit" in text
    assert "as stamps of arrival do" in text
    assert "lacks tau or tau_m or current" in text

"""ROS bags: joint states written by rosbags come back as a log."""

import bz2
import re
import sqlite3
import struct
import time
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.logs.joints import in_order_of

rosbags = pytest.importorskip("rosbags")
from rosbags.rosbag1 import Writer as Writer1  # noqa: E402
from rosbags.rosbag2 import StoragePlugin, Writer  # noqa: E402
from rosbags.typesys import Stores, get_typestore  # noqa: E402

NAMES = ["elbow", "base", "wrist"]
TIME = np.arange(50) / 100


def state(store, t, names, values):
    header = store.types["std_msgs/msg/Header"]
    stamp = store.types["builtin_interfaces/msg/Time"](int(t) + 100, round(1e9 * (t % 1)))
    words = {"stamp": stamp, "frame_id": ""} | (
        {"seq": 0} if "seq" in header.__dataclass_fields__ else {}
    )
    JointState = store.types["sensor_msgs/msg/JointState"]
    return JointState(
        header=header(**words), name=names, position=values, velocity=2 * values, effort=3 * values
    )


def recorded(path, plugin, values, names=NAMES):
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        topic = writer.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        for t, row in zip(TIME, values, strict=True):
            message = state(store, t, names, row)
            writer.write(
                topic, round(1e9 * t), store.serialize_cdr(message, "sensor_msgs/msg/JointState")
            )
    return path


def ros_1(path, values):
    store = get_typestore(Stores.ROS1_NOETIC)
    with Writer1(path) as writer:
        topic = writer.add_connection(
            "/joint_states", "sensor_msgs/msg/JointState", typestore=store
        )
        for t, row in zip(TIME, values, strict=True):
            message = state(store, t, NAMES, row)
            writer.write(
                topic, round(1e9 * t), store.serialize_ros1(message, "sensor_msgs/msg/JointState")
            )
    return path


@pytest.fixture
def values(rng):
    return rng.normal(size=(len(TIME), 3))


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
def test_a_ros_2_recording_is_a_log(tmp_path, values, plugin):
    log = at.Log.read(recorded(tmp_path / "run", plugin, values))
    assert log.time == pytest.approx(TIME, abs=1e-6)
    assert (log.q == values).all()
    assert (log.v == 2 * values).all()
    assert (log.tau == 3 * values).all()


def test_a_single_mcap_file_and_the_order_of_a_columns_file(tmp_path, values):
    """Drivers write joints in the order of the alphabet;
    a columns file puts them in that of the arm, and turns signs.
    """
    folder = recorded(tmp_path / "run", StoragePlugin.MCAP, values)
    (file,) = Path(folder).glob("*.mcap")
    columns = tmp_path / "arm.toml"
    columns.write_text('format = 1\nsign = [1, -1, 1]\n[columns]\nq = ["base", "elbow", "wrist"]\n')
    log = at.Log.read(file, columns)
    assert (log.q == values[:, [1, 0, 2]] * [1, -1, 1]).all()
    columns.write_text('format = 1\n[columns]\nq = ["base", "elbow", "wrst"]\n')
    with pytest.raises(
        at.FileError,
        match=r"joint 'wrst' of the columns file is not in the bag. Did you mean 'wrist'",
    ):
        at.Log.read(file, columns)


@pytest.mark.parametrize("ending", ["mcap", "csv", "csv.gz", "npz"])
def test_joints_of_a_bag_are_put_into_the_robots_order_by_their_names(tmp_path, values, ending):
    """Also after the log was written to a file of ours."""
    folder = recorded(tmp_path / "run", StoragePlugin.MCAP, values)
    log = at.Log.read(folder)
    if ending != "mcap":
        log.write(tmp_path / f"copy.{ending}")
        log = at.Log.read(tmp_path / f"copy.{ending}")
    ordered = in_order_of(log, ("base", "elbow", "wrist"))
    assert (ordered.q == values[:, [1, 0, 2]]).all()
    assert (ordered.tau == 3 * values[:, [1, 0, 2]]).all()
    assert in_order_of(ordered, ("base", "elbow", "wrist")) is ordered


def test_names_that_are_no_joints_of_the_robot_leave_the_order_as_it_is(tmp_path, values):
    log = at.Log.read(recorded(tmp_path / "run", StoragePlugin.MCAP, values))
    assert (in_order_of(log, ("joint_1", "joint_2", "joint_3")).q == values).all()


def test_a_bag_of_which_only_some_joints_are_the_robots_is_refused(tmp_path, values):
    log = at.Log.read(recorded(tmp_path / "run", StoragePlugin.MCAP, values))
    sentence = "names the joints elbow, base, wrist, but the robot has base, elbow, hand"
    with pytest.raises(at.ArmtwinError, match=sentence):
        in_order_of(log, ("base", "elbow", "hand"))


def test_the_order_of_a_columns_file_counts_more_than_names(tmp_path, values):
    (tmp_path / "columns.toml").write_text(
        'format = 1\n[columns]\nq = ["wrist", "base", "elbow"]\n'
    )
    log = at.Log.read(recorded(tmp_path / "run", StoragePlugin.MCAP, values))
    assert (in_order_of(log, ("base", "elbow", "wrist")).q == values[:, [2, 1, 0]]).all()


def test_a_ros_1_bag_is_a_log(tmp_path, values):
    assert (at.Log.read(ros_1(tmp_path / "run.bag", values)).q == values).all()


def test_what_is_no_bag_is_refused(tmp_path):
    (tmp_path / "no.mcap").write_bytes(b"hello")
    with pytest.raises(at.FileError, match="is no bag that can be read"):
        at.Log.read(tmp_path / "no.mcap")


@pytest.mark.parametrize("plugin", [StoragePlugin.MCAP, StoragePlugin.SQLITE3])
@pytest.mark.parametrize("damage", ["cut", "overwritten"])
def test_a_damaged_recording_is_refused_by_its_name(tmp_path, values, plugin, damage):
    folder = recorded(tmp_path / "run", plugin, values)
    (file,) = [p for p in Path(folder).iterdir() if p.suffix in (".mcap", ".db3")]
    whole = file.read_bytes()
    file.write_bytes(
        whole[: len(whole) // 2]
        if damage == "cut"
        else whole[:200] + bytes(range(256)) * (len(whole) // 256)
    )
    with pytest.raises(at.FileError, match=re.escape(file.name)):
        at.Log.read(file)


def test_check_shows_a_bag(tmp_path, values):
    from tests.app.test_job_commands import call

    folder = recorded(tmp_path / "run", StoragePlugin.MCAP, values)
    (file,) = Path(folder).glob("*.mcap")
    for bag in (folder, file):
        done = call(tmp_path, "check", bag)
        assert done.code == 0, done.err
        assert "a log of 50 samples, 0.49 s" in done.out


def packed_bag(folder, how, data, size):
    """A bag of ROS 1 with one chunk that says what it unpacks to."""

    def record(fields, data):
        head = b"".join(
            struct.pack("<I", len(x)) + x
            for x in (name + b"=" + value for name, value in fields.items())
        )
        return struct.pack("<I", len(head)) + head + struct.pack("<I", len(data)) + data

    path = folder / "run.bag"
    chunk = record({b"op": b"\x05", b"compression": how, b"size": struct.pack("<I", size)}, data)
    path.write_bytes(b"#ROSBAG V2.0\n" + chunk)
    return path


@pytest.mark.parametrize("said", [100, 2**31])
def test_a_chunk_that_unpacks_to_gigabytes_is_refused_at_once(said, tmp_path):
    """A gigabyte of zeros packs to 750 bytes by bzip2."""
    packer = bz2.BZ2Compressor()
    pieces = [packer.compress(bytes(1 << 20)) for _ in range(64)]
    path = packed_bag(tmp_path, b"bz2", b"".join([*pieces, packer.flush()]), said)
    begin = time.process_time()
    with pytest.raises(at.FileError, match="chunk"):
        at.Log.read(path)
    assert time.process_time() - begin < 1


@pytest.mark.parametrize("length", [2**31, 2**40, 2**63])
def test_a_record_that_is_longer_than_its_bag_is_refused(length, tmp_path, values):
    folder = recorded(tmp_path / "run", StoragePlugin.MCAP, values)
    (file,) = folder.glob("*.mcap")
    whole = file.read_bytes()
    file.write_bytes(whole[:9] + struct.pack("<Q", length) + whole[17:])  # of its first record
    with pytest.raises(at.FileError, match="a record is cut off"):
        at.Log.read(file)


HOSTILE = {
    "20 000 brackets": "[" * 20_000,
    "lists within each other": "- " * 20_000,
    "references": "a: &a [x, x]\nb: &b [*a, *a]\nc: [*b, *b]\n",
    "a megabyte": "x" * 1_000_000,
    "packed as a whole": "rosbag2_bagfile_information:\n  compression_mode: FILE\n",
}


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_metadata_of_a_recording_are_refused_at_once(name, tmp_path, values):
    folder = recorded(tmp_path / "run", StoragePlugin.MCAP, values)
    (folder / "metadata.yaml").write_text(HOSTILE[name])
    begin = time.process_time()
    with pytest.raises(at.FileError, match=r"metadata\.yaml: "):
        at.Log.read(folder)
    assert time.process_time() - begin < 0.5


def test_a_database_that_is_a_query_without_end_is_refused(tmp_path, values):
    folder = recorded(tmp_path / "run", StoragePlugin.SQLITE3, values)
    (file,) = folder.glob("*.db3")
    numbers = "with recursive n(x) as (select 1 union all select x + 1 from n)"
    endless = f"{numbers} select x as id, x as topic_id from n"
    database = sqlite3.connect(file)
    database.executescript(f"drop table messages; create view messages as {endless};")
    database.close()
    begin = time.process_time()
    with pytest.raises(at.FileError, match="its database holds 'messages', which no recording has"):
        at.Log.read(file)
    assert time.process_time() - begin < 1


def test_an_empty_bag_is_refused(tmp_path):
    for name in ("run.bag", "run.mcap", "run.db3"):
        (tmp_path / name).write_bytes(b"")
        with pytest.raises(at.FileError, match=re.escape(name)):
            at.Log.read(tmp_path / name)


@pytest.mark.parametrize("packing", ["lz4", "zstd"])
def test_a_recording_whose_chunks_are_packed_is_a_log(packing, tmp_path, values):
    """The check of the chunks leaves honest ones alone:
    an MCAP file whose chunk is packed again.
    """
    from lz4.frame import compress
    from rosbags.rosbag2.storage_mcap import zstd

    folder = recorded(tmp_path / "run", StoragePlugin.MCAP, values)
    (file,) = folder.glob("*.mcap")
    file.write_bytes(
        repacked(file.read_bytes(), packing, compress if packing == "lz4" else zstd.compress)
    )
    assert packing.encode() in file.read_bytes()
    assert (at.Log.read(file).q == values).all()


def repacked(data, packing, compress):
    """An MCAP file without its index, its chunks packed."""
    out, at_ = [data[:8]], 8
    while at_ < len(data) - 8:
        kind, size = struct.unpack_from("<BQ", data, at_)
        record = data[at_ + 9 : at_ + 9 + size]
        if kind == 6:
            letters = struct.unpack_from("<I", record, 28)[0]
            inside = record[40 + letters :]
            name = packing.encode()
            packed = compress(inside)
            record = (
                record[:28]
                + struct.pack("<I", len(name))
                + name
                + struct.pack("<Q", len(packed))
                + packed
            )
        if kind in (1, 3, 4, 6, 15):
            out.append(struct.pack("<BQ", kind, len(record)) + record)
        at_ += 9 + size
    footer = struct.pack("<BQQQI", 2, 20, 0, 0, 0)
    return b"".join([*out, footer, data[-8:]])


@pytest.mark.parametrize("together", [1, 7, 2000])
def test_messages_that_are_read_together_are_those_that_are_read_one_by_one(
    tmp_path, monkeypatch, rng, together
):
    """The order of the joints changes within the bag, once by message and once for good."""
    monkeypatch.setattr("armtwin.logs.bag_files.TOGETHER", together)
    values = rng.normal(size=(60, 3))
    orders = [[0, 1, 2] if k < 20 or k % 2 else [2, 0, 1] for k in range(60)]
    store = get_typestore(Stores.ROS2_HUMBLE)
    kind = "sensor_msgs/msg/JointState"
    with Writer(tmp_path / "bag", version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        topic = writer.add_connection("/joint_states", kind, typestore=store)
        for k, (row, order) in enumerate(zip(values, orders, strict=True)):
            names = [NAMES[j] for j in order]
            message = state(store, 0.01 * k, names, np.ascontiguousarray(row[order]))
            writer.write(topic, 10_000_000 * k, store.serialize_cdr(message, kind))
    log = at.Log.read(tmp_path / "bag")
    assert log.joint_names == tuple(NAMES)
    assert (log.q == values).all()
    assert (log.v == 2 * values).all()
    assert log.time == pytest.approx(0.01 * np.arange(60), abs=1e-9)

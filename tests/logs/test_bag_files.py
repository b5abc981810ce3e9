"""ROS bags: joint states written by rosbags come back as a log."""

import re
from pathlib import Path

import numpy as np
import pytest

import armtwin as at

rosbags = pytest.importorskip("rosbags")
from rosbags.rosbag1 import Writer as Writer1  # noqa: E402
from rosbags.rosbag2 import StoragePlugin, Writer  # noqa: E402
from rosbags.typesys import Stores, get_typestore  # noqa: E402

NAMES = ["elbow", "base", "wrist"]
TIME = np.arange(50) / 100


def state(store, t, names, values):
    header = store.types["std_msgs/msg/Header"]
    stamp = store.types["builtin_interfaces/msg/Time"](int(t) + 100, round(1e9 * (t % 1)))
    words = {"stamp": stamp, "frame_id": ""} | ({"seq": 0} if "seq" in header.__dataclass_fields__ else {})
    JointState = store.types["sensor_msgs/msg/JointState"]
    return JointState(header=header(**words), name=names, position=values, velocity=2 * values, effort=3 * values)


def recorded(path, plugin, values):
    store = get_typestore(Stores.ROS2_HUMBLE)
    with Writer(path, version=9, storage_plugin=plugin) as writer:
        topic = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        for t, row in zip(TIME, values, strict=True):
            message = state(store, t, NAMES, row)
            writer.write(topic, round(1e9 * t), store.serialize_cdr(message, "sensor_msgs/msg/JointState"))
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
    """Drivers write joints in the order of the alphabet; a columns file puts them in that of the arm, and turns signs."""
    folder = recorded(tmp_path / "run", StoragePlugin.MCAP, values)
    (file,) = Path(folder).glob("*.mcap")
    columns = tmp_path / "arm.toml"
    columns.write_text('format = 1\nsign = [1, -1, 1]\n[columns]\nq = ["base", "elbow", "wrist"]\n')
    log = at.Log.read(file, columns)
    assert (log.q == values[:, [1, 0, 2]] * [1, -1, 1]).all()
    columns.write_text('format = 1\n[columns]\nq = ["base", "elbow", "wrst"]\n')
    with pytest.raises(at.FileError, match=r"joint 'wrst' of the columns file is not in the bag. Did you mean 'wrist'"):
        at.Log.read(file, columns)


def test_a_ros_1_bag_is_a_log(tmp_path, values):
    store = get_typestore(Stores.ROS1_NOETIC)
    with Writer1(tmp_path / "run.bag") as writer:
        topic = writer.add_connection("/joint_states", "sensor_msgs/msg/JointState", typestore=store)
        for t, row in zip(TIME, values, strict=True):
            message = state(store, t, NAMES, row)
            writer.write(topic, round(1e9 * t), store.serialize_ros1(message, "sensor_msgs/msg/JointState"))
    assert (at.Log.read(tmp_path / "run.bag").q == values).all()


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
        whole[: len(whole) // 2] if damage == "cut" else whole[:200] + bytes(range(256)) * (len(whole) // 256)
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

"""Logs from ROS bags: JointState messages.

ROS 1 writes .bag, ROS 2 .mcap or .db3, or a folder of these. Needs the extra `logs` (pip install
armtwin[logs]). Positions, speeds and efforts become q, v and tau. The joints come in the order of
the first message with their names, or in the order that a columns file gives for q, which then
counts more than names.
"""

from __future__ import annotations

import os
import struct
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import FileError, did_you_mean, shorten
from armtwin.logs.bag_bounds import SUFFIXES, check_bag, damage_error, zstd_library
from armtwin.logs.columns import Columns
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats

MOST_MESSAGES = 5_000_000  # joint states of a bag
# what Python raises in the readers of bags where a file is cut off, overwritten or made up
DAMAGE = (
    OSError,
    ValueError,
    TypeError,
    AttributeError,
    LookupError,
    ArithmeticError,
    AssertionError,
    EOFError,
    RuntimeError,
    MemoryError,
    SyntaxError,
    struct.error,
)
_FIELDS = {"position": "q", "velocity": "v", "effort": "tau"}


def is_bag(path: Path) -> bool:
    """Whether a path is that of a ROS bag."""
    if path.suffix in SUFFIXES:
        return True
    return os.path.isdir(path) and os.path.isfile(path / "metadata.yaml")


def read_bag(path: Path, columns: Columns) -> Recording:
    """Read the joint states of a bag; a bag without them is refused with what it holds."""
    stamps, messages = _messages(path)
    held = list(messages[0].name)
    ordered = _order_joints(columns)
    names = held if ordered is None else ordered
    _check_names(path, names, held)
    whole = [set(names) <= set(message.name) for message in messages]
    states = list(compress(messages, whole))
    time = np.array(list(compress(stamps, whole)))
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        sentence = f"time must increase, got {time[late[0] + 1]}"
        raise FileError(path, f"message {late[0] + 2}: {sentence}")
    channels = {}
    for field, channel in _FIELDS.items():
        table = _table(path, states, field, names)
        if table is not None:
            channels[channel] = table
    if "q" not in channels:
        raise FileError(path, "its JointState messages hold no positions")
    return Recording(time - time[0], channels, joint_names=tuple(names) if ordered is None else ())


def _order_joints(columns: Columns) -> list[str] | None:
    """The joints in the order that a columns file gives for q; None where it gives none."""
    given = columns.columns.get("q")
    return None if given is None or isinstance(given, str) else list(given)


def _check_names(path: Path, names: list[str], held: list[str]) -> None:
    """Refuse names of joints that the first message does not hold, or that are there twice."""
    for name in names:
        if name not in held:
            sentence = f"joint '{name}' of the columns file is not in the bag"
            raise FileError(path, f"{sentence}. {did_you_mean(name, held)}")
        if names.count(name) > 1:
            sentence = f"joint '{shorten(name, 60)}' must be named once in a message"
            raise FileError(path, sentence)


def _table(path: Path, states: list[Any], field: str, names: list[str]) -> Floats | None:
    """One field of all messages by joint, (m, n); None where a message leaves it out."""
    samples: list[NDArray[Any]] = []
    for state in states:
        values = np.asarray(getattr(state, field))
        order = list(state.name)
        if len(values) != len(order):
            return None
        samples.append(values[[order.index(name) for name in names]])
    table = np.array(samples, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        message, joint = bad[0]
        sentence = f"message {message + 1}: {field} of {names[joint]} must be finite"
        raise FileError(path, sentence)
    return table


def _messages(path: Path) -> tuple[list[float], list[Any]]:
    """Times [s] and JointState messages of the topic that has most of them."""
    try:
        import rosbags.highlevel  # noqa: F401
    except ImportError:
        sentence = "bags need the extra 'logs': pip install armtwin[logs]"
        raise FileError(path, sentence) from None
    check_bag(path)
    try:
        stamps, messages = _unpack_messages(path)
    except _errors_of_readers() as error:
        raise damage_error(path, str(error)) from None
    if len(messages) < 2:
        raise FileError(path, f"holds {len(messages)} joint states; a log needs two")
    return stamps, messages


def _unpack_messages(path: Path) -> tuple[list[float], list[Any]]:
    """The messages as the reader of bags gives them."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    stamps: list[float] = []
    messages: list[Any] = []
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        chosen = _joint_states(path, reader.connections)
        for connection, received, data in reader.messages(connections=chosen):
            message: Any = reader.deserialize(data, connection.msgtype)
            stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
            stamps.append(stamp if stamp > 0 else 1e-9 * received)
            messages.append(message)
            if len(messages) > MOST_MESSAGES:
                raise FileError(path, f"must hold at most {MOST_MESSAGES} joint states")
    return stamps, messages


def _joint_states(path: Path, connections: list[Any]) -> list[Any]:
    """The connections of the topic that has most JointState messages."""
    states = [c for c in connections if c.msgtype == "sensor_msgs/msg/JointState"]
    if not states:
        kinds = sorted({c.msgtype for c in connections})
        held = ", ".join(kinds[:6]) or "nothing"
        raise FileError(path, f"holds no sensor_msgs/JointState, but {held}")
    topic = max(states, key=lambda c: c.msgcount).topic
    return [c for c in states if c.topic == topic]


def _errors_of_readers() -> tuple[type[Exception], ...]:
    """What the readers of bags and the libraries under them raise, also of their own."""
    import apsw
    from rosbags import rosbag1, rosbag2
    from rosbags.highlevel import AnyReaderError
    from rosbags.serde import SerdeError
    from rosbags.typesys import TypesysError

    own = AnyReaderError, rosbag1.ReaderError, rosbag2.ReaderError, SerdeError, TypesysError
    return (*own, apsw.Error, zstd_library().ZstdError, *DAMAGE)

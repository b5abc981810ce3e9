"""Logs from ROS bags: JointState messages of ROS 1 (.bag) and ROS 2 (.mcap, .db3, or the folder of a recording).

Needs the extra `logs` (pip install armtwin[logs]). Positions, speeds and efforts become q, v and tau; the joints come
in the order of the first message, or in that of the names which a columns file gives for q.
"""

from __future__ import annotations

import os
import struct
from itertools import compress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import ArmtwinError, FileError, did_you_mean, shortened
from armtwin.logs.bag_bounds import SUFFIXES, check_bag, damaged, zstd_library
from armtwin.logs.columns import Columns
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats

MOST_MESSAGES = 5_000_000
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


def read_bag(path: Path, columns: Columns) -> Log:
    """Read the joint states of a bag; a bag without them is refused with what it holds."""
    stamps, messages = _messages(path)
    names = _joints(path, columns, list(messages[0].name))
    whole = [set(names) <= set(message.name) for message in messages]
    states = list(compress(messages, whole))
    time = np.array(list(compress(stamps, whole)))
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        told = f"time must increase, got {time[late[0] + 1]}"
        raise FileError(str(path), [f"message {late[0] + 2}: {told}"])
    channels = {}
    try:
        for field, channel in _FIELDS.items():
            table = _table(path, states, field, names)
            if table is not None:
                channels[channel] = columns.to_si(channel, table)
        if "q" not in channels:
            raise FileError(str(path), ["its JointState messages hold no positions"])
        return Log.of(time - time[0], (), **channels)
    except FileError:
        raise
    except ArmtwinError as error:
        raise FileError(str(path), [str(error)]) from None


def _joints(path: Path, columns: Columns, held: list[str]) -> list[str]:
    """The joints in the order that is wanted: that of the columns file, or of the first message."""
    wanted = columns.columns.get("q")
    names = list(wanted) if wanted is not None and not isinstance(wanted, str) else held
    missing = next((name for name in names if name not in held), None)
    if missing is not None:
        told = f"joint '{missing}' of the columns file is not in the bag"
        raise FileError(str(path), [f"{told}. {did_you_mean(missing, held)}"])
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        told = f"joint '{shortened(twice, 60)}' must be named once in a message"
        raise FileError(str(path), [told])
    return names


def _table(path: Path, states: list[Any], field: str, names: list[str]) -> Floats | None:
    """One field of all messages by joint, (m, n); None where a message leaves it out."""
    rows: list[NDArray[Any]] = []
    for state in states:
        values, order = np.asarray(getattr(state, field)), list(state.name)
        if len(values) != len(order):
            return None
        rows.append(values[[order.index(name) for name in names]])
    table = np.array(rows, dtype=np.float64)
    bad = np.argwhere(~np.isfinite(table))
    if len(bad):
        message, joint = bad[0]
        told = f"message {message + 1}: {field} of {names[joint]} must be finite"
        raise FileError(str(path), [told])
    return table


def _messages(path: Path) -> tuple[list[float], list[Any]]:
    """Times [s] and JointState messages of the topic that has most of them."""
    try:
        import rosbags.highlevel  # noqa: F401
    except ImportError:
        raise ArmtwinError(
            f"{path}: bags need the extra 'logs': pip install armtwin[logs]"
        ) from None
    check_bag(path)
    try:
        stamps, messages = _unpacked(path)
    except _errors_of_readers() as error:
        raise damaged(path, str(error)) from None
    if len(messages) < 2:
        raise FileError(str(path), [f"holds {len(messages)} joint states; a log needs two"])
    return stamps, messages


def _unpacked(path: Path) -> tuple[list[float], list[Any]]:
    """The messages as the reader of bags gives them."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    stamps: list[float] = []
    messages: list[Any] = []
    with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
        states = [c for c in reader.connections if c.msgtype == "sensor_msgs/msg/JointState"]
        if not states:
            held = ", ".join(sorted({c.msgtype for c in reader.connections})[:6]) or "nothing"
            raise FileError(str(path), [f"holds no sensor_msgs/JointState, but {held}"])
        topic = max(states, key=lambda c: c.msgcount).topic
        chosen = [c for c in states if c.topic == topic]
        for connection, received, data in reader.messages(connections=chosen):
            message: Any = reader.deserialize(data, connection.msgtype)
            stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
            stamps.append(stamp if stamp > 0 else 1e-9 * received)
            messages.append(message)
            if len(messages) > MOST_MESSAGES:
                raise FileError(str(path), [f"must hold at most {MOST_MESSAGES} joint states"])
    return stamps, messages


def _errors_of_readers() -> tuple[type[Exception], ...]:
    """What the readers of bags and the libraries under them raise, also of their own."""
    import apsw
    from rosbags import rosbag1, rosbag2
    from rosbags.highlevel import AnyReaderError
    from rosbags.serde import SerdeError
    from rosbags.typesys import TypesysError

    own = AnyReaderError, rosbag1.ReaderError, rosbag2.ReaderError, SerdeError, TypesysError
    return (*own, apsw.Error, zstd_library().ZstdError, *DAMAGE)

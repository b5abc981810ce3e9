"""Logs from ROS bags: JointState messages of ROS 1 (.bag) and ROS 2 (.mcap, .db3, or the folder of a recording).

Needs the extra `logs` (pip install armtwin[logs]). Positions, speeds and efforts become q, v and tau; the joints come
in the order of the first message, or in that of the names which a columns file gives for q.
"""

from __future__ import annotations

import sqlite3
import struct
from pathlib import Path
from typing import Any

import numpy as np

from armtwin.errors import ArmtwinError, FileError, did_you_mean
from armtwin.logs.columns import Columns
from armtwin.logs.log import Log

SUFFIXES = (".bag", ".mcap", ".db3")
# what the readers of bags raise where a file is cut off or overwritten
DAMAGE = (OSError, ValueError, LookupError, AssertionError, EOFError, struct.error, sqlite3.Error)
_FIELDS = {"position": "q", "velocity": "v", "effort": "tau"}


def is_bag(path: Path) -> bool:
    """Whether a path is that of a ROS bag."""
    return path.suffix in SUFFIXES or (path.is_dir() and (path / "metadata.yaml").is_file())


def read_bag(path: Path, columns: Columns) -> Log:
    """Read the joint states of a bag; a bag without them is refused with what it holds."""
    stamps, messages = _messages(path)
    wanted = columns.columns.get("q")
    names = list(wanted) if wanted is not None and not isinstance(wanted, str) else list(messages[0].name)
    missing = next((name for name in names if name not in messages[0].name), None)
    if missing is not None:
        known = did_you_mean(missing, list(messages[0].name))
        raise FileError(str(path), [f"joint '{missing}' of the columns file is not in the bag. {known}"])
    rows = [(t, m) for t, m in zip(stamps, messages, strict=True) if all(name in m.name for name in names)]
    time = np.array([t for t, _ in rows])
    late = np.flatnonzero(np.diff(time) <= 0)
    if len(late):
        raise FileError(str(path), [f"message {late[0] + 2}: time must increase, got {time[late[0] + 1]}"])
    places = [[list(m.name).index(name) for name in names] for _, m in rows]
    channels = {}
    for field, channel in _FIELDS.items():
        values = [getattr(m, field) for _, m in rows]
        if all(len(x) == len(m.name) for x, (_, m) in zip(values, rows, strict=True)):
            table = np.array([np.asarray(x)[k] for x, k in zip(values, places, strict=True)], dtype=np.float64)
            bad = np.argwhere(~np.isfinite(table))
            if len(bad):
                raise FileError(str(path), [f"message {bad[0][0] + 1}: {field} of {names[bad[0][1]]} must be finite"])
            channels[channel] = columns.to_si(channel, table)
    if "q" not in channels:
        raise FileError(str(path), ["its JointState messages hold no positions"])
    return Log.of(time - time[0], (), **channels)


def _messages(path: Path) -> tuple[list[float], list[Any]]:
    """Times [s] and JointState messages of the topic that has most of them."""
    try:
        from rosbags.highlevel import AnyReader, AnyReaderError
        from rosbags.typesys import Stores, get_typestore
    except ImportError:
        raise ArmtwinError(f"{path}: bags need the extra 'logs': pip install armtwin[logs]") from None
    try:
        with AnyReader([path], default_typestore=get_typestore(Stores.ROS2_HUMBLE)) as reader:
            states = [c for c in reader.connections if c.msgtype == "sensor_msgs/msg/JointState"]
            if not states:
                held = ", ".join(sorted({c.msgtype for c in reader.connections})[:6]) or "nothing"
                raise FileError(str(path), [f"holds no sensor_msgs/JointState, but {held}"])
            topic = max(states, key=lambda c: c.msgcount).topic
            chosen = [c for c in states if c.topic == topic]
            stamps, messages = [], []
            for connection, received, data in reader.messages(connections=chosen):
                message: Any = reader.deserialize(data, connection.msgtype)
                stamp = message.header.stamp.sec + 1e-9 * message.header.stamp.nanosec
                stamps.append(stamp if stamp > 0 else 1e-9 * received)
                messages.append(message)
    except (AnyReaderError, *DAMAGE) as error:
        raise FileError(str(path), [f"is no bag that can be read ({str(error)[:120]})"]) from None
    if len(messages) < 2:
        raise FileError(str(path), [f"holds {len(messages)} joint states on {topic}; a log needs two"])
    return stamps, messages

"""Logs from ROS bags: joint states, and reference and output of a trajectory controller.

ROS 1 writes .bag, ROS 2 .mcap or .db3, or a folder of these. Needs the extra `logs` (pip install
armtwin[logs]). Positions, speeds and efforts become q, v and tau (or current), the controller's
reference q_ref, v_ref, a_ref. The joints come in the order of the first message with their names,
or in the order that a columns file gives for q, which then counts more than names.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Container, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import reduce
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import FileError, did_you_mean, shorten
from armtwin.files import opening
from armtwin.logs.bag_bounds import check_bag, damage_error, ending_of, zstd_library
from armtwin.logs.bag_layout import MessageLayout
from armtwin.logs.columns import Columns
from armtwin.logs.csv_reading import unread_remark
from armtwin.logs.formats.signals import Signal, combine, describe_lateness, lateness
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Floats

if TYPE_CHECKING:
    from rosbags.highlevel import AnyReader

MOST_MESSAGES = 5_000_000  # joint states of a bag
MOST_STREAMS = 100  # sets of joints of a bag
TOGETHER = 2000  # messages that are read together
# what Python raises in the readers of bags where a file is cut off, overwritten or made up
DAMAGE = (*opening.DAMAGE, AttributeError, ArithmeticError, AssertionError)
STATE = "sensor_msgs/msg/JointState"
CONTROLLER = "control_msgs/msg/JointTrajectoryControllerState"
# where a message holds each signal: its list, of a controller the list in one of its points
STATE_FIELDS = {"q": "position", "v": "velocity", "effort": "effort"}
POINT_FIELDS = {"q": "positions", "v": "velocities", "a": "accelerations", "effort": "effort"}
# the points of a controller's message, by their newer and older names, and the signals' endings
POINTS = {"reference": "_ref", "desired": "_ref", "feedback": "", "actual": "", "output": "_output"}
COMMANDED = {"q_ref": "q_ref", "v_ref": "v_ref", "a_ref": "a_ref", "effort_output": "tau_output"}
# points of the controller's message in ROS 2 Humble, and before it; their bags lack definitions
FORMS = (("reference", "feedback", "error", "output", "desired", "actual"),
         ("desired", "actual", "error"))  # fmt: skip
UR_JOINTS = ("shoulder_pan", "shoulder_lift", "elbow", "wrist_1", "wrist_2", "wrist_3")
GRIPPER = 3  # joints of a topic that is no second arm
# an arm of six joints needs more at its shoulder to carry itself: 3 kg at 0.2 m are 6 N m [N m]
LEAST_SHOULDER = 5.0
OTHER_CLOCK = 0.5  # difference of two topics' clocks beyond the delays of a network [s]
APART = 0.1  # angle between two topics of the same joints from which on they are two robots [rad]


class _Message(Protocol):
    """A message of one of these topics."""

    header: Any

    def __getattr__(self, name: str) -> Any: ...


class _Topic:
    """The messages of a topic as columns of numbers, joints in the order of the first message."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind
        self.joints: list[str] = []
        self.stamps: array[int] = array("q")
        self.received: array[int] = array("q")
        self.columns: dict[str, array[float]] = {}
        self.order: dict[tuple[str, ...], list[int]] = {}
        self.empty: list[str] = []

    def add(self, received: int, message: _Message, wanted: list[str] | None) -> None:
        """Take a message, unless it lacks a joint."""
        names = _names_in(message, self.kind)
        if not self.accepts(names, wanted):
            return
        order = self.order[tuple(names)]
        stamp = message.header.stamp
        self.stamps.append(1_000_000_000 * int(stamp.sec) + int(stamp.nanosec))
        self.received.append(received)
        for signal, path in _signal_paths(message, self.kind):
            values: Any = reduce(getattr, path, message)
            if len(values) == len(names):
                column = self.columns.setdefault(signal, array("d"))
                column.frombytes(np.asarray(values, dtype=np.float64)[order].tobytes())

    def add_rows(self, received: list[int], layout: MessageLayout, rows: NDArray[np.uint8]) -> None:
        """Take messages of one layout, a row of bytes each."""
        order = self.order[layout.names]
        self.stamps.extend(layout.stamps(rows).tolist())
        self.received.extend(received)
        for signal, values in layout.lists(rows):
            column = self.columns.setdefault(signal, array("d"))
            column.frombytes(values[:, order].tobytes())

    def accepts(self, names: list[str], wanted: list[str] | None) -> bool:
        """Whether messages with these joints have all that are wanted; the first ones say which."""
        if not self.joints:
            self.joints = wanted if wanted and set(wanted) <= set(names) else names
        key = tuple(names)
        if key not in self.order:
            held = self.joints if set(self.joints) <= set(names) else []
            self.order[key] = [names.index(joint) for joint in held]
        return bool(self.order[key])

    def table(self, signal: str, joints: list[str]) -> Floats | None:
        """A signal of some joints, (m, n); None where a message leaves it out, or all do one."""
        column = self.columns.get(signal, array("d"))
        if not column or len(column) != len(self.stamps) * len(self.joints):
            return None
        table: Floats = np.frombuffer(column).reshape(-1, len(self.joints))
        if joints != self.joints:  # a copy in another order
            table = table[:, [self.joints.index(joint) for joint in joints]]
        if np.isnan(table).all(axis=0).any():
            self.empty.append(f"{STATE_FIELDS.get(signal, signal)} of {self.name} (not a number)")
            return None
        return np.ascontiguousarray(table)

    def signal(self, path: Path, signal: str, joints: list[str], time: Floats) -> Signal | None:
        """A signal at its times, without messages at the ends that do not know it yet, or no more.

        Refused where it is not finite in between.
        """
        table = self.table(signal, joints)
        if table is None:
            return None
        finite = np.isfinite(table)
        known = np.flatnonzero(finite.all(axis=1))
        kept = slice(known[0], known[-1] + 1) if len(known) else slice(None)
        bad = np.argwhere(~finite[kept])
        if len(bad):
            row, joint = bad[0]
            field = STATE_FIELDS.get(signal, signal)
            number = row + 1 + (kept.start or 0)
            raise FileError(path, f"message {number}: {field} of {joints[joint]} must be finite")
        return Signal(table[kept], time[kept])

    def times(self) -> NDArray[np.int64]:
        """Stamps of the messages, or where there are none the times of arrival, (m,) [ns]."""
        stamps = np.array(self.stamps, dtype=np.int64)
        return stamps if (stamps > 0).all() else np.array(self.received, dtype=np.int64)

    def label(self, others: Iterable[_Topic]) -> str:
        """Its name, with its joints where it is of another robot or shares its name."""
        if self in others or self.name in [other.name for other in others]:
            return f"{self.name} ({', '.join(self.joints)})"
        return self.name

    def ahead(self, stamps: NDArray[np.int64]) -> float:
        """By how much the clock of arrivals is ahead of the stamps [s]."""
        return 1e-9 * float(np.median(np.array(self.received, dtype=np.int64) - stamps))


def _names_in(message: _Message, kind: str) -> list[str]:
    """The joints of a message."""
    return list(message.name if kind == STATE else message.joint_names)


def _signal_paths(message: _Message, kind: str) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Where a message holds the list of numbers of each signal."""
    if kind == STATE:
        for signal, field in STATE_FIELDS.items():
            yield signal, (field,)
        return
    seen = set()
    for point, ending in POINTS.items():
        held = getattr(message, point, None)
        if held is None or ending in seen or not len(held.positions) + len(held.effort):
            continue
        seen.add(ending)
        for signal, field in POINT_FIELDS.items():
            yield f"{signal}{ending}", (point, field)


class _Stream:
    """Takes the messages of a topic, those of one layout together."""

    def __init__(self, topic: _Topic, reader: AnyReader, wanted: list[str] | None) -> None:
        self.topic, self.reader, self.wanted = topic, reader, wanted
        self.layout: MessageLayout | None = None
        self.received: list[int] = []
        self.pending = bytearray()
        self.size = 0

    def add(self, received: int, data: bytes) -> None:
        """Take a message."""
        if len(data) != self.size or len(self.received) >= TOGETHER:
            self.flush()
            self.size = len(data)
        self.received.append(received)
        self.pending += data

    def flush(self) -> None:
        """Give the messages that wait to the topic, together where they have the known layout."""
        if not self.received:
            return
        rows = np.frombuffer(bytes(self.pending), dtype=np.uint8).reshape(-1, self.size)
        if self.layout is None or not self.layout.holds(rows):
            self.layout = self._learn(bytes(rows[0]))
        if self.layout is not None and self.layout.holds(rows):
            self.topic.add_rows(self.received, self.layout, rows)
        else:
            for received, row in zip(self.received, rows, strict=True):
                self.topic.add(received, self._decode(row.tobytes()), self.wanted)
        self.received, self.pending = [], bytearray()

    def _decode(self, data: bytes) -> Any:
        return self.reader.deserialize(data, self.topic.kind)

    def names(self, data: bytes) -> list[str]:
        """The joints of a message."""
        return _names_in(self._decode(data), self.topic.kind)

    def _learn(self, data: bytes) -> MessageLayout | None:
        """The layout of a message; None of one whose place of numbers cannot be told."""
        message = self._decode(data)
        names = _names_in(message, self.topic.kind)
        if not self.topic.accepts(names, self.wanted):
            return None
        store = self.reader.typestore
        encode = store.serialize_cdr if self.reader.is2 else store.serialize_ros1
        try:
            kind = self.topic.kind
            layout = MessageLayout(
                message, data, lambda one: bytes(encode(one, kind)), tuple(names)
            )
            for signal, path in _signal_paths(message, kind):
                if len(reduce(getattr, path, message)) == len(names):
                    layout.add(signal, path)
        except _errors_of_readers():
            return None
        return layout


def read_bag(path: Path, columns: Columns) -> Recording:
    """Read joint states and states of the controller; a bag without any is refused."""
    ordered = _order_joints(columns)
    topics, unread = _topics(path, ordered)
    main, controller = _choose(path, topics, ordered)
    names = main.joints if ordered is None else ordered
    _check_names(path, names, main.joints)
    remarks: list[str] = []
    if controller is not None:
        left = [name for name in names if name not in controller.joints]
        names = [name for name in names if name in controller.joints]
        remarks += unread_remark(f"joints that {controller.name} lacks:", left)
    stamps = main.times()
    time = 1e-9 * (stamps - stamps[0])
    taken = {channel: main.signal(path, channel, names, time) for channel in ("q", "v")}
    if taken["q"] is None:
        raise FileError(path, "its JointState messages hold no positions")
    effort = main.signal(path, "effort", names, time)
    if effort is not None and effort.values.any():
        taken[_effort_channel(names, effort.values, columns, remarks)] = effort
    if controller is not None:
        own = time
        if controller is not main:
            own = _aligned(main, controller, names, remarks)
        for signal, channel in COMMANDED.items():
            taken[channel] = controller.signal(path, signal, names, own)
    found = {channel: [signal] for channel, signal in taken.items() if signal is not None}
    read = [topic for topic in topics if topic in (main, controller)]
    remarks += unread_remark(
        "signals", [*dict.fromkeys(name for topic in read for name in topic.empty)]
    )
    others = [topic.label(read) for topic in topics if topic not in read]
    recording = combine(path, found, columns, [*remarks, *unread_remark("topics", others + unread)])
    return replace(recording, joint_names=tuple(names) if ordered is None else ())


def _choose(
    path: Path, topics: list[_Topic], ordered: list[str] | None
) -> tuple[_Topic, _Topic | None]:
    """The topic of the positions, and that of the controller of the same joints or None."""
    by_length = sorted(topics, key=lambda one: (len(one.joints) < GRIPPER, -len(one.stamps)))
    states = [topic for topic in by_length if topic.kind == STATE]
    controllers = [topic for topic in by_length if topic.kind == CONTROLLER]
    if ordered is not None:
        states = [topic for topic in states if set(ordered) <= set(topic.joints)] or states
    main = (states or controllers)[0]
    for topic in states[1:]:
        if ordered is None and _is_other_robot(main, topic):
            raise _two_robots(path, "joint states", main, topic)
    wanted = set(ordered or ())
    same = [one for one in controllers if wanted <= set(one.joints) and _is_part(one, main)]
    same.sort(key=lambda topic: -len(topic.joints))
    for topic in same[1:]:
        if set(same[0].joints).isdisjoint(topic.joints) and len(topic.joints) >= GRIPPER:
            raise _two_robots(path, "controllers", same[0], topic)
    return main, same[0] if same else None


def _two_robots(path: Path, kind: str, *topics: _Topic) -> FileError:
    held = ", ".join(one.label(topics) for one in topics)
    remedy = "name the joints of one as columns.q of a columns file, or cut the bag"
    return FileError(path, f"holds {kind} of two robots: {held}; {remedy}")


def _is_part(one: _Topic, other: _Topic) -> bool:
    """Whether one topic has all joints of another, or the other way round."""
    return set(one.joints) <= set(other.joints) or set(other.joints) <= set(one.joints)


def _is_other_robot(main: _Topic, topic: _Topic) -> bool:
    """Whether a topic is of a second arm: other joints, or the same that are elsewhere."""
    if set(main.joints).isdisjoint(topic.joints):
        return len(topic.joints) >= GRIPPER or 2 * len(topic.joints) >= len(main.joints)
    if set(main.joints) != set(topic.joints):
        return False
    one, other = (some.table("q", main.joints) for some in (main, topic))
    if one is None or other is None:
        return False
    return bool(np.abs(one[0] - other[0]).max() > APART)


def _effort_channel(joints: list[str], effort: Floats, columns: Columns, remarks: list[str]) -> str:
    """The channel of efforts: as the columns file says, by the joints' names, else torque."""
    for channel in ("tau", "tau_m", "current"):
        if columns.columns.get(channel) == "effort":
            return channel
    remedy = 'say current = "effort" under [columns] of a columns file'
    if all(joint.removesuffix("_joint").endswith(UR_JOINTS) for joint in joints):
        remarks.append(
            "effort of Universal Robots' drivers is in A, not in N m: taken as current; where one "
            'publishes torques, say tau = "effort" under [columns] of a columns file'
        )
        return "current"
    most = float(np.abs(effort).max())
    if len(joints) >= len(UR_JOINTS) and most < LEAST_SHOULDER:
        remarks.append(
            f"effort reaches {most:.3g} only, where an arm of {len(joints)} joints needs more N m "
            f'for its weight: amperes? If so, {remedy}, else tau = "effort"; kept as tau_effort'
        )
        return "tau_effort"
    remarks.append(
        f"effort is taken as torque [N m], as JointState says; if the driver writes A, {remedy}"
    )
    return "tau"


def _aligned(main: _Topic, topic: _Topic, joints: list[str], remarks: list[str]) -> Floats:
    """Times of a controller's messages by the clock of the joint states, (k,) [s]."""
    stamps, own = main.times(), topic.times()
    time = 1e-9 * (own - stamps[0])
    apart = topic.ahead(own) - main.ahead(stamps)
    if abs(apart) > OTHER_CLOCK:
        time = time + apart
        remarks.append(
            f"{topic.name} has another clock than {main.name}: moved by {apart:.6g} s, by the "
            "times of arrival"
        )
    q, seen = (one.table("q", joints) for one in (main, topic))
    if q is None or seen is None:
        return time
    late = lateness(1e-9 * (stamps - stamps[0]), q, time, seen)
    if late:
        said = describe_lateness(topic.name, late, main.name, "the positions that both have")
        remarks.append(f"{said}: moved")
    return time - late


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


def _topics(path: Path, wanted: list[str] | None) -> tuple[list[_Topic], list[str]]:
    """The topics that show joints, and the names of all others."""
    try:
        import rosbags.highlevel  # noqa: F401
    except ImportError:
        sentence = "bags need the extra 'logs': pip install armtwin[logs]"
        raise FileError(path, sentence) from None
    check_bag(path)
    try:
        topics, unread = _unpack_messages(path, wanted)
    except _errors_of_readers() as error:
        raise damage_error(path, str(error)) from None
    held = [topic for topic in topics if len(topic.stamps) > 1]
    if not held:
        count = sum(len(topic.stamps) for topic in topics)
        raise FileError(path, f"holds {count} joint states; a log needs two")
    return held, unread


@contextmanager
def _by_ending(path: Path) -> Iterator[Path]:
    """A bag under a name with the ending by which its reader knows what it is."""
    if os.path.isdir(path) or path.suffix == ending_of(path):
        yield path
        return
    with TemporaryDirectory() as folder:
        named = Path(folder) / f"bag{ending_of(path)}"
        named.symlink_to(path.resolve())
        yield named


def _unpack_messages(path: Path, wanted: list[str] | None) -> tuple[list[_Topic], list[str]]:
    """The messages as the reader of bags gives them."""
    from rosbags.highlevel import AnyReader
    from rosbags.typesys import Stores, get_typestore

    streams: list[_Stream] = []
    places: dict[tuple[str, int], _Stream] = {}  # by topic and length
    count = 0
    store = get_typestore(Stores.ROS2_HUMBLE)
    with _by_ending(path) as named, AnyReader([named], default_typestore=store) as reader:
        _define_controller(reader)
        chosen, unread = _split_connections(path, reader.connections, reader.typestore.fielddefs)
        for connection, received, data in reader.messages(connections=chosen):
            key = connection.topic, len(data)
            if key not in places:
                stream = _Stream(_Topic(connection.topic, connection.msgtype), reader, wanted)
                places[key] = _join(streams, stream, data)
            if len(streams) > MOST_STREAMS:
                raise FileError(path, f"must hold joint states of at most {MOST_STREAMS} nodes")
            places[key].add(received, data)
            count += 1
            if count > MOST_MESSAGES:
                raise FileError(path, f"must hold at most {MOST_MESSAGES} joint states")
        for stream in streams:
            stream.flush()
    return [stream.topic for stream in streams], unread


def _join(streams: list[_Stream], new: _Stream, data: bytes) -> _Stream:
    """The stream for messages as this one: several nodes may write joints of theirs to a topic."""
    names = new.names(data)
    for stream in streams:
        known = stream.topic
        if known.name == new.topic.name and not set(names).isdisjoint(known.joints):
            return stream
    new.topic.accepts(names, new.wanted)
    streams.append(new)
    return new


def _define_controller(reader: AnyReader) -> None:
    """Give the reader the definition of a controller's messages, where the bag has none."""
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    held = [one for one in reader.connections if one.msgtype == CONTROLLER]
    if not held or CONTROLLER in reader.typestore.fielddefs:
        return
    first = next(reader.messages(connections=held), None)
    if first is None:
        return
    data = first[2]
    point, other = "trajectory_msgs/JointTrajectoryPoint", "MultiDOFJointTrajectoryPoint multi_dof"
    for words in FORMS:
        text = "std_msgs/Header header\nstring[] joint_names\n"
        text += "".join(f"{point} {word}\n" for word in words)
        more = "".join(f"trajectory_msgs/{other}_{word}\n" for word in words)
        for whole in (f"{text}string[] multi_dof_joint_names\n{more}", text):
            types = get_types_from_msg(whole, CONTROLLER)
            store = get_typestore(Stores.ROS2_HUMBLE)
            store.register(types)
            with suppress(*_errors_of_readers()):
                message = store.deserialize_cdr(data, CONTROLLER)
                if len(store.serialize_cdr(message, CONTROLLER)) == len(data):
                    reader.typestore.register(types)
                    return


def _split_connections(
    path: Path, connections: list[Any], known: Container[str]
) -> tuple[list[Any], list[str]]:
    """Connections with joint states or states of a controller, and the topics of all others."""
    chosen = []
    for connection in connections:
        if connection.msgtype in (STATE, CONTROLLER) and connection.msgtype in known:
            chosen.append(connection)
    if not chosen:
        kinds = sorted({c.msgtype for c in connections})
        held = ", ".join(kinds[:6]) or "nothing"
        raise FileError(path, f"holds no sensor_msgs/JointState, but {held}")
    read = {connection.topic for connection in chosen}
    return chosen, sorted({c.topic for c in connections} - read)


def _errors_of_readers() -> tuple[type[Exception], ...]:
    """What the readers of bags and the libraries under them raise, also of their own."""
    import apsw
    from rosbags import rosbag1, rosbag2
    from rosbags.highlevel import AnyReaderError
    from rosbags.serde import SerdeError
    from rosbags.typesys import TypesysError

    own = AnyReaderError, rosbag1.ReaderError, rosbag2.ReaderError, SerdeError, TypesysError
    return (*own, apsw.Error, zstd_library().ZstdError, *DAMAGE)

"""Tables as text with the headers of a controller: RTDE of Universal Robots, Franka's libfranka,
joint states as `rostopic echo -p` prints them.

Each is read as a CSV file by a columns file that is made from its header.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from armtwin.errors import FileError
from armtwin.logs.columns import Columns
from armtwin.logs.csv_reading import header_line, read_csv, read_head, split_header
from armtwin.logs.recording import Recording
from armtwin.maths.batch import Names


@dataclass(frozen=True)
class ControllerTable:
    """The headers of a controller's table.

    Attributes:
        times: Headers of the time.
        time_unit: Its unit.
        word: Header of a joint's value, with {} for the signal and # for the joint's number.
        channels: For each signal its channel.
        remarks: For each channel what must be said of it.
    """

    times: Names
    time_unit: str
    word: str
    channels: Mapping[str, str]
    remarks: Mapping[str, str]

    def signals(self, header: list[str]) -> dict[str, dict[int, str]]:
        """For each channel the header of each joint, by the number that it has in the file."""
        pattern = re.escape(self.word).replace(r"\{\}", r"(\w+?)").replace(r"\#", "([0-9]{1,2})")
        found: dict[str, dict[int, str]] = {}
        for word in header:
            match = re.fullmatch(pattern, word)
            if match is not None and match[1] in self.channels:
                found.setdefault(self.channels[match[1]], {})[int(match[2])] = word
        return found

    def fits(self, line: str) -> bool:
        """Whether a line is a header of this layout."""
        header = split_header(line)
        return not set(header).isdisjoint(self.times) and bool(self.signals(header))


RTDE = ControllerTable(
    ("timestamp",),
    "s",
    "{}_#",
    {
        "actual_q": "q",
        "actual_qd": "v",
        "actual_current": "current",
        "actual_joint_torque": "tau",
        "actual_current_as_torque": "tau",
        "target_q": "q_ref",
        "target_qd": "v_ref",
        "target_qdd": "a_ref",
        "target_moment": "tau_target",
        "target_current": "current_target",
        "joint_temperatures": "temperature",
    },
    {
        "tau_target": "target_moment is the torque of the controller's own model, not a measured "
        "one: tau_target, which --torque tau_target takes",
        "temperature": "joint_temperatures are in °C: converted to K",
    },
)
FRANKA = ControllerTable(
    ("time", "duration"),
    "ms",
    "state.{}[#]",
    {
        "q": "q",
        "dq": "v",
        "q_d": "q_ref",
        "dq_d": "v_ref",
        "ddq_d": "a_ref",
        "tau_J": "tau",
    },
    {},
)
ROSTOPIC = ControllerTable(
    ("field.header.stamp", "%time"),
    "ns",
    "field.{}#",
    {"position": "q", "velocity": "v", "effort": "tau"},
    {"tau": "effort is taken as torque [N m]; drivers of Universal Robots write A"},
)


LAYOUTS = {"RTDE": RTDE, "Franka": FRANKA, "rostopic": ROSTOPIC}


def read_table(path: Path, columns: Columns) -> Recording:
    """Read a table of one of these layouts."""
    line = header_line(read_head(path))
    layout = next(known for known in LAYOUTS.values() if known.fits(line))
    header = split_header(line)
    found = layout.signals(header)
    names: dict[str, Names | str] = {}
    for channel, words in found.items():
        joints = sorted(words)
        if joints != list(range(len(joints))):
            sentence = f"must be numbered 0, 1, .. without a gap, got {joints}"
            raise FileError(path, f"columns of {channel} {sentence}")
        names[channel] = tuple(words[j] for j in joints)
    unit = {"time": layout.time_unit}
    if "temperature" in names:
        unit["temperature"] = "degC"
    how = replace(
        columns,
        time=next(word for word in layout.times if word in header),
        columns={**names, **columns.columns},
        unit={**unit, **columns.unit},
    )
    recording = read_csv(path, how)
    said = [text for key, text in layout.remarks.items() if key in (*recording.channels, "time")]
    channels = dict(recording.channels)
    if "temperature" in channels and "temperature" not in columns.unit:
        channels["temperature"] = how.to_si("temperature", channels["temperature"])
    return replace(recording, channels=channels, remarks=(*said, *recording.remarks))

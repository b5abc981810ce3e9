"""CPU time and memory to read a log of 600 000 rows in each layout, a process for each.

The peer is numpy.loadtxt on the same numbers as plain text.

python benchmarks/logs.py [--quick]
"""

import argparse
import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

ROWS, QUICK = 600_000, 6_000
FEW = ("rtde.csv", "trace")  # layouts of a quick run
JOINTS = 6
LIMITS = {"text": (8.0, 600), "XML": (20.0, 600), "binary": (5.0, 600)}  # CPU s, MB
KINDS = {
    "run.csv": "text",
    "rtde.csv": "text",
    "franka.csv": "text",
    "rsi.xml": "XML",
    "run.npz": "binary",
    "run.mat": "binary",
    "run.h5": "binary",
    "run.parquet": "binary",
    "trace": "binary",
    "bag": "binary",
}
READ = """
import json, resource, sys, time
import numpy, scipy.interpolate, armtwin as at
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
at.Log.read(sys.argv[1])  # small: what is imported on the way is no reading
begin = time.process_time()
log = at.Log.read(sys.argv[2])
spent = time.process_time() - begin
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3
print(json.dumps([len(log.time), spent, peak]))
"""


def motion(rows):
    """Times and positions, reference and measured."""
    t = np.arange(rows) * 0.002
    wave = np.sin(t[:, None] * np.linspace(0.3, 0.8, JOINTS))
    return t, wave, wave + 1e-4 * np.cos(7 * t)[:, None]


def write(folder, name, rows):
    """A file of a layout."""
    path = folder / name
    t, wanted, done = motion(rows)
    numbers = range(JOINTS)
    if name == "trace":
        path.mkdir()
        for j in numbers:
            write_drive(path, j + 1, np.degrees(wanted[:, j]), np.degrees(done[:, j]))
    elif name == "rsi.xml":
        write_rsi(path, t, np.degrees(wanted), np.degrees(done))
    elif name == "bag":
        write_bag(path, t, wanted, done)
    elif name in ("rtde.csv", "franka.csv"):
        words = {"rtde.csv": ("timestamp", "target_q_{}", "actual_q_{}", " ", 1.0)}
        words["franka.csv"] = ("duration", "state.q_d[{}]", "state.q[{}]", ",", 1e3)
        clock, first, second, delimiter, scale = words[name]
        header = [clock, *(first.format(j) for j in numbers), *(second.format(j) for j in numbers)]
        table = np.column_stack([scale * t, wanted, done])
        np.savetxt(path, table, "%.9g", delimiter, header=delimiter.join(header), comments="")
    elif name == "run.mat":
        from scipy.io import savemat

        savemat(path, {"t": t, "q": done, "q_ref": wanted})
    elif name == "run.h5":
        import h5py

        with h5py.File(path, "w") as file:
            file["time"], file["q"], file["q_ref"] = t, done, wanted
    else:
        import armtwin as at

        at.Log.of(t, q=done, q_ref=wanted).write(path)
    return path


def write_drive(folder, axis, wanted, done):
    """The pair of files of a drive of a KUKA trace."""
    stem, count = f"t_NextGenDrive#{axis}", len(done)
    blocks = [f"200,Zeit\n202,s\n210,IMPLIZIT\n220,{count}\n240,0\n241,0.002"]
    for k, name in enumerate(("Sollposition", "Istposition")):
        place = f"211,{stem}.r64\n213,BLOCK\n214,REAL64\n220,{count}\n221,{k * count + 1}"
        blocks.append(f"200,{name}_Achse{axis}\n202,Grad\n210,EXPLIZIT\n{place}\n240,0\n241,1")
    text = "".join(f"#BEGINCHANNELHEADER\n{block}\n#ENDCHANNELHEADER\n" for block in blocks)
    (folder / f"{stem}.dat").write_text(f"DIAEXTENDED\n{text}")
    (folder / f"{stem}.r64").write_bytes(np.concatenate([wanted, done]).astype("<f8").tobytes())


def write_rsi(path, t, wanted, done):
    """A stream of RSI."""
    with path.open("w") as file:
        for k in range(len(t)):
            axes = []
            for tag, row in (("AIPos", done[k]), ("ASPos", wanted[k])):
                values = " ".join(f'A{j + 1}="{x:.4f}"' for j, x in enumerate(row))
                axes.append(f"<{tag} {values}/>")
            file.write(f'<Rob Type="KUKA">{"".join(axes)}<IPOC>{2 * k}</IPOC></Rob>\n')


def write_bag(path, t, wanted, done):
    """A ROS 2 bag with as many states of a controller as joint states, joints in another order."""
    from rosbags.rosbag2 import StoragePlugin, Writer
    from rosbags.typesys import Stores, get_types_from_msg, get_typestore

    kinds = "sensor_msgs/msg/JointState", "control_msgs/msg/JointTrajectoryControllerState"
    point = "trajectory_msgs/JointTrajectoryPoint"
    words = "".join(f"{point} {word}\n" for word in ("reference", "feedback", "error", "output"))
    store = get_typestore(Stores.ROS2_HUMBLE)
    text = f"std_msgs/Header header\nstring[] joint_names\n{words}"
    store.register(get_types_from_msg(text, kinds[1]))
    types = store.types
    names = [f"joint_{j + 1}" for j in range(JOINTS)]
    none, zero = np.zeros(0), types["builtin_interfaces/msg/Duration"](0, 0)
    stamp, header = types["builtin_interfaces/msg/Time"], types["std_msgs/msg/Header"]
    Point = types["trajectory_msgs/msg/JointTrajectoryPoint"]

    def one(kind, sec, nanosec, values):
        """A message as bytes."""
        head = header(stamp(sec, nanosec), "")
        if kind == kinds[0]:
            message = types[kind](head, names, values, none, none)
        else:
            nothing = Point(none, none, none, none, zero)
            points = Point(values, none, none, none, zero), *[nothing] * 3
            message = types[kind](head, names[::-1], *points)
        return np.frombuffer(bytes(store.serialize_cdr(message, kind)), dtype=np.uint8)

    ns = np.round(1e9 * (t + 1)).astype(np.int64)
    stamps = [(ns // 10**9).astype("<i4"), (ns % 10**9).astype("<u4")]
    with Writer(path, version=9, storage_plugin=StoragePlugin.MCAP) as writer:
        columns = []
        for kind, topic, values in zip(
            kinds, ("/joint_states", "/state"), (done, wanted[:, ::-1]), strict=True
        ):
            marked = one(kind, 0x11111111, 0x11111111, np.frombuffer(b"\x11" * 48))
            plain = one(kind, 0x22222222, 0x22222222, np.frombuffer(b"\x22" * 48))
            rows = np.tile(marked, (len(t), 1))
            numbers = [*stamps, np.ascontiguousarray(values, dtype="<f8")]
            held = [np.ascontiguousarray(x).view(np.uint8).reshape(len(t), -1) for x in numbers]
            rows[:, marked != plain] = np.hstack(held)
            columns.append((writer.add_connection(topic, kind, typestore=store), rows))
        for k, received in enumerate(ns.tolist()):
            for connection, rows in columns:
                writer.write(connection, received, rows[k].tobytes())


def time_numpy(rows, folder):
    """CPU seconds of numpy.loadtxt on the same numbers."""
    t, wanted, done = motion(rows)
    np.savetxt(folder / "plain.txt", np.column_stack([t, wanted, done]))
    begin = time.process_time()
    np.loadtxt(folder / "plain.txt")
    return time.process_time() - begin


def measure(rows, folder, names):
    """Print CPU seconds, their ratio to numpy's reader, and MB of some layouts."""
    peer = time_numpy(rows, folder)
    for name in names:
        small, large = folder / "small", folder / "large"
        for place, count in ((small, 100), (large, rows)):
            place.mkdir(exist_ok=True)
            write(place, name, count)
        command = [sys.executable, "-c", READ, str(small / name), str(large / name)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        count, spent, peak = json.loads(done.stdout)
        assert count == rows
        kind = KINDS[name]
        bounds = LIMITS[kind]
        took = f"{spent:6.2f} s of {bounds[0]:g}, ratio {spent / peer:5.2f}"
        print(f"{name:12} {kind:7} {took}   {peak:5.0f} MB of {bounds[1]}")


def main():
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="6 000 rows: does it run at all?")
    parser.add_argument("layouts", nargs="*", help=f"of {', '.join(KINDS)}; by default all")
    asked = parser.parse_args()
    names = asked.layouts or (FEW if asked.quick else KINDS)
    with tempfile.TemporaryDirectory() as folder:
        measure(QUICK if asked.quick else ROWS, Path(folder), names)


if __name__ == "__main__":
    main()

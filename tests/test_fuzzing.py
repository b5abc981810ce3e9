"""Every reader of files, fed with mutations of valid ones: what leaves it is a value or our own
error, and soon.

ARMTWIN_FUZZ_SECONDS gives it more CPU time than the suite does, ARMTWIN_FUZZ_SEED other mutations.
"""

import os
import shutil
import time
import unicodedata
import warnings
import zlib

import numpy as np
import pytest

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.jobs.from_points import read_points
from armtwin.maths.units import Unit
from armtwin.robot.schema.overrides import apply_overrides
from tests.fuzzing import mutated, mutated_inside_gzip, mutated_inside_zip
from tests.jobs.examples import JOB, POINTS
from tests.robot.test_urdf import GOOD

SECONDS = float(os.environ.get("ARMTWIN_FUZZ_SECONDS", "22"))
SEED = int(os.environ.get("ARMTWIN_FUZZ_SEED", "11"))
LONGEST = 5.0  # CPU seconds that a reader may take for one input
LOG = at.Log.of(
    np.arange(20) / 250,
    (at.Event(0.01, "current_limit", "motor_1", "the current was limited"),),
    q=np.sin(np.arange(40)).reshape(20, 2),
    tau=np.cos(np.arange(40)).reshape(20, 2),
)
PLACES = (
    "x [mm],y [mm],z [mm],a [deg],b [deg],c [deg]\n"
    "0,-100,0,0,0,180\n0,0,1.5,0,5,180\n0,100,0,0,0,180\n"
)
COLUMNS = """format = 1
time = "Zeit"
delimiter = ";"
decimal = ","
unit = { time = "ms", q = "deg", temperature = "degC" }
sign = [1, -1]
offset = ["0 deg", "-90 deg"]
[columns]
q = ["A1", "A2"]
current = "I_{}"
"""
MACHINE = "Zeit;A1;A2;I_1;I_2;x\n0,0;1,5;2,5;3;4;a\n4,0;1,6;2,6;3;4;b\n"
OVERRIDES = (
    '"friction.5.asperity" = "2 N m"\n"link.1.body.mass" = 3.5\n'
    '"joint.joint_2.limits.velocity" = "2 rad/s"\n'
)


def read_robot(path):
    robot = at.Robot.load(path)
    if robot.n <= 12:
        robot.inverse_dynamics(*np.zeros((3, robot.n)))


def read_job(path):
    job = at.Job.load(path)
    job.robot()
    job.seam.times(250.0)
    job.process_on()


def read_points_file(path):
    read_points(path, "abc")


def read_log(path):
    at.Log.read(path)


def read_machine(path):
    (path.parent / "machine.csv").write_text(MACHINE)
    at.Log.read(path.parent / "machine.csv", path)


def read_points_of_a_job(path):
    (path.parent / "job.toml").write_text(POINTS)
    read_job(path.parent / "job.toml")


def read_overrides(path):
    rx90b = at.Robot.load("rx90b")
    lines = path.read_bytes().decode("utf-8", errors="replace").split("\n")
    for line in lines[:200]:  # each is a robot of its own
        key, _, value = line.partition("=")
        try:
            apply_overrides(rx90b.description, {key.strip(' "'): value.strip(' "')}, "job")
        except ArmtwinError as error:
            check_message(str(error))


def read_quantities(path):
    words = path.read_bytes().decode("utf-8", errors="replace").split("\n")
    for word in words:
        for unit in (
            Unit("m/s", above=0, plausible=5, hint="mm/s"),
            Unit("Hz", above=0),
            Unit("N m/rad", also="N/m"),
        ):
            try:
                assert np.isfinite(unit.read_word(word))
            except ArmtwinError as error:
                check_message(str(error))


def bag_file(name, folder):
    """A small recording in one of the formats of bags."""
    from rosbags.rosbag2 import StoragePlugin

    from tests.logs.test_bag_files import recorded, ros_1

    values = np.sin(np.arange(150.0)).reshape(50, 3)
    if name == "run.bag":
        return ros_1(folder / name, values)
    plugin = StoragePlugin.SQLITE3 if name == "run.db3" else StoragePlugin.MCAP
    recording = recorded(folder / "recording", plugin, values)
    if name == "metadata.yaml":
        return recording / name
    (file,) = recording.glob(f"*{name[3:]}")
    return file


def seed_file(name, folder):
    """The valid file that is mutated."""
    if name in BAGS:
        return bag_file(name, folder).read_bytes()
    if name in ("run.csv", "run.csv.gz", "run.npz"):
        LOG.write(folder / name)
        return (folder / name).read_bytes()
    if name == "small.toml":
        (folder / "seed.urdf").write_text(GOOD)
        at.Robot.load(folder / "seed.urdf").save(folder / name)
        return (folder / name).read_bytes()
    if name == "rx90b.toml":
        from armtwin.robot.files import list_shipped

        return list_shipped()["rx90b"].read_bytes()
    quantities = "100 mm/s\n1.5\n10 Hz\n25 N m/rad\n3 1/s\n1e3 rpm\n45 deg\n0.1 m/s\n"
    texts = {
        "robot.urdf": GOOD,
        "job.toml": JOB + "[override]\n" + OVERRIDES,
        "seam.csv": "x [mm],y [mm],z [mm]\n0,-100,0\n0,0,1.5\n0,100,0\n",
        "points.csv": PLACES,
        "columns.toml": COLUMNS,
        "overrides": OVERRIDES,
        "quantities": quantities,
    }
    return texts[name].encode()


def read_recording(path):
    recording = path.parent.parent / "recording"
    shutil.copyfile(path, recording / "metadata.yaml")
    at.Log.read(recording)


READERS = {
    "small.toml": read_robot,
    "rx90b.toml": read_robot,
    "robot.urdf": read_robot,
    "job.toml": read_job,
    "seam.csv": read_points_of_a_job,
    "points.csv": read_points_file,
    "run.csv": read_log,
    "run.csv.gz": read_log,
    "run.npz": read_log,
    "columns.toml": read_machine,
    "overrides": read_overrides,
    "quantities": read_quantities,
    "run.mcap": read_log,
    "run.db3": read_log,
    "run.bag": read_log,
    "metadata.yaml": read_recording,
}
MUTATE = {"run.csv.gz": mutated_inside_gzip, "run.npz": mutated_inside_zip}
BAGS = ("run.mcap", "run.db3", "run.bag", "metadata.yaml")


def check_message(text):
    assert len(text) <= 2000, f"{len(text)} characters: {text[:200]}"
    odd = [
        c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")
    ]
    assert not [c for c in odd if c not in "\u200c\u200d\u00ad"], repr(text[:300])


def check(read, path, case):
    """One input: a value or our own error, soon, without a warning."""
    begin = time.process_time()
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            read(path)
        except ArmtwinError as error:
            check_message(str(error))
        except Exception as error:
            raise AssertionError(f"{case}: {type(error).__name__} left the reader") from error
    spent = time.process_time() - begin
    assert spent < LONGEST, f"{case}: took {spent:.1f} s"
    caught = [
        w for w in caught if w.category is not ResourceWarning
    ]  # readers of bags leave files to the collector
    assert not caught, f"{case}: {caught[0].message} ({caught[0].filename}:{caught[0].lineno})"


@pytest.mark.filterwarnings(
    "ignore::ResourceWarning", "ignore::pytest.PytestUnraisableExceptionWarning"
)
@pytest.mark.parametrize("name", READERS)
def test_nothing_but_our_own_error_leaves_a_reader(name, tmp_path):
    if name in BAGS:
        pytest.importorskip("rosbags")
    read, data = READERS[name], seed_file(name, tmp_path)
    folder = tmp_path / "fuzzed"
    folder.mkdir()
    path = folder / name
    path.write_bytes(data)
    read(path)  # what is mutated is valid, and its kernels are compiled
    end, count = time.process_time() + SECONDS / len(READERS), 0
    while time.process_time() < end:
        rng = np.random.default_rng([SEED, zlib.crc32(name.encode()), count])
        path.write_bytes(MUTATE.get(name, mutated)(rng, data))
        check(read, path, f"{name}, mutation {count} of seed {SEED}")
        count += 1
    assert count > 3

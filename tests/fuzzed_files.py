"""Every kind of file that is read: a small valid one, and what reads it as commands do."""

import io
import json
import shutil
import tempfile
import zipfile
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.errors import ArmtwinError
from armtwin.exchange.external_fmu import unpack
from armtwin.files.covariance import beside
from armtwin.files.staging import MARK, recover
from armtwin.files.versions import stamped_versions
from armtwin.identification.actuator.oil_fit import read_resonances
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.rigid_body.recipe import read_recipe
from armtwin.jobs.experiment_description import BenchSetup
from armtwin.jobs.forces import acting
from armtwin.jobs.from_points import read_points
from armtwin.jobs.setpoints import Drive
from armtwin.maths.units import Unit
from armtwin.motion.cell import obstacles, read_cell
from armtwin.prediction.predict import check_limits, plan_motion
from armtwin.prediction.registration_file import read_registration
from armtwin.prediction.seams import cycle_of
from armtwin.report.folder import list_result_files, read_result
from armtwin.robot.files import list_shipped
from armtwin.robot.schema.overrides import apply_overrides
from armtwin.robot.uncertainty import standard_deviations
from armtwin.sweeps.axes import MOST_RUNS
from armtwin.sweeps.result import Course, result_of
from armtwin.sweeps.rows import ResultRow
from armtwin.sweeps.table import open_table
from tests.exchange.hostile import description
from tests.fuzzing import (
    check_message,
    mutated,
    mutated_inside_gzip,
    mutated_inside_sqlite,
    mutated_inside_zip,
)
from tests.jobs.examples import JOB, POINTS
from tests.jobs.programs import TWO_SEAMS
from tests.robot.test_denavit_hartenberg import LWA4P
from tests.robot.test_urdf import GOOD
from tests.sweeps.examples import short_job

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
RTDE = (
    "timestamp target_q_0 target_q_1 actual_q_0 actual_q_1 actual_current_0 actual_current_1\n"
    "0.0 0.1 0.2 0.11 0.21 1 2\n0.002 0.2 0.3 0.21 0.31 1 2.5\n0.004 0.3 0.4 0.31 0.41 1 3\n"
)
FRANKA = (
    "duration,state.q[0],state.q_d[0],state.tau_J[0]\n0,0.1,0.2,5\n1,0.2,0.3,5.5\n2,0.3,0.4,6\n"
)
ROSTOPIC = (
    "%time,field.header.seq,field.header.stamp,field.name0,field.position0,field.effort0\n"
    "1000000000,1,1000000000,a,0.1,2\n1010000000,2,1010000000,a,0.2,2.5\n"
)
RSI_CYCLE = (
    '<Rob Type="KUKA"><RIst X="1"/><AIPos A1="{0}" A2="2"/><ASPos A1="{0}" A2="2"/>'
    '<MACur A1="1" A2="0.5"/><IPOC>{1}</IPOC></Rob>\n'
)
RSI = "".join(RSI_CYCLE.format(k, 4 * k) for k in range(12))
TRACKED = (
    "time [ms],x [mm],y [mm],z [mm],rx,ry,rz\n0,1,2,3,0,0,1\n10,1.5,2,3,0,0,1\n20,2,2,3,0,0,1\n"
)
REGISTERED = """format = 1
point = ["0 mm", "0 mm", "120 mm"]
clock = "1.25 s"
frame = { position = ["2 m", 0, "1 m"], orientation = { rpy = [0, 0, "90 deg"] } }
"""
QUANTITIES = "100 mm/s\n1.5\n10 Hz\n25 N m/rad\n3 1/s\n1e3 rpm\n45 deg\n0.1 m/s\n"
SWEEP = """format = 1
title = "Where to put the line, and how fast"
jobs = ["rx90b_line"]
robots = ["rx90b"]
design = "grid"
band = false
map = ["workpiece.position.1", "speed"]
[[axis]]
key = "workpiece.position.1"
label = "x"
span = ["350 mm", "450 mm"]
count = 3
[[axis]]
key = "speed"
values = ["300 mm/s", "450 mm/s"]
[[axis]]
key = "robot.friction.wrist_a.viscous"
values = [0.9, 1.1]
relative = true
"""
SPREAD = """format = 1
jobs = ["rx90b_line"]
design = "latin hypercube"
runs = 20
seed = 3
[[axis]]
key = "workpiece.yaw"
span = ["0 deg", "5 deg"]
[[axis]]
key = "tolerance.lateral"
span = ["0.1 mm", "0.2 mm"]
"""
BENCH = """format = 1
duration = "0.4 s"
rate = "500 Hz"
features = ["first_peak", "period"]
[setup]
kind = "bench"
bench = { rotor_inertia = 0.01, stiffness = "100 N m/rad", damping = 0.2, joint = "clamped" }
[[setpoint]]
on = "torque"
kind = "steps"
times = [0.0, 0.05]
values = ["0 N m", "2 N m"]
"""
DRIVEN = """format = 1
duration = "0.4 s"
[setup]
kind = "robot"
robot = "rx90b"
posture = ["0 deg", "10 deg", "90 deg", "0 deg", "30 deg", "0 deg"]
clamp = { translation = "1e8 N/m", rotation = "1e8 N m/rad", damping = "2 ms" }
override = { "friction.5.viscous" = 0.1 }
[setup.model]
joints = "elastic"
[[setpoint]]
on = "joint_1"
kind = "triangle"
amplitude = "1.5e-3 rad"
period = "0.2 s"
start = "0.1 s"
cycles = 2
[[setpoint]]
on = "joint_2"
kind = "noise"
rms = "1e-3 rad"
lowest = "1 Hz"
highest = "20 Hz"
seed = 3
"""
FROM_FILE = (
    BENCH.partition("[[setpoint]]")[0]
    + '[[setpoint]]\non = "torque"\nkind = "file"\nfile = "setpoints.csv"\ncolumn = "push"\n'
)
RECIPE = """format = 1
estimator = "ridge"
period = "8 s"
periods = [1, 2]
rest = 0.02
robust = true
friction = "file"
tilt = "file"
kept = 12
zero = ["mx1"]
fixed = ["my1"]
equal = [["Jm4", "Jm5"]]
torque = "tau"
cutoff = "12.5 Hz"
tool = "laser_head"
gravity = [0, 0, "-9.81 m/s^2"]
mass = { link_1 = ["900 g", 2.5] }
"""
CELL = """format = 1
[cell]
floor = "-300 mm"
[[cell.plane]]
name = "wall"
point = ["1 m", 0, 0]
normal = [-1, 0, 0.5]
[[cell.box]]
name = "fixture"
size = ["300 mm", "200 mm", "100 mm"]
pose = { position = ["600 mm", 0, 0], orientation = { rpy = [0, "10 deg", 0] } }
"""
PUSHED = JOB + '[[force]]\nfile = "force.csv"\nframe = "seam"\n'
ACTING = (
    JOB
    + '[[force]]\nvalue = ["10 N", "0 N", "-5 N"]\nframe = "tool"\nprocess = true\nramp = "5 mm"\n'
    + '[[force]]\nat = "joint_2"\njoint_torque = "3 N m"\n'
    + '[[force]]\nalong = [["0 mm", 0, 0, "5 N"], ["200 mm", 0, 0, "9 N"]]\nframe = "workpiece"\n'
)
FORCES = "place [mm],fx,fy,fz,tx,ty,tz\n0,0,0,5,0,0,0\n100,1,0,5,0,0.5,0\n200,0,2,5,0,0,0\n"
DH_FILE = """format = 2
name = "table"
[denavit_hartenberg]
convention = "modified"
source = "public: a table"
[[denavit_hartenberg.row]]
d = "400 mm"
[[denavit_hartenberg.row]]
alpha = "-90 deg"
a = 0.1
type = "prismatic"
[[link]]
name = "link_1"
source = "public: a table"
body = { mass = 3.0, com = [0, 0, 0.1], inertia = { xx = 0.1, yy = 0.1, zz = 0.1 } }
"""
CURVES = "joint,v,tau,std,temperature\n1,0.1,5,0.1,300\njoint_2,-0.1,-5,0.1,310 K\n2,0.2,5.5,,\n"
RESONANCES = "mass,frequency,damping\n10,5 Hz,0.1\n20,3.6,0.12\n30 kg,2.9,0.13\n"
RESULT = {"armtwin": "1", "format": 1, "run": {"options": {"a": 1}}, "files": ["result.json"]}
PLAN = {"into": ".", "names": ["a.txt", "b.txt"], "gone": ["c.txt"]}
HEADER, VALUES = "t_NextGenDrive#1.dat", "t_NextGenDrive#1.r64"
TABLE = "results"  # name of the sweep whose table is read


def read_robot(path):
    robot = at.Robot.load(path)
    if robot.n <= 12:
        robot.inverse_dynamics(*np.zeros((3, robot.n)))


def read_job(path):
    job = at.Job.load(path)
    robot = job.robot()
    job.process_on()
    acting(job, robot, job.seam.times(250.0))


def read_program(path):
    """As a prediction does before its first tick: a profile by the robot's limits, seams, times."""
    job = at.Job.load(path)
    robot = job.robot()
    job = job.planned_for(robot)
    repr(job.sections())
    job.process_on()
    if job.is_program:
        cycle = cycle_of(job)
        assert np.isfinite([cycle.time_s, cycle.lost_at_stops_s, cycle.lost_at_corners_s]).all()
    check_limits(robot, job, plan_motion(robot, job))


def read_dry_run(path):
    at.Job.from_log(short_job().robot(), path, tolerance="0.1 mm")


def read_points_file(path):
    read_points(path, "abc")


def read_log(path):
    at.Log.read(path)


def read_trace_header(path):
    """As a trace whose values are whole."""
    shutil.copyfile(path.parent.parent / VALUES, path.parent / VALUES)
    at.Log.read(path)


def read_trace_values(path):
    shutil.copyfile(path.parent.parent / HEADER, path.parent / HEADER)
    at.Log.read(path)


def read_machine(path):
    (path.parent / "machine.csv").write_text(MACHINE)
    at.Log.read(path.parent / "machine.csv", path)


def read_points_of_a_job(path):
    (path.parent / "job.toml").write_text(POINTS)
    read_job(path.parent / "job.toml")


def read_forces_of_a_job(path):
    (path.parent / "job.toml").write_text(PUSHED)
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


def read_recording(path):
    recording = path.parent.parent / "recording"
    shutil.copyfile(path, recording / "metadata.yaml")
    at.Log.read(recording)


def read_sweep(path):
    sweep = at.Sweep.load(path)
    assert 0 < len(sweep) <= MOST_RUNS
    for number in (0, len(sweep) - 1):
        sweep.run(number)
        sweep.inputs(number)
    repr(sweep.sections())


@cache
def table_sweep():
    axes = {"speed": [f"{150 + 10 * k} mm/s" for k in range(10)]}
    return at.Sweep.over(short_job(), axes, name=TABLE)


def read_table(path):
    """As a sweep that goes on: what is there, all rows, and a row more."""
    sweep = table_sweep()
    keys = [run.key for run in sweep.runs()]
    with open_table(path, TABLE, stamped_versions()) as table:
        table.known(keys)
        table.count()
        table.put([(keys[-1], "job", "robot", {}, _row(9))])
        if len(table.known(keys)) == len(keys):
            found = result_of(sweep, table, Course(0, len(keys), 0.0, "nothing had to be run"))
            repr(found.sections())
            found.csv()(io.BytesIO())


def _row(number):
    return ResultRow("holds", ratio=0.1 * number, duration_s=1.0, cpu_s=0.01)


def read_experiment(path):
    """As a run does before its first tick."""
    experiment = at.Experiment.load(path)
    d = experiment.description
    repr(experiment.sections())
    experiment.robot()
    if isinstance(d.setup, BenchSetup):
        experiment.bench()
    time = experiment.times(d.rate or 250.0)
    unit = "N m" if isinstance(d.setup, BenchSetup) else "rad"
    for number, point in enumerate(d.setpoint, 1):
        experiment.sampled(number, point, time, Drive(unit, experiment.folder))


def read_setpoints(path):
    (path.parent / "experiment.toml").write_text(FROM_FILE)
    read_experiment(path.parent / "experiment.toml")


def read_cell_file(path):
    obstacles(at.Robot.load("rx90b"), read_cell(path))


def read_covariance(path):
    robot = path.parent.parent / "uncertain.toml"
    shutil.copyfile(path, beside(robot))
    found = at.Robot.load(robot).uncertainty
    assert np.isfinite(found.covariance).all()
    check_message(found.remark)


def read_dh(path):
    robot = at.Robot.from_dh(path)
    robot.forward_kinematics(np.zeros(robot.n))


def read_curves(path):
    FrictionCurves.read(path, ("joint_1", "joint_2"))


def read_result_file(path):
    found = read_result(path.parent)
    if found is not None:
        list_result_files(found)


def read_journal(path):
    """A stage that a killed run has left: finished, or left as it is."""
    place = path.parent / "place"
    shutil.rmtree(place, ignore_errors=True)
    stage = place / f"{MARK}left"
    (stage / "new").mkdir(parents=True)
    (stage / "old").mkdir()
    (stage / "new" / "a.txt").write_text("a")
    (place / "c.txt").write_text("c")
    shutil.copyfile(path, stage / "journal")
    recover(place)
    assert {file.name for file in path.parent.iterdir()} == {path.name, "place"}


def read_unit(path):
    with tempfile.TemporaryDirectory() as folder:
        unpack(path, Path(folder))


def read_unit_description(path):
    """As the process of an external FMU that has no code."""
    unit = path.parent / "unit.fmu"
    with zipfile.ZipFile(unit, "w") as archive:
        archive.write(path, "modelDescription.xml")
    try:
        with at.ForeignUnit(unit, None, inputs={}, outputs={"torque": "joint"}, timeout=3.0):
            raise AssertionError("a unit without code has started")
    except ArmtwinError as error:  # at the latest that it has no code
        check_message(str(error))
    finally:
        unit.unlink()


def log_file(folder, name):
    LOG.write(folder / name)
    return (folder / name).read_bytes()


def arrays_file(folder, name):
    """Arrays by name, as others write them."""
    path, arrays = folder / name, {"time": LOG.time, "q": LOG.q, "note": np.arange(3)}
    if name.endswith(".mat"):
        from scipy.io import savemat

        savemat(path, {**arrays, "info": {"a": 1}, "text": "warm"}, do_compression=True)
    elif name.endswith(".h5"):
        import h5py

        with h5py.File(path, "w") as file:
            for key, values in arrays.items():
                file[f"run/{key}"] = values
            file["run/q"].attrs["unit"] = "deg"
    else:
        LOG.write(path)
    return path.read_bytes()


def dry_run(folder, name):
    """The logged reference of a short job."""
    job = short_job()
    motion = plan_motion(job.robot(), job).trajectory
    at.Log.of(motion.time, q_ref=motion.q).write(folder / name)
    return (folder / name).read_bytes()


def recorded_job(folder, name):
    dry_run(folder, "dry_run.csv")
    robot = short_job().robot()
    at.Job.from_log(robot, folder / "dry_run.csv", tolerance="0.1 mm").save(folder / name)
    return (folder / name).read_bytes()


def trace_file(folder, name):
    """A pair of files of a drive, one of which is mutated."""
    from tests.logs.test_formats import write_trace

    signals = [("Istposition_Achse1", "Grad", LOG.q[:, 0]), ("Istmoment_A1", "Nm", LOG.q[:, 1])]
    write_trace(folder, 1, signals)
    return (folder / name).read_bytes()


def small_robot(folder, name):
    (folder / "seed.urdf").write_text(GOOD)
    at.Robot.load(folder / "seed.urdf").save(folder / name)
    return (folder / name).read_bytes()


def shipped_robot(folder, name):
    return list_shipped()["rx90b"].read_bytes()


def bag_file(folder, name):
    """A small recording in one of the formats of bags."""
    from rosbags.rosbag2 import StoragePlugin

    from tests.logs.test_bag_files import recorded, ros_1

    values = np.sin(np.arange(150.0)).reshape(50, 3)
    if name == "run.bag":
        return ros_1(folder / name, values).read_bytes()
    plugin = StoragePlugin.SQLITE3 if name == "run.db3" else StoragePlugin.MCAP
    recording = recorded(folder / "recording", plugin, values)
    if name == "metadata.yaml":
        return (recording / name).read_bytes()
    (file,) = recording.glob(f"*{name[3:]}")
    return file.read_bytes()


def result_table(folder, name):
    sweep = table_sweep()
    records = []
    for k, run in enumerate(sweep.runs()):
        records.append((run.key, "short", "rx90b", sweep.inputs(k), _row(k)))
    with open_table(folder / name, TABLE, stamped_versions()) as table:
        table.put(records)
    return (folder / name).read_bytes()


def covariance_file(folder, name):
    (folder / "seed.urdf").write_text(GOOD)
    robot = at.Robot.load(folder / "seed.urdf")
    p = len(robot.parameter_names)
    root = np.random.default_rng(3).normal(size=(p, p))
    deviation = standard_deviations(
        robot.parameter_names, root @ root.T, np.ones(p, dtype=bool), "public: a draw"
    )
    uncertain = folder / "uncertain.toml"
    at.Robot(replace(robot.description, standard_deviation=deviation)).save(uncertain)
    return beside(uncertain).read_bytes()


def unit_file(folder, name):
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("modelDescription.xml", description())
        archive.writestr("binaries/linux64/foreign.so", bytes(range(256)) * 20)
        archive.writestr("resources/table.csv", "a,b\n1,2\n")
    return (folder / name).read_bytes()


@dataclass(frozen=True)
class Fuzzed:
    """A kind of file.

    Attributes:
        read: Reads one at a path.
        seed: The valid one that is mutated: its text, or a function of folder and name.
        mutate: Its mutations.
        needs: Package without which it is not read.
    """

    read: object
    seed: object
    mutate: object = mutated
    needs: str = ""

    def valid(self, folder, name):
        """The bytes of the valid file; what goes with it is made in the folder."""
        return self.seed.encode() if isinstance(self.seed, str) else self.seed(folder, name)


FILES = {
    "small.toml": Fuzzed(read_robot, small_robot),
    "rx90b.toml": Fuzzed(read_robot, shipped_robot),
    "robot.urdf": Fuzzed(read_robot, GOOD),
    "dh.csv": Fuzzed(read_dh, LWA4P),
    "dh.toml": Fuzzed(read_robot, DH_FILE),
    "spread.covariance.npz": Fuzzed(read_covariance, covariance_file, mutated_inside_zip),
    "job.toml": Fuzzed(read_job, JOB + "[override]\n" + OVERRIDES),
    "acting.toml": Fuzzed(read_job, ACTING),
    "program.toml": Fuzzed(read_program, TWO_SEAMS),
    "recorded.toml": Fuzzed(read_program, recorded_job),
    "dry_run.csv": Fuzzed(read_dry_run, dry_run),
    "seam.csv": Fuzzed(read_points_of_a_job, "x [mm],y [mm],z [mm]\n0,-100,0\n0,0,1.5\n0,100,0\n"),
    "points.csv": Fuzzed(read_points_file, PLACES),
    "force.csv": Fuzzed(read_forces_of_a_job, FORCES),
    "cell.toml": Fuzzed(read_cell_file, CELL),
    "overrides": Fuzzed(read_overrides, OVERRIDES),
    "quantities": Fuzzed(read_quantities, QUANTITIES),
    "bench.toml": Fuzzed(read_experiment, BENCH),
    "driven.toml": Fuzzed(read_experiment, DRIVEN),
    "setpoints.csv": Fuzzed(read_setpoints, "time,push\n0,0\n0.1,2 N m\n0.3,-1\n"),
    "run.csv": Fuzzed(read_log, log_file),
    "run.csv.gz": Fuzzed(read_log, log_file, mutated_inside_gzip),
    "run.npz": Fuzzed(read_log, log_file, mutated_inside_zip),
    "rtde.csv": Fuzzed(read_log, RTDE),
    "franka.csv": Fuzzed(read_log, FRANKA),
    "rostopic.csv": Fuzzed(read_log, ROSTOPIC),
    "rsi.xml": Fuzzed(read_log, RSI),
    HEADER: Fuzzed(read_trace_header, trace_file),
    VALUES: Fuzzed(read_trace_values, trace_file),
    "run.mat": Fuzzed(read_log, arrays_file),
    "run.h5": Fuzzed(read_log, arrays_file, needs="h5py"),
    "run.parquet": Fuzzed(read_log, arrays_file, needs="pyarrow"),
    "registration.toml": Fuzzed(read_registration, REGISTERED),
    "tracker.csv": Fuzzed(read_log, TRACKED),
    "run.mcap": Fuzzed(read_log, bag_file, needs="rosbags"),
    "run.db3": Fuzzed(read_log, bag_file, needs="rosbags"),
    "run.bag": Fuzzed(read_log, bag_file, needs="rosbags"),
    "metadata.yaml": Fuzzed(read_recording, bag_file, needs="rosbags"),
    "columns.toml": Fuzzed(read_machine, COLUMNS),
    "recipe.toml": Fuzzed(read_recipe, RECIPE),
    "curves.csv": Fuzzed(read_curves, CURVES),
    "resonances.csv": Fuzzed(read_resonances, RESONANCES),
    "sweep.toml": Fuzzed(read_sweep, SWEEP),
    "spread.toml": Fuzzed(read_sweep, SPREAD),
    "results.sqlite": Fuzzed(read_table, result_table, mutated_inside_sqlite),
    "result.json": Fuzzed(read_result_file, json.dumps(RESULT)),
    "journal": Fuzzed(read_journal, json.dumps(PLAN)),
    "unit.fmu": Fuzzed(read_unit, unit_file, mutated_inside_zip),
    "unit.xml": Fuzzed(read_unit_description, description(), needs="fmpy"),
}

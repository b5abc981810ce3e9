"""The shipped ur10e: kinematics of the maker's table, dynamics identified from public recordings.

    python studies/ur10e.py DATA [FOLDER]

DATA/ur10e holds the recordings [Mamedov 2020]. The prior has the maker's D-H table, masses and
centres of mass; its inertias are those of cylinders. `identify` and `complete` with default
settings make the rest from one excitation with measured currents, which is judged on another.
Writes ur10e.toml and its covariance into FOLDER, by default the library of shipped robots.
"""

import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.files.covariance import beside
from armtwin.robot.schema.groups import Body, Pose, SixInertias, Tool, TurnLimits

TABLE = "public: maker's D-H table of the UR10e [Universal Robots 2018]"
MANUAL = "public: maker's manual of the UR10e and table of joint torques [Universal Robots 2018]"
MASSES = "public: maker's masses and centres of mass [Universal Robots 2018]"
CYLINDER = "assumed: cylinder of the link's length, radius 75 mm (links 1 to 3), 60 and 45 mm"
# a, d [m], alpha [deg]; mass [kg], centre of mass [m]; axis, length and radius of a cylinder [m];
# position [deg], velocity [deg/s] and torque [N m] that the joint may have
ROWS = (
    ((0, 0.1807, 90), (7.369, (0.021, 0, 0.027)), ("y", 0.178, 0.075), (360, 120, 330)),
    ((-0.6127, 0, 0), (13.051, (0.38, 0, 0.158)), ("x", 0.612, 0.075), (360, 120, 330)),
    ((-0.57155, 0, 0), (3.989, (0.24, 0, 0.068)), ("x", 0.57155, 0.075), (180, 180, 150)),
    ((0, 0.17415, 90), (2.1, (0, 0.007, 0.018)), ("y", 0.12, 0.06), (360, 180, 56)),
    ((0, 0.11985, -90), (1.98, (0, 0.007, 0.018)), ("y", 0.12, 0.06), (360, 180, 56)),
    ((0, 0.11655, 0), (0.615, (0, 0, -0.026)), ("z", 0.05, 0.045), (360, 180, 56)),
)
FIT, JUDGE = "ident_20_02_10_30sec_12harm.csv.gz", "ident_20_01_31_unload.csv.gz"
NOTE = (
    "Joints are base, shoulder, elbow, wrist 1 to 3 of the maker, with the controller's angles. "
    "All drives are seen from the joints: rotor inertias times the squared ratio, currents times "
    "the identified torque per ampere. Links and friction are estimates of ours from one public "
    "recording of measured currents [Mamedov 2020], in the scale of the maker's masses, by "
    "studies/ur10e.py; the torque of another recording is predicted to {error:.0f} % (mean of "
    "joints)."
)


def write_prior():
    """The robot file of the maker's numbers, without drives, limits and tool."""
    rows, links = [], []
    for i, ((a, d, alpha), (mass, com), (axis, length, radius), _) in enumerate(ROWS, 1):
        rows.append(f'{{ name = "joint_{i}", a = {a}, d = {d}, alpha = "{alpha} deg" }},')
        along, across = mass * radius**2 / 2, mass * (3 * radius**2 + length**2) / 12
        inertia = ", ".join(f"{2 * k} = {along if k == axis else across:.4g}" for k in "xyz")
        links += [
            "[[link]]",
            f'name = "link_{i}"',
            f'source = {{ mass = "{MASSES}", com = "{MASSES}", inertia = "{CYLINDER}" }}',
            f"body = {{ mass = {mass}, com = {list(com)}, inertia = {{ {inertia} }} }}",
        ]
    table = ["[denavit_hartenberg]", f'source = "{TABLE}"', "row = [", *rows, "]"]
    head = ["format = 2", 'name = "ur10e"', 'title = "Universal Robots UR10e"']
    return "\n".join([*head, *table, *links]) + "\n"


def make_prior(folder):
    """The robot of the maker's numbers, without drives."""
    path = folder / "ur10e_prior.toml"
    path.write_text(write_prior())
    description = at.Robot.load(path).description
    path.unlink()
    joints = []
    for joint, (*_, (position, velocity, torque)) in zip(description.joint, ROWS, strict=True):
        limits = TurnLimits(
            lower=-np.radians(position),
            upper=np.radians(position),
            velocity=np.radians(velocity),
            torque=float(torque),
            source=MANUAL,
        )
        joints.append(replace(joint, limits=limits))
    head = Tool(
        tcp=Pose(position=(0.0, 0.0, 0.2)),
        body=Body(mass=1.2, com=(0.0, 0.0, 0.07), inertia=SixInertias(0.004, 0.004, 0.001)),
        source="assumed: a dispensing valve with its nozzle, for trying jobs",
    )
    return at.Robot(replace(description, joint=tuple(joints), tool={"dispenser": head}))


def shorten(description, path):
    """The robot with numbers of six digits and its recording named in the sources."""
    at.Robot(description).save(path)
    text = path.read_text().replace("identified: 1 log", "identified: 1 log of [Mamedov 2020]")
    path.write_text(
        re.sub(r"-?\d+\.\d{6,}(e-?\d+)?", lambda x: repr(float(f"{float(x[0]):.6g}")), text)
    )
    beside(path).unlink()
    short = at.Robot.load(path).description
    covariance = description.standard_deviation.covariance
    known = replace(short.standard_deviation, covariance=covariance, remark="")
    return at.Robot(replace(short, standard_deviation=known))


def main(data, folder):
    """Identify, judge, complete and write."""
    prior = make_prior(folder)
    fit = at.identify(prior, [at.Log.read(data / "ur10e" / FIT)])
    judged = fit.validate(at.Log.read(data / "ur10e" / JUDGE))
    error = float(np.mean(judged.nrmse))
    robot = at.complete(fit.robot).robot
    path = folder / "ur10e.toml"
    shorten(replace(robot.description, note=NOTE.format(error=error)), path).save(path)
    print(f"torque error on {JUDGE}: {np.round(judged.nrmse, 1)} %, mean {error:.1f} %")


if __name__ == "__main__":
    library = Path(at.__file__).parent / "robot" / "library"
    main(Path(sys.argv[1]), Path(sys.argv[2]) if len(sys.argv) > 2 else library)

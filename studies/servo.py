"""The servo of the KR300 from its logs: fitted on one run, judged on the other, both ways.

    python studies/servo.py DATA

DATA holds kuka_kr300. Prints what is explained with the logged torque, with the model's torque and
in the closed loop of the twin, whether the fits of both runs agree within their intervals, and the
servo [servo.fitted] that the robot file kr300.toml ships.
"""

import re
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.files.writing import to_tables, to_toml

SOURCE = (
    "identified: run A of the recordings of Weigand's identification project (TU Kaiserslautern, "
    "MIT licence); a laboratory control with feed-forward (TwinCAT), not KUKA's own"
)
NUMBER = r"-?\d+\.\d+(e-?\d+)?"
np.set_printoptions(precision=4, suppress=True, linewidth=120)


def main(data):
    """Both ways, the twin, and the shipped servo."""
    robot = at.Robot.load("kr300").with_payload("recorded")
    folder = Path(data) / "kuka_kr300"
    a = at.Log.read(folder / "ident_A.csv.gz")
    b = at.Log.read(folder / "valid_B.csv.gz")
    at.identify_servo(robot, a, b)  # compiles
    begun = time.process_time()
    forth = at.identify_servo(robot, a, b)
    spent = time.process_time() - begun
    back = at.identify_servo(robot, b, a)
    for name, found in (("A -> B", forth), ("B -> A", back)):
        print(name)
        print("  logged torque ", found.share)
        print("  model's torque", found.twin.share)
        print("  delay only    ", found.judgement.delay_only)
        print("  lag only      ", found.judgement.lag_only)
        for torque, judgement in (("logged", found.judgement), ("model's", found.twin)):
            path = judgement.path
            lateral = f"{1e3 * path.lateral_left:.2f} of {1e3 * path.lateral:.2f} mm lateral"
            vertical = f"{1e3 * path.vertical_left:.2f} of {1e3 * path.vertical:.2f} mm vertical"
            print(f"  left at the flange, {torque} torque: {lateral}, {vertical}")
    print(f"six axes, both torques: {spent:.2f} s")
    print("closed loop of the twin on B, correlation:", correlation(forth.robot, b))
    agreement(forth, back)
    own = at.identify(robot, [a]).robot
    print("robot identified on A alone, A -> B:", at.identify_servo(own, a, b).twin.share)
    shipped = replace(forth.servo, source=SOURCE)
    tables = to_tables(replace(robot.description, servo={"fitted": shipped}))
    print(short(to_toml({"servo": tables["servo"]})))


def short(text):
    """A text with its numbers to six digits."""
    return re.sub(NUMBER, lambda found: repr(float(f"{float(found[0]):.6g}")), text)


def correlation(robot, log):
    """Correlation of measured and simulated error of each joint on a log's reference, (n,)."""
    rate = 1 / float(np.median(np.diff(log.time)))
    v = np.gradient(log.q_ref, 1 / rate, axis=0)
    a = np.gradient(v, 1 / rate, axis=0)
    motion = at.Trajectory.sampled(rate, log.q_ref, v, a)
    run = at.simulate(robot, motion, at.Model(servo="fitted")).log
    pairs = zip((log.q_ref - log.q).T, (run.q_ref - run.q).T, strict=True)
    return np.array([np.corrcoef(measured, simulated)[0, 1] for measured, simulated in pairs])


def agreement(one, other):
    """Say which numbers of two fits do not agree within their intervals of 90 %."""
    apart = []
    for first, second in zip(one.table, other.table, strict=True):
        for name in ("delay", "kp", "ff_gain"):
            gap = abs(getattr(first, name) - getattr(second, name))
            if gap > first.interval[name] + second.interval[name]:
                apart.append(f"{first.name} {name}")
    print("numbers of A and B that do not agree within their intervals:", apart or "none")


if __name__ == "__main__":
    main(sys.argv[1])

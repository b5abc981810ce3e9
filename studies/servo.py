"""Servos from logs: of the real KR300, both ways, and of twins whose servo is known.

    python studies/servo.py DATA

DATA holds kuka_kr300, dualarm_v2 and ur5_course. Prints what is explained with the logged torque,
with the model's torque and in the closed loop of the twin, whether the fits of both runs agree
within their intervals, and the servo [servo.fitted] that the robot file kr300.toml ships. Then the
same of a KR300 whose file is rough and whose robot, controller's model and servo are all identified
from one run; of a seven-axis arm with an ordinary servo; and the size of the error on short runs of
a UR5, fitted on those of one operator and judged on those of the other. Last, for simulated runs of
kr300 and rx90b with their cascades, what is explained of another run, and the gains over the true
ones.
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
MOVES = 0.01  # travel of a joint that moves [rad]
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
        logged = found.with_logged_torque
        print("  logged torque ", logged.share)
        print("  model's torque", found.share)
        print("  delay only    ", found.evaluation.delay_only)
        print("  lag only      ", found.evaluation.lag_only)
        for torque, judgement in (("logged", logged), ("model's", found.evaluation)):
            path = judgement.path
            lateral = f"{1e3 * path.lateral_left:.2f} of {1e3 * path.lateral:.2f} mm lateral"
            vertical = f"{1e3 * path.vertical_left:.2f} of {1e3 * path.vertical:.2f} mm vertical"
            print(f"  left at the flange, {torque} torque: {lateral}, {vertical}")
    print(f"six axes, both torques: {spent:.2f} s")
    print("closed loop of the twin on B, correlation:", correlation(forth.robot, b))
    agreement(forth, back)
    shipped = replace(forth.servo, source=SOURCE)
    tables = to_tables(replace(robot.description, servo={"fitted": shipped}))
    print(short(to_toml({"servo": tables["servo"]})))
    own_robot(a, b)
    ordinary_servo(Path(data) / "dualarm_v2")
    short_runs(Path(data) / "ur5_course")
    known("kr300", "recorded")
    known("rx90b", None)


def own_robot(a, b):
    """Robot, controller's model and servo of a KR300 from one run, judged on the other."""
    robot = at.Robot.load("kr300")
    links = 10 * len(robot.description.link)
    factors = np.where(np.arange(len(robot.parameters)) < links, 0.7, 1.0)
    rough = robot.with_parameters(factors * robot.parameters).description
    rough = replace(rough, friction=(), servo={"cascade": rough.servo["cascade"]})
    rough = robot.with_description(rough).with_payload("recorded")
    for name, seen, unseen in (("A -> B", a, b), ("B -> A", b, a)):
        found = at.identify_servo(at.identify(rough, [seen]).robot, seen, unseen)
        left = found.evaluation.path
        path = f"{1e3 * left.lateral_left:.2f} mm lateral, {1e3 * left.vertical_left:.2f} vertical"
        print(f"own robot, {name}: {found.share}, left at the flange {path}")
        shown = at.compare(found.robot, unseen, offsets="start")
        for row in shown.intervals:
            held = "holds" if row.holds_peak else "does not hold"
            print(f"  {row.name}: {100 * row.covered:.0f} % covered, {held} the peak")
        print(
            "  torque", [round(x.variance_explained, 3) for x in shown.rows if "torque" in x.name]
        )


def ordinary_servo(folder):
    """Each run of a seven-axis arm fitted, the other judged."""
    robot = at.Robot.load(folder / "dualarm_v2.urdf")
    logs = [at.Log.read(path) for path in sorted(folder.glob("*.csv.gz"))]
    for seen, unseen in (logs, logs[::-1]):
        print(
            f"{folder.name}, {Path(seen.origin).name}:",
            at.identify_servo(robot, seen, unseen).share,
        )


def short_runs(folder):
    """Size and share of the error of joints that move, fitted on one operator's runs."""
    robot = at.complete(at.Robot.load(folder / "ur5.urdf")).robot
    runs = {x: [at.Log.read(path) for path in sorted(folder.glob(f"run_{x}_*"))] for x in "ab"}
    for seen, unseen in ("ab", "ba"):
        found = at.identify_servo(robot, runs[seen])
        laws = plain_laws(runs[seen])
        ratios, covered = [], []
        whole, left, left_plain = np.zeros((3, robot.n))
        for log in runs[unseen]:
            shown = at.compare(found.robot, log)
            intervals = {row.name: row.rms for row in shown.intervals}
            travels = np.ptp(log.q_ref, axis=0)
            for j, (row, travel) in enumerate(zip(shown.errors, travels, strict=True)):
                if travel <= MOVES:
                    continue
                low, high = intervals[row.name]
                measured, predicted = shown.channels[row.name]
                size = measured.std()
                ratios.append(np.sqrt(low * high) / size)
                covered.append(low <= size <= high)
                whole[j] += measured.var()
                left[j] += (measured - predicted).var()
                columns, error = plain_columns(log, j)
                left_plain[j] += (error - columns @ laws[j]).var()
        near = np.mean((np.array(ratios) > 0.5) & (np.array(ratios) < 2))
        print(
            f"{folder.name}, {seen} judged on {unseen}: {len(ratios)} joint-runs, rms within a "
            f"factor 2 in {100 * near:.0f} %, 90 % interval covers {100 * np.mean(covered):.0f} %"
        )
        print(f"  share {1 - left / whole}, by a plain law of v_ref and a_ref")
        print(f"        {1 - left_plain / whole}")


def plain_columns(log, j):
    """Speed and acceleration of a joint's reference, and its error, means removed."""
    columns = np.stack([log.v_ref[:, j], log.a_ref[:, j]], axis=1)
    error = log.q_ref[:, j] - log.q[:, j]
    return columns - columns.mean(axis=0), error - error.mean()


def plain_laws(logs):
    """Coefficients of speed and acceleration of each joint by least squares over all logs."""
    laws = []
    for j in range(logs[0].q.shape[1]):
        pairs = [plain_columns(log, j) for log in logs]
        columns, error = (np.concatenate(values) for values in zip(*pairs, strict=True))
        laws.append(np.linalg.lstsq(columns, error, rcond=None)[0])
    return laws


def known(name, payload):
    """Fits to simulated runs, each judged on the next."""
    robot = at.Robot.load(name).with_payload(payload)
    gains = robot.description.servo["cascade"].rule.gains(robot.n)
    logs = [simulated(robot, seed) for seed in (1, 2, 3)]
    for k in range(3):
        begun = time.process_time()
        found = at.identify_servo(robot, logs[k], logs[k - 1])
        spent = time.process_time() - begun
        print(f"virtual {name}, motion {k + 1}: {found.table[0].structure}, {spent:.2f} s")
        print("  share", found.share)
        for gain in ("ki", "kp", "kv"):
            ratio = np.array(getattr(found.servo, gain)) / np.array(getattr(gains, gain))
            print(f"  {gain} over the true one", ratio)
        outside = []
        for row, kp, kv in zip(found.table, gains.kp, gains.kv, strict=True):
            if abs(row.kv - kv) > row.interval["kv"]:
                outside.append(f"{row.name} kv")
            if abs(row.kp - kp / kv) > row.interval["kp"]:
                outside.append(f"{row.name} kp")
        print("  intervals that do not cover:", outside or "none")
        print("  delays [ms]", 1e3 * np.array([row.delay for row in found.table]))


def simulated(robot, seed, duration=16.0, rate=250.0):
    """A run of a robot with its own servo: random harmonics, at rest at both ends."""
    chance = np.random.default_rng(seed)
    t = np.arange(round(duration * rate) + 1) / rate
    edge = np.clip(np.minimum(t, t[-1] - t) / 1.5, 0, 1)
    q = np.zeros((len(t), robot.n))
    for harmonic in range(1, 7):
        phase = chance.uniform(0, 2 * np.pi, robot.n)
        q += (
            chance.normal(size=robot.n)
            / harmonic
            * np.sin(np.pi / 4 * harmonic * t[:, None] + phase)
        )
    q *= (edge**3 * (10 - 15 * edge + 6 * edge**2))[:, None]
    low, high = robot.position_limits
    v = np.gradient(q, t, axis=0)
    room = (high - low) / 2 / np.abs(q).max(axis=0)
    scale = 0.3 * np.minimum(room, robot.limits.velocity / np.abs(v).max(axis=0))
    q, v = scale * q, scale * v
    motion = at.Trajectory.sampled(rate, q, v, np.gradient(v, t, axis=0))
    run = at.simulate(robot, motion).log
    return at.Log.of(run.time, q=run.q, q_ref=run.q_ref)


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
    """Say which numbers of two fits do not agree within their intervals of 95 %."""
    apart = []
    for first, second in zip(one.table, other.table, strict=True):
        for name in ("delay", "kp", "ff_gain"):
            gap = abs(getattr(first, name) - getattr(second, name))
            if gap > first.interval[name] + second.interval[name]:
                apart.append(f"{first.name} {name}")
    print("numbers of A and B that do not agree within their intervals:", apart or "none")


if __name__ == "__main__":
    main(sys.argv[1])

"""Real robots, default estimator: how much torque of a log that the fit never saw is missed.

    python studies/identification.py DATA

DATA holds kuka_kr300, staubli_tx40 and ur10e. Given are the robot file, the torque column and a
cut-off, nothing else; plain least squares and the robot file are judged beside it.
"""

import sys
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.identification.rigid_body.validation import pooled

SEGMENTS = (0, 2, 4, 6, 8, 10)  # of the TX40's log
STILL = 0.02  # joint speed below which the UR10e stands [rad/s]


@dataclass(frozen=True)
class Missed:
    """Torque that a fit misses of logs it never saw.

    Attributes:
        ours: NRMSE of each joint with the default estimator [%].
        plain: The same with plain least squares [%].
        prior: The same with the robot file as it is [%].
        fit: The (last) fit.
    """

    ours: np.ndarray
    plain: np.ndarray
    prior: np.ndarray
    fit: at.Identification


def kr300(data):
    """Fitted on A, judged on B, raw torque."""
    robot = at.Robot.load("kr300").with_payload("recorded")
    fitted = at.Log.read(data / "kuka_kr300/ident_A.csv.gz")
    unseen = at.Log.read(data / "kuka_kr300/valid_B.csv.gz")
    fit = at.identify(robot, [fitted], torque="tau", cutoff=10.0)
    ours = fit.validate(unseen)
    plain = fit.validate_plain(unseen)
    prior = fit.validate(unseen, robot=fit.prior)
    return Missed(ours.nrmse, plain.nrmse, prior.nrmse, fit)


def left_out(robot, parts, torque, cutoff, judged_at):
    """Each part predicted from the others, pooled."""
    ours, plain, prior = [], [], []
    for k, part in enumerate(parts):
        others = parts[:k] + parts[k + 1 :]
        fit = at.identify(robot, others, torque=torque, cutoff=cutoff)
        ours.append(fit.validate(part, judged_at))
        plain.append(fit.validate_plain(part, judged_at))
        prior.append(fit.validate(part, judged_at, robot=fit.prior))
    return Missed(pooled(ours), pooled(plain), pooled(prior), fit)


def tx40(data):
    """Each of six segments left out in turn, 60 Hz on both sides."""
    logs = []
    for k in SEGMENTS:
        path = data / f"staubli_tx40/segment_{k:02d}.csv.gz"
        logs.append(at.Log.read(path))
    return left_out(at.Robot.load("tx40"), logs, "tau", 60.0, 60.0)


def moving_thirds(log):
    """The moving part of a log in three parts."""
    moves = (np.abs(log.v) > STILL).any(axis=1)
    rows = np.flatnonzero(moves)
    parts = []
    for part in np.array_split(np.arange(rows[0], rows[-1] + 1), 3):
        channels = {name: values[part] for name, values in log.channels.items()}
        parts.append(at.Log.of(log.time[part], (), **channels))
    return parts


def ur10e(data, torque, judged_at):
    """Thirds of the moving part left out in turn; a bare URDF, currents without gains."""
    log = at.Log.read(data / "ur10e/ident_20_02_10_30sec_12harm.csv.gz")
    robot = at.Robot.load(data / "ur10e/ur10e.urdf")
    return left_out(robot, moving_thirds(log), torque, 5.0, judged_at)


def cases(data):
    """Names of the cases, and what each misses."""
    target, measured = "current_des", "current"
    yield "KR300, fitted on A, judged on B, raw", kr300(data)
    yield "TX40, segments left out, 60 Hz on both sides", tx40(data)
    yield "UR10e, thirds left out, target current, raw", ur10e(data, target, None)
    yield "UR10e, target current, 5 Hz on both sides", ur10e(data, target, 5.0)
    yield "UR10e, measured current, raw", ur10e(data, measured, None)
    yield "UR10e, measured current, 5 Hz on both sides", ur10e(data, measured, 5.0)


def cells(nrmse):
    """The joints' numbers and their mean."""
    joints = " ".join(f"{value:.1f}" for value in nrmse)
    return f"{joints} | {nrmse.mean():.1f}"


def main(data):
    """Print the table."""
    kinds = "ours | mean | plain least squares | mean | robot file, mean"
    print(f"| NRMSE % of joints 1 to 6 | {kinds} |")
    print("|---|---|---|---|---|---|")
    for name, missed in cases(data):
        prior = missed.prior.mean()
        print(f"| {name} | {cells(missed.ours)} | {cells(missed.plain)} | {prior:.1f} |")
        gains = missed.fit.gains
        if gains is not None:
            broken = len(missed.fit.broken)
            print(
                f"| gains {np.round(gains, 1)} N m/A; plain breaks {broken} contracts | | | | | |"
            )


if __name__ == "__main__":
    main(Path(sys.argv[1]))

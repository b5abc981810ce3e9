"""Real robots, default estimator: how much torque of a log that the fit never saw is missed; plain
least squares too.

    python studies/identification.py DATA

DATA holds kuka_kr300, staubli_tx40 and ur10e. Given are the robot file, the torque column and a
cut-off, nothing else.
"""

import sys
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.identification.rigid_body.validation import pooled


def kr300(data):
    """Fitted on A, judged on B, raw torque."""
    robot = at.Robot.load("kr300").with_payload("recorded")
    found = at.identify(
        robot, [at.Log.read(data / "kuka_kr300/ident_A.csv.gz")], torque="tau", cutoff=10.0
    )
    log = at.Log.read(data / "kuka_kr300/valid_B.csv.gz")
    judged = found.validate(log), found.validate_plain(log), found.validate(log, robot=found.prior)
    return [x.nrmse for x in judged], found


def left_out(robot, parts, torque, cutoff, judged_at):
    """Each part predicted from the others, pooled: ours, plain least squares, the prior."""
    kinds = [], [], []
    for k, part in enumerate(parts):
        others = [x for i, x in enumerate(parts) if i != k]
        found = at.identify(robot, others, torque=torque, cutoff=cutoff)
        kinds[0].append(found.validate(part, judged_at))
        kinds[1].append(found.validate_plain(part, judged_at))
        kinds[2].append(found.validate(part, judged_at, robot=found.prior))
    return [pooled(x) for x in kinds], found


def tx40(data):
    """Each of six segments left out in turn, 60 Hz on both sides."""
    logs = [at.Log.read(data / f"staubli_tx40/segment_{k:02d}.csv.gz") for k in (0, 2, 4, 6, 8, 10)]
    return left_out(at.Robot.load("tx40"), logs, "tau", 60.0, 60.0)


def ur10e(data, torque, judged_at):
    """Thirds of the moving part left out in turn; a bare URDF, currents without gains."""
    log = at.Log.read(data / "ur10e/ident_20_02_10_30sec_12harm.csv.gz")
    moving = np.flatnonzero((np.abs(log.v) > 0.02).any(axis=1))
    cuts = np.array_split(np.arange(moving[0], moving[-1] + 1), 3)
    parts = [
        at.Log.of(log.time[k], (), **{name: x[k] for name, x in log.channels.items()}) for k in cuts
    ]
    return left_out(at.Robot.load(data / "ur10e/ur10e.urdf"), parts, torque, 5.0, judged_at)


def main(data):
    """Print the table."""
    cases = {
        "KR300, fitted on A, judged on B, raw": lambda: kr300(data),
        "TX40, segments left out, 60 Hz on both sides": lambda: tx40(data),
        "UR10e, thirds left out, target current, raw": lambda: ur10e(data, "current_des", None),
        "UR10e, target current, 5 Hz on both sides": lambda: ur10e(data, "current_des", 5.0),
        "UR10e, measured current, raw": lambda: ur10e(data, "current", None),
        "UR10e, measured current, 5 Hz on both sides": lambda: ur10e(data, "current", 5.0),
    }
    print(
        "| NRMSE % of joints 1 to 6 | ours | mean | plain least squares | mean | robot file, mean |"
    )
    print("|---|---|---|---|---|---|")
    for name, case in cases.items():
        (ours, plain, prior), found = case()
        cells = [f"{' '.join(f'{v:.1f}' for v in x)} | {x.mean():.1f}" for x in (ours, plain)]
        print(f"| {name} | {cells[0]} | {cells[1]} | {prior.mean():.1f} |")
        if found.gains is not None:
            gains = np.round(found.gains, 1)
            broken = len(found.broken)
            print(f"|  gains {gains} N m/A; plain breaks: {broken} contracts | | | | | |")


if __name__ == "__main__":
    main(Path(sys.argv[1]))

"""Real robots, default settings: the torque error on a log that the fit never saw.

    python studies/identification.py DATA [--cutoffs] [CASE ...]

DATA holds kuka_kr300, staubli_tx40, ur10e, rokae_xmate7 and kinova_gen3. Given are the robot file
and the torque column, nothing else; plain least squares on the same rows and the robot file are
judged beside it. With
--cutoffs every case is repeated with each of a list of cut-offs, to be compared with the chosen
one. Cases by their names, all by default.
"""

import sys
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.identification.rigid_body.evaluation.estimate import pool_nrmse

SEGMENTS = (0, 2, 4, 6, 8, 10)  # of the TX40's log
STILL = 0.02  # joint speed below which the UR10e stands [rad/s]
NINETY = 1.645  # deviations of a 90 % interval
AT_BOUND = 1e-3  # deviations from 0 within which a contract holds a number there
CUTOFFS = (1.0, 2.0, 5.0, 10.0, 20.0, 40.0, 60.0, 80.0, 160.0)  # [Hz]
LEAST_RATE = 3  # rate of a log over the highest of them that is tried


@dataclass(frozen=True)
class Case:
    """A robot, logs to fit and a log that the fit never saw, several times.

    Attributes:
        name: Its name.
        robot: The robot.
        splits: Logs to fit and the log to judge on.
        torque: Column of the torque.
        judged_at: Cut-off of both sides where it is judged, None for torque as measured [Hz].
    """

    name: str
    robot: at.Robot
    splits: list
    torque: str
    judged_at: float | None = None


@dataclass(frozen=True)
class Missed:
    """Torque that fits miss of logs they never saw.

    Attributes:
        ours: NRMSE of each joint with the default estimator [%].
        plain: The same with plain least squares [%].
        prior: The same with the robot file as it is [%].
        standing: Part of `ours` from samples at which the joint stands [%].
        deviation: Predicted deviation of the torque over the error, of each joint.
        covered: Share of the samples within the 90 % interval, at rest and moving.
        fits: The fits.
    """

    ours: np.ndarray
    plain: np.ndarray
    prior: np.ndarray
    standing: np.ndarray
    deviation: np.ndarray
    covered: tuple
    fits: list


def left_out(parts):
    """Each part to be predicted from the others."""
    splits = []
    for k, part in enumerate(parts):
        splits.append((parts[:k] + parts[k + 1 :], part))
    return splits


def moving_thirds(log):
    """The moving part of a log in three parts."""
    moves = (np.abs(log.v) > STILL).any(axis=1)
    rows = np.flatnonzero(moves)
    parts = []
    for part in np.array_split(np.arange(rows[0], rows[-1] + 1), 3):
        channels = {name: values[part] for name, values in log.channels.items()}
        parts.append(at.Log.of(log.time[part], (), **channels))
    return parts


def cases(data):
    """All cases."""
    kr300 = at.Robot.load("kr300").with_payload("recorded")
    a = at.Log.read(data / "kuka_kr300/ident_A.csv.gz")
    b = at.Log.read(data / "kuka_kr300/valid_B.csv.gz")
    yield Case("kr300_a_b", kr300, [([a], b)], "tau")
    yield Case("kr300_b_a", kr300, [([b], a)], "tau")
    segments = []
    for k in SEGMENTS:
        segments.append(at.Log.read(data / f"staubli_tx40/segment_{k:02d}.csv.gz"))
    yield Case("tx40_segments", at.Robot.load("tx40"), left_out(segments), "tau", 60.0)
    ur10e = at.Robot.load(data / "ur10e/ur10e.urdf")
    long = at.Log.read(data / "ur10e/ident_20_02_10_30sec_12harm.csv.gz")
    other = at.Log.read(data / "ur10e/ident_20_01_31_unload.csv.gz")
    for torque in ("current_des", "current"):
        yield Case(f"ur10e_thirds_{torque}", ur10e, left_out(moving_thirds(long)), torque)
        yield Case(f"ur10e_other_to_long_{torque}", ur10e, [([other], long)], torque)
        yield Case(f"ur10e_long_to_other_{torque}", ur10e, [([long], other)], torque)
    xmate = at.Robot.load(data / "rokae_xmate7/xmate7.urdf")
    run = at.Log.read(data / "rokae_xmate7/excitation_first_13s.csv.gz")
    for torque in ("tau", "tau_m"):
        yield Case(f"xmate7_thirds_{torque}", xmate, left_out(moving_thirds(run)), torque)
    gen3 = at.Robot.load(data / "kinova_gen3/kinova_gen3.urdf")
    first = at.Log.read(data / "kinova_gen3/ident_quadratic.csv.gz")
    second = at.Log.read(data / "kinova_gen3/ident_run1.csv.gz")
    for torque in ("tau", "tau_cur"):
        yield Case(f"gen3_first_to_second_{torque}", gen3, [([first], second)], torque)


def missed(case, cutoff=None):
    """What the fits of a case miss, with a cut-off [Hz] or by default."""
    ours, plain, prior, fits = [], [], [], []
    standing = power = gap = spread = 0.0
    inside, at_rest = [], []
    for logs, unseen in case.splits:
        fit = at.identify(case.robot, logs, torque=case.torque, cutoff=cutoff)
        judged = fit.validate(unseen, case.judged_at)
        ours.append(judged)
        plain.append(fit.validate_plain(unseen, case.judged_at))
        prior.append(fit.validate(unseen, case.judged_at, robot=fit.prior))
        fits.append(fit)
        squares = (judged.tau - judged.tau_hat) ** 2
        standing = standing + (squares * fit.standing(unseen)).sum(axis=0)
        power = power + (judged.tau**2).sum(axis=0)
        gap = gap + squares.sum(axis=0)
        deviation = fit.torque_deviation(unseen)
        spread = spread + (deviation**2).sum(axis=0)
        inside.append((squares < (NINETY * deviation) ** 2).ravel())
        at_rest.append(fit.standing(unseen).ravel())
    inside, at_rest = np.concatenate(inside), np.concatenate(at_rest)
    return Missed(
        pool_nrmse(ours),
        pool_nrmse(plain),
        pool_nrmse(prior),
        100 * np.sqrt(standing / power),
        np.sqrt(spread / gap),
        tuple(float(inside[some].mean()) if some.any() else np.nan for some in (at_rest, ~at_rest)),
        fits,
    )


def possible(case):
    """Cut-offs of the list that every log's rate and length allow [Hz]."""
    found = []
    for cutoff in CUTOFFS:
        allowed = True
        for logs, unseen in case.splits:
            for log in (*logs, unseen):
                duration = log.time[-1] - log.time[0]
                rate = (len(log.time) - 1) / duration
                allowed &= cutoff <= rate / LEAST_RATE and cutoff * duration >= 3
        if allowed:
            found.append(cutoff)
    return found


def cells(nrmse):
    """The joints' numbers and their mean."""
    joints = " ".join(f"{value:.1f}" for value in nrmse)
    return f"{joints} | {nrmse.mean():.2f}"


def between(first, second):
    """z between two fits of each parameter that both identify, not at a bound as friction >= 0.

    A coefficient beside a power of the speed is another one beside another power.
    """
    rows = {row.name: row for row in second.table}
    other_laws = differing_laws(first.robot, second.robot)
    z = []
    for row in first.table:
        other = rows.get(row.name)
        if other is None or min(row.from_logs, other.from_logs) < 0.5 or row.std == 0:
            continue
        if row.name.split(".")[0].removesuffix("_shape") in other_laws:
            continue
        if max(abs(row.value), abs(other.value)) < AT_BOUND * min(row.std, other.std):
            continue
        z.append((row.value - other.value) / np.hypot(row.std, other.std))
    return z


def differing_laws(first, second):
    """Names of friction elements that two robots have beside shapes of other numbers."""
    found = set()
    shapes = [shapes_of(first), shapes_of(second)]
    for name in shapes[0].keys() | shapes[1].keys():
        if shapes[0].get(name) != shapes[1].get(name):
            found.add(name.removesuffix("_shape"))
    return found


def shapes_of(robot):
    """Kind and exponent of the shapes of the speed that friction elements were given."""
    found = {}
    for element in robot.description.friction:
        if element.name.endswith("_shape"):
            found[element.name] = element.law.law, element.law.exponent
    return found


def rms(z):
    """Root mean square and number, as words."""
    return f"rms z {np.sqrt(np.mean(np.square(z))):.2f} of {len(z)} parameters"


def coverage(data, names):
    """How far estimates from different logs lie apart, in their own deviations."""
    for case in cases(data):
        if names and case.name not in names:
            continue
        if case.name == "kr300_a_b":
            ((logs, unseen),) = case.splits
            parts = [logs[0], unseen]
        elif case.name.startswith("ur10e_thirds"):
            parts = [unseen for _, unseen in case.splits]
        else:
            continue
        fits = [at.identify(case.robot, [part], torque=case.torque) for part in parts]
        every = []
        for k in range(len(fits) - 1):
            z = between(fits[k], fits[k + 1])
            every += z
            print(f"{case.name}: logs {k + 1} and {k + 2}, {rms(z)}", flush=True)
        print(f"{case.name}: {rms(every)}", flush=True)


def main(data, names, cutoffs):
    """Print the table."""
    kinds = "ours | mean | plain least squares, mean | robot file, mean | standing, mean"
    more = (
        "worst joint over plain | deviation / error | covered at rest, moving | cut-off Hz | CPU s"
    )
    print(f"| NRMSE % of the joints | {kinds} | {more} |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for case in cases(data):
        if names and case.name not in names:
            continue
        start = time.process_time()
        found = missed(case)
        spent = time.process_time() - start
        hertz = " ".join(f"{fit.cutoff:g}" for fit in found.fits)
        print(
            f"| {case.name} | {cells(found.ours)} | {found.plain.mean():.2f} | "
            f"{found.prior.mean():.1f} | {found.standing.mean():.2f} | "
            f"{np.max(found.ours / found.plain):.3f} | "
            f"{found.deviation.min():.2f} to {found.deviation.max():.2f} | "
            f"{found.covered[0]:.2f} {found.covered[1]:.2f} | {hertz} | {spent:.1f} |",
            flush=True,
        )
        for cutoff in possible(case) if cutoffs else ():
            given = missed(case, cutoff).ours.mean()
            ratio = found.ours.mean() / given
            words = f"{case.name}, {cutoff:g} Hz given"
            print(f"| {words} | | {given:.2f} | default / this {ratio:.3f} |", flush=True)
    coverage(data, names)


if __name__ == "__main__":
    words = [word for word in sys.argv[2:] if word != "--cutoffs"]
    main(Path(sys.argv[1]), words, "--cutoffs" in sys.argv)

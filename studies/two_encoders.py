"""Gears, friction and damping of the KR300 from its logs: `python studies/two_encoders.py DATA`.

DATA holds kuka_kr300. Printed are the numbers of transmissions and friction that the robot file
ships: stiffnesses from either run, judged on the other, also of a file that knows no gears;
friction at low speed; the ring-down of q - q_link after the recorded stops, and the damping of the
springs that follows; and the interval of kr300_frame before and after its gears 2 and 3 are
measured, and with them known exactly. docs/make_evidence.py has what the closed elastic loop leaves
of q - q_link.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

import armtwin as at
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import find_locked_modes
from armtwin.jobs.uncertainty import Uncertainty

RULE = "assumed: public nominal, to 50 %"
NOMINAL = {"joint_2": 7.5189e6, "joint_3": 4.0999e6}
STEEP = 29000.0  # slope of dry friction at rest, that of the public set on axes 2 and 3 [s/rad]
LATE = 3.01e-3  # [s]
STOPPED = 9.25  # when both recorded references are at rest [s]
DAMPING = 0.02  # of critical, of the arm on each gear
SPEEDS = (2.7e-4, 1e-3, 1e-2, 1e-1)  # [rad/s]
MN = 1e-6


def with_friction(robot: at.Robot, source: at.Robot, names: tuple[str, ...]) -> at.Robot:
    """A robot with steep friction laws of another on some axes."""
    found = {}
    for element in source.description.friction:
        name = element.name.removesuffix("_memory")
        found.setdefault(name, []).append(element)
    elements = []
    for element in robot.description.friction:
        if element.name in names:
            own, *dry = found[element.name]
            level = own.law.first + sum(one.law.level for one in dry)
            element = replace(element, law=replace(own.law, first=level, first_slope=STEEP))
        elements.append(element)
    return robot.with_description(replace(robot.description, friction=tuple(elements)))


def steep(robot: at.Robot) -> at.Robot:
    """A robot whose dry friction is there from 0.1 mrad/s on."""
    elements = []
    for element in robot.description.friction:
        elements.append(replace(element, law=replace(element.law, first_slope=STEEP)))
    return robot.with_description(replace(robot.description, friction=tuple(elements)))


def without_gears(robot: at.Robot) -> at.Robot:
    """A robot whose file knows no gears."""
    rubbing = tuple(replace(element, side=None) for element in robot.description.friction)
    return robot.with_description(replace(robot.description, transmission=(), friction=rubbing))


def stiffnesses(robots: dict[str, at.Robot], logs: dict[str, at.Log]) -> Iterator[str]:
    """Stiffness of each axis with its interval and what it leaves of the other run."""
    for words, robot in robots.items():
        for fit, unseen in (("A", "B"), ("B", "A")):
            found = at.identify_transmission(robot, [logs[fit]], validate=logs[unseen])
            cells = []
            for row in found.table:
                left = f"{1e6 * row.rms_unseen:.0f} µrad of {unseen}"
                if row.stiffness is None:
                    cells.append(f"not identifiable, {left}")
                    continue
                low, high = (MN * x for x in row.interval)
                cells.append(f"{MN * row.stiffness:.2f} ({low:.2f} to {high:.2f}), {left}")
            late = f"late {1e3 * found.offset:.2f} ms"
            yield f"{words}, run {fit}: {late}; MN m/rad {'; '.join(cells)}"


def virtual() -> Iterator[str]:
    """Both ways on two excitations of a virtual robot whose gears the file does not know."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from studies.measured_gears import LOAD, log_of

    truth = at.Robot.load("kr300").with_payload(LOAD)
    logs = [log_of(truth, np.random.default_rng(seed)) for seed in (1, 2)]
    for fit, unseen in (logs, logs[::-1]):
        found = at.identify_transmission(without_gears(truth), [fit], validate=unseen)
        cells = []
        for row, gear in zip(found.table, truth.description.transmission, strict=True):
            if row.stiffness is None:
                cells.append("not identifiable")
                continue
            low, high = row.interval
            inside = "" if low <= gear.stiffness <= high else " outside"
            cells.append(f"{row.stiffness / gear.stiffness:.3f}{inside}")
        yield f"virtual robot, found over true stiffness: {', '.join(cells)}"


def friction(robots: dict[str, at.Robot]) -> Iterator[str]:
    """Half of the friction between forward and back, motor side."""
    for words, robot in robots.items():
        for speed in SPEEDS:
            v = np.full(robot.n, speed)
            half = 0.5 * (robot.friction_torque(v) - robot.friction_torque(-v))
            values = half / np.array(robot.description.gear.ratios)
            yield f"friction {words} at {1e3 * speed:g} mrad/s: {np.round(values, 2)} N m"


def ring_down(name: str, log: at.Log, joint: int) -> str:
    """A damped sine in q - q_link after a stop."""
    now = log.time - log.time[0] > STOPPED
    x = log.time[now] - log.time[now][0]
    motor = np.interp(log.time[now] - LATE, log.time, log.q[:, joint])
    twist = 1e6 * (motor - log.q_link[now, joint])
    twist -= twist.mean()

    def residual(p):
        wave = p[2] * np.cos(2 * np.pi * p[1] * x) + p[3] * np.sin(2 * np.pi * p[1] * x)
        return p[4] + p[5] * x + np.exp(-2 * np.pi * p[1] * p[0] * x) * wave - twist

    starts = [[0.02, f, 5.0, 5.0, 0.0, 0.0] for f in np.arange(5.0, 16.0)]
    bounds = ([0.0, 4.0, *[-np.inf] * 4], [0.3, 20.0, *[np.inf] * 4])
    fits = [least_squares(residual, start, bounds=bounds) for start in starts]
    best = min(fits, key=lambda one: one.cost)
    line = np.column_stack([np.ones_like(x), x])
    rest = twist - line @ np.linalg.lstsq(line, twist, rcond=None)[0]
    share = 1 - 2 * best.cost / (rest @ rest)
    size = np.hypot(best.x[2], best.x[3])
    return (
        f"ring-down {name} axis {joint + 1}: {best.x[1]:.1f} Hz, relative damping {best.x[0]:.3f}, "
        f"{size:.0f} µrad, explains {100 * share:.0f} %"
    )


def damping(robot: at.Robot, q: np.ndarray) -> Iterator[str]:
    """Damping of each spring where the arm swings on it, and the modes."""
    inertia = robot.mass_matrix(q).diagonal()
    gears = robot.description.transmission
    springs = [2 * DAMPING * np.sqrt(x.stiffness * m) for x, m in zip(gears, inertia, strict=True)]
    yield f"damping of the springs {np.round(springs, 1)} N m s/rad"
    modes = find_locked_modes(flexible(elastic_coordinates(robot), q))
    cells = [f"{mode.frequency:.1f} Hz ({mode.damping:.3f})" for mode in modes]
    yield f"modes with rotors locked: {', '.join(cells)}"


def intervals(log: at.Log) -> Iterator[str]:
    """The interval of kr300_frame before and after gears 2 and 3 are measured on run A.

    With these gears known exactly it is as narrow as any measurement of them can make it; with
    others known too it shows what else decides.
    """
    robot = at.Robot.load("kr300")
    gears = []
    for gear in robot.description.transmission:
        if gear.joint in NOMINAL:
            own = {"stiffness": NOMINAL[gear.joint], "uncertainty": None, "delay": 0.0}
            gear = replace(gear, source=f"{RULE}, {gear.joint}", **own)
        gears.append(gear)
    before = robot.with_description(replace(robot.description, transmission=tuple(gears)))
    found = at.identify_transmission(before.with_payload("recorded"), [log])
    measured = found.robot.description.transmission
    after = before.with_description(replace(before.description, transmission=measured))
    exact = dict.fromkeys((f"gears.{name}" for name in NOMINAL), 0.0)
    servo = {f"servo.{x}": 0.0 for x in ("bandwidth", "damping", "integrator", "filters")}
    servo["servo.acceleration_feedforward"] = 0.0
    first = None
    for words, asked, known in (
        ("before", before, {}),
        ("after", after, {}),
        ("before, gears 2 and 3 known exactly", before, exact),
        ("after, gears 2 and 3 known exactly", after, exact),
        ("before, servo known", before, servo),
        ("after, servo known", after, servo),
        ("before, servo and gears 2 and 3 known exactly", before, {**servo, **exact}),
    ):
        job = at.Job.load("kr300_frame")
        job = at.Job(replace(job.description, uncertainty=Uncertainty(widths=known)), job.origin)
        band = at.assess(at.predict(job, asked), draws=256)
        low, middle, high = 300 * np.array(band.ratio)
        width = (high - low) / middle
        if words in ("before", "before, servo known"):
            first = width
        shares = [f"{x.quantity.name} {100 * x.share:.0f} %" for x in band.shares[:5]]
        yield (
            f"kr300_frame {words}: {low:.0f} to {high:.0f} µm, {100 * width:.0f} % of the median, "
            f"narrower by {100 * (1 - width / first):.0f} %; {', '.join(shares)}"
        )


def main(data: Path) -> None:
    """Print everything."""
    folder = data / "kuka_kr300"
    logs = {
        "A": at.Log.read(folder / "ident_A.csv.gz"),
        "B": at.Log.read(folder / "valid_B.csv.gz"),
    }
    robot = at.Robot.load("kr300").with_payload("recorded")
    identified = at.identify(steep(robot), [logs["A"]]).robot
    again = with_friction(robot, identified, robot.joint_names)
    for line in friction({"shipped": robot, "identified from run A again": again}):
        print(line)
    for line in stiffnesses({"shipped": robot, "no gears in the file": without_gears(robot)}, logs):
        print(line)
    for line in virtual():
        print(line)
    for name, log in logs.items():
        for joint in (1, 2):
            print(ring_down(name, log, joint))
    for line in damping(robot, logs["B"].q[-1]):
        print(line)
    for line in intervals(logs["A"]):
        print(line, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]))

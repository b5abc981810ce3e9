"""The hydraulic loops: the implicit step against explicit Runge-Kutta 4, one core, same run.

    python benchmarks/epaas.py [--quick]

Both integrate the same equations: bodies, levers, pistons with friction, oil, spools, delays,
proportional control. Each takes the longest step of its list at which halving it moves the first
peak by less than 0.01 ms; the times are CPU seconds for each simulated second.
"""

import os
import sys
import time
from dataclasses import replace

os.environ["ARMTWIN_THREADS"] = "1"
os.environ.setdefault("OMP_NUM_THREADS", "1")

import numpy as np

import armtwin as at
from armtwin.drives.hydraulics import no_load_speed
from armtwin.maths.compiled import compiled
from armtwin.maths.responses import step_features
from armtwin.mechanics import mass
from armtwin.robot.kinematics.strokes import drive_forces, levers
from armtwin.simulation.prepared import prepare
from armtwin.simulation.responses import AT_ONCE
from armtwin.simulation.setpoints import (
    build_step_motion,
    coordinates_of,
    home_of,
    hydraulic_model,
    joints_of,
)

QUICK = "--quick" in sys.argv
SECONDS = 0.03 if QUICK else 0.12
REPEATS = 1 if QUICK else 5
CLOSE = 1e-5  # of a first peak [s]
IMPLICIT_STEPS = (4e-5, 2e-5, 1e-5)
EXPLICIT_STEPS = (4e-5, 2e-5, 1e-5, 5e-6, 2.5e-6, 1.25e-6)
CASES = {"test set-up": ("epaas_bench", "cylinder", -0.23), "robot": ("epaas", "L1", -0.55)}
DOCUMENT_RATIO = 200

forward_dynamics = compiled(mass.forward_dynamics)


@compiled
def late(past, k, part, delay):
    """Value of a record `delay` steps before step k + part, linear between steps."""
    place = max(k + part - delay, 0.0)
    low = min(int(place), k - 1 if k > 0 else 0)
    return past[low] + (place - low) * (past[low + 1] - past[low])


@compiled
def rates(arm, rotors, weights, numbers, flow, y, current, tau, q, v, out):
    """Rates of joints, speeds, oil forces and spools.

    numbers, (drives, 11): squares, product and angle of the triangle (squares 0: none),
    compliance, leakage, level, viscous, speed of the friction, frequency and damping of the valve.
    """
    n = weights.shape[0]
    for j in range(n):
        q[j], v[j], tau[j] = y[j], y[n + j], 0.0
    for k in range(n):
        angle, turning = 0.0, 0.0
        for j in range(n):
            angle += weights[k, j] * y[j]
            turning += weights[k, j] * y[n + j]
        lever = 1.0
        if numbers[k, 0] > 0:
            length = np.sqrt(numbers[k, 0] - numbers[k, 1] * np.cos(angle + numbers[k, 2]))
            lever = numbers[k, 1] * np.sin(angle + numbers[k, 2]) / (2 * length)
        w, F = lever * turning, y[2 * n + k]
        force = F - numbers[k, 6] * w - numbers[k, 5] * np.tanh(w / numbers[k, 7])
        for j in range(n):
            tau[j] += lever * weights[k, j] * force
        x, dx = y[3 * n + k], y[4 * n + k]
        speed = no_load_speed(flow, k, x)
        out[2 * n + k] = (speed - w - numbers[k, 4] * F) / numbers[k, 3]
        out[3 * n + k] = dx
        out[4 * n + k] = (
            numbers[k, 8] ** 2 * (current[k] - x) - 2 * numbers[k, 9] * numbers[k, 8] * dx
        )
    a, _ = forward_dynamics(arm, rotors, q, v, tau)
    for j in range(n):
        out[j], out[n + j] = y[n + j], a[j]


@compiled
def explicit(arm, rotors, weights, numbers, flow, control, y, h, count, lengths, currents, out):
    """Runge-Kutta 4 of the whole loop.

    control, (drives, 7): gain, sensor gain, wanted length, sensor delay, valve delay [steps],
    current held at the start, current limit.
    """
    n = weights.shape[0]
    total, slope, z = np.zeros(5 * n), np.zeros(5 * n), np.zeros(5 * n)
    q, v, tau, current = np.zeros(n), np.zeros(n), np.zeros(n), np.zeros(n)
    for k in range(count):
        for m in range(n):
            angle = 0.0
            for j in range(n):
                angle += weights[m, j] * y[j]
            length = angle
            if numbers[m, 0] > 0:
                length = np.sqrt(numbers[m, 0] - numbers[m, 1] * np.cos(angle + numbers[m, 2]))
            lengths[m, k] = length
            seen = late(lengths[m], k, 0.0, control[m, 3])
            out[k, m] = seen
            if k == 0:
                continue  # the set-point jumps after the first step, as in the shipped loop
            command = control[m, 0] * control[m, 1] * (control[m, 2] - seen) + control[m, 5]
            currents[m, k] = min(max(command, -control[m, 6]), control[m, 6])
        for i in range(5 * n):
            total[i] = 0.0
        for stage in range(4):
            part = 0.0 if stage == 0 else (0.5 if stage < 3 else 1.0)
            for i in range(5 * n):
                z[i] = y[i] + part * h * slope[i]
            for m in range(n):
                current[m] = late(currents[m], k, part, control[m, 4])
            rates(arm, rotors, weights, numbers, flow, z, current, tau, q, v, slope)
            share = h / 6 if stage in (0, 3) else h / 3
            for i in range(5 * n):
                total[i] += share * slope[i]
        for i in range(5 * n):
            y[i] += total[i]


class Explicit:
    """A step response by explicit steps, in numbers that the kernel takes."""

    def __init__(self, robot, drive, volts):
        self.robot, self.volts = robot, volts
        model = hydraulic_model(robot)
        servo = robot.description.servo[model.servo]
        self.q0 = home_of(robot)
        drives = robot.assembly.drives
        self.names = [one.name for one, _ in drives]
        self.drive = self.names.index(drive)
        seen = levers(robot, self.q0[None])
        self.weights = np.ascontiguousarray(seen.weights)
        self.force = drive_forces(robot, self.q0[None], robot.gravity(self.q0)[None])[0]
        laws = {element.on: element.law for element, _ in robot.assembly.friction}
        self.numbers = np.zeros((len(drives), 10))
        self.control = np.zeros((len(drives), 7))
        points = max(len(one.circuit.oil.flow) for one, _ in drives)
        self.flow = np.zeros((len(drives), points, 2))
        self.opening = np.zeros(len(drives))
        self.delays = np.zeros((len(drives), 2))
        sensor = np.broadcast_to(np.array(servo.delay.sensor), len(drives))
        for k, (one, row) in enumerate(drives):
            oil, valve, law = one.circuit.oil, one.circuit.valve, laws[one.name]
            self.flow[k] = oil.flow[-1]
            self.flow[k, : len(oil.flow)] = oil.flow
            triangle = (0.0, 0.0, 0.0)
            if row.linkage is not None:
                triangle = row.linkage.squares, row.linkage.product, row.linkage.angle
            fading = getattr(law, "speed", 1e-3)
            friction = law.level, law.viscous, fading
            spool = valve.frequency, valve.damping
            self.numbers[k] = (*triangle, oil.compliance, oil.leakage, *friction, *spool)
            self.opening[k] = oil.opening(self.force[k])
            self.delays[k] = sensor[k], valve.delay
            wanted = seen.position[0, k]
            if k == self.drive:
                wanted += volts / servo.sensor_gain[k]
            limits = self.opening[k], valve.current_limit
            self.control[k] = (servo.gain[k], servo.sensor_gain[k], wanted, 0, 0, *limits)

    def run(self, h):
        """CPU seconds for each simulated second, and the first peak [s]."""
        n, count = len(self.names), round(SECONDS / h)
        control = self.control.copy()
        control[:, 3:5] = self.delays / h
        y = np.concatenate([self.q0, np.zeros(n), self.force, self.opening, np.zeros(n)])
        lengths = np.tile(levers(self.robot, self.q0[None]).position[0][:, None], (1, count + 1))
        currents = np.tile(self.opening[:, None], (1, count + 1))
        out = np.zeros((count, n))
        assembly = self.robot.assembly
        start = time.process_time()
        explicit(
            assembly.arm, assembly.rotors, self.weights, self.numbers, self.flow, control,
            y, h, count, lengths, currents, out,
        )  # fmt: skip
        spent = time.process_time() - start
        moved = (out - out[0])[:, self.drive]
        gain = self.control[self.drive, 1]
        if not np.isfinite(moved).all():
            return spent / SECONDS, np.nan
        found = step_features(np.arange(count) * h, gain * moved, self.volts)
        return spent / SECONDS, found.first_peak or np.nan


class Implicit:
    """A step response by the shipped loop, its kernel alone timed."""

    def __init__(self, robot, drive, volts):
        self.robot, self.drive, self.volts = robot, drive, volts

    def run(self, h):
        """CPU seconds for each simulated second, and the first peak [s]."""
        d = self.robot.description
        servo = replace(d.servo["proportional"], rate=round(1 / h))
        robot = at.Robot(replace(d, servo={"proportional": servo}))
        model = hydraulic_model(robot)
        q0 = home_of(robot)
        names = [one.name for one, _ in robot.assembly.drives]
        before = coordinates_of(robot, model, "volts", q0[None])[0]
        after = before.copy()
        after[names.index(self.drive)] += self.volts
        wanted = joints_of(robot, model, "volts", after[None], q0)[0]
        motion = build_step_motion(robot, model, [0.0, AT_ONCE], np.array([q0, wanted]), SECONDS)
        work = prepare(robot, motion, model)
        start = time.process_time()
        work.run()
        spent = time.process_time() - start
        seen = coordinates_of(robot, model, "volts", work.record.u)
        k = names.index(self.drive)
        times = np.arange(len(seen)) * h
        delay = np.broadcast_to(np.array(servo.delay.sensor), len(names))[k]
        moved = np.interp(times - delay, times, seen[:, k] - seen[0, k], left=0.0)
        found = step_features(times, moved, self.volts)
        return spent / SECONDS, found.first_peak or np.nan


def longest_step(loop, steps):
    """The longest step of a list at which halving it moves the first peak by less than CLOSE."""
    for h in steps:
        (_, peak), (_, halved) = loop.run(h), loop.run(h / 2)
        if abs(peak - halved) < CLOSE:
            return h, peak
    return steps[-1], peak


def main():
    """Print times of both loops and both ways."""
    times = {}
    for what, (name, drive, volts) in CASES.items():
        robot = at.Robot.load(name)
        for way, kind, steps in (
            ("implicit", Implicit, IMPLICIT_STEPS),
            ("explicit RK4", Explicit, EXPLICIT_STEPS),
        ):
            loop = kind(robot, drive, volts)
            h, peak = longest_step(loop, steps[-2:] if QUICK else steps)
            best = min(loop.run(h)[0] for _ in range(REPEATS))
            times[what, way] = best
            print(
                f"{what:12} {way:13} step {1e6 * h:5.2f} us, first peak {1e3 * peak:6.3f} ms, "
                f"{1 / best:6.2f} x real time"
            )
        ratio = times[what, "explicit RK4"] / times[what, "implicit"]
        print(f"{what:12} ratio explicit / implicit {ratio:.1f}")
    for way in ("implicit", "explicit RK4"):
        ratio = times["robot", way] / times["test set-up", way]
        print(
            f"ratio robot / test set-up, {way}: {ratio:.1f} (the document: over {DOCUMENT_RATIO})"
        )


if __name__ == "__main__":
    main()

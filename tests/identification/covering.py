"""Experiments of known truth, drawn again and again with other noise: do 95 % intervals cover it?

Each experiment is simulated once, and every draw has noise of its own. A draw gives for each number
its score: the error over the half width of the interval on that side. The truth is covered where it
is at most 1; of exact 95 % intervals with normal errors its root mean square is 1 / 1.96.
"""

from dataclasses import replace

import numpy as np
from scipy.interpolate import CubicSpline
from scipy.signal import lfilter

import armtwin as at
from armtwin.identification.actuator.oil_fit import Resonance, compute_resonance
from armtwin.robot.dynamics.bodies import parameters_of
from tests.identification.clamped import B, F, K, curve
from tests.identification.test_actuator import BENCH, measured as with_noisy_speed, noise_log
from tests.identification.test_warm_up import PERIOD, heating_rate, virtual_log
from tests.identification.virtual import NOISE, excitation, measured, on_the_bench
from tests.identification.virtual_calibration import calibrate
from tests.identification.virtual_friction import single_joint
from tests.simulation.test_worm import with_worms

RATE = 250.0


def score(truth, value, low, high):
    """Error over the half width on its side."""
    side = high - value if truth > value else value - low
    return float(abs(truth - value) / side)


def even_score(truth, value, half_width):
    """As above, of an interval that is as wide on both sides."""
    return float(abs(truth - value) / half_width)


def friction_curves():
    """Joint 1 of the RX90B: 20 speeds, three series, 2 % of noise."""
    robot = at.Robot.load("rx90b")
    law = robot.description.friction[0].law

    def draw(rng):
        curves = single_joint(robot, "joint_1", rng)
        fit = at.fit_friction(robot, curves, gravity="pose", law="geared_joint").groups[0].fit
        ends = zip(fit.names, fit.values, fit.low, fit.high, strict=True)
        return {name: score(getattr(law, name), *three) for (_, name), *three in ends}

    return draw


def payload_runs():
    """Runs of the RX90B without and with its head, quantised, without noise."""
    bare, head = on_the_bench(), on_the_bench("laser_head")
    motion = excitation(head, 1, periods=2)
    return bare, head, [measured(robot, motion, 1, noise=0.0) for robot in (bare, head)]


def noisy(robot, log, rng):
    """Torques of a log with white noise."""
    return log.tau + NOISE * robot.limits.torque * rng.normal(size=log.tau.shape)


def payload():
    """Mass, centre and inertia of the head by the difference of two runs."""
    bare, head, silent = payload_runs()
    body = head.description.tool["laser_head"].body
    six = body.inertia
    truth = [body.mass, *body.com, six.xx, six.yy, six.zz, six.xy, six.xz, six.yz]

    def draw(rng):
        runs = [at.Log.of(log.time, q=log.q, tau=noisy(bare, log, rng)) for log in silent]
        table = at.identify_payload(bare, *runs, cutoff=10.0).table
        rows = zip(truth, table, strict=True)
        return {row.name: score(x, row.value, row.low, row.high) for x, row in rows}

    return draw


def torque_constants():
    """Torque constants of the motors by the head, whose mass is known."""
    bare, head, silent = payload_runs()
    mass = float(parameters_of(head.description.tool["laser_head"].body)[0])
    motors = bare.description.motor
    truth = np.array([motor.torque_constant for motor in motors])

    def draw(rng):
        runs = []
        for log in silent:
            current = noisy(bare, log, rng) @ bare.assembly.motor_inverse / truth
            runs.append(at.Log.of(log.time, q=log.q, current=current))
        gain = at.identify_drive_gains(bare, *runs, mass, torque="current", cutoff=10.0).gain
        ends = zip(motors, truth, gain.constants, gain.low, gain.high, strict=True)
        return {motor.name: score(*four) for motor, *four in ends}

    return draw


def warm_up():
    """Joint 4 of the LWA4P over two hours, 10 % of noise in each sample."""
    robot, joint, amplitude = at.Robot.load("lwa4p"), "joint_4", 0.55
    silent, element, run = virtual_log(
        robot, joint, amplitude, int(2 * 3600 / PERIOD), np.random.default_rng(0), noise=0.0
    )
    truth = 1 / heating_rate(element, amplitude, run.temperature[-1])
    size = 0.1 * np.abs(silent.tau).max(axis=0)

    def draw(rng):
        tau = silent.tau + size * rng.standard_normal(silent.tau.shape)
        log = at.Log.of(silent.time, q=silent.q, tau=tau)
        (row,) = at.identify_warm_up(log, period=PERIOD).table
        ends = (row.time_constant_low, row.time_constant_high)
        return {"time_constant": score(truth, row.time_constant, *ends)}

    return draw


def clamping():
    """Six cycles on the bench; torques with 0.1 N m of noise, angles with 0.1 mrad."""
    silent = curve(cycles=4, rate=15)

    def draw(rng):
        tau = silent.tau_m + 0.1 * rng.standard_normal(silent.tau_m.shape)
        q = silent.q_m + 1e-4 * rng.standard_normal(silent.q_m.shape)
        found = at.clamp(at.Log.of(silent.time, q_m=q, tau_m=tau)).squares.found
        return {
            "stiffness": even_score(K, found.stiffness, found.stiffness_half),
            "backlash": even_score(B, found.backlash, found.backlash_half),
            "friction": even_score(F, found.friction, found.friction_half),
        }

    return draw


def transmission():
    """The KR300 with elastic joints and late link encoders; a run-out of 40 µrad of their discs and
    40 µrad of noise are together what the KR300's own logs leave.
    """
    robot, late = at.Robot.load("kr300"), 3e-3
    springs = [replace(spring, backlash=None) for spring in robot.description.transmission]
    robot = at.Robot(replace(robot.description, transmission=tuple(springs)), robot.origin)
    time = np.arange(0, 10, 1 / RATE)[:, None]
    w = 2 * np.pi * np.array([0.31, 0.23, 0.37, 0.41, 0.29, 0.43])
    size = np.array([0.5, 0.25, 0.25, 0.4, 0.3, 0.5])
    ramp = np.clip(time, 0, 1) ** 2 * (3 - 2 * np.clip(time, 0, 1))
    q = size * np.sin(w * time) * ramp
    v = np.gradient(q, 1 / RATE, axis=0)
    asked = at.Trajectory.sampled(RATE, q, v, np.gradient(v, 1 / RATE, axis=0))
    log = at.simulate(robot, asked, at.Model(joints="elastic", quantise=False)).log
    keep = slice(10, None)
    # a torque is held for a cycle: at its beginning the mean of both acts
    acting = 0.5 * (log.tau_m[9:-1] + log.tau_m[10:])
    q_link = CubicSpline(log.time, log.q_link)(log.time - late)[keep]
    truth = {row.joint: row.stiffness for row in robot.description.transmission}

    def draw(rng):
        a, b = 4e-5 * rng.standard_normal((2, 6))
        seen = q_link + a * np.cos(q_link) + b * np.sin(q_link)
        seen += 4e-5 * rng.standard_normal(q_link.shape)
        one = at.Log.of(log.time[keep], q=log.q[keep], tau_m=acting, q_link=seen)
        found = at.identify_transmission(robot, [one])
        scores = {"offset": even_score(late, found.offset, found.fit.offset_half)}
        for row in found.table:
            if row.stiffness is not None and not row.is_poor:  # a poor one is nobody's number
                scores[row.name] = score(truth[row.name], row.stiffness, *row.interval)
        return scores

    return draw


def actuator():
    """Noise with three weights on the test set-up, 30 % of noise in the speeds."""
    weights = (2.7, 5.1, 9.0)
    logs = [noise_log(mass) for mass in weights]

    def draw(rng):
        found = at.identify_actuator(
            BENCH, [with_noisy_speed(log, rng, 0.3) for log in logs], weights
        )
        return {row.name: even_score(row.prior, row.value, row.half_width) for row in found.table}

    return draw


def resonances():
    """Oil of a cylinder from five resonances, 1 % of noise in each."""
    truth, mass = np.array([1.1e-6, 6e-5, 400.0]), np.array([2.7, 5.1, 9.0, 14.0, 20.0])
    frequency, damping = compute_resonance(*truth, mass)

    def draw(rng):
        noise = 1 + 0.01 * rng.normal(size=(2, 5))
        numbers = zip(mass, frequency * noise[0], damping * noise[1], strict=True)
        table = at.fit_oil([Resonance(*map(float, row)) for row in numbers]).table
        rows = zip(truth, table, strict=True)
        return {row["name"]: even_score(x, row["value"], row["half_width"]) for x, row in rows}

    return draw


def servo():
    """A velocity law of the KR300, integrated at 5 kHz; 0.1 mrad of noise in the positions.

    v = v_ref(t - d) + k_p (q_ref - q) + k_ff τ
    """
    robot = at.Robot.load("kr300").with_payload("recorded")
    kp, late, gain, finer = 2.0, 0.006, 0.3, 20
    chance = np.random.default_rng(1)
    step = 1 / (finer * RATE)
    t = np.arange(round(20.0 / step) + 1) * step
    edge = np.clip(np.minimum(t, t[-1] - t) / 2.0, 0, 1)
    q_ref = np.zeros((len(t), robot.n))
    for harmonic in range(1, 6):
        phase = chance.uniform(0, 2 * np.pi, robot.n)
        q_ref += 0.25 * np.sin(2 * np.pi * harmonic * t[:, None] / 8 + phase) / harmonic
    q_ref *= (edge**3 * (10 - 15 * edge + 6 * edge**2))[:, None]
    v = np.gradient(q_ref, step, axis=0)
    a = np.gradient(v, step, axis=0)
    joint = robot.inverse_dynamics(q_ref, v, a) + robot.friction_torque(v, q_ref)
    fed = joint @ robot.assembly.motor_inverse / np.diag(robot.assembly.gear)
    delayed = np.roll(v, round(late / step), axis=0)
    delayed[: round(late / step)] = 0.0
    pull = v - delayed - gain * (fed - fed[0])
    error = lfilter([0.5 * step, 0.5 * step], [1 + 0.5 * kp * step, 0.5 * kp * step - 1], pull, 0)
    time, q_ref, q = t[::finer], q_ref[::finer], (q_ref - error)[::finer]

    def draw(rng):
        seen = q + 1e-4 * rng.standard_normal(q.shape)
        found = at.identify_servo(robot, at.Log.of(time, q=seen, q_ref=q_ref))
        scores = {}
        for row in found.table:
            for name, truth in (("kp", kp), ("delay", late), ("ff_gain", gain)):
                half = row.interval[name]
                scores[f"{row.name} {name}"] = even_score(truth, getattr(row, name), half)
        return scores

    return draw


def worm():
    """Worm gears of the RX90B with and without its head, 0.2 N m of noise in the torques."""
    robot, share = at.Robot.load("rx90b"), 0.25
    chance = np.random.default_rng(3)
    t = np.arange(0, 12, 1 / RATE)[:, None]
    q = np.tile([0, 0.6, 1.3, 0.2, 1.0, 0.1], (len(t), 1))
    v, a = np.zeros_like(q), np.zeros_like(q)
    for k in range(1, 6):
        size = chance.normal(size=6) * np.array([0.05, 0.04, 0.05, 0.1, 0.14, 0.14])
        w = 2 * np.pi * k / 12
        q, v = q + size / w * (1 - np.cos(w * t)), v + size * np.sin(w * t)
        a = a + size * w * np.cos(w * t)
    motion = at.Trajectory.sampled(RATE, q, v, a)
    truth = with_worms(robot, share)
    tools = (None, "laser_head")
    silent = []
    for tool in tools:
        run = at.simulate(truth.with_tool(tool), motion, at.Model(), settle=(0.2, 0.2))
        silent.append(run.log)

    def draw(rng):
        logs = []
        for log in silent:
            tau = log.tau + 0.2 * rng.standard_normal(log.tau.shape)
            logs.append(at.Log.of(log.time, q=log.q, tau=tau))
        scores = {}
        for row in at.identify_worm(robot, logs, tools, ["wrist_a", "wrist_c"]).table:
            number = share if row.name == "load.share" else row.prior
            scores[f"{row.element} {row.name}"] = even_score(number, row.value, row.half_width)
        return scores

    return draw


def calibration(case):
    """Geometry of an arm that is built otherwise, from 30 measured positions of its tool."""

    def draw(rng):
        found, truth, _ = calibrate(case, rng)
        scores = {}
        for row, place in zip(found.table, found.kept, strict=True):
            scores[row.name] = score(truth[place], row.value, row.low, row.high)
        return scores

    return draw


EXPERIMENTS = {
    "friction curves": friction_curves,
    "payload": payload,
    "torque constants": torque_constants,
    "warm-up": warm_up,
    "clamping": clamping,
    "transmission": transmission,
    "actuator": actuator,
    "resonances": resonances,
    "servo": servo,
    "worm": worm,
    "calibration of rx90b": lambda: calibration("rx90b"),
    "calibration of epaas": lambda: calibration("epaas, triangles"),
}


def draw_scores(name, draws, seed=0):
    """Names of the numbers of an experiment, and their scores in draws, (draws, numbers)."""
    draw = EXPERIMENTS[name]()
    rows = [draw(np.random.default_rng([seed, k])) for k in range(draws)]
    names = list(rows[0])
    return names, np.array([[row.get(key, np.nan) for key in names] for row in rows])

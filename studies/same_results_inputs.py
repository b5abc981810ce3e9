"""Files that the cases of same_results_cases.py read where no measured data exist."""

from pathlib import Path

import numpy as np

import armtwin as at

INPUTS = "inputs"
RATE, SECONDS, PERIOD, HARMONICS = 100.0, 16.0, 4.0, 5
MIDDLE = np.array([0.1, -0.6, 1.3, 0.2, 1.0, 0.1])  # posture about which the RX90B moves [rad]
SWING = np.array([0.5, 0.3, 0.4, 0.5, 0.5, 0.8])  # largest amplitude of a harmonic [rad]
NOISE = np.array([0.1, 0.1, 0.1, 0.03, 0.02, 0.01])  # of the torques [N m]
FEED_FORWARD, GAIN = 0.95, 12.0  # of the speed; of the position [1/s]
SPEEDS = np.geomspace(0.005, 4.5, 16)  # of friction curves [rad/s]

BEAD = """format = 1
title = "Straight bead of 200 mm"
robot = "{robot}"
speed = "100 mm/s"
tolerance = {{ lateral = "0.5 mm", vertical = "0.5 mm" }}
start = ["0 mm", "0 mm", "0 mm"]
[workpiece]
position = ["500 mm", "-100 mm", "-100 mm"]
[cell]
floor = "-700 mm"
[orientation]
mode = "fixed"
tool = {{ rpy = ["180 deg", "0 deg", "0 deg"] }}
[[segment]]
name = "bead"
lin = ["0 mm", "200 mm", "0 mm"]
"""

ELASTIC = """format = 1
title = "A short line of the RX90B on elastic joints"
robot = "rx90b"
tool = "laser_head"
speed = "200 mm/s"
tolerance = { lateral = "0.1 mm", vertical = "0.1 mm" }
start = ["0 mm", "-50 mm", "0 mm"]
[workpiece]
position = ["425 mm", "0 mm", "-50 mm"]
[orientation]
mode = "follow"
tool = { rpy = ["180 deg", "0 deg", "90 deg"] }
[[segment]]
name = "seam"
lin = ["0 mm", "50 mm", "0 mm"]
[time_law]
kind = "ramped_sine"
ramp = "0.05 s"
[model]
joints = "elastic"
"""

SWEEP = """format = 1
jobs = ["rx90b_line"]
[[axis]]
key = "workpiece.position.1"
label = "x"
values = ["400 mm", "425 mm", "900 mm"]
[[axis]]
key = "speed"
values = ["150 mm/s", "300 mm/s"]
"""

WEIGHT = """format = 1
duration = "1.5 s"
rate = "2500 Hz"
[setup]
kind = "hydraulic"
robot = "epaas_bench"
override = {{ "payload.weight_5_1.body.mass" = "{mass} kg" }}
[[setpoint]]
on = "cylinder"
kind = "noise"
rms = "2.5 mV"
highest = "500 Hz"
"""

RESONANCES = "mass, frequency, damping\n2.7, 79.9, 0.238\n4.1, 70, 0.198\n5.1, 63, 0.187\n"
CELL = 'format = 1\n[cell]\nfloor = "-100 mm"\n'


def write_inputs(folder: Path) -> None:
    """Write all of them."""
    folder.mkdir(exist_ok=True)
    texts = {
        "bead_ur10e.toml": BEAD.format(robot="../complete_ur10e/robot.toml"),
        "bead_puma.toml": BEAD.format(robot="../complete_puma/robot.toml"),
        "elastic.toml": ELASTIC,
        "sweep.toml": SWEEP,
        "weight_2_7.toml": WEIGHT.format(mass=2.7),
        "weight_9.toml": WEIGHT.format(mass=9.0),
        "resonances.csv": RESONANCES,
        "cell.toml": CELL,
        "puma560.urdf": (_docs() / "puma560.urdf").read_text(encoding="utf-8"),
    }
    for name, text in texts.items():
        (folder / name).write_text(text, encoding="utf-8")
    _write_excitations(folder)
    _write_friction(folder)
    _write_warm_up(folder)


def _docs() -> Path:
    return Path(__file__).resolve().parents[1] / "docs"


def _write_excitations(folder: Path) -> None:
    """Logs of the RX90B on three motions, and of the first with its head."""
    robot = at.Robot.load("rx90b")
    for name, seed, tool in (("a", 1, None), ("b", 2, None), ("c", 3, None), ("head", 1, "head")):
        loaded = robot.with_tool("laser_head") if tool else robot
        t, q, v, a = _motion(seed)
        tau = loaded.inverse_dynamics(q, v, a) + loaded.friction_torque(v)
        tau += NOISE * np.random.default_rng([seed, loaded is robot]).normal(size=tau.shape)
        at.Log.of(t, q=q, q_ref=q, tau=tau).write(folder / f"rx90b_{name}.csv")
        followed = _follow(q, v)
        at.Log.of(t, q=followed, q_ref=q, v_ref=v).write(folder / f"rx90b_{name}_servo.csv")


def _motion(seed: int) -> tuple[np.ndarray, ...]:
    """Time, positions, speeds and accelerations of a sum of harmonics."""
    t = np.arange(round(SECONDS * RATE)) / RATE
    w = 2 * np.pi / PERIOD * np.arange(1, HARMONICS + 1)
    shape = np.random.default_rng(seed).uniform(-1, 1, (2, HARMONICS, len(MIDDLE)))
    cosine, sine = shape * SWING / np.arange(1, HARMONICS + 1)[:, None]
    angle, w = np.outer(t, w), w[:, None]
    q = np.cos(angle) @ cosine + np.sin(angle) @ sine
    v = np.cos(angle) @ (sine * w) - np.sin(angle) @ (cosine * w)
    return t, MIDDLE + q, v, -np.cos(angle) @ (cosine * w**2) - np.sin(angle) @ (sine * w**2)


def _follow(q_ref: np.ndarray, v_ref: np.ndarray) -> np.ndarray:
    """Positions under a servo that commands the speed FEED_FORWARD v_ref + GAIN (q_ref - q)."""
    q = q_ref.copy()
    for k in range(len(q) - 1):
        q[k + 1] = q[k] + (FEED_FORWARD * v_ref[k] + GAIN * (q_ref[k] - q[k])) / RATE
    return q


def _write_friction(folder: Path) -> None:
    """Curves of joints 1 and 3 of the RX90B, and slow reversals of joint 1."""
    robot = at.Robot.load("rx90b")
    chance = np.random.default_rng(5)
    lines = ["joint,v,tau"]
    for joint in (0, 2):
        v = np.zeros((2 * len(SPEEDS), robot.n))
        v[:, joint] = [*SPEEDS, *-SPEEDS]
        tau = robot.friction_torque(v)[:, joint] * (1 + 0.02 * chance.normal(size=len(v))) + 3
        rows = zip(v[:, joint], tau, strict=True)
        lines += [f"joint_{joint + 1},{speed:.9g},{torque:.9g}" for speed, torque in rows]
    (folder / "curves.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    _write_reversals(robot, folder / "reversals.csv")


def _write_reversals(robot: at.Robot, file: Path) -> None:
    """Joint 1 turned back and forth slowly: torque that builds up to a level over a distance."""
    level, stiffness = 20.0, 2e5
    leg = np.linspace(0, 2e-3, 400)
    travel = np.concatenate([leg, leg[::-1], leg, leg[::-1]])
    tau = np.zeros(len(travel))
    for k, step in enumerate(np.diff(travel), start=1):
        steady = np.sign(step) * level
        tau[k] = steady + (tau[k - 1] - steady) * np.exp(-abs(step) * stiffness / level)
    q, torque = np.zeros((2, len(travel), robot.n))
    q[:, 0], torque[:, 0] = travel, tau
    at.Log.of(np.arange(len(travel)) / RATE, q=q, tau=torque + robot.gravity(q)).write(file)


def _write_warm_up(folder: Path) -> None:
    """A sine of 4 s over and over, with a friction that falls in 300 s by a third."""
    t = np.arange(0, 240 * PERIOD, 0.05)
    w = 2 * np.pi / PERIOD
    v = 0.5 * np.cos(w * t)
    warm = 2 + np.exp(-np.floor(t / PERIOD) * PERIOD / 300)
    tau = warm * np.tanh(v / 0.01) + 0.02 * np.random.default_rng(7).normal(size=len(t))
    log = at.Log.of(t, q=(0.5 / w * np.sin(w * t))[:, None], tau=tau[:, None])
    log.write(folder / "warm.csv")

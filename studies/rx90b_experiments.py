"""Write the experiments of document 000, chapters 3 and 4, that are shipped with the RX90B.

    python studies/rx90b_experiments.py [FOLDER]

Speeds are trapezoids with ramps of straight pieces; the wrist runs are the document's, in which the
coupled contact turns at twice the speed of the joints, and others that turn each pair of contacts.
"""

import sys
from pathlib import Path

import numpy as np

SPEEDS = (0.01, 0.03, 0.1, 0.2, 0.4, 0.8, 1.2)  # [rad/s]
TRAVEL, LONGEST = 1.2, 2.0  # of a trapezoid at most [rad], [s]
RAMP, PIECES = 0.3, 6  # of a change of speed [s]
PERIOD, STEP = 8.0, 0.05  # of the harmonics, and of their straight pieces [s]
UP = [0.0] * 6  # arm straight up
OUT = [0.0, 0.6, 1.2, 0.0, 0.6, 0.0]  # arm bent


def trapezoids(speeds, sign=1.0):
    """Times and positions of motions there and back at each speed."""
    times, values = [0.0, 1.0], [0.0, 0.0]

    def go(speed, seconds):
        times.append(times[-1] + seconds)
        values.append(values[-1] + speed * seconds)

    for speed in speeds:
        hold = min(LONGEST, TRAVEL / speed)
        for v in (speed, -speed):
            shares = (np.arange(PIECES) + 0.5) / PIECES
            for share in shares:
                go(v * share, RAMP / PIECES)
            go(v, hold)
            for share in shares[::-1]:
                go(v * share, RAMP / PIECES)
            go(0.0, 0.3)
    return np.round(times, 4).tolist(), np.round(sign * np.array(values), 6).tolist()


def staircase(speeds):
    """One motion whose speed rises in steps, and back."""
    times, values = [0.0, 1.0], [0.0, 0.0]
    before = 0.0
    for v in (*speeds, 0.0, *(-speed for speed in speeds), 0.0):
        for share in (np.arange(PIECES) + 0.5) / PIECES:
            times.append(times[-1] + RAMP / PIECES)
            values.append(values[-1] + (before + share * (v - before)) * RAMP / PIECES)
        seconds = min(LONGEST, 0.4 / max(abs(v), 0.4))
        times.append(times[-1] + seconds)
        values.append(values[-1] + v * seconds)
        before = v
    return np.round(times, 4).tolist(), np.round(values, 6).tolist()


def harmonics(size, seed, centre):
    """Two periods of five harmonics that begin and end at rest, in straight pieces."""
    t = np.round(np.arange(0.0, 2 * PERIOD + STEP, STEP), 4)
    orders = np.arange(1, 6)
    a, b = np.random.default_rng(seed).normal(size=(2, len(orders))) / orders
    angle = 2 * np.pi / PERIOD * np.outer(t, orders)
    x = np.sin(angle) @ a + np.cos(angle) @ b
    rise = np.clip(np.minimum(t, t[-1] - t) / 2.0, 0, 1)
    x *= rise**3 * (10 - 15 * rise + 6 * rise**2)
    return t.tolist(), np.round(centre + size * x / np.abs(x).max(), 5).tolist()


def ramps(on, times, values):
    """A set-point of straight pieces."""
    return f'[[setpoint]]\non = "{on}"\nkind = "ramps"\ntimes = {times}\nvalues = {values}\n'


def experiment(note, title, duration, setpoints, posture=UP, more=""):
    """Text of an experiment file."""
    head = (
        f'# {note}\nformat = 1\ntitle = "{title}"\nduration = "{duration:g} s"\nrate = "250 Hz"\n'
    )
    degrees = ", ".join(f'"{np.degrees(x):g} deg"' for x in posture)
    setup = f'[setup]\nkind = "robot"\nrobot = "rx90b"\nposture = [{degrees}]\n{more}'
    return f"{head}\n{setup}\n" + "\n".join(setpoints)


def all_experiments():
    """Texts by name."""
    found = {}
    times, values = trapezoids(SPEEDS)
    end = times[-1]
    of = "Document 000"
    found["rx90b_trapezoids"] = experiment(
        f"{of}, section 3.3: Stribeck curve of joint 1 from trapezoids of the speed.",
        "RX90B, joint 1 on trapezoids of the speed",
        end,
        [ramps("joint_1", times, values)],
    )
    t, x = staircase(SPEEDS)
    found["rx90b_staircase"] = experiment(
        f"{of}, section 3.3: the same from one staircase of the speed.",
        "RX90B, joint 1 on a staircase of the speed",
        t[-1],
        [ramps("joint_1", t, x)],
    )
    back = trapezoids(SPEEDS, -1.0)
    wrist = {
        "rx90b_wrist_5": ("joint 5 alone", [ramps("joint_5", times, values)]),
        "rx90b_wrist_6": ("joint 6 alone", [ramps("joint_6", times, values)]),
        "rx90b_wrist_together": (
            "joints 5 and 6 alike, contact c at twice the speed",
            [ramps("joint_5", times, values), ramps("joint_6", times, values)],
        ),
        "rx90b_wrist_opposed": (
            "joint 6 against joint 5, contact c at rest",
            [ramps("joint_5", times, values), ramps("joint_6", *back)],
        ),
    }
    for name, (what, points) in wrist.items():
        note = f"{of}, section 3.5.2: friction of the coupled wrist, {what}."
        found[name] = experiment(note, f"RX90B wrist, {what}", end, points)
    for k, kelvin in enumerate((298.15, 303.15, 308.15, 313.15), 1):
        found[f"rx90b_warm_{k}"] = experiment(
            f"{of}, section 3.7: Stribeck curve of joint 1 after the warm-up to a temperature.",
            f"RX90B, joint 1 on trapezoids at {kelvin - 273.15:g} degC",
            end,
            [ramps("joint_1", times, values)],
            more=f"model = {{ temperature = {kelvin} }}\n",
        )
    found["rx90b_break_away"] = experiment(
        f"{of}, section 3.8: break-away of joint 1, whose set-point creeps from rest.",
        "RX90B, break-away of joint 1",
        12,
        [ramps("joint_1", [0, 1, 11, 12], [0, 0, 0.02, 0.02])],
    )
    found["rx90b_reversal"] = experiment(
        f"{of}, figure 3.16: slow reversals of joint 1 within pre-sliding and beyond.",
        "RX90B, slow reversals of joint 1",
        20,
        [
            '[[setpoint]]\non = "joint_1"\nkind = "triangle"\namplitude = 0.02\nperiod = "4 s"\n'
            'start = "1 s"\n'
        ],
    )
    sizes = (0.8, 0.4, 0.5, 1.0, 0.8, 1.2)
    points = []
    for j, size in enumerate(sizes, 1):
        points.append(ramps(f"joint_{j}", *harmonics(size, j, OUT[j - 1])))
    for name, what, more in (
        ("rx90b_identification", "its arm alone", ""),
        ("rx90b_identification_head", "with the laser head", 'tool = "laser_head"\n'),
    ):
        found[name] = experiment(
            f"{of}, sections 4.4 and 4.5: a run for identification, {what}; both: the payload.",
            f"RX90B, run for identification, {what}",
            2 * PERIOD,
            points,
            OUT,
            more,
        )
    return found


def main():
    """Write the files."""
    root = Path(__file__).parents[1]
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else root / "src/armtwin/jobs/experiments"
    for name, text in all_experiments().items():
        (folder / f"{name}.toml").write_text(text, encoding="utf-8")
        print(folder / f"{name}.toml")


if __name__ == "__main__":
    main()

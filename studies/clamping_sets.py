"""Clamping curves from a generator of their own, identified: what is headlined must hold.

    python studies/clamping_sets.py [COUNT [FIRST]]

The generator shares no code with the package: quasi-static equations, one sample after the other.

    torque drives:  y = the nearest to the former y with |tau - y| <= F,  q = q_0 + y / K ± b / 2
    angle drives:   tau = K beyond(q - q_0) + f,   df = k (1 - f s / F) dq with s = sign(dq)

The motor sticks while a wave of a driving torque swings back; a wave of other joints, where the
angle drives, is in the logged torque alone. Friction is up to 0.9 of the largest torque, encoders
have 256 to 65 536 lines, sampling is 5 to 250 Hz, the torque may be off-centre, and the clamp may
settle during the first half-cycles.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

import armtwin as at

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClampingSet:
    """A clamping curve and its truth, on the motor side.

    Attributes:
        log: Motor angle and torque as they are logged.
        truth: Stiffness [N m/rad], backlash [rad] and friction [N m].
        share: Friction over the largest torque.
        lines: Lines of the encoder in a turn.
        noise: Standard deviation of the angle before the encoder [rad].
        words: What it is like.
    """

    log: at.Log
    truth: dict[str, float]
    share: float
    lines: int
    noise: float
    words: str

    @property
    def is_ordinary(self) -> bool:
        """Whether friction, encoder and noise are those of an ordinary experiment."""
        return self.share <= 0.6 and self.lines >= 4096 and self.noise < 5e-4


def swing(time: Floats, period: float, even: bool) -> Floats:
    """Between -1 and 1 from 0 upwards: at even speed, or as a sine."""
    if even:
        return 1 - 4 * np.abs(np.mod(time / period + 0.25, 1.0) - 0.5)
    return np.sin(2 * np.pi * time / period)


def follow_torque(tau: Floats, K: float, b: float, friction: tuple[float, float]) -> Floats:
    """Angle of a motor that a torque drives; friction forward and back."""
    spring, side = 0.0, 1.0
    q = np.empty(len(tau))
    for k, torque in enumerate(tau):
        spring = min(max(spring, torque - friction[0]), torque + friction[1])
        side = np.sign(spring) or side
        q[k] = spring / K + 0.5 * b * side
    return q


def follow_angle(q: Floats, K: float, b: float, friction: tuple[float, float], r: float) -> Floats:
    """Torque of a motor whose angle is driven; friction changes sides within about r [rad]."""
    spring = K * (q - np.clip(q, -0.5 * b, 0.5 * b))
    f, tau = 0.0, np.empty(len(q))
    tau[0] = spring[0]
    for k in range(1, len(q)):
        move = q[k] - q[k - 1]
        level = friction[0] if move > 0 else -friction[1]
        f = level + (f - level) * np.exp(-abs(move) / r)
        tau[k] = spring[k] + f
    return tau


def make_set(seed: int) -> ClampingSet:
    """A random clamping curve."""
    rng = np.random.default_rng([33, seed])
    twist = rng.uniform(0.08, 0.6)
    share = rng.uniform(0.03, 0.9)
    largest = 10 ** rng.uniform(-0.5, 2.2)  # torque of a motor [N m]
    K = largest * (1 - share) / twist
    F = share / (1 - share) * K * twist
    peak = K * twist + F
    b = 0.0 if rng.random() < 0.2 else 2 * twist * rng.uniform(0.005, 0.15)
    uneven = rng.uniform(-0.1, 0.1) if rng.random() < 0.5 else 0.0
    friction = (F * (1 + uneven), F * (1 - uneven))
    half = rng.uniform(4.0, 15.0)
    rate = 5 * 50 ** rng.random()
    cycles = rng.uniform(2.6, 7)
    fine = int(np.ceil(60 / rate))
    instants = np.arange(0, cycles * 2 * half, 1 / (rate * fine))
    off = rng.uniform(-1.5, 1.5) if rng.random() < 0.3 else 0.0
    even, by_torque = rng.random() < 0.6, rng.random() < 0.5
    wave = rng.uniform(0.02, 0.5) * min(F, K * twist) if rng.random() < 0.4 else 0.0
    hum = wave * np.sin(2 * np.pi * instants / rng.uniform(0.6, 4.0))
    move = swing(instants, 2 * half, even)
    if by_torque:
        tau = peak * move + off * K * twist * np.minimum(instants / half, 1) + hum
        q = follow_torque(tau, K, b, friction)
    else:
        q = (twist + b / 2) * move + off * twist * np.minimum(instants / half, 1)
        r = twist * 10 ** rng.uniform(-3, -1.3)
        tau = follow_angle(q, K, b, friction, r) + hum
    kept = slice(None, None, fine)
    time, q, tau = instants[kept], q[kept] + rng.uniform(-3, 3), tau[kept]
    settles = rng.uniform(0.02, 0.2) * np.ptp(q) if rng.random() < 0.4 else 0.0
    q = q + settles * np.exp(-time / (rng.uniform(0.2, 1.0) * half))
    noise = 10 ** rng.uniform(-5, -2.5)
    torque_noise = peak * 10 ** rng.uniform(-3.3, -1.7)
    lines = 2 ** int(rng.integers(8, 17))
    step = 2 * np.pi / lines
    q = step * np.round((q + noise * rng.standard_normal(len(q))) / step)
    tau = tau + torque_noise * rng.standard_normal(len(tau))
    log = at.Log.of(time, q_m=q[:, None], tau_m=tau[:, None])
    words = (
        f"{'torque' if by_torque else 'angle'} {'even' if even else 'sine'} F/peak {share:.2f} "
        f"twist {twist:.2f} lines {lines} noise {1e3 * noise:.2f} mrad {torque_noise / peak:.2%} "
        f"{rate:.0f} Hz wave/F {wave / F:.2f} off {off:.2f} settles {settles / np.ptp(q):.2f} "
        f"cycles {cycles:.1f}"
    )
    truth = {"stiffness": K, "backlash": b, "friction": F}
    return ClampingSet(log, truth, share, lines, noise, words)


NUMBERS = ("stiffness", "backlash", "friction")
WRONG = 0.1  # error of a headlined number that must not be


@dataclass(frozen=True)
class Outcome:
    """What became of a set.

    Attributes:
        seed: Its number.
        ordinary: Whether it is ordinary.
        refused: Why nothing is headlined; "" where something is.
        errors: Relative error of each headlined number.
        covered: Whether its interval covers the truth.
        words: What the set is like.
    """

    seed: int
    ordinary: bool
    refused: str
    errors: dict[str, float]
    covered: dict[str, bool]
    words: str

    @property
    def is_wrong(self) -> bool:
        """Whether a headlined number is wrong."""
        return max(map(abs, self.errors.values()), default=0.0) > WRONG


def judge(seed: int) -> Outcome:
    """Identify a set and compare what is headlined with its truth."""
    made = make_set(seed)
    errors: dict[str, float] = {}
    covered: dict[str, bool] = {}
    try:
        result = at.clamp(made.log)
    except at.ArmtwinError as error:
        return Outcome(seed, made.is_ordinary, str(error), errors, covered, made.words)
    best, refused = result.best, " ".join(result.headline.doubts)
    for name in NUMBERS:
        value = getattr(best, name)
        if value is None:
            continue
        away = value - made.truth[name]
        errors[name] = away / made.truth[name] if made.truth[name] else np.inf
        covered[name] = abs(away) <= getattr(best, f"{name}_half")
    return Outcome(seed, made.is_ordinary, refused, errors, covered, made.words)


def main(count: int, first: int) -> None:
    """Print the sets that are refused, wrong or not covered, and the shares of all."""
    outcomes = []
    for seed in range(first, first + count):
        found = judge(seed)
        outcomes.append(found)
        uncovered = [name for name, inside in found.covered.items() if not inside]
        if found.refused or found.is_wrong or uncovered:
            shares = ", ".join(f"{name} {100 * x:+.2f} %" for name, x in found.errors.items())
            kind = "WRONG" if found.is_wrong else "refused" if found.refused else "not covered"
            note = found.refused or f"{shares}; not covered: {', '.join(uncovered)}"
            print(f"{seed:4} {kind}: {note} | {found.words}", flush=True)
    ordinary = [one for one in outcomes if one.ordinary]
    print(f"{sum(one.is_wrong for one in outcomes)} of {count} headlines are wrong by 10 %")
    for name, of in (("all", outcomes), ("ordinary ones", ordinary)):
        share = np.mean([not one.refused for one in of])
        print(f"headlines of {name}: {100 * share:.1f} % of {len(of)}")
    inside = []
    for name in NUMBERS:
        own = [one.covered[name] for one in outcomes if name in one.covered]
        inside += own
        print(f"{name}: {len(own)} headlined, {100 * np.mean(own):.1f} % covered")
    print(f"intervals of 95 % cover {100 * np.mean(inside):.1f} % of {len(inside)}")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    main(*(numbers + [500, 0][len(numbers) :]))

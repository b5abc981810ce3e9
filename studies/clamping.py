"""Random transmissions on a bench, clamped and identified.

    python studies/clamping.py [COUNT [FIRST]]

Every robot has another stiffness (over two decades), backlash (from zero up), friction law, rotor,
noise, sampling, drive (torque ramps, or a servo on angles) and, one in two, a start transient: the
clamp settles by up to a fifth of the turn. One set of thresholds for all of them. COUNT robots from
seed FIRST on: thresholds were chosen while looking at the first fifty.

Then the question of document 001, section 7.6: does a speed table with static friction recreate the
turning regions better than one value of friction? It does where the speed varies and friction rises
with it. Where friction falls with speed, a motor under logged torques, which nothing holds, sticks
and slips on its own: the table is then worse between the turning regions.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

import armtwin as at
from armtwin.drives.friction.coulomb import Coulomb, CoulombViscous, Stribeck
from armtwin.drives.friction.table import TabulatedFriction
from armtwin.identification.clamping.record import TransmissionEstimate
from armtwin.maths.batch import Floats
from armtwin.robot.schema.drive_groups import Presliding

OURS = (0.03, 0.10, 0.02)  # of stiffness and friction; of the backlash, or of the whole turn
SECOND = (0.05, 0.25, 0.05)


@dataclass(frozen=True, eq=False)
class Case:
    """A clamped transmission and its log.

    Attributes:
        log: Motor angle and torque, with noise.
        stiffness: True stiffness, motor side [N m/rad].
        backlash: True backlash [rad].
        friction: True friction at the speed of sliding [N m].
        words: What it is like.
    """

    log: at.Log
    stiffness: float
    backlash: float
    friction: float
    words: str


def triangle(time: Floats, period: float) -> Floats:
    """Up and down between -1 and 1, from 0 upwards."""
    share = np.mod(time / period + 0.25, 1.0)
    return 1 - 4 * np.abs(share - 0.5)


def sine(time: Floats, period: float) -> Floats:
    """Up and down between -1 and 1, slowly at the turns."""
    return np.asarray(np.sin(2 * np.pi * time / period))


def random_case(seed: int) -> Case:
    """A random transmission on the bench."""
    rng = np.random.default_rng(seed)
    stiffness = float(25.7 * 10 ** rng.uniform(-1, 1))
    twist = rng.uniform(0.1, 0.5)  # of the spring at the largest torque [rad]
    torque = stiffness * twist
    friction = torque * rng.uniform(0.08, 0.35)
    backlash = 0.0 if rng.random() < 0.2 else 2 * twist * rng.uniform(0.0, 0.15)
    half_cycle = rng.uniform(4.0, 12.0)
    speed = 2 * twist / half_cycle
    law = random_law(rng, friction, speed)
    inertia = stiffness / rng.uniform(40.0, 150.0) ** 2
    presliding = Presliding(stiffness=20 * stiffness, damping=0.2 * np.sqrt(stiffness * inertia))
    bristles = rng.random() < 0.3
    bench = at.Bench(
        rotor_inertia=inertia,
        stiffness=stiffness,
        damping=0.2 * np.sqrt(stiffness * inertia),
        backlash=backlash,
        ground_damping=0.02 * np.sqrt(stiffness * inertia),
        friction=(at.BenchFriction("motor", law, presliding),),
        friction_model="lugre" if bristles else "switching",
    )
    rate = rng.uniform(150, 1200) / half_cycle
    count = int(rng.integers(8, 16))
    samples = int(count * half_cycle * rate)
    time = np.cumsum(rng.uniform(0.7, 1.3, samples)) / rate
    wave = triangle(time, 2 * half_cycle)
    driven = "torque" if rng.random() < 0.5 else "position"
    if driven == "torque":
        run = at.simulate_bench(bench, time, (torque + friction) * wave)
    else:
        # ten times as stiff as the spring, the servo lags by a tenth of the torque
        run = at.simulate_bench(bench, time, position=1.1 * (twist + backlash / 2) * wave)
    q, tau = run.log.q_m[:, 0], run.log.tau_m[:, 0]
    transient = rng.random() < 0.5
    if transient:
        settled = rng.uniform(0.05, 0.2) * np.ptp(q)
        q = q + settled * np.exp(-time / (rng.uniform(0.3, 1.0) * half_cycle))
    noise = rng.uniform(0.002, 0.02)
    tau = tau + noise * torque * rng.standard_normal(samples)
    q = q + rng.uniform(1e-5, 2e-4) * np.ptp(q) * rng.standard_normal(samples)
    log = at.Log.of(time, q_m=q[:, None], tau_m=tau[:, None])
    sliding = sliding_friction(run, law)
    words = f"{driven:8} {law.law:15} {'bristles' if bristles else 'dry':8}"
    words += f" noise {100 * noise:.1f} %{' transient' if transient else ''}"
    return Case(log, stiffness, backlash, sliding, words)


def sliding_friction(run: at.BenchRun, law: Coulomb | CoulombViscous | Stribeck) -> float:
    """Friction and damping at the usual speed between the turning regions [N m]."""
    q, v = run.log.q_m[:, 0], np.abs(run.log.v[:, 0])
    inside = np.abs(q - 0.5 * (q.min() + q.max())) < 0.4 * np.ptp(q)
    speed = float(np.median(v[inside & (v > 0.1 * v[inside].mean())]))
    return at_speed(law, speed) + (run.bench.ground_damping + run.bench.damping) * speed


def random_law(
    rng: np.random.Generator, friction: float, speed: float
) -> Coulomb | CoulombViscous | Stribeck:
    """A friction law with about this torque at a speed."""
    kind = rng.integers(3)
    if kind == 0:
        return Coulomb(friction)
    if kind == 1:
        return CoulombViscous(0.8 * friction, 0.2 * friction / speed)
    return Stribeck(
        level=0.85 * friction,
        static=1.1 * friction,
        speed=0.3 * speed,
        viscous=0.1 * friction / speed,
    )


def at_speed(law: Coulomb | CoulombViscous | Stribeck | TabulatedFriction, speed: float) -> float:
    """Torque of a law at a speed [N m]."""
    numbers = np.array([getattr(law, name) for name, _ in law.coefficients])
    return float((law.columns(np.array([speed])) @ numbers)[0])


def errors(
    case: Case, found: TransmissionEstimate, turn: float
) -> tuple[float, float, float, float]:
    """Relative errors of stiffness and friction, of the backlash over itself and over the turn."""
    if found.stiffness is None or found.friction is None or found.backlash is None:
        return (np.inf,) * 4
    away = abs(found.backlash - case.backlash)
    return (
        abs(found.stiffness / case.stiffness - 1),
        abs(found.friction / case.friction - 1),
        away / max(case.backlash, 1e-12),
        away / turn,
    )


def within(error: tuple[float, float, float, float], limits: tuple[float, float, float]) -> bool:
    """Whether errors keep limits."""
    stiffness, friction, backlash, turn = error
    close = backlash <= limits[1] or turn <= limits[2]
    return stiffness <= limits[0] and friction <= limits[0] and close


def judged(case: Case) -> tuple[list[tuple[float, float, float, float]], at.Clamping]:
    """Errors of the three methods."""
    result = at.clamp(case.log)
    turn = result.record.turn
    return [errors(case, found, turn) for found in result.table], result


MACHINES = {
    "falls with speed, even motion": (Stribeck(1.91, 2.2, 0.02, viscous=0.5), triangle),
    "falls, then rises with speed, uneven motion": (Stribeck(1.91, 2.5, 0.02, viscous=3.0), sine),
}
SPEEDS = (0.0, 0.005, 0.01, 0.02, 0.04, 0.08, 0.15, 0.3)  # points of the speed table [rad/s]


def turning_regions(machine: str, seconds: int = 120) -> dict[str, tuple[float, float]]:
    """Rms of the recreated angle, over the turn, between and in the turning regions, by friction.

    The machine of table 6.1, turned by a servo, with another friction. Its curve is recreated with
    the identified value, with a table of speeds, and with that table and its value at rest.
    """
    law, wave = MACHINES[machine]
    rng = np.random.default_rng(7)
    time = np.cumsum(rng.uniform(0.7, 1.3, 200 * seconds)) / 200
    bench = at.Bench(
        rotor_inertia=0.01,
        stiffness=25.7,
        damping=0.05,
        backlash=1.02e-2,
        ground_damping=0.01,
        friction=(at.BenchFriction("motor", law),),
    )
    run = at.simulate_bench(bench, time, position=0.35 * wave(time, 20.0))
    tau = run.log.tau_m + 0.01 * rng.standard_normal((len(time), 1))
    result = at.clamp(at.Log.of(time, q_m=run.log.q_m, tau_m=tau))
    torques = tuple(at_speed(law, max(speed, 1e-9)) for speed in SPEEDS)
    frictions = {
        "one value": None,
        "speed table": TabulatedFriction(SPEEDS[1:], torques[1:]),
        "speed table with static friction": TabulatedFriction(SPEEDS, torques),
    }
    residuals = {}
    for name, other in frictions.items():
        again = at.recreate(result, other)
        residuals[name] = (again.between_rms / again.turn, again.turning_rms / again.turn)
    return residuals


def clamped_tools() -> Iterator[tuple[float, float, float]]:
    """Stiffness of the clamp, of joint 1 by statics, and from its clamping curve [N m/rad].

        statics: K_1 (1 - [(K + Jᵀ C J)⁻¹ K]_11)

    The whole KR300 held at its flange by C = c 1, the motors of its other joints by their servos.
    """
    asked = at.Experiment.load("kr300_clamped_tool")
    setup = asked.description.setup
    robot = asked.robot()
    J = robot.jacobian(np.zeros(robot.n))
    K = np.diag([t.stiffness for t in robot.description.transmission])
    for stiffness in (1e8, 1e7, 2e6):
        clamp = replace(setup.clamp, translation=stiffness, rotation=stiffness)
        changed = replace(asked.description, setup=replace(setup, clamp=clamp))
        run = at.run_experiment(at.Experiment(changed))
        share = np.linalg.solve(K + stiffness * J.T @ J, K)
        yield stiffness, K[0, 0] * (1 - share[0, 0]), run.clamping.joint_side[-1].stiffness


def in_words(error: tuple[float, float, float, float]) -> str:
    """Errors in percent; that of a backlash which is none has no size."""
    words = []
    for share in error:
        words.append(f"{100 * share:5.1f}" if share < 10 else f"{'-':>5}")
    return " ".join(words)


def main(count: int, first: int) -> None:
    """Print every case and the shares that keep their limits."""
    good = np.zeros(3)
    limits = (SECOND, SECOND, OURS)
    print("seed    K      b [mrad]  errors of K, F, b/b, b/turn [%] of I | II | least squares")
    for seed in range(first, first + count):
        case = random_case(seed)
        try:
            found, _ = judged(case)
        except at.ArmtwinError as error:
            print(f"{seed:4} {case.words}: {error}")
            continue
        kept = [within(error, limit) for error, limit in zip(found, limits, strict=True)]
        good += kept
        cells = " | ".join(in_words(error) for error in found)
        marks = "".join("+" if x else "-" for x in kept)
        size = f"{case.stiffness:7.2f} {1e3 * case.backlash:6.1f}"
        print(f"{seed:4} {size} {cells} {marks} {case.words}")
    for name, share in zip(("Algorithm I", "Algorithm II", "least squares"), good, strict=True):
        print(f"{name}: {100 * share / count:.0f} % within their limits")
    for machine in MACHINES:
        print(f"friction {machine}; left of the angle, % of the turn, between and in turns:")
        for name, (between, turning) in turning_regions(machine).items():
            print(f"  {name}: {100 * between:.3f} and {100 * turning:.3f}")
    print("joint 1 of the KR300 clamped at the flange, K by statics and found [MN m/rad]")
    for stiffness, statics, found in clamped_tools():
        print(f"  clamp {stiffness:.0e} N/m and N m/rad: {1e-6 * statics:.4f}, {1e-6 * found:.4f}")


if __name__ == "__main__":
    numbers = [int(word) for word in sys.argv[1:3]]
    main(*(numbers + [50, 0][len(numbers) :]))

"""Friction laws from curves of known laws, and of the UR10e: errors, coverage, laws compared.

    python studies/friction_curves.py [DRAWS] [UR10E_FOLDER]

RX90B, table 3.1: 20 speeds of 0.005 to 4.5 rad/s, three series, 2 % of noise, 100 draws by default.
Of each number the share of draws whose 95 % interval holds it; of the curve how often it is within
2 % everywhere. The wrist is fitted as a whole, from runs of joints 5 and 6 against and along with
each other. The Powerball's table 2 and the public set at the paper's speeds, both signs, 1 % of
noise. Four temperatures: the viscosity coefficient. UR10e: slow waves of each joint, target
currents.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

import armtwin as at
from armtwin.drives.friction.curves import coefficients
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.law_fit import fit_laws

DRAWS, SERIES, NOISE = 100, 3, 0.02
SPEEDS = np.concatenate([np.geomspace(0.005, 0.5, 14)[:-1], np.linspace(0.5, 4.5, 7)])
BETWEEN = np.geomspace(SPEEDS[0], SPEEDS[-1], 200)
TEMPERATURES, VISCOSITY = (295.0, 305.0, 315.0, 325.0), 2500.0
PAPER = np.concatenate([np.linspace(0.01, 0.2, 11), np.linspace(0.25, 0.55, 7)])


def torque(law, v):
    """Friction of a law at speeds."""
    return law.columns(np.asarray(v, dtype=float)) @ np.array(list(coefficients(law).values()))


def off(found, law, speeds):
    """Largest relative difference of two laws."""
    return float(np.abs(torque(found, speeds) / torque(law, speeds) - 1).max())


def noisy(rng, tau, share=NOISE):
    """Torques with relative noise."""
    return tau * (1 + share * rng.standard_normal(np.shape(tau)))


def counted(fits, laws):
    """Print the share of draws whose interval holds each number."""
    held = []
    for fit in fits:
        truth = np.array([getattr(laws[e], name) for e, name in fit.names])
        held.append((fit.low <= truth) & (truth <= fit.high))
    for (e, name), share in zip(fits[0].names, np.mean(held, axis=0), strict=True):
        values = [fit.values[fit.names.index((e, name))] for fit in fits]
        spread = np.std(values) / getattr(laws[e], name)
        print(f"    {e} {name:17} held {100 * share:5.1f} %   spread {100 * spread:5.1f} %")


def single_joints(robot, draws, rng):
    """Joints 1 to 4 of the RX90B."""
    for j in range(4):
        law = robot.description.friction[j].law
        fits, farthest = [], []
        for _ in range(draws):
            v = np.tile(SPEEDS, SERIES)
            curves = FrictionCurves.of(
                robot.joint_names, [j] * len(v), v, noisy(rng, torque(law, v))
            )
            fits.append(fit_laws(curves, np.eye(6)[j : j + 1], [type(law)]))
            farthest.append(off(fits[-1].laws[0], law, BETWEEN))
        within = 100 * np.mean(np.array(farthest) < 0.02)
        words = f"median {100 * np.median(farthest):.2f} %, worst {100 * max(farthest):.2f} %"
        print(f"joint {j + 1}: curve within 2 % everywhere in {within:.0f} % of draws; {words}")
        counted(fits, [law])


def wrist_curves(robot, rng):
    """Torques of joints 5 and 6 against and along with each other."""
    speeds, torques, joints = [], [], []
    for _ in range(SERIES):
        for sign in (-1.0, 1.0):
            for v in SPEEDS:
                moving = np.array([0, 0, 0, 0, v, sign * v])
                held = rng.uniform(-0.7, 0.7)
                for j in (4, 5):
                    tau = 0.0
                    for element, row in robot.assembly.friction:
                        w = float(row.weights @ moving)
                        tau += row.weights[j] * (torque(element.law, [w])[0] if w else held)
                    speeds.append(moving)
                    torques.append(tau)
                    joints.append(j)
    tau = noisy(rng, np.array(torques))
    return FrictionCurves.of(robot.joint_names, joints, np.array(speeds), tau)


def wrist(robot, draws, rng):
    """Models a, b, c of the wrist, fitted together."""
    placed = [pair for pair in robot.assembly.friction if pair[0].name.startswith("wrist")]
    laws = [element.law for element, _ in placed]
    rows = np.array([row.weights for _, row in placed])
    fits, farthest = [], []
    for _ in range(draws):
        curves = wrist_curves(robot, rng)
        fits.append(fit_laws(curves, rows, [type(law) for law in laws]))
        pairs = zip(fits[-1].laws, laws, strict=True)
        farthest.append([off(found, law, BETWEEN) for found, law in pairs])
    for k, name in enumerate("abc"):
        of_model = np.array(farthest)[:, k]
        within = 100 * np.mean(of_model < 0.02)
        words = f"median {100 * np.median(of_model):.1f} %, worst {100 * of_model.max():.1f} %"
        print(f"wrist {name}: curve within 2 % everywhere in {within:.0f} % of draws; {words}")
    counted(fits, laws)


def powerball(rng):
    """Both friction sets of the Powerball, refitted."""
    for name in ("paper", "public"):
        robot = at.Robot(replace(at.Robot.load("lwa4p").description, friction_set=name))
        for element in robot.description.active_friction():
            j = robot.joint_names.index(element.on)
            v = np.concatenate([PAPER, -PAPER])
            tau = noisy(rng, torque(element.law, v), 0.01) + 2.0
            curves = FrictionCurves.of(robot.joint_names, [j] * len(v), v, tau)
            group = at.fit_friction(robot, curves).groups[0]
            own = group.candidates[element.law.law]
            behind = group.candidates["makkar"].criterion - group.candidates["hyperbolic"].criterion
            print(
                f"  {name} {element.name}: {element.law.law} within "
                f"{100 * off(own.laws[0], element.law, PAPER):.2f} %; six numbers behind five by "
                f"{behind:+.1f}; taken {group.chosen}"
            )


def temperature(robot, draws, rng):
    """The viscosity coefficient from four temperatures."""
    law = robot.description.friction[0].law
    found = []
    for _ in range(draws):
        v, tau, kelvin = [], [], []
        for warm in TEMPERATURES:
            factor = np.exp(VISCOSITY / warm - VISCOSITY / TEMPERATURES[0])
            v.append(SPEEDS)
            tau.append(noisy(rng, torque(replace(law, viscous=factor * law.viscous), SPEEDS)))
            kelvin.append(np.full(len(SPEEDS), warm))
        curves = FrictionCurves.of(
            robot.joint_names,
            [0] * 80,
            np.concatenate(v),
            np.concatenate(tau),
            temperature=np.concatenate(kelvin),
        )
        group = at.fit_friction(robot, curves, gravity="pose", law="geared_joint").groups[0]
        found.append((group.temperature.viscosity, group.temperature.viscosity_std))
    values, std = np.array(found).T
    held = np.abs(values - VISCOSITY) < 1.96 * std
    worst = 100 * np.abs(values / VISCOSITY - 1).max()
    print(f"  β off by {worst:.1f} % at most; ±1.96 std holds it in {100 * held.mean():.0f} %")


def ur10e(folder):
    """Laws compared on six joints of a real robot."""
    robot = at.Robot.load(folder / "ur10e.urdf")
    for k in range(1, 7):
        log = at.Log.read(folder / f"jointwise_20_01_22_joint_{k}.csv.gz")
        fit = at.fit_friction(robot, at.curves_of_sweeps(robot, [log], "current_des"))
        group = fit.groups[0]
        best = min(found.criterion for found in group.candidates.values())
        largest = np.abs(group.curves.torque).max()
        print(f"  joint {k}, {len(group.curves.torque)} points, largest {largest:.3g} A")
        for name, found in sorted(group.candidates.items(), key=lambda pair: pair[1].criterion):
            print(
                f"    {name:16} {found.count} numbers, missed {1e3 * found.rms:7.2f} mA, behind "
                f"{found.criterion - best:6.1f}{' taken' if name == group.chosen else ''}"
            )


def main():
    """Run all."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    robot, rng = at.Robot.load("rx90b"), np.random.default_rng(20)
    print(f"RX90B, table 3.1, {draws} draws")
    single_joints(robot, draws, rng)
    wrist(robot, draws, rng)
    print("Powerball")
    powerball(rng)
    print(f"Four temperatures, {draws} draws, one series")
    temperature(robot, draws, rng)
    if len(sys.argv) > 2:
        print("UR10e")
        ur10e(Path(sys.argv[2]))


if __name__ == "__main__":
    main()

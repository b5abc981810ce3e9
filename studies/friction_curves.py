"""Friction laws from curves of known laws, and of the UR10e: errors, coverage, laws compared.

    python studies/friction_curves.py [DRAWS] [UR10E_FOLDER]

RX90B, table 3.1: 20 speeds of 0.005 to 4.5 rad/s, three series, 2 % of noise, 100 draws by default.
Of each number the share of draws whose 95 % interval holds it; of the curve how often it is within
2 % everywhere, and its scatter over the bound of Cramer and Rao, with the share that an estimate at
the bound would have. The wrist is fitted as a whole, from runs of joints 5 and 6 against and along
with each other, and from as many that excite model b; what joints 5 and 6 feel is compared too. The
Powerball's table 2 and the public set at the paper's speeds, both signs, 1 % of noise. Four
temperatures: the viscosity coefficient. UR10e: slow waves of each joint, target currents.
"""

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.identification.virtual_friction import (
    NOISE,
    SPEEDS,
    curve_slopes,
    denser_at_the_ends,
    document_runs,
    least_covariance,
    single_joint,
    telling_runs,
    torque_of,
    wrist,
    wrist_elements,
)

import armtwin as at
from armtwin.identification.friction_curves.curves import FrictionCurves
from armtwin.identification.friction_curves.law_fit import fit_laws

DRAWS = 100
BOUND_DRAWS = 4000
BETWEEN = np.geomspace(SPEEDS[0], SPEEDS[-1], 200)
TEMPERATURES, VISCOSITY = (295.0, 305.0, 315.0, 325.0), 2500.0
PAPER = np.concatenate([np.linspace(0.01, 0.2, 11), np.linspace(0.25, 0.55, 7)])
# speeds of joints 5 and 6 for each other's: both alike, joint 5 alone, joint 6 alone
KINDS = {"along": (1.0, 1.0), "5 alone": (1.0, 0.0), "6 alone": (0.0, 1.0)}


def errors(found, law, speeds):
    """Relative differences of two laws."""
    return torque_of(found, speeds) / torque_of(law, speeds) - 1


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


def judged(name, residuals, covariance, G):
    """Print errors of a curve, (draws, speeds), beside those at the bound."""
    bound = np.sqrt(np.einsum("gi,ij,gj->g", G, covariance, G))
    ratio = np.sqrt((residuals**2).mean(axis=0)) / bound
    farthest = np.abs(residuals).max(axis=1)
    values, vectors = np.linalg.eigh(covariance)
    chance = np.random.default_rng(0).standard_normal((BOUND_DRAWS, len(values)))
    best = np.abs(chance @ (vectors * np.sqrt(np.maximum(values, 0))).T @ G.T).max(axis=1)
    print(
        f"{name}: within 2 % everywhere in {100 * np.mean(farthest < 0.02):.1f} % of draws, at the "
        f"bound {100 * np.mean(best < 0.02):.1f} %; median {100 * np.median(farthest):.2f} %, "
        f"bound {100 * np.median(best):.2f} %; worst {100 * farthest.max():.1f} %; scatter over "
        f"bound {ratio.mean():.2f}, at most {ratio.max():.2f}"
    )


def single_joints(robot, draws, rng):
    """Joints 1 to 4 of the RX90B."""
    for words, speeds in (("document", SPEEDS), ("denser at the ends", denser_at_the_ends(20))):
        for j in range(4):
            law = robot.description.friction[j].law
            fits, residuals = [], []
            for _ in range(draws):
                curves = single_joint(robot, robot.joint_names[j], rng, speeds=speeds)
                fits.append(fit_laws(curves, np.eye(6)[j : j + 1], [type(law)]))
                residuals.append(errors(fits[-1].laws[0], law, BETWEEN))
            covariance = least_covariance([law], np.eye(1), speeds[:, None])
            (G,) = curve_slopes([law], BETWEEN)
            judged(f"joint {j + 1}, speeds {words}", np.array(residuals), covariance, G)
            counted(fits, [law])


def felt(laws, rows, kind):
    """Torques of joints 5 and 6 at speeds of a kind of run, those that move, (joints, speeds)."""
    total = np.zeros((2, len(BETWEEN)))
    for law, row in zip(laws, rows, strict=True):
        w = float(row @ kind)
        if w:
            total += np.outer(row, torque_of(law, w * BETWEEN))
    return total[np.array(kind) != 0]


def wrists(robot, draws, rng):
    """Models a, b, c of the wrist, fitted together."""
    laws, rows = wrist_elements(robot)
    wide = np.zeros((3, robot.n))
    wide[:, 4:6] = rows
    for words, runs in (("document", document_runs()), ("creeping", telling_runs())):
        fits = []
        for _ in range(draws):
            curves = wrist(robot, rng, runs=runs)
            fits.append(fit_laws(curves, wide, [type(law) for law in laws]))
        covariance = least_covariance(laws, rows, runs)
        for e, G in enumerate(curve_slopes(laws, BETWEEN)):
            residuals = np.array([errors(fit.laws[e], laws[e], BETWEEN) for fit in fits])
            judged(f"wrist {'abc'[e]}, runs {words}", residuals, covariance, G)
        for name, kind in KINDS.items():
            truth = felt(laws, rows, kind)
            gaps = np.array([np.abs(felt(fit.laws, rows, kind) / truth - 1) for fit in fits])
            farthest = gaps.max(axis=2)
            print(
                f"  felt, {name}: within 2 % everywhere in "
                f"{np.round(100 * (farthest < 0.02).mean(axis=0), 1)} % of draws, median "
                f"{np.round(100 * np.median(farthest, axis=0), 2)} %"
            )
        counted(fits, laws)


def powerball(rng):
    """Both friction sets of the Powerball, refitted."""
    for name in ("paper", "public"):
        robot = at.Robot(replace(at.Robot.load("lwa4p").description, friction_set=name))
        for element in robot.description.active_friction():
            j = robot.joint_names.index(element.on)
            v = np.concatenate([PAPER, -PAPER])
            tau = noisy(rng, torque_of(element.law, v), 0.01) + 2.0
            curves = FrictionCurves.of(robot.joint_names, [j] * len(v), v, tau)
            group = at.fit_friction(robot, curves).groups[0]
            own = group.candidates[element.law.law]
            behind = group.candidates["makkar"].criterion - group.candidates["hyperbolic"].criterion
            farthest = np.abs(errors(own.laws[0], element.law, PAPER)).max()
            print(
                f"  {name} {element.name}: {element.law.law} within "
                f"{100 * farthest:.2f} %; six numbers behind five by "
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
            tau.append(noisy(rng, torque_of(replace(law, viscous=factor * law.viscous), SPEEDS)))
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
                f"    {name:16} {found.count} numbers, residual {1e3 * found.rms:7.2f} mA, behind "
                f"{found.criterion - best:6.1f}{' taken' if name == group.chosen else ''}"
            )


def main():
    """Run all."""
    draws = int(sys.argv[1]) if len(sys.argv) > 1 else DRAWS
    robot, rng = at.Robot.load("rx90b"), np.random.default_rng(20)
    print(f"RX90B, table 3.1, {draws} draws")
    single_joints(robot, draws, rng)
    wrists(robot, draws, rng)
    print("Powerball")
    powerball(rng)
    print(f"Four temperatures, {draws} draws, one series")
    temperature(robot, draws, rng)
    if len(sys.argv) > 2:
        print("UR10e")
        ur10e(Path(sys.argv[2]))


if __name__ == "__main__":
    main()

"""The numbers of docs/epaas.md: document 003 beside its recomputation.

python studies/epaas.py [DRAWS] > docs/epaas.md

DRAWS tests of an actuator are simulated and identified, 100 by default.
"""

import sys
from dataclasses import replace

import numpy as np

import armtwin as at
from armtwin.analysis.compensation import (
    gravity_offsets,
    holding_currents,
    with_mass_compensation,
)
from armtwin.identification.actuator.oil import exactly, resonance
from armtwin.robot.strokes import levers
from armtwin.robot.wrist import from_wrist, wrist_coordinates
from armtwin.simulation.responses import driven_response
from armtwin.simulation.setpoints import coordinates_of, home_of, hydraulic_model

# weight, step [V] -> first peak [ms], period [ms], overshoot [%]: simulated, measured
BENCH = [
    ("weight_2_7", -0.33, (12.5, 11.5, 18), (12.4, 12.4, 22)),
    ("weight_2_7", 0.33, (13.0, 12.0, 6), (13.8, 11.7, 12)),
    ("weight_5_1", -0.23, (14.5, 16.0, 40), (15.3, 16.6, 29)),
    ("weight_5_1", 0.23, (15.0, 15.5, 18), (16.0, 16.0, 24)),
]
ROBOT = [
    ("L3", 0.25, (26, 32, 51), (37, 44, 22)),
    ("L4", -0.22, (21, 26, 32), (32, 39, 12)),
    ("L1", -0.55, (11, 23, 65), (12, 39, 31)),
    ("L2", -0.55, (10, 14, 71), (7.5, 6, 23)),
]
# key, change, overshoots printed [%]
TABLES_8_1 = [
    ("servo.proportional.gain", 0.10, (29, 42, 56)),
    ("servo.proportional.delay.sensor", 0.25, (40, 42, 44)),
    ("hydraulic.*.valve.delay", 0.25, (37, 42, 47)),
    ("hydraulic.*.valve.frequency", 0.25, (47, 42, 40)),
    ("hydraulic.*.valve.damping", 0.25, (40, 42, 44)),
    ("friction.*.viscous", 0.25, (46, 42, 39)),
    ("hydraulic.*.leakage", 0.25, (44, 42, 41)),
    ("hydraulic.*.compliance", 0.25, (31, 42, 48)),
    ("payload.weight_5_1.body.mass", 0.25, (29, 42, 50)),
]
INTRODUCTION = """# EPAAS: the hydraulic robot

A five-axis arm of 1983 with four linear hydraulic servomotors and a vane motor (document 003,
[Machielsen 1983]). The robots `epaas` and `epaas_bench` (one actuator that lifts a weight) are run
by the same loop as the electric ones: valve, oil and piston are a family of parts on rows with
levers. This page is made by `python studies/epaas.py`.

```python
import armtwin as at

bench, robot = at.Robot.load("epaas_bench"), at.Robot.load("epaas")
at.step_response(bench, {"cylinder": -0.23}).features("cylinder")        # volts
at.step_response(robot, {"z": 0.01, "r": 0.005}, "wrist").table          # or "strokes"
at.analyse(robot, "coupling"); at.analyse(robot, "inertia", load="load_4")
at.sensitivity(at.StepTest(bench, {"cylinder": -0.23}), ["hydraulic.*.compliance"], by=0.25)
```

On the command line `armtwin experiments` lists the steps below, `armtwin simulate epaas_l1` runs
one, `armtwin sensitivity epaas_l1 "hydraulic.*.compliance"` says what it depends on, and
`armtwin actuator` identifies an actuator from its tests, see [experiments](experiment_file.md).

The document does not state its steps. Those below are chosen: first peaks and periods hardly depend
on them, overshoots do. Runs start in equilibrium; dry friction is level tanh(v/v0), v0 = 0.5 mm/s.
"""


WHAT_HELPS = """
Gains by effective mass help: with 4 kg the tuned ones swing by centimetres after any motion and any
step, compensated ones settle. Their price is what a proportional controller leaves: errors of dry
friction and of the valve's lap grow as one over the gain, so that L3 ends at 122 % and L1 at 79 %
of a step. Currents for gravity help L4, which has no dry friction: it ends within a micrometre in
place of 8 to 14, or of 0.105 mm where the load comes at rest. They do not help L3, whose dry
friction of 150 N holds more than the weight asks: the current that would hold the weight crosses
the lap of 6 mA and moves the piston by another 0.05 to 0.4 mm. And they do not help tuned gains,
which swing on."""
RESONANCES = """
The resonances of section 6.1.4 give a compliance of 1.25e-6 m/N, a leakage of 7.36e-5 m/(N s) and
a viscous friction of 508 N s/m by the document's regression (printed 1.25e-6, 7.46e-5, 501), and
1.30e-6, 7.91e-5, 492 by the exact joint fit, which keeps 1 + B c_h = 1.04. The valve's peak, 3 dB
at 169 Hz, gives 201 Hz: the 240 Hz of the document lack a square root; 1443 rad/s, 230 Hz, is what
it simulated. Noise must end below half the rate of the log: what lies above it folds back and
shifts valve and delay by a few tenths of a per cent."""


def row(*cells):
    """Print a row of a table."""
    print("| " + " | ".join(str(cell) for cell in cells) + " |")


def head(*cells):
    """Print the head of a table."""
    row(*cells)
    row(*["---"] * len(cells))


def numbers(found):
    """First peak, period [ms], overshoot [%]."""
    parts = (found.first_peak, 1e3), (found.period, 1e3), (found.overshoot, 100.0)
    return " / ".join("-" if value is None else f"{scale * value:.1f}" for value, scale in parts)


def printed(values):
    """Numbers of the document, as it prints them."""
    return " / ".join(f"{value:g}" for value in values)


def steps():
    """Step responses of the test set-up and of the robot."""
    print("\n## Step responses\n\nFirst peak ms / period ms / overshoot %.\n")
    head("drive", "step V", "document", "here", "order reduced", "document measured")
    bench, robot = at.Robot.load("epaas_bench"), at.Robot.load("epaas")
    for weight, volts, simulated, measured in BENCH:
        loaded = bench.with_payload(weight)
        found = both(loaded, "cylinder", volts)
        row(weight, volts, printed(simulated), *found, printed(measured))
    for drive, volts, simulated, measured in ROBOT:
        row(drive, volts, printed(simulated), *both(robot, drive, volts), printed(measured))
    print("\nOrder reduced: the spool is a delay (15 in place of 25 for five circuits).")
    print("The retracting overshoots of the test set-up (6 and 18 %) do not reproduce.")
    vane = at.step_response(robot, {"vane": 0.3})
    share = np.interp([0.025, 0.05, 0.075, 0.1], vane.time, vane.reading[:, 4])
    percent = ", ".join(f"{100 * x / share[3]:.1f}" for x in share[:3])
    print(f"Vane motor, per cent of its value at 100 ms after 25, 50, 75 ms: {percent}", end=" ")
    print("(document 37, 62, 88; measured 48, 78, 93).")


def both(robot, drive, volts):
    """Numbers of the full and of the reduced model."""
    full = at.step_response(robot, {drive: volts}).features(drive)
    model = hydraulic_model(robot, "delay")
    reduced = at.step_response(robot, {drive: volts}, model=model).features(drive)
    return numbers(full), numbers(reduced)


def sensitivities():
    """Tables 8.1."""
    print("\n## Sensitivity of the overshoot, tables 8.1\n")
    print("5.1 kg extending by 0.23 V. Overshoot % with the number smaller, as it is, larger.\n")
    head("number", "change %", "document", "here", "per %")
    test = at.StepTest(at.Robot.load("epaas_bench"), {"cylinder": -0.23}, seconds=0.06)
    for key, by, overshoots in TABLES_8_1:
        (record,) = at.sensitivity(test, [key], by=by, features=["overshoot"]).table
        values = [100 * record[name] for name in ("less", "base", "more")]
        found = " / ".join(f"{value:.1f}" for value in values)
        row(f"`{key}`", 100 * by, printed(overshoots), found, f"{100 * record['per_percent']:.2f}")


def coupling():
    """Step one drive, look at the other four."""
    print(
        "\n## Coupling through the oil\n\nLargest reading of each drive, in per cent of the step.\n"
    )
    robot = at.Robot.load("epaas")
    head("step of", "L1", "L2", "L3", "L4", "vane")
    for drive, volts in [(drive, volts) for drive, volts, *_ in ROBOT] + [("vane", 0.3)]:
        found = at.step_response(robot, {drive: volts})
        shares = [f"{100 * found.disturbance(name) / abs(volts):.1f}" for name in found.names]
        row(drive, *shares)


def inertia():
    """Effective masses and frequencies."""
    robot = at.Robot.load("epaas")
    print("\n## What each drive moves\n")
    print(
        "Along the boundary of the workspace, whose limits of r and z are assumed (figure lost).\n"
    )
    head("drive", "least", "most", "ratio", "4 kg: least", "most", "overall", "alone Hz")
    for r in at.analyse(robot, "inertia", load="load_4").table:
        cells = [f"{r[key]:.3g}" for key in ("smallest", "largest", "ratio")]
        cells += [f"{r[key]:.3g}" for key in ("smallest_loaded", "largest_loaded", "ratio_overall")]
        row(f"{r['axis']} [{r['unit']}]", *cells, f"{r['frequency_hz']:.1f}")
    print(
        "\nDocument: L3 34.7, L4 43.3, L1 about 140 Hz. Measured modes, the links' own among them:"
    )
    print("13.6 14.8 25.2 35.9 40.2 59.2 83.2 Hz; they are not matched by drives on rigid links.")


def compensation():
    """What the document proposes and did not try."""
    print("\n## Compensations that the document proposes\n")
    print(
        "4 kg in the gripper; gains tuned for the empty one, and gains in proportion to the natural"
    )
    print("frequency of what is moved. Swing: peak to peak of the last 0.1 s of 0.4 s, in steps.\n")
    robot = at.Robot.load("epaas")
    loaded, home = robot.with_payload("load_4"), home_of(robot)
    compensated = with_mass_compensation(loaded, robot, home)
    head("drive", "empty", "4 kg, tuned gains", "swing", "4 kg, compensated", "swing")
    ends = []
    for drive, volts, *_ in ROBOT[:3]:
        cells = [numbers(at.step_response(robot, {drive: volts}).features(drive))]
        for one in (loaded, compensated):
            found = at.step_response(one, {drive: volts}, seconds=0.4)
            k = found.names.index(drive)
            swing = np.ptp(found.reading[found.time > 0.3, k]) / abs(volts)
            cells += [numbers(found.features(drive)), f"{swing:.2f}"]
        ends.append(f"{drive} at {100 * found.features(drive).final:.0f} %")
        row(drive, *cells)
    print(f"\nCompensated responses end, of the step: {', '.join(ends)}.")
    offset = gravity_offsets(loaded, robot, "proportional", home)
    sag = 1e3 * offset / np.array(robot.description.servo["proportional"].sensor_gain)
    sunk = f"{sag[3]:.3f} mm ({1e3 * offset[3]:.0f} mV)"
    print(f"\nWithout an offset for gravity 4 kg let L4 sink by {sunk};")
    print("the others by less than a micrometre at the start-up position.")


def gravity():
    """Offsets for gravity along a motion with 4 kg: where they help, and where not."""
    print(
        "\nA motion of the wrist with 4 kg in 1 s, then 0.5 s at rest: mean error of cylinders in"
    )
    print(
        "the last 0.2 s [mm], and peak to peak of L4 [mm]. With the currents that hold the weight"
    )
    print("fed forward along the way, and without.\n")
    head("to r, z m", "gains", "gravity", "L1", "L3", "L4", "swing of L4")
    robot = at.Robot.load("epaas")
    loaded, home = robot.with_payload("load_4"), home_of(robot)
    model = hydraulic_model(robot)
    share = np.linspace(0, 1, 201)
    smooth = share**3 * (10 - 15 * share + 6 * share**2)
    begin = wrist_coordinates(robot, home[None])[0]
    for r, z in ((0.33, 0.40), (0.15, 0.18)):
        end = begin.copy()
        end[:2] = r, z
        q = from_wrist(robot, begin + smooth[:, None] * (end - begin))
        currents = np.array([holding_currents(loaded, x) for x in q])
        volts = coordinates_of(robot, model, "volts", q)
        compensated = with_mass_compensation(loaded, robot, q[-1])
        for gains, one in (("tuned", loaded), ("compensated", compensated)):
            gain = np.array(one.description.servo["proportional"].gain)
            for fed in (False, True):
                wanted = volts + fed * (currents - currents[0]) / gain
                found = driven_response(
                    one, [*share, 1.5], np.concatenate([wanted, wanted[-1:]]), "volts"
                )
                late = found.time > 1.3
                x = 1e3 * levers(one, found.run.log.q[late]).position
                error = x.mean(axis=0) - 1e3 * levers(one, q[-1:]).position[0]
                cells = [f"{error[k]:.3f}" for k in (0, 2, 3)]
                row(f"{r}, {z}", gains, "fed" if fed else "-", *cells, f"{np.ptp(x[:, 3]):.2f}")
    print(WHAT_HELPS)


def noise_test(mass, draw):
    """The shipped noise experiment with another weight and seed, its speed read with 3 % noise."""
    asked = at.Experiment.load("epaas_noise").with_values({"payload.weight_5_1.body.mass": mass})
    (point,) = asked.description.setpoint
    seeded = replace(asked.description, setpoint=(replace(point, seed=1000 + draw),))
    log = at.run_experiment(at.Experiment(seeded)).log
    rng = np.random.default_rng([draw, round(10 * mass)])
    v = log.v + 0.03 * log.v.std() * rng.normal(size=log.v.shape)
    return at.Log.of(log.time, q=log.q, v=v, q_ref=log.q_ref)


def actuator(draws):
    """How often intervals hold the numbers of the simulated test set-up."""
    print("\n## Actuator identification\n")
    print(f"{draws} draws. Intervals of 90 %, share that holds the simulated number; bias and mean")
    print("half width of the interval in per cent of it.\n")
    head("number", "from", "holds %", "bias %", "half width %")
    weights = (2.7, 5.1, 9.0)
    values, priors, widths, names = [], [], [], []
    for k in range(draws):
        logs = [noise_test(mass, k) for mass in weights]
        table = at.identify_actuator(at.Robot.load("epaas_bench"), logs, weights).table
        names = [found.name for found in table]
        values.append([found.value for found in table])
        priors = [found.prior for found in table]
        widths.append([1.645 * found.std for found in table])
    covered(names, "noise, 3 weights", np.array(values), np.array(priors), np.array(widths))
    rng = np.random.default_rng(1)
    truth, mass = np.array([1.1e-6, 6e-5, 400.0]), np.array([2.7, 4.1, 5.1, 7.5, 9.0])
    frequency, damping = resonance(*truth, mass)
    found = []
    for _ in range(draws):
        noise = 1 + 0.01 * rng.normal(size=(2, len(mass)))
        found.append(exactly(mass, frequency * noise[0], damping * noise[1]))
    values = np.array([one.values for one in found])
    widths = np.array([one.half_width for one in found])
    covered(["compliance", "leakage", "viscous"], "5 resonances, 1 %", values, truth, widths)
    print(RESONANCES)


def covered(names, what, values, truth, widths):
    """Print a row for each number."""
    for k, name in enumerate(names):
        off = values[:, k] - truth[k]
        inside = 100 * np.mean(np.abs(off) < widths[:, k])
        bias, width = 100 * off.mean() / truth[k], 100 * widths[:, k].mean() / truth[k]
        row(name, what, f"{inside:.0f}", f"{bias:.2f}", f"{width:.2f}")


def main():
    """Print the page."""
    print(INTRODUCTION.rstrip())
    steps()
    sensitivities()
    coupling()
    inertia()
    compensation()
    gravity()
    actuator(int(sys.argv[1]) if len(sys.argv) > 1 else 100)


if __name__ == "__main__":
    main()

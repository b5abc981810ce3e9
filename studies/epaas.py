"""The numbers of docs/epaas.md: document 003 beside its recomputation.

python studies/epaas.py [DRAWS] > docs/epaas.md

DRAWS tests of an actuator are simulated and identified, 100 by default.
"""

import sys
from dataclasses import replace

import numpy as np

import armtwin as at
from armtwin.identification.actuator.oil_fit import compute_resonance, fit_exactly
from armtwin.prediction.predict import plan_motion
from armtwin.robot.kinematics.strokes import levers
from armtwin.robot.kinematics.wrist import from_wrist, wrist_coordinates
from armtwin.simulation.responses import driven_response
from armtwin.simulation.setpoints import coordinates_of, home_of, hydraulic_model
from dry_friction_in_oil import describing_viscous, with_folded_friction
from mass_compensation import (
    gravity_offsets,
    holding_currents,
    with_mass_compensation,
)

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
# key, change; printed first peaks, periods [ms] and overshoots [%], smaller and larger
TABLES_8_1 = [
    ("servo.proportional.gain", 0.10, (15, 14.5), (15, 17), (29, 56)),
    ("servo.proportional.delay.sensor", 0.25, (14.5, 15), (16, 16), (40, 44)),
    ("hydraulic.*.valve.delay", 0.25, (14, 15.5), (16, 16), (37, 47)),
    ("hydraulic.*.valve.frequency", 0.25, (15, 14.5), (16.5, 16), (47, 40)),
    ("hydraulic.*.valve.damping", 0.25, (14, 15.5), (16, 16), (40, 44)),
    ("friction.*.viscous", 0.25, (14.5, 15), (16, 15.5), (46, 39)),
    ("hydraulic.*.leakage", 0.25, (14.5, 15), (16, 15.5), (44, 41)),
    ("hydraulic.*.compliance", 0.25, (13.5, 15.5), (13.5, 18.5), (31, 48)),
    ("payload.weight_5_1.body.mass", 0.25, (13.5, 15.5), (13.5, 18.5), (29, 50)),
]
FEATURES = {"first peak time": 1e3, "period": 1e3, "overshoot": 100.0}
# table 8.2.2-1: least, most, and with 4 kg
TABLE_8_2_2_1 = {
    "L1": "1.3, 2.7; 33, 68",
    "L2": "0.2, -",
    "L3": "19, 38; 48, 96",
    "L4": "14, 38; 64, 111",
    "vane": "0.18, 0.33; 0.19, 1.3",
}
# State of table 8.2.4-2 at five times the nominal speed [deg, deg/s, deg/s^2]
STATE = np.radians(
    [
        [44.0, 81.3915, 274.2148, 11.7634, 5.2766],
        [687.5428, -122.6628, 170.1796, -2.4798, -47.5168],
        [600.4519, 283.8536, -4757.6626, 4288.9266, 4473.809],
    ]
)
INTRODUCTION = """# EPAAS: the hydraulic robot

A five-axis arm of 1983 with four linear hydraulic servomotors and a vane motor (document 003,
[Machielsen 1983]). The robots `epaas` and `epaas_bench` (one actuator that lifts a weight) are run
by the same loop as the electric ones: valve, oil and piston are a family of parts on rows with
levers. This page is made by `python studies/epaas.py`.

![A step of the fourth cylinder](pictures/tutorial_hydraulics.png)

```python
import armtwin as at

bench, robot = at.Robot.load("epaas_bench"), at.Robot.load("epaas")
at.step_response(bench, {"cylinder": -0.23}).features("cylinder")  # volts
at.step_response(robot, {"z": 0.01, "r": 0.005}, "wrist").table  # or "strokes"
at.analyse(robot, "coupling")
at.analyse(robot, "inertia", load="load_4")
at.sensitivity(at.StepTest(bench, {"cylinder": -0.23}), ["hydraulic.*.compliance"], by=0.25)
```

On the command line `armtwin experiments` lists the steps below, `armtwin simulate epaas_l1` runs
one, `armtwin sensitivity epaas_l1 "hydraulic.*.compliance"` says what it depends on, and
`armtwin actuator` identifies an actuator from its tests, see [experiments](experiment_file.md).

The document does not state its steps. Those below are chosen: first peaks and periods hardly depend
on them, overshoots do. Runs start in equilibrium; dry friction is level tanh(v/v0), v0 = 0.5 mm/s.
"""


WHAT_HELPS = """
Gains by effective mass help: with 4 kg the tuned ones oscillate by centimetres after any motion and
any step, compensated ones settle. The cost is the steady error of a proportional controller: errors
of dry friction and of the valve's lap grow as one over the gain, so that L3 ends at 122 % and L1 at
79 % of a step. Currents for gravity help L4, which has no dry friction: it ends within a micrometre
in place of 8 to 14, or of 0.105 mm where the load comes at rest. They do not help L3, whose dry
friction of 150 N holds more than the weight needs: the current that would hold the weight crosses
the lap of 6 mA and moves the piston by another 0.05 to 0.4 mm. And they do not help tuned gains,
which still oscillate."""
WHAT_RULES = """
Gravity dominates at the nominal speed, with a load too, and coupling is less than a tenth of it, as
the document says; at five times the speed the speed terms dominate. That inertia comes next at the
nominal speed and the speed terms last (8.3) its own tables do not show: all of them grow with the
square of the speed, so their order is the same at any, and there the speed terms are the largest.

As above along the straight seam of the RX90B (`armtwin analyse rx90b torques --along rx90b_line`),
root mean square [N m]:
"""
SPEED = """
## Speed

`python benchmarks/epaas.py`, one core, kernels alone. Each way takes the longest step at which
halving it moves the first peak by less than 0.01 ms: 20 µs on the test set-up both; 40 µs implicit
and 20 µs explicit on the robot. In two runs on a busy machine the implicit step was then 4.6 and
6.5 times as fast as explicit Runge-Kutta 4 on the test set-up (43 and 58 times real time), 6.3 and
6.7 times on the robot (27 and 28 times real time). The robot took 1.6 and 2.1 times as long as the
test set-up (explicit 2.2 times); in the document it was over 200 times.
"""
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
    print("\n## Step responses\n\nFirst peak ms / period ms / overshoot %, of the final value.\n")
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
    horizontal = robot.with_tool("gripper_horizontal")
    l1 = numbers(at.step_response(horizontal, {"L1": -0.55}).features("L1"))
    l4 = numbers(at.step_response(horizontal, {"L4": -0.22}).features("L4"))
    print(f"Gripper horizontal: L1 {l1}, L4 {l4}; the vertical one is what the document has.")
    cycle = at.step_response(robot, {"L3": 0.6}, seconds=0.6)
    swing = np.ptp(cycle.reading[cycle.time > 0.5, cycle.names.index("L3")]) / 0.6
    print(f"From about 0.5 V on L3 ends in a limit cycle: {swing:.1f} steps peak to peak at 0.6 V.")
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
    print("\n## Sensitivities, tables 8.1\n")
    print("5.1 kg extending by 0.23 V: first peak 14.5, period 16.0 ms, overshoot 42 % printed.")
    test = at.StepTest(at.Robot.load("epaas_bench"), {"cylinder": -0.23}, seconds=0.2)
    base = test.measured({})
    here = [f"{scale * base[name]:.1f}" for name, scale in FEATURES.items()]
    print(f"Here {here[0]}, {here[1]} ms, {here[2]} %. With the number smaller / larger, printed")
    print("and then here; the document samples every 0.5 ms. Per %: of the overshoot.\n")
    head("number", "change %", "first peak ms", "period ms", "overshoot %", "per %")
    for key, by, *rows in TABLES_8_1:
        records = at.sensitivity(test, [key], by=by, features=list(FEATURES)).table
        cells = []
        for record, scale, document in zip(records, FEATURES.values(), rows, strict=True):
            found = f"{scale * record['less']:.1f} / {scale * record['more']:.1f}"
            cells.append(f"{printed(document)}; {found}")
        row(f"`{key}`", f"{100 * by:g}", *cells, f"{100 * records[2]['per_percent']:.2f}")
    print("\nRead on the document's grid 25 of 27 first peaks and 24 of 27 periods are the printed")
    print("ones, the others the next sample. Compliance and mass 25 % larger overshoot by 3 and 4")
    print("points more than printed. The document's 0.54 per % of the gain should be 1.35.")


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
        "Along the boundary of the workspace, whose limits of r and z are assumed (figure lost), "
        "with γ and ψ through their ranges;\npostures in which a cylinder's lever is below half of "
        "its longest are left out. L4's 38 kg is a misprint, see [references](references.md).\n"
    )
    head(
        "drive", "least", "most", "ratio", "4 kg: least", "most", "overall", "alone Hz", "document"
    )
    for r in at.analyse(robot, "inertia", load="load_4").table:
        cells = [f"{r[key]:.3g}" for key in ("smallest", "largest", "ratio")]
        cells += [f"{r[key]:.3g}" for key in ("smallest_loaded", "largest_loaded", "ratio_overall")]
        cells += [f"{r['frequency_hz']:.1f}", TABLE_8_2_2_1[r["axis"]]]
        row(f"{r['axis']} [{r['unit']}]", *cells)
    print("\nDocument: L3 34.7, L4 43.3, L1 about 140 Hz.")
    modes(robot)


# measured modes of section 7.3.4 [Hz], what they are due to, and how they come about here
MEASURED = {
    "gripper_rz": (13.6, "gripper, r, z plane", "fitted"),
    "gripper_phi": (14.8, "gripper, φ direction", "fitted"),
    "vane": (25.2, "oil of the vane motor", "predicted"),
    "L3": (35.9, "oil of L3", "predicted"),
    "L4": (40.2, "oil of L4", "predicted"),
    "upper_arm_rz": (59.2, "upper arm, r, z plane", "not represented"),
    "upper_arm_phi": (83.2, "upper arm, φ direction", "fitted"),
}


def modes(robot):
    """Measured modes beside those of oil and flexures together, without and with 2.5 kg."""
    print("\nOil and flexures together, valves closed (`armtwin analyse epaas modes --links`):\n")
    head("mode", "measured Hz", "here Hz", "damping", "with 2.5 kg Hz", "")
    found = [at.analyse(robot, "modes", links=True)]
    found.append(at.analyse(robot.with_payload("load_2_5"), "modes", links=True))
    here, loaded = (
        {x.springs[np.argmax(mode.shares)]: mode for mode in x.motors["locked"]} for x in found
    )
    for name, (frequency, what, how) in MEASURED.items():
        own = here.get(name)
        cells = [f"{own.frequency:.1f}", f"{own.damping:.2f}"] if own else ["-", "-"]
        cells.append(f"{loaded[name].frequency:.1f}" if name in loaded else "-")
        row(what, f"{frequency:.1f}", *cells, how)


def rms(values):
    """Root mean square over time, summed over the joints that carry weight."""
    return float(np.sqrt(np.mean(values**2, axis=0))[1:3].sum())


def causes(shares):
    """Gravity, inertia, the coupling in it, and speed terms [N m]."""
    inertia, speed = shares.inertial + shares.coupling, shares.centripetal + shares.coriolis
    return [rms(part) for part in (shares.gravity, inertia, shares.coupling, speed)]


def passing(robot):
    """A motion of 1.2 s from rest to rest through the document's state at its nominal speed."""
    q, v, _ = STATE
    step = 1e-5
    ends = wrist_coordinates(robot, np.array([q - step * v / 5, q + step * v / 5]))
    middle, speed = ends.mean(axis=0), (ends[1] - ends[0]) / (2 * step)
    share = np.linspace(0, 1, 241)
    smooth = share**3 * (10 - 15 * share + 6 * share**2)
    way = 1.2 / 1.875 * speed  # the fastest of a motion of fifth order
    places = middle + (smooth - 0.5)[:, None] * way
    return at.Log.of(1.2 * share, q=from_wrist(robot, places))


def acting():
    """Gravity, coupling and speed terms at the nominal speed and at five times."""
    print("\n## Torque shares\n")
    print(
        "Torques of joints 2 and 3, which carry weight, added [N m]: at the state of tables 8.2.4,"
    )
    print("and root mean square along a motion of 1.2 s that passes it at the nominal speed.\n")
    head("where", "speed", "load", "gravity", "inertia", "its coupling", "speed terms")
    robot = at.Robot.load("epaas")
    q, v, a = STATE
    for load in (None, "load_4"):
        for times in (1, 5):
            cells = f"{times}x", "4 kg" if load else "-"
            shares = at.analyse(
                robot, "torques", at.states(robot, q, v, a).faster(times / 5), load=load
            ).joints
            row("at the state", *cells, *(f"{x:.2f}" for x in causes(shares)))
            moving = at.analyse(
                robot, "torques", at.states(robot, passing(robot)).faster(times), load=load
            ).joints
            row("along a motion", *cells, *(f"{x:.2f}" for x in causes(moving)))
    print(WHAT_RULES)
    line = at.Job.load("rx90b_line")
    head("joint of rx90b", "inertia", "speed terms", "gravity", "friction", "friction / inertia")
    motion = plan_motion(line.robot(), line).trajectory
    shares = at.analyse(line.robot(), "torques", motion).joints
    for i, name in enumerate(shares.axes.names):
        parts = (
            shares.inertial + shares.coupling,
            shares.centripetal + shares.coriolis,
            shares.gravity,
            shares.friction,
        )
        sizes = [float(np.sqrt(np.mean(part[:, i] ** 2))) for part in parts]
        cells = [f"{x:.3g}" if x > 1e-9 else "0" for x in sizes]
        row(name, *cells, f"{sizes[3] / sizes[0]:.1f}")


def rubbing(robot, level, circuit=None, viscous=501.0):
    """The test set-up with dry and viscous friction, and another circuit where one is given."""
    d = robot.description
    law = at.Robot.load("epaas").description.friction[0].law
    friction = replace(d.friction[0], law=replace(law, level=level, viscous=viscous))
    (drive,) = d.hydraulic
    if circuit is not None:
        drive = replace(drive, circuit=circuit)
    return at.Robot(replace(d, friction=(friction,), hydraulic=(drive,)))


def harmonic(found, frequency, values):
    """First harmonic of the last eight periods."""
    last = found.time > found.time[-1] - 8 / frequency
    return 2 * np.mean(values[last] * np.exp(-2j * np.pi * frequency * found.time[last]))


def dry_friction():
    """Appendix C: dry friction in the flow, and as a describing function."""
    print("\n## Dry friction in the linear model, appendix C\n")
    bench = at.Robot.load("epaas_bench")
    (drive,) = bench.description.hydraulic
    folded = with_folded_friction(drive.circuit, 200.0)
    ramp = np.array([[0.0], [0.2 * 0.1 * 186.0]])
    openings = []
    for one in (rubbing(bench, 200.0), rubbing(bench, 0.0, folded), rubbing(bench, 0.0)):
        found = driven_response(one, [0.0, 0.2], ramp)
        openings.append(1e3 * found.run.log.current[found.time > 0.15, 0].mean())
    print(
        "5.1 kg retracting at 0.1 m/s with 200 N: the valve's current is "
        f"{openings[0]:.2f} mA; with the friction in"
    )
    print(f"the flow {openings[1]:.2f} mA, without any {openings[2]:.2f} mA.\n")
    print(
        "A sine of 0.3 V with 100 N: first harmonic of the sensor, as a share of the set-point's,"
    )
    print("and its phase; with the viscous friction 4 Fc/(π v̂) in place of the dry one, without.\n")
    head("Hz", "dry", "describing function", "without", "error left of the effect %")
    time = np.arange(0, 0.4, 2e-4)
    for frequency in (10.0, 20.0, 40.0):
        sine = 0.3 * np.sin(2 * np.pi * frequency * time)[:, None]
        dry = driven_response(rubbing(bench, 100.0), time, sine)
        speed = abs(harmonic(dry, frequency, dry.run.log.v[:, 0]))
        likened = rubbing(bench, 0.0, viscous=501.0 + describing_viscous(100.0, speed))
        answers = [dry]
        for one in (likened, rubbing(bench, 0.0)):
            answers.append(driven_response(one, time, sine))
        given = -0.3j
        shares = [harmonic(x, frequency, x.reading[:, 0]) / given for x in answers]
        cells = [f"{abs(x):.3f}, {np.degrees(np.angle(x)):.1f}°" for x in shares]
        left = 100 * abs(shares[1] - shares[0]) / abs(shares[2] - shares[0])
        row(f"{frequency:g}", *cells, f"{left:.0f}")


def compensation():
    """What the document proposes and did not try."""
    print("\n## Compensations that the document proposes\n")
    print(
        "4 kg in the gripper; gains tuned for the empty one, and gains in proportion to the natural"
    )
    print("frequency of what is moved. Oscillation: peak to peak of the last 0.1 s of 0.4 s,")
    print("in steps.\n")
    robot = at.Robot.load("epaas")
    loaded, home = robot.with_payload("load_4"), home_of(robot)
    compensated = with_mass_compensation(loaded, robot, home)
    head("drive", "empty", "4 kg, tuned gains", "oscillation", "4 kg, compensated", "oscillation")
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
    print("fed forward along the path, and without.\n")
    head("to r, z m", "gains", "gravity", "L1", "L3", "L4", "oscillation of L4")
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
    print(f"{draws} draws. Intervals of 95 %, share that holds the simulated number; bias and mean")
    print("half width of the interval in per cent of it.\n")
    head("number", "from", "holds %", "bias %", "half width %")
    weights = (2.7, 5.1, 9.0)
    bench = at.Robot.load("epaas_bench")
    together, alone = [], []
    for k in range(draws):
        logs = [noise_test(mass, k) for mass in weights]
        together.append(at.identify_actuator(bench, logs, weights).table)
        alone.append(at.identify_valve(bench, logs[1]).table)
    found_numbers(together, "noise, 3 weights")
    found_numbers(alone, "noise, 5.1 kg and oil known")
    flow(bench, draws)
    rng = np.random.default_rng(1)
    truth, mass = np.array([1.1e-6, 6e-5, 400.0]), np.array([2.7, 4.1, 5.1, 7.5, 9.0])
    frequency, damping = compute_resonance(*truth, mass)
    found = []
    for _ in range(draws):
        noise = 1 + 0.01 * rng.normal(size=(2, len(mass)))
        found.append(fit_exactly(mass, frequency * noise[0], damping * noise[1]))
    values = np.array([one.values for one in found])
    widths = np.array([one.half_width for one in found])
    covered(["compliance", "leakage", "viscous"], "5 resonances, 1 %", values, truth, widths)
    print(RESONANCES)


def found_numbers(tables, what):
    """Print how well numbers of a robot file were found, again and again."""
    names = [found.name for found in tables[0]]
    truth = np.array([found.prior for found in tables[0]])
    values = np.array([[found.value for found in table] for table in tables])
    widths = np.array([[found.half_width for found in table] for table in tables])
    covered(names, what, values, truth, widths)


def flow(bench, draws):
    """Print how well points of the flow were found from triangles, speeds read with noise."""
    log = at.run_experiment(at.Experiment.load("epaas_triangles")).log
    rng = np.random.default_rng(2)
    off, widths, speeds = [], [], []
    for _ in range(draws):
        v = log.v + 2e-3 * rng.normal(size=log.v.shape)
        found = at.identify_flow(bench, at.Log.of(log.time, **{**log.channels, "v": v}))
        priors = np.array([record["prior"] for record in found.table])
        off.append(found.flow.speed - priors)
        widths.append(found.flow.half_width)
        speeds.append(np.abs(priors))
    off, widths, speeds = np.array(off), np.array(widths), np.array(speeds)
    inside = 100 * np.mean(np.abs(off) < widths)
    bias = 100 * np.mean(off / speeds)
    width = 100 * np.mean(widths / speeds)
    row("flow, 16 points", "triangles", f"{inside:.0f}", f"{bias:.2f}", f"{width:.2f}")


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
    acting()
    dry_friction()
    print(SPEED.rstrip())
    actuator(int(sys.argv[1]) if len(sys.argv) > 1 else 100)


if __name__ == "__main__":
    main()

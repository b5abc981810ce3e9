"""The flexible twin: modes, the parts of the real path error, corrections on other robots.

    python studies/flexible.py > docs/flexible.md

Ref: [Waiboer 2007, section 6.2 and figures 6.1, C.3], [Soder-Hoorn 2015]
"""

import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

import armtwin as at
from armtwin.analysis.flexible import elastic_coordinates, flexible
from armtwin.analysis.modes import Mode, find_locked_modes, find_servo_modes
from armtwin.drives.friction.curves import coefficients
from armtwin.maths.batch import Flags, Floats
from armtwin.prediction.correct import size_of
from armtwin.robot.schema.groups import Body
from armtwin.simulation.plant import Plant

SEEDS = 10
OFF = 0.1  # by which numbers of a virtual robot are off at most
STRETCHED = np.array([0.0, np.pi / 2, -np.pi / 2, 0.0, 0.0, 0.0])
HEAVY = 1e6  # rotors so much heavier are as good as locked
UM = 1e6

HEAD = """# The flexible twin in numbers

Made by `python studies/flexible.py`. Stiffness of the RX90B, deviations and ripple are assumptions
(`armtwin check rx90b`), so are the dampings of the KR300 and the stiffnesses of its wrist.

![Natural frequencies and a mode shape of the KR 300](pictures/modes.png)
"""


def varied(robot: at.Robot, rng: np.random.Generator) -> at.Robot:
    """A robot whose masses (of links and tools), friction levels and stiffnesses are each off by at
    most 10 %; its servo is the same.
    """

    def off() -> float:
        return float(rng.uniform(1 - OFF, 1 + OFF))

    d = robot.description
    links = []
    for link in d.link:
        body = link.body
        links.append(link if body is None else replace(link, body=_scaled(body, off())))
    tools = {}
    for name, tool in d.tool.items():
        body = tool.body
        tools[name] = tool if body is None else replace(tool, body=_scaled(body, off()))
    springs = []
    for spring in d.transmission:
        stiffness = spring.stiffness
        if stiffness is not None:
            spring = replace(spring, stiffness=stiffness * off())
        springs.append(spring)
    friction = []
    for element in d.friction:
        factor = off()
        levels = {name: factor * value for name, value in coefficients(element.law).items()}
        friction.append(replace(element, law=replace(element.law, **levels)))
    changed = replace(
        d, link=tuple(links), tool=tools, transmission=tuple(springs), friction=tuple(friction)
    )
    return at.Robot(changed, robot.origin)


def _scaled(body: Body, factor: float) -> Body:
    """A body of the same shape with another density."""
    moment = body.first_moment
    if moment is not None:
        x, y, z = moment
        moment = (factor * x, factor * y, factor * z)
    inertia = body.inertia
    if inertia is not None:
        names = ("xx", "yy", "zz", "xy", "xz", "yz")
        inertia = replace(inertia, **{name: factor * getattr(inertia, name) for name in names})
    return replace(body, mass=factor * body.mass, first_moment=moment, inertia=inertia)


def with_other_servo(robot: at.Robot, rng: np.random.Generator) -> at.Robot:
    """A robot whose position and velocity gains are each off by at most 10 %."""
    servo: Any = robot.description.servo["cascade"]
    changed = {}
    for name in ("kp", "ki", "kv", "kvf", "kafc"):
        gains = getattr(servo, name)
        if gains is not None:
            changed[name] = tuple(gain * float(rng.uniform(1 - OFF, 1 + OFF)) for gain in gains)
    if servo.rule is not None:
        bandwidth = servo.rule.bandwidth
        factors = rng.uniform(1 - OFF, 1 + OFF, len(bandwidth))
        changed["rule"] = replace(
            servo.rule, bandwidth=tuple((np.array(bandwidth) * factors).tolist())
        )
    servos = {**robot.description.servo, "cascade": replace(servo, **changed)}
    return at.Robot(replace(robot.description, servo=servos), robot.origin)


def modes_section() -> Iterator[str]:
    """Lowest modes with rotors locked, by the equations and by a simulated ring-down."""
    yield "\n## Modes\n"
    yield (
        "Lowest natural frequency with rotors locked, and the same from a simulated ring-down "
        "(rotors a million times heavier, friction, damping and backlash off, a pulse of 8 ms).\n"
    )
    yield "| robot | posture | load | equations | ring-down | apart |"
    yield "|---|---|---|---|---|---|"
    kr300, rx90b = at.Robot.load("kr300"), at.Robot.load("rx90b").with_tool("laser_head")
    cases: list[tuple[at.Robot, str, Floats, str | None]] = [
        (kr300, "stretched", STRETCHED, None),
        (kr300, "q = 0", np.zeros(6), None),
        (rx90b, "stretched, with head", np.zeros(6), None),
    ]
    for robot, words, q, load in cases:
        mode = find_locked_modes(flexible(elastic_coordinates(robot), q))[0]
        rung = ring_down(robot, q, np.real(mode.tool[:3]))
        apart = abs(rung / mode.frequency - 1)
        yield (
            f"| {robot.name} | {words} | {load or 'none'} | {mode.frequency:.3f} Hz "
            f"| {rung:.3f} Hz | {100 * apart:.2f} % |"
        )
    for words, q in (("stretched", STRETCHED), ("q = 0", np.zeros(6))):
        for load in (75.0, 150.0):
            found = at.analyse(kr300, "modes", q, load=load)
            assert isinstance(found, at.Modes)
            frequency = found.motors["locked"][0].frequency
            yield f"| kr300 | {words} | {load:g} kg | {frequency:.3f} Hz | | |"
    yield (
        "\nWith an upper arm that twists and bends as its file assumes (figure 3.4 of document "
        '001; off unless a model says `links = "elastic"`):\n'
    )
    yield "| robot | posture | load | gears | gears and links |"
    yield "|---|---|---|---|---|"
    for words, q in (("stretched", STRETCHED), ("q = 0", np.zeros(6))):
        for load in (None, 150.0):
            cells = []
            for links in (False, True):
                found = at.analyse(kr300, "modes", q, load=load, links=links)
                assert isinstance(found, at.Modes)
                cells.append(f"{found.motors['locked'][0].frequency:.3f} Hz")
            carried = "none" if load is None else f"{load:g} kg"
            yield f"| kr300 | {words} | {carried} | {' | '.join(cells)} |"
    yield (
        "\nThe EPAAS on its oil, valves closed, at its start-up position; section 7.3 of document "
        "003 computes each drive alone:\n"
    )
    yield "| mode | damping | most in | alone |"
    yield "|---|---|---|---|"
    epaas = at.Robot.load("epaas")
    vibrates, inertia = at.analyse(epaas, "modes"), at.analyse(epaas, "inertia", epaas.home)
    alone = {record["axis"]: record["frequency_hz"] for record in inertia.table}
    for record in vibrates.table:
        drive = record["spring"]
        yield (
            f"| {record['frequency_hz']:.1f} Hz | {record['damping']:.2f} | {drive} "
            f"| {alone[drive]:.1f} Hz |"
        )


def ring_down(robot: at.Robot, q: Floats, direction: Floats) -> float:
    """Frequency at which the tool rings after a small push, rotors locked [Hz]."""

    def locked(plant: Plant) -> Plant:
        springs = plant.springs
        quiet = springs._replace(damping=0 * springs.damping, gap=0 * springs.gap)
        rotors = plant.rotors._replace(inertia=HEAVY * plant.rotors.inertia)
        return plant._replace(springs=quiet, rotors=rotors)

    samples = 1001
    still = np.tile(q, (samples, 1))
    motion = at.Trajectory.sampled(250, still, 0 * still, 0 * still)
    wrench = np.zeros((samples, 6))
    wrench[:3, :3] = 5.0 * direction / np.linalg.norm(direction)
    model = at.Model(joints="elastic", friction="off", quantise=False)
    run = at.simulate(robot, motion, model, options=at.RunOptions(wrench=wrench, change=locked))
    y = run.tool_poses()[200:, :3, 3] @ direction
    y = (y - y.mean()) * np.hanning(len(y))
    length = 64 * len(y)
    spectrum = np.abs(np.fft.rfft(y, length))
    return float(np.fft.rfftfreq(length, 1 / run.trace_rate)[spectrum.argmax()])


def parts_section() -> Iterator[str]:
    """Figure 6.1 part by part."""
    yield "\n## Figure 6.1, part by part\n"
    yield (
        "The line of the laser welding thesis, micrometres with the process on, peak / root mean "
        "square. Servo: the error that the controller measures. The thesis attributes slow errors "
        "to link lengths and elastic deflection, erratic ones to gear ripple, ringing at 500 mm/s "
        "after the ramps and at the reversal.\n"
    )
    yield "| speed | direction | servo | deviations | ripple | sag | vibration | total |"
    yield "|---|---|---|---|---|---|---|---|"
    for speed in (0.1, 0.5):
        parts = at.error_parts(real_line(speed))
        assert parts is not None
        for direction in ("lateral", "vertical"):
            cells = []
            for record in parts.table:
                peak, rms = (UM * record[f"{direction}_{x}_m"] for x in ("peak", "rms"))
                cells.append(f"{peak:.0f} / {rms:.0f}")
            yield f"| {1e3 * speed:.0f} mm/s | {direction} | {' | '.join(cells)} |"
    yield "\nEach cause alone, added to rigid gears, peak lateral / vertical:\n"
    yield "| speed | none | elasticity | ripple | deviations | all |"
    yield "|---|---|---|---|---|---|"
    for speed in (0.1, 0.5):
        cells = []
        for keys in (
            {},
            {"joints": "elastic"},
            {"ripple": True},
            {"deviations": True},
            {"joints": "elastic", "ripple": True, "deviations": True},
        ):
            run = predicted_line(speed, **keys)
            size = size_of(run.job, run.path_error)
            cells.append(f"{UM * size.lateral:.0f} / {UM * size.vertical:.0f}")
        yield f"| {1e3 * speed:.0f} mm/s | {' | '.join(cells)} |"


def predicted_line(speed: float, **keys: Any) -> at.Prediction:
    """The line at a speed under a model."""
    job = at.Job.load("rx90b_line").with_speed(speed)
    return at.predict(at.Job(replace(job.description, model=at.Model(**keys)), job.origin))


def real_line(speed: float) -> at.Prediction:
    """The line with all that the controller does not know."""
    return predicted_line(speed, joints="elastic", ripple=True, deviations=True)


def ringing_section() -> Iterator[str]:
    """The swing after ramps and reversal at 500 mm/s, against the modes there."""
    yield "\n## Ringing at 500 mm/s\n"
    yield (
        "The vibration part of the error, from 0.05 to 0.35 s after each event, and the share of "
        "its variance (a line removed) that the two slowest modes explain, rotors held by the "
        "servo or locked. While rotors slide, the servo holds them: friction, nearly constant "
        "then, excites the arm and does not change its modes. After the last ramp friction holds "
        "the rotors at rest, and neither set of modes explains all; without friction it is the "
        "servo again. The remaining vertical vibration after the first ramp is slow: the twist by "
        "the load of the motion. Last two columns: the difference of elastic and rigid gears, "
        "without the sag, and the share that the modes held by the servo explain of it.\n"
    )
    yield (
        "| friction | after | direction | size | servo-held | explained | locked | explained "
        "| elastic less rigid | explained |"
    )
    yield "|---|---|---|---|---|---|---|---|---|---|"
    for friction in ("lugre", "off"):
        run = predicted_line(0.5, joints="elastic", quantise=False, friction=friction)
        rigid = predicted_line(0.5, quantise=False, friction=friction)
        for words, begin in events(run).items():
            if friction == "off" and words.startswith("reversal"):
                continue  # nothing turns over
            for cells in _ringing(run, rigid, begin):
                yield f"| {friction} | {words} | {' | '.join(cells)} |"


def _ringing(run: at.Prediction, rigid: at.Prediction, begin: float) -> Iterator[list[str]]:
    """Direction, size and explained shares of the swing after an event."""
    parts = at.error_parts(run)
    assert parts is not None
    q, _, _ = run.motion.trajectory.at(np.array([begin]))
    here = flexible(elastic_coordinates(run.robot), q[0])
    held = find_servo_modes(here, run.robot.description.servo["cascade"])
    now = after(parts.time, begin)
    for direction in ("lateral", "vertical"):
        swing = getattr(parts, direction)["dynamic"][now]
        cells = [direction, f"{UM * float(np.ptp(swing)):.0f} µm"]
        for modes in (held[:2], find_locked_modes(here)[:2]):
            cells.append(", ".join(_in_words(mode) for mode in modes))
            cells.append(f"{100 * share_of_modes(parts.time[now], swing, modes):.1f} %")
        apart = beyond_rigid(run, rigid, direction)[now]
        cells.append(f"{UM * float(np.ptp(apart)):.0f} µm")
        cells.append(f"{100 * share_of_modes(parts.time[now], apart, held[:2]):.1f} %")
        yield cells


def after(time: Floats, begin: float) -> Flags:
    """Times in which the arm rings after an event, (m,)."""
    return (time >= begin + 0.05) & (time <= begin + 0.35)


def beyond_rigid(run: at.Prediction, rigid: at.Prediction, direction: str) -> Floats:
    """What the error of elastic gears has beyond that of rigid ones and the sag, (m,) [m]."""
    parts = at.error_parts(run)
    assert parts is not None
    sag = getattr(parts, direction)["sag"]
    return (
        np.asarray(getattr(run.path_error, direction) - getattr(rigid.path_error, direction)) - sag
    )


def _in_words(mode: Mode) -> str:
    """Frequency and relative damping of a mode."""
    damping = round(mode.damping, 2) + 0.0  # no negative zero
    return f"{mode.frequency:.1f} Hz ({damping:.2f})"


def events(run: at.Prediction) -> dict[str, float]:
    """When the line's first ramp ends, joint 3 turns back, the last ramp ends [s]."""
    before = run.job.seam.standstill[0]
    start, stop = (before + t for t in run.job.seam.profile.steady)
    return {
        "first ramp": start,
        "reversal of joint 3": _reversal(run),
        "last ramp": stop + start - before,
    }


def _reversal(run: at.Prediction) -> float:
    """When joint 3 turns back while the tool moves steadily [s]."""
    v = run.motion.trajectory.v[:, 2]
    moving = run.motion.command.speed > 0.9 * run.job.description.speed
    turns = np.flatnonzero((np.sign(v[1:]) != np.sign(v[:-1])) & moving[1:])
    return float(run.motion.trajectory.time[turns[0]])


def share_of_modes(time: Floats, swing: Floats, modes: Sequence[Mode]) -> float:
    """Share of the variance of a swing, a line removed, that damped sines of modes explain."""
    t = time - time[0]
    columns = [np.ones_like(t), t]
    for mode in modes:
        w = 2 * np.pi * mode.frequency
        envelope, turn = np.exp(-mode.damping * w * t), w * np.sqrt(1 - mode.damping**2) * t
        columns += [envelope * np.cos(turn), envelope * np.sin(turn)]
    return 1 - _left(columns, swing) / _left(columns[:2], swing)


def _left(columns: list[Floats], values: Floats) -> float:
    """Sum of squares that columns leave of values."""
    A = np.stack(columns, axis=1)
    left = values - A @ np.linalg.lstsq(A, values, rcond=None)[0]
    return float(left @ left)


def correction_section() -> Iterator[str]:
    """Corrections learned on the twin, applied to robots that are off by ten percent."""
    yield "\n## Corrections on other robots\n"
    yield (
        f"Set-points corrected on the twin, run on {SEEDS} virtual robots whose masses, friction "
        "levels and stiffnesses are each off by a random ±10 %; the servo is the same, or (last "
        "column) its bandwidth is off by ±10 % too. Root mean square of lateral and vertical "
        "error, micrometres.\n"
    )
    yield (
        "| job | joints | twin | reduction, median | reduction, least "
        "| with another servo: median, least |"
    )
    yield "|---|---|---|---|---|---|"
    line = at.Job.load("rx90b_line").with_speed(0.3)
    frame = at.Job.load("kr300_frame")
    for job, joints in ((line, "rigid"), (line, "elastic"), (frame, "elastic")):
        model = replace(job.description.model, joints=joints)
        chosen = at.Job(replace(job.description, model=model), job.origin)
        yield _trial(chosen, joints)


def _trial(job: at.Job, joints: str) -> str:
    found = at.correct(job, nominal=True)
    own = at.Robot.load(job.description.robot)
    falls, others = [], []
    for seed in range(SEEDS):
        rng = np.random.default_rng(seed)
        robot = varied(own, rng)
        falls.append(_fall(found, robot))
        others.append(_fall(found, with_other_servo(robot, rng)))
    before, after = UM * found.before.rms, UM * found.best.size.rms
    speed = f"{job.name}, {1e3 * job.description.speed:.0f} mm/s"
    return (
        f"| {speed} | {joints} | {before:.0f} -> {after:.1f} | {100 * np.median(falls):.0f} % "
        f"| {100 * min(falls):.0f} % | {100 * np.median(others):.0f} %, {100 * min(others):.0f} % |"
    )


def _fall(correction: at.Correction, robot: at.Robot) -> float:
    """Share of the error that the correction takes away on a robot."""
    job = correction.prediction.job
    before, after = (size_of(job, error) for error in correction.on(robot))
    return 1 - after.rms / before.rms


def main() -> None:
    """Print the page."""
    print(HEAD, end="")
    for section in (modes_section, parts_section, ringing_section, correction_section):
        for line in section():
            print(line)
            sys.stdout.flush()


if __name__ == "__main__":
    main()

"""What a robot needs beside its ticks to run in another tool, as stages of its loop.

A payload is put on the flange, the robot settles on its first set-point, set-points of the joints
become those of the drives, and outputs are written. The functions are those by which a run is
prepared and its log is written, given symbols.
"""

from typing import Any, NamedTuple

import numpy as np

from armtwin.control.controller import (
    ACCELERATION,
    BY_ACCELERATION,
    BY_SIGN,
    BY_SPEED,
    BY_TORQUE,
    HELD,
    OF_POSITION,
    POSITION,
    REFERENCES,
    SHIFT,
    SPEED,
    TORQUE,
    Controller,
    initial,
    shift,
)
from armtwin.drives.hydraulics import AT_ONCE, no_load_speed
from armtwin.drives.rows import Springs, add_along, along
from armtwin.exchange.instant import Slopes, differentiate, find_flanks, make_slopes
from armtwin.maths.batch import Floats
from armtwin.maths.choice import larger
from armtwin.maths.tape import as_symbols
from armtwin.maths.traced_fields import Aside, Ring, Series
from armtwin.mechanics.arm import make_bodies, place
from armtwin.mechanics.inertia import transform_body
from armtwin.mechanics.kinematics import axis_to_base, to_base
from armtwin.mechanics.mass import equations_of_motion
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.dynamics.sag import freedom_of, ripple_of, twists_under_load
from armtwin.robot.kinematics.strokes import drive_forces, joint_torques, strokes
from armtwin.simulation.loop import ClosedLoop
from armtwin.simulation.prepared import PreparedRun
from armtwin.simulation.start import split_holding_torque
from armtwin.simulation.step import add_balancers, set_levers

PAYLOAD = 10  # mass, centre of mass, inertia about it


class RobotInputs(NamedTuple):
    """What drives a robot in another tool, and what is read of it.

    Attributes:
        ref: Set-points of the drives that the servo uses, the newest last, (window, 5, drives).
        wrench: No force on the tool.
        slow: Speed of each friction element below which its bristles do not slide, (e,) [rad/s].
        substeps: Steps in a tick while an element is that slow.
        run: The run that it was prepared for.
        level: Level of each friction element, (e,).
        q_ref: Set-point of the joints that is ahead: positions, (n,); v_ref and a_ref as above.
        tau_ff: Torques that are fed forward there, (drives,).
        past: Set-points of the joints that late drives still need, (samples, 3, n).
        past_torque: Torques fed forward with them, (samples, drives).
        load: Torques from outside on the joints, (n,).
        payload: Mass on the flange, centre of mass, inertia about it, (10,).
        bare: Inertia of the flange's body without it, (10,).
        moved: How far a round of sagging moved the coordinates, (1,) [rad].
        q: Joints as the motors have them, (n,); q_link on the link side, speed their speeds.
        tau: Torques of the drives on the joints, (n,).
        tau_m: Torques of motors and forces of cylinders, (drives,).
        pose: Rotation and place of the tool, (3, 4).
        slopes: Derivatives of the states.
        indicators: What changes its sign at a flank of a gear with backlash, (2 gears,).
    """

    ref: Ring
    wrench: Series | None
    slow: Floats
    substeps: int
    run: Aside
    level: Floats
    q_ref: Floats
    v_ref: Floats
    a_ref: Floats
    tau_ff: Floats
    past: Floats
    past_torque: Floats
    load: Floats
    payload: Floats
    bare: Floats
    moved: Floats
    q: Floats
    q_link: Floats
    speed: Floats
    tau: Floats
    tau_m: Floats
    pose: Floats
    slopes: Slopes
    indicators: Floats


def robot_loop(run: PreparedRun) -> ClosedLoop:
    """The loop of a run with the inputs of a unit, and without a log."""
    c, n, m = run.controller, run.robot.n, len(run.plant.sensors.row)
    body, _ = run.coordinates.built.assembly.frame("flange")
    latest = float(np.max(c.setpoint_delay, initial=0.0)) / setpoint_period(c)
    samples = int(np.ceil(latest)) + 2 if latest > 0 else 0
    joints = {name: np.zeros(n) for name in ("q_ref", "v_ref", "a_ref", "load")}
    seen = {name: np.zeros(n) for name in ("q", "q_link", "speed", "tau")}
    inputs = RobotInputs(
        ref=np.zeros((window_of(c), REFERENCES, m)),
        wrench=None,
        slow=run.inputs.slow,
        substeps=run.inputs.substeps,
        run=run,
        level=np.ones(len(run.plant.friction.row)),
        tau_ff=np.zeros(m),
        past=np.zeros((samples, 3, n)),
        past_torque=np.zeros((samples, m)),
        payload=np.zeros(PAYLOAD),
        bare=run.loop.arm.inertia[body],
        moved=np.zeros(1),
        tau_m=np.zeros(m),
        pose=np.zeros((3, 4)),
        slopes=make_slopes(run.state),
        indicators=np.zeros(2 * len(gears_with_backlash(run))),
        **joints,
        **seen,
    )
    run.loop.clock.k[0] = window_of(c) - 2 - int(looks_ahead(c))
    return run.loop._replace(inputs=inputs, record=None)


def window_of(c: Controller) -> int:
    """How many set-points a servo uses: two, more where it is late, one more to look ahead."""
    late = float(np.max(c.lateness, initial=0.0)) / c.setpoint_ticks
    return 2 + int(np.ceil(late)) + int(looks_ahead(c))


def looks_ahead(c: Controller) -> bool:
    """Whether a servo shapes its reference by the set-point after the one that is ahead."""
    return bool(c.shaping[:, [BY_SPEED, BY_ACCELERATION, BY_SIGN, BY_TORQUE]].any())


def setpoint_period(c: Controller) -> float:
    """Time between set-points [s]."""
    return float(c.tick * c.setpoint_ticks)


# start


def settle_bodies(x: ClosedLoop) -> None:
    """Mount the payload on the flange's body and put both sides of the joints on the set-point."""
    places = x.inputs.run.coordinates
    mass, *centre = x.inputs.payload[:4]
    body, X = places.built.assembly.frame("flange")
    about_centre = (mass, 0.0, 0.0, 0.0, *x.inputs.payload[4:])
    on_flange = transform_body(np.eye(3)[None], np.array([centre]), 0, about_centre)
    mounted = transform_body(X[None, :3, :3], X[None, :3, 3], 0, on_flange)
    x.arm.inertia[body] = x.inputs.bare + np.array(mounted, dtype=object)
    x.state.u[:] = x.inputs.q_ref @ places.both_sides(np.eye(len(x.inputs.q_ref)))


def weigh(x: ClosedLoop) -> Any:
    """Torques that hold the bodies at rest: bias without speed, outside torques taken off."""
    u, still = x.state.u, np.zeros(len(x.state.u))
    M, bias = np.zeros((len(u), len(u)), dtype=object), np.zeros(len(u), dtype=object)
    bodies = make_bodies(x.arm, u)
    equations_of_motion(x.arm, x.plant.rotors, bodies, u, still, M, bias)
    add_balancers(x.plant.balancers, x.rows, u, bias)
    return (bias - load_of(x))[: len(x.size)]


def load_of(x: ClosedLoop) -> Any:
    """Torques from outside on the coordinates."""
    n = len(x.inputs.load)
    return x.inputs.load @ x.inputs.run.coordinates.on_links(np.eye(n))


def sag(x: ClosedLoop) -> None:
    """One round in which springs take up what they bear."""
    places = x.inputs.run.coordinates
    rows = np.array([compliance.twist for compliance in places.elastic])
    freedom = freedom_of(places)
    bends = freedom @ np.linalg.inv(rows @ freedom)
    bends[np.abs(bends) < 1e-14] = 0.0
    # the springs of gears and links come before the dampers to ground
    first = [as_symbols(values[: len(rows)]) for values in x.plant.springs[1:]]
    u = as_symbols(x.state.u)
    torque = -bends[: places.bodies].T @ as_symbols(weigh(x))
    twist = twists_under_load(Springs(np.arange(len(rows)), *first), torque)
    moved = np.asarray(bends @ (twist - ripple_of(places, u, len(rows)) - rows @ u))
    x.state.u[:] = x.state.u + moved
    largest = 0.0
    for change in moved:
        largest = larger(largest, abs(change))
    x.inputs.moved[0] = largest


def settle(x: ClosedLoop) -> None:
    """Servo, filters, oil and pasts of drives that have long held the robot."""
    run, plant, state = x.inputs.run, x.plant, x.state
    m = len(plant.sensors.row)
    q, none = x.inputs.q_ref[None], np.zeros((1, run.robot.n))
    static = weigh(x)[run.coordinates.own]
    force = drive_forces(run.robot, q, static[None])[0]
    current = force / plant.outputs.per_current
    wanted = strokes(run.robot, q, none, none).position[0]
    torque, valves = force.copy(), plant.cylinders.drive
    torque[valves] = 0.0
    held, offset = split_holding_torque(run.controller, torque, x.inputs.tau_ff)
    # at rest the states of loops and filters are proportional to the torque held
    servo, memory = initial(run.controller, np.ones(m), np.zeros(m), np.zeros(m))
    state.servo[:] = held[:, None] * servo
    state.servo[:, HELD] = offset
    state.memory[:] = held[:, None, None] * memory
    position = [along(plant.rows, r, state.u) for r in plant.sensors.row]
    for k, hydraulic in zip(range(len(valves)), run.robot.description.hydraulic, strict=True):
        drive = valves[k]
        opening = hydraulic.circuit.oil.opening(force[drive])
        current[drive] = state.servo[drive, HELD] = opening
        state.oil[k], position[drive] = force[drive], wanted[drive]
        state.valves[k, 0], state.valves[k, 1] = opening, 0.0
    x.work.current[:] = current
    _fill(state.readings, run.state.readings, np.stack([position, np.zeros(m)], axis=1))
    _fill(state.commands, run.state.commands, current[:, None])
    loads = plant.loads
    for k, e in enumerate(loads.element):
        state.carried[k] = loads.ratio[k] * force[loads.drive[k]]
        x.work.level[e] = loads.least[k] + loads.share[k] * abs(state.carried[k])


def _fill(ring: Any, known: Floats | None, values: Any) -> None:
    """Write the same values, (drives, kinds), to all rows of a ring."""
    if known is None:
        return
    for age in range(len(known)):
        for where, value in np.ndenumerate(values):
            ring[age, *where] = value


# ticks


def push(x: ClosedLoop) -> None:
    """Torques from outside, as they are given."""
    x.work.outside[:] = load_of(x)


def take(x: ClosedLoop) -> None:
    """Set-points of the drives from those of the joints; those before move on."""
    c, inputs = x.inputs.run.controller, x.inputs
    given = np.stack([inputs.q_ref, inputs.v_ref, inputs.a_ref])
    row = _set_point(inputs.run, given, inputs.tau_ff)
    if len(inputs.past):
        for past, newest in ((inputs.past, given), (inputs.past_torque, inputs.tau_ff)):
            past[:] = np.concatenate([past[1:], newest[None]])
    for late in np.unique(c.setpoint_delay[c.setpoint_delay > 0]):
        which = c.setpoint_delay == late
        row[:, which] = _set_point(inputs.run, *_recall(x, float(late)))[:, which]
    last = window_of(c) - 1
    rows = [row]
    for k in range(last, 0, -1):
        rows.insert(0, _read(inputs.ref, k, row.shape))
    if looks_ahead(c):
        shifts = [shift(c, at[SPEED], at[ACCELERATION], at[TORQUE]) for at in rows]
        followed = c.shaping[:, OF_POSITION]
        speed = (shifts[-1] - shifts[-3]) / (2 * setpoint_period(c))
        rows[-2][SHIFT] = (1 - followed) * speed
        rows[-2][POSITION] = rows[-2][POSITION] + followed * shifts[-2]
    for k, values in enumerate(rows):
        for where, value in np.ndenumerate(values):
            inputs.ref[k, *where] = value


def _read(ref: Any, k: int, shape: tuple[int, ...]) -> Any:
    """A set-point of the drives, (5, drives)."""
    found = np.empty(shape, dtype=object)
    for where in np.ndindex(shape):
        found[where] = ref[k, *where]
    return found


def _set_point(run: PreparedRun, joints: Any, torque: Any) -> Any:
    """Position, speed, acceleration and torque of the drives, (5, drives), of joints, (3, n)."""
    moved = strokes(run.robot, *joints[:, None])
    row = np.zeros((REFERENCES, len(torque)), dtype=object)
    row[POSITION], row[SPEED] = moved.position[0], moved.speed[0]
    row[ACCELERATION], row[TORQUE] = moved.acceleration[0], torque
    return row


def _recall(x: ClosedLoop, late: float) -> tuple[Any, Any]:
    """The set-point of the joints as it was some time ago, (3, n), and torques fed forward."""
    rate = 1 / setpoint_period(x.inputs.run.controller)
    past, torque = x.inputs.past, x.inputs.past_torque
    motion = Trajectory(rate, past[:, 0], past[:, 1], past[:, 2])
    joints = np.concatenate(motion.at(np.array([motion.duration - late])))
    before = int(late * rate)
    share = late * rate - before
    return joints, (1 - share) * torque[-1 - before] + share * torque[-2 - before]


def write_outputs(x: ClosedLoop) -> None:
    """Joints on both sides, torques, pose of the tool."""
    inputs, state = x.inputs, x.state
    places, robot = inputs.run.coordinates, inputs.run.robot
    seen = places.motor_side(np.eye(len(state.u)))  # linear in the coordinates
    bodies = places.of_bodies(state.u)
    inputs.q[:] = state.u @ seen
    inputs.speed[:] = state.v @ seen
    inputs.q_link[:] = bodies[places.own]
    inputs.tau_m[:] = x.plant.outputs.torque * x.work.current
    for k, drive in enumerate(x.plant.cylinders.drive):
        inputs.tau_m[drive] = state.oil[k]
    inputs.tau[:] = joint_torques(robot, inputs.q[None], inputs.tau_m[None])[0]
    at = make_bodies(x.arm, state.u)
    place(x.arm, bodies, at)
    body, X = places.built.assembly.frame("tool")
    for column in range(3):
        inputs.pose[:, column] = axis_to_base(x.arm, at, body, tuple(X[:3, column]))
    inputs.pose[:, 3] = to_base(x.arm, at, body, tuple(X[:3, 3]))


# model exchange


def compute_slopes(x: ClosedLoop) -> None:
    """Derivatives of all states under the currents of the last tick."""
    plant, u, v = x.plant, x.state.u, x.state.v
    M, bias = np.zeros((len(u), len(u)), dtype=object), np.zeros(len(u), dtype=object)
    rows, tau = x.work.rows.copy(), np.zeros(len(u), dtype=object)
    now = x._replace(work=x.work._replace(rows=rows, M=M, force=bias))
    set_levers(plant.levers, plant.rows, u, rows)
    bodies = make_bodies(x.arm, u)
    equations_of_motion(x.arm, plant.rotors, bodies, u, v, M, bias)
    add_balancers(plant.balancers, now.rows, u, bias)
    for k, r in enumerate(plant.outputs.row):
        add_along(now.rows, r, plant.outputs.torque[k] * x.work.current[k], tau)
    bias[:] = tau + load_of(x) - bias
    differentiate(now)
    _differentiate_oil(now)
    x.inputs.indicators[:] = find_flanks(x, gears_with_backlash(x.inputs.run))


def _differentiate_oil(x: ClosedLoop) -> None:
    """Derivatives of the forces of cylinders and of their spools."""
    cylinders, state, slopes = x.plant.cylinders, x.state, x.inputs.slopes
    for c, (r, drive) in enumerate(zip(cylinders.row, cylinders.drive, strict=True)):
        current = x.work.current[drive]
        opening, speed = state.valves[c]
        if has_spools(x.inputs.run):
            hydraulic, _ = x.inputs.run.robot.assembly.drives[drive]
            valve = hydraulic.circuit.valve
            w = valve.frequency
            slopes.valves[c, 0] = speed
            slopes.valves[c, 1] = w * w * (current - opening) - 2 * valve.damping * w * speed
        else:
            opening = current
        flow = no_load_speed(cylinders.flow, c, opening) - along(x.rows, r, state.v)
        lost = cylinders.leakage[c] * state.oil[c]
        slopes.oil[c] = (flow - lost) / cylinders.compliance[c]


def has_spools(run: PreparedRun) -> bool:
    """Whether the spools of its valves have states."""
    spool = run.plant.cylinders.spool
    return len(spool) > 0 and not np.array_equal(spool[0], AT_ONCE)


def gears_with_backlash(run: PreparedRun) -> Any:
    """Springs that have a gap."""
    return np.flatnonzero(run.plant.springs.gap > 0)

"""The integrator against LSODA and Radau restarted at every controller tick, and its order."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.integrate import odeint, solve_ivp

import armtwin as at
from armtwin.control.controller import ERROR_LIMIT
from armtwin.drives.friction.curves import look_up
from armtwin.drives.linkage import in_turn
from armtwin.maths.compiled import compiled
from armtwin.mechanics.mass import solve_in_place
from armtwin.simulation import loop
from armtwin.simulation.equations import of_bodies
from armtwin.simulation.model import Model
from armtwin.simulation.options import RunOptions
from armtwin.simulation.plant import C0, C1, OFFSET, SCALE
from armtwin.simulation.prepared import controller_of, prepare
from armtwin.simulation.servo_loops import position_tick, velocity_tick
from tests.simulation.bench import from_rest, joint, sine


@compiled
def rates(arm, rotors, rows, balancers, friction, curves, numbers, y, tau, out):
    """Right-hand side q' = v, M v' = τ - h - Σ F s, z' = w - c0 |w| z / g of a whole robot."""
    balancer_row, balancer_table = balancers
    n = len(tau)
    q, v, z = y[:n], y[n : 2 * n], y[2 * n :]
    R, P, Ic, L = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 10)), np.zeros((n, n))
    w, al, ac, f, t = P.copy(), P.copy(), P.copy(), P.copy(), P.copy()
    M, bias, none, force = np.empty((n, n)), np.empty(n), np.zeros(n), np.empty(n)
    of_bodies(none, arm, rotors, (R, P, w, al, ac, f, t, Ic, L), none, q, v, M, bias)
    for b in range(balancer_row.shape[0]):
        angle = 0.0
        for j in range(n):
            angle += rows[balancer_row[b], j] * q[j]
        torque, _ = in_turn(balancer_table, b, angle)
        for j in range(n):
            bias[j] += torque * rows[balancer_row[b], j]
    for j in range(n):
        force[j] = tau[j] - bias[j]
    for e in range(friction.shape[0]):
        speed = 0.0
        for j in range(n):
            speed += friction[e, j] * v[j]
        side = 0 if speed >= 0 else 1
        g, _, viscous, _ = look_up(curves, e, side, numbers[e, SCALE], abs(speed))
        rate = speed - numbers[e, C0] * abs(speed) * z[e] / g
        sliding = viscous if speed >= 0 else -viscous
        torque = numbers[e, C0] * z[e] + numbers[e, C1] * rate + sliding
        out[2 * n + e] = rate
        for j in range(n):
            force[j] -= friction[e, j] * (torque + numbers[e, OFFSET])
    solve_in_place(force, M, force)
    for j in range(n):
        out[j], out[n + j] = v[j], force[j]


@compiled
def servo_tick(c, s, o, ref, servo, memory, position, speed, tick, current):
    """Position and velocity loop in a tick, with the motors' angles and speeds: new currents."""
    k, within = tick // c.setpoint_ticks, tick % c.setpoint_ticks
    if within % c.position_ticks == 0:
        position_tick(c, s, ref, servo, position, k, within)
    velocity_tick(c, s, o, servo, memory, speed, current)


def every_tick(robot, motion, model):
    """A run prepared to log every tick."""
    return prepare(
        robot, motion, model, options=RunOptions(log_rate=1 / controller_of(robot, model).tick)
    )


def reference(robot, motion, model, ticks, method="lsoda"):
    """The same servo, the plant integrated between its ticks; positions and currents at the ticks.

    Tolerances ten times finer move the positions of a second by 6e-8 rad (LSODA, beyond that at
    its rounding errors) and those of 0.16 s by 1e-9 rad (Radau): far below the claims' 1e-6 rad.
    """
    run = every_tick(robot, motion, model)
    c, p, ref, state = run.controller, run.plant, run.inputs.ref, run.state
    n, motors = robot.n, p.rows.weights[p.sensors.row]
    y = np.concatenate([state.u, state.v, state.z])
    current, tau = np.zeros(len(motors)), np.zeros(n)
    qs, currents = np.empty((ticks, n)), np.empty((ticks, len(motors)))
    arm = tuple(np.array(x) for x in robot.assembly.arm)
    friction = p.rows.weights[p.friction.row]
    plant = (arm, p.rotors.inertia, p.rows.weights, tuple(p.balancers), friction)
    laws = (p.friction.curves, p.friction.numbers)
    absolute = np.concatenate(
        [np.full(n, 1e-12), np.full(n, 1e-10), np.full(len(y) - 2 * n, 1e-13)]
    )

    def rhs(_, y):
        out = np.empty(len(y))
        rates(*plant, *laws, y, tau, out)
        return out

    for tick in range(ticks):
        q, v = y[:n].copy(), y[n : 2 * n].copy()
        servo_tick(
            c, p.sensors, p.outputs, ref, state.servo, state.memory, motors @ q, motors @ v,
            tick, current,
        )  # fmt: skip
        tau[:] = (p.outputs.torque * current) @ motors
        qs[tick], currents[tick] = q, current
        if method == "lsoda":
            y = odeint(rhs, y, [0, c.tick], rtol=1e-8, atol=absolute, tfirst=True, mxstep=50000)[-1]
        else:
            y = solve_ivp(rhs, (0, c.tick), y, method="Radau", rtol=1e-6, atol=10 * absolute).y[
                :, -1
            ]
    return qs, currents


def ours(robot, motion, model, ticks):
    run = every_tick(robot, motion, model)
    run = replace(run, inputs=run.inputs._replace(ticks=ticks))
    assert run.run()[0] == loop.FINISHED
    return run.record.u[:ticks], run.record.current[:ticks]


def stiffer(robot, factor):
    elements = []
    for e in robot.description.friction:
        pre = replace(
            e.presliding,
            stiffness=factor * e.presliding.stiffness,
            damping=np.sqrt(factor) * e.presliding.damping,
        )
        elements.append(replace(e, presliding=pre))
    return at.Robot(replace(robot.description, friction=tuple(elements)))


EXACT = Model(quantise=False)


def difference(robot, seconds, method="lsoda"):
    """Largest difference of positions [rad] and of currents [quanta] over a motion of all
    joints.
    """
    motion, ticks = from_rest(robot, seconds), round(seconds * 4000)
    quanta = np.array([m.current_quantum for m in robot.description.motor])
    q, i = ours(robot, motion, EXACT, ticks)
    q_ref, i_ref = reference(robot, motion, EXACT, ticks, method)
    return np.abs(q - q_ref).max(), np.abs((i - i_ref) / quanta).max()


def test_one_second_of_the_rx90b_equals_lsoda(robots):
    position, current = difference(robots["rx90b"].with_tool("laser_head"), 1.0)
    assert position < 1e-6
    assert current < 0.1


def test_a_tenth_of_a_second_equals_radau(robots):
    position, current = difference(robots["rx90b"].with_tool("laser_head"), 0.1, "radau")
    assert position < 1e-6
    assert current < 0.1


def test_a_hundred_times_stiffer_bristle_is_stable_and_within_a_quantum(robots):
    robot = stiffer(robots["rx90b"].with_tool("laser_head"), 100)
    position, current = difference(robot, 0.16, "radau")
    assert position < 1e-6
    assert current < 1


def pushed(robot, factor, speed):
    """End position of a joint without servo under an outside torque,
    ticks `factor` times shorter.
    """
    motion = sine(0.5, 0.5, 1.0)
    run = every_tick(robot, motion, EXACT)
    c = run.controller
    gains = np.zeros_like(c.gains)
    gains[:, ERROR_LIMIT] = np.inf
    idle = c._replace(gains=gains)
    fast = idle._replace(tick=c.tick / factor, setpoint_ticks=c.setpoint_ticks * factor)
    ticks = 1600 * factor
    push = 12.0 * np.cos(np.linspace(0, 9, len(run.inputs.ref)))[:, None]
    run = replace(
        run,
        controller=fast,
        inputs=run.inputs._replace(
            ticks=ticks, log_ticks=1, external=push, is_pushed=True, substeps=1
        ),
        record=loop.Record(*(np.zeros((ticks, 1)) for _ in range(6))),
    )
    run.state.v[:], run.state.servo[:], run.state.memory[:] = speed, 0.0, 0.0
    assert run.run()[0] == loop.FINISHED
    return run.state.u[0], np.sign(run.record.v[1:]).min() < 0


def order(law, speed):
    """Slope of the error over the step, and whether the speed changed its sign."""
    robot = joint(
        friction={**law, "presliding": {"stiffness": 1e5, "damping": 10.0}},
        com=(0.1, 0, 0),
        mass=20,
    )
    steps = np.array([1, 2, 4, 8])
    finest, reversed_ = pushed(robot, 128, speed)
    errors = np.abs([pushed(robot, int(k), speed)[0] - finest for k in steps])
    return -np.polyfit(np.log(steps), np.log(errors), 1)[0], reversed_


SMOOTH = {"law": "coulomb_viscous", "level": 3.0, "viscous": 5.0}
DOCUMENT = {
    "law": "geared_joint",
    "asperity": 8.0,
    "speed": 0.0249,
    "exponent": 0.5,
    "viscous": 29.0,
    "viscous_exponent": 0.33,
}


@pytest.mark.parametrize("law", [SMOOTH, DOCUMENT], ids=["smooth law", "the document's friction"])
def test_the_order_is_two_while_sliding(law):
    slope, turned = order(law, speed=4.0)
    assert not turned
    assert slope == pytest.approx(2, abs=0.3)


@pytest.mark.parametrize("law", [SMOOTH, DOCUMENT], ids=["smooth law", "the document's friction"])
def test_the_order_across_reversals_is_more_than_one(law):
    """The bristle's |w| has a kink and the document's g an infinite slope at rest;
    the error still falls faster than h.
    """
    slope, turned = order(law, speed=0.3)
    assert turned
    assert slope > 1.2

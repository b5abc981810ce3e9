"""From a robot and a model to the packed plant."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from armtwin.control.controller import reading
from armtwin.drives import hydraulics
from armtwin.drives.friction.curves import INTERVALS, at_viscosity, breakaway, scale_of, tabulate
from armtwin.drives.friction.load import LEAST, GearLoads, of_load
from armtwin.drives.linkage import TURN_INTERVALS, Levers, Triangle, turn_table
from armtwin.drives.ripple import Ripples
from armtwin.drives.rows import Rows, Springs, damper, pack_rows, pack_springs
from armtwin.drives.sensors import Outputs, Sensors
from armtwin.drives.temperature import viscosity_factor
from armtwin.maths.batch import Flags, Floats, Pair, TwoArrays
from armtwin.mechanics.rotors import Rotors
from armtwin.robot.dynamics.assembly import Row, turning_motor
from armtwin.robot.robot import Robot
from armtwin.robot.schema.drive_groups import FrictionElement, Hydraulic, Motor
from armtwin.robot.schema.servo import Servo, for_each
from armtwin.simulation.coordinates import Coordinates
from armtwin.simulation.model import FRICTION_KINDS, Model
from armtwin.simulation.plant import Balancers, Friction, Plant
from armtwin.simulation.solve import ties

# speed [rad/s or m/s] up to which friction is tabulated where a joint has no limit
LEAST_SPEED = 20.0


@dataclass
class RowList:
    """Rows as they are collected: each combination of coordinates and lever is kept once.

    Attributes:
        coordinates: What the coordinates mean.
        weights: The rows.
        reached: Coordinates beyond its weights that a row may come to act on.
        linkages: Their levers.
    """

    coordinates: Coordinates
    weights: list[Floats] = field(default_factory=list)
    reached: dict[int, Floats] = field(default_factory=dict)
    linkages: list[Triangle | None] = field(default_factory=list)

    def add(self, row: Row) -> int:
        """Number of a row of the joints."""
        return self.add_weights(self.coordinates.weights(row), row.linkage)

    def add_weights(self, weights: Floats, linkage: Triangle | None = None) -> int:
        """Number of a row of the coordinates."""
        for r, (known, lever) in enumerate(zip(self.weights, self.linkages, strict=True)):
            if lever == linkage and (known == weights).all():
                return r
        self.weights.append(weights)
        self.linkages.append(linkage)
        return len(self.weights) - 1

    def pack(self) -> Rows:
        """All rows."""
        weights = np.array(self.weights).reshape(-1, self.coordinates.count)
        used = weights != 0
        for r, mask in self.reached.items():
            used[r] |= mask != 0
        return pack_rows(weights, used)

    def levers(self) -> Levers:
        """Rows with a linkage and the tables of its length."""
        numbers, tables = [], []
        for r, linkage in enumerate(self.linkages):
            if linkage is not None:
                numbers.append(r)
                tables.append(turn_table(linkage.length))
        return Levers(_integers(numbers), np.array(tables).reshape(-1, TURN_INTERVALS, 4))


def _integers(values: Sequence[int]) -> Any:
    return np.array(values, dtype=np.int64)


def plant(robot: Robot, model: Model, places: Coordinates, servo: Servo, tick: float) -> Plant:
    """Pack the drives of a robot for a simulation with ticks of a length [s]."""
    rows = RowList(places)
    sensors = _sensors(robot, model, servo, rows, tick)
    outputs = _outputs(robot, model, servo, rows, tick)
    friction = _friction(robot, model, rows)
    springs = _springs(places, rows)
    ripples = _ripples(places, springs, rows)
    balancers = _balancers(robot, rows)
    cylinders = _cylinders(robot, model, rows, tick)
    combinations = rows.pack()
    rotors = robot.assembly.rotors_along(places.motor_rows)
    return Plant(
        rows=combinations,
        levers=rows.levers(),
        rotors=rotors,
        friction=friction,
        springs=springs,
        holds=pack_springs((), ()),
        ripples=ripples,
        balancers=balancers,
        cylinders=cylinders,
        sensors=sensors,
        outputs=outputs,
        ties=ties(_find_coupling(combinations, rotors, places.bodies), places.bodies),
        loads=_loads(robot, friction, outputs, combinations),
    )


def _loads(robot: Robot, friction: Friction, outputs: Outputs, rows: Rows) -> GearLoads:
    """Friction elements whose level follows the load of the motor that turns their row."""
    elements = robot.assembly.friction if len(friction.row) else ()
    numbers, drives, ratios, inertias, least, shares = [], [], [], [], [], []
    for e, (element, _) in enumerate(elements):
        if not element.follows_load or not breakaway(element.law) > 0:
            continue
        k, ratio = turning_motor(
            rows.weights[friction.row[e]], rows.weights[outputs.row], element.name
        )
        motor, _ = robot.assembly.drives[k]
        assert isinstance(motor, Motor)
        numbers.append(e)
        drives.append(k)
        ratios.append(ratio)
        inertias.append(ratio**2 * motor.rotor_inertia)
        share, level, usual = of_load(element.law, element.load)
        least.append(max(1 - share * usual / level, LEAST))
        shares.append(share / level)
    beside = friction.row[_integers(numbers)][:, None] == friction.row[None, :]
    return GearLoads(
        element=_integers(numbers),
        drive=_integers(drives),
        ratio=np.array(ratios),
        inertia=np.array(inertias),
        least=np.array(least),
        share=np.array(shares),
        beside=beside.astype(np.float64),
    )


def _find_coupling(rows: Rows, rotors: Rotors, bodies: int) -> Flags:
    """Coordinates that share an entry of the matrix of a step, (N, N)."""
    coupled = rotors.inertia != 0
    coupled[:bodies, :bodies] = True
    for r in range(len(rows.weights)):
        used = np.zeros(len(coupled), dtype=bool)
        used[rows.place[r, : rows.used[r]]] = True
        coupled |= np.outer(used, used)
    for used in rotors.row != 0:  # a rotor that spins with its carrier moves all bodies
        coupled[used, :bodies] = True
        coupled[:bodies, used] = True
    return coupled


def _sensors(robot: Robot, model: Model, servo: Servo, rows: RowList, tick: float) -> Sensors:
    """Sensors of the drives: the motor's encoder, or the link's where the servo says so."""
    drives = robot.assembly.drives
    m = len(drives)
    scale, zero, sides = reading(servo, m)
    quantum = np.zeros(m)
    speed_quantum = np.zeros(m)
    positions, speeds = [], []
    for k, (drive, row) in enumerate(drives):
        is_motor = isinstance(drive, Motor)
        seen = Row(row.weights, "link") if is_motor and sides[k] == "link" else row
        positions.append(rows.add(seen))
        speeds.append(rows.add(row))
        if isinstance(drive, Motor) and model.quantise:
            speed_quantum[k] = drive.speed_quantum or 0.0
            if drive.encoder_counts:
                quantum[k] = 2 * np.pi / drive.encoder_counts
    age = np.array(for_each(servo.delay.sensor, m), dtype=np.float64)
    further = np.array(for_each(servo.delay.encoder, m), dtype=np.float64)
    delay = np.stack([age + further, age], axis=1) / tick
    return Sensors(
        _integers(positions), _integers(speeds), scale, zero, quantum, speed_quantum, delay
    )


def _outputs(robot: Robot, model: Model, servo: Servo, rows: RowList, tick: float) -> Outputs:
    """Amplifiers of the drives: currents of motors, or of valves."""
    drives = robot.assembly.drives
    m = len(drives)
    numbers = [rows.add(row) for _, row in drives]
    delay = np.array(for_each(servo.delay.output, m), dtype=np.float64) / tick
    per_current = np.ones(m)
    torque, limit, quantum = np.zeros((3, m))
    for k, (drive, _) in enumerate(drives):
        if isinstance(drive, Hydraulic):
            valve = drive.circuit.valve
            limit[k] = valve.current_limit
            # the spool answers to the current in the middle of a tick
            lag = valve.delay
            if model.valves == "delay":
                lag += hydraulics.spool_delay(valve)
            delay[k] = max(delay[k] + lag / tick - 0.5, 0.0)
            continue
        per_current[k] = torque[k] = drive.torque_constant
        limit[k] = drive.current_limit
        if model.quantise:
            quantum[k] = drive.current_quantum or 0.0
            limit[k] = _reachable(limit[k], quantum[k])
    return Outputs(_integers(numbers), per_current, torque, limit, quantum, delay)


def _reachable(limit: float, quantum: float) -> float:
    """Largest current that is a whole number of quanta and within the limit."""
    if quantum == 0:
        return limit
    return float(np.floor(limit / quantum + 1e-9) * quantum)


def _friction(robot: Robot, model: Model, rows: RowList) -> Friction:
    elements = robot.assembly.friction if model.friction != "off" else ()
    limit = robot.limits.velocity
    fastest = np.where(np.isfinite(limit), 2 * limit, LEAST_SPEED)
    curves = np.empty((len(elements), 2, INTERVALS, 8))
    numbers = np.empty((len(elements), 6))
    own = rows.coordinates.own
    warm = model.joint_temperatures(len(own))
    for e, (element, row) in enumerate(elements):
        largest = float(np.abs(row.weights) @ fastest)
        kelvin = None
        if warm is not None:  # an element between two joints is as warm as both
            kelvin = float(np.average(warm, weights=np.abs(row.weights[own])))
        curves[e], numbers[e] = friction_tables(element, largest, model, kelvin)
    places = [rows.add(row) for _, row in elements]
    return Friction(_integers(places), curves, numbers, FRICTION_KINDS[model.friction])


def friction_tables(
    element: FrictionElement, largest: float, model: Model, temperature: float | None = None
) -> TwoArrays:
    """Tables up to a largest speed, (2, INTERVALS, 8), and numbers, (6,), of a warm element."""
    factor = viscosity_factor(element.thermal, temperature)
    forward = at_viscosity(element.law, factor)
    backward = at_viscosity(element.negative or element.law, factor)
    c0, c1 = _bristle(element) if model.friction == "lugre" else (0.0, 0.0)
    curves = np.stack([tabulate(forward, largest), tabulate(backward, largest)])
    offset = element.offset or 0.0
    numbers = np.array([scale_of(largest), c0, c1, offset, breakaway(forward), breakaway(backward)])
    return curves, numbers


def _bristle(element: FrictionElement) -> Pair:
    """Stiffness and damping of the bristles of an element."""
    pre, stiffness = element.presliding, element.bristle_stiffness
    assert pre is not None  # a robot without is refused before
    assert stiffness is not None
    if pre.damping is not None:
        return stiffness, pre.damping
    return stiffness, element.lead * stiffness


def _springs(places: Coordinates, rows: RowList) -> Springs:
    """Springs of elastic transmissions and links, then dampers to ground."""
    numbers, parts = [], []
    for compliance in places.elastic:
        numbers.append(rows.add_weights(compliance.twist))
        parts.append(compliance.spring)
    for compliance in places.elastic:
        if compliance.ground_damping:
            numbers.append(rows.add_weights(compliance.driving))
            parts.append(damper(compliance.ground_damping))
    return pack_springs(numbers, parts)


def _ripples(places: Coordinates, springs: Springs, rows: RowList) -> Ripples:
    """Unevenness of elastic gears; their springs' rows reach the motors' coordinates."""
    numbers, motors, ripples = [], [], []
    for gear in places.rippling:
        if gear.compliance is None:
            continue
        numbers.append(gear.compliance)
        motors.append(rows.add_weights(gear.motor))
        ripples.append(gear.ripple)
        r = int(springs.row[gear.compliance])
        rows.reached[r] = rows.reached.get(r, 0) + np.abs(gear.motor)
    return Ripples(
        spring=_integers(numbers),
        motor=_integers(motors),
        cycles=np.array([x.cycles for x in ripples]),
        amplitude=np.array([x.amplitude for x in ripples]),
        phase=np.array([x.phase for x in ripples]),
    )


def _balancers(robot: Robot, rows: RowList) -> Balancers:
    """Struts across one joint each, as tables of their torque over its angle."""
    struts = robot.assembly.struts
    numbers = [rows.add(Row(np.eye(robot.n)[strut.joint])) for strut in struts]
    tables = [turn_table(strut.torque_at) for strut in struts]
    return Balancers(_integers(numbers), np.array(tables).reshape(-1, TURN_INTERVALS, 4))


def _cylinders(robot: Robot, model: Model, rows: RowList, tick: float) -> hydraulics.Cylinders:
    circuits, numbers, drives = [], [], []
    for k, (drive, row) in enumerate(robot.assembly.drives):
        if isinstance(drive, Hydraulic):
            circuits.append(drive.circuit)
            numbers.append(rows.add(row))
            drives.append(k)
    spools = model.valves == "spool"
    return hydraulics.pack_circuits(circuits, numbers, drives, tick, spools=spools)

"""A payload with intervals, or the torque constants of the motors by a known load.

A payload in the words of robot controllers: what is typed in or put into a program.

Universal Robots take the inertia matrix about the centre in the flange's axes; KUKA and ABB the
principal moments and the orientation of their axes; Fanuc the moments about the flange's axes
through the centre, without products.

Ref: [UR 2024], [Beckhoff 2024], [ABB 2020], [Lincoln 2025]
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import permutations, product
from typing import Literal

import numpy as np

from armtwin.identification.payload import drive_gain as load_fits
from armtwin.identification.payload.difference import LoadRows, SynchronisedRuns
from armtwin.maths.batch import Floats, Record
from armtwin.maths.rotations import to_quaternion, to_rpy
from armtwin.mechanics.inertia import about_centre, why_unphysical
from armtwin.notebook import sections as show
from armtwin.notebook.charts import chart_channels
from armtwin.notebook.numbers import DEVIATION, PLAIN
from armtwin.report.result import Result
from armtwin.robot.dynamics.bodies import body_from
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Payload

Method = Literal["difference", "held"]
NAME = "identified"  # of the payload in the robot file
WELL_IDENTIFIED = 0.01  # relative deviation of a torque constant that is well identified
METHODS = {"difference": "the difference of two runs", "held": "one run, the arm as in its file"}
ROWS = (
    ("mass", "kg"),
    ("centre x", "m"),
    ("centre y", "m"),
    ("centre z", "m"),
    ("inertia xx", "kg m²"),
    ("inertia yy", "kg m²"),
    ("inertia zz", "kg m²"),
    ("inertia xy", "kg m²"),
    ("inertia xz", "kg m²"),
    ("inertia yz", "kg m²"),
)


@dataclass(frozen=True)
class LoadRow:
    """A parameter of the payload: centre in the flange's frame, inertia about the centre.

    Attributes:
        name: What it is.
        unit: Its unit.
        value: Its value.
        std: Its standard deviation.
        low: Lower end of the 95 % interval.
        high: Upper end.
    """

    name: str
    unit: str
    value: float
    std: float
    low: float
    high: float


@dataclass(frozen=True, eq=False, repr=False)
class PayloadIdentification(Result):
    """An identified payload.

    Attributes:
        prior: The robot without it.
        method: "difference" of two runs, or the arm "held" as in its file.
        torque_source: Channel of the torque.
        rows: The rows that were fitted.
        fit: The ten parameters in the flange's frame.
        gain: Torque constants, where the mass was given.
        runs: Both runs on one clock, None with the arm held.
        road: The mass by a truncated fit, where a prior was given.
    """

    prior: Robot
    method: Method
    torque_source: str
    rows: LoadRows
    fit: load_fits.LoadFit
    gain: load_fits.DriveGain | None
    runs: SynchronisedRuns | None
    road: load_fits.TruncatedMass | None

    @cached_property
    def table(self) -> tuple[LoadRow, ...]:
        """Mass, centre and inertia with deviations and intervals."""
        seen = self.fit.seen()
        numbers = np.array([seen.values, seen.std, seen.low, seen.high]).T.tolist()
        return tuple(LoadRow(*row, *four) for row, four in zip(ROWS, numbers, strict=True))

    @property
    def mass(self) -> float:
        """Mass [kg]."""
        return self.fit.mass

    def keep_mass(self, mass: float) -> PayloadIdentification:
        """The payload with its mass as weighed on scales [kg], the other parameters fitted anew."""
        load_fits.check_mass(mass)
        return replace(self, fit=load_fits.fit_load(self.rows, mass))

    @property
    def refused(self) -> str:
        """Why no payload is identified, as a sentence; empty if one is."""
        row = self.table[0]
        if self.gain is not None or row.low > 0:
            return ""
        return (
            f"The torque from {self.torque_source} shows no payload: its mass is {row.value:.3g} "
            f"kg, 95 % interval {row.low:.3g} to {row.high:.3g} kg. A torque computed from the "
            "controller's own model does not include the payload; choose a measured channel."
        )

    @property
    def impossible(self) -> str:
        """Why the parameters are not physically consistent, as a phrase; empty if they are."""
        return why_unphysical(self.fit.parameters)

    @cached_property
    def robot(self) -> Robot:
        """The robot with the payload on it, or with the identified torque constants.

        The payload is the nearest physically consistent body.
        """
        if self.gain is not None:
            return _with_constants(self.prior, self.gain)
        if self.refused:
            return self.prior
        count = len(self.rows.target)
        source = (
            f"identified: {self.method}, {count} rows of torque from {self.torque_source}, "
            f"cut-off {self.rows.cutoff:.4g} Hz"
        )
        body = body_from(load_fits.nearest_body(self.fit.parameters))
        payloads = {**self.prior.description.payload, NAME: Payload(source=source, body=body)}
        description = replace(self.prior.description, payload=payloads)
        return self.prior.with_description(description).with_payload(NAME)

    def sections(self) -> show.Report:
        """The ten parameters, torque constants where the mass was given, and the data used."""
        sections = [show.Section("", _numbers(self))]
        if self.gain is not None:
            sections.append(show.Section("Torque constants", _constants(self, self.gain)))
        elif not self.refused:
            sections.append(show.Section("For the controller", _controllers(self), role="answer"))
        sections += [
            show.Section("Data and fit", _basis(self)),
            show.Section(
                "Torque of the payload, measured and fitted", _charts(self), page_only=True
            ),
        ]
        return show.Report(
            title=f"Payload of {self.prior.name}",
            subtitle=f"{METHODS[self.method]}, torque from {self.torque_source}",
            sections=tuple(sections),
            verdict=tuple(_verdict(self)),
        )


def _verdict(result: PayloadIdentification) -> Iterator[show.Text]:
    if result.gain is not None:
        identified = int(result.gain.told.sum())
        yield show.Text(
            f"{identified} of {len(result.gain.told)} torque constants are identified by "
            f"{result.gain.known:g} kg."
        )
        return
    if result.refused:
        yield show.Text(result.refused, "bad")
        return
    row = result.table[0]
    yield show.Text(f"{row.value:.4g} kg, 95 % interval {row.low:.4g} to {row.high:.4g} kg.")
    if result.impossible:
        yield show.Text(
            f"The parameters are not physically consistent ({result.impossible}); the robot file "
            "has the nearest consistent ones.",
            "bad",
        )


def _numbers(result: PayloadIdentification) -> show.Blocks:
    columns = show.list_columns(
        name="payload",
        value=("value", PLAIN),
        std=("deviation", DEVIATION),
        low=("95 % from", PLAIN),
        high=("to", PLAIN),
        unit="unit",
    )
    yield show.Table(columns, [vars(row) for row in result.table])
    yield show.Text(
        "Centre in the flange's frame, inertia about the centre, axes of the flange.", "soft"
    )
    found = _by_keys([row.value for row in result.table])
    yield show.Data(dict.fromkeys(found) if result.refused else found)
    deviations = _by_keys([row.std for row in result.table])
    if result.gain is None:
        yield show.Data({"refused": result.refused or None})
    else:
        deviations["torque_constant_nm_a"] = result.gain.std
    yield show.Data({"std": deviations})


def _controllers(result: PayloadIdentification) -> show.Blocks:
    """The payload in the words of each controller."""
    words = list(in_words_of_controllers(load_fits.nearest_body(result.fit.parameters)))
    for one in words:
        yield show.Text(f"{one.controller}: {one.text}")
        yield show.Text(f"{one.meaning[0].upper()}{one.meaning[1:]}.")
    yield show.Data({"controllers": {one.controller: vars(one) for one in words}})


def _by_keys(ten: list[float]) -> Record:
    """Mass, centre and inertia as result.json has them."""
    six = dict(zip(("xx", "yy", "zz", "xy", "xz", "yz"), ten[4:], strict=True))
    return {"mass_kg": ten[0], "centre_m": ten[1:4], "inertia_kg_m2": six}


def _constants(result: PayloadIdentification, gain: load_fits.DriveGain) -> show.Blocks:
    motors = result.prior.description.motor
    names = [motor.name for motor in motors] or list(result.prior.joint_names)
    constants = np.where(gain.told, gain.constants, np.nan)
    of_file = [motor.torque_constant for motor in motors] or [None] * len(names)
    yield show.Table.of(
        name=(names, "motor" if motors else "joint"),
        value=(constants, "constant N m/A", PLAIN),
        std=(gain.std, "deviation", DEVIATION),
        low=(gain.low, "95 % from", PLAIN),
        high=(gain.high, "to", PLAIN),
        file=(of_file, "in the file", PLAIN),
    )
    yield from _suggest_longer_logs(gain, names)
    refused = [
        name for name, is_identified in zip(names, gain.told, strict=True) if not is_identified
    ]
    sentence = ""
    if len(refused):
        sentence = (
            f"Not identifiable: the constants of {', '.join(refused)}, which the payload hardly "
            "loads. Mount it further out, or move faster."
        )
        yield show.Text(sentence)
    yield show.Data.of(
        torque_constant_nm_a=constants,
        torque_constant_interval_nm_a=np.column_stack([gain.low, gain.high]),
        refused=sentence or None,
    )


def _suggest_longer_logs(gain: load_fits.DriveGain, names: list[str]) -> show.Blocks:
    """Constants with a deviation above 1 %, and the log length that would lower it."""
    share = gain.std / gain.constants
    for k, name in enumerate(names):
        if gain.told[k] and share[k] > WELL_IDENTIFIED:
            times = (share[k] / WELL_IDENTIFIED) ** 2
            yield show.Text(
                f"{name}: std {100 * share[k]:.2g} %; logs {times:.2g} times as long, or a motion "
                f"in which the payload loads it more, lower that to {100 * WELL_IDENTIFIED:g} %.",
                "soft",
            )


def _basis(result: PayloadIdentification) -> show.Blocks:
    rows, runs, road = result.rows, result.runs, result.road
    facts = {"robot": result.prior.name, "cut-off": f"{rows.cutoff:.3g} Hz"}
    facts["rows"] = f"{int(rows.used.sum())}, of all joints"
    if runs is not None:
        facts["clocks"] = f"the run with it is shifted by {1e3 * runs.shift:.1f} ms"
        facts["motions"] = f"speeds differ by {100 * runs.apart.max():.2g} % at most"
        share = 100 * np.linalg.norm(rows.arm) / np.linalg.norm(rows.Y @ result.fit.parameters)
        facts["arm"] = f"difference of the runs of the arm: {share:.2g} % of the load's torque"
    explained = ", ".join(f"{100 * share:.1f}" for share in result.fit.explained)
    facts["explained"] = f"{explained} % of the payload's torque, joint by joint"
    yield show.Facts(tuple(facts.items()))
    if road is not None:
        yield show.Text(road.sentence, "" if road.is_independent else "bad")
        yield show.Data({"truncated": {**vars(road), "sentence": road.sentence}})
    yield show.Data.of(
        robot=result.prior.name,
        method=result.method,
        cutoff_hz=rows.cutoff,
        torque=result.torque_source,
        explained=result.fit.explained,
    )


def _charts(result: PayloadIdentification) -> Iterator[show.Multiples]:
    rows = result.rows
    explained = rows.Y @ result.fit.parameters
    measured, unit = rows.target - rows.arm, "N m"
    if result.gain is not None:
        at_motors = load_fits.motors_of(result.prior)
        explained = (explained + rows.arm) @ at_motors / result.gain.constants
        measured, unit = rows.target, "A"
    axes = show.Axis("row"), show.Axis("difference", unit)
    curves = {"measured": measured, "explained": explained}
    number = np.arange(len(measured), dtype=float)
    yield chart_channels(result.prior.joint_names, axes, number, curves)


def _with_constants(robot: Robot, gain: load_fits.DriveGain) -> Robot:
    """The robot with the identified torque constants; the others stay."""
    source = f"identified: by a payload of {gain.known:g} kg"
    motors = []
    found = zip(gain.constants, gain.told, strict=True)
    for motor, (constant, is_identified) in zip(robot.description.motor, found, strict=False):
        if not is_identified:
            motors.append(motor)
            continue
        had = motor.source if isinstance(motor.source, dict) else {"rotor_inertia": motor.source}
        sources = {**had, "torque_constant": source}
        motors.append(replace(motor, torque_constant=float(constant), source=sources))
    return robot.with_description(replace(robot.description, motor=tuple(motors)))


KGF_CM_S2 = 0.0980665  # of a kgf cm s², in which Fanuc has moments of inertia [kg m²]
SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # order of URScript: xx, yy, zz, xy, xz, yz


@dataclass(frozen=True)
class ControllerWords:
    """A payload as a controller takes it.

    Attributes:
        controller: Name of the controller or its language.
        text: What is written there.
        meaning: Axes and units.
    """

    controller: str
    text: str
    meaning: str


def principal_axes(J: Floats) -> tuple[Floats, Floats]:
    """Principal moments (3,) and the rotation R with J = R diag(moments) Rᵀ.

    Of the 24 right-handed orders and signs of the axes the one that is turned least.
    """
    moments, axes = np.linalg.eigh(J)
    best = moments, axes
    most = -np.inf
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            R = axes[:, order] * signs
            if np.linalg.det(R) > 0 and np.trace(R) > most:
                best, most = (moments[list(order)], R), float(np.trace(R))
    return best


def in_words_of_controllers(ten: Floats) -> Iterator[ControllerWords]:
    """A physically consistent load, ten parameters in the flange's frame, for each controller."""
    mass, centre, J = ten[0], ten[1:4] / ten[0], about_centre(ten)
    moments, R = principal_axes(J)
    six = _comma([J[place] for place in SIX], 6)
    yield ControllerWords(
        "URScript",
        f"set_target_payload({mass:.4f}, [{_comma(centre, 5)}], [{six}])",
        "kg; m in the flange's frame; kg m², matrix elements about the centre, flange's axes: xx, "
        "yy, zz, xy, xz, yz",
    )
    mm = 1e3 * centre
    C, B, A = np.degrees(to_rpy(R))
    place = _fields("XYZABC", [*mm, A, B, C], 3)
    yield ControllerWords(
        "KRL",
        f"LOAD_DATA[1]={{M {mass:.4f},CM {{{place}}},J {{{_fields('XYZ', moments, 6)}}}}}",
        "kg; mm and deg: centre and principal axes in the flange's frame; kg m² about these axes",
    )
    aom = _comma(to_quaternion(R), 7)
    yield ControllerWords(
        "RAPID",
        f"PERS loaddata load1:=[{mass:.4f},[{_comma(mm, 3)}],[{aom}],{_comma(moments, 6)}];",
        "kg; mm; quaternion of the principal axes; kg m² about them: in the frame of tool0, as "
        "tooldata takes its load. As payload of another tool it must be turned into its frame",
    )
    cm = _fields("XYZ", 100 * centre, 3)
    inertia = _fields("XYZ", np.diag(J) / KGF_CM_S2, 4)
    yield ControllerWords(
        "Fanuc payload schedule",
        f"PAYLOAD {mass:.4f} [kg]; PAYLOAD CENTER {cm} [cm]; PAYLOAD INERTIA {inertia} [kgfcms^2]",
        "flange's frame, moments about its axes through the centre; the schedule has no products "
        f"of inertia: {_largest_product(J)} is left out",
    )


def _comma(values: Floats | list[float], places: int) -> str:
    return ",".join(f"{value + 0.0:.{places}f}" for value in values)


def _fields(names: str, values: Floats | list[float], places: int) -> str:
    return ",".join(f"{name} {value:.{places}f}" for name, value in zip(names, values, strict=True))


def _largest_product(J: Floats) -> str:
    """The largest product of inertia in words."""
    products = {"xy": J[0, 1], "xz": J[0, 2], "yz": J[1, 2]}
    name = max(products, key=lambda key: abs(products[key]))
    return f"{name} of {products[name]:.3g} kg m²"

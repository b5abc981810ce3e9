"""Which one mistake would make a robot file make sense: units, sides of a gear, exchanged numbers.

Arms from a desktop arm of 0.1 kg to a palletiser of several tonnes keep to ranges of numbers that
have no unit, or whose range is narrower than the steps between units: `proportions` and the
constants here. A file beyond one of them is read again with one mistake undone at a time; what
brings every number back is named. Files of public robots with masses and inertias that somebody
invented keep to the ranges as well; numbers that all links share are no evidence.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.errors import FileError
from armtwin.files.hypothesis import Hypothesis
from armtwin.maths.batch import Flags, Floats, Names
from armtwin.maths.units import SMALLEST
from armtwin.robot import ranges
from armtwin.robot.dynamics.bodies import parameters_of
from armtwin.robot.joint_plausibility import is_identified, joint_hypotheses
from armtwin.robot.proportions import Inertial, Proportions, UnitScale, inertial_of, proportions
from armtwin.robot.ranges import Mistake, Range
from armtwin.robot.schema.checks import can_be_computed
from armtwin.robot.schema.description import Description
from armtwin.robot.schema.groups import Body

# Ranges over 110 public files from hands of 0.2 m to arms of 3 t; the extremes met are beside them.
LENGTH = Range(0.05, 15.0, 1.0, 0.35)  # of an arm, 0.09 to 4.3 [m]
DENSITY = Range(0.05, 1000.0, 12.0, 0.7)  # mass over length cubed, 0.37 to 227 [kg/m³]
COMPACTNESS = Range(1.0, 150.0, 4.0, 0.4)  # median of the links, 2.3 to 95; below 1 is no matter
CENTRE = Range(0.0, 3.0, 0.2, 0.5)  # furthest centre of mass over the arm's length, 0.06 to 0.73
SOME_CENTRE = Range(1e-3, 3.0, 0.1, 0.5)  # median of those not at their joints, 0.003 to 0.5
SOME_OFFSET = Range(2e-3, 1.5, 0.13, 0.4)  # median distance between joints over it, 0.006 to 1
FEW_JOINTS = 3  # below which it is a rig and no arm
RIG = Range(0.0, 15.0, 0.3, 0.5)  # length, or distance of a centre of mass, of a rig [m]
MOST_INVENTED = 2000.0  # compactness beyond which an inertia that all links share is evidence too
ONE_COMPACTNESS = Range(0.4, 300.0, 4.0, 0.4)  # of one link, 1.5 to 182
NO_LENGTH = 1e-6  # m: rounding of a centre of mass that is at its joint
FAR_JOINT = 10.0  # distance [m] of a joint from the one before that no arm has
INERTIA_UNITS = {"kg mm^2": 1e-6, "g mm^2": 1e-9, "kg cm^2": 1e-4, "g cm^2": 1e-7, "g m^2": 1e-3}
RARITY = {"cm": 2.0, "inches": 2.0, "g mm^2": 0.5, "kg cm^2": 0.5, "g cm^2": 2.5, "g m^2": 4.0}
LENGTH_UNITS = {"mm": 1e-3, "cm": 1e-2, "inches": 0.0254}


def _arm_mistakes() -> Iterator[Mistake]:
    """Mistakes in all numbers of a kind, the plain ones first."""
    for unit, f in LENGTH_UNITS.items():
        rare = RARITY.get(unit, 0.0)
        yield Mistake("Are the lengths in", unit, "m", UnitScale(length=f), rare)
        yield Mistake("Are the lengths and centres of mass in", unit, "m", UnitScale(f, f), rare)
        yield Mistake("Are the centres of mass in", unit, "m", UnitScale(centre=f), rare)
    for unit, f in INERTIA_UNITS.items():
        rare = RARITY.get(unit, 0.0)
        yield Mistake("Are the inertias in", unit, "kg m^2", UnitScale(inertia=f), rare)
    both = "Are the masses and inertias in"
    yield Mistake("Are the masses in", "g", "kg", UnitScale(mass=1e-3))
    yield Mistake(both, "g and g m^2", "kg and kg m^2", UnitScale(mass=1e-3, inertia=1e-3), 1.0)
    yield Mistake(both, "g and g mm^2", "kg and kg m^2", UnitScale(mass=1e-3, inertia=1e-9), 1.0)
    in_mm = UnitScale(1e-3, 1e-3, 1.0, 1e-6)
    yield Mistake("Are the lengths and inertias in", "mm and kg mm^2", "m and kg m^2", in_mm, 1.0)
    in_mm = UnitScale(1e-3, 1e-3, 1e-3, 1e-9)
    yield Mistake("Are the lengths, masses and inertias in", "mm, g and g mm^2", "SI", in_mm, 1.0)
    read = "m, but read in mm"
    yield Mistake("Are the lengths in", read, "m", UnitScale(1e3), 1.0)
    yield Mistake("Are the lengths and centres of mass in", read, "m", UnitScale(1e3, 1e3), 1.0)
    yield Mistake("Are the masses in", "kg, but read in g", "kg", UnitScale(mass=1e3), 1.0)
    yield Mistake(
        "Are the inertias in", "kg m^2, but read in kg mm^2", "kg m^2", UnitScale(inertia=1e6), 2.0
    )


@dataclass(frozen=True, eq=False)
class _Arm:
    """An arm whose proportions are looked at.

    Attributes:
        own: Its proportions.
        given: Links whose mass and inertia are evidence.
    """

    own: Proportions
    given: Flags

    def features(self, scale: UnitScale) -> ranges.Features:
        """What must be in range, with factors on the file's numbers."""
        length = self.own.length(scale)
        sizes = inertial_of(self.own.bodies, scale)
        furthest = float(sizes.centre.max(initial=0.0))
        if len(self.own.joints) < FEW_JOINTS or not length > 0:
            found = [(RIG, length), (RIG, furthest)]
        else:
            apart = np.where(sizes.centre > NO_LENGTH, sizes.centre, np.nan)
            found = [
                (LENGTH, length),
                (DENSITY, float(sizes.mass.sum()) / length**3),
                (CENTRE, furthest / length),
                (SOME_CENTRE, ranges.median_of(apart) / length),
                (SOME_OFFSET, ranges.median_of(self.own.offsets * scale.length) / length),
            ]
        known = sizes.compactness[self.given]
        known = known[np.isfinite(known)]
        if len(known):
            found.append((COMPACTNESS, float(np.median(known))))
        return found


def find_mistakes(description: Description) -> tuple[Hypothesis, ...]:
    """Mistakes that would explain what a robot file says, the likeliest of each kind.

    Those with a strength of `REFUSED` or more contradict what arms can be.
    """
    if not can_be_computed(description):
        return ()
    own = proportions(description)
    arm = tuple(_arm_hypotheses(description, own))
    if any(found.strength >= ranges.REFUSED for found in arm):
        return arm[:1]  # what else is odd is odd by the same mistake
    return (
        *arm,
        *_tool_hypotheses(description, own),
        *joint_hypotheses(description, own, _invented(own)),
    )


def refuse_mistakes(description: Description, origin: str) -> None:
    """Refuse a robot file that one mistake explains and that no arm can be."""
    found = [x for x in find_mistakes(description) if x.strength >= ranges.REFUSED]
    if found:
        raise FileError(origin, [hypothesis.sentence for hypothesis in found])


def _evidence(description: Description, own: Proportions) -> Flags:
    """Links whose mass and inertia say something: not identified in sum only, not all alike."""
    by_name = {link.name: link for link in description.link}
    found = []
    for link, body in zip(own.links, own.bodies, strict=True):
        known = not is_identified(by_name[link].source) and not by_name[link].unphysical
        found.append(body[0] > 0 and known)
    given = np.array(found, dtype=bool)
    sizes = inertial_of(own.bodies)
    alike = ranges.are_alike(sizes.inertia[given]) or ranges.are_alike(
        sizes.inertia[sizes.mass > 0]
    )
    if alike and not ranges.median_of(sizes.compactness) > MOST_INVENTED:
        given[:] = False
    return given


# lengths, masses and inertias of the arm


def _arm_hypotheses(description: Description, own: Proportions) -> Iterator[Hypothesis]:
    """One mistake in all numbers of a kind, or in those of a joint or a link."""
    arm = _Arm(own, _evidence(description, own))
    now = arm.features(UnitScale())
    excess = ranges.excess_of(now)
    if excess > 0 and (not _invented(own) or arm.given.any()):
        some = [*_arm_mistakes(), *_single_distances(own)]
        some += _single_mistakes(arm, int(own.bodies[:, 0].argmax()))
        found = ranges.explain(some, lambda mistake: arm.features(mistake.scale), excess)
        if found is not None:
            evidence = _arm_evidence(own, now)
            yield ranges.name_unit(evidence, found, ranges.REFUSED + excess)
            return
    yield from _single_bodies(arm)


def _invented(own: Proportions) -> bool:
    """Whether lengths are those of an arm, and all links have one mass: somebody invented it."""
    mass = own.bodies[:, 0]
    return ranges.are_alike(mass[mass > 0]) and not LENGTH.excess(own.length())


def _arm_evidence(own: Proportions, features: ranges.Features) -> str:
    """The feature that is furthest out of range, in numbers."""
    worst = max(features, key=lambda feature: feature[0].excess(feature[1]))[0]
    worst = {SOME_OFFSET: LENGTH, SOME_CENTRE: CENTRE}.get(worst, worst)
    sizes, length = inertial_of(own.bodies), own.length()
    if worst is RIG:
        worst = LENGTH if length > RIG.high else CENTRE
    if worst is LENGTH:
        return f"the distances between its joints add up to {length:.4g} m"
    if worst is DENSITY:
        return f"its links weigh {sizes.mass.sum():.4g} kg and are {length:.4g} m long in all"
    if worst is CENTRE:
        i = int(sizes.centre.argmax())
        far = f"the centre of mass of {own.links[i]} is {sizes.centre[i]:.4g} m from its joint"
        return f"{far}, the arm {length:.4g} m long"
    return _body_evidence(own.links, sizes, int(np.nanargmax(np.abs(np.log(sizes.compactness)))))


def _body_evidence(links: Names, sizes: Inertial, i: int) -> str:
    """What no body of its mass can be."""
    body = f"{links[i]} has {sizes.mass[i]:.4g} kg and an inertia of {sizes.inertia[i]:.4g} kg m²"
    if sizes.compactness[i] < 1:
        return f"{body}, denser than gold"
    return f"{body}, a radius of gyration of {sizes.gyration[i]:.4g} m"


def _single_distances(own: Proportions) -> Iterator[Mistake]:
    """Origins of joints, or centres of mass, that are far away where not all are."""
    centre = inertial_of(own.bodies).centre
    for what, names, key, distance, most in (
        ("origin", own.joints, "length", own.offsets, FAR_JOINT),
        ("centre of mass", own.links, "centre", centre, CENTRE.high * own.length()),
    ):
        far = distance > most
        if not far.any() or far.sum() >= np.count_nonzero(distance):
            continue
        question = f"Is the {what} of {' and '.join(np.array(names)[far][:3])} in"
        for unit, f in LENGTH_UNITS.items():
            scale = UnitScale(**{key: np.where(far, f, 1.0)})
            yield Mistake(question, unit, "m", scale, 2.0 + RARITY.get(unit, 0.0))


def _single_bodies(arm: _Arm) -> Iterator[Hypothesis]:
    """Mass or inertia of one link in another unit, or exchanged with another link's."""
    sizes = inertial_of(arm.own.bodies)
    compact = np.where(arm.given, sizes.compactness, np.nan)
    excess = np.array([ONE_COMPACTNESS.excess(x) if x > 0 else 0.0 for x in compact])
    if not excess.any():
        return
    i = int(excess.argmax())
    evidence = _body_evidence(arm.own.links, sizes, i)
    contradicts = sizes.gyration[i] > arm.own.length() or excess[i] >= 1
    strength = ranges.REFUSED + excess[i] if contradicts else ranges.ODD
    other = _exchanged(arm.own, i)
    link = arm.own.links[i]
    if other is not None:
        question = f"Are the masses or the inertias of {link} and {other} exchanged"
        yield Hypothesis(evidence, question, "write each with its own link", strength)
        return
    found = ranges.explain(
        _single_mistakes(arm, i), lambda m: _body_features(arm, i, m.scale), excess[i]
    )
    if found is not None:
        yield ranges.name_unit(evidence, found, strength)


def _single_mistakes(arm: _Arm, i: int) -> Iterator[Mistake]:
    """Units of the mass or the inertia of one link."""
    n, link = len(arm.own.links), arm.own.links[i]

    def at(factor: float) -> Floats:
        return np.where(np.arange(n) == i, factor, 1.0)

    yield Mistake(f"Is the mass of {link} in", "g", "kg", UnitScale(mass=at(1e-3)))
    for unit, f in INERTIA_UNITS.items():
        rare = RARITY.get(unit, 0.0)
        yield Mistake(
            f"Is the inertia of {link} in", unit, "kg m^2", UnitScale(inertia=at(f)), rare
        )
    unit = "kg m^2, but read in kg mm^2"
    yield Mistake(f"Is the inertia of {link} in", unit, "kg m^2", UnitScale(inertia=at(1e6)), 2.0)


def _body_features(arm: _Arm, i: int, scale: UnitScale) -> ranges.Features:
    """Compactness of a link, and its mass over that of the others."""
    sizes = inertial_of(arm.own.bodies, scale)
    others = np.delete(sizes.mass, i)
    others = others[others > 0]
    found = [(ONE_COMPACTNESS, float(sizes.compactness[i]))]
    if len(others):
        usual = float(np.exp(np.log(others).mean()))
        found.append((ONE_MASS, float(sizes.mass[i]) / usual))
    return found


def _exchanged(own: Proportions, i: int) -> str | None:
    """The link whose mass in place of its own makes a link usual, and the other one too."""
    best = ONE_EXCHANGED
    found = None
    for k, link in enumerate(own.links):
        mass = own.bodies[:, 0]
        if k == i or not mass[k] > 0:
            continue
        factor = np.ones(len(mass))
        factor[i], factor[k] = mass[k] / mass[i], mass[i] / mass[k]
        then = inertial_of(own.bodies, UnitScale(mass=factor)).compactness
        surprise = COMPACTNESS.surprise(then[i]) + COMPACTNESS.surprise(then[k])
        if surprise < best:
            best, found = surprise, link
    return found


ONE_MASS = Range(0.0, np.inf, 1.0, 0.7)  # of a link over the geometric mean of the others
ONE_EXCHANGED = 6.0  # surprise of both links with exchanged masses that is still named


# tools and payloads

LOAD_MASS = Range(1e-4, 3.0, 0.05, 0.6)  # of a tool or payload over the arm's
LOAD_DISTANCE = Range(0.0, 2.0, 0.15, 0.5)  # of its point or centre over the arm's length
LEAST_TOOL = 1.5e-3  # distance [m] of a tool point from the flange that is no rounding


def _tool_hypotheses(description: Description, own: Proportions) -> Iterator[Hypothesis]:
    """Tools and payloads whose mass, point, centre or inertia are not those of anything carried."""
    for name, tool in description.tool.items():
        yield from _point_hypotheses(f"tool '{name}'", tool.tcp.position, own)
        yield from _load_hypotheses(f"tool '{name}'", tool.body, own)
    for name, payload in description.payload.items():
        yield from _load_hypotheses(f"payload '{name}'", payload.body, own)


def _point_hypotheses(
    what: str, position: Sequence[float], own: Proportions
) -> Iterator[Hypothesis]:
    """A tool point further from the flange than the arm is long, or at it."""
    away, length = float(np.linalg.norm(position)), own.length()
    if length > 0 and away > LOAD_DISTANCE.high * max(length, 1.0):
        far = f"{what}: its point is {away:.4g} m from the flange, the arm {length:.4g} m long"
        yield Hypothesis(far, "Is its tcp in mm", "write it in m", ranges.REFUSED + away / length)
    if 0 < away < LEAST_TOOL:
        near = f"{what}: its point is {1e3 * away:.3g} mm from the flange"
        yield Hypothesis(near, "Is its tcp in m, but read in mm", "write it in m", ranges.ODD)


def _load_hypotheses(what: str, body: Body | None, own: Proportions) -> Iterator[Hypothesis]:
    """Mass, centre and inertia of what is carried, beside those of the arm."""
    if body is None or not body.mass >= SMALLEST:
        return
    sizes = inertial_of(parameters_of(body)[None])
    arm_mass, length = float(own.bodies[:, 0].sum()), own.length()
    share = body.mass / arm_mass if arm_mass > 0 and not _invented(own) else 0.0
    if share > LOAD_MASS.high:
        heavy = f"{what}: it weighs {body.mass:.4g} kg, the arm {arm_mass:.4g} kg"
        yield Hypothesis(heavy, "Is its mass in g", "write it in kg", ranges.REFUSED + share)
    if 0 < share < LOAD_MASS.low:
        light = f"{what}: it weighs {1e3 * body.mass:.4g} g, the arm {arm_mass:.4g} kg"
        remedy = "write it in kg; what is as light as that needs no body"
        yield Hypothesis(
            light, "Is its mass in kg, but read in g", remedy, ranges.REFUSED + 1 / share
        )
    if LOAD_MASS.excess(share):
        return
    if length > 0 and sizes.centre[0] > LOAD_DISTANCE.high * max(length, 1.0):
        far = f"{what}: its centre of mass is {sizes.centre[0]:.4g} m from the flange"
        yield Hypothesis(far, "Is its com in mm", "write it in m", ranges.REFUSED + sizes.centre[0])
        return
    compact = float(sizes.compactness[0])
    if ONE_COMPACTNESS.excess(compact):
        units = []
        for unit, f in INERTIA_UNITS.items():
            question, rare = "Is its inertia in", RARITY.get(unit, 0.0)
            units.append(Mistake(question, unit, "kg m^2", UnitScale(inertia=f), rare))
        ten = parameters_of(body)[None]
        found = ranges.explain(
            units,
            lambda m: [(ONE_COMPACTNESS, float(inertial_of(ten, m.scale).compactness[0]))],
            ONE_COMPACTNESS.excess(compact),
        )
        if found is not None:
            evidence = f"{what}: {_body_evidence(('it',), sizes, 0)}"
            yield ranges.name_unit(evidence, found, ranges.REFUSED if compact > 1 else ranges.ODD)

"""What an estimate says of itself, in sentences: what it could not tell, and why errors stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from armtwin.identification.fitting.table import FittedParameter
from armtwin.identification.rigid_body.evaluation.estimate import Estimate
from armtwin.identification.rigid_body.evaluation.validation import Validation
from armtwin.identification.rigid_body.friction.presliding import Falling
from armtwin.identification.rigid_body.friction.presliding_selection import RADII
from armtwin.identification.rigid_body.friction.selection import is_set_value
from armtwin.identification.rigid_body.friction.terms import LOAD, MEMORY, SHAPE, radii_of
from armtwin.identification.rigid_body.gravity.gravity_direction import Fall
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats
from armtwin.maths.smoothing import low_pass
from armtwin.robot.defaults.assumed_drives import FRICTION_SOURCE, ROTOR_SOURCE
from armtwin.robot.schema.mounting import in_words, written

TOLD = 0.5  # share of a value below which it is the prior's more than the logs'
VAGUE = 0.1  # share of a value that its deviation must not exceed for it to be told well
LARGE = 20.0  # NRMSE that asks for a reason [%]


def not_told(found: Estimate) -> list[str]:
    """What the logs do not tell, and whose numbers stand there instead."""
    return [
        *_added_drives(found),
        *_gains(found),
        *friction_sentences(found),
        *_held(found),
        *_links(found),
        *_splits(found),
        *_other_parameters(found),
    ]


def _added_drives(found: Estimate) -> Iterator[str]:
    """Drives that the robot file lacks."""
    drives = found.prior.description
    added = []
    if ROTOR_SOURCE in [motor.source for motor in drives.motor]:
        added.append("rotor inertia")
    if FRICTION_SOURCE in [element.source for element in drives.friction]:
        added.append("viscous and Coulomb friction and offset")
    if added:
        lacking = " and ".join(added)
        yield f"The robot file lacks {lacking} of each joint; added, their first guesses assumed."


def _gains(found: Estimate) -> Iterator[str]:
    """Drive gains that no file knew."""
    if found.gains is None:
        return
    gains = ", ".join(f"{gain:.3g}" for gain in found.gains)
    yield (
        f"Torque was logged as a current without known gains; {gains} N m/A at the joints were "
        "told together with the parameters, in the scale of the robot file's masses."
    )


def _held(found: Estimate) -> Iterator[str]:
    """Parameters that were not free to change."""
    held = []
    for parameter, may_change in zip(found.table, found.free, strict=True):
        if not may_change:
            held.append(parameter.name)
    if held:
        yield f"Held, not told: {_listed(held)}."


def _links(found: Estimate) -> Iterator[str]:
    """Links of which the logs tell nothing, or nothing well."""
    from_file, vague = [], []
    for k, joint in enumerate(found.prior.assembly.tree.joints):
        ten = found.prior.layout.link(k)
        if not found.free[ten].any():
            continue
        if all(parameter.from_logs < TOLD for parameter in found.table[ten]):
            from_file.append(joint.child)
        elif all(_vague(parameter) for parameter in found.table[ten]):
            vague.append(joint.child)
    if from_file:
        links = _listed(from_file)
        yield f"Of {links} these logs tell next to nothing; the inertias are the robot file's."
    if vague:
        yield f"Of {_listed(vague)} no number is told to a tenth of itself."


def _vague(parameter: FittedParameter) -> bool:
    """Whether a value's own deviation says that it is not told well."""
    return parameter.std > VAGUE * abs(parameter.value)


def _splits(found: Estimate) -> Iterator[str]:
    """Rotors that only the sum with their link is told of."""
    table = found.prior.parameter_table
    for combination in found.structure.combination:
        members = np.flatnonzero(combination)
        rotors, bodies = [], []
        for k in members:
            if table[k].group == "rotor":
                rotors.append(table[k].name)
            elif table[k].group == "link":
                bodies.append(table[k].name)
        if rotors and bodies and found.free[members].any():
            yield (
                f"{_listed(rotors)} and the inertia of what turns with it ({_listed(bodies, 4)}) "
                "are told in sum only; the split is the robot file's."
            )


def _other_parameters(found: Estimate) -> Iterator[str]:
    """Rotors, balancers and friction that the logs hardly tell, or not well."""
    from_file, vague = [], []
    for parameter in _told_by_some_motion(found):
        if parameter.from_logs < TOLD:
            from_file.append(parameter.name)
        elif _vague(parameter):
            vague.append(parameter.name)
    if from_file:
        yield f"Hardly told: {_listed(from_file)}; the values are mostly the robot file's."
    if vague:
        yield f"Told, but not to a tenth of themselves: {_listed(vague)}."


def _told_by_some_motion(found: Estimate) -> Iterator[FittedParameter]:
    """Free parameters beside those of links that a motion can tell."""
    for k in np.flatnonzero(found.free):
        of_link = found.prior.parameter_table[k].group == "link"
        if not of_link and found.table[k].group != "none":
            yield found.table[k]


def _listed(words: Sequence[str], most: int = 8) -> str:
    """Words with commas between, the last ones counted where there are many."""
    text = ", ".join(words[:most])
    more = len(words) - most
    return f"{text} and {more} more" if more > 0 else text


def reasons(found: Estimate, log: Log, validation: Validation) -> list[str]:
    """For each joint whose error stays large, where it lies, and that no tried cause explains it.

    Causes are friction terms that were tried on left-out parts; those that predict better are in
    the model already, so that none of them is named here.
    """
    large = np.flatnonzero(validation.nrmse > LARGE)
    if not len(large):
        return []
    standing = found.standing(log)
    sentences = []
    for j in large:
        joint = f"{found.prior.joint_names[j]} is {validation.nrmse[j]:.0f} % off"
        sentences.append(f"{joint}{_where(found, validation, standing[:, j], int(j))}.")
    return sentences


def _where(found: Estimate, validation: Validation, standing: Flags, j: int) -> str:
    """Where a joint's torque is off, as the end of a sentence."""
    if standing.all():
        return ": it stands still here, where friction may hold any torque"
    gap = validation.tau[:, j] - validation.tau_hat[:, j]
    rate = 1 / float(np.median(np.diff(validation.time)))
    cutoff = min(found.cleaning[0].cutoff, 0.4 * rate)
    slow = low_pass(gap[:, None], rate, cutoff)[:, 0]
    still = 100 * _power(gap[standing]) / _power(gap)
    fast = 100 * max(0.0, 1 - _power(slow) / _power(gap))
    return (
        f": {still:.0f} % of the missed power where the joint stands "
        f"({100 * standing.mean():.0f} % of the time), {fast:.0f} % above {cutoff:.3g} Hz; "
        f"{_tried(found)}"
    )


def _tried(found: Estimate) -> str:
    """What was tried against it."""
    if not found.friction.errors:
        return "no cause was tried"
    return "nothing else that was tried predicts left-out parts better"


def _power(x: Floats) -> float:
    return float((x**2).sum()) + 1e-300


def _beside_the_bristle(found: Estimate) -> str:
    """How far the contacts that were fitted differ from those of the closed loop."""
    memories = [term for term in found.model.terms if term.element.name.endswith(MEMORY)]
    if all(isinstance(term.element.law, Falling) for term in memories):
        return "They bend as the bristles of the closed loop do."
    return (
        "At a reversal this differs from the bristle of the closed loop by at most 0.31 of the "
        "level."
    )


def friction_sentences(found: Estimate) -> list[str]:
    """Which friction terms were added to those of the robot file, and which not."""
    chosen = found.friction
    if not chosen.errors:
        return []
    sentences = [*_memory_sentence(found)]
    shapes = [term for term in found.model.terms if term.element.name.endswith(SHAPE)]
    if shapes:
        names = _listed([term.element.name for term in shapes])
        law = shapes[0].element.law
        sentences.append(
            f"Friction follows another shape of the speed than the robot file's: {names} were "
            f"added ({law.law}), as left-out parts are predicted better so."
        )
    sentences += _load_sentence(found)
    return sentences


def _load_sentence(found: Estimate) -> Iterator[str]:
    """By how much friction grows with the torque that gears pass on."""
    values = {row.name: row for row in found.table}
    words = []
    for term in found.model.terms:
        if term.element.name.endswith(LOAD):
            row = values[term.name]
            host = term.element.name.removesuffix(LOAD)
            words.append(f"{host} {100 * row.value:.2g} ± {100 * row.std:.1g} %")
    if words:
        yield (
            f"Friction grows with the torque that gears pass on, by so much of it: "
            f"{_listed(words)}. Left-out parts are predicted better so."
        )


def _memory_sentence(found: Estimate) -> Iterator[str]:
    """What the logs tell of friction before sliding."""
    chosen = found.friction
    if is_set_value(found.torque_source):
        yield (
            f"{found.torque_source} is a set value, which no contact holds back: friction before "
            "sliding was not looked for."
        )
        return
    if not chosen.remembers:
        yield (
            "The logs do not tell friction before sliding: with a memory of any radius from "
            f"{RADII[0]:.0e} to {RADII[-1]:.0e} rad left-out parts are not predicted better."
        )
        return
    radii = dict(radii_of(found.model.terms))
    words = ", ".join(f"{name} {radius:.1e}" for name, radius in radii.items())
    yield (
        "Friction remembers from where the joint came: contacts bend by these radii before they "
        f"slide, rad: {words}. {_beside_the_bristle(found)}"
    )
    if not all(chosen.told):
        yield (
            f"A radius of {RADII[0]:.0e} rad is the least that was tried; the logs tell only that "
            "it is not larger."
        )


def fall_words(falls: Fall) -> str:
    """What the logs say of the direction of gravity."""
    apart = f"{np.degrees(falls.angle):.2g} ± {np.degrees(falls.angle_deviation):.2g} deg"
    if falls.leans:
        lost = 100 * (1 - np.exp(-0.5 * falls.gain))
        return (
            f"Gravity {written(falls.logs)} m/s² in the base: {falls.leaning}, with which "
            f"{lost:.2g} % less of the left-out torque is missed."
        )
    where = f"{in_words(falls.file)}, {written(falls.file)} m/s² in the base"
    if not falls.told:
        return f"Gravity as in the robot file ({where}): these logs do not tell its direction."
    return (
        f"Gravity as in the robot file ({where}); the logs by themselves have it {apart} from "
        "there, which predicts left-out parts no better."
    )

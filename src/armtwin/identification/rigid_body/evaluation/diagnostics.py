"""Diagnostics of an estimate in sentences: what is not identified, and why errors remain."""

from collections.abc import Mapping, Sequence

import numpy as np

from armtwin.identification.fitting.decomposition import FittedParameter
from armtwin.identification.fitting.estimate import student
from armtwin.identification.rigid_body.evaluation.estimate import Estimate, Validation
from armtwin.identification.rigid_body.friction import terms
from armtwin.identification.rigid_body.friction.presliding import VelocityWeakening
from armtwin.identification.rigid_body.friction.selection import is_command
from armtwin.identification.rigid_body.friction.trials import DISTANCES
from armtwin.identification.rigid_body.gravity.gravity_direction import GravityDirection
from armtwin.logs.channels import channel_kind
from armtwin.logs.log import Log
from armtwin.maths.batch import Flags, Floats, Sentences
from armtwin.maths.smoothing import low_pass
from armtwin.robot.defaults.assumed_drives import FRICTION_SOURCE, ROTOR_SOURCE
from armtwin.robot.schema.mounting import format_gravity, in_words

DETERMINED_SHARE = 0.5  # share of a value below which it is the prior's more than the logs'
POOR = 0.1  # share of a value that its deviation must not exceed for it to be well identified
LARGE = 20.0  # NRMSE that asks for a reason [%]


def list_unidentified(found: Estimate) -> list[str]:
    """What the logs do not identify, and whose numbers are used instead."""
    return [
        *_describe_added_drives(found),
        *_describe_gains(found),
        *describe_friction(found),
        *_describe_held(found),
        *_links(found),
        *_describe_splits(found),
        *_other_parameters(found),
    ]


def _describe_added_drives(found: Estimate) -> Sentences:
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


def _describe_gains(found: Estimate) -> Sentences:
    """Drive gains that no file gives."""
    if found.gains is None:
        return
    gains = ", ".join(f"{gain:.3g}" for gain in found.gains)
    what, logged = f"Drive gains of {gains} N m/A at the joints", "as a current without known gains"
    if channel_kind(found.torque_source) == "tau_m":
        what, logged = f"Gear ratios of {gains}", "at the motors, and the robot file has no gears"
    yield (
        f"{what} were identified with the parameters, in the scale of the robot file's masses: "
        f"torque was logged {logged}."
    )


def _describe_held(found: Estimate) -> Sentences:
    """Parameters that were not free to change."""
    held = [found.table[k].name for k in np.flatnonzero(~found.free)]
    if held:
        yield f"Held fixed, not identified: {_join_names(held)}."


def _links(found: Estimate) -> Sentences:
    """Links that the logs do not identify, or poorly."""
    rows = {}
    for k, joint in enumerate(found.prior.assembly.tree.joints):
        ten = found.prior.layout.link(k)
        if found.free[ten].any():
            rows[joint.child] = found.table[ten]
    from_file, vague = _select_poor(rows)
    if from_file:
        links = _join_names(from_file)
        yield f"Not identified by these logs: {links}; the inertias are the robot file's."
    if vague:
        yield f"Poorly identified (all standard deviations above 10 %): {_join_names(vague)}."


def _select_poor(
    rows: Mapping[str, Sequence[FittedParameter]],
) -> tuple[list[str], list[str]]:
    """Names of parameters that are all the prior's more than the logs', and all poorly known."""
    from_file, vague = [], []
    for name, parameters in rows.items():
        if all(row.from_logs < DETERMINED_SHARE for row in parameters):
            from_file.append(name)
        elif all(row.std > POOR * abs(row.value) for row in parameters):
            vague.append(name)
    return from_file, vague


def _describe_splits(found: Estimate) -> Sentences:
    """Rotors that are identifiable only in combination with their link."""
    table = found.prior.parameter_table
    for combination in found.structure.combination:
        members = np.flatnonzero(combination)
        rotors = [table[k].name for k in members if table[k].group == "rotor"]
        bodies = [table[k].name for k in members if table[k].group == "link"]
        if rotors and bodies and found.free[members].any():
            yield (
                f"{_join_names(rotors)} and the inertia of what turns with it "
                f"({_join_names(bodies, 4)}) "
                "are identifiable only in combination; the split is the robot file's."
            )


def _other_parameters(found: Estimate) -> Sentences:
    """Rotors, balancers and friction that the logs do not identify, or poorly."""
    rows = {}
    for k in np.flatnonzero(found.free):
        row = found.table[k]
        if row.group != "none" and found.prior.parameter_table[k].group != "link":
            rows[row.name] = [row]
    from_file, vague = _select_poor(rows)
    if from_file:
        names = _join_names(from_file)
        yield f"Hardly identified: {names}; the values are mostly the robot file's."
    if vague:
        yield f"Poorly identified (standard deviation above 10 %): {_join_names(vague)}."


def _join_names(words: Sequence[str], most: int = 8) -> str:
    """Words with commas between, the last ones counted where there are many."""
    text = ", ".join(words[:most])
    more = len(words) - most
    return f"{text} and {more} more" if more > 0 else text


def explain_errors(found: Estimate, log: Log, validation: Validation) -> list[str]:
    """For each joint whose error remains large, where it lies; no cause that was tried explains it.

    Causes are friction terms that were tried on left-out parts; those that predict better are in
    the model already, so that none of them is named here.
    """
    large = np.flatnonzero(validation.nrmse > LARGE)
    if not len(large):
        return []
    at_rest = found.standing(log)
    sentences = []
    for j in large.tolist():
        joint = f"{found.prior.joint_names[j]}: error {validation.nrmse[j]:.0f} %"
        sentences.append(f"{joint}{_where(found, validation, at_rest[:, j], j)}.")
    return sentences


def _where(found: Estimate, validation: Validation, at_rest: Flags, j: int) -> str:
    """Where a joint's torque error lies, as the end of a sentence."""
    if at_rest.all():
        return "; the joint is at rest here, where friction may hold any torque"
    gap = validation.tau[:, j] - validation.tau_hat[:, j]
    rate = 1 / float(np.median(np.diff(validation.time)))
    cutoff = min(found.cleaning[0].cutoff, 0.4 * rate)
    slow = low_pass(gap[:, None], rate, cutoff)[:, 0]
    still = 100 * _power(gap[at_rest]) / _power(gap)
    fast = 100 * max(0.0, 1 - _power(slow) / _power(gap))
    tried = "no cause was tried"
    if found.friction.errors:
        tried = "no other friction term that was tried predicts left-out parts better"
    return (
        f"; {still:.0f} % of its power where the joint is at rest "
        f"({100 * at_rest.mean():.0f} % of the time), {fast:.0f} % above {cutoff:.3g} Hz; "
        f"{tried}"
    )


def _power(x: Floats) -> float:
    return float((x**2).sum()) + 1e-300


def describe_friction(found: Estimate) -> list[str]:
    """Which friction terms were added to those of the robot file, and which not."""
    chosen = found.friction
    if not chosen.errors:
        return []
    sentences = [*_describe_presliding(found)]
    shapes = _terms_of(found, terms.SHAPE)
    if shapes:
        names = _join_names([term.element.name for term in shapes])
        law = shapes[0].element.law
        sentences.append(
            f"Friction depends on speed otherwise than in the robot file: {names} were added "
            f"({law.law}), which predicts left-out parts better."
        )
    sentences += _describe_loads(found)
    return sentences


def _terms_of(found: Estimate, ending: str) -> list[terms.Term]:
    """Friction terms of one kind, by how their elements' names end."""
    return [term for term in found.model.terms if term.element.name.endswith(ending)]


def _describe_loads(found: Estimate) -> Sentences:
    """By how much friction grows with the torque that gears transmit."""
    values = {row.name: row for row in found.table}
    words = []
    for term in _terms_of(found, terms.LOAD):
        row, host = values[term.name], term.element.name.removesuffix(terms.LOAD)
        words.append(f"{host} {100 * row.value:.2g} ± {100 * student(np.inf) * row.std:.1g} %")
    if words:
        yield (
            f"Friction grows with the torque that gears transmit, by this share of it: "
            f"{_join_names(words)}. This predicts left-out parts better."
        )


def _describe_presliding(found: Estimate) -> Sentences:
    """What the logs show of pre-sliding friction."""
    chosen = found.friction
    if is_command(found.torque_source):
        yield (f"{found.torque_source} is a command, so pre-sliding friction cannot be seen in it.")
        return
    if not chosen.has_presliding:
        yield (
            f"The logs do not identify pre-sliding friction: no pre-sliding distance from "
            f"{DISTANCES[0]:.0e} to {DISTANCES[-1]:.0e} rad predicts left-out parts better."
        )
        return
    distances = dict(terms.list_presliding_distances(found.model.terms))
    words = ", ".join(f"{name} {distance:.1e}" for name, distance in distances.items())
    laws = [term.element.law for term in _terms_of(found, terms.PRESLIDING)]
    weakening = all(isinstance(law, VelocityWeakening) for law in laws)
    same = "The closed loop has the same pre-sliding model."
    at_most = (
        "At a reversal this differs from the pre-sliding model of the closed loop by at most 0.31 "
        "of the level."
    )
    yield (
        f"Friction has pre-sliding hysteresis with these pre-sliding distances, rad: {words}. "
        f"{same if weakening else at_most}"
    )
    if not all(chosen.told):
        yield (
            f"A pre-sliding distance of {DISTANCES[0]:.0e} rad is the smallest that was tried; the "
            "logs show only that it is not larger."
        )


def describe_gravity(direction: GravityDirection) -> str:
    """What the logs show of the direction of gravity."""
    apart = f"{np.degrees(direction.angle):.2g} ± {np.degrees(direction.angle_half_width):.2g} deg"
    if direction.base_is_tilted:
        lower = 100 * (1 - np.exp(-0.5 * direction.gain))
        return (
            f"Gravity {format_gravity(direction.logs)} m/s² in the base: "
            f"{direction.tilt_phrase}, which "
            f"lowers the error of the left-out torque by {lower:.2g} %."
        )
    where = f"{in_words(direction.file)}, {format_gravity(direction.file)} m/s² in the base"
    if not direction.told:
        return f"Gravity as in the robot file ({where}): not identifiable from these logs."
    return (
        f"Gravity as in the robot file ({where}); the direction by the logs alone is {apart} from "
        "it, which predicts left-out parts no better."
    )

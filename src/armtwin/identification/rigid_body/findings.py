"""What an estimate says of itself, in sentences: what it could not tell, and why errors stay."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from armtwin.identification.fitting.table import FittedParameter
from armtwin.identification.rigid_body.clean_log import Motion, predicted_motion
from armtwin.identification.rigid_body.estimate import Estimate
from armtwin.identification.rigid_body.validation import Validation
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.maths.smoothing import low_pass
from armtwin.robot.assumed_drives import FRICTION_SOURCE, ROTOR_SOURCE

TOLD = 0.5  # share of a value below which it is the prior's more than the logs'
LARGE = 20.0  # NRMSE that asks for a reason [%]
MOST = 0.4  # share of the residual's power that makes a reason
SLOW = 0.03  # share of a joint's highest speed that counts as about a reversal
BINS = 12

NOISE = (
    "the torque signal holds faster parts than the motion, noise or vibration that no rigid model "
    "has"
)
REVERSAL = "it arises where the joint stands or turns round, where friction keeps no law of speed"
SPEED = "it follows the speed, so the friction law of the robot file does not fit"
POSITION = "it follows the position, as a gear's ripple, a cable's pull or a missing load"


def not_told(found: Estimate) -> list[str]:
    """What the logs do not tell, and whose numbers stand there instead."""
    return [
        *_added_drives(found),
        *_gains(found),
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
        if _all_below(parameter.from_logs for parameter in found.table[ten]):
            from_file.append(joint.child)
        elif _all_below(parameter.told for parameter in found.table[ten]):
            vague.append(joint.child)
    if from_file:
        links = _listed(from_file)
        yield f"Of {links} these logs tell next to nothing; the inertias are the robot file's."
    if vague:
        yield f"Of {_listed(vague)} no number is told to a tenth of its size in the robot file."


def _all_below(shares: Iterator[float]) -> bool:
    """Whether no share makes its parameter told."""
    return max(shares) < TOLD


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
        elif parameter.told < TOLD:
            vague.append(parameter.name)
    if from_file:
        yield f"Hardly told: {_listed(from_file)}; the values are mostly the robot file's."
    if vague:
        yield f"Not told to a tenth of their size in the robot file: {_listed(vague)}."


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
    """For each joint whose error stays large, the likely reason."""
    motion = predicted_motion(log, found.cutoff, found.recipe)
    sentences = []
    for j in np.flatnonzero(validation.nrmse > LARGE):
        joint = f"{found.prior.joint_names[j]} is {validation.nrmse[j]:.0f} % off"
        sentences.append(f"{joint}{_reason(found, motion, validation, int(j))}.")
    return sentences


def _reason(found: Estimate, motion: Motion, validation: Validation, j: int) -> str:
    """Why a joint's torque is off, as the end of a sentence."""
    q, v = motion.q[:, j], motion.v[:, j]
    standing = np.abs(v) < SLOW * found.fastest[j]
    if standing.all():
        return ": it stands still here, where friction may hold any torque"
    gap = validation.tau[:, j] - validation.tau_hat[:, j]
    rate = 1 / float(np.median(np.diff(validation.time)))
    cutoff = min(found.cleaning[0].cutoff, 0.4 * rate)
    slow = low_pass(gap[:, None], rate, cutoff)[:, 0]
    shares = {
        NOISE: 1 - _power(slow) / _power(gap),
        REVERSAL: _power(gap[standing]) / _power(gap),
        SPEED: _followed(slow, v),
        POSITION: _followed(slow, q),
    }
    reason = max(shares, key=shares.__getitem__)
    if shares[reason] < MOST:
        nothing = "neither noise, reversals, speed nor position explain most of it"
        return f", with no single reason: {nothing}"
    return f", likely because {reason} ({100 * shares[reason]:.0f} % of it)"


def _power(x: Floats) -> float:
    return float((x**2).sum()) + 1e-300


def _followed(gap: Floats, x: Floats) -> float:
    """Share of a residual's power that its mean over bins of x explains."""
    edges = np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1])
    place = np.searchsorted(edges, x)
    count = np.maximum(np.bincount(place, minlength=BINS), 1)
    mean = np.bincount(place, weights=gap, minlength=BINS) / count
    return float((count * mean**2).sum()) / _power(gap)

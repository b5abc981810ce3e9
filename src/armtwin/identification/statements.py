"""What an estimate says about itself, in sentences: what it could not tell, and why an error may stay large."""

from __future__ import annotations

import numpy as np

from armtwin.identification.estimate import Estimate, Validation
from armtwin.identification.regression import motion
from armtwin.logs.log import Log
from armtwin.maths.batch import Floats
from armtwin.maths.smoothing import low_pass
from armtwin.robot.assumed_drives import SOURCE

TOLD = 0.5  # share of a value below which it is the prior's more than the logs'
LARGE = 20.0  # NRMSE that asks for a reason [%]
MOST = 0.4  # share of the residual's power that makes a reason
SLOW = 0.03  # share of a joint's highest speed that counts as about a reversal
BINS = 12


def not_told(found: Estimate) -> list[str]:
    """What the logs do not tell, and whose numbers stand there instead."""
    said = []
    added = [
        what
        for what, sources in (
            ("rotor inertia", [m.source for m in found.prior.description.motor]),
            (
                "viscous and Coulomb friction and offset",
                [e.source for e in found.prior.description.friction],
            ),
        )
        if SOURCE in sources
    ]
    if added:
        said.append(
            f"The robot file lacks {' and '.join(added)} of each joint; added, their first guesses assumed."
        )
    if found.gains is not None:
        told = ", ".join(f"{k:.3g}" for k in found.gains)
        said.append(
            f"Torque was logged as a current without known gains; {told} N m/A at the joints were told together with "
            "the parameters, in the scale of the robot file's masses."
        )
    free = found.free
    held = [r.name for r, may in zip(found.table, free, strict=True) if not may]
    if held:
        said.append(f"Held, not told: {_listed(held)}.")
    links = {
        joint.child: found.table[found.prior.layout.link(k)]
        for k, joint in enumerate(found.prior.assembly.tree.joints)
        if free[found.prior.layout.link(k)].any()
    }
    theirs = [name for name, rows in links.items() if all(r.from_logs < TOLD for r in rows)]
    vague = [
        name
        for name, rows in links.items()
        if all(r.told < TOLD for r in rows) and name not in theirs
    ]
    if theirs:
        said.append(
            f"Of {_listed(theirs)} these logs tell next to nothing; the inertias are the robot file's."
        )
    if vague:
        said.append(
            f"Of {_listed(vague)} no number is told to a tenth of its size in the robot file."
        )
    said += _splits(found)
    groups = [p.group for p in found.prior.parameter_table]
    rest = [
        r
        for group, r, may in zip(groups, found.table, free, strict=True)
        if group != "link" and r.group != "none" and may
    ]
    theirs = [r.name for r in rest if r.from_logs < TOLD]
    vague = [r.name for r in rest if r.told < TOLD and r.from_logs >= TOLD]
    if theirs:
        said.append(f"Hardly told: {_listed(theirs)}; the values are mostly the robot file's.")
    if vague:
        said.append(f"Not told to a tenth of their size in the robot file: {_listed(vague)}.")
    return said


def _splits(found: Estimate) -> list[str]:
    """Rotors that only the sum with their link is told of."""
    names = found.prior.parameter_names
    structure = found.structure
    said = []
    for row in structure.combination:
        members = np.flatnonzero(row)
        rotors = [names[k] for k in members if found.prior.parameter_table[k].group == "rotor"]
        bodies = [names[k] for k in members if found.prior.parameter_table[k].group == "link"]
        if rotors and bodies and found.free[members].any():
            said.append(
                f"{_listed(rotors)} and the inertia of what turns with it ({_listed(bodies, 4)}) are told in sum only; "
                "the split is the robot file's."
            )
    return said


def _listed(words: list[str], most: int = 8) -> str:
    more = f" and {len(words) - most} more" if len(words) > most else ""
    return ", ".join(words[:most]) + more


def reasons(found: Estimate, log: Log, judged: Validation) -> list[str]:
    """For each joint whose error stays large, the likely reason."""
    q, v, _ = motion(log, found.cutoff, found.recipe)
    gap = judged.tau - judged.tau_hat
    rate = 1 / float(np.median(np.diff(log.time)))
    slow = low_pass(gap, rate, min(found.cleaning[0].cutoff, 0.4 * rate))
    said, names = [], found.prior.joint_names
    for j in np.flatnonzero(judged.nrmse > LARGE):
        shares = {
            "the torque signal holds faster parts than the motion, noise or vibration that no rigid model has": 1
            - _power(slow[:, j]) / _power(gap[:, j]),
            "it arises where the joint stands or turns round, where friction keeps no law of speed": _power(
                gap[np.abs(v[:, j]) < SLOW * found.fastest[j], j]
            )
            / _power(gap[:, j]),
            "it follows the speed, so the friction law of the robot file does not fit": _followed(
                slow[:, j], v[:, j]
            ),
            "it follows the position, as a gear's ripple, a cable's pull or a missing load": _followed(
                slow[:, j], q[:, j]
            ),
        }
        if np.abs(v[:, j]).max() < SLOW * found.fastest[j]:
            said.append(
                f"{names[j]} is {judged.nrmse[j]:.0f} % off: it stands still here, where friction may hold any torque."
            )
            continue
        reason = max(shares, key=lambda text: shares[text])
        why = f"likely because {reason} ({100 * shares[reason]:.0f} % of it)"
        if shares[reason] < MOST:
            why = "with no single reason: neither noise, reversals, speed nor position explain most of it"
        said.append(f"{names[j]} is {judged.nrmse[j]:.0f} % off, {why}.")
    return said


def _power(x: Floats) -> float:
    return float((x**2).sum()) + 1e-300


def _followed(gap: Floats, x: Floats) -> float:
    """Share of a residual's power that its mean over bins of x explains."""
    edges = np.quantile(x, np.linspace(0, 1, BINS + 1)[1:-1])
    place = np.searchsorted(edges, x)
    count = np.maximum(np.bincount(place, minlength=BINS), 1)
    mean = np.bincount(place, weights=gap, minlength=BINS) / count
    return float((count * mean**2).sum()) / _power(gap)

"""Where the energy of a step goes, summed with the speeds half way through it."""

from collections.abc import Sequence
from typing import Any

from armtwin.drives.hydraulics import Cylinders, advance_force
from armtwin.drives.rows import Rows, Springs, along, deflection_torque, twist_beyond_backlash
from armtwin.maths.batch import Floats
from armtwin.maths.choice import choose
from armtwin.simulation.step import Contacts

MOTORS, OUTSIDE, FRICTION, DAMPERS, NUMERICAL = range(5)


def account(
    energy: Floats, h: float, middle: Floats, tau: Floats, outside: Floats, contacts: Contacts
) -> None:
    """Add the work of a step by motors, from outside and in friction.

    Args:
        energy: Sums of all steps, (5,).
        h: Length of the step.
        middle: Speeds of the coordinates half way, (N,).
        tau: Torques of the motors on the coordinates, (N,).
        outside: Torques from outside, (N,).
        contacts: What friction did.
    """
    work, pushed, taken = 0.0, 0.0, 0.0
    for j in range(len(middle)):
        work += tau[j] * middle[j]
        pushed += outside[j] * middle[j]
    for e, F in enumerate(contacts.half_way):
        taken += F * (contacts.speed[e] + 0.5 * contacts.change[e])
    energy[MOTORS] += h * work
    energy[OUTSIDE] += h * pushed
    energy[FRICTION] += h * taken


def account_springs(
    energy: Floats,
    springs: Springs,
    slack: Floats,
    rows: Rows,
    motion: tuple[Any, Any, Any, Any],
    pressed: tuple[Sequence[Any], Sequence[Any]],
) -> None:
    """Add the loss of a step in the springs' dampers, and what the numerical damping took.

    The latter is the difference to the torque of a spring half way through the step.

    Args:
        energy: Sums of all steps, (5,).
        springs: The springs.
        slack: Where along their rows they are slack.
        rows: Rows of the coordinates.
        motion: Length of the step, coordinates, speeds and their change.
        pressed: Torques and slopes of the springs in the step.
    """
    h, u, v, dv = motion
    for e, (r, F, D) in enumerate(zip(springs.row, *pressed, strict=True)):
        dw = along(rows, r, dv)
        w = along(rows, r, v) + 0.5 * dw
        used = F + 0.5 * D * dw
        lost = choose(D != 0.0, springs.damping[e] * w, 0.0)
        middle = along(rows, r, u) - slack[e] + 0.5 * h * w
        stored, _ = deflection_torque(
            twist_beyond_backlash(middle, springs.gap[e]),
            springs.stiffness[e],
            springs.soft[e],
            springs.knee[e],
        )
        energy[DAMPERS] += h * w * lost
        energy[NUMERICAL] += h * w * (used - lost - stored)


def account_holds(
    energy: Floats,
    holds: Springs,
    rows: Rows,
    motion: tuple[Any, Any, Any, Any],
    pressed: tuple[Sequence[Any], Sequence[Any]],
) -> None:
    """Add the work of a step by servos that hold rows; arguments as of `account_springs`."""
    h, _, v, dv = motion
    for r, F, D in zip(holds.row, *pressed, strict=True):
        dw = along(rows, r, dv)
        w = along(rows, r, v) + 0.5 * dw
        energy[MOTORS] -= h * w * (F + 0.5 * D * dw)


def release_cylinders(
    cylinders: Cylinders, rows: Rows, middle: Floats, oil: Floats, Q: Floats, h: float
) -> float:
    """Take the new forces of the cylinders after a step; returns their work in it [J]."""
    work = 0.0
    for c, r in enumerate(cylinders.row):
        w = along(rows, r, middle)
        after = advance_force(cylinders.compliance[c], cylinders.leakage[c], oil[c], Q[c], w, h)
        work += h * w * 0.5 * (oil[c] + after)
        oil[c] = after
    return work

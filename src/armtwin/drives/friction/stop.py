"""Friction with memory: an elastic displacement that stops growing when it slides.

    s <- clip(s + dx, -r, r)        torque = g s / r

s is the displacement of the contact since it last slid, r the radius within which it is elastic,
g the dry friction while sliding. It is the bristle of `presliding` with a corner in place of its
exponential, and both start with one slope, c0 = g / r. From rest they differ by at most e⁻¹ g, at
x = r. After a reversal

    stop      -g + g x / r  up to x = 2 r
    bristle    g - 2 g exp(-x / r)

the bristle leads by at most (1 - ln 2) g = 0.31 g, at x = r ln 2, and lags by 2 e⁻² g = 0.27 g at
x = 2 r; the work that both take to turn round is the same. Unlike the bristle it keeps its torque
however long a logged position trembles within the radius, and it is linear in g.

Where g falls with speed, r falls with it, as the stiffness g / r is the contact's own. The joint
speeds up while its contact turns round; a corner then takes half of the bristle's radius for it,
or less. There the displacement follows the bristle itself,

    s <- ± r + (s ∓ r) exp(-|dx| / r)

with x a position within a dead band of the logged one, so that noise does not reverse it.

Ref: [Waiboer 2007, eq. 3.69-3.72], [Al-Bender-Lampaert-Swevers 2005]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled

Integers = NDArray[np.intp]

PLAY = 0.05  # share of a radius within which a logged position may tremble
FORGETS = 40.0  # radii of travel after which a deflection has decayed in double precision


@compiled
def stop_operators(x: Floats, radii: Floats, places: Integers, shares: Floats) -> None:
    """Fill rows of shares (..., m) with s / r, -1 to 1, along positions x (m,).

    Args:
        x: The positions; there is no displacement at the first.
        radii: Radius of each contact, (k,).
        places: The row of each, (k,).
        shares: What is filled.
    """
    for c in range(len(radii)):
        radius, share = radii[c], shares[places[c]]
        s = 0.0
        share[0] = 0.0
        for k in range(1, len(x)):
            s = min(max(s + x[k] - x[k - 1], -radius), radius)
            share[k] = s / radius


@compiled
def bristle_operators(
    x: Floats, dry: Floats, radii: Floats, places: Integers, shares: Floats
) -> None:
    """Fill rows of shares (..., m) with s / r of bristles along positions x (m,).

    Args:
        x: The positions; there is no displacement at the first.
        dry: Share of its radius that a contact has at each, above zero, (m,).
        radii: Radius of each contact at rest, (k,).
        places: The row of each, (k,).
        shares: What is filled.
    """
    for c in range(len(radii)):
        radius, share = radii[c], shares[places[c]]
        play = PLAY * radius
        s, here = 0.0, x[0]
        share[0] = 0.0
        for k in range(1, len(x)):
            before, r = here, radius * dry[k]
            here = min(max(here, x[k] - play), x[k] + play)
            moved = here - before
            if moved != 0.0:
                end = r if moved > 0.0 else -r
                far = abs(moved) / r
                s = end + (s - end) * np.exp(-far) if far < FORGETS else end
            s = min(max(s, -r), r)
            share[k] = s / r

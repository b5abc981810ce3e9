"""How well a servo that was fitted to logs explains runs that the fit never saw."""

from __future__ import annotations

from dataclasses import dataclass

from armtwin.maths.quantities import Number


@dataclass(frozen=True)
class Fit:
    """What a fitted servo rests on.

    Attributes:
        logs: Files that it was fitted to.
        judged_on: Files, or parts of files, that the fit never saw.
        share: Share of the variance of q_ref - q that it explains there, one for each joint.
    """

    logs: tuple[str, ...]
    judged_on: tuple[str, ...] = ()
    share: tuple[Number, ...] = ()

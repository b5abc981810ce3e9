"""The lateness of the link encoder behind the motor encoder, before any stiffness or servo.

    q - q_link = δ v + τ_load / c + constant

Two encoders that are read or filtered at different times differ in proportion to speed, as much as
a soft gear would under viscous load. Only the load of the rigid body, which is not proportional to
speed, tells them apart: a stiffness that is fitted without the offset is an artefact.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Floats

MOST_LATENESS = 0.05  # [s]; more is no offset between encoders


@dataclass(frozen=True)
class EncoderOffset:
    """How the link encoder of a drive differs from its motor encoder.

    Attributes:
        lateness: Time δ by which the link encoder is behind [s].
        compliance: Twist per load 1 / c, motor side [rad/(N m)].
        share: Share of the variance of the difference that both explain.
        by_time: Share that the lateness alone explains.
        left: What they leave, rms at the motor [rad].
    """

    lateness: float
    compliance: float
    share: float
    by_time: float
    left: float


def encoder_offset(
    speed: Sequence[Floats], load: Sequence[Floats], twist: Sequence[Floats]
) -> EncoderOffset | None:
    """The offset of one drive from logs of its motor speed, load and encoder difference, (m,) each.

    None where a log has no link encoder, or where both encoders are one.
    """
    if any(np.isnan(x).any() for x in twist):
        return None
    centred = np.concatenate([x - x.mean() for x in twist])
    v = np.concatenate([x - x.mean() for x in speed])
    tau = np.concatenate([x - x.mean() for x in load])
    spread = float(centred @ centred)
    if not spread > 0:
        return None
    columns = np.stack([v, tau], axis=1)
    sizes = np.linalg.norm(columns, axis=0)
    sizes[sizes == 0] = 1.0
    scaled, *_ = np.linalg.lstsq(columns / sizes, centred, rcond=1e-9)
    lateness, compliance = scaled / sizes
    if compliance < 0:  # no gear twists against its load
        lateness, compliance = float(v @ centred) / float(v @ v), 0.0
    lateness = float(np.clip(lateness, -MOST_LATENESS, MOST_LATENESS))
    left = centred - lateness * v - compliance * tau
    alone = centred - lateness * v
    return EncoderOffset(
        lateness=lateness,
        compliance=float(compliance),
        share=1 - float(left @ left) / spread,
        by_time=1 - float(alone @ alone) / spread,
        left=float(np.sqrt(left @ left / len(left))),
    )

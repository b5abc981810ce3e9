"""The lateness of the link encoder behind the motor encoder, before any stiffness or servo.

    q - q_link = δ v + τ_load / c + constant        the law of `transmission.twist_fit`, one drive

Two encoders that are read or filtered at different times differ in proportion to speed, as much as
a soft gear would under viscous load. Only the load of the rigid body, which is not proportional to
speed, separates them: a stiffness that is fitted without the offset is an artefact.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from armtwin.identification.transmission.twist_fit import fit_twist
from armtwin.identification.transmission.twist_rows import rows_of_drive
from armtwin.maths.batch import Floats

LARGEST_DELAY = 0.05  # [s]; more is no offset between encoders


@dataclass(frozen=True)
class EncoderOffset:
    """How the link encoder of a drive differs from its motor encoder.

    Attributes:
        lateness: Time δ by which the link encoder is behind [s].
        compliance: Twist per load 1 / c, motor side [rad/(N m)].
    """

    lateness: float
    compliance: float


def estimate_encoder_offset(
    speed: Sequence[Floats], load: Sequence[Floats], twist: Sequence[Floats]
) -> EncoderOffset | None:
    """The offset of one drive from logs of its motor speed, load and encoder difference, (m,) each.

    None where a log has no link encoder, or where both encoders are one.
    """
    if any(np.isnan(x).any() for x in twist):
        return None
    rows = rows_of_drive(speed, load, twist)
    elastic, rigid = fit_twist(rows, (0,)), fit_twist(rows, ())
    # no gear twists against its load
    fit = elastic if elastic.compliance.value[0] > 0 else rigid
    if not replace(rigid, offset=0.0).left(rows).any():
        return None
    lateness = float(np.clip(fit.offset, -LARGEST_DELAY, LARGEST_DELAY))
    return EncoderOffset(lateness, float(fit.compliance.value[0]))

"""`identify_transmission`: gears measured by two encoders, by what their robot file is sure of."""

from collections.abc import Sequence

import numpy as np

from armtwin.identification.transmission.identify_transmission import fit_transmissions
from armtwin.identification.transmission.result import TransmissionIdentification
from armtwin.jobs.uncertainty import Uncertainty
from armtwin.logs.log import Log, as_logs
from armtwin.maths.batch import Floats
from armtwin.prediction.band.of_drives import friction_quantities, rotor_quantities
from armtwin.prediction.band.quantities import link_quantities, tool_quantities
from armtwin.prediction.band.quantity import Variant
from armtwin.prediction.band.width_settings import WidthSettings
from armtwin.robot.robot import Robot
from armtwin.simulation.model import Model


def identify_transmission(
    robot: Robot, logs: Log | Sequence[Log], *, validate: Log | None = None
) -> TransmissionIdentification:
    """Stiffness, lost motion and side of friction of transmissions from two encoders.

    Args:
        robot: The robot, with what was mounted; how far its rotors, friction and links may be off
            follows from their sources.
        logs: Logs with q (motor encoders), q_link (link encoders) and a torque.
        validate: An unseen log.
    """
    runs = as_logs(logs, "identify_transmission")
    return fit_transmissions(robot, runs, spread_parameters(robot), validate=validate)


def spread_parameters(robot: Robot) -> Floats:
    """Directions in which parameters may be off by one standard deviation, (p, k).

    One for each link, rotor and friction element in each quantity that is sampled of them, and
    those of the covariance of what was identified. Parts of one source err each by itself here: the
    torque of its own joint identifies each.
    """
    asked = WidthSettings(Uncertainty())
    quantities = [
        *friction_quantities(robot, Model(), asked),
        *rotor_quantities(robot, asked),
        *link_quantities(robot, asked),
        *tool_quantities(robot, asked),
    ]
    sizes = robot.layout.sizes
    part = np.repeat(np.arange(len(sizes)), sizes)
    columns = []
    for quantity in quantities:
        moved = quantity.moved(Variant(robot.description), 1.0).description
        change = robot.with_numbers(moved).parameters - robot.parameters
        columns += [np.where(part == k, change, 0.0) for k in range(len(sizes))]
    values, vectors = np.linalg.eigh(robot.uncertainty.covariance)
    identified = (vectors * np.sqrt(np.maximum(values, 0.0)))[:, values > 0]
    spread = np.column_stack([*columns, identified])
    return spread[:, spread.any(axis=0)]

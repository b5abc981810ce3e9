"""What a run may be given beside robot, motion and model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from numpy.typing import ArrayLike

from armtwin.control.controller import Controller
from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats
from armtwin.simulation.plant import Plant

# From time [s], positions and speeds of the links, (n,) each, to torques on the joints, (n,) [N m].
Partner = Callable[[float, Floats, Floats], Floats]
Method = Literal["nonlinear", "perturbation"]
METHODS = ("nonlinear", "perturbation")


@dataclass(frozen=True, eq=False)
class RunOptions:
    """What a run may be given: its method, what acts from outside, another servo or plant.

    Attributes:
        method: "nonlinear", or "perturbation" for the arm linearised along the motion.
        points: Points of the linearisation.
        log_rate: Rate of the log; by default the set-point rate [Hz].
        torque: Joint torques from outside at the trajectory's samples, (m, n) [N m].
        wrench: Process force and torque on the tool at the trajectory's samples, base axes, (m, 6);
            it acts on the tool where it is.
        feedforward: Torques that the servo feeds forward at the trajectory's samples, motor side,
            (m, motors) [N m]; by default those of the robot's own model. A servo that feeds none
            forward has no use for them.
        partner: Asked at each set-point for the torques on the joints until the next one, (n,)
            [N m]: from time, positions and speeds of the links. It takes the place of `torque`.
        servo: A packed controller in place of the model's.
        change: Gives another plant for that of the robot, as one without a friction element.
    """

    method: Method = "nonlinear"
    points: int = 300
    log_rate: float | None = None
    torque: ArrayLike | None = None
    wrench: ArrayLike | None = None
    feedforward: ArrayLike | None = None
    partner: Partner | None = None
    servo: Controller | None = None
    change: Callable[[Plant], Plant] | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.points, int) or self.points < 4:
            raise ArmtwinError(f"points must be a whole number from 4 on, got {self.points}")
        if self.partner is not None and self.torque is not None:
            raise ArmtwinError(
                "simulate: must get outside torques from torque or partner, got both"
            )


PLAIN_RUN = RunOptions()

"""The model by which a controller feeds torque forward: what it believes, not what the arm is."""

from dataclasses import dataclass

from armtwin.files.fields import Source
from armtwin.maths.quantities import Number, Positive


@dataclass(frozen=True)
class DriveFriction:
    """Friction that is fed forward to one drive, continuous at rest, on the motor side.

        τ = Σ level_i tanh(v / speed_i) + viscous v

    Attributes:
        speed: Speeds over which the levels are reached [rad/s].
        level: Levels [N m].
        viscous: Viscous friction [N m s/rad].
    """

    speed: tuple[Positive, ...] = ()
    level: tuple[Number, ...] = ()
    viscous: Number = 0.0

    def problem(self) -> str:
        """What is wrong, as a phrase; empty if nothing is."""
        if len(self.speed) == len(self.level):
            return ""
        return f"must have a level for each speed, got {len(self.level)} for {len(self.speed)}"


@dataclass(frozen=True)
class ControllerModel:
    """The controller's own model, of which a servo feeds the torque forward.

        τ_ref = N⁻ᵀ Y(q, v, a) φ + friction(v)          motor side

    Attributes:
        parameters: φ by the robot's names of its rigid parameters; one that is left out is 0.
        friction: Friction of each drive; empty where none is fed forward.
        tool: Tool that was mounted as these parameters were found.
        payload: Payload that was mounted then.
    """

    parameters: dict[str, Number]
    source: Source
    friction: tuple[DriveFriction, ...] = ()
    tool: str = ""
    payload: str = ""


def model_problems(model: ControllerModel, drives: int) -> list[str]:
    """Lists of a controller's model that are not as long as there are drives, as phrases."""
    if len(model.friction) in (0, drives):
        return []
    return [
        f"model.friction must have a group for each of {drives} drives, got {len(model.friction)}"
    ]

"""What a robot program asks for: moves from target to target, as a controller runs them.

Every pose is the tool's frame in the robot's base frame [m]; readers resolve base and tool.
"""

from dataclasses import dataclass
from typing import Literal

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats

MoveKind = Literal["LIN", "CIRC", "SPLINE", "PTP"]


@dataclass(frozen=True, eq=False)
class ProgramMove:
    """A move from where the one before ended.

    Attributes:
        kind: LIN, CIRC and SPLINE lead the tool, PTP the joints.
        pose: Pose of the tool where it ends, (4, 4); None where joints are given.
        joints: Joint positions where it ends, of a PTP only, (n,) [rad; m of a slide].
        via: Pose between, of a CIRC only, (4, 4); its orientation is not used.
        speed: Tool speed [m/s], of a PTP the share of the joints' speed limits; None for as fast as
            limits allow.
        zone: Distance from its end within which the path may leave it towards the next move [m]; 0
            for an exact stop.
        joined: Whether a SPLINE continues the spline of the move before, which it does not end.
        judged: Whether the tolerance counts on it (the process is on).
        wait: Time at rest after an exact stop [s].
        line: Line of the source, from 1; 0 where there is none.
        name: Name of the target, as in the source.
    """

    kind: MoveKind
    pose: Floats | None = None
    joints: Floats | None = None
    via: Floats | None = None
    speed: float | None = None
    zone: float = 0.0
    joined: bool = False
    judged: bool = True
    wait: float = 0.0
    line: int = 0
    name: str = ""

    def __post_init__(self) -> None:
        what = self.what
        if (self.pose is None) == (self.joints is None):
            raise ArmtwinError(f"{what} must have either a pose or joints")
        if self.joints is not None and self.kind != "PTP":
            raise ArmtwinError(f"{what} leads the tool: it must have a pose, got joints")
        if (self.via is None) == (self.kind == "CIRC"):
            raise ArmtwinError(f"{what}: a CIRC must have a via pose, and no other move has one")
        if self.speed is not None and not self.speed > 0:
            raise ArmtwinError(f"{what}: speed must be above 0, got {self.speed:g}")
        if not self.zone >= 0 or not self.wait >= 0:
            raise ArmtwinError(f"{what}: zone and wait must not be negative")

    @property
    def poses(self) -> list[Floats]:
        """Via pose and end, as far as it has them, (4, 4) each."""
        return [X for X in (self.via, self.pose) if X is not None]

    @property
    def what(self) -> str:
        """What it is called in a message, as "line 12: LIN to p10"."""
        place = f"line {self.line}: " if self.line else ""
        return f"{place}{self.kind} to {self.name or 'a pose'}"

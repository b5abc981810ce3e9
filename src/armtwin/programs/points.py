"""Bare points: a table of positions, with the tool's angles where it has them."""

from collections.abc import Iterator

import numpy as np

from armtwin.files.sheets import read_sheet, table_of
from armtwin.maths.rotations import from_quaternion, from_rpy, pose
from armtwin.maths.units import Unit
from armtwin.motion.moves import MoveKind
from armtwin.motion.path import turns_of
from armtwin.programs.execution import Execution, KnownFrame, Spot, Statement, Step
from armtwin.programs.values import Unknown

LENGTH, ANGLE, NUMBER = Unit("m", plausible=20, hint="mm"), Unit("rad", plausible=6.3), Unit("1")
ANGLES = (("a", "b", "c"), ("roll", "pitch", "yaw"), ("qw", "qx", "qy", "qz"))
SMOOTH = np.radians(30.0)  # largest turn at a point of a smooth curve


class PointTable(Execution):
    """A table of points: a spline through them, or lines where they turn."""

    def statements(self) -> Iterator[Statement]:
        """A table has none."""
        return iter(())

    def read(self) -> None:
        """A move to each point, in the base frame."""
        sheet = read_sheet(self.source.path)
        found = next((names for names in ANGLES if set(names) <= set(sheet.named)), ())
        wanted = dict.fromkeys("xyz", LENGTH)
        wanted |= dict.fromkeys(found, NUMBER if len(found) == 4 else ANGLE)
        table = table_of(sheet, sheet.columns(wanted))
        speed = self.given.values.get("speed")
        if speed is None:
            raise Unknown("points have no speed: give --speed")
        if not found:
            self.say("no angles are given: the tool points down, along the base's -z")
        turns = turns_of(table[:, :3])
        kind: MoveKind = "SPLINE" if len(turns) == 0 or turns.max() < SMOOTH else "LIN"
        for k, row in enumerate(table):
            angles = row[3:]
            if found == ANGLES[0]:
                angles = angles[::-1]
            turned = from_quaternion if len(found) == 4 else from_rpy
            R = turned(*angles) if found else from_rpy(np.pi, 0, 0)
            self.statement = Statement("", 0, sheet.numbers[k + 1])
            step = Step(
                kind=kind if k else "LIN",
                spot=Spot(pose(R, row[:3])),
                via=None,
                speed=float(speed),
                zone=0.0,
                name=f"point {k + 1}",
                target=None,
                base=KnownFrame("base", np.eye(4)),
                tool=self.frame("tool", "tool"),
                joined=kind == "SPLINE" and k > 1,
            )
            self.move(step)

"""The registration file: what is known of where an instrument stood, what it saw, when it began.

    format = 1
    frame = { position = ["2 m", 0, "1 m"], orientation = { rpy = [0, 0, "90 deg"] } }
    point = ["0 mm", "0 mm", "120 mm"]
    clock = "1.25 s"

Each key may be left out, and is then estimated.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.kinds import check_tables
from armtwin.files.opening import COLUMNS
from armtwin.files.reading import check_format, read_tables, refuse_problems
from armtwin.files.schema import Schema
from armtwin.files.writing import group_table, to_toml
from armtwin.maths.quantities import Point
from armtwin.maths.units import Unit
from armtwin.prediction.registration import GivenRegistration, Registration
from armtwin.robot.schema.groups import Pose

REGISTRATION_FORMAT = 1
Clock = Annotated[float, Unit("s")]


@dataclass(frozen=True)
class RegistrationKeys:
    """A registration file.

    Attributes:
        frame: Pose of the instrument's frame in the robot's base.
        point: The measured point in the tool's frame.
        clock: Time of the instrument at which the job begins.
    """

    frame: Pose | None = None
    point: Point | None = None
    clock: Clock | None = None


def read_registration(path: Path) -> GivenRegistration:
    """What a registration file gives."""
    tables = read_tables(path, COLUMNS)
    check_tables(tables, "registration file", str(path))
    tables = check_format(tables, str(path), REGISTRATION_FORMAT)
    keys: RegistrationKeys = Schema(RegistrationKeys, "registration file").read(tables, str(path))
    refuse_problems(keys, str(path))
    if keys == RegistrationKeys():
        raise ArmtwinError(f"{path}: a registration file must give frame, point or clock")
    return GivenRegistration(
        None if keys.frame is None else keys.frame.matrix(),
        None if keys.point is None else np.array(keys.point),
        keys.clock,
    )


def registration_text(found: Registration) -> str:
    """The file of a registration, without its clock, which is another in the next run."""
    x, y, z = found.point.tolist()
    keys = RegistrationKeys(Pose.from_matrix(found.X), (x, y, z))
    return to_toml({"format": REGISTRATION_FORMAT, **group_table(keys)})

"""A recipe as a file, so that an identification can be repeated: keys as in `Recipe`.

Other arguments of `identify` may be given there too: torque and cutoff, and of the robot as it was
when logged tool, payload and gravity. A number is SI, a text may carry a unit.
"""

from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from armtwin.files.reading import check_format, read_tables
from armtwin.files.schema import Schema
from armtwin.files.shape import FLAT
from armtwin.files.writing import to_tables, to_toml
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.maths import quantities as si


@dataclass(frozen=True)
class RecipeFile:
    """Contents of a recipe file.

    Attributes:
        recipe: The recipe.
        torque: Channel of the torque, None where the file does not say.
        cutoff: Cut-off frequency, None where the file does not say [Hz].
        tool: Tool that the robot carried, None as in its file.
        payload: Payload that it carried, None as in its file.
        gravity: Gravity in its base's frame, None as in its file [m/s²].
    """

    format_number: ClassVar[int] = 1

    recipe: Recipe = field(metadata=FLAT)
    torque: str | None = None
    cutoff: si.Frequency | None = None
    tool: str | None = None
    payload: str | None = None
    gravity: tuple[si.Acceleration, si.Acceleration, si.Acceleration] | None = None


def read_recipe(path: Path) -> RecipeFile:
    """A recipe from a TOML file; what is not there is as by default."""
    tables = check_format(read_tables(path), str(path), RecipeFile.format_number)
    found: RecipeFile = Schema(RecipeFile, "recipe").read(tables, str(path))
    return found


def recipe_text(written: RecipeFile) -> str:
    """The text of a recipe file from which `read_recipe` makes the same."""
    return to_toml(to_tables(written))

"""How a robot is identified: every choice in one place, with defaults that suit most logs.

A recipe as a file, so that an identification can be repeated: keys as in `Recipe`.

Other arguments of `identify` may be given there too: torque and cutoff, and of the robot as it was
when logged tool, payload and gravity. A number is SI, a text may carry a unit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.files.fields import Read
from armtwin.files.reading import check_format, read_tables
from armtwin.files.schema import Schema
from armtwin.files.shape import FLAT
from armtwin.files.writing import to_tables, to_toml
from armtwin.maths import quantities as si
from armtwin.maths.batch import Names, NamesAndUnits
from armtwin.maths.quantities import Mass, Number
from armtwin.maths.units import Unit
from armtwin.robot.parameters import Parameter
from armtwin.robot.robot import Robot

Estimator = Literal["consistent", "ridge", "truncated"]
Contract = tuple[str, bool, str]  # a field, whether it is right, and what it must be


def read_flag(value: object) -> bool:
    """A flag of a file; a number is none."""
    if not isinstance(value, bool):
        raise ArmtwinError(f"must be true or false, got {value!r:.60}")
    return value


def read_whole(value: object) -> int:
    """A whole number of a file."""
    if isinstance(value, bool) or not isinstance(value, int):
        raise ArmtwinError(f"must be a whole number, got {value!r:.60}")
    return value


Flag = Annotated[bool, Read(read_flag)]
Whole = Annotated[int, Read(read_whole)]


def check_contracts(owner: str, choices: object, contracts: Iterable[Contract]) -> None:
    """Refuse a field that is not what it must be."""
    for key, is_right, contract in contracts:
        if not is_right:
            got = getattr(choices, key)
            raise ArmtwinError(f"{owner}: {key} must be {contract}, got {got!r}")


@dataclass(frozen=True)
class Recipe:
    """The choices of an identification.

    Attributes:
        estimator: "consistent" keeps all inertias physically consistent; "ridge" is least squares
            regularised towards the prior, without these constraints; "truncated" keeps the largest
            singular values and fills the rest from the prior.
        motion: Where the regressor takes the motion from: "measured" (q), "reference" (q_ref), or
            "simulated", from the robot's own loop (`identify_in_loop`).
        period: Period of a periodic excitation; its speeds then come from a Fourier series [s].
        periods: First period (0 is the first) and number of periods that count; all by default.
        average: Whether the logs repeat one motion and their mean is used.
        rate: Rate to which the filtered rows are thinned; by default six a period of the cut-off
            frequency [Hz].
        rest: Share of a joint's highest speed below which its rows are left out, as friction has no
            sign there.
        robust: Whether rows with a large residual count less (Huber's weights).
        only: "all", or "friction" to keep the inertias of the robot file and renew friction alone.
        friction: "chosen" adds the friction terms that predict better what was left out, as
            pre-sliding hysteresis and a shape in speed; "file" keeps to the laws of the robot
            file.
        tilt: "chosen" tilts the base from the robot file's direction of gravity, where that
            predicts better what was left out, and refuses a base that is mounted otherwise; "file"
            keeps to the file's direction, unchecked.
        trust: Whether to override a failed plausibility check of the torque.
        weight: Weight of the prior; by default the one that predicts best what was left out.
        kept: Number of singular values of "truncated"; by default those above ten times the
            residual.
        zero: Parameters that are zero by symmetry.
        equal: Pairs of parameters that are equal by symmetry.
        fixed: Parameters kept at their prior.
        mass: Lower and upper bound of a link's mass without what is mounted on it, by the link's
            name; the same number twice fixes it [kg].

    Ref: [Waiboer 2007, section 4.3], [Memar-Esfahani 2015, eq. 12]
    """

    estimator: Estimator = "consistent"
    motion: Literal["measured", "reference", "simulated"] = "measured"
    period: Annotated[float, Unit("s")] | None = None
    periods: tuple[Whole, Whole] | None = None
    average: Flag = False
    rate: Annotated[float, Unit("Hz")] | None = None
    rest: Number = 0.01
    robust: Flag = False
    only: Literal["all", "friction"] = "all"
    friction: Literal["chosen", "file"] = "chosen"
    tilt: Literal["chosen", "file"] = "chosen"
    trust: Flag = False
    weight: Number | None = None
    kept: Whole | None = None
    zero: Names = ()
    equal: NamesAndUnits = ()
    fixed: Names = ()
    mass: dict[str, tuple[Mass, Mass]] = field(default_factory=dict)

    @property
    def position_channel(self) -> str:
        """Channel of a log that the motion comes from."""
        return "q_ref" if self.motion == "reference" else "q"

    @property
    def chooses_friction(self) -> bool:
        """Whether friction terms are looked for; a reference is not the travel of a contact."""
        return self.friction == "chosen" and self.motion != "reference"

    def for_prediction(self) -> Recipe:
        """The same for a log whose torque is predicted: it need not repeat, and keeps its rate."""
        return replace(self, period=None, periods=None, rate=None)

    def held(self, table: Sequence[Parameter]) -> set[str]:
        """Names of the parameters of a table that must not change."""
        held = {*self.zero, *self.fixed}
        if self.only == "friction":
            held |= {parameter.name for parameter in table if parameter.group != "friction"}
        return held

    def check(self, robot: Robot) -> None:
        """Refuse choices that contradict each other or the robot."""
        if self.periods is not None and self.period is None:
            raise ArmtwinError("recipe: periods are counted by period, which is not given")
        check_contracts("recipe", self, self._contracts())
        self._check_names(robot)
        self._check_symmetry(robot)
        self._check_masses(robot)

    def _contracts(self) -> Iterator[Contract]:
        for key in ("period", "rate", "kept"):
            value = getattr(self, key)
            yield key, value is None or value > 0, "above 0"
        yield "kept", isinstance(self.kept, int | None), "a whole number"
        yield "weight", self.weight is None or 0 <= self.weight < float("inf"), "at least 0"
        yield "rest", 0 <= self.rest < 1, "at least 0 and below 1"

    def _check_names(self, robot: Robot) -> None:
        """Refuse parameters that the robot does not have."""
        known = robot.parameter_names
        named = [*self.zero, *self.fixed]
        for pair in self.equal:
            named += pair
        for name in named:
            if name not in known:
                hint = did_you_mean(name, known)
                raise ArmtwinError(f"recipe: parameter '{name}' is not known. {hint}")

    def _check_symmetry(self, robot: Robot) -> None:
        """Refuse parameters that are declared in two ways."""
        for name in self.zero:
            if name in self.fixed:
                raise ArmtwinError(f"recipe: parameter '{name}' must be zero or fixed, not both")
        units = {parameter.name: parameter.unit for parameter in robot.parameter_table}
        held = self.held(robot.parameter_table)
        for pair in self.equal:
            if len(pair) != 2:
                raise ArmtwinError(f"recipe: equal must hold pairs of parameters, got {pair}")
            a, b = pair
            if units[a] != units[b]:
                got = f"{a} [{units[a]}] and {b} [{units[b]}]"
                raise ArmtwinError(f"recipe: equal parameters must have one unit, got {got}")
            for name in pair:
                if name in held:
                    raise ArmtwinError(
                        f"recipe: parameter '{name}' is held, so nothing can be equal to it"
                    )

    def _check_masses(self, robot: Robot) -> None:
        links = [joint.child for joint in robot.assembly.tree.joints]
        for link, bounds in self.mass.items():
            if not isinstance(bounds, tuple | list) or len(bounds) != 2:
                contract = "must be a lower and an upper bound in kg"
                raise ArmtwinError(f"recipe: mass of '{link}' {contract}, got {bounds}")
            low, high = bounds
            if link not in links:
                hint = did_you_mean(link, links)
                raise ArmtwinError(f"recipe: link '{link}' is not known. {hint}")
            if not 0 <= low <= high:
                contract = "must have 0 <= lower <= upper"
                raise ArmtwinError(f"recipe: mass of '{link}' {contract}, got {low:g} and {high:g}")
        if self.mass and self.estimator != "consistent":
            raise ArmtwinError("recipe: bounds of masses need the consistent estimator")


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

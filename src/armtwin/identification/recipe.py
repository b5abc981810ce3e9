"""How a robot is identified: every choice in one place, each with a default that suits most logs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.robot.robot import Robot

Estimator = Literal["consistent", "ridge", "truncated"]
ESTIMATORS = ("consistent", "ridge", "truncated")


@dataclass(frozen=True)
class Recipe:
    """The choices of an identification.

    Attributes:
        estimator: "consistent" keeps every body possible; "ridge" is least squares drawn to the prior, without that
            contract; "truncated" keeps the largest singular values and fills the rest from the prior.
        motion: Where the regressor takes the motion from, "measured" (q) or "reference" (q_ref).
        period: Period of a periodic excitation; its speeds then come from a Fourier series [s].
        periods: First period (0 is the first) and number of periods that count; all by default.
        average: Whether the logs repeat one motion and their mean is used.
        rate: Rate to which the filtered rows are thinned; by default six a period of the cut-off frequency [Hz].
        rest: Share of a joint's highest speed below which its rows are left out, as friction has no sign there.
        robust: Whether rows with a large residual count less (Huber's weights).
        only: "all", or "friction" to keep the inertias of the robot file and renew friction alone.
        weight: Weight of the prior; by default the one that predicts best what was left out.
        kept: Number of singular values of "truncated"; by default those above ten times the residual.
        zero: Parameters that are zero by symmetry.
        equal: Pairs of parameters that are equal by symmetry.
        fixed: Parameters kept at their prior.
        mass: Lower and upper bound of a link's mass without what is mounted on it, by the link's name; the same number
            twice fixes it [kg].

    Ref: [Waiboer 2007, section 4.3], [Memar-Esfahani 2015, eq. 12]
    """

    estimator: Estimator = "consistent"
    motion: Literal["measured", "reference"] = "measured"
    period: float | None = None
    periods: tuple[int, int] | None = None
    average: bool = False
    rate: float | None = None
    rest: float = 0.01
    robust: bool = False
    only: Literal["all", "friction"] = "all"
    weight: float | None = None
    kept: int | None = None
    zero: tuple[str, ...] = ()
    equal: tuple[tuple[str, str], ...] = ()
    fixed: tuple[str, ...] = ()
    mass: Mapping[str, tuple[float, float]] = field(default_factory=dict)

    def check(self, robot: Robot) -> None:
        """Refuse choices that contradict each other or the robot."""
        self._check_words()
        self._check_numbers()
        units = {p.name: p.unit for p in robot.parameter_table}
        for name in (*self.zero, *self.fixed, *(x for pair in self.equal for x in pair)):
            if name not in units:
                raise ArmtwinError(
                    f"recipe: parameter '{name}' is not known. {did_you_mean(name, units)}"
                )
        self._check_symmetry(robot, units)
        self._check_masses(robot)

    def _check_words(self) -> None:
        for key, value, known in (
            ("estimator", self.estimator, ESTIMATORS),
            ("motion", self.motion, ("measured", "reference")),
            ("only", self.only, ("all", "friction")),
        ):
            if value not in known:
                raise ArmtwinError(
                    f"recipe: {key} must be one of {', '.join(known)}, got '{value}'"
                )

    def _check_numbers(self) -> None:
        if self.periods is not None and self.period is None:
            raise ArmtwinError("recipe: periods are counted by period, which is not given")
        for key, number in (("period", self.period), ("rate", self.rate), ("kept", self.kept)):
            if number is not None and not number > 0:
                raise ArmtwinError(f"recipe: {key} must be above 0, got {number:g}")
        if self.kept is not None and not isinstance(self.kept, int):
            raise ArmtwinError(f"recipe: kept must be a whole number, got {self.kept}")
        if self.weight is not None and not 0 <= self.weight < float("inf"):
            raise ArmtwinError(f"recipe: weight must be at least 0, got {self.weight:g}")
        if not 0 <= self.rest < 1:
            raise ArmtwinError(f"recipe: rest must be at least 0 and below 1, got {self.rest:g}")

    def _check_masses(self, robot: Robot) -> None:
        links = [joint.child for joint in robot.assembly.tree.joints]
        for link, bounds in self.mass.items():
            if not isinstance(bounds, tuple | list) or len(bounds) != 2:
                raise ArmtwinError(
                    f"recipe: mass of '{link}' must be a lower and an upper bound in kg, got {bounds}"
                )
            low, high = bounds
            if link not in links:
                raise ArmtwinError(
                    f"recipe: link '{link}' is not known. {did_you_mean(link, links)}"
                )
            if not 0 <= low <= high:
                raise ArmtwinError(
                    f"recipe: mass of '{link}' must have 0 <= lower <= upper, got {low:g} and {high:g}"
                )
        if self.mass and self.estimator != "consistent":
            raise ArmtwinError("recipe: bounds of masses need the consistent estimator")

    def _check_symmetry(self, robot: Robot, units: dict[str, str]) -> None:
        """Refuse parameters that are declared in two ways."""
        both = next((name for name in self.zero if name in self.fixed), None)
        if both is not None:
            raise ArmtwinError(f"recipe: parameter '{both}' must be zero or fixed, not both")
        groups = {p.name: p.group for p in robot.parameter_table}
        for pair in self.equal:
            if len(pair) != 2:
                raise ArmtwinError(f"recipe: equal must hold pairs of parameters, got {pair}")
            if units[pair[0]] != units[pair[1]]:
                told = f"{pair[0]} [{units[pair[0]]}] and {pair[1]} [{units[pair[1]]}]"
                raise ArmtwinError(f"recipe: equal parameters must have one unit, got {told}")
            held = {*self.zero, *self.fixed}
            if self.only == "friction":
                held |= {n for n, g in groups.items() if g != "friction"}
            known = next((name for name in pair if name in held), None)
            if known is not None:
                raise ArmtwinError(
                    f"recipe: parameter '{known}' is held, so nothing can be equal to it"
                )

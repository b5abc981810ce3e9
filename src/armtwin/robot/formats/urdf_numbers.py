"""Numbers, vectors and poses of a URDF file, with the problems and notes met on the way."""

import math
from dataclasses import dataclass, field

import numpy as np

from armtwin.errors import MOST_PROBLEMS, shorten
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import from_rpy, pose
from armtwin.robot.formats.xml_tree import Node

LARGEST, LARGEST_LENGTH = 1e9, 1e6  # magnitudes that no machine has, SI
MOST_NOTES, LONGEST_NOTE = 20, 200  # notes, and characters of one


@dataclass
class Reader:
    """Numbers and vectors of a URDF file, with the problems and notes met on the way.

    Attributes:
        source: What numbers of the file are by.
        problems: The first problems.
        more: Number of further ones.
        notes: What the robot file shall say.
        tip: Link at the end of the chain that is wanted, "" for all.
    """

    source: str
    problems: list[str] = field(default_factory=list)
    more: int = 0
    notes: list[str] = field(default_factory=list)
    tip: str = ""

    @property
    def full(self) -> bool:
        """Whether further problems are only counted."""
        return len(self.problems) >= MOST_PROBLEMS

    def problem(self, node: Node, sentence: str) -> None:
        """Remember a problem at an element."""
        if self.full:
            self.more += 1
        else:
            self.problems.append(f"line {node.line}: {sentence}")

    def note(self, sentence: str) -> None:
        """Remember something that the robot file shall say; of many only the first."""
        if len(self.notes) < MOST_NOTES:
            self.notes.append(shorten(sentence, LONGEST_NOTE))

    def number(self, node: Node, key: str, what: str, default: float | None = None) -> float:
        """A number of an attribute that a machine may have."""
        value = self.any_number(node, key, what, default)
        if abs(value) > LARGEST:
            self.problem(node, f"{what} {key} must be at most {LARGEST:g}, got {value:g}")
            return 0.0
        return value

    def any_number(self, node: Node, key: str, what: str, default: float | None = None) -> float:
        """A finite number of an attribute, however large."""
        text = node.attributes.get(key)
        if text is not None:
            return self._parse(node, text, f"{what} {key}")
        if default is None:
            self.problem(node, f"{what} {key} is missing")
            return 0.0
        return default

    def vector(
        self, node: Node | None, key: str, what: str, default: tuple[float, float, float]
    ) -> Floats:
        """Three finite numbers of an attribute."""
        if node is None or key not in node.attributes:
            return np.array(default)
        text = node.attributes[key]
        what = f"{what} {key}"
        words = text.split()
        if len(words) != 3:
            self.problem(node, f"{what} must be three numbers, got '{shorten(text, 60)}'")
            return np.array(default)
        values = np.array([self._parse(node, word, what) for word in words])
        if np.abs(values).max() > LARGEST_LENGTH:
            contract = f"{what} must be at most {LARGEST_LENGTH:g}"
            self.problem(node, f"{contract}, got {values.tolist()}")
            return np.array(default)
        return values

    def _parse(self, node: Node, text: str, what: str) -> float:
        try:
            value = float(text)
        except ValueError:
            hint = " (use a decimal point)" if "," in text else ""
            self.problem(node, f"{what} must be a number, got '{text:.60}'{hint}")
            return 0.0
        if not math.isfinite(value):
            self.problem(node, f"{what} must be finite, got '{text:.60}'")
            return 0.0
        return value

    def origin(self, node: Node | None, what: str) -> Floats:
        """Pose (4, 4) of an <origin> element."""
        rpy = self.vector(node, "rpy", what, (0.0, 0.0, 0.0))
        xyz = self.vector(node, "xyz", what, (0.0, 0.0, 0.0))
        if node is not None and np.abs(rpy).max() > 2.01 * math.pi:
            contract = f"{what} rpy must be in radians"
            self.problem(node, f"{contract}, got {rpy.tolist()}. Are these degrees?")
        return pose(from_rpy(*rpy), xyz)

"""Numbers, vectors and poses of a URDF file, with the problems and notes met on the way."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.rotations import from_rpy, pose
from armtwin.robot.xml_tree import Node


@dataclass
class Reader:
    """Numbers and vectors of a URDF file, with the problems and notes met on the way."""

    source: str
    problems: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def problem(self, node: Node, sentence: str) -> None:
        """Remember a problem at an element."""
        self.problems.append(f"line {node.line}: {sentence}")

    def number(self, node: Node, key: str, what: str, default: float | None = None) -> float:
        """A finite number of an attribute."""
        text = node.attributes.get(key)
        if text is None:
            if default is None:
                self.problem(node, f"{what} {key} is missing")
            return default if default is not None else 0.0
        return self._parsed(node, text, f"{what} {key}")

    def vector(self, node: Node | None, key: str, what: str, default: tuple[float, float, float]) -> Floats:
        """Three finite numbers of an attribute."""
        if node is None or key not in node.attributes:
            return np.array(default)
        words = node.attributes[key].split()
        if len(words) != 3:
            self.problem(node, f"{what} {key} must be three numbers, got '{node.attributes[key]}'")
            return np.array(default)
        return np.array([self._parsed(node, word, f"{what} {key}") for word in words])

    def _parsed(self, node: Node, text: str, what: str) -> float:
        try:
            value = float(text)
        except ValueError:
            hint = " (use a decimal point)" if "," in text else ""
            self.problem(node, f"{what} must be a number, got '{text}'{hint}")
            return 0.0
        if not math.isfinite(value):
            self.problem(node, f"{what} must be finite, got '{text}'")
            return 0.0
        return value

    def origin(self, node: Node | None, what: str) -> Floats:
        """Pose (4, 4) of an <origin> element."""
        rpy = self.vector(node, "rpy", what, (0.0, 0.0, 0.0))
        if node is not None and np.abs(rpy).max() > 2.01 * math.pi:
            self.problem(node, f"{what} rpy must be in radians, got {rpy.tolist()}. Are these degrees?")
        return pose(from_rpy(*rpy), self.vector(node, "xyz", what, (0.0, 0.0, 0.0)))

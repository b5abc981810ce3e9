"""The noun Structure: parts put together, every row and coordinate with its name."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from armtwin.elements.blocks import Integers
from armtwin.elements.parts import (
    BEAM_MODES,
    HINGE_MODES,
    TRUSS_MODES,
    Beam,
    Element,
    Hinge,
    Mode,
    Parts,
    Truss,
)
from armtwin.elements.problems import problems
from armtwin.errors import ArmtwinError, did_you_mean
from armtwin.maths.batch import Floats


@dataclass(frozen=True)
class Structure:
    """An assembly of elements that share nodes; it never changes.

    x are the coordinates of all nodes, (nx,): points first, then triads. e are the deformations of
    all rows: lambda elements, trusses, hinges, beams. q are the degrees of freedom, (n,): free
    nodal coordinates, then free deformations.

    Attributes:
        parts: What it is built of.
        released: Rows whose stress is not determined and was taken to be zero.
    """

    parts: Parts
    released: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        found = problems(self.parts)
        if found:
            raise ArmtwinError("; ".join(found))

    # nodes

    @cached_property
    def places(self) -> dict[str, int]:
        """Where the coordinates of each node start."""
        places = {}
        at = 0
        for point in self.parts.points:
            places[point.name] = at
            at += 3
        for triad in self.parts.triads:
            places[triad.name] = at
            at += 4
        return places

    @cached_property
    def reference(self) -> Floats:
        """Coordinates of the reference state, (nx,)."""
        x = [np.array(point.at) for point in self.parts.points]
        x += [np.array([1.0, 0.0, 0.0, 0.0])] * len(self.parts.triads)
        return np.concatenate(x)

    @cached_property
    def column_names(self) -> tuple[str, ...]:
        """Names of the nodal coordinates."""
        names = []
        for point in self.parts.points:
            names += [f"{point.name}.{axis}" for axis in "xyz"]
        for triad in self.parts.triads:
            names += [f"{triad.name}.l{i}" for i in range(4)]
        return tuple(names)

    @cached_property
    def column_modes(self) -> tuple[Mode, ...]:
        """What is known of each nodal coordinate."""
        modes: list[Mode] = []
        for point in self.parts.points:
            modes += point.modes
        for triad in self.parts.triads:
            modes += ["held" if triad.held else "calculated"] * 4
        return tuple(modes)

    # elements

    @cached_property
    def trusses(self) -> tuple[Truss, ...]:
        """The trusses, in order."""
        return tuple(part for part in self.parts.elements if isinstance(part, Truss))

    @cached_property
    def hinges(self) -> tuple[Hinge, ...]:
        """The hinges, in order."""
        return tuple(part for part in self.parts.elements if isinstance(part, Hinge))

    @cached_property
    def beams(self) -> tuple[Beam, ...]:
        """The beams, in order."""
        return tuple(part for part in self.parts.elements if isinstance(part, Beam))

    @cached_property
    def row_names(self) -> tuple[str, ...]:
        """Names of the deformations."""
        names = [f"{triad.name}.length" for triad in self.parts.triads if not triad.held]
        for element, modes in self._families:
            names += [f"{element.name}.{mode}" for mode in modes]
        return tuple(names)

    @cached_property
    def row_modes(self) -> tuple[Mode, ...]:
        """What is known of each deformation."""
        modes: list[Mode] = ["held" for triad in self.parts.triads if not triad.held]
        for truss in self.trusses:
            modes.append(truss.mode)
        for hinge in self.hinges:
            modes += hinge.modes
        for beam in self.beams:
            modes += beam.modes
        return tuple(modes)

    @property
    def _families(self) -> list[tuple[Element, tuple[str, ...]]]:
        families: list[tuple[Element, tuple[str, ...]]] = []
        families += [(truss, TRUSS_MODES) for truss in self.trusses]
        families += [(hinge, HINGE_MODES) for hinge in self.hinges]
        families += [(beam, BEAM_MODES) for beam in self.beams]
        return families

    def row(self, name: str) -> int:
        """Row of a deformation by its name; an unknown one is an error that suggests one."""
        if name not in self.row_names:
            raise ArmtwinError(f"deformation '{name}' is not known. {self._near(name)}")
        return self.row_names.index(name)

    def _near(self, name: str) -> str:
        return did_you_mean(name, self.row_names)

    # freedom

    @cached_property
    def free_columns(self) -> Integers:
        """Nodal coordinates that are degrees of freedom."""
        return _where(self.column_modes, ("free",))

    @cached_property
    def free_rows(self) -> Integers:
        """Deformations that are degrees of freedom."""
        return _where(self.row_modes, ("free",))

    @cached_property
    def calculated_columns(self) -> Integers:
        """Nodal coordinates that follow."""
        return _where(self.column_modes, ("calculated",))

    @cached_property
    def prescribed_rows(self) -> Integers:
        """Deformations that are held or degrees of freedom."""
        return _where(self.row_modes, ("held", "free"))

    @property
    def n(self) -> int:
        """Number of degrees of freedom."""
        return len(self.free_columns) + len(self.free_rows)

    @cached_property
    def coordinate_names(self) -> tuple[str, ...]:
        """Names of the degrees of freedom q."""
        names = [self.column_names[i] for i in self.free_columns]
        return tuple(names + [self.row_names[i] for i in self.free_rows])

    @cached_property
    def kept(self) -> dict[str, Any]:
        """What was computed from it once, by name."""
        return {}

    def with_parts(self, **changes: Any) -> Structure:
        """The structure with other parts."""
        return replace(self, parts=replace(self.parts, **changes))


def _where(modes: tuple[Mode, ...], wanted: tuple[Mode, ...]) -> Integers:
    found = [i for i, mode in enumerate(modes) if mode in wanted]
    return np.array(found, dtype=np.int64)

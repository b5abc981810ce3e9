"""Why structures are not determined: one constraint too many, too few, or a singular position.

J are the slopes of the prescribed deformations with the calculated coordinates. Its left null space
holds the stresses that need no load (constraints too many), its right null space the motions that
nothing prevents.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from armtwin.elements import together
from armtwin.elements.packing import pack_elements
from armtwin.elements.parts import BEAM_MODES, HINGE_MODES, Element, Hinge, Mode, Truss
from armtwin.elements.structure import Structure
from armtwin.maths.batch import Floats, Integers, Names, TwoArrays

NONE = 1e-9  # of the largest singular value: what is below it is zero
NEARLY_NONE = 1e-5  # the same where a pivot of the solution vanished


def constraint_jacobian(structure: Structure, x: Floats) -> Floats:
    """J at coordinates x, dense, (prescribed rows, calculated coordinates)."""
    elements = pack_elements(structure)
    _, D = together.slopes(elements, x[:, None])
    whole = together.dense(elements, D[:, :, 0], len(x))
    return whole[np.ix_(structure.prescribed_rows, structure.calculated_columns)]


def _null_spaces(J: Floats, none: float = NONE) -> TwoArrays:
    """Bases of the left and right null spaces, as rows."""
    U, s, Vt = np.linalg.svd(J)
    rank = int((s > none * s[0]).sum()) if len(s) else 0
    return U[:, rank:].T, Vt[rank:]


def _pick_columns(basis: Floats, candidates: Integers) -> Integers:
    """As many columns as the basis has rows, by pivoting among the candidates."""
    from scipy.linalg import qr

    if not len(basis) or not len(candidates):
        return np.array([], dtype=np.int64)
    pivots = qr(basis[:, candidates], mode="r", pivoting=True)[1]
    return candidates[pivots[: len(basis)]]


def rank_problem(structure: Structure, x: Floats, none: float = NONE) -> str:
    """Why a structure is not determined at coordinates x, as a sentence; empty if it is.

    Args:
        structure: The structure.
        x: Coordinates, (nx,).
        none: Share of the largest singular value that counts as zero.
    """
    J = constraint_jacobian(structure, x)
    left, right = _null_spaces(J, none)
    count = f"{J.shape[0]} prescribed deformations on {J.shape[1]} calculated coordinates"
    if not len(left) and not len(right):
        return ""
    if J.shape[0] == J.shape[1]:
        where = ", ".join(_free_motions(structure, right))
        return (
            f"the structure is in a singular position ({count}, {len(right)} of them depend on "
            f"each other): {where} can move although nothing drives it. Move the mechanism away "
            "from the position in which its links lie in one line"
        )
    if len(left):
        names = [structure.row_names[i] for i in redundant_rows(structure, left)]
        sentence = (
            f"the structure is held {_times(len(left))} too often: {count}. "
            f"Release {', '.join(names)}"
        )
        if not len(right):
            return sentence
        return f"{sentence}; besides, {', '.join(_free_motions(structure, right))} is not held"
    loose = ", ".join(_free_motions(structure, right))
    return f"the structure is held {_times(len(right))} too little: {count}. Nothing holds {loose}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def _free_motions(structure: Structure, right: Floats) -> list[str]:
    """Names of the coordinates that nothing holds."""
    everything = np.arange(right.shape[1])
    columns = structure.calculated_columns[_pick_columns(right, everything)]
    return sorted(structure.column_names[i] for i in columns)


def redundant_rows(structure: Structure, left: Floats) -> list[int]:
    """Rows whose release makes the constraints independent; neither triads nor drives."""
    lambdas = sum(not triad.held for triad in structure.parts.triads)
    candidates = []
    for i, row in enumerate(structure.prescribed_rows):
        if row >= lambdas and structure.row_modes[row] == "held":
            candidates.append(i)
    picked = _pick_columns(left, np.array(candidates, dtype=np.int64))
    return sorted(int(row) for row in structure.prescribed_rows[picked])


def release_redundant(structure: Structure) -> Structure:
    """The structure with as many held modes released as are too many.

    A plane four-bar of spatial hinges and beams is held three times too often; the released modes
    stay at zero all the same, and the stresses in them are not determined.

    Args:
        structure: The structure.
    """
    left, _ = _null_spaces(constraint_jacobian(structure, structure.reference))
    if not len(left):
        return structure
    names = tuple(structure.row_names[i] for i in redundant_rows(structure, left))
    elements = tuple(_with_released(part, names) for part in structure.parts.elements)
    parts = replace(structure.parts, elements=elements)
    return replace(structure, parts=parts, released=structure.released + names)


def _with_released(element: Element, names: Names) -> Element:
    """An element with the named modes calculated."""
    if isinstance(element, Truss):
        loose = f"{element.name}.elongation" in names
        return replace(element, mode="calculated") if loose else element
    kinds = HINGE_MODES if isinstance(element, Hinge) else BEAM_MODES
    modes: list[Mode] = []
    for kind, mode in zip(kinds, element.modes, strict=True):
        modes.append("calculated" if f"{element.name}.{kind}" in names else mode)
    changes: dict[str, Any] = {"modes": tuple(modes)}
    return replace(element, **changes)

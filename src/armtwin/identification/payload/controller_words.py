"""A payload in the words of robot controllers: what is typed in or put into a program.

Universal Robots take the inertia matrix about the centre in the flange's axes; KUKA and ABB the
principal moments and the orientation of their axes; Fanuc the moments about the flange's axes
through the centre, without products.

Ref: [UR 2024], [Beckhoff 2024], [ABB 2020], [Lincoln 2025]
"""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.rotations import to_quaternion, to_rpy
from armtwin.mechanics.inertia import about_centre

KGF_CM_S2 = 0.0980665  # of a kgf cm s², in which Fanuc has moments of inertia [kg m²]
SIX = ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))  # order of URScript: xx, yy, zz, xy, xz, yz


@dataclass(frozen=True)
class ControllerWords:
    """A payload as a controller takes it.

    Attributes:
        controller: Name of the controller or its language.
        text: What is written there.
        meaning: Axes and units.
    """

    controller: str
    text: str
    meaning: str


def principal_axes(J: Floats) -> tuple[Floats, Floats]:
    """Principal moments (3,) and the rotation R with J = R diag(moments) Rᵀ.

    Of the 24 right-handed orders and signs of the axes the one that is turned least.
    """
    moments, axes = np.linalg.eigh(J)
    best = moments, axes
    most = -np.inf
    for order in permutations(range(3)):
        for signs in product((1.0, -1.0), repeat=3):
            R = axes[:, order] * signs
            if np.linalg.det(R) > 0 and np.trace(R) > most:
                best, most = (moments[list(order)], R), float(np.trace(R))
    return best


def in_words_of_controllers(ten: Floats) -> Iterator[ControllerWords]:
    """A physically consistent load, ten parameters in the flange's frame, for each controller."""
    mass, centre, J = ten[0], ten[1:4] / ten[0], about_centre(ten)
    moments, R = principal_axes(J)
    six = _numbers([J[place] for place in SIX], 6)
    yield ControllerWords(
        "URScript",
        f"set_target_payload({mass:.4f}, [{_numbers(centre, 5)}], [{six}])",
        "kg; m in the flange's frame; kg m², matrix elements about the centre, flange's axes: xx, "
        "yy, zz, xy, xz, yz",
    )
    mm = 1e3 * centre
    C, B, A = np.degrees(to_rpy(R))
    place = _fields("XYZABC", [*mm, A, B, C], 3)
    yield ControllerWords(
        "KRL",
        f"LOAD_DATA[1]={{M {mass:.4f},CM {{{place}}},J {{{_fields('XYZ', moments, 6)}}}}}",
        "kg; mm and deg: centre and principal axes in the flange's frame; kg m² about these axes",
    )
    aom = _numbers(to_quaternion(R), 7)
    yield ControllerWords(
        "RAPID",
        f"PERS loaddata load1:=[{mass:.4f},[{_numbers(mm, 3)}],[{aom}],{_numbers(moments, 6)}];",
        "kg; mm; quaternion of the principal axes; kg m² about them: in the frame of tool0, as "
        "tooldata takes its load. As payload of another tool it must be turned into its frame",
    )
    cm = _fields("XYZ", 100 * centre, 3)
    inertia = _fields("XYZ", np.diag(J) / KGF_CM_S2, 4)
    yield ControllerWords(
        "Fanuc payload schedule",
        f"PAYLOAD {mass:.4f} [kg]; PAYLOAD CENTER {cm} [cm]; PAYLOAD INERTIA {inertia} [kgfcms^2]",
        "flange's frame, moments about its axes through the centre; the schedule has no products "
        f"of inertia: {_largest_product(J)} is left out",
    )


def _numbers(values: Floats | list[float], places: int) -> str:
    return ",".join(f"{value + 0.0:.{places}f}" for value in values)


def _fields(names: str, values: Floats | list[float], places: int) -> str:
    return ",".join(f"{name} {value:.{places}f}" for name, value in zip(names, values, strict=True))


def _largest_product(J: Floats) -> str:
    """The largest product of inertia in words."""
    products = {"xy": J[0, 1], "xz": J[0, 2], "yz": J[1, 2]}
    name = max(products, key=lambda key: abs(products[key]))
    return f"{name} of {products[name]:.3g} kg m²"

"""How a base is mounted, as the gravity direction in its frame.

    g_base = Rᵀ (0, 0, -g)        R turns the base from a floor to where it is

A wall and an angle turn about the base's own y axis, as the makers' settings do (B of KUKA, gravity
beta of ABB): a wall has g along +x, and the arm's z axis points away from the wall.
"""

from collections.abc import Sequence

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.maths import rotations
from armtwin.maths.batch import Floats
from armtwin.maths.units import Unit

STANDARD = 9.81  # gravity where a file does not say [m/s²]
LEAST, MOST = 9.7, 9.9  # on the ground [m/s²]
NAMED = {"floor": 0.0, "wall": np.pi / 2, "ceiling": np.pi}  # turn about y [rad]
AXES = {"x": (1.0, 0.0, 0.0), "-x": (-1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "-y": (0.0, -1.0, 0.0)}
NEARLY = np.radians(2.0)  # within which a direction goes by a name
STEP = np.radians(5.0)  # of angles at which bases are mounted
ANGLE = Unit("rad", plausible=2.01 * np.pi, hint="deg")
FALL = Unit("m/s^2")

Vector = tuple[float, float, float]


def gravity_of(mounting: str) -> Vector:
    """Gravity vector in the frame of a base [m/s²].

    Args:
        mounting: "floor", "wall", "ceiling", an angle about the base's y axis as "30 deg", or about
            another as "30 deg about -x".
    """
    words, _, about = mounting.partition(" about ")
    axis = about.strip() or "y"
    if axis not in AXES:
        known = ", ".join(AXES)
        raise ArmtwinError(f"mounting must turn about one of {known} of the base, got '{axis}'")
    name = words.strip()
    if name in NAMED:
        return _gravity_after_turn(NAMED[name], axis)
    contract = f"mounting must be floor, wall, ceiling or an angle as \"30 deg\", got '{mounting}'"
    if name.isalpha():
        raise ArmtwinError(contract)
    try:
        return _gravity_after_turn(ANGLE.read_word(name), axis)
    except ArmtwinError as error:
        raise ArmtwinError(f"{contract}: an angle {error}") from None


def _gravity_after_turn(angle: float, axis: str) -> Vector:
    R = rotations.about(AXES[axis], angle)
    return vector(R.T @ np.array([0.0, 0.0, -STANDARD]))


def vector(g: Sequence[float] | Floats) -> Vector:
    """Three numbers, those that only rounding left as zeros."""
    x, y, z = (0.0 if abs(part) < 1e-12 else float(part) for part in g)
    return x, y, z


def read_gravity(text: str) -> Vector:
    """Gravity vector from three numbers of the command line, as "0 0 -9.81" [m/s²]."""
    words = text.replace(",", " ").replace("m/s^2", "").replace("m/s²", "").split()
    contract = 'must be three numbers in m/s², as "0 0 -9.81"'
    if len(words) != 3:
        raise ArmtwinError(f"gravity {contract}, got '{text}'")
    try:
        g = vector([FALL.read_word(word) for word in words])
    except ArmtwinError as error:
        raise ArmtwinError(f"gravity {contract}, got '{text}' (a number {error})") from None
    size = float(np.linalg.norm(g))
    if size > 0 and not LEAST <= size <= MOST:
        meant = format_gravity(STANDARD / size * np.array(g))
        raise ArmtwinError(
            f"gravity must be {LEAST} to {MOST} m/s² long, got {size:.4g} m/s² from '{text}'. "
            f'Did you mean "{meant}"?'
        )
    return g


def format_gravity(g: Sequence[float] | Floats) -> str:
    """Three numbers as the command line reads them."""
    return " ".join(f"{part:.4g}" for part in vector(np.round(g, 4)))


def angle_between(a: Sequence[float] | Floats, b: Sequence[float] | Floats) -> float:
    """Angle between two directions [rad]."""
    across = np.linalg.norm(np.cross(a, b))
    return float(np.arctan2(across, np.dot(a, b)))


def option_for(g: Sequence[float] | Floats) -> str:
    """What to say on the command line for a gravity direction."""
    for mounting in NAMED:
        if angle_between(g, gravity_of(mounting)) < NEARLY:
            return f"--mounting {mounting}"
    x, y, z = vector(g)
    if abs(y) < np.sin(NEARLY) * STANDARD:
        return f'--mounting "{_degrees(np.arctan2(x, -z))}"'
    if abs(x) < np.sin(NEARLY) * STANDARD:
        return f'--mounting "{_degrees(np.arctan2(-y, -z))} about x"'
    return f'--gravity "{format_gravity(g)}"'


def _degrees(angle: float) -> str:
    """An angle, as a whole step where it is nearly one: mountings are made so."""
    steps = round(angle / STEP)
    near = abs(angle - steps * STEP) < NEARLY
    return f"{np.degrees(steps * STEP if near else angle):.3g} deg"


def in_words(g: Sequence[float] | Floats) -> str:
    """How a base is mounted in whose frame gravity is along g."""
    x, y, z = vector(g)
    size = float(np.linalg.norm(g))
    if not size > 0:
        return "without weight"
    tilt = float(np.arccos(np.clip(-z / size, -1, 1)))
    if tilt < NEARLY:
        return "on a floor"
    if tilt > np.pi - NEARLY:
        return "on a ceiling"
    if abs(tilt - np.pi / 2) < NEARLY:
        return f"on a wall (gravity along {_axis_words(x, y)} of the base)"
    angle = f"{np.degrees(tilt):.3g} deg"
    return f"at {angle} to a floor (gravity tilted to {_axis_words(x, y)} of the base)"


def _axis_words(x: float, y: float) -> str:
    """The direction of a horizontal vector in the base, as +x or an angle from x to y."""
    angle = float(np.degrees(np.arctan2(y, x)))
    for words, at in (("+x", 0.0), ("+y", 90.0), ("-y", -90.0), ("-x", 180.0), ("-x", -180.0)):
        if abs(angle - at) < np.degrees(NEARLY):
            return words
    return f"{angle:.0f} deg from x to y"

"""G-code: straight moves and arcs by modal words."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from armtwin.maths.batch import Floats, NamedNumbers
from armtwin.maths.rotations import from_rpy, pose
from armtwin.motion.moves import MoveKind
from armtwin.programs.execution import Execution, Spot, Statement, Step, turn_arc
from armtwin.programs.values import Literal, Unknown, Value

WORD = re.compile(r"([A-Z])\s*([-+]?(?:\d+\.?\d*|\.\d+))", re.IGNORECASE)
PLANES = {17: 2, 18: 1, 19: 0}  # axis about which an arc turns
MOTIONS = {0, 1, 2, 3}
SETTINGS = {4, 17, 18, 19, 20, 21, 40, 43, 44, 49, 54, 55, 56, 57, 58, 59, 61, 64, 80, 90, 91, 94}
ASSUMED_ZONE = 1e-4  # of a path that is run without stops [m]
DOWN = from_rpy(np.pi, 0.0, 0.0)


class GCode(Execution):
    """A G-code program as it is run."""

    def __init__(self, *args: Value) -> None:
        super().__init__(*args)
        self.words: NamedNumbers = {}  # of the axes, as written, in m and deg
        self.motion, self.plane, self.frame_word = -1, 17, 54
        self.scale, self.relative, self.centre_absolute = 1e-3, False, False
        self.feed: float | None = None
        self.fly: float | None = self.given.zone
        self.extruded: float | None = None
        self.lost = ""

    def statements(self) -> Iterator[Statement]:
        """A statement a line."""
        start = 0
        for number, line in enumerate(self.source.text.splitlines(keepends=True), 1):
            code = re.sub(
                r"\([^)\n]*\)|;.*", lambda found: " " * len(found[0].rstrip("\r\n")), line
            )
            body = code.strip(" \t\r\n\ufeff/%")
            if body:
                yield Statement(body, start + code.index(body), number)
            start += len(line)

    def execute(self, statement: Statement) -> None:
        """Do what a line says."""
        text = statement.text
        if re.search(r"[#\[]|\b(IF|WHILE|GOTO|CALL)\b", text, re.I):
            self.lost = "the line has values or jumps that are known at run time only"
            raise Unknown(self.lost)
        words: list[tuple[str, Value]] = []
        for found in WORD.finditer(text):
            number = Literal(found[2])
            number.start, number.stop = (
                statement.start + found.start(2),
                statement.start + found.end(2),
            )
            words.append((found[1].upper(), number))
        if WORD.sub("", text).strip():
            if re.match(r"(N\d+\s*)?M\d+", text, re.I):
                return  # an event with a text, as M117 Printing
            raise Unknown(f"'{text[:40]}' is not understood")
        codes = [float(x) for letter, x in words if letter == "G"]
        for code in codes:
            self._set(code, dict(words))
        values = dict(words)
        if "F" in values:
            self.feed = values["F"] * self.scale / 60
        if 4.0 in codes:
            self.pause(values["S"] if "S" in values else 1e-3 * values.get("P", 0.0))
        elif 92.0 in codes:
            self.extruded = values.get("E", self.extruded)
        elif set("XYZABC") & set(values) and not any(letter == "M" for letter, _ in words):
            self._move(values)
        elif "E" in values:
            self.extruded = values["E"]

    def _set(self, code: float, values: dict[str, Value]) -> None:
        """A modal word."""
        number = int(code)
        if code == 92 and not set("XYZABC") & set(values):
            return
        if code in {90.1, 91.1}:
            self.centre_absolute = code == 90.1
        elif code != number or number not in MOTIONS | SETTINGS:
            if number in {28, 29, 30, 53, 92}:
                self.words = {}
            elif number not in {70, 71, 98, 99, 10, 11, 5, 50, 69}:
                self.lost = f"G{code:g} changes what follows in a way that is not known"
            raise Unknown(f"G{code:g} is not understood")
        elif number in MOTIONS:
            self.motion = number
        elif number in PLANES:
            self.plane = number
        elif number in {20, 21}:
            self.scale = 0.0254 if number == 20 else 1e-3
        elif number in {90, 91}:
            self.relative = number == 91
        else:
            self._set_other(number, values)

    def _set_other(self, number: int, values: dict[str, Value]) -> None:
        if 54 <= number <= 59:
            self.frame_word = number
        elif number == 61:
            self.fly = 0.0
        elif number == 64:
            self.fly = self.scale * values["P"] if "P" in values else self.given.zone
        elif number in {43, 44}:
            self.say(f"G{number}, the tool's length, is taken as that of the robot's tool")

    def _move(self, values: dict[str, Value]) -> None:
        """Add the move of a line."""
        if self.lost:
            raise Unknown(self.lost)
        if self.motion < 0:
            raise Unknown("no G0, G1, G2 or G3 says how it moves")
        before = dict(self.words)
        for axis in set("XYZABC") & set(values):
            factor = self.scale if axis in "XYZ" else 1.0
            if self.relative and axis not in before:
                raise Unknown(f"where {axis} was before is not known")
            start = before.get(axis, 0.0) if self.relative else 0.0
            self.words[axis] = start + factor * values[axis]
        if not set("XYZ") <= set(self.words):
            return  # until each axis has been given, where the tool is is not known
        X = self._pose(self.words)
        kind: MoveKind = "LIN" if self.motion < 2 else "CIRC"
        if self.fly is None:
            self.say(
                "zones are not given (G64 P): 0.1 mm is assumed; zone of the side file sets it"
            )
        zone = ASSUMED_ZONE if self.fly is None else self.fly
        extrudes = "E" in values
        if extrudes:
            self.process = self.extruded is None or values["E"] > self.extruded or self.relative
            self.extruded = values["E"]
        elif self.motion == 0:
            self.process = False
        elif self.process is not None and self.extruded is None:
            self.process = True
        step = Step(
            kind=kind,
            spot=Spot(X),
            via=None,
            speed=(self.feed or 0.0) if self.motion else None,
            zone=zone,
            name=f"N{values['N']:g}" if "N" in values else "",
            target=[values.get(axis) for axis in "XYZABC"],
            base=self.frame("base", f"G{self.frame_word}"),
            tool=self.frame("tool", "tool"),
        )
        if kind == "LIN":
            self.move(step)
        else:
            self._arc(step, values, self._pose(before) if set("XYZ") <= set(before) else None)

    def _pose(self, words: NamedNumbers) -> Floats:
        """Pose in the work frame; without angles the tool points against its z axis."""
        p = [words.get(axis, 0.0) for axis in "XYZ"]
        angles = [words.get(axis, 0.0) for axis in "ABC"]
        if not any(axis in words for axis in "ABC"):
            self.say("the tool is held against the z axis of the work frame, its x axis along x")
            return pose(DOWN, p)
        if self.given.angles not in {"abc", "rpy"}:
            raise Unknown(
                'the words A, B, C need their convention: angles = "abc" in the side file'
            )
        a, b, c = np.radians(angles)
        return pose(from_rpy(c, b, a) if self.given.angles == "abc" else from_rpy(a, b, c), p)

    def _arc(self, step: Step, values: dict[str, Value], start: Floats | None) -> None:
        """An arc by its centre or radius, as parts of at most half a turn."""
        if start is None:
            raise Unknown("where the arc begins is not known")
        assert step.spot.X is not None
        p, q = start[:3, 3], step.spot.X[:3, 3]
        k = PLANES[self.plane]
        axis = np.zeros(3)
        axis[k] = 1.0 if self.motion == 3 else -1.0
        centre = p.copy()
        if "R" in values:
            centre = _by_radius(p, q, axis, self.scale * values["R"])
        elif not set("IJK") & set(values):
            raise Unknown("an arc needs its centre, I J K, or its radius, R")
        else:
            for n, letter in enumerate("IJK"):
                if letter in values:
                    base = 0.0 if self.centre_absolute else p[n]
                    centre[n] = base + self.scale * values[letter]
        centre[k] = p[k]
        a, b = p - centre, q - centre
        b[k] = 0.0
        if abs(np.linalg.norm(a) - np.linalg.norm(b)) > max(2e-5, 2e-3 * float(np.linalg.norm(a))):
            raise Unknown("start and end of the arc must be as far from its centre")
        angle = float(np.arctan2(np.cross(a, b) @ axis, a @ b)) % (2 * np.pi)
        if angle < 1e-9:
            angle = 2 * np.pi
        rise = q[k] - p[k]
        found = turn_arc(start, centre, axis, angle)
        if abs(rise) > 1e-9:
            raise Unknown("a helix is not supported")
        for n in range(0, len(found), 2):
            is_last = n + 2 == len(found)
            end = pose(step.spot.X[:3, :3], q if is_last else found[n + 1][:3, 3])
            self.move(replace(step, spot=Spot(end), via=found[n]))


def _by_radius(p: Floats, q: Floats, axis: Floats, radius: float) -> Floats:
    """Centre of an arc by its radius; a negative one is for more than half a turn."""
    chord = q - p
    half = float(np.linalg.norm(chord)) / 2
    if half < 1e-9 or half > abs(radius) * (1 + 1e-3):
        raise Unknown(f"no arc of radius {1e3 * radius:g} mm joins start and end")
    height = np.sqrt(max(radius**2 - half**2, 0.0))
    across = np.cross(axis, chord) / (2 * half)
    return p + chord / 2 + (height if radius > 0 else -height) * across

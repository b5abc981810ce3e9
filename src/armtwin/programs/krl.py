"""KRL of KUKA: a program (.src) with its data (.dat), folds and inline forms."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np

from armtwin.maths.batch import Floats, Record
from armtwin.maths.rotations import from_rpy, inverse, pose, to_rpy
from armtwin.motion.moves import MoveKind
from armtwin.motion.path import arc_through
from armtwin.programs import execution as run
from armtwin.programs.text import read_program_text
from armtwin.programs.values import DEGREES, Unknown, Value, blank, known
from armtwin.robot.schema.groups import Body

MOVE = re.compile(r"(S?)(PTP|LIN|CIRC|SPL)(_REL)?\b\s*(.*)", re.IGNORECASE | re.DOTALL)
FLY = re.compile(r"\bC_(DIS|PTP|VEL|ORI|SPL)\b", re.IGNORECASE)
DECLARED = re.compile(
    r"(?:(?:DECL|GLOBAL|CONST)\s+)*(?:E6POS|E6AXIS|POS|AXIS|FRAME|FDAT|LDAT|PDAT|INT|REAL|BOOL|CHAR"
    r"|[A-Z]\w*)\s+([\w$]+)\s*(\[[^\]]*\])?\s*(=|,|$)",
    re.IGNORECASE,
)
CARTESIAN, ANGLES = "xyz", "abc"


def to_pose(value: Value) -> Floats:
    """Pose [m] of a frame [mm, deg]."""
    a, b, c = (np.radians(value.get(key, 0.0)) for key in ANGLES)
    return pose(from_rpy(c, b, a), [1e-3 * value.get(key, 0.0) for key in CARTESIAN])


def from_pose(X: Floats) -> Record:
    """A frame of a pose [m]."""
    c, b, a = np.degrees(to_rpy(X[:3, :3])).tolist()
    return {**dict(zip("xyz", (1e3 * X[:3, 3]).tolist(), strict=True)), "a": a, "b": b, "c": c}


class Krl(run.Execution):
    """A KRL program as it is run."""

    fields_by_name = True
    kinds = (
        (r"(GLOBAL\s+)?DEF(FCT)?\b", "proc"),
        (r"IF\b", "if"),
        (r"ELSE\b", "else"),
        (r"FOR\b", "for"),
        (r"WHILE\b", "while"),
        (r"LOOP\b", "loop"),
        (r"REPEAT\b", "repeat"),
        (r"SWITCH\b", "switch"),
        (r"(CASE|DEFAULT)\b", "elif"),
        (r"(END|ENDFCT|ENDIF|ENDFOR|ENDWHILE|ENDLOOP|ENDSWITCH|UNTIL)\b", "end"),
    )
    functions: dict[str, Callable[..., Value]] = {
        **DEGREES,
        ":": lambda a, b: {**b, **from_pose(to_pose(a) @ to_pose(b))},
        "inv_pos": lambda a: from_pose(inverse(to_pose(a))),
        "svel_cp": lambda speed, *_: speed,
        "svel_joint": lambda share, *_: share,
        "sapo": lambda data, *_: data,
        "sapo_ptp": lambda data, *_: data,
    }
    quiet = re.compile(
        r"&|DEFDAT|ENDDAT|EXT(FCT)?\b|ENUM|STRUC|SIGNAL|IMPORT|INTERRUPT|GLOBAL\s+INTERRUPT"
        r"|TRIGGER|PULSE|ANOUT|ANIN|BRAKE|CONTINUE|HALT|\w+:$|CWRITE|SWRITE|SREAD|CAST"
        r"|INVERSE|RESUME|PUBLIC|SET_CD_PARAMS|TIME_BLOCK|CONST_VEL|STOP WHEN|MSG\w*|TMP\w*"
        r"|BAS\s*\(\s*#(INITMOV|ACC|PTP_DAT|CP_DAT|ACT|EX_BASE|INIT|OUT_S)|\$\w*CYC|LDEFAULT",
        re.IGNORECASE,
    )

    def __init__(self, *args: Value) -> None:
        super().__init__(*args)
        self.in_spline = 0
        self.outside: Record = {}
        self._read_data_beside()

    def _read_data_beside(self) -> None:
        """Declarations of the .dat file of the same name and of $config.dat, where they are."""
        path = self.source.path
        for name in (path.with_suffix(".dat"), path.parent / "$config.dat"):
            beside = _find(name)
            if path.suffix.lower() != ".dat" and beside is not None:
                text, _ = read_program_text(beside)
                for statement in _lines(text):
                    self._declare(statement, in_data=True)

    def statements(self) -> Iterator[run.Statement]:
        """A statement a line."""
        return _lines(self.source.text)

    def key(self, of: Value, key: Value) -> Value:
        """A field by its name, an item of an array by its number."""
        return int(key) if isinstance(key, float) else key

    def execute(self, statement: run.Statement) -> None:
        """Do what a statement says."""
        text = statement.text
        moved = MOVE.match(text)
        if re.match(r"SPLINE\b", text, re.I):
            self.in_spline, self.outside = 1, dict(self.scopes[0])
            self._set_all(re.sub(r"^SPLINE\s*(WITH)?", "", text, flags=re.I))
        elif re.match(r"ENDSPLINE\b", text, re.I):
            self.in_spline, self.scopes[0] = 0, self.outside
        elif moved and not re.match(r"\w+\s*=[^=]", text):
            self._move(moved, statement)
        elif re.match(r"WAIT\s+SEC\b", text, re.I):
            self.pause(self.evaluate(text[text.upper().index("SEC") + 3 :]))
        elif re.match(r"WAIT\b", text, re.I):
            self.pause(None)
        elif re.match(r"(RETURN|EXIT)\b", text, re.I):
            self._leave(text)
        elif re.match(r"BAS\s*\(", text, re.I) and not self.quiet.match(text):
            self._basic(text)
        elif self.quiet.match(text) or self._declare(statement) or self._set(statement):
            return
        else:
            self._call(text)

    def _leave(self, text: str) -> None:
        if text[:4].upper() == "EXIT":
            self.leave("break")
        self.leave("return", self.evaluate(text[6:]) if text[6:].strip() else None)

    def _call(self, text: str) -> None:
        name = (re.match(r"[\w$]+", text) or [text[:30]])[0]
        if self.fold(name) not in self.routines:
            self.event(name)
        else:
            self.evaluate(text if "(" in text else f"{text}()")

    def _declare(self, statement: run.Statement, in_data: bool = False) -> bool:
        found = DECLARED.match(statement.text)
        if found is None or (
            not in_data
            and not re.match(
                r"(DECL|GLOBAL|INT|REAL|BOOL|CHAR|E6|POS|AXIS|FRAME)", statement.text, re.I
            )
        ):
            return in_data and self._set(statement)
        name, index, sign = found.groups()
        if sign == "=":
            at = found.start(1)
            part = run.Statement(statement.text[at:], -1 if in_data else statement.start + at, 0)
            self._set(part, in_data)
        elif self.fold(name) not in self.scopes[0]:
            none: Value = {} if index else Unknown(f"'{name}' has no value in this file")
            for one in (
                re.findall(r"[\w$]+", statement.text[found.start(1) :]) if not index else [name]
            ):
                self.scopes[-1].setdefault(self.fold(one), none)
        return True

    def _set(self, statement: run.Statement, in_data: bool = False) -> bool:
        """An assignment; tools and bases are known by the name they come from."""
        found = re.match(r"\$(TOOL|BASE)\s*=\s*(.*)", statement.text, re.I)
        if found is None:
            return self.assign(statement)
        kind = found[1].lower()
        self.scopes[0][f"${kind}"] = self._frame_of(kind, found[2])
        return True

    def _frame_of(self, kind: str, text: str) -> run.KnownFrame | Unknown:
        """A tool or base by an expression."""
        name = re.sub(r"\s", "", text)
        if name.upper() == "$NULLFRAME":
            return run.KnownFrame(f"${kind.upper()}", np.eye(4))
        if re.match(r"(EK|EO)\(", name, re.I):
            return Unknown("its base moves with an external kinematic, which is not simulated")
        numbered = re.fullmatch(r"S?(?:TOOL2?|BASE)(?:_DATA)?[(\[](.+)[)\]]", name, re.I)
        try:
            if numbered is None:
                value = self.evaluate(text)
                return self.frame(kind, f"${kind.upper()}", to_pose(value))
            number = self.evaluate(numbered[1])
        except Unknown as why:
            return why
        if isinstance(number, dict):
            number = number[f"{kind}_no"]
        return self._numbered(kind, int(number))

    def _numbered(self, kind: str, number: int) -> run.KnownFrame:
        """A tool or base by its number: 0 is the flange, or the robot's base."""
        name = f"{kind.upper()}_DATA[{number}]"
        if number <= 0:
            return run.KnownFrame(name, np.eye(4))
        load = self._load(number) if kind == "tool" else None
        try:
            value = self.evaluate(name)
        except Unknown:
            return self.frame(kind, name, load=load)
        return self.frame(kind, name, to_pose(value), load)

    def _load(self, number: int) -> Body | None:
        """The load that belongs to a tool by its number, where the data have it."""
        data = self.attempt(f"LOAD_DATA[{number}]")
        if isinstance(data, Unknown):
            return None
        axes = to_pose(data["cm"])
        return run.load_of(
            data["m"], axes[:3, 3], [data["j"][key] for key in CARTESIAN], axes[:3, :3]
        )

    def _basic(self, text: str) -> None:
        """What BAS sets: frames, speeds, and both by the data of an inline form."""
        found = re.match(r"BAS\s*\(\s*#(\w+)\s*(?:,(.*))?\)\s*$", text, re.I)
        if found is None:
            raise Unknown("BAS is not understood")
        what = found[1].lower()
        value: Value = self.evaluate(found[2]) if found[2] and found[2].strip() else None
        if what in {"tool", "base"}:
            self.scopes[0][f"${what}"] = self._numbered(what, int(value))
        elif what in {"vel_cp", "cp_params"}:
            self.store("$VEL.CP", value)
        elif what in {"vel_ptp", "ptp_params"}:
            self.scopes[0]["$vel_ptp"] = value
        if what in {"cp_params", "ptp_params", "frames"}:
            self._use_frames(self.look_up("fdat_act"))
        if what == "cp_params":
            data = self.scopes[0].get("ldat_act", {})
            if isinstance(data, dict) and "apo_dist" in data:
                self.store("$APO.CDIS", data["apo_dist"])

    def _use_frames(self, data: Value) -> None:
        if str(data.get("ipo_frame", "#base")).lower() == "#tcp":
            raise Unknown("the tool is fixed and the robot leads the workpiece")
        for kind in ("tool", "base"):
            self.scopes[0][f"${kind}"] = self._numbered(kind, int(data[f"{kind}_no"]))

    def _move(self, word: re.Match[str], statement: run.Statement) -> None:
        """Add the move of an instruction."""
        _, how, relative, rest = word.groups()
        body, *more = re.split(r"\bWITH\b", rest, maxsplit=1, flags=re.I)
        extra = more[0] if more else ""
        settings = dict(self.scopes[0])
        self._set_all(FLY.sub("", extra))
        fly = FLY.search(rest)
        frame_of = re.search(r"#(TOOL|BASE)\b", body, re.I)
        plain = re.sub(rf"#(TOOL|BASE)\b|{FLY.pattern}", lambda x: blank(x[0]), body, flags=re.I)
        parts = run.split_parts(run.TextPart(plain, statement.start + word.start(4)), ",")
        angle = next((x for x in parts if re.match(r"\s*CA\b", x.text, re.I)), None)
        targets = [part for part in parts if part is not angle]
        kind: MoveKind = {"PTP": "PTP", "LIN": "LIN", "CIRC": "CIRC", "SPL": "SPLINE"}[how.upper()]  # type: ignore[assignment]
        count = 2 if kind == "CIRC" else 1
        if len(targets) < count:
            raise Unknown(f"{how} has too few targets")
        values = [self.evaluate(part.text, part.start) for part in targets[:count]]
        in_tool = bool(relative) and frame_of is not None and frame_of[1].upper() == "TOOL"
        spots = [self._spot(value, bool(relative), in_tool) for value in values]
        base, tool = (self._current(kind) for kind in ("base", "tool"))
        step = run.Step(
            kind="SPLINE" if self.in_spline else kind,
            spot=spots[-1],
            via=spots[0].X if kind == "CIRC" else None,
            speed=self._speed(kind),
            zone=self._zone(fly) if kind != "PTP" and not self.in_spline else 0.0,
            name=targets[count - 1].text.strip()[:40],
            target=values[-1],
            base=base,
            tool=tool,
            joined=self.in_spline > 1,
        )
        if self.in_spline and kind == "CIRC":
            raise Unknown("an arc in a spline block is not supported")
        if angle is not None and kind == "CIRC":
            self._add_by_angle(step, self.evaluate(angle.text.strip()[2:]))
        elif self.in_spline and kind == "LIN" and step.spot.X is not None:
            self._add_straight(step)
        else:
            self.move(step)
        self.in_spline += 1 if self.in_spline else 0
        self.scopes[0] = settings

    def _set_all(self, text: str) -> None:
        """Settings of one move or block, as $VEL = SVEL_CP(0.5, , LCPDAT1)."""
        for part in run.split_parts(run.TextPart(text, 0), ","):
            name, _, value = (x.strip() for x in part.text.partition("="))
            key = re.sub(r"\s|\[.*?\]", "", name).lower()
            if key in {"$tool", "$base"}:
                self.scopes[0][key] = self._frame_of(key[1:], value)
            elif key == "$apo" and value:
                data = self.evaluate(value)
                self.store("$APO.CDIS", data.get("cdis", data.get("apo_dist")))
            elif key in {"$vel", "$vel.cp", "$vel_axis"} and value:
                place = "$vel_ptp" if key == "$vel_axis" else "$VEL.CP"
                speed = self.evaluate(value)
                self.store(place, speed["cp"] if isinstance(speed, dict) else speed)

    def _add_straight(self, step: run.Step) -> None:
        """A straight part of a spline block, as four points of it."""
        start, X = self.here, step.spot.X
        assert X is not None
        self.say("SLIN in a spline block is read as four points of the spline")
        for k in range(1, 5):
            between = X.copy()
            between[:3, 3] = start[:3, 3] + (X[:3, 3] - start[:3, 3]) * k / 4
            self.move(
                replace(step, spot=step.spot._replace(X=between), joined=step.joined or k > 1)
            )

    def _add_by_angle(self, step: run.Step, degrees: float) -> None:
        """An arc by its angle: the programmed end only says which circle it is."""
        start = self.here
        assert step.via is not None
        assert step.spot.X is not None
        arc = arc_through(start[:3, 3], step.via[:3, 3], step.spot.X[:3, 3], "arc")
        axis = np.cross(arc.e1, arc.e2)
        found = run.turn_arc(start, arc.centre, axis, float(np.radians(degrees)))
        for k in range(0, len(found), 2):
            end = found[k + 1].copy()
            end[:3, :3] = step.spot.X[:3, :3]
            is_last = k + 2 == len(found)
            zone = step.zone if is_last else self.unit
            self.move(replace(step, spot=step.spot._replace(X=end), via=found[k], zone=zone))

    def _current(self, kind: str) -> run.KnownFrame:
        found = known(self.scopes[0].get(f"${kind}"))
        return found if isinstance(found, run.KnownFrame) else self.frame(kind, f"${kind.upper()}")

    def _spot(self, value: Value, relative: bool, in_tool: bool) -> run.Spot:
        """Where a target is; what it does not give stays as it is."""
        external = {key: float(x) for key, x in value.items() if re.fullmatch(r"e[1-6]", key)}
        axes = [value.get(f"a{k}") for k in range(1, 7)]
        if any(x is not None for x in axes):
            if relative or any(x is None for x in axes):
                raise Unknown("it gives some axes only, the others stay as they are")
            return run.Spot(None, np.array(axes, dtype=np.float64), external)
        if relative:
            here = self.here
            moved = to_pose(value)
            if in_tool:
                return run.Spot(here @ moved, None, external)
            return run.Spot(
                pose(moved[:3, :3] @ here[:3, :3], here[:3, 3] + moved[:3, 3]), None, external
            )
        if not set("xyzabc") <= set(value):
            value = {**from_pose(self.here), **value}
        return run.Spot(to_pose(value), None, external)

    def _speed(self, kind: str) -> float | None:
        """Tool speed [m/s] by $VEL.CP, or the share of the joints'."""
        if kind == "PTP":
            share = self.scopes[0].get("$vel_ptp")
            return None if share is None or isinstance(share, Unknown) else float(share) / 100
        value = self.given.values.get("$vel.cp")
        if "$vel" in self.scopes[0]:
            value = self.look_up("$vel")["cp"]
        if value is None:
            raise Unknown("$VEL.CP has no value in this file")
        return float(value)

    def _zone(self, fly: re.Match[str] | None) -> float:
        """Distance of a zone [m]; by speed or orientation it is not known, and passed at rest."""
        if fly is None:
            return 0.0
        apo = self.scopes[0].get("$apo")
        value = apo.get("cdis") if isinstance(apo, dict) else self.given.values.get("$apo.cdis")
        if fly[1].upper() in {"VEL", "ORI"} or value is None or isinstance(value, Unknown):
            self.say(f"how far {fly[0].upper()} rounds is not known ($APO.CDIS): exact stops")
            return 0.0
        return self.unit * float(value)


def _lines(text: str) -> Iterator[run.Statement]:
    """Lines without comments."""
    start = 0
    for number, line in enumerate(text.splitlines(keepends=True), 1):
        plain = re.sub(r'"[^"]*"', lambda found: "~" * len(found[0]), line)
        code = line[: plain.index(";")] if ";" in plain else line
        body = code.strip(" \t\r\n\ufeff")
        if body and not body.startswith("&"):
            yield run.Statement(body, start + code.index(body), number)
        start += len(line)


def _find(path: Path) -> Path | None:
    """A file by its name, no matter how that is written."""
    if path.is_file():
        return path
    try:
        names = {x.name.lower(): x for x in path.parent.iterdir()}
    except OSError:
        return None
    return names.get(path.name.lower())

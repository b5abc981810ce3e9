"""Listings of Fanuc teach pendant programs (.ls): moves in /MN, positions in /POS."""

import re
from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from armtwin.maths.batch import Floats, Record
from armtwin.maths.rotations import from_rpy, pose
from armtwin.motion.moves import MoveKind
from armtwin.programs.execution import Execution, KnownFrame, Spot, Statement, Step
from armtwin.programs.values import DEGREES, SPEEDS, Literal, Unknown, Value, blank, known

POSITION = re.compile(r'P\[\s*(\d+)\s*(?::\s*"?([^"\]]*)"?)?\s*\]\s*\{(.*?)\}\s*;', re.S)
FIELD = re.compile(r"\b([XYZWPR]|[JE]\d)\s*=\s*([-+]?(?:\d+\.?\d*|\.\d+)|\*+)")
MOVE = re.compile(
    r"([JLCAS])\s+((?:PR?\[(?:[^\[\]]|\[[^\]]*\])*\]\s*){1,2})"
    r"\s*(A?R\[\s*\d+\s*\]|[\d.]+|WELD_SPEED|max_speed)?\s*"
    r"(%|mm/se[ck]|cm/min|inch/min|deg/se[ck]|mse[ck]|se[ck]|s\b)?\s*"
    r"(F(?:INE|EIN)|CNT\s*(?:R\[[\s\d]+\]|\d+)|CR\s*(?:R\[[\s\d]+\]|[\d.]+))?(.*)",
    re.IGNORECASE | re.DOTALL,
)
HARMLESS = re.compile(
    r"\s|,|ACC\s*(\d+|R\[\d+\])|PTH|Wjnt|COORD(\[\w+\])?|(RT|AP)_LD\w*|BREAK|MROT"
    r"|(Ind\.)?EV\s*\d+%|[TD][AB]\s*[\d.]+(se[ck]|mm).*|(Arc|Weld) (Start|End)\[[^\]]*\]"
    r"|PSPD\s*\d+|CNT\d+",
    re.IGNORECASE,
)
COMPONENTS = "xyzwpr"
STOPPING = 2.0  # acceleration by which CNT is a distance: from where a stop would begin [m/s²]
ASSIGNED = re.compile(r"\s*(P?R)\s*\[\s*(\d+)[^\]]*\]\s*=")


class Fanuc(Execution):
    """A listing as it is run."""

    functions = {**DEGREES}
    kinds = (
        (r"IF\b.*\bTHEN$", "if"),
        (r"ELSE$", "else"),
        (r"FOR\b", "for"),
        (r"(ENDIF|ENDFOR)\b", "end"),
    )
    quiet = re.compile(
        r"$|!|--|//|(DO|RO|GO|AO|SO|UO|F|M|SR|DI|RI|AI|GI)\[|TIMER|OVERRIDE|PAYLOAD|MESSAGE|UALM|PAUSE"
        r"|RUN\b|SELECT\b|ABORT|\$|LINEAR_MAX|JOINT_MAX|RSR|COL\b|MONITOR|STOP_TRACKING|Weave End"
        r"|LOCK|UNLOCK|ARGS|DIAG_REC|HAND|SPOT|CLEAR|PULSE|COMMENT|REMARK|TC_ONLINE|Arc\b|Weld\b",
        re.IGNORECASE,
    )

    def __init__(self, *args: Value) -> None:
        super().__init__(*args)
        self.names_of: dict[int, str] = {}
        self.arc: list[Step] = []
        self.flow: set[tuple[str, int]] = set()
        self.scopes[0] |= {"r": {}, "pr": {}, "p": self._positions()}

    def _positions(self) -> dict[int, Record]:
        """Positions of the /POS block by their numbers."""
        text = self.source.text
        start = max(text.find("/POS"), 0)
        found: dict[int, Record] = {}
        for block in POSITION.finditer(text, start):
            number, self.names_of[int(block[1])], body = int(block[1]), block[2] or "", block[3]
            value: Record = {}
            group = 1
            for part in re.finditer(rf"GP(\d+)\s*:|U([FT])\s*:\s*(\w+)|{FIELD.pattern}", body):
                if part[1]:
                    group = int(part[1])
                elif part[2]:
                    value.setdefault(f"u{part[2].lower()}", part[3])
                else:
                    name = part[4].lower() if group == 1 else f"gp{group}_{part[4].lower()}"
                    value[name] = self._number(part, block.start(3))
            found[number] = value
        return found

    def _number(self, part: re.Match[str], offset: int) -> Value:
        if "*" in part[5]:
            return Unknown("the position is not taught")
        number = Literal(part[5])
        number.start, number.stop = offset + part.start(5), offset + part.end(5)
        return number

    def statements(self) -> Iterator[Statement]:
        """Numbered lines of the /MN block; one goes on up to its semicolon."""
        text = self.source.text
        body = re.search(r"^\s*/MN[^\n]*$(.*?)(?=^\s*/(?:POS|END)|\Z)", text, re.M | re.S)
        if body is None:
            return
        for found in re.finditer(r"^[ \t]*\d*[ \t]*:(.*?)(?:;[ \t]*\r?$|\Z)", body[1], re.M | re.S):
            raw = re.sub(r"\n[ \t]*:", lambda x: blank(x[0]), found[1])
            start = body.start(1) + found.start(1)
            line = text.count("\n", 0, start) + 1
            inner = raw.strip()
            yield Statement(_without_comments(inner), start + raw.index(inner), line)

    def read(self) -> None:
        """Run the listing; registers that are set after a jump or label may change there."""
        after_flow = False
        for statement in self.statements():
            after_flow |= bool(re.search(r"\b(JMP|LBL)\b", statement.text, re.I))
            found = ASSIGNED.match(statement.text)
            if found and after_flow:
                self.flow.add((found[1].lower(), int(found[2])))
        super().read()

    def key(self, of: Value, key: Value) -> Value:
        """Components of a position by number, registers by number."""
        if isinstance(key, float) and isinstance(of, dict) and ("x" in of or "j1" in of):
            return f"j{int(key)}" if "j1" in of else (*COMPONENTS, "e1", "e2", "e3")[int(key) - 1]
        return int(key) if isinstance(key, float) else key

    def pick(self, of: Value, key: Value) -> Value:
        """A register; one that has no value here is known at run time only."""
        try:
            return super().pick(of, key)
        except Unknown:
            kind = next((x for x in ("r", "pr", "p") if of is self.scopes[0][x]), "")
            name = f"{kind}[{int(key)}]" if kind and isinstance(key, float) else ""
            if name in self.given.values:
                return self.given.values[name]
            raise Unknown(f"{name.upper() or 'it'} is set at run time, not in this file") from None

    def execute(self, statement: Statement) -> None:
        """Do what a statement says."""
        text = statement.text
        moved = MOVE.fullmatch(text)
        if moved is None or moved[1].upper() != "A":
            self.finish_arc()
        if self.quiet.match(text):
            self._mark_process(text)
        elif moved:
            self._move(moved)
        elif re.match(r"(UFRAME|UTOOL)_NUM\s*=", text, re.I):
            name, _, value = text.partition("=")
            self.scopes[0][name.strip().lower()] = self.attempt(value)
        elif re.match(r"WAIT\b", text, re.I):
            seconds = re.match(r"WAIT\s*([\d.]+|R\[\d+\])\s*(?:\(?se[ck]\)?)?$", text, re.I)
            self.pause(self.evaluate(seconds[1]) if seconds else None)
        elif re.match(r"LBL\[", text, re.I):
            for kind, number in self.flow:
                why = Unknown(f"{kind.upper()}[{number}] depends on jumps")
                self.scopes[0][kind] = {**self.scopes[0][kind], number: why}
        elif re.search(
            r"\bJMP\b|^(UFRAME|UTOOL)\[|^SKIP|^OFFSET|^TOOL_OFFSET|^VOFFSET|^Weave|^Track|^TOUCH",
            text,
            re.I,
        ):
            raise Unknown(f"'{text[:40]}' is not followed")
        elif re.match(r"CALL\b|IF\b.*\bCALL\b", text, re.I):
            called = re.search(r"CALL\s+([\w$]+)", text, re.I)
            self.event(called[1] if called else text)
        elif re.match(r"END$", text, re.I):
            self.leave("return")
        elif not self.assign(statement):
            raise Unknown(f"'{text[:40]}' is not understood")

    def _mark_process(self, text: str) -> None:
        found = re.search(r"\b(?:Arc|Weld)\s+(Start|End)", text, re.I)
        if found:
            self.process = found[1].lower() == "start"

    def _frame(self, kind: str, value: Value, position: Value) -> KnownFrame:
        """A frame or tool by its number: that of the position, else the one that is set."""
        own = position.get(f"u{kind[0]}")
        number = float(own) if own and str(own).isdigit() else known(value)
        which, name = ("base", "UFRAME") if kind == "frame" else ("tool", "UTOOL")
        if number is None:
            return self.frame(which, name)
        X = np.eye(4) if number == 0 else None
        return self.frame(which, f"{name}[{int(number)}]", X)

    def _move(self, word: re.Match[str]) -> None:
        """Add the move of a line."""
        letter, targets, number, unit, end, options = word.groups()
        parts = re.findall(r"PR?\[(?:[^\[\]]|\[[^\]]*\])*\]", targets)
        if len(parts) != (2 if letter.upper() == "C" else 1):
            raise Unknown(f"{letter} has the wrong number of targets")
        values = [self.evaluate(part) for part in parts]
        self._refuse_options(options)
        frame, tool = (
            self._frame(kind, self.scopes[0].get(f"u{kind}_num"), values[-1])
            for kind in ("frame", "tool")
        )
        spots = [self._spot(value) for value in values]
        number_of = re.search(r"\d+", parts[-1])
        name = self.names_of.get(int(number_of[0]), "") if number_of else ""
        kind: MoveKind = {"J": "PTP", "L": "LIN", "C": "CIRC"}.get(letter.upper(), "LIN")  # type: ignore[assignment]
        speed = self._speed(kind, number, unit, spots)
        step = Step(
            kind=kind,
            spot=spots[-1],
            via=spots[0].X if kind == "CIRC" else None,
            speed=speed,
            zone=self._zone(end, speed) if kind != "PTP" else 0.0,
            name=name or parts[-1],
            target=values[-1],
            base=frame,
            tool=tool,
        )
        if kind == "CIRC" and (step.via is None or step.spot.X is None):
            raise Unknown("an arc through joint targets is not supported")
        if letter.upper() == "A":
            self._extend_arc(step)
        else:
            self.move(step)
        self._mark_process(options)

    def _extend_arc(self, step: Step) -> None:
        """Points of consecutive A moves: the first by a line, then arcs through two each."""
        self.arc.append(step)
        if len(self.arc) == 1:
            self.move(step)
        elif len(self.arc) % 2:
            self.move(replace(step, kind="CIRC", via=self.arc[-2].spot.X))

    def finish_arc(self) -> None:
        """End consecutive A moves; a point without its partner is not understood."""
        left = bool(self.arc) and len(self.arc) % 2 == 0
        self.arc = []
        if left:
            self.refuse("A moves must be three, five, ... points")

    def _refuse_options(self, options: str) -> None:
        found = re.search(r"\b(V?Offset|Tool_Offset|INC|Skip|Search|VR|TRACK)\b", options, re.I)
        if found:
            raise Unknown(f"{found[0]} changes its target at run time")
        if re.search(r"\bWjnt\b", options, re.I):
            self.say("Wjnt turns the wrist by its joints: orientation is interpolated instead")
        rest = HARMLESS.sub("", options)
        if rest:
            raise Unknown(f"'{rest.strip()[:40]}' is not understood")

    def _spot(self, value: Value) -> Spot:
        """Where a position is."""
        for x in value.values():
            known(x)
        external = {k: float(v) for k, v in value.items() if re.fullmatch(r"e\d|gp\d+_.*", k)}
        joints = [value.get(f"j{k}") for k in range(1, 8) if f"j{k}" in value]
        if len(joints) >= 6:
            return Spot(None, np.array(joints[:6], dtype=np.float64), external)
        x, y, z, w, p, r = (float(value[key]) for key in COMPONENTS)
        return Spot(
            pose(from_rpy(*np.radians((w, p, r))), 1e-3 * np.array((x, y, z))), None, external
        )

    def _speed(
        self, kind: str, number: str | None, unit: str | None, spots: list[Spot]
    ) -> float | None:
        """Tool speed [m/s], or the share of the joints' speeds."""
        word = (number or "").lower()
        value = self.evaluate(word) if word else None
        written = (unit or "").lower().replace("sek", "sec")
        if word == "weld_speed":
            written = written or "mm/sec"
        if word == "max_speed" or (kind == "PTP" and written != "%"):
            self.say("moves of the joints run at their speed limits")
            return None
        if value is None or written not in {*SPEEDS, "%", "sec", "s", "msec"}:
            raise Unknown(f"its speed, {number or ''}{unit or ''}, is not understood")
        if written in {"sec", "s", "msec"}:
            via: Floats | None = spots[0].X if len(spots) > 1 else None
            return self.by_time("LIN", spots[-1].X, via, value * (1e-3 if written == "msec" else 1))
        if written == "%" and kind != "PTP":
            raise Unknown("its speed is a share of a speed that is not in this file")
        return float(value) / 100 if written == "%" else float(value) * SPEEDS[written]

    def _zone(self, end: str | None, speed: float | None) -> float:
        """Distance of a zone [m]: CR gives it, CNT where the tool would begin to stop."""
        if not end or end[0] in "Ff":
            return 0.0
        value = float(self.evaluate(re.sub(r"^(CNT|CR)\s*", "", end, flags=re.I)))
        if end[:2].upper() == "CR":
            return self.unit * value
        self.say("zones by CNT are assumed to begin where the tool would slow down, at 2 m/s²")
        return value / 100 * (speed or 0.0) ** 2 / (2 * STOPPING)


def _without_comments(text: str) -> str:
    """A line without the names in brackets, as of R[1:count]; its length is kept."""
    text = re.sub(r"\[GP\d+:", lambda found: "[" + " " * (len(found[0]) - 1), text)
    return re.sub(r"(?<=[\d\]])\s*:[^\[\],]*(?=[\],])", lambda found: blank(found[0]), text)

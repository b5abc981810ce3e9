"""RAPID of ABB: modules with robtargets, tools, work objects and procedures."""

import re
from collections.abc import Callable, Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.rotations import from_quaternion, from_rpy, inverse, pose, to_quaternion
from armtwin.motion.moves import MoveKind
from armtwin.programs import execution as run
from armtwin.programs.values import DEGREES, Expression, Unknown, Value, blank, without_remarks
from armtwin.robot.schema.groups import Body

UNUSED = 9e8  # value of an external axis from which on it is none
END = re.compile(
    r";|\b(?:THEN|DO|ELSE|ENDIF|ENDFOR|ENDWHILE|ENDTEST|ENDPROC|ENDFUNC|ENDTRAP|ENDMODULE"
    r"|ENDRECORD|ERROR|UNDO|BACKWARD)\b|\b(?:CASE|DEFAULT)\b[^:;]*:(?!=)"
    r"|\b(?:PROC|FUNC\s+\w+)\s+\w+\s*\([^)]*\)|\bTRAP\s+\w+|\bMODULE\s+\w+(?:\s*\([^)]*\))?"
    r"|\bRECORD\s+\w+|\b\w+:(?!=)|\bTEST\b[^;]*?(?=\bCASE\b)",
    re.IGNORECASE,
)
DECLARED = re.compile(
    r"(?:(?:LOCAL|TASK)\s+)*(?:CONST|VAR|PERS)\s+(\w+)\s+(\w+)\s*(\{[^}]*\})?\s*(:=)?",
    re.IGNORECASE,
)
MOVE = re.compile(r"(Move|Trigg|Arc|Disp|Paint|Laser|Cap|Search)(AbsJ|ExtJ|Pnp|[JLC])(\w*)", re.I)
FIELDS = {
    **dict.fromkeys(("trans", "robax", "x", "q1", "v_tcp"), 0),
    **dict.fromkeys(("rot", "tframe", "y", "q2", "pzone_tcp"), 1),
    **dict.fromkeys(("robconf", "z", "q3"), 2),
    **dict.fromkeys(("uframe", "q4"), 3),
    "oframe": 4,
    **{f"rax_{k + 1}": k for k in range(6)},
    **{f"eax_{letter}": k for k, letter in enumerate("abcdef")},
}
ZONES = (0, 1, 5, 10, 15, 20, 30, 40, 50, 60, 80, 100, 150, 200)


def to_pose(value: Value) -> Floats:
    """Pose [mm] of position and quaternion."""
    p, q = value[0], value[1]
    if len(p) != 3 or len(q) != 4 or not np.linalg.norm(q) > 0.5:
        raise Unknown("position and quaternion must be three and four numbers")
    return pose(from_quaternion(*q), p)


def from_pose(X: Floats) -> list[list[float]]:
    """Position and quaternion of a pose [mm]."""
    return [X[:3, 3].tolist(), to_quaternion(X[:3, :3]).tolist()]


def _offset(p: Value, x: float, y: float, z: float) -> Value:
    return [[a + b for a, b in zip(p[0], (x, y, z), strict=True)], *p[1:]]


def _beside_tool(p: Value, x: float, y: float, z: float, **turn: float) -> Value:
    angles = [np.radians(turn.get(key, 0.0)) for key in ("rx", "ry", "rz")]
    return [*from_pose(to_pose(p) @ pose(from_rpy(*angles), (x, y, z))), *p[2:]]


class Rapid(run.Execution):
    """A RAPID module as it is run."""

    indexed_by = "{"
    kinds = (
        (r"(LOCAL\s+)?(PROC|FUNC|TRAP)\b", "proc"),
        (r"IF\b.*\bTHEN$", "if"),
        (r"ELSEIF\b", "elif"),
        (r"ELSE$", "else"),
        (r"FOR\b", "for"),
        (r"WHILE\b", "while"),
        (r"TEST\b", "switch"),
        (r"(CASE|DEFAULT)\b", "elif"),
        (r"END(IF|FOR|WHILE|TEST|PROC|FUNC|TRAP)\b", "end"),
    )
    functions: dict[str, Callable[..., Value]] = {
        **DEGREES,
        "offs": _offset,
        "reltool": _beside_tool,
        "orientzyx": lambda z, y, x: to_quaternion(from_rpy(*np.radians((x, y, z)))).tolist(),
        "posemult": lambda a, b: from_pose(to_pose(a) @ to_pose(b)),
        "poseinv": lambda a: from_pose(inverse(to_pose(a))),
        "posevect": lambda a, p: (to_pose(a) @ [*p, 1.0])[:3].tolist(),
        "dim": lambda of, k=1.0: float(len(of if k == 1 else of[0])),
        "round": lambda x, dec=0.0: round(x, int(dec)),
    }
    quiet = re.compile(
        r"(TP\w+|Set(DO|GO|AO|DOSafe)?|Reset|PulseDO|InvertDO|Incr|Decr|Add|Clear|ConfL|ConfJ"
        r"|SingArea|AccSet|GripLoad|Clk\w+|IDelete|IDisable|IEnable|IWatch|ISleep|ISignal\w+"
        r"|ITimer|IError|IPers|CONNECT|UI\w+|ErrWrite|ErrLog|Open|Close|Write\w*|CirPathMode"
        r"|MotionSup|TuneServo|TuneReset|PathResol|PathAccLim|WorldAccLim|SpeedRefresh|Trigg(IO|"
        r"Int|Equip|Speed|CheckIO|RampAO)|BookErrNo|ResetErr|Socket\w+|Load|UnLoad|Weav\w*|"
        r"DeactUnit|ActUnit|EOffsOff|PDispOff|WaitSyncTask|SyncMove\w+|CONST|RECORD|ALIAS"
        r"|MODULE|ENDMODULE|ENDRECORD|EXIT|Stop|Break|ExitCycle|RAISE|RETRY|TRYNEXT|SoftDeact"
        r"|ToolLoad|Rmqs\w+|RMQ\w+|CRobT|BitSet|BitClear|StorePath|RestoPath|StartMove|StopMove"
        r"|ClearPath|SystemStopAction)\b",
        re.IGNORECASE,
    )

    def statements(self) -> Iterator[run.Statement]:
        """Statements end at a semicolon or a word of control flow; error handlers are left out."""
        head = r"(?s)%%%.*?%%%"
        text = re.sub(head, lambda found: re.sub(r"\S", " ", found[0]), self.source.text)
        text = without_remarks(text, "!")
        hide = re.sub(r'"([^"\n]*)"', lambda found: f'"{blank(found[1])}"', text)
        at, line, counted = 0, 1, 0
        in_handler = False
        for found in END.finditer(hide):
            part = text[at : found.end()].rstrip(";")
            start = at + len(part) - len(part.lstrip())
            line += text.count("\n", counted, start)
            counted, at = start, found.end()
            part = part.strip()
            if re.match(r"(ERROR|UNDO|BACKWARD)$", part, re.IGNORECASE):
                in_handler = True
            elif re.match(r"END(PROC|FUNC|TRAP)", part, re.IGNORECASE):
                in_handler = False
            if part and not in_handler:
                yield run.Statement(part, start, line)

    def key(self, of: Value, key: Value) -> Value:
        """A field by its name, an item from 1."""
        if key == "extax":
            return len(of) - 1
        return FIELDS.get(key, key) if isinstance(key, str) else super().key(of, key)

    def look_up(self, name: str) -> Value:
        """The value of a name, predeclared speeds and zones included."""
        try:
            return super().look_up(name)
        except Unknown:
            if re.fullmatch(r"v\d+", name):
                return [float(name[1:]), 500.0, 5000.0, 1000.0]
            if re.fullmatch(r"z\d+", name) and int(name[1:]) in ZONES:
                return [False, float(name[1:]) or 0.3]
            known = {"fine": [True, 0.0], "vmax": [None], "pi": float(np.pi)}
            if name not in known:
                raise
            return known[name]

    def execute(self, statement: run.Statement) -> None:
        """Do what a statement says."""
        text = statement.text
        word = (re.match(r"\w+", text) or [""])[0]
        name = self.fold(word)
        if self._declare(statement) or re.match(r"\w+\s*:$", text) or self.assign(statement):
            return
        args, switches = self._arguments(
            run.TextPart(text[len(word) :], statement.start + len(word))
        )
        moved = MOVE.fullmatch(word)
        if name in self.routines:
            self.call_routine(name, [self._try(part) for part in (*args, *switches.values())])
        elif moved:
            self._move(moved, args, switches)
        elif name == "return":
            self.leave("return", self._value(args[0]) if args else None)
        elif name == "if":
            self._run_compact_if(statement)
        elif name.startswith("wait"):
            self.pause(self._value(args[0]) if name == "waittime" and args else None)
        elif name == "velset":
            self.scopes[0][name] = self._value(args[0])
        elif re.match(r"(pdisp|eoffs)(on|set)$", name):
            self.scopes[0]["displaced"] = Unknown(f"{word} displaces it")
            raise self.scopes[0]["displaced"]
        elif re.match(r"(pdisp|eoffs)off$", name):
            self.scopes[0].pop("displaced", None)
        elif not self.quiet.match(text):
            self.event(word)

    def _declare(self, statement: run.Statement) -> bool:
        found = DECLARED.match(statement.text)
        if found is None:
            return False
        kind, name, is_array, is_set = found.groups()
        rest = run.TextPart(statement.text[found.end() :], statement.start + found.end())
        value: Value = Unknown(f"'{name}' has no value in this file")
        if is_set:
            value = self._try(rest)
        elif is_array or kind.lower() == "num":
            value = {} if is_array else 0.0
        self.scopes[-1][self.fold(name)] = value
        return True

    def _run_compact_if(self, statement: run.Statement) -> None:
        """A condition and one statement, without THEN."""
        condition = Expression(statement.text, self, 2, statement.start)
        holds: Value = None
        try:
            holds = bool(condition.value())
        except Unknown as why:
            rest = re.search(r"[)\s](?=[A-Za-z]\w*(\s+[^\s=<>]|;?$))", statement.text[2:])
            at = 2 + rest.end() if rest else 2
            body = [run.Block("", _from(statement, at), [])]
            self._run_each([body], str(why))
        if holds:
            self.execute(_from(statement, condition.token.start))

    def _arguments(self, of: run.TextPart) -> tuple[list[run.TextPart], dict[str, run.TextPart]]:
        """Values of an instruction and its switches, as they are written."""
        args: list[run.TextPart] = []
        switches: dict[str, run.TextPart] = {}
        for part in run.split_parts(of, ","):
            main, *others = run.split_parts(part, "\\")
            if main.text.strip():
                args.append(main)
            for other in others:
                name, sign, _ = other.text.partition(":=")
                at = len(name) + len(sign)
                switches[name.strip().lower()] = run.TextPart(other.text[at:], other.start + at)
        return args, switches

    def _value(self, part: run.TextPart) -> Value:
        return self.evaluate(part.text, part.start)

    def _try(self, part: run.TextPart) -> Value:
        return self.attempt(part.text, part.start)

    def _move(
        self,
        word: re.Match[str],
        args: list[run.TextPart],
        switches: dict[str, run.TextPart],
    ) -> None:
        """Add the move of an instruction; zone and tool follow speed, or come last."""
        family, how, rest = (x.lower() for x in word.groups())
        if family == "search" or how in {"extj", "pnp"} or "displaced" in self.scopes[0]:
            raise self.scopes[0].get("displaced") or Unknown(f"where {word[0]} ends is not known")
        count = 2 if how == "c" else 1
        last = count + 3 if family == "move" else len(args)
        if len(args) < max(last, count + 3):
            raise Unknown(f"{word[0]} has too few arguments")
        *targets, speed = args[: count + 1]
        zone, tool = args[last - 2 : last]
        kind: MoveKind = {"l": "LIN", "c": "CIRC"}.get(how, "PTP")  # type: ignore[assignment]
        base = self._base(switches.get("wobj"))
        spot = self._spot(self._value(targets[-1]), how)
        via = self._spot(self._value(targets[0]), "l").X if count == 2 else None
        fly = self._value(zone)
        step = run.Step(
            kind=kind,
            spot=spot,
            via=via,
            speed=self._speed(speed, switches, kind, spot.X, via),
            zone=0.0 if fly[0] else self.unit * fly[1],
            name=targets[-1].text.strip()[:40],
            target=self._value(targets[-1]),
            base=base,
            tool=self._tool(tool),
        )
        if family in {"arc", "disp", "paint", "laser", "cap"}:
            self.process = rest != "start" and "off" not in switches
        self.move(step)
        if family == "arc" and rest == "end":
            self.process = False

    def _spot(self, value: Value, how: str) -> run.Spot:
        """Where a target is, base frame of its work object."""
        extra = value[1] if how == "absj" else value[3]
        used = {f"eax_{'abcdef'[k]}": x for k, x in enumerate(extra) if abs(x) < UNUSED}
        if how == "absj":
            return run.Spot(None, np.array(value[0], dtype=np.float64), used)
        return run.Spot(_to_metres(to_pose(value)), None, used)

    def _speed(
        self,
        of: run.TextPart,
        switches: dict[str, run.TextPart],
        kind: str,
        X: Floats | None,
        via: Floats | None,
    ) -> float | None:
        """Tool speed [m/s]; None of a joint move and of vmax."""
        value = self._value(of)[0]
        if "v" in switches:
            value = self._value(switches["v"])
        if kind == "PTP":
            self.say("moves of the joints run at their speed limits")
            return None
        if "t" in switches:
            return self.by_time("LIN", X, via, self._value(switches["t"]))
        share = float(self.scopes[0].get("velset", 100.0)) / 100
        return None if value is None else self.unit * value * share

    def _tool(self, of: run.TextPart) -> run.KnownFrame:
        """The tool of a move; one that does not hang on the robot is refused."""
        name = of.text.strip()
        if name.lower() == "tool0":
            return self.frame("tool", "tool0", np.eye(4))
        value = self._try(of)
        if isinstance(value, Unknown):
            return self.frame("tool", name)
        if not value[0]:
            raise Unknown(f"tool {name} is not held by the robot")
        return self.frame("tool", name, _to_metres(to_pose(value[1])), _load_of(value[2]))

    def _base(self, of: run.TextPart | None) -> run.KnownFrame:
        """The work object of a move; one that a mechanical unit moves is refused by name."""
        name = "wobj0" if of is None else of.text.strip()
        value = Unknown("") if of is None else self._try(of)
        if name.lower() == "wobj0":
            return self.frame("base", name, np.eye(4))
        if isinstance(value, Unknown):
            return self.frame("base", name)
        if value[0] or not value[1] or value[2]:
            unit = value[2] or "the robot"
            raise Unknown(f"work object {name} is moved by {unit}, which is not simulated")
        return self.frame("base", name, _to_metres(to_pose(value[3]) @ to_pose(value[4])))


def _from(statement: run.Statement, at: int) -> run.Statement:
    """The rest of a statement."""
    return run.Statement(statement.text[at:], statement.start + at, statement.line)


def _load_of(value: Value) -> Body | None:
    """The load of tool data: mass, centre [mm], axes of the moments, moments [kg m²]."""
    mass, centre, axes, *moments = value
    metres = [1e-3 * x for x in centre]
    return run.load_of(mass, metres, moments, from_quaternion(*axes))


def _to_metres(X: Floats) -> Floats:
    return pose(X[:3, :3], 1e-3 * X[:3, 3])

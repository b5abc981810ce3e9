"""URScript of Universal Robots: functions, poses p[x, y, z, rx, ry, rz] in m and rad."""

import math
import re
from collections.abc import Callable, Iterator

import numpy as np

from armtwin.maths.batch import Floats, Record
from armtwin.maths.rotations import inverse, pose
from armtwin.motion.moves import MoveKind
from armtwin.programs.execution import Execution, KnownFrame, Spot, Statement, Step, load_of
from armtwin.programs.values import Unknown, Value, blank, known, without_remarks


class RotationVectorPose(list[float]):
    """Position [m] and rotation vector [rad]."""


def to_pose(value: Value) -> Floats:
    """Pose of position and rotation vector."""
    from scipy.spatial.transform import Rotation

    if len(value) != 6:
        raise Unknown("a pose must have six numbers")
    return pose(Rotation.from_rotvec(value[3:]).as_matrix(), value[:3])


def from_pose(X: Floats) -> RotationVectorPose:
    """Position and rotation vector of a pose."""
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(X[:3, :3]).as_rotvec()
    return RotationVectorPose([*X[:3, 3].tolist(), *turn.tolist()])


def _add(a: Value, b: Value) -> RotationVectorPose:
    A, B = to_pose(a), to_pose(b)
    return from_pose(pose(A[:3, :3] @ B[:3, :3], A[:3, 3] + B[:3, 3]))


class UrScript(Execution):
    """A script as it is run."""

    first_index = 0
    kinds = (
        (r"(def|thread|sec)\b", "proc"),
        (r"if\b", "if"),
        (r"elif\b", "elif"),
        (r"else\b", "else"),
        (r"while\b", "while"),
        (r"(switch|for)\b", "switch"),
        (r"end$", "end"),
    )
    case = re.DOTALL
    unit = 1.0
    functions: dict[str, Callable[..., Value]] = {
        "p": lambda *numbers: RotationVectorPose(numbers),
        "pose_trans": lambda a, b: from_pose(to_pose(a) @ to_pose(b)),
        "pose_add": _add,
        "pose_inv": lambda a: from_pose(inverse(to_pose(a))),
        "get_inverse_kin": lambda p, *_, **__: p,
        "d2r": math.radians,
        "r2d": math.degrees,
        "length": lambda of: float(len(of)),
        **{name: getattr(math, name) for name in ("sin", "cos", "tan", "acos", "asin", "atan")},
        **{name: getattr(math, name) for name in ("atan2", "sqrt", "floor", "ceil", "pow")},
    }
    quiet = re.compile(
        r"set_(?!tcp|payload\b|target_payload\b)\w+|write_\w+|textmsg|popup|sync|stop[jl]|modbus_\w+|socket_\w+|rpc_\w+|run\b"
        r"|kill\b|join\b|enter_critical|exit_critical|halt|rtde_\w+|zero_ftsensor|protective_stop"
        r"|request_\w+|assert|pause|import\b|interpreter_mode|clear_interpreter|end_interpreter"
        r"|rg_grip|rq_\w+|def\b|pass\b|start_\w+|reset_\w+|tool_\w+|gripper_\w+|\$\s*\d+"
    )
    identity = KnownFrame("base", np.eye(4))

    def fold(self, name: str) -> str:
        """Names are compared as they are written."""
        return name

    def statements(self) -> Iterator[Statement]:
        """A statement a line; one with open brackets goes on."""
        text = without_remarks(self.source.text, "#")
        while True:
            plain = re.sub(r"\bp\[([^\[\]]*)\]", r"p(\1)", text)
            if plain == text:
                break
            text = plain
        start, begin, part = 0, 0, ""
        first = number = 0
        for number, line in enumerate(text.splitlines(keepends=True), 1):
            if not part:
                begin, first = start, number
            part += line
            start += len(line)
            if part.count("(") + part.count("[") > part.count(")") + part.count("]"):
                continue
            body = part.strip(" \t\r\n\ufeff;")
            if body:
                yield Statement(body, begin + part.index(body), first)
            part = ""
        if part.strip():
            yield Statement(part.strip(), begin, first)

    def execute(self, statement: Statement) -> None:
        """Do what a statement says."""
        text = statement.text
        word = (re.match(r"\w+", text) or [""])[0]
        if word == "return":
            self.leave("return", self.evaluate(text[6:], statement.start + 6) if text[6:] else None)
        elif word in {"break", "continue"}:
            self.leave("break")
        elif self.assign(statement) or (word not in self.routines and self.quiet.match(text)):
            return
        elif re.match(r"\w+\s*\(", text):
            self.evaluate(text, statement.start)
        else:
            raise Unknown(f"'{text[:40]}' is not understood")

    def assign(self, statement: Statement) -> bool:
        """Do an assignment; in a function it is its own unless the name is global."""
        text = re.sub(r"^(global|local)(?=\s)", lambda x: blank(x[0]), statement.text)
        if re.match(r"\s*\w+\s*\(", text) and not re.match(r"\s*\w+\s*=", text):
            return False
        return super().assign(Statement(text, statement.start, statement.line))

    def call(self, name: str, args: list[Value], switches: Record) -> Value:
        """A function: of the file first, then moves and what is built in."""
        if name not in self.routines and name not in self.functions:
            own = getattr(self, f"do_{name}", None)
            if own is not None:
                return own(*args, **switches)
            if self.quiet.match(name):
                return None
            if not re.match(r"(get|read|is|to|str)_|random", name):
                self.event(name)
        return super().call(name, args, switches)

    def do_set_tcp(self, tcp: Value, *_: Value, **__: Value) -> None:
        """The tool by its pose in the flange's frame."""
        self.scopes[0]["$tcp"] = to_pose(tcp)

    def do_set_payload(self, m: float, cog: Value = None, inertia: Value = None) -> None:
        """What hangs on the flange: mass, centre and inertia about it, in the flange's axes."""
        known_load = None if cog is None else load_of(m, cog, inertia or [0.0] * 3)
        self.scopes[0]["$load"] = known_load

    do_set_target_payload = do_set_payload

    def do_sleep(self, t: float) -> None:
        """Wait."""
        self.pause(t)

    def do_movej(
        self, q: Value, a: float = 1.4, v: float = 1.05, t: float = 0, r: float = 0
    ) -> None:
        """A move of the joints, to joint angles or to a pose."""
        self._move("PTP", q, None, (v, t, r))

    def do_movel(
        self, pose: Value, a: float = 1.2, v: float = 0.25, t: float = 0, r: float = 0
    ) -> None:
        """A straight move."""
        self._move("LIN", pose, None, (v, t, r))

    def do_movep(self, pose: Value, a: float = 1.2, v: float = 0.25, r: float = 0) -> None:
        """A straight move of a process, at constant speed."""
        self._move("LIN", pose, None, (v, 0, r))

    def do_movec(
        self,
        pose_via: Value,
        pose_to: Value,
        a: float = 1.2,
        v: float = 0.25,
        r: float = 0,
        mode: float = 0,
    ) -> None:
        """A move along an arc."""
        self._move("CIRC", pose_to, pose_via, (v, 0, r))

    def _move(
        self, kind: MoveKind, target: Value, via: Value, how: tuple[float, float, float]
    ) -> None:
        speed, time, zone = how
        spot, between = self._spot(target), None if via is None else self._spot(via).X
        if kind == "CIRC" and (between is None or spot.X is None):
            raise Unknown("an arc through joint targets is not supported")
        limit = None if self.source.robot is None else self.source.robot.limits.velocity
        share = None if limit is None else min(1.0, speed / float(np.nanmax(limit)))
        if time > 0 and kind != "PTP":
            speed = self.by_time(kind, spot.X, between, time)
        tcp, load = (self.scopes[0].get(key) for key in ("$tcp", "$load"))
        tool = self.frame("tool", "TCP", known(tcp), load)
        first = re.search(r"\(\s*([^,()]+)", self.statement.text)
        step = Step(
            kind=kind,
            spot=spot,
            via=between,
            speed=share if kind == "PTP" else speed,
            zone=float(zone) if kind != "PTP" else 0.0,
            name=first[1].strip()[:40] if first else "",
            target=target,
            base=self.identity,
            tool=tool,
        )
        self.move(step)

    def _spot(self, value: Value) -> Spot:
        """Where a target is."""
        if isinstance(value, RotationVectorPose):
            return Spot(to_pose(value))
        if not isinstance(value, list) or len(value) != 6:
            raise Unknown("a target must have six numbers")
        return Spot(None, np.degrees(np.array(value, dtype=np.float64)))

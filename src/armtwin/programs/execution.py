"""A program run without a robot: constants, loops and procedures are, inputs and sensors are not.

What depends on a condition that is not known is read branch by branch. There, and where a statement
or a target is not understood, the stretch of known moves ends and another one begins.
"""

import re
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.maths.batch import Floats, NamedNumbers, Pair, Record
from armtwin.maths.rotations import inverse, pose
from armtwin.motion.moves import MoveKind
from armtwin.motion.path import arc_through
from armtwin.programs.values import PLACE, Expression, Unknown, Value, known, put
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Body, SixInertias

MOST_STEPS = 500_000  # statements that are run of a program, and moves of it
DEEPEST = 25  # calls within calls
MOST_ROUNDS = 20_000  # of a loop
SAME_AXIS = 1e-4  # change of an external axis that is none [mm, deg]
BROKEN = (TypeError, LookupError, ValueError, ArithmeticError, AttributeError, RecursionError)
OPENING = {"proc", "if", "for", "while", "loop", "repeat", "switch"}
Kinds = tuple[tuple[str, str], ...]


class Statement(NamedTuple):
    """A statement: its text without comments, where that begins, and its line from 1."""

    text: str
    start: int
    line: int


NO_STATEMENT = Statement("", 0, 0)


class Block(NamedTuple):
    """A statement with what belongs to it: branches with the statement that opens each."""

    kind: str
    head: Statement
    branches: list[tuple[Statement, "list[Block]"]]


class KnownFrame(NamedTuple):
    """A tool or base as a program names it; None where the file has no values for it.

    Attributes:
        name: Its name.
        X: Its pose, (4, 4).
        load: Of a tool: its mass, centre and inertia in the flange's frame.
    """

    name: str
    X: Floats | None
    load: Body | None = None


class Spot(NamedTuple):
    """Where a move leads: pose (4, 4) in its base, or joints [deg], and external axes by name."""

    X: Floats | None
    joints: Floats | None = None
    external: NamedNumbers = {}


@dataclass(frozen=True, eq=False)
class Step:
    """A move as it is written.

    Attributes:
        kind: As of a `ProgramMove`.
        spot: Where it leads.
        via: Pose between, of a CIRC only, (4, 4).
        speed: Tool speed [m/s], of a PTP a share; None for as fast as limits allow.
        zone: Distance within which it may be left for the next move [m].
        wait: Time at rest after it [s].
        joined: Whether it continues a spline.
        judged: Whether the process is on; None where nothing in the program says so.
        statement: Where it is written.
        name: What the target is called.
        target: The target as a value, whose numbers know where they are written.
        base: Frame of the pose.
        tool: Tool that is led.
    """

    kind: MoveKind
    spot: Spot
    via: Floats | None
    speed: float | None
    zone: float
    name: str
    target: Value
    base: KnownFrame
    tool: KnownFrame
    wait: float = 0.0
    joined: bool = False
    judged: bool | None = None
    statement: Statement = NO_STATEMENT

    @property
    def line(self) -> int:
        """Its line in the source."""
        return self.statement.line


class Remark(NamedTuple):
    """What a reader says of a line; whether a move or statement there is not known."""

    line: int
    text: str
    is_gap: bool = True


@dataclass(frozen=True)
class SideValues:
    """What a side file gives: frames, tools, values and routines that do not move the robot.

    Attributes:
        base: Frames by the names that a program gives them, (4, 4) each.
        tool: Tools by name, in the flange's frame.
        load: Mass, centre and inertia of tools by name, in the flange's frame.
        values: Other values by name.
        no_motion: Routines that do not move the robot.
        zone: Distance of zones where the dialect gives none [m].
        angles: Convention of the words A, B, C of G-code.
        seams: Lines from and to of moves with the process on; none where the program says it.
    """

    base: dict[str, Floats] = field(default_factory=dict)
    tool: dict[str, Floats] = field(default_factory=dict)
    load: dict[str, Body] = field(default_factory=dict)
    values: Record = field(default_factory=dict)
    no_motion: tuple[str, ...] = ()
    zone: float | None = None
    angles: str = ""
    seams: tuple[Pair, ...] = ()


class _Leave(Exception):
    """The end of a routine (value: what it returns) or of a loop (a break)."""

    def __init__(self, kind: str, value: Value = None) -> None:
        self.kind, self.value = kind, value


class SourceText(NamedTuple):
    """The text of a program, where it is from, and what else is known of it."""

    text: str
    path: Path
    given: SideValues
    robot: Robot | None = None


class TextPart(NamedTuple):
    """A part of a statement and where it begins in the file."""

    text: str
    start: int


def split_parts(of: TextPart, sign: str) -> list[TextPart]:
    """Parts between signs outside of brackets and texts."""
    found, depth, begin, quote = [], 0, 0, ""
    for at, letter in enumerate(of.text):
        if quote or letter in "\"'":
            quote = letter if not quote else "" if letter == quote else quote
        elif letter in "([{":
            depth += 1
        elif letter in ")]}":
            depth -= 1
        elif letter == sign and depth == 0:
            found.append(TextPart(of.text[begin:at], of.start + begin))
            begin = at + 1
    return [*found, TextPart(of.text[begin:], of.start + begin)]


class Execution:
    """What a dialect shares with the others: control flow, names, moves; one for each file."""

    functions: dict[str, Callable[..., Value]] = {}
    indexed_by = "["
    fields_by_name = False
    first_index = 1
    quiet: re.Pattern[str]  # statements that move nothing
    kinds: Kinds = ()  # of statements: how one begins, and its kind, of `OPENING` or as below
    case = re.IGNORECASE | re.DOTALL
    unit = 1e-3  # of a length [m]

    def __init__(self, source: SourceText) -> None:
        self.source, self.given = source, source.given
        self.scopes: list[Record] = [{}]
        self.routines: dict[str, Block] = {}
        self.called: set[str] = set()
        self.steps: list[Step | None] = []
        self.remarks: list[Remark] = []
        self.statement = NO_STATEMENT
        self.process: bool | None = None
        self.count = 0
        self.depth = 0

    # what a dialect says

    @abstractmethod
    def statements(self) -> Iterable[Statement]:
        """The statements of the text."""

    @abstractmethod
    def execute(self, statement: Statement) -> None:
        """Do what a statement says."""

    def classify(self, text: str) -> str:
        """The kind of a statement: one of `OPENING`, "end", "elif", "else" or ""."""
        return next((kind for words, kind in self.kinds if re.match(words, text, self.case)), "")

    def routine(self, text: str) -> tuple[str, list[str]]:
        """Name and parameters of a routine, as its first statement says."""
        found = re.search(r"([\w$]+)\s*\(([^)]*)\)?", text)
        name, inside = found.groups() if found else (text, "")
        parts = re.split(r"[,\\]", inside)
        words = [re.findall(r"[\w$]+", part.partition(":")[0]) for part in parts]
        return self.fold(name), [self.fold(word[-1]) for word in words if word]

    def condition(self, text: str) -> str:
        """The condition or the range of a statement that opens a branch."""
        found = re.match(r"\s*\w+(.*?)\s*(?:\bTHEN|\bDO|:)?\s*$", text, re.IGNORECASE | re.DOTALL)
        return found[1] if found else ""

    def loop_range(self, text: str) -> tuple[str, Value, Value, Value]:
        """Name, first, last and step of a loop."""
        words = r"\s*FOR\s+(.+?)\s*(?:\bFROM\b|=)(.+?)\bTO\b(.+?)(?:\bSTEP\b(.+?))?(?:\bDO\b)?\s*$"
        found = re.match(words, text, re.IGNORECASE | re.DOTALL)
        if found is None:
            raise Unknown("the range of the loop is not understood")
        name, *bounds = found.groups()
        first, last, step = (self.evaluate(x) if x else 1.0 for x in bounds)
        return name.strip(), first, last, step

    def fold(self, name: str) -> str:
        """A name as it is compared: no matter how it is written."""
        return name.lower()

    def key(self, of: Value, key: Value) -> Value:
        """A field or index of a value, as Python has it."""
        if isinstance(of, list) and isinstance(key, float):
            return int(key) - self.first_index
        return key

    # reading

    def read(self) -> None:
        """Run the program: its main routine first, then those that were not called."""
        nodes = self.build()
        for node in nodes:
            if node.kind == "proc":
                self.routines[self.routine(node.head.text)[0]] = node
        with suppress(_Leave):
            self.run([node for node in nodes if node.kind != "proc"])
        initial = dict(self.scopes[0])
        for name in sorted(self.routines, key=lambda name: name != "main"):
            if name in self.called:
                continue
            self.cut()
            self.scopes = [dict(initial)]
            _, names = self.routine(self.routines[name].head.text)
            try:
                self.call_routine(name, [Unknown(f"'{x}' is an argument") for x in names])
            except Unknown as why:
                self.refuse(str(why))
        self.cut()

    def build(self) -> list[Block]:
        """Statements as a tree."""
        top: list[Block] = []
        open_nodes: list[Block] = []
        here = top
        for statement in self.statements():
            kind = self.classify(statement.text)
            if kind == "end":
                if open_nodes:
                    if open_nodes[-1].kind == "repeat":
                        open_nodes[-1].branches.append((statement, []))
                    open_nodes.pop()
                here = open_nodes[-1].branches[-1][1] if open_nodes else top
            elif kind in {"elif", "else"} and open_nodes:
                here = []
                open_nodes[-1].branches.append((statement, here))
            else:
                node = Block(kind, statement, [])
                (top if kind == "proc" else here).append(node)
                if kind in OPENING:
                    here = []
                    node.branches.append((statement, here))
                    open_nodes.append(node)
        return top

    def run(self, nodes: Iterable[Block]) -> None:
        """Run statements one after the other."""
        for node in nodes:
            self.statement = node.head
            self.count += 1
            if self.count > MOST_STEPS or len(self.steps) > MOST_STEPS:
                what = f"runs more than {MOST_STEPS} statements or moves"
                raise FileError(self.source.path, f"line {node.head.line}: {what}")
            try:
                if node.kind in OPENING:
                    getattr(self, f"_run_{node.kind}")(node)
                else:
                    self.execute(node.head)
            except FileError:
                raise
            except (Unknown, ArmtwinError) as why:
                self.refuse(str(why))
            except BROKEN:
                self.refuse(f"'{node.head.text[:40]}' is not understood")

    def refuse(self, why: str) -> None:
        """Say that the statement is not understood; the stretch ends here."""
        self.remarks.append(Remark(self.statement.line, why))
        self.cut()

    @property
    def gaps(self) -> int:
        """How many statements are not understood."""
        return sum(remark.is_gap for remark in self.remarks)

    def say(self, text: str) -> None:
        """Say what is assumed, once."""
        if all(remark.text != text for remark in self.remarks):
            self.remarks.append(Remark(self.statement.line, text, is_gap=False))

    def cut(self) -> None:
        """End the stretch of known moves."""
        if self.steps and self.steps[-1] is not None:
            self.steps.append(None)

    def _run_proc(self, node: Block) -> None:
        """A routine is run where it is called."""

    def _run_if(self, node: Block) -> None:
        for k, (head, body) in enumerate(node.branches):
            is_last = self.classify(head.text) == "else"
            try:
                holds = is_last or bool(self.evaluate(self.condition(head.text), head.start))
            except Unknown as why:
                self._run_each([body for _, body in node.branches[k:]], str(why))
                return
            if holds:
                self.run(body)
                return

    def _run_switch(self, node: Block) -> None:
        self._run_each([body for _, body in node.branches], "the case is known at run time only")

    def _run_each(self, bodies: list[list[Block]], why: str) -> None:
        """Run branches of which one will be; what they change is not known afterwards."""
        mark, before = len(self.steps), [dict(scope) for scope in self.scopes]
        gaps = self.gaps
        line = self.statement
        self.cut()
        after = []
        for body in bodies:
            self.scopes = [dict(scope) for scope in before]
            with suppress(_Leave):
                self.run(body)
            after.append(self.scopes)
            self.cut()
        self.scopes = before
        for changed in after:
            self._forget(changed, why)
        moved = any(step is not None for step in self.steps[mark:])
        if moved or self.gaps > gaps:
            self.statement = line
            self.say(f"either of its branches is read, as stretches of their own: {why}")
        else:
            del self.steps[mark:]

    def _forget(self, changed: list[Record], why: str) -> None:
        """What is not known any more after a branch: names whose value it changed."""
        for scope, other in zip(self.scopes, changed, strict=True):
            for name, value in other.items():
                if name not in scope or scope[name] is not value:
                    scope[name] = Unknown(f"'{name}' depends on a condition: {why}")

    def _repeat_unknown(self, body: list[Block], why: str) -> None:
        """A loop of which it is not known how often it runs: read once, beginning with nothing."""
        mark, said = len(self.steps), len(self.remarks)
        self._run_each([body], why)
        del self.steps[mark:], self.remarks[said:]
        self._run_each([body], why)

    def _run_for(self, node: Block) -> None:
        head, body = node.branches[0]
        try:
            name, first, last, step = self.loop_range(head.text)
            count = int((last - first) / step + 1e-9) + 1
        except (Unknown, ValueError, TypeError, ZeroDivisionError) as why:
            self._repeat_unknown(body, str(why))
            return
        if count > MOST_ROUNDS:
            raise Unknown(f"the loop runs {count} times, more than {MOST_ROUNDS}")
        for k in range(count):
            self.store(name, first + k * step)
            if self._round(body):
                break

    def _round(self, body: list[Block]) -> bool:
        """Run the body of a loop once; whether the loop ends there."""
        try:
            self.run(body)
        except _Leave as leave:
            if leave.kind == "return":
                raise
            return True
        return False

    def _run_while(self, node: Block) -> None:
        head, body = node.branches[0]
        text = self.condition(head.text)
        is_endless = text.strip(" ()").lower() == "true"
        for _ in range(MOST_ROUNDS):
            try:
                if not self.evaluate(text, head.start):
                    return
            except Unknown as why:
                self._repeat_unknown(body, str(why))
                return
            if self._round(body):
                return
            if is_endless:
                self._end_endless()
                return
        raise Unknown(f"the loop runs more than {MOST_ROUNDS} times")

    def _run_loop(self, node: Block) -> None:
        self._round(node.branches[0][1])
        self._end_endless()

    def _end_endless(self) -> None:
        self.say("an endless loop is read once")
        self.cut()

    def _run_repeat(self, node: Block) -> None:
        self._repeat_unknown(node.branches[0][1], "how often it runs is known at run time only")

    def leave(self, kind: str, value: Value = None) -> None:
        """End a routine, "return", or a loop, "break"."""
        raise _Leave(kind, value)

    # names

    def evaluate(self, text: str, start: int = 0) -> Value:
        """The value of a text that begins at a place of the file."""
        return Expression(text, self, offset=start).whole()

    def attempt(self, text: str, start: int = 0) -> Value:
        """A value, or why it is not known."""
        try:
            return self.evaluate(text, start)
        except Unknown as why:
            return why

    def look_up(self, name: str) -> Value:
        """The value of a name."""
        for scope in (self.scopes[-1], self.scopes[0], self.given.values):
            if name in scope:
                return known(scope[name])
        raise Unknown(f"'{name}' has no value in this file")

    def call(self, name: str, args: list[Value], switches: Record) -> Value:
        """The value of a function, built in or of the file."""
        if name in self.functions:
            return self.functions[name](*args, **switches)
        if name in self.routines:
            return self.call_routine(name, args)
        raise Unknown(f"{name}() is known at run time only")

    def call_routine(self, name: str, args: list[Value]) -> Value:
        """Run a routine of the file."""
        if self.depth >= DEEPEST:
            raise Unknown(f"{name} calls itself too often")
        node = self.routines[name]
        self.called.add(name)
        _, names = self.routine(node.head.text)
        self.depth += 1
        here = self.statement
        self.scopes.append(dict(zip(names, args, strict=False)))
        try:
            self.run(node.branches[0][1])
        except _Leave as leave:
            return leave.value
        finally:
            self.scopes.pop()
            self.depth -= 1
            self.statement = here
        return None

    def pick(self, of: Value, key: Value) -> Value:
        """A field, by name, or an item, by number or numbers."""
        keys = key if isinstance(key, tuple) else (key,)
        for one in keys:
            try:
                found = of[self.key(of, one)]
            except (LookupError, TypeError):
                raise Unknown(f"'{one}' is no part of this value") from None
            of = found
        return known(of)

    def store(self, place: str, value: Value) -> None:
        """Give a name, or a part of its value, a value."""
        name, *parts = re.findall(r"[$]?[^\W\d][\w$]*|\.\s*\w+|\[[^\]]*\]|\{[^}]*\}", place)
        name = self.fold(name)
        known: Value = next((s[name] for s in (self.scopes[-1], self.scopes[0]) if name in s), {})
        keys, part = [], {} if isinstance(known, Unknown) else known
        for word in parts:
            found = (word[1:].strip().lower(),)
            if word[0] != ".":
                found = tuple(Expression(word[1:], self).items("]" if word[0] == "[" else "}"))
            for one in found:
                keys.append(self.key(part, one))
                try:
                    part = part[keys[-1]]
                except (LookupError, TypeError):
                    part = {}
        is_local = len(self.scopes) > 1 and name in self.scopes[-1]
        scope = self.scopes[-1] if is_local else self.scopes[0]
        scope[name] = put({} if isinstance(known, Unknown) else known, keys, value)

    def assign(self, statement: Statement) -> bool:
        """Do an assignment; False where the statement is none."""
        found = PLACE.match(statement.text)
        if found is None:
            return False
        value = self.attempt(statement.text[found.end() :], statement.start + found.end())
        self.store(found[1], value)
        return True

    # moves

    @property
    def here(self) -> Floats:
        """Pose where the move before ended, in its base."""
        last = self.steps[-1] if self.steps else None
        if last is None:
            raise Unknown("where the move before ended is not known")
        if last.spot.X is not None:
            return last.spot.X
        robot, base, tool = self.source.robot, last.base.X, last.tool.X
        if robot is None or base is None or tool is None or last.spot.joints is None:
            raise Unknown("it depends on the pose of a joint target: --robot is needed")
        flange = robot.forward_kinematics(np.radians(last.spot.joints), frame="flange")
        return inverse(base) @ flange @ tool

    def frame(
        self, kind: str, name: str, X: Floats | None = None, load: Body | None = None
    ) -> KnownFrame:
        """A base or tool by its name, where the program has no values with the side file's."""
        given: dict[str, Floats] = getattr(self.given, kind)
        pose = given.get(name, given.get(name.lower())) if X is None else X
        return KnownFrame(name, pose, self.given.load.get(name, load) if kind == "tool" else None)

    def move(self, step: Step) -> None:
        """Add a move; one that also moves an external axis is refused by name."""
        last = self.steps[-1] if self.steps else None
        if last is not None:
            for axis, value in step.spot.external.items():
                before = last.spot.external.get(axis, value)
                if abs(value - before) > SAME_AXIS:
                    self.refuse(
                        f"external axis {axis.upper()} changes from {before:g} to {value:g}: a "
                        "second chain is not simulated"
                    )
                    break
            if last.tool.name != step.tool.name:
                self.say(f"the tool changes to {step.tool.name}: another stretch begins")
                self.cut()
        if step.spot.X is not None and not np.isfinite(step.spot.X).all():
            raise Unknown("its target is not a number")
        if step.speed is not None and not step.speed > 0:
            raise Unknown(f"its speed must be above 0, got {step.speed:g}")
        is_named = re.fullmatch(r"[\w$ .:\[\]{}-]+", step.name) and step.name[0] not in "[{"
        line = self.statement.line
        name = step.name if is_named else f"line {line}"
        judged = self.process
        if self.given.seams:
            judged = any(first <= line <= last for first, last in self.given.seams)
        self.steps.append(replace(step, statement=self.statement, judged=judged, name=name))

    def by_time(self, kind: MoveKind, X: Floats | None, via: Floats | None, time: float) -> float:
        """Speed of a move that takes a time [m/s]."""
        if X is None or kind == "PTP" or not time > 0:
            raise Unknown("its speed follows from a time and is not known")
        length = float(np.linalg.norm(X[:3, 3] - self.here[:3, 3]))
        if via is not None:
            length = arc_through(self.here[:3, 3], via[:3, 3], X[:3, 3], "arc").length
        if not length > 0:
            raise Unknown("its speed follows from a time and a length of 0")
        return length / time

    def pause(self, seconds: float | None) -> None:
        """Wait after the move before, which ends in an exact stop then."""
        if self.steps and self.steps[-1] is not None:
            last = self.steps[-1]
            self.steps[-1] = replace(last, zone=0.0, wait=last.wait + (seconds or 0.0))
        if seconds is None:
            self.say("how long it waits is not known: an exact stop without a wait")

    def event(self, name: str) -> None:
        """A routine that is not in the file: refused unless it is known to move nothing."""
        if name.lower() not in self.given.no_motion:
            raise Unknown(
                f"{name} is not in this file and may move the robot; name it in no_motion of the "
                "side file if it does not"
            )

    def stretches(self) -> Iterator[list[Step]]:
        """Known moves one after the other."""
        found: list[Step] = []
        for step in self.steps:
            if step is not None:
                found.append(step)
            elif found:
                yield found
                found = []
        if found:
            yield found


def load_of(
    mass: float, centre: Iterable[float], moments: Iterable[float], R: Floats | None = None
) -> Body | None:
    """A load in the flange's frame; none where controllers have a mass of 0 or -1 for "not given".

    Args:
        mass: Mass [kg].
        centre: Centre of mass [m].
        moments: About the centre: xx, yy, zz, and xy, xz, yz where there are six [kg m²].
        R: Axes of the moments in the flange's frame, (3, 3).
    """
    xx, yy, zz, xy, xz, yz = [*moments, 0.0, 0.0, 0.0][:6]
    about = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]], dtype=np.float64)
    if not mass > 0:
        return None
    if R is not None:
        about = R @ about @ R.T
    x, y, z = centre
    inertia = SixInertias(*about[[0, 1, 2, 0, 0, 1], [0, 1, 2, 1, 2, 2]].tolist())
    return Body(float(mass), com=(x, y, z), inertia=inertia if about.any() else None)


def turn_arc(start: Floats, centre: Floats, axis: Floats, angle: float) -> list[Floats]:
    """Poses on an arc from a pose about an axis through a centre: halves and ends of its parts."""
    from scipy.spatial.transform import Rotation

    found = []
    arm = start[:3, 3] - centre
    parts = 2 * max(1, int(np.ceil(abs(angle) / np.pi - 1e-9)))
    for k in range(1, parts + 1):
        turned = Rotation.from_rotvec(axis * angle * k / parts).apply(arm)
        found.append(pose(start[:3, :3], centre + turned))
    return found

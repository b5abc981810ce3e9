"""Programs written again: other targets in the statements that have them, all else byte for byte.

A move that goes through more points than its own becomes that many moves: lines with zones between
them, or in KRL, from stop to stop, a spline block. Moves alone are written as whole programs.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Literal, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import inverse, pose, to_quaternion, to_rpy
from armtwin.motion.curves import Given, Spline
from armtwin.motion.moves import ProgramMove
from armtwin.programs.execution import Step, TextPart, split_parts
from armtwin.programs.table import ProgramFile
from armtwin.programs.values import SPEEDS, Value

MOVE_OF_RAPID = re.compile(r"(\w+?)(L|C)(\w*)\b", re.IGNORECASE)
LEAST_BLEND = 0.495  # of the shorter neighbour: blends of URScript must not meet
SAME_TARGET = 1e-9  # [m] by which a target is as it is written
ACCURACY = 5e-7  # of lines in the place of a spline [m]
LOOKED_AT = 400  # places of a spline
SAME_SPEED = 1e-6  # relative difference of two speeds that is none
KRL_SET = re.compile(r"(?:\$VEL\.CP\s*=|#(?:CP_PARAMS|VEL_CP)\s*,)\s*([\d.]+)", re.I)
LS_SPEED = re.compile(r"([\d.]+|R\[[^\]]*\]|\w+_SPEED)\s*(mm/se[ck]|cm/min|inch/min)", re.I)

UNUSED = "[9E9,9E9,9E9,9E9,9E9,9E9]"


def join_numbers(values: Sequence[float] | Floats, digits: int = 5) -> str:
    """Numbers with digits after the point, separated by commas."""
    return ",".join(f"{round(float(x), digits) + 0.0:.{digits}f}" for x in values)


def _millimetres_and_degrees(X: Floats) -> list[float]:
    """Position, and roll, pitch, yaw."""
    return [*(1e3 * X[:3, 3]), *np.degrees(to_rpy(X[:3, :3]))]


def krl_frame(X: Floats) -> str:
    """A frame in KRL."""
    words = zip("XYZCBA", _millimetres_and_degrees(X), strict=True)
    found = {key: f"{key} {round(x, 5) + 0.0:.5f}" for key, x in words}
    return "{" + ",".join(found[key] for key in "XYZABC") + "}"


def _krl(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    yield from (f"DEF {name} ( )", "BAS (#INITMOV,0 )", f"TOOL_DATA[1]={krl_frame(tool)}")
    yield from ("$BASE=$NULLFRAME", "$TOOL=TOOL_DATA[1]")
    said: set[str] = set()
    for k, m in enumerate(moves):
        fly = " C_DIS" if m.zone else ""
        speed = "" if m.speed is None else f"BAS (#VEL_PTP,{100 * m.speed:.9g})"
        if m.kind != "PTP":
            speed = f"$VEL.CP={m.speed or 2.0:.9g}"
        for setting in (speed, f"$APO.CDIS={1e3 * m.zone:.9g}" if m.zone else ""):
            if setting and setting not in said:
                said = {x for x in said if x.partition("=")[0] != setting.partition("=")[0]}
                said.add(setting)
                yield setting
        if m.kind == "SPLINE":
            if not m.joined:
                yield "SPLINE"
            yield f"  SPL {krl_frame(m.poses[0])}"
            if k + 1 == len(moves) or not moves[k + 1].joined:
                yield "ENDSPLINE"
        elif m.joints is not None:
            axes = zip(range(1, 7), np.degrees(m.joints), strict=True)
            yield "PTP {" + ",".join(f"A{i} {x:.6f}" for i, x in axes) + "}"
        else:
            yield f"{m.kind} {','.join(map(krl_frame, m.poses))}{fly}"
        if m.wait:
            yield f"WAIT SEC {m.wait:g}"
    yield "END"


def _rapid_pose(X: Floats) -> str:
    return f"[{join_numbers(1e3 * X[:3, 3])}],[{join_numbers(to_quaternion(X[:3, :3]), 10)}]"


def _rapid(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    yield f"MODULE {name}"
    yield f"PERS tooldata tJob:=[TRUE,[{_rapid_pose(tool)}],[1,[0,0,1],[1,0,0,0],0,0,0]];"
    yield "PROC main()"
    for m in moves:
        speed = (
            "vmax" if m.speed is None or m.kind == "PTP" else f"[{1e3 * m.speed:.9g},500,5000,1000]"
        )
        zone = f"[FALSE,{1e3 * m.zone:.9g},0,0,0,0,0]" if m.zone else "fine"
        if m.joints is not None:
            yield f"MoveAbsJ [[{join_numbers(np.degrees(m.joints))}],{UNUSED}],{speed},{zone},tJob;"
        else:
            word = {"PTP": "MoveJ", "LIN": "MoveL", "CIRC": "MoveC"}[m.kind]
            targets = [f"[{_rapid_pose(X)},[0,0,0,0],{UNUSED}]" for X in m.poses]
            yield f"{word} {','.join(targets)},{speed},{zone},tJob;"
        if m.wait:
            yield f"WaitTime {m.wait:g};"
    yield from ("ENDPROC", "ENDMODULE")


def _urscript_pose(X: Floats, digits: int = 9) -> str:
    from scipy.spatial.transform import Rotation

    turn = Rotation.from_matrix(X[:3, :3]).as_rotvec()
    return f"p[{join_numbers([*X[:3, 3], *turn], digits)}]"


def _urscript(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    yield from (f"def {name}():", f"  set_tcp({_urscript_pose(tool)})")
    for m in moves:
        words = [] if m.kind == "PTP" else [f"v={m.speed or 1.0:.9g}"]
        words += [f"r={m.zone:.9g}"] if m.zone and m.kind != "PTP" else []
        targets = [_urscript_pose(X) for X in m.poses]
        if m.joints is not None:
            targets = [f"[{join_numbers(m.joints, 9)}]"]
        word = {"PTP": "movej", "LIN": "movel", "CIRC": "movec"}[m.kind]
        yield f"  {word}({', '.join([*targets, *words])})"
        if m.wait:
            yield f"  sleep({m.wait:g})"
    yield from ("end", f"{name}()")


def _ls(name: str, tool: Floats, moves: Sequence[ProgramMove]) -> Iterator[str]:
    yield from (
        f"/PROG  {name.upper()}",
        "/ATTR",
        "/MN",
        "   1:  UFRAME_NUM=0 ;",
        "   2:  UTOOL_NUM=1 ;",
    )
    positions: list[str] = []
    line = 2
    for m in moves:
        line += 1
        numbers = []
        for X in m.poses:
            words = zip("XYZWPR", _millimetres_and_degrees(X), strict=True)
            body = ", ".join(f"{k} = {x:.5f} {'mm' if k in 'XYZ' else 'deg'}" for k, x in words)
            positions.append(f"   UF : 0, UT : 1, CONFIG : 'N U T, 0, 0, 0',\n   {body}")
            numbers.append(len(positions))
        if m.joints is not None:
            degrees = zip(range(1, 7), np.degrees(m.joints), strict=True)
            body = ", ".join(f"J{k} = {x:.6f} deg" for k, x in degrees)
            positions.append(f"   UF : 0, UT : 1,\n   {body}")
            numbers.append(len(positions))
        word = {"PTP": "J", "LIN": "L", "CIRC": "C"}[m.kind]
        speed = f"{1e3 * (m.speed or 2.0):.9g}mm/sec"
        if m.kind == "PTP":
            speed = f"{100 * (m.speed or 1.0):.9g}%"
        end = f"CR{1e3 * m.zone:.9g}" if m.zone else "FINE"
        yield f"{line:4d}:{word} {' '.join(f'P[{n}]' for n in numbers)} {speed} {end} ;"
        if m.wait:
            line += 1
            yield f"{line:4d}:  WAIT {m.wait:.2f}(sec) ;"
    yield "/POS"
    for number, position in enumerate(positions, 1):
        yield f"P[{number}]{{\n   GP1:\n{position}\n}};"
    yield "/END"


DIALECTS: dict[str, Callable[[str, Floats, Sequence[ProgramMove]], Iterator[str]]] = {
    "krl": _krl,
    "rapid": _rapid,
    "urscript": _urscript,
    "ls": _ls,
}


def write_program(name: str, dialect: str, tool: Floats, moves: Sequence[ProgramMove]) -> str:
    """A program of moves in the base frame; the first move says where it begins.

    Where the dialect has no splines, lines go along them within half a micrometre.

    Args:
        name: What it is called.
        dialect: One of `DIALECTS`.
        tool: Pose of the tool in the flange's frame, (4, 4).
        moves: The moves.
    """
    if dialect != "krl":
        moves = list(_lines_for_splines(moves))
    return "\n".join(DIALECTS[dialect](name, tool, moves)) + "\n"


def _lines_for_splines(moves: Sequence[ProgramMove]) -> Iterator[ProgramMove]:
    """Moves with dense lines in the place of splines, zones between them."""
    ends = [*(k for k, m in enumerate(moves) if not m.joined), len(moves)]
    for first, end in pairwise(ends):
        if moves[first].kind != "SPLINE":
            yield moves[first]
            continue
        X = [m.pose for m in moves[max(first - 1, 0) : end] if m.pose is not None]
        if len(X) <= end - first:
            raise ArmtwinError(f"{moves[first].what}: a spline must begin where a pose leads")
        p = np.array(X)
        spline = Spline(p[:, :3, 3])
        bends = spline.at(np.linspace(0.0, spline.length, LOOKED_AT)).c
        count = np.sqrt(np.linalg.norm(bends, axis=1).max() / (8 * ACCURACY)) * spline.length
        s = np.linspace(0.0, spline.length, int(count) + 2)[1:]
        jet = spline.at(s)
        turns = Given(spline.marks, p[:, :3, :3]).rotations(s, jet)
        zones = np.full(len(s), s[0] / 2)
        zones[-1] = 0.0
        owners = first + np.searchsorted(spline.marks[1:-1], s)
        for place, R, zone, k in zip(jet.p, turns, zones, owners, strict=True):
            wait = 0.0 if zone else moves[end - 1].wait
            new = ProgramMove("LIN", pose(R, place), speed=moves[k].speed, zone=zone, wait=wait)
            yield replace(new, judged=moves[k].judged)


class Replacement(NamedTuple):
    """A move and the poses, base frame, (k, 4, 4), that take the place of its target.

    A spline block, where the dialect has them, may begin with it, end with it, or go on over it.
    """

    step: Step
    poses: Floats
    spline: Literal["", "whole", "first", "inside", "last"] = ""


class Edit(NamedTuple):
    """Other text between two places of a file."""

    start: int
    stop: int
    text: str


def replace_targets(of: ProgramFile, changes: Sequence[Replacement]) -> str:
    """The text of a program with other targets of some of its moves."""
    used = [step.statement.start for stretch in of.stretches for step in stretch]
    edits: list[Edit] = []
    for change in changes:
        if _is_as_written(change):
            continue
        writer = _WRITERS.get(of.format.name)
        if writer is None:
            text = f"{of.format.title} is not written: use the points (points.csv)"
            raise FileError(of.path, text)
        statement = change.step.statement
        if used.count(statement.start) > 1:
            raise FileError(
                of.path,
                f"line {statement.line}: is run {used.count(statement.start)} times, so it cannot "
                "have other targets; write its moves one by one",
            )
        edits += writer(of, change)
    return apply_edits(of.text, edits)


def apply_edits(text: str, edits: Sequence[Edit]) -> str:
    """A text with others in the place of some of its parts."""
    parts, done = [], 0
    for edit in sorted(edits, key=lambda x: x.start):
        parts += [text[done : edit.start], edit.text]
        done = edit.stop
    return "".join([*parts, text[done:]])


def _is_as_written(change: Replacement) -> bool:
    """Whether a move has its own target: its statement stays, byte for byte."""
    step = change.step
    if len(change.poses) > 1 or step.spot.X is None or step.base.X is None:
        return False
    away = np.abs(step.base.X @ step.spot.X - change.poses[0])
    return bool(away.max() < SAME_TARGET)


def _locals(change: Replacement) -> Iterator[Floats]:
    """Poses in the frame that the move is given in."""
    base = change.step.base.X
    back = np.eye(4) if base is None else inverse(base)
    for X in change.poses:
        yield back @ X


def _lines(of: ProgramFile, change: Replacement, rows: Sequence[str]) -> Edit:
    """Statements in the place of one, each indented as that."""
    start = change.step.statement.start
    begin = of.text.rfind("\n", 0, start) + 1
    indent = re.match(r"[ \t]*", of.text[begin:start])
    end = "\r\n" if "\r\n" in of.text else "\n"
    joined = f"{end}{indent[0] if indent else ''}".join(rows)
    return Edit(start, start + len(change.step.statement.text), joined)


def _krl_target(X: Floats, value: Value) -> str:
    """A frame with the status, turn and external axes of another one."""
    others = (
        [k for k in value if re.fullmatch(r"[st]|e[1-6]", k)] if isinstance(value, dict) else []
    )
    words = "".join(f",{key.upper()} {value[key]:g}" for key in others)
    return f"{krl_frame(X)[:-1]}{words}}}"


def _write_krl(of: ProgramFile, change: Replacement) -> Iterator[Edit]:
    """Lines with C_DIS between them, or points of a spline block."""
    step, text = change.step, change.step.statement.text
    targets = [_krl_target(X, step.target) for X in _locals(change)]
    tail = re.search(r"(\s*\bWITH\b.*|(\s+C_\w+)+)\s*$", text, re.IGNORECASE)
    word = "PTP" if step.kind == "PTP" else "SLIN" if text[:1] in "sS" else "LIN"
    last = f"{word} {targets[-1]}{tail[0].rstrip() if tail else ''}"
    if change.spline and (len(targets) > 1 or change.spline != "whole"):
        begin = ["SPLINE"] if change.spline in ("whole", "first") else []
        end = ["ENDSPLINE"] if change.spline in ("whole", "last") else []
        rows = [f"  SPL {target}" for target in targets]
        yield _lines(of, change, [*begin, *rows, *end])
    elif len(targets) == 1:
        yield _lines(of, change, [last])
    elif step.kind == "SPLINE":
        yield _lines(of, change, [f"SPL {target}" for target in targets])
    else:
        yield _lines(of, change, [*(f"LIN {target} C_DIS" for target in targets[:-1]), last])


def _write_rapid(of: ProgramFile, change: Replacement) -> Iterator[Edit]:
    """MoveL with a zone between points."""
    step, text = change.step, change.step.statement.text
    word = MOVE_OF_RAPID.match(text)
    if word is None or step.kind == "PTP":
        word = re.match(r"(\w+)()()", text)
        assert word is not None
    parts = split_parts(TextPart(text[word.end() :], 0), ",")
    count = 2 if step.kind == "CIRC" else 1
    tail = parts[count:]
    fly = 1 if text[:4].lower() == "move" else len(tail) - 2
    name = text[: word.end()] if step.kind != "CIRC" else f"{word[1]}L{word[3]}"
    extra = "".join(f"\\{x.text.strip()}" for x in split_parts(parts[count - 1], "\\")[1:])
    rest = step.target[2:]
    rows = []
    for k, X in enumerate(_locals(change)):
        q = join_numbers(to_quaternion(X[:3, :3]).tolist(), 9)
        others = ",".join("[" + ",".join(f"{x:g}" for x in part) + "]" for part in rest)
        target = f"[[{join_numbers(1e3 * X[:3, 3], 5)}],[{q}],{others}]{extra}"
        words = [x.text.strip() for x in tail]
        if k + 1 < len(change.poses):
            words[fly] = "z5"
        rows.append(f"{name} {target},{','.join(words)}")
    yield _lines(
        of,
        change,
        [";\n".join(rows)] if len(rows) == 1 else [*(f"{row};" for row in rows[:-1]), rows[-1]],
    )


def _write_urscript(of: ProgramFile, change: Replacement) -> Iterator[Edit]:
    """movel with a blend between points."""
    step, text = change.step, change.step.statement.text
    inside = text[text.index("(") + 1 : text.rindex(")")]
    parts = [part.text.strip() for part in split_parts(TextPart(inside, 0), ",")]
    names = ["a", "v", "r", "mode"] if step.kind == "CIRC" else ["a", "v", "t", "r"]
    if text.startswith("movep"):
        names = ["a", "v", "r"]
    rest = parts[2 if step.kind == "CIRC" else 1 :]
    words = [x if re.match(r"\w+\s*=", x) else f"{names[k]}={x}" for k, x in enumerate(rest)]
    kept = [x for x in words if not re.match(r"(r|mode)\s*=|t\s*=\s*0*\.?0*$", x)]
    if any(x.startswith("t") for x in kept) and len(change.poses) > 1:
        raise FileError(of.path, f"line {step.line}: its time, t, cannot be parted among points")
    word = "movel" if step.kind == "CIRC" else text[: text.index("(")].strip()
    points = list(_locals(change))
    rows = []
    for k, X in enumerate(points):
        zone = [x for x in words if re.match(r"r\s*=", x)]
        if k + 1 < len(points):
            legs = [np.linalg.norm(points[i][:3, 3] - X[:3, 3]) for i in (k - 1, k + 1) if i >= 0]
            zone = [f"r={join_numbers([LEAST_BLEND * float(min(legs))])}"]
        rows.append(f"{word}({', '.join([_urscript_pose(X, 8), *kept, *zone])})")
    yield _lines(of, change, rows)


def _write_ls(of: ProgramFile, change: Replacement) -> Iterator[Edit]:
    """L with CNT100 between points; further positions are copies of the target's."""
    step = change.step
    start = step.statement.start
    begin = of.text.rfind("\n", 0, start) + 1
    head = of.text[begin:start]
    pattern = r"P\[\s*(\d+)[^\]]*\]"
    named = list(re.finditer(pattern, step.statement.text))
    block = None
    if named:
        words = rf"P\[\s*{named[-1][1]}\s*(:[^\]]*)?\]\s*\{{.*?\}}\s*;"
        block = re.search(words, of.text[of.text.find("/POS") :], re.S)
    if block is None:
        raise FileError(of.path, f"line {step.line}: its target is not in /POS")
    numbers = [int(x) for x in re.findall(r"^\s*P\[\s*(\d+)", of.text, re.M)]
    first = max(numbers) + 1 + 200 * len(set(_before(of, step)))
    end = "\r\n" if "\r\n" in of.text else "\n"
    rows, added = [], ""
    for k, X in enumerate(_locals(change)):
        position = block[0]
        for key, x in zip("XYZWPR", _millimetres_and_degrees(X), strict=True):
            found = re.search(rf"\b{key}\s*=\s*([-+.\d]+)", position)
            if found:
                written = position[: found.start(1)] + join_numbers([x])
                position = written + position[found.end(1) :]
        is_last = k + 1 == len(change.poses)
        number = first + k
        position = re.sub(r"P\[[^\]]*\]", f"P[{number}]", position, count=1)
        added += position + end
        text = step.statement.text
        if step.kind == "CIRC":
            text = "L" + text[1 : named[0].start()] + text[named[1].start() :]
        text = re.sub(pattern, f"P[{number}]", text, count=1)
        if not is_last:
            text = re.sub(r"\b(FINE|FEIN|CNT\s*\d+|CR\s*\d+)\b", "CNT100", text, flags=re.I)
        rows.append(text.strip())
    yield Edit(start, start + len(step.statement.text), f" ;{end}{head}".join(rows))
    place = of.text.find("/POS") + block.end() + len(end)
    yield Edit(place, place, added)


def _before(of: ProgramFile, step: Step) -> Iterator[int]:
    """Places of the moves before one."""
    for stretch in of.stretches:
        for x in stretch:
            if x.statement.start < step.statement.start:
                yield x.statement.start


_WRITERS = {
    "krl": _write_krl,
    "rapid": _write_rapid,
    "urscript": _write_urscript,
    "ls": _write_ls,
}


def replace_speeds(of: ProgramFile, wanted: Mapping[int, float]) -> str:
    """The text of a program with other tool speeds of some of its moves: numbers alone.

    Where a dialect's speed holds for the moves that follow, its number is changed where it is set
    for all of them; else it is set before the move, and as it was after it.

    Args:
        of: The program.
        wanted: Speeds by where the statements of the moves begin [m/s].
    """
    writer = _SPEED_WRITERS.get(of.format.name)
    if writer is None:
        raise FileError(of.path, f"speeds of {of.format.title} are not written")
    steps = [x for y in of.stretches for x in y if x.kind != "PTP" and x.speed is not None]
    return apply_edits(of.text, list(dict.fromkeys(writer(of, steps, wanted))))


def _is_same(speed: float, other: float | None) -> bool:
    return other is not None and abs(speed - other) <= SAME_SPEED * speed


Own = Callable[[Step, float], tuple[int, int, str] | None]
Wanted = Mapping[int, float]
SpeedWriter = Callable[[ProgramFile, list[Step], Wanted], Iterator[Edit]]


def _slow_each(own: Own) -> SpeedWriter:
    """A writer of a dialect whose moves have their own speeds."""

    def write(of: ProgramFile, steps: list[Step], wanted: Wanted) -> Iterator[Edit]:
        for step in steps:
            start = step.statement.start
            if start not in wanted:
                continue
            found = own(step, wanted[start])
            if found is None:
                raise FileError(of.path, f"line {step.line}: where its speed is, is not known")
            begin, end, text = found
            yield Edit(start + begin, start + end, text)

    return write


def _slow_rapid(step: Step, speed: float) -> tuple[int, int, str] | None:
    text = step.statement.text
    head = re.match(r"\w+\s*", text)
    parts = split_parts(TextPart(text[head.end() :], head.end()), ",") if head else []
    count = 2 if step.kind == "CIRC" else 1
    if len(parts) <= count:
        return None
    part = parts[count]
    words = split_parts(part, "\\")[0].text.strip()
    begin = part.start + len(part.text) - len(part.text.lstrip())
    return begin, part.start + len(part.text.rstrip()), f"{words}\\V:={1e3 * speed:.9g}"


def _slow_ls(step: Step, speed: float) -> tuple[int, int, str] | None:
    found = LS_SPEED.search(step.statement.text)
    if found is None:
        return None
    unit = found[2].lower().replace("sek", "sec")
    return found.start(1), found.end(1), f"{speed / SPEEDS[unit]:.9g}"


def _slow_urscript(step: Step, speed: float) -> tuple[int, int, str] | None:
    text = step.statement.text
    begin, end = text.index("(") + 1, text.rindex(")")
    parts = split_parts(TextPart(text[begin:end], begin), ",")
    named = re.search(r"\bv\s*=\s*([^,)]+)", text)
    if named is not None:
        return named.start(1), named.end(1), f"{speed:.9g}"
    place = 3 if step.kind == "CIRC" else 2
    if len(parts) > place and "=" not in parts[place].text:
        part = parts[place]
        return part.start, part.start + len(part.text), f" {speed:.9g}"
    return end, end, f", v={speed:.9g}"


def _slow_krl(of: ProgramFile, steps: list[Step], wanted: Wanted) -> Iterator[Edit]:
    """$VEL.CP, of the move itself by WITH, where it is set for all, or in lines about the move."""
    groups: list[tuple[re.Match[str] | None, list[Step]]] = [(None, [])]
    done = 0
    for step in steps:
        start, text = step.statement.start, step.statement.text
        own = KRL_SET.search(text)
        if own is not None:
            speed = wanted.get(start, step.speed or 0.0)
            if not _is_same(speed, step.speed):
                yield Edit(start + own.start(1), start + own.end(1), f"{speed:.9g}")
            continue
        between = [x for x in KRL_SET.finditer(of.text, done, start) if _is_code(of.text, x)]
        done = start + len(text)
        if between:
            groups.append((between[-1], []))
        groups[-1][1].append(step)
    for place, group in groups:
        yield from _slow_krl_group(of, place, group, wanted)


def _slow_krl_group(
    of: ProgramFile, place: re.Match[str] | None, group: list[Step], wanted: Wanted
) -> Iterator[Edit]:
    """Moves with one $VEL.CP, which is set at a place."""
    speeds = [wanted.get(x.statement.start, x.speed or 0.0) for x in group]
    if place and all(_is_same(speed, speeds[0]) for speed in speeds):
        if not _is_same(speeds[0], group[0].speed):
            yield Edit(place.start(1), place.end(1), f"{speeds[0]:.9g}")
        return
    for step, speed in zip(group, speeds, strict=True):
        if _is_same(speed, step.speed):
            continue
        start, text = step.statement.start, step.statement.text
        if text[:1] in "sS":
            end = start + len(re.sub(r"(\s*\bC_\w+)*\s*$", "", text))
            yield Edit(end, end, f" WITH $VEL.CP={speed:.9g}")
            continue
        begin, end = of.text.rfind("\n", 0, start) + 1, of.text.find("\n", start + len(text)) + 1
        end_of_line = "\r\n" if "\r\n" in of.text else "\n"
        for at, value in ((begin, speed), (end, step.speed)):
            yield Edit(at, at, f"{of.text[begin:start]}$VEL.CP={value:.9g}{end_of_line}")


def _is_code(text: str, found: re.Match[str]) -> bool:
    """Whether a place is no comment."""
    begin = text.rfind("\n", 0, found.start()) + 1
    return ";" not in text[begin : found.start()]


def _slow_gcode(of: ProgramFile, steps: list[Step], wanted: Wanted) -> Iterator[Edit]:
    """F of the move itself, which the next move sets again."""
    holds: float | None = None
    number = 0.0
    for step in steps:
        start, text = step.statement.start, step.statement.text
        speed, programmed = wanted.get(start, step.speed or 0.0), step.speed or 0.0
        own = re.search(r"F\s*([\d.]+)", text, re.I)
        if own is not None:
            number = float(own[1]) / programmed
            holds = programmed
        if own is not None and not _is_same(speed, programmed):
            yield Edit(start + own.start(1), start + own.end(1), f"{number * speed:.9g}")
        elif own is None and not _is_same(speed, holds or programmed):
            if not number:
                raise FileError(of.path, f"line {step.line}: its feed is set in another line")
            end = start + len(text.rstrip())
            yield Edit(end, end, f" F{number * speed:.9g}")
        holds = speed


_SPEED_WRITERS: dict[str, SpeedWriter] = {
    "rapid": _slow_each(_slow_rapid),
    "ls": _slow_each(_slow_ls),
    "urscript": _slow_each(_slow_urscript),
    "krl": _slow_krl,
    "gcode": _slow_gcode,
}

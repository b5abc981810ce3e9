"""Programs written again: other targets in the statements that have them, all else byte for byte.

A move that goes through more points than its own becomes that many moves: lines with zones between
them, or in KRL, from stop to stop, a spline block.
"""

import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from armtwin.errors import FileError
from armtwin.maths.batch import Floats
from armtwin.maths.rotations import inverse, to_quaternion, to_rpy
from armtwin.programs.emitting import join_numbers, krl_frame
from armtwin.programs.execution import Part, Step, split_parts
from armtwin.programs.table import ProgramFile
from armtwin.programs.values import Value

MOVE_OF_RAPID = re.compile(r"(\w+?)(L|C)(\w*)\b", re.IGNORECASE)
LEAST_BLEND = 0.45  # of the shorter neighbour: blends of URScript must not meet


class Replacement(NamedTuple):
    """A move and the poses, base frame, (k, 4, 4), that take the place of its target."""

    step: Step
    poses: Floats
    after_stop: bool


class Edit(NamedTuple):
    """Other text between two places of a file."""

    start: int
    stop: int
    text: str


def replace_targets(of: ProgramFile, changes: Sequence[Replacement]) -> str:
    """The text of a program with other targets of some of its moves."""
    used = [step.statement.start for stretch in of.stretches for step in stretch]
    edits: list[Edit] = []
    writer = _WRITERS.get(of.format.name)
    if writer is None:
        raise FileError(of.path, f"{of.format.title} is not written: use the points (points.csv)")
    for change in changes:
        statement = change.step.statement
        if used.count(statement.start) > 1:
            raise FileError(
                of.path,
                f"line {statement.line}: is run {used.count(statement.start)} times, so it cannot "
                "have other targets; write its moves one by one",
            )
        edits += writer(of, change)
    text = of.text
    for edit in sorted(edits, key=lambda x: x.start, reverse=True):
        text = text[: edit.start] + edit.text + text[edit.stop :]
    return text


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
    """Lines with C_DIS between them; from stop to stop a spline block."""
    step, text = change.step, change.step.statement.text
    targets = [_krl_target(X, step.target) for X in _locals(change)]
    tail = re.search(r"(\s*\bWITH\b.*|(\s+C_\w+)+)\s*$", text, re.IGNORECASE)
    word = "PTP" if step.kind == "PTP" else "SLIN" if text[:1] in "sS" else "LIN"
    last = f"{word} {targets[-1]}{tail[0].rstrip() if tail else ''}"
    if len(targets) == 1:
        yield _lines(of, change, [last])
    elif change.after_stop and step.zone == 0 and step.kind != "SPLINE":
        rows = [f"  SPL {target}" for target in targets]
        yield _lines(of, change, ["SPLINE", *rows, "ENDSPLINE"])
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
    parts = split_parts(Part(text[word.end() :], 0), ",")
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
    from scipy.spatial.transform import Rotation

    step, text = change.step, change.step.statement.text
    inside = text[text.index("(") + 1 : text.rindex(")")]
    parts = [part.text.strip() for part in split_parts(Part(inside, 0), ",")]
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
        numbers = [*X[:3, 3], *Rotation.from_matrix(X[:3, :3]).as_rotvec()]
        zone = [x for x in words if re.match(r"r\s*=", x)]
        if k + 1 < len(points):
            legs = [np.linalg.norm(points[i][:3, 3] - X[:3, 3]) for i in (k - 1, k + 1) if i >= 0]
            zone = [f"r={join_numbers([LEAST_BLEND * float(min(legs))])}"]
        rows.append(f"{word}({', '.join([f'p[{join_numbers(numbers, 8)}]', *kept, *zone])})")
    yield _lines(of, change, rows)


def _write_ls(of: ProgramFile, change: Replacement) -> Iterator[Edit]:
    """L with CNT100 between points; further positions are copies of the target's."""
    step = change.step
    start = step.statement.start
    begin = of.text.rfind("\n", 0, start) + 1
    head = of.text[begin:start]
    pattern = r"P\[\s*(\d+)[^\]]*\]"
    named = list(re.finditer(pattern, step.statement.text))
    block = (
        None
        if not named
        else re.search(
            rf"P\[\s*{named[-1][1]}\s*(:[^\]]*)?\]\s*\{{.*?\}}\s*;",
            of.text[of.text.find("/POS") :],
            re.S,
        )
    )
    if block is None:
        raise FileError(of.path, f"line {step.line}: its target is not in /POS")
    numbers = [int(x) for x in re.findall(r"^\s*P\[\s*(\d+)", of.text, re.M)]
    first = max(numbers) + 1 + 200 * len(set(_before(of, step)))
    end = "\r\n" if "\r\n" in of.text else "\n"
    rows, added = [], ""
    for k, X in enumerate(_locals(change)):
        w, p, r = np.degrees(to_rpy(X[:3, :3]))
        position = block[0]
        for key, x in zip("XYZWPR", (*(1e3 * X[:3, 3]), w, p, r), strict=True):
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

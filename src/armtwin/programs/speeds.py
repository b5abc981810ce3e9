"""Other speeds in a program: the numbers that its moves have, all else byte for byte.

Where a dialect's speed holds for the moves that follow, its number is changed where it is set
between two moves; else it is set before the move, and as it was after it.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from armtwin.errors import FileError
from armtwin.programs.execution import Step, TextPart, split_parts
from armtwin.programs.fanuc import SPEEDS
from armtwin.programs.table import ProgramFile
from armtwin.programs.writing import Edit, apply_edits

SAME_SPEED = 1e-6  # relative difference of two speeds that is none
KRL_SET = re.compile(r"(?:\$VEL\.CP\s*=|#(?:CP_PARAMS|VEL_CP)\s*,)\s*([\d.]+)", re.I)
LS_SPEED = re.compile(r"([\d.]+|R\[[^\]]*\]|\w+_SPEED)\s*(mm/se[ck]|cm/min|inch/min)", re.I)


def replace_speeds(of: ProgramFile, wanted: Mapping[int, float]) -> str:
    """The text of a program with other tool speeds of some of its moves.

    Args:
        of: The program.
        wanted: Speeds by where the statements of the moves begin [m/s].
    """
    writer = _WRITERS.get(of.format.name)
    if writer is None:
        raise FileError(of.path, f"speeds of {of.format.title} are not written")
    steps = [x for y in of.stretches for x in y if x.kind != "PTP" and x.speed is not None]
    return apply_edits(of.text, list(dict.fromkeys(writer(of, steps, wanted))))


def _is_same(speed: float, other: float | None) -> bool:
    return other is not None and abs(speed - other) <= SAME_SPEED * speed


Own = Callable[[Step, float], tuple[int, int, str] | None]


def _each(own: Own) -> Callable[[ProgramFile, list[Step], Mapping[int, float]], Iterator[Edit]]:
    """A writer of a dialect whose moves have their own speeds."""

    def write(of: ProgramFile, steps: list[Step], wanted: Mapping[int, float]) -> Iterator[Edit]:
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


def _rapid(step: Step, speed: float) -> tuple[int, int, str] | None:
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


def _ls(step: Step, speed: float) -> tuple[int, int, str] | None:
    found = LS_SPEED.search(step.statement.text)
    if found is None:
        return None
    unit = found[2].lower().replace("sek", "sec")
    return found.start(1), found.end(1), f"{speed / SPEEDS[unit]:.9g}"


def _urscript(step: Step, speed: float) -> tuple[int, int, str] | None:
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


def _krl(of: ProgramFile, steps: list[Step], wanted: Mapping[int, float]) -> Iterator[Edit]:
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
        yield from _krl_group(of, place, group, wanted)


def _krl_group(
    of: ProgramFile, place: re.Match[str] | None, group: list[Step], wanted: Mapping[int, float]
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


def _gcode(of: ProgramFile, steps: list[Step], wanted: Mapping[int, float]) -> Iterator[Edit]:
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


_WRITERS = {
    "rapid": _each(_rapid),
    "ls": _each(_ls),
    "urscript": _each(_urscript),
    "krl": _krl,
    "gcode": _gcode,
}

"""The formats of robot programs: how each is recognised, read and written; one line each."""

import re
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import ClassVar, Literal, NamedTuple

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.reading import read_description, read_tables, refuse_problems
from armtwin.files.schema import Schema
from armtwin.maths.batch import Names, Pair, Record
from armtwin.maths.quantities import Length
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import MILLIMETRES
from armtwin.programs.execution import Execution, Remark, SideValues, SourceText, Step
from armtwin.programs.text import read_program_text
from armtwin.programs.values import Unknown
from armtwin.report.result import Result
from armtwin.robot.robot import Robot
from armtwin.robot.schema.groups import Body, Pose

SHOWN = 200  # lines of a table
LOOKED_AT = 200_000  # letters of a file by which its format is recognised


class ProgramFormat(NamedTuple):
    """A format of robot programs.

    Attributes:
        name: What it is called on the command line.
        title: What it is called in words.
        reader: Module and class that read it.
        endings: Of its files' names.
        words: What a file of it has.
    """

    name: str
    title: str
    reader: str
    endings: Names
    words: str

    def execution(self, source: SourceText) -> Execution:
        """A program of this format, ready to be read."""
        module, _, name = self.reader.partition(".")
        return getattr(import_module(f"armtwin.programs.{module}"), name)(source)


FORMATS = (
    ProgramFormat(
        "rapid",
        "RAPID (ABB)",
        "rapid.Rapid",
        (".mod", ".modx", ".prg", ".sys"),
        r"^\s*MODULE\s+\w+|^\s*(LOCAL\s+)?PROC\s+\w+\s*\(|\bMove(L|J|C|AbsJ)\b[^;\n]*;",
    ),
    ProgramFormat("ls", "Fanuc LS", "fanuc.Fanuc", (".ls",), r"^\s*/(PROG|MN)\b"),
    ProgramFormat(
        "krl",
        "KRL (KUKA)",
        "krl.Krl",
        (".src", ".sub", ".dat"),
        r"^\s*(&ACCESS|(GLOBAL\s+)?DEF(DAT|FCT)?\s+\w+|S?(LIN|PTP)\s+[\w{])",
    ),
    ProgramFormat(
        "urscript",
        "URScript",
        "urscript.UrScript",
        (".script", ".urscript", ".txt"),
        r"\bmove[jlpc]\s*\(|^\s*def\s+\w+\s*\(.*\):",
    ),
    ProgramFormat(
        "gcode",
        "G-code",
        "gcode.GCode",
        (".gcode", ".nc", ".ngc", ".tap", ".cnc", ".g", ".mpf", ".iso"),
        r"^[^\n;(]*\bG0?[0-3](?![\d.])",
    ),
    ProgramFormat(
        "points", "points", "points.PointTable", (".csv",), r"\A\ufeff?\s*x\b[^\n]*\by\b[^\n]*\bz\b"
    ),
)


def find_format(path: Path, text: str | None = None) -> ProgramFormat | None:
    """The format of a file by its ending and its words; None where it is no program."""
    if text is None:
        if not path.is_file():
            return None
        try:
            text, _ = read_program_text(path)
        except ArmtwinError:
            return None
    head = text[:LOOKED_AT]
    if re.match(r"\ufeff?[^\n]*\btime\b", head) and path.suffix == ".csv":
        return None
    fitting = [x for x in FORMATS if re.search(x.words, head, re.M | re.I)]
    by_ending = [x for x in fitting if path.suffix.lower() in x.endings]
    known = any(path.suffix.lower() in x.endings for x in FORMATS) or not path.suffix
    return (by_ending or fitting)[0] if fitting and (by_ending or known) else None


@dataclass(frozen=True)
class SideFile:
    """Frames and values that a program names and does not have.

    Attributes:
        base: Poses of bases in the robot's base frame, by the names of the program.
        tool: Poses of tools in the flange's frame, by the names of the program.
        load: Mass, centre and inertia of these tools, in the flange's frame.
        values: Values of variables and registers, by name.
        no_motion: Routines that do not move the robot.
        zone: Distance of zones of G-code [m].
        angles: Convention of the words A, B, C of G-code: "abc" or "rpy".
        seams: Lines of moves with the process on, as "12-18", where the program does not say it.
    """

    base: dict[str, Pose] = field(default_factory=dict)
    tool: dict[str, Pose] = field(default_factory=dict)
    load: dict[str, Body] = field(default_factory=dict)
    values: Record = field(default_factory=dict)
    no_motion: tuple[str, ...] = ()
    zone: Length | None = None
    angles: Literal["abc", "rpy"] | None = None
    seams: tuple[str, ...] = ()
    name: str = ""

    format_number: ClassVar[int] = 1


def read_side_file(path: Path | None) -> SideValues:
    """What a side file gives; nothing where there is none."""
    if path is None:
        return SideValues()
    found: SideFile = read_description(
        read_tables(path), Schema(SideFile, "side file of a program"), str(path)
    )
    refuse_problems(found, str(path))
    values = {**found.values, **{name.lower(): value for name, value in found.values.items()}}
    return SideValues(
        base={name: x.matrix() for name, x in found.base.items()},
        tool={name: x.matrix() for name, x in found.tool.items()},
        load=found.load,
        values={key: float(x) if isinstance(x, int) else x for key, x in values.items()},
        no_motion=tuple(name.lower() for name in found.no_motion),
        zone=found.zone,
        angles=found.angles or "",
        seams=tuple(_read_lines(path, text) for text in found.seams),
    )


def _read_lines(path: Path, text: str) -> Pair:
    found = re.fullmatch(r"\s*(\d+)\s*(?:-\s*(\d+)\s*)?", text)
    if found is None:
        raise FileError(path, f'seams must be lines, as "12-18", got {text!r:.40}')
    return float(found[1]), float(found[2] or found[1])


@dataclass(frozen=True, eq=False)
class ProgramFile:
    """A program as it was read.

    Attributes:
        path: Its file.
        text: Its text.
        encoding: How the text is encoded.
        format: Its format.
        stretches: Known moves one after the other.
        remarks: What is not understood, or assumed, with lines.
        is_marked: Whether the program says where the process is on.
    """

    path: Path
    text: str
    encoding: str
    format: ProgramFormat
    stretches: tuple[tuple[Step, ...], ...]
    remarks: tuple[Remark, ...]
    is_marked: bool

    @property
    def moves(self) -> int:
        """How many moves are known."""
        return sum(map(len, self.stretches))


def read_program(
    path: Path, given: SideValues | None = None, robot: Robot | None = None, text: str | None = None
) -> ProgramFile:
    """Read a program; nothing is guessed.

    Args:
        path: Its file.
        given: What a side file gives.
        robot: The robot whose kinematics say where joint targets are.
        text: Another text in place of the file's.
    """
    written, encoding = read_program_text(path)
    text = written if text is None else text
    known = find_format(path, text)
    if known is None:
        titles = ", ".join(x.title for x in FORMATS)
        raise FileError(path, f"is no robot program that can be read. Known are: {titles}")
    run = known.execution(SourceText(text, path, given or SideValues(), robot))
    try:
        run.read()
    except Unknown as why:
        raise FileError(path, f"line {run.statement.line}: {why}") from None
    found = tuple(tuple(x) for x in run.stretches())
    is_marked = any(step.judged for stretch in found for step in stretch)
    remarks = tuple(sorted(set(run.remarks)))
    return ProgramFile(path, text, encoding, known, found, remarks, is_marked)


@dataclass(frozen=True, eq=False, repr=False)
class ProgramContents(Result):
    """What is in a robot program.

    Attributes:
        program: The program as it was read.
    """

    program: ProgramFile

    @property
    def cautions(self) -> Names:
        """What is not understood, as sentences with lines."""
        gaps = [x for x in self.program.remarks if x.is_gap]
        return tuple(f"line {x.line}: {x.text}" for x in gaps)

    def sections(self) -> show.Report:
        """Format, frames, stretches, and what is not understood or assumed."""
        p = self.program
        gaps = [x for x in p.remarks if x.is_gap]
        facts = (
            ("format", p.format.title),
            ("known moves", f"{p.moves} in {len(p.stretches)} stretches"),
            ("not understood", f"{len(gaps)} lines"),
            ("bases", self._frames("base")),
            ("tools", self._frames("tool")),
        )
        columns = show.list_columns(
            stretch="stretch",
            lines="lines",
            moves="moves",
            lin="LIN",
            circ="CIRC",
            spline="SPLINE",
            ptp="PTP",
            length_m=("led", MILLIMETRES),
        )
        rows = [_row(k, x) for k, x in enumerate(p.stretches, 1)]
        said = show.list_columns(line="line", text="what")
        first = show.Section("", (show.Facts(facts), show.Table(columns, rows, "stretches")))
        blocks = []
        for title, is_gap in (("not understood", True), ("assumed", False)):
            found = [{"line": x.line, "text": x.text} for x in p.remarks if x.is_gap == is_gap]
            if found:
                blocks.append(show.Table(said, found, title, most=SHOWN))
        sections = (first, show.Section("Lines", tuple(blocks))) if blocks else (first,)
        text = "Every statement is understood."
        if gaps:
            end = "the stretches end there, and what lies between them is left out."
            text = f"{len(gaps)} lines are not understood: {end}"
        verdict = show.Text(text, "bad" if gaps else "good")
        return show.Report("Robot program", p.path.name, sections, (verdict,))

    def _frames(self, kind: str) -> str:
        """Frames by name, and which of them the file has no values for."""
        found = {}
        for stretch in self.program.stretches:
            for step in stretch:
                frame = getattr(step, kind)
                found[frame.name] = frame.X is not None
        words = [name if known else f"{name} (no values)" for name, known in found.items()]
        return ", ".join(words) or "none"


def _row(number: int, stretch: tuple[Step, ...]) -> Record:
    """A stretch as a row."""
    kinds = [step.kind for step in stretch]
    lines = [step.line for step in stretch]
    points = [step.spot.X[:3, 3] for step in stretch if step.spot.X is not None]
    length = float(np.linalg.norm(np.diff(points, axis=0), axis=1).sum()) if points[1:] else 0.0
    row: Record = {"stretch": number, "lines": f"{min(lines)}-{max(lines)}", "moves": len(stretch)}
    row |= {kind.lower(): kinds.count(kind) for kind in ("LIN", "CIRC", "SPLINE", "PTP")}
    return row | {"length_m": length}

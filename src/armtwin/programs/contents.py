"""What is in a robot program: its stretches of known moves, and what is not understood."""

from dataclasses import dataclass

import numpy as np

from armtwin.maths.batch import Names, Record
from armtwin.notebook import sections as show
from armtwin.notebook.numbers import MILLIMETRES
from armtwin.programs.execution import Step
from armtwin.programs.table import ProgramFile
from armtwin.report.result import Result

SHOWN = 200  # lines of a table


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
        text = (
            "Every statement is understood."
            if not gaps
            else (
                f"{len(gaps)} lines are not understood: the stretches end there, and what lies "
                "between them is left out."
            )
        )
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

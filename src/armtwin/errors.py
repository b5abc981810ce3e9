"""The errors a user can meet; every message is a sentence that can be acted on."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches


class ArmtwinError(Exception):
    """Root of all errors of this package: bad input, or a computation that failed, with its numbers."""


class FileError(ArmtwinError):
    """A file that cannot be used, with all its problems at once.

    Attributes:
        origin: The file, or what stands for it.
        problems: One sentence for each problem, each starting with its place in the file.
    """

    def __init__(self, origin: str, problems: Iterable[str]) -> None:
        self.origin = origin
        self.problems = tuple(problems)
        count = len(self.problems)
        head = f"{origin}: " + ("" if count == 1 else f"{count} problems\n  ")
        super().__init__(head + "\n  ".join(self.problems))


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Sentence that suggests the nearest known word, or lists the known ones."""
    choices = list(known)
    near = get_close_matches(word, choices, n=1, cutoff=0.6)
    if near:
        return f"Did you mean '{near[0]}'?"
    return f"Known: {', '.join(sorted(choices))}." if choices else "There is none to choose from."

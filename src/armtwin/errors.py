"""The errors a user can meet; every message is a sentence that can be acted on, and safe to print.

What a file or a command line holds may end up in a message: control characters and those that
turn the direction of writing are shown as escapes, and neither a long file nor a long name makes a
long message.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from difflib import get_close_matches
from pathlib import Path
from typing import Any

LONGEST_MESSAGE = 1900  # characters
LONGEST_PROBLEM = 500  # characters of one problem of a file
MOST_PROBLEMS = 20  # of a file that are shown
MANY_ALIKE = (
    4  # problems of a file that differ in names and numbers only, from which on one is shown
)
VARYING = re.compile(r"'[^']*'|[-+]?\d+(\.\d+)?(e[-+]?\d+)?")  # a name or a number in a sentence
LONGEST_WORD = 60  # that is compared with the known ones
MOST_CHOICES = 100  # that a word is compared with, or of which some are listed
LISTED = 40  # choices that a message lists
# controls, also those of direction, halves of pairs, separators of lines
UNPRINTABLE = ("Cc", "Cf", "Cs", "Zl", "Zp")
JOINERS = "\u200c\u200d\u00ad"  # belong to the spelling of some languages


def printable(text: str, kept: str = "") -> str:
    r"""The text with every character that is not a glyph shown as an escape, as \x1b or \u202e.

    Args:
        text: Any text.
        kept: Characters that stay as they are, as a new line.
    """
    if text.isascii() and text.isprintable():
        return text
    return "".join(_escape(c) if c not in kept and unprintable(c) else c for c in text)


def unprintable(character: str) -> bool:
    """Whether a character is a control or has no glyph of its own."""
    return character not in JOINERS and unicodedata.category(character) in UNPRINTABLE


def _escape(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")


def shorten(text: str, most: int) -> str:
    """The text, its end left out where it is too long."""
    return text if len(text) <= most else text[: most - 2] + " …"


class ArmtwinError(Exception):
    """Root of all errors of this package.

    Bad input, or a computation that failed, with its numbers.
    """

    def __init__(self, message: str) -> None:
        clean = printable(message[: 2 * LONGEST_MESSAGE], kept="\n")
        super().__init__(shorten(clean, LONGEST_MESSAGE))


class CallError(ArmtwinError, TypeError):
    """A public call with arguments that are not what it takes."""


class FormerNameError(ArmtwinError, AttributeError):
    """A name that was public before, and what it is called now."""


class FileError(ArmtwinError):
    """A file that cannot be used, with all its problems at once.

    Attributes:
        origin: The file, or a name for it.
        problems: One sentence for each problem, each starting with its place in the file.
        more: How many problems there are besides.
    """

    def __init__(self, origin: str | Path, problems: str | Iterable[str], more: int = 0) -> None:
        self.origin = str(origin)
        some = [problems] if isinstance(problems, str) else problems
        self.problems = tuple(_one_line(problem) for problem in some)
        self.more = more
        super().__init__(_list_problems(_one_line(self.origin), self.problems, more))

    def __reduce__(self) -> tuple[Any, ...]:
        """Made again from its parts where it crosses to another process."""
        return FileError, (self.origin, self.problems, self.more)


@contextmanager
def blame(origin: str | Path) -> Iterator[None]:
    """Have an error that names no file name the file, or the part of one, that is to blame."""
    try:
        yield
    except FileError:
        raise
    except ArmtwinError as error:
        raise FileError(origin, str(error)) from None


def _one_line(text: str) -> str:
    return shorten(printable(text[: 2 * LONGEST_PROBLEM]), LONGEST_PROBLEM)


def _list_problems(origin: str, problems: Sequence[str], more: int) -> str:
    """The message of a file: as many problems as fit, then how many there are besides.

    Of those that differ in a name or a number only the first is shown.
    """
    count = len(problems) + more
    if count == 1:
        return f"{origin}: {problems[0]}"
    lines = [f"{origin}: {count} problems"]
    room = LONGEST_MESSAGE - len(lines[0]) - len(f"\n  and {count} more")
    left = count
    for same in _alike(problems[:MOST_PROBLEMS]):
        line = same[0] if len(same) == 1 else f"{same[0]} ({len(same) - 1} more like this)"
        room -= len(line) + len("\n  ")
        if room < 0:
            break
        lines.append(line)
        left -= len(same)
    if left:
        lines.append(f"and {left} more")
    return "\n  ".join(lines)


def _alike(problems: Sequence[str]) -> list[list[str]]:
    """Problems in groups that say the same of many things; a few are not grouped."""
    groups: dict[str, list[str]] = {}
    for problem in problems:
        groups.setdefault(VARYING.sub("#", problem), []).append(problem)
    found = []
    for group in groups.values():
        found += [group] if len(group) >= MANY_ALIKE else [[problem] for problem in group]
    return found


def check_known(what: str, name: str, known: Collection[str]) -> None:
    """Refuse a name that is not among the known ones, by a sentence that suggests one."""
    if name not in known:
        raise ArmtwinError(f"{what} '{name}' is not known. {did_you_mean(name, known)}")


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """Sentence that suggests the nearest known word, or lists the known ones."""
    choices = [str(choice) for choice in known if choice]
    if not choices:
        return "There is none to choose from."
    short = [choice for choice in choices[:MOST_CHOICES] if len(choice) <= LONGEST_WORD]
    near = get_close_matches(word, short, n=1, cutoff=0.6) if len(word) <= LONGEST_WORD else []
    if near:
        return f"Did you mean '{near[0]}'?"
    listed = ", ".join(sorted(choices[:MOST_CHOICES])[:LISTED])
    rest = f" and {len(choices) - LISTED} more" if len(choices) > LISTED else ""
    return f"Known: {listed}{rest}."

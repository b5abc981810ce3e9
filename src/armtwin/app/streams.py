"""Standard output and error: readable anywhere; a full disk is an error, a closed pipe is none."""

import codecs
import errno
import json
import os
import sys
import unicodedata
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout, suppress
from typing import Any, TextIO

import typer

from armtwin.errors import ArmtwinError, printable

# Windows says EINVAL of a pipe whose reader is gone.
CLOSED = (errno.EPIPE, errno.EINVAL) if sys.platform == "win32" else (errno.EPIPE,)

IN_ASCII = dict(zip("µμ·×−–─│", "uu*x---|", strict=True))
IN_ASCII |= {"°": " deg", "±": "+-", "…": "...", "‖": "||", "\u0302": "^"}
IN_ASCII |= {"²": "^2", "³": "^3", "¹": "^1", "⁻": "^-"}
IN_ASCII |= {"τ": "tau", "φ": "phi", "σ": "sigma", "λ": "lambda", "π": "pi"}
READABLE = "armtwin.readable"


def in_ascii(character: str) -> str:
    """A character in letters that every terminal has: µ is u, ä is a."""
    if character in IN_ASCII:
        return IN_ASCII[character]
    plain = unicodedata.normalize("NFKD", character)[0]
    return plain if plain.isascii() else "?"


def spell(text: str) -> str:
    """A text as the terminal can show it: no control characters, in its letters."""
    shown = printable(text)
    encoding = getattr(sys.stdout, "encoding", None) or "utf-8"
    if encoding.lower().startswith("utf"):
        return shown
    return "".join(x if x.isascii() else in_ascii(x) for x in shown)


def print_json(result: dict[str, Any]) -> None:
    """Print the one JSON object of a command."""
    typer.echo(json.dumps(result, allow_nan=False))


def _in_place(error: UnicodeError) -> tuple[str, int]:
    """Readable letters in place of those that an encoding does not have."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    unknown = error.object[error.start : error.end]
    return "".join(in_ascii(character) for character in unknown), error.end


def readable_streams() -> None:
    """Let output and error write what their encoding lacks in other letters.

    In the C locale, ASCII.
    """
    codecs.register_error(READABLE, _in_place)
    asked = os.environ.get("LC_ALL") or os.environ.get("LC_CTYPE") or os.environ.get("LANG") or ""
    encoding = "ascii" if asked in ("C", "POSIX") else None
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding=encoding, errors=READABLE)


class _Patient:
    """A stream that goes on when its reader has left, `head -1` say; other failures are raised."""

    def __init__(self, stream: TextIO, speaks: bool) -> None:
        self._stream = stream
        self._speaks = speaks
        self._failure = ""

    def write(self, text: str) -> int:
        """Write a text."""
        self._try(lambda: self._stream.write(text))
        return len(text)

    def flush(self) -> None:
        """Hand on what was written."""
        self._try(self._stream.flush)

    def _try(self, act: Callable[[], object]) -> None:
        try:
            act()
        except OSError as error:
            self._silence()
            if self._speaks and error.errno not in CLOSED:
                self._failure = f"the output cannot be written ({error.strerror})"
        if self._failure:  # each time: who tries a stream out may have caught the first
            raise ArmtwinError(self._failure)

    def _silence(self) -> None:
        """Lead all that follows to nowhere, also what the interpreter flushes at its end."""
        with suppress(OSError, ValueError):
            nowhere = os.open(os.devnull, os.O_WRONLY)
            os.dup2(nowhere, self._stream.fileno())
            os.close(nowhere)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)


@contextmanager
def patient_streams() -> Iterator[None]:
    """Within it, what is printed does not end a command when nobody reads it."""
    with ExitStack() as both:
        if sys.stdout is not None:
            out: Any = _Patient(sys.stdout, speaks=True)
            both.enter_context(redirect_stdout(out))
        if sys.stderr is not None:
            err: Any = _Patient(sys.stderr, speaks=False)
            both.enter_context(redirect_stderr(err))
        yield

"""The binary of a unit for the present platform, where a C compiler is found."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path

from armtwin.errors import ArmtwinError

COMPILERS = ("cc", "gcc", "clang")
OPTIONS = ("-std=c99", "-O2", "-fPIC", "-fvisibility=hidden")
LONGEST = 300.0  # time that compiling may take [s]
ENDINGS = {"linux": ".so", "darwin": ".dylib", "win32": ".dll"}
# folders of FMI 2.0 and parts of those of FMI 3.0
SYSTEMS = {"linux": "linux", "darwin": "darwin", "win32": "windows"}
OLD_SYSTEMS = {"linux": "linux64", "darwin": "darwin64", "win32": "win64"}
PROCESSORS = {"x86_64": "x86_64", "amd64": "x86_64", "arm64": "aarch64", "aarch64": "aarch64"}


def c_compiler() -> list[str] | None:
    """The command of a C compiler: $CC, or one of the usual names; None where none is found."""
    given = shlex.split(os.environ.get("CC", ""))
    if given:
        return given if shutil.which(given[0]) else None
    for name in COMPILERS:
        found = shutil.which(name)
        if found:
            return [found]
    return None


def binary_place(identifier: str, version: int) -> str:
    """Where the binary of this platform lies in the archive of a unit."""
    system = sys.platform if sys.platform in SYSTEMS else "linux"
    machine = platform.machine().lower()
    folder = OLD_SYSTEMS[system]
    if version == 3:
        folder = f"{PROCESSORS.get(machine, machine)}-{SYSTEMS[system]}"
    return f"binaries/{folder}/{identifier}{ENDINGS[system]}"


def compiled_binary(command: list[str], sources: Mapping[str, str], main: str) -> bytes:
    """The shared library of sources.

    Args:
        command: The compiler.
        sources: Texts by file name.
        main: The file that is compiled; it includes the others.
    """
    with tempfile.TemporaryDirectory(prefix="armtwin-unit-") as folder:
        for name, text in sources.items():
            Path(folder, name).write_text(text, encoding="utf-8")
        flag = "-dynamiclib" if sys.platform == "darwin" else "-shared"
        built = [*command, *OPTIONS, flag, main, "-o", "unit.bin", "-lm"]
        try:
            done = subprocess.run(
                built, cwd=folder, capture_output=True, text=True, timeout=LONGEST, check=False
            )
        except (OSError, subprocess.TimeoutExpired) as error:
            raise ArmtwinError(f"C compiler {command[0]}: could not be run ({error})") from None
        if done.returncode:
            said = done.stderr.strip().splitlines()[:1] or ["it said nothing"]
            raise ArmtwinError(f"C compiler {command[0]}: failed on the unit's sources: {said[0]}")
        return Path(folder, "unit.bin").read_bytes()

"""What keeps a program of others in bounds: its processes end with it, and it writes to one folder.

A supervisor process lies between us and the program. On Linux it adopts what the program starts and
leaves behind, so that all of it can be ended; elsewhere processes are ended as a group (macOS) or a
tree (Windows).
"""

import ctypes
import os
import signal
import struct
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from armtwin.files.opening import MB, UNIT

GRACE = 0.5  # time [s] that a supervisor has for ending its processes
BY_SIGNAL = 128  # added to the number of the signal that ended a process, as a shell does
LARGEST_FILE = UNIT.most  # that a program may write [B]: as large as an unpacked unit may be
MOST_MEMORY = 4096 * MB  # of its own, so that a leak ends the program and not the machine
MOST_HANDLES = 512  # open files: sockets, libraries and files of a large unit
ADOPT_ORPHANS, NO_NEW_RIGHTS = 36, 38  # options of Linux' prctl
# Landlock of Linux: numbers of its calls and what they are asked for
CREATE_RULES, ADD_RULE, RESTRICT_SELF = 444, 445, 446
TELL_VERSION, BENEATH = 1, 1
WRITE, REFER, TRUNCATE = 1 << 1, 1 << 13, 1 << 14
REMOVE_AND_MAKE = sum(1 << bit for bit in range(4, 13))
NO_OTHER_SOCKETS, NO_OTHER_SIGNALS = 1, 2  # abstract sockets; signals to processes outside
ALWAYS_WRITABLE = ("/dev/null", "/dev/shm")


def start(command: list[str]) -> tuple[subprocess.Popen[bytes], int]:
    """Start a program under `supervise`, and the handle whose closing ends it."""
    options: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    if sys.platform == "win32":
        return subprocess.Popen(command, stderr=subprocess.DEVNULL, **options), -1
    inner, outer = os.pipe()
    try:
        process = subprocess.Popen(
            [*command, str(inner)],
            stderr=subprocess.DEVNULL,
            pass_fds=(inner,),
            start_new_session=True,
            **options,
        )
    except BaseException:
        os.close(outer)
        raise
    finally:
        os.close(inner)
    return process, outer


def end(process: subprocess.Popen[bytes], lifeline: int) -> None:
    """End a started program and all that it has started, whatever they do."""
    if lifeline >= 0:
        os.close(lifeline)
    try:
        process.wait(GRACE if lifeline >= 0 else 0)
    except subprocess.TimeoutExpired:
        _end_group(process)


def _end_group(process: subprocess.Popen[Any]) -> None:
    """End a process with its group, or with its tree where there are no groups."""
    if sys.platform == "win32":
        tree = ["taskkill", "/T", "/F", "/PID", str(process.pid)]
        subprocess.run(tree, capture_output=True, check=False)
        process.kill()
    else:
        with suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_in(folder: str, command: list[str], limit: float) -> tuple[int, str]:
    """Run a tool in a folder, also with its temporary files; its code and what it said of errors.

    Where it is stopped, or takes longer than a limit [s], all that it has started ends with it.
    """
    process = subprocess.Popen(
        command,
        cwd=folder,
        env={**os.environ, "TMPDIR": folder},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        start_new_session=True,
    )
    with process:
        try:
            said = process.communicate(timeout=limit)[1]
        except BaseException:
            _end_group(process)
            raise
    return process.returncode, said


def describe_end(code: int) -> str:
    """How a process ended, in words."""
    number = code - BY_SIGNAL if code > BY_SIGNAL else -code
    with suppress(ValueError):
        return f"signal {signal.Signals(number).name}"
    return f"code {code}"


def supervise(lifeline: int, work: Callable[[], None]) -> None:
    """Do some work in a process of its own; end all that is left of it with it, or with our parent.

    Args:
        lifeline: Reading end of a pipe that our parent holds open while it lives and wants this.
        work: What is done.
    """
    _control(ADOPT_ORPHANS, 1)
    worker = os.fork()
    if not worker:
        os.close(lifeline)
        work()
        os._exit(0)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for stream in (0, 1):  # that the worker's end is seen by those who read and write them
        os.dup2(nowhere, stream)
    threading.Thread(target=_end_with_parent, args=(lifeline,), daemon=True).start()
    code = -signal.SIGKILL
    with suppress(ChildProcessError):  # the thread was faster
        code = os.waitstatus_to_exitcode(os.waitpid(worker, 0)[1])
    _end_descendants()
    os._exit(code if code >= 0 else BY_SIGNAL - code)


def _end_with_parent(lifeline: int) -> None:
    os.read(lifeline, 1)
    _end_descendants()
    os._exit(BY_SIGNAL + signal.SIGKILL)


def _end_descendants() -> None:
    """End what comes from this process, until nothing is left."""
    if not os.path.exists(f"/proc/self/task/{threading.get_native_id()}/children"):
        os.killpg(0, signal.SIGKILL)  # ends us too
    while alive := _list_descendants(os.getpid()):
        for process in alive:
            with suppress(ProcessLookupError, PermissionError):
                os.kill(process, signal.SIGKILL)
        with suppress(ChildProcessError):  # what is dead is listed until it was waited for
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass


def _list_descendants(ancestor: int) -> list[int]:
    """Numbers of the processes that come from one."""
    found: list[int] = []
    waiting = [ancestor]
    while waiting:
        below: list[int] = []
        for file in Path(f"/proc/{waiting.pop()}/task").glob("*/children"):
            with suppress(OSError):  # it has just ended
                below += map(int, file.read_bytes().split())
        found += below
        waiting += below
    return found


def confine(folder: Path) -> None:
    """Have this process, and what it starts, work and write in a folder, within limits.

    What the system does not offer is left out.
    """
    os.chdir(folder)
    for name in ("TMPDIR", "TEMP", "TMP"):
        os.environ[name] = str(folder)
    with suppress(ImportError):  # Windows
        import resource

        for what, most in (
            (resource.RLIMIT_CORE, 0),
            (resource.RLIMIT_FSIZE, LARGEST_FILE),
            (resource.RLIMIT_DATA, MOST_MEMORY),
            (resource.RLIMIT_NOFILE, MOST_HANDLES),
        ):
            hard = resource.getrlimit(what)[1]
            limit = most if hard == resource.RLIM_INFINITY else min(most, hard)
            with suppress(OSError, ValueError):
                resource.setrlimit(what, (limit, limit))
    if sys.platform == "linux":
        with suppress(OSError):
            _write_only_to([str(folder), *ALWAYS_WRITABLE])


def _write_only_to(places: list[str]) -> None:
    """Forbid this process to change files elsewhere and to signal others (Landlock)."""
    call = ctypes.CDLL(None, use_errno=True).syscall
    version = call(CREATE_RULES, None, 0, TELL_VERSION)
    if version < 1:
        return
    forbidden = WRITE | REMOVE_AND_MAKE
    forbidden |= REFER if version >= 2 else 0
    forbidden |= TRUNCATE if version >= 3 else 0
    rules = struct.pack("=Q", forbidden)
    if version >= 6:
        rules = struct.pack("=QQQ", forbidden, 0, NO_OTHER_SOCKETS | NO_OTHER_SIGNALS)
    handle = call(CREATE_RULES, rules, len(rules), 0)
    if handle < 0:
        return
    try:
        for place in places:
            with suppress(OSError):
                _allow(call, handle, forbidden, place)
        _control(NO_NEW_RIGHTS, 1)
        call(RESTRICT_SELF, handle, 0)
    finally:
        os.close(handle)


def _allow(call: Callable[..., int], handle: int, rights: int, place: str) -> None:
    """Take a file, or all beneath a folder, out of what is forbidden."""
    beneath = os.open(place, os.O_PATH | os.O_CLOEXEC)
    try:
        allowed = rights if os.path.isdir(place) else rights & (WRITE | TRUNCATE)
        call(ADD_RULE, handle, BENEATH, struct.pack("=Qi", allowed, beneath), 0)
    finally:
        os.close(beneath)


def _control(option: int, value: int) -> None:
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0)

"""Kernels compiled once and cached per state of their sources; the only module that uses numba.

numba's own cache looks at the file of a kernel only. A kernel that calls a law of another file
would keep running the old law after that file was edited, so the cache lives in a folder named
after the contents of every source file that kernels depend on (sources.py). Nor does it look at
what it loads: machine code of a file that was cut off or changed on the disk would be run. Each
file of ours carries a seal over its contents, and what does not match it is compiled again.

A wheel may bring kernels along (packaging/build_kernels.py), made for a level of processors that
most machines have: what is not in the user's folder is looked for there before it is compiled.
"""

import hashlib
import os
import pickle
import re
import shutil
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import Any, TypeVar, overload

import numba
import numpy
from llvmlite.binding import get_host_cpu_features, llvm_version_info
from numba.core import config, event
from numba.core.caching import (
    CompileResultCacheImpl,
    FunctionCache,
    IndexDataCacheFile,
    UserProvidedCacheLocator,
)
from numba.core.compiler_lock import global_compiler_lock
from numba.core.environment import Environment, lookup_environment
from numba.core.runtime.nrt import rtsys

from armtwin.maths.ownership import make_private, read_own_file, why_unsafe
from armtwin.maths.sources import source_stamp

Function = Callable[..., Any]
F = TypeVar("F", bound=Function)

KEPT_STAMPS = 6  # states of the sources whose kernels stay on the disk
HALF_WRITTEN = 600.0  # seconds after which nobody is still writing a file


def _user_cache() -> Path:
    """Folder for caches of this user, by the custom of the platform."""
    given = os.environ.get("ARMTWIN_CACHE_DIR")
    if given:
        return Path(given)
    if sys.platform == "win32":
        caches = os.environ.get("LOCALAPPDATA", Path.home() / "AppData" / "Local")
    elif sys.platform == "darwin":
        caches = Path.home() / "Library" / "Caches"
    else:
        caches = os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")
    return Path(caches) / "armtwin"


STAMP = source_stamp(Path(__file__).parents[1])


def _open_folder() -> tuple[Path | None, str]:
    """Writable cache folder of this state of the sources, ours alone, and a remark on it.

    What lies there is run. A folder into which others could put kernels is not used: one of this
    user among the temporary files takes its place. None where none can be had.
    """
    remark = ""
    try:
        asked = [_user_cache()]
        if hasattr(os, "geteuid"):
            asked.append(Path(tempfile.gettempdir()) / f"armtwin-{os.geteuid()}")
        for cache in asked:
            real = Path(os.path.realpath(cache))
            folder = real / "kernels" / STAMP
            why, remedy = why_unsafe(folder)
            if not why:
                return _prepare(folder), remark
            remark = remark or (
                f"{real}: a cache of kernels must be closed to other users, but {why}; kernels "
                f"are kept among the temporary files. {remedy.capitalize()}, or choose another "
                "with ARMTWIN_CACHE_DIR"
            )
    except (OSError, RuntimeError):  # RuntimeError: Path.home() of a user without a home
        pass
    return None, remark


def _prepare(folder: Path) -> Path:
    """The folder, made where it is missing, and rid of what nobody needs any more."""
    if make_private(folder):
        _forget_old(folder.parent)
    _forget_halves(folder)
    with tempfile.TemporaryFile(dir=folder):
        return folder


def _forget_old(root: Path) -> None:
    """Remove all but the newest few folders of earlier states of the sources."""
    stamps = []
    for path in root.iterdir():
        if path.is_dir() and re.fullmatch(r"[0-9a-f]{12}", path.name):
            stamps.append(path)
    stamps.sort(key=lambda path: path.stat().st_mtime)
    for folder in stamps[:-KEPT_STAMPS]:
        shutil.rmtree(folder, ignore_errors=True)


def _forget_halves(folder: Path) -> None:
    """Remove files that a killed process was writing."""
    for path in folder.glob("*/*.tmp.*"):
        with suppress(OSError):  # another process may have moved it into place
            if time.time() - path.stat().st_mtime > HALF_WRITTEN:
                path.unlink()


CACHE_FOLDER, _REMARK = _open_folder()
_unsaid = [_REMARK] if _REMARK else []


def take_remark() -> str:
    """What is to be said of the cache folder, once; "" where there is nothing."""
    return _unsaid.pop() if _unsaid else ""


# What a loaded file must agree with beside its own contents: bytecode, machine code, arrays.
_MADE_BY = (sys.version_info[:2], numba.__version__, numpy.__version__.partition(".")[0])
_SEAL = hashlib.sha256().digest_size


class _SealedFile(IndexDataCacheFile):
    """numba's two files of a kernel, index and machine code, each with a seal.

    What is damaged counts as not there.
    """

    def load(self, key: Hashable) -> Any:
        """The machine code kept under a key, or None."""
        found = super().load(key)
        if found is None or found[0] != key:  # two processes may have given one file two meanings
            return None
        return found[1]

    def save(self, key: Hashable, data: object) -> None:
        """Keep machine code under a key."""
        super().save(key, (key, data))

    def _load_index(self) -> Any:
        stamp_and_names = self._open_sealed(self._index_path)
        if stamp_and_names is None or stamp_and_names[0] != self._source_stamp:
            return {}
        return stamp_and_names[1]

    def _save_index(self, overloads: object) -> None:
        self._write_sealed(self._index_path, (self._source_stamp, overloads))

    def _load_data(self, name: str) -> Any:
        return self._open_sealed(self._data_path(name))

    def _save_data(self, name: str, data: object) -> None:
        self._write_sealed(self._data_path(name), data)

    def _write_sealed(self, path: str, value: object) -> None:
        data = self._dump(value)
        with self._open_for_write(path) as file:
            file.write(_seal(data) + data)

    def _read(self, path: Path) -> bytes | None:
        return read_own_file(path)

    def _open_sealed(self, path: str) -> Any:
        """What a file holds; None if it is not there, is another's or its seal is broken."""
        content = self._read(Path(path))
        if content is None:
            return None
        seal, data = content[:_SEAL], content[_SEAL:]
        if seal != _seal(data):
            return None
        return pickle.loads(data)


def _seal(data: bytes) -> bytes:
    return hashlib.sha256(repr(_MADE_BY).encode() + data).digest()


class _ByModule(UserProvidedCacheLocator):
    """Files by the name of the module and the state of the sources: they can be carried along."""

    def __init__(self, kernel: Function, file: str) -> None:
        settings: Any = config
        self._py_file = file
        self._lineno = kernel.__code__.co_firstlineno
        self._cache_path = os.path.join(settings.CACHE_DIR, kernel.__module__)

    def get_source_stamp(self) -> str:
        """What the files must have been made from."""
        return STAMP


class _MachineCode(CompileResultCacheImpl):
    """What numba keeps of a kernel, without the modules of the functions inside of it.

    Each such function has an environment: constants, and the names of its module, which only code
    that handles Python objects looks up. numba's own loading imports that module, and with it, for
    an index into an array, much of what it needs to compile.
    """

    _locator_classes: list[Any] = [_ByModule]  # our folder or none

    def reduce(self, kernel: object) -> Any:
        """A compiled kernel in parts that can be written."""
        *parts, environments = super().reduce(kernel)
        kept = []
        for x in environments:
            kept.append((x.env_name, x.globals["__name__"], list(x.consts)))
        return *parts, kept

    def rebuild(self, context: object, parts: Sequence[Any]) -> Any:
        """The kernel of such parts, ready to run."""
        *others, kept = parts
        environments = tuple(_environment(*x) for x in kept)
        return super().rebuild(context, (*others, environments))


def _environment(name: str, module: str, constants: list[Any]) -> Any:
    """The environment of a function by its name; kernels share it."""
    found = lookup_environment(name)
    if found is None:
        loaded = sys.modules.get(module)
        found = Environment({"__name__": module} if loaded is None else vars(loaded))
        found.consts[:] = constants
        found.env_name = name
        Environment._memo[name] = found
    return found


class _KernelFiles(FunctionCache):
    """numba's cache of a kernel, with sealed files; what cannot be kept is compiled again."""

    _impl_class: type[_MachineCode] = _MachineCode
    _file_class: type[_SealedFile] = _SealedFile

    def __init__(self, kernel: Function, name: str) -> None:
        super().__init__(kernel)
        base = self._impl.filename_base + name
        self._cache_file = self._file_class(self._cache_path, base, STAMP)

    def load_overload(self, signature: object, context: object) -> Any:
        """A kernel of the disk, ready to run, or None.

        numba's own first imports all that it needs to compile, half a second of it. Machine code
        needs the run-time library only.
        """
        rtsys.initialize(context)
        with self._guard_against_spurious_io_errors():
            return self._load_overload(signature, context)

    def save_overload(self, signature: object, data: object) -> None:
        """Keep a compiled kernel; a full or read-only disk is no reason to stop."""
        with suppress(OSError):
            super().save_overload(signature, data)


# Processors that shipped kernels are made for, and what they must have: the level of 2013 on
# (System V ABI for x86-64, micro-architecture level 3).
SHIPPED_CPU = ("x86-64-v3", "")
SHIPPED_NEEDS = ("avx2", "bmi", "bmi2", "f16c", "fma", "lzcnt", "movbe", "popcnt", "sse4.2")


def _find_shipped() -> Path | None:
    """Folder of the kernels that came with these sources and run on this processor."""
    folder = Path(__file__).parents[1] / "kernels" / STAMP
    if not folder.is_dir():
        return None
    has = get_host_cpu_features()
    return folder if all(has.get(need) for need in SHIPPED_NEEDS) else None


class _InPlace(_ByModule):
    """Files that are read where they were installed, and never written."""

    def ensure_cache_path(self) -> None:
        """Leave the folder as it is."""


class _ShippedCode(_MachineCode):
    _locator_classes: list[Any] = [_InPlace]


class _ShippedFile(_SealedFile):
    """A file that was installed with the sources, by whom they were."""

    def _read(self, path: Path) -> bytes | None:
        try:
            return path.read_bytes()
        except OSError:
            return None


class _ShippedFiles(_KernelFiles):
    """The kernels that came with the sources."""

    _impl_class = _ShippedCode
    _file_class = _ShippedFile

    def _index_key(self, signature: object, codegen: Any) -> Any:
        kind, (triple, *_), digests = super()._index_key(signature, codegen)
        return kind, (triple, *SHIPPED_CPU), digests


class _KernelCache:
    """The cache of a kernel, opened when the kernel is first called: a command calls few of all.

    numba asks it with its lock on all compiling held.
    """

    def __init__(self, kernel: Function, name: str) -> None:
        self._kernel, self._name = kernel, name

    @cached_property
    def _files(self) -> _KernelFiles | None:
        remark = take_remark()
        if remark:
            warnings.warn(remark, stacklevel=2)
        return self._open(CACHE_FOLDER, _KernelFiles)

    @cached_property
    def _shipped(self) -> _KernelFiles | None:
        return self._open(SHIPPED_FOLDER, _ShippedFiles)

    def _open(self, folder: Path | None, kind: type[_KernelFiles]) -> _KernelFiles | None:
        """The files of the kernel in a folder, if there is one."""
        if folder is None:
            return None
        settings: Any = config  # its fields are made at run time
        before = settings.CACHE_DIR
        settings.CACHE_DIR = str(folder)
        try:
            return kind(self._kernel, self._name)
        except RuntimeError:  # the folder cannot be written any more
            return None
        finally:
            settings.CACHE_DIR = before

    @property
    def cache_path(self) -> Any:
        """Folder of its files, or None."""
        return None if self._files is None else self._files.cache_path

    def load_overload(self, signature: object, context: object) -> Any:
        """A kernel of the disk, the user's own or one that was shipped, ready to run, or None."""
        for files in (self._files, self._shipped):
            found = None if files is None else files.load_overload(signature, context)
            if found is not None:
                return found
        return None

    def save_overload(self, signature: object, data: object) -> None:
        """Keep a compiled kernel."""
        if self._files is not None:
            self._files.save_overload(signature, data)


SHIPPED_FOLDER = _find_shipped()
EXACT: dict[str, Any] = {"error_model": "numpy", "nogil": True}
OPTIONS = EXACT | {"fastmath": {"contract"}}
# Parts of kernels have no door from Python: unboxing their arguments is a fifth of their compiling.
INLINED: dict[str, Any] = {
    "forceinline": True,
    "no_cpython_wrapper": True,
    "no_cfunc_wrapper": True,
}


# numba leaves equal operations apart since LLVM 14 put some together wrongly
JOINS_RIGHTLY = llvm_version_info >= (20, 0, 0)


@overload
def compiled(f: F, name: str = "", *, straight: bool = False, exact: bool = False) -> F: ...


@overload
def compiled(f: None = None, *, exact: bool = False) -> Callable[[F], F]: ...


def compiled(
    f: F | None = None, name: str = "", *, straight: bool = False, exact: bool = False
) -> F | Callable[[F], F]:
    """Compile a kernel on first call and keep the machine code on disk.

    error_model="numpy": a division by zero gives inf as in numpy. fastmath={"contract"} lets
    multiply-adds fuse and changes nothing else: NaN and the order of sums are kept. nogil: kernels
    run in a thread pool.

    Args:
        f: The kernel; without one, a decorator with these options.
        name: Tells kernels apart that one function makes, for several structures.
        straight: Whether it has long stretches without loops, in which equal operations are found
            and done side by side.
        exact: Whether multiply-adds are left as they stand.
    """
    if f is None:
        return partial(compiled, exact=exact)
    if not compiles():
        return f
    options = EXACT if exact else OPTIONS
    kernel: Any = numba.njit(**options)(f)
    if CACHE_FOLDER is not None or SHIPPED_FOLDER is not None:
        kernel._cache = _KernelCache(f, name)
    if straight and JOINS_RIGHTLY:
        kernel.compile = _joining(kernel.compile)
    return kernel


def compiles() -> bool:
    """Whether kernels are compiled; NUMBA_DISABLE_JIT has them run as they stand."""
    settings: Any = config
    return not settings.DISABLE_JIT


def _joining(compile: Function) -> Function:
    """Compile with equal operations side by side (superword-level parallelism)."""
    settings: Any = config

    def compile_joined(signature: object) -> Any:
        with global_compiler_lock:
            before = settings.SLP_VECTORIZE
            settings.SLP_VECTORIZE = 1
            try:
                return compile(signature)
            finally:
                settings.SLP_VECTORIZE = before

    return compile_joined


def inlined(f: F) -> F:
    """Compile a part of a kernel into each place that calls it.

    A call would hand over every field of its arrays.
    """
    if not compiles():
        return f
    return _part(f, OPTIONS)


def exactly(f: F) -> F:
    """Compile a part of a kernel, with its multiply-adds as they stand, into each place.

    Where the compiler may fuse them, it fuses others in other kernels: this part gives the same
    digits in all.
    """
    if not compiles():
        return f
    return _part(f, EXACT)


def unfused(part: F) -> F:
    """A part of kernels as it is, but with its multiply-adds left as they stand."""
    return exactly(getattr(part, "py_func", part))


def _part(f: F, options: dict[str, Any]) -> F:
    """A part of kernels, without a door from Python: called there, it runs as it stands."""
    part: Any = numba.njit(**INLINED, **options)(f)

    def keep(result: Any) -> None:
        part.overloads[tuple(result.signature.args)] = result

    def plain(*args: Any, **named: Any) -> F:
        return f

    part.add_overload = keep
    part._compile_for_args = plain
    return part


class _Once(event.Listener):
    """Calls a function when the first kernel is about to be compiled."""

    def __init__(self, say: Callable[[], None]) -> None:
        self._waiting = [say]

    def on_start(self, event: object) -> None:
        """A compilation begins."""
        if self._waiting:
            say = self._waiting.pop()
            say()

    def on_end(self, event: object) -> None:
        """It ended."""


def before_compiling(say: Callable[[], None]) -> None:
    """Have a function called once, when the first kernel of this process is to be compiled."""
    event.register("numba:compile", _Once(say))

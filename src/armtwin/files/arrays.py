"""Arrays of NPZ files: none larger than its member, none pickled."""

from __future__ import annotations

import math
import sys
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import IO, Any

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import FileError, shorten
from armtwin.files.opening import DAMAGE, Kind, open_plain_file
from armtwin.maths.batch import Indices

ENCRYPTED = 1  # flag of a member


@contextmanager
def open_arrays(path: Path, kind: Kind, damaged: str) -> Iterator[Arrays]:
    """The arrays of a file; whatever its reader stumbles over within is damage of the file.

    Args:
        path: The file.
        kind: What it is.
        damaged: What is said of a file that is none, or damaged.
    """
    with open_plain_file(path, kind) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numpy's, on headers written by old versions of Python
        try:
            with zipfile.ZipFile(file) as archive:
                yield Arrays(path, kind, archive)
        except DAMAGE:
            raise FileError(path, damaged) from None


@dataclass(frozen=True)
class Arrays:
    """The arrays of an NPZ file, each read when it is asked for and no larger than its member."""

    path: Path
    kind: Kind
    archive: zipfile.ZipFile

    @cached_property
    def names(self) -> dict[str, zipfile.ZipInfo]:
        """The members by the names of their arrays."""
        return {info.filename.removesuffix(".npy"): info for info in self.archive.infolist()}

    def array(self, name: str) -> NDArray[Any]:
        """One array; an encrypted, pickled or too large one is refused."""
        info = self.names[name]
        if info.flag_bits & ENCRYPTED:
            raise self.error(name, "must not be encrypted")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise self.error(name, "must be stored or deflated, as numpy writes it")
        if info.file_size > self.kind.most:
            raise self.kind.too_long(self.path)
        with self.archive.open(info) as file:
            shape, turned, dtype = _head(file)
            if dtype.hasobject or dtype.names:
                raise self.error(name, "must hold plain numbers; pickled objects are not read")
            size = math.prod(shape) * dtype.itemsize
            if size > info.file_size:
                raise self.error(name, f"says that it has shape {shape}, but the file holds less")
            data = file.read(size)
        if len(data) != size:
            raise self.error(name, f"says that it has shape {shape}, but the file holds less")
        if dtype.kind == "U" and not _is_text(data, dtype):
            raise self.error(name, "must hold texts, but some of its characters are none")
        return np.frombuffer(data, dtype=dtype).reshape(shape, order="F" if turned else "C")

    def error(self, name: str, sentence: str) -> FileError:
        """An error in an array."""
        return FileError(self.path, f"array '{shorten(name, 60)}' {sentence}")


def _is_text(data: bytes, dtype: np.dtype[Any]) -> bool:
    """Whether all characters are some of Unicode; Python fails on others when it meets them."""
    codes = np.frombuffer(data, np.dtype(np.uint32).newbyteorder(dtype.byteorder))
    is_surrogate = (codes >= 0xD800) & (codes < 0xE000)
    return not (is_surrogate | (codes > sys.maxunicode)).any()


def _head(file: IO[bytes]) -> tuple[Indices, bool, np.dtype[Any]]:
    """Shape, whether columns come first, and type of an array."""
    version = np.lib.format.read_magic(file)
    if version == (1, 0):
        return np.lib.format.read_array_header_1_0(file)
    if version == (2, 0):
        return np.lib.format.read_array_header_2_0(file)
    raise ValueError("an array of another version")

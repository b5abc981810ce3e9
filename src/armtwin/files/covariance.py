"""The covariance of a file's numbers, beside it as NAME.covariance.npz.

It holds the digest of the file that it belongs to, so that neither goes with another.
"""

from __future__ import annotations

import hashlib
import io
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.files.disk import Content
from armtwin.files.opening import COVARIANCE, TOML, read_bytes
from armtwin.maths.batch import Floats, Names, read_only

ENDING = ".covariance.npz"
FORMAT = 1  # of the file
SYMMETRIC = 1e-9  # of the deviations by which two halves may differ
DAMAGED = (ValueError, KeyError, EOFError, OSError, zipfile.BadZipFile, zlib.error)


@dataclass(frozen=True, eq=False)
class Covariance:
    """Covariance of named numbers.

    Attributes:
        names: Their names.
        values: Their covariance in products of SI units, (k, k).
    """

    names: Names
    values: Floats


def beside(path: Path) -> Path:
    """Where the covariance of a file lies."""
    return path.parent / f"{path.stem}{ENDING}"


def covariance_content(found: Covariance, text: str) -> Content:
    """What the covariance file holds beside a file of this text; one that is none is refused."""
    try:
        _check_covariance(
            {"format": FORMAT, "names": np.array(found.names), "covariance": found.values}
        )
    except ValueError as error:
        raise ArmtwinError(f"the covariance of the parameters cannot be written: {error}") from None

    def write(file: BinaryIO) -> None:
        np.savez(
            file,
            format=np.array(FORMAT),
            sha256=np.array(_digest(text.encode("utf-8"))),
            names=np.array(found.names),
            covariance=found.values,
        )

    return write


def read_covariance(path: Path) -> tuple[Covariance | None, str]:
    """The covariance beside a file, or None and a sentence that says why there is none."""
    place = beside(path)
    if not place.exists():
        return None, f"{place.name} is not there, so that the standard deviations are uncorrelated"
    try:
        held = _arrays(place)
        found = _check_covariance(held)
    except ArmtwinError as error:
        return None, f"{error}; the standard deviations are uncorrelated"
    except DAMAGED:
        damaged = "is damaged or no covariance file"
        return None, f"{place.name} {damaged}, so that the standard deviations are uncorrelated"
    if str(held["sha256"]) != _digest(read_bytes(path, TOML)):
        other = f"belongs to another {path.name}, or that was changed"
        return None, f"{place.name} {other}, so that the standard deviations are uncorrelated"
    return found, ""


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _arrays(path: Path) -> dict[str, Any]:
    """The arrays of a covariance file, none of which unpacks to more than such a file holds."""
    packed = io.BytesIO(read_bytes(path, COVARIANCE))
    with zipfile.ZipFile(packed) as archive:
        if sum(entry.file_size for entry in archive.infolist()) > COVARIANCE.most:
            raise COVARIANCE.too_long(path)
    packed.seek(0)
    with np.load(packed, allow_pickle=False) as arrays:
        return {key: arrays[key] for key in ("format", "sha256", "names", "covariance")}


def _check_covariance(held: dict[str, Any]) -> Covariance:
    """The covariance, if it can be one; else a ValueError."""
    names = tuple(map(str, held["names"].tolist()))
    values = np.asarray(held["covariance"], dtype=np.float64)
    if int(held["format"]) != FORMAT or values.shape != (len(names), len(names)):
        raise ValueError("another format")
    deviations = np.sqrt(np.diag(values))  # nan where negative, which no comparison passes
    sizes = np.outer(deviations, deviations)
    if not (np.abs(values - values.T) <= SYMMETRIC * sizes).all():
        raise ValueError("not symmetric, or a variance below 0")
    return Covariance(names, read_only(values))

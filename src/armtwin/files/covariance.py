"""The covariance of a file's numbers, beside it as NAME.covariance.npz.

It holds the digest of the file that it belongs to, so that neither goes with another.
"""

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np

from armtwin.errors import ArmtwinError, FileError
from armtwin.files.arrays import open_arrays
from armtwin.files.digests import digest
from armtwin.files.opening import COVARIANCE, TOML, read_bytes
from armtwin.files.staging import Content
from armtwin.maths.batch import Floats, Names, read_only

ENDING = ".covariance.npz"
FORMAT = 1  # of the file
SYMMETRIC = 1e-9  # of the deviations by which two halves may differ
UNCORRELATED = ", so that the standard deviations are uncorrelated"
ARRAYS = ("format", "sha256", "names", "covariance")


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
            sha256=np.array(digest(text.encode("utf-8"))),
            names=np.array(found.names),
            covariance=found.values,
        )

    return write


def read_covariance(path: Path) -> tuple[Covariance | None, str]:
    """The covariance beside a file, or None and a sentence that says why there is none."""
    place = beside(path)
    if not os.path.exists(place):
        return None, f"{place.name} is not there{UNCORRELATED}"
    try:
        with open_arrays(place, COVARIANCE, "is damaged or no covariance file") as arrays:
            held = {name: arrays.array(name) for name in ARRAYS}
            found = _check_covariance(held)
    except FileError as error:
        return None, f"{place.name} {error.problems[0]}{UNCORRELATED}"
    except ArmtwinError as error:
        return None, f"{error}{UNCORRELATED}"
    if str(held["sha256"]) != digest(read_bytes(path, TOML)):
        other = f"belongs to another {path.name}, or that was changed"
        return None, f"{place.name} {other}{UNCORRELATED}"
    return found, ""


def _check_covariance(held: dict[str, Any]) -> Covariance:
    """The covariance, if it can be one; else a ValueError."""
    names = tuple(map(str, held["names"].tolist()))
    values = np.asarray(held["covariance"])
    if int(held["format"]) != FORMAT or values.shape != (len(names), len(names)):
        raise ValueError("another format")
    if values.dtype.kind not in "fiu":
        raise ValueError("no real numbers")
    values = values.astype(np.float64)
    with np.errstate(invalid="ignore"):  # nan where negative, which no comparison passes
        deviations = np.sqrt(np.diag(values))
    sizes = np.outer(deviations, deviations)
    if not (np.abs(values - values.T) <= SYMMETRIC * sizes).all():
        raise ValueError("not symmetric, or a variance below 0")
    return Covariance(names, read_only(values))

"""HDF5 files: a dataset for each channel, or a table; an attribute `unit` where there is one.

Files of MATLAB 7.3 are HDF5 with arrays turned. Needs the extra `logs`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from armtwin.errors import FileError, shorten
from armtwin.files.opening import DAMAGE, LOG, open_plain_file
from armtwin.logs.columns import Columns
from armtwin.logs.formats.named_arrays import read_named
from armtwin.logs.recording import Recording

HEAP = b"GCOL\1\0\0\0"  # begins a global heap
DAMAGED_HEAP = "is no HDF5 file that can be read (a heap of texts is damaged)"
MOST_NAMES = 1000  # datasets and groups of a file
UNITS = ("unit", "units")  # attributes that give a unit


def read_hdf5(path: Path, columns: Columns) -> Recording:
    """Read the datasets of a file, or of its one group."""
    try:
        import h5py
    except ImportError:
        sentence = "HDF5 files (and MATLAB 7.3) need the extra 'logs': pip install armtwin[logs]"
        raise FileError(path, sentence) from None
    with open_plain_file(path, LOG) as file:
        _check_heaps(path, file.read())
        file.seek(0)
        try:
            with h5py.File(file, "r") as archive:
                datasets = _datasets(path, archive)
                arrays, units, unread = _take(path, datasets)
        except FileError:
            raise
        except (*DAMAGE, AttributeError) as error:
            sentence = f"is no HDF5 file that can be read ({shorten(str(error), 80)})"
            raise FileError(path, sentence) from None
    return read_named(path, columns, arrays, units, unread)


def _check_heaps(path: Path, content: bytes) -> None:
    """Refuse global heaps, which hold texts, whose objects do not end: the library would wait.

    Ref: [HDF5 2019, III.E]
    """
    start = content.find(HEAP)
    while start >= 0:
        if len(content) < start + 16:
            raise FileError(path, DAMAGED_HEAP)
        stop = start + int.from_bytes(content[start + 8 : start + 16], "little")
        place = start + 16
        while place + 16 <= min(stop, len(content)):
            number = int.from_bytes(content[place : place + 2], "little")
            size = int.from_bytes(content[place + 8 : place + 16], "little")
            # the size of an object is that of its data, of free space all of it
            place += 16 + (size + 7) // 8 * 8 if number else size
            if place > stop or (not number and size < 16):
                raise FileError(path, DAMAGED_HEAP)
        start = content.find(HEAP, start + 4)


def _datasets(path: Path, archive: Mapping[str, Any]) -> dict[str, Any]:
    """The datasets of a file by name, those of its one group too; links are refused."""
    import h5py

    found: dict[str, Any] = {}
    groups: list[tuple[str, Any]] = [("", archive)]
    for prefix, group in groups:
        for name in group:
            if len(found) + len(groups) > MOST_NAMES:
                raise FileError(path, f"must hold at most {MOST_NAMES} datasets and groups")
            link = group.get(name, getlink=True)
            if not isinstance(link, h5py.HardLink):
                sentence = "is a link; datasets must be in the file itself"
                raise FileError(path, f"'{shorten(prefix + name, 60)}' {sentence}")
            item = group[name]
            if isinstance(item, h5py.Group):
                if not prefix and name != "#refs#":  # MATLAB's own
                    groups.append((f"{name}/", item))
            else:
                found[prefix + name] = item
    return found


def _take(
    path: Path, datasets: dict[str, Any]
) -> tuple[dict[str, NDArray[Any]], dict[str, str], list[str]]:
    """Arrays of numbers, their units, and the names of what holds none."""
    prefixes = {name.rpartition("/")[0] for name in datasets}
    is_one = len(prefixes) == 1
    arrays: dict[str, NDArray[Any]] = {}
    units: dict[str, str] = {}
    unread: list[str] = []
    total = 0
    for name, dataset in datasets.items():
        short = name.rpartition("/")[2] if is_one else name
        if dataset.is_virtual or dataset.external:
            raise FileError(path, f"'{shorten(name, 60)}' keeps its values in another file")
        total += 8 * (dataset.size or 0) * max(1, len(dataset.dtype.names or ()))
        if total > LOG.most:
            raise LOG.too_long(path)
        kinds = [dataset.dtype[key] for key in dataset.dtype.names or ()] or [dataset.dtype]
        if not dataset.shape or any(kind.kind not in "fiu" for kind in kinds):
            unread.append(name)
            continue
        values = dataset[()]
        if "MATLAB_class" in dataset.attrs:
            values = values.T
        if values.dtype.names:
            arrays |= {key: np.asarray(values[key]) for key in values.dtype.names}
            continue
        arrays[short] = values
        for key in UNITS:
            given = dataset.attrs.get(key)
            if given is not None:
                units[short] = given.decode() if isinstance(given, bytes) else str(given)
    return arrays, units, unread

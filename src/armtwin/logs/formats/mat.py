"""MAT files of MATLAB: those up to version 7 by scipy, those of version 7.3, which are HDF5."""

import math
import warnings
from pathlib import Path

import numpy as np

from armtwin.errors import FileError, shorten
from armtwin.files.opening import DAMAGE, LOG, open_plain_file
from armtwin.logs.columns import Columns
from armtwin.logs.formats.named_arrays import read_named
from armtwin.logs.recording import Recording

# classes of MATLAB that hold numbers
NUMBERS = ("double", "single", "int8", "uint8", "int16", "uint16", "int32", "uint32", "int64",
           "uint64")  # fmt: skip


def read_mat(path: Path, columns: Columns) -> Recording:
    """Read the arrays of numbers; structs, cells and texts are named as not read."""
    from scipy.io import loadmat, whosmat
    from scipy.io.matlab import MatReadError

    with open_plain_file(path, LOG) as file, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            held = whosmat(file)
            wanted = [name for name, shape, kind in held if kind in NUMBERS and len(shape) == 2]
            size = sum(8 * math.prod(shape) for name, shape, _ in held if name in wanted)
            if size > LOG.most:
                raise LOG.too_long(path)
            file.seek(0)
            arrays = loadmat(file, variable_names=wanted) if wanted else {}
        except (MatReadError, *DAMAGE) as error:
            sentence = f"is no MAT file that can be read ({shorten(str(error), 80)})"
            raise FileError(path, sentence) from None
    unread = [f"{name} ({kind})" for name, _, kind in held if name not in wanted]
    found = {name: arrays[name] for name in wanted if name in arrays}
    real = {name: array for name, array in found.items() if not np.iscomplexobj(array)}
    unread += [f"{name} (complex)" for name in found if name not in real]
    return read_named(path, columns, real, {}, unread)

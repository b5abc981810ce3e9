"""Tables for pandas, which is an optional dependency."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from armtwin.errors import ArmtwinError
from armtwin.maths.batch import Floats, NamedArrays

if TYPE_CHECKING:
    import pandas


def dataframe(
    index: tuple[str, ArrayLike | Sequence[str]], columns: Mapping[str, ArrayLike]
) -> pandas.DataFrame:
    """A data frame of columns by name over a named index."""
    pandas = _pandas()
    name, values = index
    return pandas.DataFrame(dict(columns), index=pandas.Index(np.asarray(values), name=name))


def dataframe_of(records: Sequence[Mapping[str, Any]]) -> pandas.DataFrame:
    """A data frame of records, one row each."""
    return _pandas().DataFrame.from_records([dict(record) for record in records])


def _pandas() -> Any:
    try:
        import pandas
    except ModuleNotFoundError:
        raise ArmtwinError("a data frame needs pandas: pip install pandas") from None
    return pandas


def number_columns(name: str, values: Floats) -> NamedArrays:
    """Columns of an array (m, n) by numbered names, as in a file: q1, q2, ..."""
    return {f"{name}{k}": column for k, column in enumerate(values.T, 1)}

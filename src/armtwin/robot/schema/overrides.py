"""Numbers of a robot file replaced by key path, as friction.5.level or friction.wrist.level."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armtwin.files.overrides import with_values
from armtwin.files.reading import check_format
from armtwin.files.writing import to_tables
from armtwin.robot.formats.reading import describe
from armtwin.robot.schema.description import FORMAT, Description

SOURCE = "assumed: overridden by the job"


def apply_overrides(
    description: Description, values: Mapping[str, Any], origin: str
) -> Description:
    """The description with other values at key paths; lists count from 1 or go by name."""
    tables = check_format(to_tables(description), origin, FORMAT)
    changed = with_values(tables, values, Description, SOURCE, origin)
    made = describe(changed, f"{origin}: override")
    known = description.standard_deviation
    if known is None or made.standard_deviation is None:
        return made
    # what lies beside the file is not in its tables
    deviation = replace(made.standard_deviation, covariance=known.covariance, remark=known.remark)
    return replace(made, standard_deviation=deviation)

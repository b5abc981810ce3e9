"""The parameters of a fit, one by one, with what each rests on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from armtwin.identification.fitting.structure import Group
from armtwin.maths.batch import Floats


@dataclass(frozen=True)
class FittedParameter:
    """One parameter of a fit.

    Attributes:
        name: Its name.
        unit: Its SI unit.
        prior: Value before the fit, as in a robot file.
        value: Fitted value.
        std: Standard deviation of the value.
        group: "alone", "combined" or "none": whether the columns can tell it.
        from_logs: Share of the value that the data tell, 0 to 1; the rest is drawn to the prior.
        told: Share of the parameter in the directions that the data tell to 10 % of the prior's
            size, 0 to 1.
    """

    name: str
    unit: str
    prior: float
    value: float
    std: float
    group: Group
    from_logs: float
    told: float


def parameter_table(
    *,
    names: Sequence[str],
    units: Sequence[str],
    prior: Floats,
    values: Floats,
    std: Floats,
    groups: Sequence[Group],
    from_logs: Floats,
    told: Floats,
) -> tuple[FittedParameter, ...]:
    """The table from its columns, each (p,); `FittedParameter` says what they are."""
    table = []
    for k, name in enumerate(names):
        table.append(
            FittedParameter(
                name=name,
                unit=units[k],
                prior=float(prior[k]),
                value=float(values[k]),
                std=float(std[k]),
                group=groups[k],
                from_logs=float(from_logs[k]),
                told=float(told[k]),
            )
        )
    return tuple(table)

"""The parameters of a fit, one by one, with how well each is identified."""

from collections.abc import Mapping, Sequence
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
        group: "alone", "combined" or "none": whether it is identifiable.
        from_logs: Share of the value that the data determine, 0 to 1; the rest is the prior's.
        told: Share of the parameter in the directions that the data identify to 10 % of the
            prior's size, 0 to 1.
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
    names: Sequence[str],
    units: Sequence[str],
    groups: Sequence[Group],
    columns: Mapping[str, Floats],
) -> tuple[FittedParameter, ...]:
    """The table from its columns, each (p,).

    Args:
        names: Names of the parameters.
        units: Their SI units.
        groups: Whether they are identifiable.
        columns: The numbers of `FittedParameter` by name.
    """
    table = []
    for k, name in enumerate(names):
        numbers = {key: float(column[k]) for key, column in columns.items()}
        table.append(FittedParameter(name=name, unit=units[k], group=groups[k], **numbers))
    return tuple(table)

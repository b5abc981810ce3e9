"""Which axes of a sweep a map is drawn over."""

from armtwin.sweeps.axes import SweepAxis
from armtwin.sweeps.sweep import Sweep

SPEED = "speed"


def map_axes(asked: Sweep) -> tuple[SweepAxis, SweepAxis] | None:
    """The level and the upright axis of maps; a limit's axis is taken last."""
    by_key = {axis.key: axis for axis in asked.axes if axis.is_number}
    if asked.description.map is not None:
        first, second = asked.description.map
        if first in by_key and second in by_key:
            return by_key[first], by_key[second]
    limit = limit_axis(asked)
    usual = [axis for axis in by_key.values() if axis is not limit]
    usual += [axis for axis in by_key.values() if axis is limit]
    several = [axis for axis in usual if axis.varies]
    return (several[0], several[1]) if len(several) > 1 else None


def limit_axis(asked: Sweep) -> SweepAxis | None:
    """The axis whose highest value that holds is of interest."""
    wanted = asked.description.limit or SPEED
    for axis in asked.axes:
        if axis.key == wanted and axis.is_number and axis.varies:
            return axis
    return None

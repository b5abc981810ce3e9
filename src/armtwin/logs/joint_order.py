"""The columns of a log in the order of a robot's joints, where the log names its joints."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.logs.log import Log


def in_order_of(log: Log, names: Sequence[str]) -> Log:
    """The log with its columns in the order of a robot's joints.

    Joints that the robot lacks, as those of a gripper, are left out. A log without names, or with
    names that are all other ones, is taken to be in the robot's order.

    Args:
        log: Any log.
        names: The robot's joints, (n,).
    """
    held = log.joint_names
    if held == tuple(names) or set(held).isdisjoint(names):
        return log
    if not set(names) <= set(held):
        raise ArmtwinError(
            f"{log.origin or 'the log'}: it names the joints {', '.join(held)}, but the robot has "
            f"{', '.join(names)}; give their order as columns.q of a columns file"
        )
    order = [held.index(name) for name in names]
    channels = dict(log.channels)
    for channel, values in log.channels.items():
        if values.shape[1] == len(held):
            # sums over samples depend on how they lie in memory, and no result shall on the order
            channels[channel] = np.ascontiguousarray(values[:, order])
    return replace(log, channels=channels, joint_names=tuple(names))

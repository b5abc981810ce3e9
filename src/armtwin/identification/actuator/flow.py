"""No-load flow of a valve from slow, triangular set-points: each ramp is one point of it.

    Q(i) = v + leakage F     at the mean current, speed and force of a steady ramp

Ref: [Machielsen 1983, section 6.1.4.1]
"""

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.fitting.separable import mean_of
from armtwin.identification.resampling import step_of
from armtwin.maths.batch import Floats, Pair

SAME_SLOPE = 1e-3  # relative change of a ramp's slope that begins another
LEAST_IN_RAMP = 20  # samples of a ramp after it has settled


@dataclass(frozen=True, eq=False)
class RampTest:
    """A record of an actuator on triangular set-points.

    Attributes:
        time: Even times, (m,) [s].
        setpoint: Set-point, in any unit, (m,).
        current: Current of the valve, (m,) [A].
        speed: Speed of the piston, (m,) [m/s or rad/s].
        force: Force of the piston, weight and friction, (m,) [N or N m].
    """

    time: Floats
    setpoint: Floats
    current: Floats
    speed: Floats
    force: Floats


@dataclass(frozen=True, eq=False)
class FlowEstimate:
    """No-load flow of a valve.

    Attributes:
        current: Mean current of each ramp, rising, (k,) [A].
        speed: Speed of the unloaded piston at them, (k,) [m/s or rad/s].
        std: Standard deviation of the speeds, counted with the record's correlation, (k,).
        half_width: Half widths of their 95 % intervals, (k,).
    """

    current: Floats
    speed: Floats
    std: Floats
    half_width: Floats

    @property
    def points(self) -> tuple[Pair, ...]:
        """The table of a robot file."""
        pairs = zip(self.current.tolist(), self.speed.tolist(), strict=True)
        return tuple((i, v) for i, v in pairs)


def no_load_flow(test: RampTest, leakage: float, settling: float = 0.1) -> FlowEstimate:
    """Points of the flow from the ramps of a test.

    Args:
        test: The test.
        leakage: Speed lost per force.
        settling: Time after which a ramp is steady [s].
    """
    skipped = round(settling / step_of(test.time))
    wanted = test.speed + leakage * test.force
    points = []
    for start, stop in ramps(test.setpoint):
        steady = slice(start + skipped, stop)
        seen = wanted[steady]
        if len(seen) < LEAST_IN_RAMP:
            continue
        mean = mean_of(seen, None)
        numbers = (mean.values[0], mean.std[0], mean.half_width[0])
        points.append((test.current[steady].mean(), *numbers))
    if len(points) < 2:
        raise ArmtwinError(
            f"a flow needs at least 2 ramps of {LEAST_IN_RAMP} samples after {settling:g} s, got "
            f"{len(points)}"
        )
    return FlowEstimate(*np.array(sorted(points)).T)


def ramps(setpoint: Floats) -> list[tuple[int, int]]:
    """First and last sample of each stretch of a steady slope that is not level."""
    slope = np.diff(setpoint)
    largest = np.abs(slope).max(initial=0.0)
    bends = np.flatnonzero(np.abs(np.diff(slope)) > SAME_SLOPE * largest) + 1
    edges = [0, *bends.tolist(), len(slope)]
    found = []
    for start, stop in pairwise(edges):
        if stop > start and abs(slope[start]) > SAME_SLOPE * largest:
            found.append((start, stop))
    return found

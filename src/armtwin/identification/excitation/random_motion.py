"""Random motions that use the limits of a robot as far as they go.

Speeds of all harmonics are sampled from one distribution, each joint's amplitude is then widened to
its nearest limit, and all of them are scaled down where torques, floor or cell require it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.excitation.bounds import Bounds, Use
from armtwin.maths.batch import Floats
from armtwin.motion.fourier import FourierSeries, Harmonics, Shapes

HALVINGS = 7
LEAST_AMPLITUDE = 0.05  # share of the largest amplitude below which a sample counts as no motion
MOST_TRIES = 200  # samples without success before none is taken to exist
MARGIN = 0.999  # of limits, for what is between samples


def find_largest_share(least: float, is_within: Callable[[float], bool]) -> float:
    """The largest share of an amplitude that is within all limits, between a least one and 1."""
    low, high = least, 1.0
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        if is_within(middle):
            low = middle
        else:
            high = middle
    return low


@dataclass(frozen=True, eq=False)
class RandomMotions:
    """Random motions within limits.

    Attributes:
        bounds: The limits.
        harmonics: Period and harmonics.
        shapes: Motion per coefficient at the samples at which limits are checked.
        torque: Torques (m, n) of a motion.
        chance: The random generator.
    """

    bounds: Bounds
    harmonics: Harmonics
    shapes: Shapes
    torque: Callable[[Shapes], Floats]
    chance: np.random.Generator

    def draw(self) -> FourierSeries:
        """A motion within all limits."""
        broken: dict[str, int] = {}
        for _ in range(MOST_TRIES):
            series = self._wide()
            found = self._scale_down(series)
            if found is not None:
                return found
            use = self._use(series.scale_amplitudes(LEAST_AMPLITUDE))
            word = use.worst(self.bounds.robot, self.bounds.clearance)
            broken[word] = broken.get(word, 0) + 1
        worst = max(broken, key=lambda word: broken[word])
        raise ArmtwinError(
            f"robot '{self.bounds.robot.name}': no motion within the limits among {MOST_TRIES} "
            f"random ones; most often exceeded: {worst}"
        )

    def _motion(self, series: FourierSeries) -> Shapes:
        return Shapes(*(shape @ series.free for shape in self.shapes))

    def _use(self, series: FourierSeries) -> Use:
        motion = self._motion(series)
        return self.bounds.use(motion, self.torque(motion))

    def _wide(self) -> FourierSeries:
        """A random motion of each joint up to its own limits."""
        bounds, n = self.bounds, self.bounds.robot.n
        basis = self.harmonics.at_rest.shape[1]
        free = self.chance.normal(size=(basis, n))
        free[0] = 0.0
        motion = self._motion(FourierSeries(self.harmonics, free))
        amplitude = np.abs(motion.q).max(axis=0)
        share = self.chance.uniform(0.5, 1.0, size=n)
        widest = share * bounds.half / amplitude
        fastest = bounds.speed / np.abs(motion.v).max(axis=0)
        quickest = bounds.acceleration / np.abs(motion.a).max(axis=0)
        scale = MARGIN * np.minimum(widest, np.minimum(fastest, quickest))
        free *= scale
        margin = bounds.half - scale * amplitude
        free[0] = bounds.middle + self.chance.uniform(-1.0, 1.0, size=n) * MARGIN * margin
        return FourierSeries(self.harmonics, free)

    def _scale_down(self, series: FourierSeries) -> FourierSeries | None:
        """Scale a motion about its centre to the largest within all limits."""
        if self._is_within(series):
            return series
        if not self._is_within(series.scale_amplitudes(LEAST_AMPLITUDE)):
            return None
        share = find_largest_share(
            LEAST_AMPLITUDE, lambda share: self._is_within(series.scale_amplitudes(share))
        )
        return series.scale_amplitudes(share)

    def _is_within(self, series: FourierSeries) -> bool:
        use = self._use(series)
        return use.largest <= MARGIN and use.nearest >= self.bounds.clearance

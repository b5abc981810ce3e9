"""Random motions that use the limits of a robot as far as they go.

Speeds of all harmonics are drawn alike, each joint's swing is then widened to its nearest limit,
and all of them together made smaller where torques, floor or cell ask for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from armtwin.errors import ArmtwinError
from armtwin.identification.excitation.bounds import Bounds, Use
from armtwin.maths.batch import Floats
from armtwin.motion.fourier import FourierSeries, Harmonics, Shapes

HALVINGS = 7
LEAST_SWING = 0.05  # share of the widest swing below which a draw counts as no motion
MOST_DRAWS = 200  # in vain before none is taken to exist
MARGIN = 0.999  # of limits, for what is between samples


@dataclass(frozen=True, eq=False)
class RandomMotions:
    """Draws of motions within limits.

    Attributes:
        bounds: The limits.
        harmonics: Period and harmonics.
        shapes: What coefficients add at the samples at which limits are kept.
        torque: Torques (m, n) of a motion.
        chance: Where the draws come from.
    """

    bounds: Bounds
    harmonics: Harmonics
    shapes: Shapes
    torque: Callable[[Shapes], Floats]
    chance: np.random.Generator

    def draw(self) -> FourierSeries:
        """A motion within all limits."""
        broken: dict[str, int] = {}
        for _ in range(MOST_DRAWS):
            series = self._wide()
            found = self._narrowed(series)
            if found is not None:
                return found
            use = self._use(series.swung(LEAST_SWING))
            word = use.worst(self.bounds.robot, self.bounds.clearance)
            broken[word] = broken.get(word, 0) + 1
        worst = max(broken, key=lambda word: broken[word])
        raise ArmtwinError(
            f"robot '{self.bounds.robot.name}': the limits leave no motion; of {MOST_DRAWS} random "
            f"ones none keeps to them, most often for {worst}"
        )

    def _motion(self, series: FourierSeries) -> Shapes:
        return Shapes(*(shape @ series.free for shape in self.shapes))

    def _use(self, series: FourierSeries) -> Use:
        motion = self._motion(series)
        return self.bounds.use(motion, self.torque(motion))

    def _wide(self) -> FourierSeries:
        """A motion that each joint makes as wide as its own limits let it."""
        bounds, n = self.bounds, self.bounds.robot.n
        basis = self.harmonics.at_rest.shape[1]
        free = self.chance.normal(size=(basis, n))
        free[0] = 0.0
        motion = self._motion(FourierSeries(self.harmonics, free))
        swing = np.abs(motion.q).max(axis=0)
        share = self.chance.uniform(0.5, 1.0, size=n)
        widest = share * bounds.half / swing
        fastest = bounds.speed / np.abs(motion.v).max(axis=0)
        quickest = bounds.acceleration / np.abs(motion.a).max(axis=0)
        scale = MARGIN * np.minimum(widest, np.minimum(fastest, quickest))
        free *= scale
        room = bounds.half - scale * swing
        free[0] = bounds.middle + self.chance.uniform(-1.0, 1.0, size=n) * MARGIN * room
        return FourierSeries(self.harmonics, free)

    def _narrowed(self, series: FourierSeries) -> FourierSeries | None:
        """The widest of the same motions about their centre that keeps to all limits."""
        if self._keeps(series):
            return series
        if not self._keeps(series.swung(LEAST_SWING)):
            return None
        low, high = LEAST_SWING, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if self._keeps(series.swung(middle)):
                low = middle
            else:
                high = middle
        return series.swung(low)

    def _keeps(self, series: FourierSeries) -> bool:
        use = self._use(series)
        return use.largest <= MARGIN and use.nearest >= self.bounds.clearance

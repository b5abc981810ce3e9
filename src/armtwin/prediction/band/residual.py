"""The residual of a fitted servo on an unseen run, sampled as a smooth motion.

Of the residual its root mean square is known, joint by joint; its course is not. It is sampled
as normal numbers at knots, with smooth steps between them, of that root mean square.
"""

from collections.abc import Iterator

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.prediction.predict import Prediction

APART = 0.25  # time between knots, about the settling time of a servo of a few Hz [s]
MEAN_SQUARE = 13 / 35 * 2  # of smooth steps 3x² - 2x³ between independent knots of variance 1


def residuals(p: Prediction, count: int, seed: int) -> list[Floats | None]:
    """Knots of the residual of each variant, (knots, n) [rad]; None of a servo that was not fitted.

    Args:
        p: The nominal prediction.
        count: Number of variants.
        seed: Seed of the samples; half as many are the first half of them.
    """
    left = read_servo_residual(p)
    if left is None:
        return [None] * count
    return [*sample_knots(left, float(p.run.trace_time[-1]) / APART, count, seed)]


def sample_knots(left: Floats, steps: float, count: int, seed: int) -> Iterator[Floats]:
    """Knots of residuals of a root mean square (n,) in runs of so many steps, (knots, n) [rad]."""
    size = left / np.sqrt(MEAN_SQUARE)
    knots = int(np.ceil(steps)) + 2
    for sample in range(count):
        random = np.random.default_rng((seed, sample))
        yield size * random.standard_normal((knots, len(left)))


def read_servo_residual(p: Prediction) -> Floats | None:
    """Residual of the servo in the job's motion, root mean square of each joint, (n,) [rad].

    None of a servo that was not fitted.
    """
    fit = getattr(p.robot.description.servo[p.job.description.model.servo], "fit", None)
    motion = p.motion.trajectory
    return None if fit is None else fit.left(motion.v, motion.a)


def at_times(knots: Floats, time: Floats, apart: float = APART) -> Floats:
    """A motion through knots that are some time apart, at times, (m, n)."""
    place = time / apart
    before = np.minimum(place.astype(int), len(knots) - 2)
    x = (place - before)[:, None]
    share = x**2 * (3 - 2 * x)
    return (1 - share) * knots[before] + share * knots[before + 1]

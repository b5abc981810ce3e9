"""The payload by a second method: all parameters of the loaded arm, regularised to a prior.

A truncated fit of the run with the payload takes directions that are not identifiable from the
prior; the payload is the difference of the last link with and without it. Whether it comes from the
run or from the prior follows from the share of the last link's mass in the retained directions.

Ref: [Waiboer 2007, section 4.4.4]
"""

from dataclasses import dataclass

import numpy as np

from armtwin.identification.fitting.decomposition import decompose
from armtwin.identification.fitting.factors import merge_factors
from armtwin.identification.rigid_body.data.preparation import prepare_identification
from armtwin.identification.rigid_body.recipe import Recipe
from armtwin.logs.log import Log
from armtwin.robot.defaults.joint_sizes import joint_sizes
from armtwin.robot.robot import Robot

INDEPENDENT = 0.9  # share from which on an estimate counts as independent of its prior


@dataclass(frozen=True)
class TruncatedMass:
    """A payload's mass by a truncated fit.

    Attributes:
        mass: The identified mass [kg].
        expected: The mass of the prior [kg].
        share: Share of it identified from the run, 0 to 1; the rest is the prior's.
    """

    mass: float
    expected: float
    share: float

    @property
    def is_independent(self) -> bool:
        """Whether the mass is the run's, not the prior's."""
        return self.share >= INDEPENDENT

    @property
    def sentence(self) -> str:
        """The mass and how far it depends on the prior, in words."""
        found = f"A truncated fit of the loaded run gives {self.mass:.3g} kg"
        if self.is_independent:
            return f"{found}, {100 * self.share:.0f} % of it identified from the run."
        rest = 100 * (1 - self.share)
        return (
            f"{found}, which is not independent of the prior of {self.expected:.3g} kg: "
            f"{100 * self.share:.0f} % of it is identified from the run, {rest:.0f} % is the prior."
        )


def fit_truncated_mass(
    bare: Robot, expected: Robot, with_it: Log, torque: str | None, cutoff: float | None
) -> TruncatedMass:
    """The payload's mass by a truncated fit of the run with it.

    Args:
        bare: The robot without the payload.
        expected: The robot with the payload assumed as prior.
        with_it: The log with the payload.
        torque: Channel of the torque.
        cutoff: Cut-off frequency [Hz].
    """
    recipe = Recipe(estimator="truncated", friction="file", tilt="file", trust=True)
    ready = prepare_identification(expected, [with_it], torque=torque, cutoff=cutoff, recipe=recipe)
    experiment = ready.experiment
    largest = joint_sizes(expected).torque
    analysis = decompose(merge_factors(experiment.parts()), largest, experiment.free)
    body, _ = bare.assembly.frame("flange")
    mass = 10 * body
    phi = analysis.truncate(None)
    share = analysis.share(None)[mass]
    own = float(bare.parameters[mass])
    prior = float(expected.parameters[mass]) - own
    return TruncatedMass(
        mass=float(phi[mass]) - own, expected=prior, share=float(np.clip(share, 0, 1))
    )

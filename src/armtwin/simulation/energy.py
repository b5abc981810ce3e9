"""Where the energy of a run went."""

from dataclasses import asdict, dataclass

import numpy as np

from armtwin.drives.rows import deflection_energy
from armtwin.notebook.numbers import Number
from armtwin.notebook.sections import Blocks, Data, Facts
from armtwin.simulation.accounts import DAMPERS, FRICTION, MOTORS, NUMERICAL, OUTSIDE
from armtwin.simulation.loop import State
from armtwin.simulation.plant import BRISTLES, C0, Plant

JOULES = Number(1.0, "J", digits=4)


@dataclass(frozen=True)
class Energy:
    """Where the energy of a run went [J].

    Attributes:
        motors: Work of the motors and cylinders.
        external: Work of torques from outside.
        stored: Change of kinetic, potential, balancer, spring and bristle energy.
        friction: Lost in friction.
        dampers: Lost in the dampers of elastic joints.
        numerical: Taken by the numerical damping of springs that vibrate within a tick.
    """

    motors: float
    external: float
    stored: float
    friction: float
    dampers: float = 0.0
    numerical: float = 0.0

    @property
    def gap(self) -> float:
        """Work that is not accounted for; only the error of the integration."""
        given = self.motors + self.external
        return given - self.stored - self.friction - self.dampers - self.numerical

    def blocks(self) -> Blocks:
        """What a report shows of it."""
        values = asdict(self)
        yield Facts([(name, JOULES.with_unit(value)) for name, value in values.items()])
        yield Data({"energy": {f"{name}_j": value for name, value in values.items()}})


def spring_energy(plant: Plant, state: State) -> float:
    """Energy of the springs [J]."""
    springs, ripples, weights = plant.springs, plant.ripples, plant.rows.weights
    twists = weights[springs.row] @ state.u - springs.rest
    errors = np.sin(ripples.cycles * (weights[ripples.motor] @ state.u) + ripples.phase)
    np.add.at(twists, ripples.spring, ripples.amplitude * errors)
    pressed = twists - np.clip(twists, -springs.gap, springs.gap)
    return float(deflection_energy(pressed, springs.stiffness, springs.soft, springs.knee).sum())


def bristle_energy(plant: Plant, state: State) -> float:
    """Energy of the bristles, which friction took and still holds [J]."""
    if plant.friction.kind != BRISTLES:
        return 0.0
    return 0.5 * float(plant.friction.numbers[:, C0] @ state.z**2)


def sum_energy(plant: Plant, state: State, stored: float) -> Energy:
    """Where the energy of a run that has ended went; `stored` is the change of what is stored."""
    spent = state.energy
    return Energy(
        motors=float(spent[MOTORS]),
        external=float(spent[OUTSIDE]),
        stored=stored,
        friction=float(spent[FRICTION]) - bristle_energy(plant, state),
        dampers=float(spent[DAMPERS]),
        numerical=float(spent[NUMERICAL]),
    )

"""The perturbation method: the arm linearised along its nominal motion.

    M₀ δa + D₀ δv + K₀ δq = T_motor - T_friction - T₀

T₀ is the nominal inverse dynamics without friction; friction and servo stay nonlinear.
The nominal motion and T₀ are cubics in time between the points, the matrices linear.

Ref: [Waiboer 2007, eq. 5.1-5.13, with the transpose of 5.4]
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.dynamics import equations as dynamics
from armtwin.robot.robot import Robot
from armtwin.simulation.coordinates import Coordinates
from armtwin.simulation.equations import LinearArm


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Linear time-varying equations of motion along a trajectory.

    Of elastic joints the drive sides follow the bodies' as coordinates of their own: n is the
    number of all then.

    Attributes:
        time: Times of the points, equally spaced, (k,) [s].
        q: Nominal positions, (k, n).
        v: Nominal speeds.
        a: Nominal accelerations.
        tau: Nominal joint torques without friction, (k, n) [N m].
        M: Mass matrices with rotors, (k, n, n).
        D: Damping matrices ∂τ/∂v.
        K: Stiffness matrices ∂τ/∂q, gravity and balancers included.
    """

    time: Floats
    q: Floats
    v: Floats
    a: Floats
    tau: Floats
    M: Floats
    D: Floats
    K: Floats

    def poles(self) -> NDArray[np.complex128]:
        """Eigenvalues of the arm alone at each point, (k, 2 n), complex [1/s]."""
        k, n = self.q.shape
        A = np.zeros((k, 2 * n, 2 * n))
        A[:, :n, n:] = np.eye(n)
        A[:, n:, :n] = -np.linalg.solve(self.M, self.K)
        A[:, n:, n:] = -np.linalg.solve(self.M, self.D)
        return np.linalg.eigvals(A).astype(np.complex128)


def linear_model(
    robot: Robot, trajectory: Trajectory, points: int, places: Coordinates | None = None
) -> LinearModel:
    """Linearise a robot at equally spaced points of a trajectory.

    Args:
        robot: The robot.
        trajectory: The nominal motion.
        points: Number of points.
        places: Coordinates with drive sides of their own, or of an arm built otherwise; both sides
            then follow the nominal motion, and the springs between them are no part of the model.
    """
    times = np.linspace(0, trajectory.duration, points)
    q, v, a = trajectory.at(times)
    if places is None or (places.count == robot.n and places.built is robot):
        tau = robot.inverse_dynamics(q, v, a)
        M, D, K = robot.linearise(q, v, a)
        return LinearModel(times, q, v, a, tau, M, D, K)
    built = places.built.assembly
    rotors = built.rotors_along(places.motor_rows)
    u, du, ddu = (np.ascontiguousarray(places.both_sides(x)) for x in (q, v, a))
    tau = dynamics.inverse_dynamics(built, u, du, ddu, rotors)
    M, D, K = dynamics.linearise(built, u, du, ddu, rotors)
    return LinearModel(times, u, du, ddu, tau, M, D, K)


def pack_linear_model(model: LinearModel) -> LinearArm:
    """The model as arrays for the loop."""
    from scipy.interpolate import CubicSpline

    step = float(model.time[1] - model.time[0])
    values = np.stack([model.q, model.v, model.a, model.tau], axis=1)
    highest_first = CubicSpline(model.time, values).c  # (4, k - 1, curves, n), in seconds
    powers = step ** np.arange(4)
    curves = highest_first[::-1] * powers[:, None, None, None]
    return LinearArm(
        step,
        np.ascontiguousarray(curves.transpose(1, 2, 0, 3)),
        np.ascontiguousarray(model.M),
        np.ascontiguousarray(model.D),
        np.ascontiguousarray(model.K),
    )

"""The perturbation method: the arm linearised along its nominal motion, friction and servo kept nonlinear.

    M₀ δa + D₀ δv + K₀ δq = T_motor - T_friction - T₀,   T₀ the nominal inverse dynamics without friction

The nominal motion and T₀ are cubics in time between the points, the matrices linear.

Ref: [Waiboer 2007, eq. 5.1-5.13, with the transpose of 5.4]
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from armtwin.maths.batch import Floats
from armtwin.motion.trajectory import Trajectory
from armtwin.robot.robot import Robot
from armtwin.simulation.equations import LinearArm


@dataclass(frozen=True, eq=False)
class LinearModel:
    """Linear time-varying equations of motion along a trajectory.

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
        A[:, n:, :n], A[:, n:, n:] = -np.linalg.solve(self.M, self.K), -np.linalg.solve(self.M, self.D)
        return np.linalg.eigvals(A).astype(np.complex128)


def linear_model(robot: Robot, trajectory: Trajectory, points: int) -> LinearModel:
    """Linearise a robot at equally spaced points of a trajectory."""
    times = np.linspace(0, trajectory.duration, points)
    q, v, a = trajectory.at(times)
    tau = robot.inverse_dynamics(q, v, a)
    M, D, K = robot.linearise(q, v, a)
    return LinearModel(times, q, v, a, tau, M, D, K)


def packed(model: LinearModel) -> LinearArm:
    """The model as arrays for the loop."""
    from scipy.interpolate import CubicSpline

    step = float(model.time[1] - model.time[0])
    curves = []
    for values in (model.q, model.v, model.a, model.tau):
        c = CubicSpline(model.time, values).c  # highest power first, in seconds
        curves.append(np.stack([c[3 - k] * step**k for k in range(4)], axis=1))
    matrices = (np.ascontiguousarray(x) for x in (model.M, model.D, model.K))
    return LinearArm(step, np.ascontiguousarray(np.stack(curves)), *matrices)

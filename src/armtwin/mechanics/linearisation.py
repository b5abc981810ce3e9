"""Linear equations of motion about a state: M δa + D δv + K δq = δτ.

K = ∂τ/∂q and D = ∂τ/∂v of the inverse dynamics, by complex steps of the Newton-Euler kernel itself:
no difference is taken, so the derivatives are exact to rounding and there is no second copy of the
equations.

Ref: [Squire-Trapp 1998], [Waiboer 2007, eq. 5.4]
"""

import numpy as np

from armtwin.maths.batch import Floats
from armtwin.maths.compiled import compiled
from armtwin.mechanics.arm import Arm
from armtwin.mechanics.newton_euler import inverse_dynamics
from armtwin.mechanics.rotors import Rotors

STEP = 1e-100  # complex step: its square is zero, so derivatives are exact


@compiled
def linearise(
    arm: Arm,
    rotors: Rotors,
    q: Floats,
    v: Floats,
    a: Floats,
    K: Floats,
    D: Floats,
    start: int,
    stop: int,
) -> None:
    """Stiffness K and damping D, (m, N, N), of rows start..stop at states q, v, a, (m, N)."""
    n = q.shape[1]
    # One row of the batch per direction: n steps in q, then n steps in v.
    qs = np.empty((2 * n, n), np.complex128)
    vs = np.empty((2 * n, n), np.complex128)
    accelerations = np.empty((2 * n, n), np.complex128)
    tau = np.empty((2 * n, n), np.complex128)
    for row in range(start, stop):
        for k in range(2 * n):
            for j in range(n):
                qs[k, j] = q[row, j]
                vs[k, j] = v[row, j]
                accelerations[k, j] = a[row, j]
        for k in range(n):
            qs[k, k] += 1j * STEP
            vs[n + k, k] += 1j * STEP
        inverse_dynamics(arm, rotors, qs, vs, accelerations, tau, 0, 2 * n)
        for k in range(n):
            for i in range(n):
                K[row, i, k] = tau[k, i].imag / STEP
                D[row, i, k] = tau[n + k, i].imag / STEP

"""Compiles every kernel once, so that parallel test workers find them in the shared cache."""

import time

import numpy as np

import armtwin as at
from armtwin.elements.equations import linearise
from armtwin.elements.integration import integrate
from armtwin.maths.decimals import DecimalLayout, table_of
from armtwin.maths.smoothing import low_pass
from armtwin.robot.dynamics.structure import structure_of

start = time.perf_counter()
robot = at.Robot.load("rx90b")
q, v, a = np.full((3, 2, 6), 0.3)
X = robot.forward_kinematics(q)
robot.origins(q, ["flange"])
robot.jacobian(q)
robot.forward_dynamics(q, v, robot.inverse_dynamics(q, v, a))
robot.energy(q, v)
robot.regressor(q, v, a)
robot.linearise(q, v, a)
robot.inverse_kinematics(X[0])
robot.follow(X, q[0])
robot.inverse._by_newton(X[0])
robot.inverse.task_rows(q)
hydraulic = at.Robot.load("epaas")
hydraulic.follow(hydraulic.forward_kinematics(q[:, :5]), q[0, :5])
still = at.Trajectory.sampled(250, np.tile(q[:1], (5, 1)), np.zeros((5, 6)), np.zeros((5, 6)))
at.simulate(robot, still)
low_pass(q, 250.0, 10.0)
structure = structure_of(robot.assembly)
structure.inverse_dynamics(q, v, a)
linearise(structure.structure, q[0], v[0], a[0])
integrate(structure.structure, np.arange(3) * 1e-3, q[0])
table_of(b"1,2\n", DecimalLayout(b",", b".", np.arange(2)), lambda at, end: None)
print(f"kernels compiled or found in the cache in {time.perf_counter() - start:.1f} s")

"""Kinematics and dynamics equal Pinocchio's and MuJoCo's on shipped robots and random trees."""

import numpy as np
import pytest

pinocchio = pytest.importorskip("pinocchio", reason="Pinocchio has no wheel for this platform")
mujoco = pytest.importorskip("mujoco")

from tests.conftest import SHIPPED, relative  # noqa: E402
from tests.oracles import arm_of, as_mujoco, as_pinocchio, as_robot, bodies_only, random_arm  # noqa: E402

CASES = [*SHIPPED, *range(12)]
STATES = 20


def built(case, robots):
    """Arm, robot and random states of a case: a shipped robot's name or a random tree's number."""
    rng = np.random.default_rng(1000 + CASES.index(case))
    if isinstance(case, str):
        robot = bodies_only(robots[case])
        arm = arm_of(robot)
    else:
        arm = random_arm(rng, 1 + case % 8)
        robot = as_robot(arm)
    q, v, a = rng.normal(size=(3, STATES, robot.n)) * [[[1.5]], [[2]], [[5]]]
    return arm, robot, q, v, a


@pytest.mark.parametrize("case", CASES)
def test_dynamics_equal_pinocchio(case, robots):
    arm, robot, q, v, a = built(case, robots)
    model, data = as_pinocchio(arm)
    tau = np.array([pinocchio.rnea(model, data, *s) for s in zip(q, v, a, strict=True)])
    M = np.array([pinocchio.crba(model, data, x) for x in q])
    M = np.triu(M) + np.swapaxes(np.triu(M, 1), 1, 2)
    assert relative(robot.inverse_dynamics(q, v, a), tau) < 1e-11
    assert relative(robot.mass_matrix(q), M) < 1e-11
    if (
        case != "epaas"
    ):  # its massless fourth link alone has no inertia to divide by in Pinocchio's algorithm
        fd = np.array([pinocchio.aba(model, data, *s) for s in zip(q, v, tau, strict=True)])
        assert relative(robot.forward_dynamics(q, v, tau), fd) < 1e-9
    assert relative(robot.forward_dynamics(q, v, tau), a) < 1e-9


@pytest.mark.parametrize("case", CASES)
def test_jacobian_and_pose_equal_pinocchio(case, robots):
    arm, robot, q, _, _ = built(case, robots)
    model, data = as_pinocchio(arm)
    frame = robot.assembly.tree.joints[-1].child
    J, X = robot.jacobian(q, frame), robot.forward_kinematics(q, frame)
    for k, x in enumerate(q):
        expected = pinocchio.computeJointJacobian(model, data, x, robot.n).reshape(6, -1)
        pinocchio.forwardKinematics(model, data, x)
        place = data.oMi[robot.n]
        to_base = np.kron(np.eye(2), place.rotation)
        assert relative(J[k], to_base @ expected) < 1e-11
        assert relative(X[k], place.homogeneous) < 1e-11


@pytest.mark.parametrize("case", CASES)
def test_linearisation_equals_pinocchios_derivatives(case, robots):
    arm, robot, q, v, a = built(case, robots)
    model, data = as_pinocchio(arm)
    linear = robot.linearise(q, v, a)
    for k, state in enumerate(zip(q, v, a, strict=True)):
        K, D, _ = pinocchio.computeRNEADerivatives(model, data, *state)
        assert relative(linear.K[k], K) < 1e-11
        assert relative(linear.D[k], D) < 1e-11


@pytest.mark.parametrize(
    "case", [c for c in CASES if c != "epaas"]
)  # MuJoCo refuses bodies without mass
def test_dynamics_equal_mujoco(case, robots):
    arm, robot, q, v, a = built(case, robots)
    model, data, order = as_mujoco(arm)
    frame = robot.assembly.tree.joints[-1].child
    M, linear, angular = (
        np.empty((robot.n, robot.n)),
        np.empty((3, robot.n)),
        np.empty((3, robot.n)),
    )
    for k in range(STATES):
        data.qpos[order], data.qvel[order], data.qacc[order] = q[k], v[k], a[k]
        mujoco.mj_inverse(model, data)
        mujoco.mj_fullM(model, data, M)
        assert relative(robot.inverse_dynamics(q[k], v[k], a[k]), data.qfrc_inverse[order]) < 1e-11
        assert relative(robot.mass_matrix(q[k]), M[np.ix_(order, order)]) < 1e-11
        body = model.body(f"b{robot.n - 1}").id
        mujoco.mj_jacBody(model, data, linear, angular, body)
        assert relative(robot.jacobian(q[k], frame), np.vstack([linear, angular])[:, order]) < 1e-11

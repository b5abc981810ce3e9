"""Tables of document 003 (hydraulic EPAAS), with the repaired parameters of the robot file."""

import numpy as np

# Start-up position: cylinder lengths 0.182, 0.182, 0.258, 0.182 m.
ALPHA, BETA = 89.78161918, 0.88288665
START = np.radians([0, ALPHA, 360 + BETA - ALPHA, 0, 0])

TABLE_8_2_3_1 = [
    [0.21418, -0.000102, -0.000219, -0.000223, 0.002474],
    [-0.000102, 0.297523, 0.062126, -0.008105, 0.000336],
    [-0.000219, 0.062126, 0.076586, 0.008015, -0.000224],
    [-0.000223, -0.008105, 0.008015, 0.006667, -0.000224],
    [0.002474, 0.000336, -0.000224, -0.000224, 0.001118],
]


def test_table_8_2_3_1_composite_inertia_matrix(robots):
    assert np.abs(robots["epaas"].mass_matrix(START) - TABLE_8_2_3_1).max() < 1e-6


def test_table_8_2_4_2_torques_at_the_printed_state(robots):
    """The state is printed in whole degrees: 5 % or 0.16 N m is the width of that rounding."""
    q, v, a = np.radians(
        [[44, 81, 274, 12, 5], [688, -123, 170, -2, -48], [600, 284, -4758, 4289, 4474]]
    )
    printed = np.array([8.567, 10.178, -6.854, -2.622, 0.313])
    assert np.all(
        np.abs(robots["epaas"].inverse_dynamics(q, v, a) - printed)
        < np.maximum(0.05 * np.abs(printed), 0.16)
    )


def test_table_8_2_4_gravity_torques(robots):
    q = np.radians([44, 81.3915, 274.2148, 11.7634, 5.2766])
    assert np.abs(robots["epaas"].gravity(q) - [0, 3.417, 2.378, 0.116, -0.003]).max() < 6e-4


def test_five_times_the_speed_is_twenty_five_times_the_torque(robots, rng):
    q, v, a = rng.normal(size=(3, 10, 5))
    robot = robots["epaas"]
    slow, fast = (robot.inverse_dynamics(q, k * v, k * k * a) - robot.gravity(q) for k in (1, 5))
    assert np.abs(fast - 25 * slow).max() < 1e-12 * np.abs(fast).max() + 1e-12


def test_cylinders_have_their_start_up_lengths(robots):
    lengths = {"L1": 0.182, "L2": 0.182, "L3": 0.258, "L4": 0.182}
    for drive in robots["epaas"].description.hydraulic:
        if drive.linkage is not None:
            angle = sum(weight * START[int(joint[-1]) - 1] for joint, weight in drive.on.items())
            assert abs(drive.linkage.length(angle) - lengths[drive.name]) < 2e-5

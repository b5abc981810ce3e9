"""The shipped UR10e against numbers that its sources print or record and the file does not have."""

import numpy as np
from scipy.signal import savgol_filter

import armtwin as at
from armtwin.robot.schema.provenance import DEFAULT_SERVO


def test_the_ur10e_reaches_as_far_as_its_data_sheet_says(robots):
    """1300 mm from the axis of the base to the last joint, upper arm, forearm and wrist in line."""
    stretched = np.array([0, 0, 0, -np.pi / 2, 0, 0])
    ends = robots["ur10e"].origins([stretched, -stretched], ["link_6"])[:, 0]
    assert abs(np.abs(ends[:, 0]).max() - 1.3) < 0.005


def test_every_parameter_of_the_ur10e_has_a_source_and_a_deviation(robots):
    robot = robots["ur10e"]
    known = robot.description.standard_deviation
    assert set(known.parameters) == set(robot.parameter_names)
    assert known.covariance is not None
    assert robot.provenance.missing == ()
    counts = robot.provenance.counts()
    assert counts["identified"] > counts["assumed"]
    assert robot.description.servo[DEFAULT_SERVO].structure == "not known"


def test_the_ur10e_predicts_the_currents_of_a_recording_that_its_fit_never_saw(robots, shared_data):
    robot = robots["ur10e"]
    log = at.Log.read(shared_data / "ur10e" / "ident_20_01_31_unload.csv.gz")
    time = np.arange(log.time[0], log.time[-1], 0.01)

    def smooth(columns, order=0):
        even = np.column_stack([np.interp(time, log.time, x) for x in columns.T])
        return savgol_filter(even, 21, 3, deriv=order, delta=0.01, axis=0)

    q, v, a = (smooth(log.q, order) for order in range(3))
    constants = [motor.torque_constant for motor in robot.description.motor]
    measured = smooth(log.current) * constants
    expected = robot.inverse_dynamics(q, v, a) + robot.friction_torque(v, q, a)
    moving = np.abs(v) > 0.05
    for j, most in enumerate((0.15, 0.06, 0.08, 0.15, 0.25, 0.2)):
        some = moving[:, j]
        error = np.linalg.norm((measured - expected)[some, j])
        assert error < most * np.linalg.norm(measured[some, j])


def test_its_torque_per_ampere_is_that_of_the_controller_at_rest_to_15_percent(robots, shared_data):
    """The recording has the controller's own torque and current, which the fit does not use."""
    motors = robots["ur10e"].description.motor
    log = at.Log.read(shared_data / "ur10e" / "ident_20_02_10_30sec_12harm.csv.gz")
    for j in (1, 2, 3):  # that carry weight
        ratio = log.tau_des[0, j] / log.current_des[0, j]
        assert abs(motors[j].torque_constant / ratio - 1) < 0.15

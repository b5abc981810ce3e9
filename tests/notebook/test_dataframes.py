"""Tables for pandas hold what files hold."""

import sys

import numpy as np
import pandas as pd
import pytest

import armtwin as at


def test_a_log_as_a_data_frame_is_what_pandas_reads_from_its_file(fast_run, tmp_path):
    fast_run.log.write(tmp_path / "run.csv")
    read = pd.read_csv(tmp_path / "run.csv", comment="#", index_col="time")
    pd.testing.assert_frame_equal(fast_run.log.to_dataframe(), read, rtol=1e-12)


def test_a_data_frame_of_one_channel_has_its_columns_alone(fast_run):
    frame = fast_run.log.to_dataframe("tau")
    assert list(frame.columns) == [f"tau{j}" for j in range(1, 7)]
    assert np.array_equal(frame.to_numpy(), fast_run.log.tau)
    with pytest.raises(at.ArmtwinError, match="the log has no channel 'q_link'"):
        fast_run.log.to_dataframe("q_link")


def test_the_integral_of_a_trajectorys_speed_column_is_its_way(fast_run):
    """Trapezoids at 250 Hz: an error of dt² Δa / 12, below 1e-5 rad."""
    frame = fast_run.motion.trajectory.to_dataframe()
    for j in range(1, 7):
        way = np.trapezoid(frame[f"v{j}"], frame.index)
        assert way == pytest.approx(frame[f"q{j}"].iloc[-1] - frame[f"q{j}"].iloc[0], abs=1e-5)


def test_the_parameters_of_an_estimate_are_found_by_name(identification):
    estimate = identification.estimate
    frame = estimate.to_dataframe("parameters").set_index("name")
    assert list(frame.index) == list(estimate.robot.parameter_names)
    for row in estimate.table:
        assert frame.loc[row.name, "value"] == row.value
        assert frame.loc[row.name, "unit"] == row.unit
    assert np.allclose(frame["value"], estimate.robot.parameters)


def test_without_pandas_a_sentence_says_how_to_get_it(fast_run, identification, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for noun in (fast_run.log, fast_run.motion.trajectory, identification.estimate):
        with pytest.raises(at.ArmtwinError, match="needs pandas: pip install pandas"):
            noun.to_dataframe()

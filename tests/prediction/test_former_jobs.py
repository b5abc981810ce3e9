"""Jobs that were there before programs were: the same numbers as before motions changed."""

import json
from pathlib import Path

import numpy as np
import pytest

import armtwin as at

# nominal runs of the sources before the look-ahead came; kr300_frame of those after its robot file
# was identified anew
STORED = json.loads(Path(__file__).with_name("former_jobs.json").read_text())


@pytest.mark.parametrize("name", STORED)
def test_a_former_job_has_the_same_numbers(name):
    """To 1e-9 of their size: set-points, path errors and torques."""
    p = at.predict(name)
    error, motion = p.path_error, p.motion.trajectory
    found = {
        "samples": len(motion.q),
        "duration": motion.duration,
        "q_end": motion.q[-1],
        "speed": np.abs(motion.v).max(axis=0),
        "lateral": np.abs(error.lateral).max(),
        "vertical": np.abs(error.vertical).max(),
        "lateral_mean": error.lateral.mean(),
        "vertical_mean": error.vertical.mean(),
        "torque": np.abs(p.log.tau).max(axis=0),
    }
    for key, values in STORED[name].items():
        assert np.asarray(found[key]) == pytest.approx(np.asarray(values), rel=1e-9), key

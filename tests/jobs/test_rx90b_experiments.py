"""The experiments of chapters 3 and 4 of document 000 that are shipped with the RX90B."""

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import numpy as np
import pytest

import armtwin as at

STUDY = Path(__file__).parents[2] / "studies" / "rx90b_experiments.py"


def texts():
    spec = spec_from_file_location("rx90b_experiments", STUDY)
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.all_experiments()


@pytest.mark.parametrize("name", texts())
def test_the_twin_runs_every_experiment_to_its_end(name):
    """And the file is the one that the study writes."""
    experiment = at.Experiment.load(name)
    assert Path(experiment.origin).read_text(encoding="utf-8") == texts()[name]
    run = at.run_experiment(experiment)
    assert not run.ended_early
    assert np.abs(run.log.tau).max() > 0.1


def test_a_warmer_joint_has_less_friction_in_the_four_warm_ups():
    """Section 3.7: viscous friction falls with temperature."""
    torques = []
    for k in range(1, 5):
        log = at.run_experiment(at.Experiment.load(f"rx90b_warm_{k}")).log
        torques.append(np.abs(log.tau[np.abs(log.v[:, 0]) > 1.0, 0]).mean())
    assert (np.diff(torques) < 0).all()

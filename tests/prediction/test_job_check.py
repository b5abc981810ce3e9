"""What a job says of itself, what a check adds, and what is shipped."""

from dataclasses import replace

import pytest

import armtwin as at
from armtwin.jobs.experiment import list_shipped
from armtwin.jobs.shipped import experiments
from armtwin.notebook.sections import Facts
from armtwin.prediction.job_check import JobCheck
from armtwin.report.result_file import to_result
from tests.sweeps.examples import short_job


def facts(result):
    (found,) = (block for block in result.sections().blocks if isinstance(block, Facts))
    return dict(found.facts)


def test_a_check_adds_what_a_prediction_rests_on_behind_the_facts_of_the_job():
    job = at.Job.load("kr300_frame")
    own, checked = facts(job), facts(JobCheck(job))
    assert own["process on"] == "40.0 to 1899.2 mm"
    assert list(checked) == [*own, "assumed numbers", "uncertainty", "missing"]
    count = len(at.predict("rx90b_line").assumed)
    assert facts(JobCheck(at.Job.load("rx90b_line")))["assumed numbers"].startswith(f"{count} of")


def test_the_facts_of_a_job_need_no_robot_that_can_be_predicted():
    """A robot without servo has a job's facts; the check says what it lacks."""
    job = at.Job.load("rx90b_line").with_servo("none_such")
    assert facts(job)["model"].startswith("friction lugre, servo none_such")
    assert "servo" in facts(JobCheck(job))["missing"]


def test_what_is_shipped_is_a_table_in_si():
    listed = to_result(experiments().sections())["experiments"]
    records = {record["name"]: record for record in listed}
    assert records["epaas_l4"]["duration_s"] == at.Experiment.load("epaas_l4").description.duration
    assert list(records) == list(list_shipped())


def test_a_process_that_is_on_between_two_samples_only_is_refused_before_a_run():
    """A run has a sample every 0.1 mm at 200 mm/s, so 0.2 mm hold one for certain."""
    job = short_job()
    ((start, stop),) = job.process_on()
    process = job.description.process

    def with_process(length):
        later = process.after_ramp + (stop - start - length) / job.description.speed
        return at.Job(replace(job.description, process=replace(process, after_ramp=later)))

    with pytest.raises(at.ArmtwinError, match=r"process: it is on for 0\.15 mm at most, must be"):
        at.predict(with_process(1.5e-4))
    assert at.predict(with_process(2.5e-4)).verdict.peaks

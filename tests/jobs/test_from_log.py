"""Jobs from logs: a logged reference run again is the job that made it."""

from dataclasses import replace

import numpy as np
import pytest

import armtwin as at
from armtwin.jobs.files import list_shipped
from armtwin.prediction.verdict import process_is_on
from tests.jobs.programs import TWO_SEAMS

TOLERANCE = "0.1 mm"
RATES = (100, 250, 1000)
JOBS = tuple(list_shipped())


def write_log(path, prediction, rate, *, decimals=None):
    """What a controller would log of its command, at a rate of its own."""
    trajectory = prediction.motion.trajectory
    time = np.arange(0.0, trajectory.duration, 1 / rate)
    q, v, _ = trajectory.at(time)
    noise = 1e-5 * np.random.default_rng(1).standard_normal(q.shape)
    if decimals is not None:
        q = q.round(decimals)
    at.Log.of(time, q=q - 0.03 * v + noise, q_ref=q).write(path)
    return path


def largest_difference(prediction, again):
    """Of the path errors over time, where both are judged [m]."""
    e, f = prediction.path_error, again.path_error
    both = process_is_on(prediction.job, e.s) & (e.time < f.time[-1])
    judged = process_is_on(again.job, f.s).astype(float)
    both &= np.interp(e.time, f.time, judged) == 1
    found = []
    for key in ("lateral", "vertical"):
        values = np.interp(e.time, f.time, getattr(f, key))
        found.append(np.abs(values - getattr(e, key))[both].max())
    assert both.sum() > 1000
    return max(found)


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    path = tmp_path_factory.mktemp("program") / "two_seams.toml"
    path.write_text(TWO_SEAMS)
    return at.predict(path)


@pytest.mark.parametrize("name", JOBS)
def test_a_shipped_job_from_its_log_errs_as_the_job_itself(name, tmp_path):
    """To 5 µm at every instant, with model, forces and process of the job."""
    made = at.predict(name)
    d = made.job.description
    rate = RATES[JOBS.index(name) % len(RATES)]
    log = write_log(tmp_path / "run.csv", made, rate)
    job = at.Job.from_log(made.robot, log, tolerance=TOLERANCE)
    same = replace(
        job.description, model=d.model, force=d.force, process=d.process, override=d.override
    )
    assert largest_difference(made, at.predict(at.Job(same))) < 5e-6


@pytest.mark.parametrize("rate", RATES)
def test_a_program_with_stops_and_a_zone_errs_as_the_job_itself(program, rate, tmp_path):
    log = write_log(tmp_path / "run.csv", program, rate)
    job = at.Job.from_log(program.robot, log, tolerance=TOLERANCE)
    assert largest_difference(program, at.predict(job)) < 5e-6


def test_seams_are_found_between_stops_across_the_beam(program, tmp_path):
    """Plunges and the retract are along the beam, the joint move is not told apart by speed."""
    log = write_log(tmp_path / "run.csv", program, 500)
    job = at.Job.from_log(program.robot, log, tolerance=TOLERANCE)
    found = job.process_on()
    assert len(job.description.segment) == 6
    for start, stop in program.job.process_on():
        assert any(abs(a - start) < 1e-3 and abs(b - stop) < 1e-3 for a, b in found)


def test_seams_are_where_times_say(program, tmp_path):
    log = write_log(tmp_path / "run.csv", program, 250)
    profile = program.job.seam.profile
    start, stop = program.job.process_on()[1]
    begin, end = 0.5 + profile.time_at(np.array([start, stop]))  # after the standstill
    job = at.Job.from_log(program.robot, log, tolerance=TOLERANCE, seams=[(begin, end)])
    assert len(job.process_on()) == 1
    assert abs(job.judged_length - (stop - start)) < 1e-3


def test_a_job_from_a_log_reads_back_and_varies_as_the_job_itself(program, tmp_path):
    """Variants of robot and placement are the same in both, and so are their errors to 5 %."""
    log = write_log(tmp_path / "run.csv", program, 250)
    job = at.Job.from_log(program.robot, log, tolerance=TOLERANCE)
    job.seen_from(tmp_path).save(tmp_path / "job.toml")
    again = at.Job.load(tmp_path / "job.toml")
    assert again.description.reference == "run.csv"
    peaks = at.assess(program, draws=8).ensemble.peaks
    assert np.abs(at.assess(at.predict(again), draws=8).ensemble.peaks / peaks - 1).max() < 0.05


def test_a_reference_of_few_digits_is_smoothed(program, tmp_path):
    """Micrometres of rounding are no accelerations: the error stays that of the job."""
    log = write_log(tmp_path / "run.csv", program, 1000, decimals=5)
    job = at.Job.from_log(program.robot, log, tolerance=TOLERANCE)
    assert largest_difference(program, at.predict(job)) < 3e-5


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        (lambda log: at.Log.of(log.time, q=log.q), "has no reference q_ref"),
        (lambda log: log.cut(1.2, None), "begins in motion"),
        (lambda log: at.Log.of(log.time[:30], q_ref=log.q_ref[:30]), "at least 50 samples"),
        (lambda log: at.Log.of(log.time, q_ref=log.q_ref[:, :5]), "6 joints of 'rx90b'"),
    ],
)
def test_a_log_without_a_whole_reference_is_refused(program, change, sentence, tmp_path):
    log = at.Log.read(write_log(tmp_path / "run.csv", program, 250))
    change(log).write(tmp_path / "other.csv")
    with pytest.raises(at.ArmtwinError, match=sentence):
        at.Job.from_log(program.robot, tmp_path / "other.csv", tolerance=TOLERANCE)


def test_the_speed_of_a_recorded_job_cannot_change(program, tmp_path):
    log = write_log(tmp_path / "run.csv", program, 250)
    job = at.Job.from_log(program.robot, log, tolerance=TOLERANCE)
    with pytest.raises(at.ArmtwinError, match="recorded reference"):
        job.with_speed(0.05)

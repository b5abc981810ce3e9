"""Memory of a prediction: what each second of motion adds, and what is refused."""

import subprocess
import sys
import tracemalloc

import numpy as np
import pytest

import armtwin as at
from armtwin.app import job_commands
from armtwin.logs.csv_files import estimate_size
from armtwin.prediction.band import ensemble
from armtwin.prediction.predict import run_shifted
from armtwin.prediction.sections import overview
from tests.app.test_job_commands import call
from tests.sweeps.examples import short_job

PEAKS = """
import resource, sys
from armtwin.app.job_commands import _answer
import armtwin as at
job = at.Job.load(sys.argv[1])
for banded in (False, True):
    answer = _answer(job, "nonlinear", banded=banded)
    print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
assert answer.correction is not None
assert not {"scipy.interpolate", "scipy.special"} & sys.modules.keys()  # 30 MB
"""
SLOW, SLOWER = "100 mm/s", "25 mm/s"  # about 12 and 41 s with their standstills


def traced_peak(work):
    """What a call gives, and the most memory that it had at a time [bytes]."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        found = work()
        return found, tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


def test_a_second_of_motion_adds_little_to_a_prediction_and_nothing_to_its_interval():
    """The nominal run keeps motion, trace, log and path error of the 2 kHz of an RX90B: 17 columns
    of set-points of six joints at 250 Hz and 14 of the trace, 0.43 MB a second, and a quarter more
    while it works. Of variants a fixed number of places is kept: 3.7 MB a second when they were run
    whole.
    """
    job = at.Job.load("rx90b_line")
    at.assess(at.predict(job), draws=32)  # kernels are compiled and loaded
    peaks, lengths = [], []
    for speed in (SLOW, SLOWER):
        run, alone = traced_peak(lambda speed=speed: at.predict(job.with_speed(speed)))
        _, more = traced_peak(lambda run=run: at.assess(run, draws=32))
        peaks.append((alone, more))
        lengths.append(run.motion.trajectory.duration)
    nominal, interval = np.diff(peaks, axis=0)[0] / np.diff(lengths)[0]
    assert nominal < 0.55e6
    assert interval < 0.1e6


@pytest.mark.skipif(sys.platform == "win32", reason="reads the peak of a process")
def test_interval_and_correction_add_at_most_three_tenths_to_the_peak_of_a_process(tmp_path):
    """Most of it is modules and kernels: what the interval alone loads must be small."""
    short_job().with_speed("240 mm/s").save(tmp_path / "job.toml")
    command = [sys.executable, "-c", PEAKS, tmp_path / "job.toml"]
    for _ in range(2):  # the first one compiles what is not in the cache
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        nominal, interval = map(int, done.stdout.split())
        if interval <= 1.3 * nominal:
            break
    assert interval <= 1.3 * nominal


@pytest.mark.parametrize("name", ["rx90b_line", "kr300_frame", "rx90b_line, corrected"])
def test_variants_run_in_pieces_are_those_run_whole(name, monkeypatch):
    """The kernel, the set-points and the reduction see the same numbers: bit by bit."""
    name, _, is_corrected = name.partition(", ")
    run = at.predict(at.Job.load(name))
    if is_corrected:
        run = run_shifted(run, np.full((len(run.motion.trajectory.q), 2), 1e-4))
    found, lengths, run_in_pieces = [], set(), ensemble.run_in_pieces

    def run_and_note(runs, piece, **options):
        lengths.add(piece)
        return run_in_pieces(runs, piece, **options)

    monkeypatch.setattr(ensemble, "run_in_pieces", run_and_note)
    for piece in (700, 10**6):
        monkeypatch.setattr(ensemble, "PIECE", piece)
        found.append(at.assess(run, draws=32).ensemble)
    pieces, whole = found
    assert lengths == {700, 10**6}
    assert whole.finished.any()
    np.testing.assert_array_equal(pieces.peaks, whole.peaks)
    np.testing.assert_array_equal(pieces.errors, whole.errors)
    assert pieces.reasons == whole.reasons


def test_a_long_motion_is_corrected_on_request_only(monkeypatch):
    """A correction has several runs in memory beside the nominal one."""
    for module in (job_commands, overview):
        monkeypatch.setattr(module, "LONGEST_TRIAL", 0.1)
    monkeypatch.setattr(job_commands, "_try_correction", None)  # would fail if it were called
    job = short_job().with_speed("240 mm/s")
    answer = job_commands._answer(job, "nonlinear", banded=True)
    assert answer.band.outcome != "holds"
    assert "`armtwin correct" in overview._remedy(answer)


def test_a_motion_of_more_than_an_hour_is_refused_with_the_number():
    job = at.Job.load("rx90b_line").with_speed("0.2 mm/s")
    with pytest.raises(at.ArmtwinError, match="must take at most 3680 s, 920000"):
        at.predict(job)


def test_the_size_of_a_log_is_known_before_it_is_written(tmp_path):
    """Rows all along it have as many digits as the others, within two in a hundred."""
    log = at.predict("rx90b_line").log
    log.write(tmp_path / "log.csv")
    written = (tmp_path / "log.csv").stat().st_size / 1e6
    assert estimate_size(log.recording) == pytest.approx(written, rel=0.02)


@pytest.mark.parametrize("asked", [False, True])
def test_a_very_large_log_is_written_on_request_only(asked, tmp_path, monkeypatch):
    monkeypatch.setattr("armtwin.app.job_commands.LARGEST_LOG", 1.0)
    words = ["--whole-log"] if asked else []
    done = call(tmp_path, "predict", "rx90b_line", "--nominal", "--out", "out", *words)
    assert (tmp_path / "out" / "log.csv").exists() is asked
    assert ("--whole-log writes it" in done.err) is not asked

"""Advice: what is called best holds at 95 % by variants of its own, with the smallest change."""

import gc
import weakref
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

import armtwin as at
from armtwin.errors import FileError
from armtwin.jobs.groups import Advising, Window
from armtwin.jobs.uncertainty import Uncertainty
from armtwin.logs.recording import Event
from armtwin.prediction import advise, changes, options, trials
from armtwin.prediction.band.band import Band
from armtwin.prediction.band.draws import normal_draws
from armtwin.prediction.band.ensemble import Ensemble
from armtwin.prediction.band.quantity import Quantity
from armtwin.report.result_file import to_result
from tests.jobs.examples import JOB

TOLERANCE = 1e-4  # of the job, in both directions [m]
NO_STRETCH = ("speed", "orientation", "shift")


def all_words(found):
    """The texts of the section of a report on advice."""
    texts = (getattr(block, "text", "") for block in found.sections().blocks)
    return " ".join(texts)


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    """A seam of 200 mm of the RX90B."""
    path = tmp_path_factory.mktemp("jobs") / "job.toml"
    path.write_text(JOB, encoding="utf-8")
    return at.predict(at.Job.load(path))


def wanting(job, **keys):
    return at.Job(replace(job.description, advice=Advising(**keys)), job.origin)


class World:
    """A made-up world: the largest error over tolerance and its spread follow from the job."""

    def __init__(self, monkeypatch, short, ratio, spread=lambda job: 0.2, **wanted):
        self.ratio, self.spread, self.short = ratio, spread, short
        self.jobs = []
        self.job = wanting(short.job, **{"options": NO_STRETCH, **wanted})
        monkeypatch.setattr(trials, "predict_all", self.predict_all)
        monkeypatch.setattr(advise, "assess", self.assess)
        monkeypatch.setattr(trials, "correct_prediction", self.correct)
        self.corrected = 0.2  # largest error over tolerance by corrected points

    def correct(self, p):
        """Corrected points, marked by a shift."""
        corrected = replace(self.predicted(p.job, self.corrected), shift=np.zeros((1, 2)))
        return SimpleNamespace(points=SimpleNamespace(prediction=corrected))

    def predicted(self, job, ratio=None):
        ratio = self.ratio(job) if ratio is None else ratio
        segment = replace(
            self.short.verdict.segments[0],
            lateral_peak_m=ratio * TOLERANCE,
            vertical_peak_m=ratio * TOLERANCE,
        )
        verdict = replace(self.short.verdict, within=ratio <= 1, segments=(segment,))
        if not np.isfinite(ratio):
            stop = Event(0.1, "following_error", "joint_1", "it stops")
            verdict = replace(verdict, stopped=stop, stopped_at_m=0.01)
        return replace(self.short, job=job, verdict=verdict)

    def predict_all(self, jobs, robot, *, method):
        self.jobs += [job for job in jobs if job not in self.jobs]
        return [self.predicted(job) for job in jobs]

    def assess(self, p, **_):
        z = normal_draws(64, 1, 0)
        ratio = self.ratio(p.job) if p.shift is None else self.corrected
        peaks = TOLERANCE * ratio * np.exp(self.spread(p.job) * z)
        both = np.hstack([peaks, peaks])
        ensemble = Ensemble(
            ("lateral", "vertical"),
            both,
            ("",) * 64,
            np.full((64, 2), np.nan),
            np.zeros(1),
            both[:, :, None],
        )
        servo = Quantity(
            name="servo.bandwidth",
            words="the servo's bandwidth",
            kind="servo.bandwidth",
            basis="assumed",
            width=0.3,
            change=None,
            measured_by="servo",
        )
        return Band(p, (servo,), z, ensemble, 0)

    def advise(self, **keys):
        p = self.predicted(self.job)
        band = None
        if p.verdict.stopped is None and not keys.get("nominal"):
            band = self.assess(p)
        return at.advise(p, band, **keys)

    def moved(self, job):
        """How far a job's workpiece was moved [m]."""
        old, new = (x.description.workpiece.position for x in (self.job, job))
        return float(np.hypot(new[0] - old[0], new[1] - old[1]))

    def is_turned(self, job):
        return job.description.orientation.mode != self.job.description.orientation.mode


# In a made-up world


def test_a_search_keeps_no_run_and_simulates_long_ones_one_by_one(monkeypatch, short):
    """A run has 0.4 MB for each second of motion, and a search may try 120 of them."""
    world = World(monkeypatch, short, lambda job: 0.5)
    runs, together = [], []

    def predict_all(jobs, *_, **__):
        found = [world.predicted(job) for job in jobs]
        runs.extend(weakref.ref(p) for p in found)
        together.append(len(found))
        return found

    monkeypatch.setattr(trials, "predict_all", predict_all)
    search = trials.Trials(short, budget=9, progress=None)
    assert search.ratios([short.job.with_speed(f"{v} mm/s") for v in range(90, 93)]) == [0.5] * 3
    monkeypatch.setattr(trials, "TIME_TOGETHER", 1.0)
    search.ratios([short.job.with_speed(f"{v} mm/s") for v in range(93, 96)])
    gc.collect()
    assert together == [3, 1, 1, 1]
    assert [run() for run in runs] == [None] * 6


@pytest.mark.parametrize(("needed", "name"), [(0.03, "shift"), (0.08, "orientation")])
def test_the_smallest_change_that_is_sure_is_best(monkeypatch, short, needed, name):
    """A shift of 30 of 100 mm is less than another orientation, which is less than one of 80."""
    limit = np.exp(-1.645 * 0.2)

    def ratio(job):
        away = 0.5 if world.is_turned(job) else world.moved(job)
        return 0.97 * limit * np.exp(needed - away)

    world = World(monkeypatch, short, ratio)
    world.ratio = lambda job: ratio(job) / (0.97 if world.moved(job) < needed else 1.0)
    found = world.advise()
    assert found.best.name == name
    assert found.best.probability >= 0.95
    if name == "shift":
        assert needed <= world.moved(found.best.job) <= needed + 0.005
    assert found.best.job.description.speed == world.job.description.speed


def test_the_margin_is_that_of_the_verdicts_own_draws(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 0.9 - world.moved(job))
    found = world.advise()
    assert found.limit == pytest.approx(np.exp(-1.645 * 0.2), rel=0.01)
    assert all(option.ratio <= found.limit for option in found.options if option.fits)


def test_an_option_that_its_draws_refute_is_searched_again_with_more_room(monkeypatch, short):
    """Elsewhere such robots differ twice as much as at the place of the verdict."""
    world = World(
        monkeypatch,
        short,
        lambda job: 0.9 * np.exp(-8 * world.moved(job)),
        lambda job: 0.4 if world.moved(job) > 0 else 0.2,
        options=("shift",),
    )
    found = world.advise()
    assert found.best.probability >= 0.95
    assert found.best.ratio < np.exp(-1.645 * 0.39) < found.limit
    assert found.draws > 64


def test_none_is_called_best_where_none_is(monkeypatch, short):
    """Nothing helps; with 10 % of bandwidth in place of 30 % the job itself would hold."""
    world = World(monkeypatch, short, lambda job: 0.85)
    found = world.advise()
    assert (found.best, found.slower, found.draws) == (None, None, 0)
    assert found.verdict_text.text == "Nothing that was tried holds with 95 % confidence."
    (measuring,) = found.measuring
    assert measuring.way.startswith("Record one run with commanded positions")
    left = np.log(1.1) / np.log(1.3)
    assert measuring.limit == pytest.approx(np.exp(-1.645 * 0.2 * left), rel=0.02)
    assert measuring.allows == "the job as it is"


def test_what_measuring_does_not_allow_is_not_promised(monkeypatch, short):
    found = World(monkeypatch, short, lambda job: 0.95).advise()
    assert [x.allows for x in found.measuring] == [""]


def test_a_job_keeps_its_speed_and_is_told_which_one_would_hold(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 8.0 * job.description.speed)
    found = world.advise()
    assert found.best is None
    assert found.slower.probability >= 0.95
    limit = np.exp(-1.645 * 0.2) / 8.0
    assert 0.95 * limit < found.slower.job.description.speed <= limit
    assert "keep_speed = false" in found.verdict_text.text


def test_another_speed_is_advised_where_it_is_asked_for(monkeypatch, short):
    """Three per cent more does not keep the margin any more."""
    world = World(
        monkeypatch,
        short,
        lambda job: 3.0 * job.description.speed,
        keep_speed=False,
        speed_window=(0.05, 0.3),
    )
    found = world.advise()
    speed = found.best.job.description.speed
    assert speed > world.job.description.speed
    assert found.best.probability >= 0.95
    assert 3.0 * 1.03 * speed > found.limit


def speeds_of(job):
    """Speeds of the stretches of a job [m/s]."""
    return [job.speed_of(stretch) for stretch in job.seam.path.stretches]


@pytest.mark.parametrize(
    ("window", "asked", "lowest"),
    [
        (None, None, 0.08),
        (Window(speed=(0.09, 0.12)), None, 0.09),
        (Window(polygon=((0.07, 1e3), (0.2, 1e3), (0.2, 3e3), (0.1, 3e3))), None, 0.085),
        (None, (0.06, 0.2), 0.06),
        (Window(speed=(0.09, 0.12)), (0.06, 0.2), 0.09),
    ],
)
def test_slower_stretches_stay_in_the_window_of_the_process(
    monkeypatch, short, window, asked, lowest
):
    """Of a seam at 100 mm/s, by default 20 % less; the polygon has 85 mm/s at its power."""
    world = World(monkeypatch, short, lambda job: 1.5)
    d = wanting(short.job, speed_window=asked).description
    segments = tuple(replace(segment, window=window) for segment in d.segment)
    process = replace(d.process, power=2e3)
    world.job = at.Job(replace(d, segment=segments, process=process), short.job.origin)
    # the error of the real run, of which half of the tolerance is asked
    p = replace(short, job=world.job)
    assert options.slower_stretch(trials.Trials(p, 40, None, 0.5)) == []
    tried = [speed for job in world.jobs for speed in speeds_of(job)]
    assert min(tried) == pytest.approx(lowest)


def test_a_stretch_with_a_speed_of_its_own_is_slowed_by_the_same_share(short):
    """A segment at 50 mm/s of a job at 100 mm/s was sped up to 80."""
    d = short.job.description
    slow = tuple(replace(segment, speed=0.05) for segment in d.segment)
    job = at.Job(replace(d, segment=slow), short.job.origin)
    assert speeds_of(changes.slow_stretches(job, [0], 0.8)) == [pytest.approx(0.04)]
    lowest, highest = options.speed_window(job, job.seam.path.stretches)
    assert (lowest, highest) == pytest.approx((0.08, 0.12))


def test_a_faster_run_stays_in_the_window_of_the_process(monkeypatch, short):
    """By default 20 % more, however small the error is."""
    world = World(monkeypatch, short, lambda job: 0.1, keep_speed=False)
    found = world.advise()
    assert found.best.job.description.speed == pytest.approx(0.12)


def test_no_speed_outside_its_window_is_advised_for_a_job_that_runs_outside_of_it(
    monkeypatch, short
):
    """A job at 100 mm/s whose process works from 50 to 70 mm/s."""
    world = World(monkeypatch, short, lambda job: 0.5, keep_speed=False, speed_window=(0.05, 0.07))
    found = options.speeds(trials.Trials(world.predicted(world.job), 100, None))
    assert found.options[0].job.description.speed == pytest.approx(0.07)


def test_that_speed_is_no_lever_is_said(monkeypatch, short):
    """Errors of 144, 163 and 158 µm at 60, 100 and 300 mm/s, of 100 µm."""

    def ratio(job):
        return float(np.interp(job.description.speed, [0.06, 0.1, 0.3], [1.44, 1.63, 1.58]))

    found = World(monkeypatch, short, ratio).advise()
    assert not found.speeds.is_lever
    words = all_words(found)
    assert "Speed is no lever here" in words
    for speed in ("60 (144 %)", "100 (163 %)", "300 (158 %)"):
        assert speed in words


def test_that_speed_is_no_lever_is_not_said_where_it_is_one(monkeypatch, short):
    found = World(monkeypatch, short, lambda job: 20.0 * job.description.speed).advise()
    assert found.speeds.is_lever
    assert "no lever" not in all_words(found)


def test_corrected_points_are_the_smallest_change_and_come_first(monkeypatch, short):
    """A shift of the workpiece would do as well."""
    world = World(
        monkeypatch,
        short,
        lambda job: 0.9 * np.exp(-8 * world.moved(job)),
        options=("shift", "correction"),
    )
    found = world.advise()
    assert found.best.name == "correction"
    assert found.best.corrected.shift is not None
    assert [option.name for option in found.options] == ["correction", "shift"]
    words = found.verdict_text.text
    assert words.startswith("Best: correct the points of the program on the twin (armtwin correct)")
    assert "advised.toml" not in words


def test_corrected_points_that_variants_refute_are_not_best(monkeypatch, short):
    """The nominal twin, on which they were learned, uses a fifth of the tolerance."""
    world = World(
        monkeypatch,
        short,
        lambda job: 0.9 * np.exp(-8 * world.moved(job)),
        options=("shift", "correction"),
    )
    monkeypatch.setattr(
        advise, "assess", lambda p: world.assess(p if p.shift is None else world.predicted(p.job))
    )
    found = world.advise()
    assert found.best.name == "shift"
    (correction,) = [option for option in found.options if option.name == "correction"]
    assert correction.fits
    assert not correction.holds


def test_by_nominal_runs_alone_no_correction_is_offered(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 1.2, options=("correction",))
    found = world.advise(nominal=True)
    assert (found.best, found.options) == (None, ())


def test_a_job_that_is_sure_needs_no_change(monkeypatch, short):
    found = World(monkeypatch, short, lambda job: 0.5).advise()
    assert (found.needed, found.best, found.simulations) == (False, None, 0)
    assert "Nothing needs to change" in found.verdict_text.text


def test_no_more_of_the_tolerance_is_used_than_the_job_allows(monkeypatch, short):
    """Where nominal runs decide; draws of robots that hardly differ allow more."""
    world = World(
        monkeypatch,
        short,
        lambda job: 0.9 * np.exp(-8 * world.moved(job)),
        lambda job: 0.01,
        share=0.6,
        options=("shift",),
    )
    found = world.advise(nominal=True)
    assert found.needed
    assert 0.55 < found.best.ratio <= 0.6
    drawn = world.advise()
    assert not drawn.needed
    assert "share in [advice] of the job counts only with --nominal" in all_words(drawn)


def test_the_workpiece_is_never_moved_further_than_the_job_allows(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 2.0, shift=0.02)
    world.advise()
    furthest = max(world.moved(job) for job in world.jobs)
    assert furthest == pytest.approx(0.02, abs=1e-4)


def test_only_what_the_job_allows_is_tried(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 2.0, options=("orientation",))
    found = world.advise()
    assert [option.name for option in found.options] == ["orientation"]
    assert len(world.jobs) == 1


def test_nothing_is_sure_on_a_guessed_servo(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 0.9 - 5 * world.moved(job), options=("shift",))
    d = short.robot.description
    servo = replace(d.servo["cascade"], structure="not known")
    guessed = at.Robot(replace(d, servo={**d.servo, "cascade": servo}))
    world.short = replace(short, robot=guessed)
    found = world.advise()
    assert found.best is None
    assert found.nearest.probability >= 0.95
    assert found.draws == 64
    assert "capped by a servo whose structure is not known" in found.verdict_text.text


def test_a_run_that_stops_has_no_band_and_is_advised_by_the_draws_of_what_does_not(
    monkeypatch, short
):
    world = World(
        monkeypatch,
        short,
        lambda job: 0.95 * np.exp(-8 * world.moved(job)) if world.moved(job) > 0.02 else np.inf,
        options=("shift",),
    )
    found = world.advise()
    assert found.band is None
    assert found.best.probability >= 0.95


def test_nominal_advice_goes_by_the_plain_tolerance_and_draws_nothing(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 1.2 - 5 * world.moved(job), options=("shift",))
    found = world.advise(nominal=True)
    assert (found.limit, found.draws, found.best.probability) == (1.0, 0, None)
    assert 0.97 < found.best.ratio <= 1
    assert found.best.holds


def test_where_the_error_is_not_monotonic_the_speeds_tried_are_told(monkeypatch, short):
    """An error that holds below 25 mm/s and between 70 and 90 mm/s, nowhere else, of 100 mm/s."""

    def ratio(job):
        speed = job.description.speed
        return 0.9 if speed < 0.025 or 0.07 < speed < 0.09 else 1.5

    world = World(monkeypatch, short, ratio, speed_window=(0.01, 0.2))
    found = options.speeds(trials.Trials(world.predicted(world.job), 100, None))
    assert not found.monotonic
    assert found.options[0].job.description.speed == pytest.approx(0.09, rel=0.03)
    assert any(r > 1 for speed, r in found.tried if speed < 0.07)


def test_the_budget_bounds_the_simulations(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 2.0)
    found = world.advise(budget=5)
    assert found.simulations == len(world.jobs) == 5
    assert len(found.speeds.tried) <= 6  # what was not tried is not said to fail


def test_every_key_of_advice_is_in_the_result(monkeypatch, short):
    world = World(monkeypatch, short, lambda job: 0.85)
    found = world.advise()
    result = to_result(at.Answer(short, advice=found, band=world.assess(short)).sections())[
        "advice"
    ]
    assert result["best"] is None
    assert [x["name"] for x in result["options"]] == ["speed", "shift", "orientation"]
    assert result["measuring"][0]["allows"] == "the job as it is"
    assert result["limit"] == found.limit


# On a real robot


@pytest.fixture(scope="module")
def real(short):
    """The seam as it is used 93 % of its tolerance: five of ten robots hold."""
    job = at.Job(
        replace(short.job.description, uncertainty=Uncertainty(draws=16)), short.job.origin
    )
    p = at.predict(job)
    return p, at.advise(p)


def test_what_is_called_best_is_sure_by_its_draws_and_by_those_of_another_seed(real, tmp_path):
    """From its file, as a user runs it; 16 draws tell a probability of 0.95 to about 0.04."""
    _, found = real
    assert found.best is not None
    assert found.best.probability >= 0.95
    path = tmp_path / "advised.toml"
    path.write_text(found.best.job.to_toml_as_written(), encoding="utf-8")
    again = at.predict(at.Job.load(path))
    assert again.verdict.worst_ratio == pytest.approx(found.best.ratio, rel=1e-6)
    assert at.assess(again, draws=16, seed=7).probability >= 0.90


def test_the_advised_job_is_written_in_the_units_of_the_job(real):
    _, found = real
    text = found.best.job.to_toml_as_written()
    assert 'speed = "100 mm/s"' in text
    assert 'start = ["0 mm", "-100 mm", "0 mm"]' in text


def test_a_stretch_is_cut_where_the_margin_is_left_and_said_where_it_is(short):
    """The seam runs through the same points, and the slow stretch lies where it is said to."""
    wide = replace(short, job=wanting(short.job, speed_window=(0.01, 0.2)))
    (option,) = options.slower_stretch(trials.Trials(wide, 40, None, 0.8))
    assert option.fits
    cut = option.job
    assert cut.seam.length == pytest.approx(short.job.seam.length, abs=1e-9)
    slow = [x for x in cut.description.segment if x.speed is not None]
    assert slow
    for segment in slow:
        stretch = next(x for x in cut.seam.path.stretches if x.name == segment.name)
        start, stop = 1e3 * stretch.start, 1e3 * stretch.stop
        assert f"{segment.name} (from {start:.0f} to {stop:.0f} mm of the seam)" in option.text


def test_the_other_orientation_is_the_same_in_the_middle_of_the_seam():
    for name in ("rx90b_corner_follow", "rx90b_corner_fixed"):
        job = at.Job.load(name)
        other = changes.other_orientation(job)
        middle = np.array([job.seam.length / 2])
        assert np.abs(job.seam.at(middle)[1].R - other.seam.at(middle)[1].R).max() < 1e-12
        assert {job.description.orientation.mode, other.description.orientation.mode} == {
            "follow",
            "fixed",
        }
        assert other.description.orientation.tool.rpy is not None  # as the file has it


def test_advice_is_for_the_robot_that_was_predicted(short):
    """A robot with a tenth of the friction needs no advice where the job's own does."""
    robot = short.job.robot()
    phi = robot.parameters * np.where(
        [p.group == "friction" for p in robot.parameter_table], 0.1, 1.0
    )
    job = wanting(short.job, share=0.9)
    own = at.predict(job)
    other = at.predict(job, robot.with_parameters(phi))
    assert at.advise(own, nominal=True, budget=1).needed
    assert not at.advise(other, nominal=True, budget=1).needed


# Bad input


def test_advice_of_what_cannot_be_is_refused(monkeypatch, short):
    with pytest.raises(at.ArmtwinError, match="budget must be at least 1"):
        at.advise(short, nominal=True, budget=0)
    with pytest.raises(at.ArmtwinError, match="band must be a Band or None"):
        at.advise(short, SimpleNamespace(prediction=short))


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ('share = "120 %"', "share must be at most 100 % of the tolerance, got 120 %"),
        ("share = 0", "share must be greater than 0"),
        ('keep_speed = "yes"', "keep_speed must be true or false"),
        ('shift = "-5 mm"', "shift must be at least 0"),
        ('options = ["colour"]', "slower stretch"),
        ("options = []", "options must have at least one of correction, slower stretch"),
        (
            'speed_window = ["70 mm/s", "50 mm/s"]',
            "speed_window must be the lowest and the highest, got 0.07 and 0.05 m/s",
        ),
        ("shfit = 0.1", "Did you mean 'shift'"),
    ],
)
def test_advice_that_cannot_be_asked_for_is_refused(tmp_path, line, words):
    path = tmp_path / "job.toml"
    path.write_text(f"{JOB}\n[advice]\n{line}\n", encoding="utf-8")
    with pytest.raises(FileError, match="advice") as error:
        at.Job.load(path)
    assert words in str(error.value)

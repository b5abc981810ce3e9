"""What a sweep asks for: points of designs, what values change, what a run is known by."""

import numpy as np
import pytest

import armtwin as at
from armtwin.errors import ArmtwinError, FileError
from armtwin.sweeps.axes import axis_of
from armtwin.sweeps.description import AxisGroup
from armtwin.sweeps.settings import change_job
from tests.sweeps.examples import short_job


def over(axes, **options):
    return at.Sweep.over(short_job(), axes, **options)


def job_of(sweep, number=0):
    run = sweep.run(number)
    return change_job(sweep.bases[run.base].job, run.changes)


def test_a_grid_has_every_combination_once():
    sweep = over({"speed": ["100 mm/s", "200 mm/s"], "workpiece.position.1": [0.4, 0.45, 0.5]})
    points = {sweep.point(k) for k in range(len(sweep))}
    assert len(sweep) == len(points) == 6
    assert {run.key for run in sweep.runs()} == {sweep.run(k).key for k in range(6)}
    assert len({run.key for run in sweep.runs()}) == 6


def test_a_list_takes_values_together():
    axes = {"speed": ["100 mm/s", "200 mm/s"], "workpiece.position.1": ["400 mm", "500 mm"]}
    sweep = over(axes, design="list")
    assert [sweep.point(k) for k in range(len(sweep))] == [(100.0, 400.0), (200.0, 500.0)]


@pytest.mark.parametrize("design", ["latin hypercube", "sobol"])
def test_sampled_designs_fill_each_span_evenly(design):
    """Each of n equal parts of a span holds one point of n (latin hypercube; Sobol: of 2^k)."""
    axes = {"speed": ["100 mm/s", "300 mm/s"], "workpiece.position.1": ["400 mm", "500 mm"]}
    sweep = over(axes, design=design, runs=16, seed=3)
    points = np.array([sweep.point(k) for k in range(16)])
    for values, (low, high) in zip(points.T, [(100, 300), (400, 500)], strict=True):
        part = np.floor(16 * (values - low) / (high - low))
        assert sorted(part) == list(range(16))


def test_sixteen_sobol_points_lie_one_in_each_of_sixteen_boxes_of_any_shape():
    """A net: also in 4 x 4 and 2 x 8 boxes, which a latin hypercube does not promise."""
    axes = {"speed": ["100 mm/s", "300 mm/s"], "workpiece.position.1": ["500 mm", "400 mm"]}
    sweep = over(axes, design="sobol", runs=16, seed=5)
    shares = (np.array([sweep.point(k) for k in range(16)]) - [100, 500]) / [200, -100]
    for counts in ((2, 8), (4, 4), (8, 2)):
        assert len({tuple(box) for box in np.floor(shares * counts)}) == 16


@pytest.mark.parametrize("design", ["latin hypercube", "sobol"])
def test_a_sampled_design_takes_each_word_equally_often(design):
    sweep = over({"model.friction": ["off", "file"]}, design=design, runs=8)
    assert sorted(sweep.point(k)[0] for k in range(8)) == ["file"] * 4 + ["off"] * 4


@pytest.mark.parametrize(
    ("text", "si"), [("400 mm", 0.4), ("90 deg", np.pi / 2), ("20 degC", 293.15)]
)
def test_a_value_is_si_in_the_table_and_keeps_its_unit_in_words(text, si):
    axis = axis_of(AxisGroup("any", (text,)))
    assert axis.si(axis.values[0]) == pytest.approx(si, rel=1e-15)
    assert axis.words(axis.values[0]) == text


def test_values_of_a_span_are_the_decimals_that_a_person_would_write():
    axis = axis_of(AxisGroup("speed", span=("0 m/s", "1 m/s"), count=11))
    assert axis.values == (0.0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1.0)


def test_more_sobol_points_begin_with_fewer_ones():
    axes = {"speed": ["100 mm/s", "300 mm/s"]}
    few = over(axes, design="sobol", runs=5)
    more = over(axes, design="sobol", runs=7)
    assert [run.key for run in more.runs()][:5] == [run.key for run in few.runs()]


CHANGES = {
    "speed": ("300 mm/s", lambda d: d.speed, 0.3),
    "workpiece.position.2": ("10 mm", lambda d: d.workpiece.position[1], 0.01),
    "workpiece.orientation.rpy.3": (
        "5 deg",
        lambda d: d.workpiece.orientation.rpy[2],
        0.0872664626,
    ),
    "workpiece.yaw": ("5 deg", lambda d: d.workpiece.orientation.rpy[2], 0.0872664626),
    "process.after_ramp": ("30 ms", lambda d: d.process.after_ramp, 0.03),
    "tolerance.lateral": ("0.2 mm", lambda d: d.tolerance.lateral, 2e-4),
    "model.friction": ("off", lambda d: d.model.friction, "off"),
    "robot.friction.5.viscous": (0.1, lambda d: d.override["friction.5.viscous"], 0.1),
}


@pytest.mark.parametrize("key", CHANGES)
def test_a_value_changes_the_number_that_its_key_names(key):
    value, read, wanted = CHANGES[key]
    found = read(job_of(over({key: [value]})).description)
    assert found == (wanted if isinstance(wanted, str) else pytest.approx(wanted))


def test_a_relative_axis_multiplies_what_the_file_has():
    factors = {"tolerance.lateral + tolerance.vertical": [0.5], "servo.bandwidth": [1.2]}
    job = job_of(over({}, factors=factors))
    assert job.description.tolerance.lateral == pytest.approx(5e-5)
    assert job.description.tolerance.vertical == pytest.approx(5e-5)
    before, after = short_job().robot(), job.robot()
    servo = job.description.model.servo
    assert before.description.servo[servo] != after.description.servo[servo]


def test_a_run_is_known_by_its_content_not_by_how_it_is_asked_for():
    """Units, axes that leave the job's own value and names of jobs change no key."""
    plain = over({"speed": [0.3]})
    unit = over({"speed": ["300 mm/s"]})
    more = over({"speed": ["300 mm/s"], "workpiece.position.2": ["0 mm", "5 mm"]})
    named = at.Sweep.over(short_job("another"), {"speed": ["0.3 m/s"]})
    keys = {sweep.run(0).key for sweep in (plain, unit, more, named)}
    assert len(keys) == 1
    other = over({"speed": [0.3]}, band=True).run(0).key
    assert other not in keys
    assert more.run(1).key not in keys


def test_what_lies_in_files_is_part_of_the_content(tmp_path):
    """The same names with other points are other runs, and the same points elsewhere the same."""
    text = short_job().to_toml().replace("lin = [0.0, 0.02, 0.0]", 'points = "seam.csv"')
    keys = []
    for name, far in (("a", 20), ("b", 21), ("c", 20)):
        folder = tmp_path / name
        folder.mkdir()
        (folder / "job.toml").write_text(text)
        points = [f"0,{y / 1e3},0" for y in np.linspace(-20, far, 12)]
        (folder / "seam.csv").write_text("x,y,z\n" + "\n".join(points) + "\n")
        sweep = at.Sweep.over(at.Job.load(folder / "job.toml"), {"speed": ["200 mm/s"]})
        keys.append(sweep.run(0).key)
    assert keys[0] != keys[1]
    assert keys[0] == keys[2]


HEAD = 'format = 1\njobs = ["rx90b_line"]\n'
REFUSED = {
    "unknown key": (
        '[[axis]]\nkey = "workpiece.postion.1"\nvalues = [0.4]\n',
        r"axis 'workpiece.postion.1', 0.4: .*there is no 'workpiece.postion'. Did you mean "
        "'position'",
    ),
    "unknown robot key": (
        '[[axis]]\nkey = "robot.friction.5.levle"\nvalues = ["1 N m"]\n',
        "friction.5.levle .*is not a key of a robot file",
    ),
    "empty grid": ('[[axis]]\nkey = "speed"\nvalues = []\n', "values must have at least one value"),
    "no count": ('[[axis]]\nkey = "speed"\nspan = [0.1, 0.2]\n', "axis.1.count is missing"),
    "a billion": (
        "".join(f'[[axis]]\nkey = "{key}"\nspan = [0.1, 0.2]\ncount = 1000\n' for key in "abc"),
        "at most 5,000,000 points, got 1,000,000,000",
    ),
    "mixed units": ('[[axis]]\nkey = "speed"\nvalues = ["1 m/s", "2 mm/s"]\n', "in one unit"),
    "same number twice": (
        '[[axis]]\nkey = "workpiece.yaw"\nvalues = ["1 deg"]\n'
        '[[axis]]\nkey = "workpiece.orientation.rpy.3"\nvalues = ["2 deg"]\n',
        "axes 'workpiece.yaw' and 'workpiece.orientation.rpy.3' change the same number",
    ),
    "a value that cannot be": ('[[axis]]\nkey = "speed"\nvalues = [-1]\n', "greater than 0 m/s"),
    "files": ('[[axis]]\nkey = "segment.1.points"\nvalues = ["a.csv"]\n', "files are no values"),
    "robots": ('[[axis]]\nkey = "robot"\nvalues = ["tx40"]\n', "named by `robots`"),
    "unknown key of the file": ("axes = 3\n", "axes is not a key of a sweep file"),
    "runs of a grid": ("runs = 4\n", "runs belong to sampled designs"),
    "words and numbers": (
        '[[axis]]\nkey = "speed"\nvalues = ["off", 3]\n',
        "all numbers or all words, got 3 among them",
    ),
    "values and span": (
        '[[axis]]\nkey = "speed"\nvalues = [1]\nspan = [1, 2]\n',
        "either values or span, got both",
    ),
    "one key twice": (2 * '[[axis]]\nkey = "speed"\nvalues = [1]\n', "got 'speed' twice"),
    "no such limit": ('limit = "sped"\n', "must name keys of axes, got 'sped'"),
    "sampled without runs": ('design = "sobol"\n', "runs must be at least 1"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_bad_sweep_is_refused_by_a_sentence(tmp_path, what):
    text, sentence = REFUSED[what]
    path = tmp_path / "sweep.toml"
    path.write_text(HEAD + text)
    with pytest.raises(FileError, match=sentence):
        len(at.Sweep.load(path))


def test_a_job_is_no_sweep():
    from armtwin.jobs.files import list_shipped

    with pytest.raises(ArmtwinError, match="is a job, where a sweep"):
        at.Sweep.load(list_shipped()["rx90b_line"])


@pytest.mark.parametrize("key", ["jobs", "robots"])
def test_a_name_too_long_for_a_file_is_refused_by_a_sentence(key, tmp_path):
    name = "x" * 300 + ".toml"
    names = {"jobs": ["rx90b_line"], "robots": ["rx90b"], key: [name]}
    lines = [f"{word} = {value!r}" for word, value in names.items()]
    axis = '[[axis]]\nkey = "speed"\nvalues = ["300 mm/s"]\n'
    path = tmp_path / "sweep.toml"
    path.write_text("\n".join(["format = 1", *lines, axis]))
    with pytest.raises(at.ArmtwinError, match="xxx"):
        len(at.Sweep.load(path))

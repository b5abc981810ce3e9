"""result.json: keys and types of the contract, SI numbers, strict JSON, distinct inputs."""

import hashlib
import json

import pytest

import armtwin as at
from armtwin.analysis.bearing_loads import bearing_loads
from armtwin.analysis.states import along
from armtwin.report.result_file import to_result
from tests.jobs.examples import BAND, JOB, changed

NUMBER, TEXT, BOOL = (int, float), str, bool
PEAK = (int, float, type(None))  # null where the process was never on
SEGMENT = {
    "name": TEXT,
    "lateral_peak_m": PEAK,
    "vertical_peak_m": PEAK,
    "lag_m": PEAK,
    "out_of_tolerance_m": NUMBER,
}
SPAN = {"from_m": NUMBER, "to_m": NUMBER, "peak_m": NUMBER, "direction": TEXT, "causes": list}
CONTRACT = {
    "format": int,
    "armtwin": TEXT,
    "job": TEXT,
    "robot": TEXT,
    "method": TEXT,
    "model": {"friction": TEXT, "servo": TEXT, "quantise": BOOL, "joints": TEXT},
    "verdict": {"within": BOOL, "tolerance_m": {"lateral": NUMBER, "vertical": NUMBER}},
    "segments": [SEGMENT],
    "spans": [SPAN],
    "outside_window": [{"from_m": NUMBER, "to_m": NUMBER, "segment": TEXT}],
    "events": [{"time_s": NUMBER, "kind": TEXT, "text": TEXT}],
    "provenance": {
        "inputs_sha256": dict,
        "versions": dict,
        "assumed": [{"key": TEXT, "source": TEXT}],
    },
}


def broken(value, contract, path=""):
    """Places of a value that break a contract of keys and types."""
    if isinstance(contract, dict):
        if not isinstance(value, dict):
            return [path]
        return [
            where
            for key, inner in contract.items()
            for where in (
                broken(value[key], inner, f"{path}.{key}")
                if key in value
                else [f"{path}.{key} is missing"]
            )
        ]
    if isinstance(contract, list):
        if not isinstance(value, list):
            return [path]
        return [
            where
            for i, item in enumerate(value)
            for where in broken(item, contract[0], f"{path}.{i}")
        ]
    right = isinstance(value, contract) and (contract is BOOL or not isinstance(value, bool))
    return [] if right else [f"{path} is {value!r}"]


def without_causes(prediction):
    return to_result(at.Answer(prediction).sections())


def result_of(folder, text):
    (folder / "job.toml").write_text(text, encoding="utf-8")
    prediction = at.predict(at.Job.load(folder / "job.toml"))
    return without_causes(prediction), prediction


def test_loads_on_bearings_are_a_section_where_they_were_asked_for(within):
    """The peak of each bearing is the largest along the motion, at its time."""
    result, p = within
    assert "bearings" not in result
    loads = bearing_loads(p.robot, along(p.robot, p.motion.trajectory))
    shown = to_result(at.Answer(p, loads=loads).sections())["bearings"]
    assert [row["joint"] for row in shown] == list(p.robot.joint_names)
    assert [row["moment_nm"] for row in shown] == loads.moments.max(axis=0).tolist()


@pytest.fixture(scope="module")
def within(tmp_path_factory):
    return result_of(tmp_path_factory.mktemp("within"), JOB)


@pytest.fixture(scope="module")
def out(tmp_path_factory):
    """A job with a tolerance that is not kept, and a process window that is left."""
    text = changed(
        'lateral = "0.1 mm"',
        'lateral = "0.05 mm"',
        changed('vertical = "0.1 mm"', 'vertical = "0.05 mm"'),
    )
    return result_of(tmp_path_factory.mktemp("out"), text + BAND.replace("110", "100.1"))


@pytest.fixture(scope="module")
def stopped(tmp_path_factory):
    """A job whose servo gives up."""
    override = '[override]\n"servo.cascade.following_error_limit" = "0.001 rad"\n'
    return result_of(tmp_path_factory.mktemp("stopped"), JOB + override)


@pytest.mark.parametrize("name", ["within", "out", "stopped"])
def test_a_result_keeps_the_keys_and_types_of_the_contract(name, request):
    result, _ = request.getfixturevalue(name)
    assert broken(result, CONTRACT) == []


def test_the_contract_itself_can_be_broken(out):
    result, _ = out
    assert broken({**result, "spans": [{**result["spans"][0], "peak_m": "big"}]}, CONTRACT) == [
        ".spans.0.peak_m is 'big'"
    ]
    assert broken({**result, "verdict": {"within": 1}}, CONTRACT) == [
        ".verdict.within is 1",
        ".verdict.tolerance_m is missing",
    ]


@pytest.mark.parametrize("name", ["within", "out", "stopped"])
def test_a_result_is_strict_json_and_reads_back_equal(name, request):
    result, _ = request.getfixturevalue(name)
    assert json.loads(json.dumps(result, allow_nan=False)) == result


def test_a_result_within_tolerance_has_no_spans(within):
    result, _ = within
    assert result["verdict"]["within"]
    assert (result["spans"], result["outside_window"], result["verdict"]["stopped"]) == (
        [],
        [],
        None,
    )


def test_every_span_is_beyond_its_tolerance_and_inside_of_the_process(out):
    result, _ = out
    assert result["spans"]
    [(on, off)] = result["process_on_m"]
    lag = max(x["lag_m"] for x in result["segments"])
    for span in result["spans"]:
        assert abs(span["peak_m"]) > result["verdict"]["tolerance_m"][span["direction"]]
        assert on - lag <= span["from_m"] <= span["to_m"] <= off + lag


def test_the_length_out_of_tolerance_is_that_of_the_spans_joined(out):
    result, _ = out
    total, reached = 0.0, 0.0
    for span in sorted(result["spans"], key=lambda x: x["from_m"]):
        total += max(0.0, span["to_m"] - max(span["from_m"], reached))
        reached = max(reached, span["to_m"])
    assert sum(x["out_of_tolerance_m"] for x in result["segments"]) == pytest.approx(
        total, rel=1e-12
    )


def test_a_run_that_stops_is_not_within_and_says_where_and_why(stopped):
    result, prediction = stopped
    ended = result["verdict"]["stopped"]
    assert not result["verdict"]["within"]
    assert ended["kind"] == "following_error"
    assert 0 <= ended["at_m"] < result["process_on_m"][0][0]
    assert result["segments"][0]["lateral_peak_m"] is None
    assert ended["time_s"] == pytest.approx(prediction.log.time[-1], abs=2 / 250)


def test_the_speed_outside_of_a_window_is_outside_of_it(out):
    _, prediction = out
    assert prediction.verdict.outside_window
    assert all(not 0.09 <= x.speed_m_s <= 0.1001 for x in prediction.verdict.outside_window)


def two_halves(second):
    text = changed('lin = ["0 mm", "100 mm"', 'lin = ["0 mm", "0 mm"')
    more = '[[segment]]\nname = "second"\nlin = ["0 mm", "100 mm", "0 mm"]\n'
    return f"{text}process = true\n{more}process = {second}\n"


def test_an_error_while_the_process_is_on_is_null_where_it_never_is(tmp_path):
    result, _ = result_of(tmp_path, two_halves("false"))
    peaks = {x["name"]: x["lateral_peak_m"] for x in result["segments"]}
    assert peaks["seam"] > 0
    assert peaks["second"] is None


def test_the_digest_of_a_file_is_that_of_its_bytes(tmp_path):
    (tmp_path / "seam.csv").write_text("x,y,z\n0,-0.1,0\n0,0,0\n0,0.1,0\n")
    result, _ = result_of(
        tmp_path, changed('lin = ["0 mm", "100 mm", "0 mm"]', 'points = "seam.csv"')
    )
    told = result["provenance"]["inputs_sha256"]
    for key, name in (("job file", "job.toml"), ("points file seam.csv", "seam.csv")):
        assert told[key] == hashlib.sha256((tmp_path / name).read_bytes()).hexdigest()


def test_files_of_one_name_have_digests_of_their_own(tmp_path):
    (tmp_path / "robot").mkdir()
    at.Robot.load("rx90b").save(tmp_path / "robot" / "job.toml")
    result, _ = result_of(tmp_path, changed('"rx90b"', '"robot/job.toml"'))
    digests = {hashlib.sha256(path.read_bytes()).hexdigest() for path in tmp_path.rglob("job.toml")}
    assert digests <= set(result["provenance"]["inputs_sha256"].values())


def test_another_speed_is_another_job_as_used_from_the_same_file(within, tmp_path):
    _, prediction = within
    slower = without_causes(at.predict(prediction.job.with_speed(0.05)))["provenance"][
        "inputs_sha256"
    ]
    told = within[0]["provenance"]["inputs_sha256"]
    assert slower["job as used"] != told["job as used"]
    assert {k: v for k, v in slower.items() if k != "job as used"} == {
        k: v for k, v in told.items() if k != "job as used"
    }


def test_an_override_is_told_among_the_assumed_numbers(tmp_path):
    result, _ = result_of(
        tmp_path, JOB + '[override]\n"friction.wrist_a.viscous" = "0.02 N m s/rad"\n'
    )
    told = {x["key"]: x["source"] for x in result["provenance"]["assumed"]}
    assert told["friction.wrist_a.viscous"] == "overridden by the job"
    assert result["provenance"]["overrides"] == {"friction.wrist_a.viscous": "0.02 N m s/rad"}


def test_two_predictions_of_one_job_are_equal_to_the_last_digit(within):
    result, prediction = within
    assert without_causes(at.predict(prediction.job)) == result


def test_the_speed_outside_of_a_window_carries_its_unit(out):
    result, _ = out
    assert all("speed_m_s" in x for x in result["outside_window"])

"""predict, compare, jobs, check and demo:
exit codes, pages of 80 columns, one sentence or one JSON object, whole folders.
"""

import contextlib
import html
import io
import json
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import NamedTuple
from unittest import mock

import pytest

import armtwin as at
from armtwin.app.commands import main
from armtwin.jobs.files import list_shipped
from tests.incomplete import incomplete
from tests.jobs.examples import BAD, FORM, JOB, changed, with_top

WITH_CAUSES = ("kr300_frame", "lwa4p_bead")


class Done(NamedTuple):
    code: int
    out: str
    err: str


def call(folder, *words, causes=False, band=False):
    """The command line in this process, run in a folder;
    causes and bands take many simulations and are mostly left out.
    """
    out, err = io.StringIO(), io.StringIO()
    explain = at.explain if causes else lambda *args, **kwargs: ()
    assess = at.assess if band else lambda *args, **kwargs: None
    with (
        mock.patch.object(at, "explain", explain),
        mock.patch.object(at, "assess", assess),
        contextlib.chdir(folder),
        contextlib.redirect_stdout(out),
        contextlib.redirect_stderr(err),
        mock.patch.object(sys, "argv", ["armtwin", *map(str, words)]),
        pytest.raises(SystemExit) as ended,
    ):
        main()
    return Done(ended.value.code or 0, out.getvalue(), err.getvalue())


def tree(folder):
    """Every file and folder below a folder, hidden ones too."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*"))


def save(folder, text=JOB):
    (folder / "job.toml").write_text(text, encoding="utf-8")
    return folder


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Every shipped job predicted once, two of them with their causes."""
    folder = tmp_path_factory.mktemp("runs")
    return folder, {
        name: call(folder, "predict", name, causes=name in WITH_CAUSES) for name in list_shipped()
    }


@pytest.fixture
def never_run(monkeypatch):
    """A simulation would be an error."""

    def fail(*args, **kwargs):
        raise AssertionError("it was simulated")

    monkeypatch.setattr("armtwin.prediction.predict.simulate", fail)


def test_the_simulation_is_watched(never_run, tmp_path):
    done = call(save(tmp_path), "predict", "job.toml")
    assert done.code == 3
    assert "an unexpected error of armtwin (AssertionError)" in done.err


# Exit codes and pages


def test_a_seam_within_tolerance_is_exit_0(tmp_path):
    """The frame that the KR300 mills, where a millimetre is allowed."""
    text = list_shipped()["kr300_frame"].read_text(encoding="utf-8")
    save(tmp_path, text.replace('"0.3 mm"', '"1 mm"').replace('"elastic"', '"rigid"'))
    done = call(tmp_path, "predict", "job.toml", "--speed", "50 mm/s")
    assert (done.code, done.err) == (0, "")
    told = r"WITHIN TOLERANCE \(nominal run, no interval\)\. \d+ µm lateral at"
    assert re.match(told, done.out)
    assert "; assumed servo, structure not known; " in " ".join(done.out.split())


def test_a_seam_out_of_tolerance_is_exit_1(runs):
    done = runs[1]["rx90b_corner_follow"]
    assert (done.code, done.err) == (1, "")
    assert done.out.startswith("EXCEEDS TOLERANCE (nominal run, no interval). ")
    assert "; assumed servo; " in " ".join(done.out.split())


def test_a_process_window_that_is_left_is_exit_1_and_told_with_its_place(tmp_path):
    done = call(
        save(tmp_path, JOB + 'window = { speed = ["101 mm/s", "102 mm/s"] }\n'),
        "predict",
        "job.toml",
        "--full",
    )
    assert done.code == 1
    told = re.search(r"^seam +([\d.]+) +([\d.]+) +[\d.]+$", done.out, re.MULTILINE)
    # the process is on between the ramps, 12.5 to 187.5 mm; a sample of the path error is 0.05 mm
    assert [float(x) for x in told.groups()] == pytest.approx([12.5, 187.5], abs=0.11)
    result = json.loads((tmp_path / "armtwin_out" / "job" / "result.json").read_text())
    assert [x["segment"] for x in result["outside_window"]] == ["seam"]


def test_a_run_that_stops_is_exit_1_and_says_why(tmp_path):
    override = '[override]\n"servo.cascade.following_error_limit" = "0.001 rad"\n'
    done = call(save(tmp_path, JOB + override), "predict", "job.toml")
    assert done.code == 1
    assert "the robot stops at" in done.out
    said = " ".join(done.out.split())
    assert "motor_1 is more than 0.001 rad (0.0573°) behind; the robot stops." in said


@pytest.mark.parametrize("name", list_shipped())
def test_a_prediction_fits_80_columns(name, runs):
    assert max(map(len, runs[1][name].out.splitlines())) <= 80


@pytest.fixture(scope="module")
def compared(runs):
    """Every shipped job compared with the log of its own prediction."""
    return {
        name: call(runs[0], "compare", name, f"armtwin_out/{name}/log.csv")
        for name in list_shipped()
    }


@pytest.mark.parametrize("name", list_shipped())
def test_a_comparison_fits_80_columns(name, compared):
    assert max(map(len, compared[name].out.splitlines())) <= 80


@pytest.mark.parametrize("name", list_shipped())
def test_the_log_of_a_prediction_is_judged_as_the_prediction(name, runs, compared):
    assert (compared[name].code, compared[name].err) == (runs[1][name].code, "")


def test_a_comparison_cuts_nothing_off(compared):
    assert "…" not in compared["rx90b_line"].out


@pytest.mark.parametrize(
    "words",
    [["jobs"], *([c, name] for c in ("jobs", "check") for name in list_shipped())],
    ids=" ".join,
)
def test_pages_of_jobs_fit_80_columns(words, never_run, tmp_path):
    done = call(tmp_path, *words)
    assert (done.code, done.err) == (0, "")
    assert max(map(len, done.out.splitlines())) <= 80
    assert tree(tmp_path) == []


def test_the_shelf_names_every_shipped_job(tmp_path):
    out = call(tmp_path, "jobs").out
    assert all(name in out for name in list_shipped())


def test_check_of_a_job_file_says_what_it_is_and_runs_nothing(never_run, tmp_path):
    done = call(save(tmp_path, with_top('title = "A seam of mine"')), "check", "job.toml")
    assert done.code == 0
    for text in (
        "job: A seam of mine",
        "rx90b with laser_head",
        "Seam of 200.0 mm",
        "±0.1 mm lateral",
    ):
        assert text in done.out
    assert tree(tmp_path) == ["job.toml"]


def test_predict_without_a_job_is_the_default_one(runs, tmp_path):
    done = call(tmp_path, "predict")
    assert done == runs[1]["rx90b_probed"]


def test_the_demo_succeeds_twice_and_says_where_the_results_are(tmp_path):
    """The correction is left to the nominal twin here: variants take time."""
    nominal = mock.patch.object(at, "correct", partial(at.correct, nominal=True))
    for _ in range(2):
        with nominal:
            done = call(tmp_path, "demo")
        assert (done.code, done.err) == (0, "")
        assert "armtwin_out/rx90b_probed/" in done.out
        assert re.search(r"163 µm lateral become\s+\d\d µm", done.out)


ANSWERED = ("rx90b_cladding", "rx90b_line")


@pytest.fixture(scope="module")
def answered(tmp_path_factory):
    """Two shipped jobs predicted with causes and interval, and their sheets."""
    folder = tmp_path_factory.mktemp("answered")
    return folder, {
        job: call(folder, "predict", job, "--sheet", causes=True, band=True) for job in ANSWERED
    }


def test_the_page_on_verdicts_shows_what_is_printed_today(answered):
    """Numbers of an interval may move in their last digits; headline and peak do not."""
    folder, _ = answered
    page = Path(__file__).parents[2] / "docs" / "verdict.md"
    (shown,) = re.findall(r"```\n(PROBABLY .*?)```", page.read_text(encoding="utf-8"), re.DOTALL)
    report = (folder / "armtwin_out/rx90b_line/report.html").read_text(encoding="utf-8")
    text = re.sub(r"</?code>", "`", report.partition("<script")[0])
    told = html.unescape(" ".join(re.sub(r"<[^>]+>", " ", text).split()))
    for line in shown.splitlines():
        pattern = re.sub(r"\d+", r"\\d+", re.escape(line))
        assert re.search(pattern, told), line
    assert "163 µm lateral at 430 mm, 100 µm allowed" in told


@pytest.mark.parametrize("job", ANSWERED)
def test_the_answer_fits_a_terminal_of_80_by_24_and_ends_with_the_verdict(answered, job):
    folder, runs = answered
    done = runs[job]
    lines = done.out.splitlines()
    assert len(lines) <= 23  # and a prompt
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(lines[-1].removesuffix("."))
    assert "\x1b" not in done.out
    assert [
        line.split("  ")[0] for line in lines if re.match("Wh(ere|y|at to change)  ", line)
    ] == [
        "Where",
        "Why",
        "What to change",
    ]
    held = {"rx90b_cladding": ("IN TOLERANCE", 0), "rx90b_line": ("PROBABLY OUT OF TOLERANCE", 1)}
    headline, code = held[job]
    assert lines[0].startswith(f"{headline} (")
    assert done.code == code
    sheet = (folder / "armtwin_out" / job / "sheet.html").read_text(encoding="utf-8")
    assert f"<strong>{headline}</strong>" in sheet
    assert "<span>Signature</span>" in sheet


def test_another_speed_is_predicted_and_named(tmp_path):
    done = call(save(tmp_path), "predict", "job.toml", "--speed", "50 mm/s", "--json")
    assert json.loads(done.out)["speed_m_s"] == 0.05


# One JSON object


@pytest.mark.parametrize("job", ["rx90b_line", "rx90b_corner_follow"])
def test_json_is_exactly_one_object_that_equals_the_file(job, runs, tmp_path):
    done = call(tmp_path, "predict", job, "--json")
    assert (done.code, done.err) == (runs[1][job].code, "")

    def refuse(word):
        raise AssertionError(f"{word} is no JSON")

    printed = json.loads(done.out, parse_constant=refuse)
    assert printed == json.loads((tmp_path / "armtwin_out" / job / "result.json").read_text())
    assert printed["verdict"]["within"] == (done.code == 0)


def test_json_of_a_comparison_is_exactly_one_object_that_equals_the_file(tmp_path):
    call(save(tmp_path), "predict", "job.toml")
    done = call(tmp_path, "compare", "job.toml", "armtwin_out/job/log.csv", "--json")
    printed = json.loads(done.out)
    assert printed == json.loads(
        (tmp_path / "armtwin_out" / "job_compared" / "result.json").read_text()
    )
    # the first sample may fall before the job begins, by a rounding of the time shift
    samples = len(at.Log.read(tmp_path / "armtwin_out" / "job" / "log.csv").time)
    assert printed["comparison"]["samples"] == pytest.approx(samples, abs=1)


def test_the_log_of_a_prediction_is_a_log(runs):
    folder, _ = runs
    done = call(folder, "check", "armtwin_out/rx90b_line/log.csv")
    assert done.code == 0
    assert "a log of 3001 samples, 12 s" in done.out


# Bad input


def assert_refused(done, folder, *files):
    """Exit 2, one sentence on stderr, nothing on stdout, nothing written."""
    assert (done.code, done.out) == (2, "")
    assert done.err.startswith("armtwin: ")
    assert done.err.count("\n") == 1
    assert "Traceback" not in done.err
    assert tree(folder) == sorted(files)


@pytest.mark.parametrize("name", BAD)
def test_a_bad_job_is_exit_2_with_one_sentence_and_nothing_is_written(name, tmp_path):
    done = call(save(tmp_path, BAD[name].text), "predict", "job.toml")
    assert_refused(done, tmp_path, "job.toml")
    assert done.err.startswith("armtwin: job.toml: ")
    assert BAD[name].sentence in done.err


@pytest.mark.parametrize("name", [name for name in FORM if "segment" in FORM[name].text])
def test_check_finds_what_is_wrong_with_the_form_of_a_job(name, never_run, tmp_path):
    done = call(save(tmp_path, FORM[name].text), "check", "job.toml")
    assert_refused(done, tmp_path, "job.toml")
    assert FORM[name].sentence in done.err


def test_check_tells_of_a_job_without_segments_that_they_are_missing(tmp_path):
    done = call(save(tmp_path, BAD["missing segment"].text), "check", "job.toml")
    assert "segment is missing" in done.err


MOTIONS = ("seam out of reach", "tool inside a box")  # only a planned motion shows these


@pytest.mark.parametrize(
    "name", [name for name, bad in BAD.items() if not bad.form and name not in MOTIONS]
)
def test_check_finds_that_a_job_does_not_fit_its_robot(name, tmp_path):
    done = call(save(tmp_path, BAD[name].text), "check", "job.toml")
    assert done.code == 2


def test_check_tells_what_a_jobs_robot_lacks(tmp_path):
    incomplete(at.Robot.load("tx40")).save(tmp_path / "bare.toml")
    text = changed('"rx90b"', '"bare.toml"', changed('tool = "laser_head"\n', ""))
    done = call(save(tmp_path, text), "check", "job.toml")
    assert "servo controller" in done.out + done.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["--speed", "100"],
            "--speed as a bare number must be at most 5 m/s, got 100. Did you mean '100 mm/s'?",
        ),
        (["--speed", "1e9 m/s"], "--speed must be at most 1e+06 m/s, got 1e9 m/s\n"),
        (["--speed", "1e5 m/s"], "but speeding up and slowing down at 1e+08 mm/s needs"),
        (["--speed", "100 kg"], "--speed must be in m/s or a unit of that kind, got '100 kg'"),
        (["--speed", "100 mm"], "--speed must be in m/s or a unit of that kind, got '100 mm'"),
        (["--speed", "0"], "--speed must be greater than 0 m/s, got 0"),
        (["--speed", "0 mm/s"], "--speed must be greater than 0 m/s, got 0 mm/s"),
        (["--speed=-100 mm/s"], "--speed must be greater than 0 m/s, got -100 mm/s"),
        (["--speed", "nan"], "--speed must be a finite number in m/s, got nan"),
        (
            ["--speed", "fast"],
            (
                "--speed must be a number with a decimal point or a quantity such as '1.5 m/s', "
                "got 'fast'"
            ),
        ),
        (
            ["--speed", "100,5 mm/s"],
            "--speed must be a number with a decimal point or a quantity such as '1.5 m/s'",
        ),
        (
            ["--tool", "spindle"],
            "--tool: robot 'rx90b': tool 'spindle' is not known. Known: laser_head.",
        ),
        (
            ["--robot", "r2d2"],
            "robot 'r2d2' is neither shipped nor a .toml or .urdf file. Known: epaas, epaas_bench",
        ),
        (["--out", "job.toml"], "job.toml: is a file; choose another folder with --out"),
        (["--out", "job.toml/below"], "cannot be written"),
    ],
    ids=" ".join,
)
def test_a_bad_option_is_exit_2_with_one_sentence_and_nothing_is_written(
    words, sentence, never_run, tmp_path
):
    done = call(save(tmp_path), "predict", "job.toml", *words)
    assert_refused(done, tmp_path, "job.toml")
    assert sentence in done.err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ["predict", "rx90b_lin"],
            "job 'rx90b_lin' is neither shipped nor a .toml file. Did you mean 'rx90b_line'?",
        ),
        (["predict", "nothing.toml"], "nothing.toml: cannot be read (No such file or directory)"),
        (
            ["jobs", "rx90b_lin"],
            "job 'rx90b_lin' is neither shipped nor a .toml file. Did you mean 'rx90b_line'?",
        ),
        (
            ["compare", "rx90b_line", "nothing.csv"],
            "nothing.csv: cannot be read (No such file or directory)",
        ),
        (
            ["compare", "nothing", "nothing.csv"],
            "job 'nothing' is neither shipped nor a .toml file. Known: kr300_circle, kr300_frame",
        ),
    ],
    ids=" ".join,
)
def test_a_file_that_is_not_there_is_exit_2_with_one_sentence(words, sentence, never_run, tmp_path):
    done = call(tmp_path, *words)
    assert_refused(done, tmp_path)
    assert sentence in done.err


def test_a_log_of_another_job_is_refused(runs, tmp_path):
    done = call(
        tmp_path,
        "compare",
        "rx90b_line",
        runs[0] / "armtwin_out" / "rx90b_corner_follow" / "log.csv",
    )
    assert_refused(done, tmp_path)
    assert "the log is not of job 'rx90b_line': at the best alignment joint_" in done.err


def test_a_log_of_another_job_of_the_same_length_is_told_to_be_of_another_job(runs, tmp_path):
    done = call(
        tmp_path,
        "compare",
        "rx90b_corner_fixed",
        runs[0] / "armtwin_out" / "rx90b_corner_follow" / "log.csv",
    )
    assert "the log is not of job 'rx90b_corner_fixed'" in done.err


@pytest.mark.parametrize(
    "span", [(0.0, 0.5), (5.0, 5.1)], ids=["only the standstill", "a tenth of a second"]
)
def test_a_log_that_does_not_hold_half_of_the_motion_is_refused(span, runs, tmp_path):
    log = at.Log.read(runs[0] / "armtwin_out" / "rx90b_line" / "log.csv")
    kept = (log.time >= span[0]) & (log.time <= span[1])
    at.Log(log.time[kept], {name: x[kept] for name, x in log.channels.items()}).write(
        tmp_path / "cut.csv"
    )
    done = call(tmp_path, "compare", "rx90b_line", "cut.csv")
    assert done.code == 2


def test_a_robot_without_servo_is_refused_with_the_list_of_what_is_missing(never_run, tmp_path):
    incomplete(at.Robot.load("tx40")).save(tmp_path / "bare.toml")
    done = call(save(tmp_path), "predict", "job.toml", "--robot", "bare.toml", "--tool", "")
    assert (done.code, done.out) == (2, "")
    for phrase in (
        "bare.toml: 4 problems",
        "servo.cascade: a servo",
        "motor.torque_constant:",
        "friction.presliding:",
    ):
        assert phrase in done.err
    assert tree(tmp_path) == ["bare.toml", "job.toml"]


def test_a_robot_from_a_urdf_is_refused_with_the_list_of_what_is_missing(never_run, tmp_path):
    assert call(save(tmp_path), "export", "urdf", "rx90b").code == 0
    assert call(tmp_path, "import", "rx90b.urdf", "--out", "back.toml").code == 0
    done = call(tmp_path, "predict", "job.toml", "--robot", "back.toml", "--tool", "")
    assert (done.code, done.out) == (2, "")
    for phrase in (
        "back.toml: 3 problems",
        "servo.cascade: a servo",
        "friction.presliding: a pre-sliding stiffness",
        "motor: motors with",
    ):
        assert phrase in done.err
    assert tree(tmp_path) == ["back.toml", "job.toml", "rx90b.urdf", "rx90b.urdf.check.json"]


# Folders of results


def test_our_results_are_replaced_each_time_and_others_files_stay(tmp_path):
    folder = save(tmp_path) / "armtwin_out" / "job"
    call(tmp_path, "predict", "job.toml")
    (folder / "notes.txt").write_text("mine")
    for speed in (60, 70):
        save(tmp_path, changed("100 mm/s", f"{speed} mm/s"))
        assert call(tmp_path, "predict", "job.toml").code == 0
        assert json.loads((folder / "result.json").read_text())["speed_m_s"] == speed / 1000
        assert (folder / "notes.txt").read_text() == "mine"
    assert tree(folder) == ["log.csv", "notes.txt", "report.html", "result.json"]
    assert tree(folder.parent)[0] == "job"


def test_a_folder_of_others_is_refused_before_any_simulation(never_run, tmp_path):
    (save(tmp_path) / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    done = call(tmp_path, "predict", "job.toml", "--out", "mine")
    assert_refused(done, tmp_path, "job.toml", "mine", "mine/thesis.tex")
    assert "mine: holds files that are no result of armtwin" in done.err


def test_force_adds_the_results_to_a_folder_of_others(tmp_path):
    (save(tmp_path) / "mine").mkdir()
    (tmp_path / "mine" / "thesis.tex").write_text("precious")
    assert call(tmp_path, "predict", "job.toml", "--out", "mine", "--force").code == 0
    assert (tmp_path / "mine" / "thesis.tex").read_text() == "precious"
    assert (tmp_path / "mine" / "result.json").exists()


def test_a_file_in_place_of_the_default_folder_is_refused_before_any_simulation(
    never_run, tmp_path
):
    (save(tmp_path) / "armtwin_out").write_text("precious")
    done = call(tmp_path, "predict", "job.toml")
    assert_refused(done, tmp_path, "armtwin_out", "job.toml")
    assert "armtwin_out" in done.err
    assert (tmp_path / "armtwin_out").read_text() == "precious"


@pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() == 0, reason="root may write everywhere"
)
def test_a_read_only_folder_is_refused_before_any_simulation(never_run, tmp_path):
    save(tmp_path).chmod(0o555)
    try:
        done = call(tmp_path, "predict", "job.toml")
    finally:
        tmp_path.chmod(0o755)
    assert_refused(done, tmp_path, "job.toml")
    assert "cannot be written (Permission denied)" in done.err


def test_a_folder_in_which_nothing_can_be_made_is_refused_before_any_simulation(
    never_run, tmp_path, monkeypatch
):
    def refuse(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("tempfile.mkdtemp", refuse)
    done = call(save(tmp_path), "predict", "job.toml")
    assert_refused(done, tmp_path, "job.toml")
    assert "cannot be written (Permission denied)" in done.err


def test_ctrl_c_while_simulating_leaves_nothing(tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("armtwin.prediction.predict.simulate", stop)
    done = call(save(tmp_path), "predict", "job.toml")
    assert (done.code, done.out) == (130, "")
    assert tree(tmp_path) == ["job.toml"]


def test_ctrl_c_is_told(tmp_path, monkeypatch):
    def stop(*args, **kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr("armtwin.prediction.predict.simulate", stop)
    assert "armtwin: stopped" in call(save(tmp_path), "predict", "job.toml").err


SLOW_WRITER = """
import signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)
import armtwin
from armtwin.app import job_commands
from armtwin.app.commands import main

def put(log, file):
    file.write(b"half")
    print("half written", flush=True)
    time.sleep(60)

job_commands.put_csv = put
armtwin.explain = lambda *args: ()
sys.argv = ["armtwin", "predict", "job.toml"]
main()
"""


@pytest.mark.skipif(sys.platform == "win32", reason="a process group gets Ctrl-C there")
def test_ctrl_c_while_writing_leaves_the_older_results_and_nothing_half_written(tmp_path):
    call(save(tmp_path), "predict", "job.toml")
    before = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    process = subprocess.Popen(
        [sys.executable, "-c", SLOW_WRITER],
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout.readline() == "half written\n"
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert "Traceback" not in err
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == before
    assert not [name for name in tree(tmp_path) if Path(name).name.startswith(".")]


# Hostile names


@pytest.mark.parametrize(
    "name",
    ["../../etc/x", "/etc/x", "..", "[red]x[/]", "<script>alert(1)</script>", "C:\\x", "日本"],
)
def test_a_job_of_any_name_stays_in_the_folder_and_is_shown_as_it_is(name, tmp_path):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    save(inner, with_top(f"name = '{name}'"))
    done = call(inner, "predict", "job.toml")
    assert done.code == 0, done.err
    assert name in done.out.splitlines()
    assert all(
        x in ("a", "a/b", "a/b/job.toml") or x.startswith("a/b/armtwin_out") for x in tree(tmp_path)
    )
    [result] = inner.rglob("result.json")
    assert result.parent.parent == inner / "armtwin_out"
    assert json.loads(result.read_text(encoding="utf-8"))["job"] == name


@pytest.mark.parametrize("command", ["predict", "jobs", "check"])
def test_markup_in_texts_of_a_job_is_shown_literally(command, tmp_path):
    text = changed('name = "seam"', 'name = "[bold]s[/]"', with_top('title = "[red]t[/red]"'))
    more = ["--full"] if command == "predict" else []
    done = call(save(tmp_path, text), command, "job.toml", *more)
    assert done.code == 0, done.err
    assert "[red]t[/red]" in done.out
    assert "[bold]s[/]" in done.out


def test_markup_in_a_bad_value_is_shown_literally(tmp_path):
    done = call(save(tmp_path, changed('"laser_head"', '"[red]x[/]"')), "predict", "job.toml")
    assert_refused(done, tmp_path, "job.toml")
    assert "tool '[red]x[/]' is not known" in done.err


def test_a_name_cannot_steer_the_terminal(tmp_path):
    done = call(save(tmp_path, with_top('name = "a\\u001b[31mb"')), "check", "job.toml")
    assert "\x1b" not in done.out

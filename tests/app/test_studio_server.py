"""The server of the studio: what a tab is told, and who is refused."""

import base64
import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, suppress
from pathlib import Path

import numpy as np
import pytest

import armtwin as at
from armtwin.app.studio.opening import Opening, SentFiles, open_source
from armtwin.app.studio.server import say_why
from tests.app.studio import ConnectionClosed, Tab, studio

SENTENCE = "\n"  # an answer that is one sentence ends in it


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with studio("rx90b_line", folder=tmp_path_factory.mktemp("studio")) as found:
        yield found


@pytest.fixture
def tab(served):
    with served.socket() as open_socket:
        yield Tab(open_socket)


def series(message, name):
    return np.frombuffer(base64.b64decode(message["data"]["series"][name]), dtype="<f4")


def is_alive(served):
    return served.get()[0] == 200


def test_what_is_shown_is_what_predict_says(tab):
    speed = 137.0
    shown = tab.shown(settings={"speed": speed})
    run = at.predict(at.Job.load("rx90b_line").with_speed("137 mm/s"))
    lateral = series(shown, "lateral")
    assert np.abs(lateral).max() == pytest.approx(1e6 * np.abs(run.path_error.lateral).max())
    assert f"{1e6 * run.verdict.peaks['lateral']:.0f} µm lateral" in shown["front"]


def test_choices_settings_and_placement_are_predicted_as_from_a_file(tab, served, tmp_path):
    """The saved job file is a second road to what the page shows."""
    settings = {
        "workpiece.position.1": 440.0,
        "workpiece.yaw": 2.0,
        "tolerance.lateral": 0.15,
        "servo.bandwidth": 130.0,
        "friction.level": 70.0,
        "model.temperature": 30.0,
    }
    shown = tab.shown(settings=settings)
    path = tmp_path / "seam.toml"
    assert tab.do(do="save", kind="job", path=str(path))["text"] == f"wrote {path}"
    run = at.predict(path)
    worst = run.verdict.worst
    largest = 1e6 * np.abs(getattr(run.path_error, worst)).max()
    assert np.abs(series(shown, worst)).max() == pytest.approx(largest, rel=1e-4)
    assert run.job.description.model.temperature == pytest.approx(303.15)


def test_copied_python_makes_the_same_run(tab):
    shown = tab.shown(settings={"speed": 90.0, "friction.level": 80.0})
    text = tab.do(do="copy", kind="python")["text"]
    known = {}
    exec(text.replace("print(run)", ""), known)
    lateral = 1e6 * np.abs(known["run"].path_error.lateral).max()
    assert np.abs(series(shown, "lateral")).max() == pytest.approx(lateral)


def test_a_state_that_options_have_is_copied_as_a_command(tab):
    tab.shown(settings={"speed": 90.0, "model.servo": "cs7b"})
    text = tab.do(do="copy", kind="command")["text"]
    assert text == "armtwin predict rx90b_line --speed '90.0 mm/s' --servo cs7b"
    tab.shown(settings={"friction.level": 80.0})
    assert "no option has friction level" in tab.do(do="copy", kind="command")["error"]


def test_causes_then_sixteen_variants_then_all_follow_at_rest(tab):
    asked = tab.ask(settings={"speed": 120.0})
    last = tab.read(lambda x: "64 variants" in str(x.get("fresh")) and "front" in x)
    assert last["id"] == asked
    fresh = [{x["name"]: x["text"] for x in m["fresh"]} for m in tab.seen if "front" in m]
    assert [x["causes"] for x in fresh] == ["at rest", *["up to date"] * 3]
    assert [x["interval"] for x in fresh[1:]] == ["at rest", "16 variants", "64 variants"]
    assert "Why" in last["front"]


def test_the_newest_of_many_requests_wins(tab):
    """As of a workpiece that is dragged: a hundred requests at once are two or three runs."""
    for k in range(100):
        last = tab.ask(settings={"workpiece.position.1": 400.0 + 0.5 * k})
    shown = tab.read(lambda x: x.get("id") == last and "front" in x)
    runs = [x for x in tab.seen if "front" in x]
    assert shown["id"] == last
    assert len(runs) <= 4


def test_a_tolerance_is_judged_without_a_run(tab):
    tab.shown(settings={"tolerance.lateral": 0.1})
    before = tab.shown(settings={"tolerance.lateral": 0.12})
    after = tab.shown(settings={"tolerance.lateral": 0.2})
    assert before["data"]["series"] == after["data"]["series"]
    assert before["data"]["scene"]["seam"]["ratio"] != after["data"]["scene"]["seam"]["ratio"]


def test_a_value_that_cannot_be_is_a_sentence_and_the_tab_lives_on(tab):
    tab.shown()
    assert "must be a number" in tab.shown(settings={"speed": "fast"})["error"]
    assert "cannot be run" in tab.shown(settings={"workpiece.position.1": 3000.0})["error"]
    assert "has no control 'sped'" in tab.shown(settings={"sped": 1.0})["error"]
    assert "nothere" in tab.shown(name="nothere")["error"]
    assert "front" in tab.shown()


def test_an_error_of_ours_says_where_its_traceback_is():
    try:
        raise KeyError("nothing_of_it")
    except KeyError as error:
        said = say_why(error)
    name = re.search(r"not of your input; its traceback is in (\S+)", said).group(1)
    text = Path(name).read_text()
    Path(name).unlink()
    assert "nothing_of_it" in text


def test_a_log_that_cannot_be_read_is_a_sentence_and_the_tab_lives_on(tab, tmp_path):
    tab.shown()
    assert str(tmp_path) in tab.shown(log=str(tmp_path))["error"]
    assert "front" in tab.shown()


def test_a_program_is_opened_with_robot_and_tolerance(tab, tmp_path):
    path = tmp_path / "seam.csv"
    path.write_text("x,y,z\n" + "".join(f"0.{45 + k},0.1,0.2\n" for k in range(0, 20, 4)))
    source = {"name": str(path), "changes": {"robot": "rx90b", "tool": "laser_head"}}
    tab.asked += 1
    tab.socket.send(json.dumps({"id": tab.asked, "source": source}))
    assert "--tolerance" in tab.read(lambda x: "error" in x)["error"]
    source["changes"] |= {"tolerance": "0.1 mm", "speed": "50 mm/s"}
    tab.asked += 1
    tab.socket.send(json.dumps({"id": tab.asked, "source": source}))
    shown = tab.read(lambda x: x.get("id") == tab.asked)
    assert shown["opened"]["is_program"], shown


def test_a_program_that_is_opened_with_a_robot_by_its_path_is_not_another_one(tmp_path):
    """What only the page's own way to name a robot changed kept it from being written again."""
    folder = Path(__file__).parents[2] / "docs" / "programs"
    for ending in ("src", "dat"):
        shutil.copy(folder / f"two_seams.{ending}", tmp_path)
    changes = {"robot": at.Robot.load("rx90b").origin, "tool": "laser_head", "tolerance": "0.4 mm"}
    files = SentFiles()
    opened = open_source(Opening(str(tmp_path / "two_seams.src"), changes), files)
    files.remove()
    assert opened.job.description == opened.plain.description
    assert opened.job.robot().description.mounted.tool == "laser_head"


@pytest.mark.parametrize("name", ["tx40", "ur10e"])
def test_a_robot_is_opened_with_a_line_that_it_can_run(tab, name):
    shown = tab.shown(name=name)
    assert "trial line" in shown.get("title", shown.get("error"))


def test_a_correction_is_asked_for_and_its_points_are_saved(tab, tmp_path):
    """The points are those that the command writes."""
    settings = {"speed": 100.0}
    asked = tab.ask(settings=settings, ask="correction")
    tab.read(lambda x: x.get("id") == asked and "correction', 'text': 'up" in str(x.get("fresh")))
    path = tmp_path / "points.csv"
    assert tab.do(do="save", kind="corrected", path=str(path))["text"] == f"wrote {path}"
    found = at.correct(at.Job.load("rx90b_line"), nominal=True)
    assert len(path.read_text().splitlines()) == 1 + len(found.program.p)


def test_files_are_written_only_where_nothing_is_lost(tab, tmp_path):
    tab.shown()
    path = tmp_path / "report.html"
    path.write_text("mine")
    said = tab.do(do="save", kind="report", path=str(path))
    assert "exists already" in said["error"]
    assert path.read_text() == "mine"
    assert tab.do(do="save", kind="report", path=str(path), replace=True)["text"] == f"wrote {path}"
    assert "<html" in path.read_text()
    assert "no such folder" in tab.do(do="save", kind="job", path="/nowhere/a.toml")["error"]
    assert "must end in .toml" in tab.do(do="save", kind="job", path=str(tmp_path / "a"))["error"]


def test_a_wrong_token_is_refused_in_a_sentence(served):
    wrong = served.address.replace(served.token, "x" * len(served.token))
    served_wrong = type(served)(served.process, wrong)
    status, _, text = served_wrong.get()
    assert status == 403
    assert text.endswith(SENTENCE)
    assert "another token" in text
    assert is_alive(served)


@pytest.mark.parametrize("host", ["evil.example", "127.0.0.1:1", "localhost.evil.example:80"])
def test_another_host_is_refused_as_a_name_that_was_bound_to_this_machine(served, host):
    status, _, text = served.get(Host=host)
    assert status == 421
    assert "answers as 127.0.0.1" in text


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "http://127.0.0.1:1", None])
def test_a_page_of_another_site_reaches_no_tab_and_sends_no_file(served, origin):
    with pytest.raises(Exception, match="403"), served.socket(origin=origin):
        pass
    given = {} if origin is None else {"Origin": origin}
    assert served.get("files/a/b.toml", data=b"x", **given)[0] == 403
    assert served.get("stop", data=b"", **given)[0] == 403
    assert is_alive(served)


@pytest.mark.parametrize(
    "name", ["..%2F..%2Fetc%2Fpasswd", "..", "%2Fetc%2Fpasswd", "a%5Cb", "%00"]
)
def test_names_of_files_lead_nowhere_else(served, name):
    status, answer = served.send(f"files/a/{name}", b"x")
    assert status in (400, 404)
    assert served.get(name)[0] in (404, 403)
    if isinstance(answer, dict):
        assert "is not the name of a file" in answer["error"]


def test_a_sent_file_is_only_found_by_its_own_name(tab):
    for name in ("sent:../../etc/passwd", "sent:a/../../x", "sent:zz/none.toml"):
        found = tab.shown(name=name)["error"]
        assert "is not the name of a file" in found or "not here any more" in found


def test_messages_that_are_too_long_or_no_requests_are_refused(served, tab):
    tab.socket.send("x" * 100_000)
    assert "a message may have 64 kB" in tab.read(lambda x: "error" in x)["error"]
    tab.socket.send("no json")
    assert "not JSON" in tab.read(lambda x: "error" in x)["error"]
    for wrong in ("[]", "{}", '{"id": 1}', '{"do": "save", "kind": "all"}', "3", '"x"'):
        tab.socket.send(wrong)
        assert "page asks for what is" in tab.read(lambda x: "error" in x)["error"]
    with suppress(ConnectionClosed):  # it may be closed before all is sent
        tab.socket.send("x" * (2 << 20))
    with pytest.raises(ConnectionClosed):
        tab.read(lambda x: False)
    assert is_alive(served)


def test_nothing_may_be_loaded_from_elsewhere(served):
    _, headers, _ = served.get()
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert headers["referrer-policy"] == "no-referrer"
    assert served.get("server.py")[0] == 404


def test_a_thousand_connections_leave_the_server_alive(served):
    """Tabs beyond the first twelve are refused in a sentence, idle connections do no harm."""
    host, port = served.host.split(":")
    said = []
    with ExitStack() as idle:
        for _ in range(1000):
            idle.enter_context(socket.create_connection((host, int(port)), timeout=5))
        status, _, text = served.get()
        assert status == 503, "while they are open a request is refused, not left unanswered"
        assert "Unavailable" in text
    with ExitStack() as open_tabs:
        tabs = [open_tabs.enter_context(served.socket()) for _ in range(16)]
        for one in tabs[12:]:
            said.append(json.loads(one.recv(10))["error"])
    assert all("12 tabs are open already" in text for text in said)
    assert len(said) == 4
    deadline = time.monotonic() + 10
    while not is_alive(served) and time.monotonic() < deadline:
        time.sleep(0.1)
    with served.socket() as again:
        assert "front" in Tab(again).shown()


def test_a_second_studio_finds_a_port_of_its_own(served, tmp_path):
    with studio("ur10e_bead", folder=tmp_path) as second:
        assert second.host != served.host
        assert second.token != served.token
        assert is_alive(second)
        assert second.send("stop", b"")[0] == 200
        assert second.process.wait(20) == 0


def test_ctrl_c_ends_it_in_order(tmp_path):
    with studio("rx90b_line", folder=tmp_path) as started:
        started.process.send_signal(signal.SIGINT)
        assert started.process.wait(20) == 0
        assert started.process.stderr.read() == ""


def test_what_cannot_be_opened_is_refused_before_a_page_is(tmp_path):
    done = subprocess.run(
        [sys.executable, "-m", "armtwin", "studio", "nothere", "--no-browser"],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env=os.environ,
    )
    assert done.returncode == 2
    assert "nothere" in done.stderr
    assert done.stdout == ""

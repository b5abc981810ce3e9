"""The site: it builds without a warning, its tutorials run, its commands exist."""

import contextlib
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from nbformat import read as read_notebook

import armtwin as at
from tests.app.test_every_command import COMMANDS, options
from tests.app.test_job_commands import call

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TUTORIALS = sorted(path.stem for path in (DOCS / "tutorials").glob("*.md"))
CODE = re.compile(r"`([^`]+)`|^(?:\$ )?(armtwin .+)$", re.MULTILINE)


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    """The folder of the site, built with warnings as errors."""
    pytest.importorskip("furo", reason="the extra docs is not installed: the site is not built")
    folder = tmp_path_factory.mktemp("site")
    words = ["-m", "sphinx", "-W", "-q", "-d", str(folder / "trees"), str(DOCS), str(folder)]
    built = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False)
    assert built.stderr == ""
    assert built.returncode == 0
    shutil.rmtree(folder / "trees")
    return folder


def test_the_site_has_every_page_and_is_small(site):
    pages = {path.relative_to(DOCS).with_suffix(".html") for path in DOCS.rglob("*.md")}
    assert [page for page in sorted(pages) if not (site / page).exists()] == []
    assert sum(path.stat().st_size for path in site.rglob("*")) < 10_000_000


def test_the_site_asks_for_nothing_from_elsewhere(site):
    text = (site / "index.html").read_text(encoding="utf-8")
    loaded = re.findall(r'<(?:script|img)[^>]* src="([^"]+)"', text)
    loaded += re.findall(r'<link[^>]* rel="stylesheet"[^>]* href="([^"]+)"', text)
    assert len(loaded) > 3
    assert [link for link in loaded if "//" in link] == []


@pytest.mark.parametrize("word", ["backlash", "krl", "payload"])
def test_the_search_finds(site, word):
    assert f'"{word}"' in (site / "searchindex.js").read_text(encoding="utf-8")


@pytest.fixture
def tutorials(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("make_tutorials")


def test_the_tutorials_are_in_the_order_of_questions():
    text = (DOCS / "index.md").read_text(encoding="utf-8")
    order = re.findall(r"^- .*\(tutorials/(\w+)\.md\)", text, re.MULTILINE)
    wanted = "seam program logs numbers correct place elastic hydraulics notebook"
    assert order == wanted.split()
    assert sorted(order) == TUTORIALS


LONG = ("elastic", "logs", "program")  # ten seconds of CPU time and more


def may_be_long(name):
    reason = "takes long: run with ARMTWIN_LONG=1, or python docs/make_tutorials.py"
    skipped = name in LONG and "ARMTWIN_LONG" not in os.environ
    return pytest.param(name, marks=pytest.mark.skipif(skipped, reason=reason))


@pytest.mark.parametrize("name", [may_be_long(name) for name in TUTORIALS if name != "notebook"])
def test_a_tutorial_runs_and_its_pictures_are_of_reports_that_it_makes(tutorials, tmp_path, name):
    """Intervals and causes are left out: docs/make_tutorials.py runs the page as it is."""
    text = (DOCS / "tutorials" / f"{name}.md").read_text(encoding="utf-8")
    steps = list(tutorials.read_steps(text))
    assert any(step.kind == "console" for step in steps)
    for step in steps:
        if step.kind == "file":
            (tmp_path / step.name).write_text(step.text, encoding="utf-8")
        elif step.kind == "python":
            with contextlib.chdir(tmp_path):
                exec(compile(step.text, name, "exec"), {})
        else:
            nominal = ["--nominal"] if step.text.startswith("armtwin correct") else []
            done = call(tmp_path, *shlex.split(step.text)[1:], *nominal)
            assert done.code in (0, 1), done.err
    pictures = tutorials.PICTURE.findall(text)
    assert pictures
    for picture, report in pictures:
        assert (DOCS / "tutorials" / picture).exists()
        assert (tmp_path / report).exists()


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_commands_that_a_page_names_have_the_options_that_it_gives_them(page):
    text = page.read_text(encoding="utf-8")
    for inline, line in CODE.findall(text):
        command = inline or line
        if not command.startswith("armtwin ") or page.stem == "options":
            continue
        words = command.replace("\\", "").split()[1:]
        found = [known for known in COMMANDS if list(known) == words[: len(known)]]
        given = {word.partition("=")[0].rstrip(".,:;])") for word in words if word[:2] == "--"}
        if found and given:
            assert given - options(COMMANDS[found[0]]) == set(), command


def test_every_recording_of_the_evidence_has_a_picture_and_commands():
    """What made them is a study of minutes: docs/make_evidence.py."""
    text = (DOCS / "evidence.md").read_text(encoding="utf-8")
    sections = text.split("\n## ")[1:]
    for robot in ("KR 300", "TX40", "UR10e", "UR5", "dual-arm", "xMate 7", "Gen3"):
        assert any(robot in section.partition("\n")[0] for section in sections), robot
    for section in sections:
        (picture,) = re.findall(r"\]\((pictures/\S+\.png)\)", section)
        assert (DOCS / picture).exists()
        assert "python docs/make_evidence.py DATA" in section
        assert "```sh\narmtwin " in section


def test_the_notebook_is_stored_with_what_its_cells_show():
    notebook = read_notebook(DOCS / "example.ipynb", as_version=4)
    silent = [x.source for x in notebook.cells if x.cell_type == "code" and not x.outputs]
    assert silent == []
    page = (DOCS / "tutorials" / "notebook.md").read_text(encoding="utf-8")
    for cell in notebook.cells:
        assert cell.source.replace(");", ")") in page


def test_the_first_line_comes_before_anything_heavy_is_loaded():
    """A second goes by until the command line is loaded; on a terminal it has spoken by then."""
    code = """
import sys, time
class Terminal:
    def isatty(self): return True
    def flush(self): pass
    def write(self, text): self.text = text, set(sys.modules)
sys.stderr, sys.argv = Terminal(), ["armtwin", "predict", "rx90b_line"]
from armtwin.__main__ import announce
announce()
assert time.process_time() < 0.3  # s; most of it is the interpreter's own start
text, loaded = sys.stderr.text
print(text.strip(), loaded & {"numpy", "numba", "typer", "rich", "armtwin.app"})
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == f"armtwin {at.__version__}: predict set()\n"


def test_completion_knows_the_commands():
    code = "import sys; sys.argv = ['armtwin']; from armtwin.__main__ import start; start()"
    asked = {"_ARMTWIN_COMPLETE": "complete_bash", "COMP_WORDS": "armtwin pre", "COMP_CWORD": "1"}
    words = [sys.executable, "-c", code]
    done = subprocess.run(
        words, env={**os.environ, **asked}, capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["predict"]


def test_commands_run_as_on_windows(tmp_path):
    """A folder with a blank and an umlaut, a console of code page 1252, no fork, and no file that
    is opened in the encoding of the system.
    """
    folder = tmp_path / "Prüf stand"
    folder.mkdir()
    job = at.Job.load("rx90b_line")
    job.save(folder / "Naht ä.toml")
    code = """
import os, sys, warnings
vars(os).pop("fork", None)
warnings.filterwarnings("error", category=EncodingWarning, module="armtwin")
sys.argv = ["armtwin", "check", "Naht ä.toml"]
from armtwin.__main__ import start
start()
"""
    strict = ["-X", "warn_default_encoding", "-W", "ignore::EncodingWarning"]
    done = subprocess.run(
        [sys.executable, *strict, "-c", code],
        cwd=folder,
        env={**os.environ, "PYTHONIOENCODING": "cp1252", "LC_ALL": "C.UTF-8"},
        capture_output=True,
        check=False,
    )
    assert done.stderr == b""
    assert done.returncode == 0
    assert "+-0.1 mm lateral" in done.stdout.decode("cp1252")

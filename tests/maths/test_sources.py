"""The files that kernels depend on: edits below a kernel change their stamp."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import armtwin
from armtwin.files.versions import RUNS, stamped_version, version_of
from armtwin.maths.sources import source_stamp, sources_of_kernels

PACKAGE = Path(armtwin.__file__).parent


@pytest.fixture
def copy(tmp_path):
    folder = tmp_path / "armtwin"
    shutil.copytree(PACKAGE, folder, ignore=shutil.ignore_patterns("__pycache__", "static"))
    return folder


def edit(package, name):
    file = package / name
    file.write_text(file.read_text() + "\n# another line\n")


@pytest.mark.parametrize(
    "name",
    ["mechanics/arm.py", "maths/vectors.py", "maths/stretches.py", "robot/dynamics/traced.py"],
)
def test_an_edit_below_a_kernel_changes_the_stamp(copy, name):
    before = source_stamp(copy)
    edit(copy, name)
    assert source_stamp(copy) != before


@pytest.mark.parametrize("name", ["report/terminal.py", "app/commands.py", "prediction/advice.py"])
def test_an_edit_above_all_kernels_keeps_what_was_compiled(copy, name):
    before = source_stamp(copy)
    edit(copy, name)
    assert source_stamp(copy) == before


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("prediction/verdict.py", True),
        ("simulation/tick.py", True),
        ("jobs/files.py", True),
        ("app/commands.py", False),
        ("sweeps/maps.py", False),
    ],
)
def test_the_stamp_of_runs_changes_with_what_their_numbers_depend_on(copy, name, changes):
    before = source_stamp(copy, RUNS)
    edit(copy, name)
    assert (source_stamp(copy, RUNS) != before) == changes


def test_results_are_marked_by_version_and_stamp():
    version, _, stamp = stamped_version().partition("+")
    assert (version, stamp) == (version_of("armtwin"), source_stamp(PACKAGE, RUNS))


def test_what_python_imports_for_kernels_is_among_their_sources():
    """Second road: the modules that an interpreter has loaded after importing every kernel."""
    sources = sources_of_kernels(PACKAGE)
    names = sorted("armtwin." + name.replace("/", ".") for name in sources)
    names = [name.removesuffix(".__init__") for name in names]
    script = f"import sys, importlib\nfor name in {names!r}: importlib.import_module(name)\n"
    script += "print(*(name for name in sys.modules if name.startswith('armtwin.')))"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    rooms = {path.parent.relative_to(PACKAGE).as_posix() for path in PACKAGE.rglob("__init__.py")}
    for module in done.stdout.split():
        name = module.removeprefix("armtwin.").replace(".", "/")
        assert name in sources or name in rooms

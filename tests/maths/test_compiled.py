"""Compiled kernels: an edit anywhere recompiles what uses it; no cache folder is no problem."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import armtwin
from armtwin.maths import compiled

PACKAGE = Path(armtwin.__file__).parent
SCRIPT = (
    "import armtwin; print(float(armtwin.Robot.load('rx90b').forward_kinematics([0] * 6)[2, 3]))"
)


def run(folder, cache, **extra):
    environment = {
        **os.environ,
        "PYTHONPATH": str(folder),
        "ARMTWIN_CACHE_DIR": str(cache),
        **extra,
    }
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], env=environment, capture_output=True, text=True, check=True
    )
    return float(done.stdout)


def test_an_edited_law_in_one_file_recompiles_the_kernel_of_another(tmp_path):
    """`poses` (kinematics.py) does not see `place` (arm.py) change: the stamp must."""
    shutil.copytree(PACKAGE, tmp_path / "armtwin", ignore=shutil.ignore_patterns("__pycache__"))
    cache = tmp_path / "cache"
    assert run(tmp_path, cache) == pytest.approx(1.405, abs=1e-15)
    assert run(tmp_path, cache) == pytest.approx(1.405, abs=1e-15)
    law = tmp_path / "armtwin" / "mechanics" / "arm.py"
    law.write_text(
        law.read_text().replace("P[i, r] = offset[i, 0, r]", "P[i, r] = 2.0 * offset[i, 0, r]")
    )
    assert run(tmp_path, cache) == pytest.approx(2 * 0.42 + 2 * 0.45 + 2 * 0.45 + 0.085, abs=1e-15)
    assert len(list((cache / "kernels").iterdir())) == 2


def test_without_a_writable_cache_folder_it_works_uncached(tmp_path):
    blocked = tmp_path / "file"
    blocked.write_text("not a folder")
    assert run(PACKAGE.parent, blocked) == pytest.approx(1.405, abs=1e-15)


def test_with_the_jit_off_the_same_code_runs_in_plain_python(tmp_path):
    assert run(PACKAGE.parent, tmp_path, NUMBA_DISABLE_JIT="1") == pytest.approx(1.405, abs=1e-15)


WATCHED = """
from numba.core import event
watched = []
class Watch(event.Listener):
    def on_start(self, what): watched.append(what)
    def on_end(self, what): pass
event.register("numba:compile", Watch())
"""

# Damage


def twice(x):
    return x + x


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """A cache folder of our own, empty."""
    monkeypatch.setattr(compiled, "CACHE_FOLDER", tmp_path / "kernels")
    return tmp_path / "kernels"


def fresh_kernel():
    """The kernel as another process would have it: nothing compiled yet, the cache on the disk."""
    return compiled.compiled(twice)


def hits(kernel):
    return sum(kernel.stats.cache_hits.values())


def overwrite(path, place, text):
    data = bytearray(path.read_bytes())
    data[place : place + len(text)] = text
    path.write_bytes(data)


DAMAGE = {
    "empty": lambda path: path.write_bytes(b""),
    "cut off": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "another file": lambda path: path.write_bytes(b"not a kernel\n" * 50),
    "zeros at the end": lambda path: overwrite(path, path.stat().st_size - 40, bytes(40)),
    "one letter": lambda path: overwrite(path, path.stat().st_size // 2, b"?"),
    "a folder": lambda path: (path.unlink(), path.mkdir()),
}


@pytest.mark.parametrize("ending", ["nbi", "nbc"])
@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_cache_is_compiled_again_and_mended(damage, ending, cache):
    assert fresh_kernel()(1.5) == 3.0
    kernel = fresh_kernel()
    assert (kernel(1.5), hits(kernel)) == (3.0, 1)
    [file] = cache.rglob(f"*.{ending}")
    DAMAGE[damage](file)
    kernel = fresh_kernel()
    assert (kernel(1.5), hits(kernel)) == (3.0, 0)
    kernel = fresh_kernel()
    assert (kernel(1.5), hits(kernel)) == (3.0, damage != "a folder")


def test_a_shipped_kernel_runs_elsewhere_without_being_compiled(tmp_path):
    """Made for most processors in one folder, run by a copy of the sources with an empty cache."""
    if compiled.get_host_cpu_features().get("avx2") is None:
        pytest.skip("this processor is not of the level that kernels are shipped for")
    call = "from armtwin.maths.smoothing import low_pass; import numpy as np, hashlib\n"
    call += "x = low_pass(np.arange(40.0)[:, None] ** 2, 250.0, 10.0)\n"
    copy = tmp_path / "copy"
    shutil.copytree(PACKAGE, copy / "armtwin", ignore=shutil.ignore_patterns("kernels"))
    found = []
    for cache, cpu in (("made", compiled.SHIPPED_CPU), ("empty", None)):
        folder = tmp_path / cache
        folder.mkdir(mode=0o700)
        variables = {**os.environ, "PYTHONPATH": str(copy), "ARMTWIN_CACHE_DIR": str(folder)}
        if cpu is not None:
            variables |= dict(zip(("NUMBA_CPU_NAME", "NUMBA_CPU_FEATURES"), cpu, strict=True))
        script = WATCHED + call + "print(hashlib.sha1(x.tobytes()).hexdigest(), len(watched))"
        line = [sys.executable, "-c", script]
        done = subprocess.run(line, env=variables, capture_output=True, text=True, check=True)
        found.append(done.stdout.split())
        made = folder / "kernels"
        if cpu is not None:
            shutil.copytree(made, copy / "armtwin" / "kernels")
    (first, compilations), (second, again) = found
    assert int(compilations) > 0
    assert (second, again) == (first, "0")


@compiled.compiled
def refused(x):
    if x > 0:
        raise ValueError("too large", x)  # made of a number of the run: it needs an environment
    return x


def rows(x):
    return np.full(3, refused(x))


def test_a_kernel_of_the_disk_gives_arrays_and_raises_as_it_did_when_it_was_compiled(cache):
    """In another process: the environments of the functions inside are those of the file."""
    script = """
import sys
from pathlib import Path
from armtwin.maths import compiled
compiled.CACHE_FOLDER = Path(sys.argv[1])
from tests.maths.test_compiled import hits, rows
kernel = compiled.compiled(rows)
found = kernel(-1.0).tolist()
try:
    kernel(2.0)
except ValueError as error:
    print(hits(kernel), found, error.args, "numba.np.arrayobj" in sys.modules)
"""
    told = []
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script, str(cache)],
            capture_output=True,
            text=True,
            check=True,
            cwd=Path(__file__).parents[2],
        )
        told.append(done.stdout.strip())
    same = "[-1.0, -1.0, -1.0] ('too large', 2.0)"
    assert told == [f"0 {same} True", f"1 {same} False"]


def test_machine_code_of_another_signature_is_not_run(cache):
    """Two processes that compile at once may give one file to two signatures."""
    fresh_kernel()(1.5)
    [code], [index] = cache.rglob("*.nbc"), cache.rglob("*.nbi")
    of_floats = code.read_bytes()
    index.unlink()
    fresh_kernel()(3)
    code.write_bytes(of_floats)
    assert type(fresh_kernel()(3)) is int


def test_a_cache_on_a_full_disk_is_done_without(cache):
    resource = pytest.importorskip("resource")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (50, before[1]))
    try:
        assert fresh_kernel()(1.5) == 3.0
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not [path for path in cache.rglob("*") if path.is_file()]


def test_a_cache_folder_that_cannot_be_written_any_more_is_done_without(cache):
    opened, unopened = fresh_kernel(), fresh_kernel()
    opened(1.5)
    shutil.rmtree(cache)
    cache.write_text("a file in its place")
    assert (opened(3), unopened(1.5)) == (6, 3.0)
    assert unopened.stats.cache_path is None


def test_what_a_killed_process_was_writing_is_removed_after_a_while(tmp_path):
    (tmp_path / "mechanics").mkdir()
    for name, age in (("old.nbc.tmp.0123456789abcdef", 3600), ("new.nbc.tmp.0123456789abcdef", 0)):
        path = tmp_path / "mechanics" / name
        path.write_bytes(b"half")
        os.utime(path, (path.stat().st_mtime - age,) * 2)
    compiled._forget_halves(tmp_path)
    assert [path.name for path in (tmp_path / "mechanics").iterdir()] == [
        "new.nbc.tmp.0123456789abcdef"
    ]


def test_that_something_is_compiled_is_said_once_and_not_of_a_kernel_on_the_disk(cache):
    fresh_kernel()(1.5)
    said = []
    compiled.before_compiling(lambda: said.append("compiling"))
    fresh_kernel()(1.5)
    assert said == []
    fresh_kernel()(3)
    fresh_kernel()(True)
    assert said == ["compiling"]


def test_a_part_of_kernels_called_from_python_runs_as_it_stands():
    """Also after a kernel was compiled with it; nothing is compiled for the call itself."""
    from armtwin.maths.vectors import cross

    @compiled.compiled
    def third(x):
        return cross((x, 0.0, 0.0), (0.0, x, 0.0))[2]

    assert third(2.0) == 4.0
    known = list(cross.signatures)
    assert cross((1.0, 0.0, 0.0), (0.0, 1.0, 0.0)) == (0.0, 0.0, 1.0)
    assert cross((1, 0, 0), (0, 1, 0)) == (0, 0, 1)
    assert cross.signatures == known

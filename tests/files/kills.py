"""Kills writers: before every step they take in the file system, or at random times; run as a
program.

Each kill is of a forked child. After it the folder must be as before or as written, the next run
must succeed, and nothing may be left of the killed one.
"""

import json
import os
import random
import shutil
import signal
import sys
import tempfile
import time
from pathlib import Path

from armtwin.files import atomic as whole
from armtwin.files.staging import recover
from armtwin.report.folder import ResultFolder

STEPS = (
    "open",
    "os.mkdir",
    "os.rename",
    "os.remove",
    "os.rmdir",
    "os.scandir",
    "os.listdir",
    "os.chmod",
)
RUN = {"command": "predict", "file": "job.toml", "options": {}}
NOTES = "of the user"


def result(folder, version, **more):
    """Write version `version` of a result; the older ones also have an advised.toml."""
    contents = {"log.csv": f"{version}\n" * 2000, "report.html": version, **more}
    ResultFolder(folder, RUN, ["result.json", *contents], ()).write(
        {"format": 1, "armtwin": version}, contents
    )


def files(folder, version):
    """Write version `version` of three files beside files of a user."""
    folder.mkdir(exist_ok=True)
    whole.write_files(
        folder, {name: f"{version} {name}" for name in ("my.toml", "my.html", "my.json")}
    )


def one_file(folder, version):
    """Write version `version` of one file."""
    folder.mkdir(exist_ok=True)
    whole.write_file(folder / "log.csv", lambda file: file.write(version.encode() * 5000))


def older(folder, version):
    result(folder, version, **{"advised.toml": version})


# name: (write the older, write the newer, whether others' files lie there, whether folders can
# change places)
SCENARIOS = {
    "folder": (older, result, False, True),
    "folder with notes": (older, result, True, True),
    "folder where nothing changes places": (older, result, False, False),
    "new folder": (None, result, False, True),
    "files": (files, files, True, True),
    "one file": (one_file, one_file, True, True),
}


def state(folder):
    """Every file and what it holds, our hidden ones left out."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file() and ".armtwin." not in path.as_posix():
            found[path.relative_to(folder).as_posix()] = path.read_text()
    return found


def litter(root):
    return [path for path in root.rglob("*") if path.name.startswith(".")]


class Trial:
    """One scenario in a folder of its own."""

    def __init__(self, name, root):
        self.write_older, self.write_newer, self.notes, self.swap = SCENARIOS[name]
        self.in_one_step = name in ("folder", "new folder", "one file")
        self.root, self.folder = root, root / "parent" / "out"
        self.before, self.after = {}, {}

    def prepare(self):
        shutil.rmtree(self.root, ignore_errors=True)
        self.folder.parent.mkdir(parents=True)
        if self.write_older is not None:
            self.write_older(self.folder, "older")
        if self.notes:
            (self.folder / "notes.txt").write_text(NOTES)

    def learn(self):
        """What the folder holds before and after a write that is not disturbed."""
        self.prepare()
        self.before = state(self.folder)
        self.newer()
        self.after = state(self.folder)
        assert self.before != self.after
        assert not litter(self.root)

    def newer(self):
        if not self.swap:
            whole.exchange = lambda one, other: False
        self.write_newer(self.folder, "newer")

    def judge(self):
        """Old or new, whole; the next run is fine and leaves no litter."""
        if self.in_one_step:
            assert state(self.folder) in (self.before, self.after), state(self.folder)
        recover(self.folder)
        assert state(self.folder) in (self.before, self.after), state(self.folder)
        assert not litter(self.root), litter(self.root)
        self.write_newer(self.folder, "newest")
        told = json.dumps(state(self.folder))
        assert "newest" in told
        assert "newer" not in told.replace("newest", "")
        assert not self.notes or state(self.folder)["notes.txt"] == NOTES
        assert not litter(self.root), litter(self.root)


def forked(act):
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException as error:
            print(repr(error), file=sys.stderr)
            os._exit(1)
        os._exit(0)
    return child


def kill_before_step(trial, last):
    """A write that dies before its step number `last`; False if it ended without one."""

    def act():
        count = 0

        def step():
            nonlocal count
            count += 1
            if count == last:
                os.kill(os.getpid(), signal.SIGKILL)

        def seen(event, arguments):
            if event in STEPS:
                step()

        swap = whole.exchange

        def swapped(one, other):
            done = swap(one, other)
            step()
            return done

        whole.exchange = swapped
        sys.addaudithook(seen)
        trial.newer()

    _, status = os.waitpid(forked(act), 0)
    assert status in (0, signal.SIGKILL), status
    return status != 0


def kill_each_step(trial):
    """The number of steps before which a write was killed."""
    for last in range(1, 1000):
        trial.prepare()
        killed = kill_before_step(trial, last)
        trial.judge()
        if not killed:
            return last - 1
    raise AssertionError("the write never ends")


def kill_at_random(trial, count, seed):
    """The number of writes that were killed within a time of about one write."""
    start = time.perf_counter()
    trial.prepare()
    trial.newer()
    span, rng, killed = time.perf_counter() - start, random.Random(seed), 0
    for _ in range(count):
        trial.prepare()
        child = forked(trial.newer)
        time.sleep(rng.uniform(0, span))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        assert status in (0, signal.SIGKILL), status
        killed += status != 0
        trial.judge()
    return killed


def main(count, seed):
    root = Path(tempfile.mkdtemp())
    told = {}
    swap = whole.exchange
    try:
        for name in SCENARIOS:
            trial = Trial(name, root / "trial")
            trial.learn()
            told[name] = {
                "steps": kill_each_step(trial),
                "random": kill_at_random(trial, count, seed),
            }
            whole.exchange = swap
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(json.dumps(told))


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))

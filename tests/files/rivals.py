"""Two processes write the same folder or file over and over while a third reads;
run as a program.
"""

import json
import os
import shutil
import sys
import tempfile
import time
from pathlib import Path

import armtwin as at
from armtwin.report.folder import ResultFolder
from tests.files.kills import RUN, forked, litter

ROWS = 200


def write_folder(folder, stamp):
    contents = {"log.csv": f"{stamp}\n" * ROWS, "report.html": stamp}
    place = ResultFolder(folder, RUN, ["result.json", *contents], ())
    place.check()
    place.write({"format": 1, "armtwin": stamp}, contents)


def write_log(folder, stamp):
    number = float(stamp.split()[1])
    at.Log.of(range(ROWS), q=[[number]] * ROWS).write(folder / "log.csv")


def read_folder(folder):
    """Every file is whole whenever it is read;
    a file can be missing for a moment where files move one by one.
    """
    for name in ("result.json", "log.csv"):
        try:
            text = (folder / name).read_text()
        except FileNotFoundError:
            continue
        if name == "log.csv":
            lines = text.splitlines()
            assert (len(lines), len(set(lines))) == (ROWS, 1)
        else:
            assert json.loads(text)["files"] == ["log.csv", "report.html", "result.json"]


def read_log(folder):
    if (folder / "log.csv").exists():
        q = at.Log.read(folder / "log.csv").q
        assert q.shape == (ROWS, 1)
        assert len(set(q[:, 0])) == 1


def rivals(folder, seconds, write, read):
    """The number of writes of two processes."""
    counts, end = folder.parent / "counts", time.monotonic() + seconds
    counts.touch()

    def loop(who):
        number = 0
        while time.monotonic() < end:
            write(folder, f"{who} {number}")
            number += 1
        with counts.open("ab") as file:
            file.write(f"{number}\n".encode())

    children = [forked(lambda who=who: loop(who)) for who in "ab"]
    while time.monotonic() < end:
        read(folder)
    assert [os.waitpid(child, 0)[1] for child in children] == [0, 0]
    read(folder)
    assert not litter(folder.parent), litter(folder.parent)
    return sum(map(int, counts.read_text().split()))


def main(seconds):
    root, told = Path(tempfile.mkdtemp()), {}
    try:
        told["folder"] = rivals(root / "out", seconds, write_folder, read_folder)
        result = json.loads((root / "out" / "result.json").read_text())
        assert (root / "out" / "report.html").read_text() == result["armtwin"], (
            "two results are mixed"
        )
        (root / "out" / "notes.txt").write_text("of the user")
        told["folder with notes"] = rivals(root / "out", seconds, write_folder, read_folder)
        result = json.loads((root / "out" / "result.json").read_text())
        assert (root / "out" / "report.html").read_text() == result["armtwin"], (
            "two results are mixed"
        )
        (root / "logs").mkdir()
        told["log"] = rivals(root / "logs", seconds, write_log, read_log)
    finally:
        shutil.rmtree(root, ignore_errors=True)
    print(json.dumps(told))


if __name__ == "__main__":
    main(float(sys.argv[1]))

"""Run the tutorials, renew what their commands print and photograph their reports.

`python docs/make_tutorials.py [PAGE...]`; pictures need chromium. A page is its own script: a block
whose first line is `# NAME` is a file, one of Python is run, lines of a console that begin with `$`
are commands, and a picture names the report that it shows as its title.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from make_gallery import open_browser, photograph

DOCS = Path(__file__).parent
TUTORIALS = DOCS / "tutorials"
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PICTURE = re.compile(r'!\[[^\]]*\]\((\S+) "(\S+\.html)"\)')
NAMED = re.compile(r"# (\S+\.\w+)\n")
COLUMNS = "80"


def find_pages() -> list[Path]:
    """The tutorials that are run from here; docs/make_notebook.py writes the notebook's."""
    return [path for path in sorted(TUTORIALS.glob("*.md")) if path.stem != "notebook"]


class Step(NamedTuple):
    """A step of a tutorial.

    Attributes:
        kind: "file", "python" or "console".
        name: Of a file.
        text: What it holds, the code, or the command after `armtwin`.
    """

    kind: str
    name: str
    text: str


def read_steps(text: str) -> Iterator[Step]:
    """The steps of a page, in their order."""
    for language, inside in BLOCK.findall(text):
        named = NAMED.match(inside)
        if language == "console":
            for line in inside.splitlines():
                if line.startswith("$ "):
                    yield Step("console", "", line.removeprefix("$ "))
        elif language == "python":
            yield Step("python", "", inside)
        elif named is not None:
            yield Step("file", named[1], inside if language == "toml" else inside[named.end() :])


def run_page(text: str, folder: Path) -> str:
    """Run a page in a folder; returns it with what its commands print now."""

    def renew(block: re.Match[str]) -> str:
        printed = []
        for step in read_steps(block[0]):
            if step.kind == "file":
                (folder / step.name).write_text(step.text, encoding="utf-8")
            elif step.kind == "python":
                subprocess.run([sys.executable, "-c", step.text], cwd=folder, check=True)
            else:
                printed += [f"$ {step.text}", *run_command(step.text, folder)]
        if not printed:
            return block[0]
        return "\n".join(["```console", *printed, "```"])

    return BLOCK.sub(renew, text)


def run_command(line: str, folder: Path) -> list[str]:
    """Run a command in a shell, as a reader does; returns the lines that it prints."""
    environment = {**os.environ, "COLUMNS": COLUMNS}
    words = line.replace("armtwin ", f"{sys.executable} -m armtwin ", 1)
    done = subprocess.run(
        words, shell=True, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode not in (0, 1):
        sys.exit(f"{line}: {done.stderr}")
    return [row.rstrip() for row in done.stdout.splitlines()]


def main() -> None:
    """Renew the pages that are named, or all."""
    pages = [Path(name) for name in sys.argv[1:]] or find_pages()
    with open_browser() as chromium:
        for path in pages:
            text = path.read_text(encoding="utf-8")
            with tempfile.TemporaryDirectory() as folder:
                path.write_text(run_page(text, Path(folder)), encoding="utf-8")
                for picture, report in PICTURE.findall(text):
                    photograph(chromium, Path(folder) / report, path.parent / picture)


if __name__ == "__main__":
    main()

"""Progress of long work: a bar on a terminal, nothing elsewhere."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from armtwin.maths.batch import OnProgress

Say = Callable[[str, float], None]


def of(progress: Say | None, what: str) -> OnProgress | None:
    """The progress of one kind of work."""
    return None if progress is None else lambda share: progress(what, share)


@contextmanager
def progress_bar(first: str) -> Iterator[Say | None]:
    """A progress bar on a terminal, nothing elsewhere."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    left = TimeRemainingColumn(elapsed_when_finished=True), TextColumn("left")
    columns = TextColumn("{task.description:12}"), BarColumn(), *left
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=None)  # how much there is to do is not known yet
        now = ""

        def say(what: str, share: float) -> None:
            nonlocal now
            if what != now:  # the time left is that of what is being done
                bar.reset(task, total=1.0, description=what)
                now = what
            bar.update(task, completed=share)

        yield say

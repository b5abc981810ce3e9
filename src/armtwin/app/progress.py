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
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    columns = TextColumn("{task.description:12}"), BarColumn(), TimeElapsedColumn()
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(first, total=1.0)

        def say(what: str, share: float) -> None:
            bar.update(task, description=what, completed=share)

        yield say

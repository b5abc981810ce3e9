"""`python -m armtwin` is the command `armtwin`."""

import gc
import sys

from armtwin import __version__


def announce() -> None:
    """Say on a terminal at once what is begun: to load all that it needs takes a second."""
    asked = sys.argv[1:2]
    if asked and not asked[0].startswith("-") and sys.stderr is not None and sys.stderr.isatty():
        sys.stderr.write(f"armtwin {__version__}: {asked[0]}\n")


def start() -> None:
    """Take in the command line and run it.

    What was taken in stays until the end: whoever looks for waste in it, again and again and once
    more at the end, finds none and spends a fifth of a short command. The search begins once the
    command is loaded.
    """
    announce()
    gc.disable()
    from armtwin.app.commands import main

    try:
        main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    start()

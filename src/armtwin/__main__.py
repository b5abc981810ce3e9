"""`python -m armtwin` is the command `armtwin`."""

import gc


def start() -> None:
    """Take in the command line and run it.

    What was taken in stays until the end: whoever looks for waste in it, again and again and once
    more at the end, finds none and spends a fifth of a short command. The search begins once the
    command is loaded.
    """
    gc.disable()
    from armtwin.app.commands import main

    try:
        main()
    finally:
        gc.freeze()


if __name__ == "__main__":
    start()

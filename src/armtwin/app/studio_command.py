"""The command that opens the local page."""

import asyncio
import secrets
import webbrowser
from dataclasses import asdict
from importlib.util import find_spec

from armtwin.app.job_commands import DEFAULT_JOB
from armtwin.app.options import Changes, Json, argument, drop_unset, flag, option
from armtwin.app.showing import say
from armtwin.app.streams import print_json
from armtwin.errors import ArmtwinError

NEEDED = ("starlette", "uvicorn", "websockets")


def studio(
    opened: str | None = argument(
        "JOB|PROGRAM|ROBOT", "A job, a robot program, or a robot for a trial line.", default=None
    ),
    port: int | None = option("--port", "NUMBER", "Port of the page; by default one that is free."),
    no_browser: bool = flag("--no-browser", "Only print the address of the page."),
    json: Json = False,
    *,
    changes: Changes,
) -> None:
    """Open a local page with live sliders: the seam changes colour while a number is moved.

    It answers on this machine alone and asks for nothing outside of it; Ctrl-C ends it.
    """
    lacking = [name for name in NEEDED if find_spec(name) is None]
    if lacking:
        raise ArmtwinError(
            f"studio needs {' and '.join(lacking)}: install them by pip install 'armtwin[studio]'"
        )
    from armtwin.app.studio.opening import Opening, SentFiles, open_source
    from armtwin.app.studio.server import HOST, free_socket, serve

    given = drop_unset(asdict(changes))
    if "frames" in given:
        given["frames"] = str(given["frames"])
    source = Opening(opened or DEFAULT_JOB, given)
    files = SentFiles()
    try:
        open_source(source, files)  # what cannot be opened is refused before a page is
    finally:
        files.remove()
    listening = free_socket(port)
    token = secrets.token_urlsafe(16)
    address = f"http://{HOST}:{listening.getsockname()[1]}/{token}/"

    def announce() -> None:
        if json:
            print_json({"address": address})
        else:
            say(f"armtwin studio is at {address}")
            say("It ends with Ctrl-C.")
        if not no_browser:
            webbrowser.open(address)

    try:
        asyncio.run(serve(source, listening, token, announce))
    except KeyboardInterrupt:
        if not json:
            say("armtwin studio has ended")

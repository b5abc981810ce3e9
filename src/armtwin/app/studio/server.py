"""The page's server: on this machine alone, for who knows its address, and no more than it can do.

Every address begins with a token. Host and Origin must be the server's own, so that a page of
another site reaches nothing, whatever name it is found under. Sizes and connections are bounded.
"""

from __future__ import annotations

import asyncio
import json
import os
import secrets
import socket
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import asdict
from functools import partial
from importlib import resources
from string import Template
from typing import TypeVar
from urllib.parse import unquote

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request as HttpRequest
from starlette.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.routing import Mount, Route, WebSocketRoute
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect, WebSocketState

from armtwin.app.commands import describe_crash
from armtwin.app.studio.opening import LARGEST_FILE, Opening, SentFiles
from armtwin.app.studio.saving import COPIES, SAVES
from armtwin.app.studio.workbench import Finding, Request, Workbench, read_request
from armtwin.errors import ArmtwinError
from armtwin.jobs.files import list_shipped
from armtwin.maths.batch import Record
from armtwin.report.page import to_json

T = TypeVar("T")
HOST, PORT = "127.0.0.1", 8731
MOST_TABS = 12  # of one page; each keeps a run in memory
MOST_CONNECTIONS = 200
STARTING = 0.02  # between looks whether it answers [s]
LARGEST_MESSAGE = 1 << 16  # bytes of a request of the page
REST = 1.0  # time without a change after which causes and interval follow [s]
WORKERS = 8  # pieces of work of all tabs at the same time; each on as many threads as it needs
TOO_MANY = 1013  # code with which a connection is closed
PARTS = {
    "viewer.js": ("armtwin.report", "bundle/viewer.js", "text/javascript"),
    "style.css": ("armtwin.report", "bundle/style.css", "text/css"),
    "studio.js": ("armtwin.app.studio", "studio.js", "text/javascript"),
    "studio.css": ("armtwin.app.studio", "studio.css", "text/css"),
}


class Superseded(Exception):
    """The work is not wanted any more: something newer is."""


class Guard:
    """Lets through what comes from this server's own page, and says of the rest why not."""

    def __init__(self, app: ASGIApp, hosts: tuple[str, ...], token: str) -> None:
        self.app, self.hosts, self.token = app, hosts, token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or hand it on."""
        if scope["type"] == "lifespan":
            return await self.app(scope, receive, send)
        refusal = self._refuse(scope)
        if refusal is None:
            return await self.app(scope, receive, partial(self._send_safely, send))
        status, sentence = refusal
        if scope["type"] == "http":
            response = PlainTextResponse(f"{sentence}\n", status)
            return await response(scope, receive, partial(self._send_safely, send))
        await WebSocket(scope, receive, send).send_denial_response(
            PlainTextResponse(f"{sentence}\n", status)
        )
        return None

    def _refuse(self, scope: Scope) -> tuple[int, str] | None:
        """Status and sentence of what is refused."""
        headers = {
            key.decode("latin-1"): value.decode("latin-1") for key, value in scope["headers"]
        }
        if headers.get("host", "") not in self.hosts:
            return 421, f"armtwin studio answers as {self.hosts[0]} alone"
        origin = headers.get("origin")
        needs_origin = scope["type"] == "websocket" or scope["method"] not in ("GET", "HEAD")
        if (origin is None and needs_origin) or origin not in (None, *self._origins):
            return 403, "armtwin studio answers its own page alone, not a page of another origin"
        given = scope["path"].strip("/").split("/")[0]
        if not secrets.compare_digest(given.encode(), self.token.encode()):
            return 403, "this address has another token: use the one that armtwin studio printed"
        return None

    @property
    def _origins(self) -> tuple[str, ...]:
        return tuple(f"http://{host}" for host in self.hosts)

    async def _send_safely(self, send: Send, message: Record) -> None:
        """Send with the headers that keep a page to itself."""
        if message["type"] == "http.response.start":
            sockets = " ".join(f"ws://{host}" for host in self.hosts)
            policy = (
                "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:; "
                f"connect-src 'self' {sockets}; base-uri 'none'; form-action 'none'; "
                "frame-ancestors 'none'"
            )
            added = {
                "content-security-policy": policy,
                "x-content-type-options": "nosniff",
                "referrer-policy": "no-referrer",
                "cache-control": "no-store",
                "cross-origin-resource-policy": "same-origin",
                "cross-origin-opener-policy": "same-origin",
            }
            pairs = [(key.encode(), value.encode()) for key, value in added.items()]
            message = {**message, "headers": [*message["headers"], *pairs]}
        await send(message)


class Tab:
    """A tab of the page: its newest request wins, and the work on older ones ends."""

    def __init__(self, socket: WebSocket, studio: Studio) -> None:
        self.socket, self.studio = socket, studio
        self.bench = Workbench(studio.files)
        self.newest: Request | None = None
        self._news = asyncio.Event()

    async def serve(self) -> None:
        """Answer until the tab is closed."""
        work = asyncio.create_task(self._work())
        try:
            while True:
                await self._take(await self.socket.receive_text())
        except (WebSocketDisconnect, RuntimeError):  # it is gone
            pass
        finally:
            self.newest = None  # what is computed for it ends
            work.cancel()

    async def _take(self, text: str) -> None:
        """Take a message of the page."""
        try:
            if len(text) > LARGEST_MESSAGE:
                raise ArmtwinError(
                    f"a message may have {LARGEST_MESSAGE >> 10} kB, got {len(text) >> 10} kB"
                )
            message = json.loads(text)
            if isinstance(message, dict) and "do" in message:
                await self._do(message)
                return
            self.newest = read_request(message)
            self._news.set()
        except json.JSONDecodeError:
            await self._send({"error": "a message of the page is not JSON"})
        except ArmtwinError as error:
            await self._send({"error": str(error)})

    async def _do(self, message: Record) -> None:
        """Write a file, or hand out a text to copy."""
        what, kind = str(message["do"]), str(message.get("kind", ""))
        work: Callable[[], str]
        if what == "save" and kind in SAVES:
            path, is_replaced = str(message.get("path", "")), message.get("replace") is True
            work = partial(SAVES[kind], self.bench, path, is_replaced)
        elif what == "copy" and kind in COPIES:
            work = partial(COPIES[kind], self.bench)
        else:
            raise ArmtwinError(f"the page asks for what is not known: {what[:40]} {kind[:40]}")
        answer: Record = {"done": what, "kind": kind}
        try:
            answer["text"] = await self.studio.compute(work)
        except Exception as error:
            answer["error"] = say_why(error)
        await self._send(answer)

    async def _work(self) -> None:
        """Answer the newest request, then find what follows while nothing newer comes."""
        while True:
            await self._news.wait()
            self._news.clear()
            request = self.newest
            if request is None:
                continue
            with suppress(Superseded):
                try:
                    await self._answer(request)
                except (Superseded, asyncio.CancelledError):
                    raise
                except Exception as error:
                    sentence = self.bench.shorten(say_why(error))
                    await self._send({"id": request.id, "error": sentence})

    async def _answer(self, request: Request) -> None:
        def say(what: str, share: float) -> None:
            if self.newest is not request:
                raise Superseded

        await self._send(await self.studio.compute(self.bench.run, request, say))
        if self.bench.next_step() is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), 0.0 if request.ask else REST)
        while self.newest is request:
            step: Finding | None = self.bench.next_step()
            if step is None:
                return
            busy = self.bench.describe_freshness(step.name)
            await self._send({"id": request.id, "fresh": busy})
            await self._send(await self._unless_newer(self.bench.take, step, say))

    async def _unless_newer(self, work: Callable[..., T], *arguments: object) -> T:
        """What work finds, which is not waited for once something newer is asked."""
        working = asyncio.ensure_future(self.studio.compute(work, *arguments))
        newer = asyncio.ensure_future(self._news.wait())
        try:
            await asyncio.wait({working, newer}, return_when=asyncio.FIRST_COMPLETED)
        finally:
            newer.cancel()
        if working.done():
            return working.result()
        working.add_done_callback(_forget)
        raise Superseded

    async def _send(self, message: Record) -> None:
        if self.socket.application_state == WebSocketState.CONNECTED:
            text = await self.studio.compute(partial(json.dumps, separators=(",", ":")), message)
            with suppress(WebSocketDisconnect, RuntimeError):  # it is gone, and is told so
                await self.socket.send_text(text)


def _forget(work: asyncio.Future[T]) -> None:
    """Take note of how work ended that nobody waits for."""
    if not work.cancelled():
        work.exception()


def say_why(error: Exception) -> str:
    """A sentence on what was refused, or on an error of ours and where its traceback is."""
    return str(error) if isinstance(error, ArmtwinError) else describe_crash(error)


class Studio:
    """What all tabs share.

    Attributes:
        source: What a new tab opens.
        files: Files that pages have sent.
        tabs: Tabs that are open.
        stopped: Set when the page asks the server to end.
    """

    def __init__(self, source: Opening) -> None:
        self.source = source
        self.files = SentFiles()
        self.tabs: set[Tab] = set()
        self.stopped = asyncio.Event()
        self._pool = ThreadPoolExecutor(WORKERS)

    async def compute(self, work: Callable[..., T], *arguments: object) -> T:
        """Do work on a thread; kernels run there without the interpreter lock."""
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._pool, partial(work, *arguments))

    def close(self) -> None:
        """End all work, and remove what pages have sent."""
        for tab in self.tabs:
            tab.newest = None
        self._pool.shutdown(wait=False, cancel_futures=True)
        self.files.remove()

    async def page(self, request: HttpRequest) -> Response:
        """The page."""
        state = {"source": asdict(self.source), "jobs": sorted(list_shipped())}
        text = (resources.files("armtwin.app.studio") / "page.html").read_text(encoding="utf-8")
        return HTMLResponse(Template(text).substitute(state=to_json(state)))

    async def part(self, request: HttpRequest) -> Response:
        """A script or a style sheet of the page."""
        found = PARTS.get(request.path_params["name"])
        if found is None:
            return PlainTextResponse("there is no such part of the page\n", 404)
        package, name, kind = found
        text = (resources.files(package) / name).read_text(encoding="utf-8")
        return Response(text, media_type=kind)

    async def take_file(self, request: HttpRequest) -> Response:
        """A file that the page sends."""
        try:
            content = await _read_body(request)
            name = unquote(request.path_params["name"])
            group = request.path_params["group"]
            return JSONResponse(await self.compute(self.files.keep, group, name, content))
        except ArmtwinError as error:
            return JSONResponse({"error": str(error)}, 400)

    async def stop(self, request: HttpRequest) -> Response:
        """End the server."""
        self.stopped.set()
        return PlainTextResponse("armtwin studio has ended\n")

    async def live(self, socket: WebSocket) -> None:
        """A tab, from its opening to its end."""
        await socket.accept()
        if len(self.tabs) >= MOST_TABS:
            sentence = f"{MOST_TABS} tabs are open already: close one of them"
            await socket.send_text(json.dumps({"error": sentence, "is_final": True}))
            await socket.close(TOO_MANY, sentence)
            return
        tab = Tab(socket, self)
        self.tabs.add(tab)
        try:
            await tab.serve()
        finally:
            self.tabs.discard(tab)


async def _read_body(request: HttpRequest) -> bytes:
    """The file of a request, as long as it is not too large."""
    parts, size = [], 0
    async for part in request.stream():
        size += len(part)
        if size > LARGEST_FILE:
            raise ArmtwinError(
                f"a file may have {LARGEST_FILE >> 20} MB here: open a larger one by its path"
            )
        parts.append(part)
    return b"".join(parts)


def make_app(studio: Studio, port: int, token: str) -> ASGIApp:
    """The server's application."""
    routes = [
        Route("/", studio.page),
        Route("/files/{group}/{name}", studio.take_file, methods=["POST"]),
        Route("/stop", studio.stop, methods=["POST"]),
        Route("/{name}", studio.part),
        WebSocketRoute("/live", studio.live),
    ]
    app = Starlette(routes=[Mount(f"/{token}", routes=routes)])
    return Guard(app, (f"{HOST}:{port}", f"localhost:{port}"), token)


def free_socket(port: int | None) -> socket.socket:
    """A socket of this machine alone: at a port, or at the usual one or another that is free."""
    for wanted in (PORT, 0) if port is None else (port,):
        found = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        try:
            if os.name == "posix":
                found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            found.bind((HOST, wanted))
            found.listen(MOST_CONNECTIONS)  # a browser may ask before the server answers
        except OSError as error:
            found.close()
            if port is not None:
                raise ArmtwinError(f"port {port} cannot be used ({error.strerror})") from None
        else:
            return found
    raise ArmtwinError(f"{HOST} has no free port")


async def serve(
    source: Opening, listening: socket.socket, token: str, announce: Callable[[], None]
) -> None:
    """Serve the page until it is asked to end.

    Args:
        source: What is opened.
        listening: Where it answers.
        token: First part of its address.
        announce: Called once it answers, and ends in order when interrupted.
    """
    studio = Studio(source)
    app = make_app(studio, listening.getsockname()[1], token)
    config = uvicorn.Config(
        app,
        log_level="critical",
        ws="websockets-sansio",
        ws_max_size=16 * LARGEST_MESSAGE,
        ws_per_message_deflate=False,
        limit_concurrency=MOST_CONNECTIONS,
        timeout_graceful_shutdown=1,
        lifespan="off",
    )
    server = _Server(config)
    running = asyncio.create_task(server.serve(sockets=[listening]))
    asked = asyncio.create_task(studio.stopped.wait())
    try:
        while not (server.started or running.done()):
            await asyncio.sleep(STARTING)
        announce()
        await asyncio.wait({running, asked}, return_when=asyncio.FIRST_COMPLETED)
    finally:
        server.should_exit = True
        studio.close()
        with suppress(asyncio.CancelledError):
            await running


class _Server(uvicorn.Server):
    """A server that leaves signals to the command line, which ends in order."""

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Take no signals."""
        yield

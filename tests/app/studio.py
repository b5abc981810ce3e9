"""A studio in a process of its own, as a user starts it, and what talks to it without a browser."""

import json
import os
import re
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import contextmanager

from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

# as `python -m armtwin`, where whoever started the tests may leave out interrupts, as `nohup` does
INTERRUPTIBLE = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from armtwin.__main__ import start
start()
"""
MESSAGE = 1 << 24  # bytes of the largest answer that a tab takes


class Studio:
    """A started studio: its address, and requests of pages that are its own or not."""

    def __init__(self, process, address):
        self.process, self.address = process, address
        _, self.host, self.token = re.fullmatch(r"(http)://([\d.:]+)/([^/]+)/", address).groups()
        self.origin = f"http://{self.host}"

    def get(self, path="", *, data=None, **headers):
        """Status, headers and text of a request."""
        request = urllib.request.Request(f"{self.address}{path}", data=data, headers=headers)
        try:
            with urllib.request.urlopen(request, timeout=20) as answer:
                return answer.status, answer.headers, answer.read().decode()
        except urllib.error.HTTPError as error:
            return error.code, error.headers, error.read().decode()

    def send(self, path, content, origin=None):
        """Status and answer of a file that a page sends."""
        status, _, text = self.get(path, data=content, Origin=origin or self.origin)
        return status, json.loads(text) if text.startswith("{") else text

    def socket(self, **changed):
        given = {"origin": self.origin, "max_size": MESSAGE, "compression": None} | changed
        return connect(f"ws://{self.host}/{self.token}/live", **given)


@contextmanager
def studio(*arguments, folder):
    """A studio started as a command."""
    command = [sys.executable, "-c", INTERRUPTIBLE, "studio", *arguments, "--no-browser"]
    environment = {**os.environ, "PYTHONUNBUFFERED": "1", "COLUMNS": "200"}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=folder,
        env=environment,
    )
    try:
        line = process.stdout.readline()
        found = re.search(r"http://\S+", line)
        assert found, line + process.stderr.read()
        yield Studio(process, found.group())
    finally:
        process.terminate()
        process.communicate(timeout=20)


class Tab:
    """A tab without a browser: what it asks, and the answers to it."""

    def __init__(self, socket):
        self.socket, self.asked, self.seen = socket, 0, []

    def ask(self, name="rx90b_line", **state):
        self.asked += 1
        request = {"id": self.asked, "source": {"name": name}, **state}
        self.socket.send(json.dumps(request))
        return self.asked

    def read(self, wanted, seconds=120):
        """The first message that is wanted."""
        while True:
            message = json.loads(self.socket.recv(seconds))
            self.seen.append(message)
            if wanted(message):
                return message

    def shown(self, **state):
        """What is shown of a state, or why it is not."""
        asked = self.ask(**state)
        return self.read(lambda x: x.get("id") == asked and ("front" in x or "error" in x))

    def do(self, **message):
        self.socket.send(json.dumps(message))
        return self.read(lambda x: "done" in x or "error" in x)


__all__ = ["ConnectionClosed", "Studio", "Tab", "studio"]

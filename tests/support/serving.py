"""The real server in a separate process, for tests that need it."""

import os
import socket
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from http import HTTPStatus
from http.client import HTTPConnection, HTTPException
from pathlib import Path

# The machine may have much else to do.
SECONDS_TO_START = 120
SECONDS_TO_STOP = 60


@dataclass(frozen=True)
class Server:
    """A running server."""

    port: int
    process: subprocess.Popen[bytes]
    log: Path

    @property
    def address(self) -> str:
        """The base URL."""
        return f"http://127.0.0.1:{self.port}"

    def get(self, path: str) -> tuple[int, bytes]:
        """Request a page; return its status and content."""
        connection = HTTPConnection("127.0.0.1", self.port, timeout=30)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read()
        finally:
            connection.close()

    def wait_for(self, words: str) -> None:
        """Wait until its log has these words; `AssertionError` when it does not."""
        end = time.monotonic() + SECONDS_TO_START
        while words not in self.log.read_text():
            assert time.monotonic() < end, self.log.read_text()
            time.sleep(0.05)


@dataclass
class StandingServer:
    """A server shared by many tests, restarted when it is dead or does not respond."""

    command: Sequence[str]
    log: Path
    environment: Mapping[str, str]
    _server: Server | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def address(self) -> str:
        """Where it answers now."""
        if self._server is None or not self._answers():
            self.stop()
            self._server = self._stack.enter_context(running(self.command, self.log, self.environment))
        return self._server.address

    def stop(self) -> None:
        """End it."""
        self._server = None
        self._stack.close()

    def _answers(self) -> bool:
        assert self._server is not None
        try:
            return self._server.process.poll() is None and self._server.get("/sign-in")[0] == HTTPStatus.OK
        except (OSError, HTTPException):
            return False


@contextmanager
def running(command: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> Iterator[Server]:
    """Start `command` with `--port` of a free one, wait until it answers, and end it by its own process id.

    An `AssertionError` with what the server said when it ends before it answers.
    """
    port = free_port()
    with log.open("wb") as said:
        process = subprocess.Popen(  # noqa: S603 - our own command
            [*command, "--port", str(port)],
            env={**os.environ, **(environment or {})},
            cwd=log.parent,
            stdout=said,
            stderr=said,
        )
    server = Server(port, process, log)
    try:
        wait_until_it_answers(server)
        yield server
    finally:
        process.terminate()
        try:
            process.wait(SECONDS_TO_STOP)
        finally:
            process.kill()


def free_port() -> int:
    """Return a currently free port of this machine."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def wait_until_it_answers(server: Server) -> None:
    """Wait until a server that has been started gives a page; `AssertionError` when it ends before."""
    end = time.monotonic() + SECONDS_TO_START
    while server.process.poll() is None and time.monotonic() < end:
        try:
            server.get("/sign-in")
        except (OSError, HTTPException):
            time.sleep(0.05)
        else:
            return
    raise AssertionError(f"the server does not answer:\n{server.log.read_text()}")

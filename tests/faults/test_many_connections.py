"""Connections that ask nothing, or never finish asking, keep nobody out, however many there are."""

import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest
from faults.judged_site import is_in_order
from faults.length import times
from faults.mortal_server import MortalServer
from faults.scripted_judge import all_acknowledged, judges_at_work, wait_for_work

from annotator.settings import Settings

CONNECTIONS = times(300, 5_000)
OF_ONE_ADDRESS = times(50, 1_000)
WORDS = {
    "idle": b"",
    "half a head": b"GET /sign-in HTTP/1.1\r\nHost: local",
    "half a body": b"POST /sign-in HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\nname=",
    "idle behind an answer": b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
}


@pytest.fixture
def mortal(site: Settings, tmp_path: Path) -> Iterator[MortalServer]:
    """A server that keeps few connections of an address."""
    server = MortalServer(replace(site, connections_per_address=OF_ONE_ADDRESS), tmp_path / "server.log")
    try:
        server.start()
        yield server
    finally:
        server.kill()


@pytest.fixture
def many_files() -> Iterator[None]:
    """As many files as this process may open: each connection is one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.parametrize("kind", WORDS)
@pytest.mark.usefixtures("many_files")
def test_connections_that_hang_keep_no_judge_waiting(mortal: MortalServer, kind: str) -> None:
    judges = judges_at_work(mortal.port)
    with ExitStack() as stack:
        hanging = []
        for _ in range(CONNECTIONS):
            sender = stack.enter_context(socket.create_connection(("127.0.0.1", mortal.port), timeout=60))
            sender.sendall(WORDS[kind])
            hanging.append(sender)
        wait_for_work(judges, [len(judge.acknowledged) for judge in judges])
        acknowledged = all_acknowledged(judges)
        assert sum(map(is_closed, hanging)) >= CONNECTIONS - mortal.workers * OF_ONE_ADDRESS
    mortal.kill()
    is_in_order(mortal.settings, acknowledged)


def is_closed(sender: socket.socket) -> bool:
    """Whether the server has closed a connection, by what has come on it so far."""
    sender.setblocking(False)  # noqa: FBT003 - the library's own form
    try:
        while sender.recv(1 << 16):
            pass
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True

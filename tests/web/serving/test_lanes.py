"""Lanes: slow pages keep neither judges nor the question for health waiting; a judging request never stops the loop."""

import socket
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from http.client import HTTPConnection
from typing import Any

import pytest
from uvicorn import Config, Server

from annotator import __version__
from annotator.settings import Settings
from annotator.storage import Database
from annotator.web.serving import connections, lanes
from annotator.web.serving.connections import connection_options
from annotator.web.serving.gateway import Environ, Gateway

ACTS = "/collections/news/judge/topics/1/acts"
SECONDS = 30


@contextmanager
def served(pages: Callable[..., Any], settings: Settings | None = None) -> Iterator[int]:
    """The gateway over some pages behind the real server, in a thread; its port."""
    own = settings or Settings(page_threads=1)
    options = connection_options(own.connections_per_address)
    server = Server(
        Config(Gateway(pages, own), port=0, loop="uvloop", lifespan="off", ws="none", log_config=None, **options)
    )
    thread = threading.Thread(target=server.run)
    thread.start()
    try:
        while not server.started:
            assert thread.is_alive()
        yield server.servers[0].sockets[0].getsockname()[1]
    finally:
        server.should_exit = True
        thread.join(SECONDS)


def get(port: int, path: str, *, method: str = "GET") -> tuple[int, bytes]:
    connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
    try:
        connection.request(method, path)
        answer = connection.getresponse()
        return answer.status, answer.read()
    finally:
        connection.close()


class Pages:
    """Pages that wait until they are let go, and tell in which thread each address was answered."""

    def __init__(self) -> None:
        """Begin with nobody let go."""
        self.go = threading.Event()
        self.threads: dict[str, str] = {}

    def __call__(self, environ: Environ, start_response: Callable[..., Any]) -> list[bytes]:
        path = environ["PATH_INFO"]
        self.threads[path] = threading.current_thread().name.partition("_")[0]
        if path.startswith("/slow"):
            assert self.go.wait(SECONDS)
        start_response("200 OK", [("Content-Length", "4")])
        return [b"done"]


def test_three_slow_pages_keep_neither_health_nor_judges_nor_style_sheets_waiting() -> None:
    pages = Pages()
    with served(pages) as port, ThreadPoolExecutor(3) as readers:
        slow = [readers.submit(get, port, f"/slow/{number}") for number in range(3)]
        try:
            assert get(port, "/health") == (200, f"alive, annotator {__version__}\n".encode())
            assert get(port, ACTS, method="POST") == (200, b"done")
            assert get(port, "/static/judging/judging.css") == (200, b"done")
            assert not any(page.done() for page in slow)
        finally:
            pages.go.set()
        assert [page.result(SECONDS) for page in slow] == [(200, b"done")] * 3
    assert pages.threads["/slow/0"] == "pages"
    assert pages.threads[ACTS] == pages.threads["/static/judging/judging.css"] != "pages"


@pytest.mark.parametrize("path", [ACTS, "/collections/news/judge", "/api/v1/collections/news/judgements"])
def test_on_postgresql_no_request_of_a_judge_is_answered_in_the_event_loop(path: str) -> None:
    pages = Pages()
    settings = Settings(page_threads=1, database_url="postgresql+psycopg://nowhere/site")
    with served(pages, settings) as port:
        get(port, path, method="POST")
    assert pages.threads[path] == ("pages" if path.endswith("judge") else "judging")


def test_a_judging_request_that_waits_for_another_writer_does_so_beside_the_event_loop(
    sqlite_database: Database,
) -> None:
    begun = threading.Event()

    def judge(_: Environ, start_response: Callable[..., Any]) -> list[bytes]:
        begun.set()
        with sqlite_database.transaction() as session:
            session.connection()
            name = threading.current_thread().name
        start_response("200 OK", [])
        return [name.encode()]

    with served(judge) as port, ThreadPoolExecutor(1) as judges:
        with sqlite_database.transaction() as other:
            other.connection()
            waiting = judges.submit(get, port, ACTS, method="POST")
            assert begun.wait(SECONDS)
            assert get(port, "/health") == (200, f"alive, annotator {__version__}\n".encode())
            assert not waiting.done()
        status, thread = waiting.result(SECONDS)
    assert (status, thread.startswith(b"judging")) == (200, True)


def test_an_address_of_judges_that_was_slow_is_answered_beside_the_event_loop(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lanes, "SECONDS_UNTIL_SLOW", -1.0)
    pages = Pages()
    with served(pages) as port:
        get(port, ACTS, method="POST")
        first = pages.threads[ACTS]
        get(port, ACTS, method="POST")
    assert first != "judging"
    assert pages.threads[ACTS] == "judging"


@pytest.mark.parametrize("hosts", [(), ("a", "b")])
def test_a_request_without_a_host_or_with_two_is_refused(hosts: tuple[str, ...]) -> None:
    pages = Pages()
    with served(pages) as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        connection.putrequest("GET", "/", skip_host=True)
        for host in hosts:
            connection.putheader("Host", host)
        connection.endheaders()
        assert connection.getresponse().status == 400
        connection.close()
    assert pages.threads == {}


@pytest.mark.parametrize("framing", [b'5;a="\n"\r\nabcde\r\n', b"ffffffffffffffffffff\r\n", b"zz\r\n"])
def test_a_body_whose_chunks_cannot_be_read_is_refused(framing: bytes) -> None:
    pages = Pages()
    with served(pages) as port:
        connection = HTTPConnection("127.0.0.1", port, timeout=SECONDS)
        connection.putrequest("POST", "/form")
        connection.putheader("Transfer-Encoding", "chunked")
        connection.endheaders()
        connection.send(framing)
        assert connection.getresponse().status == 400
        connection.close()
    assert pages.threads == {}


@pytest.mark.parametrize("head", [b"", b"GET / HTTP/1.1\r\nHost: local"])
def test_a_head_that_never_ends_ends_its_connection(monkeypatch: pytest.MonkeyPatch, head: bytes) -> None:
    monkeypatch.setattr(connections, "SECONDS_FOR_HEAD", 0.05)
    with served(Pages()) as port, socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as sender:
        sender.sendall(head)
        assert is_ended(sender)


def is_ended(sender: socket.socket) -> bool:
    """Whether the server ends a connection without an answer; waits for it."""
    try:
        return sender.recv(1) == b""
    except ConnectionResetError:
        return True

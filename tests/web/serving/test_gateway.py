"""The gateway: what WSGI is told of a request, how long a body is waited for, and how answers go out."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

import pytest
from werkzeug.exceptions import HTTPException
from werkzeug.wrappers import Request
from werkzeug.wsgi import ClosingIterator

from annotator.settings import MEBIBYTE, Settings
from annotator.web.serving import slow_senders
from annotator.web.serving.gateway import LEAST_SENT, Environ, Gateway, environ_of
from annotator.web.serving.slow_senders import LEAST_RATE, MOST_IN_MEMORY, Body, Room, SlowSenders

Message = Mapping[str, Any]
Headers = Sequence[tuple[bytes, bytes]]


HOST = (b"host", b"localhost")


def run(work: Coroutine[Any, Any, None]) -> None:
    """Do it in a thread of its own: a browser of other tests keeps an event loop in this one."""
    with ThreadPoolExecutor(1) as thread:
        thread.submit(asyncio.run, work).result(timeout=60)


def scope(path: bytes = b"/", *headers: tuple[bytes, bytes], method: str = "POST") -> dict[str, Any]:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "scheme": "http",
        "raw_path": path,
        "query_string": b"q=%ED%95%9C&x=%ff",
        "headers": headers if any(name == b"host" for name, _ in headers) else (HOST, *headers),
        "server": ("127.0.0.1", "8000"),
        "client": ("192.0.2.7", "4711"),
    }


@dataclass
class Site:
    """Pages behind a gateway, and everything that was said to and by them."""

    answer: Sequence[bytes] = (b"fine",)
    limit: int = MEBIBYTE
    bodies: list[bytes | int | None] = field(default_factory=list)
    sent: list[Message] = field(default_factory=list)
    closed: int = 0

    def pages(self, environ: Environ, start_response: Callable[..., Any]) -> ClosingIterator:
        try:
            request = Request(environ)
            request.max_content_length = self.limit
            self.bodies.append(request.get_data())
        except HTTPException as error:
            self.bodies.append(error.code)
        start_response("200 OK", [("Content-Type", "text/plain")])
        return ClosingIterator(self.answer, self.close)

    def close(self) -> None:
        self.closed += 1

    def ask(self, asked: Mapping[str, Any], *messages: Message | None) -> None:
        """One request: these messages come; None is one that never does."""
        coming = iter(messages)

        async def receive() -> Message:
            message = next(coming)
            if message is None:
                await asyncio.Event().wait()
            return message or {}

        async def send(message: Message) -> None:
            self.sent.append(message)

        gateway = Gateway(self.pages, Settings(upload_limit=self.limit, sender_seconds=1))
        run(gateway(asked, receive, send))


def part(body: bytes, *, more: bool = False) -> Message:
    return {"type": "http.request", "body": body, "more_body": more}


GONE: Message = {"type": "http.disconnect"}


def test_a_request_is_told_as_wsgi_has_it() -> None:
    environ = environ_of(
        scope(
            b"/a%20b/%ff/\xed\x95\x9c",
            (b"host", b"pool.example.org"),
            (b"cookie", b"a=1"),
            (b"cookie", b"b=2"),
            (b"x-forwarded-for", b"198.51.100.1"),
            (b"x-forwarded-for", b"198.51.100.2"),
            (b"x_forwarded_for", b"203.0.113.9"),
            (b"content-type", b"text/plain"),
            (b"content-length", b"4"),
            (b"x-word", b"\xff"),
        )
    )
    request = Request(environ)
    assert environ["PATH_INFO"] == "/a b/ÿ/í\x95\x9c"
    assert request.path == "/a b/\N{REPLACEMENT CHARACTER}/한"
    assert request.args.to_dict()["q"] == "한"
    assert request.cookies.to_dict() == {"a": "1", "b": "2"}
    assert environ["HTTP_X_FORWARDED_FOR"] == "198.51.100.1,198.51.100.2"
    assert (request.host, request.remote_addr, request.method) == ("pool.example.org", "192.0.2.7", "POST")
    assert (request.content_length, request.mimetype, environ["HTTP_X_WORD"]) == (4, "text/plain", "ÿ")


LENGTH_6 = (b"content-length", b"6")
CHUNKED = (b"transfer-encoding", b"chunked")


@pytest.mark.parametrize(
    ("header", "messages"),
    [
        (LENGTH_6, [part(b"abcdef")]),
        (LENGTH_6, [part(b"abc", more=True), part(b"def", more=True)]),
        (CHUNKED, [part(b"abc", more=True), part(b"def", more=True), part(b"")]),
    ],
)
def test_the_pages_get_a_whole_body(header: tuple[bytes, bytes], messages: list[Message]) -> None:
    site = Site()
    site.ask(scope(b"/", header), *messages)
    assert site.bodies == [b"abcdef"]
    assert [message.get("body") for message in site.sent] == [None, b"fine"]
    assert (site.sent[0]["status"], site.sent[0]["headers"], site.closed) == (
        200,
        [(b"content-type", b"text/plain")],
        1,
    )


def test_of_a_request_without_a_body_nothing_is_waited_for() -> None:
    site = Site()
    site.ask(scope(method="GET"), None)
    assert site.bodies == [b""]


@pytest.mark.parametrize("header", [LENGTH_6, CHUNKED])
@pytest.mark.parametrize("last", [GONE, part(b"")])
def test_who_goes_in_the_middle_of_a_body_is_not_answered(header: tuple[bytes, bytes], last: Message) -> None:
    site = Site()
    site.ask(scope(b"/", header), part(b"abc", more=True), last)
    is_whole = (header, last) == (CHUNKED, part(b""))
    assert site.bodies == ([b"abc"] if is_whole else [])


@pytest.mark.parametrize(
    ("header", "messages", "status"),
    [
        (LENGTH_6, [part(b"abc", more=True), None], 408),
        (CHUNKED, [None], 408),
        ((b"content-length", b"%d" % (MEBIBYTE + 1)), [], 413),
        (CHUNKED, [part(b"x" * MEBIBYTE, more=True), part(b"x", more=True)], 413),
    ],
)
def test_what_is_not_read_to_its_end_is_refused_and_ends_the_connection(
    monkeypatch: pytest.MonkeyPatch, header: tuple[bytes, bytes], messages: list[Message | None], status: int
) -> None:
    monkeypatch.setattr(slow_senders, "SECONDS_BETWEEN_LOOKS", 0.01)
    site = Site()
    site.ask(scope(b"/", header), *messages)
    assert site.bodies == [status]
    assert (b"connection", b"close") in site.sent[0]["headers"]


def test_large_answers_go_out_in_parts_and_small_parts_together() -> None:
    site = Site(answer=[b"x" * (LEAST_SENT // 2)] * 5)
    site.ask(scope(method="GET"))
    assert [len(message["body"]) for message in site.sent[1:]] == [LEAST_SENT, LEAST_SENT, LEAST_SENT // 2]
    assert [message.get("more_body", False) for message in site.sent[1:]] == [True, True, False]


def test_bodies_that_find_no_room_on_the_disk_are_refused_and_small_ones_are_not() -> None:
    room = Room(2 * MOST_IN_MEMORY)
    with Body(room) as first, Body(room) as second, Body(room) as small:
        first.add(b"x" * (MOST_IN_MEMORY + 1))
        second.add(b"x" * MOST_IN_MEMORY)
        second.add(b"x")
        small.add(b"x" * MOST_IN_MEMORY)
        assert room.left == MOST_IN_MEMORY - 1
        assert (first.wrong, small.wrong) == (None, None)
        with pytest.raises(HTTPException) as refused:
            second.read()
        assert refused.value.code == 503
    assert room.left == 2 * MOST_IN_MEMORY


@pytest.mark.parametrize(
    ("a_look", "is_heard_out"),
    [
        (LEAST_RATE, True),  # what a look costs is earned between two of them
        (LEAST_RATE // 2, False),  # 4 seconds of patience, each costs half a second: over at the eighth look
        (0, False),
    ],
)
def test_a_sender_has_so_much_patience_as_it_earns(
    monkeypatch: pytest.MonkeyPatch, a_look: int, *, is_heard_out: bool
) -> None:
    senders = SlowSenders(4, most=MEBIBYTE)
    parts = 12

    async def send(body: Body) -> None:
        came: asyncio.Queue[Message] = asyncio.Queue()
        reading = asyncio.create_task(senders.read(body, came.get, parts * max(a_look, 1)))
        for _ in range(parts):
            came.put_nowait(part(b"x" * a_look, more=True))
            await asyncio.sleep(0.001)
            senders.look()
        await reading

    monkeypatch.setattr(slow_senders, "SECONDS_BETWEEN_LOOKS", 60)  # the test looks by itself
    with Body(Room(0)) as body:
        run(send(body))
        assert (body.wrong is None) == is_heard_out

"""The ASGI gateway between server and web pages: passes on a request once it is complete."""

import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import unquote_to_bytes

from annotator.installed import installed_version
from annotator.settings import Settings
from annotator.web.serving.lanes import Lanes
from annotator.web.serving.slow_senders import Body, Receive, Room, SenderGoneError, SlowSenders

# A WSGI application, and its argument.
Environ = dict[str, Any]
Pages = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
Scope = Mapping[str, Any]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

# Repeated headers are joined by commas (RFC 9110, 5.3), cookies by semicolons (RFC 6265).
BETWEEN = {"HTTP_COOKIE": "; "}
# Headers whose names in the environ (PEP 3333) lack HTTP_.
OWN_NAMES = {"HTTP_CONTENT_TYPE": "CONTENT_TYPE", "HTTP_CONTENT_LENGTH": "CONTENT_LENGTH"}
# The disk has room for this many bodies of maximum size at once.
LARGEST_AT_ONCE = 4
LEAST_SENT = 1 << 14  # bytes
HEALTH_PATH = b"/health"
ALIVE = f"alive, annotator {installed_version()}\n".encode()


class Gateway:
    """An ASGI application that reads requests concurrently and passes complete ones to a WSGI application.

    The lane selects the thread in which they are answered; the event loop itself answers the liveness check.
    """

    def __init__(self, pages: Pages, settings: Settings, lanes: Lanes | None = None) -> None:
        """Pass requests to this WSGI application."""
        self._pages = pages
        self._lanes = lanes or Lanes(settings)
        self._most = settings.upload_limit
        self._room = Room(LARGEST_AT_ONCE * settings.upload_limit)
        self._senders = SlowSenders(settings.sender_seconds, most=self._most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, unless the client disconnects before its end."""
        if (refusal := refused_by_host(scope)) is not None:
            await _send_text(send, 400, refusal)
            return
        if scope["raw_path"] == HEALTH_PATH and scope["method"] in {"GET", "HEAD"}:
            await _send_text(send, 200, ALIVE)
            return
        environ = environ_of(scope)
        with Body(self._room) as body:
            environ["wsgi.input"] = body
            try:
                is_read = await self._read(body, environ, receive)
            except SenderGoneError:
                return
            await self._answer(environ, body, send, is_last=not is_read)

    async def _read(self, body: Body, environ: Environ, receive: Receive) -> bool:
        """Read the body, if any; return whether the request was read to its end."""
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        stated = None if is_chunked else int(environ.get("CONTENT_LENGTH") or 0)
        if stated == 0:
            return True
        if stated is not None and stated > self._most:
            return False  # rejected by its Content-Length alone
        await self._senders.read(body, receive, stated)
        return body.wrong is None

    async def _answer(self, environ: Environ, body: Body, send: Send, *, is_last: bool) -> None:
        """Send the application's response; after an incomplete request the connection is closed."""

        def call() -> Answer:
            body.rewind()
            return Answer(self._pages, dict(environ))

        lane = self._lanes.lane(environ["REQUEST_METHOD"], environ["PATH_INFO"], body.size)
        answer = await lane.begin(call)
        if is_last:
            answer.headers.append((b"connection", b"close"))
        await send({"type": "http.response.start", "status": answer.status, "headers": answer.headers})
        try:
            while answer.is_unfinished:
                await send({"type": "http.response.body", "body": answer.part, "more_body": True})
                await lane.go_on(answer.go_on)
        finally:
            if answer.is_unfinished:
                await lane.go_on(answer.close)
        await send({"type": "http.response.body", "body": answer.part})


class Answer:
    """The response of a WSGI application to one request, with the current chunk of its content."""

    def __init__(self, pages: Pages, environ: Environ) -> None:
        """Call the application; later chunks of long content are produced while earlier ones are sent."""
        self.status = 500
        self.headers: list[tuple[bytes, bytes]] = []
        self.part = b""
        self.is_unfinished = True
        self._chunks = pages(environ, self._start)
        self._parts = _joined(self._chunks)
        self._next: bytes | None = b""
        self.go_on()
        self.go_on()

    def go_on(self) -> None:
        """Get the next chunk; after the last one the content is closed."""
        self.part, self._next = self._next or b"", None
        try:
            self._next = next(self._parts, None)
        finally:
            if self._next is None and self.is_unfinished:
                self.close()

    def close(self) -> None:
        """Close the content, as PEP 3333 requires of a server."""
        self.is_unfinished = False
        if callable(close := getattr(self._chunks, "close", None)):
            close()

    def _start(self, status: str, headers: list[tuple[str, str]], _error: object = None) -> None:
        self.status = int(status[:3])
        self.headers = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]


def refused_by_host(scope: Scope) -> bytes | None:
    """The reason why a request's Host header is invalid (RFC 9112, 3.2); None when it is valid."""
    hosts = sum(header == b"host" for header, _ in scope["headers"])
    if hosts > 1:
        return b"A request has one Host header, not several.\n"
    if hosts == 0 and scope["http_version"] == "1.1":
        return b"A request has a Host header.\n"
    return None


async def _send_text(send: Send, status: int, content: bytes) -> None:
    headers = [
        (b"content-type", b"text/plain; charset=utf-8"),
        (b"content-length", b"%d" % len(content)),
        (b"cache-control", b"no-store"),
        (b"x-content-type-options", b"nosniff"),
    ]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": content})


def environ_of(scope: Scope) -> Environ:
    """The WSGI environ of a request (PEP 3333), without its body."""
    name, port = scope["server"]
    address, _ = scope["client"]
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # PEP 3333: each byte as a character, since the path may not be UTF-8.
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": name,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": address,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": True,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        # The input ends where the body ends, also without a Content-Length.
        "wsgi.input_terminated": True,
    }
    for header, value in scope["headers"]:
        _add_header(environ, header, value.decode("latin-1"))
    return environ


def _add_header(environ: Environ, header: bytes, value: str) -> None:
    # Skipped: with an underscore it could impersonate another header, such as one that only the proxy may set.
    if b"_" in header:
        return
    key = f"HTTP_{header.decode('latin-1').upper().replace('-', '_')}"
    key = OWN_NAMES.get(key, key)
    environ[key] = f"{environ[key]}{BETWEEN.get(key, ',')}{value}" if key in environ else value


def _joined(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The content in larger chunks, as files come in small ones."""
    some: list[bytes] = []
    size = 0
    for chunk in chunks:
        some.append(chunk)
        size += len(chunk)
        if size >= LEAST_SENT:
            yield b"".join(some)
            some, size = [], 0
    if some:
        yield b"".join(some)

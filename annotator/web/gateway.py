"""Between the server and the pages: a request goes to the pages when all of it is there, one at a time."""

import asyncio
import sys
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import unquote_to_bytes

from annotator.settings import Settings
from annotator.web.slow_senders import Body, Receive, Room, SenderGoneError, SlowSenders

# A WSGI application, and what one is called with.
Environ = dict[str, Any]
Pages = Callable[[Environ, Callable[..., Any]], Iterable[bytes]]
Scope = Mapping[str, Any]
Send = Callable[[Mapping[str, Any]], Awaitable[None]]

# Several headers of a name are one with commas between (RFC 9110, 5.3); cookies have a sign of their own (RFC 6265).
BETWEEN = {"HTTP_COOKIE": "; "}
# Headers whose names in an environment (PEP 3333) are without HTTP_.
OWN_NAMES = {"HTTP_CONTENT_TYPE": "CONTENT_TYPE", "HTTP_CONTENT_LENGTH": "CONTENT_LENGTH"}
# So many of the largest bodies at once find room on the disk.
LARGEST_AT_ONCE = 4
LEAST_SENT = 1 << 14  # bytes


class Gateway:
    """An ASGI application that reads requests side by side and hands them to a WSGI application one by one.

    The pages run in the thread of the event loop, as they would in a single thread of their own: whoever sends slowly
    holds nobody, and what others send arrives meanwhile in the server's threads.
    """

    def __init__(self, pages: Pages, settings: Settings) -> None:
        """Hand requests to these pages."""
        self._pages = pages
        self._most = settings.upload_limit
        self._room = Room(LARGEST_AT_ONCE * settings.upload_limit)
        self._senders = SlowSenders(settings.sender_seconds, most=self._most)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; nobody, when its sender has gone before its end."""
        environ = environ_of(scope)
        with Body(self._room) as body:
            environ["wsgi.input"] = body
            try:
                is_read = await self._read(body, environ, receive)
            except SenderGoneError:
                return
            await self._answer(environ, send, is_last=not is_read)

    async def _read(self, body: Body, environ: Environ, receive: Receive) -> bool:
        """Read the body, if there is one; whether there is nothing more to read."""
        is_chunked = "HTTP_TRANSFER_ENCODING" in environ
        stated = None if is_chunked else int(environ.get("CONTENT_LENGTH") or 0)
        if stated == 0:
            return True
        if stated is not None and stated > self._most:
            return False  # it is refused by its length alone
        await self._senders.read(body, receive, stated)
        return body.wrong is None

    async def _answer(self, environ: Environ, send: Send, *, is_last: bool) -> None:
        """Let the pages answer; a connection on which a request was not read to its end takes no other one."""
        start: dict[str, Any] = {}

        def start_response(status: str, headers: list[tuple[str, str]], _error: object = None) -> None:
            raw = [(name.lower().encode("latin-1"), value.encode("latin-1")) for name, value in headers]
            start.update(type="http.response.start", status=int(status[:3]), headers=raw)

        with _closed(self._pages(environ, start_response)) as chunks:
            if is_last:
                start["headers"].append((b"connection", b"close"))
            await send(start)
            held = b""
            for chunk in _joined(chunks):
                if held:
                    await send({"type": "http.response.body", "body": held, "more_body": True})
                    await asyncio.sleep(0)  # whoever else has asked is answered between two parts of a long answer
                held = chunk
        await send({"type": "http.response.body", "body": held})


def environ_of(scope: Scope) -> Environ:
    """What WSGI says of a request (PEP 3333), without its body."""
    name, port = scope["server"]
    address, _ = scope["client"]
    environ = {
        "REQUEST_METHOD": scope["method"],
        "SCRIPT_NAME": "",
        # Its bytes, which may be no UTF-8, each as a character.
        "PATH_INFO": unquote_to_bytes(scope["raw_path"]).decode("latin-1"),
        "QUERY_STRING": scope["query_string"].decode("latin-1"),
        "SERVER_NAME": name,
        "SERVER_PORT": str(port),
        "SERVER_PROTOCOL": f"HTTP/{scope['http_version']}",
        "REMOTE_ADDR": address,
        "wsgi.version": (1, 0),
        "wsgi.url_scheme": scope["scheme"],
        "wsgi.errors": sys.stderr,
        "wsgi.multithread": False,
        "wsgi.multiprocess": True,
        "wsgi.run_once": False,
        # No server of this kind needs to be told where a body ends.
        "wsgi.input_terminated": True,
    }
    for header, value in scope["headers"]:
        _add_header(environ, header, value.decode("latin-1"))
    return environ


def _add_header(environ: Environ, header: bytes, value: str) -> None:
    # An underscore would make it another header's double, such as one that only the proxy may give.
    if b"_" in header:
        return
    key = f"HTTP_{header.decode('latin-1').upper().replace('-', '_')}"
    key = OWN_NAMES.get(key, key)
    environ[key] = f"{environ[key]}{BETWEEN.get(key, ',')}{value}" if key in environ else value


@contextmanager
def _closed(chunks: Iterable[bytes]) -> Iterator[Iterable[bytes]]:
    """What the pages answer, closed behind it as WSGI wants it."""
    try:
        yield chunks
    finally:
        if callable(close := getattr(chunks, "close", None)):
            close()


def _joined(chunks: Iterable[bytes]) -> Iterator[bytes]:
    """The same in larger parts: a file comes in small ones."""
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

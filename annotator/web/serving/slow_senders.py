"""Buffers request bodies while they arrive, with a minimum rate."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from tempfile import SpooledTemporaryFile
from typing import Any, Self

from werkzeug.exceptions import HTTPException, RequestEntityTooLarge, RequestTimeout, ServiceUnavailable

Receive = Callable[[], Awaitable[Mapping[str, Any]]]

# Judgements and most other requests are never written to disk.
MOST_IN_MEMORY = 1 << 18  # bytes
# With the default patience of 20 seconds, as Apache's RequestReadTimeout.
LEAST_RATE = 500  # bytes a second
SECONDS_BETWEEN_LOOKS = 1
SECONDS_UNTIL_ROOM = 30


class SenderGoneError(Exception):
    """The client disconnected and does not wait for a response."""


class Room:
    """The disk space left for all bodies together."""

    def __init__(self, size: int) -> None:
        """Start with all space free."""
        self.left = size


class Body:
    """A request body as a file, whose methods raise the error that occurred while receiving it."""

    def __init__(self, room: Room) -> None:
        """Start with an empty body."""
        self.size = 0
        self.wrong: HTTPException | None = None
        self._room = room
        self._on_disk = 0
        self._file = SpooledTemporaryFile[bytes](MOST_IN_MEMORY)

    def __enter__(self) -> Self:
        """Keep the buffered data during the block."""
        return self

    def __exit__(self, *_: object) -> None:
        """Discard the buffered data."""
        self._room.left += self._on_disk
        self._file.close()

    def add(self, chunk: bytes) -> None:
        """Buffer a chunk, unless there is no room for it."""
        self.size += len(chunk)
        if self.size > MOST_IN_MEMORY:
            more = self.size - self._on_disk
            if more > self._room.left:
                self.wrong = ServiceUnavailable(retry_after=SECONDS_UNTIL_ROOM)
                return
            self._room.left -= more
            self._on_disk = self.size
        self._file.write(chunk)

    def rewind(self) -> None:
        """Seek to the start, for reading."""
        self._file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """Read bytes; raises `HTTPException`."""
        self._refuse()
        return self._file.read(size)

    def readline(self, size: int = -1) -> bytes:
        """Read a line; raises `HTTPException`."""
        self._refuse()
        return self._file.readline(size)

    def __iter__(self) -> Self:
        """The body itself, as an iterator of lines."""
        return self

    def __next__(self) -> bytes:
        """Return the next line; raises `HTTPException`."""
        if line := self.readline():
            return line
        raise StopIteration

    def _refuse(self) -> None:
        if self.wrong is not None:
            raise self.wrong


class _Sending:
    """The time left for a sender; received bytes extend it, up to the initial time."""

    def __init__(self, patience: float, limit: asyncio.Timeout) -> None:
        self._patience = self._left = patience
        self._limit = limit

    def earn(self, size: int) -> None:
        self._left = min(self._patience, self._left + size / LEAST_RATE)

    def grow_older(self) -> None:
        self._left -= 1  # one second, the interval of checks
        if self._left <= 0:
            self._limit.reschedule(0)


class SlowSenders:
    """Receives bodies concurrently, and aborts those slower than `LEAST_RATE` or without progress."""

    def __init__(self, patience: float, *, most: int) -> None:
        """Wait `patience` seconds for silent senders; stop reading a body after `most` bytes."""
        self._patience = patience
        self._most = most
        self._sendings: set[_Sending] = set()
        self._looks = False

    async def read(self, body: Body, receive: Receive, stated: int | None) -> None:
        """Receive a body to its end, or until there is an error in `body.wrong`.

        `receive` is ASGI's, `stated` the Content-Length. Raises `SenderGoneError` when the client disconnects.
        """
        self._look_from_now_on()
        try:
            async with asyncio.timeout(None) as limit:
                sending = _Sending(self._patience, limit)
                self._sendings.add(sending)
                try:
                    await self._read(body, receive, stated, sending)
                finally:
                    self._sendings.discard(sending)
        except TimeoutError:
            body.wrong = RequestTimeout()
        body.rewind()

    async def _read(self, body: Body, receive: Receive, stated: int | None, sending: _Sending) -> None:
        while body.wrong is None:
            message = await receive()
            if message["type"] != "http.request":
                raise SenderGoneError
            chunk = message.get("body", b"")
            body.add(chunk)
            sending.earn(len(chunk))
            if body.size > self._most:
                body.wrong = RequestEntityTooLarge()
            if body.size == stated:
                return
            if not message.get("more_body"):
                if stated is not None:
                    raise SenderGoneError
                return

    def look(self) -> None:
        """Reduce the remaining time of all senders by one interval.

        Time is counted in checks, not by the clock: while the event loop answers a request, received data wait unread.
        """
        for sending in tuple(self._sendings):
            sending.grow_older()

    def _look_from_now_on(self) -> None:
        if not self._looks:
            self._looks = True
            self._look_later()

    def _look_later(self) -> None:
        asyncio.get_running_loop().call_later(SECONDS_BETWEEN_LOOKS, self._look_and_go_on)

    def _look_and_go_on(self) -> None:
        self.look()
        self._look_later()

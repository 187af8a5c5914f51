"""Bodies of requests kept while they arrive, from senders who have only so long for it."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from tempfile import SpooledTemporaryFile
from typing import Any, Self

from werkzeug.exceptions import HTTPException, RequestEntityTooLarge, RequestTimeout, ServiceUnavailable

Receive = Callable[[], Awaitable[Mapping[str, Any]]]

# What a judge sends, and most else, never sees a disk.
MOST_IN_MEMORY = 1 << 18  # bytes
# With the patience of 20 seconds as Apache's RequestReadTimeout has it.
LEAST_RATE = 500  # bytes a second
SECONDS_BETWEEN_LOOKS = 1
SECONDS_UNTIL_ROOM = 30


class SenderGoneError(Exception):
    """Whoever sent this request does not wait for an answer."""


class Room:
    """How many bytes may be kept on disk, of all bodies together."""

    def __init__(self, size: int) -> None:
        """All of it is free."""
        self.left = size


class Body:
    """The body of a request: a file that is read from its beginning, or raises what went wrong with it."""

    def __init__(self, room: Room) -> None:
        """Nothing has come."""
        self.size = 0
        self.wrong: HTTPException | None = None
        self._room = room
        self._on_disk = 0
        self._file = SpooledTemporaryFile[bytes](MOST_IN_MEMORY)

    def __enter__(self) -> Self:
        """Keep it while the block lasts."""
        return self

    def __exit__(self, *_: object) -> None:
        """Forget it."""
        self._room.left += self._on_disk
        self._file.close()

    def add(self, chunk: bytes) -> None:
        """Keep what has come, unless there is no room for it."""
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
        """Go back to its beginning, to be read."""
        self._file.seek(0)

    def read(self, size: int = -1) -> bytes:
        """The next bytes; raises `HTTPException`."""
        self._refuse()
        return self._file.read(size)

    def readline(self, size: int = -1) -> bytes:
        """The next line; raises `HTTPException`."""
        self._refuse()
        return self._file.readline(size)

    def __iter__(self) -> Self:
        """Its lines."""
        return self

    def __next__(self) -> bytes:
        """The next line; raises `HTTPException`."""
        if line := self.readline():
            return line
        raise StopIteration

    def _refuse(self) -> None:
        if self.wrong is not None:
            raise self.wrong


class _Sending:
    """How much longer a sender is waited for; what comes earns time, but never more than at the beginning."""

    def __init__(self, patience: float, limit: asyncio.Timeout) -> None:
        self._patience = self._left = patience
        self._limit = limit

    def earn(self, size: int) -> None:
        self._left = min(self._patience, self._left + size / LEAST_RATE)

    def grow_older(self) -> None:
        self._left -= 1  # second, as looks are apart
        if self._left <= 0:
            self._limit.reschedule(0)


class SlowSenders:
    """Reads bodies side by side, and gives up those that come at less than `LEAST_RATE` or not at all."""

    def __init__(self, patience: float, *, most: int) -> None:
        """Wait `patience` seconds for whoever sends nothing; of a body of more than `most` bytes the rest is left."""
        self._patience = patience
        self._most = most
        self._sendings: set[_Sending] = set()
        self._looks = False

    async def read(self, body: Body, receive: Receive, stated: int | None) -> None:
        """Read a body to its end, or until `body.wrong` says what is wrong with it.

        `receive` is ASGI's, `stated` its Content-Length. Raises `SenderGoneError` when the connection breaks off.
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
        """Let all senders grow older by the time between two looks.

        By looks, not by the clock: while the pages answer somebody nobody looks, and what has come meanwhile waits.
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

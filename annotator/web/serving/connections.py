"""Limits the number and duration of connections per process; idle connections that never got a response close first.

A connection that sends nothing, or a request very slowly, costs a few kilobytes and no time; only their number can
lock others out. When a process or an address reaches its limit, some are closed for a new one: first those that never
got a response, then idle ones, then those with an incomplete request, in each group the oldest first.
"""

import resource
from asyncio import TimerHandle, Transport
from collections import defaultdict
from collections.abc import Iterable
from enum import IntEnum
from typing import Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

# As Apache's RequestReadTimeout is in Debian at most, and half of nginx's client_header_timeout.
SECONDS_FOR_HEAD = 10.0
MOST_CONNECTIONS = 10_000
# File descriptors that a process may need for other things than connections.
SPARE_FILES = 256
# This share of the closable connections is closed at once, so that not every new connection scans all.
SHARE_CLOSED = 0.02


class Phase(IntEnum):
    """The state of a connection, in the order in which they are closed for a new one; `ANSWER` is never closed."""

    IDLE = 0
    HEAD = 1
    BODY = 2
    ANSWER = 3


class Connection(HttpToolsProtocol):
    """A connection with a time limit for request headers, counted in `book`."""

    book: "Connections"

    def connection_made(self, transport: Transport) -> None:  # type: ignore[override]  # as its base class has it
        """Count the connection, and start the time limit of its first request."""
        super().connection_made(transport)
        self.address = self.client[0] if self.client else ""
        self.was_answered = False
        self._head: TimerHandle | None = None
        self._enter(Phase.IDLE)
        self._wait_for_head()
        self.book.add(self)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop counting the connection."""
        self._forget_head()
        self.book.remove(self)
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Process received bytes; the first byte of a request starts its time limit."""
        if self.phase is Phase.IDLE:
            self._enter(Phase.HEAD)
            self._wait_for_head()
        super().data_received(data)

    def on_headers_complete(self) -> None:
        """Pass the request to the application."""
        self._forget_head()
        self._enter(Phase.BODY)
        super().on_headers_complete()

    def on_message_complete(self) -> None:
        """Note that the request is complete and being answered."""
        self._enter(Phase.ANSWER)
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Wait for the next request, unless it is pipelined already."""
        self.was_answered = True
        self._enter(Phase.ANSWER if self.pipeline else Phase.IDLE)
        super().on_response_complete()

    def close(self) -> None:
        """Abort the connection without a response."""
        self.transport.abort()

    def _enter(self, phase: Phase) -> None:
        self.phase = phase
        self.since = self.loop.time()

    def _wait_for_head(self) -> None:
        if self._head is None:
            self._head = self.loop.call_later(SECONDS_FOR_HEAD, self.close)

    def _forget_head(self) -> None:
        if self._head is not None:
            self._head.cancel()
            self._head = None


class Connections:
    """The open connections of a process."""

    def __init__(self, per_address: int) -> None:
        """Allow this many per address; 0 is unlimited, as behind a proxy, whose address all connections have."""
        self._most = MOST_CONNECTIONS
        self._per_address = per_address
        self._all: set[Connection] = set()
        self._of_address: dict[str, set[Connection]] = defaultdict(set)

    def protocol(self) -> type[Connection]:
        """The protocol class of the connections counted here."""
        book = self

        class Counted(Connection):
            pass

        Counted.book = book
        return Counted

    def make_room(self) -> None:
        """Raise the process's limit of open files, and derive the limit of connections from it."""
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        wanted = MOST_CONNECTIONS + SPARE_FILES
        most = wanted if hard == resource.RLIM_INFINITY else min(wanted, hard)
        if soft != resource.RLIM_INFINITY and soft < most:
            resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
        self._most = most - SPARE_FILES

    def add(self, connection: Connection) -> None:
        """Add a connection, and close others, or this one, beyond the limits."""
        same = self._of_address[connection.address]
        self._all.add(connection)
        same.add(connection)
        if self._per_address and len(same) > self._per_address:
            self._close_some(same, connection)
        if len(self._all) > self._most:
            self._close_some(self._all, connection)

    def remove(self, connection: Connection) -> None:
        """Remove a closed connection."""
        self._all.discard(connection)
        same = self._of_address[connection.address]
        same.discard(connection)
        if not same:
            del self._of_address[connection.address]

    def _close_some(self, among: Iterable[Connection], newest: Connection) -> None:
        waiting = [one for one in among if one.phase is not Phase.ANSWER and one is not newest]
        waiting.sort(key=lambda one: (one.was_answered, one.phase, one.since))
        for one in waiting[: max(1, int(SHARE_CLOSED * len(waiting)))] or [newest]:
            self.remove(one)
            one.close()


def connection_options(per_address: int) -> dict[str, Any]:
    """The options of uvicorn for connections."""
    connections = Connections(per_address)
    connections.make_room()
    return {"http": connections.protocol(), "timeout_keep_alive": 75, "backlog": 2_048}

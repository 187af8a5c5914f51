"""Selects the thread in which a request is answered, so that slow pages do not delay judges.

SQLite has one writer and Python one running thread, so more threads answer fewer judgements per second (see
docs/decisions). Judging requests are therefore answered in the event loop itself, one after the other; all other pages
in a thread. A judging request that has to wait for another writer, or whose address was slow recently, goes to a third
thread, and the loop stays free.
"""

import asyncio
import re
import time
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import contextmanager
from contextvars import Context, copy_context
from typing import TypeVar

from annotator.settings import Settings
from annotator.storage.site.database import HeldUpError, is_brief, patience

Result = TypeVar("Result")

# What a judge's browser or program sends and fetches with each document. Lists of documents are ordinary pages.
JUDGING = re.compile(
    r"/collections/[^/]+/(?:judge|adjudicate)/(?:topics|assignments|session)(?:/.*)?"
    r"|/api/v1/collections/[^/]+/(?:judgements|judging/documents)"
)
STATIC = "/static/"
API = "/api/"
# A judging request has a few hundred bytes, with notes and marked words a few thousand.
LARGEST_IN_LOOP = 1 << 16  # bytes
# A page that waits longer than this for another writer does so in a thread.
SECONDS_OF_PATIENCE = 0.03
# An address whose response takes longer is answered in a thread for a while.
SECONDS_UNTIL_SLOW = 0.25
SECONDS_SLOW = 60.0
MOST_SLOW = 1_000


class Lane:
    """Where a request is answered: in the event loop, or in a thread of an executor."""

    def __init__(self, lanes: "Lanes", path: str, executor: Executor | None) -> None:
        """Without an executor, answer in the event loop."""
        self._lanes = lanes
        self._path = path
        self._executor = executor
        self._context: Context | None = None

    async def begin(self, call: Callable[[], Result]) -> Result:
        """Call the application; if another writer blocks it in the event loop, call it again in a thread."""
        if self._executor is None:
            try:
                return self._lanes.call_in_loop(call, self._path)
            except HeldUpError:
                self._executor = self._lanes.judging
        if self._executor is not self._lanes.judging:
            return await self.go_on(call)
        token = is_brief.set(True)
        try:
            with self._lanes.waiting_for_judging():
                return await self.go_on(call)
        finally:
            is_brief.reset(token)

    async def go_on(self, call: Callable[[], Result]) -> Result:
        """Make a further call for the same request, in the same context."""
        if self._executor is None:
            await asyncio.sleep(0)  # lets other requests run between two chunks of a long response
            return call()
        if self._context is None:
            # A thread alternates between chunks of several requests, whose Flask contexts must not mix.
            self._context = copy_context()
        return await asyncio.get_running_loop().run_in_executor(self._executor, self._context.run, call)


class Lanes:
    """The threads of a process that answer requests."""

    def __init__(self, settings: Settings) -> None:
        """Start with idle threads and without slow addresses."""
        self.judging = ThreadPoolExecutor(1, "judging")
        self._pages = ThreadPoolExecutor(settings.page_threads, "pages")
        # PostgreSQL has many writers, and a statement that waits for a row lock would block the loop.
        self._has_loop = settings.database_url.startswith("sqlite")
        self._slow: dict[str, float] = {}
        self._in_judging = 0

    def lane(self, method: str, path: str, size: int) -> Lane:
        """The lane of a request with a body of `size` bytes."""
        return Lane(self, path, self._executor(method, path, size))

    def call_in_loop(self, call: Callable[[], Result], path: str) -> Result:
        """Call in the event loop; raises `HeldUpError` when it would have to wait for another writer."""
        begin = time.monotonic()
        token = patience.set(SECONDS_OF_PATIENCE)
        try:
            return call()
        finally:
            patience.reset(token)
            if time.monotonic() - begin > SECONDS_UNTIL_SLOW:
                self._remember_slow(path)

    @contextmanager
    def waiting_for_judging(self) -> Iterator[None]:
        """Send judging requests to the same thread during the block."""
        self._in_judging += 1
        try:
            yield
        finally:
            self._in_judging -= 1

    def _executor(self, method: str, path: str, size: int) -> Executor | None:
        if path.startswith(STATIC) and method in {"GET", "HEAD"}:
            return None
        if not JUDGING.fullmatch(path) or size > LARGEST_IN_LOOP or (method == "GET" and path.startswith(API)):
            return self._pages
        # Other requests would also wait behind one that waits in the thread: they go there, too.
        is_slow = self._slow.get(path, 0) > time.monotonic()
        return None if self._has_loop and not is_slow and not self._in_judging else self.judging

    def _remember_slow(self, path: str) -> None:
        if len(self._slow) >= MOST_SLOW:
            self._slow.clear()
        self._slow[path] = time.monotonic() + SECONDS_SLOW

"""Fetches the texts of pooled documents from the sources of their collections."""

import time
from contextlib import suppress
from datetime import UTC, datetime

from annotator.errors import ConflictError, NotFoundError
from annotator.storage import Database
from annotator.workflows.documents import source_fetching
from annotator.workflows.documents.source_fetching import OpenSource
from annotator.workflows.documents.source_places import Reach

# Between two searches for pooled documents without text: at least this, and so many times as long as the last took.
SECONDS_BETWEEN_SEARCHES = 2.0
SHARE_OF_TIME = 20
SECONDS_OF_A_STEP = 5.0


class Fetching:
    """Fetches some documents of each source per step, several at once."""

    def __init__(self, database: Database, reach: Reach) -> None:
        """Take the database and what the server may read."""
        self._database = database
        self._reach = reach
        self._next_search = 0.0

    def step(self) -> bool:
        """Look for pooled documents without text if it is time, and fetch for a while; False when none were due."""
        began = time.monotonic()
        has_noted = False
        if began >= self._next_search:
            has_noted = source_fetching.note_pooled(self._database, now=_now())
            ended = time.monotonic()
            self._next_search = ended + max(SECONDS_BETWEEN_SEARCHES, SHARE_OF_TIME * (ended - began))
        has_fetched = False
        while time.monotonic() < began + SECONDS_OF_A_STEP and self._fetch_some():
            has_fetched = True
        return has_noted or has_fetched

    def _fetch_some(self) -> bool:
        with self._database.reading() as session:
            sources = source_fetching.sources_with_due(session, now=_now())
        for source in sources:
            self._fetch(source)
        return bool(sources)

    def _fetch(self, source: OpenSource) -> None:
        with self._database.transaction() as session:
            due = source_fetching.take_due(session, source, now=_now())
        read = source_fetching.read_due(source, due, self._reach)
        for some in source_fetching.parts_to_store(due, read):
            # Closed or deleted meanwhile: then nothing is stored.
            with suppress(ConflictError, NotFoundError), self._database.transaction() as session:
                source_fetching.record(session, source, some, read, at=_now())


def _now() -> datetime:
    return datetime.now(UTC)

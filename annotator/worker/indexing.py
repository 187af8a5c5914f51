"""What the worker does for the search index between jobs."""

import logging
import time

from sqlalchemy.exc import DBAPIError

from annotator.errors import BusyError
from annotator.storage import Database
from annotator.workflows.documents import indexing

# Others index what they import; only what was broken off is found by looking again.
SECONDS_BETWEEN_LOOKS = 60.0
LOG = logging.getLogger("annotator.worker")


class Indexing:
    """Indexes some documents at each step while there are any; then looks again from time to time."""

    def __init__(self, database: Database) -> None:
        """Nothing is looked for before the first step."""
        self._database = database
        self._after = 0
        self._next_look = time.monotonic()

    def look_again(self) -> None:
        """Begin anew at the next step: something may have been imported."""
        self._after, self._next_look = 0, time.monotonic()

    def step(self) -> bool:
        """Index some documents; False when none are left, or it is not yet time to look for them.

        Trouble is logged and left until later: it must not keep jobs waiting.
        """
        if time.monotonic() < self._next_look:
            return False
        try:
            return self._indexed()
        except (BusyError, DBAPIError) as trouble:
            # Without the statement, whose values are texts.
            LOG.error("The worker cannot index documents: %s", getattr(trouble, "orig", trouble))  # noqa: TRY400
        except Exception:
            LOG.exception("The worker failed at indexing documents.")
        self._wait()
        return False

    def _indexed(self) -> bool:
        with self._database.reading() as session:
            several = indexing.words_to_index(session, after=self._after)
        if not several:
            self._wait()
            return False
        with self._database.transaction() as session:
            indexing.index_some(session, several)
        self._after = several[-1].document_id
        return True

    def _wait(self) -> None:
        self._after, self._next_look = 0, time.monotonic() + SECONDS_BETWEEN_LOOKS

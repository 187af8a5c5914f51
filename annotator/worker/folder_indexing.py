"""Indexes the folders that are sources of documents."""

import time
from datetime import UTC, datetime

from annotator.evaluation.formats.source_answers import SourceError
from annotator.storage import Database
from annotator.workflows.documents import source_indexing
from annotator.workflows.documents.source_indexing import SupersededError, Unindexed
from annotator.workflows.documents.source_places import Reach

SECONDS_BETWEEN_NOTES = 2.0
SECONDS_BETWEEN_CLEANINGS = 60.0


class FolderIndexing:
    """Builds an index for each folder that has none, and removes those that no source uses."""

    def __init__(self, database: Database, reach: Reach) -> None:
        """Take the database and what the server may read."""
        self._database = database
        self._reach = reach
        self._next_cleaning = 0.0

    def step(self) -> bool:
        """Index the folders that wait for it; False when none did."""
        if time.monotonic() >= self._next_cleaning:
            self._clean()
            self._next_cleaning = time.monotonic() + SECONDS_BETWEEN_CLEANINGS
        with self._database.reading() as session:
            waiting = source_indexing.sources_to_index(session, now=_now())
        return sum(map(self._index, waiting)) > 0

    def _index(self, wanted: Unindexed) -> bool:
        with self._database.transaction() as session:
            if not source_indexing.take_source(session, wanted, now=_now()):
                return False
        try:
            built = source_indexing.build(wanted, self._reach, _Noting(self._database, wanted))
        except SupersededError:
            return True
        except SourceError as error:
            with self._database.transaction() as session:
                source_indexing.record_failure(session, wanted, error, now=_now())
            return True
        with self._database.transaction() as session:
            is_wanted = source_indexing.record_index(session, wanted, built, now=_now())
        if not is_wanted:
            source_indexing.remove_indexes([built.path])
        return True

    def _clean(self) -> None:
        with self._database.reading() as session:
            unused = source_indexing.unused_indexes(session, self._reach, now=_now())
        source_indexing.remove_indexes(unused)


class _Noting:
    """Notes the progress of indexing now and then."""

    def __init__(self, database: Database, wanted: Unindexed) -> None:
        self._database, self._wanted = database, wanted
        self._next = 0.0

    def __call__(self, done: int, total: int) -> None:
        if time.monotonic() < self._next:
            return
        with self._database.transaction() as session:
            source_indexing.note_progress(session, self._wanted, done, total, now=_now())
        self._next = time.monotonic() + SECONDS_BETWEEN_NOTES


def _now() -> datetime:
    return datetime.now(UTC)

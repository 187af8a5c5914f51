"""What this process remembers of the database of its application; other processes may serve the next request.

They come out the same: a memory only spares computing something again.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from annotator.evaluation.pooling.pool_curve import PlanMemory
from annotator.storage import Database
from annotator.storage.agreement.grade_columns import GradesMemory
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_state import report_state
from annotator.web.site.context import database
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.pools import pool_selection

MOST_REPORTS = 16  # the ones used last

Report = TypeVar("Report")
Memory = TypeVar("Memory")


class MemoryOfDatabase(Generic[Memory]):
    """A memory of each database for as long as that is used."""

    def __init__(self, begin: Callable[[], Memory]) -> None:
        """Begin each memory by this."""
        self._begin = begin
        self._memories: WeakKeyDictionary[Database, Memory] = WeakKeyDictionary()

    def __call__(self) -> Memory:
        """The memory for the database of this application."""
        return self._memories.setdefault(database(), self._begin())


class _Kept(NamedTuple):
    """A report, the state of the collection that it was made from, and that of the site when they were compared."""

    site: Hashable
    collection: bytes
    report: object


class ReportCache:
    """The reports of one database, each with the state of the collection that it was made from."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._lock = threading.Lock()
        self._reports: OrderedDict[Hashable, _Kept] = OrderedDict()

    def report(self, given: Database, slug: str, key: Hashable, make: Callable[[Any], Report]) -> Report:
        """The report kept under this key, or a new one when the collection has changed; `key` has all that was asked.

        Raises `NotFoundError` for an unknown collection, and what `make` raises.
        """
        site = given.state()
        if site is None:  # in memory each connection may have a database of its own
            return given.read(make)
        with self._lock:
            kept = self._reports.get((slug, key))
        # While nothing at all is stored the collection need not be looked at.
        if kept is None or kept.site != site:
            # Nobody waits while it is made: two who ask at once both make it.
            with given.reading() as session:
                state = report_state(session, find_collection(session, slug))
                is_same = kept is not None and kept.collection == state
                kept = _Kept(site, state, kept.report if kept is not None and is_same else make(session))
        with self._lock:
            self._reports[slug, key] = kept
            self._reports.move_to_end((slug, key))
            while len(self._reports) > MOST_REPORTS:
                self._reports.popitem(last=False)
        return cast("Report", kept.report)


# Scores of the runs by live grades, curves of planned pools, choices of adaptive ones, grades by judge, and reports.
score_cache = MemoryOfDatabase(ScoreCache)
plan_memory = MemoryOfDatabase(PlanMemory)
adaptive_memory = MemoryOfDatabase(pool_selection.Memory)
grades_memory = MemoryOfDatabase(GradesMemory)
report_cache = MemoryOfDatabase(ReportCache)


def kept_report(slug: str, key: Hashable, make: Callable[[Any], Report]) -> Report:
    """The report of a collection that was made for this key from the state it is in, or a new one."""
    return report_cache().report(database(), slug, key, make)

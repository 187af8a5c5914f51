"""Caches of this process, by database; other processes may serve the next request.

A cache only saves computation: results do not depend on it.
"""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, Generic, NamedTuple, TypeVar, cast
from weakref import WeakKeyDictionary

from annotator.evaluation.pooling.pool_curve import PlanMemory
from annotator.storage import Database
from annotator.storage.collections.collection import find_collection
from annotator.storage.leaderboard.scored_state import report_state
from annotator.web.site.context import database
from annotator.workflows.collections.waiting import DisputeMemory, Waiting, waiting
from annotator.workflows.judging.judging_pace import DaysMemory
from annotator.workflows.leaderboard.score_cache import ScoreCache
from annotator.workflows.pools import pool_selection
from annotator.workflows.qrels.flagged_topics import SettledMemory
from annotator.workflows.qrels.judges_to_choose import JudgesMemory

MOST_REPORTS = 16  # the most recently used

Report = TypeVar("Report")
Memory = TypeVar("Memory")


class MemoryOfDatabase(Generic[Memory]):
    """One cache per database, for as long as the database is used."""

    def __init__(self, begin: Callable[[], Memory]) -> None:
        """Create each cache by calling `begin`."""
        self._begin = begin
        self._memories: WeakKeyDictionary[Database, Memory] = WeakKeyDictionary()

    def __call__(self) -> Memory:
        """The cache for the database of this application."""
        return self._memories.setdefault(database(), self._begin())


class _Kept(NamedTuple):
    """A report, the state of the collection it was computed from, and the state of the site at the last comparison."""

    site: Hashable
    collection: bytes
    report: object


class ReportCache:
    """The reports of one database, each with the state of the collection it was computed from."""

    def __init__(self) -> None:
        """Create an empty cache."""
        self._lock = threading.Lock()
        self._reports: OrderedDict[Hashable, _Kept] = OrderedDict()

    def report(self, given: Database, slug: str, key: Hashable, make: Callable[[Any], Report]) -> Report:
        """The cached report, or a new one if the collection has changed; `key` contains all parameters.

        Raises `NotFoundError` for an unknown collection, and the errors of `make`.
        """
        site = given.state()
        if site is None:  # in memory each connection may have a database of its own
            return given.read(make)
        with self._lock:
            kept = self._reports.get((slug, key))
        # If nothing at all was stored since, the collection need not be checked.
        if kept is None or kept.site != site:
            # No lock is held while it is computed: concurrent requests may both compute it.
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


# Live scores, curves of planned pools, choices of adaptive pools, disputes, judges of labels, days of judging, settled
# documents of topics, and reports.
score_cache = MemoryOfDatabase(ScoreCache)
plan_memory = MemoryOfDatabase(PlanMemory)
adaptive_memory = MemoryOfDatabase(pool_selection.Memory)
dispute_memory = MemoryOfDatabase(DisputeMemory)
judges_memory = MemoryOfDatabase(JudgesMemory)
days_memory: MemoryOfDatabase[DaysMemory] = MemoryOfDatabase(DaysMemory)
settled_memory: MemoryOfDatabase[SettledMemory] = MemoryOfDatabase(SettledMemory)
report_cache = MemoryOfDatabase(ReportCache)


def kept_report(slug: str, key: Hashable, make: Callable[[Any], Report]) -> Report:
    """The report of a collection for this key, cached until the collection changes."""
    return report_cache().report(database(), slug, key, make)


def what_waits(slug: str) -> Waiting:
    """What waits for the organisers of a collection, for the menu of every page; about 2 ms."""
    return database().read(waiting, slug, dispute_memory())

"""Reports that this process keeps until anything is stored; other processes may serve the next request."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any, TypeVar, cast
from weakref import WeakKeyDictionary

from annotator.storage import Database
from annotator.web.site.context import database

MOST_REPORTS = 16  # the ones used last

Report = TypeVar("Report")


class ReportCache:
    """The reports of one database, each with the state of the database that it was made from."""

    def __init__(self) -> None:
        """Keep nothing yet."""
        self._lock = threading.Lock()
        self._reports: OrderedDict[Hashable, tuple[Hashable, object]] = OrderedDict()

    def report(self, given: Database, key: Hashable, make: Callable[[Any], Report]) -> Report:
        """The report kept under this key, or a new one when anything was stored since; `key` has all that was asked."""
        state = given.state()
        with self._lock:
            kept = self._reports.get(key)
            if kept is not None and state is not None and kept[0] == state:
                self._reports.move_to_end(key)
                return cast("Report", kept[1])
        # Nobody waits while it is made: two who ask at once both make it.
        with given.reading() as session:
            made = make(session)
        with self._lock:
            self._reports[key] = state, made
            self._reports.move_to_end(key)
            while len(self._reports) > MOST_REPORTS:
                self._reports.popitem(last=False)
        return made


CACHES: WeakKeyDictionary[Database, ReportCache] = WeakKeyDictionary()


def kept_report(key: Hashable, make: Callable[[Any], Report]) -> Report:
    """The report of this application's database that was made for this key in the state it is in, or a new one."""
    return CACHES.setdefault(database(), ReportCache()).report(database(), key, make)

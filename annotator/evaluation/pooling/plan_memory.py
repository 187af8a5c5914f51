"""What a process remembers of the plans of pools between one request and the next."""

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock

from annotator.evaluation.pooling.pool_curve import AllTaken

MOST_PLANS = 24  # of about a megabyte each, three of an adaptive strategy, for 143 runs of 30 topics


@dataclass(eq=False)
class PlanMemory:
    """What strategies take from runs, under all that it depends on: what is pooled and judged has no part in it.

    Nothing is ever told to forget; plans of runs that are no more go when nobody has asked for them for longest.
    """

    _taken: OrderedDict[Hashable, AllTaken] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def recall(self, key: Hashable, take: Callable[[], AllTaken]) -> AllTaken:
        """What was taken under this key, or else is taken now; two who ask at once may both take it."""
        with self._lock:
            if key in self._taken:
                self._taken.move_to_end(key)
                return self._taken[key]
        taken = take()
        with self._lock:
            self._taken[key] = taken
            while len(self._taken) > MOST_PLANS:
                self._taken.popitem(last=False)
        return taken

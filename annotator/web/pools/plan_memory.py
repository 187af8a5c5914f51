"""What this process remembers of plans of pools; other processes may serve the next request, and come out the same."""

from weakref import WeakKeyDictionary

from annotator.evaluation.pooling.pool_curve import PlanMemory
from annotator.storage import Database
from annotator.web.site.context import database

MEMORIES: WeakKeyDictionary[Database, PlanMemory] = WeakKeyDictionary()


def plan_memory() -> PlanMemory:
    """The memory for the database of this application."""
    return MEMORIES.setdefault(database(), PlanMemory())

"""The cache of scores of a process; another process may serve the next request, and computes the same."""

from weakref import WeakKeyDictionary

from annotator.storage import Database
from annotator.web.site.context import database
from annotator.workflows.leaderboard.score_cache import ScoreCache

CACHES: WeakKeyDictionary[Database, ScoreCache] = WeakKeyDictionary()


def score_cache() -> ScoreCache:
    """The cache for the database of this application."""
    return CACHES.setdefault(database(), ScoreCache())

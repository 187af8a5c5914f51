"""What this process remembers of scores; other processes may serve the next request, and come out the same."""

from weakref import WeakKeyDictionary

from annotator.evaluation.leaderboard.live_scores import LiveScores
from annotator.storage import Database
from annotator.web.site.context import database

MEMORIES: WeakKeyDictionary[Database, LiveScores] = WeakKeyDictionary()


def live_scores() -> LiveScores:
    """The memory for the database of this application."""
    return MEMORIES.setdefault(database(), LiveScores())

"""Counts the progress of topics that were changed, while there are any."""

from collections.abc import Hashable

from annotator.storage import Database
from annotator.workflows.judging.topic_counting import count_changed_topics


class Counting:
    """Counts some topics per step, and looks for changed ones only when the database has changed."""

    def __init__(self, database: Database) -> None:
        """Look at the first step."""
        self._database = database
        self._state: Hashable = None

    def step(self) -> bool:
        """Count some topics; return False when none had changed."""
        state = self._database.state()
        if state is not None and state == self._state:
            return False
        has_counted = count_changed_topics(self._database)
        # Its own commit changes the state, too, and other topics may wait.
        self._state = None if has_counted else state
        return has_counted

"""Refreshes what is derived from topics, while there are any that were changed."""

from collections.abc import Callable, Hashable

from annotator.storage import Database


class Refreshing:
    """Refreshes some topics per step, and looks for changed ones only when the database has changed.

    `refresh` returns False when none had changed.
    """

    def __init__(self, database: Database, refresh: Callable[[Database], bool]) -> None:
        """Look at the first step."""
        self._database, self._refresh = database, refresh
        self._state: Hashable = None

    def step(self) -> bool:
        """Refresh some topics; return False when none had changed."""
        state = self._database.state()
        if state is not None and state == self._state:
            return False
        has_refreshed = self._refresh(self._database)
        # Its own commit changes the state, too, and other topics may wait.
        self._state = None if has_refreshed else state
        return has_refreshed

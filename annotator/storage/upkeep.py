"""What is asked of a database as a whole: why it may be refused, and the file that it is."""

from collections.abc import Callable
from pathlib import Path

from annotator.errors import AnnotatorError
from annotator.storage.database import Database

# How much of a work is done, and of how much.
Progress = Callable[[int, int], None]


class UpkeepError(AnnotatorError):
    """It cannot be done with this database, and nothing was changed; only commands ask for it, which speak English."""


def file_of(database: Database, remedy: str) -> Path:
    """The file of an SQLite database; `UpkeepError` with the `remedy` for any other."""
    name = database.engine.url.database
    if not database.is_sqlite or name in {None, "", ":memory:"}:
        raise UpkeepError("This is done to a database in a file. %(remedy)s", remedy=remedy)
    return Path(str(name))

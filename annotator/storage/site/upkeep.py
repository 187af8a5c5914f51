"""What is asked of a database as a whole: why it may be refused, and the file that it is."""

from collections.abc import Callable
from pathlib import Path

from sqlalchemy.engine import URL

from annotator.errors import AnnotatorError
from annotator.storage.site.database import Database
from annotator.storage.site.database_file import file_behind

# How much of a work is done, and of how much.
Progress = Callable[[int, int], None]


class UpkeepError(AnnotatorError):
    """It cannot be done with this database, and nothing was changed; only commands ask for it, which speak English."""


def file_of(database: Database, remedy: str) -> Path:
    """The file of an SQLite database; `UpkeepError` with the `remedy` for any other, which may name its `%(url)s`."""
    file = file_behind(database.engine.url)
    if file is None:
        told = remedy % {"url": _url_of_other_tools(database.engine.url)}
        raise UpkeepError("This is done to a database in a file. %(remedy)s", remedy=told)
    return file


def _url_of_other_tools(url: URL) -> str:
    """As PostgreSQL's own tools take it: without our driver, and without the password, for which they ask."""
    return f"'{URL.create(url.get_backend_name(), url.username, None, url.host, url.port, url.database, url.query)}'"

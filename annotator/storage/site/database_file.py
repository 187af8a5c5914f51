"""The file of an SQLite database: where it is, and that nobody but its owner reads it."""

import os
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy.engine import URL

from annotator.files import OWNER_ONLY

IN_MEMORY = frozenset({"", ":memory:"})
FILE_URI = "file:"


def file_behind(url: URL) -> Path | None:
    """The file that an address names; None for one in memory and for PostgreSQL."""
    name = url.database or ""
    if url.get_backend_name() != "sqlite" or url.query.get("mode") == "memory":
        return None
    if url.query.get("uri") and name.startswith(FILE_URI):
        name = unquote(name.removeprefix(FILE_URI))
    return None if name in IN_MEMORY else Path(name)


def create_private(url: URL) -> None:
    """Create the empty file of a database that is not there yet, so that SQLite does not, for everybody to read.

    SQLite gives the logs beside it the same mode. One that is there is not even opened: to close it again would take
    away the locks that other connections of this process have on it.
    """
    path = file_behind(url)
    if path is None or url.query.get("mode") in {"ro", "rw"}:
        return
    # What stands in the way SQLite meets as well, and reports.
    with suppress(OSError):
        os.close(os.open(path.resolve(), os.O_CREAT | os.O_EXCL | os.O_WRONLY, OWNER_ONLY))

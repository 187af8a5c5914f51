"""Ctrl-C during a statement that takes long: SQLite would hear of it when the statement is done."""

import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotator.storage.site.transient_errors import PRIMARY_CODE

# About a millisecond.
OPERATIONS_BETWEEN_LOOKS = 10_000


@contextmanager
def interruptible(session: Session) -> Iterator[None]:
    """Let Ctrl-C end the statements of the block; it is raised as `KeyboardInterrupt`."""
    driver: Any = session.connection().connection.driver_connection
    if not isinstance(driver, sqlite3.Connection):  # PostgreSQL's driver hears of it by itself
        yield
        return
    # Python calls the handlers of signals before the next line of Python: this one is enough. What they raise ends the
    # statement, and sqlite3 keeps it to itself.
    driver.set_progress_handler(lambda: 0, OPERATIONS_BETWEEN_LOOKS)
    try:
        yield
    except OperationalError as error:
        code: int = getattr(error.orig, "sqlite_errorcode", 0)
        if code & PRIMARY_CODE == sqlite3.SQLITE_INTERRUPT:
            raise KeyboardInterrupt from error
        raise
    finally:
        driver.set_progress_handler(None, 0)

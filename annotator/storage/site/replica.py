"""A replica of PostgreSQL that follows the database, from which pages that read much are read.

It is used only when it has everything that the database has: no page is older for it.
"""

import logging
import time
from contextvars import ContextVar

from sqlalchemy import Engine, create_engine, text
from sqlalchemy.exc import DBAPIError

LOG = logging.getLogger("annotator.storage")
# How long to wait for what was committed just now, and how long a replica that failed is left alone.
SECONDS_TO_CATCH_UP = 1.0
SECONDS_BETWEEN_LOOKS = 0.005
SECONDS_AFTER_FAILURE = 10.0
SECONDS_TO_CONNECT = 2

_IDENTITY = text("SELECT system_identifier FROM pg_control_system()")
# Where the next record goes: a commit that is not flushed yet, with synchronous_commit off, lies before it, too.
_WRITTEN = text("SELECT pg_current_wal_insert_lsn()::text")
_IS_FOLLOWING = text("SELECT pg_is_in_recovery()")
_HAS_REACHED = text("SELECT coalesce(pg_last_wal_replay_lsn() >= CAST(:written AS pg_lsn), false)")

# Whether the current request reads much, and may be read from a replica.
reads_much: ContextVar[bool] = ContextVar("reads_much", default=False)


class Replica:
    """A replica, with the state of whether it can be used."""

    def __init__(self, url: str, primary: Engine) -> None:
        """Prepare the engine; no connection is opened yet."""
        self.engine = create_engine(
            url, hide_parameters=True, pool_pre_ping=True, connect_args={"connect_timeout": SECONDS_TO_CONNECT}
        )
        self._primary = primary
        self._rested_at = 0.0  # not to be used before this moment, of a monotonic clock
        self._is_known = False

    def is_ready(self) -> bool:
        """Whether it has everything that is committed by now; waits a moment for it. Failures are logged."""
        if time.monotonic() < self._rested_at:
            return False
        try:
            return self._has_caught_up()
        except DBAPIError as error:
            self.rest(str(error.orig))
            return False

    def rest(self, reason: str) -> None:
        """Leave it alone for a while, and log why."""
        self._rested_at = time.monotonic() + SECONDS_AFTER_FAILURE
        LOG.warning("The replica is not used for %d seconds: %s", SECONDS_AFTER_FAILURE, reason.strip())

    def close(self) -> None:
        """Close all connections."""
        self.engine.dispose()

    def _has_caught_up(self) -> bool:
        with self._primary.connect() as primary:
            written = primary.scalar(_WRITTEN)
            identity = None if self._is_known else primary.scalar(_IDENTITY)
        ends = time.monotonic() + SECONDS_TO_CATCH_UP
        with self.engine.connect().execution_options(isolation_level="AUTOCOMMIT") as replica:
            if not self._is_known and not (replica.scalar(_IS_FOLLOWING) and replica.scalar(_IDENTITY) == identity):
                self.rest("it does not follow this database.")
                return False
            self._is_known = True
            while not replica.scalar(_HAS_REACHED, {"written": written}):
                if time.monotonic() > ends:
                    self.rest(f"it is more than {SECONDS_TO_CATCH_UP:.0f} second behind.")
                    return False
                time.sleep(SECONDS_BETWEEN_LOOKS)
        return True

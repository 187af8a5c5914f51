"""What runs at the beginning of the transaction that stores what a request is about."""

import hashlib
from collections.abc import Callable, Sequence
from contextvars import ContextVar
from dataclasses import dataclass

from sqlalchemy import func, select
from sqlalchemy.orm import Session

Check = Callable[[Session], None]


@dataclass
class WriteGuard:
    """Runs at the beginning of the transaction that stores what a request is about, and sees that it was committed.

    Until then it runs again in each transaction, as in one that is tried again. Its checks may write, or raise to
    refuse.
    """

    checks: Sequence[Check]
    is_committed: bool = False

    def run(self, session: Session) -> None:
        """Run the checks, unless the transaction that they are for was committed."""
        if not self.is_committed:
            for check in self.checks:
                check(session)


# The guard of the current request, if it has one.
write_guard: ContextVar[WriteGuard | None] = ContextVar("write_guard", default=None)


def in_turn(subject: str, check: Callable[[], None]) -> Check:
    """A check that first waits for the other write transactions in their turn at this subject.

    SQLite has only one write transaction at a time, whatever its subject.
    """
    number = int.from_bytes(hashlib.sha256(subject.encode()).digest()[:8]) >> 1  # a bigint without sign

    def wait_and_check(session: Session) -> None:
        session.connection()  # begins the transaction, which on SQLite takes the write lock
        if session.get_bind().dialect.name == "postgresql":
            session.execute(select(func.pg_advisory_xact_lock(number)))
        check()

    return wait_and_check

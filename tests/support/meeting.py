"""Two sessions on PostgreSQL that meet: the second begins before the first is stored, and waits for it."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from time import sleep

from sqlalchemy import func, select, text
from sqlalchemy.orm import Session

from annotator.storage import Assignment, AssignmentState, Database, PoolItem

SECONDS_BETWEEN_LOOKS = 0.01
LOOKS = 3_000


Step = Callable[[Session], object]


def one_after_the_other(database: Database, first: Step, second: Step, *, is_done_again: bool = True) -> None:
    """Do both; `second` begins before `first` is stored, and has to wait for it; what it raises is raised here.

    It is done again when it had to give way, unless told otherwise.
    """
    do = database.attempt if is_done_again else partial(_once, database)
    with ThreadPoolExecutor(1) as thread:
        with database.transaction() as session:
            first(session)
            session.flush()
            waiting = thread.submit(do, second)
            wait_until_somebody_waits(database)
        waiting.result(timeout=60)


def _once(database: Database, step: Step) -> None:
    with database.transaction() as session:
        step(session)


def wait_until_somebody_waits(database: Database) -> None:
    """Return once a statement waits for a lock."""
    waits = text("SELECT count(*) FROM pg_locks WHERE NOT granted")
    for _ in range(LOOKS):
        with database.reading() as session:
            if session.scalars(waits).one():
                return
        sleep(SECONDS_BETWEEN_LOOKS)
    raise AssertionError("Nobody had to wait.")


def places(database: Database, item: int) -> tuple[int, int]:
    """How many places of an item are taken, by its own count and by its assignments."""
    with database.reading() as session:
        taken = session.get_one(PoolItem, item).taken
        has_it = (Assignment.pool_item_id == item) & (Assignment.state != AssignmentState.RETURNED)
        return taken, session.scalars(select(func.count()).where(has_it)).one()

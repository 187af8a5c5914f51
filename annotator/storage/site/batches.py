"""Many rows written in transactions so short that nobody waits for them."""

import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from typing import Any, TypeVar

from sqlalchemy.orm import Session

from annotator.garbage_collection import garbage_collection_off
from annotator.storage.site.database import Database

Row = dict[str, Any]


# A transaction is to hold SQLite's lock for so long, about: on a machine with much to do it takes several times that.
SECONDS_OF_A_BATCH = 0.03
# And then leaves it to others, who look for it each hundredth of a second or more often.
SECONDS_BETWEEN_BATCHES = 0.02
# What a batch weighs: each row so much, and each letter or byte of it one more.
ROW = 200
FIRST_WEIGHT, LEAST_WEIGHT, GREATEST_WEIGHT = 50 * ROW, ROW, 1 << 23
SLOWER, FASTER = 0.25, 1.5

Item = TypeVar("Item")


def weight_of(row: Row) -> int:
    """What a row weighs, by its letters and bytes."""
    return ROW + sum(len(value) for value in row.values() if isinstance(value, str | bytes))


def write_in_batches(
    database: Database,
    items: Iterable[Item],
    write: Callable[[Session, Sequence[Item]], object],
    *,
    weigh: Callable[[Item], int] = lambda _: ROW,
) -> None:
    """Hand the items to `write` in transactions of their own, as many at once as take `SECONDS_OF_A_BATCH`.

    `write` may be called again with the same items, when somebody was in its way. One item is never divided.
    """
    most, weight = float(FIRST_WEIGHT), 0
    batch: list[Item] = []
    for item in items:
        more = weigh(item)
        if batch and weight + more > most:
            most = _next_weight(most, _seconds_of(database, batch, write))
            batch, weight = [], 0
        batch.append(item)
        weight += more
    if batch:
        _seconds_of(database, batch, write)


def _next_weight(most: float, seconds: float) -> float:
    change = SECONDS_OF_A_BATCH / max(seconds, SECONDS_OF_A_BATCH / FASTER)
    return min(max(most * max(change, SLOWER), LEAST_WEIGHT), GREATEST_WEIGHT)


def _seconds_of(database: Database, batch: Sequence[Item], write: Callable[[Session, Sequence[Item]], object]) -> float:
    """Write a batch, leave the lock to others for a moment, and say how long it was held."""
    begun = 0.0

    with ExitStack() as until_stored:

        def work(session: Session) -> None:
            nonlocal begun
            session.connection()  # SQLite's lock is waited for here
            begun = time.monotonic()
            # A full garbage collection would double the time that the lock is held: it comes between two batches.
            until_stored.enter_context(garbage_collection_off())
            write(session, batch)

        database.attempt(work)
        seconds = time.monotonic() - begun
    time.sleep(min(seconds, SECONDS_BETWEEN_BATCHES))
    return seconds

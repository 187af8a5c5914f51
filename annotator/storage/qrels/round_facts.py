"""What scoring one round depends on: its runs, and what was judged before."""

from collections.abc import Callable
from datetime import datetime
from functools import partial
from typing import NamedTuple

from sqlalchemy.orm import Session

from annotator.storage.collections.rounds import find_round, judged_before, kept_before, requeued_so_far, runs_of_round
from annotator.storage.qrels.qrels_versions import kept_version


class RoundFacts(NamedTuple):
    """What scoring one round depends on; the grades are read when they are needed."""

    number: int
    residual: bool
    runs: frozenset[int]
    kept: tuple[int, ...]  # versions of the qrels that the rounds before were closed with
    mark: tuple[int, datetime | None] | None  # changes when what counts as judged before may have changed
    read: Callable[[], dict[int, dict[int, str]]]  # what was judged before


def facts_of_round(
    session: Session, collection_id: int, number: int | None, *, residual: bool, as_kept: int | None = None
) -> RoundFacts | None:
    """What scoring this round depends on, None for no round; `NotFoundError` for one there is not.

    With a version of the qrels it is as it was when that was kept.
    """
    if number is None:
        return None
    at = None if as_kept is None else kept_version(session, collection_id, str(as_kept)).made_at
    found = find_round(session, collection_id, number).number
    return RoundFacts(
        found,
        residual,
        runs_of_round(session, collection_id, found),
        kept_before(session, collection_id, found),
        requeued_so_far(session, collection_id, at) if residual else None,
        partial(judged_before, session, collection_id, found, at=at),
    )

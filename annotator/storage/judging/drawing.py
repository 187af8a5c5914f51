"""Drawing: a judge takes a few items of a topic into their hands; what they hold or have put off, in their order."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple, cast

from sqlalchemy import Table, and_, bindparam, select, update
from sqlalchemy.exc import OperationalError
from sqlalchemy.orm import Session

from annotator.errors import BusyError
from annotator.storage.judging.eligibility import due_again, next_free
from annotator.storage.judging.judging import lend
from annotator.storage.site.database import has_one_writer
from annotator.storage.tables.collections import Collection
from annotator.storage.tables.documents import Document
from annotator.storage.tables.judging import HELD, Assignment, AssignmentState, Purpose
from annotator.storage.tables.people import Membership, Role, User
from annotator.storage.tables.pools import PoolItem
from annotator.storage.tables.topics import Topic

# Of so many documents one may be shown again.
ONE_IN = 4


class Queue(StrEnum):
    """Which of a person's queues: as a judge, or as an adjudicator; they have the two apart."""

    JUDGING = "judging"
    ADJUDICATION = "adjudication"


# Who draws from them.
ROLES = {Queue.JUDGING: Role.JUDGE.value, Queue.ADJUDICATION: Role.ADJUDICATOR.value}
# Put together once, from the tables themselves: it is asked for with one judgement in four.
_ITEMS = cast("Table", PoolItem.__table__)
_ASSIGNMENTS = cast("Table", Assignment.__table__)
_DOCUMENTS = cast("Table", Document.__table__)
_MEMBERS = cast("Table", Membership.__table__).c
_HAS_ROLE = select(_MEMBERS.id).where(
    _MEMBERS.collection_id == bindparam("collection_id"),
    _MEMBERS.user_id == bindparam("judge_id"),
    _MEMBERS.role == bindparam("role"),
)
_IN_HAND = (
    select(_ASSIGNMENTS.c.id, _ASSIGNMENTS.c.put_off_at)
    .join(_ITEMS, _ITEMS.c.id == _ASSIGNMENTS.c.pool_item_id)
    .where(
        _ASSIGNMENTS.c.judge_id == bindparam("judge_id"),
        _ASSIGNMENTS.c.state == bindparam("state"),
        _ITEMS.c.topic_id == bindparam("topic_id"),
    )
)
IN_HAND = {
    Queue.JUDGING: _IN_HAND.where(_ASSIGNMENTS.c.purpose != Purpose.ADJUDICATION.value),
    Queue.ADJUDICATION: _IN_HAND.where(_ASSIGNMENTS.c.purpose == Purpose.ADJUDICATION.value),
}
DOCUMENTS = (
    select(
        _ASSIGNMENTS.c.id,
        _ASSIGNMENTS.c.pool_item_id,
        _ASSIGNMENTS.c.purpose == Purpose.RE_SHOWN.value,
        _DOCUMENTS.c.id,
        _DOCUMENTS.c.docno,
        _DOCUMENTS.c.title,
        _DOCUMENTS.c.body,
        _DOCUMENTS.c.url,
        _DOCUMENTS.c.language,
        _DOCUMENTS.c.text_hash,
        and_(
            _ASSIGNMENTS.c.state.in_([state.value for state in HELD]),
            _ASSIGNMENTS.c.text_hash.is_distinct_from(_DOCUMENTS.c.text_hash),
        ),
    )
    .join(_ITEMS, _ITEMS.c.id == _ASSIGNMENTS.c.pool_item_id)
    .join(_DOCUMENTS, _DOCUMENTS.c.id == _ITEMS.c.document_id)
    .where(_ASSIGNMENTS.c.id.in_(bindparam("assignment_ids", expanding=True)))
)


class HeldDocument(NamedTuple):
    """A document in a judge's hands, or judged by them."""

    assignment_id: int
    pool_item_id: int
    is_shown_again: bool
    document_id: int
    docno: str
    title: str
    body: str | None
    url: str | None
    language: str | None
    text_hash: str | None
    has_new_text: bool  # it is in hand, and its text is not the one that was noted


def wait_for_other_tabs(session: Session, judge_id: int) -> None:
    """A judge in two tabs draws in one after the other. On SQLite there is one writer in any case."""
    if not has_one_writer(session):
        session.execute(select(User.id).where(User.id == judge_id).with_for_update(key_share=True))


def may_still_draw(session: Session, collection: Collection, judge_id: int, queue: Queue = Queue.JUDGING) -> bool:
    """Whether somebody has the role yet by which they were let in; behind the locks of whoever takes it from them."""
    session.flush()
    wanted = {"collection_id": collection.id, "judge_id": judge_id, "role": ROLES[queue]}
    return session.connection().execute(_HAS_ROLE, wanted).first() is not None


@contextmanager
def drawing_apart(session: Session) -> Iterator[None]:
    """Draw in this block so that what was stored before it stays, whatever comes of the drawing.

    On SQLite nothing can come of it: who writes is alone, and what may be refused is refused before anything is drawn.
    On PostgreSQL another's draw may stand in the way; raises `BusyError` then.
    """
    if has_one_writer(session):
        yield
        return
    try:
        with session.begin_nested():
            yield
    except OperationalError as error:
        raise BusyError(
            "Another judge drew documents at this moment. Your judgements are stored: try again."
        ) from error


def held_in_topic(
    session: Session, topic_id: int, judge_id: int, state: AssignmentState, queue: Queue = Queue.JUDGING
) -> list[int]:
    """The judge's live or put-off assignments of a topic; what was put off before comes after what was not."""
    wanted = {"judge_id": judge_id, "state": state.value, "topic_id": topic_id}
    rows = session.connection().execute(IN_HAND[queue], wanted).all()
    return [id_ for id_, put_off_at in sorted(rows, key=lambda row: (row[1] is not None, row[1] or 0, row[0]))]


def take_up_again(session: Session, assignment_ids: Sequence[int]) -> list[int]:
    """Put off no longer; returns, in their order, those that nobody gave back to the queue at this very moment."""
    if not assignment_ids:
        return []
    taken_up = session.scalars(
        update(Assignment)
        # Whoever waited for the lease to be given back looks once more: its place is another's by now.
        .where(Assignment.id.in_(assignment_ids), Assignment.state == AssignmentState.LATER)
        .values(state=AssignmentState.LIVE)
        .returning(Assignment.id)
    )
    live = set(taken_up)
    return [id_ for id_ in assignment_ids if id_ in live]


def draw(session: Session, collection: Collection, topic: Topic, judge_id: int, count: int, now: datetime) -> bool:
    """Put at most `count` items into the judge's hands, a few of them to be shown again; whether there were any."""
    free = next_free(session, judge_id, topic, collection.judging_mode, count, skip_locked=True)
    if not free and not has_one_writer(session):
        # What another draw holds at this moment may still want this judge, too: only then is it worth waiting for.
        free = next_free(session, judge_id, topic, collection.judging_mode, count, skip_locked=False)
    again = due_again(session, topic.id, judge_id, collection.reshow_share, now)[:count]
    purposes = {item.id: item.purpose for item in free} | dict.fromkeys(again, Purpose.RE_SHOWN)
    items = shown_among([item.id for item in free], _lots_of(session, again), count)
    if items:
        lend(session, items, judge_id, now, purposes)
    return bool(items)


def shown_among(fresh: Sequence[int], again: Sequence[tuple[int, int]], count: int) -> list[int]:
    """At most `count` items in the order of showing: `fresh` ones, and of `again`, (item, lot) pairs, one in four.

    The place of an item that is shown again follows from its lot, so that nothing in the order tells it apart. When
    there are too few fresh ones, those shown again fill up.
    """
    most = max(count // ONE_IN, count - len(fresh))
    chosen = again[:most]
    shown = list(fresh[: count - len(chosen)])
    for item, lot in chosen:
        shown.insert(lot % (len(shown) + 1), item)
    return shown


def _lots_of(session: Session, item_ids: Sequence[int]) -> list[tuple[int, int]]:
    """The items, in their order, each with its lot."""
    if not item_ids:
        return []
    rows = session.execute(select(PoolItem.id, PoolItem.lot).where(PoolItem.id.in_(item_ids)))
    lots = {id_: lot for id_, lot in rows}
    return [(id_, lots[id_]) for id_ in item_ids]


def held_documents(session: Session, assignment_ids: Sequence[int]) -> list[HeldDocument]:
    """The documents of assignments, in their order."""
    rows = session.connection().execute(DOCUMENTS, {"assignment_ids": list(assignment_ids)})
    found = {row[0]: HeldDocument(*row) for row in rows}
    return [found[id_] for id_ in assignment_ids]


def documents_to_show(session: Session, assignment_ids: Sequence[int]) -> list[HeldDocument]:
    """The documents of assignments, in their order, noting which text the judge is now shown."""
    documents = held_documents(session, assignment_ids)
    note_text_shown(session, [one.assignment_id for one in documents if one.has_new_text])
    return documents


def note_text_shown(session: Session, assignment_ids: Sequence[int]) -> None:
    """Note that the judge is now shown the present texts of what they have in hand."""
    if assignment_ids:
        text_now = (
            select(Document.text_hash)
            .join(PoolItem, PoolItem.document_id == Document.id)
            .where(PoolItem.id == Assignment.pool_item_id)
            .scalar_subquery()
        )
        held = update(Assignment).where(Assignment.id.in_(assignment_ids), Assignment.state.in_(HELD))
        session.execute(held.values(text_hash=text_now))

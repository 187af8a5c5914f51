"""One request of a judge's browser in one transaction: store acts, draw more documents, and count."""

from collections import OrderedDict
from collections.abc import Collection as SizedIterable
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import ColumnElement, ScalarSelect, Select, Table, bindparam, exists, func, select
from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError, NotFoundError
from annotator.storage import Assignment, AssignmentState, Judgement, PoolItem, Purpose, TopicState
from annotator.storage.agreement.adjudication_queue import judged_and_waiting
from annotator.storage.collections.collection import find_collection, find_topic
from annotator.storage.judging.drawing import Queue, done_among, drawing_apart, held_in_topic, wait_for_other_tabs
from annotator.storage.judging.judge_history import ShownDocument
from annotator.storage.tables.judging import CannotJudge, not_withdrawn
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import more_documents
from annotator.workflows.judging.recording import Recorded, record_acts

# Other judges draw in between; the number of waiting documents is recounted after this time.
COUNTED_ANEW = timedelta(seconds=10)
MOST_REMEMBERED = 10_000

# Tables instead of mapped classes cost a fraction, and this query runs with every judgement.
ITEMS = cast("Table", PoolItem.__table__)
ASSIGNMENTS = cast("Table", Assignment.__table__)
JUDGEMENTS = cast("Table", Judgement.__table__)
_EARLIER = JUDGEMENTS.alias("earlier")


def _since(queue: Queue) -> Select[tuple[int, int, int, bool]]:
    """Documents judged in one queue since a judgement, the last judgement, how many are put off, any withdrawn."""
    decides = ASSIGNMENTS.c.purpose == Purpose.ADJUDICATION.value
    of_queue = decides if queue == Queue.ADJUDICATION else ~decides
    fresh = (
        select(func.count())
        .select_from(JUDGEMENTS)
        .join(ITEMS, ITEMS.c.id == JUDGEMENTS.c.pool_item_id)
        .where(
            JUDGEMENTS.c.id > bindparam("last"),
            # Few are newer, while a judge may have judged thousands, and a topic may have thousands of items.
            JUDGEMENTS.c.judge_id + 0 == bindparam("judge_id"),
            JUDGEMENTS.c.carried_from_id.is_(None),
            exists().where(ASSIGNMENTS.c.id == JUDGEMENTS.c.assignment_id, of_queue),
            ITEMS.c.topic_id + 0 == bindparam("topic_id"),
            JUDGEMENTS.c.cannot_judge.is_distinct_from(CannotJudge.WITHDRAWN),
            # The first of its assignment: a later judgement of it is no further document.
            ~exists().where(
                _EARLIER.c.pool_item_id == JUDGEMENTS.c.pool_item_id,
                _EARLIER.c.judge_id == JUDGEMENTS.c.judge_id,
                _EARLIER.c.assignment_id == JUDGEMENTS.c.assignment_id,
                _EARLIER.c.id < JUDGEMENTS.c.id,
                not_withdrawn(_EARLIER),
            ),
        )
    )
    withdrawn = exists().where(
        JUDGEMENTS.c.id > bindparam("last"),
        JUDGEMENTS.c.judge_id + 0 == bindparam("judge_id"),
        JUDGEMENTS.c.cannot_judge == CannotJudge.WITHDRAWN,
    )
    return select(
        fresh.scalar_subquery().label("judged"),
        select(func.max(JUDGEMENTS.c.id)).scalar_subquery().label("last"),
        _deferred(of_queue).label("put_off"),
        withdrawn.label("withdrawn"),
    )


def _deferred(of_queue: ColumnElement[bool]) -> ScalarSelect[int]:
    """How many documents of the topic the judge has deferred in the queue."""
    return (
        select(func.count())
        .select_from(ASSIGNMENTS)
        .join(ITEMS, ITEMS.c.id == ASSIGNMENTS.c.pool_item_id)
        .where(
            ASSIGNMENTS.c.judge_id == bindparam("judge_id"),
            ASSIGNMENTS.c.state == AssignmentState.LATER.value,
            of_queue,
            ITEMS.c.topic_id == bindparam("topic_id"),
        )
        .scalar_subquery()
    )


SINCE = {queue: _since(queue) for queue in Queue}


@dataclass(frozen=True)
class Counts:
    """How many documents of a topic a judge has judged, how many there are for them, and how many they put off."""

    judged: int
    total: int
    put_off: int


NOTHING = Counts(0, 0, 0)


@dataclass(frozen=True)
class Counted:
    """A count, and the last judgement included in it."""

    counts: Counts
    topic_id: int
    last_judgement_id: int
    at: datetime


class Memory:
    """Per-process cache of counts; caches of two processes differ by some seconds in the number waiting."""

    def __init__(self) -> None:
        """Start with an empty cache."""
        self._counted: OrderedDict[tuple[str, str, int], Counted] = OrderedDict()

    def of(self, slug: str, topic_number: str, judge_id: int, now: datetime) -> Counted | None:
        """The cached count of a judge in a topic, None if it is missing or expired."""
        known = self._counted.get((slug, topic_number, judge_id))
        return known if known is not None and timedelta(0) <= now - known.at < COUNTED_ANEW else None

    def keep(self, slug: str, topic_number: str, judge_id: int, counted: Counted) -> None:
        """Cache a count, and evict the oldest beyond the limit."""
        key = (slug, topic_number, judge_id)
        self._counted[key] = counted
        self._counted.move_to_end(key)
        if len(self._counted) > MOST_REMEMBERED:
            self._counted.popitem(last=False)


def count_topic(
    session: Session,
    slug: str,
    topic_number: str,
    judge_id: int,
    *,
    to_come: int,
    now: datetime,
    queue: Queue = Queue.JUDGING,
) -> Counted:
    """Count the judge's documents in the topic; `to_come` is the number still to be chosen there.

    Raises `NotFoundError` for an unknown topic.
    """
    collection = find_collection(session, slug)
    topic = find_topic(session, collection.id, topic_number)
    last = session.scalar(select(func.max(Judgement.id)))
    judged, waiting = judged_and_waiting(session, collection, topic, judge_id, now, queue)
    total = judged + waiting + (to_come if topic.state == TopicState.ACCEPTED else 0)
    put_off = len(held_in_topic(session, topic.id, judge_id, AssignmentState.LATER, queue))
    return Counted(Counts(judged, total, put_off), topic.id, last or 0, now)


def count_on(session: Session, known: Counted, judge_id: int, queue: Queue = Queue.JUDGING) -> Counted | None:
    """Update a count of the same queue by the judgements since; cache it only after these are committed.

    None when it must be counted again: there are fewer judgements than before, because the database was restored from
    another state, or the judge has withdrawn one.
    """
    row = (
        session.connection()
        .execute(SINCE[queue], {"last": known.last_judgement_id, "judge_id": judge_id, "topic_id": known.topic_id})
        .one()
    )
    if (row.last or 0) < known.last_judgement_id or row.withdrawn:
        return None
    judged = known.counts.judged + row.judged
    counts = Counts(judged, max(known.counts.total, judged), row.put_off)
    return replace(known, counts=counts, last_judgement_id=row.last or 0)


# What can prevent drawing.
Stopped = BusyError | ConflictError | NotFoundError


@dataclass(frozen=True)
class Turn:
    """Result of a request: ids stored, documents drawn or why none, and the count, if one was cached."""

    recorded: Recorded
    documents: Sequence[ShownDocument]
    stopped: Stopped | None
    counted: Counted | None
    # Which of the documents in the browser are judged by now, on another device.
    judged: Sequence[int] = ()


def submit(
    session: Session,
    slug: str,
    topic_number: str,
    judge_id: int,
    acts: Sequence[Act],
    *,
    holds: SizedIterable[int] | None,
    known: Counted | None,
    at: datetime,
    shown: SizedIterable[int] = (),
    queue: Queue = Queue.JUDGING,
) -> Turn:
    """Store the acts, draw for a browser holding `holds` (None: draw nothing), and update the count.

    Of the assignments `shown` in the browser, those that are done meanwhile are returned.

    Judgements are stored even if drawing is refused. Raises `NotFoundError` as `record_acts` does.
    """
    if holds is not None:
        # Lock order: drawing takes this lock before it renews assignments.
        wait_for_other_tabs(session, judge_id)
    recorded = record_acts(session, slug, judge_id, acts, received_at=at, queue=queue)
    documents: Sequence[ShownDocument] = ()
    stopped: Stopped | None = None
    if holds is not None:
        try:
            with drawing_apart(session):
                documents = more_documents(session, slug, topic_number, judge_id, holds=holds, now=at, queue=queue)
        except (BusyError, ConflictError, NotFoundError) as refusal:
            stopped = refusal
    counted = count_on(session, known, judge_id, queue) if known else None
    return Turn(recorded, documents, stopped, counted, done_among(session, judge_id, shown) if shown else ())

"""One turn of a judge's browser in one transaction: store what it sends, draw more documents, and count."""

from collections import OrderedDict
from collections.abc import Collection as SizedIterable
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import cast

from sqlalchemy import Table, bindparam, exists, func, select
from sqlalchemy.orm import Session

from annotator.errors import BusyError, ConflictError, NotFoundError
from annotator.storage import Assignment, AssignmentState, Judgement, PoolItem, Purpose, TopicState
from annotator.storage.agreement.adjudication_queue import judged_and_waiting
from annotator.storage.collections.collection import find_collection, find_topic
from annotator.storage.judging.drawing import Queue, drawing_apart, held_in_topic, wait_for_other_tabs
from annotator.storage.judging.judge_history import ShownDocument
from annotator.workflows.judging.act_decisions import Act
from annotator.workflows.judging.judging import more_documents
from annotator.workflows.judging.recording import Recorded, record_acts

# Others draw meanwhile; how much waits is counted again after so long.
COUNTED_ANEW = timedelta(seconds=10)
MOST_REMEMBERED = 10_000

# The tables themselves cost a fraction of what the mapped classes do, and this is asked with every judgement.
ITEMS = cast("Table", PoolItem.__table__)
ASSIGNMENTS = cast("Table", Assignment.__table__)
JUDGEMENTS = cast("Table", Judgement.__table__)
_EARLIER = JUDGEMENTS.alias("earlier")
AS_JUDGE = ASSIGNMENTS.c.purpose != Purpose.ADJUDICATION.value
_FRESH = (
    select(func.count())
    .select_from(JUDGEMENTS)
    .join(ITEMS, ITEMS.c.id == JUDGEMENTS.c.pool_item_id)
    .where(
        JUDGEMENTS.c.id > bindparam("last"),
        # Few are newer, but a judge may have judged thousands, and a topic may have thousands of items.
        JUDGEMENTS.c.judge_id + 0 == bindparam("judge_id"),
        JUDGEMENTS.c.carried_from_id.is_(None),
        # What somebody decides is counted with the disputes.
        exists().where(ASSIGNMENTS.c.id == JUDGEMENTS.c.assignment_id, AS_JUDGE),
        ITEMS.c.topic_id + 0 == bindparam("topic_id"),
        # The first of its assignment: another judgement of the same is no further document.
        ~exists().where(
            _EARLIER.c.pool_item_id == JUDGEMENTS.c.pool_item_id,
            _EARLIER.c.judge_id == JUDGEMENTS.c.judge_id,
            _EARLIER.c.assignment_id == JUDGEMENTS.c.assignment_id,
            _EARLIER.c.id < JUDGEMENTS.c.id,
        ),
    )
)
PUT_OFF = (
    select(func.count())
    .select_from(ASSIGNMENTS)
    .join(ITEMS, ITEMS.c.id == ASSIGNMENTS.c.pool_item_id)
    .where(
        ASSIGNMENTS.c.judge_id == bindparam("judge_id"),
        ASSIGNMENTS.c.state == AssignmentState.LATER.value,
        AS_JUDGE,
        ITEMS.c.topic_id == bindparam("topic_id"),
    )
)
SINCE = select(
    _FRESH.scalar_subquery().label("judged"),
    select(func.max(JUDGEMENTS.c.id)).scalar_subquery().label("last"),
    PUT_OFF.scalar_subquery().label("put_off"),
)


@dataclass(frozen=True)
class Counts:
    """How many documents of a topic a judge has judged, of how many there are for them, and how many they put off."""

    judged: int
    total: int
    put_off: int


NOTHING = Counts(0, 0, 0)


@dataclass(frozen=True)
class Counted:
    """A count, and what was the last judgement when it was made."""

    counts: Counts
    topic_id: int
    last_judgement_id: int
    at: datetime


class Memory:
    """What one process has counted; another comes out the same, but for how much waits by a few seconds."""

    def __init__(self) -> None:
        """Begin with nothing."""
        self._counted: OrderedDict[tuple[str, str, int], Counted] = OrderedDict()

    def of(self, slug: str, topic_number: str, judge_id: int, now: datetime) -> Counted | None:
        """What was counted of a judge in a topic, unless it is so old that all is counted again."""
        known = self._counted.get((slug, topic_number, judge_id))
        return known if known is not None and timedelta(0) <= now - known.at < COUNTED_ANEW else None

    def keep(self, slug: str, topic_number: str, judge_id: int, counted: Counted) -> None:
        """Remember a count, and forget the oldest when there are too many."""
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
    """Where the judge is in the topic; `to_come` says how many documents will still be chosen there.

    Raises `NotFoundError` for a topic that is not there.
    """
    collection = find_collection(session, slug)
    topic = find_topic(session, collection.id, topic_number)
    last = session.scalar(select(func.max(Judgement.id)))
    judged, waiting = judged_and_waiting(session, collection, topic, judge_id, now, queue)
    total = judged + waiting + (to_come if topic.state == TopicState.ACCEPTED else 0)
    put_off = len(held_in_topic(session, topic.id, judge_id, AssignmentState.LATER, queue))
    return Counted(Counts(judged, total, put_off), topic.id, last or 0, now)


def count_on(session: Session, known: Counted, judge_id: int) -> Counted | None:
    """The same some judgements later. To be remembered when these are stored, and not before.

    None when there are fewer than there were: another state of the database has been put in place.
    """
    row = (
        session.connection()
        .execute(SINCE, {"last": known.last_judgement_id, "judge_id": judge_id, "topic_id": known.topic_id})
        .one()
    )
    if (row.last or 0) < known.last_judgement_id:
        return None
    judged = known.counts.judged + row.judged
    counts = Counts(judged, max(known.counts.total, judged), row.put_off)
    return replace(known, counts=counts, last_judgement_id=row.last or 0)


# What can stand against drawing.
Stopped = BusyError | ConflictError | NotFoundError


@dataclass(frozen=True)
class Turn:
    """What came of it: what is stored, the documents drawn or why there are none, and the count, if one was known."""

    recorded: Recorded
    documents: Sequence[ShownDocument]
    stopped: Stopped | None
    counted: Counted | None


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
    queue: Queue = Queue.JUDGING,
) -> Turn:
    """Store the acts, draw for a browser that has the documents of `holds` (None: draw nothing), and count on.

    What stands against the drawing refuses none of the judgements. Raises `NotFoundError` as `record_acts` does.
    """
    if holds is not None:
        # Before the assignments are locked: who draws holds this lock and then renews them.
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
    return Turn(recorded, documents, stopped, count_on(session, known, judge_id) if known else None)

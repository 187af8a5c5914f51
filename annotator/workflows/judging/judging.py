"""The judging queue of one judge: list topics with work, draw documents of a topic, show one."""

from collections.abc import Collection as SizedIterable
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import bindparam, select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.storage import Assignment, AssignmentState, Collection, JudgingMode, PoolItem, Purpose, Topic, TopicState
from annotator.storage.agreement.adjudication_queue import (
    done_items,
    draw_disputed,
    given_grades,
    judged_and_waiting,
    put_off_items,
)
from annotator.storage.agreement.judges_notes import judges_notes
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.drawing import (
    HeldDocument,
    Queue,
    documents_to_show,
    draw,
    held_documents,
    held_in_topic,
    may_still_draw,
    take_up_again,
    wait_for_other_tabs,
)
from annotator.storage.judging.eligibility import waiting_items
from annotator.storage.judging.judge_desk import may_judge
from annotator.storage.judging.judge_history import (
    RecentJudgement,
    ShownDocument,
    previous_assignment,
    recent_judgements,
    shown,
)
from annotator.storage.judging.judging_state import open_for_judging
from annotator.storage.judging.leases import Decision, give_back_expired, renew
from annotator.storage.site.bulk_insert import among, prefer_indexes
from annotator.storage.tables.judging import Preparation

# The browser holds as many documents as are drawn at once.
DRAWN_AT_ONCE = 8
# In the strip of the screen.
MOST_RECENT = 10
SHOWN_TO_JUDGES = Topic.state != TopicState.DRAFT

# Built once: the query runs for one judgement in two.
PLACE = (
    select(Collection, Topic)
    .join(Topic, Topic.collection_id == Collection.id)
    .where(Collection.id == bindparam("collection_id"), Topic.number == bindparam("number"), SHOWN_TO_JUDGES)
)


class NotPreparedError(ConflictError):
    """The judge must do something else before documents are drawn for them."""

    def __init__(self, preparation: Preparation) -> None:
        """Store what the judge must do first."""
        self.preparation = preparation
        if preparation == Preparation.GUIDELINES:
            super().__init__("Please read the guidelines and accept them before you go on.")
        else:
            super().__init__("Please do the training and pass it before you judge.")


@dataclass(frozen=True)
class TopicWork:
    """A topic for one judge: documents judged, waiting, and how many of those waiting were put off.

    `owned` marks the judge's own topics where topics have owners.
    """

    number: str
    title: str
    judged: int
    waiting: int
    dropped: bool = False
    put_off: int = 0
    owned: bool = False


@dataclass(frozen=True)
class JudgingTask:
    """One document with its topic, without run, rank, score, purpose and other judges' grades.

    `documents` are this one and the following ones, each leased to the judge. `recent` are the judge's last judgements
    of the topic.
    """

    assignment_id: int
    topic_number: str
    topic_title: str
    topic_description: str
    topic_narrative: str
    topic_language: str | None
    docno: str
    title: str
    body: str | None
    url: str | None
    language: str | None
    judged: int
    waiting: int
    put_off: int
    decision: Decision | None
    previous_assignment_id: int | None
    documents: tuple[ShownDocument, ...]
    recent: tuple[RecentJudgement, ...]


def topics_to_judge(
    session: Session, slug: str, judge_id: int, *, now: datetime, to_come: Mapping[str, int] | None = None
) -> list[TopicWork]:
    """Topics with pool items for this judge, their own ones first; expired leases are returned before.

    Dropped topics have nothing waiting, and drafts are not listed. `to_come` maps topic numbers to the number of items
    still to be chosen, which count as waiting.
    """
    collection = find_collection(session, slug)
    give_back_expired(session, now)
    topics = session.scalars(select(Topic).where(Topic.collection_id == collection.id, SHOWN_TO_JUDGES)).all()
    prefer_indexes(session)
    in_topics = among(session, PoolItem.topic_id, [topic.id for topic in topics])
    # As in the judge's list of judgements, whose length must not tell which documents were shown twice.
    judged = done_items(session, judge_id, in_topics, second_showings=False)
    waiting = waiting_items(session, judge_id, collection, in_topics, now)
    put_off = put_off_items(session, judge_id, in_topics)
    is_owned = collection.judging_mode == JudgingMode.OWNED
    work = [
        TopicWork(topic.number, topic.title, judged[topic.id], 0, dropped=True)
        if topic.state == TopicState.DROPPED
        else TopicWork(
            topic.number,
            topic.title,
            judged[topic.id],
            waiting[topic.id] + (to_come or {}).get(topic.number, 0),
            put_off=put_off[topic.id],
            owned=is_owned and topic.owner_id == judge_id,
        )
        for topic in topics
    ]
    with_work = [row for row in work if row.judged or row.waiting]
    return sorted(with_work, key=lambda row: (not row.owned, natural_order(row.number)))


def next_task(
    session: Session, slug: str, topic_number: str, judge_id: int, *, now: datetime, queue: Queue = Queue.JUDGING
) -> JudgingTask | None:
    """The judge's next documents of a topic; None when nothing is waiting, or the topic was dropped.

    Held documents come first, and their lease is renewed; otherwise a few items are drawn at once, and those put off
    come last. Raises `ConflictError` when judging has ended, and `NotPreparedError`.
    """
    collection, topic = place_of(session, slug, topic_number)
    if topic.state != TopicState.ACCEPTED:
        return None
    in_hand = refill(session, collection, topic, judge_id, (), now, queue)
    if not in_hand:
        return None
    return _task(session, collection, topic, documents_to_show(session, in_hand), judge_id, now, queue)


def more_documents(
    session: Session,
    slug: str,
    topic_number: str,
    judge_id: int,
    *,
    holds: SizedIterable[int],
    now: datetime,
    queue: Queue = Queue.JUDGING,
) -> list[ShownDocument]:
    """Documents for a judge whose browser holds those of `holds`, up to eight in all.

    Raises `ConflictError` when judging has ended or the topic was dropped, and `NotPreparedError`.
    """
    collection, topic = place_of(session, slug, topic_number)
    if topic.state != TopicState.ACCEPTED:
        raise ConflictError("The organiser has dropped this topic; what you judged is kept.")
    in_hand = refill(session, collection, topic, judge_id, holds, now, queue)
    return _shown(session, collection, documents_to_show(session, in_hand), judge_id, queue)


def open_task(
    session: Session, slug: str, assignment_id: int, judge_id: int, *, now: datetime, queue: Queue = Queue.JUDGING
) -> JudgingTask:
    """One of the judge's own assignments, judged or not; `NotFoundError` for one of another judge."""
    collection = find_collection(session, slug)
    topic = _topic_of_own(session, collection, assignment_id, judge_id, queue)
    return _task(session, collection, topic, held_documents(session, [assignment_id]), judge_id, now, queue)


def open_document(
    session: Session, slug: str, assignment_id: int, judge_id: int, *, queue: Queue = Queue.JUDGING
) -> tuple[ShownDocument, int | None]:
    """The document of the judge's own assignment, and the assignment judged before it; raises `NotFoundError`."""
    collection = find_collection(session, slug)
    topic = _topic_of_own(session, collection, assignment_id, judge_id, queue)
    [one] = _shown(session, collection, held_documents(session, [assignment_id]), judge_id, queue)
    return one, previous_assignment(session, topic.id, judge_id, one.judgement, queue)


def _topic_of_own(session: Session, collection: Collection, assignment_id: int, judge_id: int, queue: Queue) -> Topic:
    """The topic of the judge's assignment; `NotFoundError` for one of another judge or of their other queue."""
    decides = Assignment.purpose == Purpose.ADJUDICATION
    topic = session.scalar(
        select(Topic)
        .join(PoolItem, PoolItem.topic_id == Topic.id)
        .join(Assignment, Assignment.pool_item_id == PoolItem.id)
        .where(
            Assignment.id == assignment_id,
            Assignment.judge_id == judge_id,
            Topic.collection_id == collection.id,
            decides if queue == Queue.ADJUDICATION else ~decides,
        )
    )
    if topic is None:
        raise NotFoundError("You have no such assignment.")
    return topic


def place_of(session: Session, slug: str, topic_number: str) -> tuple[Collection, Topic]:
    """A collection open for judging, and its topic; raises `ConflictError` and `NotFoundError`."""
    collection_id = open_for_judging(session, slug)
    # Read after taking the lock: dropping a topic waits for it.
    row = session.execute(PLACE, {"collection_id": collection_id, "number": topic_number}).one_or_none()
    if row is None:
        raise NotFoundError("There is no topic “%(number)s” in this collection.", number=topic_number)
    return row.Collection, row.Topic


def refill(
    session: Session,
    collection: Collection,
    topic: Topic,
    judge_id: int,
    holds: SizedIterable[int],
    now: datetime,
    queue: Queue,
    *,
    most: int = DRAWN_AT_ONCE,
) -> list[int]:
    """Assignments for a browser that holds those of `holds`, up to `most` in all."""
    preparation = may_judge(session, collection, judge_id) if queue == Queue.JUDGING else None
    if preparation is not None:
        raise NotPreparedError(preparation)
    # Lock order: the account before assignments, as in sending; two tabs of one judge would deadlock otherwise.
    wait_for_other_tabs(session, judge_id)
    give_back_expired(session, now)
    if not may_still_draw(session, collection, judge_id, queue):
        return []
    renew(session, judge_id, now)
    wanted = max(most - len(holds), 0)
    live = _live(session, topic, judge_id, holds, queue)
    draw_some = draw if queue == Queue.JUDGING else draw_disputed
    if len(live) < wanted and draw_some(session, collection, topic, judge_id, wanted - len(live), now):
        live = _live(session, topic, judge_id, holds, queue)
    if not live and wanted:
        put_off = held_in_topic(session, topic.id, judge_id, AssignmentState.LATER, queue)
        live = take_up_again(session, [id_ for id_ in put_off if id_ not in holds])
    return live[:wanted]


def _live(session: Session, topic: Topic, judge_id: int, holds: SizedIterable[int], queue: Queue) -> list[int]:
    return [id_ for id_ in held_in_topic(session, topic.id, judge_id, AssignmentState.LIVE, queue) if id_ not in holds]


def _shown(
    session: Session, collection: Collection, documents: Sequence[HeldDocument], judge_id: int, queue: Queue
) -> list[ShownDocument]:
    """The documents as shown to the judge, in the given order."""
    if queue != Queue.ADJUDICATION:
        return shown(session, documents, judge_id)
    items = [one.pool_item_id for one in documents]
    given = given_grades(session, items) if collection.shows_grades else None
    notes = judges_notes(session, items, with_grades=collection.shows_grades)
    return shown(session, documents, judge_id, given, notes)


def _task(
    session: Session,
    collection: Collection,
    topic: Topic,
    held: Sequence[HeldDocument],
    judge_id: int,
    now: datetime,
    queue: Queue,
) -> JudgingTask:
    documents = _shown(session, collection, held, judge_id, queue)
    first = documents[0]
    judged, waiting = judged_and_waiting(session, collection, topic, judge_id, now, queue)
    return JudgingTask(
        assignment_id=first.assignment_id,
        topic_number=topic.number,
        topic_title=topic.title,
        topic_description=topic.description,
        topic_narrative=topic.narrative,
        topic_language=topic.language,
        docno=first.docno,
        title=first.title,
        body=first.body,
        url=first.url,
        language=first.language,
        judged=judged,
        waiting=waiting,
        put_off=len(held_in_topic(session, topic.id, judge_id, AssignmentState.LATER, queue)),
        decision=first.judgement.decision if first.judgement else None,
        previous_assignment_id=previous_assignment(session, topic.id, judge_id, first.judgement, queue),
        documents=tuple(documents),
        recent=tuple(recent_judgements(session, topic.id, judge_id, queue, most=MOST_RECENT)),
    )

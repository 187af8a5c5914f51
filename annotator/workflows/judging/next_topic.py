"""Which topic a judge continues with, why there is none, and the judge's topics by a part of their name."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Protocol, TypeVar

from sqlalchemy import or_, select
from sqlalchemy.orm import Session

from annotator.evaluation.formats.identifiers import natural_order
from annotator.storage import Assignment, Collection, CollectionState, JudgingMode, PoolItem, Topic
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.eligibility import waiting_items
from annotator.storage.tables.judging import HELD
from annotator.storage.tables.topics import ACCEPTED
from annotator.workflows.judging.judging import topics_to_judge

MOST_FOUND = 8
# More topics than this are not counted for one search.
MOST_COUNTED = 40


class NothingLeft(StrEnum):
    """Why a judge has no further topic."""

    CLOSED = "closed"
    HELD = "held"
    ALL = "all"


class WithWork(Protocol):
    """A topic in a person's list."""

    @property
    def number(self) -> str:
        """The topic's number."""
        ...

    @property
    def title(self) -> str:
        """The topic's title."""
        ...

    @property
    def waiting(self) -> int:
        """Documents available to the person, deferred ones included."""
        ...

    @property
    def put_off(self) -> int:
        """Documents that the person has deferred."""
        ...


Work = TypeVar("Work", bound=WithWork)


@dataclass(frozen=True)
class NextTopic:
    """The topic to continue with, or the reason why there is none."""

    topic: WithWork | None
    reason: NothingLeft | None


@dataclass(frozen=True)
class FoundTopic:
    """A topic in which documents wait for the judge."""

    number: str
    title: str
    waiting: int


def topic_after(work: Sequence[Work], number: str) -> Work | None:
    """The next topic of the list with documents, from the start again after its end; never the topic itself.

    Topics with deferred documents only come last.
    """
    at = next((index for index, row in enumerate(work) if row.number == number), -1)
    ahead = [row for row in (*work[at + 1 :], *work[: max(at, 0)]) if row.waiting > 0]
    return min(ahead, key=lambda row: row.waiting <= row.put_off, default=None)


def next_topic(
    session: Session,
    slug: str,
    number: str,
    judge_id: int,
    *,
    now: datetime,
    to_come: Mapping[str, int] | None = None,
) -> NextTopic:
    """The topic with which a judge continues after topic `number`; expired leases are returned before.

    `to_come` is as for `topics_to_judge`. Raises `NotFoundError` for an unknown collection.
    """
    collection = find_collection(session, slug)
    if collection.state == CollectionState.CLOSED:
        return NextTopic(None, NothingLeft.CLOSED)
    topic = topic_after(topics_to_judge(session, slug, judge_id, now=now, to_come=to_come), number)
    if topic is not None:
        return NextTopic(topic, None)
    return NextTopic(None, NothingLeft.HELD if _others_hold_some(session, collection, judge_id) else NothingLeft.ALL)


def find_topics(session: Session, slug: str, judge_id: int, text: str, *, now: datetime) -> list[FoundTopic]:
    """At most eight topics with documents for the judge whose number or title contains a text."""
    collection = find_collection(session, slug)
    has_text = or_(Topic.number.icontains(text, autoescape=True), Topic.title.icontains(text, autoescape=True))
    topics = session.scalars(select(Topic).where(Topic.collection_id == collection.id, ACCEPTED, has_text)).all()
    begins_first = sorted(topics, key=lambda topic: (not topic.number.startswith(text), natural_order(topic.number)))
    counted = begins_first[:MOST_COUNTED]
    in_topics = PoolItem.topic_id.in_([topic.id for topic in counted])
    waiting = waiting_items(session, judge_id, collection, in_topics, now)
    found = [FoundTopic(topic.number, topic.title, waiting[topic.id]) for topic in counted if waiting[topic.id] > 0]
    return found[:MOST_FOUND]


def _others_hold_some(session: Session, collection: Collection, judge_id: int) -> bool:
    """Whether other judges hold documents that this judge could draw once they are returned."""
    if collection.judging_mode == JudgingMode.OWNED:
        return False
    had = select(Assignment.pool_item_id).where(Assignment.judge_id == judge_id)
    held = (
        select(Assignment.id)
        .join(PoolItem, PoolItem.id == Assignment.pool_item_id)
        .join(Topic, Topic.id == PoolItem.topic_id)
        .where(Topic.collection_id == collection.id, ACCEPTED)
        .where(Assignment.state.in_(HELD), Assignment.judge_id != judge_id, PoolItem.id.not_in(had))
    )
    return session.scalar(held.limit(1)) is not None

"""Adjudication: the disputed topics shown to an adjudicator, and its progress shown to the organisers."""

from dataclasses import dataclass
from datetime import datetime

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.evaluation.agreement.columns import Upheld, count_upheld
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.qrels.consensus import ADJUDICATED_ELSE
from annotator.storage import CollectionState, Topic, TopicState
from annotator.storage.agreement.adjudication_queue import decisions, disputes, grades_on_decided, own_disputes
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.leases import give_back_expired
from annotator.workflows.judging.next_topic import NextTopic, NothingLeft, topic_after


@dataclass(frozen=True)
class TopicToAdjudicate:
    """A topic as one adjudicator sees it: documents in dispute, available to them, decided and put off by them.

    Documents that the adjudicator judged as a judge are left out.
    """

    number: str
    title: str
    in_dispute: int
    waiting: int
    decided: int
    put_off: int
    dropped: bool


@dataclass(frozen=True)
class DisputedTopic:
    """A topic's documents: in dispute and undecided, leased to adjudicators now, decided.

    Documents with the same text count once.
    """

    number: str
    title: str
    in_dispute: int
    in_hands: int
    decided: int


@dataclass(frozen=True)
class Adjudication:
    """The progress of adjudication in a collection, and whether its qrels prefer adjudicators' decisions."""

    topics: tuple[DisputedTopic, ...]
    judges: tuple[Upheld, ...]
    policy: str
    is_heard: bool
    leaves_out_disputed: bool
    shows_grades: bool

    @property
    def in_dispute(self) -> int:
        """The number of documents in dispute over all topics."""
        return sum(topic.in_dispute for topic in self.topics)

    @property
    def in_hands(self) -> int:
        """The number of documents leased to adjudicators over all topics."""
        return sum(topic.in_hands for topic in self.topics)

    @property
    def decided(self) -> int:
        """The number of documents decided over all topics."""
        return sum(topic.decided for topic in self.topics)


def give_back_leases(session: Session, *, now: datetime) -> None:
    """Return every expired lease to the queue, before documents are counted or drawn."""
    give_back_expired(session, now)


def topics_to_adjudicate(session: Session, slug: str, judge_id: int) -> list[TopicToAdjudicate]:
    """List the topics with documents in dispute or decided by this adjudicator.

    A dropped topic has no disputes. Expired leases are not returned first: counting takes up to a second, and a write
    lock would block others for that long.
    """
    collection = find_collection(session, slug)
    own = own_disputes(session, collection.id, judge_id)
    topics = session.scalars(select(Topic).where(Topic.collection_id == collection.id, Topic.id.in_(own))).all()
    work = [
        TopicToAdjudicate(topic.number, topic.title, 0, 0, own[topic.id].decided, 0, dropped=True)
        if topic.state != TopicState.ACCEPTED
        else TopicToAdjudicate(topic.number, topic.title, *own[topic.id], dropped=False)
        for topic in topics
    ]
    return sorted(work, key=lambda row: natural_order(row.number))


def next_topic(session: Session, slug: str, number: str, judge_id: int) -> NextTopic:
    """The topic with which an adjudicator continues after topic `number`, or the reason why there is none."""
    if find_collection(session, slug).state == CollectionState.CLOSED:
        return NextTopic(None, NothingLeft.CLOSED)
    work = topics_to_adjudicate(session, slug, judge_id)
    topic = topic_after(work, number)
    if topic is not None:
        return NextTopic(topic, None)
    return NextTopic(None, NothingLeft.HELD if any(row.in_dispute for row in work) else NothingLeft.ALL)


def show_adjudication(session: Session, slug: str, *, now: datetime) -> Adjudication:
    """The disagreements, decisions and adjudicators by topic; for organisers only."""
    collection = find_collection(session, slug)
    made = decisions(session, collection.id)
    by_topic = disputes(session, collection.id, made, now)
    rows = session.execute(
        select(Topic.id, Topic.number, Topic.title).where(Topic.collection_id == collection.id, Topic.id.in_(by_topic))
    )
    topics = [DisputedTopic(number, title, *by_topic[id_]) for id_, number, title in rows]
    words = grades_on_decided(session, made)
    return Adjudication(
        topics=tuple(sorted(topics, key=lambda topic: natural_order(topic.number))),
        judges=tuple(count_upheld((word.judge, word.grade == word.decided) for word in words)),
        policy=collection.consensus_policy,
        is_heard=collection.consensus_policy.startswith(ADJUDICATED_ELSE),
        leaves_out_disputed=collection.leaves_out_disputed,
        shows_grades=collection.shows_grades,
    )

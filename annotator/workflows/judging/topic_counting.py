"""Counts the progress of topics that were changed, and announces those whose judging is finished.

So pages need not read every judgement, and storing a judgement costs nothing more.
"""

from collections.abc import Callable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from datetime import datetime
from typing import TypeVar

from sqlalchemy import Select, delete, insert, select, true, update
from sqlalchemy.orm import Session

from annotator.storage import Database, Event, FinishedTopic, Topic, TopicCounts, Webhook
from annotator.storage.judging.topic_counts import count_topics, record_counts, topic_counts
from annotator.storage.site.epoch import current_epoch
from annotator.storage.site.webhooks import announce
from annotator.storage.topics.revisions import ChangedTopic, Derived, changed_topics, still_the_same

Found = TypeVar("Found")

# Derived in one go: each has some hundred documents.
MOST_AT_ONCE = 200


def count_changed_topics(database: Database) -> bool:
    """Count some of the topics that were changed since they were counted; False when there are none."""
    return refresh_topics(database, TopicCounts, count_topics, record_counts)


def refresh_topics(
    database: Database,
    derived: Derived,
    read: Callable[[Session, Sequence[int]], Mapping[int, Found]],
    record: Callable[[Session, Sequence[ChangedTopic], Mapping[int, Found]], None],
) -> bool:
    """Derive the rows of some topics that were changed since; False when there are none.

    They are read without holding up any writer. A topic that is changed meanwhile, or that is in a database restored
    meanwhile, is not recorded.
    """
    with database.reading() as session:
        epoch = current_epoch(session)
        changed = changed_topics(session, derived, true(), most=MOST_AT_ONCE)
        found = read(session, [topic.id for topic in changed])
    if changed:
        with database.transaction() as session:
            if current_epoch(session) == epoch:
                record(session, still_the_same(session, changed), found)
    return bool(changed)


def collections_to_search(session: Session) -> list[int]:
    """Ids of the collections with a webhook for finished topics."""
    rows = session.execute(select(Webhook.collection_id, Webhook.events).order_by(Webhook.collection_id))
    return list(dict.fromkeys(id_ for id_, events in rows if Event.TOPIC_FINISHED in events.split()))


def topics_to_record(session: Session, collection_id: int) -> frozenset[int] | None:
    """Ids of the finished topics; None when they are those on record, and no webhook is new."""
    finished = frozenset(id_ for id_, counts in topic_counts(session, collection_id).items() if counts.is_finished)
    new = select(Webhook.id).where(Webhook.collection_id == collection_id, ~Webhook.is_current).limit(1)
    is_known = finished == set(session.scalars(_recorded(collection_id))) and session.scalar(new) is None
    return None if is_known else finished


def record_finished_topics(session: Session, collection_id: int, finished: AbstractSet[int], *, at: datetime) -> None:
    """Record the finished topics, by id, and announce those that are not on record yet.

    A topic that is no longer finished leaves the record. What was finished before there was a webhook for it is
    recorded without being announced.
    """
    known = set(session.scalars(_recorded(collection_id)))
    new = sorted(finished - known)
    for topic_id in known - finished:
        session.execute(delete(FinishedTopic).where(FinishedTopic.topic_id == topic_id))
    if new:
        session.execute(insert(FinishedTopic), [{"topic_id": topic_id} for topic_id in new])
    of_collection = Webhook.collection_id == collection_id
    current = session.scalars(select(Webhook.events).where(of_collection, Webhook.is_current))
    if any(Event.TOPIC_FINISHED in events.split() for events in current):
        rows = session.execute(select(Topic.id, Topic.number).where(Topic.collection_id == collection_id))
        numbers = {id_: number for id_, number in rows}
        announce(session, collection_id, Event.TOPIC_FINISHED, [{"topic": numbers[id_]} for id_ in new], at=at)
    session.execute(update(Webhook).where(of_collection, ~Webhook.is_current).values(is_current=True))


def _recorded(collection_id: int) -> Select[int]:
    of_collection = select(Topic.id).where(Topic.collection_id == collection_id)
    return select(FinishedTopic.topic_id).where(FinishedTopic.topic_id.in_(of_collection))

"""The progress of judging by topic: counted by a worker, kept under the topic's revision, and read by the pages.

A topic that was changed since is counted for the reader, so what is read is never old.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from sqlalchemy import func, select
from sqlalchemy.orm import Session

from annotator.storage.judging.progress import item_progress
from annotator.storage.site.bulk_insert import chunks
from annotator.storage.tables.pools import PoolItem, TopicCounts
from annotator.storage.tables.topics import ACCEPTED, Topic
from annotator.storage.topics.revisions import ChangedTopic, changed_topics, record_derived

# So many changed topics are counted in one statement for the whole collection.
MANY = 500


class Counts(NamedTuple):
    """Pool items of a topic: all, judged, and complete ones, and the judgements that the others want."""

    items: int
    judged: int
    complete: int
    remaining: int

    @property
    def is_finished(self) -> bool:
        """Whether there are items and all are complete."""
        return 0 < self.items == self.complete


NOTHING = Counts(0, 0, 0, 0)


def topic_counts(session: Session, collection_id: int) -> dict[int, Counts]:
    """Accepted topic id → its counts."""
    of_collection = Topic.collection_id == collection_id
    rows = session.execute(
        select(Topic.id, TopicCounts.items, TopicCounts.judged, TopicCounts.complete, TopicCounts.remaining)
        .outerjoin(TopicCounts, TopicCounts.topic_id == Topic.id)
        .where(of_collection, ACCEPTED)
        .order_by(Topic.id)
    )
    counts = {id_: NOTHING if row[0] is None else Counts(*row) for id_, *row in rows}
    changed = [topic.id for topic in changed_topics(session, TopicCounts, of_collection)]
    return counts | count_topics(session, changed, collection_id if len(changed) > MANY else None)


def count_topics(session: Session, topics: Sequence[int], collection_id: int | None = None) -> dict[int, Counts]:
    """Count the items of these topics; with `collection_id` in one statement over the whole collection."""
    counts = dict.fromkeys(topics, NOTHING)
    if collection_id is not None:
        some = [Topic.collection_id == collection_id]
    else:
        some = [Topic.id.in_(ids) for ids in chunks(list(topics))]
    for in_topics in some:
        items = item_progress(in_topics).subquery()
        rows = session.execute(
            select(
                items.c.topic_id,
                func.count(),
                func.count().filter(items.c.is_judged),
                func.count().filter(items.c.is_complete),
                func.coalesce(func.sum(items.c.missing).filter(items.c.missing > 0), 0),
            ).group_by(items.c.topic_id)
        )
        counts |= {id_: Counts(*map(int, row)) for id_, *row in rows if id_ in counts}
    return counts


def record_counts(session: Session, changed: Sequence[ChangedTopic], counts: Mapping[int, Counts]) -> None:
    """Record what was counted at these revisions, in place of what was recorded before."""
    rows = [{"topic_id": topic.id, "revision": topic.revision, **counts[topic.id]._asdict()} for topic in changed]
    record_derived(session, TopicCounts, rows)


def in_groups(session: Session, topics: Sequence[int], most: int) -> Iterator[list[int]]:
    """Divide topics into groups with about so many items, by the last count where there is one.

    On PostgreSQL a statement for a few topics may read a whole table, so that there must not be many of them.
    """
    sizes: dict[int, int] = {}
    for some in chunks(list(topics)):
        counted = select(TopicCounts.topic_id, TopicCounts.items).where(TopicCounts.topic_id.in_(some))
        sizes |= {id_: items for id_, items in session.execute(counted)}
    for some in chunks([topic for topic in topics if topic not in sizes]):
        pooled = select(PoolItem.topic_id, func.count()).where(PoolItem.topic_id.in_(some)).group_by(PoolItem.topic_id)
        sizes |= {id_: items for id_, items in session.execute(pooled)}
    group: list[int] = []
    size = 0
    for topic in topics:
        of_topic = sizes.get(topic, 0)
        if group and size + of_topic > most:
            yield group
            group, size = [], 0
        group.append(topic)
        size += of_topic
    if group:
        yield group

"""Topics that might better be dropped, by what was judged."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import Subquery, and_, func, select
from sqlalchemy.orm import Session

from annotator.evaluation.consensus import settle_each
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.topic_flags import JudgedTopic, flag_topics
from annotator.evaluation.topic_flags import TopicFlag as TopicFlag
from annotator.storage import ACCEPTED, Collection, Judgement, PoolItem, Topic
from annotator.storage.collection import find_collection


def flagged_topics(session: Session, slug: str, *, to_come: Mapping[str, int] | None = None) -> list[TopicFlag]:
    """The accepted topics with too little or too much that is relevant, by the collection's own consensus policy.

    `to_come` says of topics, by number, how many documents will still be chosen; they wait, too.
    """
    collection = find_collection(session, slug)
    items = _items(collection.id)
    disputed = _relevant_among_disputed(session, collection, items)
    relevant = func.count().filter(items.c.lowest >= collection.relevant_from)
    rows = session.execute(
        select(
            items.c.topic_id,
            items.c.number,
            func.count(),
            func.count(items.c.lowest),
            relevant,
            func.count().filter(items.c.said == 0),
        ).group_by(items.c.topic_id, items.c.number)
    )
    topics = [
        JudgedTopic(number, pooled, judged, undisputed + disputed[topic_id], waiting + (to_come or {}).get(number, 0))
        for topic_id, number, pooled, judged, undisputed, waiting in rows
    ]
    return flag_topics(sorted(topics, key=lambda topic: natural_order(topic.number)))


def _items(collection_id: int) -> Subquery:
    """The pool items of accepted topics with how often something was said of each, and its lowest and highest grade."""
    return (
        select(
            PoolItem.id.label("item_id"),
            PoolItem.topic_id,
            Topic.number,
            func.count(Judgement.id).label("said"),
            func.min(Judgement.grade).label("lowest"),
            func.max(Judgement.grade).label("highest"),
        )
        .join(Topic, Topic.id == PoolItem.topic_id)
        .outerjoin(Judgement, and_(Judgement.pool_item_id == PoolItem.id, Judgement.current))
        .where(Topic.collection_id == collection_id, ACCEPTED)
        .group_by(PoolItem.id, PoolItem.topic_id, Topic.number)
        .subquery()
    )


def _relevant_among_disputed(session: Session, collection: Collection, items: Subquery) -> Counter[int]:
    """Count by topic id what is settled as relevant of that on which judges differ whether it is.

    Every policy chooses one of the grades that were given, so that only these need to be settled, and to leave the
    database, one by one.
    """
    rows = session.execute(
        select(items.c.topic_id, items.c.item_id, Judgement.grade)
        .join(Judgement, and_(Judgement.pool_item_id == items.c.item_id, Judgement.current))
        .where(
            items.c.lowest < collection.relevant_from,
            items.c.highest >= collection.relevant_from,
            Judgement.grade.is_not(None),
        )
    ).all()
    topics = {item: topic_id for topic_id, item, _ in rows}
    settled = settle_each(collection.consensus_policy, [(item, grade) for _, item, grade in rows])
    return Counter(topics[item] for item, grade in settled.items() if grade >= collection.relevant_from)

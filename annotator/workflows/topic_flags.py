"""Topics that might better be dropped, by what was judged."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy import Row, exists, func, select
from sqlalchemy.orm import Session

from annotator.evaluation.consensus import judge_of
from annotator.evaluation.natural_order import natural_order
from annotator.evaluation.settling import Rules, settle_voices
from annotator.evaluation.topic_flags import JudgedTopic, flag_topics
from annotator.evaluation.topic_flags import TopicFlag as TopicFlag
from annotator.storage import ACCEPTED, Collection, Judgement, PoolItem, Topic
from annotator.storage.collection import find_collection
from annotator.storage.opinions import MACHINES, opinions


def flagged_topics(session: Session, slug: str, *, to_come: Mapping[str, int] | None = None) -> list[TopicFlag]:
    """The accepted topics with too little or too much that is relevant, by the collection's own consensus policy.

    `to_come` says of topics, by number, how many documents will still be chosen; they wait, too.
    """
    collection = find_collection(session, slug)
    machines = collection.counts_machines or judge_of(collection.consensus_policy) is not None
    judged, relevant = _settled(session, collection, machines=machines)
    topics = [
        JudgedTopic(number, pooled, judged[id_], relevant[id_], waiting + (to_come or {}).get(number, 0))
        for id_, number, pooled, waiting in _pooled(session, collection.id, machines=machines)
    ]
    return flag_topics(sorted(topics, key=lambda topic: natural_order(topic.number)))


def _settled(session: Session, collection: Collection, *, machines: bool) -> tuple[Counter[int], Counter[int]]:
    """How many documents of each topic have a settled grade, and how many of these are relevant, by topic id."""
    said = opinions(session, collection.id, machines=machines)
    rules = Rules(collection.consensus_policy, collection.relevant_from, collection.leaves_out_disputed)
    grades = settle_voices(said, rules).grades
    topics = {one.pool_item_id: one.topic_id for one in said}
    judged = Counter(topics[item] for item in grades)
    return judged, Counter(topics[item] for item, grade in grades.items() if grade >= collection.relevant_from)


def _pooled(session: Session, collection_id: int, *, machines: bool) -> list[Row[int, str, int, int]]:
    """Id, number, pool items, and those of which nobody has said anything, of each accepted topic with a pool."""
    is_said = exists().where(Judgement.pool_item_id == PoolItem.id, Judgement.current)
    if not machines:
        is_said = is_said.where(Judgement.judge_id.not_in(MACHINES))
    return list(
        session.execute(
            select(Topic.id, Topic.number, func.count(), func.count().filter(~is_said))
            .join(PoolItem, PoolItem.topic_id == Topic.id)
            .where(Topic.collection_id == collection_id, ACCEPTED)
            .group_by(Topic.id, Topic.number)
        )
    )

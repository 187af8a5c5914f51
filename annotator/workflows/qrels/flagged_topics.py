"""Topics that measure little: the flags of accepted topics by the settled grades of a collection."""

from collections.abc import Collection, Mapping
from typing import NamedTuple

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.qrels.settling import Rules, rules_of
from annotator.evaluation.qrels.topic_flags import JudgedTopic, TopicFlag, flag_topics
from annotator.storage import ACCEPTED, Topic
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.topic_counts import topic_counts
from annotator.storage.judging.topic_judgements import judges_by_id
from annotator.storage.topics.revisions import judged_revisions
from annotator.workflows.collections.topic_memory import TopicMemory
from annotator.workflows.judging.topic_judgements import current_by_groups


class SettledTopic(NamedTuple):
    """The documents of a topic: with any judgement, with a settled grade, and the relevant ones of these."""

    judged: int
    settled: int
    relevant: int


NOTHING = SettledTopic(0, 0, 0)
SettledMemory = TopicMemory[SettledTopic]


def flagged_topics(
    session: Session, slug: str, *, to_come: Mapping[str, int] | None = None, memory: SettledMemory | None = None
) -> list[TopicFlag]:
    """The accepted topics with too few or too many relevant documents, by the collection's policy.

    `to_come` maps topic numbers to the number of documents still to be chosen, which count as waiting. Without a memory
    all judgements are settled.
    """
    collection = find_collection(session, slug)
    rules = rules_of(collection)
    rows = session.execute(
        select(Topic.id, Topic.number, Topic.owner_id).where(Topic.collection_id == collection.id, ACCEPTED)
    ).all()
    numbers, owners = {row.id: row.number for row in rows}, {row.id: row.owner_id for row in rows}
    place = (collection.id, rules, tuple(judges_by_id(session).items()), tuple(owners.items()))
    marks = judged_revisions(session, collection.id)
    settled = (memory or SettledMemory()).values(
        place, marks, lambda stale: _settle(session, collection.id, rules, stale.keys())
    )
    pooled = {id_: counts.items for id_, counts in topic_counts(session, collection.id).items() if counts.items}
    topics = [
        _judged_topic(numbers[id_], items, settled.get(id_, NOTHING), (to_come or {}).get(numbers[id_], 0))
        for id_, items in pooled.items()
    ]
    return flag_topics(sorted(topics, key=lambda topic: natural_order(topic.number)))


def _judged_topic(number: str, pooled: int, settled: SettledTopic, to_come: int) -> JudgedTopic:
    return JudgedTopic(number, pooled, settled.settled, settled.relevant, pooled - settled.judged + to_come)


def _settle(session: Session, collection_id: int, rules: Rules, topics: Collection[int]) -> dict[int, SettledTopic]:
    found: dict[int, SettledTopic] = {}
    for judgements, current in current_by_groups(session, collection_id, rules, topics):
        counts = current.counts_by_topic(current.settle(rules), rules.relevant_from)
        found |= {
            topic: SettledTopic(judged, *counts.get(topic, (0, 0)))
            for topic, judged in judgements.judged_by_topic().items()
        }
    return found

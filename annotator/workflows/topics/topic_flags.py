"""Topics that might better be dropped, by what was judged."""

from collections import Counter
from collections.abc import Mapping

from sqlalchemy.orm import Session

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.qrels.settling import Rules, rules_of, settle_voices
from annotator.evaluation.qrels.topic_flags import JudgedTopic, TopicFlag, flag_topics
from annotator.storage.collections.collection import find_collection
from annotator.storage.judging.progress import topic_counts
from annotator.storage.qrels.current_grades import opinions


def flagged_topics(session: Session, slug: str, *, to_come: Mapping[str, int] | None = None) -> list[TopicFlag]:
    """The accepted topics with too little or too much that is relevant, by the collection's own consensus policy.

    `to_come` says of topics, by number, how many documents will still be chosen; they wait, too.
    """
    collection = find_collection(session, slug)
    rules = rules_of(collection)
    judged, relevant = _settled(session, collection.id, rules)
    topics = [
        JudgedTopic(number, pooled, judged[id_], relevant[id_], waiting + (to_come or {}).get(number, 0))
        for id_, number, pooled, waiting in topic_counts(session, collection.id, machines=rules.hears_machines)
    ]
    return flag_topics(sorted(topics, key=lambda topic: natural_order(topic.number)))


def _settled(session: Session, collection_id: int, rules: Rules) -> tuple[Counter[int], Counter[int]]:
    """How many documents of each topic have a settled grade, and how many of these are relevant, by topic id."""
    said = opinions(session, collection_id, machines=rules.hears_machines)
    grades = settle_voices(said, rules).grades
    topics = {one.pool_item_id: one.topic_id for one in said}
    judged = Counter(topics[item] for item in grades)
    return judged, Counter(topics[item] for item, grade in grades.items() if grade >= rules.relevant_from)

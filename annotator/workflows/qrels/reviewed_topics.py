"""Topics with their judged documents in the order of judging, by the settled grades, and their random samples."""

from collections.abc import Collection as SizedIterable
from collections.abc import Mapping

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.evaluation.pooling.learned_order import CandidateSet
from annotator.evaluation.pooling.pool_choice import ADAPTIVE, stored_strategy
from annotator.evaluation.qrels.settled_topics import current_opinions
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.stopping.judging_sequence import (
    NOTHING,
    Judged,
    candidates_of,
    in_order_of_judging,
    reached_by_choices,
)
from annotator.evaluation.stopping.reviewed_topic import ReviewedTopic, review_topic
from annotator.storage import Collection, Pool, Stratum, Topic
from annotator.storage.documents.documents import count_corpus
from annotator.storage.judging.adaptive_choices import newest_pool, runs_in_force
from annotator.storage.judging.topic_counts import topic_counts
from annotator.storage.judging.topic_judgements import judges_by_id
from annotator.storage.pools.pools import packed_lists
from annotator.storage.pools.samples import choices_since, strata_of_pool
from annotator.workflows.judging.topic_judgements import read_judgements


def reviewed_topics(
    session: Session,
    collection: Collection,
    topics: SizedIterable[int],
    sample: Pool | None,
    candidates: Mapping[int, int],
) -> dict[int, ReviewedTopic]:
    """Topic id → its judged documents in the order of their first judgement, with the sample of a pool version.

    A document counts with its settled grade; one without, such as one that nobody could judge, is left out.
    """
    judged = _in_order(session, collection, topics)
    strata: dict[int, list[Stratum]] = {}
    for one in [] if sample is None else strata_of_pool(session, sample, topics):
        strata.setdefault(one.topic_id, []).append(one)
    chosen = {} if sample is None else choices_since(session, sample, strata)
    return {
        topic: review_topic(
            *judged.get(topic, NOTHING),
            strata.get(topic, ()),
            reached_by_choices(judged.get(topic, NOTHING)[0], chosen.get(topic, ())),
            candidates.get(topic, 0),
        )
        for topic in topics
    }


def candidate_counts(session: Session, collection: Collection, topics: SizedIterable[int]) -> dict[int, int]:
    """Topic id → how many documents can be judged: the pool, or all that an adaptive one can choose from."""
    counts = topic_counts(session, collection.id)
    pooled = {topic: counts[topic].items for topic in topics if topic in counts}
    adaptive = newest_pool(session, collection.id, ADAPTIVE)
    if adaptive is None:
        return pooled
    if stored_strategy(adaptive.strategy, adaptive.parameters).candidates is CandidateSet.CORPUS:
        return dict.fromkeys(topics, count_corpus(session, collection.id))
    runs = [run_id for run_id, counts_now in runs_in_force(session, adaptive.id).items() if counts_now]
    for topic, lists in packed_lists(session, runs, sorted(topics), most_bytes=None):
        pooled[topic] = max(pooled.get(topic, 0), candidates_of([one.documents for one in lists]))
    return pooled


def _in_order(session: Session, collection: Collection, topics: SizedIterable[int]) -> dict[int, Judged]:
    judgements = read_judgements(session, collection.id, topics, docnos=False, seconds=False)
    rules = rules_of(collection)
    judges = judges_by_id(session)
    if not rules.counts_machines:
        judgements = judgements.where(~judgements.by([id_ for id_, one in judges.items() if one.is_machine]))
    rows = session.execute(select(Topic.id, Topic.owner_id).where(Topic.collection_id == collection.id))
    current = current_opinions(judgements, judges, {id_: owner for id_, owner in rows}, machines=rules.counts_machines)
    settled = current.settle(rules)
    return in_order_of_judging(judgements, current, settled, collection.relevant_from)

"""Adaptive pools: choose the next documents of a topic from its judgements so far, and add them.

Choosing only reads and may be slow; adding is quick. Drawing is independent of both. The newest version built by an
adaptive strategy chooses until its budget is used up: a number of documents beyond the initial ones, in total or for
each topic. Choices of earlier versions by the same strategy count towards that budget, so building again, e.g. for a
late run, costs no additional judgements. The update rules are documented in `evaluation/pooling/pool_selection.py`.

It chooses when a judge is at their last document and few others are waiting, and only as many as needed for drawing. A
judge draws eight at a time, so a choice may miss the last eight labels of each judge working on the topic.
"""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from itertools import accumulate

from sqlalchemy.orm import Session

from annotator.evaluation.pooling.adaptive import Update
from annotator.evaluation.pooling.learned_order import BatchSize, CandidateSet, LearnedOrder
from annotator.evaluation.pooling.ordering import showing_order
from annotator.evaluation.pooling.pool_choice import ADAPTIVE, stored_strategy
from annotator.evaluation.pooling.pool_selection import (
    Candidates,
    ChosenDocument,
    Documents,
    Memory,
    TopicJudgement,
    TopicSelection,
    TopicVerdict,
    begin_selection,
    candidates,
    still_to_choose,
    verdicts,
    without,
)
from annotator.storage import ACCEPTED, Collection, JudgingMode, LearningRound, Pool, Topic
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import count_corpus, docnos_of, greatest_document
from annotator.storage.judging.adaptive_choices import (
    ItemRow,
    Knowledge,
    Made,
    NewChoice,
    choices_of_strategy,
    chosen_runs,
    greatest_priority,
    held_and_free,
    insert_choices,
    items_before_choices,
    items_by_topic,
    items_of,
    items_of_later_versions,
    judgements_of,
    lock_for_choices,
    newest_pool,
    runs_in_force,
    still_so,
)
from annotator.storage.pools.learning_rounds import last_round
from annotator.storage.pools.pools import packed_lists
from annotator.storage.pools.stopping_decisions import is_stopped, stopped_topics
from annotator.workflows.pools.choosing_version import ChoosingVersion, basis_of, choosing_version, unmet_documents
from annotator.workflows.pools.machine_chances import chances_of_topics

# For callers that choose repeatedly.
__all__ = ["ChosenDocuments", "Memory", "add_choices", "choices_left", "choose_next"]

# The number a judge draws at once.
ENOUGH_TO_DRAW = 8
# Chooses while the judge reads their last document, so that they need not wait.
LAST_HELD = 1


@dataclass(frozen=True)
class ChosenDocuments:
    """Documents chosen for a topic and not stored yet, with the state on which the choice was based."""

    pool_id: int
    topic_id: int
    topic_number: str
    documents: tuple[ChosenDocument, ...]
    knowledge: Knowledge
    relevant_from: int
    runs_left_out: tuple[int, ...]  # runs of the version that were not active at that time
    is_urgent: bool  # the judge has no other document
    basis: Mapping[str, object] = field(default_factory=dict)  # of a round of training, for its replay


def choose_next(
    session: Session, slug: str, topic_number: str, judge_id: int, *, memory: Memory
) -> ChosenDocuments | None:
    """Choose the documents a judge needs for the current or next draw; stores nothing.

    None when there is nothing to choose: no adaptive strategy is active, another judge owns the topic, the judge holds
    or can draw enough of it, the budget is used up, or no run has another document.
    """
    version = choosing_version(session, slug)
    topic_id = None if version is None else topic_ids(session, version.collection.id, ACCEPTED).get(topic_number)
    if version is None or topic_id is None or topic_id not in _chosen_for(session, version, judge_id):
        return None
    held, free = held_and_free(session, version.collection, topic_id, judge_id)
    enough = 1 if version.strategy.batch is BatchSize.ONE else ENOUGH_TO_DRAW
    if held > LAST_HELD or free >= enough:
        return None
    left = _left(session, version, memory).get(topic_number, 0)
    if left == 0:
        return None
    items = items_of(session, topic_id)
    words = judgements_of(session, topic_id)
    out = [item.document_id for item in items]
    key = (version.pool.id, version.runs, topic_id)
    selection = memory.take_topic(key) or _begin(session, version, topic_id, topic_number)
    count = min(enough - free, left)
    trained = _valid_round(session, version, topic_id, words)
    documents = _of_round(session, trained, selection, items, count) if trained else []
    if not documents:
        trained = None
        documents = selection.choose(_known(session, version, topic_id, words), out, count)
    memory.put_topic(key, selection)
    if not documents:
        return None
    last = words[-1].id if words else None
    return ChosenDocuments(
        pool_id=version.pool.id,
        topic_id=topic_id,
        topic_number=topic_number,
        documents=tuple(documents),
        knowledge=_known_to(trained, len(items)) if trained else Knowledge(len(items), len(words), last),
        relevant_from=version.collection.relevant_from,
        runs_left_out=version.runs_left_out,
        is_urgent=held + free == 0,
        basis={**trained.basis, "training": trained.training_hash} if trained else {},
    )


def _known(
    session: Session, version: ChoosingVersion, topic_id: int, words: Sequence[TopicJudgement]
) -> tuple[TopicVerdict, ...]:
    # The contributing run matters only for strategies that update that run alone.
    pulled_only = version.strategy.update is Update.PULLED
    chosen_from = chosen_runs(session, version.pool.id, topic_id) if pulled_only else {}
    return verdicts(words, version.collection.relevant_from, chosen_from)


def _known_to(trained: LearningRound, items: int) -> Knowledge:
    return Knowledge(items, trained.judgements, trained.seen_judgement_id or None)


def _valid_round(
    session: Session, version: ChoosingVersion, topic_id: int, words: Sequence[TopicJudgement]
) -> LearningRound | None:
    """The last round of training, None if what it was based on has changed, judgements that came later aside."""
    trained = last_round(session, version.pool.id, topic_id) if version.strategy.definition.learns else None
    if trained is None or {**trained.basis, **basis_of(version)} != trained.basis:
        return None
    known = sum(word.id <= trained.seen_judgement_id for word in words)
    return trained if known == trained.judgements else None


def _of_round(
    session: Session, trained: LearningRound, selection: TopicSelection, items: Sequence[ItemRow], count: int
) -> list[ChosenDocument]:
    """The next documents in the order of a round of training, and those of a target set that come before them."""
    pooled = {item.document_id for item in items}
    unmet = unmet_documents(session, session.get_one(Pool, trained.pool_id), trained.topic_id)
    order = LearnedOrder.unpack(trained.documents).first(count + len(unmet), pooled - unmet)
    order = order.with_new(count, pooled)
    docnos = docnos_of(session, set(order.documents.tolist()))
    return [
        selection.describe(
            document, docnos[document], {"rank": rank, "score": round(score, 5), "round": trained.number}
        )
        for document, rank, score in zip(
            order.documents.tolist(), order.ranks.tolist(), order.scores.tolist(), strict=True
        )
        if document in docnos
    ]


def add_choices(session: Session, slug: str, chosen: ChosenDocuments, *, at: datetime) -> int:
    """Add chosen documents to the pool, each with its reason and the state it is based on; returns their number.

    Adds nothing when the topic's pool has grown since, a run was withdrawn or restored, the relevance threshold has
    changed, another version chooses, or judging has ended or was stopped: the caller then chooses again. So concurrent
    choices never add a document twice or exceed the budget.
    """
    collection = find_collection(session, slug)
    pool = session.get_one(Pool, chosen.pool_id)
    if not lock_for_choices(session, pool, chosen.topic_id, wait=chosen.is_urgent):
        return 0
    if newest_pool(session, collection.id, ADAPTIVE) is not pool or not _still_follows(session, collection, chosen):
        return 0
    budget = stored_strategy(pool.strategy, pool.parameters).budget
    made = sum(made.total for made in choices_of_strategy(session, pool).values())
    documents = chosen.documents
    if budget is not None:
        documents = _within(budget - made, documents, {item.document_id for item in items_of(session, chosen.topic_id)})
    if documents:
        insert_choices(
            session,
            pool,
            chosen.topic_id,
            _with_priorities(session, pool, chosen, documents),
            seen_judgement_id=chosen.knowledge.last_judgement_id,
            judgements_wanted=collection.judgements_wanted,
            at=at,
        )
    return len(documents)


def _within(left: int, documents: tuple[ChosenDocument, ...], pooled: AbstractSet[int]) -> tuple[ChosenDocument, ...]:
    """The first documents, as many new ones among them as are left of a budget."""
    new = list(accumulate(int(one.document_id not in pooled) for one in documents))
    return tuple(one for one, count in zip(documents, new, strict=True) if count <= left)


def _still_follows(session: Session, collection: Collection, chosen: ChosenDocuments) -> bool:
    """Whether the choice is still valid, new judgements aside; called with the locks held."""
    left_out = tuple(run_id for run_id, counts in runs_in_force(session, chosen.pool_id).items() if not counts)
    return (
        left_out == chosen.runs_left_out
        and not is_stopped(session, chosen.topic_id)
        and collection.relevant_from == chosen.relevant_from
        and still_so(session, chosen.topic_id, chosen.knowledge)
    )


def choices_left(session: Session, slug: str, *, memory: Memory, judge_id: int | None = None) -> Mapping[str, int]:
    """Topic number → how many documents an adaptive strategy will still choose there, as they are needed.

    With a judge, only topics for which their draws trigger choices.
    """
    version = choosing_version(session, slug)
    if version is None:
        return {}
    left = _left(session, version, memory)
    if judge_id is None:
        return left
    theirs = _chosen_for(session, version, judge_id)
    numbers = topic_ids(session, version.collection.id, ACCEPTED)
    return {number: count for number, count in left.items() if numbers[number] in theirs}


def _chosen_for(session: Session, version: ChoosingVersion, judge_id: int) -> frozenset[int]:
    """The topics for which this judge's draws trigger choices: their own ones where topics have owners."""
    is_owned = version.collection.judging_mode == JudgingMode.OWNED
    conditions = (ACCEPTED, Topic.owner_id == judge_id) if is_owned else (ACCEPTED,)
    return frozenset(topic_ids(session, version.collection.id, *conditions).values())


def _left(session: Session, version: ChoosingVersion, memory: Memory) -> Mapping[str, int]:
    """Topic number → how many documents may still be chosen there, of the accepted topics; 0 of those that are stopped.

    Choices for topics dropped since are lost; the rest of their shares goes to the others. What a stopped topic leaves
    is saved.
    """
    topics = topic_ids(session, version.collection.id, ACCEPTED)
    made = choices_of_strategy(session, version.pool)
    gone = sum(each.total for topic_id, each in made.items() if topic_id not in topics.values())
    here = {number: made.get(topic_id, Made(0, 0)) for number, topic_id in topics.items()}
    sizes = _sizes(session, version, topics, here, memory)
    made_here = {number: each.total for number, each in here.items()}
    left = still_to_choose(version.strategy, sizes, made_here, used=gone)
    stopped = stopped_topics(session, version.collection.id)
    return {number: 0 if topics[number] in stopped else count for number, count in left.items()}


def _sizes(
    session: Session, version: ChoosingVersion, topics: Mapping[str, int], made: Mapping[str, Made], memory: Memory
) -> dict[str, int]:
    """Topic number → how many documents there are to choose from, those chosen by the strategy among them."""
    if version.strategy.candidates is CandidateSet.CORPUS:
        documents = memory.corpus_size(
            greatest_document(session), partial(count_corpus, session), version.collection.id
        )
        pooled = items_by_topic(session, version.collection.id)
        return {
            number: max(documents - pooled.get(topic_id, 0) + made[number].total, 0)
            for number, topic_id in topics.items()
        }
    # Choices of earlier versions are pooled already, but count towards the budget.
    return {
        number: one.documents.size + made[number].before
        for number, one in _candidates(session, version, topics, memory).items()
    }


def _candidates(
    session: Session, version: ChoosingVersion, topics: Mapping[str, int], memory: Memory
) -> Mapping[str, Candidates]:
    """Topic number → the documents from which the version can choose; cached entries are reused."""
    keys = {topic_id: (version.pool.id, version.runs, topic_id) for topic_id in topics.values()}
    known = memory.candidates(keys.values())
    missing = [topic_id for topic_id, key in keys.items() if key not in known]
    if missing:
        found = _first_candidates(session, version, missing)
        known |= {keys[topic_id]: Candidates(documents, 0) for topic_id, documents in found.items()}
    read = min((one.last_item_id for one in known.values()), default=0)
    later, last = items_of_later_versions(session, version.pool, after=read)
    if missing or later:
        known = {key: Candidates(without(one.documents, later.get(key[2], [])), last) for key, one in known.items()}
        memory.keep_candidates(known)
    return {number: known[keys[topic_id]] for number, topic_id in topics.items()}


def _first_candidates(session: Session, version: ChoosingVersion, topics: Sequence[int]) -> dict[int, Documents]:
    """Topic id → the candidate documents of the version at its beginning."""
    pooled = items_before_choices(session, version.pool)
    found = dict.fromkeys(topics, candidates(version.strategy, [], []))
    for topic_id, lists in packed_lists(session, version.runs, topics, most_bytes=None):
        packed = [(one.run_id, one.documents) for one in lists]
        found[topic_id] = candidates(version.strategy, packed, pooled.get(topic_id, []))
    return found


def _begin(session: Session, version: ChoosingVersion, topic_id: int, topic_number: str) -> TopicSelection:
    lists = [
        (one.run_id, one.documents)
        for _, several in packed_lists(session, version.runs, [topic_id], most_bytes=None)
        for one in several
    ]
    chances = chances_of_topics(session, version.collection.id, version.strategy, [topic_id]).get(topic_id)
    docnos = partial(docnos_of, session)
    return begin_selection(version.strategy, topic_number, lists, docnos, version.pool.seed, chances)


def _with_priorities(
    session: Session, pool: Pool, chosen: ChosenDocuments, documents: tuple[ChosenDocument, ...]
) -> list[NewChoice]:
    priorities = showing_order(
        pool.showing,
        [document.docno for document in documents],
        pool.seed,
        chosen.topic_number,
        last=greatest_priority(session, chosen.topic_id),
    )
    known = {**chosen.basis, "relevant_from": chosen.relevant_from, "runs_left_out": list(chosen.runs_left_out)}
    return [
        NewChoice(
            document.document_id,
            priority,
            {**({} if document.run_id is None else {"run": document.run_id}), **document.reason, **known},
            document.ranks,
        )
        for document, priority in zip(documents, priorities.tolist(), strict=True)
    ]

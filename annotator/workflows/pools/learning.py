"""Training for the strategy `cal`: which topics wait for a round, and what a round ranks. A worker does it.

A round waits for as many judgements of people as its batch has; corrections and second opinions count, too. Until then,
and while the worker is busy, judges get the documents of the round before.
"""

from collections import OrderedDict
from collections.abc import Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from functools import partial
from typing import Any

from sqlalchemy.orm import Session

from annotator.evaluation.pooling.active_learning import next_batch
from annotator.evaluation.pooling.learned_order import (
    BatchSize,
    CandidateSet,
    CandidateTexts,
    CountedTexts,
    Learned,
    Training,
    learn_order,
)
from annotator.evaluation.pooling.pool_selection import Memory
from annotator.evaluation.pooling.strategies import LEARNING
from annotator.evaluation.pooling.text_features import can_learn
from annotator.evaluation.qrels.settled_topics import current_opinions
from annotator.evaluation.qrels.settling import Rules
from annotator.evaluation.qrels.topic_judgements import columns_of
from annotator.evaluation.runs.rankings import decode_documents
from annotator.storage import LearningRound, Topic
from annotator.storage.documents.documents import (
    greatest_document,
    hashes_of_corpus,
    hashes_of_texts,
    whole_texts,
)
from annotator.storage.judging.adaptive_choices import choices_made, items_of, judgements_of
from annotator.storage.judging.topic_judgements import judgements_then, judges_by_id, stored_judgements
from annotator.storage.pools.learning_rounds import (
    collections_that_learn,
    count_judgements_of_people,
    last_round,
    record_round,
)
from annotator.storage.pools.pools import packed_lists
from annotator.storage.site.epoch import current_epoch
from annotator.storage.topics.revisions import revisions
from annotator.workflows.pools.choosing_version import ChoosingVersion, basis_of, choosing_version, unmet_documents
from annotator.workflows.pools.pool_selection import choices_left

# Documents that a round keeps: judges who are ahead of the worker go on with them.
KEPT = 1_000
MOST_TOPICS_IN_MEMORY = 24  # of about 5 MB each, with ten thousand passages


@dataclass(frozen=True)
class WaitingTopic:
    """A topic for which a round of training is due."""

    slug: str
    topic_id: int
    judgements: int  # new ones


@dataclass(frozen=True, eq=False)
class TrainedRound:
    """A round that is not stored yet."""

    slug: str
    epoch: str  # of the database
    row: Mapping[str, Any]


@dataclass
class LearningMemory:
    """A process's cache of counted texts, and of topics that had nothing due; it does not affect what is learnt."""

    choices: Memory = field(default_factory=Memory)
    idle: dict[int, Hashable] = field(default_factory=dict)
    # Corpora whose texts are as they were counted, up to these documents; cleared to have them compared again.
    compared: dict[Hashable, int] = field(default_factory=dict)
    _counted: OrderedDict[Hashable, CountedTexts] = field(default_factory=OrderedDict)

    def recall(self, key: Hashable) -> CountedTexts | None:
        """The counted texts of a topic or corpus."""
        if key in self._counted:
            self._counted.move_to_end(key)
        return self._counted.get(key)

    def keep(self, key: Hashable, counted: CountedTexts) -> None:
        """Cache them; the least recently used are dropped."""
        self._counted[key] = counted
        self._counted.move_to_end(key)
        while len(self._counted) > MOST_TOPICS_IN_MEMORY:
            self._counted.popitem(last=False)


def waiting_topics(session: Session, memory: LearningMemory) -> list[WaitingTopic]:
    """The topics for which a round is due, those with the most new judgements first; none without scikit-learn."""
    waiting: list[WaitingTopic] = []
    if not can_learn():  # the pool was built where it is installed
        return waiting
    for collection in collections_that_learn(session, LEARNING):
        version = choosing_version(session, collection.slug)
        if version is None or not version.strategy.definition.learns:
            continue
        basis = basis_of(version)
        left: Mapping[str, int] | None = None
        for topic_id, revision in revisions(session, collection.id).items():
            state = (version.pool.id, revision, repr(basis))
            if memory.idle.get(topic_id) == state:
                continue
            new = _new_judgements(session, version, topic_id, basis)
            if new is not None and left is None:
                left = choices_left(session, collection.slug, memory=memory.choices)
            if new is None or not (left or {}).get(session.get_one(Topic, topic_id).number):
                memory.idle[topic_id] = state
            else:
                waiting.append(WaitingTopic(collection.slug, topic_id, new))
    return sorted(waiting, key=lambda one: -one.judgements)


def _new_judgements(
    session: Session, version: ChoosingVersion, topic_id: int, basis: Mapping[str, object]
) -> int | None:
    """How many judgements are new since the last round, None while it is to wait for more."""
    last = last_round(session, version.pool.id, topic_id)
    made = judgements_of(session, topic_id)
    if last is None:
        return len(made)
    known = sum(one.id <= last.seen_judgement_id for one in made)
    is_still_so = known == last.judgements and {**last.basis, **basis} == last.basis
    new = len(made) - known
    return None if is_still_so and new < last.batch else new


def train_topic(
    session: Session, waiting: WaitingTopic, memory: LearningMemory, *, now: datetime
) -> TrainedRound | None:
    """Train the next round of a topic; stores nothing. None when it is not due any more."""
    version = choosing_version(session, waiting.slug)
    if version is None or not version.strategy.definition.learns:
        return None
    basis = basis_of(version)
    if _new_judgements(session, version, waiting.topic_id, basis) is None:
        return None
    before = last_round(session, version.pool.id, waiting.topic_id)
    made = judgements_of(session, waiting.topic_id)
    seen = made[-1].id if made else 0
    number = before.number + 1 if before else 1
    greatest = greatest_document(session)
    steps = choices_made(session, version.pool.id).get(waiting.topic_id, 0)
    unmet = unmet_documents(session, version.pool, waiting.topic_id, steps)
    learned = learn_round(session, version, waiting.topic_id, number, seen, greatest, memory, steps=steps)
    batch = 1 if before is None or version.strategy.batch is BatchSize.ONE else _batch_after(before, len(made))
    pooled = {item.document_id for item in items_of(session, waiting.topic_id)} - unmet
    packed = learned.order.first(max(KEPT, 4 * batch), pooled).pack() if learned.order else b""
    row = {
        "pool_id": version.pool.id,
        "topic_id": waiting.topic_id,
        "number": number,
        "batch": batch,
        "seen_judgement_id": seen,
        "judgements": len(made),
        "basis": {**basis, "last_document": greatest, "steps": steps},
        "training_hash": learned.training_hash,
        "documents": packed,
        "trained_at": now,
    }
    return TrainedRound(waiting.slug, current_epoch(session), row)


def _batch_after(before: LearningRound, judgements: int) -> int:
    """A round that something else ended than its judgements is followed by one of the same size."""
    return next_batch(before.batch) if judgements - before.judgements >= before.batch else before.batch


def store_round(session: Session, trained: TrainedRound) -> bool:
    """Store a round; False if another version chooses by now, or what it counts was changed or was of another database.

    The site may have been restored from a backup meanwhile.
    """
    if current_epoch(session) != trained.epoch:
        return False
    version = choosing_version(session, trained.slug)
    row = trained.row
    if version is None or version.pool.id != row["pool_id"]:
        return False
    known = count_judgements_of_people(session, row["topic_id"], up_to=row["seen_judgement_id"])
    return known == row["judgements"] and record_round(session, row)


def learn_round(
    session: Session,
    version: ChoosingVersion,
    topic_id: int,
    number: int,
    seen: int,
    greatest: int,
    memory: LearningMemory,
    *,
    steps: int,
) -> Learned:
    """Rank the candidates of a topic by the judgements up to the one with the id `seen`.

    Of a corpus, documents with ids up to `greatest` are candidates. Documents of a target set are taken for unjudged
    unless the version has come to them in its first `steps` choices.
    """
    topic = session.get_one(Topic, topic_id)
    unmet = unmet_documents(session, version.pool, topic_id, steps)
    settled = labels_then(session, version, topic, seen)
    labels = {document: is_relevant for document, is_relevant in settled.items() if document not in unmet}
    texts = _texts(session, version, topic, labels, greatest, memory)
    about = text_of_topic(session, topic_id)
    return learn_order(texts, Training(topic.number, about, labels, version.pool.seed, number))


def text_of_topic(session: Session, topic_id: int) -> str:
    """Title and description; a narrative also names what is not relevant."""
    topic = session.get_one(Topic, topic_id)
    return f"{topic.title}\n{topic.description}"


def labels_then(session: Session, version: ChoosingVersion, topic: Topic, seen: int) -> dict[int, bool]:
    """Document id → whether it was relevant by the rules of consensus, when `seen` was the last judgement."""
    rules = Rules(**version.rules)
    judgements = columns_of(judgements_then(stored_judgements(session, [topic.id]), seen))
    owner = {topic.id: topic.owner_id}
    current = current_opinions(judgements, judges_by_id(session), owner, machines=rules.counts_machines)
    settled = current.settle(rules)
    documents = current.of_items(current.judgements.document)[settled.has_grade]
    relevant = settled.grade[settled.has_grade] >= rules.relevant_from
    return dict(zip(documents.tolist(), relevant.tolist(), strict=True))


def _texts(
    session: Session,
    version: ChoosingVersion,
    topic: Topic,
    labels: Mapping[int, bool],
    greatest: int,
    memory: LearningMemory,
) -> CandidateTexts:
    if version.strategy.candidates is CandidateSet.CORPUS:
        return _corpus(session, version, greatest, memory).candidates()
    retrieved = _retrieved(session, version, topic.id)
    texts = hashes_of_texts(session, retrieved | labels.keys())
    key = ("topic", version.pool.id, topic.id)
    counted = CountedTexts.of(texts, version.pool.seed, partial(whole_texts, session), memory.recall(key))
    memory.keep(key, counted)
    return counted.candidates(retrieved)


def _corpus(session: Session, version: ChoosingVersion, greatest: int, memory: LearningMemory) -> CountedTexts:
    key = ("corpus", version.collection.id, version.pool.seed)
    known = memory.recall(key)
    if known is None or memory.compared.get(key) != greatest:
        texts = hashes_of_corpus(session, version.collection.id, up_to=greatest)
        known = CountedTexts.of(texts, version.pool.seed, partial(whole_texts, session), known)
        memory.keep(key, known)
        memory.compared[key] = greatest
    return known


def _retrieved(session: Session, version: ChoosingVersion, topic_id: int) -> frozenset[int]:
    """The documents that the version's active runs have for a topic, down to the depth of the strategy."""
    depth = version.strategy.candidate_depth
    lists = packed_lists(session, version.runs, [topic_id], most_bytes=None)
    return frozenset(
        document
        for _, several in lists
        for one in several
        for document in decode_documents(one.documents)[:depth].tolist()
    )

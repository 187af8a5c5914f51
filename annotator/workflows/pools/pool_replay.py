"""Replay of an adaptive pool or a sample: every choice is repeated from what was known then, and compared."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.learned_order import LearnedOrder
from annotator.evaluation.pooling.pool_choice import is_adaptive, stored_strategy
from annotator.evaluation.pooling.pool_selection import ChosenDocument, TopicSelection, begin_selection, verdicts
from annotator.evaluation.pooling.strategies import LEARNING, Strategy
from annotator.evaluation.qrels.settling import Rules
from annotator.storage import Collection, Pool, Run, SelectionEvent, Topic
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.judging.adaptive_choices import choices_made, events_of, items_of, judgements_of, runs_in_force
from annotator.storage.pools.pools import packed_lists
from annotator.storage.pools.samples import STRATEGY, target_set
from annotator.workflows.pools.choosing_version import ChoosingVersion
from annotator.workflows.pools.learning import LearningMemory, learn_round
from annotator.workflows.pools.machine_chances import chances_of_topics, refuse_other_chances
from annotator.workflows.pools.sample_replay import redraw

# Choices of a classifier that are repeated within a request: a round of training takes about a tenth of a second.
MOST_LEARNED_AT_ONCE = 50


@dataclass(frozen=True)
class Difference:
    """A stored choice that differs from the replayed one, whose docno and run are None if it chooses nothing."""

    topic: str
    step: int
    docno: str
    run: str  # empty for a document that no run has
    docno_replayed: str | None
    run_replayed: str | None


@dataclass(frozen=True)
class Replay:
    """The differences found by a replay."""

    version: int
    strategy: str
    topics: int
    choices: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class _Event:
    """A stored choice with its document and the state it was based on."""

    event: SelectionEvent
    document_id: int

    @property
    def run_id(self) -> int | None:
        """None for a document that no run has."""
        return self.event.reason.get("run")

    @property
    def runs_left_out(self) -> frozenset[int]:
        return frozenset(self.event.reason["runs_left_out"])


def is_long_replay(session: Session, slug: str, version: int | None = None) -> bool:
    """Whether a classifier made more choices than are repeated while a reader waits; raises as `replay_choices`."""
    pool = _replayed_pool(session, find_collection(session, slug).id, version)
    return pool.strategy in LEARNING and sum(choices_made(session, pool.id).values()) > MOST_LEARNED_AT_ONCE


def replay_choices(session: Session, slug: str, *, version: int | None = None) -> Replay:
    """Repeat every choice of a version from the state at the time, and report the differences.

    Without `version` it is the newest that was built by an adaptive strategy or by the strategy sample. Of the former
    documents and runs are compared, of the latter the documents drawn of each stratum, whose number is then the step.
    Raises `NotFoundError` for an unknown version, and `ConflictError` for one of another strategy and for a sample
    drawn by labels that have changed, for a round of training whose judgements or texts have changed, and
    for a machine whose labels have.
    """
    pool = _replayed_pool(session, find_collection(session, slug).id, version)
    if pool.strategy == STRATEGY:
        topics, drawn, rows = redraw(session, pool)
        redrawn = (Difference(topic, number, docno, "", other, None) for topic, number, docno, other in rows)
        return Replay(pool.version, pool.strategy, topics, drawn, tuple(redrawn))
    if is_adaptive(pool.strategy):
        strategy = stored_strategy(pool.strategy, pool.parameters)
        refuse_other_chances(session, pool, strategy, list(runs_in_force(session, pool.id)))
    made = choices_made(session, pool.id)
    numbers = {id_: number for number, id_ in topic_ids(session, pool.collection_id).items() if id_ in made}
    differences = [
        difference
        for topic_id, number in sorted(numbers.items(), key=lambda topic: natural_order(topic[1]))
        for difference in _differences(session, pool, topic_id, number)
    ]
    return Replay(pool.version, pool.strategy, len(made), sum(made.values()), tuple(differences))


def _replayed_pool(session: Session, collection_id: int, version: int | None) -> Pool:
    pools = session.scalars(select(Pool).where(Pool.collection_id == collection_id).order_by(Pool.version)).all()
    if version is None:
        replayed = [pool for pool in pools if is_adaptive(pool.strategy) or pool.strategy == STRATEGY]
        if not replayed:
            raise NotFoundError("No version of this pool was built by an adaptive strategy or by the strategy sample.")
        return replayed[-1]
    found = [pool for pool in pools if pool.version == version]
    if not found:
        raise NotFoundError("There is no version %(version)d of the pool.", version=version)
    if not is_adaptive(found[0].strategy) and found[0].strategy != STRATEGY:
        raise ConflictError(
            "Version %(version)d was built by the strategy %(strategy)s, which neither chooses by judgements nor draws "
            "a sample with a budget.",
            version=version,
            strategy=found[0].strategy,
        )
    return found[0]


def _differences(session: Session, pool: Pool, topic_id: int, number: str) -> Iterator[Difference]:
    events = [_Event(event, document_id) for event, document_id in events_of(session, pool.id, topic_id)]
    replayed = list(_replayed(session, pool, topic_id, number, events))
    differing = [
        (event, choice)
        for event, choice in zip(events, replayed, strict=True)
        if choice is None or (choice.document_id, choice.run_id) != (event.document_id, event.run_id)
    ]
    docnos = docnos_of(session, {event.document_id for event, _ in differing})
    ids = {run for event, choice in differing for run in (event.run_id, choice.run_id if choice else event.run_id)}
    tags = {id_: tag for id_, tag in session.execute(select(Run.id, Run.tag).where(Run.id.in_(ids - {None})))}
    for event, choice in differing:
        yield Difference(
            number,
            event.event.step,
            docnos[event.document_id],
            tags.get(event.run_id or 0, ""),
            choice.docno if choice else None,
            tags.get(choice.run_id or 0, "") if choice else None,
        )


def _replayed(
    session: Session, pool: Pool, topic_id: int, number: str, events: Sequence[_Event]
) -> Iterator[ChosenDocument | None]:
    """The strategy's choice at each step, given the stored choices of earlier steps."""
    strategy = stored_strategy(pool.strategy, pool.parameters)
    words, items = judgements_of(session, topic_id), items_of(session, topic_id)
    chosen_from = {event.document_id: event.run_id for event in events if event.run_id is not None}
    selections: dict[frozenset[int], TopicSelection] = {}
    trainings = _Trainings(session, pool, strategy, topic_id, LearningMemory())
    drawn = target_set(session, pool, topic_id) if pool.strategy in LEARNING else frozenset()
    added = [event.event.pool_item_id for event in events if event.document_id not in drawn]
    # Additions to a topic are serialised: an older item has a smaller id.
    reached = min(added, default=max((item.id for item in items), default=0) + 1) - 1
    for step, event in enumerate(events):
        left_out = event.runs_left_out
        if left_out not in selections:
            selections[left_out] = _begin(session, pool, strategy, topic_id, number, left_out)
        seen = event.event.seen_judgement_id or 0
        known = verdicts(
            (word for word in words if word.id <= seen), int(event.event.reason["relevant_from"]), chosen_from
        )
        later = {one.document_id for one in events[step:]}
        reached = max(reached, event.event.pool_item_id)
        unmet = drawn - {one.document_id for one in events[:step]}
        out = [item.document_id for item in items if item.id <= reached]
        out = [document_id for document_id in out if document_id not in later | unmet]
        out += [one.document_id for one in events[:step]]
        if "training" in event.event.reason:
            yield trainings.choose(event.event, left_out, out, selections[left_out])
        else:
            chosen = selections[left_out].choose(known, out, 1)
            yield chosen[0] if chosen else None


@dataclass
class _Trainings:
    """Repeats the rounds of training of one topic; choices of the same round follow one another."""

    session: Session
    pool: Pool
    strategy: Strategy
    topic_id: int
    memory: LearningMemory
    _last: tuple[tuple[int, int, int], LearnedOrder] | None = None  # by round, judgements seen and choices made

    def choose(
        self, event: SelectionEvent, left_out: frozenset[int], out: Sequence[int], selection: TopicSelection
    ) -> ChosenDocument | None:
        """The document that the round of a choice ranks first, except those in `out`."""
        # Rounds are numbered from 1 again in a collection that was imported from an archive.
        key = int(event.reason["round"]), event.seen_judgement_id or 0, int(event.reason["steps"])
        if self._last is None or self._last[0] != key:
            self._last = key, self._trained(event, key[0], left_out)
        order = self._last[1].first(1, out)
        if not order.documents.size:
            return None
        [document] = order.documents.tolist()
        docno = docnos_of(self.session, {document})[document]
        return selection.describe(document, docno, {})

    def _trained(self, event: SelectionEvent, number: int, left_out: frozenset[int]) -> LearnedOrder:
        runs = tuple(run_id for run_id in runs_in_force(self.session, self.pool.id) if run_id not in left_out)
        rules = {one.name: event.reason[one.name] for one in fields(Rules)}
        collection = self.session.get_one(Collection, self.pool.collection_id)
        version = ChoosingVersion(collection, self.pool, self.strategy, runs, tuple(sorted(left_out)), rules)
        seen, last = event.seen_judgement_id or 0, int(event.reason["last_document"])
        learned = learn_round(
            self.session, version, self.topic_id, number, seen, last, self.memory, steps=int(event.reason["steps"])
        )
        if learned.training_hash != event.reason["training"]:
            topic = self.session.get_one(Topic, self.topic_id)
            raise ConflictError(
                "Topic %(topic)s: the texts, the judgements, the topic itself or how this program learns were changed "
                "since round %(round)d of version %(version)d was trained, so that its choices cannot be repeated.",
                topic=topic.number,
                round=number,
                version=self.pool.version,
            )
        return learned.order or LearnedOrder.unpack(b"")


def _begin(
    session: Session, pool: Pool, strategy: Strategy, topic_id: int, number: str, left_out: frozenset[int]
) -> TopicSelection:
    runs = [run_id for run_id in runs_in_force(session, pool.id) if run_id not in left_out]
    lists = [
        (one.run_id, one.documents)
        for _, several in packed_lists(session, runs, [topic_id], most_bytes=None)
        for one in several
    ]
    chances = chances_of_topics(session, pool.collection_id, strategy, [topic_id]).get(topic_id)
    return begin_selection(strategy, number, lists, partial(docnos_of, session), pool.seed, chances)

"""Replay an adaptive pool: whether its stored choices follow from the runs and from what judges had said by then."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError, NotFoundError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.pool_choice import is_adaptive, stored_strategy
from annotator.evaluation.pooling.pool_selection import ChosenDocument, TopicSelection, begin_selection, verdicts
from annotator.evaluation.pooling.strategies import Strategy
from annotator.storage import Pool, Run, SelectionEvent
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.documents.documents import docnos_of
from annotator.storage.judging.adaptive_choices import (
    choices_made,
    events_of,
    items_of,
    judgements_of,
    runs_in_force,
)
from annotator.storage.pools.pooled_runs import packed_lists


@dataclass(frozen=True)
class Difference:
    """A choice that is not what the strategy chooses; the docno and run it would be are None when it chooses none."""

    topic: str
    step: int
    docno: str
    run: str
    docno_replayed: str | None
    run_replayed: str | None


@dataclass(frozen=True)
class Replay:
    """What a replay found."""

    version: int
    strategy: str
    topics: int
    choices: int
    differences: tuple[Difference, ...]


@dataclass(frozen=True)
class _Event:
    """A stored choice with its document and what was known at that moment."""

    event: SelectionEvent
    document_id: int

    @property
    def run_id(self) -> int:
        return int(self.event.reason["run"])

    @property
    def runs_left_out(self) -> frozenset[int]:
        return frozenset(self.event.reason["runs_left_out"])


def replay_choices(session: Session, slug: str, *, version: int | None = None) -> Replay:
    """Choose again whatever a version has chosen, each time by what was known then, and tell the differences.

    Without `version` it is the newest that was built by an adaptive strategy. Documents and runs are compared. Raises
    `NotFoundError` for an unknown version and `ConflictError` for one that chooses nothing.
    """
    pool = _adaptive_pool(session, find_collection(session, slug).id, version)
    made = choices_made(session, pool.id)
    numbers = {id_: number for number, id_ in topic_ids(session, pool.collection_id).items() if id_ in made}
    differences = [
        difference
        for topic_id, number in sorted(numbers.items(), key=lambda topic: natural_order(topic[1]))
        for difference in _differences(session, pool, topic_id, number)
    ]
    return Replay(pool.version, pool.strategy, len(made), sum(made.values()), tuple(differences))


def _adaptive_pool(session: Session, collection_id: int, version: int | None) -> Pool:
    pools = session.scalars(select(Pool).where(Pool.collection_id == collection_id).order_by(Pool.version)).all()
    if version is None:
        adaptive = [pool for pool in pools if is_adaptive(pool.strategy)]
        if not adaptive:
            raise NotFoundError("No version of this pool was built by an adaptive strategy.")
        return adaptive[-1]
    found = [pool for pool in pools if pool.version == version]
    if not found:
        raise NotFoundError("There is no version %(version)d of the pool.", version=version)
    if not is_adaptive(found[0].strategy):
        raise ConflictError(
            "Version %(version)d was built by the strategy %(strategy)s, which chooses nothing from judgements.",
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
    tags = {id_: tag for id_, tag in session.execute(select(Run.id, Run.tag).where(Run.id.in_(ids)))}
    for event, choice in differing:
        yield Difference(
            number,
            event.event.step,
            docnos[event.document_id],
            tags[event.run_id],
            choice.docno if choice else None,
            tags[choice.run_id] if choice else None,
        )


def _replayed(
    session: Session, pool: Pool, topic_id: int, number: str, events: Sequence[_Event]
) -> Iterator[ChosenDocument | None]:
    """What the strategy chooses at each step, the steps before it being those that are stored."""
    strategy = stored_strategy(pool.strategy, pool.parameters)
    words, items = judgements_of(session, topic_id), items_of(session, topic_id)
    chosen_from = {event.document_id: event.run_id for event in events}
    selections: dict[frozenset[int], TopicSelection] = {}
    for step, event in enumerate(events):
        left_out = event.runs_left_out
        if left_out not in selections:
            selections[left_out] = _begin(session, pool, strategy, topic_id, number, left_out)
        seen = event.event.seen_judgement_id or 0
        known = verdicts(
            (word for word in words if word.id <= seen), int(event.event.reason["relevant_from"]), chosen_from
        )
        # Whoever adds choices lets nobody else add to the topic: an older item has a smaller number.
        later = {one.document_id for one in events[step:]}
        out = [item.document_id for item in items if item.id < event.event.pool_item_id]
        out = [document_id for document_id in out if document_id not in later]
        chosen = selections[left_out].choose(known, [*out, *(one.document_id for one in events[:step])], 1)
        yield chosen[0] if chosen else None


def _begin(
    session: Session, pool: Pool, strategy: Strategy, topic_id: int, number: str, left_out: frozenset[int]
) -> TopicSelection:
    runs = [run_id for run_id in runs_in_force(session, pool.id) if run_id not in left_out]
    lists = [
        (one.run_id, one.documents)
        for _, several in packed_lists(session, runs, [topic_id], most_bytes=None)
        for one in several
    ]
    return begin_selection(strategy, number, lists, partial(docnos_of, session), pool.seed)

"""A sample drawn again from what was known at the time, and compared with what was drawn."""

from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import zip_longest

from sqlalchemy import select
from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.pool_choice import (
    ListsOfTopics,
    choose_topics,
    most_bytes,
    run_depths,
    stored_strategy,
)
from annotator.evaluation.pooling.probability_sample import unpacked
from annotator.evaluation.pooling.strata import Stratum as DrawnStratum
from annotator.storage import Pool, PoolRun
from annotator.storage.collections.collection import find_round
from annotator.storage.documents.documents import docnos_of
from annotator.storage.pools.pools import looked_past, packed_lists
from annotator.storage.pools.samples import strata_of_pool, topics_of_sample
from annotator.workflows.pools.sample_drawing import SHA256, facts_of_sample, known_of_sample

# Stratum number → its documents and those of them that were drawn.
Strata = Mapping[int, tuple[frozenset[int], frozenset[int]]]


def redraw(session: Session, pool: Pool) -> tuple[int, int, list[tuple[str, int, str, str | None]]]:
    """Draw the sample of a version again: topics, documents drawn, and (topic, stratum, drawn, redrawn) that differ.

    Raises `ConflictError` when the machine's labels of the documents have changed since, and `NotFoundError` when there
    is no such machine any more.
    """
    strategy = stored_strategy(pool.strategy, pool.parameters)
    numbers = topics_of_sample(session, pool)
    given = known_of_sample(session, pool.collection_id, strategy, numbers, replayed=pool)
    runs = list(session.scalars(select(PoolRun.run_id).where(PoolRun.pool_id == pool.id).order_by(PoolRun.run_id)))
    depths = run_depths(strategy, [str(run) for run in runs], {})
    past = _past(session, pool)
    read = partial(packed_lists, session, runs, most_bytes=None if past else most_bytes(depths))
    lists = ListsOfTopics(dict(zip(runs, depths, strict=True)), read, past)
    in_order = dict(sorted(numbers.items(), key=lambda topic: natural_order(topic[1])))
    chosen = choose_topics(strategy, in_order, lists, partial(docnos_of, session), pool.seed, given.known)
    facts = facts_of_sample(session, strategy, given, chosen)
    if facts.parameters.get(SHA256) != pool.parameters.get(SHA256):
        raise ConflictError(
            "The labels of the machine “%(machine)s” were changed after version %(version)d of the pool was drawn by "
            "them: their SHA-256 was %(before)s and is %(now)s. The draw cannot be repeated.",
            machine=strategy.machine,
            version=pool.version,
            before=pool.parameters.get(SHA256),
            now=facts.parameters.get(SHA256),
        )
    redrawn = {topic.id: _strata(topic.chosen.strata) for topic in chosen}
    stored: dict[int, list[DrawnStratum]] = {}
    for one in strata_of_pool(session, pool, numbers):
        stored.setdefault(one.topic_id, []).append(unpacked(one))
    pairs = [
        (topic, *difference)
        for topic in in_order
        for difference in _differences(_strata(stored[topic]), redrawn.get(topic, {}))
    ]
    docnos = docnos_of(session, {document for _, _, *several in pairs for document in several if document is not None})
    drawn = sum(stratum.drawn for strata in stored.values() for stratum in strata)
    rows = [
        (in_order[topic], number, "" if before is None else docnos[before], None if after is None else docnos[after])
        for topic, number, before, after in pairs
    ]
    return len(stored), drawn, rows


def _past(session: Session, pool: Pool) -> dict[int, frozenset[int]]:
    if not pool.parameters.get("looks_past_judged_before"):
        return {}
    return looked_past(session, pool.collection_id, find_round(session, pool.collection_id, pool.parameters["round"]))


def _strata(strata: Iterable[DrawnStratum]) -> Strata:
    return {
        one.number: (frozenset(one.documents.tolist()), frozenset(one.sample.tolist()))
        for one in strata
        if one.documents.size
    }


def _differences(stored: Strata, redrawn: Strata) -> Iterator[tuple[int, int | None, int | None]]:
    """Stratum, a document drawn that would not be drawn again, and one that would be instead; either may be missing."""
    nothing: tuple[frozenset[int], frozenset[int]] = (frozenset(), frozenset())
    for number in sorted(stored.keys() | redrawn.keys()):
        (_, before), (_, after) = stored.get(number, nothing), redrawn.get(number, nothing)
        for one, other in zip_longest(sorted(before - after), sorted(after - before)):
            yield number, one, other

"""The version of a pool whose adaptive strategy is choosing documents, and the rule that ends its choices."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any

from sqlalchemy.orm import Session

from annotator.errors import ConflictError
from annotator.evaluation.pooling.pool_choice import ADAPTIVE, stored_strategy
from annotator.evaluation.pooling.strategies import LEARNING, Strategy
from annotator.evaluation.qrels.settling import rules_of
from annotator.evaluation.stopping.stopping_simulation import OF_SAMPLE
from annotator.storage import ACCEPTED, Collection, CollectionState, Pool
from annotator.storage.collections.collection import find_collection, topic_ids
from annotator.storage.judging.adaptive_choices import events_of, newest_pool, runs_in_force
from annotator.storage.pools.pools import sampled_pool
from annotator.storage.pools.samples import strata_of_pool, target_set


@dataclass(frozen=True)
class ChoosingVersion:
    """A version with an adaptive strategy, the runs from which it chooses, and the collection's rules of consensus."""

    collection: Collection
    pool: Pool
    strategy: Strategy
    runs: tuple[int, ...]  # the active ones
    runs_left_out: tuple[int, ...]
    rules: Mapping[str, Any]


def choosing_version(session: Session, slug: str) -> ChoosingVersion | None:
    """The adaptive version that is choosing now, None if there is none."""
    collection = find_collection(session, slug)
    pool = newest_pool(session, collection.id, ADAPTIVE)
    if pool is None or collection.state != CollectionState.OPEN:
        return None
    runs = runs_in_force(session, pool.id)
    return ChoosingVersion(
        collection,
        pool,
        stored_strategy(pool.strategy, pool.parameters),
        tuple(run_id for run_id, counts in runs.items() if counts),
        tuple(run_id for run_id, counts in runs.items() if not counts),
        asdict(rules_of(collection)),
    )


def unmet_documents(session: Session, pool: Pool, topic_id: int, steps: int | None = None) -> frozenset[int]:
    """The documents of a target set to which a version that learns has not come by itself, in its first choices or all.

    It must come to them as if nobody had judged them: only then does their share that it finds tell its recall.
    """
    if pool.strategy not in LEARNING:
        return frozenset()
    drawn = target_set(session, pool, topic_id)
    events = events_of(session, pool.id, topic_id) if drawn else []
    return drawn - {document for event, document in events if steps is None or event.step <= steps}


def basis_of(version: ChoosingVersion) -> dict[str, Any]:
    """What a round of training depends on beside judgements and texts, as it can be stored."""
    return {**version.rules, "runs_left_out": list(version.runs_left_out)}


def refuse_rule_without_sample(session: Session, collection_id: int, strategy: Strategy) -> None:
    """Raise `ConflictError` if a strategy ends by a rule that needs a random sample, and no topic has a fitting one.

    A target set is a simple random sample, so that it has a single stratum; other rules take several.
    """
    rule = strategy.until
    if rule is None or rule.name not in OF_SAMPLE:
        return
    sample = sampled_pool(session, collection_id)
    topics = topic_ids(session, collection_id, ACCEPTED).values()
    rates: dict[int, list[float]] = {}
    for stratum in [] if sample is None else strata_of_pool(session, sample, topics):
        rates.setdefault(stratum.topic_id, []).append(stratum.rate)
    if sample is None or all(min(several) >= 1 for several in rates.values()):
        raise ConflictError(
            "The stopping rule %(rule)s needs a random sample that is drawn before and judged first. Build the pool "
            "with the strategy stratified and one stratum such as 1-1000:0.1, and then this one.",
            rule=rule.name,
        )
    if rule.name == "target-set" and all(len(several) > 1 or several[0] >= 1 for several in rates.values()):
        raise ConflictError(
            "The stopping rule %(rule)s needs a simple random sample, and version %(version)d of the pool drew one in "
            "several strata. Build the pool with the strategy stratified and one stratum such as 1-1000:0.1 first.",
            rule=rule.name,
            version=sample.version,
        )

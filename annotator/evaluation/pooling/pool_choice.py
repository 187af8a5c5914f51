"""The documents that a strategy selects for each topic: orders cut to the budget, samples, start pools."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling.depth_pool import PooledTopic, depth_pool
from annotator.evaluation.pooling.planning import JoinedLists, take_by_topic, take_in_total
from annotator.evaluation.pooling.probability_sample import (
    NOTHING_KNOWN,
    Known,
    OpenStratum,
    divided,
    require_labels,
)
from annotator.evaluation.pooling.strata import Stratum
from annotator.evaluation.pooling.strategies import STRATEGIES, Strategy, StrategyKind, parse_strategy
from annotator.evaluation.pooling.topic_runs import TopicRuns, distinct, topic_runs
from annotator.evaluation.runs.rankings import DOCUMENT_BYTES, check_depths, decode_documents, decode_scores

DocnosOf = Callable[[AbstractSet[int]], Mapping[int, str]]  # returns the docnos of document numbers

# The tops of a run for several topics: run id, topic ids, the bytes of each top, and all tops.
PackedTops = tuple[int, bytes, bytes, bytes]
# Reads tops of all runs, for some of the topics after the other; None where the lists must be read.
ReadTops = Callable[[Iterable[int]], Iterator[tuple[AbstractSet[int], Sequence[PackedTops] | None]]]

NONE: NDArray[np.int32] = np.empty(0, np.int32)
WHOLE_LIST = 2**31 - 1  # deeper than any ranked list

# Strategies that choose further documents from the judgements so far.
ADAPTIVE = tuple(name for name, definition in STRATEGIES.items() if definition.kind is StrategyKind.ADAPTIVE)


@dataclass(frozen=True, eq=False)
class TopicChoice:
    """The selected documents of a topic, in the order in which they were chosen."""

    documents: NDArray[np.int32]
    strata: tuple[Stratum, ...] = ()
    open: tuple[OpenStratum, ...] = ()  # of a sample whose budget is not divided yet


@dataclass(frozen=True, eq=False)
class ChosenTopic:
    """The documents to pool for one topic, and the runs that have them, as indices among all runs."""

    id: int
    number: str
    chosen: TopicChoice
    docnos: tuple[str, ...]  # of the chosen documents
    found: PooledTopic


@dataclass(frozen=True, eq=False)
class TopicLists:
    """The lists of one topic, for the runs that have one."""

    runs: NDArray[np.intp]  # indices among all runs
    depths: list[int]
    rankings: list[NDArray[np.int32]]
    scores: list[NDArray[np.float64]] | None


class ListsOfTopics:
    """Reads ranked lists topic by topic, repeatedly, since they do not all fit in memory."""

    def __init__(
        self,
        depths: Mapping[int, int],
        read: Callable[[Iterable[int]], Iterator[tuple[int, Sequence[tuple[int, bytes, bytes | None]]]]],
        past: Mapping[int, AbstractSet[int]] | None = None,
        read_tops: ReadTops | None = None,
    ) -> None:
        """Take each run's depth, by its id, and a reader of lists: run id, packed documents and scores.

        Documents in `past`, by topic, are removed before a list is cut at its depth. `read_tops` reads tops of the
        lists that are as deep as all depths, for some topics after the other.
        """
        self._read, self._past, self._read_tops = read, past or {}, read_tops
        self._depths = list(depths.values())
        self._index = {run_id: index for index, run_id in enumerate(depths)}

    def of(self, topics: Iterable[int]) -> Iterator[tuple[int, TopicLists]]:
        """Read the lists of these topics, each down to the depth of its run."""
        for topic, packed in self._read(topics):
            runs = [self._index[run_id] for run_id, _, _ in packed]
            depths = [self._depths[run] for run in runs]
            whole = [decode_documents(one) for _, one, _ in packed]
            scores = [decode_scores(one) for _, _, one in packed if one is not None]
            if topic in self._past:
                kept = [~np.isin(one, list(self._past[topic])) for one in whole]
                whole = [one[mask] for one, mask in zip(whole, kept, strict=True)]
                scores = [one[mask] for one, mask in zip(scores, kept, strict=False)]
            rankings = [one[:depth] for one, depth in zip(whole, depths, strict=True)]
            yield topic, TopicLists(np.array(runs, np.intp), depths, rankings, scores or None)

    def joined(self, topics: Iterable[int]) -> Iterator[tuple[int, JoinedLists]]:
        """Read the lists of these topics as `of` does, those of a topic in one array; from tops in any order."""
        if self._read_tops is None or self._past:
            yield from self._joined_lists(topics)
            return
        depths = np.array(self._depths, np.int64)
        for some, tops in self._read_tops(topics):
            yield from self._joined_lists(some) if tops is None else _joined_tops(some, tops, self._index, depths)

    def _joined_lists(self, topics: Iterable[int]) -> Iterator[tuple[int, JoinedLists]]:
        for topic, lists in self.of(topics):
            yield topic, replace(JoinedLists.of(lists.rankings), runs=lists.runs)


def _joined_tops(
    topics: AbstractSet[int], tops: Sequence[PackedTops], index: Mapping[int, int], depths: NDArray[np.int64]
) -> Iterator[tuple[int, JoinedLists]]:
    """Join the tops of these topics, given by run, topic by topic; topics without any are left out."""
    run_ids, *columns = zip(*tops, strict=True)
    numbers, sizes, documents = (decode_documents(b"".join(column)) for column in columns)
    run = np.repeat([index[run_id] for run_id in run_ids], [len(one) // DOCUMENT_BYTES for one in columns[0]])
    stored = sizes.astype(np.int64) // DOCUMENT_BYTES
    begin, size = np.cumsum(stored) - stored, np.minimum(stored, depths[run])
    order = np.argsort(numbers, kind="stable")
    found, firsts = np.unique(numbers[order], return_index=True)
    for topic, rows in zip(found.tolist(), np.split(order, firsts[1:]), strict=True):
        if topic in topics:
            few = size[rows]
            places = np.arange(few.sum()) + np.repeat(begin[rows] - (np.cumsum(few) - few), few)
            yield topic, JoinedLists(run[rows], few, documents.take(places))


def read_topics(
    topics: Mapping[int, str], lists: ListsOfTopics, docnos_of: DocnosOf
) -> Iterator[tuple[int, TopicRuns, TopicLists]]:
    """Read topics, given by id with their numbers, as `TopicRuns`."""
    docnos: dict[int, str] = {}
    for topic, given in lists.of(topics):
        numbers, _ = distinct(np.concatenate(given.rankings))
        docnos |= docnos_of(set(numbers.tolist()) - docnos.keys())
        runs = topic_runs(topics[topic], given.rankings, docnos, scores=given.scores, depth=max(given.depths))
        yield topic, runs, given


def choose_topics(
    strategy: Strategy,
    topics: Mapping[int, str],
    lists: ListsOfTopics,
    docnos_of: DocnosOf,
    seed: int,
    known: Known = NOTHING_KNOWN,
) -> list[ChosenTopic]:
    """Select the documents to pool for topics, given by id with their numbers, in the order given.

    `known` is for samples: labels, what was found otherwise, and the sample before.
    """
    read = read_topics(topics, lists, docnos_of)
    choices = {topic: choose(strategy, runs, seed, known, topic) for topic, runs, _ in read}
    for topic in sorted(known.topics.keys() - choices.keys()):  # no run has them any more
        choices[topic] = choose(strategy, topic_runs(topics[topic], [NONE], {}), seed, known, topic)
    cut = dict(zip(choices, within_budget(strategy, list(choices.values())), strict=True))
    docnos = docnos_of(set(np.concatenate([NONE, *(choice.documents for choice in cut.values())]).tolist()))
    chosen = []
    for topic, given in lists.of(cut):
        documents = cut[topic].documents
        names = tuple(docnos[document] for document in documents.tolist())
        found = contributions(strategy, given, documents)
        chosen.append(ChosenTopic(topic, topics[topic], cut[topic], names, found))
    for topic in sorted(cut.keys() - {one.id for one in chosen}):
        names = tuple(docnos[document] for document in cut[topic].documents.tolist())
        found = PooledTopic(NONE, np.empty(0, np.intp), NONE)
        chosen.append(ChosenTopic(topic, topics[topic], cut[topic], names, found))
    return chosen


def stored_strategy(name: str, parameters: Mapping[str, object]) -> Strategy:
    """Parse the strategy of a stored version of a pool, whose parameters also name its runs.

    Parameters that were not recorded had no effect at that time.
    """
    takes = STRATEGIES[name].takes
    strategy = parse_strategy(name, {key: str(value) for key, value in parameters.items() if key in takes})
    return strategy if "decimals" in parameters else replace(strategy, decimals=None)


def is_adaptive(name: str) -> bool:
    """Whether the strategy of a stored version is adaptive."""
    return name in ADAPTIVE


def run_depths(strategy: Strategy, tags: Sequence[str], depth_of: Mapping[str, int]) -> list[int]:
    """The depth to which the strategy reads each run; without a limit, deeper than any list.

    Raises `InvalidValueError` if runs cannot have a depth of their own.
    """
    if depth_of and strategy.definition.kind is not StrategyKind.DEPTH:
        raise InvalidValueError(
            "Runs have depths of their own only with the strategy depth, not with %(name)s.", name=strategy.name
        )
    check_depths(depth_of.values())
    usual = strategy.candidate_depth or WHOLE_LIST
    return [depth_of.get(tag, usual) for tag in tags]


def choose(
    strategy: Strategy, runs: TopicRuns, seed: int, known: Known = NOTHING_KNOWN, topic: int | None = None
) -> TopicChoice:
    """Select the documents of one topic as if the budget were for this topic alone.

    The start pool of an adaptive strategy; the sample of a stratified one, with its strata; of a sample with a budget
    the strata alone, for `within_budget` to draw from. `topic` is the key of the topic in `known`.
    """
    if strategy.divides_budget:
        require_labels(strategy.machine, known)
        return TopicChoice(NONE, open=strategy.open_strata(runs, known, topic, seed))
    if strategy.definition.kind is StrategyKind.ADAPTIVE:
        return TopicChoice(strategy.start(runs, seed))
    if strategy.definition.kind is StrategyKind.SAMPLE:
        strata = strategy.sample(runs, seed)
        return TopicChoice(np.concatenate([stratum.sample for stratum in strata]), strata)
    order = strategy.order(runs, seed)
    if strategy.definition.kind is StrategyKind.DEPTH:
        return TopicChoice(order)
    # Copy, as a view would keep the whole array in memory.
    return TopicChoice(order[: strategy.per_topic or strategy.budget].copy())


def within_budget(strategy: Strategy, choices: Sequence[TopicChoice]) -> list[TopicChoice]:
    """Cut the selection of each topic to the budget, topics in the order in which they get a remainder."""
    if strategy.budget is not None and strategy.divides_budget:
        drawn = divided([choice.open for choice in choices], strategy.budget, strategy.allocation)
        return [
            TopicChoice(np.concatenate([NONE, *(stratum.sample for stratum in strata)]), strata) for strata in drawn
        ]
    orders = [choice.documents for choice in choices]
    if strategy.definition.kind is StrategyKind.ORDER:
        orders = (
            take_in_total(orders, strategy.budget)
            if strategy.budget is not None
            else take_by_topic(orders, strategy.per_topic or 0)
        )
    return [replace(choice, documents=order) for choice, order in zip(choices, orders, strict=True)]


def contributions(strategy: Strategy, given: TopicLists, documents: NDArray[np.int32]) -> PooledTopic:
    """Return the runs that contribute the chosen documents of a topic, with ranks, down to the depth of each run."""
    depths = given.depths
    if strategy.definition.kind is StrategyKind.ADAPTIVE:
        depths = [min(depth, max(strategy.start_depth, 1)) for depth in depths]
    pooled = depth_pool(given.rankings, depths)
    chosen = np.isin(pooled.document, documents)
    return PooledTopic(pooled.document[chosen], given.runs[pooled.run[chosen]], pooled.rank[chosen])


def most_bytes(depths: Sequence[int]) -> int | None:
    """The number of bytes of packed lists to read; None for all of them."""
    deepest = max(depths)
    return deepest * DOCUMENT_BYTES if deepest < WHOLE_LIST // DOCUMENT_BYTES else None

"""One topic under an adaptive strategy: the judgements it learns from, its choices, and their cache."""

from collections import OrderedDict
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from threading import Lock
from typing import NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.formats.identifiers import natural_order
from annotator.evaluation.pooling.adaptive import Adaptive, Verdict
from annotator.evaluation.pooling.planning import shares
from annotator.evaluation.pooling.strategies import Strategy
from annotator.evaluation.pooling.topic_runs import TopicRuns, topic_runs
from annotator.evaluation.runs.rankings import decode_documents

# A run's id and its packed documents.
PackedRanking = tuple[int, bytes]
# Document ids.
Documents = NDArray[np.int32]


class TopicJudgement(Protocol):
    """A judgement of a document of a topic; later judgements have greater ids."""

    @property
    def id(self) -> int:
        """Its id, in order of time over all judgements."""

    @property
    def document_id(self) -> int:
        """The id of the judged document."""

    @property
    def judge_id(self) -> int:
        """The id of the judge."""

    @property
    def grade(self) -> int | None:
        """The grade, None when the document cannot be judged."""


class TopicVerdict(NamedTuple):
    """The effective judgement of a document, and the run from which the document was chosen."""

    word_id: int
    document_id: int
    is_relevant: bool | None
    run_id: int | None


@dataclass(frozen=True)
class ChosenDocument:
    """A document to judge next, the run from which it was chosen, why, and its rank in every run that has it.

    The run is None for a document that no run has.
    """

    document_id: int
    docno: str
    run_id: int | None
    reason: Mapping[str, float]
    ranks: tuple[tuple[int, int], ...]


def verdicts(
    words: Iterable[TopicJudgement], relevant_from: int, chosen_from: Mapping[int, int] | None = None
) -> tuple[TopicVerdict, ...]:
    """Return the verdicts that a strategy learns from, in the order of their judgements' ids.

    A judge's latest judgement of a document counts. Among several judges, the one with the oldest latest judgement
    counts, so that a second opinion changes nothing; but a grade takes precedence over "cannot be judged".
    `chosen_from` has the ids of the runs from which documents were chosen.
    """
    last = {(word.document_id, word.judge_id): word for word in words}
    counting: dict[int, TopicJudgement] = {}
    for word in sorted(last.values(), key=lambda word: word.id):
        before = counting.get(word.document_id)
        if before is None or (before.grade is None and word.grade is not None):
            counting[word.document_id] = word
    runs = chosen_from or {}
    return tuple(
        TopicVerdict(word.id, document, None if word.grade is None else word.grade >= relevant_from, runs.get(document))
        for document, word in sorted(counting.items(), key=lambda item: item[1].id)
    )


class TopicSelection:
    """The state of an adaptive strategy on one topic, reused between choices. Not thread-safe."""

    def __init__(
        self,
        strategy: Strategy,
        runs: TopicRuns,
        run_ids: Sequence[int],
        seed: int,
        chances: Mapping[int, float] | None = None,
    ) -> None:
        """Start without verdicts; `run_ids` are the ids of `runs`, and the chances of relevance are a machine's."""
        self._strategy = strategy
        self._seed = seed
        self._chances = chances
        self._runs = runs
        self._run_ids = list(run_ids)
        self._index = {run_id: index for index, run_id in enumerate(run_ids)}
        self._learnt: tuple[TopicVerdict, ...] = ()
        self._state: Adaptive = strategy.begin(runs, seed, chances)

    def choose(self, known: tuple[TopicVerdict, ...], out: Iterable[int], count: int) -> list[ChosenDocument]:
        """Choose up to `count` documents given all verdicts so far, skipping those in `out`.

        The choices depend on the verdicts alone, not on earlier calls: state is reused only as far as it still holds.
        """
        kept = len(self._learnt)
        if known[:kept] != self._learnt:
            self._state, kept = self._strategy.begin(self._runs, self._seed, self._chances), 0
        self._state.learn(
            Verdict(one.document_id, one.is_relevant, None if one.run_id is None else self._index.get(one.run_id))
            for one in known[kept:]
        )
        self._learnt = known
        return [self._chosen(choice.document, choice.run, choice.reason) for choice in self._state.choose(count, out)]

    def describe(self, document: int, docno: str, reason: Mapping[str, float]) -> ChosenDocument:
        """A document that was chosen otherwise: as if chosen from the run with its best rank, if a run has it."""
        place = self._runs.place_of.get(document)
        if place is None:
            return ChosenDocument(document, docno, None, reason, ())
        rows, _ = self._runs.holders(place)
        return self._chosen(document, int(self._runs.given[rows[0]]), reason)

    def _chosen(self, document: int, run: int, reason: Mapping[str, float]) -> ChosenDocument:
        place = self._runs.place_of[document]
        rows, ranks = self._runs.holders(place)
        held_by = (self._run_ids[given] for given in self._runs.given[rows].tolist())
        return ChosenDocument(
            document,
            self._runs.docnos[place],
            self._run_ids[run],
            reason,
            tuple(zip(held_by, ranks.tolist(), strict=True)),
        )


def begin_selection(
    strategy: Strategy,
    topic: str,
    packed: Sequence[PackedRanking],
    docnos_of: Callable[[AbstractSet[int]], Mapping[int, str]],
    seed: int,
    chances: Mapping[int, float] | None = None,
) -> TopicSelection:
    """Start an adaptive strategy on a topic's ranked lists; the order of `packed` is the order of the runs.

    The seed is that of the pool, and the chances of relevance, by document, are a machine's.
    """
    rankings = [decode_documents(documents)[: strategy.candidate_depth] for _, documents in packed]
    docnos = docnos_of(set(np.concatenate([np.empty(0, np.int32), *rankings]).tolist()))
    runs = topic_runs(topic, rankings, docnos, depth=strategy.candidate_depth)
    return TopicSelection(strategy, runs, [run_id for run_id, _ in packed], seed, chances)


def candidates(strategy: Strategy, packed: Iterable[PackedRanking], pooled: Sequence[int]) -> Documents:
    """Return the numbers of a topic's documents that a strategy can choose from, without those already pooled."""
    rankings = [decode_documents(documents)[: strategy.candidate_depth] for _, documents in packed]
    retrieved = np.concatenate([np.empty(0, np.int32), *rankings])
    # A lookup table is far faster than sorting.
    is_left = np.zeros(max(int(retrieved.max(initial=-1)), max(pooled, default=-1)) + 1, np.bool_)
    is_left[retrieved] = True
    is_left[np.asarray(pooled, np.intp)] = False
    return np.flatnonzero(is_left).astype(np.int32)


def without(documents: Documents, pooled: Sequence[int]) -> Documents:
    """Remove the documents that have been pooled since."""
    return documents[~np.isin(documents, pooled)] if pooled else documents


def still_to_choose(
    strategy: Strategy, sizes: Mapping[str, int], made: Mapping[str, int], *, used: int = 0
) -> dict[str, int]:
    """Return how many documents a strategy will still choose for each topic.

    `sizes` has how many there are to choose from, those that it has chosen among them, and `made` how many these are;
    `used` is how much of a budget in total went into other topics.
    """
    shares = topic_shares(strategy, sizes, used=used)
    # A share may have shrunk below what was made of it: then there is less for the others than their shares.
    most = sum(shares.values()) if strategy.budget is None else strategy.budget - used - sum(made.values())
    return {topic: max(min(share - made.get(topic, 0), most), 0) for topic, share in shares.items()}


def topic_shares(strategy: Strategy, sizes: Mapping[str, int], *, used: int = 0) -> dict[str, int]:
    """Return how many documents a strategy may choose for each topic, given the number of its candidates.

    A budget for each topic is that, and one in total is divided evenly, a remainder among the first topics; `used` is
    how much of it went into other topics. Until a stopping rule says stop, it may choose them all.
    """
    if strategy.until is not None:
        return dict(sizes)
    if strategy.per_topic is not None:
        return {topic: min(size, strategy.per_topic) for topic, size in sizes.items()}
    topics = sorted(sizes, key=natural_order)
    return dict(
        zip(topics, shares(max((strategy.budget or 0) - used, 0), [sizes[topic] for topic in topics]), strict=True)
    )


MOST_TOPICS_IN_MEMORY = 12  # of some ten megabytes each, when there are a hundred runs

# The version, the runs that count, and the topic.
TopicKey = tuple[int, tuple[int, ...], int]


@dataclass(frozen=True, eq=False)
class Candidates:
    """The documents of a topic from which a version can choose, those chosen among them; not what others pooled."""

    documents: Documents
    last_item_id: int  # of later versions, whose items were left out up to this one


@dataclass
class Memory:
    """A process's cache of active topics, so that their runs are not read again for each choice.

    It does not affect the choices: all of it is derived from stored data. One per database.
    """

    _topics: OrderedDict[TopicKey, TopicSelection] = field(default_factory=OrderedDict)
    _candidates: dict[TopicKey, Candidates] = field(default_factory=dict)
    _corpora: dict[int, tuple[int, int]] = field(default_factory=dict)
    _lock: Lock = field(default_factory=Lock)

    def corpus_size(self, greatest: int, count: Callable[[int], int], collection: int) -> int:
        """The number of documents of a collection, counted again when `greatest`, the last id of any, is another."""
        known = self._corpora.get(collection)
        if known is None or known[0] != greatest:
            known = self._corpora[collection] = greatest, count(collection)
        return known[1]

    def take_topic(self, key: TopicKey) -> TopicSelection | None:
        """Take a topic out of the cache, so that one caller at a time uses it."""
        with self._lock:
            return self._topics.pop(key, None)

    def put_topic(self, key: TopicKey, selection: TopicSelection) -> None:
        """Put a topic back into the cache; the least recently used are dropped."""
        with self._lock:
            self._topics[key] = selection
            while len(self._topics) > MOST_TOPICS_IN_MEMORY:
                self._topics.popitem(last=False)

    def candidates(self, keys: Iterable[TopicKey]) -> dict[TopicKey, Candidates]:
        """Return the cached candidates of these topics."""
        with self._lock:
            return {key: self._candidates[key] for key in keys if key in self._candidates}

    def keep_candidates(self, candidates: dict[TopicKey, Candidates]) -> None:
        """Replace the cached candidates."""
        with self._lock:
            self._candidates = candidates

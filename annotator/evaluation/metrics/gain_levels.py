"""trec_eval's further graded measures: ndcg_rel, Rndcg, G, and binG for two grades."""

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Setting, Values, count_each, run_along, share, sum_each

LEAST_COST = 1.0  # minimum ideal gain of a rank in G
LARGEST_IN_TABLE = 1 << 17  # of the numbers whose logarithms are cached


@dataclass(frozen=True, eq=False)
class _Gains:
    """The documents of some rankings that have a gain above 0, by ranking, then by rank."""

    owner: NDArray[np.intp]  # of each document: index of its ranking
    rank: NDArray[np.intp]  # from 1
    gain: Values
    lists: int

    @property
    def first(self) -> NDArray[np.intp]:
        """The index of each ranking's first document; one longer than there are rankings."""
        return np.searchsorted(self.owner, np.arange(self.lists + 1))

    @property
    def discounted(self) -> Values:
        """Each gain divided by log2(rank + 1)."""
        return self.gain / _logarithms(self.rank + 1)

    def sum(self, terms: Values) -> Values:
        """Sum each ranking's terms."""
        return sum_each(self.owner, terms, self.lists)

    def sums_so_far(self, terms: Values) -> Values:
        """Cumulative sums of each ranking's terms."""
        return run_along(np.arange(1, terms.size + 1) - self.first[self.owner], terms, np.add)


def ndcg_at_relevant(judged: JudgedRankings, setting: Setting) -> Values:
    """Mean nDCG over documents: nDCG is taken at the rank of each document that has a gain, then averaged.

    Both the ranking and the best possible one are cut at that rank; a document with a gain that was not retrieved adds
    the nDCG of the whole ranking. Unjudged documents have no gain. From 0 to 1; 0 when nothing was retrieved or
    nothing has a gain. trec_eval: ndcg_rel, an experiment of Buckley's, 2008.
    """
    found, best = _found(judged, setting), _best(judged, setting)
    documents = np.diff(best.first)
    topic = judged.topic[found.owner]
    ideal = best.sums_so_far(best.discounted)[best.first[topic] + np.minimum(found.rank, documents[topic]) - 1]
    at_documents = found.sum(found.sums_so_far(found.discounted) / ideal)
    missed = documents[judged.topic] - count_each(found.owner, found.lists)
    at_the_end = share(missed * found.sum(found.discounted), best.sum(best.discounted)[judged.topic])
    return share(at_documents + at_the_end, documents[judged.topic])


def ndcg_at_levels(judged: JudgedRankings, setting: Setting) -> Values:
    """Mean nDCG over levels: nDCG at the last rank of each gain in the best possible ranking, averaged over them.

    With 5 documents of gain 3, 3 of gain 2 and 10 of gain 1, these are the ranks 5, 8 and 18. The last rank is taken
    as well when at least two more documents were retrieved than have a gain. Unjudged documents have no gain. From 0
    to 1; 0 when nothing was retrieved, nothing has a gain, or nothing is relevant. trec_eval: Rndcg, an experiment of
    Buckley's, 2008.
    """
    found, best = _found(judged, setting), _best(judged, setting)
    reached = np.append(found.sums_so_far(found.discounted), 0.0)
    # The last documents of each gain: the next one has another gain or is another topic's.
    ends = np.flatnonzero((np.diff(best.gain, append=-1) != 0) | (np.diff(best.owner, append=-1) != 0))
    ideal = best.sums_so_far(best.discounted)[ends]
    levels = count_each(best.owner[ends], best.lists).astype(np.intp)
    ranking, level = _pairs(levels, judged.topic)
    # One number to search by: the ranking, and under it the rank.
    span = int(max(found.rank.max(initial=0), best.rank.max(initial=0))) + 1
    rows = np.searchsorted(found.owner * span + found.rank, ranking * span + best.rank[ends][level], side="right")
    at_levels = np.where(rows > found.first[ranking], reached[rows - 1], 0.0) / ideal[level]
    total = sum_each(ranking, at_levels, found.lists)
    documents = np.diff(best.first)[judged.topic]
    goes_on = (documents > 0) & (judged.retrieved > documents + 1)
    total += goes_on * share(found.sum(found.discounted), best.sum(best.discounted)[judged.topic])
    # The level from which on documents are relevant enters here only.
    is_scored = judged.existing(setting.relevant_from)[judged.topic] > 0
    return is_scored * share(total, levels[judged.topic] + goes_on)


def g_measure(judged: JudgedRankings, setting: Setting) -> Values:
    """G: each document's gain, the smaller the more gain was missed above it, divided by all that can be gained.

    A document of gain g adds g / log2(2 + c - s): s is the sum of the gains up to it, c the sum of those that the best
    possible ranking has up to the same rank, each counted as at least 1. Unjudged documents have no gain. From 0 to 1;
    0 when nothing was retrieved or nothing has a gain. trec_eval: G, an experiment of Buckley's, 2008.
    """
    found, best = _found(judged, setting), _best(judged, setting)
    documents = np.diff(best.first)
    topic = judged.topic[found.owner]
    within = np.minimum(found.rank, documents[topic])
    cost = best.sums_so_far(np.maximum(best.gain, LEAST_COST))[best.first[topic] + within - 1]
    cost += (found.rank - within) * LEAST_COST
    missed = 2 + cost - found.sums_so_far(found.gain)
    # Nothing is gained before the best possible ranking has it, but for the rounding of unusual gains.
    gained = found.gain / _logarithms(np.maximum(missed, 2))
    return share(found.sum(gained), best.sum(best.gain)[judged.topic])


def binary_g(judged: JudgedRankings, setting: Setting) -> Values:
    """G for relevant and not relevant only: each relevant document, the less the more others stand above it.

    A relevant document adds 1 / log2(2 + n), where n is how many documents above it are not relevant; the sum is
    divided by all relevant documents of the topic. From 0 to 1; 0 when nothing was retrieved or nothing is relevant.
    Unjudged documents count as not relevant. trec_eval: binG, an experiment of Buckley's, 2008.
    """
    rows = judged.at_least(setting.relevant_from)
    gained = 1 / _logarithms(2 + rows.rank - rows.nth)
    return share(sum_each(rows.ranking, gained, rows.existing.size), rows.existing)


def _found(judged: JudgedRankings, setting: Setting) -> _Gains:
    """Select the documents with a gain in each ranking."""
    gains = setting.gain.of(judged.grade)
    rows = np.flatnonzero(gains > 0)
    return _Gains(judged.ranking[rows], judged.rank[rows].astype(np.intp), gains[rows], judged.retrieved.size)


def _best(judged: JudgedRankings, setting: Setting) -> _Gains:
    """Select the documents with a gain in each topic's ideal ranking."""
    counts = np.diff(judged.topic_first)
    gains = setting.gain.of(judged.topic_grade)
    kept = np.flatnonzero(gains > 0)
    topic = np.repeat(np.arange(counts.size), counts)[kept]
    # Custom gains of single grades need not rise with the grade.
    best_first = gains[kept][np.lexsort((-gains[kept], topic))]
    rank = np.arange(1, topic.size + 1) - np.searchsorted(topic, topic)
    return _Gains(topic, rank, best_first, counts.size)


def _pairs(levels: NDArray[np.intp], topic: NDArray[np.intp]) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Pair each ranking with the levels of its topic, levels numbered over all topics together."""
    counts = levels[topic]
    ranking = np.repeat(np.arange(topic.size), counts)
    first = (np.cumsum(levels) - levels)[topic]
    before = np.cumsum(counts) - counts
    return ranking, np.arange(ranking.size) + (first - before)[ranking]


def _logarithms(numbers: NDArray[np.integer | np.floating]) -> Values:
    """Return log2 of each number from 1, by the C library as in trec_eval; np.log2 differs in the last digit."""
    if numbers.max(initial=1) < LARGEST_IN_TABLE:
        whole = numbers.astype(np.intp)
        if np.array_equal(whole, numbers):
            return _table(int(whole.max(initial=1)).bit_length())[whole]
    distinct, place = np.unique(numbers, return_inverse=True)
    return np.array([math.log2(number) for number in distinct.tolist()])[place]


@lru_cache
def _table(bits: int) -> Values:
    """Tabulate log2 of every whole number of so many bits."""
    return np.array([0.0, *(math.log2(number) for number in range(1, 1 << bits))])

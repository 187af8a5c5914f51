"""Static strategies: each weighs all documents of a topic from the runs' ranks or scores, greatest weight first."""

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.pooling.topic_runs import Ties, TopicRuns, Weights

RBP_PERSISTENCE = 0.8  # the persistence of Moffat, Webber and Zobel


def in_order(runs: TopicRuns, weights: Weights, ties: Ties = Ties.RRF, *, seed: int = 1) -> NDArray[np.int32]:
    """Order the candidates by weight, greatest first, as document numbers."""
    return runs.documents[np.lexsort((runs.preference(ties, seed), -weights))]


def depth(runs: TopicRuns) -> Weights:
    """Every document that some run has among its top K.

    Each run puts in as many documents as any other, which is why this is the fairest strategy and the usual one. As an
    order, documents go by the best rank at which any run has them, as a pool does whose depth grows. Spärck Jones and
    van Rijsbergen, 1975.
    """
    return -runs.best_rank.astype(np.float64)


def rrf(runs: TopicRuns) -> Weights:
    """First the documents that many runs rank high: reciprocal rank fusion.

    A document at rank r weighs 1 / (60 + r), summed over the runs that have it. Cormack, Clarke and Büttcher, SIGIR
    2009.
    """
    return runs.rrf


def borda(runs: TopicRuns) -> Weights:
    """First the documents that win an election in which every run votes by its ranks: Borda count.

    Of c candidates, a run gives c to its first document, c - 1 to its second, and so on; what it has left it divides
    evenly among the documents that it did not retrieve. Aslam and Montague, SIGIR 2001.
    """
    rest = (runs.candidates - runs.lengths + 1) / 2  # the mean of what is left: 1, 2, ..., c - length
    entries = runs.entries
    # All terms are whole or halves, so that sums are exact in whichever order.
    points = runs.candidates - entries.rank + 1
    return runs.sums(points - rest[entries.row]) + float(rest.sum())


def rbp(runs: TopicRuns) -> Weights:
    """First the documents that readers of all runs would most probably reach, with a persistence of 0.8.

    A document at rank r weighs 0.2 * 0.8^(r - 1), summed over the runs that have it: the weight it has in each run's
    rank-biased precision. Method A of Moffat, Webber and Zobel, "Strategic system comparisons via targeted relevance
    judgments", SIGIR 2007.
    """
    return runs.sums((1 - RBP_PERSISTENCE) * RBP_PERSISTENCE ** (runs.entries.rank - 1).astype(np.float64))


def combmnz(runs: TopicRuns) -> Weights:
    """First the documents that many runs score high: CombMNZ.

    The runs' scores for a topic are brought to 0..1, the least of the list becoming 0 and the greatest 1 (all 1 where
    all are equal); a document weighs the sum of its scores times the number of runs that have it. Fox and Shaw, TREC-2,
    1994; Lee, SIGIR 1997.
    """
    if runs.scores is None:
        raise ValueError("CombMNZ needs the runs' scores")
    entries = runs.entries
    counts = np.bincount(entries.place, minlength=runs.candidates)
    return counts * runs.sums(runs.scores[entries.row, entries.rank - 1])


def ntcir(runs: TopicRuns) -> Weights:
    """First the documents that most runs have; of those, the ones with the least sum of ranks: NTCIRPOOL.

    Runs and ranks are counted down to the depth, if one is given. The order of NTCIR's tool of that name; Sakai and
    Kando, "Are popular documents more likely to be relevant?", EVIA 2008.
    """
    entries = runs.entries
    counts = np.bincount(entries.place, minlength=runs.candidates)
    sums = runs.sums(entries.rank.astype(np.float64))
    # One run more outweighs the greatest possible sum of ranks; both are whole, and together far below 2^53.
    return counts * (runs.lists.size + 1.0) - sums

"""Measures of novelty and diversity: documents are relevant for subtopics of a topic, and each counts less repeated.

For subtopics without a relevant document nothing can be gained, so they are left out, as in ndeval.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.judged_rankings import JudgedRankings, SubtopicRows
from annotator.evaluation.metrics.setting import Setting, Values, count_each, occurrences, share, sum_each

# From a number of ranks to what a gain at each is multiplied by, from rank 1; the entry of rank 0 is not used.
Discounts = Callable[[int], Values]


@dataclass(frozen=True, eq=False)
class _Found:
    """The retrieved documents that are relevant for a subtopic: a row for each document and subtopic, by ranking."""

    ranking: NDArray[np.intp]
    rank: NDArray[np.int32]
    subtopic: NDArray[np.intp]
    nth: NDArray[np.intp]  # how many documents for this subtopic there are down to it, from 1
    documents: Values  # of each subtopic: its relevant documents, retrieved or not
    subtopics: Values  # of each ranking: the subtopics of its topic that have a relevant document
    lists: int

    def gained(self, setting: Setting, discount: Values) -> Values:
        """Sum each ranking's gains within the cutoff, each multiplied by the discount of its rank."""
        inside = np.flatnonzero(setting.within(self.rank))
        novelty = _powers(1 - setting.alpha, int(self.nth.max(initial=1)))[self.nth[inside] - 1]
        return sum_each(self.ranking[inside], novelty * discount[self.rank[inside]], self.lists)


def alpha_dcg(judged: JudgedRankings, setting: Setting) -> Values:
    """Alpha-DCG: discounted gain, where a document adds less for subtopics that documents above it are relevant for.

    For each subtopic it is relevant for, the document at rank i adds (1 - alpha)^n / log2(i + 1), where n documents
    above it are relevant for that subtopic. The sum is divided by that of k documents that are relevant for all
    subtopics. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Needs qrels with subtopics; unjudged
    documents count as not relevant. Equal scores are ordered as by trec_eval, and by ndeval -traditional; pyndeval
    has them the other way round, does not divide at rank 1, and stops at rank 20. ir_measures: alpha_DCG; ndeval:
    alpha-DCG. Clarke et al., SIGIR 2008.
    """
    return _of_whole_topics(judged, setting, _logarithmic)


def alpha_ndcg(judged: JudgedRankings, setting: Setting) -> Values:
    """Alpha-nDCG: alpha-DCG divided by that of the best ranking that is found by choosing one document after another.

    Each choice is the document that adds most, the last by docno of several; to find the very best ranking would take
    too long. From 0 to 1, or a little above where that ranking is not the best; 0 when nothing was retrieved or
    nothing is relevant. Needs qrels with subtopics; unjudged documents count as not relevant. Equal scores are
    ordered as for alpha_DCG. ir_measures: alpha_nDCG; ndeval: alpha-nDCG. Clarke et al., SIGIR 2008.
    """
    return _of_best(judged, setting, _logarithmic)


def intent_aware_err(judged: JudgedRankings, setting: Setting) -> Values:
    """Intent-aware expected reciprocal rank: the mean over subtopics of the expected 1/rank at which a reader stops.

    A reader stops at a document that is relevant for the wanted subtopic with probability 1/2: such a document at
    rank i adds (1/2)^n / i, where n documents above it are relevant for that subtopic. The sum is divided by that of
    k documents that are relevant for all subtopics. From 0 to 1; 0 when nothing was retrieved or nothing is relevant.
    Needs qrels with subtopics; unjudged documents count as not relevant. Equal scores are ordered as for alpha_DCG.
    ir_measures: ERR_IA; ndeval: ERR-IA. Chapelle, Metzler, Zhang and Grinspan, CIKM 2009.
    """
    return _of_whole_topics(judged, setting, _reciprocal)


def normalised_intent_aware_err(judged: JudgedRankings, setting: Setting) -> Values:
    """Normalised intent-aware expected reciprocal rank: ERR_IA divided by that of the best ranking that is found.

    The best ranking is found as for alpha_nDCG. From 0 to 1, or a little above where it is not the best; 0 when
    nothing was retrieved or nothing is relevant. Needs qrels with subtopics; unjudged documents count as not
    relevant. Equal scores are ordered as for alpha_DCG. ir_measures: nERR_IA; ndeval: nERR-IA. Chapelle, Metzler,
    Zhang and Grinspan, CIKM 2009.
    """
    return _of_best(judged, setting, _reciprocal)


def novelty_biased_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Novelty- and rank-biased precision: a reader goes on with probability beta, and repetition counts less.

    For each subtopic it is relevant for, the document at rank i adds beta^(i - 1) * (1 - alpha)^n, where n documents
    above it are relevant for that subtopic. The sum is divided by that of infinitely many documents that are relevant
    for all subtopics. From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Needs qrels with subtopics;
    unjudged documents count as not relevant. Equal scores are ordered as for alpha_DCG. ir_measures: NRBP; ndeval:
    NRBP. Clarke, Kolla and Vechtomova, ICTIR 2009.
    """
    found = _found(judged, setting)
    whole = found.subtopics / (1 - (1 - setting.alpha) * setting.beta)
    return share(found.gained(setting, _geometric(setting, int(found.rank.max(initial=0)))), whole)


def normalised_novelty_biased_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Normalised novelty- and rank-biased precision: NRBP divided by that of the best ranking that is found.

    The best ranking is found as for alpha_nDCG. From 0 to 1, or a little above where it is not the best; 0 when
    nothing was retrieved or nothing is relevant (where ndeval divides by zero). Needs qrels with subtopics; unjudged
    documents count as not relevant. Equal scores are ordered as for alpha_DCG. ir_measures: nNRBP; ndeval: nNRBP.
    Clarke, Kolla and Vechtomova, ICTIR 2009.
    """
    return _of_best(judged, setting, lambda last: _geometric(setting, last))


def intent_aware_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Intent-aware precision: the mean over subtopics of the precision of the top k documents.

    From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Fewer than k documents are divided by k all the
    same. Needs qrels with subtopics; unjudged documents count as not relevant. Equal scores are ordered as for
    alpha_DCG. ir_measures: P_IA; ndeval: P-IA. Agrawal, Gollapudi, Halverson and Ieong, WSDM 2009.
    """
    found = _found(judged, setting)
    inside = setting.within(found.rank)
    return share(count_each(found.ranking[inside], found.lists), setting.depth * found.subtopics)


def intent_aware_average_precision(judged: JudgedRankings, setting: Setting) -> Values:
    """Intent-aware average precision: the mean over subtopics of average precision.

    From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Needs qrels with subtopics; unjudged documents
    count as not relevant. Equal scores are ordered as for alpha_DCG. ir_measures: AP_IA; ndeval: MAP-IA. Agrawal,
    Gollapudi, Halverson and Ieong, WSDM 2009.
    """
    found = _found(judged, setting)
    terms = found.nth / found.rank / found.documents[found.subtopic]
    return share(sum_each(found.ranking, terms, found.lists), found.subtopics)


def subtopic_recall(judged: JudgedRankings, setting: Setting) -> Values:
    """Subtopic recall: the share of subtopics for which one of the top k documents is relevant.

    From 0 to 1; 0 when nothing was retrieved or nothing is relevant. Needs qrels with subtopics; unjudged documents
    count as not relevant. Equal scores are ordered as for alpha_DCG. ir_measures: StRecall; ndeval: strec. Zhai,
    Cohen and Lafferty, SIGIR 2003.
    """
    found = _found(judged, setting)
    first = (found.nth == 1) & setting.within(found.rank)
    return share(count_each(found.ranking[first], found.lists), found.subtopics)


def _found(judged: JudgedRankings, setting: Setting) -> _Found:
    rows = judged.with_subtopics
    relevant = np.flatnonzero(rows.grade >= setting.relevant_from)
    row, subtopic = rows.row[relevant], rows.subtopic[relevant]
    ranking = judged.ranking[row]
    documents = rows.relevant_documents(setting.relevant_from)
    covered = np.bincount(rows.topic[documents > 0], minlength=judged.topic_first.size - 1)
    return _Found(
        ranking=ranking,
        rank=judged.rank[row],
        subtopic=subtopic,
        nth=occurrences(ranking * documents.size + subtopic),
        documents=documents,
        subtopics=covered[judged.topic].astype(np.float64),
        lists=judged.retrieved.size,
    )


def _of_whole_topics(judged: JudgedRankings, setting: Setting, discounts: Discounts) -> Values:
    """Divide by the gain of as many documents as the cutoff says, relevant for all subtopics."""
    found = _found(judged, setting)
    discount = discounts(max(setting.depth, int(found.rank.max(initial=0))))
    at_best = _powers(1 - setting.alpha, setting.depth) * discount[1 : setting.depth + 1]
    return share(found.gained(setting, discount), found.subtopics * np.add.accumulate(at_best)[-1])


def _of_best(judged: JudgedRankings, setting: Setting, discounts: Discounts) -> Values:
    """Divide by the gain of each topic's best ranking, cut off at the same rank."""
    found, rows = _found(judged, setting), judged.with_subtopics
    best = _best(rows, setting, judged.topic_first.size - 1)
    discount = discounts(int(max(found.rank.max(initial=0), best.rank.max(initial=0))))
    return share(found.gained(setting, discount), best.gained(setting, discount)[judged.topic])


def _best(rows: SubtopicRows, setting: Setting, topics: int) -> _Found:
    """Rank the relevant documents of each topic by choosing next which adds most."""
    relevant = np.flatnonzero(rows.listed_grade >= setting.relevant_from)
    subtopic = rows.listed_subtopic[relevant]
    topic = rows.topic[subtopic]
    rank = np.zeros(relevant.size, np.int32)
    ends = np.searchsorted(topic, np.arange(topics + 1))
    for begin, end in zip(ends[:-1].tolist(), ends[1:].tolist(), strict=True):
        document, of_subtopic = rows.listed_document[relevant[begin:end]], subtopic[begin:end]
        rank[begin:end] = _greedy_ranks(document, of_subtopic, 1 - setting.alpha)
    order = np.lexsort((subtopic, rank, topic))
    owner, subtopic = topic[order], subtopic[order]
    nothing = np.empty(0)
    return _Found(owner, rank[order], subtopic, occurrences(subtopic), nothing, nothing, topics)


def _greedy_ranks(document: NDArray[np.intp], subtopic: NDArray[np.intp], kept: float) -> NDArray[np.int32]:
    """Rank the documents of a topic, given as pairs of document and subtopic; return the rank of each pair.

    Documents are numbered by docno. Gains are added from the first subtopic to the last, as in ndeval, since ties are
    broken by docno and must not depend on rounding.
    """
    documents, row = np.unique(-document, return_inverse=True)  # the last docno first: argmax takes the first of equals
    columns, column = np.unique(subtopic, return_inverse=True)
    is_relevant = np.zeros((documents.size, columns.size))
    is_relevant[row, column] = 1.0
    ranks, gain = np.zeros(documents.size, np.int32), np.ones(columns.size)
    left = np.ones(documents.size, np.bool_)
    for rank in range(1, documents.size + 1):
        scores = np.add.accumulate(is_relevant * gain, axis=1)[:, -1]
        chosen = int(np.argmax(np.where(left, scores, -1.0)))
        ranks[chosen], left[chosen] = rank, False
        gain = np.where(is_relevant[chosen] > 0, gain * kept, gain)
    return ranks[row]


def _logarithmic(last: int) -> Values:
    return _inverse_logarithms(last.bit_length())


@lru_cache
def _inverse_logarithms(bits: int) -> Values:
    """Tabulate 1 / log2(rank + 1) for every rank of up to `bits` bits; the entry of rank 0 is 0."""
    return np.array([0.0, *(1 / math.log2(rank + 1) for rank in range(1, 1 << bits))])


def _reciprocal(last: int) -> Values:
    return np.append(0.0, 1 / np.arange(1, last + 1))


def _geometric(setting: Setting, last: int) -> Values:
    return np.append(0.0, _powers(setting.beta, last))


def _powers(base: float, count: int) -> Values:
    """Return 1, base, base^2 and so on, each the product of the one before and the base."""
    return np.multiply.accumulate(np.append(1.0, np.full(max(count - 1, 0), base)))

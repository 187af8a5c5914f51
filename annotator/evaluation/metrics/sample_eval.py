"""infAP, infNDCG and the other figures of NIST's script sample_eval.pl, as it prints them, quirks included.

It differs from the published xinfAP and infNDCG: rankings and ideal rankings end at the largest result size, 1000, and
AP is raised where more documents are relevant; infNDCG takes for the weight of a stratum its documents and judged ones
within the ranking; 0.00003, not 0.00002, is added to the judged documents above a rank; topics that a run lacks are not
averaged. These rules were compared with what the script prints for a run of TRECVID 2021 and its sample.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import log2
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.gains import LINEAR, Gain
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.setting import Values

if TYPE_CHECKING:
    from annotator.evaluation.metrics.scoring import Scores

LARGEST_RESULT = 1000
EPSILON = 0.00001
CUTOFFS = (5, 10, 15, 20, 30, 100, 200, 500, 1000)
RECALL_LEVELS = tuple(level / 10 for level in range(11))


@dataclass(frozen=True, eq=False)
class SampledRanking:
    """One ranking down to the largest result size; the first axis of the counts is strata, the second ranks from 1.

    Counts are of documents from the top to the rank. `weights` are N / n of each stratum, 0 where nothing is judged.
    """

    rank: NDArray[np.intp]  # of each relevant document
    stratum: NDArray[np.intp]  # of each relevant document
    grade: NDArray[np.int16]  # of each relevant document
    pooled: Values
    judged: Values
    relevant: Values
    weights: Values
    estimated_relevant: float  # documents of the topic
    grades: NDArray[np.int16]  # of the relevant documents of the topic
    of_grades: NDArray[np.intp]  # their strata

    @cached_property
    def relevant_so_far(self) -> Values:
        """The estimated number of relevant documents down to each rank, (ranks,)."""
        estimates: Values = (self.pooled * (self.relevant + EPSILON) / (self.judged + 3 * EPSILON)).sum(axis=0)
        return estimates

    @property
    def average_precision(self) -> float:
        """What the script prints as infAP."""
        if not self.estimated_relevant:
            return 0.0
        above = np.append(0.0, self.relevant_so_far)[self.rank - 1]
        total = float((self.weights[self.stratum] * (1 + above) / self.rank).sum())
        return total / min(self.estimated_relevant, LARGEST_RESULT)

    def ndcg(self, gain: Gain = LINEAR) -> float:
        """What the script prints as infNDCG."""
        ideal = self._ideal(gain)
        if not ideal:
            return 0.0
        gained = np.bincount(self.stratum, gain.of(self.grade) / np.log2(self.rank + 1), len(self.pooled))
        pooled, judged = (counts[:, -1] for counts in (self.pooled, self.judged))
        weights = np.divide(pooled, judged, out=np.zeros(judged.shape), where=judged > 0)
        return float((weights * gained).sum()) / ideal

    def _ideal(self, gain: Gain) -> float:
        """The gain of the best ranking: grades begin where the one before ended, at a rank that need not be whole."""
        total, start = 0.0, 0.0
        # The script sorts grades as text.
        for grade in sorted(np.unique(self.grades).tolist(), key=str, reverse=True):
            count = float(self.weights[self.of_grades[self.grades == grade]].sum())
            worth = float(gain.of(np.array([grade], np.int16))[0])
            rank = start + 1
            while rank <= start + count:
                total += worth / log2(rank + 1)
                if rank >= LARGEST_RESULT:
                    break
                rank += 1
            start += count
        return total

    def precision(self, cutoff: int) -> float:
        """What the script prints as iP and the cutoff."""
        estimates = self.relevant_so_far
        return float(estimates[min(cutoff, estimates.size) - 1]) / cutoff

    def interpolated(self) -> list[float]:
        """The interpolated precision at each recall level: the highest one from its rank on."""
        estimates = self.relevant_so_far
        wanted = [level * self.estimated_relevant for level in RECALL_LEVELS]
        found = [0.0] * len(wanted)
        level = len(wanted) - 1
        while level >= 0 and wanted[level] > estimates[-1]:
            level -= 1
        best = 0.0
        for rank in range(estimates.size, 0, -1):
            best = max(best, float(estimates[rank - 1]) / rank)
            if level >= 0 and wanted[level] > estimates[rank - 1]:
                found[level] = best
                level -= 1
        found[: level + 1] = [best] * (level + 1)
        return found


def sampled_rankings(judged: JudgedRankings, relevant_from: int) -> Iterator[SampledRanking | None]:
    """Take the rankings of a batch one by one; None for one that retrieved nothing."""
    strata = judged.strata
    topics = judged.topic_first.size - 1
    first = np.searchsorted(strata.topic, np.arange(topics + 1))
    n = np.bincount(strata.of_grade, minlength=strata.topic.size)
    weights = np.divide(strata.pooled, n, out=np.zeros(n.size), where=n > 0)
    unjudged_first = np.searchsorted(judged.unjudged.ranking, np.arange(judged.retrieved.size + 1))
    for ranking, topic in enumerate(judged.topic.tolist()):
        depth = min(int(judged.retrieved[ranking]), LARGEST_RESULT)
        if not depth:
            yield None
            continue
        rows = slice(judged.first_row[ranking], judged.first_row[ranking + 1])
        others = slice(unjudged_first[ranking], unjudged_first[ranking + 1])
        rank, of_row, grade = judged.rank[rows].astype(np.intp), strata.of_row[rows] - first[topic], judged.grade[rows]
        inside = rank <= depth
        rank, of_row, grade = rank[inside], of_row[inside], grade[inside]
        other = judged.unjudged.rank[others].astype(np.intp)
        of_other = (strata.of_unjudged[others] - first[topic])[other <= depth]
        is_relevant = grade >= relevant_from
        shape = int(first[topic + 1] - first[topic]), depth
        found = _counts(shape, of_row, rank)
        entries = slice(judged.topic_first[topic], judged.topic_first[topic + 1])
        grades, of_grades = judged.topic_grade[entries], strata.of_grade[entries] - first[topic]
        is_good = grades >= relevant_from
        of_topic = weights[first[topic] : first[topic + 1]]
        yield SampledRanking(
            *(rank[is_relevant], of_row[is_relevant], grade[is_relevant]),
            *(found + _counts(shape, of_other, other[other <= depth]), found),
            _counts(shape, of_row[is_relevant], rank[is_relevant]),
            of_topic,
            float(of_topic[of_grades[is_good]].sum()),
            *(grades[is_good], of_grades[is_good]),
        )


def _counts(shape: tuple[int, int], stratum: NDArray[np.intp], rank: NDArray[np.intp]) -> Values:
    """Count the documents of each stratum from the top to each rank."""
    marked = np.zeros(shape)
    marked[stratum, rank - 1] = 1
    counts: Values = np.cumsum(marked, axis=1)
    return counts


def sample_eval_report(scores: "Scores", run: int, rankings: Sequence[SampledRanking | None]) -> str:
    """Return what `sample_eval.pl -q` prints for one run; `rankings` are those of all runs, of relevance from 1.

    Topics are sorted as numbers. The means are over the topics that the run has, the number of relevant documents over
    all topics of the qrels.
    """
    topics = len(scores.topics)
    retrieved = scores.retrieved[run].tolist()
    of_run = dict(zip(scores.topics, rankings[run * topics : (run + 1) * topics], strict=True))
    counts = dict(zip(scores.topics, retrieved, strict=True))
    found = {topic: one for topic in sorted(of_run, key=_as_number) if (one := of_run[topic]) is not None}
    lines = [line for topic, one in found.items() for line in _topic_lines(topic, one, counts[topic])]
    return "".join([*lines, *_mean_lines(list(found.values()), _relevant_of_all(scores.judged))])


def _as_number(topic: str) -> tuple[float, str]:
    """Perl takes text without a number at its beginning for 0."""
    number = re.match(r"\s*[+-]?\d+(\.\d*)?", topic)
    return float(number[0]) if number else 0.0, topic


def _topic_lines(topic: str, one: SampledRanking, retrieved: int) -> Iterator[str]:
    yield f"infAP\t\t{topic}\t\t{one.average_precision:6.4f}\n"
    yield f"infNDCG\t\t{topic}\t\t{one.ndcg():6.4f}\n"
    for cutoff in CUTOFFS:
        yield f"iP{cutoff}\t\t{topic}\t\t{one.precision(cutoff):6.4f}\n"
    yield f"inum_rel_ret\t{topic}\t{one.relevant_so_far[-1]:14.4f}\n"
    yield f"inum_rel\t{topic}\t{one.estimated_relevant:14.4f}\n"
    yield f"num_ret\t\t{topic}\t{retrieved:9d}\n"


def _mean_lines(found: Sequence[SampledRanking], relevant: float) -> Iterator[str]:
    topics = max(len(found), 1)
    yield f"infAP\t\tall\t\t{sum(one.average_precision for one in found) / topics:6.4f}\n"
    yield f"infNDCG\t\tall\t\t{sum(one.ndcg() for one in found) / topics:6.4f}\n"
    interpolated = np.array([one.interpolated() for one in found]).reshape(-1, len(RECALL_LEVELS)).sum(axis=0) / topics
    for level, value in zip(RECALL_LEVELS, interpolated.tolist(), strict=True):
        yield f"iprec@rec{level:4.2f}\tall\t\t{value:6.4f}\n"
    for cutoff in CUTOFFS:
        yield f"iP{cutoff}\t\tall\t\t{sum(one.precision(cutoff) for one in found) / topics:6.4f}\n"
    yield f"inum_rel_ret\tall\t{sum(float(one.relevant_so_far[-1]) for one in found):14.4f}\n"
    yield f"inum_rel\tall\t{relevant:14.4f}\n"
    yield f"num_ret\t\tall\t{sum(one.relevant_so_far.size for one in found):9d}\n"


def _relevant_of_all(judged: JudgedRankings) -> float:
    """The estimated number of relevant documents of all topics."""
    strata = judged.strata
    n = np.bincount(strata.of_grade, minlength=strata.topic.size)
    relevant = np.bincount(strata.of_grade[judged.topic_grade >= 1], minlength=strata.topic.size)
    return float(np.divide(strata.pooled * relevant, n, out=np.zeros(n.size), where=n > 0).sum())

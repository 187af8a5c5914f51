"""Takes measures of rankings that a test writes down as document numbers, best first."""

from collections.abc import Mapping, Sequence

import numpy as np

from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.setting import Compat


def batch(*rankings: Sequence[int], qrels: Mapping[int, int]) -> JudgedRankings:
    """Join rankings of one topic with its qrels, grades by document number."""
    return judge_rankings([(1, np.array(ranking, np.int32)) for ranking in rankings], {1: qrels})


def value(
    measure: str | Measure,
    ranking: Sequence[int],
    qrels: Mapping[int, int],
    relevant_from: int = 1,
    *,
    judged_only: bool = False,
    compat: Compat = Compat.TREC_EVAL_10,
) -> float:
    """Take a measure of one ranking."""
    parsed = parse_measure(measure) if isinstance(measure, str) else measure
    judged = batch(ranking, qrels=qrels)
    return float(parsed.values(judged, relevant_from, judged_only=judged_only, compat=compat)[0])


def value_of_pattern(measure: str, pattern: str, missed: int = 0) -> float:
    """Take a measure of a ranking such as `R N R -`: relevant, judged not relevant, unjudged.

    `missed` relevant documents were not retrieved.
    """
    grades = {"R": 1, "N": 0}
    ranking = range(len(pattern.split()))
    qrels = {rank: grades[letter] for rank, letter in enumerate(pattern.split()) if letter in grades}
    return value(measure, ranking, qrels | {len(ranking) + number: 1 for number in range(missed)})

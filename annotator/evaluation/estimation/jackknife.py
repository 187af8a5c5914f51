"""Errors of measures without a formula, xinfAP and infNDCG: a sample is scored without each of its documents."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.estimation.difference_estimator import TopicEstimate
from annotator.evaluation.estimation.estimates import Estimates, MeanEstimates
from annotator.evaluation.estimation.sampled_topic import UNKNOWN, SampledTopic, Values
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.qrels.qrels_format import UNJUDGED

Documents = NDArray[np.int32]
JACKKNIFED = ("xinfAP", "infNDCG")  # measures that estimate from a sample themselves
LISTED_AT_ONCE = 4_000_000  # documents of ranked lists that are scored together
WHOLE = 0  # the key of the sample without a document left out


@dataclass(frozen=True, eq=False)
class ScoredTopic:
    """A topic with its sample, the documents of its frame, and the ranking of each run."""

    sampled: SampledTopic
    documents: Documents
    rankings: Sequence[Documents]


@dataclass(frozen=True)
class Scale:
    """What grades mean: the least relevant one, and the best one of the scale."""

    relevant_from: int
    best_grade: int


def is_jackknifed(measure: Measure) -> bool:
    """Whether the measure itself estimates from a sample drawn at several rates."""
    return measure.name in JACKKNIFED


def jackknifed_estimates(topics: Sequence[ScoredTopic], measure: Measure, scale: Scale) -> Estimates | None:
    """Estimate such a measure for each run from people's grades; None when no topic can be estimated.

    Of a stratum with n of N documents drawn the variance is (1 - n / N) (n - 1) / n times the sum of the squares of the
    values without each document about their mean (Rao and Wu 1985). Strata with one judged document are joined, as in
    the other estimates.
    """
    places = [place for place, one in enumerate(topics) if not one.sampled.unsampled.size]
    of_topics = {place: _jackknifed(topics[place], measure, scale) for place in places}
    used = [place for place in places if of_topics[place].is_defined]
    if not used:
        return None
    return Estimates(
        MeanEstimates(
            np.array([of_topics[place].values for place in used]),
            np.array([of_topics[place].covariance for place in used]),
        ),
        people=None,
        machine=None,
        used=tuple(used),
        unsampled=tuple(place for place, one in enumerate(topics) if one.sampled.unsampled.size),
        undefined=tuple(place for place in places if not of_topics[place].is_defined),
        without_variance=tuple(place for place in used if not topics[place].sampled.has_variance),
    )


def _jackknifed(topic: ScoredTopic, measure: Measure, scale: Scale) -> TopicEstimate:
    sampled = topic.sampled
    scores = np.concatenate(list(_scores(topic, measure, scale)))
    runs = scores.shape[1]
    covariance = np.zeros((runs, runs))
    begin = WHOLE + 1
    for group in sampled.variance_groups:
        size = group.members.size
        deviations = scores[begin : begin + size] - scores[begin : begin + size].mean(axis=0)
        labels = np.unique(sampled.strata[sampled.sample[group.members]])
        share = sampled.sampled[labels].sum() / sampled.sizes[labels].sum()
        covariance += (1 - share) * (size - 1) / size * (deviations.T @ deviations)
        begin += size
    is_found = bool((sampled.grades[sampled.sample] >= min(scale.relevant_from, 1)).any())
    if not sampled.has_variance:
        covariance[:] = np.nan
    return TopicEstimate(scores[WHOLE], covariance, is_defined=is_found or sampled.is_complete)


def _scores(topic: ScoredTopic, measure: Measure, scale: Scale) -> Iterator[Values]:
    """The values of all runs by the whole sample and without each document of `variance_groups`, some at a time."""
    sampled = topic.sampled
    documents = topic.documents.tolist()
    grades = np.where(sampled.grades == UNKNOWN, UNJUDGED, sampled.grades).tolist()
    strata = dict(zip(documents, sampled.strata.tolist(), strict=True))
    left_out = [int(sampled.sample[member]) for group in sampled.variance_groups for member in group.members.tolist()]
    qrels: dict[int, Mapping[int, int]] = {WHOLE: dict(zip(documents, grades, strict=True))}
    for key, place in enumerate(left_out, start=WHOLE + 1):
        qrels[key] = {**qrels[WHOLE], documents[place]: UNJUDGED}
    listed = max(sum(map(len, topic.rankings)), 1)
    at_once = max(LISTED_AT_ONCE // listed, 1)
    for begin in range(0, len(qrels), at_once):
        some = list(qrels)[begin : begin + at_once]
        rankings = [(key, ranking) for key in some for ranking in topic.rankings]
        judged = judge_rankings(rankings, {key: qrels[key] for key in some}, dict.fromkeys(some, strata))
        values = measure.values(judged, scale.relevant_from, best_grade=scale.best_grade)
        yield values.reshape(len(some), len(topic.rankings))

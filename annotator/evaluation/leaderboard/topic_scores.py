"""Scores runs topic by topic: a measure's value for one topic never depends on the other topics."""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.join_qrels import judge_batch
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.metrics.setting import Compat, Values
from annotator.evaluation.qrels.graded_topic import GradedTopic

SCORED_AT_ONCE = 125_000  # documents of ranked lists; results of larger batches take memory and fall out of the caches

# Topic key → the documents of each run, best first; runs in their order.
Lists = Mapping[int, Sequence[NDArray[np.int32]]]
# Values of one topic by measure: one value a run, in their order.
TopicScores = Mapping[Measure, Values]


@dataclass(frozen=True)
class Grading:
    """The settings of scores beside the grades: the least relevant grade and the scale's best one."""

    relevant_from: int
    best_grade: int
    compat: Compat = Compat.TREC_EVAL_10


def score_topics(
    topics: Mapping[int, GradedTopic],
    known: Mapping[int, TopicScores],
    lists: Lists,
    runs: int,
    measures: Collection[Measure],
    grading: Grading,
) -> dict[int, dict[Measure, Values]]:
    """Compute the values of these measures missing in `known`, {topic key: {measure: one value a run}}."""
    wanted = frozenset(measures)
    groups: dict[frozenset[Measure], list[int]] = {}
    for key in topics:
        groups.setdefault(wanted.difference(known.get(key, ())), []).append(key)
    groups.pop(frozenset(), None)
    scores: dict[int, dict[Measure, Values]] = {}
    for lacking, keys in groups.items():
        for some in _batches(keys, lists):
            scores |= _score({key: topics[key] for key in some}, lists, runs, lacking, grading)
    return scores


def _score(
    topics: Mapping[int, GradedTopic], lists: Lists, runs: int, measures: Collection[Measure], grading: Grading
) -> dict[int, dict[Measure, Values]]:
    rankings = [(key, lists[key][run]) for run in range(runs) for key in topics]
    samples = {key: sample for key, topic in topics.items() if (sample := topic.sample) is not None}
    judged = judge_batch(rankings, {key: topic.by_document for key, topic in topics.items()}, samples, measures)
    scores: dict[int, dict[Measure, Values]] = {key: {} for key in topics}
    for measure in measures:
        values = measure.values(
            judged.of(measure), grading.relevant_from, compat=grading.compat, best_grade=grading.best_grade
        ).reshape(runs, len(topics))
        for place, key in enumerate(topics):
            scores[key][measure] = np.ascontiguousarray(values[:, place])
    return scores


def _batches(keys: Sequence[int], lists: Lists) -> Iterator[list[int]]:
    """Yield batches of topics whose lists have about `SCORED_AT_ONCE` documents, at least one topic each."""
    batch: list[int] = []
    size = 0
    for key in keys:
        size += sum(map(len, lists[key]))
        batch.append(key)
        if size >= SCORED_AT_ONCE:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch

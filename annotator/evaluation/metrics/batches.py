"""Rankings joined with the grades, and with the sample that they were drawn as: each measure takes its own."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Measure
from annotator.evaluation.qrels.samples import Samples


@dataclass(frozen=True, eq=False)
class JudgedBatch:
    """Rankings joined with the settled grades, and with those that estimates are computed from."""

    settled: JudgedRankings
    sampled: JudgedRankings

    def of(self, measure: Measure) -> JudgedRankings:
        """What a measure is computed from."""
        return self.sampled if measure.definition.estimates else self.settled


def judge_batch(
    rankings: Sequence[tuple[int, NDArray[np.int32]]],
    qrels: Mapping[int, Mapping[int, int]],
    samples: Samples,
    measures: Iterable[Measure],
) -> JudgedBatch:
    """Join rankings as `judge_rankings` does, also with the samples if some measure estimates from them."""
    settled = judge_rankings(rankings, qrels)
    of_topics = {topic: sample for topic, sample in samples.items() if topic in qrels}
    if not of_topics or not any(measure.definition.estimates for measure in measures):
        return JudgedBatch(settled, settled)
    drawn = {topic: sample.grades(qrels[topic]) for topic, sample in of_topics.items()}
    strata = {topic: sample.strata for topic, sample in of_topics.items()}
    return JudgedBatch(settled, judge_rankings(rankings, {**qrels, **drawn}, strata))

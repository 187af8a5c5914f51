"""Errors of xinfAP and infNDCG by leaving out one document after the other: right on average, and 0 without a draw."""

from dataclasses import replace

import numpy as np
import pytest
from sampling import draw, judged_topic

from annotator.evaluation.estimation.jackknife import Scale, ScoredTopic, is_jackknifed, jackknifed_estimates
from annotator.evaluation.estimation.sampled_topic import UNKNOWN, SampledTopic
from annotator.evaluation.metrics.names import parse_measure

SCALE = Scale(relevant_from=1, best_grade=3)
MEASURES = ("xinfAP", "infNDCG@10")


def scored(topic: SampledTopic) -> ScoredTopic:
    rankings = [np.argsort(np.where(ranks > 0, ranks, 999))[: np.count_nonzero(ranks)] for ranks in topic.ranks]
    return ScoredTopic(topic, np.arange(topic.grades.size, dtype=np.int32), [one.astype(np.int32) for one in rankings])


@pytest.mark.parametrize("name", MEASURES)
def test_the_variance_is_that_of_many_draws_about(name: str) -> None:
    """Of 300 draws of a third of 60 documents: the mean of the estimated variances by that of the values."""
    topic, measure = judged_topic(3, 60), parse_measure(name)
    random = np.random.default_rng(2)
    values, variances = [], []
    for _ in range(300):
        found = jackknifed_estimates([scored(draw(topic, np.array([0.4, 0.3]), random))], measure, SCALE)
        assert found is not None
        values.append(found.together.values)
        variances.append(np.diag(found.together.by_draw))
    ratio = np.mean(variances, axis=0) / np.var(values, axis=0)
    assert ((ratio > 0.7) & (ratio < 1.5)).all()


@pytest.mark.parametrize("name", MEASURES)
def test_with_everything_judged_there_is_no_error(name: str) -> None:
    found = jackknifed_estimates([scored(judged_topic(1, 30)), scored(judged_topic(2, 30))], parse_measure(name), SCALE)
    assert found is not None
    assert (found.together.half_widths == 0).all()
    assert (found.people, found.machine, found.used) == (None, None, (0, 1))


def test_topics_that_cannot_be_estimated_are_left_out() -> None:
    topic = judged_topic(1, 30)
    nothing = replace(topic, grades=np.full(30, UNKNOWN))
    zeros = replace(topic, grades=np.where(np.arange(30) % 2, np.int16(0), UNKNOWN))
    found = jackknifed_estimates([scored(one) for one in (nothing, topic, zeros)], parse_measure("xinfAP"), SCALE)
    assert found is not None
    assert (found.used, found.unsampled, found.undefined, found.without_variance) == ((1,), (0,), (2,), ())
    assert jackknifed_estimates([scored(nothing)], parse_measure("xinfAP"), SCALE) is None


def test_a_sample_of_one_has_no_error() -> None:
    topic = judged_topic(1, 30, strata=1)
    relevant = int(np.flatnonzero(topic.grades > 0)[0])
    one = replace(topic, grades=np.where(np.arange(30) == relevant, topic.grades, UNKNOWN))
    found = jackknifed_estimates([scored(one)], parse_measure("xinfAP"), SCALE)
    assert found is not None
    assert np.isnan(found.together.half_widths).all()
    assert found.without_variance == (0,)


def test_only_measures_that_estimate_by_strata_are_scored_again() -> None:
    assert [is_jackknifed(parse_measure(name)) for name in ("xinfAP", "infNDCG@5", "infAP", "AP")] == [
        True,
        True,
        False,
        False,
    ]

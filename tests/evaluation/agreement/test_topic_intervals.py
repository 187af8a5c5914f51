"""Intervals by topics: against a computation topic by topic, by simulation, and where there are none."""

from collections.abc import Sequence
from itertools import combinations

import numpy as np
import pytest
from labelled import code_labels
from numpy.typing import NDArray

from annotator.evaluation.agreement.kappa import Weighting, agreements, cohen_chance, kappa_of_confusion
from annotator.evaluation.agreement.labels import Labels
from annotator.evaluation.agreement.many_judges import Level, alpha_values
from annotator.evaluation.agreement.report import agreement_of_pairs, interval_of_all
from annotator.evaluation.agreement.results import Band, Undefined, band
from annotator.evaluation.agreement.topic_intervals import TopicInterval, alpha_interval, kappa_interval

SCALE = (0, 1, 2)
NOMINAL = Weighting.NONE.of(3)
TRUE_TOPICS = 20_000
T_OF_6_DEGREES = 2.4469118511449692  # 97.5 %, from any table of Student's t


def random_labels(seed: int, judges: str = "abc") -> Labels:
    """Some judges, each with two thirds of the documents of seven topics of unequal size."""
    random = np.random.default_rng(seed)
    rows = []
    for item in range(140):
        truth = random.integers(0, 3)
        for judge in judges:
            if random.random() < 2 / 3:
                right = random.random() < 0.6
                rows.append((item, str(int(item**0.5) % 7), judge, int(truth if right else random.integers(0, 3))))
    return labels_of(rows)


def labels_of(rows: Sequence[tuple[int, str, str, int]]) -> Labels:
    """Take rows of item, topic, judge and grade."""
    items, topics, judges, grades = zip(*rows, strict=True)
    return code_labels(items, topics, judges, grades, SCALE)


def confusion_of(labels: Labels, first: int, second: int, topics: set[int]) -> NDArray[np.int64]:
    """Count entry by entry which grade of one judge met which of the other on documents of some topics."""
    confusion = np.zeros((3, 3), np.int64)
    columns = (labels.item, labels.judge, labels.grade, labels.topic)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    of_second = {item: grade for item, judge, grade, _ in rows if judge == second}
    for item, judge, grade, topic in rows:
        if judge == first and item in of_second and topic in topics:
            confusion[grade, of_second[item]] += 1
    return confusion


@pytest.mark.parametrize("weighting", list(Weighting))
def test_the_interval_of_a_pair_is_that_of_leaving_out_topic_by_topic(weighting: Weighting) -> None:
    labels, weights = random_labels(3), weighting.of(3)
    found = agreement_of_pairs(labels, 1, weighting)
    whole = set(range(7))
    for pair, (first, second) in zip(found, combinations(range(3), 2), strict=True):
        left_out = np.array(
            [
                kappa_of_confusion(confusion_of(labels, first, second, whole - {topic}), weights).value
                for topic in whole
            ],
            np.float64,
        )
        error = (((left_out - left_out.mean()) ** 2).sum() * 6 / 7) ** 0.5
        half = T_OF_6_DEGREES * error
        value = kappa_of_confusion(confusion_of(labels, first, second, whole), weights).value
        assert value is not None
        assert pair.by_topics.topics == 7
        assert pair.by_topics.standard_error == pytest.approx(error)
        assert pair.by_topics.interval == pytest.approx((max(value - half, -1), min(value + half, 1)))


def test_the_interval_of_alpha_does_not_hang_on_the_order_of_judgements() -> None:
    labels = random_labels(5, "abcd")
    order = np.random.default_rng(1).permutation(labels.item.size)
    shuffled = labels_of(
        [(int(labels.item[at]), f"{labels.topic[at]}", f"{labels.judge[at]}", int(labels.grade[at])) for at in order]
    )
    found, again = interval_of_all(labels), interval_of_all(shuffled)
    assert found.interval == pytest.approx(again.interval)
    assert found.topics == again.topics == 7


def judged_topics(random: np.random.Generator, topics: int, *, differing: float) -> NDArray[np.int64]:
    """The confusion matrix of each topic; judges see a document's worth with errors and are strict topic by topic."""
    sizes, most = random.integers(15, 46, topics), 45
    worth = random.normal(-0.5, differing, (topics, 1)) + random.normal(0, 1, (topics, most))
    places = []
    for _ in range(2):
        strictness = random.normal(0, 0.7 * differing, (topics, 1))
        places.append(np.digitize(worth + strictness + random.normal(0, 0.7, (topics, most)), [0, 0.8]))
    topic, document = np.nonzero(np.arange(most) < sizes[:, np.newaxis])
    cells = (topic * 3 + places[0][topic, document]) * 3 + places[1][topic, document]
    return np.bincount(cells, minlength=topics * 9).reshape(topics, 3, 3)


@pytest.mark.parametrize("topics", [4, 20])
@pytest.mark.parametrize("differing", [0.0, 1.0])
def test_an_interval_by_topics_contains_the_true_value_95_times_of_100(topics: int, differing: float) -> None:
    random = np.random.default_rng(17)
    whole = judged_topics(random, TRUE_TOPICS, differing=differing).sum(axis=0)
    true_kappa = kappa_of_confusion(whole).value
    true_alpha = alpha_values((whole + whole.T)[np.newaxis].astype(float), SCALE, Level.ORDINAL)[0][0]
    contained = {"kappa": 0, "alpha": 0, "analytic": 0}
    sets = 300
    for _ in range(sets):
        by_topic = judged_topics(random, topics, differing=differing)
        both_ways = by_topic + by_topic.transpose(0, 2, 1)
        analytic = kappa_of_confusion(by_topic.sum(axis=0)).interval
        found = {
            "kappa": (kappa_interval(by_topic, NOMINAL).interval, true_kappa),
            "alpha": (alpha_interval(both_ways.astype(float), SCALE, Level.ORDINAL).interval, true_alpha),
            "analytic": (analytic, true_kappa),
        }
        for name, (interval, true) in found.items():
            assert interval is not None
            contained[name] += interval[0] <= true <= interval[1]
    # Of 300 sets a share of .95 comes out in this range in 99 of 100 simulations.
    assert 0.913 <= contained["kappa"] / sets <= 0.983
    assert 0.913 <= contained["alpha"] / sets <= 0.983
    if differing:
        assert contained["analytic"] / sets < 0.8  # documents of one topic are not independent


@pytest.mark.parametrize("topics", [1, 2])
def test_with_one_or_two_topics_there_is_no_interval(topics: int) -> None:
    by_topic = judged_topics(np.random.default_rng(1), topics, differing=0.0)
    assert kappa_interval(by_topic, NOMINAL) == TopicInterval(None, None, Undefined.FEW_TOPICS, topics)
    assert alpha_interval(by_topic.astype(float), SCALE, Level.ORDINAL).reason is Undefined.FEW_TOPICS
    assert "three topics" in str(Undefined.FEW_TOPICS.sentence)


def test_topics_without_a_shared_document_do_not_count() -> None:
    by_topic = judged_topics(np.random.default_rng(1), 5, differing=1.0)
    more = np.concatenate([by_topic, np.zeros((4, 3, 3), np.int64)])
    assert kappa_interval(more, NOMINAL) == kappa_interval(by_topic, NOMINAL)


def test_a_value_that_hangs_on_a_single_topic_has_no_interval() -> None:
    # Without the last topic both judges gave the one grade alone.
    by_topic = np.zeros((4, 3, 3), np.int64)
    by_topic[:, 0, 0] = 5
    by_topic[3, 1, 1], by_topic[3, 0, 1] = 2, 1
    found = kappa_interval(by_topic, NOMINAL)
    assert (found.interval, found.reason) == (None, Undefined.HANGS_ON_A_TOPIC)
    both_ways = (by_topic + by_topic.transpose(0, 2, 1)).astype(float)
    assert alpha_interval(both_ways, SCALE, Level.NOMINAL).reason is Undefined.HANGS_ON_A_TOPIC


def test_topics_that_are_all_alike_give_no_interval() -> None:
    by_topic = np.tile([[5, 1, 0], [0, 4, 1], [1, 0, 3]], (4, 1, 1))
    assert kappa_interval(by_topic, NOMINAL).reason is Undefined.TOPICS_ALIKE


def test_without_a_value_there_is_the_reason_of_the_value() -> None:
    nothing = np.zeros((4, 3, 3), np.int64)
    assert kappa_interval(nothing, NOMINAL) == TopicInterval(None, None, Undefined.NO_OVERLAP, 0)
    assert alpha_interval(nothing.astype(float), SCALE, Level.ORDINAL).reason is Undefined.NO_SHARED_DOCUMENT
    one_grade = nothing.copy()
    one_grade[:, 1, 1] = 3
    assert kappa_interval(one_grade, NOMINAL).reason is Undefined.SINGLE_GRADE


def test_a_kappa_whose_interval_contains_0_is_not_called_slight() -> None:
    assert band(0.001) is Band.SLIGHT
    assert band(0.001, (-0.1, 0.102)) is Band.CHANCE
    assert band(-0.05, (-0.2, 0.1)) is Band.CHANCE
    assert band(0.1, (0.02, 0.18)) is Band.SLIGHT
    rows = [
        (item, str(item % 4), judge, (item * item // step) % 3)
        for item in range(80)
        for judge, step in (("a", 3), ("b", 7))
    ]
    (pair,) = agreement_of_pairs(labels_of(rows), 1)
    assert pair.by_topics.interval is not None
    assert pair.by_topics.interval[0] < 0 < pair.by_topics.interval[1]
    assert pair.band is Band.CHANCE


def test_what_is_computed_over_all_topics_is_the_value_itself() -> None:
    by_topic = judged_topics(np.random.default_rng(4), 6, differing=0.5)
    value = float(agreements(by_topic.sum(axis=0, keepdims=True), NOMINAL, cohen_chance).value[0])
    found = kappa_interval(by_topic, NOMINAL)
    assert found.interval is not None
    assert sum(found.interval) / 2 == pytest.approx(value)

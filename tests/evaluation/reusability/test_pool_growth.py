"""How dense a pool is, and how it grows with its depth, by hand."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest

from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.qrels.topic_flags import JudgedTopic
from annotator.evaluation.reusability import depth_growth as growing
from annotator.evaluation.reusability.depth_growth import (
    Density,
    depth_growth,
    judged_depth,
    new_by_depth,
    pool_density,
)

NUMBERS = {1: "1", 2: "2"}


def documents(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def joined(qrels: Mapping[int, Mapping[int, int]], runs: Sequence[Mapping[int, np.ndarray]]) -> RegradedRuns:
    return RegradedRuns.join(runs, {topic: documents(*grades) for topic, grades in qrels.items()}, NUMBERS)


def grades_of(qrels: Mapping[int, Mapping[int, int]]) -> np.ndarray:
    return np.array([grade for of_topic in qrels.values() for grade in of_topic.values()], np.int16)


@pytest.mark.parametrize(
    ("judged", "relevant", "density"),
    [
        (100, 6, Density.HEALTHY),
        (100, 16, Density.HEALTHY),
        (100, 17, Density.CAREFUL),
        (100, 39, Density.CAREFUL),
        (100, 40, Density.TOO_MANY),
        (10, 10, Density.TOO_MANY),
    ],
)
def test_the_relevant_share_has_a_word(judged: int, relevant: int, density: Density) -> None:
    found = pool_density([JudgedTopic("1", 100, judged, relevant, 0)])
    assert found.share == found.median_share == found.topics[0].share == Figure(relevant / judged)
    assert found.density is found.topics[0].density is density
    assert found.flagged == (("1",) if density is Density.TOO_MANY else ())


def test_the_words_name_their_shares() -> None:
    assert str(Density.HEALTHY.sentence).startswith("Healthy: less than 17 % of the judged documents")
    assert str(Density.CAREFUL.sentence).startswith("Careful: 17 % or more")
    assert str(Density.TOO_MANY.sentence).startswith("Too many: 40 % or more")


def test_topics_are_weighed_by_their_judgements_and_flagged_apart() -> None:
    topics = [
        JudgedTopic("1", 60, 60, 3, 0),
        JudgedTopic("2", 40, 40, 16, 0),
        JudgedTopic("3", 20, 20, 2, 0),
        JudgedTopic("4", 20, 9, 9, 11),
        JudgedTopic("5", 20, 0, 0, 20),
    ]
    found = pool_density(topics)
    assert found.share == Figure(30 / 129)
    # 0.05, 0.4, 0.1 and 1
    assert found.median_share.value == pytest.approx(0.25)
    # Topic 4 has too few judgements to say, while others wait.
    assert [one.density for one in found.topics] == [Density.HEALTHY, Density.TOO_MANY, Density.HEALTHY, None, None]
    assert (found.flagged, found.too_few) == (("2",), ("3",))
    assert found.topics[4].share == Figure(None, Missing.NO_JUDGEMENT)


def test_an_empty_pool_has_no_share() -> None:
    found = pool_density([])
    assert found.share == found.median_share == Figure(None, Missing.NO_JUDGEMENT)
    assert found.density is None


def test_new_relevant_documents_count_where_a_run_that_fed_the_pool_has_them_best() -> None:
    qrels = {1: {1: 1, 2: 1, 3: 1, 4: 0}, 2: {1: 2, 9: 1}}
    runs = [{1: documents(4, 1, 2), 2: documents(9)}, {1: documents(2, 3), 2: documents(5, 1)}, {1: documents(3)}]
    new = new_by_depth(joined(qrels, runs), grades_of(qrels), [True, True, False], 1, 3)
    # Topic 1: document 2 at rank 1, 1 and 3 at rank 2. Topic 2: 9 at rank 1, 1 at rank 2.
    assert new.tolist() == [[1, 2, 0], [1, 1, 0]]
    assert new_by_depth(joined(qrels, runs), grades_of(qrels), [False] * 3, 1, 2).tolist() == [[0, 0], [0, 0]]


@pytest.mark.parametrize(
    ("fed", "depth"),
    [
        ([True, False, False, False], 2),  # the third document of topic 1 is not judged
        ([False, True, False, False], 3),  # all are, and there are three at most
        ([True, True, False, False], 2),
        ([False, False, True, False], 0),  # the first is not
        ([False, False, False, True], 0),  # the run is empty
        ([False] * 4, 0),
    ],
)
def test_the_judged_depth_ends_before_the_first_unjudged_document(fed: list[bool], depth: int) -> None:
    qrels = {1: {1: 1, 2: 0, 3: 1, 7: NOT_GRADED}, 2: {1: 0}}
    runs = [{1: documents(1, 2, 8, 3)}, {1: documents(3, 2, 1), 2: documents(1)}, {1: documents(7, 1)}, {}]
    assert judged_depth(joined(qrels, runs), grades_of(qrels), fed) == depth


# 12 / p - 1 new relevant documents at depth p, exactly: C is 12 and s is -1.
EXACT = np.array([[6, 5, 1, 2], [5, 0, 2, 0]])


def test_a_curve_that_fits_exactly_is_found_and_continued_until_it_is_0() -> None:
    found = depth_growth(EXACT, [4, 6, 20], seed=1)
    assert found.new == (11, 5, 3, 2)
    assert found.found == (11, 16, 19, 21)
    assert found.scale.value == pytest.approx(12)
    assert found.exponent.value == pytest.approx(-1)
    assert found.fitted == pytest.approx((11, 5, 3, 2))
    none, six, twenty = found.extrapolations
    assert none.new == Figure(0)
    assert (none.interval, none.interval_reason) == (None, Missing.NO_SPREAD)
    # 12/5 - 1 + 12/6 - 1; the curve is 0 at 12 and stays so.
    assert six.new.value == pytest.approx(1.4 + 1)
    assert twenty.new.value == pytest.approx(sum(12 / depth - 1 for depth in range(5, 13)))
    assert six.interval is not None
    assert 0 <= six.interval[0] < 2.4 < six.interval[1]


def test_the_same_seed_draws_the_same_topics() -> None:
    new = np.random.default_rng(1).poisson(5 / np.arange(1, 11), (20, 10))
    drawn = [depth_growth(new, [20], seed=seed) for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]


def test_a_great_depth_is_added_up_in_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    at_once = depth_growth(EXACT, [11], seed=1).extrapolations[0]
    monkeypatch.setattr(growing, "MOST_CELLS", 2000)
    in_pieces = depth_growth(EXACT, [11], seed=1).extrapolations[0]
    assert in_pieces.new.value == pytest.approx(at_once.new.value)
    assert in_pieces.interval == pytest.approx(at_once.interval)


@pytest.mark.parametrize(
    ("new", "reason"),
    [
        (np.zeros((2, 5), np.int64), Missing.NOTHING_RELEVANT),
        (np.array([[3, 2]]), Missing.FEW_DEPTHS),
        (np.zeros((0, 5), np.int64), Missing.NOTHING_RELEVANT),
        (np.zeros((2, 0), np.int64), Missing.FEW_DEPTHS),
    ],
)
def test_without_a_curve_nothing_is_continued(new: np.ndarray, reason: Missing) -> None:
    found = depth_growth(new, [10], seed=1)
    assert found.scale == found.exponent == found.extrapolations[0].new == Figure(None, reason)
    assert (found.fitted, found.extrapolations[0].interval_reason) == (None, reason)
    assert len(found.found) == new.shape[1]


def test_one_topic_or_topics_that_are_alike_give_no_interval() -> None:
    one = depth_growth(EXACT.sum(axis=0)[np.newaxis], [6], seed=1).extrapolations[0]
    assert (one.interval, one.interval_reason) == (None, Missing.ONE_TOPIC)
    alike = depth_growth(np.array([[4, 2, 1], [4, 2, 1]]), [6], seed=1).extrapolations[0]
    assert (alike.interval, alike.interval_reason) == (None, Missing.NO_SPREAD)

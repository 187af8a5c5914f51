"""A closer look at runs and topics, on rankings short enough to count by hand."""

from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.inspection.one_run import missed_topics, precision_recall, score_distribution, topic_bars
from annotator.evaluation.inspection.one_topic import difficulties, found_documents, rank_runs
from annotator.evaluation.inspection.two_runs import MovedDocument, moved_documents, topic_differences
from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.interpolated import LEVELS, interpolated_precision
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.metrics.judged_rankings import JudgedRankings
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.setting import Setting


def documents(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


def judged(rankings: Sequence[tuple[int, Sequence[int]]], qrels: Mapping[int, Mapping[int, int]]) -> JudgedRankings:
    return judge_rankings([(topic, documents(*ranking)) for topic, ranking in rankings], qrels)


def test_a_curve_has_a_point_for_each_relevant_document_and_eleven_interpolated_ones() -> None:
    # Relevant at ranks 1, 3 and 4 of four: precisions 1, 2/3 and 3/4, so that at recall 1/2 the best is 3/4.
    [curve] = precision_recall(judged([(1, [10, 90, 11, 12, 91])], {1: {10: 1, 11: 2, 12: 1, 13: 1, 90: 0}}), 1)
    assert curve.recall == (0.25, 0.5, 0.75)
    assert list(curve.precision) == [1, 2 / 3, 0.75]
    assert list(curve.interpolated) == [1, 0.75, 0.75]
    # trec_eval asks for so many relevant documents as 4 times the level is, rounded, and one at least:
    # 1 1 1 1 2 2 2 3 3 4 4; the fourth was not retrieved.
    assert list(curve.levels or ()) == [1, 1, 1, 1, 0.75, 0.75, 0.75, 0.75, 0.75, 0, 0]
    assert curve.reason is None


def test_a_curve_without_relevant_documents_says_why_there_is_none() -> None:
    curves = precision_recall(judged([(1, [1]), (2, [1]), (3, [])], {1: {1: 0}, 3: {1: 1}}), 1)
    assert [curve.reason for curve in curves] == [Missing.NOTHING_RELEVANT, Missing.NO_JUDGEMENT, None]
    assert [curve.levels for curve in curves] == [None, None, (0.0,) * 11]
    assert [curve.recall for curve in curves] == [(), (), ()]


@given(
    st.lists(st.lists(st.integers(0, 8), unique=True), min_size=1, max_size=3),
    st.dictionaries(st.integers(0, 8), st.integers(-1, 2)),
)
def test_curves_of_a_batch_are_those_of_its_rankings_alone(rankings: list[list[int]], grades: dict[int, int]) -> None:
    batch = judged([(1, ranking) for ranking in rankings], {1: grades})
    curves = precision_recall(batch, 1)
    for ranking, curve in zip(rankings, curves, strict=True):
        assert [curve] == list(precision_recall(judged([(1, ranking)], {1: grades}), 1))
    for place, level in enumerate(LEVELS):
        expected = interpolated_precision(batch, Setting(level=level)).tolist()
        assert [curve.levels[place] if curve.levels else 0 for curve in curves] == expected


VALUES = np.array([[0.5, 0.1], [0.7, 0.1], [0.2, 0.4]])  # three runs, two topics


@pytest.mark.parametrize(
    ("better", "best", "worst", "places"),
    [
        (Better.MORE, [0.7, 0.4], [0.2, 0.1], [2, 2]),
        (Better.LESS, [0.2, 0.1], [0.7, 0.4], [2, 1]),
        (Better.NEITHER, [None, None], [None, None], [None, None]),
    ],
)
def test_bars_stand_beside_the_median_and_the_best(
    better: Better, best: list[float], worst: list[float], places: list[int]
) -> None:
    bars = topic_bars(["1", "2"], VALUES, 0, better)
    assert [bar.topic for bar in bars] == ["1", "2"]
    assert [bar.median for bar in bars] == [0.5, 0.1]
    assert [bar.difference for bar in bars] == [0, 0]
    assert [bar.best for bar in bars] == best
    assert [bar.worst for bar in bars] == worst
    assert [bar.place for bar in bars] == places


def test_values_that_differ_by_rounding_alone_share_a_place() -> None:
    # As numbers of 64 bits (0.1 + 0.2) + 0.3 is more than (0.3 + 0.2) + 0.1, by the last of its digits.
    more, same = 0.1 + 0.2 + 0.3, 0.3 + 0.2 + 0.1
    assert more > same
    assert [run.place for run in rank_runs(["b", "a", "c"], np.array([more, same, 0.1]), Better.MORE)] == [1, 1, 3]
    [bar] = topic_bars(["1"], np.array([[more], [same]]), 1, Better.MORE)
    assert (bar.place, bar.best) == (1, more)
    hardness = difficulties(["1", "2"], np.array([[more, same]]), Better.MORE)
    assert [topic.place for topic in hardness] == [1, 1]


@pytest.mark.parametrize("better", list(Better))
def test_without_topics_there_are_no_bars(better: Better) -> None:
    assert topic_bars([], np.zeros((2, 0)), 1, better) == ()


def test_topics_are_missed_without_a_list_or_without_a_relevant_document() -> None:
    qrels = {1: {1: 1}, 2: {1: 1}, 3: {1: 1}, 4: {1: 0}, 5: {1: 0}}
    batch = judged([(1, [1]), (2, []), (3, [2]), (4, []), (5, [1])], qrels)
    missed = missed_topics(batch, ["1", "2", "3", "4", "5"], 1)
    assert (missed.not_returned, missed.nothing_found, missed.none_known) == (("2",), ("3",), ("4", "5"))


def test_scores_are_counted_by_what_their_documents_are() -> None:
    shown = score_distribution(np.array([4.0, 3.0, 2.0, 1.0, 0.0]), np.array([2, 0, -1, 1, -1]), 1, bins=4)
    assert list(shown.edges) == [0, 1, 2, 3, 4]
    # A score on an edge is above it, the greatest is in the last bar.
    assert list(shown.documents) == [1, 1, 1, 2]
    assert shown.relevant == (0, 1, 0, 1)
    assert shown.not_relevant == (0, 0, 0, 1)
    assert shown.unjudged == (1, 0, 1, 0)
    assert shown.quartiles == (1, 2, 3)


def test_equal_scores_are_one_bar_and_no_scores_none() -> None:
    equal = score_distribution(np.full(3, -2.5), np.array([1, 0, -1]), 1)
    assert (equal.edges, equal.documents, equal.quartiles) == ((-2.5, -2.5), (3,), (-2.5, -2.5, -2.5))
    empty = score_distribution(np.empty(0), np.empty(0, np.int16), 1)
    assert (empty.edges, empty.documents, empty.quartiles) == ((), (), None)
    assert empty.reason is Missing.NOTHING_RETURNED
    assert score_distribution(np.zeros(2), np.zeros(2, np.int16), 1).edges == (0, 0)


@given(
    st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=30),
    st.integers(1, 5),
)
def test_no_score_is_lost_however_far_apart_they_are(scores: list[float], bins: int) -> None:
    shown = score_distribution(np.array(scores), np.zeros(len(scores), np.int16), 1, bins=bins)
    assert sum(shown.documents) == sum(shown.not_relevant) == len(scores)
    assert len(shown.edges) == len(shown.documents) + 1 <= bins + 1
    assert np.isfinite(shown.edges).all()
    assert list(shown.edges) == sorted(shown.edges)


def test_runs_of_a_topic_stand_best_first_and_equals_share_a_place() -> None:
    ranked = rank_runs(["run10", "run9", "best"], np.array([0.2, 0.2, 0.9]), Better.MORE)
    assert [(run.tag, run.value, run.place) for run in ranked] == [
        ("best", 0.9, 1),
        ("run9", 0.2, 2),
        ("run10", 0.2, 2),
    ]
    reverse = rank_runs(["a", "b"], np.array([3.0, 1.0]), Better.LESS)
    assert [(run.tag, run.place) for run in reverse] == [("b", 1), ("a", 2)]
    neither = rank_runs(["b", "a"], np.array([3.0, 1.0]), Better.NEITHER)
    assert [(run.tag, run.place) for run in neither] == [("a", None), ("b", None)]


def test_a_topic_is_hard_when_its_median_is_low() -> None:
    values = np.array([[0.0, 0.5], [0.1, 0.6], [0.2, 0.7], [0.3, 0.8], [0.4, 0.9]])
    hard, easy = difficulties(["1", "2"], values, Better.MORE)
    assert (hard.place, easy.place) == (1, 2)
    assert hard.median == Figure(0.2)
    assert (hard.least, hard.greatest) == (Figure(0), Figure(0.4))
    assert hard.spread.value == pytest.approx(0.3 - 0.1)
    # Deviations from 0.2 are 0.2, 0.1, 0, 0.1, 0.2; their squares add up to 0.1, over four.
    assert hard.deviation.value == pytest.approx(0.025**0.5)
    assert [one.place for one in difficulties(["1", "2"], values, Better.LESS)] == [2, 1]
    assert [one.place for one in difficulties(["1", "2"], values, Better.NEITHER)] == [None, None]


def test_one_run_alone_says_nothing_of_the_spread() -> None:
    one, other = difficulties(["1", "2"], np.array([[0.5, 0.1]]), Better.MORE)
    assert (one.median, other.median) == (Figure(0.5), Figure(0.1))
    assert one.spread == one.deviation == Figure(None, Missing.ONE_RUN)
    [none] = difficulties(["1"], np.zeros((0, 1)), Better.MORE)
    assert none.median == none.spread == Figure(None, Missing.NO_RUN)
    assert difficulties([], np.zeros((2, 0)), Better.MORE) == ()


RANKINGS = [documents(1, 2, 3), documents(2, 1, 9), documents(4, 1), documents()]
TAGS, TEAMS = ["a1", "a2", "b1", "c1"], ["a", "a", "b", "c"]
GRADES = {1: 1, 2: 2, 3: 1, 4: 1, 5: 1, 9: 0}


def test_relevant_documents_say_who_found_them() -> None:
    found = found_documents(RANKINGS, TAGS, TEAMS, GRADES, 1)
    rows = [(one.document, one.grade, one.runs, one.teams, one.best_rank) for one in found.documents]
    assert rows == [
        (2, 2, ("a1", "a2"), ("a",), 1),
        (5, 1, (), (), None),
        (3, 1, ("a1",), ("a",), 3),
        (4, 1, ("b1",), ("b",), 1),
        (1, 1, ("a1", "a2", "b1"), ("a", "b"), 1),
    ]
    assert found.by_grade == {2: 1, 1: 4}
    assert found.by_runs == {0: 1, 1: 2, 2: 1, 3: 1}
    assert found.unique == {"a": 2, "b": 1}
    assert list(found.unique) == ["a", "b"]


def test_only_the_depth_that_is_looked_at_counts() -> None:
    found = found_documents(RANKINGS, TAGS, TEAMS, GRADES, 1, depth=1)
    assert {one.document: one.runs for one in found.documents} == {2: ("a2",), 5: (), 3: (), 4: ("b1",), 1: ("a1",)}
    assert found_documents(RANKINGS, TAGS, TEAMS, {9: 0}, 1).documents == ()
    assert found_documents([], [], [], {1: 1}, 1).by_runs == {0: 1}


def test_topics_stand_by_difference() -> None:
    differences = topic_differences(["1", "2", "3", "4"], np.array([0.5, 0.9, 0, 0.5]), np.array([0.5, 0.4, 0.8, 0.5]))
    assert [(one.topic, one.difference) for one in differences.topics] == [("3", 0.8), ("1", 0), ("4", 0), ("2", -0.5)]
    assert (differences.first_higher, differences.equal, differences.second_higher) == (1, 2, 1)
    assert topic_differences([], np.empty(0), np.empty(0)).topics == ()


def test_documents_that_one_run_has_high_and_the_other_low_come_first() -> None:
    moved = moved_documents(documents(1, 2, 3, 4), documents(4, 2, 5), {1: 2, 4: 0, 5: -1}, top=3)
    # Document 1 would be the fourth of the second run, 5 the fifth of the first; 2 is at the same rank in both.
    assert moved == (
        MovedDocument(1, 2, 1, None, 3),
        MovedDocument(4, 0, 4, 1, -3),
        MovedDocument(5, None, None, 3, -2),
        MovedDocument(3, None, 3, None, 1),
    )
    assert [one.first_has_it_higher for one in moved] == [True, False, False, True]
    assert [one.document for one in moved_documents(documents(1, 2), documents(3), {}, top=1)] == [3, 1]
    assert moved_documents(documents(), documents(), {}, top=10) == ()


@given(*[st.lists(st.integers(0, 12), unique=True).map(lambda numbers: documents(*numbers))] * 2, st.integers(1, 12))
def test_turning_two_runs_round_turns_the_gaps_round(first: np.ndarray, second: np.ndarray, top: int) -> None:
    one_way = {moved.document: moved.gap for moved in moved_documents(first, second, {}, top=top)}
    other_way = {moved.document: -moved.gap for moved in moved_documents(second, first, {}, top=top)}
    assert one_way == other_way
    assert set(one_way) <= {*first[:top].tolist(), *second[:top].tolist()}

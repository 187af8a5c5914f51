"""Runs scored by anyone's grades after one joining, against the scoring of the leaderboard."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, RegradedRuns, Scoring, values_to_rank
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.metrics.scoring import score_runs

NUMBERS = {7: "2", 8: "10", 9: "1"}
LISTS = st.lists(st.integers(0, 9), unique=True, max_size=8).map(lambda documents: np.array(documents, np.int32))
RUNS = st.lists(st.dictionaries(st.sampled_from([7, 8, 9]), LISTS), min_size=1, max_size=3)
GRADES = st.dictionaries(
    st.sampled_from([7, 8, 9]), st.dictionaries(st.integers(0, 9), st.integers(NOT_GRADED, 3), min_size=1), min_size=1
)


@given(RUNS, GRADES, st.sampled_from(["nDCG@10", "AP", "P@2", "Bpref", "infAP", "NumRelRet"]))
def test_scores_are_those_of_the_leaderboard(
    runs: list[dict[int, np.ndarray]], grades: dict[int, dict[int, int]], name: str
) -> None:
    items = {10 * topic + document: (topic, document) for topic in grades for document in grades[topic]}
    joined, place = RegradedRuns.join_items(runs, items, NUMBERS)
    given_grades = np.full(len(items), NOT_GRADED)
    for item, (topic, document) in items.items():
        given_grades[place[item]] = grades[topic][document]
    qrels = {topic: {d: g for d, g in of_topic.items() if g >= 0} for topic, of_topic in grades.items()}
    qrels = {topic: of_topic for topic, of_topic in qrels.items() if of_topic}
    scored = joined.score(given_grades, Scoring(parse_measure(name), 2, 3))
    assert [joined.topics[topic] for topic in scored.topics] == sorted(NUMBERS[topic] for topic in qrels)
    if qrels:
        expected = score_runs(runs, qrels, NUMBERS, [parse_measure(name)], 2, 3)
        assert scored.values.tolist() == expected.values[:, :, 0].tolist()
        assert joined.means(given_grades, Scoring(parse_measure(name), 2, 3)).tolist() == expected.means[:, 0].tolist()


@pytest.mark.parametrize(("measure", "order"), [("P@2", [0.5, 1]), ("FP", [-0.5, -1]), ("NumRet", [0, 0])])
def test_the_order_is_by_which_values_are_better(measure: str, order: list[float]) -> None:
    assert Scoring(parse_measure(measure), 1, 3).order(np.array([0.5, 1])).tolist() == order


def test_runs_are_scored_anew_whatever_was_scored_before() -> None:
    runs = [{7: np.array([1, 2], np.int32)}, {7: np.array([2, 1], np.int32)}]
    joined, _ = RegradedRuns.join_items(runs, {1: (7, 1), 2: (7, 2)}, NUMBERS)
    scoring = Scoring(parse_measure("P@1"), 1, 3)
    # Of two entries each is graded, then the other way round, then the second alone.
    for grades, means in (([1, 0], [1, 0]), ([0, 1], [0, 1]), ([NOT_GRADED, 1], [0, 1]), ([1, 0], [1, 0])):
        assert joined.means(np.array(grades), scoring).tolist() == means


def test_means_of_the_same_values_in_another_order_are_ranked_as_equal() -> None:
    means = np.array([(0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3, 0.2 + 1e-9])
    ranked = values_to_rank(parse_measure("P@10"), means)
    assert means[0] != means[1]
    assert ranked[0] == ranked[1] < ranked[2]

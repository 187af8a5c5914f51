"""Runs joined with states of the qrels by the numbers of the database."""

import numpy as np

from annotator.evaluation.leaderboard.graded_runs import (
    GradedRuns,
    QrelsState,
    documents_by_topic,
    state_of,
)
from annotator.evaluation.leaderboard.rescoring import NOT_GRADED, Scoring
from annotator.evaluation.metrics.names import parse_measure
from annotator.evaluation.runs.rankings import encode_documents

# Topic 7 is the second by its number; run one → 7: 30 31, 8: 40; run two → 7: 31.
NUMBERS = {7: "B", 8: "A"}
LISTS = [
    {7: encode_documents(np.array([30, 31], np.int32)), 8: encode_documents(np.array([40], np.int32))},
    {7: encode_documents(np.array([31], np.int32))},
]


def test_each_state_has_its_own_grades_of_the_same_documents() -> None:
    joined = GradedRuns.join(LISTS, [{(7, 30): 1, (8, 40): 0}, {(7, 31): 2}], NUMBERS)
    assert joined.runs.topics == ("A", "B")
    assert joined.place == {(8, 40): 0, (7, 30): 1, (7, 31): 2}
    assert [grades.tolist() for grades in joined.grades] == [[0, 1, NOT_GRADED], [NOT_GRADED, NOT_GRADED, 2]]
    scoring = Scoring(parse_measure("P@1"), relevant_from=1, best_grade=2)
    # By the first state topics A and B count, of which run one has one right; by the second only B, where two does.
    assert [joined.runs.means(grades, scoring).tolist() for grades in joined.grades] == [[0.5, 0], [0, 1]]


def test_sources_have_what_is_graded_and_nothing_else() -> None:
    joined = GradedRuns.join(LISTS, [{(7, 30): 1, (7, 31): 0}], NUMBERS)
    finds = [((7, 30), 0), ((7, 31), 0), ((7, 31), 1), ((7, 31), 1), ((7, 99), 1)]
    assert joined.contributions(finds, ("red", "blue")).has.tolist() == [[True, True], [False, True]]
    assert joined.contributions([], ("red",)).has.tolist() == [[False, False]]


def test_a_state_is_counted_and_named_in_every_row() -> None:
    state = state_of("3", "majority", {(7, 30): 1, (7, 31): 0, (8, 40): 2})
    assert state == QrelsState("3", "majority", grades=3, topics=2)
    assert state.beside(("run",), [["alpha"]], "AP") == (
        ["run", "measure", "qrels", "policy", "grades", "qrels_topics"],
        [["alpha", "AP", "3", "majority", 3, 2]],
    )
    assert state.beside(("run",), [["alpha"]])[1] == [["alpha", "3", "majority", 3, 2]]


def test_documents_are_gathered_by_topic_also_where_there_are_none() -> None:
    gathered = documents_by_topic([(7, 31), (7, 30)], [7, 8])
    assert {topic: documents.tolist() for topic, documents in gathered.items()} == {7: [31, 30], 8: []}

"""RBP's intervals: as published, and by hand."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.metrics.join_qrels import judge_rankings
from annotator.evaluation.reusability.rbp_intervals import rbp_intervals


def documents(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


# The ranking of Moffat and Zobel, TOIS 2008: $ is relevant, ? unjudged. $$---$----$-??--?---
MOFFAT_ZOBEL = dict.fromkeys(range(1, 21), 0) | {1: 1, 2: 1, 6: 1, 11: 1}
FOR_MOFFAT_ZOBEL = {document: grade for document, grade in MOFFAT_ZOBEL.items() if document not in {13, 14, 17}}


@pytest.mark.parametrize(
    ("persistence", "low", "residual", "high"),
    [(0.5, "0.7661", "0.0002", "0.7663"), (0.8, "0.4470", "0.0419", "0.4889"), (0.95, "0.1661", "0.4332", "0.5993")],
)
def test_the_intervals_of_moffat_and_zobel(persistence: float, low: str, residual: str, high: str) -> None:
    judged = judge_rankings([(1, np.arange(1, 21, dtype=np.int32))], {1: FOR_MOFFAT_ZOBEL})
    [run] = rbp_intervals(judged, ["a"], 1, persistence=persistence).runs
    assert [f"{figure.value:.4f}" for figure in (run.low, run.residual, run.high)] == [low, residual, high]


def test_pairs_are_settled_when_their_intervals_lie_apart() -> None:
    # With p = 1/2: a relevant first document 1/2 and 1/4 may follow, as its second is judged; unjudged at the first
    # rank may be 1/2, and all that is not there may be 1/4 more.
    qrels = {1: {1: 1, 2: 0}}
    rankings = [documents(1, 2), documents(9, 2), documents(2, 8), documents()]
    judged = judge_rankings([(1, ranking) for ranking in rankings], qrels)
    found = rbp_intervals(judged, ["a", "b", "c", "d"], 1, persistence=0.5)
    assert [(run.low.value, run.high.value) for run in found.runs] == [(0.5, 0.75), (0, 0.75), (0, 0.5), (0, 1)]
    assert found.low.shape == found.high.shape == (4, 1)
    assert found.settled_pairs == Figure(0)
    # Here the second run has two that are not relevant and can reach 1/4 at most.
    apart = judge_rankings([(1, documents(1, 2)), (1, documents(2, 3))], {1: {1: 1, 2: 0, 3: 0}})
    assert rbp_intervals(apart, ["a", "b"], 1, persistence=0.5).settled_pairs == Figure(1)


@pytest.mark.parametrize(
    ("tags", "topics", "reason"),
    [([], 0, Missing.NO_RUN), (["a"], 1, Missing.ONE_RUN), (["a", "b"], 0, Missing.NO_TOPIC)],
)
def test_pairs_that_do_not_exist_are_not_settled(tags: list[str], topics: int, reason: Missing) -> None:
    judged = judge_rankings([(1, documents(1)) for _ in tags for _ in range(topics)], {1: {1: 1}})
    found = rbp_intervals(judged, tags, 1)
    assert found.settled_pairs == Figure(None, reason)
    assert all(run.residual.reason is (None if topics else Missing.NO_TOPIC) for run in found.runs)


@given(st.lists(st.integers(0, 9), unique=True), st.dictionaries(st.integers(0, 9), st.integers(0, 1)), st.data())
def test_the_interval_has_the_value_by_any_further_judgements(
    ranking: list[int], grades: dict[int, int], data: st.DataObject
) -> None:
    more = {document: data.draw(st.integers(0, 1)) for document in range(10)} | grades
    found = []
    for known in (grades, more):
        judged = judge_rankings([(1, documents(*ranking))], {1: known})
        found.append(rbp_intervals(judged, ["a"], 1).runs[0])
    before, after = ((run.low.value or 0, run.high.value or 0) for run in found)
    assert before[0] - 1e-12 <= after[0] <= after[1] <= before[1] + 1e-12

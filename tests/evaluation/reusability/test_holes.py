"""Holes and what would fill them, and runs of a later round without what was judged before."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.leaderboard.collection_figures import Missing
from annotator.evaluation.leaderboard.scoring_scope import residual_qrels, residual_runs
from annotator.evaluation.metrics.figures import Figure
from annotator.evaluation.reusability.holes import RunHoles, find_holes


def documents(*numbers: int) -> np.ndarray:
    return np.array(numbers, np.int32)


RUNS = [{1: documents(1, 2, 3, 4), 2: documents(7)}, {1: documents(5, 3, 1)}, {}]
JUDGED = {1: documents(1, 4), 2: documents()}


def test_holes_are_counted_at_every_depth() -> None:
    holes = find_holes(["a", "b", "c"], RUNS, JUDGED, depths=[1, 3])
    assert holes.runs == (
        (RunHoles("a", 1, 2, 1, 1), RunHoles("a", 3, 4, 3, 2)),
        (RunHoles("b", 1, 1, 1, 1), RunHoles("b", 3, 3, 2, 1)),
        (RunHoles("c", 1, 0, 0, 0), RunHoles("c", 3, 0, 0, 0)),
    )
    assert holes.runs[0][1].share == Figure(0.75)
    assert holes.runs[2][0].share == Figure(None, Missing.NOTHING_RETURNED)


def test_holes_together_are_the_next_candidates_the_highest_first() -> None:
    holes = find_holes(["a", "b", "c"], RUNS, JUDGED, depths=[1, 2, 3])
    assert {topic: found.tolist() for topic, found in holes.candidates(1).items()} == {1: [5], 2: [7]}
    # Documents 2 and 3 are second at best; at depth 3 two runs have document 3, at depth 2 one.
    assert holes.candidates(2)[1].tolist() == [5, 2, 3]
    assert holes.candidates(3)[1].tolist() == [5, 3, 2]
    with pytest.raises(InvalidValueError, match="depth 4"):
        holes.candidates(4)


def test_without_runs_or_topics_there_are_no_holes() -> None:
    assert find_holes([], [], JUDGED).candidates(10) == {}
    nothing = find_holes(["a"], [{1: documents(1)}], {})
    assert nothing.candidates(100) == {}
    assert [hole.unjudged for hole in nothing.runs[0]] == [0, 0, 0]
    with pytest.raises(InvalidValueError, match="not 0"):
        find_holes(["a"], RUNS[:1], JUDGED, depths=[10, 0])


RANKINGS = st.lists(st.integers(0, 20), unique=True, max_size=12).map(lambda numbers: documents(*numbers))


@given(
    st.lists(st.dictionaries(st.sampled_from([1, 2]), RANKINGS), max_size=4),
    st.dictionaries(st.sampled_from([1, 2]), RANKINGS),
    st.integers(1, 12),
)
def test_candidates_are_exactly_what_is_unjudged_in_some_top(
    runs: list[dict[int, np.ndarray]], judged: dict[int, np.ndarray], depth: int
) -> None:
    holes = find_holes([str(place) for place in range(len(runs))], runs, judged, depths=[depth, 12])
    unjudged = {
        topic: {document for run in runs for document in run.get(topic, documents())[:depth].tolist()} - {*known}
        for topic, known in judged.items()
    }
    found = holes.candidates(depth)
    assert {topic: set(some.tolist()) for topic, some in found.items()} == {
        t: some for t, some in unjudged.items() if some
    }
    for run, (counted, _) in zip(runs, holes.runs, strict=True):
        tops = [set(run[topic][:depth].tolist()) - set(judged[topic].tolist()) for topic in run if topic in judged]
        assert counted.unjudged == sum(map(len, tops))


def test_what_was_judged_before_is_taken_out_of_runs_and_qrels() -> None:
    runs = [{1: documents(1, 2, 3), 2: documents(5)}, {1: documents(9, 3)}, {}]
    before = {1: documents(1, 3), 3: documents(7)}
    found = residual_runs(runs, before)
    left = [{topic: ranking.tolist() for topic, ranking in run.items()} for run in found.runs]
    assert left == [{1: [2], 2: [5]}, {1: [9]}, {}]
    assert found.removed == (2, 1, 0)
    assert residual_qrels({1: {1: 1, 2: 1, 3: 0}, 2: {5: 1}, 3: {7: 2}}, before) == {1: {2: 1}, 2: {5: 1}}
    assert residual_runs([], before).runs == ()


@given(RANKINGS, RANKINGS)
def test_what_is_left_keeps_its_order(ranking: np.ndarray, before: np.ndarray) -> None:
    found = residual_runs([{1: ranking}], {1: before})
    assert found.runs[0][1].tolist() == [one for one in ranking.tolist() if one not in before.tolist()]
    assert found.removed == (ranking.size - found.runs[0][1].size,)

"""Two states of qrels compared."""

import pytest

from annotator.evaluation.leaderboard.qrels_difference import (
    GradeChange,
    GradeChangeKind,
    RunDifference,
    TopicDifference,
    grade_changes,
    run_differences,
    topic_differences,
)
from annotator.evaluation.metrics.names import parse_measure

AP = parse_measure("AP")
BEFORE = {("10", "a"): 1, ("10", "b"): 0, ("2", "a"): 2, ("2", "c"): 1}
AFTER = {("10", "a"): 1, ("10", "b"): 2, ("2", "a"): 2, ("3", "x"): 0}


def test_every_grade_that_differs_is_named_with_what_became_of_it() -> None:
    changes = grade_changes(BEFORE, AFTER)
    assert changes == [
        GradeChange("2", "c", 1, None),
        GradeChange("3", "x", None, 0),
        GradeChange("10", "b", 0, 2),
    ]
    assert [change.kind for change in changes] == [
        GradeChangeKind.REMOVED,
        GradeChangeKind.ADDED,
        GradeChangeKind.CHANGED,
    ]
    assert grade_changes(BEFORE, BEFORE) == []


def test_topics_count_what_became_of_their_grades() -> None:
    assert topic_differences(BEFORE, AFTER) == [
        TopicDifference("2", same=1, changed=0, added=0, removed=1),
        TopicDifference("3", same=0, changed=0, added=1, removed=0),
        TopicDifference("10", same=1, changed=1, added=0, removed=0),
    ]


def test_runs_of_equal_value_share_the_best_of_their_ranks() -> None:
    runs, _ = run_differences(["u", "v", "w"], [0.5, 0.5, 0.1], [0.2, 0.3, 0.1], AP)
    assert runs == [
        RunDifference("v", 0.5, 0.3, 1, 1),
        RunDifference("u", 0.5, 0.2, 1, 2),
        RunDifference("w", 0.1, 0.1, 3, 3),
    ]


def test_runs_whose_means_differ_only_by_how_they_were_summed_up_are_equal() -> None:
    # (0.1 + 0.2 + 0.3) / 3 is 0.2 and (0.3 + 0.2 + 0.1) / 3 is 0.20000000000000004 or the like.
    before = [(0.1 + 0.2 + 0.3) / 3, (0.3 + 0.2 + 0.1) / 3, 0.1]
    assert before[0] != before[1]
    runs, tau = run_differences(["u", "v", "w"], before, before, AP)
    assert [(run.tag, run.rank_before, run.rank_after) for run in runs] == [("u", 1, 1), ("v", 1, 1), ("w", 3, 3)]
    assert tau == 1.0


def test_rankings_are_compared_where_there_is_an_order() -> None:
    before, after = [0.1, 0.2, 0.3], [0.1, 0.3, 0.2]
    assert run_differences(["u", "v", "w"], before, after, AP)[1] == pytest.approx(1 / 3)  # 2 pairs of 3 stand, 1 turns
    assert run_differences(["u", "v", "w"], before, after, parse_measure("NumRet"))[1] is None


def test_where_less_is_better_the_least_is_first_and_where_neither_is_all_are() -> None:
    before, after = [1.0, 2.0], [3.0, 1.0]
    less, _ = run_differences(["u", "v"], before, after, parse_measure("FP"))
    assert [(run.tag, run.rank_after) for run in less] == [("v", 1), ("u", 2)]
    neither, _ = run_differences(["u", "v"], before, after, parse_measure("NumRet"))
    assert [run.rank_after for run in neither] == [1, 1]

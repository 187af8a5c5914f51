"""Two states of qrels compared."""

from annotator.evaluation.qrels_difference import (
    GradeChange,
    Kind,
    RunDifference,
    TopicDifference,
    grade_changes,
    run_differences,
    topic_differences,
)

BEFORE = {("10", "a"): 1, ("10", "b"): 0, ("2", "a"): 2, ("2", "c"): 1}
AFTER = {("10", "a"): 1, ("10", "b"): 2, ("2", "a"): 2, ("3", "x"): 0}


def test_every_grade_that_differs_is_named_with_what_became_of_it() -> None:
    changes = grade_changes(BEFORE, AFTER)
    assert changes == [
        GradeChange("2", "c", 1, None),
        GradeChange("3", "x", None, 0),
        GradeChange("10", "b", 0, 2),
    ]
    assert [change.kind for change in changes] == [Kind.REMOVED, Kind.ADDED, Kind.CHANGED]
    assert grade_changes(BEFORE, BEFORE) == []


def test_topics_count_what_became_of_their_grades() -> None:
    assert topic_differences(BEFORE, AFTER) == [
        TopicDifference("2", same=1, changed=0, added=0, removed=1),
        TopicDifference("3", same=0, changed=0, added=1, removed=0),
        TopicDifference("10", same=1, changed=1, added=0, removed=0),
    ]


def test_runs_of_equal_value_share_the_best_of_their_ranks() -> None:
    assert run_differences(["u", "v", "w"], [0.5, 0.5, 0.1], [0.2, 0.3, 0.1], sign=1) == [
        RunDifference("v", 0.5, 0.3, 1, 1),
        RunDifference("u", 0.5, 0.2, 1, 2),
        RunDifference("w", 0.1, 0.1, 3, 3),
    ]


def test_where_less_is_better_the_least_is_first_and_where_neither_is_all_are() -> None:
    assert [run.rank_after for run in run_differences(["u", "v"], [1, 2], [3, 1], sign=-1)] == [1, 2]
    assert [run.tag for run in run_differences(["u", "v"], [1, 2], [3, 1], sign=-1)] == ["v", "u"]
    assert [run.rank_after for run in run_differences(["u", "v"], [1, 2], [3, 1], sign=0)] == [1, 1]

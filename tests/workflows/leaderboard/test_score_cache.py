"""The cache of scores: what it keeps, how much of it, and who waits for whom."""

from collections import OrderedDict
from dataclasses import replace

import numpy as np

from annotator.evaluation.leaderboard.leaderboard import Leaderboard
from annotator.evaluation.leaderboard.topic_scores import Grading, score_topics
from annotator.evaluation.metrics.measures import Better
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.qrels.graded_topic import GradedTopic
from annotator.workflows.leaderboard.leaderboard import USUAL_VIEW
from annotator.workflows.leaderboard.score_cache import (
    CachedRuns,
    CachedScores,
    GradedTopics,
    ScoreCache,
    add_scores,
)

BOARD = Leaderboard(
    measures=("AP",),
    judged_by=(None,),
    sorted_by="AP",
    better=Better.MORE,
    rows=(),
    topics=("1",),
    topics_left_out=0,
    topics_dropped=(),
    grades=1,
    source="live",
    policy="majority",
    relevant_from=1,
    fingerprint="",
    disputed_left_out=0,
    view=USUAL_VIEW,
    compat="10",
    letters_reason=None,
    notices=(),
)


def graded(*topics: int) -> dict[int, GradedTopic]:
    return {topic: GradedTopic.of({topic: 1}) for topic in topics}


def test_only_topics_under_another_mark_are_stale() -> None:
    kept = GradedTopics()
    assert kept.stale({1: "a", 2: "a"}) == [1, 2]
    first = kept.renew({1: "a", 2: "a"}, graded(1, 2))
    assert kept.stale({1: "a", 2: "b"}) == [2]
    assert kept.earlier([2, 3]) == {2: ("a", first[2])}
    second = kept.renew({1: "a", 2: "b"}, graded(2))
    assert first[1] is second[1]
    assert first[2] is not second[2]


def test_a_topic_without_a_mark_is_forgotten() -> None:
    kept = GradedTopics()
    kept.renew({1: "a", 2: "a"}, graded(1, 2))
    assert kept.renew({1: "a"}, {}).keys() == {1}
    assert kept.stale({1: "a", 2: "a"}) == [2]


def test_an_older_mark_is_as_stale_as_a_newer_one() -> None:
    kept = GradedTopics()
    kept.renew({1: 2}, graded(1))
    assert kept.stale({1: 1}) == [1]
    assert kept.stale({1: 3}) == [1]


def test_other_runs_leave_nothing_of_the_old_ones() -> None:
    cache = ScoreCache()
    before = cache.of(1, None, ("alpha",))
    assert cache.of(1, None, ("alpha",)) is before
    assert cache.of(1, None, ("alpha", "beta")) is not before


def test_of_the_sets_of_runs_of_a_view_the_last_two_are_kept() -> None:
    cache = ScoreCache()
    first, second = (cache.of(1, None, runs) for runs in (("alpha",), ("alpha", "beta")))
    other_view = cache.of(1, "round 1", ("alpha",))
    cache.of(1, None, ("alpha", "beta", "gamma"))
    assert cache.of(1, None, ("alpha", "beta")) is second
    assert cache.of(1, "round 1", ("alpha",)) is other_view
    assert cache.of(1, None, ("alpha",)) is not first


def test_lists_that_another_set_of_runs_has_are_not_loaded() -> None:
    cache = ScoreCache()
    first, second = cache.of(1, None, "before", (7,)), cache.of(1, None, "after", (7, 8))
    lists = {run: np.array([run], np.int32) for run in (7, 8)}
    assert first.missing_lists([1]) == {(7,): {1: {}}}
    first.add_lists((7,), {1: {}}, {1: [lists[7]]})
    [(runs, known)] = second.missing_lists([1]).items()
    assert (runs, list(known)) == ((8,), [1])
    second.add_lists(runs, known, {1: [lists[8]]})
    assert [one is other for one, other in zip(second.lists[1], lists.values(), strict=True)] == [True, True]
    assert second.missing_lists([1]) == {}


def test_of_many_leaderboards_those_used_last_are_kept() -> None:
    kept = CachedRuns()
    for key in range(100):
        kept.keep_board(key, "state", BOARD)
    assert list(kept.boards) == list(range(76, 100))
    assert kept.find_board(76, "state") is BOARD
    kept.keep_board(100, "state", BOARD)
    assert 76 in kept.boards
    assert 77 not in kept.boards


def test_of_each_request_only_the_leaderboard_of_the_latest_state_is_kept() -> None:
    kept, later = CachedRuns(), replace(BOARD, grades=2)
    kept.keep_board("AP", "before", BOARD)
    assert kept.find_board("AP", "after") is None
    kept.keep_board("AP", "after", later)
    assert kept.find_board("AP", "after") is later
    assert kept.find_board("AP", "before") is None
    assert len(kept.boards) == 1


def test_the_measures_used_last_are_kept_and_no_more_than_64() -> None:
    measures = parse_measures([f"P@{depth}" for depth in range(1, 101)])
    topics, lists = {1: GradedTopic.of({1: 1})}, {1: [np.array([1, 2], np.int32)]}
    kept: dict[int, CachedScores] = {1: OrderedDict()}
    for measure in measures:
        # The first is requested each time, and so is never the one used longest ago.
        used = [measures[0], measure]
        add_scores(kept, score_topics(topics, kept, lists, 1, used, Grading(1, 2)), used)
    assert set(kept[1]) == {measures[0], *measures[-63:]}
    add_scores(kept, score_topics(topics, kept, lists, 1, measures[:70], Grading(1, 2)), measures[:70])
    assert set(kept[1]) == set(measures[:70])


def test_a_request_for_one_collection_waits_for_no_request_for_another() -> None:
    cache = ScoreCache()
    with cache.of(1, None, ("alpha",)).lock:
        assert not cache.lock.locked()
        assert cache.of(2, None, ("alpha",)).lock.acquire(blocking=False)
        assert cache.of(1, None, ("alpha", "beta")).lock.acquire(blocking=False)


def test_views_under_earlier_marks_push_out_no_other_view() -> None:
    cache = ScoreCache()
    other = cache.of(2, None, "state")
    whole = cache.of(1, None, "state")
    for mark in range(10):
        cache.of(1, "round 1", "state", mark=mark)
    assert cache.of(2, None, "state") is other
    assert cache.of(1, None, "state") is whole


def test_a_round_is_kept_under_two_marks_the_present_one_and_that_of_released_scores() -> None:
    cache = ScoreCache()
    released, dead = (cache.of(1, "round 1", "state", mark=mark) for mark in ("then", "before"))
    assert cache.of(1, "round 1", "state", mark="then") is released
    present = cache.of(1, "round 1", "state", mark="now")
    assert cache.of(1, "round 1", "state", mark="then") is released
    assert cache.of(1, "round 1", "state", mark="now") is present
    assert cache.of(1, "round 1", "state", mark="before") is not dead

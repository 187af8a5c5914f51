"""What differing judges do to the ranking of runs, on collections small enough to rank by hand."""

from collections.abc import Callable, Mapping

import numpy as np
import pytest

from annotator.evaluation.agreement.judge_effect import (
    MOST_ORDERS,
    GivenGrades,
    Swap,
    compare,
    count_differing,
    grades_of_items,
    judges_in_common,
    mix_judges,
    steps_of_mixing,
)
from annotator.evaluation.leaderboard.rescoring import RegradedRuns, Scoring
from annotator.evaluation.metrics.names import parse_measure

# Precision at 1 over two topics: a run's value is half of how many of its two first documents are relevant.
SCORING = Scoring(parse_measure("P@1"), 1, 1)
# By tag, the first document of topic 1 and that of topic 2.
FIRSTS = {"one": (11, 21), "two": (12, 21), "three": (11, 22), "four": (13, 23)}
NUMBERS = {1: "1", 2: "2"}


def joined(given: Mapping[str, Mapping[int, int]]) -> tuple[RegradedRuns, GivenGrades]:
    """The runs and what judges say: by judge, document → grade; the document's tens are its topic."""
    items = {document: (document // 10, document) for grades in given.values() for document in grades}
    runs = [
        {topic: np.array([document], np.int32) for topic, document in enumerate(firsts, start=1)}
        for firsts in FIRSTS.values()
    ]
    joined_runs, place = RegradedRuns.join_items(runs, items, NUMBERS)
    documents = [document for grades in given.values() for document in grades]
    judges = [judge for judge, grades in given.items() for _ in grades]
    said = [grade for grades in given.values() for grade in grades.values()]
    return joined_runs, GivenGrades.of_columns(documents, judges, said, place)


def steps() -> tuple[list[None], Callable[[], None]]:
    """A list that grows with every call of the function beside it."""
    done: list[None] = []
    return done, lambda: done.append(None)


ANA = {11: 1, 12: 0, 13: 0, 21: 1, 22: 0, 23: 0}
BEN = {11: 1, 12: 0, 13: 0, 21: 0, 22: 1, 23: 0}


def test_runs_are_scored_under_each_of_two_judges_alone() -> None:
    runs, given = joined({"ana": ANA, "ben": BEN})
    comparison = compare(tuple(FIRSTS), runs, given.of_name("ana"), given.of_name("ben"), SCORING)
    assert comparison is not None
    assert (comparison.documents, comparison.topics) == (6, 2)
    # Ana: one has both right, two and three one each. Ben: three has both, one has one, two none.
    assert list(comparison.first) == [1, 0.5, 0.5, 0]
    assert list(comparison.second) == [0.5, 0, 1, 0]
    assert list(comparison.first_places) == [1, 2, 2, 4]
    assert list(comparison.second_places) == [2, 3, 1, 3]
    # Ana's order is one, three, two (by name), four; for Ben three is above one.
    assert comparison.swaps == (Swap("one", "three"),)
    # Of six pairs: ana ties two-three; ben ties two-four. one-two and one-four, three-four alike; one-three differs;
    # so (3 - 1) / sqrt(5 * 5).
    assert comparison.similarity.tau == pytest.approx(2 / 5)
    assert comparison.by_place(tuple(FIRSTS))[0] == ("one", 1, 0.5, 1, 2)


def test_only_documents_that_both_graded_count() -> None:
    runs, given = joined({"ana": ANA, "ben": {11: 1, 12: 1}})
    comparison = compare(tuple(FIRSTS), runs, given.of_name("ana"), given.of_name("ben"), SCORING)
    assert comparison is not None
    assert (comparison.documents, comparison.topics) == (2, 1)
    assert list(comparison.first) == [1, 0, 1, 0]
    assert list(comparison.second) == [1, 1, 1, 0]


def test_judges_with_nothing_in_common_are_not_compared() -> None:
    runs, given = joined({"ana": {11: 1}, "ben": {12: 1}})
    assert compare(tuple(FIRSTS), runs, given.of_name("ana"), given.of_name("ben"), SCORING) is None
    assert judges_in_common(given) == []
    _, advance = steps()
    assert mix_judges(tuple(FIRSTS), runs, given, SCORING, draws=10, seed=1, advance=advance) is None
    assert steps_of_mixing(runs, given) == 0


def test_pairs_of_judges_stand_by_what_they_have_in_common() -> None:
    _, given = joined({"ana": ANA, "ben": {11: 1}, "cat": {11: 1, 12: 1}})
    assert judges_in_common(given) == [(0, 2, 2), (0, 1, 1), (1, 2, 1)]


def test_mixtures_draw_a_judge_for_each_topic() -> None:
    runs, given = joined({"ana": ANA, "ben": BEN})
    done, advance = steps()
    mixture = mix_judges(tuple(FIRSTS), runs, given, SCORING, draws=400, seed=3, advance=advance)
    assert mixture is not None
    assert len(done) == steps_of_mixing(runs, given) == 3
    # The judges agree on topic 1 and differ on topic 2: one is 1 by ana and 0.5 by ben, three the other way round.
    by_tag = {run.tag: run for run in mixture.runs}
    assert (by_tag["one"].low, by_tag["one"].high) == (0.5, 1)
    assert (by_tag["one"].best_place, by_tag["one"].worst_place) == (1, 2)
    assert (by_tag["two"].low, by_tag["two"].high, by_tag["four"].high) == (0, 0.5, 0)
    # In the mean one is 0.5 and half the share of draws by ana, and three what is left.
    assert by_tag["one"].mean + by_tag["three"].mean == pytest.approx(1.5)
    assert 0.7 < by_tag["one"].mean < 0.8
    [swap] = [swap for swap in mixture.swaps if {swap.upper, swap.lower} == {"one", "three"}]
    assert 0.4 < swap.share < 0.5
    assert mixture.tau is not None
    assert -1 <= mixture.tau.low <= mixture.tau.mean <= mixture.tau.high == 1


def test_the_same_seed_draws_the_same_mixtures() -> None:
    runs, given = joined({"ana": ANA, "ben": BEN})
    _, advance = steps()
    drawn = [
        mix_judges(tuple(FIRSTS), runs, given, SCORING, draws=20, seed=seed, advance=advance) for seed in (1, 1, 2)
    ]
    assert drawn[0] == drawn[1] != drawn[2]


def test_what_a_drawn_judge_did_not_grade_has_the_grade_of_the_next() -> None:
    # Ana and ben share 11 and 12; on 11 ben and cat differ from ana.
    runs, given = joined({"ana": {11: 1, 12: 0}, "ben": {11: 0, 12: 0, 21: 1}, "cat": {21: 1}})
    _, advance = steps()
    mixture = mix_judges(tuple(FIRSTS), runs, given, SCORING, draws=50, seed=1, advance=advance)
    assert mixture is not None
    assert (mixture.documents, mixture.topics) == (3, 2)
    by_tag = {run.tag: (run.low, run.high) for run in mixture.runs}
    assert by_tag == {"one": (0.5, 1), "two": (0.5, 0.5), "three": (0, 0.5), "four": (0, 0)}


def test_many_judges_of_a_topic_are_asked_in_some_of_their_orders() -> None:
    runs, given = joined({f"judge{number}": {11: number % 2, 12: 1} for number in range(8)})
    done, advance = steps()
    assert mix_judges(tuple(FIRSTS), runs, given, SCORING, draws=10, seed=1, advance=advance) is not None
    assert len(done) == steps_of_mixing(runs, given) == MOST_ORDERS + 1


def test_draws_are_summarised_in_pieces_as_they_are_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    runs, given = joined({"ana": ANA, "ben": BEN})
    _, advance = steps()
    at_once = mix_judges(tuple(FIRSTS), runs, given, SCORING, draws=25, seed=1, advance=advance)
    monkeypatch.setattr("annotator.evaluation.agreement.judge_effect.MOST_VALUES", 24)
    assert mix_judges(tuple(FIRSTS), runs, given, SCORING, draws=25, seed=1, advance=advance) == at_once


def test_grades_by_item_become_grades_by_entry() -> None:
    assert grades_of_items({5: 2}, {4: 1, 5: 0}).tolist() == [2, -1]
    assert count_differing(np.array([2, -1], np.int16), np.array([2, 0], np.int16)) == 1

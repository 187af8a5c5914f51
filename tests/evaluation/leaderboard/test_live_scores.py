"""Scores kept topic by topic: the same as all at once, and made anew only where something is another."""

from collections import OrderedDict
from collections.abc import Collection

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotator.evaluation.leaderboard.live_scores import (
    GradedTopics,
    Grading,
    LiveScores,
    OneCollection,
    TopicValues,
    score_topics,
)
from annotator.evaluation.metrics.measures import MEASURES, Cutoff
from annotator.evaluation.metrics.names import parse_measures
from annotator.evaluation.metrics.scoring import score_runs
from annotator.evaluation.qrels.graded_topic import GradedTopic, qrels_bytes, topic_lines
from annotator.evaluation.qrels.qrels_format import format_qrels
from annotator.evaluation.runs.rankings import encode_documents, encode_scores, tied_documents, unpack_lists

DOCUMENTS = 12
NUMBERS = {1: "9", 2: "10", 3: "7"}
SUFFIX = {Cutoff.NEEDED: "@3", Cutoff.LEVEL: "@0.5", Cutoff.POSSIBLE: "", Cutoff.NEVER: ""}
EVERY_MEASURE = parse_measures(
    name + ("(docs=50)" if definition.needs else "") + SUFFIX[definition.cutoff]
    for name, definition in MEASURES.items()
)

lists = some.lists(some.permutations(range(DOCUMENTS)), min_size=6, max_size=6)
grades = some.dictionaries(some.integers(0, DOCUMENTS + 3), some.integers(-1, 2), min_size=1)


@given(lists, some.fixed_dictionaries(dict.fromkeys(NUMBERS, grades)), some.integers(1, 2))
def test_every_measure_is_the_same_topic_by_topic_as_all_at_once(
    ranked: list[list[int]], qrels: dict[int, dict[int, int]], relevant_from: int
) -> None:
    runs = [
        {topic: np.array(ranked[run * 3 + place], np.int32) for place, topic in enumerate(NUMBERS)} for run in range(2)
    ]
    topics = {topic: GradedTopic.of(qrels[topic]) for topic in NUMBERS}
    values: dict[int, TopicValues] = {topic: OrderedDict() for topic in NUMBERS}
    of_topics = {topic: [run[topic] for run in runs] for topic in NUMBERS}
    # First some topics and some measures, then the rest.
    grading = Grading(relevant_from, best_grade=2)
    score_topics({1: topics[1]}, values, of_topics, 2, EVERY_MEASURE[:9], grading)
    score_topics(topics, values, of_topics, 2, EVERY_MEASURE, grading)
    at_once = score_runs(runs, qrels, NUMBERS, EVERY_MEASURE, relevant_from, 2)
    for place, number in enumerate(at_once.topics):
        topic = next(key for key in NUMBERS if NUMBERS[key] == number)
        kept = np.stack([values[topic][measure] for measure in EVERY_MEASURE], axis=-1)
        assert np.array_equal(kept, at_once.values[:, place], equal_nan=True)


@given(lists, some.fixed_dictionaries(dict.fromkeys(NUMBERS, grades)), some.integers(1, 2))
def test_no_value_is_beyond_the_bounds_of_its_measure(
    ranked: list[list[int]], qrels: dict[int, dict[int, int]], relevant_from: int
) -> None:
    run = {topic: np.array(ranked[place], np.int32) for place, topic in enumerate(NUMBERS)}
    means = [measure for measure in EVERY_MEASURE if not measure.definition.is_count]
    scored = score_runs([run], qrels, NUMBERS, means, relevant_from, 2)
    for measure, values in zip(means, scored.values.reshape(-1, len(means)).T, strict=True):
        least, most = measure.definition.bounds
        # But for the rounding of sums.
        assert (least - 1e-9 <= values).all(), measure
        assert (values <= most + 1e-9).all(), measure


def test_only_a_topic_under_another_mark_is_made_anew() -> None:
    kept, asked = GradedTopics(), list[Collection[int]]()

    def make(stale: Collection[int], _: object) -> dict[int, GradedTopic]:
        asked.append(stale)
        return {topic: GradedTopic.of({topic: 1}) for topic in stale}

    first = kept.refresh({1: "a", 2: "a"}, make)
    second = kept.refresh({1: "a", 2: "b"}, make)
    third = kept.refresh({1: "a"}, make)
    fourth = kept.refresh({1: "a", 2: "b"}, make)
    assert asked == [[1, 2], [2], [2]]
    assert first[1] is second[1] is third[1] is fourth[1]
    assert first[2] is not second[2]


def test_an_older_mark_is_as_stale_as_a_newer_one() -> None:
    kept, asked = GradedTopics(), []
    for mark in (2, 1, 2):
        kept.refresh({1: mark}, lambda stale, _: asked.append(stale) or {1: GradedTopic.of({})})  # type: ignore[func-returns-value]  # append says nothing
    assert len(asked) == 3


def test_other_runs_leave_nothing_of_the_old_ones() -> None:
    memory = LiveScores()
    before = memory.of(1, None, ("alpha",))
    assert memory.of(1, None, ("alpha",)) is before
    assert memory.of(1, None, ("alpha", "beta")) is not before


def test_of_the_sets_of_runs_of_a_view_the_last_two_are_kept() -> None:
    memory = LiveScores()
    first, second = (memory.of(1, None, runs) for runs in (("alpha",), ("alpha", "beta")))
    other_view = memory.of(1, "round 1", ("alpha",))
    memory.of(1, None, ("alpha", "beta", "gamma"))
    assert memory.of(1, None, ("alpha", "beta")) is second
    assert memory.of(1, "round 1", ("alpha",)) is other_view
    assert memory.of(1, None, ("alpha",)) is not first


def test_what_was_asked_for_longest_ago_is_forgotten() -> None:
    kept = OneCollection()
    for key in range(100):
        kept.result(key, "state", object)
    assert list(kept.results) == list(range(76, 100))


def test_the_measures_used_last_are_kept_and_no_more_than_64() -> None:
    measures = parse_measures([f"P@{depth}" for depth in range(1, 101)])
    topics, of_topics = {1: GradedTopic.of({1: 1})}, {1: [np.array([1, 2], np.int32)]}
    values: dict[int, TopicValues] = {1: OrderedDict()}
    for measure in measures:
        # The first is asked for each time, and so is never the one used longest ago.
        score_topics(topics, values, of_topics, 1, [measures[0], measure], Grading(1, 2))
    assert set(values[1]) == {measures[0], *measures[-63:]}
    score_topics(topics, values, of_topics, 1, measures[:70], Grading(1, 2))
    assert set(values[1]) == set(measures[:70])


def test_who_asks_for_one_collection_waits_for_nobody_who_asks_for_another() -> None:
    memory = LiveScores()
    with memory.of(1, None, ("alpha",)).lock:
        assert not memory.lock.locked()
        assert memory.of(2, None, ("alpha",)).lock.acquire(blocking=False)
        assert memory.of(1, None, ("alpha", "beta")).lock.acquire(blocking=False)


def test_while_one_result_is_made_others_are_shown() -> None:
    kept = OneCollection()
    kept.result("AP", "state", lambda: "shown")
    assert kept.result("P@5", "state", lambda: kept.result("AP", "state", lambda: "anew")) == "shown"


def test_of_each_thing_asked_for_only_the_latest_state_is_kept() -> None:
    kept = OneCollection()
    first = kept.result("AP", "before", lambda: ["made"])
    assert kept.result("AP", "before", lambda: ["again"]) is first
    assert kept.result("AP", "after", lambda: ["anew"]) == ["anew"]
    assert kept.result("AP", "before", lambda: ["once more"]) == ["once more"]
    assert len(kept.results) == 1


@pytest.mark.parametrize("numbers", [["10", "9", "1"], ["10", "T9", "1"], ["01", "1", "2"]])
def test_lines_joined_by_topic_are_the_file_of_all(numbers: list[str]) -> None:
    rows = [(number, docno, 1) for number in numbers for docno in ("b", "a")]
    topics = {number: GradedTopic.of({}, topic_lines(number, [("b", 1), ("a", 1)])) for number in numbers}
    assert qrels_bytes(topics) == format_qrels(rows)


def test_scores_that_32_bits_do_not_tell_apart_are_ties_by_docno_for_trec_eval_9() -> None:
    # 2 and 2 + 1e-9 are one in 32 bits, 3 is not; among equals the greater docno comes first.
    documents, scores = np.array([5, 6, 7, 8], np.int32), np.array([3, 2 + 1e-9, 2, 1])
    row = (4, 1, encode_documents(documents), encode_scores(scores))
    assert tied_documents([row]) == {6, 7}
    [ordered, nothing] = unpack_lists([4, 3], [1], [row], {6: "a", 7: "b"})[1]
    assert (ordered.tolist(), nothing.tolist()) == ([5, 7, 6, 8], [])
    unchanged = (4, 1, encode_documents(documents), None)
    assert unpack_lists([4], [1], [unchanged], {})[1][0].tolist() == [5, 6, 7, 8]

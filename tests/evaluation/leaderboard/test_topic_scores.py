"""Scores topic by topic: the same as all at once."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotator.evaluation.leaderboard.topic_scores import Grading, score_topics
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
    if not definition.by_subtopic  # a collection has no grades by subtopic
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
    of_topics = {topic: [run[topic] for run in runs] for topic in NUMBERS}
    # First some topics and some measures, then the rest.
    grading = Grading(relevant_from, best_grade=2)
    first = score_topics({1: topics[1]}, {}, of_topics, 2, EVERY_MEASURE[:9], grading)
    assert set(first[1]) == set(EVERY_MEASURE[:9])
    rest = score_topics(topics, first, of_topics, 2, EVERY_MEASURE, grading)
    assert set(rest[1]) == set(EVERY_MEASURE[9:])
    at_once = score_runs(runs, qrels, NUMBERS, EVERY_MEASURE, relevant_from, 2)
    for place, number in enumerate(at_once.topics):
        topic = next(key for key in NUMBERS if NUMBERS[key] == number)
        kept = np.stack([(first.get(topic, {}) | rest[topic])[measure] for measure in EVERY_MEASURE], axis=-1)
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

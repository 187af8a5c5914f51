"""The grades of a topic as arrays: some of them changed are as all of them made at once."""

import pytest
from hypothesis import given
from hypothesis import strategies as some

from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.graded_topic import GradedTopic, NewGrade, topic_lines
from annotator.evaluation.qrels.samples import TopicSample

DOCNOS = {number: docno.encode() for number, docno in enumerate(["b", "a", "ab", "a-b", "é", "z", "漢", "B"])}
GRADES = some.dictionaries(some.sampled_from(sorted(DOCNOS)), some.integers(-1, 3))
CHANGES = some.dictionaries(some.sampled_from(sorted(DOCNOS)), some.none() | some.integers(-1, 3))


def state(topic: GradedTopic) -> tuple[object, ...]:
    return (topic.documents.tolist(), topic.grades.tolist(), topic.lines, topic.judges, topic.disputed, topic.counts)


@given(GRADES, some.lists(CHANGES, max_size=3))
def test_grades_that_change_are_as_made_at_once(grades: dict[int, int], several: list[dict[int, int | None]]) -> None:
    topic = GradedTopic.named("7", grades, DOCNOS)
    for changes in several:
        grades = {**grades, **{one: grade for one, grade in changes.items() if grade is not None}}
        grades = {one: grade for one, grade in grades.items() if changes.get(one, grade) is not None}
        new = [NewGrade(one, DOCNOS[one], grade) for one, grade in changes.items()]
        topic = topic.changed("7", new, judges=(), disputed=())
        assert state(topic) == state(GradedTopic.named("7", grades, DOCNOS))
    assert topic.lines == topic_lines("7", [(DOCNOS[one].decode(), grade) for one, grade in grades.items()])
    assert topic.docnos() == {one: DOCNOS[one] for one in grades}
    assert dict(topic.by_document) == grades


def test_judges_are_added_and_what_is_in_dispute_is_that_of_the_changed_documents() -> None:
    topic = GradedTopic.named("7", {0: 1}, DOCNOS).changed("7", [], judges=[3], disputed=[])
    topic = topic.changed("7", [NewGrade(1, b"a", None), NewGrade(2, b"ab", 1)], judges=[4], disputed=[1])
    assert (sorted(topic.judges), sorted(topic.disputed)) == ([3, 4], [1])
    assert topic.changed("7", [NewGrade(1, b"a", 0)], judges=[], disputed=[]).disputed == frozenset()


def test_what_is_left_without_some_documents_has_neither_their_lines_nor_their_strata() -> None:
    topic = GradedTopic.of({0: 1, 1: 2}, b"7 0 b 1\n7 0 a 2\n", sample=TopicSample({0: 1, 1: 1}, {0, 1}))
    left = topic.without({1: "a"})
    assert (dict(left.by_document), left.lines) == ({0: 1}, b"7 0 b 1\n")
    assert left.sample is not None
    assert left.sample.strata == {0: 1}


def test_a_grade_that_16_bits_do_not_hold_is_refused() -> None:
    with pytest.raises(InvalidValueError, match="between -32767 and 32767"):
        GradedTopic.of({1: 40_000})

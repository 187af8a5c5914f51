"""Whole topics settled by columns: what the judgements one by one would give."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from opinions import Opinion, settle
from stored_judgements import Stored

from annotator.errors import InvalidValueError
from annotator.evaluation.qrels.consensus import NAMED_POLICIES
from annotator.evaluation.qrels.graded_topic import qrels_bytes
from annotator.evaluation.qrels.qrels_format import format_qrels
from annotator.evaluation.qrels.settled_topics import (
    CurrentOpinions,
    columns_of_grades,
    current_opinions,
    differing_lines,
    graded_topics,
    line_columns,
    refused_items,
    settled_qrels,
)
from annotator.evaluation.qrels.settling import Rules, SettledItems
from annotator.evaluation.qrels.topic_judgements import columns_of

Row = tuple[int, int, int, int | None, bool]


class Judge(NamedTuple):
    """An account."""

    name: str
    is_machine: bool = False


JUDGES = {1: Judge("jo"), 2: Judge("kim"), 3: Judge("ada"), 4: Judge("gpt", is_machine=True)}
NUMBERS = {1: "10", 2: "9", 3: "11"}
OWNERS = {1: 1, 2: None}
ADJUDICATIONS = 1_000  # ids of assignments from here on


def stored(rows: Sequence[Row]) -> Stored:
    """Judgements by topic, document, judge, grade, and whether they adjudicate."""
    given_ones = Stored()
    for id_, (topic, document, judge, grade, adjudicates) in enumerate(rows, start=1):
        given_ones.add(id_, topic, document, judge, grade=grade, assignment=id_ + ADJUDICATIONS * adjudicates)
    given_ones.adjudications = frozenset(one for one in given_ones.assignment if one > ADJUDICATIONS)
    return given_ones


def settled(rows: Sequence[Row], rules: Rules, *, machines: bool = False) -> tuple[CurrentOpinions, SettledItems]:
    current = current_opinions(columns_of(stored(rows)), JUDGES, OWNERS, machines=machines)
    return current, current.settle(rules)


ROWS = st.lists(
    st.tuples(
        st.integers(1, 2),
        st.integers(1, 4),
        st.sampled_from(list(JUDGES)),
        st.sampled_from([None, 0, 1, 2]),
        st.booleans(),
    ),
    unique_by=lambda row: row[:3],
)
RULES = st.builds(Rules, st.sampled_from([*NAMED_POLICIES, "judge:kim"]), st.just(1), st.booleans(), st.booleans())


@given(ROWS, RULES)
def test_topics_are_settled_as_their_opinions_one_by_one(rows: Sequence[Row], rules: Rules) -> None:
    machines = rules.counts_machines
    current, found = settled(rows, rules, machines=machines)
    opinions = [
        (topic, document, judge, grade, adjudicates)
        for topic, document, judge, grade, adjudicates in rows
        if grade is not None and (machines or not JUDGES[judge].is_machine)
    ]
    lines = []
    for item in {(topic, document) for topic, document, *_ in opinions}:
        of_item = [
            Opinion(0, grade, JUDGES[judge].name, place, OWNERS[topic] == judge, adjudicates, JUDGES[judge].is_machine)
            for place, (topic, _, judge, grade, adjudicates) in enumerate(
                (row for row in opinions if row[:2] == item), start=1
            )
        ]
        people = [one for one in of_item if not one.is_machine]
        in_dispute = len({one.grade for one in people}) > 1 and not any(one.adjudicates for one in people)
        grade = settle(rules.policy, of_item).get(0)
        if grade is not None and not (rules.leaves_out_disputed and in_dispute):
            lines.append((NUMBERS[item[0]], f"d{item[1]}", grade))
    topics = graded_topics(current, found, NUMBERS)
    written = settled_qrels(current, found, NUMBERS)
    assert written == qrels_bytes({NUMBERS[id_]: topic for id_, topic in topics.items()}) == format_qrels(lines)
    assert differing_lines(written, current, found, NUMBERS) == 0
    assert {id_: topic.judges for id_, topic in topics.items()} == {
        id_: {judge for topic, _, judge, *_ in opinions if topic == id_} for id_ in NUMBERS
    }
    columns = [column.tolist() for column in line_columns(current, found, [(2, 9)])]
    ids = {number: id_ for id_, number in NUMBERS.items()}
    expected = [(ids[number], int(docno[1:]), grade) for number, docno, grade in lines]
    assert sorted(zip(*columns, strict=True)) == sorted([*expected, (2, 9, -1)])


TWO = [(1, 1, 1, 2, False), (1, 1, 2, 0, False), (1, 2, 1, 1, False), (2, 1, 2, 0, False)]


def test_disputed_documents_are_left_out_and_named() -> None:
    current, found = settled(TWO, Rules("majority", 1, leaves_out_disputed=True))
    topics = graded_topics(current, found, NUMBERS)
    assert (topics[1].documents.tolist(), set(topics[1].disputed)) == ([2], {1})
    assert (topics[3].documents.size, topics[3].lines, current.graded_in(found)) == (0, b"", [1, 2])
    assert found.counts() == {0: 1, 1: 1}


@pytest.mark.parametrize(
    ("changed", "differing"),
    [
        ((b"10 0 d1 0\n", b"10 0 d1 1\n"), 1),
        ((b"10 0 d1 0\n", b"10 0 dx 0\n"), 2),
        ((b"10 0 d1 0\n", b""), 1),
        ((b"9 0", b"8 0"), 2),
        ((b"9 0 d1 0", b"9 0  d1 0"), 2),
        ((b"d2 1\n", b"d2 1"), 1),
        ((b"d2 1\n", b"d2 1\n11 0 d1 0\n"), 1),
        ((b"10 0 d1 0\n10 0 d2 1\n", b"10 0 d2 1\n10 0 d1 0\n"), 1),
        ((b"10 0 d1 0\n", b"10 0 d1 0\n10 0 d1 0\n"), 1),
    ],
)
def test_lines_that_differ_are_counted(changed: tuple[bytes, bytes], differing: int) -> None:
    current, found = settled(TWO, Rules("lowest", 1))
    written = settled_qrels(current, found, NUMBERS)
    assert written == b"9 0 d1 0\n10 0 d1 0\n10 0 d2 1\n"
    assert differing_lines(written.replace(*changed), current, found, NUMBERS) == differing


def test_a_grade_that_16_bits_cannot_hold_is_refused() -> None:
    current, found = settled([(1, 1, 1, 40_000, False)], Rules("lowest", 1))
    with pytest.raises(InvalidValueError, match="between"):
        graded_topics(current, found, NUMBERS)


def test_items_that_nobody_could_judge_are_those_without_a_grade() -> None:
    rows = [(1, 1, 1, None, False), (1, 1, 2, 1, False), (1, 2, 1, None, False), (1, 3, 4, None, False)]
    columns = columns_of(stored(rows))
    assert refused_items(columns, JUDGES, machines=False) == {102}
    assert refused_items(columns, JUDGES, machines=True) == {102, 103}


@dataclass(frozen=True)
class Then:
    """A grade at an earlier time."""

    judgement_id: int
    topic_id: int
    pool_item_id: int
    document_id: int
    judge_id: int
    grade: int
    place: int
    adjudicates: bool = False


def test_grades_of_an_earlier_time_are_settled_alike() -> None:
    grades = [
        Then(9, 1, 102, 2, 1, 1, 1),
        Then(8, 1, 101, 1, 2, 0, 2),
        Then(3, 1, 101, 1, 1, 2, 1),
        Then(4, 2, 201, 1, 2, 0, 1),
    ]
    columns = columns_of_grades(grades, {1: "d1", 2: "d2"})
    current = current_opinions(columns, JUDGES, OWNERS, machines=False)
    assert current.opinions.place.tolist() == [1, 2, 1, 1]
    assert current.settle(Rules("owner", 1)).grades == {101: 2, 102: 1}
    nothing = columns_of_grades([], {})
    assert (nothing.id.size, nothing.docnos) == (0, [])


def test_documents_are_taken_out_topic_by_topic() -> None:
    columns = columns_of(stored(TWO))
    left = columns.where(~columns.are_of({1: [1], 3: [1]}))
    np.testing.assert_array_equal(left.item, [102, 201])

"""Ranked lists: trec_eval's order, their bytes, and their join with qrels."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.rankings import (
    decode_documents,
    decode_scores,
    encode_documents,
    encode_scores,
    judge_rankings,
    trec_order,
)

DOCNOS = st.text(st.characters(min_codepoint=1, exclude_categories=["Cs"]), min_size=1, max_size=4)


def documents(*numbers: int) -> np.ndarray[tuple[int], np.dtype[np.int32]]:
    return np.array(numbers, np.int32)


@pytest.mark.parametrize(
    ("rows", "best_first"),
    [
        ([], ""),
        ([("a", 1.0), ("b", 3.0), ("c", 2.0)], "bca"),
        ([("a", 1.0), ("b", 1.0), ("c", 1.0)], "cba"),  # ties: docno descending
        ([("a", 1.0), ("c", 2.0), ("b", 2.0), ("d", 1.0)], "cbda"),
        ([("a", 1.00000001), ("b", 1.00000002)], "ba"),  # equal in single precision, not in double
        ([("a", -0.0), ("b", 0.0)], "ba"),  # -0 and 0 are one score
        ([("a", float("-inf")), ("b", float("inf")), ("c", 0.0)], "bca"),
    ],
)
def test_the_order_is_score_then_docno_both_descending(rows: list[tuple[str, float]], best_first: str) -> None:
    docnos = np.array([docno.encode() for docno, _ in rows], np.bytes_)
    order = trec_order(docnos, np.array([score for _, score in rows], np.float64))
    assert "".join(rows[row][0] for row in order) == best_first


@given(st.dictionaries(DOCNOS, st.sampled_from([0.5, 1.0, 2.5, -3.0]), min_size=1))
def test_docnos_of_any_alphabet_are_compared_byte_by_byte(scores: dict[str, float]) -> None:
    docnos = np.array([docno.encode() for docno in scores], np.bytes_)
    order = trec_order(docnos, np.array(list(scores.values())))
    expected = sorted(((score, docno.encode()) for docno, score in scores.items()), reverse=True)
    assert [bytes(docnos[row]) for row in order] == [docno for _, docno in expected]


@given(st.lists(st.integers(0, 2**31 - 1)))
def test_documents_come_back_from_their_bytes(numbers: list[int]) -> None:
    assert decode_documents(encode_documents(documents(*numbers))).tolist() == numbers


@given(st.lists(st.floats(allow_nan=False)))
def test_scores_come_back_from_their_bytes(scores: list[float]) -> None:
    assert decode_scores(encode_scores(np.array(scores, np.float64))).tolist() == scores


def test_the_stored_bytes_are_little_endian() -> None:
    assert encode_documents(documents(1, 256)) == b"\1\0\0\0\0\1\0\0"
    assert encode_scores(np.array([1.0])) == b"\0\0\0\0\0\0\xf0\x3f"


def test_the_join_keeps_only_judged_documents_with_their_ranks() -> None:
    rankings = [(7, documents(5, 1, 9, 2)), (8, documents(1, 3)), (7, documents(2)), (9, documents(4))]
    judged = judge_rankings(rankings, {7: {1: 2, 2: 0, 5: -1, 6: 3}, 8: {3: 1}})
    # Ranking 0 finds 1 (grade 2) at rank 2 and 2 (grade 0) at rank 4; 5 is pooled but unjudged, 9 unknown.
    assert judged.ranking.tolist() == [0, 0, 1, 2]
    assert judged.rank.tolist() == [2, 4, 2, 1]
    assert judged.grade.tolist() == [2, 0, 1, 0]
    assert judged.first_row.tolist() == [0, 2, 3, 4, 4]
    assert judged.retrieved.tolist() == [4, 2, 1, 1]
    assert judged.topics == (7, 8, 9)
    assert judged.topic.tolist() == [0, 1, 0, 2]
    assert judged.topic_grade.tolist() == [3, 2, 0, 1]
    assert judged.topic_first.tolist() == [0, 3, 4, 4]


def test_a_document_judged_for_one_topic_is_unjudged_for_the_next() -> None:
    judged = judge_rankings([(1, documents(4, 5)), (2, documents(4, 5))], {1: {4: 1}, 2: {5: 1}})
    assert judged.rank.tolist() == [1, 2]


def test_documents_numbered_above_all_judged_ones_are_unjudged() -> None:
    judged = judge_rankings([(1, documents(4, 5, 2**31 - 1))], {1: {4: 1}})
    assert judged.rank.tolist() == [1]


def test_relevant_rows_know_what_stands_above_them() -> None:
    judged = judge_rankings([(1, documents(1, 2, 9, 3, 4)), (1, documents(4, 1))], {1: {1: 0, 2: 2, 3: 0, 4: 1, 5: 1}})
    rows = judged.at_least(1)
    assert rows.ranking.tolist() == [0, 0, 1]
    assert rows.rank.tolist() == [2, 5, 1]
    assert rows.grade.tolist() == [2, 1, 1]
    assert rows.nth.tolist() == [1, 2, 1]
    assert rows.nonrelevant_above.tolist() == [1, 2, 0]
    assert rows.retrieved.tolist() == [2, 1]
    assert rows.existing.tolist() == [3, 3]


def test_a_higher_bar_turns_relevant_documents_into_judged_ones_above() -> None:
    judged = judge_rankings([(1, documents(1, 2))], {1: {1: 1, 2: 2}})
    assert judged.at_least(1).nonrelevant_above.tolist() == [0, 0]
    assert judged.at_least(2).nonrelevant_above.tolist() == [1]


@pytest.mark.parametrize("rankings", [[], [(1, documents())]])
def test_nothing_to_join_gives_an_empty_batch(
    rankings: list[tuple[int, np.ndarray[tuple[int], np.dtype[np.int32]]]],
) -> None:
    judged = judge_rankings(rankings, {})
    assert judged.rank.size == 0
    assert judged.retrieved.tolist() == [0] * len(rankings)
    assert judged.at_least(1).existing.tolist() == [0] * len(rankings)


@pytest.mark.parametrize("grade", [2**15, -(2**15) - 1])
def test_a_grade_too_large_for_the_table_is_refused(grade: int) -> None:
    with pytest.raises(InvalidValueError, match="Grades must lie between -32768 and 32767"):
        judge_rankings([(1, documents(1))], {1: {1: grade}})


@given(
    st.lists(st.tuples(st.integers(1, 3), st.lists(st.integers(0, 12), unique=True)), max_size=6),
    st.dictionaries(st.integers(1, 3), st.dictionaries(st.integers(0, 12), st.integers(-2, 3))),
)
def test_the_join_agrees_with_looking_up_one_document_at_a_time(
    rankings: list[tuple[int, list[int]]], qrels: dict[int, dict[int, int]]
) -> None:
    judged = judge_rankings([(topic, documents(*numbers)) for topic, numbers in rankings], qrels)
    expected = [
        (index, rank, qrels[topic][number])
        for index, (topic, numbers) in enumerate(rankings)
        for rank, number in enumerate(numbers, 1)
        if qrels.get(topic, {}).get(number, -1) >= 0
    ]
    found = zip(judged.ranking.tolist(), judged.rank.tolist(), judged.grade.tolist(), strict=True)
    assert list(found) == expected

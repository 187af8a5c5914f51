"""Ranked lists: trec_eval's order, and their bytes."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.runs.rankings import (
    decode_documents,
    decode_scores,
    encode_documents,
    encode_scores,
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

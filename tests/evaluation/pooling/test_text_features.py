"""Texts as rows of TF-IDF: counted in parts, hashed alike everywhere, of length 1."""

import math
import sys
from itertools import pairwise
from zlib import crc32

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from thorough import examples

from annotator.errors import InvalidValueError
from annotator.evaluation.pooling import text_features
from annotator.evaluation.pooling.text_features import COLUMNS, TermCounts, count_terms, weighted

WORDS = st.sampled_from(["pool", "judge", "run", "depth", "검색", "検索", "naïve", ""])
TEXTS = st.lists(st.lists(WORDS, max_size=6).map(" ".join), max_size=8)


def rows_of(counts: TermCounts) -> list[dict[int, int]]:
    """Each row as its counts by column."""
    ends = counts.begins.tolist()
    columns, numbers = counts.columns.tolist(), counts.counts.tolist()
    return [dict(zip(columns[begin:end], numbers[begin:end], strict=True)) for begin, end in pairwise(ends)]


def column(word: str) -> int:
    return crc32(word.encode()) % COLUMNS


def test_terms_are_counted_by_the_hash_of_their_bytes() -> None:
    counts = count_terms(["Pool, pool and judge", "", "検索"])
    # CRC-32 of "pool" is af91a986: python -c 'import zlib; print(hex(zlib.crc32(b"pool")))'
    assert column("pool") == 0xAF91A986 % 2**20
    assert rows_of(counts) == [
        {column("pool"): 2, column("and"): 1, column("judge"): 1},
        {},
        {column("検索"): 1, column("索"): 1},
    ]


def test_a_term_counts_255_times_at_most() -> None:
    assert rows_of(count_terms(["pool " * 300])) == [{column("pool"): 255}]


def test_no_text_gives_no_row() -> None:
    counts = count_terms([])
    assert (len(counts), len(weighted(counts)), weighted(counts).is_empty.tolist()) == (0, 0, [])


@given(TEXTS)
def test_texts_counted_in_parts_are_counted_as_at_once(texts: list[str]) -> None:
    whole = rows_of(count_terms(texts))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_features, "WORDS_AT_ONCE", 3)
        patch.setattr(text_features, "MOST_REMEMBERED", 2)
        assert rows_of(count_terms(iter(texts))) == whole
    assert rows_of(TermCounts.join([count_terms([text]) for text in texts])) == whole


@given(TEXTS.filter(bool).flatmap(lambda texts: st.tuples(st.just(texts), st.lists(st.integers(0, len(texts) - 1)))))
def test_rows_are_selected_in_any_order_and_repeatedly(both: tuple[list[str], list[int]]) -> None:
    texts, rows = both
    chosen = np.array(rows, np.intp)
    assert rows_of(count_terms(texts).select(chosen)) == rows_of(count_terms([texts[row] for row in rows]))


def test_rows_are_tf_idf_of_length_one() -> None:
    features = weighted(count_terms(["pool pool judge", "pool", "..."]))
    # By the formula: of three texts two have "pool" and one has "judge".
    pool, judge = (0.8 + math.log(2)) * math.log(4 / 2.5) ** 0.6, 0.8 * math.log(4 / 1.5) ** 0.6
    length = math.hypot(pool, judge)
    rows = features.matrix().toarray()
    assert rows[0, column("pool")] == pytest.approx(pool / length)
    assert rows[0, column("judge")] == pytest.approx(judge / length)
    assert rows[1, column("pool")] == pytest.approx(1)
    assert features.is_empty.tolist() == [False, False, True]


def test_another_text_is_weighted_as_the_texts_are() -> None:
    features = weighted(count_terms(["pool pool judge", "pool"]))
    own, other = features.of_text("pool judge unknown").matrix().toarray()[0], features.idf
    assert own[column("judge")] / own[column("pool")] == pytest.approx(other[column("judge")] / other[column("pool")])
    assert own[column("unknown")] == 0
    assert features.of_text("unknown").is_empty.tolist() == [True]


@settings(max_examples=examples(60))
@given(TEXTS)
def test_scores_are_the_products_of_rows_and_weights(texts: list[str]) -> None:
    features = weighted(count_terms(texts))
    weights = np.sin(np.arange(COLUMNS, dtype=np.float32))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text_features, "ROWS_AT_ONCE", 2)
        in_parts = weighted(count_terms(texts)).scores(weights)
    assert in_parts == pytest.approx(features.scores(weights), abs=1e-6)
    assert in_parts == pytest.approx(features.matrix() @ weights, abs=1e-5)


def test_what_is_missing_is_named_with_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "scipy.sparse", None)
    with pytest.raises(InvalidValueError, match=r"needs scikit-learn.*relevance-annotator\[learning\]"):
        weighted(count_terms(["pool"])).matrix()


@pytest.mark.parametrize(
    ("one", "other", "is_one_term"),
    [
        ("trial", "trials", True),
        ("treated", "treating", True),
        ("treatment", "treatments", True),
        ("analys", "analysis", False),  # no ending of the list
        ("news", "new", False),  # too short to lose a letter
        ("임상시험", "임상시험s", False),
    ],
)
def test_words_that_differ_in_an_english_ending_are_one_term(one: str, other: str, *, is_one_term: bool) -> None:
    first, second = (count_terms([word]).columns.tolist() for word in (one, other))
    assert (first == second) is is_one_term

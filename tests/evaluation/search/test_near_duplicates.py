"""Texts that nearly repeat each other: shingles and their similarity by hand, and the search against all pairs."""

from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.search.near_duplicates import NearDuplicates, near_duplicates


@pytest.mark.parametrize(
    ("first", "second", "similarity"),
    [
        # Three-word shingles abc bcd cde against abc bcd cdf: 2 of 4 together.
        ("a b c d e", "a b c d f", 2 / 4),
        # 5 shingles against the same and one more.
        ("a b c d e f g", "a b c d e f g h", 5 / 6),
        # Case, punctuation, line breaks and full-width letters do not count.
        ("The cat, sat.", "the CAT\n\uff53\uff41\uff54", 1.0),
        # A shingle that comes twice counts once: aaa, aab against aaa, aab.
        ("a a a a a b", "a a a b", 1.0),
        # Fewer words than a shingle has are one.
        ("one two", "One, two!", 1.0),
        # Characters where words are not set apart: 我们去 们去学 去学校 against 我们去 们去学 去学院.
        ("我们去学校", "我们去学院", 2 / 4),
        # Korean, by syllables, so that spacing does not matter: 검색평 색평가 평가과 가과제.
        ("검색 평가 과제", "검색평가 과제", 1.0),
        # Both kinds in one text: 가 나 abc is one shingle; then 나 abc def.
        ("가나 abc def", "가나 abc xyz", 1 / 3),
    ],
)
def test_the_similarity_is_that_of_the_sets_of_shingles(first: str, second: str, similarity: float) -> None:
    assert near_duplicates({7: first, 3: second}, 0.1).pairs == [NearDuplicates(7, 3, similarity)]


@pytest.mark.parametrize(
    "texts", [{}, {1: "a b c"}, {1: "", 2: "", 3: " .,! "}, {1: "a b c", 2: "d e f"}, {1: "a b", 2: ""}]
)
def test_what_has_nothing_in_common_is_no_pair(texts: dict[int, str]) -> None:
    assert near_duplicates(texts) == ([], True)


def test_the_most_similar_come_first_and_what_is_less_similar_is_left_out() -> None:
    words = [f"w{number}" for number in range(50)]
    texts = {number: " ".join(words[number:]) for number in range(0, 12, 2)}
    # From word n on there are 48 - n shingles, so that two starts m < n are similar to (48 - n) / (48 - m).
    found = near_duplicates(texts, 0.9).pairs
    expected = [
        NearDuplicates(first, second, (48 - second) / (48 - first))
        for first, second in combinations(texts, 2)
        if (48 - second) / (48 - first) >= 0.9
    ]
    assert found == sorted(expected, key=lambda pair: -pair.similarity)
    assert len(found) == 9


def test_copies_are_each_paired_with_the_first_which_alone_is_paired_with_others() -> None:
    text = " ".join(f"w{number}" for number in range(20))
    found = near_duplicates({1: text, 2: text.upper(), 3: text + " more", 4: text + "."}).pairs
    assert found == [NearDuplicates(1, 2, 1.0), NearDuplicates(1, 4, 1.0), NearDuplicates(1, 3, 18 / 19)]


def test_a_similarity_of_just_so_much_is_enough() -> None:
    # 4 of 5 shingles.
    assert near_duplicates({1: "a b c d e f", 2: "a b c d e f g"}, 0.8).pairs == [NearDuplicates(1, 2, 4 / 5)]


def shingles(text: str) -> frozenset[tuple[str, ...]]:
    """Of single letters set apart by spaces."""
    words = text.split()
    words += ["-"] * (3 - len(words)) if words else []
    return frozenset(zip(words, words[1:], words[2:], strict=False))


@given(
    st.lists(st.lists(st.sampled_from("abc"), max_size=12).map(" ".join), max_size=8),
    st.sampled_from([0.2, 0.5, 2 / 3, 0.8, 1.0]),
)
def test_every_pair_is_found_and_no_other(several: list[str], at_least: float) -> None:
    texts = dict(enumerate(several))
    found = {(pair.first, pair.second): pair.similarity for pair in near_duplicates(texts, at_least).pairs}
    sets = {key: shingles(text) for key, text in texts.items() if text}
    firsts = {words: min(key for key in sets if sets[key] == words) for words in sets.values()}
    wanted = {(firsts[words], key): 1.0 for key, words in sets.items() if firsts[words] != key}
    for first, second in combinations(sorted(firsts.values()), 2):
        similarity = len(sets[first] & sets[second]) / len(sets[first] | sets[second])
        if similarity >= at_least - 1e-9:
            wanted[first, second] = similarity
    assert found == wanted


def test_a_long_page_header_that_all_share_hides_nothing() -> None:
    header = " ".join(f"h{number}" for number in range(100))
    texts = {number: f"{header} " + " ".join(f"t{number}x{word}" for word in range(150)) for number in range(40)}
    texts[99] = texts[7].replace("t7x75", "other")
    # 248 shingles each, of which the one word takes part in 3.
    assert near_duplicates(texts) == ([NearDuplicates(7, 99, 245 / 251)], True)


def templated(count: int) -> dict[int, str]:
    """Texts of 40 words that all have and two of their own."""
    same = " ".join(f"w{word}" for word in range(40))
    return {number: f"{same} item{number} price{number}" for number in range(count)}


def test_the_search_among_texts_from_one_template_ends_once_so_many_were_compared() -> None:
    # 1,999,000 pairs; of 40 shingles of three words each, 38 are in every text.
    found = near_duplicates(templated(2_000), most_compared=5_000)
    assert (len(found.pairs), found.is_all) == (5_000, False)
    assert {pair.similarity for pair in found.pairs} == {38 / 42}


def test_a_search_that_had_just_enough_left_has_found_all() -> None:
    # 10 * 9 / 2 pairs.
    assert near_duplicates(templated(10), most_compared=45).is_all
    assert not near_duplicates(templated(10), most_compared=44).is_all
    assert len(near_duplicates(templated(10), most_compared=44).pairs) == 44
    assert near_duplicates(templated(10), most_compared=0) == ([], False)

"""The texts most similar to one text, and the sentences in which two differ."""

import random

import pytest

from annotator.evaluation.search.near_duplicates import near_duplicates
from annotator.evaluation.search.similar_texts import differences, most_similar

WORDS = [f"w{number:03}" for number in range(400)]


def text(words: int, seed: int) -> str:
    chosen = random.Random(seed)  # noqa: S311 - not for secrets
    return " ".join(chosen.choice(WORDS) for _ in range(words))


def changed(original: str, share: float, seed: int) -> str:
    chosen = random.Random(seed)  # noqa: S311 - not for secrets
    return " ".join(chosen.choice(WORDS) if chosen.random() < share else word for word in original.split())


@pytest.mark.parametrize("seed", range(30))
def test_all_similar_texts_are_found_with_the_similarity_of_near_duplicates(seed: int) -> None:
    own = text([12, 60, 400][seed % 3], seed)
    others = {number: changed(own, number / 100, number) for number in range(1, 25)}
    others |= {number: text(100, number) for number in range(100, 140)}
    wanted = [pair for number, other in others.items() for pair in near_duplicates({0: own, number: other}, 0.5).pairs]
    found = most_similar(own, others.items(), most=100)
    assert {one.key: one.similarity for one in found} == {one.second: one.similarity for one in wanted}
    assert [one.similarity for one in found] == sorted((one.similarity for one in found), reverse=True)


def test_case_blanks_and_tags_make_no_difference() -> None:
    own = "<p>The cat sat on the mat.</p><p>It slept for the whole of a long day.</p>"
    other = "THE CAT sat\non the mat. It slept for the whole\n of a long day."
    assert [one.similarity for one in most_similar(own, [(1, own.upper()), (2, "Nothing of it.")])] == [1.0]
    assert differences(own, other) == ((), (), 0, 0)


def test_a_korean_text_is_similar_to_one_that_differs_in_a_word() -> None:
    own = "한국어 문서는 낱말의 끝이 바뀌므로 글자로 비교합니다. 그래서 비슷한 문서를 찾을 수 있습니다."
    assert [one.key for one in most_similar(own, [(1, own.replace("비슷한", "같은")), (2, "전혀 다른 글입니다.")])] == [
        1
    ]


@pytest.mark.parametrize("own", ["", "  ", "?!", "one"])
def test_a_text_with_hardly_a_word_is_similar_to_none_but_itself(own: str) -> None:
    assert [one.key for one in most_similar(own, [(1, "two"), (2, own)])] == ([2] if own == "one" else [])


def test_the_sentences_of_only_one_text_are_told_in_order_and_the_rest_counted() -> None:
    first = "One. Two! Three?\n\nFour. Two! 네 번째입니다. 一。二。"
    second = "one two. Two. four; Five. 二。三。"
    found = differences(first, second, most=3)
    assert (found.only_first, found.more_first) == (("One.", "Three?", "Four."), 3)
    assert (found.only_second, found.more_second) == (("one two.", "four; Five.", "三。"), 0)

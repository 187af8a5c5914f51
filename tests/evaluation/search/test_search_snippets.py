"""Snippets: what a query finds is marked where it stands, in the text as it is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.search.search_query import asked_in, parse_query
from annotator.evaluation.search.search_snippets import SNIPPET, mark, placed_words, snippet
from annotator.evaluation.search.search_text import Phrase, join_lines, words_of

SIGNS = st.sampled_from("aBé ß ﬁ 검색시 検索 ｶﾞ \t\n-'…\u2019\u201c\u2014\u00a0\u2011\u0301\u00ad")


def phrases(query: str) -> list[Phrase]:
    return [asked.phrase for asked in asked_in(parse_query(query), also_without=False)]


def shown(text: str, query: str) -> str:
    """A title with what is marked in brackets."""
    return "".join(f"[{part.text}]" if part.marked else part.text for part in mark(text, phrases(query)))


@pytest.mark.parametrize(
    ("text", "query", "marked"),
    [
        ("The cat sat", "CAT", "The [cat] sat"),
        ("Le Café noir", "cafe", "Le [Café] noir"),
        ("Le Cafe\u0301 noir", "café", "Le [Cafe\u0301] noir"),
        ("Nor cats nor a cat", "cat", "Nor cats nor a [cat]"),
        ("retrieval retrieves", "retriev*", "[retrieval] [retrieves]"),
        ("the cat, the mat", '"the mat"', "the cat, [the mat]"),
        ("검색시스템의 평가", "검색 평가", "[검색]시스템의 [평가]"),
        ("검색시스템의", "시스템", "검색[시스템]의"),
        ("한국어 검색……검색엔진", "엔진", "한국어 검색……검색[엔진]"),
        ("情報検\n索の評価", "検索", "情報[検索]の評価"),
        ("검색 검사", "검", "[검색] [검사]"),
        ("cats and dogs", "cats NOT dogs", "[cats] and dogs"),
        ("cats OR dogs", "cats OR dogs", "[cats] OR [dogs]"),
        ("nothing here", "cats", "nothing here"),
    ],
)
def test_what_is_found_is_marked(text: str, query: str, marked: str) -> None:
    assert shown(text, query) == marked


def test_a_snippet_is_the_part_with_the_most_in_it() -> None:
    text = "A cat. " + "Nothing of the kind. " * 40 + "The cat and the dog chase the cat. " + "The end. " * 40
    parts = snippet(text, phrases("cat dog"))
    assert [part.text for part in parts if part.marked] == ["cat", "dog", "cat"]
    whole = "".join(part.text for part in parts)
    assert whole.startswith("… ")
    assert whole.endswith(" …")
    assert len(whole) <= SNIPPET + 4


def test_a_snippet_without_anything_marked_is_the_beginning() -> None:
    [only, more] = snippet("The beginning. " * 100, phrases("cat"))
    assert only.text.startswith("The beginning. The")
    assert (more.text, more.marked) == (" …", False)


def test_a_short_text_is_its_own_snippet() -> None:
    assert snippet("  Two\n lines ", phrases("cat"))[0].text == "Two lines"
    assert snippet("", phrases("cat")) == ()


@given(st.text(SIGNS, max_size=40))
def test_the_words_with_places_are_the_words_of_the_text(text: str) -> None:
    assert [placed.word for placed in placed_words(join_lines(text))] == words_of(text)


@given(
    st.text(SIGNS, max_size=40), st.lists(st.sampled_from(["ab", "검색", "색", "fi*", '"b 검"', "検索"]), max_size=3)
)
def test_marking_neither_adds_nor_takes_away(text: str, queries: list[str]) -> None:
    wanted = [phrase for query in queries for phrase in phrases(query)]
    whole = "".join(part.text for part in mark(text, wanted))
    assert "".join(whole.split()) == "".join(text.split())

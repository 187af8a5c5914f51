"""The words of a text: the same for everybody who means the same, and pairs of signs where no blanks part the words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.evaluation.search.search_text import (
    BOUNDARY,
    LONGEST_WORD,
    MOST_BYTES,
    Phrase,
    fold,
    indexed_words,
    phrase_of,
    plain_text,
    words_of,
)

# Letters of many scripts, the signs that queries are written with, and what databases trip over.
SIGNS = st.sampled_from(
    "aBé ñ ß ﬁ İ Å ½ ① 검색시스템의 検索 ひらがな ｶﾞ ー हिन्दी ไทย й ё \t\n\u3000-_'\"()*:&|!\\%\x00\u0301\u00ad\u200d…🙂"
)
TEXTS = st.one_of(st.text(SIGNS, max_size=60), st.text(st.characters(exclude_categories=["Cs"]), max_size=40))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", []),
        ("The cat's 3 mats.", ["the", "cat", "s", "3", "mats"]),
        ("the \u201ccat\u2019s\u201d e\u2014mail\u2026", ["the", "cat", "s", "e", "mail"]),
        ("foo_bar e-mail C++", ["foo", "bar", "e", "mail", "c"]),
        ("Café naïve ÅNGSTRÖM", ["cafe", "naive", "angstrom"]),
        ("cafe\u0301", ["cafe"]),
        ("Straße ﬁnd İstanbul", ["strasse", "find", "istanbul"]),
        ("infor\u00admation", ["information"]),
        ("\uff26\uff55\uff4c\uff4c \uff11", ["full", "1"]),
        ("Ελλάδα ёлка", ["ελλαδα", "елка"]),
        ("हिन्दी में", ["हिन्दी", "में"]),
        # Every sign of a dense run begins a word: with the next one, the last one alone.
        ("검색시스템의", ["검색", "색시", "시스", "스템", "템의", "의"]),
        ("평가", ["평가", "가"]),
        ("検", ["検"]),
        ("検索エンジン", ["検索", "索エ", "エン", "ンジ", "ジン", "ン"]),
        # Half a width, half a voice: the sign of voicing is part of the letter, not an accent.
        ("ｶﾞｽ", ["ガス", "ス"]),
        ("ไทย", ["ไท", "ทย", "ย"]),
        ("RAG검색 3D", ["rag", "검색", "색", "3d"]),
        ("검색\u1100\u1165\u11b7", ["검색", "색검", "검"]),
        # A line of Chinese or Japanese goes on in the next one; Korean has blanks, and its line ends are such.
        ("情報検\n  索", ["情報", "報検", "検索", "索"]),
        ("情報検\n\n索", ["情報", "報検", "検", "索"]),
        ("검\n색", ["검", "색"]),
    ],
)
def test_the_words_of_a_text(text: str, words: list[str]) -> None:
    assert words_of(text) == words


@given(TEXTS)
def test_folding_twice_is_folding_once(text: str) -> None:
    assert fold(fold(text)) == fold(text)


@given(TEXTS)
def test_a_word_has_nothing_in_it_that_a_database_reads_as_more(text: str) -> None:
    for word in words_of(text):
        assert word
        assert len(word) <= LONGEST_WORD
        assert not any(sign.isspace() or (sign.isascii() and not sign.isalnum()) for sign in word)
        assert word == word.lower() or not word.isascii()
        assert BOUNDARY not in word


@pytest.mark.parametrize(
    ("asked", "phrase"),
    [
        ("cats", Phrase(("cats",))),
        ("e-mail", Phrase(("e", "mail"))),
        ("검색", Phrase(("검색",))),
        ("검색시", Phrase(("검색", "색시"))),
        # One sign is the beginning of a pair, or a word alone at the end of a run.
        ("검", Phrase(("검",), opens=True)),
        ("a검", Phrase(("a", "검"), opens=True)),
        # A run that something follows has ended where it ends.
        ("검색 a", Phrase(("검색", "색", "a"))),
        ("검색 색", Phrase(("검색", "색", "색"), opens=True)),
        ("검검", Phrase(("검검",))),
        ("!?", Phrase(())),
    ],
)
def test_what_to_look_for_where_a_text_was_asked_for(asked: str, phrase: Phrase) -> None:
    assert phrase_of(asked) == phrase


def test_the_beginning_of_a_word_may_go_on() -> None:
    assert phrase_of("retriev", opens=True) == Phrase(("retriev",), opens=True)
    assert phrase_of("검색", opens=True) == Phrase(("검색",))


def found(asked: str, text: str) -> bool:
    """Whether the words of a text have those of a phrase in a row: what both databases are to find."""
    phrase, words = phrase_of(asked), words_of(text)
    *before, last = phrase.words
    return any(
        words[at : at + len(before)] == before
        and (words[at + len(before)].startswith(last) if phrase.opens else words[at + len(before)] == last)
        for at in range(len(words) - len(before))
    )


DENSE_SIGNS = "검색시스템의평가検索情報ひらカナー"


@given(st.text(st.sampled_from(DENSE_SIGNS), min_size=1, max_size=5), st.text(st.sampled_from(DENSE_SIGNS), max_size=9))
def test_every_part_of_a_dense_run_is_found_and_nothing_else(asked: str, run: str) -> None:
    assert found(asked, f"a {run} b") == (asked in run)


@given(st.text(st.sampled_from(DENSE_SIGNS + "ab .\n"), max_size=20), st.data())
def test_whatever_stands_in_a_text_is_found_in_it(text: str, data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(text)))
    asked = text[start : data.draw(st.integers(start, len(text)))]
    inside_a_word = (text[start - 1 : start + 1].isalpha() and text[start - 1 : start + 1].isascii() and start) or (
        asked and asked[-1].isascii() and asked[-1].isalpha() and text[start + len(asked) :][:1] in {"a", "b"}
    )
    if words_of(asked) and not inside_a_word:
        assert found(asked, text)


def test_no_phrase_goes_from_title_to_body() -> None:
    assert indexed_words("Cat", "mats") == "cat · mats"
    assert indexed_words("", "") == BOUNDARY


@pytest.mark.parametrize(
    ("body", "text"),
    [
        ("<p>One<br>two</p><script>three()</script>", "One two"),
        ("<!-- no --><TEXT>Fish &amp; chips</TEXT>", "Fish & chips"),
        ("  <h1>검색</h1>시스템", "검색 시스템"),
        # Plain text may speak of tags.
        ("if a <b and c> d", "if a <b and c> d"),
        ("a < b", "a < b"),
    ],
)
def test_tags_are_no_words_where_a_body_begins_with_one(body: str, text: str) -> None:
    assert " ".join(plain_text(body).split()) == text


@pytest.mark.parametrize("sign", ["w", "검"])
def test_a_document_of_any_length_fits_into_the_index(sign: str) -> None:
    words = indexed_words("", " ".join(f"{sign}{number}" for number in range(200_000)))
    assert MOST_BYTES - 20 < len(words.encode()) <= MOST_BYTES
    assert words.startswith(f"· {sign}")

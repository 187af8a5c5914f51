"""Queries: what they mean, how they are written, and the sentence that every bad one gets."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator.errors import InvalidValueError
from annotator.evaluation.search.search_query import (
    DEEPEST,
    LONGEST_QUERY,
    MOST_WORDS,
    OPERATORS,
    All,
    AnyOf,
    Asked,
    Query,
    any_word_of,
    asked_in,
    fts5_of,
    parse_query,
    tsquery_of,
)

A, B, C, D = (Asked(letter) for letter in "abcd")


@pytest.mark.parametrize(
    ("text", "query"),
    [
        ("a", A),
        ("a b c", All((A, B, C))),
        ("a AND b c", All((A, B, C))),
        ("a OR b", AnyOf((A, B))),
        ("a b OR c d", AnyOf((All((A, B)), All((C, D))))),
        ("a (b OR c)", All((A, AnyOf((B, C))))),
        ("((a))", A),
        ("a NOT b", All((A,), (B,))),
        ("NOT b a", All((A,), (B,))),
        ("a AND NOT b", All((A,), (B,))),
        ("a NOT (b OR c) d", All((A, D), (AnyOf((B, C)),))),
        ("a OR b NOT c", AnyOf((A, All((B,), (C,))))),
        ("retriev*", Asked("retriev", opens=True)),
        ('"the  cat"', Asked("the cat", quoted=True)),
        ('"the ca"*', Asked("the ca", quoted=True, opens=True)),
        ("“the cat”", Asked("the cat", quoted=True)),
        ("\uff08a\u3000b\uff09", All((A, B))),
        ('"AND"', Asked("AND", quoted=True)),
        ("and", Asked("and")),
        ("검색 평가", All((Asked("검색"), Asked("평가")))),
        ('a"b"c', All((A, Asked("b", quoted=True), C))),
        ("a(b)c", All((A, B, C))),
        ("C++", Asked("C++")),
        ("가*", Asked("가", opens=True)),
    ],
)
def test_what_a_query_means(text: str, query: Query) -> None:
    assert parse_query(text) == query


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "nothing to search for"),
        (" \t\u3000", "nothing to search for"),
        ('cats "the mat', "The quotation mark at character 6 is not closed"),
        ('a ""', "The quotation marks at character 3 have nothing between them"),
        ('a "b*"', "inside quotation marks finds nothing (character 3)"),
        ("a ()", "The parentheses at character 3 have nothing between them"),
        ("(a", "The parenthesis at character 1 is not closed"),
        ("a (b", "The parenthesis at character 3 is not closed"),
        ("(", "The parenthesis at character 1 is not closed"),
        ("a)", "The parenthesis at character 2 closes nothing"),
        (")", "The parenthesis at character 1 closes nothing"),
        ("(a) b) c", "The parenthesis at character 6 closes nothing"),
        ("NOT a", "NOT at character 1 only excludes documents"),
        ("a OR NOT b", "NOT at character 6 only excludes documents"),
        ("a (NOT b)", "NOT at character 4 only excludes documents"),
        ("NOT", "NOT at character 1 has nothing behind it"),
        ("a NOT", "NOT at character 3 has nothing behind it"),
        ("a NOT NOT b", "NOT at character 3 has nothing behind it"),
        ("a NOT OR b", "NOT at character 3 has nothing behind it"),
        ("a AND", "AND at character 3 has nothing behind it"),
        ("a AND OR b", "AND at character 3 has nothing behind it"),
        ("a AND AND b", "AND at character 3 has nothing behind it"),
        ("(a AND)", "AND at character 4 has nothing behind it"),
        ("AND a", "AND at character 1 has nothing before it"),
        ("OR a", "OR at character 1 has nothing before it"),
        ("(OR a)", "OR at character 2 has nothing before it"),
        ("a OR", "OR at character 3 has nothing behind it"),
        ("a OR OR b", "OR at character 3 has nothing behind it"),
        ("a OR )", "OR at character 3 has nothing behind it"),
        ("a *", "A * alone is no word (character 3)"),
        ("re*val", "A * is possible only at the end of a word, as in “retriev*”, not as in “re*val” (character 1)"),
        ("*val", "A * is possible only at the end"),
        ("a**", "A * is possible only at the end"),
        ("a r*", "“r*” at character 3 is too short a beginning: write 2 letters or more"),
        ('"the r"*', '“"the r"*” at character 1 is too short a beginning'),
        ("a -b", "write NOT and a blank in place of the - at character 3"),
        ("a !?", "“!?” at character 3 has no letter and no digit"),
        ("🙂", "has no letter and no digit"),
        ("a\x00b", "cannot be stored"),
        ("x" * (LONGEST_QUERY + 1), "is too long: 1001 characters, where at most 1000"),
        ("w " * 101, "The query has 101 words, where at most 100"),
        ("검" + "색" * 101, "The query has 101 words"),
        ("(" * 11 + "a" + ")" * 11, "Parentheses are possible 10 deep"),
        ("(" * 1000, "Parentheses are possible 10 deep"),
    ],
)
def test_a_bad_query_gets_a_sentence_that_says_what_is_wrong_and_where(text: str, sentence: str) -> None:
    with pytest.raises(InvalidValueError, match=re.escape(sentence)):
        parse_query(text)


def test_the_longest_and_deepest_query_is_read() -> None:
    assert len(list(asked_in(parse_query("w " * MOST_WORDS)))) == MOST_WORDS
    assert parse_query("(" * DEEPEST + "a" + ")" * DEEPEST) == A


def test_what_not_leaves_out_is_no_reason_to_find_a_document() -> None:
    query = parse_query("a (b NOT c) NOT d")
    assert list(asked_in(query)) == [A, B, C, D]
    assert list(asked_in(query, also_without=False)) == [A, B]


@pytest.mark.parametrize(
    ("text", "fts5", "tsquery"),
    [
        ("Cats", '"cats"', "('cats')"),
        ("e-mail*", '"e mail" *', "('e' & 'mail':*)"),
        ("검색시", '"검색 색시"', "('검색' & '색시')"),
        ("a b NOT c", '(("a" AND "b") NOT "c")', "(('a') & ('b'))"),
        ("a OR b", '("a" OR "b")', "(('a') | ('b'))"),
    ],
)
def test_how_each_database_reads_a_query(text: str, fts5: str, tsquery: str) -> None:
    assert (fts5_of(parse_query(text)), tsquery_of(parse_query(text))) == (fts5, tsquery)


WORDS = st.text(st.sampled_from("abcXé검색検ー1-'"), min_size=2, max_size=6).filter(
    lambda word: any(sign.isalnum() for sign in word) and not word.startswith("-")
)
PHRASES = st.lists(st.one_of(WORDS, st.sampled_from([*OPERATORS, "-", "(", "!"])), min_size=1, max_size=3).map(" ".join)
LEAVES = st.one_of(
    st.builds(Asked, WORDS, opens=st.booleans()), st.builds(Asked, PHRASES, st.just(value=True), st.booleans())
).filter(lambda asked: bool(asked.phrase.words) and len(asked.phrase.words[-1]) > 1)


def branches(inner: st.SearchStrategy[Query]) -> st.SearchStrategy[Query]:
    many = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(AnyOf, many),
        st.builds(All, many, st.lists(inner, max_size=2).map(tuple)),
        st.builds(All, inner.map(lambda one: (one,)), st.lists(inner, min_size=1, max_size=2).map(tuple)),
    )


QUERIES: st.SearchStrategy[Query] = st.recursive(LEAVES, branches, max_leaves=8)


@given(QUERIES)
def test_a_tree_is_written_so_that_it_reads_back_the_same(query: Query) -> None:
    assert parse_query(str(query)) == query


# Words, operators and everything that means something to FTS5, to tsquery or to SQL.
PIECES = st.sampled_from(
    [*"ab검()\"*^+-:{}'\\&|!<>%;\x00\ud800🙂 ", " AND ", " OR ", " NOT ", "NEAR(", "--", "words:", "ab"]
)


@given(st.lists(PIECES, max_size=25).map("".join))
def test_whatever_is_typed_is_read_or_refused_in_a_sentence_and_reaches_no_database_as_it_is(text: str) -> None:
    try:
        query = parse_query(text)
    except InvalidValueError:
        return
    assert parse_query(str(query)) == query
    assert re.fullmatch(r'(?:"[\w ]+"(?: \*)?|[() ]|AND|OR|NOT)+', fts5_of(query))
    assert re.fullmatch(r"(?:'\w+'(?::\*)?|[()&| ])+", tsquery_of(query))


@pytest.mark.parametrize(
    ("title", "query"),
    [
        ("solar panel prices", "solar OR panel OR prices"),
        ("To be OR NOT to be?", "To OR be OR or OR not"),
        ("state-of-the-art “C++” (2020)*", "state OR of OR the OR art OR C OR 2020"),
        ("Café, cafe: CAFÉ", "Café"),
        ("검색 시스템의 평가", "검색 OR 시스템의 OR 평가"),
        ("…?", ""),
        (" ".join(f"w{number}" for number in range(200)), " OR ".join(f"w{number}" for number in range(MOST_WORDS))),
    ],
)
def test_a_title_becomes_a_query_for_any_of_its_words(title: str, query: str) -> None:
    assert any_word_of(title) == query


@given(
    st.text(max_size=60) | st.lists(st.sampled_from(["AND", "or", "NOT", "-x", "a*", '"', "(", "검색"])).map(" ".join)
)
def test_a_query_for_any_word_can_be_read(title: str) -> None:
    query = any_word_of(title)
    if query:
        assert isinstance(parse_query(query), Asked | AnyOf)


def test_a_query_for_any_word_is_no_longer_than_queries_may_be() -> None:
    assert len(any_word_of(" ".join(f"{number:090}" for number in range(50)))) <= LONGEST_QUERY

"""The search systems search, each in its own way, and write runs that trec_eval reads in the same order."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from math import log, sqrt
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given
from hypothesis import strategies as st

from annotator import demonstration
from annotator.demonstration import systems
from annotator.demonstration.corpus import PythonDocument, python_documents
from annotator.demonstration.systems import SYSTEMS, Hit, name_in_words, ranked, trigrams, words
from annotator.errors import AnnotatorError

POOL_DEPTH = 10


@dataclass(frozen=True)
class Topic:
    """A topic as its file gives it."""

    number: str
    title: str
    description: str = ""
    narrative: str = ""


def demonstration_topics() -> list[Topic]:
    source = Path(str(demonstration.__file__)).with_name("topics.xml")
    elements = ET.parse(source).getroot()  # noqa: S314 - our own file
    fields = ("title", "description", "narrative")
    return [Topic(str(e.get("number")), *(e.findtext(field) or "" for field in fields)) for e in elements]


TOPICS = demonstration_topics()


@pytest.fixture(scope="module")
def documents() -> list[PythonDocument]:
    return python_documents()


@pytest.fixture(scope="module")
def pools(documents: list[PythonDocument]) -> dict[str, dict[str, list[str]]]:
    """The first docnos of each system and topic."""
    return {
        tag: {number: [hit.docno for hit in hits] for number, hits in found.items()}
        for tag, system in SYSTEMS.items()
        for found in [system.search(documents, TOPICS, POOL_DEPTH)]
    }


def corpus_of(**bodies: str) -> list[PythonDocument]:
    return [PythonDocument(docno, docno, body) for docno, body in bodies.items()]


def found(tag: str, corpus: Sequence[PythonDocument], title: str, description: str = "") -> dict[str, float]:
    return dict(SYSTEMS[tag].search(corpus, [Topic("1", title, description)])["1"])


# Three documents of two words each, so that all are of average length; one holds the word asked for.
# BM25 = idf x tf (k1 + 1) / (tf + k1) with k1 = 1.2, b = 0.75; idf = ln((N - n + 0.5) / (n + 0.5)) = ln(2.5 / 1.5).
THREE = {"kite": "red", "oak": "tall", "pond": "deep"}
IDF = log(2.5 / 1.5)


@pytest.mark.parametrize(
    ("tag", "title", "description", "docno", "score"),
    [
        ("bm25-plain", "red", "", "kite", IDF),  # tf = 1: 2.2 / 2.2
        ("bm25-porter", "reds", "", "kite", IDF),  # the stem is the same
        ("bm25-description", "oak", "the red", "kite", IDF),  # "the" is a stop word, the title is not asked
        ("bm25-names", "kite", "", "kite", IDF * 10 * 2.2 / 11.2),  # twice in the name, 5 each: tf = 10
        ("bm25-names", "red", "", "kite", IDF),  # once in the body
        # Two words that only this document has, of equal weight: each 1 / sqrt(2) of the document's vector.
        ("tfidf-cosine", "red", "", "kite", 1 / sqrt(2)),
        ("tfidf-cosine", "kite red", "", "kite", 1.0),
        # kite red: " ki", "kit", "ite", "te ", " re", "red", "ed " are seven trigrams that only this document has;
        # the request "red" has three of them.
        ("trigram-summary", "red", "", "kite", 3 / (sqrt(3) * sqrt(7))),
    ],
)
def test_scores_are_as_computed_by_hand(tag: str, title: str, description: str, docno: str, score: float) -> None:
    assert found(tag, corpus_of(**THREE), title, description) == {docno: pytest.approx(score, abs=1e-6)}


def test_a_word_twice_weighs_one_plus_the_logarithm_of_two() -> None:
    # a1 holds x twice and y once, b1 only z: idf is ln 2 throughout, and a1 itself is a word of a1.
    twice = 1 + log(2)
    expected = twice / sqrt(twice**2 + 1 + 1)
    assert found("tfidf-cosine", corpus_of(a1="x y x", b1="z"), "x") == {"a1": pytest.approx(expected, abs=1e-6)}


def test_only_stemming_finds_another_form_of_a_word() -> None:
    corpus = corpus_of(f1="splitting strings", f2="joining lists", f3="nothing else")
    assert found("bm25-plain", corpus, "split") == {}
    assert found("bm25-porter", corpus, "split").keys() == {"f1"}


def test_names_are_found_by_the_words_they_are_made_of() -> None:
    corpus = corpus_of(threadPool="workers", other="nothing", third="nothing at all")
    assert found("bm25-porter", corpus, "pool") == {}
    assert found("bm25-names", corpus, "pool").keys() == {"threadPool"}


def test_trigrams_find_parts_of_words_but_only_in_the_summary() -> None:
    corpus = corpus_of(f1="decompressing", f2="other\n\ncompress")
    assert found("trigram-summary", corpus, "compress").keys() == {"f1"}


@pytest.mark.parametrize("tag", SYSTEMS)
@pytest.mark.parametrize("request_text", ["", "?!", "the", "zzzyx"])
def test_a_request_that_meets_nothing_gets_nothing(tag: str, request_text: str) -> None:
    assert found(tag, corpus_of(**THREE), request_text, request_text) == {}


@pytest.mark.parametrize("tag", SYSTEMS)
@pytest.mark.parametrize("request_text", ['"red', "red AND (", "NEAR(red", "name: red *", "red' --", "-red ^"])
def test_signs_of_the_search_language_are_only_text(tag: str, request_text: str) -> None:
    assert "kite" in found(tag, corpus_of(**THREE), request_text, request_text)


@pytest.mark.parametrize("tag", SYSTEMS)
def test_an_empty_corpus_has_no_answers(tag: str) -> None:
    assert found(tag, [], "red", "red") == {}


def test_no_more_than_depth_documents_are_given() -> None:
    corpus = corpus_of(**{f"d{i}": "red" for i in range(5)}, other="blue", third="green", e="x", f="y", g="z", h="q")
    hits = SYSTEMS["tfidf-cosine"].search(corpus, [Topic("1", "red")], depth=3)["1"]
    assert [hit.docno for hit in hits] == ["d4", "d3", "d2"]  # all tied, so by docno, descending


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("functools.lru_cache", "functools lru cache"),
        ("http.server.HTTPServer", "http server HTTP Server"),
        ("threadPool", "thread Pool"),
        ("base64.b64decode", "base64 b64decode"),
    ],
)
def test_names_are_split_at_dots_underscores_and_humps(name: str, expected: str) -> None:
    assert name_in_words(name) == expected


def test_trigrams_begin_and_end_with_the_word() -> None:
    assert trigrams("Red a") == [" re", "red", "ed ", " a "]


def test_words_are_letters_and_digits_in_lower_case() -> None:
    assert words("Snake_case, x2: Größe!") == ["snake", "case", "x2", "größe"]


def test_order_is_by_the_printed_score_and_ties_by_docno_descending() -> None:
    hits = [Hit("a", 0.5), Hit("b", 0.5000001), Hit("c", 0.5), Hit("d", 0.9), Hit("e", 0.0000001), Hit("f", -1.0)]
    assert ranked(hits) == [Hit("d", 0.9), Hit("c", 0.5), Hit("b", 0.5), Hit("a", 0.5)]


@given(st.dictionaries(st.from_regex(r"[a-z]{1,3}", fullmatch=True), st.floats(-1, 9), max_size=20))
def test_order_does_not_depend_on_the_order_of_discovery(scores: dict[str, float]) -> None:
    hits = [Hit(docno, score) for docno, score in scores.items()]
    assert ranked(hits) == ranked(reversed(hits))


def test_a_run_has_trecs_six_columns() -> None:
    text = SYSTEMS["bm25-plain"].run_lines(corpus_of(**THREE), [Topic("7", "red"), Topic("2", "deep")])
    # ln(2.5 / 1.5) = 0.5108256...
    assert text == "7 Q0 kite 1 0.510826 bm25-plain\n2 Q0 pond 1 0.510826 bm25-plain\n"


def test_a_machine_without_full_text_search_is_told_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(systems, "FULL_TEXT_MODULE", "fts_of_the_future")
    with pytest.raises(AnnotatorError, match=r"no full-text search.*no such module: fts_of_the_future"):
        found("bm25-plain", corpus_of(**THREE), "red")


def test_systems_are_filed_under_their_run_tags() -> None:
    assert len(SYSTEMS) >= 5
    for tag, system in SYSTEMS.items():
        assert system.tag == tag
        assert tag.replace("-", "").isalnum()
        assert system.description


def test_topics_are_numbered_and_complete() -> None:
    assert [topic.number for topic in TOPICS] == [str(number) for number in range(1, 15)]
    for topic in TOPICS:
        assert topic.title
        assert topic.description
        for beginning in ("Highly relevant: ", " Relevant: ", " Not relevant: "):
            assert beginning in topic.narrative, topic.number


@pytest.mark.parametrize("topic", TOPICS, ids=lambda topic: topic.title)
def test_every_topic_gives_a_pool_worth_judging(topic: Topic, pools: dict[str, dict[str, list[str]]]) -> None:
    assert all(len(found[topic.number]) == POOL_DEPTH for found in pools.values())
    assert 15 <= len({docno for found in pools.values() for docno in found[topic.number]}) <= 45


@pytest.mark.parametrize(("one", "other"), list(combinations(SYSTEMS, 2)))
def test_no_two_systems_answer_alike(one: str, other: str, pools: dict[str, dict[str, list[str]]]) -> None:
    different = [topic.title for topic in TOPICS if set(pools[one][topic.number]) != set(pools[other][topic.number])]
    assert len(different) >= len(TOPICS) - 4

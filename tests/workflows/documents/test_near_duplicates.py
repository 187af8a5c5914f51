"""Near-duplicates as organisers see them: which documents, how similar, how they were graded; and identical ones."""

import pytest
from beginning import beginning
from build import LIMIT, SLUG, labels, news, pool, run, topic_file
from sqlalchemy import update
from sqlalchemy.orm import Session

from annotator.errors import InvalidValueError, NotFoundError
from annotator.files import InputFile
from annotator.storage import User, UserKind
from annotator.workflows.documents import documents
from annotator.workflows.documents.near_duplicates import (
    IdenticalDocument,
    SimilarDocument,
    SimilarPair,
    show_likeness,
    topics_to_compare,
)
from annotator.workflows.topics import topic_editing

# Ten words have eight shingles of three. One word more at the end adds a ninth: 8 of 9 are common. Another first word
# changes one of eight: 7 of 9 are common.
TEN = "one two three four five six seven eight nine ten"
TEXTS = {
    "a": TEN,
    "b": f"{TEN} eleven",
    "c": TEN.replace("one", "uno"),
    "d": "something else that has nothing to do with the others",
    "e": "The very same text, twice.",
    "f": "The very same text, twice.",
}


@pytest.fixture
def pooled(session: Session) -> Session:
    """A session over pools of texts, many of which resemble others."""
    pooled_texts(session)
    return session


@beginning
def pooled_texts(session: Session) -> None:
    """Two topics, the first with all texts, the second with two that differ, and one without a text."""
    news(session)
    topic_file(session, "1\tfirst topic\n2\tsecond topic\n3\tthird topic\n")
    text = "".join(f"{docno}\tTitle\t{body}\n" for docno, body in TEXTS.items())
    read = documents.read_documents([InputFile("d.tsv", text.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read)
    run(session, "alpha", {"1": list(TEXTS), "2": ["a", "d", "notext"]})
    pool(session)


def document(docno: str, *grades: tuple[str, int]) -> SimilarDocument:
    return SimilarDocument(docno, "Title", grades)


def test_pairs_are_found_the_most_similar_first(pooled: Session) -> None:
    found = show_likeness(pooled, SLUG, "1", 0.7)
    assert (found.number, found.title, found.documents) == ("1", "first topic", 5)
    assert found.pairs == (
        SimilarPair(document("a"), document("b"), 8 / 9),
        SimilarPair(document("a"), document("c"), 7 / 9),
        SimilarPair(document("b"), document("c"), 7 / 10),
    )
    usual = show_likeness(pooled, SLUG, "1").pairs
    assert usual is not None
    assert [(pair.first.docno, pair.second.docno) for pair in usual] == [("a", "b")]
    assert show_likeness(pooled, SLUG, "2").pairs == ()


def test_it_is_told_whether_both_were_graded_and_whether_alike(pooled: Session) -> None:
    labels(pooled, "jo", "1 0 a 2\n1 0 b 1\n")
    labels(pooled, "kim", "1 0 a 2\n")
    pairs = show_likeness(pooled, SLUG, "1", 0.75).pairs
    assert pairs is not None
    assert (pairs[0].first, pairs[0].second) == (document("a", ("jo", 2), ("kim", 2)), document("b", ("jo", 1)))
    assert [pair.differs for pair in pairs] == [True, None]
    labels(pooled, "jo", "1 0 b 2\n", name="again.txt")
    pairs = show_likeness(pooled, SLUG, "1", 0.75).pairs
    assert pairs is not None
    assert [pair.differs for pair in pairs] == [False, None]


def test_identical_documents_stand_apart_with_what_was_taken_over(pooled: Session) -> None:
    assert show_likeness(pooled, SLUG, "1").identical == (IdenticalDocument("f", "e", "Title", 0),)
    labels(pooled, "jo", "1 0 e 2\n")
    assert show_likeness(pooled, SLUG, "1").identical == (IdenticalDocument("f", "e", "Title", 1),)
    assert show_likeness(pooled, SLUG, "2").identical == ()


def test_more_text_than_was_allowed_is_not_compared(pooled: Session) -> None:
    characters = sum(len(body) for docno, body in TEXTS.items() if docno != "f")
    assert show_likeness(pooled, SLUG, "1", most_characters=characters).pairs is not None
    found = show_likeness(pooled, SLUG, "1", most_characters=characters - 1)
    assert found.pairs is None
    assert (found.documents, len(found.identical)) == (5, 1)


def test_where_more_pairs_are_alike_than_may_be_compared_there_are_more(pooled: Session) -> None:
    assert not show_likeness(pooled, SLUG, "1", 0.7, most_compared=3).more
    found = show_likeness(pooled, SLUG, "1", 0.7, most_compared=2)
    assert found.pairs is not None
    assert (len(found.pairs), found.more) == (2, True)


def test_topics_that_can_be_compared_are_accepted_and_pooled(pooled: Session) -> None:
    assert topics_to_compare(pooled, SLUG) == ["1", "2"]
    topic_editing.drop_topics(pooled, SLUG, ["1"], reason="Too broad.")
    assert topics_to_compare(pooled, SLUG) == ["2"]
    with pytest.raises(NotFoundError, match="no topic “1”"):
        show_likeness(pooled, SLUG, "1")


@pytest.mark.parametrize("at_least", [0.49, 1.01, float("nan")])
def test_a_similarity_that_cannot_be_is_refused(pooled: Session, at_least: float) -> None:
    with pytest.raises(InvalidValueError, match="The similarity is from"):
        show_likeness(pooled, SLUG, "1", at_least)


def test_what_a_machine_said_is_not_among_the_grades(pooled: Session) -> None:
    labels(pooled, "jo", "1 0 a 2\n1 0 b 2\n")
    labels(pooled, "bot", "1 0 b 0\n", name="bot.txt")
    pooled.execute(update(User).where(User.name == "bot").values(kind=UserKind.MACHINE))
    pairs = show_likeness(pooled, SLUG, "1").pairs
    assert pairs is not None
    assert (pairs[0].second, pairs[0].differs) == (document("b", ("jo", 2)), False)

"""Documents are indexed some at a time after their import: all of them, once, and as their texts are by then."""

import threading
import time

import pytest
from build import LIMIT, SLUG, news
from sqlalchemy import select, update
from sqlalchemy.orm import Session
from workflows.judging.test_at_once import at_once, count

from annotator.errors import NotFoundError
from annotator.files import InputFile
from annotator.storage import Database, Document, DocumentWords
from annotator.workflows.documents import documents, search


def imported(session: Session, texts: dict[str, str], *, slug: str = SLUG) -> None:
    """Documents by docno, which nobody has indexed."""
    lines = "".join(f"{docno}\t{text}\n" for docno, text in texts.items())
    read = documents.read_documents([InputFile("d.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, slug, read, index_at_once=False)


def found(database: Database, query: str) -> list[str]:
    """The docnos that a query finds."""
    with database.reading() as session:
        return sorted(hit.docno for hit in search.find_documents(session, SLUG, query).hits)


def left(database: Database, slug: str = SLUG) -> int:
    with database.reading() as session:
        return search.count_not_indexed(session, slug)


@pytest.fixture
def waiting(database: Database) -> Database:
    """Five documents that are not indexed, one that is, one without a text, and one of another collection."""
    with database.transaction() as session:
        news(session)
        news(session, "other")
        imported(session, {"old": "cat"})
        assert search.index_some(session, search.words_to_index(session)) == 1
        imported(session, dict.fromkeys("abcde", "cat"))
        imported(session, {"elsewhere": "cat"}, slug="other")
        collection_id = session.scalars(select(Document.collection_id).where(Document.docno == "a")).one()
        session.add(Document(collection_id=collection_id, docno="bodiless"))
    return database


def test_slices_index_all_that_lack_words_and_nothing_else(waiting: Database) -> None:
    assert (found(waiting, "cat"), left(waiting), left(waiting, "other")) == (["old"], 5, 1)
    with waiting.transaction() as session:
        several = search.words_to_index(session, most=2)
        assert search.index_some(session, several) == 2
    assert (found(waiting, "cat"), left(waiting), left(waiting, "other")) == (["a", "b", "old"], 3, 1)
    assert list(search.index_rest(waiting)) == [4]
    assert (found(waiting, "cat"), left(waiting), left(waiting, "other")) == (["a", "b", "c", "d", "e", "old"], 0, 0)
    assert list(search.index_rest(waiting)) == []
    assert count(waiting, DocumentWords) == 7


def test_slices_go_on_where_the_last_one_ended(waiting: Database) -> None:
    with waiting.reading() as session:
        first = search.words_to_index(session, most=4)
        second = search.words_to_index(session, after=first[-1].document_id, most=4)
        assert search.words_to_index(session, after=second[-1].document_id) == []
    assert [len(first), len(second)] == [4, 2]


def test_what_was_broken_off_between_slices_is_gone_on_with(waiting: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search.words_to_index, "__kwdefaults__", {"after": 0, "most": 2})
    for indexed in search.index_rest(waiting):
        assert indexed == 2
        break
    assert (found(waiting, "cat"), left(waiting)) == (["a", "b", "old"], 3)
    assert list(search.index_rest(waiting)) == [2, 2]
    assert left(waiting) == 0


def test_a_slice_that_fails_leaves_nothing_half_done(waiting: Database) -> None:
    def fail() -> None:
        with waiting.transaction() as session:
            search.index_some(session, search.words_to_index(session))
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert (found(waiting, "cat"), left(waiting)) == (["old"], 5)
    assert list(search.index_rest(waiting)) == [6]
    assert found(waiting, "cat") == ["a", "b", "c", "d", "e", "old"]


def test_a_text_that_was_replaced_is_found_by_its_new_words_only(waiting: Database) -> None:
    with waiting.transaction() as session:
        imported(session, {"old": "dog"})
    assert (found(waiting, "cat OR dog"), left(waiting)) == ([], 6)
    list(search.index_rest(waiting))
    assert (found(waiting, "dog"), found(waiting, "cat")) == (["old"], ["a", "b", "c", "d", "e"])


def test_words_of_a_text_that_has_changed_meanwhile_are_not_stored(waiting: Database) -> None:
    with waiting.reading() as session:
        several = search.words_to_index(session)
    with waiting.transaction() as session:
        imported(session, {"a": "dog"})
    with waiting.transaction() as session:
        assert search.index_some(session, several) == 5
    assert (found(waiting, "dog"), left(waiting)) == ([], 1)
    list(search.index_rest(waiting))
    assert (found(waiting, "dog"), "a" in found(waiting, "cat")) == (["a"], False)


def test_two_who_index_at_once_do_not_clash(waiting: Database) -> None:
    with waiting.transaction() as session:
        imported(session, {f"d{number}": "cat" for number in range(200)})
    with waiting.reading() as session:
        several = search.words_to_index(session)
    counts: list[int] = []

    def index(session: Session) -> None:
        counts.append(search.index_some(session, several))

    assert at_once(waiting, index, index, index) == []
    # Whoever came late left what was locked; what one has locked, one has stored.
    assert sum(counts) == len(several) == 206
    assert left(waiting) == 0


def test_indexing_leaves_what_somebody_else_is_changing(postgres_database: Database) -> None:
    with postgres_database.transaction() as session:
        news(session)
        imported(session, {"a": "cat", "b": "cat"})
    with postgres_database.transaction() as changing:
        changing.execute(update(Document).where(Document.docno == "a").values(url="https://a.org"))
        assert list(search.index_rest(postgres_database)) == [1]
    assert (found(postgres_database, "cat"), left(postgres_database)) == (["b"], 1)
    assert list(search.index_rest(postgres_database)) == [1]


def test_an_index_made_anew_while_somebody_indexes_is_whole(waiting: Database) -> None:
    with waiting.reading() as session:
        several = search.words_to_index(session)
    indexed = threading.Event()

    def index(session: Session) -> None:
        search.index_some(session, several)
        indexed.set()
        # So that the other begins before this is stored.
        time.sleep(0.2)

    def index_anew(session: Session) -> None:
        indexed.wait(60)
        documents.index_collection(session, SLUG)

    assert at_once(waiting, index, index_anew) == []
    assert found(waiting, "cat") == ["a", "b", "c", "d", "e", "old"]


def test_there_is_nothing_to_count_where_there_is_no_collection(waiting: Database) -> None:
    with waiting.reading() as session, pytest.raises(NotFoundError, match="no collection “none”"):
        search.count_not_indexed(session, "none")

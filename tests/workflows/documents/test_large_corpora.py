"""What a search does when too many documents match to be ranked, and what is read when nothing has changed."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from build import LIMIT, NOW, SLUG, news
from sqlalchemy import event, select, text
from sqlalchemy.orm import Session

from annotator.evaluation.search.search_query import parse_query
from annotator.files import InputFile
from annotator.storage import Database, Document, DocumentWords
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.documents import search as stored_search
from annotator.storage.tables.collections import Door
from annotator.worker.working import Indexing
from annotator.workflows.documents import documents, search
from annotator.workflows.documents.search import SearchPage

MOST = 4


@pytest.fixture
def few(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rank so few that tests need no large corpus."""
    monkeypatch.setattr(stored_search, "MOST_RANKED", MOST)


def imported(session: Session, texts: dict[str, str], *, index: bool = True) -> None:
    """Import texts by docno, as a command does."""
    lines = "".join(f"{docno}\t{body}\n" for docno, body in texts.items())
    read = documents.read_documents([InputFile("d.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
    documents.import_documents(session, SLUG, read, index_at_once=index)
    details = {"added": 0, "filled": 0, "changed": 0, "unchanged": 0}
    record_in(session, Actor(Door.COMMAND, "ola"), "documents.import", SLUG, at=NOW, details=details)


def listed(page: SearchPage) -> list[str]:
    return [hit.docno for hit in page.hits]


@pytest.fixture
def corpus(session: Session) -> Session:
    """Ten documents have “the”, three of them “cat” and two “dog”; they were imported from z to a."""
    news(session)
    words = ["the", "the", "the cat", "the", "the cat cat", "the", "the dog", "the", "the dog cat", "the"]
    imported(session, dict(zip("zyxwvutsrq", words, strict=True)))
    return session


@pytest.mark.usefixtures("few")
def test_too_many_matches_are_listed_in_order_of_import(corpus: Session) -> None:
    page = search.find_documents(corpus, SLUG, "the")
    assert (page.total, page.more) == (MOST, True)
    assert listed(page) == ["z", "y", "x", "w"]
    pages = [search.find_documents(corpus, SLUG, "the", first=first, most=3) for first in (0, 3, 6)]
    assert [docno for one in pages for docno in listed(one)] == listed(page)
    assert sorted(listed(search.find_documents(corpus, SLUG, '"the cat"'))) == ["v", "x"]
    assert search.find_documents(corpus, SLUG, "the", first=8).hits == ()


@pytest.mark.usefixtures("few")
def test_as_many_as_are_ranked_are_ranked(corpus: Session) -> None:
    page = search.find_documents(corpus, SLUG, "cat OR dog")
    assert (page.total, page.more, sorted(listed(page))) == (4, False, ["r", "t", "v", "x"])


@pytest.mark.usefixtures("few")
def test_of_words_joined_by_or_the_rarest_decide(corpus: Session) -> None:
    page = search.find_documents(corpus, SLUG, "the OR dog OR zebra")
    assert (page.total, page.more, sorted(listed(page))) == (2, True, ["r", "t"])
    page = search.find_documents(corpus, SLUG, 'the OR cat OR "dog cat"')
    assert (page.total, page.more, sorted(listed(page))) == (3, True, ["r", "v", "x"])
    # All of its parts are frequent.
    page = search.find_documents(corpus, SLUG, "the OR (the NOT zebra)")
    assert (page.total, page.more, listed(page)) == (MOST, True, ["z", "y", "x", "w"])


@pytest.mark.parametrize("few_ids", [0, 100])
def test_a_document_that_was_found_is_known_as_found(
    corpus: Session, monkeypatch: pytest.MonkeyPatch, few_ids: int
) -> None:
    monkeypatch.setattr(stored_search, "FEW_IDS", few_ids)
    page = search.find_documents(corpus, SLUG, "cat")
    ids = {docno: id_ for docno, id_ in corpus.query(Document.docno, Document.id)}
    wanted = search.condition_of(parse_query("cat NOT dog"))
    collection_id = corpus.scalars(select(Document.collection_id)).first() or 0
    found = stored_search.found_among(corpus, collection_id, wanted, [ids[docno] for docno in listed(page)])
    assert found == {ids["v"], ids["x"]}


@contextmanager
def counting(database: Database) -> Iterator[list[str]]:
    """The statements that read all documents of a collection to count those without words."""
    asked: list[str] = []

    def note(_connection: object, _cursor: object, statement: str, *_: object) -> None:
        if "NOT (EXISTS" in statement:
            asked.append(statement)

    event.listen(database.engine, "before_cursor_execute", note)
    try:
        yield asked
    finally:
        event.remove(database.engine, "before_cursor_execute", note)


def not_indexed(database: Database) -> int:
    return database.read(search.count_not_indexed, SLUG)


def test_documents_are_counted_once_and_again_after_an_import(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        imported(session, {"a": "cat"})
    with database.transaction() as session:
        collection_id = session.scalars(select(Document.collection_id)).one()
        # By a run; as long as all documents have texts, SQLite need not look at each.
        session.add(Document(collection_id=collection_id, docno="without text"))
    with counting(database) as asked:
        assert [not_indexed(database), not_indexed(database)] == [0, 0]
        assert len(asked) == 1
        with database.transaction() as session:
            imported(session, {"a": "dog"}, index=False)
        assert [not_indexed(database), not_indexed(database)] == [1, 1]
        assert len(asked) == 3
        list(search.index_rest(database))
        del asked[:]
        assert [not_indexed(database), not_indexed(database)] == [0, 0]
        assert len(asked) == 1


def test_sqlite_looks_at_no_document_when_all_are_indexed(sqlite_database: Database) -> None:
    with sqlite_database.transaction() as session:
        news(session)
        imported(session, {"a": "cat", "b": ""})
    with counting(sqlite_database) as asked:
        assert not_indexed(sqlite_database) == 0
        assert not asked


def test_a_batch_has_as_many_characters_as_it_may(database: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    with database.transaction() as session:
        news(session)
        imported(session, dict.fromkeys("abcde", "cat " * 5), index=False)
    monkeypatch.setattr(search, "CHARACTERS_OF_A_BATCH", 25)
    assert list(search.index_rest(database)) == [2, 2, 1]
    assert not_indexed(database) == 0


def test_sqlite_merges_its_index_when_all_is_indexed(sqlite_database: Database) -> None:
    def segments() -> int:
        with sqlite_database.reading() as session:
            return int(session.scalar(text("SELECT count(DISTINCT segid) FROM document_words_index_idx")) or 0)

    with sqlite_database.transaction() as session:
        news(session)
        imported(session, {f"d{number}": f"cat {number}" for number in range(20)}, index=False)
        stored_search.tune_index(session)
    after = 0
    for _ in range(10):
        with sqlite_database.transaction() as session:
            some = search.words_to_index(session, after=after, most=2)
            search.index_some(session, some)
        after = some[-1].document_id
    assert segments() == 10
    assert list(search.index_rest(sqlite_database)) == []
    assert segments() < 4
    with sqlite_database.transaction() as session:
        assert search.find_documents(session, SLUG, "cat").total == 20
        rows = session.execute(text("SELECT k, v FROM document_words_index_config"))
        assert {name: value for name, value in rows}.items() >= stored_search.FTS5_OPTIONS.items()
        assert not stored_search.merge_index(session)


def test_postgresql_has_nothing_to_tune_or_to_merge(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        stored_search.tune_index(session)
        assert not stored_search.merge_index(session)


def test_the_worker_reads_the_documents_again_after_an_import_or_an_hour(
    database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    seconds = [0.0]
    monkeypatch.setattr("annotator.worker.working.time.monotonic", lambda: seconds[0])
    with database.transaction() as session:
        news(session)
        imported(session, {"a": "cat"}, index=False)
    indexing = Indexing(database)
    with counting(database) as asked:
        assert [indexing.step() for _ in range(3)] == [True, False, False]
        looks = len(asked)
        seconds[0] += 61
        assert (indexing.step(), len(asked)) == (False, looks)
        with database.transaction() as session:
            imported(session, {"b": "cat"}, index=False)
        seconds[0] += 61
        assert [indexing.step() for _ in range(2)] == [True, False]
        with database.transaction() as session:
            session.query(DocumentWords).delete()
        seconds[0] += 61
        assert not indexing.step()
        seconds[0] += 3_600
        while indexing.step():
            pass
    assert not_indexed(database) == 0

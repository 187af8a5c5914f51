"""An index of SQLite that was deleted or damaged beneath a running server, and a disk that fills while indexing."""

import sqlite3

import pytest
from build import LIMIT, NOW, SLUG, news
from sqlalchemy import event, text
from sqlalchemy.exc import OperationalError

from annotator.errors import BusyError
from annotator.files import InputFile
from annotator.storage import Database
from annotator.storage.collections.audit import Actor, record_in
from annotator.storage.documents import index_repair
from annotator.storage.documents.index_repair import has_usable_index, index_needed, mend_index
from annotator.storage.tables.collections import Door
from annotator.worker.working import Indexing
from annotator.workflows.documents import documents, search

DAMAGES = {
    "deleted": ["DROP TABLE document_words_index"],
    "without its words": ["DROP TABLE document_words_index_data"],
    "without its options": ["DROP TABLE document_words_index_config"],
    "without sizes": ["DROP TABLE document_words_index_docsize"],
    "emptied": ["DELETE FROM document_words_index_data"],
}


def imported(database: Database, texts: dict[str, str], *, index: bool = True, slug: str = SLUG) -> None:
    lines = "".join(f"{docno}\t{body}\n" for docno, body in texts.items())
    read = documents.read_documents([InputFile("d.tsv", lines.encode())], fields={}, unpacked_limit=LIMIT)
    with database.transaction() as session:
        documents.import_documents(session, slug, read, index_at_once=index)
        details = {"added": 0, "filled": 0, "changed": 0, "unchanged": 0}
        record_in(session, Actor(Door.COMMAND, "ola"), "documents.import", slug, at=NOW, details=details)


def found(database: Database, query: str, slug: str = SLUG) -> list[str]:
    with database.reading() as session:
        return sorted(hit.docno for hit in search.find_documents(session, slug, query).hits)


@pytest.fixture(params=DAMAGES)
def damaged(sqlite_database: Database, request: pytest.FixtureRequest) -> Database:
    """Two collections with documents, whose index has been damaged; all were counted as indexed before."""
    with sqlite_database.transaction() as session:
        news(session)
        news(session, "other")
    imported(sqlite_database, {"a": "cat", "b": "dog"})
    imported(sqlite_database, {"z": "cat"}, slug="other")
    assert sqlite_database.read(search.count_not_indexed, SLUG) == 0
    with sqlite_database.engine.connect() as connection:
        for statement in DAMAGES[request.param]:
            connection.execute(text(statement))
        connection.commit()
    # The connections of a server have read the tables as they were; another process has changed them.
    sqlite_database.engine.dispose()
    return sqlite_database


def test_searching_and_importing_are_refused_with_a_sentence(damaged: Database) -> None:
    with pytest.raises(BusyError, match="search index is missing or damaged"):
        found(damaged, "cat")
    with pytest.raises(BusyError, match="Nothing was stored"):
        imported(damaged, {"a": "horse", "c": "horse"})
    with damaged.reading() as session:
        assert search.open_document(session, SLUG, "a").body == "cat"


def test_the_worker_builds_a_new_one(damaged: Database, caplog: pytest.LogCaptureFixture) -> None:
    indexing = Indexing(damaged)
    while indexing.step():
        pass
    assert "The search index is missing or damaged: the worker builds a new one." in caplog.text
    assert (found(damaged, "cat"), found(damaged, "dog"), found(damaged, "cat", "other")) == (["a"], ["b"], ["z"])
    assert damaged.read(search.count_not_indexed, SLUG) == 0
    with damaged.reading() as session:
        assert has_usable_index(session)
    # It follows changes as before.
    imported(damaged, {"a": "dog"})
    assert (found(damaged, "cat"), found(damaged, "dog")) == ([], ["a", "b"])


def test_until_then_the_documents_count_as_not_indexed(damaged: Database) -> None:
    with damaged.transaction() as session:
        assert mend_index(session)
        assert not mend_index(session)
    assert (found(damaged, "cat"), damaged.read(search.count_not_indexed, SLUG)) == ([], 2)
    assert sum(search.index_rest(damaged)) == 3
    assert damaged.read(search.count_not_indexed, SLUG) == 0


def test_the_command_builds_a_new_one_too(damaged: Database) -> None:
    with damaged.transaction() as session:
        assert documents.index_collection(session, SLUG) == 2
    assert (found(damaged, "cat"), found(damaged, "cat", "other")) == (["a"], [])
    assert list(search.index_rest(damaged)) == [1]


def test_a_usable_index_stays_as_it_is(database: Database) -> None:
    with database.transaction() as session:
        news(session)
    imported(database, {"a": "cat"})
    with database.transaction() as session:
        assert has_usable_index(session)
        assert not mend_index(session)
    assert found(database, "cat") == ["a"]


def test_other_errors_of_the_database_are_not_taken_for_damage(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A query that FTS5 cannot read would be our own fault, and an error without a code is not SQLite's."""
    with pytest.raises(OperationalError), index_needed():
        raise OperationalError("SELECT 1", None, ValueError("of another driver"))
    monkeypatch.setattr(
        index_repair, "LOOKS", ("SELECT 1 FROM document_words_index WHERE document_words_index MATCH '('",)
    )
    with sqlite_database.reading() as session, pytest.raises(OperationalError, match="fts5: syntax error"):
        has_usable_index(session)


def test_a_disk_that_fills_while_indexing_keeps_the_texts_and_the_rest_is_indexed_later(
    sqlite_database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    with sqlite_database.transaction() as session:
        news(session)
    texts = {f"d{number}": f"cat {number} " + " ".join(f"w{number}x{at}" for at in range(50)) for number in range(300)}
    imported(sqlite_database, texts, index=False)
    monkeypatch.setattr(search, "CHARACTERS_OF_A_BATCH", 20_000)
    limits = [0]

    def limit(connection: sqlite3.Connection, _record: object) -> None:
        cursor = connection.cursor()
        used = cursor.execute("PRAGMA page_count").fetchone()[0]
        cursor.execute(f"PRAGMA max_page_count={used + limits[0] if limits[0] else 1 << 30}")
        cursor.close()

    event.listen(sqlite_database.engine, "connect", limit)
    limits[0] = 25
    sqlite_database.engine.dispose()
    with pytest.raises(BusyError, match="disk is full"):
        list(search.index_rest(sqlite_database))
    left = sqlite_database.read(search.count_not_indexed, SLUG)
    assert 0 < left < 300
    assert len(found(sqlite_database, "cat")) == 20
    limits[0] = 0
    sqlite_database.engine.dispose()
    assert sum(search.index_rest(sqlite_database)) == left
    assert sqlite_database.read(search.count_not_indexed, SLUG) == 0

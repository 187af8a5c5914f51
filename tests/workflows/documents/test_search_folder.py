"""A search index in a folder finds what the words say, on both databases, and follows what becomes of the texts."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import tantivy
from build import LIMIT, SLUG, news
from hypothesis import given, settings
from thorough import examples
from workflows.documents.test_index_repair import found, imported
from workflows.documents.test_search import FINDS, LARGEST, QUERIES, TEXTS, corpus, matches
from workflows.documents.test_search import found as found_in

from annotator.errors import BusyError, InvalidValueError
from annotator.evaluation.search.search_query import parse_query
from annotator.evaluation.search.search_text import indexed_words
from annotator.files import InputFile
from annotator.storage import Database
from annotator.storage.collections.collection import find_collection
from annotator.storage.documents.documents import document_ids
from annotator.storage.documents.search import found_among
from annotator.storage.documents.search_folder import SearchFolder
from annotator.storage.documents.searchable import folder_of
from annotator.storage.site.epoch import begin_epoch
from annotator.worker.working import Indexing
from annotator.workflows.documents import documents, search
from annotator.workflows.documents.search import condition_of


@pytest.fixture
def site(database: Database, tmp_path: Path) -> Iterator[Database]:
    """A site whose search index is in a folder, with one empty collection."""
    opened = opened_again(database, tmp_path)
    with opened.transaction() as session:
        news(session)
    yield opened
    opened.close()


@pytest.fixture
def library(site: Database) -> Database:
    """The texts of the tests of the built-in index, indexed by a worker."""
    with site.transaction() as session:
        corpus(session, TEXTS)
    work(site)
    return site


def opened_again(database: Database, folder: Path) -> Database:
    url = database.engine.url.render_as_string(hide_password=False)
    return Database(url, search_folder=str(folder / "indexes"))


def work(database: Database) -> None:
    """What a worker does until it waits."""
    indexing = Indexing(database)
    while indexing.step():
        pass


def the_folder(database: Database) -> SearchFolder:
    folder = database.read(folder_of)
    assert folder is not None
    return folder


def test_a_query_finds_what_it_finds_in_the_built_in_index(library: Database) -> None:
    with library.reading() as session:
        assert {query: found_in(session, query) for query in FINDS} == FINDS
        for query in LARGEST:
            search.find_documents(session, SLUG, query)


def test_it_finds_what_the_words_say(library: Database) -> None:
    words = {docno: indexed_words(title, body).split() for docno, (title, body) in TEXTS.items()}

    @settings(max_examples=examples(60))
    @given(QUERIES)
    def compare(text: str) -> None:
        query = parse_query(text)
        expected = {docno for docno, its in words.items() if matches(query, its)}
        assert found_in(session, text) == sorted(expected)
        among = found_among(session, collection.id, condition_of(query), ids.values())
        assert among == {ids[docno] for docno in expected}

    with library.reading() as session:
        collection = find_collection(session, SLUG)
        ids = document_ids(session, collection.id, list(TEXTS))
        compare()


def test_all_of_fifty_one_words_with_a_beginning_are_found(site: Database) -> None:
    # Queries of phrases with a prefix take the first fifty, in Tantivy's own way of asking them.
    imported(site, {f"d{number}": f"the word{number:03}" for number in range(120)})
    work(site)
    with site.reading() as session:
        assert len(found_in(session, '"the word"*')) == len(found_in(session, "word*")) == 120


def test_pages_follow_one_another_and_collections_are_apart(site: Database) -> None:
    with site.transaction() as session:
        news(session, "other")
    imported(site, {f"d{number:02}": "cat " * (number + 1) + "mat" for number in range(30)})
    imported(site, {"z": "cat cat"}, slug="other")
    work(site)
    with site.reading() as session:
        whole = [hit.docno for hit in search.find_documents(session, SLUG, "cat", most=40).hits]
        pages = [search.find_documents(session, SLUG, "cat", first=first, most=7) for first in range(0, 42, 7)]
    assert [hit.docno for page in pages for hit in page.hits] == whole
    assert {page.total for page in pages} == {30}
    assert found(site, "cat", "other") == ["z"]


def test_nothing_is_found_before_a_worker_has_indexed_it_and_pages_say_how_many_wait(site: Database) -> None:
    assert found(site, "cat") == []
    imported(site, {"a": "cat", "b": "cat"})
    assert (found(site, "cat"), site.read(search.count_not_indexed, SLUG)) == ([], 2)
    assert sum(search.index_rest(site)) == 2
    assert (found(site, "cat"), site.read(search.count_not_indexed, SLUG)) == (["a", "b"], 0)


def test_a_replaced_text_is_not_found_by_its_old_words(site: Database) -> None:
    imported(site, {"a": "cat", "b": "cat"})
    work(site)
    imported(site, {"a": "dog"})
    assert found(site, "cat") == ["b"]
    work(site)
    assert (found(site, "cat"), found(site, "dog")) == (["b"], ["a"])


def test_a_text_replaced_while_it_is_indexed_is_indexed_again(site: Database) -> None:
    imported(site, {"a": "cat"})
    words = search.next_words(site, 0)
    assert words is not None
    imported(site, {"a": "dog"})
    assert site.attempt(words[1]) == 0
    assert found(site, "cat") == []
    work(site)
    assert (found(site, "cat"), found(site, "dog")) == ([], ["a"])


def test_the_index_of_a_collection_is_built_again(site: Database) -> None:
    imported(site, {"a": "cat", "b": "dog"})
    work(site)
    with site.transaction() as session:
        assert documents.index_collection(session, SLUG) == 2
    assert site.read(search.count_not_indexed, SLUG) == 2
    work(site)
    assert found(site, "cat OR dog") == ["a", "b"]


def test_texts_that_come_without_an_import_are_indexed_at_the_next_look(site: Database) -> None:
    imported(site, {"a": "cat"})
    indexing = Indexing(site)
    while indexing.step():
        pass
    # As a source, a copy or a restore does.
    read = documents.read_documents([InputFile("d.tsv", b"b\tcat\n")], fields={}, unpacked_limit=LIMIT)
    with site.transaction() as session:
        documents.import_documents(session, SLUG, read)
    indexing.look_again()
    while indexing.step():
        pass
    assert found(site, "cat") == ["a", "b"]


@pytest.mark.parametrize("damage", ["deleted", "damaged"])
def test_a_worker_replaces_a_folder_that_cannot_be_read(site: Database, damage: str) -> None:
    imported(site, {"a": "cat", "b": "dog"})
    work(site)
    folder = the_folder(site).path
    if damage == "deleted":
        shutil.rmtree(folder)
    else:
        (folder / "meta.json").write_text("{")
    with pytest.raises(BusyError, match="search index is missing or damaged"):
        found(site, "cat")
    with site.reading() as session:
        assert search.open_document(session, SLUG, "a").body == "cat"
    work(site)
    assert (found(site, "cat"), found(site, "dog")) == (["a"], ["b"])


def test_after_a_restore_the_folder_of_the_other_state_is_not_read(site: Database) -> None:
    imported(site, {"a": "cat"})
    work(site)
    with site.transaction() as session:
        begin_epoch(session)
    with pytest.raises(BusyError, match="search index is missing"):
        found(site, "cat")
    work(site)
    assert found(site, "cat") == ["a"]


def test_another_process_that_writes_is_waited_for(site: Database) -> None:
    imported(site, {"a": "cat"})
    work(site)
    imported(site, {"b": "cat"})
    writer = tantivy.Index.open(str(the_folder(site).path)).writer(20_000_000, 1)
    with pytest.raises(BusyError, match="search index cannot be written now"):
        list(search.index_rest(site))
    work(site)
    assert (found(site, "cat"), site.read(search.count_not_indexed, SLUG)) == (["a"], 1)
    writer.rollback()
    del writer
    work(site)
    assert found(site, "cat") == ["a", "b"]


def test_a_site_goes_back_to_the_built_in_index_and_forth(database: Database, site: Database) -> None:
    imported(database, {"a": "cat", "b": "dog"})
    imported(site, {"c": "cat"})
    work(site)
    assert (found(site, "cat"), found(database, "cat")) == (["a", "c"], ["a"])
    work(database)
    imported(database, {"a": "horse"})
    assert (found(site, "cat"), found(database, "cat")) == (["c"], ["c"])
    work(site)
    assert found(site, "horse") == found(database, "horse") == ["a"]


def test_without_tantivy_it_says_how_to_install_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "tantivy", None)
    with pytest.raises(InvalidValueError, match=r"ANNOTATOR_SEARCH_FOLDER needs Tantivy.*\[search\]"):
        Database("sqlite://", search_folder=str(tmp_path))

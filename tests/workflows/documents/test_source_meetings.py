"""Sources of documents meet changes, deletions, copies, runs, duplicates and judges."""

from datetime import UTC, datetime, timedelta

import pytest
from build import NOW, SLUG, document_file, labels, member, pool, run, topic_file
from kept import Kept
from queues import judge, take
from source_server import MISBEHAVIOURS, SourceServer
from sourced import add_pool, bodies, fetch, make_due, problems, set_source
from sqlalchemy import func, select, update

from annotator.storage import (
    Database,
    DeletedKind,
    Document,
    DocumentFetch,
    DocumentSource,
    Judgement,
    Role,
    Topic,
)
from annotator.storage.collections.audit import Actor
from annotator.storage.collections.bundles import LEFT_OUT
from annotator.storage.tables.collections import Door
from annotator.workflows.collections import collection, restoring
from annotator.workflows.collections.deletions import delete_it
from annotator.workflows.collections.next_collection import copy_collection
from annotator.workflows.documents import (
    documents,
    near_duplicates,
    sources,
)
from annotator.workflows.runs import runs


@pytest.fixture
def pooled(database: Database, kept: Kept) -> Database:
    """Topics 1 and 2 with three documents without text in the pool."""
    kept.fill(database, add_pool)
    return database


def test_a_changed_text_is_listed_when_it_was_judged(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled)
    with pooled.transaction() as session:
        labels(session, "jo", "1 0 a 1\n")
    source_server.documents["a"] = {"docid": "a", "segment": "Another text."}
    with pooled.transaction() as session:
        assert sources.fetch_now(session, SLUG, again=False, at=datetime.now(UTC)) == 0
        assert sources.fetch_now(session, SLUG, again=True, at=datetime.now(UTC)) == 3
    fetch(pooled)
    assert [one.docno for one in pooled.read(documents.changed_documents, SLUG)] == ["a"]
    assert bodies(pooled)["a"] == "Another text."


def test_an_imported_text_is_not_fetched_over(pooled: Database, source_server: SourceServer) -> None:
    source_server.is_down = True
    set_source(pooled, source_server.template)
    fetch(pooled)
    with pooled.transaction() as session:
        document_file(session, ["a"])
    source_server.is_down = False
    make_due(pooled)
    fetch(pooled)
    assert bodies(pooled)["a"] == "Text of a."
    assert "a" not in source_server.asked
    assert problems(pooled) == {}


def test_the_source_of_a_closed_collection_is_not_asked(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    with pooled.transaction() as session:
        collection.close_collection(session, SLUG)
    fetch(pooled)
    assert source_server.asked == []


def delete(database: Database, kind: DeletedKind, subjects: list[str], *, typed: str = "") -> int:
    with database.transaction() as session:
        return delete_it(session, SLUG, kind, subjects, typed=typed, actor=Actor(Door.COMMAND, "root"), at=NOW)[0]


def test_a_deleted_text_is_not_fetched_until_somebody_asks(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled)
    delete(pooled, DeletedKind.DOCUMENTS, ["a"])
    fetch(pooled)
    assert bodies(pooled)["a"] is None
    assert problems(pooled) == {"a": "The text was deleted here."}
    with pooled.transaction() as session:
        sources.fetch_now(session, SLUG, again=False, at=datetime.now(UTC))
    fetch(pooled)
    assert bodies(pooled)["a"] == "Text of a."
    assert problems(pooled) == {}


def test_a_text_that_is_restored_is_no_failure(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled)
    number = delete(pooled, DeletedKind.DOCUMENTS, ["a"])
    with pooled.transaction() as session:
        restoring.restore_deletion(session, SLUG, number, at=NOW)
    fetch(pooled)
    assert bodies(pooled)["a"] == "Text of a."
    assert problems(pooled) == {}
    assert source_server.asked.count("a") == 1


def test_documents_of_a_restored_topic_are_fetched(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    number = delete(pooled, DeletedKind.TOPIC, ["2"], typed=SLUG)
    fetch(pooled)
    assert bodies(pooled) == {"a": "Text of a.", "b": "Text of b.", "c#0/1": None}
    with pooled.transaction() as session:
        restoring.restore_deletion(session, SLUG, number, at=NOW)
    fetch(pooled)
    assert bodies(pooled)["c#0/1"] == "Text of c#0/1."


def test_a_purged_collection_takes_its_source_along(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled)
    delete(pooled, DeletedKind.COLLECTION, [], typed=SLUG)
    source_server.asked.clear()
    fetch(pooled)
    assert source_server.asked == []
    with pooled.transaction() as session:
        restoring.begin_removal(session, before=NOW + timedelta(days=1), at=NOW + timedelta(days=1))
    restoring.finish_removals(pooled)
    with pooled.reading() as session:
        for table in (DocumentSource, DocumentFetch, Document):
            assert session.scalars(select(func.count()).select_from(table)).one() == 0, table


def test_an_archive_has_the_texts_and_not_the_source() -> None:
    assert {"document_source", "document_fetch"} <= LEFT_OUT.keys()


def test_a_copied_collection_with_documents_has_the_source(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template, body="segment")
    fetch(pooled)
    for slug, with_documents in (("next", True), ("bare", False)):
        with pooled.transaction() as session:
            copy_collection(session, SLUG, slug, title=None, with_documents=with_documents, at=NOW)
    assert pooled.read(sources.find_view, "bare") is None
    copied = pooled.read(sources.show_source, "next")
    assert (copied.location, copied.options.body, copied.counts.fetched) == (source_server.template, "segment", 0)
    with pooled.transaction() as session:
        topic_file(session, slug="next")
        run(session, "gamma", {"1": ["a", "new"]}, slug="next")
        pool(session, slug="next")
    source_server.asked.clear()
    fetch(pooled)
    assert source_server.asked == ["new"]


def test_runs_are_not_told_that_unfetched_documents_are_not_in_the_corpus(
    pooled: Database, source_server: SourceServer
) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled)
    with pooled.transaction() as session:
        run(session, "beta", {"1": ["a", "never-pooled"]})
    assert [str(one) for one in pooled.read(runs.show_run, SLUG, "beta").warnings if "corpus" in str(one)] == []


def test_a_judge_sees_the_text_once_it_is_there_and_what_was_no_text_is_judged_again(
    pooled: Database, source_server: SourceServer
) -> None:
    set_source(pooled, source_server.template)
    with pooled.transaction() as session:
        jo = member(session, "jo", Role.JUDGE)
        topic = session.scalars(select(Topic).where(Topic.number == "1")).one()
        judge(session, jo, take(session, jo, topic, 1), None)
        session.execute(update(Judgement).values(cannot_judge="no-text"))
    fetch(pooled)
    with pooled.transaction() as session:
        assert session.scalars(select(func.count()).where(Judgement.current)).one() == 0
        assert len(take(session, jo, topic)) == 2


def test_grades_are_carried_to_a_document_whose_same_text_comes_later(
    pooled: Database, source_server: SourceServer
) -> None:
    source_server.documents = {one: {"docid": one, "title": "Same", "segment": "The same."} for one in "ab"}
    source_server.behaviours["b"] = MISBEHAVIOURS["html"][0]
    set_source(pooled, source_server.template)
    fetch(pooled)
    with pooled.transaction() as session:
        labels(session, "jo", "1 0 a 2\n")
    source_server.behaviours.clear()
    make_due(pooled)
    fetch(pooled)
    likeness = pooled.read(near_duplicates.show_likeness, SLUG, "1")
    assert [(one.docno, one.shown_instead, one.carried) for one in likeness.identical] == [("b", "a", 1)]


def test_missing_texts_are_those_that_were_not_fetched(pooled: Database, source_server: SourceServer) -> None:
    source_server.behaviours["b"] = MISBEHAVIOURS["missing"][0]
    set_source(pooled, source_server.template)
    assert [one.docno for one in pooled.read(documents.missing_documents, SLUG)] == ["a", "b", "c#0/1"]
    fetch(pooled)
    assert [one.docno for one in pooled.read(documents.missing_documents, SLUG)] == ["b"]

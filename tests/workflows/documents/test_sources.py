"""Sources of documents: a worker fetches the texts of what is pooled from a real local source_server."""

from datetime import UTC, datetime

import pytest
from build import SLUG, news, pool, run, topic_file
from kept import Kept
from local_server import HOST, send
from source_server import MISBEHAVIOURS, SLOW, STUCK, SourceServer
from sourced import REACH, add_pool, bodies, fetch, make_due, problems, set_source
from sqlalchemy import select
from worker.at_work import settings_of

from annotator.errors import AnnotatorError
from annotator.evaluation.formats.source_answers import SourceOptions
from annotator.storage import (
    Database,
    Document,
    DocumentSource,
)
from annotator.storage.documents.sources import LONGEST_ATTEMPT, PAUSES, SOURCE_PAUSES
from annotator.worker.working import Worker
from annotator.workflows.documents import (
    search,
    source_addresses,
    source_fetching,
    sources,
)
from annotator.workflows.documents.source_places import Reach


@pytest.fixture
def pooled(database: Database, kept: Kept) -> Database:
    """Topics 1 and 2 with three documents without text in the pool."""
    kept.fill(database, add_pool)
    return database


def test_texts_of_pooled_documents_are_fetched_and_found(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled)
    assert bodies(pooled) == {"a": "Text of a.", "b": "Text of b.", "c#0/1": "Text of c#0/1."}
    view = pooled.read(sources.show_source, SLUG)
    assert (view.counts.fetched, view.counts.waiting, view.counts.failing, view.counts.given_up) == (3, 0, 0, 0)
    with pooled.reading() as session:
        opened = search.open_document(session, SLUG, "a")
        assert (opened.title, opened.body) == ("Title of a", "Text of a.")
        assert [hit.docno for hit in search.find_documents(session, SLUG, "text").hits] == ["a", "b", "c#0/1"]
        hashes = session.scalars(select(Document.text_hash)).all()
    assert all(hashes)
    assert sorted(source_server.asked) == ["a", "b", "c#0/1"]


def test_the_worker_fetches_what_is_pooled_later(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    settings = settings_of(pooled)
    object.__setattr__(settings, "outgoing_hosts", (HOST,))
    with pooled.transaction() as session:
        run(session, "beta", {"1": ["later"]})
        pool(session)
    Worker(settings).work(only_what_waits=True)
    assert bodies(pooled)["later"] == "Text of later."


@pytest.mark.parametrize("name", MISBEHAVIOURS)
def test_what_is_no_document_is_refused_with_a_sentence_and_tried_again(
    pooled: Database, source_server: SourceServer, name: str
) -> None:
    behave, sentence = MISBEHAVIOURS[name]
    source_server.behaviours["a"] = behave
    set_source(pooled, source_server.template)
    fetch(pooled)
    assert problems(pooled)["a"].startswith(sentence)
    # The others came, and this one comes once the source is in order.
    assert bodies(pooled) == {"a": None, "b": "Text of b.", "c#0/1": "Text of c#0/1."}
    [failed] = pooled.read(sources.list_failures, SLUG)
    assert failed.attempts == 1
    assert failed.next_at is not None
    source_server.behaviours.clear()
    make_due(pooled)
    fetch(pooled)
    assert bodies(pooled)["a"] == "Text of a."
    assert problems(pooled) == {}


def test_a_document_that_the_source_does_not_have_is_given_up_and_can_be_asked_for(
    pooled: Database, source_server: SourceServer
) -> None:
    source_server.behaviours["a"] = MISBEHAVIOURS["missing"][0]
    set_source(pooled, source_server.template)
    for _ in range(9):
        fetch(pooled)
        make_due(pooled)
    assert source_server.asked.count("a") == len(PAUSES) + 1
    [failed] = pooled.read(sources.list_failures, SLUG)
    assert (failed.attempts, failed.next_at) == (len(PAUSES) + 1, None)
    assert pooled.read(sources.show_source, SLUG).counts.given_up == 1
    source_server.behaviours.clear()
    with pooled.transaction() as session:
        assert sources.fetch_now(session, SLUG, again=False, at=datetime.now(UTC)) == 1
    fetch(pooled)
    assert bodies(pooled)["a"] == "Text of a."


def test_a_source_that_is_down_is_left_alone_for_longer(pooled: Database, source_server: SourceServer) -> None:
    source_server.is_down = True
    set_source(pooled, source_server.template)
    pauses = []
    for _ in range(len(SOURCE_PAUSES) + 1):
        fetch(pooled)
        with pooled.transaction() as session:
            source = session.scalars(select(DocumentSource)).one()
            assert source.paused_until is not None
            pauses.append(round((source.paused_until - datetime.now(UTC)).total_seconds()))
        make_due(pooled)
    assert pauses == [pytest.approx(one.total_seconds(), abs=5) for one in (*SOURCE_PAUSES, SOURCE_PAUSES[-1])]
    view = pooled.read(sources.show_source, SLUG)
    assert str(view.problem) == "The source refused with HTTP status 503."
    # That says nothing about the documents, which are never given up.
    assert (view.counts.failing, view.counts.given_up) == (3, 0)
    source_server.is_down = False
    make_due(pooled)
    fetch(pooled)
    view = pooled.read(sources.show_source, SLUG)
    assert (view.problem, view.paused_until, view.counts.fetched) == (None, None, 3)


def test_a_source_says_when_to_ask_again(pooled: Database, source_server: SourceServer) -> None:
    source_server.behaviours = dict.fromkeys(
        ("a", "b", "c#0/1"), lambda request, _: send(request, b"", status=429, Retry_After="900")
    )
    set_source(pooled, source_server.template)
    fetch(pooled)
    paused_until = pooled.read(sources.show_source, SLUG).paused_until
    assert paused_until is not None
    assert (paused_until - datetime.now(UTC)).total_seconds() == pytest.approx(900, abs=20)


def test_when_nothing_comes_the_rest_is_not_tried(database: Database, source_server: SourceServer) -> None:
    docnos = [f"d{number}" for number in range(60)]
    with database.transaction() as session:
        news(session)
        topic_file(session)
        run(session, "alpha", {"1": docnos})
        pool(session, depth=60)
    source_server.behaviours = {docno: lambda request, _: send(request, b"", status=500) for docno in docnos}
    set_source(database, source_server.template)
    fetch(database)
    assert len(source_server.asked) < 40
    counts = database.read(sources.show_source, SLUG).counts
    assert counts.failing == len(source_server.asked)
    assert counts.waiting == 60 - len(source_server.asked)
    source_server.behaviours.clear()
    make_due(database)
    fetch(database)
    assert database.read(sources.show_source, SLUG).counts.fetched == 60


@pytest.mark.parametrize("seconds", ["SECONDS_OF_A_RESPONSE", "SECONDS_TO_ANSWER"])
def test_a_slow_source_is_not_waited_for(
    pooled: Database, source_server: SourceServer, monkeypatch: pytest.MonkeyPatch, seconds: str
) -> None:
    monkeypatch.setattr(source_addresses, seconds, 0.3)
    source_server.behaviours["a"] = SLOW if seconds == "SECONDS_OF_A_RESPONSE" else STUCK
    set_source(pooled, source_server.template)
    fetch(pooled)
    assert problems(pooled)["a"].startswith("The source did not answer within")
    assert bodies(pooled)["b"] == "Text of b."


def test_a_source_that_is_nowhere(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    source_server.close()
    fetch(pooled)
    view = pooled.read(sources.show_source, SLUG)
    assert str(view.problem).startswith("The source cannot be reached: ")
    assert view.counts.fetched == 0


def test_a_name_that_leads_nowhere(pooled: Database) -> None:
    reach = Reach(("corpus.invalid",))
    with pooled.transaction() as session:
        sources.set_source(
            session,
            SLUG,
            "http://corpus.invalid/{docno}",
            SourceOptions(),
            reach=reach,
            by_id=None,
            by_command=True,
            at=datetime.now(UTC),
        )
    fetch(pooled, reach)
    assert str(pooled.read(sources.show_source, SLUG).problem).startswith("The source cannot be reached: ")


def test_a_host_that_is_allowed_no_longer_is_not_asked(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled, Reach(()))
    assert source_server.asked == []
    problem = str(pooled.read(sources.show_source, SLUG).problem)
    assert problem.startswith(f"This server may not send to “{HOST}”")


@pytest.mark.parametrize(
    ("location", "options", "sentence"),
    [
        ("http://127.0.0.1/segments", {}, "The address needs {docno} behind its host"),
        ("http://{docno}.org/", {}, "The host of an address is the same for all documents"),
        ("http://127.0.0.1/{docno}/{page}", {}, "The address needs {docno} behind its host"),
        ("http://elsewhere.org/{docno}", {}, "This server may not send to “elsewhere.org”"),
        ("http://ola:pw@127.0.0.1/{docno}", {}, "The address has a user name or a password"),
        ("ftp://127.0.0.1/{docno}", {}, "“ftp://127.0.0.1/1” is not an address"),
        ("http://[{docno}", {}, "“http://[1” is not an address"),
        ("http://127.0.0.1/{docno}", {"text": "a"}, "“text=a” is not a path: write OURS=PATH, where ours is one of"),
        ("http://127.0.0.1/{docno}", {"body": "a..b"}, "“a..b” is not a path into JSON"),
        ("http://127.0.0.1/{docno}", {"search": "http://127.0.0.1/"}, "The address needs {query} behind its host"),
        ("http://127.0.0.1/{docno}", {"search": "http://e.org/{query}"}, "This server may not send to “e.org”"),
    ],
)
def test_what_is_no_source_is_refused(pooled: Database, location: str, options: dict[str, str], sentence: str) -> None:
    with pytest.raises(AnnotatorError) as refused:
        set_source(pooled, location, **options)
    assert str(refused.value).startswith(sentence)
    assert pooled.read(sources.find_view, SLUG) is None


def test_texts_are_read_at_paths(pooled: Database, source_server: SourceServer) -> None:
    source_server.documents["a"] = {
        "_source": {"id": "a", "parts": [{"text": "One."}, {"text": "Two."}], "name": "A\nB", "lang": "en"}
    }
    set_source(
        pooled,
        source_server.template,
        docno="_source.id",
        title="_source.name",
        body="_source.parts[*].text",
        language="_source.lang",
    )
    fetch(pooled)
    opened = pooled.read(search.open_document, SLUG, "a")
    assert (opened.title, opened.body, opened.language) == ("A B", "One.\n\nTwo.", "en")
    assert problems(pooled)["b"] == "What the source sent has no text at _source.parts[*].text."


def test_a_source_that_is_set_again_fetches_what_is_missing(pooled: Database, source_server: SourceServer) -> None:
    source_server.behaviours["a"] = MISBEHAVIOURS["html"][0]
    set_source(pooled, source_server.template)
    fetch(pooled)
    source_server.behaviours.clear()
    source_server.asked.clear()
    set_source(pooled, f"{source_server.template}?v=2")
    fetch(pooled)
    assert bodies(pooled)["a"] == "Text of a."
    assert source_server.asked == ["a"]


def test_nothing_is_stored_of_what_was_begun_before_a_change(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    now = datetime.now(UTC)
    source_fetching.note_pooled(pooled, now=now)
    [source] = pooled.read(source_fetching.sources_with_due, now=now)
    with pooled.transaction() as session:
        due = source_fetching.take_due(session, source, now=now)
    read = source_fetching.read_due(source, due, REACH)
    assert len(read) == 3
    set_source(pooled, source_server.template)
    with pooled.transaction() as session:
        source_fetching.record(session, source, due, read, at=now)
    assert set(bodies(pooled).values()) == {None}


def test_two_workers_fetch_a_document_once_and_replace_a_lost_one(
    pooled: Database, source_server: SourceServer
) -> None:
    set_source(pooled, source_server.template)
    now = datetime.now(UTC)
    source_fetching.note_pooled(pooled, now=now)
    [source] = pooled.read(source_fetching.sources_with_due, now=now)
    with pooled.transaction() as session:
        assert len(source_fetching.take_due(session, source, now=now)) == 3
    with pooled.transaction() as session:
        assert source_fetching.take_due(session, source, now=now) == []
        again = source_fetching.take_due(session, source, now=now + LONGEST_ATTEMPT)
    assert [one.attempt for one in again] == [2, 2, 2]


def test_a_removed_source_leaves_the_texts(pooled: Database, source_server: SourceServer) -> None:
    set_source(pooled, source_server.template)
    fetch(pooled)
    with pooled.transaction() as session:
        sources.remove_source(session, SLUG)
    assert bodies(pooled)["a"] == "Text of a."
    for work in (sources.show_source, sources.list_failures):
        with pytest.raises(AnnotatorError, match="has no source of documents"):
            pooled.read(work, SLUG)


def test_a_check_says_what_came_and_stores_nothing(pooled: Database, source_server: SourceServer) -> None:
    source_server.behaviours["a"] = MISBEHAVIOURS["html"][0]
    source_server.documents = {"b": {"docid": "b", "segment": "A test."}}
    set_source(pooled, source_server.template, search=source_server.search)
    checked = sources.check_source(pooled, SLUG, reach=REACH)
    assert [(one.docno, one.title, one.characters, str(one.problem)) for one in checked.documents] == [
        ("a", "", 0, "The source sent HTML or XML, not JSON."),
        ("b", "", 7, "None"),
        ("c#0/1", "Title of c#0/1", 14, "None"),
    ]
    assert (checked.hits, checked.search_problem) == (1, None)
    assert set(bodies(pooled).values()) == {None}
    source_server.is_down = True
    checked = sources.check_source(pooled, SLUG, ["x"], reach=REACH)
    assert (
        str(checked.documents[0].problem) == str(checked.search_problem) == "The source refused with HTTP status 503."
    )
    assert str(sources.check_source(pooled, SLUG, ["x"], reach=Reach(())).problem).startswith("This server may not")


def test_a_check_needs_documents(database: Database, source_server: SourceServer) -> None:
    with database.transaction() as session:
        news(session)
    set_source(database, source_server.template)
    with pytest.raises(AnnotatorError, match="No document is pooled yet"):
        sources.check_source(database, SLUG, reach=REACH)
    with pytest.raises(AnnotatorError, match="At most 20 documents"):
        sources.check_source(database, SLUG, [f"d{number}" for number in range(21)], reach=REACH)

"""Runs from search engines: a real local server answers in each dialect, or goes wrong in each way."""

import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest
from build import NOW, SLUG, document_file, news, topic_file
from kept import Kept
from local_server import HOST, send
from search_engines import BASIC_KEY, MATCH, Answering, EngineServer, hits, refusing, sending
from sqlalchemy import select

from annotator.errors import AnnotatorError, ConflictError, InvalidValueError, NotAllowedError, NotFoundError
from annotator.evaluation.runs.search_engines import Dialect, HitPaths, SearchEngine
from annotator.storage import AuditEvent, Database, Document, Run, Topic, TopicState
from annotator.storage.collections.audit import Actor
from annotator.storage.runs.runs import RunDetails
from annotator.storage.tables.collections import Door, Round
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.collections.rounds import open_round
from annotator.workflows.runs import engine_requests, run_fetching
from annotator.workflows.runs.engine_requests import EngineAccess
from annotator.workflows.runs.run_fetching import FetchedRun, RunOrder
from annotator.workflows.runs.runs import list_runs, original_file

ACCESS = EngineAccess((HOST,))
BY_COMMAND = Actor(Door.COMMAND, "ola")
NO_DETAILS = RunDetails()


@pytest.fixture(autouse=True)
def _short_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(engine_requests, "PAUSES", (0.0, 0.01))


@pytest.fixture
def started(database: Database, kept: Kept) -> Database:
    """A collection with the topics 1 and 2, and a draft."""
    kept.fill(database, fill)
    return database


def fill(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session, "1\tfirst topic\n2\tsecond  dogs\n3\tcats\n")
        session.scalars(select(Topic).where(Topic.number == "3")).one().state = TopicState.DRAFT


def opensearch(server: EngineServer, **changes: object) -> SearchEngine:
    return replace(SearchEngine(f"{server.site}/news/_search", MATCH, depth=3), **changes)  # type: ignore[arg-type]


def fetch(
    database: Database,
    engine: SearchEngine,
    *,
    tag: str = "bm25",
    details: RunDetails = NO_DETAILS,
    access: EngineAccess = ACCESS,
    limit: int = 1 << 20,
    replaces: bool = False,
    keep: bool = True,
) -> FetchedRun:
    return run_fetching.fetch_run(
        database,
        SLUG,
        RunOrder(engine, tag, details, replaces=replaces),
        access,
        actor=BY_COMMAND,
        at=NOW,
        noted_at=NOW,
        unpacked_limit=limit,
        keep=keep,
    )


def file_of(database: Database, tag: str = "bm25") -> list[str]:
    with database.reading() as session:
        return original_file(session, SLUG, tag).content.decode().splitlines()


def texts_of(database: Database) -> dict[str, str | None]:
    with database.reading() as session:
        return {docno: body for docno, body in session.execute(select(Document.docno, Document.body))}


def assert_nothing_stored(database: Database) -> None:
    with database.reading() as session:
        assert session.scalars(select(Run)).all() == []
        assert session.scalars(select(Document)).all() == []


EXPECTED = [
    *("1 Q0 d2 1 3.0 bm25", "1 Q0 d4 2 2.0 bm25", "1 Q0 d1 3 1.0 bm25"),
    *("2 Q0 d4 1 2.0 bm25", "2 Q0 d1 2 1.0 bm25", "2 Q0 d3 3 1.0 bm25"),
]


@pytest.mark.parametrize("dialect", Dialect)
def test_the_hits_of_every_accepted_topic_become_a_run_in_each_dialect(
    started: Database, engine_server: EngineServer, dialect: Dialect
) -> None:
    engine = opensearch(engine_server, dialect=dialect)
    if dialect is Dialect.SOLR:
        engine = replace(engine, endpoint=f"{engine_server.site}/solr/news/select", query="q={query}")
    if dialect is Dialect.JSON:
        engine = replace(engine, endpoint=f"{engine_server.site}/find/{{query}}", query="n={depth}")
    done = fetch(started, engine, details=RunDetails("blue", "BM25", priority=2))
    assert len(engine_server.asked) == 2
    assert (done.topics, done.hits, done.fewer, done.without, done.texts) == (2, 6, 0, [], None)
    rows = [line.split() for line in file_of(started)]
    assert [(row[0], row[2]) for row in rows] == [(row[0], row[2]) for row in map(str.split, EXPECTED)]
    if dialect is not Dialect.JSON:
        assert file_of(started) == EXPECTED
    [run] = started.read(list_runs, SLUG)
    assert (run.tag, run.team, run.description, run.priority, run.topics, run.retrieved) == (
        *("bm25", "blue", "BM25", 2, 2, 6),
    )
    with started.reading() as session:
        entry = session.scalars(select(AuditEvent).where(AuditEvent.action == "runs.import")).one()
    assert entry.details == {"sha256": run.checksum, "host": HOST, "dialect": dialect.value}


def test_texts_are_stored_as_an_import_does_and_none_is_missed(started: Database, engine_server: EngineServer) -> None:
    with started.transaction() as session:
        document_file(session, ["d1", "d9"])
    done = fetch(started, opensearch(engine_server, with_texts=True))
    assert done.texts is not None
    assert vars(done.texts) == {"added": 3, "filled": 0, "changed": 1, "unchanged": 0}
    # No document lacks its text.
    [warning] = done.run.warnings
    assert "share their score" in str(warning)
    assert texts_of(started) == {"d9": "Text of d9.", **engine_server.documents}
    engine_server.documents["d5"] = "first second"
    warnings = fetch(started, opensearch(engine_server, depth=9), tag="other").run.warnings
    assert "Documents that are not in the corpus: 1; lines with them: 2" in " ".join(map(str, warnings))


def test_a_topic_with_few_hits_or_none_is_counted(started: Database, engine_server: EngineServer) -> None:
    engine_server.documents = {"d1": "first"}
    done = fetch(started, opensearch(engine_server))
    assert (done.hits, done.fewer, done.without) == (1, 2, ["2"])
    [warning] = done.run.warnings
    assert "Topics that the run leaves out: 1 of 2 (2)." in str(warning)


def test_a_dry_run_stores_nothing(started: Database, engine_server: EngineServer) -> None:
    assert fetch(started, opensearch(engine_server, with_texts=True), keep=False).hits == 6
    assert_nothing_stored(started)


def test_a_run_is_replaced_only_when_asked(started: Database, engine_server: EngineServer) -> None:
    fetch(started, opensearch(engine_server))
    count = len(engine_server.asked)
    with pytest.raises(ConflictError, match=r"The tag bm25 is taken by another run."):
        fetch(started, opensearch(engine_server))
    assert len(engine_server.asked) == count
    assert fetch(started, opensearch(engine_server, depth=2), replaces=True).receipt.version == 2


@pytest.mark.parametrize(
    ("key", "header", "value"),
    [(BASIC_KEY, "authorization", BASIC_KEY), ("X-Api-Key: s3cret", "x-api-key", "s3cret")],
)
def test_a_key_is_sent_and_shown_nowhere(
    started: Database,
    engine_server: EngineServer,
    tmp_path: Path,
    *,
    key: str,
    header: str,
    value: str,
) -> None:
    (tmp_path / "key").write_text(key + "\n")
    access = EngineAccess((HOST,), (f"{HOST}={tmp_path / 'key'}",))
    fetch(started, opensearch(engine_server), access=access)
    assert [one[header] for one in engine_server.headers] == [value, value]
    assert value not in repr(access)
    engine_server.always = refusing(401, {"reason": f"“{value.rpartition(' ')[2]}” may not read"})
    with pytest.raises(ConflictError) as refused:
        fetch(started, opensearch(engine_server), tag="other", access=access)
    assert str(refused.value).endswith("The engine refused with HTTP status 401. “…” may not read")
    with started.reading() as session:
        assert value.rpartition(" ")[2] not in str([entry.details for entry in session.scalars(select(AuditEvent))])


def test_a_key_that_crosses_the_cut_of_a_reason_is_shown_nowhere(
    started: Database, engine_server: EngineServer, tmp_path: Path
) -> None:
    (tmp_path / "key").write_text(BASIC_KEY)
    access = EngineAccess((HOST,), (f"{HOST}={tmp_path / 'key'}",))
    engine_server.always = refusing(401, {"reason": "x" * 290 + BASIC_KEY})
    with pytest.raises(ConflictError) as refused:
        fetch(started, opensearch(engine_server), access=access)
    assert str(refused.value).endswith("401. " + "x" * 290 + "…")


def test_a_key_that_cannot_be_read_is_said(started: Database, engine_server: EngineServer) -> None:
    with pytest.raises(NotAllowedError, match="cannot be read where ANNOTATOR_SEARCH_KEYS says that it is"):
        fetch(started, opensearch(engine_server), access=EngineAccess((HOST,), (f"{HOST}=/none/here",)))


def test_what_may_pass_is_tried_again(started: Database, engine_server: EngineServer) -> None:
    engine_server.behaviours = [refusing(503), refusing(429, Retry_After="0")]
    assert fetch(started, opensearch(engine_server)).hits == 6
    assert len(engine_server.asked) == 4


def _stuck(_request: object) -> None:
    time.sleep(1)


def _dripping(request: object) -> None:
    request.send_response(200)  # type: ignore[attr-defined]
    request.send_header("Content-Length", "1000000")  # type: ignore[attr-defined]
    request.end_headers()  # type: ignore[attr-defined]
    for _ in range(30):
        request.wfile.write(b" ")  # type: ignore[attr-defined]
        request.wfile.flush()  # type: ignore[attr-defined]
        time.sleep(0.02)


TROUBLES: Mapping[str, tuple[Answering, str]] = {
    "html": (sending(b"<!doctype html><p>Sign in"), "The engine answered HTML or XML, not JSON."),
    "prose": (sending(b"Hello"), "The engine answered something that is not JSON."),
    "nothing": (sending(b""), "The engine answered nothing."),
    "other JSON": (sending(b'{"hits": 3}'), "The answer has no list of hits at hits.hits."),
    "no docno": (hits({"_score": 1.0}), "Hit 1 has no docno at _id."),
    "twice": (hits({"_id": "a"}, {"_id": "a"}), "The answer has the document a twice, as hits 1 and 2."),
    "large": (sending(b'"' + b"x" * 10_000_000 + b'"'), "The engine sent more than 8 MiB. Ask for fewer hits"),
    "unauthorized": (refusing(401), "The engine refused with HTTP status 401."),
    "bad request": (refusing(400, {"reason": "parse error"}), "The engine refused with HTTP status 400. parse error"),
    "too many": (refusing(429), "The engine refused with HTTP status 429."),
    "broken": (refusing(500, {"msg": "down"}), "The engine refused with HTTP status 500. down"),
    "broken with much": (
        lambda request: send(request, b"x" * 100_000, status=500),
        "The engine refused with HTTP status 500.",
    ),
    "elsewhere": (refusing(302, Location="https://other.org/"), "The engine redirects to another address, which is"),
    "incomplete": (hits(timed_out=True), "The search ran out of time, and its hits are not complete."),
    "short": (
        lambda request: send(request, b"{}", Content_Length="99", Connection="close"),
        "The engine broke off: it sent less than it had announced, or no HTTP.",
    ),
    "stuck": (_stuck, "The engine did not answer within"),
    "slow": (_dripping, "The engine did not answer within"),
}


@pytest.mark.parametrize("trouble", TROUBLES)
def test_trouble_names_the_topic_and_the_address_and_stores_nothing(
    started: Database, engine_server: EngineServer, monkeypatch: pytest.MonkeyPatch, trouble: str
) -> None:
    monkeypatch.setattr(engine_requests, "SECONDS_TO_ANSWER", 0.2)
    monkeypatch.setattr(engine_requests, "SECONDS_OF_A_RESPONSE", 0.2)
    if trouble == "large":
        monkeypatch.setattr(engine_requests, "SECONDS_OF_A_RESPONSE", 60.0)
        monkeypatch.setattr(engine_requests, "SECONDS_TO_ANSWER", 60.0)
    engine_server.always, sentence = TROUBLES[trouble]
    with pytest.raises(ConflictError) as refused:
        fetch(started, opensearch(engine_server, with_texts=True))
    told = f"could not be fetched from {engine_server.site}/news/_search, and nothing was stored: {sentence}"
    assert any(str(refused.value).startswith(f"Topic {topic} {told}") for topic in "12")
    assert_nothing_stored(started)


def test_an_engine_that_is_down_cannot_be_reached(started: Database, engine_server: EngineServer) -> None:
    engine_server.close()
    with pytest.raises(ConflictError, match="The engine cannot be reached: "):
        fetch(started, opensearch(engine_server))
    nowhere = SearchEngine("http://nowhere.invalid/_search", MATCH)
    with pytest.raises(ConflictError, match=r"http://nowhere.invalid/_search cannot be reached: "):
        fetch(started, nowhere, access=EngineAccess((".invalid",)))
    assert_nothing_stored(started)


def test_a_run_that_takes_too_long_is_given_up(
    started: Database, engine_server: EngineServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine_requests, "SECONDS_OF_A_RUN", -1.0)
    with pytest.raises(ConflictError, match="All topics together took more than"):
        fetch(started, opensearch(engine_server))


def test_nothing_found_and_no_text_are_refused(started: Database, engine_server: EngineServer) -> None:
    with pytest.raises(ConflictError, match=r"sent no text with its hits. Nothing was stored"):
        fetch(started, opensearch(engine_server, with_texts=True, paths=HitPaths(body="_source.none")))
    with pytest.raises(ConflictError, match=r"The texts of all hits are larger than 0 MiB together."):
        fetch(started, opensearch(engine_server, with_texts=True), limit=100)
    engine_server.documents = {}
    with pytest.raises(ConflictError, match=r"found nothing for any topic. No run was stored."):
        fetch(started, opensearch(engine_server))
    assert_nothing_stored(started)


@pytest.mark.parametrize(
    ("changes", "tag", "error", "sentence"),
    [
        ({"query": "x"}, "bm25", InvalidValueError, "The template needs {query}"),
        ({"endpoint": "https://other.org/_search"}, "bm25", NotAllowedError, "may not send to “other.org”"),
        ({"endpoint": "ftp://127.0.0.1/_search"}, "bm25", InvalidValueError, "is not an address of the form"),
        (
            {"endpoint": "http://a:b@127.0.0.1/_search"},
            "bm25",
            InvalidValueError,
            "has a user name or a password in it",
        ),
        ({}, "b m", InvalidValueError, "A tag has at most 128 printable characters and no blanks."),
        ({}, "b" * 129, InvalidValueError, "A tag has at most 128 printable characters and no blanks."),
        ({}, "b\udc80", InvalidValueError, "A tag has at most 128 printable characters and no blanks."),
        ({}, "\u4e00" * 86, InvalidValueError, "The tag of a run has from 1 to 256 bytes."),
        ({}, "", InvalidValueError, "The tag of a run has from 1 to 256 bytes."),
        ({}, "bm25/file", InvalidValueError, "A tag cannot end in /file, which addresses of the API use."),
        ({"endpoint": "http://a..example.org/_search"}, "bm25", InvalidValueError, "is not an address of the form"),
    ],
)
def test_what_cannot_be_fetched_is_refused_before_anything_is_sent(
    started: Database,
    engine_server: EngineServer,
    *,
    changes: dict[str, object],
    tag: str,
    error: type[AnnotatorError],
    sentence: str,
) -> None:
    with pytest.raises(error, match=sentence):
        fetch(started, opensearch(engine_server, **changes), tag=tag)
    assert engine_server.asked == []


@pytest.mark.parametrize(
    ("details", "error", "sentence"),
    [
        (RunDetails(description="x" * 1_001), InvalidValueError, "is too long: 1001 characters"),
        (RunDetails(priority=100), InvalidValueError, "A priority is a number from 1"),
        (RunDetails(team=" blue"), InvalidValueError, "A team's name has 1 to"),
        (RunDetails(round=7), NotFoundError, "7"),
    ],
)
def test_details_that_no_run_can_have_are_refused_before_anything_is_sent(
    started: Database, engine_server: EngineServer, *, details: RunDetails, error: type[AnnotatorError], sentence: str
) -> None:
    with pytest.raises(error, match=sentence):
        fetch(started, opensearch(engine_server), details=details)
    assert engine_server.asked == []


def test_between_rounds_only_a_run_of_a_round_is_replaced(started: Database, engine_server: EngineServer) -> None:
    with started.transaction() as session:
        open_round(session, SLUG, at=NOW)
    fetch(started, opensearch(engine_server))
    with started.transaction() as session:
        session.scalars(select(Round)).one().closed_at = NOW
    count = len(engine_server.asked)
    with pytest.raises(ConflictError, match="Round 1 is closed and the next one is not open"):
        fetch(started, opensearch(engine_server), tag="other")
    assert len(engine_server.asked) == count
    assert fetch(started, opensearch(engine_server, depth=2), replaces=True).receipt.version == 2


def test_a_collection_without_topics_or_titles_or_that_is_closed_is_refused(
    started: Database, engine_server: EngineServer
) -> None:
    with started.transaction() as session:
        for number in "12":
            session.scalars(select(Topic).where(Topic.number == number)).one().title = " "
    with pytest.raises(InvalidValueError, match=r"Topics without a title to search for: 1, 2."):
        fetch(started, opensearch(engine_server))
    with started.transaction() as session:
        for topic in session.scalars(select(Topic)):
            topic.state = TopicState.DROPPED
    with pytest.raises(ConflictError, match="has no accepted topics"):
        fetch(started, opensearch(engine_server))
    with started.transaction() as session:
        close_collection(session, SLUG)
    with pytest.raises(ConflictError, match="closed"):
        fetch(started, opensearch(engine_server))

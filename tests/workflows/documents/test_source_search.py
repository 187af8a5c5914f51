"""The search of a source: asked where there is one, and the texts of what it found are taken."""

from datetime import UTC, datetime

import pytest
from build import SLUG, document_file, news, run, topic_file
from kept import Kept
from source_server import MISBEHAVIOURS, SourceServer
from sourced import REACH, bodies, set_source
from sqlalchemy import select

from annotator.errors import ConflictError, InvalidValueError, NotFoundError
from annotator.storage import Contribution, Database
from annotator.workflows.documents import search, search_adding, source_search, sources
from annotator.workflows.documents.source_places import Reach

QUERY = 'solar "panel'


def add_collection(database: Database) -> None:
    with database.transaction() as session:
        news(session)
        topic_file(session)
        document_file(session, ["a"])
        run(session, "alpha", {"1": ["a", "named"]})


@pytest.fixture
def filled(database: Database, kept: Kept) -> Database:
    """A collection with the text of one document, and one that a run names."""
    kept.fill(database, add_collection)
    return database


def fetch_found(database: Database, *docnos: str, reach: Reach = REACH) -> frozenset[str]:
    return source_search.fetch_found(database, SLUG, docnos, reach=reach, at=datetime.now(UTC))


def ask(database: Database, query: str = QUERY) -> list[str] | None:
    found = source_search.ask_source(database, SLUG, query, reach=REACH, first=0, most=10)
    return None if found is None else [hit.docno for hit in found.hits]


def test_without_a_search_nothing_is_asked(filled: Database, source_server: SourceServer) -> None:
    assert (ask(filled), fetch_found(filled, "a", "x")) == (None, frozenset())
    set_source(filled, source_server.template)
    assert (ask(filled), fetch_found(filled, "a", "x")) == (None, frozenset())
    with pytest.raises(NotFoundError):
        source_search.open_document(filled, SLUG, "x", reach=REACH)
    assert source_server.asked == []


def test_what_a_source_finds_is_shown_taken_and_pooled(filled: Database, source_server: SourceServer) -> None:
    source_server.documents = {"x": {"docid": "x", "title": "X", "segment": "A solar panel."}}
    set_source(filled, source_server.template, search=source_server.search)
    assert ask(filled, "solar") == ["x"]
    assert ask(filled, " ") is None
    found = source_search.ask_source(filled, SLUG, "solar", reach=REACH, first=0, most=10)
    with filled.reading() as session:
        [hit] = search.find_documents(session, SLUG, "solar", topic="1", from_source=found).hits
    assert [(part.text, part.marked) for part in hit.snippet if part.marked] == [("solar", True)]
    assert source_search.open_document(filled, SLUG, "x", reach=REACH).body == "A solar panel."
    assert "x" not in bodies(filled)
    source_server.behaviours["y"] = MISBEHAVIOURS["missing"][0]
    taken = fetch_found(filled, "a", "x", "named", "y")
    assert taken == {"a", "x", "named"}
    with filled.transaction() as session:
        search_adding.add_found(
            session,
            SLUG,
            topic="1",
            docnos=["a", "x"],
            query=f" {QUERY} ",
            actor_id=None,
            at=datetime.now(UTC),
            from_source=taken,
        )
        assert set(session.scalars(select(Contribution.query))) == {QUERY}
    assert filled.read(sources.show_source, SLUG).counts.fetched == 2


def test_a_query_for_what_no_source_found_is_one_of_ours(filled: Database) -> None:
    with pytest.raises(InvalidValueError, match="quotation mark"), filled.transaction() as session:
        search_adding.add_found(
            session, SLUG, topic="1", docnos=["a"], query=QUERY, actor_id=None, at=datetime.now(UTC)
        )


def test_a_search_that_gives_nothing_is_refused_without_the_address(
    filled: Database, source_server: SourceServer
) -> None:
    set_source(filled, source_server.template, search=source_server.search)
    source_server.is_down = True
    with pytest.raises(ConflictError) as refused:
        ask(filled)
    assert str(refused.value) == "The search of the corpus gives nothing now. Try again later."
    assert fetch_found(filled, "a", "x") == {"a"}
    assert fetch_found(filled, "a", "x", reach=Reach()) == {"a"}
    with pytest.raises(NotFoundError):
        source_search.open_document(filled, SLUG, "x", reach=REACH)


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        ({"hits": [{"docid": "x"}, {"id": 7, "text": "T"}, {"docid": "two words"}, {}, "x"]}, ["x", "7"]),
        ([{"docno": "x"}, {"docno": "x"}], ["x"]),
        ({"results": []}, []),
    ],
)
def test_results_are_read_from_the_usual_places(
    filled: Database, source_server: SourceServer, monkeypatch: pytest.MonkeyPatch, answer: object, found: list[str]
) -> None:
    monkeypatch.setattr(source_server, "found", lambda _: answer)
    set_source(filled, source_server.template, search=source_server.search)
    assert ask(filled) == found


def test_results_are_read_at_paths(
    filled: Database, source_server: SourceServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    answer = {"page": {"list": [{"about": {"no": "x"}, "t": "Title", "s": ["One", "two"]}]}}
    monkeypatch.setattr(source_server, "found", lambda _: answer)
    paths = {"hits": "page.list", "hit_docno": "about.no", "hit_title": "t", "hit_snippet": "s[*]"}
    set_source(filled, source_server.template, search=source_server.search, **paths)
    found = source_search.ask_source(filled, SLUG, QUERY, reach=REACH, first=0, most=10)
    assert found is not None
    [hit] = found.hits
    assert (found.total, hit.docno, hit.title, hit.snippet) == (1, "x", "Title", "One two")
    set_source(filled, source_server.template, search=source_server.search, hits="page.nothing")
    checked = sources.check_source(filled, SLUG, ["a"], reach=REACH)
    assert str(checked.search_problem) == "What the source sent has no list of results at page.nothing."

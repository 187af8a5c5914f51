"""Searches passed to a source: by organisers, by judges on the page and on the judging screen."""

import re

import pytest
from build import SLUG
from source_server import SourceServer
from sourced import bodies, fetch
from visiting import Visit, words
from werkzeug.test import TestResponse

from annotator.storage import Database
from annotator.workflows.collections.collection import CollectionChange, change_collection

QUERY = 'solar "panel'  # not of our syntax, which is the source's business


@pytest.fixture
def searched(visit: Visit, news: str, database: Database, source_server: SourceServer) -> str:
    """The pooled collection, whose judges may search in a source of 30 documents; its address."""
    with database.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_search=True))
    for number in range(30):
        docno = f"s{number}"
        source_server.documents[docno] = {"docid": docno, "title": f"T{number}", "segment": f"About {QUERY} {number}."}
    visit("ola").post(f"{news}/documents/source", location=source_server.template, search=source_server.search)
    return news


def hits(response: TestResponse) -> list[str]:
    return re.findall(r'<p class="about"><code>([^<]*)</code>', response.text)


def test_an_organiser_finds_opens_and_pools_what_is_not_here(visit: Visit, searched: str, database: Database) -> None:
    ola = visit("ola")
    first, second = (
        ola.get(f"{searched}/search", query_string={"q": QUERY, "topic": "1", "page": page}) for page in (1, 2)
    )
    assert "Documents found: 30; shown: 1 to 20" in words(first)
    assert [*hits(first), *hits(second)] == [f"s{number}" for number in range(30)]
    opened = ola.get(f"{searched}/search/document", query_string={"q": QUERY, "topic": "1", "docno": "s3"})
    assert f"About {QUERY} 3." in words(opened).replace("&#34;", '"')
    assert "s3" not in bodies(database)
    answer = ola.post(f"{searched}/search/add", q=QUERY, topic="1", docno=["s3", "a"])
    assert answer.status_code == 303
    assert bodies(database)["s3"] == f"About {QUERY} 3."
    shown = ola.get(f"{searched}/search", query_string={"q": QUERY, "topic": "1"})
    assert words(shown).count("· in the pool") == 1


def test_a_judge_judges_what_the_source_finds_and_never_sees_its_address(
    visit: Visit, searched: str, database: Database, source_server: SourceServer
) -> None:
    jo = visit("jo")
    page = jo.get(f"{searched}/search", query_string={"q": QUERY, "topic": "1"})
    assert len(hits(page)) == 20
    answer = jo.post(f"{searched}/search/judge", q=QUERY, topic="1", docno="s7")
    screen = jo.get(answer.location)
    assert f"About {QUERY} 7." in words(screen).replace("&#34;", '"')
    source_server.is_down = True
    down = jo.get(f"{searched}/search", query_string={"q": QUERY, "topic": "1"})
    assert (down.status_code, "The search of the corpus gives nothing now." in words(down)) == (409, True)
    for one in (page, screen, down):
        assert source_server.site not in one.text
        assert "127.0.0.1" not in one.text
    assert bodies(database)["s7"] is not None
    assert jo.post(f"{searched}/search/judge", q="solar", topic="1", docno="s8").status_code == 404


def test_the_judging_screen_searches_the_source_and_stores_grades(
    visit: Visit, searched: str, database: Database
) -> None:
    jo, topic = visit("jo"), f"{searched}/judge/topics/1"
    found = jo.get(f"{topic}/search.json", query_string={"q": QUERY, "first": "20"}).get_json()
    assert (found["total"], [hit["docno"] for hit in found["hits"]]) == (30, [f"s{number}" for number in range(20, 30)])
    shown = jo.get(f"{topic}/search/document.json", query_string={"docno": "s21"}).get_json()
    assert "About solar" in shown["html"]
    act = {"id": "act-1", "assignment": 0, "topic": "1", "docno": "s21", "kind": "grade", "grade": 1, "query": QUERY}
    answer = jo.client.post(f"{topic}/search/acts", json={"acts": [act]})
    assert answer.get_json()["acknowledged"] == ["act-1"]
    assert bodies(database)["s21"] == f"About {QUERY} 21."


def test_texts_found_are_fetched_again_when_asked(
    visit: Visit, searched: str, database: Database, source_server: SourceServer
) -> None:
    ola = visit("ola")
    ola.post(f"{searched}/search/add", q=QUERY, topic="1", docno=["s3"])
    source_server.documents["s3"] = {"docid": "s3", "segment": "Another."}
    ola.post(f"{searched}/documents/source/fetch", again="y")
    fetch(database)
    assert bodies(database)["s3"] == "Another."


def test_judges_that_may_not_search_reach_no_source(
    visit: Visit, searched: str, database: Database, source_server: SourceServer
) -> None:
    with database.transaction() as session:
        change_collection(session, SLUG, CollectionChange(judges_search=False))
    jo, topic = visit("jo"), f"{searched}/judge/topics/1"
    source_server.asked.clear()
    assert jo.get(f"{searched}/search", query_string={"q": QUERY, "topic": "1"}).status_code == 403
    assert jo.post(f"{searched}/search/judge", q=QUERY, topic="1", docno="s8").status_code == 403
    assert jo.get(f"{topic}/search.json", query_string={"q": QUERY}).status_code == 403
    assert jo.get(f"{topic}/search/document.json", query_string={"docno": "s8"}).status_code == 403
    assert source_server.asked == []

"""The page of the source: it is set, tried and removed; a judge sees the texts, and never where they come from."""

import csv
import io

import pytest
from source_server import MISBEHAVIOURS, SourceServer
from sourced import fetch, pool_unread
from visiting import Visit, Visitor, words

from annotator.storage import Database

ELSEWHERE = "https://elsewhere.org/{docno}"


def drawn_page(judge: Visitor, news: str) -> str:
    """The judging screen with a document of topic 3."""
    return judge.get(f"{news}/judge/topics/3").text


def test_texts_of_a_source_reach_the_judging_screen(
    visit: Visit, news: str, database: Database, source_server: SourceServer
) -> None:
    pool_unread(database)
    ola, page = visit("ola"), f"{news}/documents/source"
    assert "This collection has no source." in words(ola.get(page))
    answer = ola.post(page, location=source_server.template, paths="body=segment\ntitle=title", search="")
    assert answer.location == page
    shown = ola.get(page)
    assert source_server.template in shown.text
    assert "body=segment" in shown.text
    fetch(database)
    assert "waiting 0" in words(ola.get(page))
    screen = drawn_page(visit("jo"), news)
    assert any(text in screen for text in ("Text of u.", "Text of v."))
    assert source_server.site not in screen


def test_what_was_not_fetched_is_listed_with_its_reason_and_tried_again(
    visit: Visit, news: str, database: Database, source_server: SourceServer
) -> None:
    pool_unread(database)
    source_server.behaviours = dict.fromkeys("uv", MISBEHAVIOURS["missing"][0])
    ola, page = visit("ola"), f"{news}/documents/source"
    ola.post(page, location=source_server.template)
    fetch(database)
    assert "The source does not have this document (HTTP status 404)." in words(ola.get(page))
    rows = list(csv.reader(io.StringIO(ola.get(f"{page}/failures.csv").text)))
    assert [row[:3] for row in rows[1:]] == [
        [docno, "The source does not have this document (HTTP status 404).", "1"] for docno in "uv"
    ]
    source_server.behaviours.clear()
    assert ola.post(f"{page}/fetch").location == page
    assert "A worker fetches them now: 2, and what was pooled since." in words(ola.get(page))
    fetch(database)
    assert "could not be fetched" not in words(ola.get(page))
    assert ola.post(f"{page}/fetch", again="y").location == page
    source_server.is_down = True
    fetch(database)
    assert "The source gave nothing the last time: The source refused with HTTP status 503." in words(ola.get(page))


def test_a_source_is_tried(visit: Visit, news: str, source_server: SourceServer) -> None:
    ola, page = visit("ola"), f"{news}/documents/source"
    ola.post(page, location=source_server.template, search=source_server.search)
    shown = words(ola.post(f"{page}/check", docnos="x y"))
    assert "x Title of x 10" in shown
    assert "Results of its search for “test”: 0" in shown
    source_server.is_down = True
    assert "Its search: The source refused with HTTP status 503." in words(ola.post(f"{page}/check", docnos="x"))
    refused = ola.post(f"{page}/check", docnos=" ".join("x" * number for number in range(1, 30)))
    assert (refused.status_code, "At most 20 documents" in words(refused)) == (422, True)


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"location": ELSEWHERE}, 403, "This server may not send to “elsewhere.org”"),
        ({"location": "https://hooks.example.org/"}, 422, "The address needs {docno} behind its host"),
        ({"location": "https://hooks.example.org/{docno}", "paths": "text=a"}, 422, "“text=a” is not a path"),
        ({"location": ""}, 422, "This field is required."),
    ],
)
def test_what_is_no_source_is_refused(
    visit: Visit, news: str, fields: dict[str, str], status: int, sentence: str
) -> None:
    ola, page = visit("ola"), f"{news}/documents/source"
    answer = ola.post(page, **fields)
    assert answer.status_code == status
    assert sentence in words(answer)
    assert "This collection has no source." in words(ola.get(page))


def test_a_source_is_removed_after_a_confirmation(visit: Visit, news: str, source_server: SourceServer) -> None:
    ola, page = visit("ola"), f"{news}/documents/source"
    ola.post(page, location=source_server.template)
    assert "Texts that were fetched stay." in words(ola.post(f"{page}/remove"))
    assert ola.post(f"{page}/remove", confirmed="y").location == page
    assert "This collection has no source." in words(ola.get(page))
    assert ola.post(f"{page}/remove", confirmed="y").status_code == 404


def test_a_closed_collection_keeps_its_source(visit: Visit, news: str, source_server: SourceServer) -> None:
    ola, page = visit("ola"), f"{news}/documents/source"
    ola.post(page, location=source_server.template)
    ola.post(f"{news}/close", confirmed="y")
    assert ola.post(f"{page}/remove", confirmed="y").status_code == 409
    assert ola.post(page, location=source_server.template).status_code == 409
    assert source_server.template in ola.get(page).text

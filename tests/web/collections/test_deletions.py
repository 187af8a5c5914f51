"""Deleting by page: a page between with numbers, and a way back."""

import pytest
from build import labels, member, pooled_news
from flask import Flask
from kept import Kept
from visiting import Visitor, words

from annotator.storage import Database, Role

PAGE = "/collections/news/deletions"


@pytest.fixture
def ola(app: Flask, database: Database, kept: Kept) -> Visitor:
    """The organiser of a judged collection."""
    kept.fill(database, add_judged)
    return Visitor(app, database, "ola")


def add_judged(database: Database) -> None:
    with database.transaction() as session:
        pooled_news(session)
        member(session, "ola", Role.ORGANISER)
        member(session, "pat", Role.PARTICIPANT, team="red")
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")


def test_a_deletion_is_confirmed_on_a_page_with_numbers(ola: Visitor) -> None:
    asked = ola.post(PAGE, kind="labels", subject="1")
    assert asked.status_code == 200
    assert "Delete this?" in words(asked)
    assert "judgements 2" in words(asked)
    assert ola.get("/collections/news/judgements/file").text.count("\n") == 3
    ola.post(PAGE, kind="labels", subject="1", confirmed="y")
    assert ola.get("/collections/news/judgements/file").text.count("\n") == 1
    assert "Import of labels 1" in words(ola.get(PAGE))
    ola.post(f"{PAGE}/1/restore")
    assert ola.get("/collections/news/judgements/file").text.count("\n") == 3


def test_a_judged_topic_wants_its_number(ola: Visitor) -> None:
    assert "To confirm, type “1”" in words(ola.post(PAGE, kind="topic", subject="1"))
    refused = ola.post(PAGE, kind="topic", subject="1", confirmed="y", typed="2")
    assert refused.status_code == 422
    assert ola.post(PAGE, kind="topic", subject="1", confirmed="y", typed="1").status_code == 303
    assert ola.get("/collections/news/topics/1").status_code == 404


def test_what_was_judged_stays(ola: Visitor) -> None:
    assert ola.post(PAGE, kind="pool", subject="1").status_code == 409
    assert ola.post(PAGE, kind="documents", subject="a c").status_code == 409


def test_a_deleted_collection_is_restored_from_the_list(app: Flask, database: Database, ola: Visitor) -> None:
    ola.post(PAGE, kind="collection", subject="", confirmed="y", typed="news")
    assert ola.get(PAGE).status_code == 404
    assert "can be restored until" in ola.get("/collections").text
    pat = Visitor(app, database, "pat")
    assert "can be restored until" not in pat.get("/collections").text
    assert pat.post("/deleted-collections/news/restore").status_code == 404
    assert ola.post("/deleted-collections/news/restore").status_code == 303
    assert ola.get(PAGE).status_code == 200

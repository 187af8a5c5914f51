"""What the list of collections tells of waiting work, and where people begin."""

import pytest
from build import NOW, SLUG, member
from visiting import Visit, words

from annotator.storage import Database, Role
from annotator.workflows.collections import collection_list
from annotator.workflows.collections.next_collection import copy_collection


def test_a_judge_of_one_collection_begins_with_what_waits(visit: Visit, news: str, database: Database) -> None:
    assert visit("jo").get("/").headers["Location"] == f"{news}/judge"
    assert visit("ola").get("/").headers["Location"] == "/collections"
    with database.transaction() as session:
        member(session, "jo", Role.ADJUDICATOR)
    assert visit("jo").get("/").headers["Location"] == f"{news}/judge"


def test_the_cards_of_collections_tell_what_waits(visit: Visit, news: str, database: Database) -> None:
    jo = visit("jo")
    page = jo.get("/collections")
    assert "Waiting for you: 6 documents, 2 topics." in words(page)
    assert page.text.count("autofocus") == 1
    with database.transaction() as session:
        copy_collection(session, SLUG, "empty", title="Empty", with_documents=False, organiser="ola", at=NOW)
        member(session, "jo", slug="empty")
    assert "Nothing to judge now." in words(jo.get("/collections"))
    assert jo.post(f"{news}/judge/questions", text="Why?", client_id="q1").status_code == 303
    assert "Questions without an answer: 1." in words(visit("ola").get("/collections"))


def test_many_collections_have_pages_and_are_searched(
    visit: Visit, news: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(collection_list, "ROWS_A_PAGE", 1)
    assert 'type="search"' not in visit("jo").get("/collections").text
    with database.transaction() as session:
        copy_collection(session, SLUG, "zoo", title="The Zoo", with_documents=False, organiser="ola", at=NOW)
    ola = visit("ola")
    page = ola.get("/collections")
    assert f'href="{news}"' in page.text
    assert 'rel="next" href="/collections?page=2"' in page.text
    page = ola.get("/collections?page=2")
    assert 'href="/collections/zoo"' in page.text
    assert 'rel="prev" href="/collections?page=1"' in page.text
    found = ola.get("/collections?q=the+z")
    assert 'href="/collections/zoo"' in found.text
    assert f'href="{news}"' not in found.text
    assert "No matching collections." in words(ola.get("/collections?q=unheard"))

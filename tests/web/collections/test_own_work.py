"""What the list of collections tells of waiting work, and where people begin."""

from build import NOW, SLUG, member
from visiting import Visit, words

from annotator.storage import Database, Role
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

"""Collections, their members and people: forms that store, and refusals beside them."""

import pytest
from build import PASSWORD, SLUG, labels, member, news, topic_file, user
from sqlalchemy import select
from visiting import Visit, words

from annotator.storage import Collection, Database, Role
from annotator.storage.tables.collections import CollectionKind
from annotator.workflows.collections.collection import show_collection

NEW = {
    "slug": "web",
    "title": "Web search",
    "scale": "0=No\r\n1=Yes | It answers",
    "relevant_from": "1",
    "judgements_wanted": "2",
    "consensus_policy": "median",
}


def test_a_collection_is_added_by_page_and_its_first_organiser_is_who_added_it(
    visit: Visit, news: str, database: Database
) -> None:
    ada = visit("ada")
    answer = ada.post("/collections", **NEW)
    assert (answer.status_code, answer.location) == (303, "/collections/web/start/topics")
    assert "Collection created." in words(ada.get("/collections/web"))
    assert "ada organiser" in words(ada.get("/collections/web/members"))
    with database.reading() as session:
        stored = show_collection(session, "web")
    assert [(grade.value, grade.name, grade.description) for grade in stored.scale] == [
        (0, "No", ""),
        (1, "Yes", "It answers"),
    ]
    assert (stored.judgements_wanted, stored.consensus_policy) == (2, "adjudicated-else-median")
    assert "web" not in visit("ola").get("/collections").text.replace("website", "")
    assert news


@pytest.mark.parametrize(
    ("field", "value", "status", "sentence"),
    [
        ("slug", "Not A Slug", 422, "“Not A Slug” is not a short name"),
        ("slug", SLUG, 409, f"There is a collection “{SLUG}” already."),
        ("scale", "0=No", 422, "A scale has at least two grades"),
        ("scale", "x", 422, "“x” is not a grade"),
        ("relevant_from", "0", 422, "Relevant-from is a grade of the scale above the lowest"),
        ("relevant_from", "one", 422, "Not a valid integer value."),
        ("judgements_wanted", "0", 422, "A document needs between 1 and 100 judgements, not 0."),
        ("consensus_policy", "mean", 422, "Not a valid choice"),
        ("title", " ", 422, "A collection needs a title."),
        ("title", "", 422, "This field is required."),
    ],
)
def test_a_collection_that_cannot_be_is_refused_with_what_was_entered(
    visit: Visit, database: Database, news: str, field: str, value: str, status: int, sentence: str
) -> None:
    answer = visit("ada").post("/collections", **{**NEW, field: value})
    assert answer.status_code == status
    assert sentence in words(answer)
    assert ('value="Web search"' in answer.text) == (field != "title")
    with database.reading() as session:
        assert session.scalars(select(Collection.slug)).all() == [news.rpartition("/")[2]]


def test_everybody_sees_their_own_collections_only(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        user(session, "gus")
    assert "News search" in words(visit("jo").get("/collections"))
    assert "You are not a member of any collection yet." in words(visit("gus").get("/collections"))
    assert "Add a collection" not in words(visit("jo").get("/collections"))
    assert news


def test_the_checklist_marks_the_step_that_comes_next(visit: Visit, database: Database) -> None:
    with database.transaction() as session:
        news(session)
        member(session, "ola", Role.ORGANISER)
    ola = visit("ola")
    assert "Import the topics comes next" in words(ola.get(f"/collections/{SLUG}"))
    with database.transaction() as session:
        topic_file(session)
    page = words(ola.get(f"/collections/{SLUG}"))
    assert "Import the topics done" in page
    assert "Write guidelines for the judges comes next" in page
    assert "Set the submission deadline open" in page
    assert page.count("comes next") == 1


def test_the_overview_counts_and_shows_progress(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 1\n1 0 b 0\n")
        labels(session, "crowd", "1 0 a 1\n", name="crowd.txt")
    page = words(visit("ola").get(news))
    assert "2 runs on 2 topics; 6 documents in the pool." in page
    assert "Pooled 6 100 % Judged 2 33 % Settled 2 33 %" in page
    assert "1 first topic 4 2 1" in page  # pooled, judged, complete: two judgements are wanted
    assert "2 second topic 2 0 0" in page


def test_settings_are_changed_and_a_grade_that_was_given_stays(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        labels(session, "nist", "1 0 a 2\n")
    ola = visit("ola")
    fields = {**NEW, "scale": "0=No\n1=Yes\n2=Very", "title": "Newer news", "relevant_from": "2"}
    fields["kind"] = "comparison"
    assert ola.post(f"{news}/settings", **fields).status_code == 303
    page = ola.get(f"{news}/settings")
    assert 'value="Newer news"' in page.text
    refused = ola.post(f"{news}/settings", **{**fields, "scale": "0=No\n1=Yes", "relevant_from": "1"})
    assert refused.status_code == 409
    assert "These grades were already given and cannot leave the scale: 2." in words(refused)


def test_the_type_is_shown_and_changed_in_the_settings(visit: Visit, news: str, database: Database) -> None:
    ola = visit("ola")
    fields = {**NEW, "scale": "0=No\n1=Yes\n2=Very", "judgements_wanted": "1", "kind": "comparison"}
    assert 'checked id="kind-0"' in ola.get(f"{news}/settings").text
    assert ola.post(f"{news}/settings", **{**fields, "kind": "contest"}).status_code == 422
    assert ola.post(f"{news}/settings", **fields).status_code == 303
    assert 'checked id="kind-1"' in ola.get(f"{news}/settings").text
    with database.reading() as session:
        assert show_collection(session, SLUG).kind is CollectionKind.COMPARISON


def test_a_closed_collection_takes_nothing_until_it_is_open_again(visit: Visit, news: str) -> None:
    ola = visit("ola")
    assert ola.post(f"{news}/close").status_code == 303
    assert "This collection is closed" in words(ola.get(news))
    refused = ola.post(f"{news}/pool", depth="5")
    assert refused.status_code == 409
    assert "The collection “news” is closed: it takes no more changes." in words(refused)
    assert ola.post(f"{news}/reopen").status_code == 303
    assert ola.post(f"{news}/pool", depth="5", confirmed="y").status_code == 303


@pytest.mark.parametrize(
    ("fields", "status", "sentence"),
    [
        ({"name": "nobody", "role": "judge"}, 422, "There is no user “nobody”."),
        ({"name": "ola", "role": "participant"}, 422, "A participant belongs to a team"),
        ({"name": "jo", "role": "judge"}, 409, "“jo” has the role judge already."),
        ({"name": "jo", "role": "king"}, 422, "Not a valid choice"),
    ],
)
def test_a_member_who_cannot_be_is_refused(
    visit: Visit, news: str, fields: dict[str, str], status: int, sentence: str
) -> None:
    answer = visit("ola").post(f"{news}/members", **fields)
    assert answer.status_code == status
    assert sentence in words(answer)


def test_a_member_is_added_and_removed(visit: Visit, news: str, database: Database) -> None:
    with database.transaction() as session:
        user(session, "gus")
    ola, gus = visit("ola"), visit("gus")
    assert gus.get(news).status_code == 404
    ola.post(f"{news}/members", name="gus", role="participant", team="blue")
    assert "gus participant blue" in words(ola.get(f"{news}/members"))
    assert gus.get(news).status_code == 200
    ola.post(f"{news}/members/remove", name="gus", role="participant", confirmed="y")
    assert gus.get(news).status_code == 404
    again = ola.post(f"{news}/members/remove", name="gus", role="participant")
    assert again.status_code == 422
    assert "“gus” does not have the role participant." in words(again)


def test_guidelines_are_written_in_markdown_and_stand_beside_the_documents(visit: Visit, news: str) -> None:
    ola, jo = visit("ola"), visit("jo")
    assert "There are no guidelines yet." in words(jo.get(f"{news}/guidelines"))
    ola.post(f"{news}/guidelines/edit", text="# Be fair\r\n\r\n<script>alert(1)</script>")
    page = jo.get(f"{news}/guidelines")
    assert "<h2>Be fair</h2>" in page.text
    assert "<script>alert" not in page.text
    assert "Version 1" in words(page)
    jo.post(f"{news}/guidelines", number="1")
    assert "<h2>Be fair</h2>" in jo.get(f"{news}/judge/topics/1").text
    assert ola.post(f"{news}/guidelines/edit", text="  ").status_code == 422


def test_people_are_added_and_get_a_new_password(visit: Visit, news: str) -> None:
    ada = visit("ada")
    ada.post("/people", name="gus", password=PASSWORD)
    assert "gus yes" in words(ada.get("/people"))
    assert visit(None).post("/sign-in", name="gus", password=PASSWORD).status_code == 303
    ada.post("/people/password", account="gus", new_password="another horse")
    assert visit(None).post("/sign-in", name="gus", password="another horse").status_code == 303
    taken = ada.post("/people", name="GUS", password=PASSWORD)
    assert taken.status_code == 409
    assert "The name “gus” is taken." in words(taken)
    assert ada.post("/people", name="kai", password="short").status_code == 422
    assert ada.post("/people/password", account="nobody", new_password=PASSWORD).status_code == 422
    assert news

"""The pages of adjudication: the same screen, blind, for adjudicators alone; and the organisers' page."""

import re
from typing import Any

import pytest
from build import NOW, SLUG, labels, member
from kept import Kept
from sqlalchemy import select, update
from visiting import Visit, Visitor
from web.judging.test_judging_protocol import batch_of, grade, taken
from werkzeug.test import TestResponse

from annotator.storage import Assignment, Collection, Database, Judgement, PoolItem, Purpose, Role, User
from annotator.storage.site import database as database_module
from annotator.workflows.agreement import adjudication
from annotator.workflows.collections.collection import close_collection
from annotator.workflows.people import members
from annotator.workflows.topics.topic_editing import drop_topics

ACTS = "/adjudicate/topics/1/acts"


@pytest.fixture
def disputed(news: str, database: Database, kept: Kept) -> str:
    """Documents a, b and c of topic 1 in dispute between two judges with telling names; eve and ann adjudicate."""
    kept.fill(database, add_dispute)
    return news


def add_dispute(database: Database) -> None:
    with database.transaction() as session:
        labels(session, "quentin", "1 0 a 0\n1 0 b 2\n1 0 c 1\n", name="quentin.qrels")
        labels(session, "xanthippe", "1 0 a 2\n1 0 b 0\n1 0 c 2\n", name="xanthippe.qrels")
        member(session, "eve", Role.ADJUDICATOR)
        member(session, "ann", Role.ADJUDICATOR)


def batch(visitor: Visitor, news: str) -> dict[str, Any]:
    return batch_of(visitor.get(f"{news}/adjudicate/topics/1"))


def send(visitor: Visitor, news: str, *acts: object, **body: object) -> TestResponse:
    return visitor.client.post(f"{news}{ACTS}", json={"tab": "tab-1", "holds": [], "acts": list(acts), **body})


def decided(database: Database) -> list[tuple[str, int | None]]:
    with database.reading() as session:
        return [
            (client_id, value)
            for client_id, value in session.execute(
                select(Judgement.client_id, Judgement.grade)
                .join(Assignment, Assignment.id == Judgement.assignment_id)
                .where(Assignment.purpose == Purpose.ADJUDICATION)
                .order_by(Judgement.id)
            )
        ]


def test_the_screen_is_the_judges_with_addresses_of_its_own(visit: Visit, disputed: str) -> None:
    eve = visit("eve")
    found = batch(eve, disputed)
    assert found["urls"] == {
        "acts": f"{disputed}{ACTS}",
        "session": f"{disputed}/adjudicate/session",
        "assignments": f"{disputed}/adjudicate/assignments/",
        "onward": f"{disputed}/adjudicate/next/1",
        "page": f"{disputed}/adjudicate/topics/1",
        "back": None,
        "topics": f"{disputed}/adjudicate",
        "note": f"{disputed}/judge/topics/1/note",
        "marks": f"{disputed}/judge/topics/1/marks",
        "questions": f"{disputed}/judge/questions",
        "read": f"{disputed}/judge/questions/read",
        "clarifications": f"{disputed}/judge/topics/1/clarifications.json",
        "seen": f"{disputed}/judge/topics/1/clarifications",
    }
    assert {one["docno"] for one in found["documents"]} == {"a", "b", "c"}
    assert found["counts"] == {"judged": 0, "total": 3, "put_off": 0}
    assert eve.client.post(found["urls"]["note"], json={"text": "All of it."}).get_json() == {"saved": True}


def test_a_decision_is_stored_and_counted_and_the_same_again_is_acknowledged(
    visit: Visit, disputed: str, database: Database
) -> None:
    eve = visit("eve")
    first, second, third = (one["assignment"] for one in batch(eve, disputed)["documents"])
    act = grade(first, 1)
    answer = taken(send(eve, disputed, act, holds=[second, third]))
    assert answer["acknowledged"] == [act["id"]]
    assert answer["counts"] == {"judged": 1, "total": 3, "put_off": 0}
    assert answer["documents"] == []
    assert taken(send(eve, disputed, act))["acknowledged"] == [act["id"]]
    assert decided(database) == [(act["id"], 1)]


def test_two_adjudicators_have_different_documents(visit: Visit, disputed: str) -> None:
    assert len(batch(visit("eve"), disputed)["documents"]) == 3
    assert "Nothing left for you in topic 1" in visit("ann").get(f"{disputed}/adjudicate/topics/1").text


def test_without_script_a_form_decides_and_goes_on(visit: Visit, disputed: str, database: Database) -> None:
    eve = visit("eve")
    documents = batch(eve, disputed)["documents"]
    answer = eve.post(f"{disputed}/adjudicate/assignments/{documents[0]['assignment']}", grade="2", client_id="plain-1")
    assert answer.status_code == 303
    assert answer.location == f"{disputed}/adjudicate/topics/1"
    assert decided(database) == [("plain-1", 2)]
    assert batch(eve, disputed)["documents"][0]["docno"] == documents[1]["docno"]
    back = eve.get(f"{disputed}/adjudicate/assignments/{documents[0]['assignment']}")
    assert "You judged this document: Highly relevant" in back.text


def everything_sent(eve: Visitor, news: str) -> list[str]:
    """All that an adjudicator can be sent, by page and by script, before and after a decision."""
    page = eve.get(f"{news}/adjudicate/topics/1")
    first = batch_of(page)["documents"][0]["assignment"]
    sent = [page, send(eve, news), send(eve, news, grade(first, 1))]
    paths = ["", "/adjudicate", f"/adjudicate/assignments/{first}", f"/adjudicate/assignments/{first}.json"]
    paths += [f"/adjudicate/assignments/{first}/parts/1", "/adjudicate/session", "/judge/judged", "/judge/put-off"]
    paths += ["/judge/questions", "/judge/notes/1", "/guidelines"]
    return [one.text for one in sent + [eve.get(f"{news}{path}") for path in paths]]


def test_nothing_an_adjudicator_is_sent_tells_of_runs_or_judges_or_grades(visit: Visit, disputed: str) -> None:
    for text in everything_sent(visit("eve"), disputed):
        told = re.findall(
            r"quentin|xanthippe|alpha|beta|adjudication</b>|re-shown|\"purpose\"|\"rank\"|\"score\"", text
        )
        assert told == []
        assert '"given":[' not in text.replace(" ", "")
        assert "Grades given" not in text.replace("Grades given: {grades}.", "")


def test_who_said_what_changes_no_byte_of_what_an_adjudicator_is_sent(
    visit: Visit, disputed: str, database: Database
) -> None:
    eve = visit("eve")
    assignment = batch(eve, disputed)["documents"][0]["assignment"]
    paths = ["/adjudicate", "/adjudicate/topics/1", f"/adjudicate/assignments/{assignment}.json"]

    def sent() -> list[str]:
        # Tokens and ids are made anew each time.
        return [re.sub(r"[\w.-]{60,}|[0-9a-f]{32}", "", eve.get(f"{disputed}{path}").text) for path in paths]

    before = sent()
    with database.transaction() as session:
        session.execute(update(Judgement).values(grade=2 - Judgement.grade))
        session.execute(update(User).where(User.name == "quentin").values(name="zenobia"))
    assert sent() == before


def test_the_grades_come_without_whose_and_how_many_where_the_organiser_lets_them_be_seen(
    visit: Visit, disputed: str, database: Database
) -> None:
    with database.transaction() as session:
        labels(session, "zenobia", "1 0 a 2\n", name="zenobia.qrels")
        session.execute(update(Collection).values(shows_grades=True))
    eve = visit("eve")
    found = {one["docno"]: one["given"] for one in batch(eve, disputed)["documents"]}
    assert found == {"a": [0, 2], "b": [0, 2], "c": [1, 2]}
    assert "Grades given: Not relevant, Highly relevant." in eve.get(f"{disputed}/adjudicate/topics/1").text
    for text in everything_sent(eve, disputed):
        assert re.findall(r"quentin|xanthippe|zenobia|alpha|beta", text) == []


def test_the_judges_notes_stand_beside_the_document_without_names_or_grades(
    visit: Visit, disputed: str, database: Database
) -> None:
    with database.transaction() as session:
        session.execute(update(Judgement).where(Judgement.grade == 2).values(note="It is on topic."))
    eve = visit("eve")
    page = eve.get(f"{disputed}/adjudicate/topics/1")
    [first, *_] = batch_of(page)["documents"]
    assert first["notes"] == [{"note": "It is on topic.", "evidence": []}]
    assert '<p class="written" dir="auto">It is on topic.</p>' in page.text
    assert "notes" in eve.get(f"{disputed}/adjudicate/assignments/{first['assignment']}.json").get_json()
    for text in everything_sent(eve, disputed):
        assert re.findall(r"quentin|xanthippe", text) == []
    with database.transaction() as session:
        session.execute(update(Collection).values(shows_grades=True))
    [first, *_] = batch(eve, disputed)["documents"]
    assert first["notes"] == [{"note": "It is on topic.", "evidence": [], "grade": 2, "cannot_judge": None}]


def test_a_decision_changed_from_my_judgements_leads_back_there(
    visit: Visit, disputed: str, database: Database
) -> None:
    eve = visit("eve")
    assignment = batch(eve, disputed)["documents"][0]["assignment"]
    send(eve, disputed, grade(assignment, 2))
    link = re.search(
        rf'href="({disputed}/adjudicate/assignments/{assignment}\?back=[^"]*)"',
        eve.get(f"{disputed}/judge/judged").text,
    )
    assert link is not None
    page = eve.get(link[1])
    assert "Back to my judgements" in page.text
    assert batch_of(page)["urls"]["back"] == f"{disputed}/judge/judged#row-{assignment}"
    answer = eve.post(link[1], grade="1", client_id="changed-1")
    assert (answer.status_code, answer.location) == (303, f"{disputed}/judge/judged#row-{assignment}")
    assert ("changed-1", 1) in decided(database)


@pytest.mark.parametrize("who", ["jo", "ola", "pat", "ada"])
def test_nobody_else_reaches_any_of_it(visit: Visit, disputed: str, who: str, database: Database) -> None:
    assignment = batch(visit("eve"), disputed)["documents"][0]["assignment"]
    other = visit(who)
    for path in (f"assignments/{assignment}", f"assignments/{assignment}.json", "topics/1", "session"):
        assert other.get(f"{disputed}/adjudicate/{path}").status_code == 403
    assert send(other, disputed, grade(assignment)).status_code == 403
    # Nor at the judges' own addresses.
    judges = other.client.post(f"{disputed}/judge/topics/1/acts", json={"acts": [grade(assignment)], "holds": []})
    assert judges.status_code in {403, 404}
    assert other.get(f"{disputed}/judge/assignments/{assignment}").status_code in {403, 404}
    assert decided(database) == []


def test_another_adjudicators_document_is_not_theirs(visit: Visit, disputed: str, database: Database) -> None:
    assignment = batch(visit("eve"), disputed)["documents"][0]["assignment"]
    ann = visit("ann")
    assert ann.get(f"{disputed}/adjudicate/assignments/{assignment}").status_code == 404
    assert send(ann, disputed, grade(assignment)).status_code == 404
    assert decided(database) == []


def test_who_has_lost_the_role_is_told_that_what_they_decided_is_kept(
    visit: Visit, disputed: str, database: Database
) -> None:
    eve = visit("eve")
    assignment = batch(eve, disputed)["documents"][0]["assignment"]
    with database.transaction() as session:
        members.remove_member(session, SLUG, "eve", Role.ADJUDICATOR, at=NOW)
    answer = send(eve, disputed, grade(assignment))
    assert answer.status_code == 403
    assert "what you decided is kept" in answer.get_json()["sentence"]


def test_a_topic_that_was_dropped_stops_the_drawing_and_refuses_no_decision(
    visit: Visit, disputed: str, database: Database
) -> None:
    eve = visit("eve")
    act = grade(batch(eve, disputed)["documents"][0]["assignment"])
    with database.transaction() as session:
        drop_topics(session, SLUG, ["1"], reason="too few")
    answer = taken(send(eve, disputed, act))
    assert answer["acknowledged"] == [act["id"]]
    assert "dropped" in answer["stopped"]
    assert decided(database) == [(act["id"], 1)]


def test_a_closed_collection_takes_no_decision(visit: Visit, disputed: str, database: Database) -> None:
    eve = visit("eve")
    act = grade(batch(eve, disputed)["documents"][0]["assignment"])
    with database.transaction() as session:
        close_collection(session, SLUG)
    assert send(eve, disputed, act).status_code == 409
    assert eve.get(f"{disputed}/adjudicate").status_code == 200


def test_what_i_judged_marks_what_was_decided(visit: Visit, disputed: str) -> None:
    eve = visit("eve")
    assignment = batch(eve, disputed)["documents"][0]["assignment"]
    send(eve, disputed, grade(assignment, 2))
    page = eve.get(f"{disputed}/judge/judged").text
    assert "You decided this as an adjudicator." in page
    assert f"{disputed}/adjudicate/assignments/{assignment}" in page
    assert f"{disputed}/judge/assignments/" not in page


def test_the_role_is_given_on_the_members_page(visit: Visit, news: str) -> None:
    ola = visit("ola")
    assert ola.post(f"{news}/members", name="kim", role="adjudicator").status_code == 303
    assert "adjudicator" in ola.get(f"{news}/members").text
    assert visit("kim").get(f"{news}/adjudicate").status_code == 200


def test_the_organisers_page_counts_by_topic_and_says_who_was_upheld(visit: Visit, disputed: str) -> None:
    eve, ola = visit("eve"), visit("ola")
    documents = batch(eve, disputed)["documents"]
    by_docno = {one["docno"]: one["assignment"] for one in documents}
    send(eve, disputed, grade(by_docno["a"], 2))
    page = ola.get(f"{disputed}/adjudication").text
    cells = re.findall(r'<td class="number">(?:<a [^>]*>)?([^<]*)', page)
    assert cells[:3] == ["2", "2", "1"]  # in dispute, in hands, decided
    assert "quentin" in page
    assert "xanthippe" in page
    assert "Documents with the same text count once here" in page


@pytest.mark.parametrize(
    ("shows", "sentence"),
    [(True, "get the worst disputes first"), (False, "get the documents in an order that does not reveal them")],
)
def test_the_organisers_page_says_what_adjudicators_see_and_in_what_order(
    visit: Visit, disputed: str, database: Database, sentence: str, *, shows: bool
) -> None:
    with database.transaction() as session:
        session.execute(update(Collection).values(shows_grades=shows))
    assert sentence in visit("ola").get(f"{disputed}/adjudication").text


def test_the_topics_are_counted_without_keeping_others_from_writing(
    visit: Visit, disputed: str, database: Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = adjudication.topics_to_adjudicate
    titles = []

    def count_while_another_writes(*arguments: Any) -> object:  # noqa: ANN401 - whatever the page passes on
        with database.transaction() as session:
            titles.append(session.scalars(select(Collection.title)).one())
        return counted(*arguments)

    monkeypatch.setattr(database_module, "BUSY_TIMEOUT_MS", 50)
    monkeypatch.setattr(adjudication, "topics_to_adjudicate", count_while_another_writes)
    assert visit("eve").get(f"{disputed}/adjudicate").status_code == 200
    assert len(titles) == 1


def test_a_note_leads_back_to_where_it_was_written(visit: Visit, disputed: str, database: Database) -> None:
    with database.transaction() as session:
        members.add_member(session, SLUG, "eve", Role.JUDGE, added_at=NOW)
    eve = visit("eve")
    for one in batch(eve, disputed)["documents"]:
        send(eve, disputed, grade(one["assignment"]))
    note = f"{disputed}/judge/notes/1"
    assert f'href="{note}?queue=adjudication"' in eve.get(f"{disputed}/adjudicate/topics/1").text
    form = eve.get(f"{note}?queue=adjudication").text
    assert '<input type="hidden" name="queue" value="adjudication">' in form
    assert f'href="{disputed}/adjudicate/topics/1"' in form
    assert f'href="{disputed}/judge/topics/1"' not in form
    leads_to = {
        queue: eve.post(note, note="All of it.", queue=queue).headers["Location"] for queue in ("adjudication", "", "x")
    }
    judging = f"{disputed}/judge/topics/1"
    assert leads_to == {"adjudication": f"{disputed}/adjudicate/topics/1", "": judging, "x": judging}


@pytest.mark.parametrize(("policy", "is_told"), [("majority", True), ("adjudicated-else-majority", False)])
def test_the_page_says_when_the_policy_does_not_hear_adjudicators_first(
    visit: Visit, disputed: str, database: Database, policy: str, *, is_told: bool
) -> None:
    with database.transaction() as session:
        session.execute(update(Collection).values(consensus_policy=policy))
    page = visit("ola").get(f"{disputed}/adjudication").text
    assert ("treats adjudicators like other judges" in page) == is_told


def test_the_places_of_items_are_as_they_were(visit: Visit, disputed: str, database: Database) -> None:
    with database.reading() as session:
        before = session.execute(select(PoolItem.id, PoolItem.taken).order_by(PoolItem.id)).all()
    eve = visit("eve")
    for one in batch(eve, disputed)["documents"]:
        send(eve, disputed, grade(one["assignment"]))
    eve.post("/sign-out")
    with database.reading() as session:
        assert session.execute(select(PoolItem.id, PoolItem.taken).order_by(PoolItem.id)).all() == before


def test_every_link_that_an_adjudicator_is_shown_opens_for_them(visit: Visit, disputed: str) -> None:
    eve = visit("eve")
    first, second, *_ = (one["assignment"] for one in batch(eve, disputed)["documents"])
    later = {"id": "later", "sequence": 2, "assignment": second, "kind": "later"}
    send(eve, disputed, grade(first), later, draw=False)
    seen: set[str] = set()
    to_see = {"/collections", disputed, f"{disputed}/judge/notes/1"}
    while to_see - seen:
        path = min(to_see - seen)
        seen.add(path)
        answer = eve.get(path, follow_redirects=True)
        assert answer.status_code == 200, path
        found = re.findall(r'href="(/collections[^"]*)"', answer.text)
        to_see |= {link.replace("&amp;", "&").partition("#")[0] for link in found}
    assert f"{disputed}/adjudicate/topics/1" in seen
    assert f"{disputed}/judge" not in seen
